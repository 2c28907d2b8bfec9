//! Users that were not really working, or more work than there were users.
//!
//! Little (1961): in a closed loop users = throughput × (response time + thinking). Nothing is added
//! that is in no latency, but for records whose latencies end with the reply's arrival: there the
//! client's own time until a session's next transaction counts too. Sessions whose threads waited for a
//! processor between two transactions were there, and are told as such.

use crate::family::Family;
use crate::run::Run;
use crate::texts::littles_law::{
    KEPT_OFF, KEPT_OFF_INSTEAD, TOO_FEW, TOO_FEW_INSTEAD, TOO_MANY, TOO_MANY_INSTEAD,
};
use crate::thresholds::{
    CHANCE, COUNTING_US, SHORTEST_REACH, USERS_SEEN, USERS_SEEN_INVALID, USERS_SEEN_MOST,
    USERS_SEEN_SHORTEST_S,
};
use crate::{AnalysisError, Both, Figure, Finding, Severity, option};
use tidemark_core::record::{ErrorCount, LatencyEnd};
use tidemark_core::{ErrorClass, ErrorKind, ThinkTime};

pub(super) const ID: &str = "littles-law";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let elapsed_s = run.totals.elapsed_s;
    // Users of a client that was missing are told as such.
    if run
        .record
        .clients
        .iter()
        .any(|c| c.state.is_missing() || !c.missing.is_empty())
    {
        return Ok(None);
    }
    // Starting and ending is all there is of it.
    if elapsed_s < USERS_SEEN_SHORTEST_S {
        return Ok(None);
    }
    let in_service = run.service.sum_ns() as f64 / 1e9 / elapsed_s;
    // Sessions begin before the first moment that counts and end after the last: by so much a
    // session's time may be cut short or reach beyond.
    let ends = run.service.max_ns() as f64 / 1e9 / elapsed_s;
    let sessions = run.sessions() as f64;
    if in_service > sessions * (USERS_SEEN_MOST + ends) {
        return Ok(Some(finding(
            sessions,
            in_service,
            TOO_MANY,
            TOO_MANY_INSTEAD,
        )));
    }
    let Some((seen, chance)) = users_seen(run, in_service) else {
        return Ok(None);
    };
    let asked = run.users() as f64;
    // What each transaction leaves out is no more than counting it takes.
    let missing_us = (asked - seen) * elapsed_s / run.totals.all.count as f64 * 1e6;
    if missing_us < COUNTING_US {
        return Ok(None);
    }
    let least = asked * (USERS_SEEN - ends - chance - given_up(run));
    if seen >= least {
        return Ok(None);
    }
    let waiting = kept_off(run);
    if seen + waiting < least {
        return Ok(Some(finding(asked, seen, TOO_FEW, TOO_FEW_INSTEAD)));
    }
    let mut found = finding(asked, seen, KEPT_OFF, KEPT_OFF_INSTEAD);
    found.severity = Severity::Suspect;
    found.figures.push(("waiting", Figure::Number(waiting)));
    Ok(Some(found))
}

/// Sessions that were between two transactions because their threads waited for a processor: at most as
/// many as threads waited, and as sessions were between two for whatever reason.
fn kept_off(run: &Run<'_>) -> f64 {
    let between_s = match run.record.latency_end {
        LatencyEnd::Session => run.totals.fairness.between_avg_s.unwrap_or(0.0),
        // There that time is counted already.
        LatencyEnd::Arrival => 0.0,
    };
    let between = between_s * run.sessions() as f64 / run.totals.elapsed_s;
    between.min(run.record.usage.waiting_threads.unwrap_or(0.0))
}

/// Users at work, waiting or pausing on average, and what of it is chance, as a share; `None` where
/// the record can't tell: an open loop has no users, and keying and thinking may be drawn by the
/// workload and in no record.
fn users_seen(run: &Run<'_>, in_service: f64) -> Option<(f64, f64)> {
    if run.kind.is_open_loop() || option(run.record, "wait") == Some("on") {
        return None;
    }
    let think: ThinkTime = option(run.record, "think-time")
        .unwrap_or("0")
        .parse()
        .ok()?;
    let pause_s = match think {
        ThinkTime::None => 0.0,
        ThinkTime::Constant(t) | ThinkTime::Exponential(t) => t.as_secs_f64(),
    };
    let fairness = &run.totals.fairness;
    if run.totals.all.response.is_none() {
        // Each session is a user.
        let between = match run.record.latency_end {
            LatencyEnd::Session => 0.0,
            // The oldest records lack the client's own time.
            LatencyEnd::Arrival => fairness.between_avg_s? * run.sessions() as f64,
        };
        let between = between / run.totals.elapsed_s;
        let reached = reached(run);
        return (reached > SHORTEST_REACH).then(|| ((in_service + between) / reached, 0.0));
    }
    let wait_s = run.latency.mean_ns() / 1e9;
    let chance = CHANCE / (run.totals.all.count as f64).sqrt();
    // Users begin with a pause, and some end in one.
    let ends = pause_s / run.totals.elapsed_s;
    let chance = if pause_s > 0.0 { chance + ends } else { 0.0 };
    Some((run.per_second() * (wait_s + pause_s), chance))
}

/// Share of all transactions that an error ended for their users: what those took is in no latency,
/// and `error-rate` speaks of them. What was tried again is in the latency of the transaction that it
/// became, and excuses nobody.
fn given_up(run: &Run<'_>) -> f64 {
    let Some(family) = Family::of(run.record).filter(|f| f.gives_up) else {
        return 0.0;
    };
    let ended = match family.tried_again {
        Some(note) => {
            let again = run.totals.notes.get(note).copied().unwrap_or(0);
            run.totals.ignored_errors.saturating_sub(again)
        }
        None => {
            let kinds = run.record.errors.iter();
            let ended = kinds.filter(|e| !is_tried_again(e)).map(|e| e.count);
            ended.fold(0, u64::saturating_add)
        }
    };
    let ended = ended.min(run.totals.ignored_errors) as f64;
    ended / (run.totals.all.count as f64 + ended)
}

/// Whether users that give up try the same transaction again after such an error.
fn is_tried_again(error: &ErrorCount) -> bool {
    use ErrorClass::{ConnectionLost, Refused, Retryable};
    matches!(error.class, Retryable | ConnectionLost | Refused)
        && error.code != ErrorKind::CommitUnknown.name()
}

/// Share of the users' time in which their host could be reached; what it cost them that it could not
/// is told elsewhere. Each host has as many users as any other.
fn reached(run: &Run<'_>) -> f64 {
    let hosts = run.totals.hosts.len().max(1) as f64;
    let outages = run.record.outages.iter();
    let of_all_hosts = outages.map(|o| o.length_ms / 1000.0).sum::<f64>() / hosts;
    1.0 - of_all_hosts.min(run.totals.outage_s) / run.totals.elapsed_s
}

fn finding(asked: f64, seen: f64, says: Both, instead: Both) -> Finding {
    let share = seen / asked;
    let unusable = !(USERS_SEEN_INVALID..=1.0).contains(&share);
    Finding {
        rule: ID,
        severity: Severity::invalid_if(unusable),
        says,
        instead,
        figures: vec![
            ("asked", Figure::Number(asked)),
            ("seen", Figure::Number(seen)),
            ("share", Figure::Number(share * 100.0)),
        ],
    }
}
