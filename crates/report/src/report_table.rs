//! A table of a report.

use crate::document::{Block, DocumentPart, Grid};

/// A table as every form of report can draw it; its first column names the row.
#[derive(Debug, Clone, Default)]
pub struct ReportTable {
    /// What stands above it.
    pub title: &'static str,
    /// A sentence below it; may be empty.
    pub says: String,
    /// Names of the columns.
    pub head: Vec<&'static str>,
    /// Its rows, a text for each column.
    pub rows: Vec<Vec<String>>,
    /// Columns after the first that hold numbers.
    pub numbers: usize,
}

impl ReportTable {
    pub(crate) fn grid(self) -> Grid {
        let numbers = 1..=self.numbers;
        let head = self.head.iter().enumerate();
        let head = head.map(|(n, head)| (head.to_string(), numbers.contains(&n)));
        Grid {
            rows: self.rows,
            ..Grid::new(head)
        }
    }
}

impl From<ReportTable> for DocumentPart {
    fn from(table: ReportTable) -> Self {
        let (title, says) = (table.title, table.says.clone());
        let says = Some(says).filter(|says| !says.is_empty());
        let blocks = std::iter::once(Block::Table(table.grid())).chain(says.map(Block::Fine));
        DocumentPart::new(title, blocks.collect())
    }
}
