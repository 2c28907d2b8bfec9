//! Checkpoints and flushing that the log's size forces.

use crate::measured::SummedSeries;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::checkpoints as texts;
use crate::thresholds::{
    CHECKPOINT_S, CPU_FULL, DIP, FALLS_BY, FEWEST_INTERVALS, LOG_FULL, MISSES, SHARE, SMALL,
    WHOLE_PAGES,
};
use crate::{Cause, PartKind, WaitClass, Words};

/// Bytes of a page of PostgreSQL.
const PAGE: f64 = 8192.0;

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
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
fn flushing(seen: &Observations<'_>, age: &SummedSeries, most: &SummedSeries) -> Outcome {
    let full = age.mean() / most.mean().max(1.0);
    let is_near = |age: f64| age >= LOG_FULL * most.mean();
    let near = age.points.iter().filter(|(_, age)| is_near(*age));
    let near = near.count() as f64 / age.points.len().max(1) as f64;
    let pages = seen.status("pages.written");
    let each = pages.as_ref().map_or(0.0, |c| c.mean() / seen.load.rate);
    if near < SMALL || each < MISSES {
        return Outcome::NotFound;
    }
    let dip = dip(seen, age, is_near);
    // A log that is full and flushed in time slows nobody: sessions must wait for room, which no state of
    // theirs shows, or the rate fall. Commits and rows are waited for in any log.
    let for_room = seen.share(PartKind::Unexplained) + seen.wait_share(WaitClass::DataWrite);
    let idle = seen.host_busy().is_some_and(|busy| busy < CPU_FULL);
    let waits = match idle && for_room >= SHARE {
        true => near * for_room,
        false => 0.0,
    };
    let share = waits.max(dip * near);
    if dip < DIP && waits == 0.0 {
        return Outcome::NotFound;
    }
    let says = |lang| texts::age(lang, percent(full), three(each));
    let mut evidence = vec![age.evidence(), most.evidence()];
    let names = ["pages.written", "buffer.waits-for-free", "log.waits"];
    evidence.extend(seen.statuses(&names));
    Outcome::Found(FindingDetails {
        share,
        // What no state shows may be latches, too; that the rate falls with the log's room is no latch's.
        // One that takes little of the time is seen, and no limit.
        confidence: Confidence::high_if(dip >= DIP && share >= SMALL),
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::RowLocks, Cause::ServerStalls],
    })
}

/// PostgreSQL: checkpoints that came before their time.
fn forced(seen: &Observations<'_>, requested: &SummedSeries) -> Outcome {
    let seconds = requested.seconds();
    let count = (requested.mean() * seconds).round();
    if count < 2.0 || seconds / count > CHECKPOINT_S {
        return Outcome::NotFound;
    }
    let pages = seen
        .status("log.full-pages")
        .map_or(0.0, |c| c.mean() * PAGE);
    let log = seen.status("log.written").map_or(0.0, |c| c.mean());
    // At most: holes in a page are left out, and the server may compress it.
    let whole = (pages / log.max(1.0)).clamp(0.0, 1.0);
    let written = seen.status("checkpoints.pages-written");
    let dip = written
        .as_ref()
        .map_or(0.0, |written| dip(seen, written, |pages| pages > 0.0));
    let within = written.as_ref().map_or(0.0, |written| {
        let of = written.points.iter().filter(|(_, pages)| *pages > 0.0);
        of.count() as f64 / written.points.len().max(1) as f64
    });
    // Of the time that commits wait for the log, whole pages take as much as they are of its bytes.
    let of_log = whole * seen.wait_share(WaitClass::Log);
    let of_dip = dip * within;
    if dip < DIP && whole < WHOLE_PAGES {
        return Outcome::NotFound;
    }
    let confidence = match (dip >= DIP, of_log >= SHARE) {
        (true, _) => Confidence::high_if(of_dip.max(of_log) >= SMALL),
        (false, true) => Confidence::Medium,
        // Frequent, and nothing shows that anybody waits for them.
        (false, false) => Confidence::Low,
    };
    let says = |lang| {
        let (seconds, whole) = (three(seconds), percent(whole));
        match (dip >= DIP, of_log >= SHARE) {
            (true, _) => texts::requested(lang, count, seconds, whole, percent(dip)),
            (false, true) => texts::log(lang, count, seconds, whole, percent(of_log)),
            (false, false) => texts::unfelt(lang, count, seconds, whole),
        }
    };
    let mut evidence = vec![requested.evidence()];
    let names = [
        "checkpoints.pages-written",
        "checkpoints.sync-time",
        "log.full-pages",
    ];
    evidence.extend(seen.statuses(&names));
    Outcome::Found(FindingDetails {
        share: of_dip.max(of_log),
        confidence,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::RowLocks, Cause::ServerStalls],
    })
}

/// How far the rate falls in seconds of a kind, as a share of the others'; 0 unless there are some of both,
/// and more than chance makes of two equal kinds.
fn dip(seen: &Observations<'_>, column: &SummedSeries, is_in: impl Fn(f64) -> bool) -> f64 {
    let rates = seen.series.rates();
    let step = f64::from(column.step_ms.max(1));
    // Intervals may be shorter than what tells of which kind they are.
    let of_second = |at: i64| {
        let second = at as f64..at as f64 + step;
        let within = rates
            .iter()
            .filter(|(from, to, _)| second.contains(&((from + to) / 2.0)));
        let within: Vec<f64> = within.map(|(_, _, rate)| *rate).collect();
        (!within.is_empty()).then(|| tidemark_stats::mean(within.into_iter()))
    };
    let seconds = column.points.iter();
    let seconds = seconds.filter_map(|(at, value)| Some((*value, of_second(*at)?)));
    let (within, without): (Vec<_>, Vec<_>) = seconds.partition(|(value, _)| is_in(*value));
    if within.len().min(without.len()) < FEWEST_INTERVALS {
        return 0.0;
    }
    let of = |seconds: &[(f64, f64)]| {
        let rates: Vec<f64> = seconds.iter().map(|(_, rate)| *rate).collect();
        let n = rates.len() as f64;
        let deviation = tidemark_stats::population_stddev(rates.iter().copied());
        let mean = tidemark_stats::mean(rates.into_iter());
        (mean, deviation * deviation / (n - 1.0))
    };
    let ((low, low_variance), (high, high_variance)) = (of(&within), of(&without));
    match high - low >= FALLS_BY * (low_variance + high_variance).sqrt() {
        true => (1.0 - low / high.max(1e-9)).clamp(0.0, 1.0),
        false => 0.0,
    }
}
