//! Whose command line a workload has.

use tidemark_workloads::{Family, SCRIPTS, families};

static SCRIPTS_FAMILY: Family = SCRIPTS;

/// The family with a workload of this name; a path of a script is one of its family.
pub(crate) fn of_name(name: &str) -> Option<&'static Family> {
    let known = families().find(|f| f.names().any(|n| n == name));
    known.or_else(|| name.ends_with(".lua").then_some(&SCRIPTS_FAMILY))
}

/// Every workload's name.
pub(crate) fn workloads() -> impl Iterator<Item = &'static str> {
    families().flat_map(Family::names)
}

/// Every command's word, and the first family that has it.
pub(crate) fn commands() -> Vec<(&'static str, &'static Family)> {
    let mut found: Vec<(&str, &Family)> = Vec::new();
    for family in families() {
        let word = family.command.word;
        if found.iter().all(|(known, _)| *known != word) {
            found.push((word, family));
        }
    }
    found
}
