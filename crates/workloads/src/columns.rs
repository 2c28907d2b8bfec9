//! Columns as catalogues show them, compared with what a schema asks for.

use tidemark_drivers::catalog::{Column, ForeignKey, Partitions, TableDescription, normal_type};

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

/// What a table has beside columns and indexes, in words, but for the foreign keys and partitions that
/// are a benchmark's.
pub(crate) fn additions(
    found: &TableDescription,
    is_its_key: impl Fn(&ForeignKey) -> bool,
    is_its_split: impl Fn(&Partitions) -> bool,
) -> Vec<String> {
    let keys = found.foreign_keys.iter().filter(|key| !is_its_key(key));
    let keys = keys.map(|k| format!("a foreign key ({}) to {}", k.columns.join(", "), k.parent));
    let split = found.partitions.iter().filter(|p| !is_its_split(p));
    let split = split.map(|p| format!("partitions by {} of {}", p.method, p.columns.join(", ")));
    keys.chain(split)
        .chain(found.extras.iter().cloned())
        .collect()
}

/// Whether a table is split by one column, in one of these ways.
pub(crate) fn is_split_by(partitions: &Partitions, column: &str, methods: &[&str]) -> bool {
    methods.contains(&partitions.method.as_str())
        && matches!(partitions.columns.as_slice(), [by] if by.eq_ignore_ascii_case(column))
}

/// Whether a table has all these columns, whatever their types and whatever others it has.
pub(crate) fn has_columns(found: &TableDescription, names: &[&str]) -> bool {
    names.iter().all(|name| {
        let is = |column: &Column| column.name.eq_ignore_ascii_case(name);
        found.columns.iter().any(is)
    })
}
