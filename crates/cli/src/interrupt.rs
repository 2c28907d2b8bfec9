//! Ctrl-C: once ends gracefully with the summary of what was measured, twice at once. Whatever has
//! not ended a few seconds after the first is ended.

use crate::exit::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tidemark_engine::StopHandle;

static HANDLE: OnceLock<StopHandle> = OnceLock::new();
/// When an end was asked for first.
static ASKED: OnceLock<Instant> = OnceLock::new();
/// Signals closer together are one: `timeout` sends its own to the process and to its group, and
/// nobody presses a key twice as quickly.
const ONE_REQUEST: Duration = Duration::from_millis(100);
/// So long may what was asked to end take: a little less than the five seconds that are promised, so
/// that a study whose step it is has time to tell.
const LONGEST_END: Duration = Duration::from_millis(4700);
/// What is done last has so much time at least.
const LEAST: Duration = Duration::from_millis(500);
/// How often it is asked whether something must still come to its end.
const LOOK: Duration = Duration::from_millis(20);
/// How many of those there are.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// What is told when an end is asked for.
static TOLD: OnceLock<&str> = OnceLock::new();

/// Begins to listen for SIGINT and SIGTERM. Where the system refuses, they end the process as they
/// do by default.
pub fn listen() {
    listen_saying("finishing in-flight transactions; press Ctrl-C again to quit");
}

/// What is told where tables are dropped.
pub const DROPPING: &str = "finishing the current DROP TABLE; press Ctrl-C again to quit";

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
    // A process that can't have one more thread ends by the second signal.
    let _unlimited = std::thread::Builder::new()
        .name("end".into())
        .spawn(end_in_time);
    // A view says it itself.
    if !tidemark_live::terminal_is_taken() {
        eprintln!("{}", TOLD.get().copied().unwrap_or_default());
    }
}

/// Ends the process when what was asked to end has not.
fn end_in_time() {
    std::thread::sleep(LONGEST_END);
    while HELD.load(Ordering::Acquire) > 0 {
        std::thread::sleep(LOOK);
    }
    tidemark_live::restore_terminal();
    eprintln!(
        "tidemark: forced exit: operations in progress did not finish within {:.0} s",
        LONGEST_END.as_secs_f64()
    );
    std::process::exit(ExitCode::Interrupted as i32);
}

/// While this lives the process is not ended for being slow, but by a second signal: a record is being
/// written, or rows put back. Whoever holds it waits for no server without a limit.
#[derive(Debug)]
pub struct InterruptHold(());

/// Keeps the process from being ended for being slow.
pub fn hold() -> InterruptHold {
    HELD.fetch_add(1, Ordering::AcqRel);
    InterruptHold(())
}

impl Drop for InterruptHold {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How long something may still take that is given `longest` when no end was asked for.
pub fn left_of(longest: Duration) -> Duration {
    since().map_or(longest, |asked| {
        LONGEST_END.saturating_sub(asked).clamp(LEAST, longest)
    })
}

/// How long ago the user asked for an end, if he did.
pub fn since() -> Option<Duration> {
    ASKED.get().map(Instant::elapsed)
}

/// Whether an end was asked for, told without a handle: threads that ask at each statement would all
/// count the same handles.
pub fn is_asked() -> bool {
    HANDLE.get().is_some_and(StopHandle::is_stopped)
}

/// What a run or load asks whether it should end.
pub fn handle() -> StopHandle {
    HANDLE.get_or_init(StopHandle::new).clone()
}
