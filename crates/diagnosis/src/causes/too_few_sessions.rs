//! Too few sessions: the server is idle most of the time, and waits for nothing but the next statement.

use super::network_distance;
use crate::number::{percent, percent_within};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::sessions::Activity;
use crate::texts::too_few_sessions as texts;
use crate::thresholds::{CPU_FULL, CPU_IDLE, MOST, SHARE};
use crate::{Cause, PartKind, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let load = &seen.load;
    if load.is_open || load.thinks || load.pauses || load.latency.count == 0 {
        return Outcome::NotFound;
    }
    let Some(host) = &seen.host else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    // What others use is no work of these sessions.
    let busy = seen.own_busy().unwrap_or(1.0);
    // As many sessions as processors can keep all of them busy. Of more, those that are on their way don't,
    // if it is the distance that keeps them and no queue.
    let in_server = seen.activity.as_ref().map(Activity::in_server);
    let are_away = in_server.is_some_and(|n| n < host.cores) && network_distance::is_proven(seen);
    if (load.sessions > host.cores && !are_away) || busy >= CPU_IDLE || host.load() >= CPU_FULL {
        return Outcome::NotFound;
    }
    // Sessions that wait for something are enough for it, and of those that are mostly unexplained nobody
    // knows.
    let waits = seen.true_waits().max(seen.counted_lock_waits());
    let unexplained = seen.share(PartKind::Unexplained);
    // Of a server whose own CPU nobody sees, that of its host may be it.
    let on_host = match seen.split.ms(PartKind::ServerCpu) > 0.0 {
        true => 0.0,
        false => seen.split.share(load.each_ms(host.busy.mean())),
    };
    if waits >= SHARE || waits + (unexplained - on_host).max(0.0) >= MOST {
        return Outcome::NotFound;
    }
    let sessions = load.sessions;
    // Where a distance keeps them, it is what to shorten, or what more of them make up for.
    let on_way = seen.share(PartKind::Network);
    let is_far = on_way >= SHARE && network_distance::is_proven(seen);
    let used = percent_within(busy, host.half());
    let says = |lang| match is_far {
        true => texts::far(lang, sessions, &used, percent(on_way)),
        false => texts::says(lang, sessions, &used),
    };
    let mut evidence = vec![host.busy_evidence()];
    evidence.extend(seen.server.as_ref().map(|s| s.cpu.evidence()));
    // What keeps those that are away may be no distance alone.
    let are_few = load.sessions <= host.cores;
    let confidence = Confidence::high_if(seen.activity.is_some() && unexplained < SHARE && are_few);
    Outcome::Found(FindingDetails {
        share: (1.0 - busy).clamp(0.0, 1.0),
        confidence,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![
            Cause::ServerCpu,
            Cause::DiskRate,
            Cause::RowLocks,
            Cause::CommitLog,
        ],
    })
}
