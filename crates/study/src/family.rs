//! Whose command line a workload has.

use tidemark_workloads::{Family, families};

/// The family with a workload of this name.
pub(crate) fn of_name(name: &str) -> Option<&'static Family> {
    families().find(|f| f.names().any(|n| n == name))
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
