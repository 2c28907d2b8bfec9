//! What workloads there are.

use crate::random::RAND_OPTIONS;
use crate::{Family, Workload, families};
use std::sync::{Arc, LazyLock};
use tidemark_core::{OptionError, OptionSpec, OptionValues, nearest};

/// One row of the registry: what a workload is before its options are set.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The name it is called by (`oltp_read_write`).
    pub name: &'static str,
    /// The family it belongs to (`oltp`).
    pub family: &'static str,
    /// One line for `help`.
    pub summary: &'static str,
    /// Its option tables: the family's, then its own. [`RAND_OPTIONS`] and `validate` are general
    /// options and stand in no workload's table.
    pub options: &'static [&'static [OptionSpec]],
    /// Sets the options, checking those that depend on each other.
    pub build: fn(&OptionValues) -> Result<Arc<dyn Workload>, OptionError>,
}

impl Definition {
    /// The row of its family.
    pub fn of_family(&self) -> Option<&'static Family> {
        families().find(|f| f.name == self.family)
    }

    /// The defaults of everything that [`Definition::build`] reads: the workload's own tables and
    /// the random numbers'.
    pub fn defaults(&self) -> OptionValues {
        let own = self.options.iter().copied();
        OptionValues::defaults(std::iter::once(RAND_OPTIONS).chain(own))
    }
}

static REGISTRY: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    let all = families().flat_map(|family| family.definitions);
    all.copied().collect()
});

/// Every workload, family by family, in the order that `help` lists them.
pub fn registry() -> &'static [Definition] {
    &REGISTRY
}

/// No workload has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown workload {name}{}", .nearest.map(|n| format!("; did you mean {n}?")).unwrap_or_default())]
pub struct UnknownWorkload {
    /// As given.
    pub name: String,
    /// The nearest known name.
    pub nearest: Option<&'static str>,
}

/// The workload of this name; a path before it and `.lua` after it, as sysbench scripts are
/// named, do not matter.
///
/// # Errors
/// [`UnknownWorkload`] with the nearest name.
///
/// ```
/// let found = tidemark_workloads::find("/usr/share/sysbench/oltp_read_only.lua")?;
/// assert_eq!(found.name, "oltp_read_only");
/// # Ok::<(), tidemark_workloads::UnknownWorkload>(())
/// ```
pub fn find(name: &str) -> Result<&'static Definition, UnknownWorkload> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let bare = file.strip_suffix(".lua").unwrap_or(file);
    registry()
        .iter()
        .find(|d| d.name == bare)
        .ok_or_else(|| UnknownWorkload {
            name: name.into(),
            nearest: nearest(bare, registry().iter().map(|d| d.name)),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_gets_the_nearest() {
        let error = find("oltp_raed_only").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown workload oltp_raed_only; did you mean oltp_read_only?"
        );
        assert_eq!(find("zzz").unwrap_err().nearest, None);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = registry().iter().map(|d| d.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), registry().len());
    }
}
