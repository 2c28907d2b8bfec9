//! The server's errors, and what may be done about them.

use tidemark_core::{DbError, ErrorClass, ErrorKind};

/// The fields of an `ErrorResponse` that decide something (manual, "Error and Notice Message
/// Fields").
#[derive(Debug, Default)]
pub(super) struct ServerError {
    /// Whether the server ends the session after it.
    pub fatal: bool,
    /// SQLSTATE.
    pub code: String,
    /// The primary message.
    pub message: String,
    /// What more there is to say of it.
    pub detail: String,
}

impl ServerError {
    /// Reads the body of an `ErrorResponse`, also one that was cut off.
    pub fn parse(body: &[u8]) -> Self {
        let mut error = Self::default();
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        for field in body.split(|b| *b == 0) {
            match field.split_first() {
                // `S` may be translated, `V` never is but came with 9.6.
                Some((b'S' | b'V', value)) => {
                    error.fatal |= matches!(value, b"FATAL" | b"PANIC");
                }
                Some((b'C', value)) => error.code = text(value),
                Some((b'M', value)) => error.message = text(value),
                Some((b'D', value)) => error.detail = text(value),
                _ => {}
            }
        }
        if error.message.is_empty() {
            error.message = "the server gave no reason".into();
        }
        error
    }

    /// What happened (manual, appendix A).
    pub fn kind(&self) -> ErrorKind {
        match self.code.as_str() {
            // deadlock_detected, lock_not_available.
            "40P01" => ErrorKind::Deadlock,
            "55P03" => ErrorKind::LockTimeout,
            "40001" | "CR000" => ErrorKind::SerializationFailure,
            // unique_violation.
            "23505" => ErrorKind::DuplicateKey,
            // read_only_sql_transaction.
            "25006" => ErrorKind::ReadOnly,
            // invalid_catalog_name.
            "3D000" => ErrorKind::NoDatabase,
            // too_many_connections; PgBouncer has words of its own, as "no more connections allowed
            // (max_client_conn)".
            "53300" => ErrorKind::TooManySessions,
            "08P01" if self.has("connections") && self.has("allowed") => ErrorKind::TooManySessions,
            // query_canceled, which somebody may have asked for, too.
            "57014" if self.has("statement timeout") => ErrorKind::StatementTimeout,
            _ if is_retried(&self.code, &self.message) => ErrorKind::SerializationFailure,
            _ => ErrorKind::Other,
        }
    }

    fn has(&self, words: &str) -> bool {
        self.message.contains(words)
    }

    /// The error of a statement on an open session.
    pub fn of_statement(self) -> DbError {
        let class = if self.fatal {
            ErrorClass::ConnectionLost
        } else {
            class_of(&self.code, &self.message)
        };
        let kind = self.kind();
        let mut message = self.message;
        // dependent_objects_still_exist: the detail alone says which.
        if self.code == "2BP01" && !self.detail.is_empty() {
            message = format!("{message} ({})", self.detail.replace('\n', "; "));
        }
        // duplicate_prepared_statement, invalid_sql_statement_name; and of a statement of the same
        // name with other parameters, a protocol_violation.
        let is_anothers = match self.code.as_str() {
            "42P05" | "26000" => true,
            "08P01" => message.contains("prepared statement \"tm"),
            _ => false,
        };
        if is_anothers {
            message += "; a session prepares each statement once, but a pooler may switch its \
                        server session: use --db-ps-mode=disable";
        }
        DbError::new(class, self.code, message).of_kind(kind)
    }
}

/// CockroachDB, "Transaction Retry Error Reference": every retry error says this, whatever its state;
/// but a result that may have been committed must not be tried again blindly.
fn is_retried(code: &str, message: &str) -> bool {
    message.contains("restart transaction") && code != "40003"
}

/// What may be done about an SQLSTATE (manual, appendix A "PostgreSQL Error Codes").
fn class_of(code: &str, message: &str) -> ErrorClass {
    match code {
        // serialization_failure, deadlock_detected, lock_not_available.
        "40001" | "40P01" | "55P03" => ErrorClass::Retryable,
        // CockroachDB's own state for retries before version 2.
        "CR000" => ErrorClass::Retryable,
        _ if is_retried(code, message) => ErrorClass::Retryable,
        // undefined_table, undefined_column, invalid_schema_name, invalid_catalog_name.
        "42P01" | "42703" | "3F000" | "3D000" => ErrorClass::Missing,
        // too_many_connections.
        "53300" => ErrorClass::Refused,
        // admin_shutdown, crash_shutdown, cannot_connect_now.
        "57P01" | "57P02" | "57P03" => ErrorClass::ConnectionLost,
        // Connection exceptions, protocol_violation (08P01) among them.
        _ if code.starts_with("08") => ErrorClass::ConnectionLost,
        // Integrity constraint violations.
        _ if code.starts_with("23") => ErrorClass::Constraint,
        // invalid_authorization_specification, invalid_password.
        _ if code.starts_with("28") => ErrorClass::Refused,
        _ => ErrorClass::Fatal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(severity: &str, code: &str, message: &str) -> Vec<u8> {
        format!("S{severity}\0V{severity}\0C{code}\0M{message}\0Fproc.c\0\0").into_bytes()
    }

    fn class(severity: &str, code: &str, message: &str) -> ErrorClass {
        ServerError::parse(&body(severity, code, message))
            .of_statement()
            .class
    }

    #[test]
    fn states_of_the_manual_have_their_class() {
        for (code, expected) in [
            ("40001", ErrorClass::Retryable),
            ("40P01", ErrorClass::Retryable),
            ("55P03", ErrorClass::Retryable),
            ("40003", ErrorClass::Fatal),
            ("57P01", ErrorClass::ConnectionLost),
            ("08006", ErrorClass::ConnectionLost),
            ("28P01", ErrorClass::Refused),
            ("53300", ErrorClass::Refused),
            ("23505", ErrorClass::Constraint),
            ("23503", ErrorClass::Constraint),
            ("42P01", ErrorClass::Missing),
            ("42703", ErrorClass::Missing),
            ("3F000", ErrorClass::Missing),
            ("42601", ErrorClass::Fatal),
            ("25P02", ErrorClass::Fatal),
            ("53100", ErrorClass::Fatal),
            ("57014", ErrorClass::Fatal),
        ] {
            assert_eq!(class("ERROR", code, "m"), expected, "{code}");
        }
    }

    #[test]
    fn what_happened_is_told_by_state_and_words() {
        use ErrorKind::*;
        let of = |code, message| {
            ServerError::parse(&body("ERROR", code, message))
                .of_statement()
                .kind
        };
        assert_eq!(of("40P01", "deadlock detected"), Deadlock);
        assert_eq!(of("55P03", "could not obtain lock"), LockTimeout);
        assert_eq!(of("40001", "could not serialize"), SerializationFailure);
        assert_eq!(of("XXUUU", "restart transaction: x"), SerializationFailure);
        assert_eq!(of("23505", "duplicate key value"), DuplicateKey);
        assert_eq!(of("23503", "violates foreign key"), Other);
        assert_eq!(of("3D000", "database \"x\" does not exist"), NoDatabase);
        assert_eq!(
            of("53300", "sorry, too many clients already"),
            TooManySessions
        );
        assert_eq!(
            of("08P01", "no more connections allowed (max_client_conn)"),
            TooManySessions
        );
        assert_eq!(of("08P01", "server login failed: FATAL password"), Other);
        assert_eq!(
            of("57014", "canceling statement due to statement timeout"),
            StatementTimeout
        );
        assert_eq!(
            of("57014", "canceling statement due to user request"),
            Other
        );
    }

    #[test]
    fn what_ends_the_session_is_a_lost_connection() {
        for code in ["57P05", "25P03", "XX000"] {
            assert_eq!(class("FATAL", code, "m"), ErrorClass::ConnectionLost);
        }
    }

    #[test]
    fn documented_retry_errors_of_cockroachdb_and_yugabytedb_are_retryable() {
        // CockroachDB, "Transaction Retry Error Reference".
        let message = "restart transaction: TransactionRetryWithProtoRefreshError: \
                       TransactionRetryError: retry txn (RETRY_WRITE_TOO_OLD)";
        assert_eq!(class("ERROR", "40001", message), ErrorClass::Retryable);
        assert_eq!(class("ERROR", "CR000", message), ErrorClass::Retryable);
        assert_eq!(class("ERROR", "XXUUU", message), ErrorClass::Retryable);
        assert_eq!(
            class(
                "ERROR",
                "40003",
                "result is ambiguous (restart transaction)"
            ),
            ErrorClass::Fatal
        );
        // YugabyteDB, "Transaction error codes in YSQL".
        let message = "could not serialize access due to concurrent update";
        assert_eq!(class("ERROR", "40001", message), ErrorClass::Retryable);
        assert_eq!(
            class("ERROR", "40P01", "deadlock detected"),
            ErrorClass::Retryable
        );
    }

    #[test]
    fn a_statement_of_another_session_tells_of_poolers() {
        for (code, message, hints) in [
            ("42P05", "prepared statement \"tm1\" already exists", true),
            ("26000", "prepared statement \"tm1\" does not exist", true),
            (
                "08P01",
                "bind message supplies 1 parameters, but prepared statement \"tm1\" requires 2",
                true,
            ),
            ("08P01", "invalid message format", false),
            ("42P01", "relation \"t\" does not exist", false),
        ] {
            let error = ServerError::parse(&body("ERROR", code, message)).of_statement();
            assert!(error.message.starts_with(message));
            let hint = error.message.contains("a pooler");
            assert_eq!(hint, hints, "{error}");
            assert_eq!(hint, error.message.contains("--db-ps-mode=disable"));
        }
    }

    #[test]
    fn a_body_cut_off_still_tells_something() {
        let whole = body("ERROR", "42P01", "relation \"t\" does not exist");
        for end in 0..whole.len() {
            let error = ServerError::parse(&whole[..end]);
            assert!(!error.message.is_empty());
        }
        assert_eq!(ServerError::parse(&whole).code, "42P01");
    }
}
