//! Holds a lock in the target while a client needs it: that of the database, so that no other makes or
//! drops tables, or its own, by which others see that it lives.

use crate::error::EngineError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidemark_core::DbError;
use tidemark_drivers::lock::{Attempt, LoadLock, Scope, take};
use tidemark_drivers::{Connector, Session};
use tidemark_runtime::{Executor, Remote, remote_signal, sleep, timeout, unless};

/// How often the lock is looked at, so that its session isn't taken for dead.
const LOOK: Duration = Duration::from_secs(5);
/// An answer about the lock that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long letting it go may take: it ends with its session at the latest.
const LEAVE: Duration = Duration::from_secs(2);
/// How long a lost lock is asked for again; a server that restarts forgets it.
const TAKE_AGAIN: Duration = Duration::from_secs(60);
/// How long the database's lock is waited for, where clients hold it for moments only.
const MOMENTS: Duration = Duration::from_secs(20);

/// How long who only changes rows waits: nobody who holds the lock for longer is waited for.
const SHORTLY: Duration = Duration::from_secs(1);

/// A lock, held on a session of its own until it is dropped.
pub struct Guard {
    shared: Arc<GuardState>,
    remote: Remote,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct GuardState {
    over: AtomicBool,
    failure: Mutex<Option<EngineError>>,
}

impl GuardState {
    fn fail(&self, error: EngineError) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
    }
}

impl Guard {
    /// Takes the lock. An engine without such locks is loaded without.
    ///
    /// # Errors
    /// [`EngineError::Refused`] when another client holds it; [`EngineError::Connect`].
    pub fn take(connector: &Connector, scope: Scope) -> Result<Self, EngineError> {
        // SQLite's is held as long as the load.
        let patience = match scope {
            Scope::Database if !connector.is_blocking() => MOMENTS,
            _ => Duration::ZERO,
        };
        Self::take_within(connector, scope, patience)
    }

    /// Takes the database's lock for a benchmark that changes rows and puts them back: until the
    /// guard is dropped no other does so, and no load or cleanup begins. An engine without such locks
    /// goes without.
    ///
    /// # Errors
    /// [`EngineError::Refused`] when another client holds it; [`EngineError::Connect`].
    pub fn changing_rows(connector: &Connector) -> Result<Self, EngineError> {
        let connector = connector.clone().unlimited();
        Self::take_within(&connector, Scope::Database, SHORTLY)
    }

    fn take_within(
        connector: &Connector,
        scope: Scope,
        patience: Duration,
    ) -> Result<Self, EngineError> {
        if connector.target().is_read_only() {
            let error = connector.no_writer();
            return Err(EngineError::Connect { session: 0, error });
        }
        let shared = Arc::new(GuardState::default());
        let (send, receive) = channel();
        let (connector, holder) = (connector.clone(), Arc::clone(&shared));
        let run = move || {
            let made = Executor::new();
            let mut executor = match made {
                Ok(executor) => executor,
                Err(error) => return drop(send.send(Err(error.into()))),
            };
            let remote = executor.remote();
            let what = (scope, patience);
            executor.spawn(hold(connector, what, Arc::clone(&holder), remote, send));
            if let Err(error) = executor.run() {
                holder.fail(error.into());
            }
        };
        let thread = std::thread::Builder::new()
            .name("load-lock".into())
            .spawn(run)?;
        let taken = receive
            .recv()
            .unwrap_or_else(|_| Err(EngineError::System("the thread of the lock ended".into())));
        match taken {
            Ok(remote) => Ok(Self {
                shared,
                remote,
                thread: Some(thread),
            }),
            Err(error) => {
                // It has nothing more to do.
                let _ = thread.join();
                Err(error)
            }
        }
    }

    /// Why the lock is lost, if it is: another client may load by now.
    pub fn failure(&self) -> Option<EngineError> {
        let failure = self.shared.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        // When the wake-up fails, the thread sees the end at its next look.
        let _ = self.remote.signal();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes the lock, tells so, and holds it until the load is over.
async fn hold(
    connector: Connector,
    (scope, patience): (Scope, Duration),
    shared: Arc<GuardState>,
    remote: Remote,
    tell: Sender<Result<Remote, EngineError>>,
) {
    let mut held = match acquire_within(&connector, scope, patience, &shared).await {
        Ok(held) => held,
        Err(error) => return drop(tell.send(Err(error))),
    };
    if tell.send(Ok(remote)).is_err() {
        return;
    }
    drop(tell);
    while !shared.over.load(Ordering::Acquire) {
        // The signal, or the time for a look.
        let _ = timeout(LOOK, remote_signal()).await;
        let Some((session, lock)) = &mut held else {
            continue;
        };
        if shared.over.load(Ordering::Acquire) {
            break;
        }
        let over = || shared.over.load(Ordering::Acquire);
        match unless(over, timeout(PATIENCE, lock.is_held(session))).await {
            Some(Ok(Ok(true))) => continue,
            // The lock is looked after no longer, and its session is in the midst of an answer.
            None => return,
            Some(_) => {}
        }
        // The server forgets a session that is gone.
        held = None;
        match unless(over, acquire_within(&connector, scope, TAKE_AGAIN, &shared)).await {
            Some(Ok(again)) => held = again,
            Some(Err(error)) => shared.fail(error),
            None => return,
        }
    }
    if let Some((mut session, lock)) = held {
        let _ = timeout(LEAVE, lock.release(&mut session)).await;
        session.close().await;
    }
}

/// The lock and its session; `None` on an engine without such locks.
async fn acquire(
    connector: &Connector,
    scope: Scope,
) -> Result<Option<(Session, LoadLock)>, EngineError> {
    let lost = |error: DbError| EngineError::Connect { session: 0, error };
    let mut session = super::open(connector, 0).await.map_err(lost)?;
    let attempt = take(&mut session, scope).await.map_err(lost)?;
    let held_by = match attempt {
        Attempt::Taken(lock) => return Ok(Some((session, lock))),
        Attempt::Held(by) => by,
        Attempt::Unsupported => {
            session.close().await;
            return Ok(None);
        }
    };
    session.close().await;
    Err(in_the_way(held_by))
}

/// Another client is at work in this database.
pub(super) fn in_the_way(who: Option<String>) -> EngineError {
    let who = who.map(|by| format!(" ({by})")).unwrap_or_default();
    EngineError::Refused(format!(
        "another Tidemark is loading, dropping or changing tables in this database{who}; nothing \
         was changed. Wait until it ends, or stop it: the same prepare then resumes the load. Or \
         use another database"
    ))
}

/// Asks again while others hold it. The server may be away, too, when the lock was held already.
async fn acquire_within(
    connector: &Connector,
    scope: Scope,
    patience: Duration,
    shared: &GuardState,
) -> Result<Option<(Session, LoadLock)>, EngineError> {
    let give_up = Instant::now() + patience;
    loop {
        match acquire(connector, scope).await {
            // A server that has not noticed the end of our own session says that it is held.
            Err(error @ (EngineError::Connect { .. } | EngineError::Refused(_))) => {
                let lost_before = patience == TAKE_AGAIN;
                if !lost_before && matches!(error, EngineError::Connect { .. }) {
                    return Err(error);
                }
                if Instant::now() >= give_up || shared.over.load(Ordering::Acquire) {
                    return Err(error);
                }
                sleep(Duration::from_millis(500)).await;
            }
            other => return other,
        }
    }
}
