//! The MySQL family's catalog: `information_schema`, of the current database.

use super::{Column, Index, TableDescription, flag, literal, normal_type, text};
use crate::{RowSet, Session};
use tidemark_core::DbError;

pub(super) const LIST_TABLES: &str = "SELECT TABLE_NAME FROM information_schema.TABLES \
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME";

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
            "SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES WHERE {of_table}"
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
    let (primary_key, indexes) = indexes(&parts);
    Ok(Some(TableDescription {
        name,
        columns: (0..columns.len()).map(|r| column(&columns, r)).collect(),
        primary_key,
        indexes,
        comment: text(&found, 0, 1),
    }))
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
