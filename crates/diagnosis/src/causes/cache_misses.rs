//! Pages that the server's cache lacks.

use crate::number::{percent, three};
use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::cache_misses as texts;
use crate::thresholds::{HITS, MISSES, MOST, SHARE};
use crate::{Cause, WaitClass, Words};

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
    if seen.is_embedded {
        return Outcome::NotFound;
    }
    let columns = (seen.status("buffer.misses"), seen.status("buffer.requests"));
    let (Some(misses), Some(requests)) = columns else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    let each = misses.mean() / seen.load.rate;
    let hits = 1.0 - misses.mean() / requests.mean().max(1e-9);
    let share = seen.wait_share(WaitClass::DataRead);
    if each < MISSES || hits >= HITS || share < SHARE {
        return Outcome::NotFound;
    }
    let says = |lang| {
        let hits = format!("{:.1}", hits.max(0.0) * 100.0);
        texts::says(lang, three(each), hits, percent(share))
    };
    let mut evidence = vec![misses.evidence(), requests.evidence()];
    evidence.extend(seen.wait_evidence(WaitClass::DataRead));
    Outcome::Found(Found {
        share,
        confidence: match share >= MOST {
            true => Confidence::High,
            false => Confidence::Medium,
        },
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::CommitLog, Cause::RowLocks],
    })
}
