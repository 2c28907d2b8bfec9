//! Runs at the same time: only the seconds in which all of them made load are theirs together.

use jiff::Timestamp;
use tidemark_core::record::{Interval, Phase, RunRecord};

/// Less than this together tells nothing.
const SHORTEST_S: f64 = 1.5;

/// Runs that were not long enough together: for so many seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Apart(pub f64);

/// When something was measured, in seconds of the clock.
struct Part {
    from: f64,
    to: f64,
    transactions: u64,
}

/// Transactions a second of all runs together, in the time in which all of them were measured. One that
/// begins later has left the server to the others until then.
///
/// # Errors
/// [`Apart`] where that is too short, or the records don't say when they began.
pub fn rate_together(records: &[RunRecord]) -> Result<f64, Apart> {
    let parts: Option<Vec<Vec<Part>>> = records.iter().map(parts).collect();
    let parts = parts.ok_or(Apart(0.0))?;
    let first = |parts: &Vec<Part>| parts.first().map_or(f64::INFINITY, |part| part.from);
    let last = |parts: &Vec<Part>| parts.last().map_or(f64::NEG_INFINITY, |part| part.to);
    let from = parts.iter().map(first).fold(f64::NEG_INFINITY, f64::max);
    let to = parts.iter().map(last).fold(f64::INFINITY, f64::min);
    let together = (to - from).max(0.0);
    if !together.is_finite() || together < SHORTEST_S {
        return Err(Apart(if together.is_finite() { together } else { 0.0 }));
    }
    let of = |parts: &Vec<Part>| {
        let within = parts.iter().filter(|p| p.from >= from && p.to <= to);
        let (seconds, count) = within.fold((0.0, 0), |(seconds, count), part| {
            (seconds + part.to - part.from, count + part.transactions)
        });
        count as f64 / seconds
    };
    let rate: f64 = parts.iter().map(of).sum();
    // An interval that is as long as the time together may lie in none.
    rate.is_finite().then_some(rate).ok_or(Apart(together))
}

/// What was measured, by the clock; `None` of a run that never began.
fn parts(record: &RunRecord) -> Option<Vec<Part>> {
    let began: Timestamp = record.load_began_at.as_ref()?.parse().ok()?;
    let began = began.as_microsecond() as f64 / 1e6 + record.warmup_s.unwrap_or_default();
    let part = |interval: &Interval| {
        let from = began + interval.start_ms as f64 / 1000.0;
        Part {
            from,
            to: from + interval.length_ms / 1000.0,
            transactions: interval.transactions(),
        }
    };
    let measured = record.intervals.iter();
    let measured = measured.filter(|i| i.phase == Phase::Measure);
    Some(measured.map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::TypeStats;

    /// A run of so many tenths of a second that begins at a tenth, and its transactions in each.
    fn run(begin: i64, tenths: i64, rate: impl Fn(i64) -> u64) -> RunRecord {
        let interval = |n: i64| Interval {
            start_ms: n * 100,
            length_ms: 100.0,
            types: [(
                "all".to_string(),
                TypeStats {
                    count: rate(begin + n),
                    ..TypeStats::default()
                },
            )]
            .into(),
            ..Interval::default()
        };
        let began = Timestamp::from_millisecond(1_790_000_000_000 + begin * 100).unwrap();
        RunRecord {
            load_began_at: Some(began.to_string()),
            warmup_s: Some(0.4),
            intervals: (0..tenths).map(interval).collect(),
            ..RunRecord::default()
        }
    }

    /// A server that does 10,000 a second, whoever asks, and a second client that comes 0.2 s later: each
    /// has a fifth of a second of three to itself.
    #[test]
    fn a_client_that_begins_later_makes_the_server_no_faster() {
        let first = run(0, 30, |t| if t < 2 { 1000 } else { 500 });
        let second = run(2, 30, |t| if t >= 30 { 1000 } else { 500 });
        let alone = |record: &RunRecord| {
            let all = record.intervals.iter().flat_map(|i| i.types.values());
            all.map(|of| of.count).sum::<u64>() as f64 / 3.0
        };
        assert!(alone(&first) + alone(&second) > 10_600.0);
        let both = rate_together(&[first, second]).unwrap();
        assert!((both - 10_000.0).abs() < 1.0, "{both}");
    }

    #[test]
    fn runs_that_hardly_met_are_not_added() {
        let (first, second) = (run(0, 30, |_| 500), run(20, 30, |_| 500));
        let Apart(seconds) = rate_together(&[first.clone(), second]).unwrap_err();
        assert!((seconds - 1.0).abs() < 0.01, "{seconds}");
        let mut unknown = first.clone();
        unknown.load_began_at = None;
        assert_eq!(rate_together(&[first, unknown]), Err(Apart(0.0)));
        assert!(rate_together(&[run(0, 0, |_| 0)]).is_err());
    }
}
