//! Where a run stands in a study.

use crate::record::TableState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The environment variable in which a study tells the process that makes a run where it stands: a
/// [`StudyPlace`] as JSON, which the run's record then holds.
pub const STUDY_PLACE_VARIABLE: &str = "TIDEMARK_STUDY_PLACE";

/// Where a run stands in a study: one matrix of runs, executed once (and perhaps resumed).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyPlace {
    /// Id of the study's execution (UUID version 7).
    pub study: String,
    /// The study's name, as its file has it.
    pub name: String,
    /// The cell of its matrix: the same for all repeats, unique within the study.
    pub cell: String,
    /// What tells this cell from others, by factor: `target`, `workload`, `threads`, `size`, …
    pub factors: BTreeMap<String, String>,
    /// Which repeat of the cell, from 1.
    pub repeat: u32,
}

/// The environment variable in which a study tells a load which tables are the study's own: a
/// [`StudyLoad`] as JSON.
pub const STUDY_LOAD_VARIABLE: &str = "TIDEMARK_STUDY_LOAD";

/// Which tables a study's load may replace: those that bear the study's id in their mark, as the study
/// left them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyLoad {
    /// Id of the study's execution.
    pub study: String,
    /// How its last step left its tables.
    pub left: LeftBehind,
}

/// How a study's steps left the tables that it has loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftBehind {
    /// Nothing has written since the load.
    AsLoaded,
    /// Runs have written.
    Counted {
        /// What was counted before the first of them.
        first: Vec<TableState>,
        /// What was counted after the last.
        last: Vec<TableState>,
    },
    /// Runs have written, and the last one was cut off, or had too many rows to be counted.
    Unknown,
    /// Between two steps somebody else has written.
    Changed,
}
