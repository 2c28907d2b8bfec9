//! Ctrl-C: once ends gracefully with the summary of what was measured, twice at once.

use crate::exit::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tidemark_engine::StopHandle;

static HANDLE: OnceLock<StopHandle> = OnceLock::new();
/// When an end was asked for first.
static ASKED: OnceLock<Instant> = OnceLock::new();
/// Signals closer together are one: `timeout` sends its own to the process and to its group, and
/// nobody presses a key twice as quickly.
const ONE_REQUEST: Duration = Duration::from_millis(100);
/// What is told when an end is asked for.
static TOLD: OnceLock<&str> = OnceLock::new();

/// Begins to listen for SIGINT and SIGTERM. Where the system refuses, they end the process as they
/// do by default.
pub fn listen() {
    listen_saying("ending after the transactions in progress; once more ends at once");
}

/// What is told where tables are dropped.
pub const DROPPING: &str = "ending after the table that is being dropped; once more ends at once";

/// The same, with what is told when it is heard.
pub fn listen_saying(told: &'static str) {
    TOLD.get_or_init(|| told);
    let _unheard = ctrlc::set_handler(asked);
}

/// The user asks for an end, by a signal or by a key of the view.
pub fn asked() {
    let handle = handle();
    let now = Instant::now();
    let first = *ASKED.get_or_init(|| now);
    if handle.is_stopped() {
        if first != now && now.duration_since(first) < ONE_REQUEST {
            return;
        }
        // The second one: nothing is waited for. The store holds every interval but this one.
        tidemark_live::restore_terminal();
        std::process::exit(ExitCode::Interrupted as i32);
    }
    handle.stop();
    // A view says it itself.
    if !tidemark_live::terminal_is_taken() {
        eprintln!("{}", TOLD.get().copied().unwrap_or_default());
    }
}

/// How long ago the user asked for an end, if he did.
pub fn since() -> Option<Duration> {
    ASKED.get().map(Instant::elapsed)
}

/// What a run or load asks whether it should end.
pub fn handle() -> StopHandle {
    HANDLE.get_or_init(StopHandle::new).clone()
}
