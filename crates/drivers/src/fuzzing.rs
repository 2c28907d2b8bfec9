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
    let driver = match target.protocol {
        Protocol::Mysql => MysqlSession::open(stream, host, target, None, options)
            .await
            .map(Driver::Mysql),
        _ => PostgresSession::open(stream, host, target, None, options)
            .await
            .map(Driver::Postgres),
    };
    Ok(Session::new(Connection::new(driver?, None), None))
}
