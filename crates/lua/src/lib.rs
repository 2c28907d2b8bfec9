//! Users' own sysbench scripts: a workload whose transactions are a Lua function.
//!
//! A script thread is a coroutine. What waits for the server yields to the task of its session, so that
//! thousands of them share an executor. Each has globals of its own, as sysbench gives each thread a
//! Lua state; the functions of a file are compiled once a state.
//!
//! - [`Script`]: a file, with the options and commands that it declares.
//! - [`Program`]: a script with its options set; [`workload_of`] makes a workload of it.
//! - [`Commands`]: its functions outside a measurement: `prepare`, `cleanup`, hooks of reports.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("mine.lua");
//! std::fs::write(&path, "sysbench.cmdline.options = {rows = {\"Rows\", 10}}\nfunction event() end")?;
//! let script = tidemark_lua::Script::read(&path, &[], "run")?;
//! assert_eq!(script.name(), "lua:mine");
//! assert_eq!(script.options()[0].name, "rows");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file;
mod stat;

#[cfg(not(feature = "luajit"))]
mod absent;
#[cfg(feature = "luajit")]
mod answer;
#[cfg(feature = "luajit")]
mod bind;
#[cfg(feature = "luajit")]
mod commands;
#[cfg(feature = "luajit")]
mod connection;
#[cfg(feature = "luajit")]
mod coroutine;
#[cfg(feature = "luajit")]
mod declared;
#[cfg(feature = "luajit")]
mod dropping;
#[cfg(feature = "luajit")]
mod explain;
#[cfg(feature = "luajit")]
mod host;
#[cfg(feature = "luajit")]
mod loops;
#[cfg(feature = "luajit")]
mod program;
#[cfg(feature = "luajit")]
mod random;
#[cfg(feature = "luajit")]
mod result_set;
#[cfg(feature = "luajit")]
mod script;
#[cfg(feature = "luajit")]
mod sources;
#[cfg(feature = "luajit")]
mod state;
#[cfg(feature = "luajit")]
mod task;
#[cfg(test)]
#[cfg(feature = "luajit")]
mod tests;
#[cfg(feature = "luajit")]
mod user;
#[cfg(feature = "luajit")]
mod workload;

pub use file::{
    COMMAND_OPTION, FILES_OPTION, OF_JOBS, Origin, SCRIPT_OPTIONS, ScriptError, ScriptFiles,
    find_file,
};
pub use stat::Stat;

#[cfg(not(feature = "luajit"))]
pub use absent::{Commands, Program, Script, definition_of, script_at, script_of};
#[cfg(feature = "luajit")]
pub use commands::Commands;
#[cfg(feature = "luajit")]
pub use program::Program;
#[cfg(feature = "luajit")]
pub use script::Script;
#[cfg(feature = "luajit")]
pub use workload::{definition_of, script_at, script_of, workload_of};

use std::sync::OnceLock;
#[cfg(feature = "luajit")]
use std::time::{Duration, Instant};

static INTERRUPTED: OnceLock<fn() -> bool> = OnceLock::new();

/// Says how scripts learn that the user asked for an end: what does not end by itself is ended then, and
/// no `pcall` of the script's catches that.
pub fn interrupted_by(asked: fn() -> bool) {
    INTERRUPTED.get_or_init(|| asked);
}

/// Whether the user asked for an end.
#[cfg(feature = "luajit")]
fn is_interrupted() -> bool {
    INTERRUPTED.get().is_some_and(|asked| asked())
}

/// Whether scripts have known for so long that the user asked for an end.
#[cfg(feature = "luajit")]
fn is_interrupted_for(grace: Duration) -> bool {
    static SEEN: OnceLock<Instant> = OnceLock::new();
    is_interrupted() && SEEN.get_or_init(Instant::now).elapsed() >= grace
}
