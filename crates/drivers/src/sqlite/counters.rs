//! What SQLite's sessions of this process did with their page caches, and how they waited for each other.
//!
//! SQLite counts by connection, and only the thread that uses a connection may ask it. So who wants to
//! know turns a number and waits a moment, and each session hands over its counts after the statement at
//! which it finds the number turned, after the transaction that this one was in, and when it ends:
//! statements between cost a look at that number.

use rusqlite::{Connection, ffi};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// SQLite's own pauses before it tries again to get a lock (sqlite.org/c3ref/busy_timeout.html lets it
/// choose them): short at first, in milliseconds.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// Totals of all sessions of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SqliteCounters {
    /// Pages that were in a session's cache when it needed them.
    pub cache_hits: u64,
    /// Pages that were not.
    pub cache_misses: u64,
    /// Pages written to the file or its log.
    pub pages_written: u64,
    /// Pages written before the end of their transaction, for want of room in the cache.
    pub pages_spilled: u64,
    /// Times that a session began to wait for another one's lock.
    pub busy_waits: u64,
    /// Milliseconds for which they waited.
    pub busy_ms: u64,
}

/// What is asked of a connection, in the order of [`TOTALS`].
const ASKED: [i32; 4] = [
    ffi::SQLITE_DBSTATUS_CACHE_HIT,
    ffi::SQLITE_DBSTATUS_CACHE_MISS,
    ffi::SQLITE_DBSTATUS_CACHE_WRITE,
    ffi::SQLITE_DBSTATUS_CACHE_SPILL,
];
/// Counters have so many bits, and begin anew.
const BITS: u32 = 0x7fff_ffff;

/// Who asks waits so long for sessions to answer: those that execute nothing never do, and have counted
/// little since they last did.
const PATIENCE: Duration = Duration::from_millis(20);

static TURN: AtomicU32 = AtomicU32::new(0);
static ANSWERS: Mutex<Answers> = Mutex::new(Answers {
    turn: 0,
    sessions: 0,
    answered: 0,
});
/// One asks at a time.
static ASKING: Mutex<()> = Mutex::new(());
static TOTALS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
static BUSY_WAITS: AtomicU64 = AtomicU64::new(0);
static BUSY_MS: AtomicU64 = AtomicU64::new(0);

/// Who has handed over its counts.
struct Answers {
    turn: u32,
    /// Open sessions.
    sessions: u32,
    /// Of them, those that have handed over since the number was turned.
    answered: u32,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn turn() {
    let mut answers = locked(&ANSWERS);
    answers.turn = answers.turn.wrapping_add(1);
    answers.answered = 0;
    TURN.store(answers.turn, Ordering::Release);
}

/// Asks every session to hand over what it has counted, and waits for none. Asked now and then, sessions
/// that are in the middle of something when it counts have little left to tell.
pub fn ask_sessions() {
    let _one = locked(&ASKING);
    turn();
}

/// The totals until now; waits a moment for the sessions to hand over what they have counted.
pub fn counters() -> SqliteCounters {
    let one = locked(&ASKING);
    turn();
    let until = Instant::now() + PATIENCE;
    let all_answered = || {
        let answers = locked(&ANSWERS);
        answers.answered >= answers.sessions
    };
    while !all_answered() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(one);
    let [cache_hits, cache_misses, pages_written, pages_spilled] =
        TOTALS.each_ref().map(|total| total.load(Ordering::Relaxed));
    SqliteCounters {
        cache_hits,
        cache_misses,
        pages_written,
        pages_spilled,
        busy_waits: BUSY_WAITS.load(Ordering::Relaxed),
        busy_ms: BUSY_MS.load(Ordering::Relaxed),
    }
}

/// What one session has handed over.
#[derive(Debug)]
pub(super) struct Counted {
    turn: u32,
    /// Whether it was in a transaction when it last handed over.
    is_inside: bool,
    last: [u32; 4],
}

impl Counted {
    /// Of a session that opens: nothing yet.
    pub fn opened() -> Self {
        locked(&ANSWERS).sessions += 1;
        Self {
            turn: 0,
            is_inside: false,
            last: [0; 4],
        }
    }

    /// Hands over what was counted, if somebody asked since.
    #[inline]
    pub fn tell(&mut self, connection: &Connection) {
        let turn = TURN.load(Ordering::Acquire);
        if turn != self.turn || self.is_inside {
            self.answer(connection, turn);
        }
    }

    #[cold]
    fn answer(&mut self, connection: &Connection, turn: u32) {
        let is_inside = !connection.is_autocommit();
        if turn == self.turn && is_inside {
            return;
        }
        self.hand_over(connection);
        self.is_inside = is_inside;
        if turn != self.turn {
            self.turn = turn;
            let mut answers = locked(&ANSWERS);
            if answers.turn == turn {
                answers.answered += 1;
            }
        }
    }

    /// The session closes: hands over the rest.
    pub fn closed(&mut self, connection: &Connection) {
        self.hand_over(connection);
        let mut answers = locked(&ANSWERS);
        if answers.turn == self.turn {
            answers.answered = answers.answered.saturating_sub(1);
        }
        answers.sessions = answers.sessions.saturating_sub(1);
    }

    fn hand_over(&mut self, connection: &Connection) {
        for ((asked, last), total) in ASKED.iter().zip(&mut self.last).zip(&TOTALS) {
            let Some(now) = status(connection, *asked) else {
                continue;
            };
            let grown = now.wrapping_sub(*last) & BITS;
            *last = now;
            total.fetch_add(grown.into(), Ordering::Relaxed);
        }
    }
}

#[allow(unsafe_code)]
fn status(connection: &Connection, asked: i32) -> Option<u32> {
    let (mut now, mut most) = (0, 0);
    // SAFETY: the connection is open, and used by no other thread as long as it is borrowed here; both
    // pointers are to live integers, which the call fills.
    let result = unsafe {
        ffi::sqlite3_db_status(connection.handle(), asked, &raw mut now, &raw mut most, 0)
    };
    (result == ffi::SQLITE_OK).then(|| u32::try_from(now).unwrap_or(0) & BITS)
}

/// Makes a connection wait for locks as [`wait_for_lock`] does, for so long at most.
#[allow(unsafe_code)]
pub(super) fn count_waits(connection: &Connection, longest: Duration) {
    let ms = usize::try_from(longest.as_millis()).unwrap_or(usize::MAX);
    // SAFETY: the connection is open, and used by no other thread as long as it is borrowed here; what is
    // handed to the callback is a number, to which it never points.
    let _always_ok = unsafe {
        ffi::sqlite3_busy_handler(
            connection.handle(),
            Some(on_busy),
            std::ptr::without_provenance_mut(ms),
        )
    };
}

extern "C" fn on_busy(longest_ms: *mut c_void, tries: c_int) -> c_int {
    let longest = Duration::from_millis(longest_ms.addr() as u64);
    wait_for_lock(tries, longest).into()
}

/// Waits a little for another session's lock, and counts it; false where that has taken as long as it
/// may. As SQLite's own time-out does.
fn wait_for_lock(tries: i32, longest: Duration) -> bool {
    let tries = usize::try_from(tries).unwrap_or(0);
    let pause = |at: usize| *PAUSES_MS.get(at).or(PAUSES_MS.last()).unwrap_or(&1);
    let short: u64 = (0..tries.min(PAUSES_MS.len())).map(pause).sum();
    let long = tries.saturating_sub(PAUSES_MS.len()) as u64 * pause(tries);
    let longest = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
    let left = longest.saturating_sub(short.saturating_add(long));
    if left == 0 {
        return false;
    }
    let pause = pause(tries).min(left);
    BUSY_WAITS.fetch_add(u64::from(tries == 0), Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(pause));
    BUSY_MS.fetch_add(pause, Ordering::Relaxed);
    true
}

#[cfg(test)]
mod tests {
    use super::super::SqliteSession;
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;
    use tidemark_core::Target;

    const ROUNDS: u64 = 300;

    fn session(path: &std::path::Path) -> SqliteSession {
        let target = Target::parse(&format!("sqlite:{}", path.display())).unwrap();
        SqliteSession::open(&target, &crate::ConnectOptions::default(), false).unwrap()
    }

    fn executed(session: &mut SqliteSession, sql: &str) {
        session.simple(sql).unwrap();
        session.end_statement();
    }

    /// Each writes a page.
    fn write(session: &mut SqliteSession, rounds: u64) {
        for _ in 0..rounds {
            executed(session, "UPDATE numbers SET n = n + 1");
        }
    }

    // Other tests of this process have sessions, too, so there may always be more.

    #[test]
    fn a_session_that_closes_leaves_nothing_untold() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(&folder.path().join("a.db"));
        executed(&mut session, "CREATE TABLE numbers (n INT)");
        executed(&mut session, "INSERT INTO numbers VALUES (1)");
        let before = counters();
        write(&mut session, ROUNDS);
        drop(session);
        let written = counters().pages_written - before.pages_written;
        assert!(written >= ROUNDS, "{written}");
    }

    #[test]
    fn an_answer_has_what_was_done_before_the_question() {
        let folder = tempfile::tempdir().unwrap();
        let mut said = Vec::new();
        // On a busy machine the session's thread may not run while it is waited for.
        for number in 0..50 {
            let path = folder.path().join(format!("{number}.db"));
            let (ready, is_ready) = channel();
            let over = AtomicBool::new(false);
            let before = counters();
            let (path, over) = (&path, &over);
            let written = std::thread::scope(|scope| {
                scope.spawn(move || {
                    let mut session = session(path);
                    executed(&mut session, "CREATE TABLE numbers (n INT)");
                    executed(&mut session, "INSERT INTO numbers VALUES (1)");
                    write(&mut session, ROUNDS);
                    ready.send(()).unwrap();
                    while !over.load(Ordering::Relaxed) {
                        executed(&mut session, "SELECT n FROM numbers");
                    }
                });
                is_ready.recv().unwrap();
                let written = counters().pages_written - before.pages_written;
                over.store(true, Ordering::Relaxed);
                written
            });
            if written >= ROUNDS {
                return;
            }
            said.push(written);
        }
        panic!("never {ROUNDS} pages: {said:?}");
    }

    #[test]
    fn waiting_ends_when_its_time_is_over() {
        let before = counters();
        let longest = Duration::from_millis(10);
        let tries = (0..).take_while(|n| wait_for_lock(*n, longest)).count();
        // 1, 2, 5 and the two that are left.
        assert_eq!(tries, 4);
        let after = counters();
        assert!(after.busy_waits > before.busy_waits);
        assert!(after.busy_ms >= before.busy_ms + 10);
        assert!(!wait_for_lock(1000, Duration::from_secs(10)));
    }
}
