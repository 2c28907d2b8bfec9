//! SQLite's result codes as error classes (sqlite.org/rescode.html).

use rusqlite::ffi;
use tidemark_core::{DbError, ErrorClass, ErrorKind};

/// Primary result codes, by number.
const NAMES: [&str; 27] = [
    "SQLITE_OK",
    "SQLITE_ERROR",
    "SQLITE_INTERNAL",
    "SQLITE_PERM",
    "SQLITE_ABORT",
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_NOMEM",
    "SQLITE_READONLY",
    "SQLITE_INTERRUPT",
    "SQLITE_IOERR",
    "SQLITE_CORRUPT",
    "SQLITE_NOTFOUND",
    "SQLITE_FULL",
    "SQLITE_CANTOPEN",
    "SQLITE_PROTOCOL",
    "SQLITE_EMPTY",
    "SQLITE_SCHEMA",
    "SQLITE_TOOBIG",
    "SQLITE_CONSTRAINT",
    "SQLITE_MISMATCH",
    "SQLITE_MISUSE",
    "SQLITE_NOLFS",
    "SQLITE_AUTH",
    "SQLITE_FORMAT",
    "SQLITE_RANGE",
    "SQLITE_NOTADB",
];

/// The bits of an extended result code that hold its primary code.
const PRIMARY: i32 = 0xff;

/// Turns SQLite's error into ours; the code is the primary result code's name.
pub(super) fn db_error(error: &rusqlite::Error) -> DbError {
    let (code, message) = match error {
        rusqlite::Error::SqliteFailure(e, message) => (e.extended_code, message.clone()),
        rusqlite::Error::SqlInputError { error, msg, .. } => {
            (error.extended_code, Some(msg.clone()))
        }
        other => return DbError::new(ErrorClass::Fatal, "SQLITE_MISUSE", other.to_string()),
    };
    let primary = code & PRIMARY;
    let mut message = message.unwrap_or_else(|| ffi::code_to_str(code).to_owned());
    if code == ffi::SQLITE_BUSY_SNAPSHOT {
        message.push_str(" (SQLITE_BUSY_SNAPSHOT: another session wrote since this one read)");
    }
    DbError::new(class(primary, &message), name(primary), message).of_kind(kind(code))
}

fn kind(code: i32) -> ErrorKind {
    match code {
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_ROWID => ErrorKind::DuplicateKey,
        ffi::SQLITE_BUSY_SNAPSHOT => ErrorKind::SerializationFailure,
        _ => match code & PRIMARY {
            ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => ErrorKind::LockTimeout,
            ffi::SQLITE_READONLY => ErrorKind::ReadOnly,
            _ => ErrorKind::Other,
        },
    }
}

fn name(primary: i32) -> &'static str {
    usize::try_from(primary)
        .ok()
        .and_then(|at| NAMES.get(at).copied())
        .unwrap_or("SQLITE_UNKNOWN")
}

fn class(primary: i32, message: &str) -> ErrorClass {
    match primary {
        // SQLITE_PROTOCOL is a lost race for the WAL's locks, SQLITE_SCHEMA one with DDL.
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL | ffi::SQLITE_SCHEMA => {
            ErrorClass::Retryable
        }
        ffi::SQLITE_CONSTRAINT => ErrorClass::Constraint,
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_NOTADB | ffi::SQLITE_PERM | ffi::SQLITE_AUTH => {
            ErrorClass::Refused
        }
        // SQLite has no code of its own for names that don't exist.
        ffi::SQLITE_ERROR if MISSING.iter().any(|m| message.contains(m)) => ErrorClass::Missing,
        _ => ErrorClass::Fatal,
    }
}

const MISSING: [&str; 4] = [
    "no such table",
    "no such column",
    "no such index",
    "has no column named",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32, message: &str) -> DbError {
        db_error(&rusqlite::Error::SqliteFailure(
            ffi::Error::new(code),
            Some(message.into()),
        ))
    }

    #[test]
    fn names_stand_at_their_numbers() {
        assert_eq!(name(ffi::SQLITE_BUSY), "SQLITE_BUSY");
        assert_eq!(name(ffi::SQLITE_FULL), "SQLITE_FULL");
        assert_eq!(name(ffi::SQLITE_CONSTRAINT), "SQLITE_CONSTRAINT");
        assert_eq!(name(ffi::SQLITE_NOTADB), "SQLITE_NOTADB");
    }

    #[test]
    fn classes_follow_the_primary_code() {
        let of = |code, message| failure(code, message).class;
        assert_eq!(of(ffi::SQLITE_BUSY_SNAPSHOT, ""), ErrorClass::Retryable);
        assert_eq!(of(ffi::SQLITE_LOCKED, ""), ErrorClass::Retryable);
        assert_eq!(
            of(ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ""),
            ErrorClass::Constraint
        );
        assert_eq!(
            of(ffi::SQLITE_ERROR, "no such table: t"),
            ErrorClass::Missing
        );
        assert_eq!(
            of(ffi::SQLITE_ERROR, "near \"x\": syntax error"),
            ErrorClass::Fatal
        );
        for fatal in [
            ffi::SQLITE_FULL,
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_READONLY_DIRECTORY,
        ] {
            assert_eq!(of(fatal, ""), ErrorClass::Fatal);
        }
        assert_eq!(of(ffi::SQLITE_CANTOPEN, ""), ErrorClass::Refused);
    }

    #[test]
    fn what_happened_is_told_by_the_extended_code() {
        for (code, kind) in [
            (ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ErrorKind::DuplicateKey),
            (ffi::SQLITE_CONSTRAINT_NOTNULL, ErrorKind::Other),
            (ffi::SQLITE_BUSY_SNAPSHOT, ErrorKind::SerializationFailure),
            (ffi::SQLITE_BUSY, ErrorKind::LockTimeout),
            (ffi::SQLITE_READONLY_DIRECTORY, ErrorKind::ReadOnly),
        ] {
            assert_eq!(failure(code, "").kind, kind, "{code}");
        }
    }

    #[test]
    fn extended_codes_keep_the_primary_name() {
        let e = failure(ffi::SQLITE_BUSY_SNAPSHOT, "database is locked");
        assert_eq!(e.code, "SQLITE_BUSY");
        assert!(e.message.contains("BUSY_SNAPSHOT"), "{e}");
    }
}
