//! What tables a target has, what they look like, and which of them Tidemark made.
//!
//! Only the current database (MySQL family), the current schema (PostgreSQL family) or the file
//! (SQLite) is looked at: that is where a workload's tables are made. Names are given unquoted and
//! as they are stored.
//!
//! A *mark* is a text that Tidemark leaves on a table that it made, so that it can prove later
//! that the table is its own to drop. It is the table's comment; SQLite has none and keeps marks
//! in a table beside ([`sqlite::MARKS_TABLE`]).

mod contents;
mod description;
mod dropping;
mod mysql;
mod postgres;
mod sqlite;

pub use contents::{Summed, contents, contents_of, contents_with, rows_in};
pub use description::{
    Column, ForeignKey, Index, Partitions, SYSTEM_VERSIONING, TableDescription, normal_type,
    secondary_indexes,
};
pub use dropping::{
    DropVerdict, Drops, Reference, drop_marked, drop_proven, empty_proven, referrers,
};
pub use sqlite::MARKS_TABLE;

use crate::engines::TableLocks;
use crate::{RowSet, Session, Value};
use tidemark_core::{DbError, ErrorClass, Protocol};

/// ER_KEY_DOES_NOT_EXISTS of MySQL.
const NO_SUCH_KEY: &str = "1176";

/// What a table looks like; `None` when there is none of that name. Views are described too,
/// because they occupy the name.
///
/// # Errors
/// The server's error.
pub async fn describe_table(
    session: &mut Session,
    table: &str,
) -> Result<Option<TableDescription>, DbError> {
    match session.dialect().engine().protocol() {
        Protocol::Mysql => mysql::describe(session, table).await,
        Protocol::Postgres => postgres::describe(session, table).await,
        Protocol::Sqlite => sqlite::describe(session, table).await,
    }
}

/// Whether there is a table or view of that name.
///
/// # Errors
/// The server's error.
pub async fn exists(session: &mut Session, table: &str) -> Result<bool, DbError> {
    describe_table(session, table).await.map(|t| t.is_some())
}

/// Names of all tables, sorted; without views, partitions and Tidemark's table of marks.
///
/// # Errors
/// The server's error.
pub async fn list_tables(session: &mut Session) -> Result<Vec<String>, DbError> {
    let sql = match session.dialect().engine().protocol() {
        Protocol::Mysql => mysql::LIST_TABLES.into(),
        Protocol::Postgres => postgres::LIST_TABLES.into(),
        Protocol::Sqlite => sqlite::list_tables(),
    };
    let rows = session.query(&sql).await?;
    Ok((0..rows.len())
        .filter_map(|row| rows.text(row, 0))
        .collect())
}

/// `COUNT(*)` of a table.
///
/// # Errors
/// The server's error; [`tidemark_core::ErrorClass::Missing`] when there is no such table.
pub async fn row_count(session: &mut Session, table: &str) -> Result<u64, DbError> {
    let table = located(session, table).await?;
    let all = format!("SELECT COUNT(*) FROM {table}");
    let rows = match session.dialect().of_engine().keeps_rows_by_key {
        // Left alone, the server counts in the smallest index. While transactions that are older
        // than it go on, InnoDB looks up each entry's row to see whether it counts: ten times the work.
        true => {
            let by_key = format!("{all} FORCE INDEX (PRIMARY)");
            match session.query(&by_key).await {
                Err(e) if e.code == NO_SUCH_KEY => session.query(&all).await?,
                counted => counted?,
            }
        }
        false => session.query(&all).await?,
    };
    count(&rows)
}

/// A table's quoted name; on the PostgreSQL family with the schema in which [`describe_table`] finds it,
/// so that no table of that name elsewhere is taken for it (temporary tables come first, and the search
/// path may name several schemas).
async fn located(session: &mut Session, table: &str) -> Result<String, DbError> {
    let found = match session.dialect().engine().protocol() {
        Protocol::Postgres => postgres::schema_of(session, table).await?,
        Protocol::Mysql | Protocol::Sqlite => None,
    };
    let quoted = session.dialect().quote(table);
    Ok(match found {
        Some(schema) => format!("{}.{quoted}", session.dialect().quote(&schema)),
        None => quoted,
    })
}

/// `COUNT(*)` of the rows whose integer column is at least the first bound and below the second.
///
/// # Errors
/// The server's error; [`tidemark_core::ErrorClass::Missing`] when there is no such table or
/// column.
pub async fn row_count_between(
    session: &mut Session,
    table: &str,
    column: &str,
    (from, below): (Option<i64>, Option<i64>),
) -> Result<u64, DbError> {
    let dialect = session.dialect();
    let (table, column) = (dialect.quote(table), dialect.quote(column));
    let from = from.map(|bound| format!("{column} >= {bound}"));
    let below = below.map(|bound| format!("{column} < {bound}"));
    let bounds: Vec<String> = from.into_iter().chain(below).collect();
    let mut sql = format!("SELECT COUNT(*) FROM {table}");
    if !bounds.is_empty() {
        sql.push_str(" WHERE ");
        sql.push_str(&bounds.join(" AND "));
    }
    count(&session.query(&sql).await?)
}

fn count(rows: &RowSet) -> Result<u64, DbError> {
    rows.int(0, 0)
        .and_then(|n| u64::try_from(n).ok())
        .ok_or_else(|| DbError::protocol("COUNT(*) returned no number"))
}

/// Smallest and largest value of an integer column; `None` when the table is empty.
///
/// # Errors
/// The server's error; [`tidemark_core::ErrorClass::Missing`] when there is no such table or
/// column.
pub async fn key_range(
    session: &mut Session,
    table: &str,
    column: &str,
) -> Result<Option<(i64, i64)>, DbError> {
    let column = session.dialect().quote(column);
    let table = located(session, table).await?;
    let rows = session
        .query(&format!("SELECT MIN({column}), MAX({column}) FROM {table}"))
        .await?;
    Ok(rows.int(0, 0).zip(rows.int(0, 1)))
}

/// Leaves a mark on a table, in place of an earlier one and of the table's comment. MySQL commits
/// an open transaction by it.
///
/// # Errors
/// The server's error.
pub async fn mark_table(session: &mut Session, table: &str, mark: &str) -> Result<(), DbError> {
    for sql in session.dialect().mark_table(table, mark) {
        session.query(&sql).await?;
    }
    Ok(())
}

/// A table's mark, or whatever comment the table has; `None` when it has none or is not there.
///
/// # Errors
/// The server's error.
pub async fn table_mark(session: &mut Session, table: &str) -> Result<Option<String>, DbError> {
    let name = literal(session, table);
    let sql = match session.dialect().engine().protocol() {
        Protocol::Mysql => mysql::mark(&name),
        Protocol::Postgres => postgres::mark(&name),
        Protocol::Sqlite => return sqlite::mark(session, &name).await,
    };
    Ok(text(&session.query(&sql).await?, 0, 0))
}

/// Names of a table's foreign keys; none on SQLite, which keeps no names of them.
///
/// # Errors
/// The server's error.
pub async fn foreign_keys(session: &mut Session, table: &str) -> Result<Vec<String>, DbError> {
    let name = literal(session, table);
    let sql = match session.dialect().engine().protocol() {
        Protocol::Mysql => mysql::foreign_keys(&name),
        Protocol::Postgres => postgres::foreign_keys(&name),
        Protocol::Sqlite => return Ok(Vec::new()),
    };
    let rows = session.query(&sql).await?;
    Ok((0..rows.len())
        .filter_map(|row| rows.text(row, 0))
        .collect())
}

/// Whether what is written into a table is taken back by ROLLBACK. MySQL's engines differ: InnoDB's
/// is, MyISAM's and Aria's is not (MySQL manual, "The INFORMATION_SCHEMA ENGINES Table").
///
/// # Errors
/// The server's error.
pub async fn is_transactional(session: &mut Session, table: &str) -> Result<bool, DbError> {
    match session.dialect().engine().protocol() {
        Protocol::Mysql => mysql::is_transactional(session, table).await,
        Protocol::Postgres | Protocol::Sqlite => Ok(true),
    }
}

/// Waits until no other session's transaction has written into a table or is making an index on it:
/// a client that is gone may have left one that its server has not ended yet. Ends this session's transaction on MySQL.
///
/// # Errors
/// [`tidemark_core::ErrorClass::Retryable`] when one goes on for longer than a minute. What a server
/// doesn't offer is not waited for.
pub async fn wait_for_writers(session: &mut Session, table: &str) -> Result<(), DbError> {
    let quoted = session.dialect().quote(table);
    let (before, lock, after) = match session.dialect().of_engine().table_locks {
        TableLocks::Statement => (
            "SET SESSION lock_wait_timeout=60",
            format!("LOCK TABLES {quoted} WRITE"),
            "UNLOCK TABLES",
        ),
        // Waits for those who have inserted and for those who make an index (manual, "Table-Level
        // Locks").
        TableLocks::Transaction => (
            "BEGIN; SET LOCAL lock_timeout='60s'",
            format!("LOCK TABLE {quoted} IN SHARE ROW EXCLUSIVE MODE"),
            "ROLLBACK",
        ),
        // A cluster ends what its own clients left. SQLite's locks end with their process.
        TableLocks::No | TableLocks::File => return Ok(()),
    };
    session.query(before).await?;
    let locked = session.query(&lock).await;
    session.query(after).await?;
    match locked {
        Err(e) if matches!(e.class, ErrorClass::Retryable | ErrorClass::ConnectionLost) => Err(e),
        _ => Ok(()),
    }
}

/// A text as a literal of the session's dialect.
fn literal(session: &Session, text: &str) -> String {
    session.dialect().literal(Value::Text(text))
}

/// A flag that the engine sent as 0 or 1.
fn flag(rows: &RowSet, row: usize, column: usize) -> bool {
    rows.int(row, column) == Some(1)
}

/// A text that may be NULL or empty.
fn text(rows: &RowSet, row: usize, column: usize) -> Option<String> {
    rows.text(row, column).filter(|t| !t.is_empty())
}
