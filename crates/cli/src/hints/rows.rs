//! Rows of the tables against those that the run is told of.

use crate::texts::hints as texts;
use tidemark_analysis::option;
use tidemark_analysis::thresholds::rows_differ;
use tidemark_core::record::{RunRecord, TableState};
use tidemark_report::Lang;

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

impl OtherRows {
    /// What differs, and what comes of it.
    pub fn says(&self, lang: Lang) -> String {
        let Self {
            option,
            table,
            rows,
            expected,
            ..
        } = self;
        let found = match self.is_about {
            true => texts::rows_about(lang, option, expected, table, rows),
            false => texts::rows(lang, option, expected, table, rows),
        };
        let more = match self.more {
            0 => String::new(),
            1 => texts::another_table(lang).into(),
            more => texts::other_tables(lang, more),
        };
        let missing = expected.saturating_sub(*rows);
        let then = match (*option, missing > 0) {
            _ if *rows == 0 => texts::no_rows(lang).into(),
            ("recordcount", true) => texts::records_missing(lang, missing, rows),
            ("recordcount", false) => {
                let percent = 100.0 * *expected as f64 / (*rows).max(1) as f64;
                texts::records_unused(lang, expected, format_args!("{percent:.3}"), rows)
            }
            (_, true) => texts::rows_missing(lang).into(),
            ("--warehouses", false) => texts::warehouses_unused(lang).into(),
            (_, false) => texts::rows_unused(lang, expected),
        };
        found + &more + &then
    }
}
