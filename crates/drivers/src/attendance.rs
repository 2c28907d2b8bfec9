//! Waits for statements outside a measurement no longer than a server lives.

use crate::connector::Connector;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_runtime::{sleep, timeout};

/// So many second sessions in a row must have had no answer before a server counts as silent: one
/// may fall into a checkpoint.
const MISSES: u32 = 3;

/// Waits with a session of housekeeping. A statement may take as long as building an index takes, so
/// its own silence says nothing: the server is asked on a second session whether it lives.
#[derive(Debug, Clone)]
pub(crate) struct Attendance {
    connector: Connector,
    host: Option<usize>,
    /// Why the session was given up: nobody knows what the server sends on it next.
    gave_up: Option<DbError>,
}

impl Attendance {
    /// With a session of the host of that index in [`Connector::hosts`].
    pub fn new(connector: &Connector, host: Option<usize>) -> Self {
        Self {
            connector: connector.clone(),
            host,
            gave_up: None,
        }
    }

    /// Whether the session was given up.
    pub fn gave_up(&self) -> bool {
        self.gave_up.is_some()
    }

    /// Waits for what a statement gives, until the server is silent or the statement's time is over
    /// ([`crate::ConnectOptions::setup_timeout`]).
    ///
    /// # Errors
    /// The statement's own; [`ErrorClass::Fatal`] with [`ErrorKind::Silent`] or
    /// [`ErrorKind::SetupTimeout`] when it was given up, and of each later one.
    pub async fn attend<T>(
        &mut self,
        work: impl Future<Output = Result<T, DbError>>,
    ) -> Result<T, DbError> {
        if let Some(error) = &self.gave_up {
            return Err(error.clone());
        }
        let error = match self.wait(work).await {
            Ok(done) => return done,
            Err(error) => error,
        };
        self.gave_up = Some(error.clone());
        Err(error)
    }

    /// What the statement gave.
    ///
    /// # Errors
    /// Why it is waited for no longer.
    async fn wait<T>(
        &self,
        work: impl Future<Output = Result<T, DbError>>,
    ) -> Result<Result<T, DbError>, DbError> {
        let options = self.connector.options();
        let begun = Instant::now();
        let mut work = pin!(work);
        let mut misses = 0;
        loop {
            let left = options
                .setup_timeout
                .map(|limit| limit.saturating_sub(begun.elapsed()));
            if left == Some(Duration::ZERO) {
                return Err(overdue(options.setup_timeout.unwrap_or_default()));
            }
            // After a miss the next try is made at once.
            if misses == 0 {
                let pause = options.connect_timeout.min(left.unwrap_or(Duration::MAX));
                if let First::Work(done) = first(work.as_mut(), sleep(pause)).await {
                    return Ok(done);
                }
            }
            match first(work.as_mut(), Box::pin(self.answers())).await {
                First::Work(done) => return Ok(done),
                First::Other(true) => misses = 0,
                First::Other(false) => misses += 1,
            }
            if misses == MISSES {
                return Err(self.silent(begun.elapsed()));
            }
        }
    }

    /// Whether the server answers on a second session. A refusal is an answer. Behind a pooler only
    /// the pooler is asked: a statement waits there while all its sessions are at work.
    async fn answers(&self) -> bool {
        let asked = async {
            let mut connection = self.connector.open_plain(self.host).await?;
            if !connection.is_pooled() {
                connection.query("SELECT 1").await?;
            }
            connection.close().await;
            Ok::<_, DbError>(())
        };
        match timeout(self.connector.longest_opening(), asked).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => !matches!(error.code.as_str(), "connect" | "io"),
            Err(_) => false,
        }
    }

    fn silent(&self, waited: Duration) -> DbError {
        let target = self.connector.target();
        let hosts = self.connector.hosts();
        let host = self.host.and_then(|host| hosts.get(host));
        let host = host.map_or_else(|| target.to_string(), |(host, _)| host.to_string());
        DbError::own(
            ErrorClass::Fatal,
            ErrorKind::Silent,
            format!(
                "{host} has not responded for {:.0} s, neither to the statement nor to a second \
                 session ({MISSES} attempts of {} s each, --connect-timeout)",
                waited.as_secs_f64(),
                self.connector.options().connect_timeout.as_secs_f64(),
            ),
        )
    }
}

fn overdue(limit: Duration) -> DbError {
    DbError::own(
        ErrorClass::Fatal,
        ErrorKind::SetupTimeout,
        format!(
            "a statement outside the measurement exceeded the limit of {} s (runs and loads: \
             --setup-timeout; for example --setup-timeout=48h; 0 = no limit). It may still be \
             running on the server",
            limit.as_secs_f64()
        ),
    )
}

/// Which of two was ready first.
enum First<T, U> {
    Work(T),
    Other(U),
}

/// The first to be ready; the other goes on or is dropped.
async fn first<T, U>(
    mut work: Pin<&mut impl Future<Output = T>>,
    other: impl Future<Output = U>,
) -> First<T, U> {
    let mut other = pin!(other);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(First::Work(done));
        }
        other.as_mut().poll(cx).map(First::Other)
    })
    .await
}
