//! What is done with a table that may be there already. Nothing of the user's is destroyed.

use super::mark::{self, MARK, Mark};
use super::proof::{Proof, ProofScope};
use super::{LoadSpec, Replace, statement};
use crate::error::EngineError;
use tidemark_core::ErrorClass;
use tidemark_drivers::Session;
use tidemark_drivers::catalog::{self, TableDescription};
use tidemark_drivers::journal::{Journal, LoadPart, PartState};
use tidemark_workloads::{TablePlan, Workload};

/// What is done with one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is not there.
    Create,
    /// It is dropped and made anew, by this proof.
    Recreate(Proof),
    /// An unfinished load of the same rows goes on; these chunks of units are there.
    Resume { chunks: Vec<(u64, u64)> },
}

impl Decision {
    /// By what it is dropped first, if it is.
    pub fn dropped_by(&self) -> Option<&Proof> {
        match self {
            Decision::Recreate(proof) => Some(proof),
            _ => None,
        }
    }

    /// Whether what is there stays.
    pub fn goes_on(&self) -> bool {
        matches!(self, Decision::Resume { .. })
    }

    /// Rows of the table numbered `index` that are there.
    pub fn rows_there(&self, workload: &dyn Workload, index: usize, seed: u64) -> u64 {
        let count = |(first, units): &(u64, u64)| workload.row_count(index, *first, *units, seed);
        match self {
            Decision::Resume { chunks } => chunks.iter().map(count).sum(),
            _ => 0,
        }
    }
}

/// Waits until nothing is left of an unfinished load that is to go on: what its client's sessions
/// were doing when it was killed, the server may still be doing.
///
/// # Errors
/// [`EngineError::Refused`] when that does not end.
pub(super) async fn settle(
    session: &mut Session,
    plan: &TablePlan,
    spec: &LoadSpec,
) -> Result<(), EngineError> {
    let table = &plan.name;
    let mark = catalog::table_mark(session, table)
        .await
        .map_err(statement)?;
    if !mark::is_mark_of(mark.as_deref(), false, plan, spec.seed) {
        return Ok(());
    }
    match catalog::wait_for_writers(session, table).await {
        Err(e) if e.class == ErrorClass::Retryable => Err(EngineError::Refused(format!(
            "table {table} is incomplete, and another session has been writing to it for more \
             than a minute ({e}); nothing was changed. End that session and try again"
        ))),
        done => done.map_err(statement),
    }
}

/// Decides for one table, by what is there and what was asked.
///
/// # Errors
/// [`EngineError::Refused`] when something is there that may not be dropped.
pub(super) async fn decide(
    session: &mut Session,
    looked: &ProofScope<'_>,
    spec: &LoadSpec,
    journal: Option<&Journal>,
) -> Result<Decision, EngineError> {
    let (workload, plan) = (looked.workload, looked.plan);
    let found = catalog::describe_table(session, &plan.name)
        .await
        .map_err(statement)?;
    let Some(found) = found else {
        return Ok(Decision::Create);
    };
    refuse_no_table(&found)?;
    let mark = found.comment.as_deref().and_then(Mark::of);
    let same = mark.filter(|m| m.is_of(plan, spec.seed));
    // Tables are verified one after another, and a client may be killed in between.
    let is_part =
        |j: &Journal| same.is_some_and(|m| !m.loaded || j.of(&plan.name).next().is_some());
    // Where nothing is rolled back, rows of a chunk that was cut off are there without its line in
    // the journal.
    if let Some(journal) = journal.filter(|j| is_part(j))
        && spec.replace == Replace::Nothing
        && catalog::is_transactional(session, &plan.name)
            .await
            .map_err(statement)?
    {
        let done = journal
            .of(&plan.name)
            .filter(|l| l.state == PartState::Done);
        let chunks = done.filter_map(|line| match line.part {
            LoadPart::Chunk { first, units } => Some((first, units)),
            _ => None,
        });
        let chunks = chunks.collect();
        return Ok(Decision::Resume { chunks });
    }
    let proof = match &spec.replace {
        Replace::Anything => return Ok(Decision::Recreate(Proof::Insisted)),
        Replace::Benchmark => Proof::Released,
        Replace::Made => Proof::Marked,
        // Its rows can't be told from what is missing.
        Replace::Nothing if same.is_some_and(|m| !m.loaded) => Proof::Leftover,
        Replace::Nothing => match &spec.study {
            Some(study) => Proof::Own(study.clone()),
            None => Proof::Empty,
        },
    };
    let table = &plan.name;
    if let Some(why) = why_not_ours(workload, &found) {
        let rows = catalog::row_count(session, table)
            .await
            .map_err(statement)?;
        return Err(EngineError::Refused(format!(
            "table {table} already exists and is not the benchmark's: it has {rows} rows and \
             {why}; nothing was changed. Use another database, or add --force to drop it"
        )));
    }
    // Before its rows are compared, which a lock on the table does not allow.
    let held = match proof {
        Proof::Leftover => catalog::contents(session, table).await.map_err(statement)?,
        _ => None,
    };
    let why_not = proof.why_not(session, looked, &found);
    let why = match why_not.await.map_err(statement)? {
        None if proof != Proof::Empty || !others_began(mark, journal) => {
            return Ok(Decision::Recreate(held.map_or(proof, Proof::Holds)));
        }
        why => why,
    };
    if let Some(mark) = mark.filter(|m| !m.loaded && same.is_none())
        && matches!(proof, Proof::Empty)
    {
        return Err(EngineError::Refused(mark::otherwise(
            &mark, plan, spec.seed,
        )));
    }
    let why = match (why, &proof) {
        (Some(why), Proof::Own(_) | Proof::Leftover | Proof::Marked) => why,
        _ => {
            let rows = catalog::row_count(session, table)
                .await
                .map_err(statement)?;
            format!("table {table} already exists with {rows} rows of this benchmark")
        }
    };
    Err(EngineError::Refused(format!(
        "{why}; nothing was changed. To drop it and load it again, add --replace"
    )))
}

/// Whether an empty table is part of a load that has rows elsewhere.
fn others_began(mark: Option<Mark<'_>>, journal: Option<&Journal>) -> bool {
    mark.is_some_and(|m| !m.loaded) && journal.is_some_and(Journal::has_rows)
}

/// A view occupies a table's name, and is nobody's to drop but its maker's; so is a sequence.
///
/// # Errors
/// [`EngineError::Refused`].
pub(super) fn refuse_no_table(found: &TableDescription) -> Result<(), EngineError> {
    match found.no_table {
        None => Ok(()),
        Some(kind) => Err(EngineError::Refused(format!(
            "{} already exists and is not a table but {kind}; nothing was changed. Use another \
             database, or drop it yourself",
            found.name
        ))),
    }
}

/// Tables that are not to be dropped while others refer to them: the server would refuse it half-way.
///
/// # Errors
/// [`EngineError::Refused`] when a table that is none of `benchmark` refers to one of `drop`.
pub(super) async fn refuse_referrers(
    session: &mut Session,
    drop: &[String],
    benchmark: &[String],
) -> Result<(), EngineError> {
    let found = catalog::referrers(session, drop).await.map_err(statement)?;
    let is_other = |r: &&catalog::Reference| {
        !r.child
            .as_ref()
            .is_some_and(|child| benchmark.contains(child))
    };
    let others: Vec<_> = found.iter().filter(is_other).collect();
    let Some(first) = others.first() else {
        return Ok(());
    };
    let more = match others.len() {
        1 => String::new(),
        n => format!(" (and {} more such keys)", n - 1),
    };
    Err(EngineError::Refused(format!(
        "table {} has a foreign key that refers to table {}{more}, which would be dropped; \
         nothing was changed. Drop that key or table yourself, or use another database; --force \
         lets the server decide",
        first.shown, first.parent
    )))
}

/// Whether a run may use a table as one of the benchmark's. What the user did to a table that
/// Tidemark made is measured as it is.
pub fn is_ours(workload: &dyn Workload, found: &TableDescription) -> bool {
    found.no_table.is_none() && (bears_mark(workload, found) || workload.recognises(found))
}

/// Whether a table bears the mark of a load of this workload.
fn bears_mark(workload: &dyn Workload, found: &TableDescription) -> bool {
    let mark = found.comment.as_deref().unwrap_or_default();
    mark.starts_with(MARK) && workload.can_be(found)
}

/// Why a table may not be dropped as one of the benchmark's, as what it has; `None` when it may. The
/// mark alone proves nothing of what the user has added since.
pub fn why_not_ours(workload: &dyn Workload, found: &TableDescription) -> Option<String> {
    if let Some(kind) = found.no_table {
        return Some(format!("the form of {kind}"));
    }
    // How its rows are spread is no data of the user's.
    let whole = TableDescription {
        partitions: None,
        ..found.clone()
    };
    let marked = bears_mark(workload, found);
    if marked && workload.has_its_columns(found) && workload.additions(&whole).is_empty() {
        return None;
    }
    if workload.recognises(found) {
        return None;
    }
    let additions = workload.additions(if marked { &whole } else { found });
    let bare = TableDescription {
        foreign_keys: Vec::new(),
        extras: Vec::new(),
        ..whole
    };
    let is_its_shape = match marked {
        true => workload.has_its_columns(&bare),
        false => workload.recognises(&bare),
    };
    let mut words = Vec::new();
    if !is_its_shape || additions.is_empty() {
        let columns = found.columns.iter();
        let columns: Vec<_> = columns
            .map(|c| format!("{} {}", c.name, c.type_name))
            .collect();
        words.push(format!("the columns {}", columns.join(", ")));
    }
    if !additions.is_empty() {
        let additions = additions.join(", ");
        words.push(format!(
            "additions that the benchmark's tables lack: {additions}"
        ));
    }
    Some(words.join(", and "))
}
