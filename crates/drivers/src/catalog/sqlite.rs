//! SQLite's catalog: `sqlite_schema` and pragmas, and the table of marks.

use super::{Column, Index, TableDescription, flag, literal, normal_type};
use crate::{RowSet, Session, dialect};
use tidemark_core::{DbError, ErrorClass};

/// Where marks are kept. A mark counts only while its table's definition is the one it was given
/// for: a table of the user's that came later under the same name is not marked by it.
pub const MARKS_TABLE: &str = dialect::MARKS_TABLE;

pub(super) fn list_tables() -> String {
    format!(
        "SELECT name FROM sqlite_schema WHERE type = 'table' \
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '{MARKS_TABLE}' ORDER BY name"
    )
}

pub(super) async fn describe(
    session: &mut Session,
    table: &str,
) -> Result<Option<TableDescription>, DbError> {
    // SQLite's names are equal in any case of letters.
    let found = session
        .query(&format!(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') \
             AND name = {} COLLATE NOCASE",
            literal(session, table)
        ))
        .await?;
    let Some(name) = found.text(0, 0) else {
        return Ok(None);
    };
    let quoted = literal(session, &name);
    let columns = session
        .query(&format!(
            "SELECT name, type, \"notnull\", pk, dflt_value FROM pragma_table_info({quoted}) \
             ORDER BY cid"
        ))
        .await?;
    let parts = session
        .query(&format!(
            "SELECT l.name, i.name, l.\"unique\" FROM pragma_index_list({quoted}) l \
             JOIN pragma_index_info(l.name) i WHERE l.origin <> 'pk' ORDER BY l.name, i.seqno"
        ))
        .await?;
    let comment = mark(session, &quoted).await?;
    let (columns, primary_key) = columns_and_key(&columns);
    Ok(Some(TableDescription {
        name,
        columns,
        primary_key,
        indexes: indexes(&parts),
        comment,
    }))
}

fn columns_and_key(rows: &RowSet) -> (Vec<Column>, Vec<String>) {
    // The table's own rows come first: pk is the place within the key, counted from 1.
    let mut key: Vec<(i64, String)> = (0..rows.len())
        .filter_map(|row| Some((rows.int(row, 3).filter(|place| *place > 0)?, row)))
        .filter_map(|(place, row)| Some((place, rows.text(row, 0)?)))
        .collect();
    key.sort();
    let key: Vec<String> = key.into_iter().map(|(_, name)| name).collect();
    let columns = (0..rows.len())
        .map(|row| {
            let name = rows.text(row, 0).unwrap_or_default();
            let type_name = normal_type(&rows.text(row, 1).unwrap_or_default());
            let declared = rows.text(row, 1).unwrap_or_default();
            Column {
                // Only a sole key declared exactly INTEGER is the row id that SQLite fills
                // (sqlite.org/lang_createtable.html, 5).
                auto_increment: key == [name.clone()] && declared.eq_ignore_ascii_case("integer"),
                name,
                type_name,
                nullable: !flag(rows, row, 2),
                default: rows.text(row, 4),
            }
        })
        .collect();
    (columns, key)
}

fn indexes(parts: &RowSet) -> Vec<Index> {
    let mut indexes: Vec<Index> = Vec::new();
    for row in 0..parts.len() {
        let name = parts.text(row, 0).unwrap_or_default();
        let column = parts.text(row, 1).unwrap_or_default();
        match indexes.last_mut().filter(|i| i.name == name) {
            Some(index) => index.columns.push(column),
            None => indexes.push(Index {
                name,
                columns: vec![column],
                unique: flag(parts, row, 2),
            }),
        }
    }
    indexes
}

async fn mark(session: &mut Session, table: &str) -> Result<Option<String>, DbError> {
    let sql = format!(
        "SELECT m.mark FROM {MARKS_TABLE} m JOIN sqlite_schema s \
         ON s.type = 'table' AND s.name = m.table_name AND s.sql = m.definition \
         WHERE m.table_name = {table}"
    );
    match session.query(&sql).await {
        Ok(rows) => Ok(rows.text(0, 0)),
        Err(e) if e.class == ErrorClass::Missing => Ok(None),
        Err(e) => Err(e),
    }
}

/// Forgets a table's mark, and drops the table of marks with the last one.
pub(super) async fn forget_mark(session: &mut Session, table: &str) -> Result<(), DbError> {
    let table = literal(session, table);
    let forget = format!("DELETE FROM {MARKS_TABLE} WHERE table_name = {table} COLLATE NOCASE");
    match session.query(&forget).await {
        Err(e) if e.class == ErrorClass::Missing => return Ok(()),
        forgotten => forgotten?,
    };
    let left = super::row_count(session, MARKS_TABLE).await?;
    if left == 0 {
        session
            .query(&format!("DROP TABLE IF EXISTS {MARKS_TABLE}"))
            .await?;
    }
    Ok(())
}
