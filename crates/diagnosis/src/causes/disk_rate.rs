//! A disk that serves no more requests, or each of them slowly.

use crate::number::{percent, three};
use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::disk_rate as texts;
use crate::thresholds::{DISK_BUSY, DISK_QUEUE, MISSES, MOST, READ_MS, SHARE};
use crate::{Cause, WaitClass, Words};

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
    let reads = seen.wait_share(WaitClass::DataRead);
    let share = reads + seen.wait_share(WaitClass::DataWrite);
    if share < SHARE {
        return match seen.activity.is_none() && seen.disk.is_none() {
            true => Outcome::Skipped(Words::of(texts::needs)),
            false => Outcome::NotFound,
        };
    }
    let mut evidence: Vec<_> = [WaitClass::DataRead, WaitClass::DataWrite]
        .iter()
        .filter_map(|class| seen.wait_evidence(*class))
        .collect();
    let said = percent(share);
    let full = seen.disk.as_ref();
    let full = full.filter(|d| d.busy.mean() >= DISK_BUSY && d.queue.mean() >= DISK_QUEUE);
    let (says, confidence) = if let Some(disk) = full {
        evidence.extend([&disk.busy, &disk.queue, &disk.reads, &disk.writes].map(|c| c.evidence()));
        let (busy, queue) = (percent(disk.busy.mean()), three(disk.queue.mean()));
        let says = Words::of(|lang| texts::busy(lang, &busy, &queue, &said));
        // Misses that feed it come first.
        let confidence = match read_ms(seen) {
            Some(_) => Confidence::Medium,
            None => Confidence::High,
        };
        (says, confidence)
    } else if let Some(each) = slow_ms(seen) {
        evidence.push(seen.evidence("time of a read", each, "ms"));
        evidence.extend(seen.status("data.pending-reads").map(|c| c.evidence()));
        let says = Words::of(|lang| texts::slow(lang, three(each), &said));
        let confidence = match reads >= MOST {
            true => Confidence::High,
            false => Confidence::Medium,
        };
        (says, confidence)
    } else {
        return Outcome::NotFound;
    };
    Outcome::Found(Found {
        share,
        confidence,
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::ServerCpu, Cause::CommitLog, Cause::RowLocks],
    })
}

/// How long reads take, where they are slow: then the disk is what limits, and not their number.
pub(super) fn slow_ms(seen: &Seen<'_>) -> Option<f64> {
    let reads = seen.wait_share(WaitClass::DataRead);
    read_ms(seen).filter(|ms| *ms >= READ_MS && reads >= SHARE)
}

/// How long one read keeps its session waiting.
fn read_ms(seen: &Seen<'_>) -> Option<f64> {
    // A server whose own account waits for the disk tells nothing.
    let by_server = seen.status("buffer.misses").map(|c| c.mean());
    let reads = by_server.or_else(|| Some(seen.disk.as_ref()?.reads.mean()));
    let misses = reads? / seen.load.rate;
    (misses >= MISSES).then(|| seen.split.wait_ms(WaitClass::DataRead) / misses)
}
