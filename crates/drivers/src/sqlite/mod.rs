//! Embedded SQLite.
//!
//! SQLite blocks the thread that calls it, so every session has a thread of its own and these are
//! plain calls ([`crate::Connector::is_blocking`]).
//!
//! A session sets, and [`crate::settings`] records:
//!
//! | setting | value | why |
//! | --- | --- | --- |
//! | `journal_mode` | `wal`, in a database that is still empty | readers don't wait for the writer; an existing file keeps the mode it has, because the mode is written into the file |
//! | `synchronous` | `NORMAL` | in WAL mode never corrupt, but the last commits may be lost when the power fails (sqlite.org/pragma.html#pragma_synchronous) |
//! | `busy_timeout` | [`BUSY_TIMEOUT`] | a writer waits for its turn |
//! | `cache_size` | [`CACHE_KIB`] | many sessions stay small; the operating system caches the file for all |

mod counters;
mod error;
mod limit;
mod open;
mod session;

pub use counters::{SqliteCounters, ask_sessions, counters};
pub use open::{BUSY_TIMEOUT, CACHE_KIB};
pub use session::SqliteSession;
