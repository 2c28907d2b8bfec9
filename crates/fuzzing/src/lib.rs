//! What the fuzzers feed. Each target takes any bytes and panics when Tidemark breaks a promise:
//!
//! - nothing from outside makes it panic, run on without end, or take memory out of proportion to
//!   what it was sent;
//! - a hostile server can at worst end its session with an error, and does not learn the password;
//! - bytes mean the same wherever the network cuts them.
//!
//! `fuzz/` holds the cargo-fuzz programs and the corpora; the tests of this crate play every file of
//! the corpora, and changed ones, without cargo-fuzz. It is no part of the product.

// A broken promise is a panic: that is how a fuzzer learns of it.
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)]

#[cfg(test)]
extern crate self as tidemark_fuzzing;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod config;
mod file;
mod import;
mod memory;
mod player;
mod programs;
mod record;
mod replies;
mod script;
mod series;
mod session;
mod store;
mod study;
mod topology;

pub use programs::{PROGRAMS, run as run_program};
pub use script::{CUT, Flags, FuzzScript, NONCE, PACKET};
pub use session::{EndedSession, USER, play};

/// One target: its name, which is that of its corpus's folder, and its entry.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Takes any bytes.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "mysql_session",
        run: session::mysql,
    },
    Target {
        name: "mysql_replies",
        run: replies::mysql,
    },
    Target {
        name: "postgres_session",
        run: session::postgres,
    },
    Target {
        name: "postgres_replies",
        run: replies::postgres,
    },
    Target {
        name: "config",
        run: config::run,
    },
    Target {
        name: "record",
        run: record::run,
    },
    Target {
        name: "store",
        run: store::run,
    },
    Target {
        name: "import",
        run: import::run,
    },
    Target {
        name: "study",
        run: study::run,
    },
    Target {
        name: "series",
        run: series::run,
    },
    Target {
        name: "topology",
        run: topology::run,
    },
];

/// Runs the target of this name.
///
/// # Panics
/// When there is none, and when a promise is broken.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target").run)(data);
}
