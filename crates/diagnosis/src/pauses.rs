//! Pauses too short to be times without a transaction: moments in which all sessions waited at once, much
//! longer than usual.

use crate::load::Load;
use crate::thresholds::{
    ALIKE, ALL_SESSIONS, FEWER, FEWEST_SESSIONS, LONG_PAUSE_MS, ONCE_EACH, SPREAD, UNUSUAL,
};
use tidemark_core::record::{Interval, Phase, RunRecord};
use tidemark_stats::{Histogram, median};

/// An interval with such moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pause {
    /// Begin of the interval, in seconds from the start of the measurement.
    pub from_s: f64,
    pub to_s: f64,
    /// How long the sessions waited in it, together by their number.
    pub length_s: f64,
    /// The longest wait.
    pub longest_s: f64,
}

/// What was slow in an interval.
struct Looked {
    pause: Pause,
    slow: f64,
    /// The shortest of them.
    shortest_s: f64,
    count: f64,
}

impl Looked {
    /// Whether each session waited once and as long as the others: it was the same moment.
    fn is_of_one_moment(&self, sessions: f64) -> bool {
        self.slow <= ONCE_EACH * sessions && self.shortest_s >= ALIKE * self.pause.longest_s
    }

    fn length_s(&self) -> f64 {
        self.pause.to_s - self.pause.from_s
    }
}

/// Of a closed loop or a schedule alike: what was slow in each interval, by service time. Empty where
/// slow transactions are those of some sessions only, or a tail that is spread over the run, and where a
/// distribution can't be read.
pub(crate) fn pauses(record: &RunRecord, load: &Load) -> Vec<Pause> {
    match load.sessions < FEWEST_SESSIONS {
        true => Vec::new(),
        false => look(record, load).unwrap_or_default(),
    }
}

fn look(record: &RunRecord, load: &Load) -> Option<Vec<Pause>> {
    let all = Histogram::decode(&record.totals.all.service.0).ok()?;
    let median_ms = all.percentile_ns(50.0) as f64 / 1e6;
    let limit_ms = LONG_PAUSE_MS.max(UNUSUAL * median_ms);
    let intervals = record.intervals.iter();
    let measured = intervals.filter(|i| i.phase == Phase::Measure);
    let looked = measured.map(|i| slow_of(i, limit_ms, load.sessions));
    let looked: Vec<Looked> = looked.collect::<Option<_>>()?;
    let is_paused = |l: &&Looked| l.slow > 0.0 && l.slow >= ALL_SESSIONS * load.sessions;
    let others: Vec<&Looked> = looked.iter().filter(|l| !is_paused(l)).collect();
    // What is slow all the time is no moment.
    let elsewhere = tidemark_stats::mean(others.iter().map(|l| l.slow));
    if others.is_empty() || elsewhere > SPREAD * load.sessions {
        return None;
    }
    // Nobody ends a transaction while all wait: of a schedule the next ones catch up.
    let rates = others.iter().map(|l| l.count / l.length_s().max(1e-9));
    let usual = median(&rates.collect::<Vec<_>>());
    let paused: Vec<&Looked> = looked.iter().filter(is_paused).collect();
    let (mut count, mut length_s, mut paused_s) = (0.0, 0.0, 0.0);
    for l in &paused {
        // A pause may be longer than the interval in which it ends.
        let begun_s = l.pause.from_s - l.pause.length_s;
        let middle_s = |of: &Pause| (of.from_s + of.to_s) / 2.0;
        for of in &looked {
            if (begun_s..l.pause.to_s).contains(&middle_s(&of.pause)) {
                count += of.count;
                length_s += of.length_s();
            }
        }
        paused_s += l.pause.length_s;
    }
    // Together: in one interval chance makes up for it, or the pause began before the measurement.
    let fell = count <= usual * (length_s - FEWER * paused_s.min(length_s));
    let stood = load.is_open || load.thinks || fell;
    Some(
        paused
            .into_iter()
            .filter(|l| stood || l.is_of_one_moment(load.sessions))
            .map(|l| l.pause)
            .collect(),
    )
}

fn slow_of(interval: &Interval, limit_ms: f64, sessions: f64) -> Option<Looked> {
    let latencies = latencies(interval)?;
    let (mut slow, mut sum_s, mut shortest_s) = (0, 0.0, f64::INFINITY);
    for (ns, of) in latencies.occupied() {
        if ns as f64 / 1e6 >= limit_ms {
            slow += of;
            shortest_s = f64::min(shortest_s, ns as f64 / 1e9);
            sum_s += ns as f64 / 1e9 * of as f64;
        }
    }
    let from_s = interval.start_ms as f64 / 1000.0;
    Some(Looked {
        pause: Pause {
            from_s,
            to_s: from_s + interval.length_ms / 1000.0,
            length_s: sum_s / sessions,
            longest_s: latencies.max_ns() as f64 / 1e9,
        },
        slow: slow as f64,
        shortest_s,
        count: interval.types.values().map(|t| t.count).sum::<u64>() as f64,
    })
}

fn latencies(interval: &Interval) -> Option<Histogram> {
    let mut all = Histogram::new();
    for stats in interval.types.values() {
        all.add_encoded(&stats.service.0).ok()?;
    }
    Some(all)
}
