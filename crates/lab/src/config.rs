//! What a laboratory is asked to be.

use crate::{Delay, FaultSpan};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// What a laboratory is asked to be. The default listens at free ports of 127.0.0.1 for both
/// protocols and answers at once.
#[derive(Debug, Clone, PartialEq)]
pub struct LabConfig {
    /// Where the MySQL protocol is spoken; `None` for nowhere. Port 0 takes a free one.
    pub mysql: Option<SocketAddr>,
    /// Where the PostgreSQL protocol is spoken.
    pub postgres: Option<SocketAddr>,
    /// Event loops, a thread each.
    pub threads: usize,
    /// What each execution of a prepared statement waits.
    pub delay: Delay,
    /// Whether statements sent as text wait too.
    pub delay_queries: bool,
    /// Equal seeds draw equal delays, in the order in which a thread reads requests.
    pub seed: u64,
    /// Times since the start in which nothing is answered.
    pub stalls: Vec<FaultSpan>,
    /// A stall that comes again and again.
    pub stall_every: Option<FaultSpan>,
    /// Sessions at once; one more is refused as one too many. `None` takes any number.
    pub refuse_after: Option<usize>,
    /// Times since the start in which the server is gone: all sessions end, and connections are
    /// refused.
    pub outages: Vec<FaultSpan>,
    /// The only account let in, with any password; `None` lets in everybody.
    pub user: Option<String>,
    /// What the catalogue tells: tables `sbtest1` to this number.
    pub tables: u32,
    /// What the catalogue tells: the rows of each.
    pub table_size: u64,
}

impl Default for LabConfig {
    fn default() -> Self {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            mysql: Some(any_port),
            postgres: Some(any_port),
            threads: 1,
            delay: Delay::None,
            delay_queries: false,
            seed: 1,
            stalls: Vec::new(),
            stall_every: None,
            refuse_after: None,
            outages: Vec::new(),
            user: None,
            tables: 100,
            table_size: 10_000,
        }
    }
}

impl LabConfig {
    /// The end of the stall that `now` lies in, both since the start.
    pub(crate) fn stalled_until(&self, now: Duration) -> Option<Duration> {
        if self.stalls.is_empty() && self.stall_every.is_none() {
            return None;
        }
        crate::stall::stalled_until(now, &self.stalls, self.stall_every)
    }
}
