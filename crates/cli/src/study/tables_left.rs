//! How a study's steps have left the tables that it loaded, as far as its records tell: its next load
//! compares that with what is in the database before it drops anything.

use crate::loading::says_kept;
use jiff::Timestamp;
use tidemark_core::record::{RunRecord, RunState};
use tidemark_core::{LeftBehind, Source, TablesUsed};
use tidemark_store::{Filter, StepRow, StepState, Store, StoreError};
use tidemark_study::{JobKind, PlannedStep, StudyPlan};

/// How these tables were left by the last step at them.
///
/// # Errors
/// What reading can meet.
pub fn tables_left(
    store: &Store,
    study: &str,
    plan: &StudyPlan,
    tables: &str,
) -> Result<LeftBehind, StoreError> {
    let rows = store.steps(study)?;
    let is_loaded = |(step, row): &(&PlannedStep, &StepRow)| {
        step.kind == JobKind::Load
            && step.tables == tables
            && row.state == StepState::Done
            && !says_kept(&row.output)
    };
    let loads = plan.steps.iter().zip(&rows).filter(is_loaded);
    let Some(loaded_ms) = loads.filter_map(|(_, row)| row.begun_ms).max() else {
        return Ok(LeftBehind::AsLoaded);
    };
    let is_at_them = |cell: &str| {
        let at = |s: &&PlannedStep| s.kind == JobKind::Run && s.tables == tables && s.cell == cell;
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
    TablesUsed {
        wrote: wrote(&run),
        before: run.contents_before,
        after: run.contents_after,
    }
}

/// Whether a run may have changed rows. What has no totals was cut off, so its workload tells; one that
/// failed before its load began has changed none.
fn wrote(run: &RunRecord) -> bool {
    let statements = &run.totals.statements;
    if statements.write + statements.noop_writes > 0 {
        return true;
    }
    if statements.read > 0 {
        return false;
    }
    let never_began = matches!(run.state, RunState::Failed(_)) && run.load_began_at.is_none();
    !never_began && !only_reads(run)
}

/// Whether a record's workload reads only, with the options that it had; what is not known may write.
fn only_reads(run: &RunRecord) -> bool {
    let Ok(definition) = tidemark_workloads::find(&run.workload) else {
        return false;
    };
    let mut values = definition.defaults();
    for (name, option) in &run.options {
        // The options of the command itself are none of the workload's.
        let _unknown = values.set(name, &option.value, Source::CommandLine);
    }
    (definition.build)(&values).is_ok_and(|workload| workload.only_reads())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::StatementCounts;

    fn record(workload: &str, state: RunState, (read, write): (u64, u64)) -> RunRecord {
        let mut run = RunRecord {
            workload: workload.into(),
            state,
            load_began_at: Some("2026-11-20T10:00:02Z".into()),
            ..RunRecord::default()
        };
        run.totals.statements = StatementCounts {
            read,
            write,
            ..StatementCounts::default()
        };
        run
    }

    #[test]
    fn a_run_without_totals_wrote_if_its_workload_writes() {
        for (workload, counts, expected) in [
            ("oltp_read_only", (0, 0), false),
            ("oltp_read_write", (0, 0), true),
            ("oltp_read_write", (9, 0), false),
            ("oltp_read_only", (9, 1), true),
            ("my own", (0, 0), true),
        ] {
            let run = record(workload, RunState::Running, counts);
            assert_eq!(wrote(&run), expected, "{workload} {counts:?}");
        }
        let mut failed = record("oltp_read_write", RunState::Failed("no".into()), (0, 0));
        assert!(wrote(&failed));
        failed.load_began_at = None;
        assert!(!wrote(&failed));
    }
}
