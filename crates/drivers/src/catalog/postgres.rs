//! The PostgreSQL family's catalog: `pg_catalog`, of the current schema.

use super::{
    Column, ForeignKey, Index, Partitions, Reference, TableDescription, flag, literal, normal_type,
    text,
};
use crate::{RowSet, Session};
use std::collections::BTreeMap;
use tidemark_core::DbError;

pub(super) const LIST_TABLES: &str = "SELECT c.relname FROM pg_catalog.pg_class c \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition \
     ORDER BY c.relname";

/// The current schema, if it has something of that name.
pub(super) async fn schema_of(
    session: &mut Session,
    table: &str,
) -> Result<Option<String>, DbError> {
    let found = session
        .query(&format!(
            "SELECT n.nspname FROM pg_catalog.pg_class c \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = current_schema() AND c.relkind <> 't' AND c.relname = {}",
            literal(session, table)
        ))
        .await?;
    Ok(found.text(0, 0))
}

pub(super) async fn describe(
    session: &mut Session,
    table: &str,
) -> Result<Option<TableDescription>, DbError> {
    // All that share their names with tables.
    let found = session
        .query(&format!(
            "SELECT c.oid, c.relname, obj_description(c.oid, 'pg_class'), \
             CAST(c.relkind AS TEXT), CASE WHEN c.relrowsecurity THEN 1 ELSE 0 END, \
             CASE WHEN c.relispartition THEN 1 ELSE 0 END \
             FROM pg_catalog.pg_class c \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = current_schema() AND c.relkind <> 't' \
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
    let kind = found.text(0, 3).unwrap_or_default();
    let beyond = session.query(&beyond(oid, &kind)).await?;
    let (mut table, names) = assemble(name, text(&found, 0, 2), &columns, &indexes);
    table.no_table = match kind.as_str() {
        "v" => Some("a view"),
        "m" => Some("a materialized view"),
        "f" => Some("a foreign table"),
        "S" => Some("a sequence"),
        "c" => Some("a type"),
        "i" | "I" => Some("an index"),
        _ => None,
    };
    if flag(&found, 0, 4) {
        table.extras.push("row-level security".into());
    }
    add_beyond(&mut table, &beyond, &names, flag(&found, 0, 5));
    Ok(Some(table))
}

/// What a table has beside columns and indexes: what it is, its name, columns by their numbers, and the
/// other table.
fn beyond(oid: i64, kind: &str) -> String {
    let mut sql = format!(
        "SELECT 'foreign key', k.conname, CAST(k.conkey AS TEXT), \
         CAST(CAST(k.confrelid AS regclass) AS TEXT) FROM pg_catalog.pg_constraint k \
         WHERE k.conrelid = {oid} AND k.contype = 'f' AND COALESCE(k.conparentid, 0) = 0 \
         UNION ALL SELECT 'constraint', k.conname, CAST(k.contype AS TEXT), '' \
         FROM pg_catalog.pg_constraint k WHERE k.conrelid = {oid} AND k.contype IN ('c', 'x') \
         AND k.conname NOT LIKE 'check_crdb_internal_%' \
         UNION ALL SELECT 'trigger', g.tgname, '', '' FROM pg_catalog.pg_trigger g \
         WHERE g.tgrelid = {oid} AND NOT g.tgisinternal \
         UNION ALL SELECT 'rule', w.rulename, '', '' FROM pg_catalog.pg_rewrite w \
         WHERE w.ev_class = {oid} AND w.rulename <> '_RETURN' \
         UNION ALL SELECT 'parent', '', '', CAST(CAST(h.inhparent AS regclass) AS TEXT) \
         FROM pg_catalog.pg_inherits h WHERE h.inhrelid = {oid}"
    );
    let mut child = "child";
    if kind == "p" {
        child = "part";
        sql += &format!(
            " UNION ALL SELECT 'partitions', CAST(p.partstrat AS TEXT), \
             CAST(p.partattrs AS TEXT), '' FROM pg_catalog.pg_partitioned_table p \
             WHERE p.partrelid = {oid}"
        );
    }
    sql + &format!(
        " UNION ALL SELECT '{child}', '', '', CAST(CAST(h.inhrelid AS regclass) AS TEXT) \
         FROM pg_catalog.pg_inherits h WHERE h.inhparent = {oid} ORDER BY 1, 2, 4"
    )
}

fn add_beyond(
    table: &mut TableDescription,
    beyond: &RowSet,
    names: &BTreeMap<Option<i64>, String>,
    is_partition: bool,
) {
    for row in 0..beyond.len() {
        let name = beyond.text(row, 1).unwrap_or_default();
        let detail = beyond.text(row, 2).unwrap_or_default();
        let other = beyond.text(row, 3).unwrap_or_default();
        let columns = || {
            let named = |n| names.get(&Some(n)).cloned().unwrap_or_default();
            numbers(&detail).map(named).collect()
        };
        let extra = match beyond.text(row, 0).as_deref() {
            Some("foreign key") => {
                table.foreign_keys.push(ForeignKey {
                    columns: columns(),
                    parent: other,
                });
                continue;
            }
            Some("partitions") => {
                table.partitions = Some(Partitions {
                    method: match name.as_str() {
                        "h" => "hash".into(),
                        "r" => "range".into(),
                        "l" => "list".into(),
                        _ => name,
                    },
                    columns: columns(),
                });
                continue;
            }
            Some("constraint") if detail == "x" => format!("an exclusion constraint {name}"),
            Some("constraint") => format!("a CHECK constraint {name}"),
            Some("trigger") => format!("a trigger {name}"),
            Some("rule") => format!("a rule {name}"),
            Some("parent") if is_partition => format!("its place as a partition of {other}"),
            Some("parent") => format!("columns that it inherits from {other}"),
            Some("part") if is_part(&table.name, &other) => continue,
            Some("part") => format!("a partition {other}"),
            Some("child") => format!("a table {other} that inherits from it"),
            _ => continue,
        };
        table.extras.push(extra);
    }
}

/// Whether a partition is called as benchmarks call theirs: others, which go with the table, too, may have
/// been tables of the user's before.
fn is_part(table: &str, partition: &str) -> bool {
    let name = partition.trim_matches('"');
    let number = name.strip_prefix(table).and_then(|n| n.strip_prefix("_p"));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Foreign keys that refer to tables of this schema, of whatever schema they are. Those of partitions
/// count as their table's, and those that the server made for partitions not at all.
pub(super) async fn references(session: &mut Session) -> Result<Vec<Reference>, DbError> {
    let rows = session
        .query(
            "SELECT DISTINCT COALESCE(tp.relname, t.relname), COALESCE(cp.relname, c.relname), \
             CAST(CAST(k.conrelid AS regclass) AS TEXT), \
             CASE WHEN c.relnamespace = t.relnamespace THEN 1 ELSE 0 END \
             FROM pg_catalog.pg_constraint k \
             JOIN pg_catalog.pg_class t ON t.oid = k.confrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
             JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
             LEFT JOIN pg_catalog.pg_inherits th ON th.inhrelid = t.oid AND t.relispartition \
             LEFT JOIN pg_catalog.pg_class tp ON tp.oid = th.inhparent \
             LEFT JOIN pg_catalog.pg_inherits ch ON ch.inhrelid = c.oid AND c.relispartition \
             LEFT JOIN pg_catalog.pg_class cp ON cp.oid = ch.inhparent \
             WHERE k.contype = 'f' AND COALESCE(k.conparentid, 0) = 0 \
             AND n.nspname = current_schema() ORDER BY 1, 3",
        )
        .await?;
    let reference = |row: usize| {
        Some(Reference {
            parent: rows.text(row, 0)?,
            child: rows.text(row, 1).filter(|_| flag(&rows, row, 3)),
            shown: rows.text(row, 2)?,
        })
    };
    Ok((0..rows.len()).filter_map(reference).collect())
}

/// A table's comment.
pub(super) fn mark(table: &str) -> String {
    format!(
        "SELECT obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c \
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = current_schema() AND c.relname = {table}"
    )
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
) -> (TableDescription, BTreeMap<Option<i64>, String>) {
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
    (table, names)
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
    fn partitions_of_benchmarks_are_told_from_others() {
        for part in ["sbtest1_p0", "\"sbtest1_p12\""] {
            assert!(is_part("sbtest1", part), "{part}");
        }
        for other in [
            "sbtest1_p",
            "sbtest1_old",
            "mine.sbtest1_p0",
            "sbtest2_p0",
            "p1",
        ] {
            assert!(!is_part("sbtest1", other), "{other}");
        }
    }

    #[test]
    fn both_forms_of_a_vector_are_read() {
        assert_eq!(numbers("1 2").collect::<Vec<_>>(), [1, 2]);
        assert_eq!(numbers("{3,0}").collect::<Vec<_>>(), [3, 0]);
        assert_eq!(numbers("").count(), 0);
    }
}
