//! A lock on a server whose settings are changed, so that nobody else takes a changed value for its own.
//! It is the server's: it holds for clients of any host and user, and ends with the process that has it.

use crate::exit::{ExitCode, Failure};
use crate::study::admin_sessions::Hosts;
use crate::study::targets::Reached;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, Target};
use tidemark_drivers::Session;
use tidemark_runtime::sleep;

/// Its name (MySQL manual, "Locking Functions": names are of the whole server).
const NAME: &str = "tidemark_settings";
/// How often it is looked whether it is needed any more.
const LOOK: Duration = Duration::from_millis(10);
/// So long is waited for it, in seconds: a client that was killed has it until its server has noticed.
const PATIENCE_S: u32 = 2;
/// So long is waited for its end; a server that hangs must not hold up whoever is done with it.
const LONGEST_END: Duration = Duration::from_secs(1);
/// How often its session says something: a server may close those that are silent.
const SAID_AGAIN: Duration = Duration::from_secs(1);

/// The lock of one server, until it is dropped.
#[derive(Debug)]
pub struct ServerLock {
    is_over: Arc<AtomicBool>,
    holder: JoinHandle<()>,
}

impl ServerLock {
    /// Takes the lock of a target's server.
    ///
    /// # Errors
    /// [`ExitCode::Refused`] when another has it; as opening a session.
    pub fn take(target: &Target, host: usize, server: &str) -> Result<Self, Failure> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (tell, told) = channel();
        let (target, over) = (target.clone(), Arc::clone(&is_over));
        let holder = std::thread::spawn(move || {
            let place = Reached::by(target);
            let to = tell.clone();
            let held = Hosts::of(&place).and_then(|hosts| {
                hosts.on(host, async move |session, _| {
                    hold(session, &over, &to).await
                })
            });
            if let Err(failure) = held {
                // Whoever has heard that it is held listens no more.
                let _unheard = tell.send(Err(failure));
            }
        });
        let lock = Self { is_over, holder };
        let none = || Err(Failure::new(ExitCode::Failed, "the lock's session ended"));
        match told.recv().unwrap_or_else(|_| none())? {
            true => Ok(lock),
            false => Err(Failure::new(
                ExitCode::Refused,
                format!(
                    "another tidemark diagnose has changed settings of {server}: wait until it ends"
                ),
            )),
        }
    }
}

impl Drop for ServerLock {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        let asked = Instant::now();
        while !self.holder.is_finished() && asked.elapsed() < LONGEST_END {
            std::thread::sleep(LOOK);
        }
    }
}

async fn hold(
    session: &mut Session,
    is_over: &AtomicBool,
    tell: &Sender<Result<bool, Failure>>,
) -> Result<(), DbError> {
    let rows = session
        .query(&format!("SELECT GET_LOCK('{NAME}', {PATIENCE_S})"))
        .await?;
    // A server that knows no such locks says neither.
    let is_free = rows.int(0, 0) != Some(0);
    let _unheard = tell.send(Ok(is_free));
    if !is_free {
        return Ok(());
    }
    let mut said = Instant::now();
    while !is_over.load(Ordering::Acquire) {
        sleep(LOOK).await;
        if said.elapsed() >= SAID_AGAIN {
            session.query("SELECT 1").await?;
            said = Instant::now();
        }
    }
    session
        .query(&format!("SELECT RELEASE_LOCK('{NAME}')"))
        .await
        .map(drop)
}
