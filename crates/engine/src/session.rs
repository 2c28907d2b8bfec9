//! One session's life: connect, prepare, wait for the start, transactions, goodbye.

use crate::control::Control;
use crate::error::EngineError;
use crate::recorder::Recorder;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::record::StatementCounts;
use tidemark_core::{DbError, DisconnectPolicy, ErrorClass, IgnoreErrors, RunSpec};
use tidemark_drivers::{Connector, Session};
use tidemark_runtime::{remote_signal, sleep, sleep_until};
use tidemark_workloads::{Terminal, Workload};

/// The code of rows that are not what they must be (`--validate`).
pub(crate) const VALIDATION: &str = "validation";
/// First pause before a lost session is opened again; doubled each time, plus or minus half.
const FIRST_BACKOFF: Duration = Duration::from_millis(50);
/// Longest such pause.
const LONGEST_BACKOFF: Duration = Duration::from_secs(2);
/// A session that waits for its next arrival looks this often whether the run has ended.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// What all sessions of an executor share.
pub(crate) struct Shared {
    pub spec: RunSpec,
    pub connector: Connector,
    pub workload: Arc<dyn Workload>,
    pub control: Arc<Control>,
    pub recorder: Arc<Recorder>,
}

/// What to do after a failed try.
enum Verdict {
    Again,
    Reconnect,
    End,
}

/// One session with its emulated user.
pub(crate) struct SessionTask {
    shared: Arc<Shared>,
    /// Number within the run.
    number: usize,
    /// Number on this executor.
    local: usize,
    session: Session,
    terminal: Terminal,
    /// The session's statement counts when they were last recorded.
    counted: StatementCounts,
}

impl SessionTask {
    /// Connects and prepares.
    ///
    /// # Errors
    /// [`EngineError::Connect`] or [`EngineError::Init`].
    pub async fn open(
        shared: Arc<Shared>,
        number: usize,
        local: usize,
    ) -> Result<Self, EngineError> {
        let spec = &shared.spec;
        let mut terminal = shared.workload.terminal(number, spec.sessions, spec.seed);
        let session = Self::connect(&shared, number, &mut terminal).await?;
        shared.recorder.connected();
        Ok(Self {
            counted: session.counts(),
            shared,
            number,
            local,
            session,
            terminal,
        })
    }

    /// The terminal stays: its random choices go on, and what it holds back is not lost.
    async fn connect(
        shared: &Shared,
        number: usize,
        terminal: &mut Terminal,
    ) -> Result<Session, EngineError> {
        let connect_error = |error| EngineError::Connect {
            session: number,
            error,
        };
        let mut session = shared
            .connector
            .connect(number)
            .await
            .map_err(connect_error)?;
        let init_error = |error| EngineError::Init {
            session: number,
            error,
        };
        terminal.init(&mut session).await.map_err(init_error)?;
        Ok(session)
    }

    /// Runs transactions until the run ends.
    pub async fn run(mut self) {
        let control = Arc::clone(&self.shared.control);
        while control.is_waiting() {
            remote_signal().await;
        }
        let mut since_reconnect = 0;
        while !control.is_stopping() {
            let arrival = match control.arrivals.get() {
                None => None,
                Some(arrivals) => {
                    let arrival = arrivals.take();
                    if !self.wait_for(arrival).await {
                        break;
                    }
                    Some(arrival)
                }
            };
            if !control.take_event() {
                break;
            }
            if !self.event(arrival).await {
                break;
            }
            since_reconnect += 1;
            if self.shared.spec.reconnect_every > 0
                && since_reconnect >= self.shared.spec.reconnect_every
            {
                since_reconnect = 0;
                if !self.reopen().await {
                    break;
                }
            }
        }
        if control.failure().is_none()
            && let Err(error) = self.terminal.finish(&mut self.session).await
        {
            self.fail(&error);
        }
        // Its share of the last interval counts: only a lost session is one less.
        self.session.close().await;
    }

    /// Waits for a scheduled arrival; false when the run ended first.
    async fn wait_for(&self, arrival: Instant) -> bool {
        loop {
            let now = Instant::now();
            if now >= arrival {
                return true;
            }
            sleep_until(arrival.min(now + STOP_CHECK)).await;
            if self.shared.control.is_stopping() {
                return false;
            }
        }
    }

    /// One transaction, tried again as errors allow; false when the session must end. Its service
    /// time runs from the first try to the last reply, as sysbench's does.
    async fn event(&mut self, arrival: Option<Instant>) -> bool {
        if arrival.is_some() {
            self.shared.recorder.begin_scheduled();
        }
        let start = Instant::now();
        loop {
            match self.terminal.transaction(&mut self.session).await {
                Ok(kind) => {
                    let end = Instant::now();
                    let statements = self.uncounted();
                    self.shared.recorder.record(
                        kind,
                        self.local,
                        statements,
                        end - start,
                        arrival.map(|a| end - a),
                    );
                    return true;
                }
                Err(error) => {
                    let go_on = match self.judge(&error).await {
                        Verdict::Again => !self.shared.control.is_stopping(),
                        Verdict::Reconnect => self.reopen().await,
                        Verdict::End => false,
                    };
                    if !go_on {
                        if arrival.is_some() {
                            self.shared.recorder.end_unfinished();
                        }
                        return false;
                    }
                }
            }
        }
    }

    fn uncounted(&mut self) -> StatementCounts {
        let now = self.session.counts();
        now - std::mem::replace(&mut self.counted, now)
    }

    /// Sorts an error, counts it, and leaves the session ready for the next try.
    async fn judge(&mut self, error: &DbError) -> Verdict {
        let shared = Arc::clone(&self.shared);
        let spec = &shared.spec;
        if error.class == ErrorClass::ConnectionLost {
            let statements = self.uncounted();
            // What the run's own end cuts off is no error.
            if self.shared.control.is_stopping() {
                return Verdict::End;
            }
            return match spec.on_disconnect {
                DisconnectPolicy::Reconnect => {
                    self.shared.recorder.ignored(error, statements);
                    Verdict::Reconnect
                }
                DisconnectPolicy::Fail => self.fail(error),
            };
        }
        let ignored = match &spec.ignore_errors {
            // Wrong rows are never ignored: they are what validation was asked to find.
            IgnoreErrors::All => error.code != VALIDATION,
            IgnoreErrors::Retryable { and_codes } => {
                error.class == ErrorClass::Retryable || and_codes.contains(&error.code)
            }
            IgnoreErrors::Codes(codes) => codes.contains(&error.code),
        };
        if !ignored {
            return self.fail(error);
        }
        let rolled_back = self.session.rollback().await;
        let statements = self.uncounted();
        self.shared.recorder.ignored(error, statements);
        match rolled_back {
            Ok(()) => Verdict::Again,
            Err(e) => Box::pin(self.judge(&e)).await,
        }
    }

    fn fail(&self, error: &DbError) -> Verdict {
        self.shared.recorder.failed(error);
        let error = error.clone();
        self.shared.control.fail(EngineError::Statement {
            session: self.number,
            error,
        });
        Verdict::End
    }

    /// Opens the session again, with jittered back-off; false when the run ended or failed.
    async fn reopen(&mut self) -> bool {
        let shared = Arc::clone(&self.shared);
        let allowed = shared.spec.reconnect_timeout;
        let since = Instant::now();
        let mut pause = FIRST_BACKOFF;
        let mut jitter = SmallRng::seed_from_u64(shared.spec.seed ^ self.number as u64);
        shared.recorder.disconnected();
        loop {
            match Self::connect(&shared, self.number, &mut self.terminal).await {
                Ok(session) => {
                    let former = std::mem::replace(&mut self.session, session);
                    former.close().await;
                    self.counted = self.session.counts();
                    shared.recorder.connected();
                    shared.recorder.reconnected();
                    return true;
                }
                Err(error) if since.elapsed() >= allowed => {
                    let error = match error {
                        EngineError::Connect { error, .. } | EngineError::Init { error, .. } => {
                            EngineError::NotBack {
                                session: self.number,
                                after: allowed,
                                error,
                            }
                        }
                        other => other,
                    };
                    shared.control.fail(error);
                    return false;
                }
                Err(_) => {}
            }
            if shared.control.is_stopping() {
                return false;
            }
            sleep(pause.mul_f64(jitter.random_range(0.5..1.5))).await;
            pause = (pause * 2).min(LONGEST_BACKOFF);
        }
    }
}
