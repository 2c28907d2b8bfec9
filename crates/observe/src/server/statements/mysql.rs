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
const WAITED: Metric = Metric::count("waits");
const WAIT_TIME: Metric = Metric::time("waits.time", 1.0 / PICOSECONDS);
/// What performance_schema needs to be asked.
const GRANT: &str = "GRANT SELECT ON performance_schema.* TO ";

/// The server's digests.
pub(crate) struct MysqlStatements {
    db: Db,
    own: Own,
    before: Totals,
}

impl MysqlStatements {
    pub fn new(connector: &Connector, own: &Own) -> Self {
        Self {
            db: Db::new(connector, own),
            own: own.clone(),
            before: Totals::new(),
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
        let sql = "SELECT @@performance_schema, REPLACE(CURRENT_USER(), '@', '\\'@\\'')";
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
        Ok(())
    }

    /// Also takes note of what asking itself added to the server's counters.
    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let rows = self.db.query(WAITS).map_err(|e| e.to_string())?;
        tell(&rows, samples);
        count_own(&mut self.db, &self.own)
    }

    fn statements(&mut self) -> Result<Vec<ServerStatement>, String> {
        let totals = self.totals().map_err(|e| e.to_string())?;
        let grown = since(&self.before, totals);
        let keys: Vec<&str> = grown.iter().map(|(key, _)| key.as_str()).collect();
        let texts = self.texts(&keys).map_err(|e| e.to_string())?;
        Ok(with_texts(grown, &texts))
    }
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
