//! Checkpoints and flushing that the log's size forces.

use crate::measured::Column;
use crate::number::{percent, three};
use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::checkpoints as texts;
use crate::thresholds::{
    CHECKPOINT_S, CPU_FULL, DIP, LOG_FULL, MISSES, MOST, SHARE, SMALL, WHOLE_PAGES,
};
use crate::{Cause, PartKind, Words};

/// Bytes of a page of PostgreSQL.
const PAGE: f64 = 8192.0;

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
    if seen.is_embedded || seen.load.writes == 0.0 {
        return Outcome::NotFound;
    }
    if let (Some(age), Some(most)) = (
        seen.status("checkpoint.age"),
        seen.status("checkpoint.most-age"),
    ) {
        return flushing(seen, &age, &most);
    }
    match seen.status("checkpoints.requested") {
        Some(requested) => forced(seen, &requested),
        None => Outcome::Skipped(Words::of(texts::needs)),
    }
}

/// InnoDB: the log has no room but for what is flushed.
fn flushing(seen: &Seen<'_>, age: &Column, most: &Column) -> Outcome {
    let full = age.mean() / most.mean().max(1.0);
    let near = age
        .points
        .iter()
        .filter(|(_, age)| *age >= LOG_FULL * most.mean());
    let share = near.count() as f64 / age.points.len().max(1) as f64;
    let pages = seen.status("pages.written");
    let each = pages.as_ref().map_or(0.0, |c| c.mean() / seen.load.rate);
    if share < SMALL || each < MISSES {
        return Outcome::NotFound;
    }
    let dip = dip(seen, |at| {
        value_at(age, at).is_some_and(|age| age >= LOG_FULL * most.mean())
    });
    // A log that is full and flushed in time slows nobody: sessions must wait, or the rate fall.
    let idle = seen.host_busy().is_some_and(|busy| busy < CPU_FULL);
    let waits = seen.true_waits() + seen.share(PartKind::Unexplained);
    let is_felt = dip >= DIP || (idle && waits >= SHARE);
    if !is_felt {
        return Outcome::NotFound;
    }
    let says = |lang| texts::age(lang, percent(full), three(each));
    let mut evidence = vec![age.evidence(), most.evidence()];
    evidence.extend(pages.as_ref().map(Column::evidence));
    Outcome::Found(Found {
        share,
        confidence: match dip >= DIP || (share >= 0.5 && waits >= MOST) {
            true => Confidence::High,
            false => Confidence::Medium,
        },
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::RowLocks, Cause::ServerStalls],
    })
}

/// PostgreSQL: checkpoints that came before their time.
fn forced(seen: &Seen<'_>, requested: &Column) -> Outcome {
    let seconds = requested.seconds();
    let count = (requested.mean() * seconds).round();
    if count < 2.0 || seconds / count > CHECKPOINT_S {
        return Outcome::NotFound;
    }
    let pages = seen
        .status("log.full-pages")
        .map_or(0.0, |c| c.mean() * PAGE);
    let log = seen.status("log.written").map_or(0.0, |c| c.mean());
    let whole = (pages / log.max(1.0)).clamp(0.0, 1.0);
    let written = seen.status("checkpoints.pages-written");
    let dip = written.as_ref().map_or(0.0, |written| {
        dip(seen, |at| {
            value_at(written, at).is_some_and(|pages| pages > 0.0)
        })
    });
    let share = dip.max(whole);
    if share < DIP {
        return Outcome::NotFound;
    }
    let says = |lang| texts::requested(lang, count, three(seconds), percent(whole), percent(dip));
    let mut evidence = vec![requested.evidence()];
    let names = [
        "checkpoints.pages-written",
        "checkpoints.sync-time",
        "log.full-pages",
    ];
    evidence.extend(
        names
            .iter()
            .filter_map(|n| Some(seen.status(n)?.evidence())),
    );
    Outcome::Found(Found {
        share,
        confidence: match whole >= WHOLE_PAGES || dip >= DIP {
            true => Confidence::High,
            false => Confidence::Medium,
        },
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::RowLocks, Cause::ServerStalls],
    })
}

fn value_at(column: &Column, at_ms: f64) -> Option<f64> {
    let step = f64::from(column.step_ms.max(1));
    let of = |(at, _): &&(i64, f64)| (*at as f64..*at as f64 + step).contains(&at_ms);
    column.points.iter().find(of).map(|(_, value)| *value)
}

/// How far the rate falls in intervals of a kind, as a share of the others'; 0 unless there are some of
/// both.
fn dip(seen: &Seen<'_>, is_in: impl Fn(f64) -> bool) -> f64 {
    let rates = seen.series.rates();
    let (within, without): (Vec<_>, Vec<_>) = rates
        .into_iter()
        .partition(|(from, to, _)| is_in((from + to) / 2.0));
    let mean = |of: &[(f64, f64, f64)]| tidemark_stats::mean(of.iter().map(|(_, _, rate)| *rate));
    match within.len().min(without.len()) {
        0..2 => 0.0,
        _ => (1.0 - mean(&within) / mean(&without).max(1e-9)).clamp(0.0, 1.0),
    }
}
