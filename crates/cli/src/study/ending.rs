//! How the user ends a study: the step in progress gracefully, and at once.

use std::sync::atomic::{AtomicU32, Ordering};

/// How often the user asked to end.
static ASKED: AtomicU32 = AtomicU32::new(0);

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
    let before = ASKED.fetch_add(1, Ordering::Relaxed);
    // A view says it itself.
    if tidemark_live::terminal_is_taken() {
        return;
    }
    eprintln!(
        "{}",
        match before {
            0 => "ending the step in progress; once more ends it at once",
            _ => "ending at once; settings of servers are put back",
        }
    );
}
