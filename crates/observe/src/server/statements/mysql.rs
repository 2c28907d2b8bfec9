//! MariaDB's and MySQL's digests (`events_statements_summary_by_digest`), and what their threads waited for
//! (`events_waits_summary_global_by_event_name`).

use super::{Totals, since, with_texts};
use crate::db::{Db, Refusal};
use crate::own::Own;
use crate::server::count_own;
use crate::source::{Metric, Samples, SeriesSource};
use std::collections::HashMap;
use std::time::Duration;
use tidemark_core::observe::SERVER_STATEMENTS;
use tidemark_core::record::{Gap, GapKind, ServerStatement};
use tidemark_drivers::{Connector, RowSet};

/// The timers' picoseconds in a millisecond.
const PICOSECONDS: f64 = 1e9;
/// Waits that were finished, of all threads: files and locks, as far as the server's instruments are on.
const WAITS: &str = "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT \
     FROM performance_schema.events_waits_summary_global_by_event_name \
     WHERE COUNT_STAR > 0 AND EVENT_NAME LIKE 'wait/%' ORDER BY SUM_TIMER_WAIT DESC LIMIT 24";
/// So many executions of prepared statements, as a part of those with digests, are told as missing.
const PREPARED: f64 = 0.1;
const WAITED: Metric = Metric::count("waits");
const WAIT_TIME: Metric = Metric::time("waits.time", 1.0 / PICOSECONDS);
/// What performance_schema needs to be asked.
const GRANT: &str = "GRANT SELECT ON performance_schema.* TO ";

/// The server's digests.
pub(crate) struct MysqlStatements {
    db: Db,
    own: Own,
    before: Totals,
    /// Statements that were counted together, for the server's table was full, and our own by then.
    together: (u64, f64),
    /// Executions of prepared statements by then, of a server that keeps no digests of them.
    executed: Option<f64>,
}

impl MysqlStatements {
    pub fn new(connector: &Connector, own: &Own) -> Self {
        Self {
            db: Db::new(connector, own),
            own: own.clone(),
            before: Totals::new(),
            together: (0, 0.0),
            executed: None,
        }
    }

    fn totals(&mut self) -> Result<Totals, Refusal> {
        let sql = "SELECT CONCAT(COALESCE(SCHEMA_NAME, ''), '/', DIGEST), SCHEMA_NAME, COUNT_STAR, \
                   SUM_TIMER_WAIT, MAX_TIMER_WAIT, SUM_LOCK_TIME, SUM_ROWS_SENT + SUM_ROWS_AFFECTED, \
                   SUM_ROWS_EXAMINED FROM performance_schema.events_statements_summary_by_digest \
                   WHERE DIGEST IS NOT NULL";
        let rows = self.db.query(sql)?;
        let mut totals = Totals::with_capacity(rows.len());
        for row in 0..rows.len() {
            let ms = |column| rows.float(row, column).map(|t| t / PICOSECONDS);
            let number = |column| rows.float(row, column).map(|n| n as u64);
            let of = ServerStatement {
                database: rows.text(row, 1).unwrap_or_default(),
                count: number(2).unwrap_or(0),
                time_ms: ms(3).unwrap_or(0.0),
                max_ms: ms(4),
                lock_ms: ms(5),
                rows: number(6).unwrap_or(0),
                rows_examined: number(7),
                ..ServerStatement::default()
            };
            totals.extend(rows.text(row, 0).map(|key| (key, of)));
        }
        Ok(totals)
    }

    /// Statements of no digest so far: those of new forms while the table is full (manual, "Statement Digests").
    fn together(&mut self) -> Result<(u64, f64), Refusal> {
        let sql = "SELECT COALESCE(SUM(COUNT_STAR), 0) FROM \
                   performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NULL";
        let rows = self.db.query(sql)?;
        let count = rows.float(0, 0).map_or(0, |count| count as u64);
        Ok((count, self.own.statements()))
    }

    /// Executions of prepared statements so far; `None` where that can't be read.
    fn executed(&mut self) -> Option<f64> {
        let rows = self
            .db
            .query("SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'")
            .ok()?;
        rows.float(0, 1)
    }

    /// Whether our own statements have digests.
    fn has_own(&mut self) -> Result<bool, Refusal> {
        let sql = "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest \
                   WHERE DIGEST_TEXT LIKE '%events_waits_summary_global_by_event_name%' \
                   AND SCHEMA_NAME <=> DATABASE() AND LAST_SEEN >= NOW() - INTERVAL 5 SECOND";
        let rows = self.db.query(sql)?;
        Ok(rows.int(0, 0).is_some_and(|count| count > 0))
    }

    fn texts(&mut self, keys: &[&str]) -> Result<HashMap<String, String>, Refusal> {
        let digests = keys.iter().filter_map(|key| key.rsplit_once('/'));
        // Hexadecimal digits, as the server gave them.
        let digests: Vec<String> = digests
            .filter(|(_, digest)| digest.chars().all(|c| c.is_ascii_hexdigit()))
            .map(|(_, digest)| format!("'{digest}'"))
            .collect();
        if digests.is_empty() {
            return Ok(HashMap::new());
        }
        let sql = format!(
            "SELECT CONCAT(COALESCE(SCHEMA_NAME, ''), '/', DIGEST), LEFT(DIGEST_TEXT, 2000) FROM \
             performance_schema.events_statements_summary_by_digest WHERE DIGEST IN ({})",
            digests.join(", ")
        );
        let rows = self.db.query(&sql)?;
        let texts = (0..rows.len()).filter_map(|row| rows.text(row, 0).zip(rows.text(row, 1)));
        Ok(texts.collect())
    }
}

impl SeriesSource for MysqlStatements {
    fn name(&self) -> &str {
        SERVER_STATEMENTS
    }

    /// The server sums each event over all threads: 4 ms of CPU a question.
    fn every(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn start(&mut self, _gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let sql = "SELECT @@performance_schema, REPLACE(CURRENT_USER(), '@', '\\'@\\''), VERSION()";
        let rows = self.db.query(sql).map_err(Refusal::gap)?;
        if rows.int(0, 0) == Some(0) {
            return Err(Gap::new(
                GapKind::NoStatements,
                "performance_schema = ON (restart)",
            ));
        }
        let account = rows.text(0, 1).unwrap_or_default();
        self.before = self.totals().map_err(|why| match why {
            Refusal::Statement(_) => Gap::new(GapKind::Refused, format!("{GRANT}'{account}'")),
            other => other.gap(),
        })?;
        self.together = self.together().map_err(Refusal::gap)?;
        // MariaDB's have no digests, MySQL's do.
        let is_mariadb = rows
            .text(0, 2)
            .is_some_and(|version| version.contains("MariaDB"));
        self.executed = if is_mariadb { self.executed() } else { None };
        Ok(())
    }

    /// Also takes note of what asking itself added to the server's counters.
    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let rows = self.db.query(WAITS).map_err(|e| e.to_string())?;
        tell(&rows, samples);
        count_own(&mut self.db, &self.own)
    }

    fn statements(&mut self, gaps: &mut Vec<Gap>) -> Result<Vec<ServerStatement>, String> {
        let totals = self.totals().map_err(|e| e.to_string())?;
        // Who can't be told how many has the statements nevertheless.
        let together = self.together().ok().map(|(now, own)| match self.has_own() {
            // Ours came before the table was full.
            Ok(true) => (now, self.together.1),
            _ => (now, own),
        });
        if let Some(count) = together.and_then(|now| grown_together(self.together, now)) {
            gaps.push(Gap::new(GapKind::StatementsTogether, count.to_string()));
        }
        if let Some(before) = self.executed {
            let executed = self.executed().unwrap_or(before) - before;
            let sum = |of: &Totals| of.values().map(|s| s.count as f64).sum::<f64>();
            let counted = (sum(&totals) - sum(&self.before)).max(0.0);
            if executed > PREPARED * counted {
                gaps.push(Gap::new(GapKind::Prepared, format!("{executed}")));
            }
        }
        let grown = since(&self.before, totals);
        let keys: Vec<&str> = grown.iter().map(|(key, _)| key.as_str()).collect();
        let texts = self.texts(&keys).map_err(|e| e.to_string())?;
        Ok(with_texts(grown, &texts))
    }
}

/// Statements counted together since, without those of observing, all of which may be among them; `None` where
/// there is none.
fn grown_together((before, own_before): (u64, f64), (now, own): (u64, f64)) -> Option<u64> {
    // Totals that shrank began anew.
    let grown = if before > now { now } else { now - before };
    // Out of bounds is the nearest bound.
    let own = (own - own_before) as u64;
    Some(grown.saturating_sub(own)).filter(|count| *count > 0)
}

fn tell(rows: &RowSet, samples: &mut Samples) {
    for row in 0..rows.len() {
        let Some(event) = rows.text(row, 0) else {
            continue;
        };
        let labels = [("event", event.strip_prefix("wait/").unwrap_or(&event))];
        for (metric, column) in [(&WAITED, 1), (&WAIT_TIME, 2)] {
            if let Some(total) = rows.float(row, column) {
                samples.tell(metric, &labels, total);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tidemark_drivers::Cell;

    #[test]
    fn own_statements_are_not_among_those_counted_together() {
        assert_eq!(grown_together((100, 4.0), (100, 9.0)), None);
        assert_eq!(grown_together((100, 4.0), (105, 9.0)), None);
        assert_eq!(grown_together((100, 4.0), (165, 9.0)), Some(60));
        // The server's counts began anew.
        assert_eq!(grown_together((100, 4.0), (65, 9.0)), Some(60));
    }

    #[test]
    fn waits_are_told_by_event() {
        let mut samples = Samples::new(SERVER_STATEMENTS, Duration::from_millis(10));
        // Made after the manual's page on the table.
        for (at, total) in [(None, "1000000000000"), (Some(0), "3000000000000")] {
            std::thread::sleep(Duration::from_millis(10));
            samples.begin(at);
            let mut rows = RowSet::new();
            rows.reset(3);
            for cell in ["wait/io/file/innodb/innodb_log_file", "7", total] {
                rows.push(Cell::Bytes(cell.as_bytes()));
            }
            tell(&rows, &mut samples);
        }
        let series = samples.series();
        let of = |name: &str| series.iter().find(|s| s.key.name == name).unwrap();
        assert_eq!(
            of("waits.time").key.labels["event"],
            "io/file/innodb/innodb_log_file"
        );
        // Two seconds of waiting, in ten milliseconds or longer.
        let time = of("waits.time").summary().unwrap().unwrap().max;
        assert!(time > 0.0 && time <= 200_000.0, "{time}");
        assert_eq!(of("waits").summary().unwrap().unwrap().max, 0.0);
    }
}
