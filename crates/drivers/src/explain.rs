//! Plans of queries, and the time that the server itself allows a query.

use crate::{Dialect, RowSet};
use std::time::Duration;

impl Dialect {
    /// The statement that tells a query's plan; with `analyze` it executes the query and tells what
    /// each step took, where the engine can.
    ///
    /// Forms are the ones that say most in text: MariaDB's and MySQL's tables leave out conditions
    /// (mariadb.com/kb/en/explain-format-json, dev.mysql.com "EXPLAIN Output Format").
    pub fn explain(&self, query: &str, analyze: bool) -> String {
        let ask = self.of_engine().explain[usize::from(analyze)];
        format!("{ask} {query}")
    }

    /// Statements that make a session plan analytical queries better, where such are known: those
    /// that go-tpc sets on TiDB for its TPC-H.
    pub fn tune_for_analytics(&self) -> Vec<String> {
        let set = |(name, value): &(&str, &str)| format!("SET SESSION {name} = {value}");
        self.of_engine().analytics.iter().map(set).collect()
    }

    /// The statement after which the server ends a session's queries that take longer; `None` where
    /// only the client can. Ending one there spares the server work that nobody waits for.
    pub fn limit_queries(&self, limit: Duration) -> Option<String> {
        let of_engine = self.of_engine().query_limit?;
        let value = (of_engine.value)(limit);
        Some(format!("SET {} = {value}", of_engine.setting))
    }

    /// The statement that clears a limit which the server, the database or the account set for
    /// statements: for what must come to its end. `None` where there are no such limits.
    pub fn unlimit_queries(&self) -> Option<&'static str> {
        self.of_engine().query_limit.map(|limit| limit.clear)
    }
}

/// A plan's rows as text: a line each, its columns beside each other.
pub fn plan_text(rows: &RowSet) -> String {
    let line = |row| {
        let cells = (0..rows.columns()).filter_map(|column| rows.text(row, column));
        cells.collect::<Vec<_>>().join("  ")
    };
    let lines: Vec<String> = (0..rows.len()).map(line).collect();
    lines.join("\n").trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cell;
    use tidemark_core::Engine;

    #[test]
    fn a_limit_is_cleared_by_the_same_setting_that_sets_it() {
        for engine in Engine::ALL {
            let d = Dialect::new(engine);
            let setting = |sql: &str| sql.split('=').next().map(str::to_string);
            let limit = d.limit_queries(Duration::from_secs(7));
            assert_eq!(
                limit.as_deref().map(setting),
                d.unlimit_queries().map(setting),
                "{engine}"
            );
            assert!(d.unlimit_queries().is_none_or(|sql| sql.ends_with("= 0")));
        }
    }

    #[test]
    fn plans_are_asked_in_each_engines_words() {
        let postgres = ["EXPLAIN", "EXPLAIN (ANALYZE, BUFFERS)"];
        for (engine, expected) in [
            (
                Engine::Mariadb,
                ["EXPLAIN FORMAT=JSON", "ANALYZE FORMAT=JSON"],
            ),
            (Engine::Mysql, ["EXPLAIN FORMAT=TREE", "EXPLAIN ANALYZE"]),
            (Engine::Tidb, ["EXPLAIN", "EXPLAIN ANALYZE"]),
            (Engine::Cockroach, ["EXPLAIN", "EXPLAIN ANALYZE"]),
            (Engine::Postgres, postgres),
            (Engine::Yugabyte, postgres),
            (Engine::Sqlite, ["EXPLAIN QUERY PLAN", "EXPLAIN QUERY PLAN"]),
        ] {
            let d = Dialect::new(engine);
            for (analyze, words) in [false, true].into_iter().zip(expected) {
                let asked = d.explain("SELECT 1", analyze);
                assert_eq!(asked, format!("{words} SELECT 1"), "{engine}");
            }
        }
    }

    #[test]
    fn servers_are_told_how_long_a_query_may_take() {
        for (engine, expected) in [
            (
                Engine::Mariadb,
                Some("SET SESSION max_statement_time = 1.5"),
            ),
            (Engine::Mysql, Some("SET SESSION max_execution_time = 1500")),
            (Engine::Tidb, Some("SET SESSION max_execution_time = 1500")),
            (Engine::Postgres, Some("SET statement_timeout = 1500")),
            (Engine::Yugabyte, Some("SET statement_timeout = 1500")),
            (Engine::Cockroach, Some("SET statement_timeout = 1500")),
            (Engine::Sqlite, None),
        ] {
            let said = Dialect::new(engine).limit_queries(Duration::from_millis(1500));
            assert_eq!(said.as_deref(), expected, "{engine}");
        }
    }

    #[test]
    fn only_tidb_is_tuned() {
        for engine in Engine::ALL {
            let statements = Dialect::new(engine).tune_for_analytics();
            assert_eq!(statements.is_empty(), engine != Engine::Tidb, "{engine}");
            assert!(
                statements
                    .iter()
                    .all(|s| s.starts_with("SET SESSION tidb_"))
            );
        }
    }

    #[test]
    fn a_plan_is_a_line_a_row() {
        let mut rows = RowSet::new();
        rows.reset(2);
        for cell in [
            Cell::Int(1),
            Cell::Bytes(b"SCAN t"),
            Cell::Null,
            Cell::Bytes(b""),
        ] {
            rows.push(cell);
        }
        assert_eq!(plan_text(&rows), "1  SCAN t");
    }
}
