//! Whether a run can begin and how it ended, in words that name the command to run instead.

use crate::exit::{ExitCode, Failure};
use crate::looking::Described;
use tidemark_core::record::{RunRecord, RunState};
use tidemark_engine::{EngineError, RunResult};
use tidemark_report::not_found;

/// Looks at what was found of the tables that a run needs. `prepare` is the command that makes
/// them, as the user would write it.
///
/// # Errors
/// [`ExitCode::NotPrepared`] when one is missing or its load did not end; [`ExitCode::Refused`]
/// when one is somebody else's and the user does not insist.
pub fn tables(
    needed: &[String],
    described: &Described,
    insists: bool,
    prepare: &str,
) -> Result<(), Failure> {
    if let Some(table) = described.unfinished.first() {
        return Err(Failure::new(
            ExitCode::NotPrepared,
            format!("the load of table {table} is incomplete; resume it with: {prepare}"),
        ));
    }
    if let Some((table, why)) = described.foreign.first().filter(|_| !insists) {
        return Err(Failure::new(
            ExitCode::Refused,
            format!(
                "table {table} is not the benchmark's: it has {why}; nothing was run. Use \
                 another database, or add --force to use it anyway"
            ),
        ));
    }
    let there = |name: &&String| {
        described.there.contains(name) || described.foreign.iter().any(|(table, _)| table == *name)
    };
    let mut missing = needed.iter().filter(|name| !there(name));
    let Some(first) = missing.next() else {
        return Ok(());
    };
    let more = match missing.count() {
        0 => String::new(),
        n => format!(" (and {n} more)"),
    };
    Err(Failure::new(
        ExitCode::NotPrepared,
        format!("table {first}{more} does not exist; run prepare first: {prepare}"),
    ))
}

/// A failure that kept a run from beginning, or ended it.
pub fn failed(error: EngineError, prepare: &str) -> Failure {
    let mut failure = Failure::from(error);
    if failure.code == ExitCode::NotPrepared {
        failure.message = format!("{}; run prepare first: {prepare}", failure.message);
    }
    failure
}

/// How a run that made load ended.
///
/// # Errors
/// [`Failure`] when an error ended it, when nothing but errors came of it, when no host could be
/// reached at its end, and when its search found no rate.
pub fn ended(result: RunResult, record: &RunRecord, prepare: &str) -> Result<ExitCode, Failure> {
    match (result.state, result.failure) {
        (RunState::Failed(_), Some(error)) => Err(failed(error, prepare)),
        (RunState::Interrupted, _) => Ok(ExitCode::Interrupted),
        _ => match nothing_measured(record).or_else(|| out_of_reach(record)) {
            Some(why) => Err(Failure::new(ExitCode::Failed, why)),
            None => match not_found(record) {
                Some(why) => Err(Failure::new(ExitCode::Check, why)),
                None => Ok(ExitCode::Success),
            },
        },
    }
}

/// Who was away at the end, when nobody was there any more: the run did not last as long as it says.
fn out_of_reach(record: &RunRecord) -> Option<String> {
    let outage = record.outages.iter().find(|outage| !outage.ended)?;
    let last = record.intervals.last()?;
    (last.sessions == 0).then(|| {
        format!(
            "no host was reachable at the end of the run: {} was unreachable from second {:.1}: \
             {}",
            outage.host,
            outage.start_ms as f64 / 1000.0,
            outage.first_error
        )
    })
}

/// Why there is no result, when errors are all that came of a run.
fn nothing_measured(record: &RunRecord) -> Option<String> {
    let steps = record.steps.iter().map(|s| &s.totals);
    if steps.chain([&record.totals]).any(|t| t.all.count > 0) {
        return None;
    }
    let Some(most) = record.errors.iter().max_by_key(|e| e.count) else {
        let seconds = record.totals.elapsed_s;
        return Some(format!(
            "no transaction completed in {seconds:.1} s: {}",
            why_none(record)
        ));
    };
    Some(format!(
        "no transaction succeeded; the most frequent error ({} times): {}: {}",
        most.count, most.code, most.first_message
    ))
}

/// What kept a run without a transaction and without an error from both.
fn why_none(record: &RunRecord) -> String {
    let due = record.totals.dropped_arrivals + record.totals.unserved_arrivals;
    match record.rate {
        Some(rate) if due == 0 => format!(
            "at --rate={rate} none was due by then. Run longer, or at a higher rate, for example \
             --rate={}",
            (10.0 / record.totals.elapsed_s.max(0.1)).ceil()
        ),
        Some(rate) => format!(
            "of those due at --rate={rate} ({due}), none received its reply; the server may be \
             busy or hung: check its process list"
        ),
        None if record.terminals.is_some() => {
            "users were in their think times, or none received its reply. Run longer, or use \
             shorter pauses"
                .into()
        }
        None => {
            "none received its reply; the server may be busy or hung: check its process list, or \
             run longer"
                .into()
        }
    }
}
