//! Dropping tables, and what refers to them.

use super::{mysql, postgres, sqlite};
use crate::Session;
use tidemark_core::{DbError, ErrorClass, Protocol};

/// ER_ROW_IS_REFERENCED_2 of MySQL.
const STILL_REFERRED: &str = "1451";

/// A foreign key from one table to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The table that is referred to.
    pub parent: String,
    /// The table that has the key, where it is of the same database or schema.
    pub child: Option<String>,
    /// The same for people.
    pub shown: String,
}

/// Foreign keys of other tables that refer to these: what dropping these would change or break.
///
/// # Errors
/// The server's error.
pub async fn referrers(
    session: &mut Session,
    tables: &[String],
) -> Result<Vec<Reference>, DbError> {
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let mut references = match session.dialect().engine().protocol() {
        Protocol::Mysql => mysql::references(session).await?,
        Protocol::Postgres => postgres::references(session).await?,
        Protocol::Sqlite => sqlite::references(session).await?,
    };
    let any_case = session.dialect().engine().protocol() == Protocol::Sqlite;
    let is_one = |name: &String| {
        let same = |table: &String| table == name || any_case && table.eq_ignore_ascii_case(name);
        tables.iter().any(same)
    };
    references.retain(|r| is_one(&r.parent) && !r.child.as_ref().is_some_and(is_one));
    Ok(references)
}

/// How far dropping tables came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drops {
    /// Those that are gone, in the order in which they went.
    pub dropped: Vec<String>,
    /// Those that are still there.
    pub left: Vec<String>,
    /// The first that could not be dropped, and why.
    pub failure: Option<(String, DbError)>,
}

/// Drops a table and its mark; a table that is not there is no error. Whether it may be dropped is
/// the caller's to know.
///
/// # Errors
/// The server's error, as when other objects depend on the table.
pub async fn drop_table(session: &mut Session, table: &str) -> Result<(), DbError> {
    let one = [table.to_string()];
    match drop_tables(session, &one, || true).await.failure {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// Drops tables and their marks, those first that others don't need: a table that a foreign key
/// points at goes after the tables that have the key. Each is a statement of its own, so that what
/// many tables need of the server's locks is no more than what one needs; before each it is asked
/// whether to go on.
///
/// No row of another table is changed: SQLite, whose DROP TABLE deletes the rows first, with what
/// foreign keys want of that (sqlite.org/lang_droptable.html), does not enforce them meanwhile.
pub async fn drop_tables(
    session: &mut Session,
    tables: &[String],
    go_on: impl FnMut() -> bool,
) -> Drops {
    if session.dialect().engine().protocol() != Protocol::Sqlite {
        let mut drops = drop_each(session, tables, go_on).await;
        if let Some((table, error)) = &mut drops.failure
            && error.code == STILL_REFERRED
        {
            name_referrers(session, table, error).await;
        }
        return drops;
    }
    let of_keys = |error| Drops {
        left: tables.to_vec(),
        failure: tables.first().cloned().map(|table| (table, error)),
        ..Drops::default()
    };
    let enforced = match sqlite::enforces_keys(session).await {
        Ok(enforced) => enforced,
        Err(error) => return of_keys(error),
    };
    if enforced && let Err(error) = sqlite::enforce_keys(session, false).await {
        return of_keys(error);
    }
    let drops = drop_each(session, tables, go_on).await;
    if enforced {
        // A session that can't take it back is one whose file is gone.
        let _ = sqlite::enforce_keys(session, true).await;
    }
    drops
}

/// MariaDB doesn't say who refers to a table; what can't be asked is left at that.
async fn name_referrers(session: &mut Session, table: &str, error: &mut DbError) {
    let found = referrers(session, &[table.to_string()]).await;
    let found = found.unwrap_or_default();
    if !found.is_empty() {
        let names: Vec<&str> = found.iter().map(|r| r.shown.as_str()).collect();
        error.message += &format!(" (referred to by {})", names.join(", "));
    }
}

async fn drop_each(
    session: &mut Session,
    tables: &[String],
    mut go_on: impl FnMut() -> bool,
) -> Drops {
    let mut drops = Drops {
        left: tables.to_vec(),
        ..Drops::default()
    };
    loop {
        let before = drops.left.len();
        drops.failure = None;
        for table in std::mem::take(&mut drops.left) {
            let is_lost = matches!(&drops.failure,
                Some((_, e)) if e.class == ErrorClass::ConnectionLost);
            if is_lost || !go_on() {
                drops.left.push(table);
                continue;
            }
            match drop_one(session, &table).await {
                Ok(()) => drops.dropped.push(table),
                Err(error) if error.class == ErrorClass::ConnectionLost => {
                    drops.failure = Some((table.clone(), error));
                    drops.left.push(table);
                }
                Err(error) => {
                    drops.failure.get_or_insert((table.clone(), error));
                    drops.left.push(table);
                }
            }
        }
        let is_lost = matches!(&drops.failure,
            Some((_, e)) if e.class == ErrorClass::ConnectionLost);
        if is_lost || drops.left.is_empty() || drops.left.len() == before || !go_on() {
            return drops;
        }
    }
}

async fn drop_one(session: &mut Session, table: &str) -> Result<(), DbError> {
    let quoted = session.dialect().quote(table);
    session
        .query(&format!("DROP TABLE IF EXISTS {quoted}"))
        .await?;
    match session.dialect().engine().protocol() {
        Protocol::Sqlite => sqlite::forget_mark(session, table).await,
        _ => Ok(()),
    }
}
