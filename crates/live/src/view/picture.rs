//! What the view shows: the last minutes, and sums.

use super::{Scene, draw};
use crate::{ClientNow, Newest, RunInfo};
use ratatui::Frame;
use std::collections::VecDeque;
use std::time::Duration;
use tidemark_core::record::{ErrorCount, Interval, Phase};
use tidemark_observe::ClientLoad;
use tidemark_report::Merged;

/// Seconds that charts show.
pub(super) const WINDOW_S: f64 = 300.0;
/// Percentiles that charts and tables show.
pub(super) const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];
/// Shorter intervals, as the last one of a run may be, say nothing of rates.
const SHORTEST_MS: f64 = 50.0;

/// What the view shows. It stays as small as it is, however long the run.
#[derive(Debug)]
pub struct Picture {
    pub(super) info: RunInfo,
    pub(super) cores: usize,
    /// Since the load began.
    pub(super) elapsed: Duration,
    pub(super) is_ending: bool,
    pub(super) points: VecDeque<Point>,
    /// The last interval.
    pub(super) last: Merged,
    pub(super) phase: Phase,
    /// The measurement so far.
    pub(super) measured: Merged,
    /// By code, of warm-up and measurement.
    pub(super) errors: Vec<ErrorCount>,
    /// Errors passed over and sessions opened again since the load began.
    pub(super) ignored_errors: u64,
    pub(super) reconnects: u64,
    pub(super) outage_s: f64,
    pub(super) host: ClientLoad,
    pub(super) newest: Newest,
    /// Those that make the load together, where there are several.
    pub(super) clients: Vec<ClientNow>,
    /// Whether another process makes the load: only what it writes into the store is known of it.
    pub(super) is_elsewhere: bool,
}

/// One interval in the charts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// Its end, in seconds since the load began.
    pub at_s: f64,
    pub phase: Phase,
    /// Transactions a second.
    pub rate: f64,
    /// [`PERCENTILES`] in nanoseconds; `None` where nothing ended.
    pub latency_ns: Option<[u64; 3]>,
}

impl Scene for Picture {
    /// How long the load goes on, and whether it is to end.
    fn set_time(&mut self, elapsed: Duration, is_ending: bool) {
        (self.elapsed, self.is_ending) = (elapsed, is_ending);
    }

    fn set_host(&mut self, host: ClientLoad) {
        self.host = host;
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        draw(frame, self);
    }
}

impl Picture {
    /// Of a run whose load begins.
    pub fn new(info: RunInfo) -> Self {
        let phase = match info.warmup.is_zero() {
            true => Phase::Measure,
            false => Phase::Warmup,
        };
        Self {
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            elapsed: Duration::ZERO,
            is_ending: false,
            points: VecDeque::new(),
            last: Merged {
                sessions: info.sessions as u64,
                ..Merged::default()
            },
            phase,
            measured: Merged::default(),
            errors: Vec::new(),
            ignored_errors: 0,
            reconnects: 0,
            outage_s: 0.0,
            host: ClientLoad::default(),
            newest: Newest::default(),
            clients: Vec::new(),
            is_elsewhere: false,
            info,
        }
    }

    /// Of a run of another process, which is known by its intervals alone: the length of its warm-up
    /// is what its first one says.
    pub fn of_other_process(info: RunInfo) -> Self {
        Self {
            is_elsewhere: true,
            ..Self::new(info)
        }
    }

    /// Where the newest of what is observed comes to.
    #[must_use]
    pub fn observing(mut self, newest: Newest) -> Self {
        self.newest = newest;
        self
    }

    /// Processors that the process may use.
    pub fn set_cores(&mut self, cores: usize) {
        self.cores = cores;
    }

    /// How the clients are that make the load together.
    pub fn clients(&mut self, clients: Vec<ClientNow>) {
        self.clients = clients;
    }

    /// Adds errors.
    pub fn errors(&mut self, errors: &[ErrorCount]) {
        add_errors(&mut self.errors, errors);
    }

    /// Adds an interval. One that can't be read is left out.
    pub fn interval(&mut self, interval: &Interval) {
        let Ok(one) = Merged::of([interval]) else {
            return;
        };
        if self.is_elsewhere && self.points.is_empty() {
            let before_ms = u64::try_from(interval.start_ms.saturating_neg()).unwrap_or(0);
            self.info.warmup = Duration::from_millis(before_ms);
        }
        if interval.phase == Phase::Measure && self.measured.add(interval).is_err() {
            return;
        }
        self.ignored_errors += interval.ignored_errors;
        self.reconnects += interval.reconnects;
        self.outage_s += interval.outage_ms / 1000.0;
        self.phase = interval.phase;
        if interval.length_ms >= SHORTEST_MS {
            self.points.push_back(self.point(&one, interval));
            let from = self.last_s() - WINDOW_S;
            while self.points.front().is_some_and(|p| p.at_s < from) {
                self.points.pop_front();
            }
            self.last = one;
        }
    }

    fn point(&self, one: &Merged, interval: &Interval) -> Point {
        let all = one.all();
        let latency = all.latency();
        let percentiles = PERCENTILES.map(|p| latency.percentile_ns(p));
        Point {
            at_s: self.info.warmup.as_secs_f64() + one.end_ms / 1000.0,
            phase: interval.phase,
            rate: one.per_second(one.transactions()),
            latency_ns: (!latency.is_empty()).then_some(percentiles),
        }
    }

    /// The end of the last interval, in seconds since the load began.
    pub(super) fn last_s(&self) -> f64 {
        self.points.back().map_or(0.0, |p| p.at_s)
    }
}

/// Adds errors, those of one code together.
pub(super) fn add_errors(known: &mut Vec<ErrorCount>, errors: &[ErrorCount]) {
    for error in errors {
        match known.iter_mut().find(|e| e.code == error.code) {
            Some(known) => known.count += error.count,
            None => known.push(error.clone()),
        }
    }
}
