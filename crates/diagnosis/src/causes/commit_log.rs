//! Commits that wait for the log to be written, flushed or replicated.

use super::disk_rate;
use crate::measured::SummedSeries;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::series_names::called;
use crate::texts::commit_log as texts;
use crate::thresholds::{CPU_FULL, MOST, SAME_FLUSHES, SHARE, SYNCS};
use crate::{Cause, WaitClass, Words};
use tidemark_core::observe::SERVER_NODES;

/// What nodes of clusters call the time that a write takes to be in their log.
const LOGS: [&str; 3] = [
    "tikv.append-log",
    "cockroach.log-commit",
    "yugabyte.log-sync",
];

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    if seen.is_embedded || (seen.load.writes == 0.0 && seen.load.latency.count > 0) {
        return Outcome::NotFound;
    }
    if seen.activity.is_none() {
        return of_nodes(seen).unwrap_or_else(|| Outcome::Skipped(Words::of(texts::needs)));
    }
    let share = seen.wait_share(WaitClass::Log);
    if share < SHARE {
        return of_holders(seen).unwrap_or(Outcome::NotFound);
    }
    // Of the two kinds InnoDB counts in one or the other (docs/observe.md).
    let counted = ["log.syncs", "data.syncs"].map(|name| seen.status(name));
    let syncs = counted.into_iter().flatten().find(|c| c.mean() >= SYNCS);
    let rate = syncs.as_ref().map_or(0.0, SummedSeries::mean);
    let each_ms = flush_ms(seen, rate);
    let said = seen.said(&[WaitClass::Log]);
    let commits = three(seen.load.rate);
    let says = Words::of(|lang| match (rate >= SYNCS, each_ms) {
        (true, Some(each)) => texts::timed(lang, &said, three(rate), three(each)),
        (true, None) => texts::says(lang, &said, three(rate), &commits),
        (false, _) => texts::waits(lang, &said),
    });
    let mut evidence: Vec<_> = seen.wait_evidence(WaitClass::Log).into_iter().collect();
    evidence.extend(syncs.as_ref().map(SummedSeries::evidence));
    evidence.extend(each_ms.map(|ms| seen.evidence("time of a flush", ms, "ms")));
    let cpu_is_free = seen.host_busy().is_some_and(|busy| busy < CPU_FULL);
    evidence.extend(disk_sync_ms(seen).map(|ms| seen.evidence("fsync of this machine", ms, "ms")));
    // A disk on which the server may write no more keeps the log waiting as slow flushes do.
    let is_proven = seen.is_most(share, &[WaitClass::Log])
        && rate >= SYNCS
        && cpu_is_free
        && !disk_rate::may_limit_writes(seen);
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::high_if(is_proven),
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::ServerCpu, Cause::ClientCpu, Cause::NetworkDistance],
    })
}

/// What an fsync takes on this machine with nothing else going on, where the server is here, too.
fn disk_sync_ms(seen: &Observations<'_>) -> Option<f64> {
    let machine = seen.record.machine.as_ref()?;
    let is_here = seen.record.target_on_client == Some(true);
    is_here
        .then_some(machine.fsync_mean_ms)
        .filter(|ms| *ms > 0.0)
}

/// Where most of the latency is waiting for rows: commits may be what keeps their holders.
fn of_holders(seen: &Observations<'_>) -> Option<Outcome> {
    let rows = seen.wait_share(WaitClass::RowLock);
    let holding_ms = seen.split.mean_ms - seen.split.wait_ms(WaitClass::RowLock);
    let share = seen.split.wait_ms(WaitClass::Log) / holding_ms.max(1e-9);
    (rows >= SHARE && share >= MOST).then(|| {
        Outcome::Found(FindingDetails {
            share: share * rows,
            confidence: Confidence::Medium,
            says: Words::of(|lang| texts::holders(lang, percent(share))),
            next: Words::of(texts::next),
            evidence: seen.wait_evidence(WaitClass::Log).into_iter().collect(),
            excludes: Vec::new(),
        })
    })
}

/// Of a cluster, whose sessions nobody sees: what its nodes tell. Who writes waits for the log once at least; of
/// a mix only some write.
fn of_nodes(seen: &Observations<'_>) -> Option<Outcome> {
    let mut logs = LOGS.iter();
    let (name, each_ms) = logs.find_map(|name| Some((*name, seen.node_ms(name)?)))?;
    let share = seen.split.share(each_ms * seen.load.writes.min(1.0));
    let says = |lang| texts::nodes(lang, three(each_ms), called(name, lang), percent(share));
    (share >= SHARE).then(|| {
        Outcome::Found(FindingDetails {
            share,
            // A mean of all that the nodes write.
            confidence: Confidence::Medium,
            says: Words::of(says),
            next: Words::of(texts::next_nodes),
            evidence: vec![seen.evidence(&format!("{SERVER_NODES} {name}"), each_ms, "ms")],
            excludes: Vec::new(),
        })
    })
}

/// How long a flush takes, by the server's clock or the disk's.
fn flush_ms(seen: &Observations<'_>, syncs: f64) -> Option<f64> {
    let by_server = seen.status("log.sync-time").map(|c| c.mean() / syncs);
    let by_disk = seen.disk.as_ref().and_then(|disk| {
        let flushes = disk.flushes.as_ref()?.mean();
        let each = disk.flush_time.as_ref()?.mean() / flushes;
        // Flushes of others on the same disk are none of the log's.
        (flushes * SAME_FLUSHES >= syncs && flushes <= syncs * SAME_FLUSHES).then_some(each)
    });
    let positive = |ms: &f64| ms.is_finite() && *ms > 0.0;
    by_server.filter(positive).or(by_disk.filter(positive))
}
