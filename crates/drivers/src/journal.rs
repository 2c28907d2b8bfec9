//! The journal of a load, kept in the target: which chunks of which tables are committed.
//!
//! A chunk's rows and its journal row are committed together, so a load that was killed goes on
//! where it stopped, and no row is ever loaded twice. The journal exists only while a load goes
//! on.

use crate::{RowSet, Session};
use std::collections::BTreeMap;
use tidemark_core::{DbError, ErrorClass, Protocol};

/// The journal's table. Tidemark makes and drops it; nobody else's table is called so.
pub const JOURNAL_TABLE: &str = "tidemark_load_journal";

/// Chunks that are committed: per table, first row and number of rows.
pub type Chunks = BTreeMap<String, Vec<(u64, u64)>>;

/// Makes the journal when there is none.
///
/// # Errors
/// The server's error.
pub async fn create(session: &mut Session) -> Result<(), DbError> {
    // A journal that ROLLBACK leaves alone would tell of rows that are not there.
    let engine = match session.dialect().engine().protocol() {
        Protocol::Mysql => " ENGINE=InnoDB",
        Protocol::Postgres | Protocol::Sqlite => "",
    };
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS {JOURNAL_TABLE} (table_name VARCHAR(64) NOT NULL, \
         first_row BIGINT NOT NULL, row_count BIGINT NOT NULL, \
         PRIMARY KEY (table_name, first_row)){engine}"
    );
    session.query(&sql).await.map(drop)
}

/// The committed chunks; `None` when there is no journal.
///
/// # Errors
/// The server's error.
pub async fn read(session: &mut Session) -> Result<Option<Chunks>, DbError> {
    let sql = format!("SELECT table_name, first_row, row_count FROM {JOURNAL_TABLE}");
    let rows = match session.query(&sql).await {
        Ok(rows) => rows,
        Err(e) if e.class == ErrorClass::Missing => return Ok(None),
        Err(e) => return Err(e),
    };
    Ok(Some(chunks(&rows)))
}

fn chunks(rows: &RowSet) -> Chunks {
    let mut chunks = Chunks::new();
    for row in 0..rows.len() {
        let number = |column| rows.int(row, column).and_then(|n| u64::try_from(n).ok());
        if let (Some(table), Some(first), Some(count)) = (rows.text(row, 0), number(1), number(2)) {
            chunks.entry(table).or_default().push((first, count));
        }
    }
    chunks
}

/// Notes a chunk; within the transaction that loads it.
///
/// # Errors
/// The server's error.
pub async fn note(
    session: &mut Session,
    table: &str,
    first: u64,
    rows: u64,
) -> Result<(), DbError> {
    let sql = format!(
        "INSERT INTO {JOURNAL_TABLE} (table_name, first_row, row_count) VALUES ({}, {first}, {rows})",
        text(session, table)
    );
    session.query(&sql).await.map(drop)
}

/// Forgets a table's chunks.
///
/// # Errors
/// The server's error.
pub async fn forget(session: &mut Session, table: &str) -> Result<(), DbError> {
    let sql = format!(
        "DELETE FROM {JOURNAL_TABLE} WHERE table_name = {}",
        text(session, table)
    );
    match session.query(&sql).await {
        Err(e) if e.class == ErrorClass::Missing => Ok(()),
        other => other.map(drop),
    }
}

/// Drops the journal when no table's load is unfinished.
///
/// # Errors
/// The server's error.
pub async fn drop_if_empty(session: &mut Session) -> Result<(), DbError> {
    match read(session).await? {
        Some(chunks) if chunks.is_empty() => session
            .query(&format!("DROP TABLE {JOURNAL_TABLE}"))
            .await
            .map(drop),
        _ => Ok(()),
    }
}

fn text(session: &Session, value: &str) -> String {
    let mut out = Vec::new();
    session
        .dialect()
        .write_literal(crate::Value::Text(value), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
