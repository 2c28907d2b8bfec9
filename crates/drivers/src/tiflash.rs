//! TiFlash, the column store beside TiDB's rows (TiDB documentation, "Create TiFlash Replicas" and
//! "TIFLASH_REPLICA").

use crate::{Dialect, Session, Value};
use tidemark_core::DbError;

impl Dialect {
    /// The statement that has a table kept by columns too, by so many replicas; `None` where the engine
    /// has no such store. It returns before they are there ([`lacking`]).
    pub fn replicate_by_columns(&self, table: &str, replicas: u64) -> Option<String> {
        self.of_engine().has_column_replicas.then(|| {
            let table = self.quote(table);
            format!("ALTER TABLE {table} SET TIFLASH REPLICA {replicas}")
        })
    }
}

/// How many of these tables, which are told to have replicas, don't have them whole yet.
///
/// # Errors
/// The server's error.
pub async fn lacking(session: &mut Session, tables: &[String]) -> Result<u64, DbError> {
    let sql = there(&session.dialect(), tables);
    let rows = session.query(&sql).await?;
    let there = rows.int(0, 0).and_then(|n| u64::try_from(n).ok());
    let there = there.ok_or_else(|| DbError::protocol("COUNT(*) returned no number"))?;
    Ok((tables.len() as u64).saturating_sub(there))
}

/// A replica can be used when it is available, and lags behind while its progress is below 1.
fn there(dialect: &Dialect, tables: &[String]) -> String {
    let names = tables.iter().map(|t| dialect.literal(Value::Text(t)));
    format!(
        "SELECT COUNT(*) FROM information_schema.tiflash_replica \
         WHERE table_schema = DATABASE() AND table_name IN ({}) AND available = 1 AND progress >= 1",
        names.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn tidb_alone_has_it() {
        for engine in Engine::ALL {
            let sql = Dialect::new(engine).replicate_by_columns("lineitem", 2);
            let tidb = "ALTER TABLE `lineitem` SET TIFLASH REPLICA 2";
            assert_eq!(sql.as_deref(), (engine == Engine::Tidb).then_some(tidb));
        }
    }

    #[test]
    fn replicas_that_are_there_are_counted() {
        let sql = there(&Dialect::new(Engine::Tidb), &["a".into(), "b".into()]);
        assert_eq!(
            sql,
            "SELECT COUNT(*) FROM information_schema.tiflash_replica WHERE table_schema = DATABASE() \
             AND table_name IN ('a', 'b') AND available = 1 AND progress >= 1"
        );
    }
}
