//! How a job makes the tables of its workload.

use crate::LeftBehind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How tables are made and filled. How many sessions do it, and from which seed rows are made, is in the
/// job's load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Preparation {
    /// Whether tables of this benchmark that are there are dropped.
    pub replace: bool,
    /// Whether tables that bear the mark of this very load are left as they are.
    pub keep_loaded: bool,
    /// Rows committed together; 0 leaves that to the program.
    pub chunk_rows: u64,
    /// How rows reach the server.
    pub method: LoadMethod,
    /// How the study that makes the load left the tables that it loaded before: they may be replaced if
    /// they are still so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftBehind>,
}

/// How rows reach the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadMethod {
    /// In bulk where the server takes that, by INSERT else.
    #[default]
    Auto,
    /// In bulk.
    Bulk,
    /// By INSERT.
    Insert,
}

impl LoadMethod {
    /// Its word, as `--load-method` takes it.
    pub fn word(self) -> &'static str {
        match self {
            LoadMethod::Auto => "auto",
            LoadMethod::Bulk => "bulk",
            LoadMethod::Insert => "insert",
        }
    }
}
