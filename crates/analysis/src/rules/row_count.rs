//! Data that is not what it should be.

use crate::run::Run;
use crate::texts::row_count::{BEFORE, CHANGED, INSTEAD, KEYS};
use crate::{AnalysisError, Both, Figure, Finding, Severity};
use tidemark_core::record::TableState;

pub(super) const ID: &str = "row-count";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let (before, after) = (&run.record.tables_before, &run.record.tables_after);
    let miscounted = before.iter().chain(after).find_map(|t| {
        let room = room(t).filter(|room| *room < t.rows)?;
        Some(finding(Severity::Invalid, KEYS, t, room))
    });
    Ok(miscounted.or_else(|| {
        if wrote(run) {
            // Other runs may have written, too: see carried-state.
            return None;
        }
        let otherwise = before.iter().find_map(|t| {
            let expected = t.expected_rows.filter(|e| *e != t.rows)?;
            Some(finding(Severity::Suspect, BEFORE, t, expected))
        });
        otherwise.or_else(|| {
            after.iter().find_map(|t| {
                let was = before.iter().find(|b| b.table == t.table)?;
                let changed = was.rows != t.rows;
                changed.then(|| finding(Severity::Suspect, CHANGED, t, was.rows))
            })
        })
    }))
}

/// Whether the run sent writes.
pub(super) fn wrote(run: &Run<'_>) -> bool {
    let statements = &run.totals.statements;
    statements.write > 0 || statements.noop_writes > 0
}

/// How many rows the keys have room for.
fn room(table: &TableState) -> Option<u64> {
    let (min, max) = (i128::from(table.min_key?), i128::from(table.max_key?));
    u64::try_from(max - min + 1).ok()
}

fn finding(severity: Severity, says: Both, table: &TableState, expected: u64) -> Finding {
    Finding {
        rule: ID,
        severity,
        says,
        instead: INSTEAD,
        figures: vec![
            ("table", Figure::Text(table.table.clone())),
            ("rows", Figure::Count(table.rows)),
            ("expected", Figure::Count(expected)),
        ],
    }
}
