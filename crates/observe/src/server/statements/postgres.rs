//! PostgreSQL's `pg_stat_statements`, where the database has it.

use super::{Totals, since, with_texts};
use crate::db::{Db, Refusal};
use crate::own::Own;
use crate::source::{Samples, SeriesSource};
use std::collections::HashMap;
use tidemark_core::observe::SERVER_STATEMENTS;
use tidemark_core::record::{Gap, GapKind, ServerStatement};
use tidemark_drivers::Connector;

/// An extension of before PostgreSQL 13 has other columns.
const UPDATE: &str = "ALTER EXTENSION pg_stat_statements UPDATE";
const INSTALL: &str = "shared_preload_libraries = 'pg_stat_statements' (restart), then CREATE EXTENSION pg_stat_statements";

const LATER_COLUMNS: [&str; 3] = ["total_exec_time", "max_exec_time", "wal_bytes"];

/// What the extension counted.
pub(crate) struct PostgresStatements {
    db: Db,
    /// The function under the view, in the extension's schema.
    function: String,
    before: Totals,
}

impl PostgresStatements {
    pub fn new(connector: &Connector, own: &Own) -> Self {
        Self {
            db: Db::new(connector, own),
            function: String::new(),
            before: Totals::new(),
        }
    }

    fn totals(&mut self) -> Result<Totals, Refusal> {
        let sql = format!(
            "SELECT queryid, sum(calls), sum(total_exec_time), max(max_exec_time), sum(rows), \
             sum(shared_blks_hit + shared_blks_read), sum(shared_blks_read), sum(wal_bytes) FROM {}(false) \
             WHERE queryid IS NOT NULL AND dbid = (SELECT oid FROM pg_database \
             WHERE datname = current_database()) GROUP BY queryid",
            self.function
        );
        let rows = self.db.query(&sql)?;
        let mut totals = Totals::with_capacity(rows.len());
        for row in 0..rows.len() {
            let number = |column| rows.float(row, column).map(|n| n as u64);
            let of = ServerStatement {
                count: number(1).unwrap_or(0),
                time_ms: rows.float(row, 2).unwrap_or(0.0),
                max_ms: rows.float(row, 3),
                rows: number(4).unwrap_or(0),
                pages_requested: number(5),
                pages_read: number(6),
                log_bytes: number(7),
                ..ServerStatement::default()
            };
            totals.extend(rows.int(row, 0).map(|id| (id.to_string(), of)));
        }
        Ok(totals)
    }

    fn texts(&mut self, keys: &[&str]) -> Result<HashMap<String, String>, Refusal> {
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let sql = format!(
            "SELECT DISTINCT ON (queryid) queryid, left(query, 2000) FROM {}(true) WHERE queryid IN ({})",
            self.function,
            keys.join(", ")
        );
        let rows = self.db.query(&sql)?;
        let texts = (0..rows.len()).filter_map(|row| rows.int(row, 0).zip(rows.text(row, 1)));
        Ok(texts.map(|(id, text)| (id.to_string(), text)).collect())
    }
}

impl SeriesSource for PostgresStatements {
    fn name(&self) -> &str {
        SERVER_STATEMENTS
    }

    fn start(&mut self, _gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let sql = "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace AS n \
                   ON n.oid = extnamespace WHERE extname = 'pg_stat_statements'";
        let rows = self.db.query(sql).map_err(Refusal::gap)?;
        let missing = || Gap::new(GapKind::NoStatements, INSTALL);
        let schema = rows.text(0, 0).ok_or_else(missing)?;
        self.function = format!("{schema}.pg_stat_statements");
        self.before = self.totals().map_err(|why| match why {
            Refusal::Statement(why) if LATER_COLUMNS.iter().any(|name| why.contains(name)) => {
                Gap::new(GapKind::NoStatements, UPDATE)
            }
            // Its library is not loaded.
            Refusal::Statement(_) => missing(),
            other => other.gap(),
        })?;
        Ok(())
    }

    fn sample(&mut self, _samples: &mut Samples) -> Result<(), String> {
        Ok(())
    }

    fn statements(&mut self, _gaps: &mut Vec<Gap>) -> Result<Vec<ServerStatement>, String> {
        let totals = self.totals().map_err(|e| e.to_string())?;
        let grown = since(&self.before, totals);
        let keys: Vec<&str> = grown.iter().map(|(key, _)| key.as_str()).collect();
        let texts = self.texts(&keys).map_err(|e| e.to_string())?;
        Ok(with_texts(grown, &texts))
    }
}
