//! What the names of waits mean: PostgreSQL's wait events, and the states of MariaDB's and MySQL's
//! process lists.

use crate::WaitClass;

/// What a session that executes a statement is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionActivity {
    /// On a processor, or waiting for one.
    Cpu,
    /// Executing, which may be anything: MariaDB and MySQL show no finer state.
    Executing,
    /// Sending to the client, or waiting for it.
    Client,
    /// Waiting.
    Wait(WaitClass),
}

/// What a session is at by its wait: `Type:Event` is PostgreSQL's, anything else a state's name.
pub(crate) fn doing(wait: &str) -> SessionActivity {
    match wait.split_once(':') {
        Some((kind, event)) if !kind.contains(' ') => postgres(kind, event),
        _ if wait == "CPU" => SessionActivity::Cpu,
        _ => mysql(&wait.to_lowercase()),
    }
}

/// By the tables of the manual's chapter on monitoring statistics; names changed their case in 17.
fn postgres(kind: &str, event: &str) -> SessionActivity {
    let lower = event.to_lowercase();
    let is_log = lower.starts_with("wal") && lower != "walinsert";
    SessionActivity::Wait(match kind {
        "Client" => return SessionActivity::Client,
        "IO" | "LWLock" if is_log => WaitClass::Log,
        "IPC" if lower == "syncrep" => WaitClass::Log,
        "IO" if lower.contains("read")
            || lower.contains("prefetch")
            || lower.starts_with("aio") =>
        {
            WaitClass::DataRead
        }
        "IPC" | "LWLock" if lower == "bufferio" => WaitClass::DataRead,
        "IO" => WaitClass::DataWrite,
        "Lock" => match &*lower {
            "transactionid" | "tuple" | "spectoken" | "virtualxid" => WaitClass::RowLock,
            // Of an index's page; the lock to grow a table is one of the server's own, too.
            "extend" | "page" => WaitClass::Latch,
            // What applications lock by a number of their own.
            "advisory" | "userlock" => WaitClass::Advisory,
            _ => WaitClass::TableLock,
        },
        "LWLock" | "BufferPin" => WaitClass::Latch,
        _ => WaitClass::Other,
    })
}

/// Whether a state of MariaDB's or MySQL's is a wait for a lock that statements on rows share: whoever has
/// it for itself is at DDL, LOCK TABLES or a backup. A table's own lock is what engines without row locks
/// take for each statement.
pub(crate) fn is_of_ddl(state: &str) -> bool {
    let is_wait = doing(state) == SessionActivity::Wait(WaitClass::TableLock);
    is_wait && !state.contains(':') && !state.to_lowercase().contains("table level lock")
}

/// At what InnoDB of MariaDB 10.6 and later leaves a session whose commit waits for the log's flush: the
/// session goes on to its end, and the reply waits there (MDEV-24341).
const UPDATING: &str = "updating status";

/// By the manuals' lists of thread states, of MariaDB and of MySQL 8.4 and 9. A lock on commits is held by who
/// makes a copy (FLUSH TABLES WITH READ LOCK), and no log's.
fn mysql(state: &str) -> SessionActivity {
    let is_any = |words: &[&str]| words.iter().any(|word| state.contains(word));
    if is_any(&[
        "metadata lock",
        "table level lock",
        "table flush",
        "waiting for table",
        "global read lock",
        "schema lock",
        "backup lock",
        "commit lock",
    ]) {
        SessionActivity::Wait(WaitClass::TableLock)
    } else if ["commit", UPDATING].contains(&state)
        || is_any(&[
            "handler commit",
            "prior transaction",
            "semi-sync",
            "group commit",
        ])
    {
        SessionActivity::Wait(WaitClass::Log)
    } else if is_any(&["waiting for row lock"]) {
        SessionActivity::Wait(WaitClass::RowLock)
    } else if is_any(&[" net", "sending to client"]) {
        SessionActivity::Client
    } else if is_any(&["user lock"]) {
        SessionActivity::Wait(WaitClass::Advisory)
    } else if is_any(&["user sleep", "login", "query cache lock"]) {
        SessionActivity::Wait(WaitClass::Other)
    } else {
        SessionActivity::Executing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use WaitClass::*;

    #[test]
    fn locks_that_statements_on_rows_share_are_held_by_others() {
        for state in ["Waiting for table metadata lock", "Waiting for commit lock"] {
            assert!(is_of_ddl(state), "{state}");
        }
        for wait in [
            "Waiting for table level lock",
            "Lock:relation",
            "executing",
            "CPU",
        ] {
            assert!(!is_of_ddl(wait), "{wait}");
        }
    }

    #[test]
    fn names_have_classes() {
        for (wait, class) in [
            ("IO:WalSync", Log),
            ("IO:WALSync", Log),
            ("LWLock:WALWrite", Log),
            ("LWLock:WALInsert", Latch),
            ("IPC:SyncRep", Log),
            ("IO:DataFileRead", DataRead),
            ("IO:AioIoCompletion", DataRead),
            ("IO:DataFileExtend", DataWrite),
            ("Lock:transactionid", RowLock),
            ("Lock:tuple", RowLock),
            ("Lock:relation", TableLock),
            ("Lock:advisory", Advisory),
            ("Lock:userlock", Advisory),
            ("Lock:page", Latch),
            ("User lock", Advisory),
            ("LWLock:BufferContent", Latch),
            ("Commit", Log),
            ("Updating status", Log),
            ("waiting for handler commit", Log),
            ("Waiting for Binlog Group Commit ticket", Log),
            ("Waiting for semi-sync ACK from replica", Log),
            ("Waiting for prior transaction to commit", Log),
            ("Waiting for commit lock", TableLock),
            ("Waiting for global read lock", TableLock),
            ("Waiting for table metadata lock", TableLock),
            ("User sleep", Other),
        ] {
            assert_eq!(doing(wait), SessionActivity::Wait(class), "{wait}");
        }
        for (wait, is) in [
            ("CPU", SessionActivity::Cpu),
            ("Client:ClientRead", SessionActivity::Client),
            ("Sending data", SessionActivity::Executing),
            ("executing", SessionActivity::Executing),
            ("updating", SessionActivity::Executing),
            ("System lock", SessionActivity::Executing),
            ("query end", SessionActivity::Executing),
            ("Sending to client", SessionActivity::Client),
            ("autocommit", SessionActivity::Executing),
            ("Writing to net", SessionActivity::Client),
        ] {
            assert_eq!(doing(wait), is, "{wait}");
        }
    }
}
