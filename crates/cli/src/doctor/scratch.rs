//! A place for the workloads' tables that is proven to be doctor's own: a database, a schema, or a file.
//!
//! It holds a table that doctor marked. One of the same name without that is left alone.

use super::basics::{MARK, TABLE};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tidemark_core::{DbError, ErrorClass, Protocol, Target};
use tidemark_drivers::lock::Scope;
use tidemark_drivers::{ConnectOptions, Connector, Session, Value, catalog};
use tidemark_engine::{EngineError, Guard};
use tidemark_runtime::block_on;

/// Doctors at the same time on one server have places of their own.
const MOST: u64 = 9;
/// The number of the lock that a living doctor holds, before its place's own: no load's number, which is
/// drawn from 62 bits, is likely to be it.
const LOCK: u64 = 0x2f64_6f63_746f_7200;
/// A statement on tables of this size takes no longer.
const LONGEST: Duration = Duration::from_secs(30);

/// Where statements are proven.
pub struct Scratch {
    /// For sessions that have it as their database or schema.
    pub connector: Connector,
    /// What it is called.
    pub name: String,
    /// Whether a doctor left it that was killed: the workloads' tables may be in it.
    pub is_left_over: bool,
    kept: ScratchOwner,
}

/// What makes it doctor's, and is given up with it.
enum ScratchOwner {
    Server {
        outer: Box<Connector>,
        _guard: Guard,
    },
    Folder(TempDir),
}

/// Why there is none.
#[derive(Debug)]
pub enum NoScratch {
    /// This statement was refused; another may allow it.
    Refused {
        statement: String,
        error: DbError,
        grant: String,
    },
    /// No file may be made in this folder.
    NoFolder { folder: String, error: String },
    /// Something of this name is not doctor's.
    Foreign(String),
    /// As many doctors as there may be are at work.
    Busy,
    /// A session failed.
    Failed(EngineError),
}

impl From<DbError> for NoScratch {
    fn from(error: DbError) -> Self {
        NoScratch::Failed(EngineError::Statement { session: 0, error })
    }
}

impl From<std::io::Error> for NoScratch {
    fn from(error: std::io::Error) -> Self {
        NoScratch::Failed(error.into())
    }
}

impl Scratch {
    /// Makes one, or takes over what a doctor left that was killed.
    ///
    /// # Errors
    /// [`NoScratch`]; nothing is left of it then.
    pub fn make(connector: &Connector) -> Result<Self, NoScratch> {
        if connector.is_blocking() {
            return beside(connector);
        }
        for number in 1..=MOST {
            let name = match number {
                1 => TABLE.to_string(),
                n => format!("{TABLE}_{n}"),
            };
            match Guard::take(connector, Scope::Client(LOCK + number)) {
                Ok(guard) => return on_server(connector, name, guard),
                // Another doctor is there.
                Err(EngineError::Refused(_)) => {}
                Err(error) => return Err(NoScratch::Failed(error)),
            }
        }
        Err(NoScratch::Busy)
    }

    /// Drops it, when nothing but doctor's mark is in it; whether it could be.
    ///
    /// # Errors
    /// The server's.
    pub fn remove(self) -> Result<bool, NoScratch> {
        match self.kept {
            ScratchOwner::Folder(folder) => Ok(folder.close().map(|()| true)?),
            ScratchOwner::Server { outer, _guard } => {
                let (inner, name) = (self.connector, self.name);
                Ok(block_on(drop_place(inner, *outer, name))??)
            }
        }
    }
}

/// Sessions of doctor on this target.
fn options(connector: &Connector) -> ConnectOptions {
    ConnectOptions {
        statement_timeout: Some(LONGEST),
        ..*connector.options()
    }
}

/// A file beside the target's.
fn beside(connector: &Connector) -> Result<Scratch, NoScratch> {
    let file = Path::new(&connector.target().database);
    let parent = file.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = match connector.target().database.starts_with(":memory:") {
        true => std::env::temp_dir(),
        false => parent.unwrap_or_else(|| Path::new(".")).to_path_buf(),
    };
    let made = tempfile::Builder::new()
        .prefix(&format!("{TABLE}-"))
        .tempdir_in(&folder);
    let made = made.map_err(|error| NoScratch::NoFolder {
        folder: folder.display().to_string(),
        error: error.to_string(),
    })?;
    let path = made.path().join("doctor.db");
    let target = Target::sqlite(path.to_string_lossy());
    Ok(Scratch {
        connector: Connector::new(target, options(connector))?,
        name: path.display().to_string(),
        is_left_over: false,
        kept: ScratchOwner::Folder(made),
    })
}

fn on_server(connector: &Connector, name: String, guard: Guard) -> Result<Scratch, NoScratch> {
    let mut target = connector.target().clone();
    // What was made a moment ago may not have come to a replica.
    target.readers.clear();
    let is_mysql = target.protocol == Protocol::Mysql;
    if is_mysql {
        target.database.clone_from(&name);
    }
    let mut inner = Connector::new(target, options(connector))?;
    if !is_mysql {
        inner = inner.with_session_settings(vec![("search_path".into(), name.clone())]);
    }
    let made = make_place(connector.clone(), inner.clone(), name.clone());
    let is_left_over = block_on(made)??;
    Ok(Scratch {
        connector: inner,
        name,
        is_left_over,
        kept: ScratchOwner::Server {
            outer: Box::new(connector.clone()),
            _guard: guard,
        },
    })
}

/// Whether it was there.
async fn make_place(outer: Connector, inner: Connector, name: String) -> Result<bool, NoScratch> {
    let mut session = outer.connect(0).await?;
    if exists(&mut session, &name).await? {
        session.close().await;
        return match is_ours(&inner).await {
            true => Ok(true),
            false => Err(NoScratch::Foreign(name)),
        };
    }
    let statement = format!("CREATE {} {name}", kind(&session));
    let made = session.simple(&statement).await;
    let grant = grant(&session, &outer, &name);
    session.close().await;
    if let Err(error) = made {
        return Err(match error.class {
            ErrorClass::ConnectionLost => error.into(),
            _ => NoScratch::Refused {
                statement,
                error,
                grant,
            },
        });
    }
    let mut session = inner.connect(0).await?;
    let marked = mark(&mut session, &name).await;
    session.close().await;
    marked?;
    Ok(false)
}

async fn mark(session: &mut Session, name: &str) -> Result<(), DbError> {
    // What is between may forget what a session asked for: nothing is made elsewhere.
    let here = match session.dialect().engine().protocol() {
        Protocol::Mysql => "SELECT DATABASE()",
        _ => "SELECT current_schema()",
    };
    let here = session.query(here).await?.text(0, 0);
    if here.as_deref() != Some(name) {
        let says = format!("a session that was to use {name} uses {here:?}");
        return Err(DbError::new(ErrorClass::Fatal, "doctor", says));
    }
    let sql = format!("CREATE TABLE {TABLE} (id INTEGER NOT NULL PRIMARY KEY)");
    session.simple(&sql).await?;
    catalog::mark_table(session, TABLE, MARK).await
}

fn kind(session: &Session) -> &'static str {
    match session.dialect().engine().protocol() {
        Protocol::Mysql => "DATABASE",
        _ => "SCHEMA",
    }
}

/// The statement that lets the target's account make it.
fn grant(session: &Session, connector: &Connector, name: &str) -> String {
    let (dialect, target) = (session.dialect(), connector.target());
    match dialect.engine().protocol() {
        Protocol::Mysql => {
            let user = dialect.literal(Value::Text(&target.user));
            let host = dialect.literal(Value::Text("%"));
            format!("GRANT ALL ON {}.* TO {user}@{host}", dialect.quote(name))
        }
        _ => format!(
            "GRANT CREATE ON DATABASE {} TO {}",
            dialect.quote(&target.database),
            dialect.quote(&target.user)
        ),
    }
}

async fn exists(session: &mut Session, name: &str) -> Result<bool, DbError> {
    let name = session.dialect().literal(Value::Text(name));
    let sql = match session.dialect().engine().protocol() {
        Protocol::Mysql => {
            format!("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {name}")
        }
        _ => format!("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = {name}"),
    };
    Ok(!session.query(&sql).await?.is_empty())
}

/// Whether it holds the table that doctor marked. What this account may not see is not doctor's.
async fn is_ours(inner: &Connector) -> bool {
    let looked = async {
        let mut session = inner.connect(0).await?;
        let found = catalog::describe_table(&mut session, TABLE).await;
        session.close().await;
        found
    };
    let found = looked.await.ok().flatten();
    found.is_some_and(|t| t.no_table.is_none() && t.comment.as_deref() == Some(MARK))
}

/// Drops it. PostgreSQL drops no schema that holds anything; MySQL drops all that is in a database, so it
/// is asked first.
async fn drop_place(inner: Connector, outer: Connector, name: String) -> Result<bool, DbError> {
    let mut session = inner.connect(0).await?;
    let held = held(&mut session, &name).await;
    let dropped = match held {
        Ok(true) => Ok(false),
        Ok(false) => catalog::drop_marked(&mut session, TABLE, MARK)
            .await
            .map(|()| true),
        Err(error) => Err(error),
    };
    session.close().await;
    if !dropped? {
        return Ok(false);
    }
    let mut session = outer.connect(0).await?;
    let sql = format!("DROP {} {name}", kind(&session));
    let gone = session.simple(&sql).await;
    session.close().await;
    gone.map(|_| true)
}

/// Whether it holds anything but the table that doctor marked.
async fn held(session: &mut Session, name: &str) -> Result<bool, DbError> {
    let tables = catalog::list_tables(session).await?;
    if tables.iter().any(|table| table != TABLE) {
        return Ok(true);
    }
    if session.dialect().engine().protocol() != Protocol::Mysql {
        return Ok(false);
    }
    let name = session.dialect().literal(Value::Text(name));
    for (view, column) in [
        ("TABLES", "TABLE_SCHEMA"),
        ("ROUTINES", "ROUTINE_SCHEMA"),
        ("EVENTS", "EVENT_SCHEMA"),
    ] {
        let sql = format!("SELECT COUNT(*) FROM information_schema.{view} WHERE {column} = {name}");
        let own = i64::from(view == "TABLES");
        if session.query(&sql).await?.int(0, 0) != Some(own) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_takes_no_file_is_named() {
        let target = Target::sqlite("/no/such/folder/file.db");
        let connector = Connector::new(target, ConnectOptions::default()).unwrap();
        match Scratch::make(&connector).map(|scratch| scratch.name) {
            Err(NoScratch::NoFolder { folder, .. }) => assert_eq!(folder, "/no/such/folder"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_scratch_file_holds_is_gone_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file.db");
        let target = Target::sqlite(file.to_string_lossy());
        let connector = Connector::new(target, ConnectOptions::default()).unwrap();
        let scratch = Scratch::make(&connector).unwrap();
        let made = scratch.connector.target().database.clone();
        assert!(made.contains(TABLE), "{made}");
        block_on(async move {
            scratch.connector.connect(0).await.unwrap().close().await;
            scratch
        })
        .unwrap()
        .remove()
        .unwrap();
        assert!(!Path::new(&made).exists());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
