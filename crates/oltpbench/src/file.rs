//! A workload file as types.

use crate::database::Database;
use crate::error::Remark;
use std::fmt;
use std::time::Duration;
use tidemark_core::{Arrivals, Isolation};

/// What lets the transactions of a phase begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// The phase makes no load.
    Disabled,
    /// Each transaction follows the one before it.
    Unlimited,
    /// So many a second in all.
    PerSecond(f64),
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Disabled => f.write_str("disabled"),
            Rate::Unlimited => f.write_str("unlimited"),
            Rate::PerSecond(rate) => write!(f, "{rate}"),
        }
    }
}

/// One transaction type of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transaction {
    /// Its index in [`crate::TPCC`].
    pub kind: usize,
    /// Its number in samples: its place in the file from 1, or what its `<id>` says.
    pub id: u32,
    /// Its share in the mix, where the file gives it here and not in the phases.
    pub weight: Option<f64>,
    /// Pause before it (`preExecutionWait`).
    pub before: Option<Duration>,
    /// Pause after it (`postExecutionWait`).
    pub after: Option<Duration>,
}

/// One phase of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPhase {
    /// Its line in the file, from 1.
    pub line: u32,
    /// How long it is measured.
    pub time: Duration,
    /// Load before that which does not count.
    pub warmup: Duration,
    /// What lets transactions begin.
    pub rate: Rate,
    /// How arrivals of a rate are spaced.
    pub arrivals: Arrivals,
    /// The share of each transaction type, in the order of [`crate::TPCC`]; 100 in all.
    pub weights: [f64; 5],
    /// Terminals that take part; all when it is not said.
    pub active_terminals: Option<u32>,
}

/// Whether terminals key and think, as far as the file says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    /// `useKeyingTime`.
    pub keying: Option<bool>,
    /// `useThinkTime`.
    pub think: Option<bool>,
}

/// A workload file as types. Everything but the phases is optional: the command line may say it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkloadFile {
    /// Where the database is.
    pub database: Database,
    /// Isolation level of the sessions.
    pub isolation: Option<Isolation>,
    /// `scalefactor`: for TPC-C the number of warehouses.
    pub scale_factor: Option<f64>,
    /// Emulated users.
    pub terminals: Option<u32>,
    /// Sessions that load at the same time.
    pub loader_threads: Option<u32>,
    /// Rows that the loader sends together.
    pub batch_size: Option<u32>,
    /// Keying and think times.
    pub timing: Timing,
    /// Whether foreign keys are made once the rows are there.
    pub foreign_keys_after_load: Option<bool>,
    /// How long a session may take to be had (`hikariConnectionTimeoutMs`).
    pub connection_timeout: Option<Duration>,
    /// A session of its own for each transaction (`newConnectionPerTxn`).
    pub new_connection_per_transaction: bool,
    /// Seed of the random choices (`randomSeed`).
    pub seed: Option<u64>,
    /// Transaction types in the file's order; the five of TPC-C when it names none.
    pub transactions: Vec<Transaction>,
    /// The phases, in order.
    pub works: Vec<LoadPhase>,
    /// What is not used, or not as it is written, by line.
    pub remarks: Vec<Remark>,
}
