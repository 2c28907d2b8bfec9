//! How each engine shows one session, or several, the database as it is at one moment.

use crate::Dialect;
use tidemark_core::Protocol;

impl Dialect {
    /// Statements, in order, that begin a transaction whose every statement sees the database as it
    /// is at one moment, whatever other sessions change meanwhile. It only reads, takes no locks
    /// that writers would wait for, and ends with COMMIT.
    ///
    /// SQLite takes its snapshot at the first read (sqlite.org/isolation.html); until then nothing
    /// was seen.
    pub fn begin_snapshot(&self) -> &'static [&'static str] {
        self.of_engine().begin_snapshot
    }

    /// The query that names the transaction's snapshot for other sessions, where they can take it
    /// over; it is theirs to take while the transaction lasts (PostgreSQL manual, "Snapshot
    /// Synchronization Functions").
    pub fn export_snapshot(&self) -> Option<&'static str> {
        self.of_engine().export_snapshot
    }

    /// The statement that takes a named snapshot over, as the first of a transaction begun by
    /// [`Dialect::begin_snapshot`].
    pub fn import_snapshot(&self, name: &str) -> String {
        let name = self.literal(crate::Value::Text(name));
        format!("SET TRANSACTION SNAPSHOT {name}")
    }

    /// What is sent before and after each question in a snapshot that can't be had again, where an
    /// error would end it (YugabyteDB manual, "Savepoints"; CockroachDB manual, "SAVEPOINT").
    pub fn savepoint(&self) -> Option<Savepoint> {
        let shares = self.export_snapshot().is_some();
        (!self.transaction_outlives_errors() && !shares).then_some(Savepoint {
            set: "SAVEPOINT asked",
            release: "RELEASE SAVEPOINT asked",
            go_back: "ROLLBACK TO SAVEPOINT asked",
        })
    }

    /// Whether a transaction goes on after one of its statements failed.
    pub fn transaction_outlives_errors(&self) -> bool {
        self.engine().protocol() != Protocol::Postgres
    }
}

/// The statements of a place within a transaction, to go back to after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Savepoint {
    /// Makes the place.
    pub set: &'static str,
    /// Forgets it.
    pub release: &'static str,
    /// Takes back what came after it, an error as well.
    pub go_back: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn a_snapshot_outlives_an_error_by_itself_by_name_or_by_savepoints() {
        for engine in Engine::ALL {
            let d = Dialect::new(engine);
            let ways = [
                d.transaction_outlives_errors(),
                d.export_snapshot().is_some(),
                d.savepoint().is_some(),
            ];
            assert_eq!(ways.iter().filter(|w| **w).count(), 1, "{engine}");
            let asks = matches!(engine, Engine::Yugabyte | Engine::Cockroach);
            assert_eq!(d.savepoint().is_some(), asks, "{engine}");
        }
    }

    #[test]
    fn only_engines_that_name_snapshots_share_them() {
        for engine in Engine::ALL {
            let d = Dialect::new(engine);
            let begin = d.begin_snapshot().last().copied().unwrap();
            assert!(
                begin.starts_with("BEGIN") || begin.starts_with("START TRANSACTION"),
                "{engine}: {begin}"
            );
        }
        for (engine, shares) in [
            (Engine::Postgres, true),
            (Engine::Yugabyte, false),
            (Engine::Cockroach, false),
            (Engine::Mariadb, false),
        ] {
            let export = Dialect::new(engine).export_snapshot();
            assert_eq!(export.is_some(), shares, "{engine}");
        }
        let postgres = Dialect::new(Engine::Postgres);
        assert_eq!(
            postgres.import_snapshot("0000-1"),
            "SET TRANSACTION SNAPSHOT '0000-1'"
        );
    }
}
