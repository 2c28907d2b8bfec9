//! What the load itself says: rates and latencies.

use crate::thresholds::{MOST, SHARE, WAITED};
use tidemark_analysis::LoadKind;
use tidemark_core::record::{EncodedHistogram, RunRecord, TypeStats};
use tidemark_stats::Histogram;

/// Means of the transactions of one type, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Latency {
    pub count: u64,
    /// What a user waited.
    pub mean_ms: f64,
    /// From the first statement until the session can go on.
    pub service_ms: f64,
    /// Of it, until replies had come to the client's host.
    pub server_ms: Option<f64>,
    /// Of it, what its own script paused.
    pub paused_ms: f64,
    /// Waiting for a free session.
    pub waiting_ms: f64,
    /// The fastest one's time in the server and on the way; of the service where that is not split. Of
    /// all types it is the mean of each type's.
    pub fastest_ms: f64,
    pub slowest_ms: f64,
}

impl Latency {
    /// `None` without a distribution.
    pub fn of(stats: &TypeStats) -> Option<Self> {
        let decode = |h: &EncodedHistogram| Histogram::decode(&h.0).ok().filter(|h| !h.is_empty());
        let ms = |h: &Histogram| h.mean_ns() / 1e6;
        let service = decode(&stats.service)?;
        let server = stats.server.as_ref().and_then(decode);
        let response = stats.response.as_ref().and_then(decode);
        let wait = stats.wait.as_ref().and_then(decode);
        let shown = response.as_ref().unwrap_or(&service);
        Some(Self {
            count: stats.count,
            mean_ms: ms(shown),
            service_ms: ms(&service),
            server_ms: server.as_ref().map(ms),
            paused_ms: stats.paused_ms / service.count() as f64,
            waiting_ms: wait.as_ref().map_or(0.0, ms),
            fastest_ms: server.as_ref().unwrap_or(&service).min_ns() as f64 / 1e6,
            slowest_ms: shown.max_ns() as f64 / 1e6,
        })
    }

    /// In the client: CPU, run queue, starting late. `None` where that was not measured.
    pub fn client_ms(&self) -> Option<f64> {
        let late = (self.mean_ms - self.service_ms - self.waiting_ms).max(0.0);
        let own = self.service_ms - self.server_ms? - self.paused_ms;
        Some(own.max(0.0) + late)
    }
}

/// The load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Load {
    pub latency: Latency,
    pub seconds: f64,
    /// Transactions per second.
    pub rate: f64,
    /// Statements of a transaction.
    pub statements: f64,
    /// Of them, those that write.
    pub writes: f64,
    /// Its round trips; where nobody counted them, each statement is one.
    pub round_trips: f64,
    pub sessions: f64,
    /// Whether terminals think between transactions, for nearly all of the time.
    pub thinks: bool,
    /// Whether its own script's pauses are the largest part of the latency, or nearly.
    pub pauses: bool,
    /// Whether the rest of the latency changes little.
    pub is_paced: bool,
    /// Whether a schedule makes transactions due.
    pub is_open: bool,
    /// Arrivals per second that were asked for, of one rate.
    pub asked: Option<f64>,
}

impl Load {
    /// `None` of what was not measured. Where no transaction ended, each session counts as one of the
    /// run's length: that is what its user waited at least.
    pub fn of(record: &RunRecord) -> Option<Self> {
        let totals = &record.totals;
        let sessions = record.sessions_opened.unwrap_or(record.sessions) as f64;
        let elapsed_ms = totals.elapsed_s * 1000.0;
        let none_ended = totals.all.count == 0 && sessions > 0.0;
        let (mut latency, count) = match none_ended {
            true => {
                let endless = Latency {
                    mean_ms: elapsed_ms,
                    service_ms: elapsed_ms,
                    ..Latency::default()
                };
                (endless, sessions)
            }
            false => (Latency::of(&totals.all)?, totals.all.count as f64),
        };
        let types = totals.types.values().filter_map(Latency::of);
        let fastest: f64 = types.map(|t| t.fastest_ms * t.count as f64).sum();
        if fastest > 0.0 {
            latency.fastest_ms = fastest / count;
        }
        let kind = LoadKind::of(record);
        let rate = count / totals.elapsed_s;
        let users = record
            .terminals
            .map_or(sessions, |terminals| terminals as f64);
        // Terminals that share sessions have response times, whether they think or not.
        let has_responses = !kind.is_open_loop() && totals.all.response.is_some();
        let thinks = has_responses && latency.mean_ms <= WAITED * users / rate * 1000.0;
        let statements = totals.statements.total() as f64 / count;
        let pauses = latency.paused_ms >= MOST * latency.mean_ms.max(f64::MIN_POSITIVE);
        Some(Self {
            pauses,
            is_paced: latency.mean_ms - latency.paused_ms <= SHARE * latency.mean_ms,
            latency,
            seconds: totals.elapsed_s,
            rate,
            statements,
            round_trips: match totals.statements.round_trips {
                0 => statements,
                counted => counted as f64 / count,
            },
            writes: totals.statements.write as f64 / count,
            sessions,
            thinks,
            is_open: kind.is_open_loop(),
            asked: match kind {
                LoadKind::Open(rate) => Some(rate),
                _ => None,
            },
        })
    }

    /// Time of a transaction that so many sessions, or processors, spend all the time.
    pub fn each_ms(&self, concurrent: f64) -> f64 {
        concurrent / self.rate * 1000.0
    }
}
