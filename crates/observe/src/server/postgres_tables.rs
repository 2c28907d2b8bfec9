//! Sessions of PostgreSQL that block others, rows that wait for VACUUM, and those that are read by whole
//! tables.

use super::postgres_activity::{listed, of_the_run};
use crate::db::{Db, Refusal};
use crate::own::Own;
use crate::source::{Metric, Samples};
use tidemark_drivers::RowSet;

const BLOCKED: Metric = Metric::gauge("locks.blocked", "sessions", 2);
const BLOCKER_AGE: Metric = Metric::gauge("locks.blocker-age", "s", 2);
/// Blocked by sessions that are none of the run's.
const BY_OTHERS: Metric = Metric::gauge("locks.blocked-by-others", "sessions", 2);
const DEAD: Metric = Metric::gauge("rows.dead", "rows", 0);
const SCANNED: Metric = Metric::count("rows.scanned");

/// Of so many waiting sessions it is asked who blocks them: each question holds up the lock table.
const MOST_ASKED: u32 = 20;
/// Dead rows are those of so many tables, the largest,
const MOST_TABLES: u32 = 200;
/// and are asked for once in so many samples.
const DEAD_EVERY: u32 = 5;

/// What is asked beside the counters.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// As SQL has them: what was there at the begin. Their statistics are asked by id, which reads no
    /// table that is counted.
    ids: String,
    /// What is true of the run's sessions.
    of_run: String,
    samples: u32,
    /// Whether sessions were seen to wait: then none that wait is told, too.
    has_waited: bool,
}

impl Tables {
    /// The next sample is the first one.
    pub fn begin_anew(&mut self) {
        self.samples = 0;
    }

    /// Finds the tables.
    ///
    /// # Errors
    /// The server's.
    pub fn start(&mut self, db: &mut Db) -> Result<(), String> {
        let sql = format!(
            "SELECT string_agg(oid::text, ',') FROM (SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n \
             ON n.oid = relnamespace WHERE relkind = 'r' AND nspname <> 'information_schema' \
             AND nspname !~ '^pg_' ORDER BY relpages DESC LIMIT {MOST_TABLES}) AS t"
        );
        let rows = db.query(&sql).map_err(|e| e.to_string())?;
        self.ids = rows.text(0, 0).unwrap_or_default();
        self.of_run = of_the_run(db).map_err(|e| e.to_string())?;
        Ok(())
    }

    /// What is true in SQL of the run's sessions; empty where that is not known.
    pub fn of_the_run(&self) -> &str {
        &self.of_run
    }

    /// Asks; for blockers only where sessions may be `blocked`.
    ///
    /// # Errors
    /// The server's.
    pub fn sample(
        &mut self,
        db: &mut Db,
        own: &Own,
        blocked: bool,
        samples: &mut Samples,
    ) -> Result<(), Refusal> {
        let blocking = match blocked {
            true => self.blocking(db, own)?,
            false => RowSet::default(),
        };
        self.tell_blocking(&blocking, samples);
        let is_due = self.samples.is_multiple_of(DEAD_EVERY);
        self.samples += 1;
        if self.ids.is_empty() {
            return Ok(());
        }
        // Of a table these are the rows of its sequential scans.
        let mut told = vec![(&SCANNED, "sum(pg_stat_get_tuples_returned(o))")];
        told.extend(is_due.then_some((&DEAD, "sum(pg_stat_get_dead_tuples(o))")));
        let expressions: Vec<&str> = told.iter().map(|(_, of)| *of).collect();
        let sql = format!(
            "SELECT {} FROM unnest(ARRAY[{}]::oid[]) AS o",
            expressions.join(", "),
            self.ids
        );
        let name = if is_due { "dead_rows" } else { "scanned_rows" };
        let rows = db.query_prepared(name, &sql)?;
        for (column, (metric, _)) in told.iter().enumerate() {
            if let Some(value) = rows.float(0, column) {
                samples.tell(metric, &[], value);
            }
        }
        Ok(())
    }

    /// Sessions that are blocked, by what those do that block them: `waiting` for a lock themselves,
    /// `active`, `idle-in-transaction`; `other` are prepared transactions and hidden sessions.
    fn blocking(&self, db: &mut Db, own: &Own) -> Result<RowSet, Refusal> {
        let own = listed(&own.ids());
        let of_run = match self.of_run.is_empty() {
            true => "true",
            false => self.of_run.as_str(),
        };
        let sql = format!(
            "WITH a AS MATERIALIZED (SELECT * FROM pg_stat_get_activity(NULL) WHERE pid NOT IN ({own})), \
             w AS MATERIALIZED (SELECT pid FROM a WHERE wait_event_type = 'Lock'), \
             s AS MATERIALIZED (SELECT pid FROM w LIMIT {MOST_ASKED}), \
             b AS MATERIALIZED (SELECT pid, unnest(pg_blocking_pids(pid)) AS by FROM s) \
             SELECT CASE WHEN a.wait_event_type = 'Lock' THEN 'waiting' \
             WHEN a.state LIKE 'idle in transaction%' THEN 'idle-in-transaction' \
             WHEN a.state = 'active' THEN 'active' ELSE 'other' END, \
             count(DISTINCT b.pid)::float8 * (SELECT count(*) FROM w) / (SELECT count(*) FROM s), \
             coalesce(max(extract(epoch FROM clock_timestamp() - a.xact_start)), 0), \
             count(DISTINCT b.pid) FILTER (WHERE a.pid IS NULL OR NOT {of_run})::float8 \
             * (SELECT count(*) FROM w) / (SELECT count(*) FROM s) \
             FROM b LEFT JOIN a ON a.pid = b.by GROUP BY 1"
        );
        db.query_prepared("blockers", &sql)
    }

    fn tell_blocking(&mut self, rows: &RowSet, samples: &mut Samples) {
        const STATES: [&str; 4] = ["active", "idle-in-transaction", "other", "waiting"];
        self.has_waited |= !rows.is_empty();
        if !self.has_waited {
            return;
        }
        let said = |state: &str| {
            let row = (0..rows.len()).find(|row| rows.text(*row, 0).as_deref() == Some(state))?;
            rows.float(row, 1).zip(rows.float(row, 2))
        };
        let mut oldest: f64 = 0.0;
        for state in STATES {
            let (blocked, age) = said(state).unwrap_or((0.0, 0.0));
            samples.tell(&BLOCKED, &[("blocker", state)], blocked);
            oldest = oldest.max(age);
        }
        samples.tell(&BLOCKER_AGE, &[], oldest);
        let by_others = (0..rows.len()).filter_map(|row| rows.float(row, 3));
        samples.tell(&BY_OTHERS, &[], by_others.sum());
    }
}
