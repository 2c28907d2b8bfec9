//! How the user ends a study: the step in progress gracefully, and at once.

use std::future::Future;
use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tidemark_runtime::timeout;

/// How often the user asked to end.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// When the user asked first.
static SINCE: OnceLock<Instant> = OnceLock::new();
/// So long is a server still waited for after that, or one that is asked only then.
const LONGEST_ANSWER: Duration = Duration::from_secs(3);
/// How often it is asked whether that time is over.
const LOOK: Duration = Duration::from_millis(50);

/// Waits for what a server is asked; `None` when the user has asked to end and it had a few seconds
/// more.
pub async fn while_allowed<T>(work: impl Future<Output = T>) -> Option<T> {
    let begun = Instant::now();
    let mut work = pin!(work);
    loop {
        if let Ok(done) = timeout(LOOK, work.as_mut()).await {
            return Some(done);
        }
        let asked = SINCE.get();
        if asked.is_some_and(|asked| begun.max(*asked).elapsed() >= LONGEST_ANSWER) {
            return None;
        }
    }
}

/// How often the user asked to end.
pub fn times_asked() -> u32 {
    ASKED.load(Ordering::Relaxed)
}

/// Whether the user asked to end.
pub fn is_asked_to_end() -> bool {
    times_asked() > 0
}

/// Begins to listen for SIGINT and SIGTERM.
pub fn listen() {
    let _unheard = ctrlc::set_handler(asked);
}

/// The user asks for an end, by a signal or by a key of the view.
pub fn asked() {
    SINCE.get_or_init(Instant::now);
    let before = ASKED.fetch_add(1, Ordering::Relaxed);
    // A view says it itself.
    if tidemark_live::terminal_is_taken() {
        return;
    }
    eprintln!(
        "{}",
        match before {
            0 => "finishing the current step; press Ctrl-C again to abort it",
            _ => "aborting; server settings are restored",
        }
    );
}
