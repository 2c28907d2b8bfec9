//! How a study's steps have left the tables that it loaded, as far as its records tell: its next load
//! compares that with what is in the database before it drops anything.

use crate::loading::KEPT;
use jiff::Timestamp;
use tidemark_core::record::RunRecord;
use tidemark_core::{LeftBehind, TablesUsed};
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
            runs.push(used(run));
        }
    }
    Ok(LeftBehind::by(&runs))
}

/// What a run's record says of its tables. Its warm-up made the same transactions.
fn used(run: RunRecord) -> TablesUsed {
    let statements = &run.totals.statements;
    let reads_only = statements.read > 0 && statements.write + statements.noop_writes == 0;
    TablesUsed {
        before: run.contents_before,
        after: run.contents_after,
        wrote: !reads_only,
    }
}
