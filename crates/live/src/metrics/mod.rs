//! Figures for Prometheus and whatever else reads OpenMetrics.

mod address;
mod buckets;
mod classic;
mod encode;
mod figures;
mod observed;
mod server;

pub use address::MetricsAddress;
pub use buckets::upper_bounds_ns;
pub use figures::RunMetrics;

use crate::{ClientNow, RunInfo};
use observed::NewestOf;
use server::MetricsServer;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tidemark_core::record::{ErrorCount, Interval, Phase};
use tidemark_core::series::SeriesChunk;

/// Why figures can't be served.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The address is none.
    #[error(
        "{0}: must be a port of the loopback address, or an address and a port; for example 9090 \
         or 0.0.0.0:9090"
    )]
    Address(String),
    /// It can't be listened at.
    #[error("cannot listen on {address}: {source}; use another port, or 0 for a free one")]
    Bind {
        /// Where.
        address: String,
        /// Why not.
        source: std::io::Error,
    },
}

/// Figures of one run after the other, served over HTTP at `/metrics` until this is dropped.
#[derive(Debug)]
pub struct Metrics {
    figures: SharedMetrics,
    server: MetricsServer,
}

/// What the run's side writes and a request reads; neither holds it for longer than a few
/// milliseconds.
#[derive(Debug, Clone, Default)]
struct SharedMetrics(Arc<Mutex<RunMetrics>>);

impl SharedMetrics {
    fn lock(&self) -> MutexGuard<'_, RunMetrics> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Metrics {
    /// Begins to serve; there are no figures of a run yet.
    ///
    /// # Errors
    /// [`MetricsError::Bind`] when the port is taken or not the user's to take.
    pub fn serve(address: &MetricsAddress) -> Result<Self, MetricsError> {
        let figures = SharedMetrics::default();
        let page = encode::MetricsPage::new(figures.clone());
        let server = MetricsServer::bind(address, Arc::new(page))?;
        Ok(Self { figures, server })
    }

    /// Where they are served.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// A run's load begins: what was counted of another is forgotten.
    pub fn started(&self, info: RunInfo) {
        self.figures.lock().started(info);
    }

    /// Errors were counted.
    pub fn errors(&self, phase: Phase, errors: &[ErrorCount]) {
        self.figures.lock().errors(phase, errors);
    }

    /// An interval ended.
    pub fn interval(&self, interval: &Interval) {
        self.figures.lock().interval(interval);
    }

    /// Takes what sources observe of the run, from whichever thread.
    pub fn observing(&self) -> impl Fn(&SeriesChunk) + Send + Sync + use<> {
        let figures = self.figures.clone();
        move |chunk| {
            // Read before figures are held.
            let newest = NewestOf::of(chunk);
            figures.lock().observed(newest);
        }
    }

    /// How the clients are that make the load together.
    pub fn clients(&self, clients: Vec<ClientNow>) {
        self.figures.lock().clients(clients);
    }

    /// The load is over: its sums stay.
    pub fn ended(&self) {
        self.figures.lock().ended();
    }
}
