//! By what a table may be dropped or emptied, and whether that holds at that moment. Every drop of every
//! command goes through here: nothing that an earlier step believed counts, only what is in the database
//! then.

use super::decide::{refuse_no_table, why_not_ours};
use super::mark::Mark;
use super::verify::{MOST_COMPARED, compare};
use crate::error::EngineError;
use std::collections::BTreeMap;
use tidemark_core::{DbError, LeftBehind, Protocol, StudyLoad, held_the_same};
use tidemark_drivers::Session;
use tidemark_drivers::catalog::{self, DropVerdict, Drops, TableDescription};
use tidemark_workloads::{TablePlan, Workload};

/// Why a table may be dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Proof {
    /// The user said that whatever bears the name may go (`--force`).
    Insisted,
    /// The user gave the benchmark's tables away (`--replace`, `cleanup`): it is one.
    Released,
    /// It is the benchmark's, and bears Tidemark's mark or has no rows (`--create`, a run of pgbench's).
    Marked,
    /// It is the benchmark's and has no rows.
    Empty,
    /// An unfinished load left it, which begins anew: it has no rows but that load's.
    Leftover,
    /// The same, and that it was looked at: it holds what it held then.
    Holds(String),
    /// It is the study's own, as the study left it.
    Own(StudyLoad),
}

/// What a proof is looked for in.
pub(super) struct ProofScope<'a> {
    pub workload: &'a dyn Workload,
    pub plan: &'a TablePlan,
    /// Which of the workload's tables it is.
    pub index: usize,
    /// Seed of the load that is to be made.
    pub seed: u64,
}

impl Proof {
    /// Why the proof does not hold of this table; `None` when it does.
    ///
    /// # Errors
    /// The server's error.
    pub async fn why_not(
        &self,
        session: &mut Session,
        looked: &ProofScope<'_>,
        found: &TableDescription,
    ) -> Result<Option<String>, DbError> {
        let table = &looked.plan.name;
        if let Err(EngineError::Refused(why)) = refuse_no_table(found) {
            return Ok(Some(why));
        }
        if *self == Proof::Insisted {
            return Ok(None);
        }
        if let Some(why) = why_not_ours(looked.workload, found) {
            return Ok(Some(format!(
                "table {table} is not the benchmark's: it has {why}"
            )));
        }
        let mark = found.comment.as_deref().and_then(Mark::of);
        let rows = match self {
            Proof::Insisted | Proof::Released => return Ok(None),
            // Its rows need not be counted.
            Proof::Marked if mark.is_some() => return Ok(None),
            _ => catalog::row_count(session, table).await?,
        };
        if rows == 0 {
            return Ok(None);
        }
        Ok(match self {
            Proof::Insisted | Proof::Released => None,
            Proof::Empty => Some(format!("table {table} now has {rows} rows")),
            Proof::Marked => mark
                .is_none()
                .then(|| format!("table {table} has {rows} rows that Tidemark did not load")),
            Proof::Holds(then) => {
                let now = catalog::contents(session, table).await?;
                let is_same = now.is_some_and(|now| held_the_same(&now, then) == Some(true));
                (!is_same).then(|| format!("table {table} now has different rows"))
            }
            Proof::Leftover => leftover(session, looked, rows).await?,
            Proof::Own(study) => own(session, study, table, mark, rows).await?,
        })
    }
}

/// Whether an unfinished load that can't go on has left no rows but its own.
async fn leftover(
    session: &mut Session,
    looked: &ProofScope<'_>,
    rows: u64,
) -> Result<Option<String>, DbError> {
    let (plan, table) = (looked.plan, &looked.plan.name);
    let at = (looked.index, plan);
    let is_searched = !catalog::is_transactional(session, table).await? && rows <= MOST_COMPARED;
    let sample = match is_searched {
        true => compare(session, looked.workload, at, looked.seed, &[(0, plan.rows)]).await?,
        false => None,
    };
    let Some(sample) = sample else {
        return Ok(Some(format!(
            "table {table} has {rows} rows of a load that cannot resume, and it is unknown \
             whether all are that load's"
        )));
    };
    let known = sample.rows - sample.mismatches;
    Ok((known != rows).then(|| {
        format!("table {table} has {rows} rows, of which {known} match its incomplete load")
    }))
}

/// Whether a table is a study's own, as it left it.
async fn own(
    session: &mut Session,
    study: &StudyLoad,
    table: &str,
    mark: Option<Mark<'_>>,
    rows: u64,
) -> Result<Option<String>, DbError> {
    let Some(mark) = mark.filter(|m| m.owner == Some(study.study.as_str())) else {
        return Ok(Some(format!(
            "table {table} already exists with {rows} rows of this benchmark, which this study \
             did not load"
        )));
    };
    let there = format!("table {table} already exists with {rows} rows");
    let Some(now) = catalog::contents(session, table).await? else {
        return Ok(Some(format!("{there} and cannot be checked")));
    };
    let same = |one: Option<&str>, other: Option<&str>| {
        let known = one.zip(other);
        known.and_then(|(one, other)| held_the_same(one, other))
    };
    // What a load left and nobody has changed is the study's, whatever is known of its runs.
    let as_loaded = same(mark.contents, Some(&now));
    if as_loaded == Some(true) {
        return Ok(None);
    }
    let unknown = format!(
        "{there}, and it is unknown whether all are this study's: its rows were not all \
         checksummed after its last step, or its load or a writing run was interrupted. Check \
         whether any of them is yours; if not, drop the table with the cleanup command and \
         resume the study with --retry-failed"
    );
    let unfinished = format!(
        "{there} of an incomplete load of this study, and it is unknown whether all are that \
         load's"
    );
    let changed = format!("{there}, and they are not as this study left them");
    let (first, last) = match &study.left {
        LeftBehind::Written { first, last } if mark.loaded => (first, last),
        LeftBehind::Unknown if mark.loaded => return Ok(Some(unknown)),
        _ if !mark.loaded && as_loaded.is_none() => return Ok(Some(unfinished)),
        LeftBehind::AsLoaded if as_loaded.is_none() => return Ok(Some(unknown)),
        _ => return Ok(Some(changed)),
    };
    // What the first run that wrote found is what the load left, and what is there now what the last
    // one left.
    let found = same(mark.contents, first.get(table).map(String::as_str));
    let left = same(last.get(table).map(String::as_str), Some(&now));
    Ok(match (found, left) {
        (Some(true), Some(true)) => None,
        (Some(false), _) | (_, Some(false)) => Some(changed),
        _ => Some(unknown),
    })
}

/// Empties a table, if its proof holds.
///
/// # Errors
/// The server's error.
pub(super) async fn empty_by(
    session: &mut Session,
    looked: &ProofScope<'_>,
    proof: &Proof,
) -> Result<DropVerdict, DbError> {
    let look = async |session: &mut Session, table: &str| {
        let Some(found) = catalog::describe_table(session, table).await? else {
            return Ok(DropVerdict::Gone);
        };
        let why = proof.why_not(session, looked, &found).await?;
        Ok(why.map_or(DropVerdict::Drop, DropVerdict::Keep))
    };
    // Nobody waits for a lock, or holds one, on what is somebody else's.
    match look(session, &looked.plan.name).await? {
        DropVerdict::Drop => catalog::empty_proven(session, &looked.plan.name, look).await,
        kept => Ok(kept),
    }
}

/// Drops tables, each by its proof; gives how far that came.
pub(super) async fn drop_by(
    session: &mut Session,
    workload: &dyn Workload,
    seed: u64,
    tables: &[(usize, TablePlan, Proof)],
    go_on: impl FnMut() -> bool,
) -> Drops {
    let by_name: BTreeMap<&str, _> = tables.iter().map(|t| (t.1.name.as_str(), t)).collect();
    let names: Vec<String> = tables
        .iter()
        .map(|(_, plan, _)| plan.name.clone())
        .collect();
    let look = async |session: &mut Session, table: &str| {
        let Some((index, plan, proof)) = by_name.get(table) else {
            return Ok(DropVerdict::Keep(format!("table {table} was not checked")));
        };
        let Some(found) = catalog::describe_table(session, table).await? else {
            return Ok(DropVerdict::Gone);
        };
        let looked = ProofScope {
            workload,
            plan,
            index: *index,
            seed,
        };
        if let Some(why) = proof.why_not(session, &looked, &found).await? {
            return Ok(DropVerdict::Keep(format!(
                "{why}: it changed before it could be dropped and was kept"
            )));
        }
        if *proof != Proof::Insisted && session.dialect().engine().protocol() == Protocol::Sqlite {
            // Elsewhere the server itself refuses.
            let all: Vec<String> = names.clone();
            let one = [table.to_string()];
            let refused = super::decide::refuse_referrers(session, &one, &all).await;
            if let Err(error) = refused {
                return Ok(DropVerdict::Keep(error.to_string()));
            }
        }
        Ok(DropVerdict::Drop)
    };
    catalog::drop_proven(session, &names, look, go_on).await
}
