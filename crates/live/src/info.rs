//! What is known of a run when its load begins.

use std::time::Duration;
use tidemark_report::Lang;

/// What is known of a run when its load begins; nothing in it is secret.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunInfo {
    /// The run's id.
    pub id: String,
    /// The workload's name.
    pub workload: String,
    /// The engine, as `MariaDB`.
    pub engine: String,
    /// Its version.
    pub version: String,
    /// Version of Tidemark.
    pub tidemark_version: String,
    /// The study that the run belongs to, by name, and its cell there.
    pub study: Option<(String, String)>,
    /// Transaction types, in the workload's order.
    pub types: Vec<String>,
    /// Sessions asked for.
    pub sessions: usize,
    /// Emulated users that share them.
    pub terminals: usize,
    /// Load before the measurement.
    pub warmup: Duration,
    /// Length of the measurement, where it is known.
    pub length: Option<Duration>,
    /// Whether arrivals come on a schedule.
    pub open_loop: bool,
    /// Language of the view.
    pub lang: Lang,
}
