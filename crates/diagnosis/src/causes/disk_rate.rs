//! A disk that serves no more requests, or each of them slowly.

use crate::host::{Allowed, AllowedKind, Disk};
use crate::measured::SummedSeries;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::disk_rate as texts;
use crate::thresholds::{
    ALLOWED_OVER, ALLOWED_USED, CPU_FULL, DISK_BUSY, DISK_QUEUE, FEWEST_LOOKS, MISSES, QUEUE_GREW,
    READ_MS, SERVED_MORE, SHARE,
};
use crate::{Cause, Evidence, Lang, WaitClass, Words};

/// Bytes of a megabyte, as disks have them.
const BYTES_OF_MB: f64 = 1e6;
const CLASSES: &[WaitClass] = &[WaitClass::DataRead, WaitClass::DataWrite];
/// Where a limit of what is written is used up, the log waits for it, too.
const CLASSES_OF_WRITES: &[WaitClass] =
    &[WaitClass::DataRead, WaitClass::DataWrite, WaitClass::Log];

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    match known(seen) {
        Outcome::NotFound => over_limit(seen).unwrap_or(Outcome::NotFound),
        found => found,
    }
}

fn known(seen: &Observations<'_>) -> Outcome {
    let at_limit = seen.disk.as_ref().and_then(at_limit);
    let classes = at_limit.map_or(CLASSES, Allowed::classes);
    let reads = seen.wait_share(WaitClass::DataRead);
    let share: f64 = classes.iter().map(|class| seen.wait_share(*class)).sum();
    if share < SHARE {
        return match seen.activity.is_none() && seen.disk.is_none() {
            true => Outcome::Skipped(Words::of(texts::needs)),
            false => Outcome::NotFound,
        };
    }
    let mut evidence: Vec<_> = classes
        .iter()
        .filter_map(|class| seen.wait_evidence(*class))
        .collect();
    let said = seen.said(classes);
    if let Some(at_limit) = at_limit {
        evidence.extend([&at_limit.used, &at_limit.most].map(|c| c.evidence()));
        let says = |lang| {
            let (most, used) = (amount(lang, at_limit, &at_limit.most), &at_limit.used);
            texts::allowed(lang, most, amount(lang, at_limit, used), &said)
        };
        return found(share, Confidence::High, Words::of(says), evidence);
    }
    let full = seen.disk.as_ref();
    let full = full.filter(|d| d.busy.mean() >= DISK_BUSY && d.queue.mean() >= DISK_QUEUE);
    let (says, confidence) = if let Some(disk) = full {
        evidence.extend([&disk.busy, &disk.queue, &disk.reads, &disk.writes].map(|c| c.evidence()));
        let (busy, queue) = (percent(disk.busy.mean()), three(disk.queue.mean()));
        let is_saturated = is_saturated(disk);
        // A queue is as long as requests take, at their rate.
        let served = disk.reads.mean() + disk.writes.mean();
        let each = disk.queue.mean() * 1000.0 / served.max(1e-9);
        let says = Words::of(|lang| match is_saturated {
            true => texts::busy(lang, &busy, &queue, &said),
            false => texts::queued(lang, &said, three(each), &queue),
        });
        // Misses that feed it come first.
        let confidence = Confidence::high_if(read_ms(seen).is_none() && is_saturated);
        (says, confidence)
    } else if let Some(each) = slow_ms(seen) {
        evidence.push(seen.evidence("time of a read", each, "ms"));
        evidence.extend(seen.status("data.pending-reads").map(|c| c.evidence()));
        let says = Words::of(|lang| texts::slow(lang, three(each), &said));
        // On a full host a session waits for a processor within its read, too.
        let cpu_is_free = seen.host_busy().is_some_and(|busy| busy < CPU_FULL);
        let is_most = seen.is_most(reads, &[WaitClass::DataRead]);
        let confidence = Confidence::high_if(is_most && cpu_is_free);
        (says, confidence)
    } else {
        return Outcome::NotFound;
    };
    found(share, confidence, says, evidence)
}

fn found(share: f64, confidence: Confidence, says: Words, evidence: Vec<Evidence>) -> Outcome {
    Outcome::Found(FindingDetails {
        share,
        confidence,
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::ServerCpu, Cause::CommitLog, Cause::RowLocks],
    })
}

/// What a control group allows on the disk, where it is used up. What is used is told of the whole disk: more
/// than is allowed is others' use of it, and the group's own part is not known.
fn at_limit(disk: &Disk) -> Option<&Allowed> {
    let is_used_up = |a: &&Allowed| {
        let (used, most) = (a.used.mean(), a.most.mean());
        (ALLOWED_USED * most..=ALLOWED_OVER * most).contains(&used)
    };
    disk.allowed.iter().find(is_used_up)
}

/// A disk that does more than a control group allows the server, with others' use of it, such as the journal of
/// its file system: the server may be at its limit, and nobody knows.
fn over_limit(seen: &Observations<'_>) -> Option<Outcome> {
    let allowed = &seen.disk.as_ref()?.allowed;
    let is_over = |a: &&Allowed| a.used.mean() > ALLOWED_OVER * a.most.mean();
    let over = allowed.iter().find(is_over)?;
    let classes = over.classes();
    let share: f64 = classes.iter().map(|class| seen.wait_share(*class)).sum();
    if share < SHARE {
        return None;
    }
    let mut evidence: Vec<_> = classes
        .iter()
        .filter_map(|class| seen.wait_evidence(*class))
        .collect();
    evidence.extend([&over.used, &over.most].map(|c| c.evidence()));
    let said = seen.said(classes);
    let says = |lang| {
        let (most, used) = (amount(lang, over, &over.most), &over.used);
        texts::over(lang, most, amount(lang, over, used), &said)
    };
    Some(found(share, Confidence::Low, Words::of(says), evidence))
}

/// Whether what a control group may write is used up, or may be: more than that is written to the disk.
pub(super) fn may_limit_writes(seen: &Observations<'_>) -> bool {
    let mut allowed = seen.disk.iter().flat_map(|disk| &disk.allowed);
    allowed.any(|a| a.kind.is_of_writes() && a.used.mean() >= ALLOWED_USED * a.most.mean())
}

impl Allowed {
    /// What waits where it is used up.
    fn classes(&self) -> &'static [WaitClass] {
        match self.kind.is_of_writes() {
            true => CLASSES_OF_WRITES,
            false => CLASSES,
        }
    }
}

impl AllowedKind {
    fn is_of_writes(self) -> bool {
        matches!(self, AllowedKind::Writes | AllowedKind::BytesWritten)
    }
}

/// So much a second of what is limited, in words.
fn amount(lang: Lang, of: &Allowed, column: &SummedSeries) -> String {
    let megabytes = || three(column.mean() / BYTES_OF_MB);
    let number = || three(column.mean());
    match of.kind {
        AllowedKind::Reads => texts::reads(lang, number()),
        AllowedKind::Writes => texts::writes(lang, number()),
        AllowedKind::BytesRead => texts::read(lang, megabytes()),
        AllowedKind::BytesWritten => texts::written(lang, megabytes()),
    }
}

/// Whether a disk serves no more, however long its queue: that it always has a request says so only of one
/// that serves one after the other.
pub(crate) fn is_saturated(disk: &Disk) -> bool {
    let mut seconds: Vec<(f64, f64)> = disk
        .queue
        .points
        .iter()
        .filter_map(|(at, queue)| {
            let served = disk.reads.near(*at)? + disk.writes.near(*at)?;
            Some((*queue, served))
        })
        .collect();
    if at_limit(disk).is_some() {
        return true;
    }
    if disk.busy.mean() < DISK_BUSY || seconds.len() < 2 * FEWEST_LOOKS {
        return false;
    }
    seconds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (short, long) = seconds.split_at(seconds.len() / 2);
    let queue = |half: &[(f64, f64)]| tidemark_stats::mean(half.iter().map(|(queue, _)| *queue));
    let served = |half: &[(f64, f64)]| tidemark_stats::mean(half.iter().map(|(_, n)| *n));
    queue(long) >= QUEUE_GREW * queue(short) && served(long) <= SERVED_MORE * served(short)
}

/// How long reads take, where they are slow: then the disk is what limits, and not their number.
pub(super) fn slow_ms(seen: &Observations<'_>) -> Option<f64> {
    let reads = seen.wait_share(WaitClass::DataRead);
    read_ms(seen).filter(|ms| *ms >= READ_MS && reads >= SHARE)
}

/// How long one read keeps its session waiting.
fn read_ms(seen: &Observations<'_>) -> Option<f64> {
    // A server whose own account waits for the disk tells nothing.
    let by_server = seen.status("buffer.misses").map(|c| c.mean());
    let reads = by_server.or_else(|| Some(seen.disk.as_ref()?.reads.mean()));
    let misses = reads? / seen.load.rate;
    (misses >= MISSES).then(|| seen.split.wait_ms(WaitClass::DataRead) / misses)
}
