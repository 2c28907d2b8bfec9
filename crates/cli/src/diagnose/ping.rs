//! How long a statement takes that does nothing: how far away a database is while nothing else is asked, and
//! how long it lets others wait under a load.

use super::run_facts::opened;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tidemark_core::record::RunRecord;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::Connector;
use tidemark_runtime::block_on;

/// So many are sent, unless they take longer than a second together.
const PINGS: usize = 50;
const LONGEST: Duration = Duration::from_secs(1);

/// What a server replies to a statement that does nothing, while nothing else is asked.
#[derive(Debug, Clone, Copy)]
pub struct Alone {
    /// The median in milliseconds.
    pub ms: f64,
    /// Whether a pooler is on the way.
    pub is_pooled: bool,
}

/// Asks it; `None` where it can't be had.
pub fn ping_alone(connector: Connector) -> Option<Alone> {
    let (times, is_pooled) = pings(connector, PINGS, LONGEST).ok()?;
    let middle = times.get(times.len() / 2)?;
    Some(Alone {
        ms: middle.as_secs_f64() * 1000.0,
        is_pooled,
    })
}

/// How long each of so many took, the quickest first; fewer where they take longer than `longest`
/// together. With it, whether a pooler is on the way.
///
/// # Errors
/// The server's, or that no session could be opened.
pub fn pings(
    connector: Connector,
    count: usize,
    longest: Duration,
) -> Result<(Vec<Duration>, bool), DbError> {
    let asked = async move {
        let mut session = connector.connect(0).await?;
        // What the first needs may be in no cache yet.
        session.simple("SELECT 1").await?;
        let begun = Instant::now();
        let mut times = Vec::with_capacity(count);
        while times.len() < count && (times.len() < 3 || begun.elapsed() < longest) {
            let sent = Instant::now();
            session.simple("SELECT 1").await?;
            times.push(sent.elapsed());
        }
        let is_pooled = session.is_pooled();
        session.close().await;
        Ok::<_, DbError>((times, is_pooled))
    };
    let asked = block_on(asked);
    let no_executor = |e: std::io::Error| DbError::new(ErrorClass::Fatal, "io", e.to_string());
    let (mut times, is_pooled) = asked.map_err(no_executor)??;
    times.sort();
    Ok((times, is_pooled))
}

/// Whether a session beside the load tells of the server that the load waits for: there is one, which needs
/// no other node for its rows, and it has a session left.
pub fn can_be_asked(connector: &Connector, first: &RunRecord) -> bool {
    let engine = first.server.as_ref().map(|server| server.engine);
    let is_one = connector.hosts().len() == 1 && engine.is_some_and(|engine| !engine.is_cluster());
    is_one && opened(first) == first.sessions
}

/// One beside a load is due so often.
const EVERY: Duration = Duration::from_millis(20);
/// The sessions of most loads are open by then.
const FIRST_AFTER: Duration = Duration::from_millis(400);
/// No reply is waited for longer.
const LATEST: Duration = Duration::from_secs(5);
/// So long is waited for the session that asked to be closed.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

/// Pings beside a load, by a session of their own. One that waits stands for those that were due meanwhile.
pub struct PingsBeside {
    asked: Arc<Asked>,
    closed: Receiver<()>,
}

#[derive(Default)]
struct Asked {
    is_over: AtomicBool,
    waits: Mutex<Waits>,
}

#[derive(Default)]
struct Waits {
    all: Vec<Duration>,
    /// Since when one is waited for.
    open: Option<Instant>,
}

impl Waits {
    /// Adds those that were due since the one that is waited for was sent: all of them waited for its reply.
    fn replied(&mut self, now: Instant) {
        let Some(sent) = self.open.take() else {
            return;
        };
        let waited = now.saturating_duration_since(sent);
        let due = (waited.as_nanos() / EVERY.as_nanos()) as u32;
        self.all.extend((0..=due).map(|n| waited - EVERY * n));
    }
}

impl PingsBeside {
    /// Begins in the background.
    pub fn begin(connector: Connector) -> Self {
        let connector = connector.observing(LATEST);
        let asked = Arc::new(Asked::default());
        let (tell, closed) = channel();
        let of_thread = Arc::clone(&asked);
        std::thread::spawn(move || {
            sleep(FIRST_AFTER);
            // A server that refuses it, or ends it, is not asked: then nobody knows.
            let _unknown = block_on(ask(connector, of_thread));
            drop(tell);
        });
        Self { asked, closed }
    }

    /// Ends them. What each of those that were due waited, and whether their session is closed; one that is
    /// still waited for counts with what it has until now.
    pub fn end(self) -> (Vec<Duration>, bool) {
        self.asked.is_over.store(true, Ordering::Relaxed);
        let waits = {
            let mut waits = self.asked.waits();
            waits.replied(Instant::now());
            std::mem::take(&mut waits.all)
        };
        // The thread drops its end when it is done: nothing is ever sent.
        let ended = self.closed.recv_timeout(CLOSED_WITHIN);
        (waits, ended == Err(RecvTimeoutError::Disconnected))
    }
}

impl Asked {
    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

async fn ask(connector: Connector, asked: Arc<Asked>) -> Result<(), DbError> {
    if asked.is_over() {
        return Ok(());
    }
    let mut session = connector.connect(0).await?;
    session.simple("SELECT 1").await?;
    while !asked.is_over() {
        let sent = Instant::now();
        asked.waits().open = Some(sent);
        let reply = session.simple("SELECT 1").await;
        let now = Instant::now();
        asked.waits().replied(now);
        reply?;
        sleep(EVERY.saturating_sub(now - sent));
    }
    session.close().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ping_that_waits_stands_for_those_that_were_due_meanwhile() {
        let mut waits = Waits::default();
        let sent = Instant::now();
        for took in [Duration::from_micros(50), Duration::from_millis(50)] {
            waits.open = Some(sent);
            waits.replied(sent + took);
        }
        // Nothing is waited for.
        waits.replied(sent + Duration::from_secs(9));
        let in_us: Vec<u128> = waits.all.iter().map(Duration::as_micros).collect();
        assert_eq!(in_us, [50, 50_000, 30_000, 10_000]);
    }
}
