//! The PostgreSQL family's catalog: `pg_catalog`, of the current schema.

use super::{Column, Index, TableDescription, flag, literal, normal_type, text};
use crate::{RowSet, Session};
use std::collections::BTreeMap;
use tidemark_core::DbError;

pub(super) const LIST_TABLES: &str = "SELECT c.relname FROM pg_catalog.pg_class c \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition \
     ORDER BY c.relname";

pub(super) async fn describe(
    session: &mut Session,
    table: &str,
) -> Result<Option<TableDescription>, DbError> {
    // Tables, partitioned tables, views, materialised views, foreign tables.
    let found = session
        .query(&format!(
            "SELECT c.oid, c.relname, obj_description(c.oid, 'pg_class') \
             FROM pg_catalog.pg_class c \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
             AND c.relname = {}",
            literal(session, table)
        ))
        .await?;
    let (Some(oid), Some(name)) = (found.int(0, 0), found.text(0, 1)) else {
        return Ok(None);
    };
    // Hash-sharded keys of CockroachDB are computed in hidden columns of this prefix.
    let columns = session
        .query(&format!(
            "SELECT a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), \
             CASE WHEN a.attnotnull THEN 0 ELSE 1 END, \
             CASE WHEN a.attidentity IN ('a', 'd') THEN 1 ELSE 0 END, \
             pg_get_expr(d.adbin, d.adrelid) \
             FROM pg_catalog.pg_attribute a \
             LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
             WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped \
             AND a.attname NOT LIKE 'crdb_internal_%' ORDER BY a.attnum"
        ))
        .await?;
    let indexes = session
        .query(&format!(
            "SELECT i.relname, CASE WHEN x.indisprimary THEN 1 ELSE 0 END, \
             CASE WHEN x.indisunique THEN 1 ELSE 0 END, x.indnkeyatts, CAST(x.indkey AS TEXT) \
             FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid \
             WHERE x.indrelid = {oid} ORDER BY i.relname"
        ))
        .await?;
    Ok(Some(assemble(name, text(&found, 0, 2), &columns, &indexes)))
}

pub(super) fn foreign_keys(table: &str) -> String {
    format!(
        "SELECT k.conname FROM pg_catalog.pg_constraint k \
         JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = current_schema() AND k.contype = 'f' AND c.relname = {table} \
         ORDER BY k.conname"
    )
}

fn assemble(
    name: String,
    comment: Option<String>,
    columns: &RowSet,
    indexes: &RowSet,
) -> TableDescription {
    let mut table = TableDescription {
        name,
        comment,
        ..TableDescription::default()
    };
    let mut names = BTreeMap::new();
    for row in 0..columns.len() {
        let column = column(columns, row);
        names.insert(columns.int(row, 0), column.name.clone());
        table.columns.push(column);
    }
    for row in 0..indexes.len() {
        let keys = usize::try_from(indexes.int(row, 3).unwrap_or(0)).unwrap_or(0);
        let columns: Vec<String> = numbers(&indexes.text(row, 4).unwrap_or_default())
            .take(keys)
            .map(|n| names.get(&Some(n)).cloned().unwrap_or_default())
            .collect();
        if flag(indexes, row, 1) {
            table.primary_key = columns.into_iter().filter(|c| !c.is_empty()).collect();
        } else {
            table.indexes.push(Index {
                name: indexes.text(row, 0).unwrap_or_default(),
                columns,
                unique: flag(indexes, row, 2),
            });
        }
    }
    table
}

fn column(rows: &RowSet, row: usize) -> Column {
    let default = rows.text(row, 5);
    // What SERIAL becomes: a sequence, or CockroachDB's row ids.
    let generated = default
        .as_deref()
        .is_some_and(|d| d.starts_with("nextval(") || d.starts_with("unique_rowid("));
    Column {
        name: rows.text(row, 1).unwrap_or_default(),
        type_name: normal_type(&rows.text(row, 2).unwrap_or_default()),
        nullable: flag(rows, row, 3),
        auto_increment: generated || flag(rows, row, 4),
        default: default.filter(|_| !generated),
    }
}

/// The column numbers of an int2vector: `1 2` or `{1,2}`.
fn numbers(vector: &str) -> impl Iterator<Item = i64> {
    vector
        .split(|c: char| !c.is_ascii_digit() && c != '-')
        .filter_map(|n| n.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_vector_are_read() {
        assert_eq!(numbers("1 2").collect::<Vec<_>>(), [1, 2]);
        assert_eq!(numbers("{3,0}").collect::<Vec<_>>(), [3, 0]);
        assert_eq!(numbers("").count(), 0);
    }
}
