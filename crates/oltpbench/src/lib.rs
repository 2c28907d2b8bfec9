//! Workload files of the OLTPBench family: OLTPBench, BenchBase and the YugabyteDB TPC-C client
//! describe in one XML file where a database is, how many terminals there are, and the phases of a
//! run.
//!
//! [`WorkloadFile::parse`] reads such a file into types and says, by line, what it can't take. What
//! it does not know is left out with a [`Remark`], for files carry much that is for other
//! benchmarks or other programs. [`Database::target`] makes the target of it.
//!
//! ```
//! use tidemark_oltpbench::{Rate, WorkloadFile};
//! let file = WorkloadFile::parse(
//!     "<parameters><works><work><time>60</time><rate>unlimited</rate>
//!      <weights>45,43,4,4,4</weights></work></works></parameters>",
//! )?;
//! assert_eq!(file.works[0].rate, Rate::Unlimited);
//! # Ok::<(), tidemark_oltpbench::FileError>(())
//! ```

mod database;
mod element;
mod error;
mod file;
mod jdbc;
mod phases;
mod read;
mod transactions;

pub use database::{Database, DatabaseKind, TargetProblem};
pub use error::{FileError, Remark};
pub use file::{LoadPhase, Rate, Timing, Transaction, WorkloadFile};
pub use jdbc::{JdbcError, JdbcUrl};
pub use transactions::TPCC;
