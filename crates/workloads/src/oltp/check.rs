//! `--validate`: whether replies are what the table must give.

use super::settings::Settings;
use super::sql::OltpStatement;
use crate::random::RowText;
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::{Cell, RowSet};

/// What a SELECT must return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// Anything.
    Any,
    /// One row.
    One,
    /// The `c` of the row with this key.
    Point(i64),
    /// A `c` for each key of the range.
    Range(i64, i64),
    /// At most as many `c` as the range has keys.
    Distinct(i64, i64),
}

impl Expect {
    pub fn range(query: OltpStatement, low: i64, high: i64) -> Self {
        match query {
            OltpStatement::SimpleRange | OltpStatement::OrderRange => Expect::Range(low, high),
            OltpStatement::DistinctRange => Expect::Distinct(low, high),
            _ => Expect::One,
        }
    }
}

/// Compares a result with what was expected. Without transactions (`--skip-trx`) a row may be
/// absent between another session's DELETE and INSERT.
pub(super) fn rows(expect: Expect, rows: &RowSet, settings: &Settings) -> Result<(), DbError> {
    let (least, most, what) = match expect {
        Expect::Any => return Ok(()),
        Expect::One => (1, 1, String::new()),
        Expect::Point(id) => (1, 1, format!(" for id={id}")),
        Expect::Range(low, high) => {
            // New rows may stand beyond the loaded ones.
            let loaded = (high.min(settings.table_size as i64) - low + 1).max(0);
            (
                loaded,
                high - low + 1,
                format!(" for id BETWEEN {low} AND {high}"),
            )
        }
        Expect::Distinct(low, high) => (
            1,
            high - low + 1,
            format!(" for DISTINCT c of id BETWEEN {low} AND {high}"),
        ),
    };
    let least = if settings.skip_trx && expect != Expect::One {
        0
    } else {
        least
    };
    let found = rows.len() as i64;
    if found < least || found > most {
        let wanted = if least == most {
            least.to_string()
        } else {
            format!("{least} to {most}")
        };
        return Err(failed(format!("{found} rows{what} instead of {wanted}")));
    }
    if expect == Expect::One {
        return Ok(());
    }
    for row in 0..rows.len() {
        match rows.get(row, 0) {
            Some(Cell::Bytes(c)) if RowText::is_c(c) => {}
            _ => {
                return Err(failed(format!(
                    "a c without its ten groups of digits{what}"
                )));
            }
        }
    }
    Ok(())
}

/// The error of a failed check.
pub(crate) fn failed(what: String) -> DbError {
    DbError::own(
        ErrorClass::Fatal,
        ErrorKind::Validation,
        format!("validation failed: {what}"),
    )
}
