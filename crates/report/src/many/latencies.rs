//! Latencies of a run: measured, or as another tool stated them.

use crate::load::Spread;
use crate::merge::TypeLatency;
use serde::Serialize;
use tidemark_stats::Histogram;

/// In milliseconds, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Latencies {
    pub mean_ms: Option<f64>,
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub max_ms: Option<f64>,
    /// Whether the whole distribution is known, and not only these figures of it.
    #[serde(skip)]
    pub measured: bool,
}

impl Latencies {
    /// `None` where nothing is known.
    pub fn of(latency: &TypeLatency) -> Option<Self> {
        let measured = Self::measured(latency.latency());
        measured.or_else(|| {
            let quantiles = latency.quantiles.as_ref()?;
            let stated = Self {
                mean_ms: latency.mean_ms(),
                p50_ms: latency.percentile_ms(50.0),
                p95_ms: latency.percentile_ms(95.0),
                p99_ms: latency.percentile_ms(99.0),
                max_ms: quantiles.max_ms,
                measured: false,
            };
            let all = [
                stated.mean_ms,
                stated.p50_ms,
                stated.p95_ms,
                stated.p99_ms,
                stated.max_ms,
            ];
            all.iter().any(Option::is_some).then_some(stated)
        })
    }

    /// `None` when nothing was recorded.
    pub fn measured(h: &Histogram) -> Option<Self> {
        Spread::of(h).map(|spread| Self {
            mean_ms: Some(spread.mean_ms),
            p50_ms: Some(spread.p50_ms),
            p95_ms: Some(spread.p95_ms),
            p99_ms: Some(spread.p99_ms),
            max_ms: Some(spread.max_ms),
            measured: true,
        })
    }
}
