//! Whether a pooler stands between client and server, and what it does with sessions.
//!
//! A pooler that gives a server session out for a transaction alone (PgBouncer's
//! `pool_mode=transaction`, and its like) leaves in it what was set or prepared there: the next
//! client gets that, and this one another session without it (pgbouncer.org/features.html, "SQL
//! feature map for pooling modes").

use crate::connection::{Connection, Driver};
use crate::postgres::PostgresSession;
use crate::{RowSet, Value};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tidemark_core::{DbError, ErrorClass, ErrorKind, PreparedMode};
use tidemark_runtime::timeout;

/// How long the look at a pooler may take: one whose few server sessions are all held lets nobody in.
const LONGEST_LOOK: Duration = Duration::from_secs(3);
/// How often two sessions are asked for the server's; a pooler may give them out in turn.
const LOOKS: u32 = 8;

/// What stands between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// Nothing that can be told.
    Direct,
    /// A pooler that gives a session a server session to itself.
    Session,
    /// A pooler that gives a session any server session for each transaction.
    Transaction {
        /// Whether statements that a session has prepared are there in all of them (PgBouncer 1.21
        /// and later, `max_prepared_statements`).
        keeps_statements: bool,
    },
}

impl Pooling {
    /// Whether a session has a server session for each transaction alone.
    pub fn is_by_transaction(self) -> bool {
        matches!(self, Pooling::Transaction { .. })
    }
}

/// Why statements can't be prepared through a pooler.
pub(crate) fn no_statements() -> DbError {
    DbError::own(
        ErrorClass::Refused,
        ErrorKind::Pooler,
        "a pooler between client and server is in transaction mode (PgBouncer's \
         pool_mode=transaction), and statements prepared in one server session do not exist in \
         the others (or no two sessions were free to check): use --db-ps-mode=disable (tidemark \
         pgbench: -M simple or -M extended), or connect to the server directly",
    )
}

/// Why something can't be set through a pooler for statements that are prepared.
fn no_settings() -> DbError {
    DbError::own(
        ErrorClass::Refused,
        ErrorKind::Pooler,
        "through a pooler in transaction mode, --isolation and --set-session are sent with every \
         transaction, which prepared statements do not allow: use --db-ps-mode=disable (tidemark \
         pgbench: -M simple or -M extended), or connect to the server directly",
    )
}

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Statements of a run, in the mode that was asked for, and whether settings were asked for.
    Run { is_set: bool },
    /// Whatever else.
    Housekeeping,
}

/// Makes a connection leave nothing behind in the pooler's sessions.
///
/// # Errors
/// [`ErrorClass::Refused`] `pooler` when what a run was asked to do can't be done without.
pub(crate) async fn adapt(
    connection: &mut Connection,
    pooling: Pooling,
    purpose: Use,
) -> Result<(), DbError> {
    let Driver::Postgres(session) = &mut connection.driver else {
        return Ok(());
    };
    let keeps_statements = match pooling {
        Pooling::Direct => return Ok(()),
        Pooling::Session => return session.settle_settings().await,
        Pooling::Transaction { keeps_statements } => keeps_statements,
    };
    match purpose {
        Use::Run { .. } if session.prepares() && !keeps_statements => Err(no_statements()),
        Use::Run { is_set: true } if session.prepares() => Err(no_settings()),
        Use::Run { .. } => Ok(()),
        Use::Housekeeping => {
            if !keeps_statements {
                session.send_text();
            }
            Ok(())
        }
    }
}

/// Looks what a pooler does with two more sessions; `None` where the two could not be had in time, so
/// that nobody knows.
pub(crate) async fn look<O>(open: impl Fn() -> O) -> Option<Pooling>
where
    O: Future<Output = Result<PostgresSession, DbError>>,
{
    let looking = async {
        let mut pair = [open().await?, open().await?];
        let pooling = look_at(&mut pair).await;
        for session in pair {
            session.close().await;
        }
        pooling
    };
    match timeout(LONGEST_LOOK, Box::pin(looking)).await {
        Ok(Ok(pooling)) => Some(pooling),
        Ok(Err(_)) | Err(_) => None,
    }
}

/// What a pooler is taken for that could not be looked at: one whose sessions are shared and keep
/// nothing. Taken for another, what is set would stay in sessions of others.
pub(crate) const UNKNOWN: Pooling = Pooling::Transaction {
    keeps_statements: false,
};

async fn look_at(pair: &mut [PostgresSession; 2]) -> Result<Pooling, DbError> {
    let mut served = [Vec::new(), Vec::new()];
    for _ in 0..LOOKS {
        for (session, seen) in pair.iter_mut().zip(&mut served) {
            let rows = session.query("SELECT pg_backend_pid()").await?;
            seen.extend(rows.int(0, 0));
        }
        let [one, other] = &served;
        let is_shared = one.iter().any(|pid| other.contains(pid));
        let changes = |seen: &[i64]| seen.iter().any(|pid| Some(pid) != seen.first());
        if is_shared || changes(one) || changes(other) {
            return Ok(Pooling::Transaction {
                keeps_statements: keeps_statements(pair).await,
            });
        }
    }
    Ok(Pooling::Session)
}

/// Whether each of two sessions finds its own statement under a name that both use.
async fn keeps_statements(pair: &mut [PostgresSession; 2]) -> bool {
    // No run prepares so many; what an earlier look left is in nobody's way.
    let moment = SystemTime::now().duration_since(UNIX_EPOCH);
    let number = 0x8000_0000 | moment.map_or(0, |m| m.subsec_nanos());
    let mut kept = Vec::new();
    for (session, answer) in pair.iter_mut().zip([1, 2]) {
        session.number_from(number);
        let sql = format!("SELECT CAST({answer} AS INTEGER) + CAST(? AS INTEGER)");
        kept.push((answer, session.prepare(&sql).await));
    }
    let prepared = kept.iter().filter(|(_, made)| made.is_ok()).count();
    let mut own = true;
    for (session, (answer, statement)) in pair.iter_mut().zip(kept) {
        let mut rows = RowSet::new();
        own &= match statement {
            Ok(statement) => {
                let values = [Value::Int(0)];
                let asked = session.fetch(&statement, &values, &mut rows).await;
                asked.is_ok() && rows.int(0, 0) == Some(answer)
            }
            Err(_) => false,
        };
    }
    if !own {
        forget_statement(pair, number, prepared).await;
    }
    own
}

/// Takes a statement out of the server sessions in which it was prepared, of which there are so many. While
/// one session is in a transaction, the other gets another server session.
async fn forget_statement(pair: &mut [PostgresSession; 2], number: u32, prepared: usize) {
    let forget = format!("DEALLOCATE tm{number}");
    let [one, other] = pair;
    let mut gone = 0;
    for _ in 0..LOOKS {
        if gone >= prepared || one.query("BEGIN").await.is_err() {
            return;
        }
        for session in [&mut *other, &mut *one] {
            gone += usize::from(session.query(&forget).await.is_ok());
        }
        // What is deallocated stays so.
        let _ended = one.query("ROLLBACK").await;
    }
}

/// The mode that a look needs, whatever a run has.
pub(crate) const LOOKING: PreparedMode = PreparedMode::Server;
