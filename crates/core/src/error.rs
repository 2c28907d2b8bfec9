//! How a statement failed, and what may be done about it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What may be done about a failed statement. Drivers decide it; nobody else reads engine codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// SQLite's result name (`SQLITE_BUSY`); `io`, `tls`, `protocol`, `timeout` for the way to it.
    pub code: String,
    /// The engine's message, or ours; never holds a password.
    pub message: String,
}

impl DbError {
    /// An error of the given class, code and message.
    pub fn new(class: ErrorClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class,
            code: code.into(),
            message: message.into(),
        }
    }

    /// The peer broke its protocol: the session can't go on.
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::ConnectionLost, "protocol", message)
    }

    /// The socket failed on an open session.
    pub fn lost(error: &std::io::Error) -> Self {
        Self::new(
            ErrorClass::ConnectionLost,
            "io",
            format!("connection lost: {error}"),
        )
    }
}
