//! Where a run stands in a study.

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
