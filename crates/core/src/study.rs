//! Where a run stands in a study.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The environment variable in which a study tells the process that makes a run where it stands: a
/// [`StudyPlace`] as JSON, which the run's record then holds.
pub const STUDY_PLACE_VARIABLE: &str = "TIDEMARK_STUDY_PLACE";

/// Where a run stands in a study: one matrix of runs, executed once (and perhaps resumed).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyPlace {
    /// Id of the study's execution (UUID version 7).
    pub study: String,
    /// The study's name, as its file has it.
    pub name: String,
    /// The cell of its matrix: the same for all repeats, unique within the study.
    pub cell: String,
    /// What tells this cell from others, by factor: `target`, `workload`, `threads`, `size`, …
    pub factors: BTreeMap<String, String>,
    /// Which repeat of the cell, from 1.
    pub repeat: u32,
}

/// The environment variable in which a study tells a load which tables are the study's own: a
/// [`StudyLoad`] as JSON.
pub const STUDY_LOAD_VARIABLE: &str = "TIDEMARK_STUDY_LOAD";

/// Which tables a study's load may replace: those that bear the study's id in their mark, as the study
/// left them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyLoad {
    /// Id of the study's execution.
    pub study: String,
    /// How its last step left its tables.
    pub left: LeftBehind,
}

/// What tables hold, by name: the short text that `tidemark_drivers::catalog::contents` makes.
pub type Contents = BTreeMap<String, String>;

/// How a study's steps left the tables that it has loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftBehind {
    /// Nothing has written since the load.
    AsLoaded,
    /// Runs have written.
    Written {
        /// What the tables held before the first of them.
        first: Contents,
        /// What they held after the last.
        last: Contents,
    },
    /// Runs have written, and of what the last one left nothing is known: it was cut off, or there were
    /// too many rows to be looked at.
    Unknown {
        /// What the tables held before the first of them.
        first: Contents,
    },
    /// Between two steps somebody else has written.
    Changed,
}

/// What one run says of the tables that it used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablesUsed {
    /// What they held before it.
    pub before: Contents,
    /// What they held after it; empty of a run that was cut off.
    pub after: Contents,
    /// Whether it may have changed rows.
    pub wrote: bool,
}

impl LeftBehind {
    /// What runs left that followed each other after a load.
    pub fn by(runs: &[TablesUsed]) -> Self {
        let mut first: Option<&Contents> = None;
        let mut last: Option<&Contents> = None;
        let mut wrote = false;
        for run in runs {
            if last.is_some_and(|last| !agree(last, &run.before)) {
                return LeftBehind::Changed;
            }
            first = first.or((!wrote).then_some(&run.before));
            wrote |= run.wrote;
            last = match run.after.is_empty() {
                false => Some(&run.after),
                true if run.wrote => None,
                true => last,
            };
        }
        let first = first.cloned().unwrap_or_default();
        match (wrote, last) {
            (false, _) => LeftBehind::AsLoaded,
            (true, None) => LeftBehind::Unknown { first },
            (true, Some(last)) => LeftBehind::Written {
                first,
                last: last.clone(),
            },
        }
    }
}

/// Whether the tables that were looked at twice held the same.
fn agree(one: &Contents, other: &Contents) -> bool {
    one.iter()
        .all(|(table, held)| other.get(table).is_none_or(|o| o == held))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(rows: u64) -> Contents {
        Contents::from([("sbtest1".to_string(), rows.to_string())])
    }

    fn run(before: u64, after: Option<u64>, wrote: bool) -> TablesUsed {
        TablesUsed {
            before: holds(before),
            after: after.map(holds).unwrap_or_default(),
            wrote,
        }
    }

    #[test]
    fn what_runs_left_follows_from_what_they_saw() {
        let by = |runs: &[TablesUsed]| LeftBehind::by(runs);
        let written = |first, last| LeftBehind::Written {
            first: holds(first),
            last: holds(last),
        };
        assert_eq!(by(&[]), LeftBehind::AsLoaded);
        assert_eq!(by(&[run(5, Some(5), false)]), LeftBehind::AsLoaded);
        let wrote = by(&[run(5, Some(7), true), run(7, Some(8), true)]);
        assert_eq!(wrote, written(5, 8));
        // Somebody else's row came between the two.
        let between = by(&[run(5, Some(7), true), run(8, Some(9), true)]);
        assert_eq!(between, LeftBehind::Changed);
        let read = by(&[run(5, Some(5), false), run(6, Some(6), false)]);
        assert_eq!(read, LeftBehind::Changed);
        // A run that was cut off says nothing of what it left; the next one does.
        assert_eq!(by(&[run(5, None, false)]), LeftBehind::AsLoaded);
        let unknown = LeftBehind::Unknown { first: holds(5) };
        assert_eq!(by(&[run(5, None, true)]), unknown);
        let cut_off = by(&[run(5, None, true), run(6, Some(8), true)]);
        assert_eq!(cut_off, written(5, 8));
    }
}
