//! A lock that a session outside the run holds for long.

use crate::number::three;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::lock_held as texts;
use crate::thresholds::{BLOCKED, HELD_MEAN, HELD_S, MOST, OF_DDL, SHARE, STILL, STOOD};
use crate::{Cause, WaitClass, Words};
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::series::Series;
use tidemark_core::{Job, Protocol};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let Some(activity) = &seen.activity else {
        return match seen.is_embedded {
            true => Outcome::NotFound,
            false => Outcome::Skipped(Words::of(crate::texts::row_locks::needs)),
        };
    };
    let on_tables = activity.waits.get(&WaitClass::TableLock).copied();
    let on_tables = on_tables.unwrap_or(0.0);
    // Transactions that wait when the run ends are in no latency: sessions count, too.
    let sessions = (on_tables / seen.load.sessions.max(1.0)).min(1.0);
    let table = seen.wait_share(WaitClass::TableLock).max(sessions);
    let row = seen.wait_share(WaitClass::RowLock);
    let (share, class, says) = if table >= SHARE && is_held_outside(seen) {
        let all = seen.load.sessions;
        let holder = holder(seen);
        let says = Words::of(|lang| {
            let said = texts::table(lang, three(on_tables), all);
            match holder {
                Some(IDLE) => said + texts::holder_idle(lang),
                Some(ACTIVE) => said + texts::holder_active(lang),
                _ => said + texts::holder(lang),
            }
        });
        (table, WaitClass::TableLock, says)
    } else if row >= SHARE && is_long(seen) {
        let said = seen.said(&[WaitClass::RowLock]);
        let held = seen.status("transactions.oldest").map(|c| c.max());
        let each = wait_s(seen).unwrap_or(0.0);
        let says = Words::of(|lang| match held {
            _ if blocked_by_others(seen) == Some(true) => texts::others(lang, &said),
            Some(held) => texts::row(lang, &said, three(held)),
            None => texts::waits(lang, &said, three(each)),
        });
        (row, WaitClass::RowLock, says)
    } else {
        return Outcome::NotFound;
    };
    let mut evidence: Vec<_> = seen.wait_evidence(class).into_iter().collect();
    let names = [
        "locks.waiting",
        "locks.blocked-by-others",
        "locks.blockers",
        "locks.waits",
        "transactions.oldest",
    ];
    evidence.extend(seen.statuses(&names));
    let stalls = seen.stalls.iter().flatten();
    evidence.extend(stalls.take(3).map(|(from_s, to_s)| crate::Evidence {
        from_s: *from_s,
        to_s: *to_s,
        ..seen.evidence("no transaction ended", to_s - from_s, "s")
    }));
    let is_sure = class == WaitClass::RowLock || is_surely_held(seen, share);
    Outcome::Found(FindingDetails {
        share,
        // What sessions wait for in bursts varies from second to second; that they stand still does not.
        confidence: Confidence::high_if(share >= MOST && is_sure),
        says,
        next: match protocol(seen) {
            Some(Protocol::Postgres) => Words::of(texts::next_postgres),
            _ if class == WaitClass::TableLock => Words::of(texts::next_mysql_table),
            _ => Words::of(texts::next_mysql_row),
        },
        evidence,
        excludes: vec![Cause::ServerCpu, Cause::RowLocks, Cause::ServerStalls],
    })
}

/// What sessions that hold locks others wait for are called.
const IDLE: &str = "idle-in-transaction";
const ACTIVE: &str = "active";
const WAITING: &str = "waiting";

fn protocol(seen: &Observations<'_>) -> Option<Protocol> {
    let server = seen.record.server.as_ref();
    server.map(|server| server.engine.protocol())
}

/// What most of those are at that hold locks, where the server tells it of tables' locks. Who waits for a lock
/// and has others wait behind it does not hold it.
fn holder<'r>(seen: &Observations<'r>) -> Option<&'r str> {
    const BLOCKED: &str = "locks.blocked";
    protocol(seen).filter(|protocol| *protocol == Protocol::Postgres)?;
    let states = seen.series.labels(SERVER_STATUS, BLOCKED, "blocker");
    let holding = states.into_iter().filter(|state| *state != WAITING);
    let each = holding.filter_map(|state| {
        let is_it = |s: &Series| s.key.labels.get("blocker").is_some_and(|b| b == state);
        let blocked = seen.series.column_over_all(SERVER_STATUS, BLOCKED, is_it)?;
        Some((state, blocked.mean()))
    });
    each.max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(state, _)| state)
}

/// Whether a lock on a table is held by nobody of the run: the server says so, no statement of the run takes
/// such a lock, or nothing ended for long while sessions waited for it. Sessions that hold it in turn end
/// their transactions all the time.
pub(super) fn is_held_outside(seen: &Observations<'_>) -> bool {
    let is_long = seen.load.latency.slowest_ms >= HELD_S * 1000.0 && stands_still(seen);
    let by_load = stalled_s(seen) > 0.0 || is_long || none_ended(seen);
    blocked_by_others(seen).unwrap_or(by_load || is_of_ddl(seen))
}

/// Whether sessions wait mostly for locks that only DDL takes for itself, and the run has none: its
/// statements are a workload's own, and no script's.
fn is_of_ddl(seen: &Observations<'_>) -> bool {
    let is_most = seen.activity.as_ref().is_some_and(|activity| {
        let all = activity.waits.get(&WaitClass::TableLock).copied();
        activity.at_ddl_locks > OF_DDL * all.unwrap_or(0.0)
    });
    is_most && seen.record.job.as_ref().is_some_and(|job| !is_script(job))
}

/// Whether the workload's statements are a user's: a Lua script's, or those of a file for pgbench.
fn is_script(job: &Job) -> bool {
    let text = |name| job.workload.settings.get(name).and_then(|v| v.as_str());
    text("script").is_some() || text("scripts").is_some_and(|all| all.contains("\"file\""))
}

/// Whether that is proven: one stall among waits for locks may be of something else.
fn is_surely_held(seen: &Observations<'_>, share: f64) -> bool {
    let stood = stalled_s(seen) / seen.load.seconds >= STOOD * share;
    blocked_by_others(seen).unwrap_or(stood || none_ended(seen))
}

/// Seconds in which no transaction ended.
fn stalled_s(seen: &Observations<'_>) -> f64 {
    let stalls = seen.stalls.iter().flatten();
    stalls.fold(0.0, |sum, (from_s, to_s)| sum + to_s - from_s)
}

fn none_ended(seen: &Observations<'_>) -> bool {
    seen.load.latency.count == 0 && seen.load.seconds >= HELD_S
}

/// Whether sessions outside the run block some of it most of the time, by the server's own account; `None`
/// of a server that does not tell.
fn blocked_by_others(seen: &Observations<'_>) -> Option<bool> {
    let blocked = seen.status("locks.blocked-by-others")?;
    Some(blocked.mean() >= BLOCKED)
}

/// Whether row locks are held by others, or for longer than a transaction of the run takes.
pub(super) fn is_long(seen: &Observations<'_>) -> bool {
    let is_long = match seen.status("transactions.oldest") {
        Some(oldest) => oldest.max() >= HELD_S && oldest.mean() >= HELD_MEAN * HELD_S,
        None => wait_s(seen).is_some_and(|s| s >= HELD_S),
    };
    blocked_by_others(seen).unwrap_or(is_long && stands_still(seen))
}

/// Whether the load stood still for some time. A hot row is passed on from one to the next: each waits long,
/// and all the time some end.
fn stands_still(seen: &Observations<'_>) -> bool {
    let rates = seen.series.rates();
    let least = rates.iter().map(|(_, _, rate)| *rate).reduce(f64::min);
    least.is_none_or(|least| least <= STILL * seen.load.rate)
}

/// Seconds of one wait for a row lock. Waits that have not ended are in no counter of ended ones, and of the run
/// none was longer than that.
fn wait_s(seen: &Observations<'_>) -> Option<f64> {
    let waits = seen.status("locks.waits")?.mean();
    let sessions = seen.row_lock_sessions();
    let longest = seen.load.seconds.max(1.0);
    (sessions > 0.0).then(|| (sessions / waits.max(1.0 / longest)).min(longest))
}
