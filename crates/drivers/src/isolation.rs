//! The isolation levels that engines have, and how a session takes one.

use crate::connection::Connection;
use crate::{Dialect, Session, Unsupported};
use tidemark_core::{DbError, ErrorClass, ErrorKind, Isolation, Protocol};

impl Dialect {
    /// The levels that the engine has under their own names: one that it would replace by another
    /// is not among them (PostgreSQL manual, 13.2; MySQL manual, "Transaction Isolation Levels";
    /// TiDB, "TiDB Transaction Isolation Levels"; sqlite.org/isolation.html).
    pub fn isolation_levels(&self) -> &'static [Isolation] {
        self.of_engine().isolation_levels
    }

    /// The statement after which all transactions of a session have a level; `None` where they
    /// have no other.
    ///
    /// # Errors
    /// [`Unsupported`] when the engine has not got it.
    pub fn set_isolation(&self, level: Isolation) -> Result<Option<String>, Unsupported> {
        let levels = self.isolation_levels();
        if !levels.contains(&level) {
            let names: Vec<_> = levels.iter().map(|l| l.name()).collect();
            let (engine, example) = (self.engine(), names.last().copied().unwrap_or_default());
            return Err(Unsupported(format!(
                "--isolation={level}: {engine} has {}; for example --isolation={example}",
                names.join(", ")
            )));
        }
        let level = level.sql();
        Ok(match self.engine().protocol() {
            Protocol::Mysql => Some(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")),
            Protocol::Postgres => Some(format!(
                "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"
            )),
            Protocol::Sqlite => None,
        })
    }

    /// Queries for the level that a session's transactions have, the first that is answered, and the
    /// column that tells; none where there is one level.
    ///
    /// The MySQL family calls it `tx_isolation` or `transaction_isolation`, by engine and version.
    /// YugabyteDB may give another than it shows (manual, "Isolation levels").
    fn default_isolation(&self) -> &'static [(&'static str, usize)] {
        self.of_engine().isolation_queries
    }

    /// The query for the level that transactions then really have, where a server may have replaced
    /// it by another (CockroachDB manual, "Transactions": a level that is not enabled is upgraded).
    fn isolation_in_force(&self) -> Option<&'static str> {
        (self.engine().protocol() == Protocol::Postgres).then_some("SHOW transaction_isolation")
    }
}

/// Gives a connection's transactions a level.
///
/// # Errors
/// [`ErrorClass::Refused`] `isolation` when the engine has not got it or puts another in its place;
/// the server's error.
pub(crate) async fn isolate(connection: &mut Connection, level: Isolation) -> Result<(), DbError> {
    let refuse = |why: String| DbError::own(ErrorClass::Refused, ErrorKind::Isolation, why);
    let dialect = Dialect::new(connection.server().engine);
    let sql = dialect.set_isolation(level);
    let Some(sql) = sql.map_err(|e| refuse(e.to_string()))? else {
        return Ok(());
    };
    connection.query(&sql).await?;
    let Some(query) = dialect.isolation_in_force() else {
        return Ok(());
    };
    let rows = connection.query(query).await?;
    let found = rows.text(0, 0).unwrap_or_default();
    if found.eq_ignore_ascii_case(level.sql()) {
        return Ok(());
    }
    Err(refuse(format!(
        "--isolation={level}: the server uses {} instead; enable it there, or use that level",
        found.replace(' ', "-")
    )))
}

/// The level of a session's transactions when none was asked for; `None` where the server doesn't
/// tell.
///
/// # Errors
/// A lost connection only.
pub async fn default_level(session: &mut Session) -> Result<Option<Isolation>, DbError> {
    for (sql, column) in session.dialect().default_isolation() {
        match session.query(sql).await {
            Ok(rows) => {
                let told = rows.text(0, *column).unwrap_or_default();
                return Ok(Isolation::in_sql(&told));
            }
            Err(e) if e.class == ErrorClass::ConnectionLost => return Err(e),
            Err(_) => {}
        }
    }
    let levels = session.dialect().isolation_levels();
    Ok(Some(levels[0]).filter(|_| levels.len() == 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn each_engine_takes_the_levels_that_it_has_and_names_them_for_others() {
        for engine in Engine::ALL {
            let d = Dialect::new(engine);
            for level in Isolation::ALL {
                let set = d.set_isolation(level);
                if !d.isolation_levels().contains(&level) {
                    let why = set.unwrap_err().to_string();
                    let example = d.isolation_levels().last().unwrap();
                    assert!(why.starts_with(&format!("--isolation={level}: ")), "{why}");
                    assert!(why.ends_with(&format!("--isolation={example}")), "{why}");
                } else if engine == Engine::Sqlite {
                    assert_eq!(set, Ok(None));
                } else {
                    assert!(set.unwrap().unwrap().ends_with(level.sql()), "{engine}");
                }
            }
            assert!(
                d.set_isolation(Isolation::ReadUncommitted).is_ok()
                    == matches!(engine, Engine::Mysql | Engine::Mariadb)
            );
        }
    }
}
