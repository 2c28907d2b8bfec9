//! Rows of the tables against those that the run is told of.

use std::fmt;
use tidemark_analysis::option;
use tidemark_analysis::thresholds::rows_differ;
use tidemark_core::record::{RunRecord, TableState};

/// Whose option says how many rows there are, and what to call it.
const OPTIONS: &[(&str, &str)] = &[
    ("recordcount", "recordcount"),
    ("table-size", "--table-size"),
    ("warehouses", "--warehouses"),
];
/// What keys span counts gaps, too: only a greater difference is told.
const ABOUT_APART: f64 = 0.1;

/// A table with other rows than expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherRows {
    /// What says how many there are: an option's name.
    option: &'static str,
    table: String,
    rows: u64,
    /// Whether they were not counted.
    is_about: bool,
    expected: u64,
    /// How many more tables have other rows.
    more: usize,
}

/// The first table that differs; of TPC-C only its warehouses, which runs leave as they are. TPC-H's
/// tables the run itself puts in order.
pub(super) fn of(record: &RunRecord, about: &[TableState]) -> Option<OtherRows> {
    let mut options = OPTIONS.iter();
    let (_, name) = options.find(|(key, _)| option(record, key).is_some())?;
    let is_exact = *name == "recordcount";
    let is_tpcc = tidemark_analysis::tpcc::is_tpcc(record);
    let of_job = |t: &&TableState| !is_tpcc || t.table == "warehouse";
    let counted = record.tables_before.iter().filter(of_job).filter_map(|t| {
        let expected = t.expected_rows?;
        let differs = match is_exact {
            true => t.rows != expected,
            false => rows_differ(t.rows, expected),
        };
        differs.then_some((t, expected, false))
    });
    let about = about.iter().filter(of_job).filter_map(|t| {
        let expected = t.expected_rows?;
        let apart = t.rows.abs_diff(expected) as f64;
        (apart > expected as f64 * ABOUT_APART).then_some((t, expected, true))
    });
    let mut found = counted.chain(about);
    let (table, expected, is_about) = found.next()?;
    Some(OtherRows {
        option: name,
        table: table.table.clone(),
        rows: table.rows,
        is_about,
        expected,
        more: found.count(),
    })
}

impl fmt::Display for OtherRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            option,
            table,
            rows,
            expected,
            ..
        } = self;
        write!(f, "{option}={expected}, but ")?;
        match self.is_about {
            true => write!(f, "the keys of table {table} span {rows} values")?,
            false => write!(f, "table {table} has {rows} rows")?,
        }
        match self.more {
            0 => {}
            1 => f.write_str(", and another table differs, too")?,
            more => write!(f, ", and {more} other tables differ, too")?,
        }
        let missing = expected.saturating_sub(*rows);
        match (*option, missing > 0) {
            _ if *rows == 0 => f.write_str(": load the table first"),
            ("recordcount", true) => write!(
                f,
                ": {missing} of the records to choose from are missing; to use all of them: -p \
                 recordcount={rows}"
            ),
            ("recordcount", false) => write!(
                f,
                ": only the first {expected} of them ({:.3} %) are used, and inserts start with \
                 keys that may exist; to use all of them: -p recordcount={rows}",
                100.0 * *expected as f64 / (*rows).max(1) as f64
            ),
            (_, true) => f.write_str(": many statements will match no row"),
            ("--warehouses", false) => f.write_str(
                ": the other warehouses are not used, but their rows are in the indexes",
            ),
            (_, false) => write!(f, ": statements choose among the first {expected} only"),
        }
    }
}
