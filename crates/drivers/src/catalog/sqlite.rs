//! SQLite's catalog: `sqlite_schema` and pragmas, and the table of marks.

use super::{Column, ForeignKey, Index, Reference, TableDescription, flag, literal, normal_type};
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
            "SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') \
             AND name = {} COLLATE NOCASE",
            literal(session, table)
        ))
        .await?;
    let Some(name) = found.text(0, 0) else {
        return Ok(None);
    };
    let quoted = literal(session, &name);
    // The other pragma leaves out columns that are computed.
    let columns = session
        .query(&format!(
            "SELECT name, type, \"notnull\", pk, dflt_value FROM pragma_table_xinfo({quoted}) \
             ORDER BY cid"
        ))
        .await?;
    let parts = session
        .query(&format!(
            "SELECT l.name, i.name, l.\"unique\" FROM pragma_index_list({quoted}) l \
             JOIN pragma_index_info(l.name) i WHERE l.origin <> 'pk' ORDER BY l.name, i.seqno"
        ))
        .await?;
    let beyond = session
        .query(&format!(
            "SELECT id, \"from\", \"table\", seq FROM pragma_foreign_key_list({quoted}) \
             UNION ALL SELECT -1, name, '', 0 FROM sqlite_schema \
             WHERE type = 'trigger' AND tbl_name = {quoted} COLLATE NOCASE ORDER BY 1, 4, 2"
        ))
        .await?;
    let comment = mark(session, &quoted).await?;
    let (columns, primary_key) = columns_and_key(&columns);
    let mut table = TableDescription {
        name,
        columns,
        primary_key,
        indexes: indexes(&parts),
        comment,
        ..TableDescription::default()
    };
    if found.text(0, 1).as_deref() == Some("view") {
        table.no_table = Some("a view");
    } else {
        add_beyond(&mut table, &beyond, &found.text(0, 2).unwrap_or_default());
    }
    Ok(Some(table))
}

fn add_beyond(table: &mut TableDescription, beyond: &RowSet, definition: &str) {
    for row in 0..beyond.len() {
        let name = beyond.text(row, 1).unwrap_or_default();
        let key = beyond.int(row, 0).unwrap_or(-1);
        if key < 0 {
            table.extras.push(format!("a trigger {name}"));
        } else if beyond.int(row, 3) == Some(0) {
            table.foreign_keys.push(ForeignKey {
                columns: vec![name],
                parent: beyond.text(row, 2).unwrap_or_default(),
            });
        } else if let Some(key) = table.foreign_keys.last_mut() {
            key.columns.push(name);
        }
    }
    // No pragma tells of these.
    if has_word(definition, "check") {
        table.extras.push("a CHECK constraint".into());
    }
    if has_word(definition, "virtual") {
        table.extras.push("a virtual table or column".into());
    }
}

/// Whether a definition has a keyword outside names in quotes, texts and comments.
fn has_word(sql: &str, word: &str) -> bool {
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let closed = |open: usize, end: &str| {
            let body = rest.get(open..).unwrap_or_default();
            body.find(end).map_or("", |at| &body[at + end.len()..])
        };
        // A quote that is doubled ends one text and begins the next.
        rest = match first {
            '\'' | '"' | '`' => closed(1, &first.to_string()),
            '[' => closed(1, "]"),
            '-' if rest.starts_with("--") => closed(2, "\n"),
            '/' if rest.starts_with("/*") => closed(2, "*/"),
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let (found, after) = rest.split_at(end.unwrap_or(rest.len()));
                if found.eq_ignore_ascii_case(word) {
                    return true;
                }
                after
            }
            c => &rest[c.len_utf8()..],
        };
    }
    false
}

/// Foreign keys of all tables.
pub(super) async fn references(session: &mut Session) -> Result<Vec<Reference>, DbError> {
    let rows = session
        .query(
            "SELECT DISTINCT f.\"table\", m.name FROM sqlite_schema m \
             JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY 1, 2",
        )
        .await?;
    let reference = |row: usize| {
        let child = rows.text(row, 1)?;
        Some(Reference {
            parent: rows.text(row, 0)?,
            shown: child.clone(),
            child: Some(child),
        })
    };
    Ok((0..rows.len()).filter_map(reference).collect())
}

/// Whether the session enforces foreign keys.
pub(super) async fn enforces_keys(session: &mut Session) -> Result<bool, DbError> {
    let rows = session.query("PRAGMA foreign_keys").await?;
    Ok(flag(&rows, 0, 0))
}

/// Has the session enforce foreign keys, or not.
///
/// # Errors
/// SQLite's error, and when it goes on as before: within a transaction it says nothing.
pub(super) async fn enforce_keys(session: &mut Session, enforce: bool) -> Result<(), DbError> {
    let word = if enforce { "ON" } else { "OFF" };
    session
        .query(&format!("PRAGMA foreign_keys={word}"))
        .await?;
    match enforces_keys(session).await? == enforce {
        true => Ok(()),
        false => Err(DbError::new(
            ErrorClass::Fatal,
            "foreign_keys",
            format!("PRAGMA foreign_keys={word} had no effect; no table was dropped"),
        )),
    }
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

pub(super) async fn mark(session: &mut Session, table: &str) -> Result<Option<String>, DbError> {
    let sql = format!(
        "SELECT m.mark FROM {MARKS_TABLE} m JOIN sqlite_schema s \
         ON s.type = 'table' AND s.name = m.table_name AND s.sql = m.definition \
         WHERE m.table_name = {table} COLLATE NOCASE"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_told_from_names_and_texts() {
        for (sql, has) in [
            ("CREATE TABLE t (id INTEGER CHECK (id > 0))", true),
            ("CREATE TABLE t (id INTEGER, constraint c check(id))", true),
            (
                "CREATE TABLE t (\"check\" INTEGER, [check] INTEGER, `check` INTEGER)",
                false,
            ),
            (
                "CREATE TABLE t (checked INTEGER DEFAULT 'it''s a check')",
                false,
            ),
            (
                "CREATE TABLE t (id INTEGER -- check\n, n INTEGER /* check */)",
                false,
            ),
            ("CREATE TABLE t (id INTEGER /* it's */ CHECK (id))", true),
            ("CREATE TABLE t ('unclosed check", false),
            ("", false),
        ] {
            assert_eq!(has_word(sql, "check"), has, "{sql}");
        }
    }
}
