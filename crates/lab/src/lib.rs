//! A laboratory: a server whose delays are known, to prove what the engine measures.
//!
//! It speaks as much of the MySQL and the PostgreSQL protocol as a benchmark's client needs: a
//! session opens with any password, any statement is prepared and executed, every SELECT has one
//! row of one column, everything else succeeds, and the catalogue tells of sysbench's tables. No
//! data is kept. Each execution is answered after a delay drawn from a [`Delay`]; stalls and
//! outages come when asked for; what really happened is in the [`Truth`].
//!
//! It is for tests and benchmarks, and never shipped.
//!
//! ```
//! use std::time::{Duration, Instant};
//! use tidemark_drivers::{ConnectOptions, Connector};
//! use tidemark_lab::{Delay, Lab, LabConfig};
//! let delay = Duration::from_millis(20);
//! let lab = Lab::start(LabConfig {
//!     mysql: Some(([127, 0, 0, 1], 0).into()),
//!     delay: Delay::Constant(delay),
//!     ..LabConfig::default()
//! })?;
//! let target = tidemark_core::Target::parse(&lab.mysql_url().unwrap_or_default())?;
//! let connector = Connector::new(target, ConnectOptions::default())?;
//! let waited = tidemark_runtime::block_on(async move {
//!     let mut session = connector.connect(0).await?;
//!     let statement = session.prepare("SELECT c FROM sbtest1 WHERE id = ?").await?;
//!     let sent = Instant::now();
//!     session.execute(&statement, &[1.into()]).await?;
//!     Ok::<_, tidemark_core::DbError>(sent.elapsed())
//! })??;
//! assert!(waited >= delay);
//! assert_eq!(lab.stop()?.mysql.executed, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod distance;
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
pub use distance::distance;
pub use error::LabError;
pub use lab::Lab;
pub use stall::{FaultSpan, SpanError};
pub use truth::{ProtocolTruth, Truth};
