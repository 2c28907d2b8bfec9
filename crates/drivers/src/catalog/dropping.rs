//! Dropping and emptying tables, and what refers to them.

use super::{located, mysql, postgres, sqlite};
use crate::Session;
use crate::engines::TableLocks;
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
    /// Those that were not there any more: nothing was sent for them.
    pub gone: Vec<String>,
    /// Those that are still there.
    pub left: Vec<String>,
    /// The first that could not be dropped, and why.
    pub failure: Option<(String, DbError)>,
    /// Why the one that was looked at last may not be dropped.
    pub kept: Option<String>,
}

impl Drops {
    /// Those that are not there now.
    pub fn absent(&self) -> Vec<String> {
        self.dropped.iter().chain(&self.gone).cloned().collect()
    }

    /// Whether no more can be dropped.
    fn is_over(&self) -> bool {
        let lost = matches!(&self.failure,
            Some((_, e)) if e.class == ErrorClass::ConnectionLost);
        lost || self.kept.is_some()
    }
}

/// What was found of a table that is to be dropped or emptied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DropVerdict {
    /// It is proven that its rows may go, with the table where that is to be dropped.
    Drop,
    /// It is not there, so there is nothing to prove, and nothing to drop.
    Gone,
    /// It may not be; why.
    Keep(String),
}

/// Drops a table that bears this mark, and the mark; a table that is not there is no error.
///
/// # Errors
/// The server's error, as when other objects depend on the table; [`ErrorClass::Fatal`] when it
/// bears another mark.
pub async fn drop_marked(session: &mut Session, table: &str, mark: &str) -> Result<(), DbError> {
    let one = [table.to_string()];
    let proof = async |session: &mut Session, table: &str| {
        let found = super::describe_table(session, table).await?;
        let bears = found.map(|t| t.no_table.is_none() && t.comment.as_deref() == Some(mark));
        Ok(match bears {
            None => DropVerdict::Gone,
            Some(true) => DropVerdict::Drop,
            Some(false) => {
                DropVerdict::Keep(format!("table {table} does not have the mark {mark}"))
            }
        })
    };
    let drops = drop_proven(session, &one, proof, || true).await;
    match (drops.failure, drops.kept) {
        (Some((_, error)), _) => Err(error),
        (None, Some(why)) => Err(DbError::new(ErrorClass::Fatal, "kept", why)),
        (None, None) => Ok(()),
    }
}

/// Drops tables and their marks, those first that others don't need: a table that a foreign key
/// points at goes after the tables that have the key. Each is a statement of its own, so that what
/// many tables need of the server's locks is no more than what one needs; before each it is asked
/// whether to go on.
///
/// This is the only way to drop a table. `proof` looks at each at the moment of its drop, while
/// nobody else can change it where the server has a lock for that (MySQL, MariaDB, PostgreSQL, SQLite);
/// the first that may not be dropped ends it.
///
/// No row of another table is changed: SQLite, whose DROP TABLE deletes the rows first, with what
/// foreign keys want of that (sqlite.org/lang_droptable.html), does not enforce them meanwhile.
pub async fn drop_proven(
    session: &mut Session,
    tables: &[String],
    mut proof: impl AsyncFnMut(&mut Session, &str) -> Result<DropVerdict, DbError>,
    go_on: impl FnMut() -> bool,
) -> Drops {
    if session.dialect().engine().protocol() != Protocol::Sqlite {
        let mut drops = drop_each(session, tables, &mut proof, go_on).await;
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
    let drops = drop_each(session, tables, &mut proof, go_on).await;
    if enforced {
        // A session that can't take it back is one whose file is gone.
        let _ = sqlite::enforce_keys(session, true).await;
    }
    drops
}

/// Empties a table of the PostgreSQL family. Rows of tables that inherit from it stay (manual,
/// "TRUNCATE").
///
/// This is the only way to empty a table: `proof` looks at it as before a drop ([`drop_proven`]), and
/// [`DropVerdict::Drop`] lets its rows go.
///
/// # Errors
/// The server's error; [`ErrorClass::Fatal`] on other engines.
pub async fn empty_proven(
    session: &mut Session,
    table: &str,
    mut proof: impl AsyncFnMut(&mut Session, &str) -> Result<DropVerdict, DbError>,
) -> Result<DropVerdict, DbError> {
    if session.dialect().engine().protocol() != Protocol::Postgres {
        let why = format!("table {table} is only emptied on PostgreSQL");
        return Err(DbError::new(ErrorClass::Fatal, "kept", why));
    }
    remove_one(session, table, Removal::Rows, &mut proof).await
}

/// What goes of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// The table with all that it has.
    Table,
    /// Its rows.
    Rows,
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
    proof: &mut impl AsyncFnMut(&mut Session, &str) -> Result<DropVerdict, DbError>,
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
            if drops.is_over() || !go_on() {
                drops.left.push(table);
                continue;
            }
            match remove_one(session, &table, Removal::Table, proof).await {
                Ok(DropVerdict::Drop) => drops.dropped.push(table),
                Ok(DropVerdict::Gone) => drops.gone.push(table),
                Ok(DropVerdict::Keep(why)) => {
                    drops.kept = Some(why);
                    drops.left.push(table);
                }
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
        if drops.is_over() || drops.left.is_empty() || drops.left.len() == before || !go_on() {
            return drops;
        }
    }
}

/// Looks at a table and drops or empties it, with nobody between.
async fn remove_one(
    session: &mut Session,
    table: &str,
    removal: Removal,
    proof: &mut impl AsyncFnMut(&mut Session, &str) -> Result<DropVerdict, DbError>,
) -> Result<DropVerdict, DbError> {
    hold(session, table).await?;
    let removed = remove_held(session, table, removal, proof).await;
    let keep = removed
        .as_ref()
        .is_ok_and(|v| !matches!(v, DropVerdict::Keep(_)));
    let let_go = let_go(session, keep).await;
    let verdict = removed?;
    let_go.map(|()| verdict)
}

async fn remove_held(
    session: &mut Session,
    table: &str,
    removal: Removal,
    proof: &mut impl AsyncFnMut(&mut Session, &str) -> Result<DropVerdict, DbError>,
) -> Result<DropVerdict, DbError> {
    let verdict = proof(session, table).await?;
    match verdict {
        DropVerdict::Keep(_) => return Ok(verdict),
        DropVerdict::Gone => {}
        // An unqualified name would be looked for along the whole search path.
        DropVerdict::Drop if !is_here(session, table).await? => return Ok(DropVerdict::Gone),
        DropVerdict::Drop => {
            let located = located(session, table).await?;
            let sql = match removal {
                Removal::Table => format!("DROP TABLE IF EXISTS {located}"),
                Removal::Rows => format!("TRUNCATE ONLY {located}"),
            };
            session.query(&sql).await?;
        }
    }
    if session.dialect().engine().protocol() == Protocol::Sqlite {
        sqlite::forget_mark(session, table).await?;
    }
    Ok(verdict)
}

/// Whether the name's table is in the schema that is looked at; a name without a schema says nothing
/// else elsewhere.
async fn is_here(session: &mut Session, table: &str) -> Result<bool, DbError> {
    match session.dialect().engine().protocol() {
        Protocol::Postgres => Ok(postgres::schema_of(session, table).await?.is_some()),
        Protocol::Mysql | Protocol::Sqlite => Ok(true),
    }
}

/// Keeps others from changing a table until [`let_go`], where the server can: what can't be held is
/// looked at all the same. Clusters have no such lock for clients (TiDB manual, "LOCK TABLES and UNLOCK
/// TABLES"; CockroachDB, "SQL Feature Support"; YSQL, "LOCK").
async fn hold(session: &mut Session, table: &str) -> Result<(), DbError> {
    let located = located(session, table).await?;
    let held = match session.dialect().of_engine().table_locks {
        TableLocks::Statement => session.query(&format!("LOCK TABLES {located} WRITE")).await,
        TableLocks::Transaction => {
            session.simple("BEGIN").await?;
            if !is_here(session, table).await? {
                return Ok(());
            }
            let lock = format!("LOCK TABLE {located} IN ACCESS EXCLUSIVE MODE");
            let held = session.query(&lock).await;
            if held.is_err() {
                session.rollback().await?;
                session.simple("BEGIN").await?;
            }
            held
        }
        // Where the file can't be written, that is the reason to tell.
        TableLocks::File => return session.simple("BEGIN IMMEDIATE").await.map(drop),
        TableLocks::No => return Ok(()),
    };
    match held {
        Err(e) if matches!(e.class, ErrorClass::ConnectionLost | ErrorClass::Retryable) => Err(e),
        _ => Ok(()),
    }
}

async fn let_go(session: &mut Session, keep: bool) -> Result<(), DbError> {
    let end = if keep { "COMMIT" } else { "ROLLBACK" };
    match session.dialect().of_engine().table_locks {
        TableLocks::Statement => session.query("UNLOCK TABLES").await.map(drop),
        TableLocks::Transaction | TableLocks::File => session.simple(end).await.map(drop),
        TableLocks::No => Ok(()),
    }
}
