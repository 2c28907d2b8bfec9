//! The rows. Nothing in them is random, so that no seed changes them.

use super::schema::{ACCOUNT, ACCOUNTS, BRANCH, TELLER, TELLERS};
use std::ops::Range;
use tidemark_drivers::{RowSource, RowWriter};

/// Rows of one table.
pub(super) struct Rows {
    table: usize,
    numbers: Range<u64>,
}

impl Rows {
    pub fn new(table: usize, first: u64, count: u64) -> Self {
        Self {
            table,
            numbers: first..first.saturating_add(count),
        }
    }
}

impl RowSource for Rows {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        let Some(number) = self.numbers.next() else {
            return false;
        };
        row.int(number as i64 + 1);
        let branch = |each: u64| (number / each) as i64 + 1;
        match self.table {
            BRANCH => row.int(0),
            TELLER => {
                row.int(branch(TELLERS));
                row.int(0);
            }
            ACCOUNT => {
                row.int(branch(ACCOUNTS));
                row.int(0);
                row.text("");
            }
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(table: usize, number: u64) -> String {
        let mut line = Vec::new();
        let mut rows = Rows::new(table, number, 1);
        assert!(rows.next_row(&mut RowWriter::tsv(&mut line)));
        String::from_utf8(line).unwrap()
    }

    /// A later version goes on with a load that this one began.
    #[test]
    fn the_rows_never_change() {
        assert_eq!(row(BRANCH, 4), "5\t0");
        assert_eq!(row(TELLER, 9), "10\t1\t0");
        assert_eq!(row(TELLER, 10), "11\t2\t0");
        assert_eq!(row(ACCOUNT, 99_999), "100000\t1\t0\t");
        assert_eq!(row(ACCOUNT, 100_000), "100001\t2\t0\t");
    }
}
