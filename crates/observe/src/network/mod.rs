//! The way between the client and the database: the kernel's figures of the sessions' own sockets, and a
//! statement that does nothing, once a second on a session of its own.

mod sockets;

use crate::db::{Db, Refusal};
use crate::own::Own;
use crate::server::count_own;
use crate::source::{Metric, Samples, SeriesSource};
use sockets::{SocketTimes, Sockets};
use std::time::Duration;
use tidemark_core::observe::NETWORK;
use tidemark_core::record::{Gap, GapKind};
use tidemark_core::{Host, Protocol};
use tidemark_drivers::Connector;

/// Means over the sockets; the others are their extremes.
const RTT: Metric = Metric::gauge("network.rtt", "ms", 3);
const LEAST_RTT: Metric = Metric::gauge("network.rtt.min", "ms", 3);
const MOST_RTT: Metric = Metric::gauge("network.rtt.max", "ms", 3);
/// The shortest round trip that the kernel keeps, of all sockets.
const MIN_RTT: Metric = Metric::gauge("network.min_rtt", "ms", 3);
const RETRANSMITS: Metric = Metric::total("network.retransmits", "1/s", 1, 1.0);
const SENT: Metric = Metric::bytes("network.session-sent");
const RECEIVED: Metric = Metric::bytes("network.session-received");
const PING: Metric = Metric::gauge("ping.latency", "ms", 3);

/// A reply that takes longer is told of with the next sample.
const PING_PATIENCE: Duration = Duration::from_millis(300);

/// The network, as far as the client sees it.
pub(crate) struct Network {
    db: Db,
    /// Whether there is a session to ping on.
    pings: bool,
    own: Own,
    is_mysql: bool,
    /// The ports of the target's hosts, where it has TCP hosts.
    sockets: Option<Sockets>,
    /// The session whose own counters were taken note of.
    counted: Option<i64>,
}

impl Network {
    pub fn new(connector: &Connector, own: &Own) -> Self {
        let hosts = connector.hosts().iter();
        let ports: Vec<u16> = hosts
            .filter_map(|(host, _)| match host {
                Host::Tcp { port, .. } => Some(*port),
                Host::Unix(_) => None,
            })
            .collect();
        Self {
            db: Db::of_pings(connector, own),
            pings: true,
            own: own.clone(),
            is_mysql: connector.target().protocol == Protocol::Mysql,
            sockets: (!ports.is_empty()).then(|| Sockets::new(ports)),
            counted: None,
        }
    }

    fn ping(&mut self, samples: &mut Samples) -> Result<(), String> {
        match self.db.pinged(PING_PATIENCE) {
            Ok(None) => return Ok(()),
            Ok(Some(took)) => samples.tell(&PING, &[], took.as_secs_f64() * 1000.0),
            Err(why) => return Err(why.to_string()),
        }
        // What opening a session adds to the server's counters; pings add nothing that sessions count.
        if self.is_mysql && self.counted != self.db.id() {
            self.counted = self.db.id();
            count_own(&mut self.db, &self.own)?;
        }
        Ok(())
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn tell(seen: &SocketTimes, samples: &mut Samples) {
    // A watch has no sessions.
    if seen.sockets == 0 {
        return;
    }
    samples.tell(&RETRANSMITS, &[], seen.retransmits as f64);
    if let Some(bytes) = seen.bytes {
        samples.tell(&SENT, &[], bytes.sent as f64);
        samples.tell(&RECEIVED, &[], bytes.received as f64);
    }
    samples.tell(&RTT, &[], ms(seen.sum) / f64::from(seen.sockets));
    samples.tell(&LEAST_RTT, &[], ms(seen.least));
    samples.tell(&MOST_RTT, &[], ms(seen.most));
    if let Some(shortest) = seen.shortest {
        samples.tell(&MIN_RTT, &[], ms(shortest));
    }
}

impl SeriesSource for Network {
    fn name(&self) -> &str {
        NETWORK
    }

    fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        if self.sockets.is_none() {
            gaps.push(Gap::new(GapKind::NoTcp, "Unix socket"));
        } else if !cfg!(target_os = "linux") {
            gaps.push(Gap::new(GapKind::NoTcp, std::env::consts::OS));
        }
        self.db.send_ping();
        match self.db.pinged(crate::db::LONGEST) {
            // Sockets tell all the same.
            Err(why) if self.sockets.is_some() => {
                self.pings = !matches!(why, Refusal::Never(_));
                gaps.push(why.gap());
            }
            Err(why) => return Err(why.gap()),
            Ok(_) => {}
        }
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        if self.pings {
            self.db.send_ping();
        }
        if let Some(sockets) = &mut self.sockets {
            tell(&sockets.look(&self.own.ports()), samples);
        }
        match self.pings {
            true => self.ping(samples),
            false => Ok(()),
        }
    }
}
