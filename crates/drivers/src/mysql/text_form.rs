//! Settings of the server that change values as they are read back, and what statements mean.
//!
//! Sessions that look at tables, load and ask TPC-H's queries have the defaults of these, whatever the
//! server was given (MySQL manual, "Server System Variables" and "Server SQL Modes"; MariaDB,
//! "SQL_MODE"). A run's own sessions keep what the user set: it is what is measured.

use super::MysqlSession;
use crate::RowSet;
use tidemark_core::{DbError, ErrorClass};

/// Modes that are left out.
///
/// - `PAD_CHAR_TO_FULL_LENGTH`: a CHAR comes back with blanks behind it;
/// - `EMPTY_STRING_IS_NULL` (MariaDB): an empty text is stored as NULL.
const NOT_MODES: &[&str] = &["PAD_CHAR_TO_FULL_LENGTH", "EMPTY_STRING_IS_NULL"];

/// A setting, whether a value of it does no harm, and what is set otherwise.
type Form = (&'static str, fn(&str) -> bool, &'static str);

const FORMS: &[Form] = &[
    // Digits of a quotient, as of an average.
    (
        "div_precision_increment",
        |v| v.parse().is_ok_and(|n: u32| n >= 4),
        "4",
    ),
    // A COMMIT begins the next transaction, or ends the session.
    ("completion_type", |v| v == "NO_CHAIN" || v == "0", "0"),
    // `IS NULL` finds the row inserted last.
    ("sql_auto_is_null", |v| v == "OFF" || v == "0", "0"),
    // Rows of an answer.
    (
        "sql_select_limit",
        |v| v.parse().is_ok_and(|n: u64| n >= 1 << 32),
        "18446744073709551615",
    ),
];

impl MysqlSession {
    /// Sets what the server has otherwise. A server that can't tell has the defaults.
    ///
    /// # Errors
    /// The server's error, as of a connection that is lost.
    pub(crate) async fn settle_form(&mut self) -> Result<(), DbError> {
        // One row: a limit of rows holds for SHOW, too.
        let names: Vec<&str> = names().collect();
        let ask = format!("SELECT @@SESSION.{}", names.join(", @@SESSION."));
        let found = match self.query(&ask).await {
            Ok(found) => found,
            Err(error) if error.class == ErrorClass::ConnectionLost => return Err(error),
            Err(_) => return Ok(()),
        };
        let odd = odd(&found);
        if !odd.is_empty() {
            self.simple(&format!("SET {}", odd.join(", "))).await?;
        }
        Ok(())
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|(name, ..)| *name).chain(["sql_mode"])
}

/// What is to be set, by the values of [`names`].
fn odd(found: &RowSet) -> Vec<String> {
    let mut set = Vec::new();
    for (column, (name, is_well, wanted)) in FORMS.iter().enumerate() {
        let value = found.text(0, column);
        if value.is_some_and(|value| !is_well(&value)) {
            set.push(format!("SESSION {name}={wanted}"));
        }
    }
    let modes = found.text(0, FORMS.len()).unwrap_or_default();
    let kept = modes.split(',').filter(|m| !NOT_MODES.contains(m));
    let kept = kept.collect::<Vec<_>>().join(",");
    if kept != modes {
        set.push(format!("SESSION sql_mode='{kept}'"));
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cell;

    fn set(values: &[&str]) -> Vec<String> {
        let mut found = RowSet::new();
        found.reset(values.len());
        for value in values {
            found.push(Cell::Bytes(value.as_bytes()));
        }
        odd(&found)
    }

    #[test]
    fn only_what_differs_is_set() {
        let modes = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION";
        let names: Vec<&str> = names().collect();
        assert_eq!(
            names,
            [
                "div_precision_increment",
                "completion_type",
                "sql_auto_is_null",
                "sql_select_limit",
                "sql_mode"
            ]
        );
        let usual = set(&["4", "NO_CHAIN", "0", "18446744073709551615", modes]);
        assert_eq!(usual, Vec::<String>::new());
        let padded = format!("PAD_CHAR_TO_FULL_LENGTH,{modes}");
        assert_eq!(
            set(&["0", "CHAIN", "1", "10", &padded]),
            [
                "SESSION div_precision_increment=4",
                "SESSION completion_type=0",
                "SESSION sql_auto_is_null=0",
                "SESSION sql_select_limit=18446744073709551615",
                &format!("SESSION sql_mode='{modes}'"),
            ]
        );
        assert!(odd(&RowSet::new()).is_empty());
    }
}
