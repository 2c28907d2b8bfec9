//! Tests of the machine itself, as sysbench 1.0.20 documents them: processor, memory, files, threads,
//! mutexes. Each thread of a test has a [`TestThread`], whose [events](TestThread::event) somebody else times and
//! counts.
//!
//! The loops are here alone, so that this crate can be compiled for speed whatever the rest is
//! compiled for.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use tidemark_hosttests::{TestEvent, TestThread, cpu};
//! let mut test = cpu::Cpu::new(1000);
//! assert_eq!(test.event(&AtomicBool::new(false))?, Some(TestEvent::of(0)));
//! assert_eq!(cpu::primes(1000, &AtomicBool::new(false)), Some(168));
//! # Ok::<(), tidemark_hosttests::HostError>(())
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod cpu;
mod error;
mod figures;
pub mod files;
pub mod memory;
pub mod mutex;
mod pthread;
mod random;
pub mod threads;

pub use error::HostError;
pub use figures::{HostResults, figures};

use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What an event was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestEvent {
    /// Its place in the test's list of kinds.
    pub kind: usize,
    /// Another kind that was a part of it, and what that took.
    pub inner: Option<(usize, Duration)>,
}

impl TestEvent {
    /// One without parts.
    pub fn of(kind: usize) -> Self {
        Self { kind, inner: None }
    }
}

/// One thread's part of a test.
pub trait TestThread: Send {
    /// Does one event; `None` when there is nothing more to do, or when `cut_off` ended it.
    ///
    /// # Errors
    /// [`HostError`] of what the operating system refused, or of data that changed.
    fn event(&mut self, cut_off: &AtomicBool) -> Result<Option<TestEvent>, HostError>;

    /// What is to be done after the last event, within the time that is measured.
    ///
    /// # Errors
    /// As [`TestThread::event`].
    fn finish(&mut self) -> Result<(), HostError> {
        Ok(())
    }
}
