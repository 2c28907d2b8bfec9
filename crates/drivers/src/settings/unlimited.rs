//! Sessions that work for as long as it takes.

use crate::Session;
use tidemark_core::{DbError, ErrorClass, Protocol};

/// Frees a session from the limits that servers and accounts are set to: of PostgreSQL's, those that
/// this version knows (manual, "Statement Behavior"; `transaction_timeout` is of 17). Each is a `SET`,
/// which a session behind a pooler carries with its transactions and leaves in no other's. A server
/// that doesn't let go tells by its error later.
///
/// # Errors
/// A lost connection only: the account may not, or the engine has none.
pub async fn unlimit(session: &mut Session) -> Result<(), DbError> {
    match lift(session).await {
        Err(e) if e.class == ErrorClass::ConnectionLost => Err(e),
        Err(_) => session.rollback().await,
        Ok(()) => Ok(()),
    }
}

async fn lift(session: &mut Session) -> Result<(), DbError> {
    let dialect = session.dialect();
    if dialect.engine().protocol() != Protocol::Postgres {
        if let Some(sql) = dialect.unlimit_queries() {
            session.query(sql).await?;
        }
        return Ok(());
    }
    let limits = session
        .query(
            "SELECT name FROM pg_catalog.pg_settings WHERE name IN ('statement_timeout', \
             'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', \
             'idle_session_timeout') AND setting <> '0'",
        )
        .await?;
    for name in (0..limits.len()).filter_map(|row| limits.text(row, 0)) {
        session.query(&format!("SET {name} = 0")).await?;
    }
    Ok(())
}
