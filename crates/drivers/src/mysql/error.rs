//! The server's errors, and what may be done about them.
//!
//! Numbers are those of "MySQL Server Error Message Reference" (dev.mysql.com), "MariaDB Error Code
//! Reference" (mariadb.com/kb) and "TiDB Error Codes and Troubleshooting" (docs.pingcap.com).

use super::packet::{take, take_le};
use super::reply::cut_off;
use crate::connector::refused;
use tidemark_core::{DbError, ErrorClass, ErrorKind, Host};

/// The code of an error that a load makes by itself.
pub(super) const LOAD: &str = "load";

/// Most of a message that is kept.
const LONGEST_MESSAGE: usize = 1024;

/// The error in an ERR packet (MySQL Internals, "ERR_Packet").
pub(super) fn from_packet(payload: &[u8]) -> DbError {
    let read = |mut rest: &[u8]| {
        take(&mut rest, 1)?;
        let number = take_le(&mut rest, 2)? as u16;
        // Before the capabilities are agreed on there is no SQLSTATE.
        let mut state: &[u8] = b"HY000";
        if rest.first() == Some(&b'#') {
            take(&mut rest, 1)?;
            state = take(&mut rest, 5)?;
        }
        let message = String::from_utf8_lossy(&rest[..rest.len().min(LONGEST_MESSAGE)]);
        let kind = kind_of(number, state, &message);
        let error = DbError::new(classify(number, state), number.to_string(), message);
        Some(error.of_kind(kind))
    };
    read(payload).unwrap_or_else(|| cut_off("an error packet"))
}

/// The error of a session that is being opened: the server refused it, whatever its number.
pub(super) fn opening(host: &Host, error: DbError) -> DbError {
    DbError {
        code: error.code,
        kind: error.kind,
        ..refused(host, &error.message)
    }
}

/// What may be done about an error, by its number and SQLSTATE.
pub(super) fn classify(number: u16, state: &[u8]) -> ErrorClass {
    match number {
        // Changed since last read; lock wait timeout; deadlock; deadlock in an XA branch, lock not
        // available at once (NOWAIT).
        1020 | 1205 | 1213 | 1614 | 3572 => ErrorClass::Retryable,
        // TiDB: write conflicts (8002, 8005, 9007), commit failed and rolled back (8022), schema
        // changed under the transaction (8028), and a cluster that is busy or loses a node
        // (9001-9005): "the application can safely retry".
        8002 | 8005 | 8022 | 8028 | 9001..=9005 | 9007 => ErrorClass::Retryable,
        // Shutdown in progress; connection killed (1927 MariaDB, 3169 MySQL); forced to close; idle
        // for too long (4031); aborted; and the errors of the wire (1153-1161), after which the
        // server hangs up. 2006 and 2013 come from proxies in the client library's words.
        1053 | 1079 | 1080 | 1152..=1161 | 1184 | 1927 | 2006 | 2013 | 3169 | 4031 => {
            ErrorClass::ConnectionLost
        }
        // Too many connections (1040, 1203, 1226), access denied to the database (1044) or at all
        // (1045, 1698), host blocked or not allowed (1129, 1130), secure transport required (3159),
        // account locked (3118, 4151 MariaDB), password expired (1820, 1862), server offline (3032).
        1040 | 1044 | 1045 | 1129 | 1130 | 1203 | 1226 | 1698 | 1820 | 1862 | 3032 | 3118
        | 3159 | 4151 => ErrorClass::Refused,
        // Duplicate key (1022, 1062, 1169, 1557, 1586), NULL or no default (1048, 1364), foreign
        // key (1216, 1217, 1451, 1452, 1761, 1762), CHECK (3819; 4025 MariaDB).
        1022 | 1048 | 1062 | 1169 | 1216 | 1217 | 1364 | 1451 | 1452 | 1557 | 1586 | 1761
        | 1762 | 3819 | 4025 => ErrorClass::Constraint,
        // Unknown database, table (1051 in DROP, 1109 among several), column, index, routine.
        1049 | 1051 | 1054 | 1109 | 1146 | 1176 | 1305 => ErrorClass::Missing,
        _ => match state {
            // Serialization failure; class 23 is an integrity constraint's violation, class 08 a
            // connection's (ISO/IEC 9075-2, "SQLSTATE class and subclass codes").
            b"40001" => ErrorClass::Retryable,
            [b'2', b'3', ..] => ErrorClass::Constraint,
            [b'0', b'8', ..] => ErrorClass::ConnectionLost,
            _ => ErrorClass::Fatal,
        },
    }
}

/// What happened, by the same numbers.
fn kind_of(number: u16, state: &[u8], message: &str) -> ErrorKind {
    match number {
        1213 | 1614 => ErrorKind::Deadlock,
        1205 | 3572 => ErrorKind::LockTimeout,
        1020 | 8002 | 8005 | 8022 | 8028 | 9007 => ErrorKind::SerializationFailure,
        1022 | 1062 | 1169 | 1557 | 1586 => ErrorKind::DuplicateKey,
        // ER_OPTION_PREVENTS_STATEMENT (as --read-only), ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION,
        // ER_READ_ONLY_MODE.
        1290 if message.contains("read-only") => ErrorKind::ReadOnly,
        1792 | 1836 => ErrorKind::ReadOnly,
        1049 => ErrorKind::NoDatabase,
        // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS, and ER_USER_LIMIT_REACHED, which is said
        // of other things, too.
        1040 | 1203 => ErrorKind::TooManySessions,
        1226 if message.contains("connections") => ErrorKind::TooManySessions,
        // ER_MAX_PREPARED_STMT_COUNT_REACHED.
        1461 => ErrorKind::TooManyStatements,
        // ER_STATEMENT_TIMEOUT (MariaDB), ER_QUERY_TIMEOUT (MySQL, TiDB).
        1969 | 3024 => ErrorKind::StatementTimeout,
        _ if state == b"40001" => ErrorKind::SerializationFailure,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_states_decide() {
        for (number, state, class) in [
            (1213, b"40001", ErrorClass::Retryable),
            (9007, b"HY000", ErrorClass::Retryable),
            (60000, b"40001", ErrorClass::Retryable),
            (1053, b"08S01", ErrorClass::ConnectionLost),
            (1040, b"08004", ErrorClass::Refused),
            (1045, b"28000", ErrorClass::Refused),
            (1062, b"23000", ErrorClass::Constraint),
            (60000, b"23000", ErrorClass::Constraint),
            (1146, b"42S02", ErrorClass::Missing),
            (1064, b"42000", ErrorClass::Fatal),
        ] {
            assert_eq!(classify(number, state), class, "{number}");
        }
    }

    #[test]
    fn what_happened_is_told_by_number_and_words() {
        use ErrorKind::*;
        let of = |number, message| kind_of(number, b"HY000", message);
        assert_eq!(of(1213, "Deadlock found"), Deadlock);
        assert_eq!(of(1205, "Lock wait timeout exceeded"), LockTimeout);
        assert_eq!(of(9007, "Write conflict"), SerializationFailure);
        assert_eq!(of(1062, "Duplicate entry"), DuplicateKey);
        assert_eq!(of(1049, "Unknown database"), NoDatabase);
        assert_eq!(of(1040, "Too many connections"), TooManySessions);
        assert_eq!(
            of(1203, "User u already has more than 'max_user_connections'"),
            TooManySessions
        );
        assert_eq!(
            of(
                1226,
                "User 'u' has exceeded the 'max_user_connections' resource"
            ),
            TooManySessions
        );
        assert_eq!(
            of(
                1226,
                "User 'u' has exceeded the 'max_queries_per_hour' resource"
            ),
            Other
        );
        assert_eq!(of(1045, "Access denied"), Other);
        assert_eq!(of(1290, "running with the --read-only option"), ReadOnly);
        assert_eq!(
            of(1290, "running with the --secure-file-priv option"),
            Other
        );
        assert_eq!(of(1461, "max_prepared_stmt_count"), TooManyStatements);
        assert_eq!(of(1969, "max_statement_time exceeded"), StatementTimeout);
        assert_eq!(
            of(3024, "maximum statement execution time exceeded"),
            StatementTimeout
        );
        assert_eq!(of(1317, "Query execution was interrupted"), Other);
        assert_eq!(
            kind_of(60000, b"40001", ""),
            ErrorKind::SerializationFailure
        );
    }

    #[test]
    fn packets_with_and_without_a_state_are_read() {
        let e = from_packet(b"\xff\x26\x04#23000Duplicate entry '1' for key 'PRIMARY'");
        assert_eq!((e.class, e.code.as_str()), (ErrorClass::Constraint, "1062"));
        assert_eq!(e.message, "Duplicate entry '1' for key 'PRIMARY'");
        let e = from_packet(b"\xff\x10\x04Too many connections");
        assert_eq!((e.class, e.code.as_str()), (ErrorClass::Refused, "1040"));
        assert_eq!(from_packet(b"\xff\x10").code, "protocol");
        assert_eq!(from_packet(b"\xff\x10\x04#23").code, "protocol");
        let long = [b"\xff\x10\x04".as_slice(), &[b'x'; 5000]].concat();
        assert_eq!(from_packet(&long).message.len(), LONGEST_MESSAGE);
    }
}
