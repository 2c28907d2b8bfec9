//! How many sessions a target allows, and how many prepared statements.

use crate::Session;
use tidemark_core::{DbError, ErrorClass, Protocol};

/// What keeps a target from taking more sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimit {
    /// Sessions allowed.
    pub limit: u64,
    /// Of them, those that are open now, the asking one included.
    pub in_use: u64,
    /// What sets the limit, in the words of the engine's manual.
    pub name: &'static str,
}

impl SessionLimit {
    /// Sessions that may still be opened.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.in_use)
    }
}

/// The limit that will be met first; `None` where there is none, or where the engine doesn't tell.
/// A pool before the server has limits of its own, which no statement tells, and the server's are
/// the pool's.
///
/// # Errors
/// A lost connection only.
pub async fn session_limit(session: &mut Session) -> Result<Option<SessionLimit>, DbError> {
    let dialect = session.dialect();
    let asked = match dialect.engine().protocol() {
        _ if session.is_pooled() || !dialect.of_engine().limits_sessions => return Ok(None),
        Protocol::Mysql => mysql(session).await,
        Protocol::Postgres => postgres(session).await,
        Protocol::Sqlite => return Ok(None),
    };
    match asked {
        Err(e) if e.class == ErrorClass::ConnectionLost => Err(e),
        Err(_) => Ok(None),
        Ok(limits) => Ok(limits.into_iter().min_by_key(SessionLimit::left)),
    }
}

/// How many statements of all sessions together a server keeps prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementLimit {
    /// Statements allowed.
    pub limit: u64,
    /// Of them, those that are prepared now.
    pub in_use: u64,
    /// The setting.
    pub name: &'static str,
}

/// MySQL's and MariaDB's limit of prepared statements (MySQL manual, "Server System Variables");
/// `None` on engines without one, and where it can't be read.
///
/// # Errors
/// A lost connection only.
pub async fn statement_limit(session: &mut Session) -> Result<Option<StatementLimit>, DbError> {
    if !session.dialect().of_engine().limits_statements {
        return Ok(None);
    }
    const NAME: &str = "max_prepared_stmt_count";
    let asked = async {
        let limit = session.query("SELECT @@GLOBAL.max_prepared_stmt_count");
        let limit = limit.await?.int(0, 0);
        let status = session.query("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'");
        Ok((limit, status.await?.int(0, 1)))
    };
    match asked.await {
        Ok((limit, in_use)) => {
            let whole = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
            Ok(whole(limit).map(|limit| StatementLimit {
                limit,
                in_use: whole(in_use).unwrap_or(0),
                name: NAME,
            }))
        }
        Err(e) => match e {
            DbError {
                class: ErrorClass::ConnectionLost,
                ..
            } => Err(e),
            _ => Ok(None),
        },
    }
}

/// A number that sets a limit; 0, and -1 for PostgreSQL's roles and databases, sets none.
async fn number(session: &mut Session, sql: &str) -> Result<Option<u64>, DbError> {
    let rows = session.query(sql).await?;
    let number = rows.int(0, 0).and_then(|n| u64::try_from(n).ok());
    Ok(number.filter(|n| *n > 0))
}

/// `max_connections` for all, `max_user_connections` for the account (MySQL manual, "Setting Account
/// Resource Limits": the session's value is the account's limit).
async fn mysql(session: &mut Session) -> Result<Vec<SessionLimit>, DbError> {
    let mut limits = Vec::new();
    if let Some(limit) = number(session, "SELECT @@GLOBAL.max_connections").await? {
        let rows = session
            .query("SHOW GLOBAL STATUS LIKE 'Threads_connected'")
            .await?;
        let threads = rows.int(0, 1).and_then(|n| u64::try_from(n).ok());
        limits.push(SessionLimit {
            limit,
            in_use: threads.unwrap_or(1),
            name: "max_connections",
        });
    }
    // Not every server of the family has limits for accounts.
    let of_account = number(session, "SELECT @@max_user_connections").await;
    if let Ok(Some(limit)) = of_account {
        let mine = "SELECT COUNT(*) FROM information_schema.PROCESSLIST \
                    WHERE USER = SUBSTRING_INDEX(USER(), '@', 1)";
        limits.push(SessionLimit {
            limit,
            in_use: number(session, mine).await?.unwrap_or(1),
            name: "max_user_connections",
        });
    }
    Ok(limits)
}

/// `max_connections` without what is kept for superusers, the role's and the database's
/// `CONNECTION LIMIT` (PostgreSQL manual, "Connections and Authentication", "CREATE ROLE", "CREATE
/// DATABASE"). None of the last two bind a superuser.
async fn postgres(session: &mut Session) -> Result<Vec<SessionLimit>, DbError> {
    const CLIENTS: &str = "SELECT COUNT(*) FROM pg_catalog.pg_stat_activity \
                           WHERE backend_type = 'client backend'";
    let is_superuser = session
        .query("SELECT CASE WHEN rolsuper THEN 1 ELSE 0 END FROM pg_catalog.pg_roles WHERE rolname = CURRENT_USER")
        .await?
        .int(0, 0)
        == Some(1);
    let kept = if is_superuser {
        "'max_connections'"
    } else {
        "'max_connections', 'superuser_reserved_connections', 'reserved_connections'"
    };
    let sql = format!(
        "SELECT SUM(CASE WHEN name = 'max_connections' THEN setting::bigint \
         ELSE -(setting::bigint) END)::bigint FROM pg_catalog.pg_settings WHERE name IN ({kept})"
    );
    let mut limits = Vec::new();
    if let Some(limit) = number(session, &sql).await? {
        limits.push(SessionLimit {
            limit,
            in_use: number(session, CLIENTS).await?.unwrap_or(1),
            name: if is_superuser {
                "max_connections"
            } else {
                "max_connections less superuser_reserved_connections"
            },
        });
    }
    if is_superuser {
        return Ok(limits);
    }
    let role = "SELECT rolconnlimit FROM pg_catalog.pg_roles WHERE rolname = CURRENT_USER";
    if let Some(limit) = number(session, role).await? {
        let mine = format!("{CLIENTS} AND usename = CURRENT_USER");
        limits.push(SessionLimit {
            limit,
            in_use: number(session, &mine).await?.unwrap_or(1),
            name: "the role's CONNECTION LIMIT",
        });
    }
    let database =
        "SELECT datconnlimit FROM pg_catalog.pg_database WHERE datname = CURRENT_DATABASE()";
    if let Some(limit) = number(session, database).await? {
        let here = format!("{CLIENTS} AND datname = CURRENT_DATABASE()");
        limits.push(SessionLimit {
            limit,
            in_use: number(session, &here).await?.unwrap_or(1),
            name: "the database's CONNECTION LIMIT",
        });
    }
    Ok(limits)
}
