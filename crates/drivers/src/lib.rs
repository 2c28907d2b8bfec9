//! Database drivers: sessions over the MySQL and PostgreSQL wire protocols and embedded SQLite,
//! and the dialects of the engines behind them.
//!
//! A driver sends statements and skims replies; it never times and knows no workload. What is
//! common stands here; each protocol has a folder of its own behind [`Session`].
//!
//! SQL text uses `?` for parameters whatever the engine; drivers write their own placeholders.
//!
//! ```
//! use tidemark_core::Target;
//! use tidemark_drivers::{ConnectOptions, Connector};
//! let folder = tempfile::tempdir()?;
//! let target = Target::parse(&format!("sqlite:{}/a.db", folder.path().display()))?;
//! let connector = Connector::new(target, ConnectOptions::default())?;
//! let rows = tidemark_runtime::block_on(async move {
//!     let mut session = connector.connect(0).await?;
//!     session.query("SELECT 6 * 7").await
//! })??;
//! assert_eq!(rows.int(0, 0), Some(42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
extern crate self as tidemark_drivers;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod ahead;
mod attendance;
pub mod catalog;
pub mod cluster;
mod connection;
mod connector;
mod ddl;
mod dialect;
mod dml;
mod engines;
mod explain;
mod expression;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod given;
mod isolation;
pub mod journal;
mod load;
pub mod lock;
pub mod mysql;
mod partition;
mod pooler;
pub mod postgres;
mod reached_hosts;
mod request;
mod rows;
mod running_types;
mod sample;
mod session;
pub mod settings;
mod snapshot;
pub mod sqlite;
mod statement;
pub mod tiflash;
mod tls;
mod value;

pub use ahead::MOST_AHEAD;
pub use connector::{Access, Address, ConnectOptions, Connector};
pub use ddl::{TableSplit, Unsupported};
pub use dialect::{BulkMethod, CommitWait, Dialect, Partitioning};
pub use explain::plan_text;
pub use expression::CalendarSpan;
pub use given::GivenText;
pub use isolation::default_level;
pub use load::{LoadRequest, Loaded, RowSource, RowWriter};
pub use partition::Cut;
pub use pooler::Pooling;
pub use request::Request;
pub use rows::{Cell, RowSet};
pub use running_types::{Running, RunningType, RunningTypes};
pub use sample::{SampleComparison, Sampler, is_same_row, row_as_tsv};
pub use session::{HostCount, Session};
pub use snapshot::Savepoint;
pub use statement::{Outcome, Statement, Template, Verb};
pub use tls::https_config;
pub use value::Value;
