//! Pages that the server's cache lacks.

use super::disk_rate;
use crate::host::Tasks;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::cache_misses as texts;
use crate::thresholds::{HITS, MISS_CPU_MS, MISSES, SHARE};
use crate::{Cause, PartKind, WaitClass, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    if seen.is_embedded {
        return Outcome::NotFound;
    }
    let columns = (seen.status("buffer.misses"), seen.status("buffer.requests"));
    let (Some(misses), Some(requests)) = columns else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    let each = misses.mean() / seen.load.rate;
    let hits = 1.0 - misses.mean() / requests.mean().max(1e-9);
    let reads = [WaitClass::DataRead];
    let share = seen.wait_share(WaitClass::DataRead);
    // Waits for pages are seen. What else a miss costs is not: it is worth a look, and no verdict.
    let waits = share >= SHARE;
    if each < MISSES || hits >= HITS || (!waits && on_cpu(seen, each) < SHARE) {
        return Outcome::NotFound;
    }
    let hits = format!("{:.1}", hits.max(0.0) * 100.0);
    let says = |lang| match waits {
        true => texts::says(lang, three(each), &hits, seen.said(&reads)),
        false => texts::hint(lang, three(each), &hits, percent(share)),
    };
    let mut evidence = vec![misses.evidence(), requests.evidence()];
    evidence.extend(seen.wait_evidence(WaitClass::DataRead));
    let is_most = seen.is_most(share, &reads) && disk_rate::slow_ms(seen).is_none();
    Outcome::Found(FindingDetails {
        share,
        confidence: match is_most {
            true => Confidence::High,
            false if waits => Confidence::Medium,
            false => Confidence::Low,
        },
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::CommitLog, Cause::RowLocks],
    })
}

/// Share of the latency that the CPU may take for what is missing, with its part of the time that both sides
/// wait for a processor.
fn on_cpu(seen: &Observations<'_>, misses: f64) -> f64 {
    let of = |tasks: &Option<Tasks>| {
        let tasks = tasks.as_ref();
        tasks.map_or(0.0, |tasks| seen.load.each_ms(tasks.cpu.mean()))
    };
    let all_ms = of(&seen.server) + of(&seen.threads);
    let of_cpu = (misses * MISS_CPU_MS / all_ms.max(1e-9)).min(1.0);
    let queued = seen.split.wait_ms(WaitClass::RunQueue) + seen.split.ms(PartKind::ServerCpu);
    of_cpu * seen.split.share(queued + seen.split.ms(PartKind::Client))
}
