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

/// What happened, where the code above the drivers does something about it. Drivers read it from the
/// engine's codes and words; nobody else knows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// Sessions waited for each other.
    Deadlock,
    /// A lock was not to be had in time.
    LockTimeout,
    /// A concurrent transaction changed what this one read.
    SerializationFailure,
    /// There is a row of that key.
    DuplicateKey,
    /// The server, or the transaction, takes no writes.
    ReadOnly,
    /// There is no database of the target's name.
    NoDatabase,
    /// As many sessions as the server, the account or a pool before it allows: fewer could be had.
    TooManySessions,
    /// As many prepared statements as the server keeps, of all sessions together.
    TooManyStatements,
    /// A statement took longer than it may, by the client's clock or the server's.
    StatementTimeout,
    /// A statement outside the measurement took longer than it may.
    SetupTimeout,
    /// The server answers nobody any more.
    Silent,
    /// A COMMIT had no answer: what it was to keep may be there or not. Tried again it might be done
    /// twice.
    CommitUnknown,
    /// The file is a run store, and no target.
    RunStore,
    /// An isolation level that the engine or server lacks.
    Isolation,
    /// What can't be had through a pooler between client and server.
    Pooler,
    /// TLS files of a target that can't be used: the URL, or the option, is wrong.
    TlsFiles,
    /// Rows that are not what they must be (`--validate`).
    Validation,
    /// The workload itself says that it may be counted and tried again.
    Ignorable,
    /// Nothing that anybody looks for.
    #[default]
    Other,
}

impl ErrorKind {
    /// Its name, which is the code of errors that are Tidemark's own.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::Deadlock => "deadlock",
            ErrorKind::LockTimeout => "lock-timeout",
            ErrorKind::SerializationFailure => "serialization-failure",
            ErrorKind::DuplicateKey => "duplicate-key",
            ErrorKind::ReadOnly => "read-only",
            ErrorKind::NoDatabase => "no-database",
            ErrorKind::TooManySessions => "too-many-sessions",
            ErrorKind::TooManyStatements => "too-many-statements",
            ErrorKind::StatementTimeout => "statement-timeout",
            ErrorKind::SetupTimeout => "setup-timeout",
            ErrorKind::Silent => "silent",
            ErrorKind::CommitUnknown => "commit-unknown",
            ErrorKind::RunStore => "run-store",
            ErrorKind::Isolation => "isolation",
            ErrorKind::Pooler => "pooler",
            ErrorKind::TlsFiles => "tls-files",
            ErrorKind::Validation => "validation",
            ErrorKind::Ignorable => "ignorable",
            ErrorKind::Other => "other",
        }
    }
}

/// An error from a database or from the way to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct DbError {
    /// What may be done about it.
    pub class: ErrorClass,
    /// What happened.
    pub kind: ErrorKind,
    /// The engine's own code: MySQL's error number (`1213`), PostgreSQL's SQLSTATE (`40P01`),
    /// SQLite's result name (`SQLITE_BUSY`); `io`, `tls`, `protocol`, `connect` for the way to it;
    /// the kind's name where the error is Tidemark's own. For people and records: code asks the kind.
    pub code: String,
    /// The engine's message, or ours; never holds a password.
    pub message: String,
}

impl DbError {
    /// An error of the given class, code and message, of no particular kind.
    #[cold]
    pub fn new(class: ErrorClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class,
            kind: ErrorKind::Other,
            code: code.into(),
            message: message.into(),
        }
    }

    /// An error of Tidemark's own, whose code is its kind's name.
    #[cold]
    pub fn own(class: ErrorClass, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::new(class, kind.name(), message).of_kind(kind)
    }

    /// The same error, of that kind.
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_by_its_name() {
        for kind in [
            ErrorKind::SerializationFailure,
            ErrorKind::CommitUnknown,
            ErrorKind::TlsFiles,
            ErrorKind::Other,
        ] {
            let written = serde_json::to_string(&kind).unwrap();
            assert_eq!(written, format!("\"{}\"", kind.name()));
        }
        let own = DbError::own(ErrorClass::Fatal, ErrorKind::Silent, "no reply");
        assert_eq!((own.kind, own.code.as_str()), (ErrorKind::Silent, "silent"));
    }
}
