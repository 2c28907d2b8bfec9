//! A laboratory from start to stop.

use crate::listener::Door;
use crate::shared::{Desk, Protocol, SharedLab};
use crate::worker::{FIRST_DOOR, LabWorker, WAKER};
use crate::{LabConfig, LabError, Truth};
use mio::{Poll, Token, Waker};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

/// More event loops than this are refused.
const MOST_THREADS: usize = 256;

/// A server on threads of its own. It ends with its value.
///
/// ```
/// use tidemark_lab::{Lab, LabConfig};
/// let lab = Lab::start(LabConfig {
///     delay: "exp:5ms".parse()?,
///     ..LabConfig::default()
/// })?;
/// // A client connects to lab.mysql_url() or lab.postgres_url(), and executes statements.
/// assert_eq!(lab.truth().delays.count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Lab {
    shared: Arc<SharedLab>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    mysql: Option<SocketAddr>,
    postgres: Option<SocketAddr>,
}

impl Lab {
    /// Starts a server.
    ///
    /// # Errors
    /// [`LabError`] when it can't listen, or the system refuses something else.
    pub fn start(config: LabConfig) -> Result<Self, LabError> {
        check(&config)?;
        let mut doors = Vec::new();
        let places = [
            (Protocol::Mysql, config.mysql),
            (Protocol::Postgres, config.postgres),
        ];
        for (number, (protocol, address)) in places.into_iter().enumerate() {
            if let Some(address) = address {
                doors.push(Door::new(protocol, address, Token(FIRST_DOOR - number))?);
            }
        }
        let address = |protocol| {
            let door = doors.iter().find(|d| d.protocol == protocol);
            door.map(|d| d.address)
        };
        let (mysql, postgres) = (address(Protocol::Mysql), address(Protocol::Postgres));
        let mut polls = Vec::new();
        let mut desks = Vec::new();
        for _ in 0..config.threads {
            let poll = Poll::new()?;
            desks.push(Desk {
                waker: Waker::new(poll.registry(), WAKER)?,
                newcomers: Default::default(),
                truth: Default::default(),
            });
            polls.push(poll);
        }
        let mut lab = Self {
            shared: Arc::new(SharedLab::new(config, desks)),
            threads: Vec::new(),
            mysql,
            postgres,
        };
        for (index, poll) in polls.into_iter().enumerate() {
            let worker = LabWorker::new(
                index,
                Arc::clone(&lab.shared),
                poll,
                std::mem::take(&mut doors),
            )?;
            let builder = std::thread::Builder::new().name(format!("lab-{index}"));
            lab.threads.push(builder.spawn(move || worker.run())?);
        }
        Ok(lab)
    }

    /// URL of the MySQL protocol's side: `mysql://lab@127.0.0.1:PORT/lab`.
    pub fn mysql_url(&self) -> Option<String> {
        self.mysql
            .map(|address| format!("mysql://{}@{address}/lab", self.user()))
    }

    /// URL of the PostgreSQL protocol's side.
    pub fn postgres_url(&self) -> Option<String> {
        self.postgres
            .map(|address| format!("postgres://{}@{address}/lab", self.user()))
    }

    fn user(&self) -> &str {
        self.shared.config.user.as_deref().unwrap_or("lab")
    }

    /// What happened since the start.
    pub fn truth(&self) -> Truth {
        self.shared.truth()
    }

    /// Time since the start, which stalls and outages are counted from.
    pub fn elapsed(&self) -> Duration {
        self.shared.started.elapsed()
    }

    /// Answers nothing for this long; all answers that are due by then go out right after.
    pub fn stall_now(&self, length: Duration) {
        self.shared.stall(length);
    }

    /// Ends all sessions and refuses connections for this long.
    pub fn outage_now(&self, length: Duration) {
        self.shared.outage(length);
    }

    /// Ends all sessions and the server.
    ///
    /// # Errors
    /// [`LabError::System`] when a thread has ended by an error before.
    pub fn stop(mut self) -> Result<Truth, LabError> {
        self.end()?;
        Ok(self.shared.truth())
    }

    fn end(&mut self) -> Result<(), LabError> {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.wake();
        let mut result = Ok(());
        for thread in self.threads.drain(..) {
            let ended = thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")));
            result = result.and(ended);
        }
        Ok(result?)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // There is nobody left to tell.
        let _ = self.end();
    }
}

fn check(config: &LabConfig) -> Result<(), LabError> {
    if config.threads == 0 || config.threads > MOST_THREADS {
        return Err(LabError::Config(format!(
            "{} threads: use 1 to {MOST_THREADS}",
            config.threads
        )));
    }
    if let Some(every) = config.stall_every
        && every.length >= every.at
    {
        return Err(LabError::Config(format!(
            "a stall of {:?} every {:?} never ends: use shorter ones; for example 5s:500ms",
            every.length, every.at
        )));
    }
    if config.mysql.is_none() && config.postgres.is_none() {
        return Err(LabError::Config(
            "neither protocol has an address: nobody can connect".into(),
        ));
    }
    Ok(())
}
