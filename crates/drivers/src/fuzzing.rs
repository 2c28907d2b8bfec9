//! What the fuzzers reach the decoders by. Behind a feature that no product has.

pub use crate::mysql::fuzzing as mysql;
pub use crate::postgres::fuzzing as postgres;

use crate::connection::{Connection, Driver};
use crate::mysql::MysqlSession;
use crate::postgres::PostgresSession;
use crate::{ConnectOptions, Session};
use tidemark_core::{DbError, Host, Protocol, Target};
use tidemark_runtime::Stream;

/// Opens a session over a connection that is there, as if it led to `host`.
///
/// # Errors
/// As [`crate::Connector::connect`].
pub async fn open(
    mut stream: Stream,
    host: &Host,
    target: &Target,
    options: &ConnectOptions,
) -> Result<Session, DbError> {
    stream.limit_exchanges(options.statement_timeout);
    let opened = match target.protocol {
        Protocol::Mysql => MysqlSession::open(stream, host, target, None, options)
            .await
            .map(|(session, id)| (Driver::Mysql(session), id)),
        _ => PostgresSession::open(stream, host, target, None, options)
            .await
            .map(|(session, id)| (Driver::Postgres(session), id)),
    };
    let (driver, connection_id) = opened?;
    Ok(Session::new(
        Connection::new(driver, None, connection_id),
        None,
    ))
}
