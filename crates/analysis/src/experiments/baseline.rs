//! What is known before anything is changed.

use super::thresholds::{
    CLIENT_BUSY, CPU_FULL, LATER_SHARE, LONGEST_LATER_MS, OTHERS, SHORTEST_LATER_MS,
};

/// What is known before anything is changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Baseline {
    /// Sessions that were open, in closed loop.
    pub sessions: usize,
    /// Transactions a second.
    pub rate: f64,
    /// Mean latency in milliseconds, as it was measured: terminals that share sessions, or think, wait
    /// for other things, too.
    pub mean_ms: f64,
    /// Round trips of a transaction, each after the reply to the one before.
    pub round_trips: f64,
    /// How long a statement takes that does nothing, in milliseconds, while nothing else is asked;
    /// `None` of an embedded database.
    pub ping_ms: Option<f64>,
    /// How long it takes beside the load, on average over the time; `None` where nobody asked.
    pub loaded_ping_ms: Option<f64>,
    /// The [share of the time](super::Progress::share_still) in which no transaction ended.
    pub still: Option<f64>,
    /// CPU that the client took, as a share of what its threads may use.
    pub client_use: f64,
    /// CPU of the server's host, where that can be seen: where it is the client's own.
    pub host: Option<HostCpu>,
    /// Whether transactions change rows.
    pub writes: bool,
    /// How much later replies come where the experiment has them come later, in milliseconds.
    pub later_ms: f64,
    /// Seconds of a run.
    pub run_s: f64,
}

impl Baseline {
    /// Whether the client is the limit: what it leaves of its CPU is idle between replies.
    pub fn is_client_busy(&self) -> bool {
        self.client_use >= CLIENT_BUSY
    }

    /// Transactions of a session in a run, on average.
    pub fn a_session(&self) -> f64 {
        self.rate * self.run_s / self.sessions.max(1) as f64
    }
}

/// Shares of all processors of a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostCpu {
    /// What is busy under the load.
    pub busy: f64,
    /// What was busy before it.
    pub before: f64,
    /// What the client takes of it.
    pub client: f64,
}

impl HostCpu {
    /// Whether all processors are busy.
    pub fn is_full(&self) -> bool {
        self.busy >= CPU_FULL
    }

    /// Whether others filled them before.
    pub fn was_full(&self) -> bool {
        self.before >= CPU_FULL
    }

    /// Whether it is the server that fills them: neither the client nor what ran there before.
    pub fn is_full_of_server(&self) -> bool {
        let server = self.busy - self.before - self.client;
        self.is_full() && self.before <= OTHERS && server >= self.client
    }
}

/// The share of the latency that round trips are; `None` of an embedded database.
pub fn distance_share(baseline: &Baseline) -> Option<f64> {
    let ping = baseline.ping_ms?;
    Some((baseline.round_trips * ping / baseline.mean_ms).clamp(0.0, 1.0))
}

/// How much later replies are to come, in milliseconds, so that it costs enough to be seen if waiting for
/// them is all that there is: by a part of what a round trip takes in all.
pub fn later_ms(mean_ms: f64, round_trips: f64) -> f64 {
    let part = LATER_SHARE * mean_ms / round_trips.max(1.0);
    // Tenths are what a command line can be read with.
    let tenths = (part * 10.0).round() / 10.0;
    match tenths.is_finite() {
        true => tenths.clamp(SHORTEST_LATER_MS, LONGEST_LATER_MS),
        false => SHORTEST_LATER_MS,
    }
}
