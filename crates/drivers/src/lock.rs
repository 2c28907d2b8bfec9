//! Locks of loading clients in the target: one that keeps two clients from making or dropping tables
//! at the same time, and one for each client, by which others see that it lives.
//!
//! | engine | lock | ends |
//! | --- | --- | --- |
//! | MySQL, MariaDB, TiDB | `GET_LOCK('tidemark_load:<database>')`, `GET_LOCK('tidemark_client:<number>')` | with its session |
//! | PostgreSQL, YugabyteDB | an advisory lock of a transaction that stays open, which holds through a pool of transactions too | with its session |
//! | SQLite | a file beside the database, locked with flock(2) | with its process |
//!
//! Of a target with several hosts each may have locks of its own (MySQL manual, "Locking Functions":
//! of one server; MariaDB's Galera: of one node). So they are taken, and asked for, on the URL's first
//! host: clients that load together name the same one first.
//!
//! CockroachDB, YugabyteDB before 2025.1 and old TiDB know no such locks: there is none then.

mod file;

use crate::engines::Locks;
use crate::{Session, Value};
use file::FileLock;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass, fnv1a};
use tidemark_runtime::sleep;

/// How the locks of databases are called.
const NAME: &str = "tidemark_load";
/// How the locks of clients are called.
const CLIENT: &str = "tidemark_client";
/// Longest name that GET_LOCK takes (MySQL manual, "Locking Functions").
const LONGEST_NAME: usize = 64;
/// A client that was killed keeps its lock until its server has noticed.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(100);
/// A holder that says nothing for so long, in seconds, is taken for dead by its server; a running
/// one looks at its lock far more often.
const LONGEST_SILENCE: u32 = 600;

/// A lock that is held on a session, until it is released or the session ends.
#[derive(Debug)]
pub struct LoadLock(LockKind);

#[derive(Debug)]
enum LockKind {
    /// The name of a GET_LOCK.
    Named(String),
    /// An advisory lock within the open transaction.
    Transaction,
    File(FileLock),
}

/// What came of asking for the lock.
#[derive(Debug)]
pub enum Attempt {
    /// It is held from here on.
    Taken(LoadLock),
    /// Another client holds it; who, as far as the server tells.
    Held(Option<String>),
    /// The engine has no such locks.
    Unsupported,
}

/// Whose lock it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The session's database: nobody else makes or drops tables.
    Database,
    /// A client, by its number: it lives while it holds the lock. SQLite, which has one writer at a
    /// time, takes the database's.
    Client(u64),
}

/// What is known of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Life {
    /// It holds its lock; who, as far as the server tells.
    Alive(Option<String>),
    /// Nobody holds its lock.
    Dead,
    /// The engine has no such locks.
    Unknown,
}

/// Asks for a lock. The session is the lock's alone while it is held.
///
/// # Errors
/// A lost connection only.
pub async fn take(session: &mut Session, scope: Scope) -> Result<Attempt, DbError> {
    let taken = match session.dialect().of_engine().locks {
        Locks::Named => named(session, scope).await,
        Locks::Advisory => advisory(session, scope).await,
        Locks::No => Ok(Attempt::Unsupported),
        Locks::File => beside(session).await,
    };
    match taken {
        Err(e) if e.class != ErrorClass::ConnectionLost => {
            session.rollback().await?;
            Ok(Attempt::Unsupported)
        }
        taken => taken,
    }
}

/// Whether another client lives. On SQLite all others are dead to the holder of the database's lock.
///
/// # Errors
/// A lost connection only.
pub async fn life(session: &mut Session, client: u64) -> Result<Life, DbError> {
    let asked = match session.dialect().of_engine().locks {
        Locks::Named => life_by_name(session, client).await,
        Locks::Advisory => life_by_key(session, client).await,
        Locks::No => Ok(Life::Unknown),
        Locks::File => Ok(Life::Dead),
    };
    match asked {
        Err(e) if e.class != ErrorClass::ConnectionLost => Ok(Life::Unknown),
        asked => asked,
    }
}

async fn life_by_name(session: &mut Session, client: u64) -> Result<Life, DbError> {
    let name = name_for(CLIENT, &client.to_string());
    let literal = session.dialect().literal(Value::Text(&name));
    let taken = session
        .query(&format!("SELECT GET_LOCK({literal}, 0)"))
        .await?;
    match taken.int(0, 0) {
        Some(1) => {
            session
                .query(&format!("SELECT RELEASE_LOCK({literal})"))
                .await?;
            Ok(Life::Dead)
        }
        Some(0) => Ok(Life::Alive(name_holder(session, &literal).await)),
        _ => Ok(Life::Unknown),
    }
}

/// A shared lock is enough to see whether anybody has the other, and two who look don't see each
/// other. It ends with the statement.
async fn life_by_key(session: &mut Session, client: u64) -> Result<Life, DbError> {
    let key = key_of(session, Scope::Client(client)).await?;
    let sql = format!("SELECT pg_try_advisory_xact_lock_shared({key})");
    Ok(
        if session.query(&sql).await?.text(0, 0).as_deref() == Some("t") {
            Life::Dead
        } else {
            Life::Alive(key_holder(session, key).await)
        },
    )
}

impl LoadLock {
    /// Whether the lock is still held. Asking also keeps an idle session alive.
    ///
    /// # Errors
    /// The server's error; the lock is lost with the session.
    pub async fn is_held(&self, session: &mut Session) -> Result<bool, DbError> {
        match &self.0 {
            LockKind::Named(name) => {
                let name = session.dialect().literal(Value::Text(name));
                let sql = format!("SELECT IS_USED_LOCK({name}) = CONNECTION_ID()");
                Ok(session.query(&sql).await?.int(0, 0) == Some(1))
            }
            // The lock ends with the transaction, and that with the session.
            LockKind::Transaction => session.query("SELECT 1").await.map(|_| true),
            LockKind::File(_) => Ok(true),
        }
    }

    /// Lets the next client load. Closing the session alone would do, but later.
    ///
    /// # Errors
    /// The server's error.
    pub async fn release(self, session: &mut Session) -> Result<(), DbError> {
        match self.0 {
            LockKind::Named(name) => {
                let name = session.dialect().literal(Value::Text(&name));
                let sql = format!("SELECT RELEASE_LOCK({name})");
                session.query(&sql).await.map(drop)
            }
            LockKind::Transaction => session.rollback().await,
            LockKind::File(lock) => {
                lock.release();
                Ok(())
            }
        }
    }
}

/// MySQL manual, "Locking Functions": a lock of the whole server, hence the database in its name.
async fn named(session: &mut Session, scope: Scope) -> Result<Attempt, DbError> {
    let name = match scope {
        Scope::Database => {
            let database = session.query("SELECT DATABASE()").await?;
            name_for(NAME, &database.text(0, 0).unwrap_or_default())
        }
        Scope::Client(number) => name_for(CLIENT, &number.to_string()),
    };
    let literal = session.dialect().literal(Value::Text(&name));
    // A server may be set to close sessions after seconds.
    let patient = format!("SET SESSION wait_timeout={LONGEST_SILENCE}");
    match session.query(&patient).await {
        Err(e) if e.class == ErrorClass::ConnectionLost => return Err(e),
        _ => {}
    }
    let wait = PATIENCE.as_secs();
    let rows = session
        .query(&format!("SELECT GET_LOCK({literal}, {wait})"))
        .await?;
    match rows.int(0, 0) {
        Some(1) => Ok(Attempt::Taken(LoadLock(LockKind::Named(name)))),
        Some(0) => Ok(Attempt::Held(name_holder(session, &literal).await)),
        _ => Ok(Attempt::Unsupported),
    }
}

/// Who holds a named lock.
async fn name_holder(session: &mut Session, literal: &str) -> Option<String> {
    let sql = format!(
        "SELECT CONCAT('session ', ID, ' from ', HOST) FROM information_schema.PROCESSLIST \
         WHERE ID = IS_USED_LOCK({literal})"
    );
    // An account may see no sessions but its own.
    session.query(&sql).await.ok()?.text(0, 0)
}

/// A database's name may itself be as long as a lock's.
fn name_for(kind: &str, what: &str) -> String {
    let name = format!("{kind}:{what}");
    if name.chars().count() <= LONGEST_NAME && name.len() <= LONGEST_NAME {
        return name;
    }
    format!("{kind}:{:016x}", fnv1a(what))
}

/// PostgreSQL manual, "Advisory Locks": a lock of the database; schemas have keys of their own.
async fn key_of(session: &mut Session, scope: Scope) -> Result<i64, DbError> {
    let name = match scope {
        Scope::Database => {
            let schema = session.query("SELECT CURRENT_SCHEMA()").await?;
            format!("{NAME}:{}", schema.text(0, 0).unwrap_or_default())
        }
        Scope::Client(number) => format!("{CLIENT}:{number}"),
    };
    Ok(fnv1a(&name).cast_signed())
}

async fn advisory(session: &mut Session, scope: Scope) -> Result<Attempt, DbError> {
    let key = key_of(session, scope).await?;
    session.simple("BEGIN").await?;
    let patient = format!("SET LOCAL idle_in_transaction_session_timeout = '{LONGEST_SILENCE}s'");
    session.query(&patient).await?;
    let give_up = Instant::now() + PATIENCE;
    loop {
        let sql = format!("SELECT pg_try_advisory_xact_lock({key})");
        if session.query(&sql).await?.text(0, 0).as_deref() == Some("t") {
            return Ok(Attempt::Taken(LoadLock(LockKind::Transaction)));
        }
        if Instant::now() >= give_up {
            break;
        }
        sleep(PAUSE).await;
    }
    let holder = key_holder(session, key).await;
    session.rollback().await?;
    Ok(Attempt::Held(holder))
}

/// Who holds an advisory lock.
async fn key_holder(session: &mut Session, key: i64) -> Option<String> {
    // pg_locks shows the halves of a key (manual, "pg_locks").
    let (high, low) = (key.cast_unsigned() >> 32, key.cast_unsigned() & 0xffff_ffff);
    let sql = format!(
        "SELECT 'session ' || a.pid || COALESCE(' from ' || host(a.client_addr), '') \
         FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid \
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
         AND l.classid = {high} AND l.objid = {low} AND a.datname = CURRENT_DATABASE()"
    );
    session.query(&sql).await.ok()?.text(0, 0)
}

async fn beside(session: &mut Session) -> Result<Attempt, DbError> {
    let files = session.query("PRAGMA database_list").await?;
    let Some(database) = files.text(0, 2).filter(|path| !path.is_empty()) else {
        return Ok(Attempt::Unsupported);
    };
    let give_up = Instant::now() + PATIENCE;
    loop {
        match FileLock::take(&database) {
            // Where no file can be made, SQLite can't write either, and tells better why.
            Err(_) => return Ok(Attempt::Unsupported),
            Ok(Some(lock)) => return Ok(Attempt::Taken(LoadLock(LockKind::File(lock)))),
            Ok(None) if Instant::now() >= give_up => return Ok(Attempt::Held(None)),
            Ok(None) => sleep(PAUSE).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_and_differ() {
        let name_for = |what: &str| name_for(NAME, what);
        assert_eq!(name_for("sbtest"), "tidemark_load:sbtest");
        let (a, b) = (name_for(&"a".repeat(60)), name_for(&"b".repeat(60)));
        assert!(a.len() <= LONGEST_NAME && a != b, "{a} {b}");
        assert!(name_for(&"é".repeat(40)).len() <= LONGEST_NAME);
    }
}
