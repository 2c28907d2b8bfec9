//! A lock that a session outside the run holds for long.

use crate::number::{percent, three};
use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::lock_held as texts;
use crate::thresholds::{HELD_S, MOST, SHARE, STILL};
use crate::{Cause, WaitClass, Words};

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
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
    let (share, says, evidence) = if table >= SHARE {
        let all = seen.load.sessions;
        let says = Words::of(|lang| texts::table(lang, three(on_tables), all));
        (table, says, seen.wait_evidence(WaitClass::TableLock))
    } else if row >= SHARE && is_long(seen) {
        let said = percent(row);
        let held = seen.status("transactions.oldest").map(|c| c.max());
        let each = wait_s(seen).unwrap_or(0.0);
        let says = Words::of(|lang| match held {
            Some(held) => texts::row(lang, &said, three(held)),
            None => texts::waits(lang, &said, three(each)),
        });
        (row, says, seen.wait_evidence(WaitClass::RowLock))
    } else {
        return Outcome::NotFound;
    };
    let mut evidence: Vec<_> = evidence.into_iter().collect();
    let names = [
        "locks.waiting",
        "locks.blockers",
        "locks.waits",
        "transactions.oldest",
    ];
    evidence.extend(
        names
            .iter()
            .filter_map(|n| Some(seen.status(n)?.evidence())),
    );
    Outcome::Found(Found {
        share,
        confidence: match share >= MOST {
            true => Confidence::High,
            false => Confidence::Medium,
        },
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::ServerCpu, Cause::RowLocks, Cause::ServerStalls],
    })
}

/// Whether row locks are held for longer than a transaction of the run takes.
pub(super) fn is_long(seen: &Seen<'_>) -> bool {
    let is_long = match seen.status("transactions.oldest") {
        Some(oldest) => oldest.max() >= HELD_S && oldest.mean() >= HELD_S / 2.0,
        None => wait_s(seen).is_some_and(|s| s >= HELD_S),
    };
    is_long && stands_still(seen)
}

/// Whether the load stood still for some time. A hot row is passed on from one to the next: each waits long,
/// and all the time some end.
fn stands_still(seen: &Seen<'_>) -> bool {
    let rates = seen.series.rates();
    let least = rates.iter().map(|(_, _, rate)| *rate).reduce(f64::min);
    least.is_none_or(|least| least <= STILL * seen.load.rate)
}

/// Seconds of one wait for a row lock. Waits that have not ended are in no counter of ended ones.
fn wait_s(seen: &Seen<'_>) -> Option<f64> {
    let waits = seen.status("locks.waits")?.mean();
    let sessions = seen.row_lock_sessions();
    (sessions > 0.0).then(|| sessions / waits.max(1.0 / seen.load.seconds.max(1.0)))
}
