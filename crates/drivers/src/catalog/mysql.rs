//! The MySQL family's catalog: `information_schema`, of the current database.

use super::description::SYSTEM_VERSIONING;
use super::{
    Column, ForeignKey, Index, Partitions, Reference, TableDescription, flag, literal, normal_type,
    text,
};
use crate::{RowSet, Session};
use tidemark_core::DbError;

pub(super) const LIST_TABLES: &str = "SELECT TABLE_NAME FROM information_schema.TABLES \
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') \
     ORDER BY TABLE_NAME";

pub(super) async fn describe(
    session: &mut Session,
    table: &str,
) -> Result<Option<TableDescription>, DbError> {
    let of_table = format!(
        "TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
        literal(session, table)
    );
    let found = session
        .query(&format!(
            "SELECT TABLE_NAME, TABLE_COMMENT, TABLE_TYPE FROM information_schema.TABLES \
             WHERE {of_table}"
        ))
        .await?;
    let Some(name) = found.text(0, 0) else {
        return Ok(None);
    };
    let columns = session
        .query(&format!(
            "SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE = 'YES', \
             EXTRA LIKE '%auto_increment%', COLUMN_DEFAULT \
             FROM information_schema.COLUMNS WHERE {of_table} ORDER BY ORDINAL_POSITION"
        ))
        .await?;
    let parts = session
        .query(&format!(
            "SELECT INDEX_NAME, COLUMN_NAME, NON_UNIQUE = 0 FROM information_schema.STATISTICS \
             WHERE {of_table} ORDER BY INDEX_NAME, SEQ_IN_INDEX"
        ))
        .await?;
    let beyond = session.query(&beyond(&literal(session, table))).await?;
    let (primary_key, indexes) = indexes(&parts);
    let mut description = TableDescription {
        name,
        columns: (0..columns.len()).map(|r| column(&columns, r)).collect(),
        primary_key,
        indexes,
        comment: text(&found, 0, 1),
        ..TableDescription::default()
    };
    match found.text(0, 2).as_deref() {
        Some("VIEW" | "SYSTEM VIEW") => description.no_table = Some("a view"),
        Some("SEQUENCE") => description.no_table = Some("a sequence"),
        Some("SYSTEM VERSIONED") => description.extras.push(SYSTEM_VERSIONING.into()),
        _ => {}
    }
    add_beyond(&mut description, &beyond);
    Ok(Some(description))
}

/// What a table has beside columns and indexes: what it is, its name, a column, and what it refers to.
fn beyond(table: &str) -> String {
    format!(
        "SELECT 'foreign key', CONSTRAINT_NAME, COLUMN_NAME, \
         CASE WHEN REFERENCED_TABLE_SCHEMA = DATABASE() THEN REFERENCED_TABLE_NAME \
         ELSE CONCAT(REFERENCED_TABLE_SCHEMA, '.', REFERENCED_TABLE_NAME) END, ORDINAL_POSITION \
         FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() \
         AND TABLE_NAME = {table} AND REFERENCED_TABLE_NAME IS NOT NULL \
         UNION ALL SELECT 'check', CONSTRAINT_NAME, '', '', 0 \
         FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = DATABASE() \
         AND TABLE_NAME = {table} AND CONSTRAINT_TYPE = 'CHECK' \
         UNION ALL SELECT 'trigger', TRIGGER_NAME, '', '', 0 FROM information_schema.TRIGGERS \
         WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = {table} \
         UNION ALL SELECT DISTINCT 'partitions', PARTITION_METHOD, PARTITION_EXPRESSION, \
         COALESCE(SUBPARTITION_METHOD, ''), 0 FROM information_schema.PARTITIONS \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {table} \
         AND PARTITION_METHOD IS NOT NULL ORDER BY 1, 2, 5"
    )
}

fn add_beyond(table: &mut TableDescription, beyond: &RowSet) {
    let mut last_key = None;
    for row in 0..beyond.len() {
        let name = beyond.text(row, 1).unwrap_or_default();
        let column = beyond.text(row, 2).unwrap_or_default();
        let other = beyond.text(row, 3).unwrap_or_default();
        match beyond.text(row, 0).as_deref() {
            Some("foreign key") => {
                let is_more = last_key.as_ref() == Some(&name);
                last_key = Some(name);
                match table.foreign_keys.last_mut().filter(|_| is_more) {
                    Some(key) => key.columns.push(column),
                    None => table.foreign_keys.push(ForeignKey {
                        columns: vec![column],
                        parent: other,
                    }),
                }
            }
            Some("check") => table.extras.push(format!("a CHECK constraint {name}")),
            Some("trigger") => table.extras.push(format!("a trigger {name}")),
            Some("partitions") => {
                table.partitions = Some(Partitions {
                    method: name.to_ascii_lowercase(),
                    columns: partitioning_columns(&column),
                });
                if !other.is_empty() {
                    table.extras.push("subpartitions".into());
                }
            }
            _ => {}
        }
    }
}

/// Columns of a PARTITION_EXPRESSION. MariaDB quotes them as the session's sql_mode has it.
fn partitioning_columns(expression: &str) -> Vec<String> {
    let columns = expression.split(',');
    columns
        .map(|c| c.trim_matches(['`', '"', ' ']).into())
        .collect()
}

/// Foreign keys that refer to tables of this database, of whatever database they are.
pub(super) async fn references(session: &mut Session) -> Result<Vec<Reference>, DbError> {
    let rows = session
        .query(
            "SELECT DISTINCT REFERENCED_TABLE_NAME, TABLE_NAME, TABLE_SCHEMA, \
             TABLE_SCHEMA = DATABASE() FROM information_schema.KEY_COLUMN_USAGE \
             WHERE REFERENCED_TABLE_SCHEMA = DATABASE() ORDER BY 1, 3, 2",
        )
        .await?;
    let reference = |row: usize| {
        let (here, table) = (flag(&rows, row, 3), rows.text(row, 1)?);
        Some(Reference {
            parent: rows.text(row, 0)?,
            shown: match here {
                true => table.clone(),
                false => format!("{}.{table}", rows.text(row, 2)?),
            },
            child: here.then_some(table),
        })
    };
    Ok((0..rows.len()).filter_map(reference).collect())
}

/// A table's comment.
pub(super) fn mark(table: &str) -> String {
    format!(
        "SELECT TABLE_COMMENT FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {table}"
    )
}

pub(super) fn foreign_keys(table: &str) -> String {
    format!(
        "SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS \
         WHERE CONSTRAINT_TYPE = 'FOREIGN KEY' AND TABLE_SCHEMA = DATABASE() \
         AND TABLE_NAME = {table} ORDER BY CONSTRAINT_NAME"
    )
}

/// A table of an engine that tells nothing of transactions is taken for one without.
pub(super) async fn is_transactional(session: &mut Session, table: &str) -> Result<bool, DbError> {
    let sql = format!(
        "SELECT e.TRANSACTIONS = 'YES' FROM information_schema.TABLES t \
         JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE \
         WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = {}",
        literal(session, table)
    );
    let rows = session.query(&sql).await?;
    Ok(flag(&rows, 0, 0))
}

fn column(rows: &RowSet, row: usize) -> Column {
    // MariaDB shows a default as an expression, 'NULL' where there is none; MySQL shows the value.
    let default = rows.text(row, 4).filter(|d| d != "NULL");
    Column {
        name: rows.text(row, 0).unwrap_or_default(),
        type_name: normal_type(&rows.text(row, 1).unwrap_or_default()),
        nullable: flag(rows, row, 2),
        auto_increment: flag(rows, row, 3),
        default,
    }
}

fn indexes(parts: &RowSet) -> (Vec<String>, Vec<Index>) {
    let mut primary_key = Vec::new();
    let mut indexes: Vec<Index> = Vec::new();
    for row in 0..parts.len() {
        let name = parts.text(row, 0).unwrap_or_default();
        let column = parts.text(row, 1).unwrap_or_default();
        if name == "PRIMARY" {
            primary_key.push(column);
        } else {
            match indexes.last_mut().filter(|i| i.name == name) {
                Some(index) => index.columns.push(column),
                None => indexes.push(Index {
                    name,
                    columns: vec![column],
                    unique: flag(parts, row, 2),
                }),
            }
        }
    }
    (primary_key, indexes)
}

#[cfg(test)]
mod tests {
    use super::partitioning_columns;

    #[test]
    fn columns_of_partitions_are_read_in_either_quotes() {
        for text in ["`w_id`, `d_id`", "\"w_id\",\"d_id\"", "w_id,d_id"] {
            assert_eq!(partitioning_columns(text), ["w_id", "d_id"], "{text}");
        }
    }
}
