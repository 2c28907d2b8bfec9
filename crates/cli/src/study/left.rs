//! How a study's steps have left the tables that it loaded, as far as its records tell: its next load
//! compares that with what is in the database before it drops anything.

use crate::loading::KEPT;
use jiff::Timestamp;
use tidemark_core::LeftBehind;
use tidemark_core::record::{RunRecord, TableState};
use tidemark_store::{Filter, StepRow, StepState, Store, StoreError};
use tidemark_study::{Plan, Step, StepKind};

/// How these tables were left by the last step at them.
///
/// # Errors
/// What reading can meet.
pub fn left(
    store: &Store,
    study: &str,
    plan: &Plan,
    tables: &str,
) -> Result<LeftBehind, StoreError> {
    let rows = store.steps(study)?;
    let is_loaded = |(step, row): &(&Step, &StepRow)| {
        step.kind == StepKind::Load
            && step.tables == tables
            && row.state == StepState::Done
            && !row.output.contains(KEPT)
    };
    let loads = plan.steps.iter().zip(&rows).filter(is_loaded);
    let Some(loaded_ms) = loads.filter_map(|(_, row)| row.begun_ms).max() else {
        return Ok(LeftBehind::AsLoaded);
    };
    let is_at_them = |cell: &str| {
        let at = |s: &&Step| s.kind == StepKind::Run && s.tables == tables && s.cell == cell;
        plan.steps.iter().any(|step| at(&step))
    };
    let filter = Filter {
        study: Some(study.into()),
        ..Filter::default()
    };
    let mut runs = Vec::new();
    for listed in store.list(&filter)?.iter().rev() {
        let begun: Option<Timestamp> = listed.started_at.parse().ok();
        if begun.is_some_and(|b| b.as_millisecond() < loaded_ms) {
            continue;
        }
        let run = store.get(&listed.id)?;
        if run
            .study
            .as_ref()
            .is_some_and(|place| is_at_them(&place.cell))
        {
            runs.push(run);
        }
    }
    Ok(after(&runs))
}

/// What runs that followed each other left.
fn after(runs: &[RunRecord]) -> LeftBehind {
    let mut first: Option<&[TableState]> = None;
    let mut last: Option<&[TableState]> = None;
    let mut wrote = false;
    for run in runs {
        let (before, after) = (&run.tables_before, &run.tables_after);
        if last.is_some_and(|last| !agree(last, before)) {
            return LeftBehind::Changed;
        }
        first = first.or((!wrote).then_some(before));
        let reads_only = run.totals.statements.read > 0
            && run.totals.statements.write + run.totals.statements.noop_writes == 0;
        wrote |= !reads_only;
        last = match after.is_empty() {
            false => Some(after),
            true if reads_only => last,
            true => None,
        };
    }
    match (wrote, last) {
        (false, _) => LeftBehind::AsLoaded,
        (true, None) => LeftBehind::Unknown,
        (true, Some(last)) => LeftBehind::Counted {
            first: first.unwrap_or_default().to_vec(),
            last: last.to_vec(),
        },
    }
}

/// Whether the tables that were counted twice had the same rows and keys.
fn agree(one: &[TableState], other: &[TableState]) -> bool {
    let same = |a: &TableState| {
        let b = other.iter().find(|b| b.table == a.table);
        b.is_none_or(|b| (a.rows, a.min_key, a.max_key) == (b.rows, b.min_key, b.max_key))
    };
    one.iter().all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(before: u64, after: Option<u64>, writes: u64) -> RunRecord {
        let state = |rows| {
            vec![TableState {
                table: "sbtest1".into(),
                rows,
                expected_rows: None,
                min_key: Some(1),
                max_key: Some(9),
            }]
        };
        let mut run = RunRecord {
            tables_before: state(before),
            tables_after: after.map(state).unwrap_or_default(),
            ..RunRecord::default()
        };
        run.totals.statements.read = 1;
        run.totals.statements.write = writes;
        run
    }

    fn rows_of(left: &LeftBehind) -> Option<(u64, u64)> {
        match left {
            LeftBehind::Counted { first, last } => Some((first[0].rows, last[0].rows)),
            _ => None,
        }
    }

    #[test]
    fn what_runs_left_follows_from_their_records() {
        assert_eq!(after(&[]), LeftBehind::AsLoaded);
        assert_eq!(after(&[run(5, Some(5), 0)]), LeftBehind::AsLoaded);
        let wrote = after(&[run(5, Some(7), 2), run(7, Some(8), 1)]);
        assert_eq!(rows_of(&wrote), Some((5, 8)));
        // Somebody else's row came between the two.
        let between = after(&[run(5, Some(7), 2), run(8, Some(9), 1)]);
        assert_eq!(between, LeftBehind::Changed);
        // A run that was cut off says nothing of what it left; the next one does.
        assert_eq!(after(&[run(5, None, 0)]), LeftBehind::AsLoaded);
        assert_eq!(after(&[run(5, None, 1)]), LeftBehind::Unknown);
        let cut_off = after(&[run(5, None, 1), run(6, Some(8), 1)]);
        assert_eq!(rows_of(&cut_off), Some((5, 8)));
    }
}
