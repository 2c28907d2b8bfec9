//! Settings that decide how values read as text, which a role, a database or a server may have
//! otherwise (PostgreSQL manual, "Client Connection Defaults" and "Version and Platform
//! Compatibility").
//!
//! Values are written and read in the forms of the defaults, so what differs is set. Most servers have
//! the defaults, and nothing is sent then.

use crate::RowSet;

/// A setting, its form up to a comma, and what is set otherwise.
const FORMS: &[(&str, &str, &str)] = &[
    // Dates and times as they come and as literals.
    ("DateStyle", "ISO", "ISO, MDY"),
    ("IntervalStyle", "postgres", "postgres"),
    ("bytea_output", "hex", "hex"),
    // Literals are written with single backslashes.
    ("standard_conforming_strings", "on", "on"),
    // NULL in an array.
    ("array_nulls", "on", "on"),
    // `x = NULL` is not `x IS NULL`.
    ("transform_null_equals", "off", "off"),
    // Names of other tables, as the catalogue writes them.
    ("quote_all_identifiers", "off", "off"),
];

/// Whether sessions set this for themselves, where it is otherwise.
pub(crate) fn sets_for_itself(name: &str) -> bool {
    let is = |(form, ..): &(&str, _, _)| name.eq_ignore_ascii_case(form);
    FORMS.iter().any(is)
}

/// What asks for them, behind other columns. A server that lacks one says NULL.
pub(super) fn settings() -> String {
    let ask = |(name, ..): &(&str, _, _)| format!(", current_setting('{name}', true)");
    FORMS.iter().map(ask).collect()
}

/// The statements that set what is otherwise; the answer form_of at a column.
pub(super) fn odd(answer: &RowSet, first: usize) -> Vec<String> {
    let set = |(index, (name, form_of, value)): (usize, &(&str, &str, &str))| {
        let found = answer.text(0, first + index)?;
        // DateStyle has a second part, which is about what is no date of ISO.
        let found_form = found.split(',').next().unwrap_or_default();
        let is_odd = !found.is_empty() && found_form != *form_of;
        is_odd.then(|| format!("SET {name} = '{value}'"))
    };
    FORMS.iter().enumerate().filter_map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cell;

    #[test]
    fn only_what_differs_is_set() {
        let mut rows = RowSet::new();
        rows.reset(1 + FORMS.len());
        rows.push(Cell::Bytes(b"PostgreSQL 15"));
        for value in [
            "SQL, DMY",
            "postgres_verbose",
            "escape",
            "on",
            "on",
            "",
            "off",
        ] {
            rows.push(Cell::Bytes(value.as_bytes()));
        }
        assert_eq!(
            odd(&rows, 1),
            [
                "SET DateStyle = 'ISO, MDY'",
                "SET IntervalStyle = 'postgres'",
                "SET bytea_output = 'hex'"
            ]
        );
        // A server that answers with less is believed to have the defaults.
        assert!(odd(&RowSet::new(), 1).is_empty());
        assert!(settings().starts_with(", current_setting('DateStyle', true), "));
    }
}
