//! Runs that inherit what earlier ones changed.

use super::row_count::wrote;
use crate::compare::ComparedRun;
use crate::run::Run;
use crate::texts::carried_state::{BETWEEN, INSTEAD, SAYS};
use crate::thresholds::rows_differ;
use crate::{AnalysisError, Both, Figure, Finding, Severity};
use std::collections::BTreeMap;
use tidemark_core::record::TableState;

pub(super) const ID: &str = "carried-state";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    if !wrote(run) {
        return Ok(None);
    }
    let carried = run.record.tables_before.iter().find_map(|t| {
        let expected = t.expected_rows?;
        rows_differ(t.rows, expected).then(|| finding(SAYS, t, expected))
    });
    Ok(carried)
}

/// Of the runs of a comparison: whether one of them began with other rows than the first that was to
/// have the same data. Runs of different sizes are compared on purpose, and that is told as an option
/// that differs.
pub(super) fn between(a: &[&ComparedRun], b: &[&ComparedRun]) -> Option<Finding> {
    let runs: Vec<&ComparedRun> = a.iter().chain(b).copied().collect();
    runs.iter().find_map(|run| {
        let first = runs
            .iter()
            .find(|other| same_data(&other.tables_before, &run.tables_before))?;
        run.tables_before.iter().find_map(|t| {
            let mut others = first.tables_before.iter();
            let other = others.find(|o| o.table == t.table)?;
            rows_differ(t.rows, other.rows).then(|| finding(BETWEEN, t, other.rows))
        })
    })
}

/// Whether both were to have the same tables of the same sizes. Of some tables a load makes a random
/// number of rows (TPC-C's order lines), which follows from the size of the others.
fn same_data(a: &[TableState], b: &[TableState]) -> bool {
    let asked = |tables: &[TableState]| -> BTreeMap<String, Option<u64>> {
        let each = tables.iter().map(|t| (t.table.clone(), t.expected_rows));
        each.collect()
    };
    asked(a) == asked(b)
}

fn finding(says: Both, table: &TableState, expected: u64) -> Finding {
    Finding {
        rule: ID,
        severity: Severity::Suspect,
        says,
        instead: INSTEAD,
        figures: vec![
            ("table", Figure::Text(table.table.clone())),
            ("rows", Figure::Count(table.rows)),
            ("expected", Figure::Count(expected)),
        ],
    }
}
