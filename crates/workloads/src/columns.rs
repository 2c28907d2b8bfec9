//! Columns as catalogues show them, compared with what a schema asks for.

use tidemark_drivers::catalog::{Column, TableDescription, normal_type};

/// Type of a date and time until the dialect is known.
pub(crate) const TIME: &str = "TIME";

/// Whether a column is of a type, as any engine shows what was asked for: `kind` is a type of SQL,
/// with NOT NULL where the column has it. CockroachDB's INT has 64 bits, and other programs number
/// with INT where we do with BIGINT, or the other way round.
pub(crate) fn is_of(column: &Column, kind: &str) -> bool {
    let (kind, needed) = match kind.strip_suffix(" NOT NULL") {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let type_name = column.type_name.as_str();
    let same = match kind {
        "INT" | "BIGINT" => ["integer", "bigint"].contains(&type_name),
        TIME => ["datetime", "timestamp"].contains(&type_name),
        other => type_name == normal_type(other),
    };
    same && column.nullable != needed && column.default.as_deref().is_none_or(is_null)
}

/// MariaDB shows a column without a default as one whose default is NULL.
fn is_null(default: &str) -> bool {
    default.eq_ignore_ascii_case("null")
}

/// Whether a table has all these columns, whatever their types and whatever others it has.
pub(crate) fn has_columns(found: &TableDescription, names: &[&str]) -> bool {
    names.iter().all(|name| {
        let is = |column: &Column| column.name.eq_ignore_ascii_case(name);
        found.columns.iter().any(is)
    })
}
