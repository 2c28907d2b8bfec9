//! After an error: what it means for the session, and opening it again.

use super::{SessionTask, tell_hosts};
use crate::error::EngineError;
use crate::recorder::Recorder;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, DisconnectPolicy, ErrorClass, ErrorKind, IgnoreErrors};
use tidemark_runtime::{sleep_unless, unless};

/// First pause before a lost session is opened again; doubled each time, plus or minus half.
const FIRST_BACKOFF: Duration = Duration::from_millis(50);
/// Longest such pause.
const LONGEST_BACKOFF: Duration = Duration::from_secs(2);

/// What to do after a failed try.
pub(super) enum RecoveryAction {
    Again,
    Reconnect,
    End,
}

impl SessionTask {
    /// `--reconnect`: whether the session was a session of its own for so many transactions.
    #[inline]
    pub(super) fn is_reconnect_due(&self, since: &mut u64) -> bool {
        let every = self.shared.spec.reconnect_every;
        *since += 1;
        let is_due = every > 0 && *since >= every;
        if is_due {
            *since = 0;
        }
        is_due
    }

    /// Opens the session again, between two transactions; whether it is open.
    pub(super) async fn reconnect(&mut self) -> bool {
        let loops = self.loops;
        self.set_looping(false);
        let is_open = Box::pin(self.reopen(false)).await;
        self.set_looping(loops);
        is_open
    }

    /// Sorts an error, counts it, and leaves the session ready for the next try.
    pub(super) async fn judge(&mut self, error: &DbError) -> RecoveryAction {
        let shared = Arc::clone(&self.shared);
        let spec = &shared.spec;
        if error.class == ErrorClass::ConnectionLost {
            let statements = self.uncounted();
            // What the run's own end cuts off is no error, unless it may have been done uncounted.
            if self.shared.control.is_stopping() {
                if error.kind == ErrorKind::CommitUnknown {
                    self.recorder.ignored(error, statements);
                }
                return RecoveryAction::End;
            }
            return match spec.on_disconnect {
                DisconnectPolicy::Reconnect => {
                    self.recorder.ignored(error, statements);
                    RecoveryAction::Reconnect
                }
                DisconnectPolicy::Fail => self.fail(error),
            };
        }
        let ignored = match &spec.ignore_errors {
            _ if error.kind == ErrorKind::Ignorable => true,
            // Wrong rows are never ignored: they are what validation was asked to find.
            IgnoreErrors::All => error.kind != ErrorKind::Validation,
            IgnoreErrors::Retryable { also } => {
                error.class == ErrorClass::Retryable || also.contains(&error.kind)
            }
            IgnoreErrors::Codes(codes) => codes.contains(&error.code),
        };
        if !ignored {
            return self.fail(error);
        }
        let rolled_back = match &mut self.session {
            Some(session) => session.rollback().await,
            None => Ok(()),
        };
        let statements = self.uncounted();
        self.recorder.ignored(error, statements);
        match rolled_back {
            Ok(()) => RecoveryAction::Again,
            Err(e) => Box::pin(self.judge(&e)).await,
        }
    }

    pub(super) fn fail(&self, error: &DbError) -> RecoveryAction {
        self.recorder.failed(error);
        let error = error.clone();
        self.shared.control.fail(EngineError::Statement {
            session: self.number,
            error,
        });
        RecoveryAction::End
    }

    /// Opens the session again, with jittered back-off; false when the run ended or failed.
    pub(super) async fn reopen(&mut self, was_lost: bool) -> bool {
        let shared = Arc::clone(&self.shared);
        let control = &shared.control;
        let allowed = shared.spec.reconnect_timeout;
        let lost = Instant::now();
        let mut pause = FIRST_BACKOFF;
        let seed = [
            shared.spec.seed,
            shared.spec.shard.index.into(),
            self.number as u64,
        ];
        let seed = seed.iter().fold(0u64, |sum, s| sum.rotate_left(21) ^ s);
        let mut jitter = SmallRng::seed_from_u64(seed);
        // The new one may find no place beside the old one.
        if let Some(former) = self.session.take() {
            self.host = former.last_host().unwrap_or(0);
            tell_hosts(&self.recorder, &former, Recorder::disconnected);
            former.close().await;
        }
        loop {
            // All at once would overflow the server's accept queue.
            let Some(_place) = self.waits.gate.enter(|| control.is_stopping()).await else {
                return false;
            };
            let opening = Self::connect(&shared, self.number, &mut self.statements);
            let opened = unless(|| control.is_stopping(), Box::pin(opening)).await;
            let error = match opened {
                None => return false,
                Some(Ok(session)) => {
                    self.counted = session.counts();
                    if control.outages.back(self.host, Instant::now()) {
                        // Those that pause try at once.
                        control.signal();
                    }
                    tell_hosts(&self.recorder, &session, Recorder::connected);
                    self.recorder.reconnected();
                    self.session = Some(session);
                    return true;
                }
                Some(Err(error)) => error,
            };
            drop(_place);
            let reason = error.db();
            let is_full = reason.is_some_and(|e| e.kind == ErrorKind::TooManySessions);
            if was_lost && !is_full {
                let said = reason.map_or_else(|| error.to_string(), |e| e.message.clone());
                control.outages.refused(self.host, lost, &said);
            }
            if lost.elapsed() >= allowed {
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
                control.fail(error);
                return false;
            }
            let until = Instant::now() + pause.mul_f64(jitter.random_range(0.5..1.5));
            let was_out = control.outages.is_out(self.host);
            let is_back = || was_out && !control.outages.is_out(self.host);
            sleep_unless(until, || control.is_stopping() || is_back()).await;
            if control.is_stopping() {
                return false;
            }
            pause = (pause * 2).min(LONGEST_BACKOFF);
        }
    }
}
