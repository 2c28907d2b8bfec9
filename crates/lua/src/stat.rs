//! The figures of an interval or a run, as a script's hooks get them.

/// What hooks of reports are given. Latencies in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[allow(missing_docs)] // each is sysbench's of the same name
pub struct Stat {
    pub threads_running: u64,
    pub time_interval: f64,
    pub time_total: f64,
    pub latency_pct: f64,
    pub latency_min: f64,
    pub latency_max: f64,
    pub latency_avg: f64,
    pub latency_sum: f64,
    pub events: u64,
    pub reads: u64,
    pub writes: u64,
    pub other: u64,
    pub errors: u64,
    pub reconnects: u64,
}
