//! Answers: the right ones, and whether an engine's are.
//!
//! What an answer looks like does not depend on the engine: values are text as a person would
//! write them, CHARs without the spaces that fill them up.

mod compare;
mod stored;

pub use compare::{Difference, Precision, compare};
pub use stored::{Stored, StoredError, write_stored};

use tidemark_drivers::RowSet;

/// Rows of values; NULL is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryAnswer {
    /// In the order that they came.
    pub rows: Vec<Vec<Option<String>>>,
}

impl QueryAnswer {
    /// What an engine sent.
    pub fn of(rows: &RowSet) -> Self {
        let row = |row| {
            let cells = (0..rows.columns()).map(|column| rows.text(row, column));
            cells
                .map(|c| c.map(|text| text.trim_end().to_string()))
                .collect()
        };
        Self {
            rows: (0..rows.len()).map(row).collect(),
        }
    }
}
