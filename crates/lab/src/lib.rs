//! A laboratory: a server whose delays are known, to prove what the engine measures.
//!
//! It speaks as much of the MySQL and the PostgreSQL protocol as a benchmark's client needs: a
//! session opens with any password, any statement is prepared and executed, every SELECT has one
//! row of one column, everything else succeeds, and the catalogue tells of sysbench's tables. No
//! data is kept. Each execution is answered after a delay drawn from a [`Delay`]; stalls and
//! outages come when asked for; what really happened is in the [`Truth`].
//!
//! It is for tests and benchmarks, and never shipped.

#[cfg(test)]
extern crate self as tidemark_lab;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod alarm;
mod arrivals;
mod catalog;
mod config;
mod delay;
mod error;
mod lab;
mod listener;
mod mysql;
mod postgres;
mod session;
mod shared;
mod sql;
mod stall;
mod truth;
mod wire;
mod worker;

pub use config::LabConfig;
pub use delay::{Delay, DelayError};
pub use error::LabError;
pub use lab::Lab;
pub use stall::{Span, SpanError};
pub use truth::{ProtocolTruth, Truth};
