//! How a statement failed, and what may be done about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What may be done about a failed statement. Drivers decide it; nobody else reads engine codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// Roll back and run the transaction again: deadlock, serialisation failure, lock wait.
    Retryable,
    /// The session is gone; a new one may be opened.
    ConnectionLost,
    /// The target refused a session: unreachable, wrong password, TLS refused, too many sessions.
    Refused,
    /// A row broke a constraint (duplicate key): the statement failed, the session is well.
    Constraint,
    /// A table, column or database the statement names does not exist.
    Missing,
    /// Nothing sensible can be done.
    Fatal,
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorClass::Retryable => "retryable",
            ErrorClass::ConnectionLost => "connection lost",
            ErrorClass::Refused => "refused",
            ErrorClass::Constraint => "constraint",
            ErrorClass::Missing => "missing",
            ErrorClass::Fatal => "fatal",
        })
    }
}

/// An error from a database or from the way to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct DbError {
    /// What may be done about it.
    pub class: ErrorClass,
    /// The engine's own code: MySQL's error number (`1213`), PostgreSQL's SQLSTATE (`40P01`),
    /// SQLite's result name (`SQLITE_BUSY`); `io`, `tls`, `protocol`, `connect` for the way to it;
    /// `statement-timeout` when an answer took too long, [`DbError::COMMIT_UNKNOWN`] when that of a
    /// COMMIT never came.
    pub code: String,
    /// The engine's message, or ours; never holds a password.
    pub message: String,
}

impl DbError {
    /// An error of the given class, code and message.
    #[cold]
    pub fn new(class: ErrorClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class,
            code: code.into(),
            message: message.into(),
        }
    }

    /// The peer broke its protocol: the session can't go on.
    #[cold]
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::ConnectionLost, "protocol", message)
    }

    /// The socket failed on an open session.
    #[cold]
    pub fn lost(error: &std::io::Error) -> Self {
        Self::new(
            ErrorClass::ConnectionLost,
            "io",
            format!("connection lost: {error}"),
        )
    }

    /// The code of a file that is refused as a target because it is a run store.
    pub const RUN_STORE: &str = "run-store";

    /// The code of an isolation level that the engine or server lacks.
    pub const ISOLATION: &str = "isolation";

    /// The code of what can't be had through a pooler between client and server.
    pub const POOLER: &str = "pooler";

    /// The code of TLS files of a target that can't be used: the URL, or the option, is wrong.
    pub const TLS_FILES: &str = "tls-files";

    /// The code of a statement that was given up because the server answers nobody any more.
    pub const SILENT: &str = "silent";

    /// The code of a statement outside the measurement that took longer than it may.
    pub const SETUP_TIMEOUT: &str = "setup-timeout";

    /// Whether the server answers nobody any more.
    pub fn is_silent(&self) -> bool {
        self.code == Self::SILENT
    }

    /// The code of a COMMIT that had no answer: what it was to keep may be there or not.
    pub const COMMIT_UNKNOWN: &str = "commit-unknown";

    /// Whether nobody can tell if a transaction holds. Tried again it might be done twice.
    pub fn is_commit_unknown(&self) -> bool {
        self.code == Self::COMMIT_UNKNOWN
    }

    /// Whether a statement was not prepared because the server keeps as many as it may, of all
    /// sessions together (ER_MAX_PREPARED_STMT_COUNT_REACHED): fewer sessions could be had.
    pub fn is_too_many_statements(&self) -> bool {
        self.code == "1461"
    }

    /// Whether a statement was given up because it took longer than it may: by the client
    /// (`statement-timeout`), or by a server that was told to.
    ///
    /// - MariaDB: 1969 (ER_STATEMENT_TIMEOUT); MySQL and TiDB: 3024 (ER_QUERY_TIMEOUT);
    /// - PostgreSQL family: `57014` (query_canceled) with the words of `statement_timeout`.
    pub fn is_timeout(&self) -> bool {
        match self.code.as_str() {
            "statement-timeout" | "1969" | "3024" => true,
            "57014" => self.message.contains("statement timeout"),
            _ => false,
        }
    }

    /// Whether a session was refused because there are as many as the server, the account or a pool
    /// before it allows: fewer could be had.
    ///
    /// - MySQL family: 1040 (ER_CON_COUNT_ERROR), 1203 (ER_TOO_MANY_USER_CONNECTIONS), and 1226
    ///   (ER_USER_LIMIT_REACHED) where it speaks of connections;
    /// - PostgreSQL family: `53300` (too_many_connections);
    /// - PgBouncer: `08P01` with its own words, as "no more connections allowed (max_client_conn)".
    pub fn is_too_many_sessions(&self) -> bool {
        let speaks_of_connections = || self.message.contains("connections");
        match self.code.as_str() {
            "1040" | "1203" | "53300" => true,
            "1226" => speaks_of_connections(),
            "08P01" => speaks_of_connections() && self.message.contains("allowed"),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_took_too_long_is_told_from_one_that_was_cancelled() {
        for (code, message, timeout) in [
            ("statement-timeout", "not answered", true),
            (
                "1969",
                "Query execution was interrupted (max_statement_time exceeded)",
                true,
            ),
            ("3024", "maximum statement execution time exceeded", true),
            (
                "57014",
                "canceling statement due to statement timeout",
                true,
            ),
            ("57014", "canceling statement due to user request", false),
            ("1317", "Query execution was interrupted", false),
        ] {
            let error = DbError::new(ErrorClass::Fatal, code, message);
            assert_eq!(error.is_timeout(), timeout, "{error}");
        }
    }

    #[test]
    fn too_many_sessions_are_told_from_other_refusals() {
        for (code, message, too_many) in [
            ("1040", "can't connect to h: Too many connections", true),
            (
                "1203",
                "User u already has more than 'max_user_connections'",
                true,
            ),
            (
                "1226",
                "User 'u' has exceeded the 'max_user_connections' resource",
                true,
            ),
            (
                "1226",
                "User 'u' has exceeded the 'max_queries_per_hour' resource",
                false,
            ),
            ("53300", "sorry, too many clients already", true),
            (
                "08P01",
                "no more connections allowed (max_client_conn)",
                true,
            ),
            ("08P01", "server login failed: FATAL password", false),
            ("1045", "Access denied", false),
            ("connect", "can't connect to h: Connection refused", false),
        ] {
            let error = DbError::new(ErrorClass::Refused, code, message);
            assert_eq!(error.is_too_many_sessions(), too_many, "{error}");
        }
    }
}
