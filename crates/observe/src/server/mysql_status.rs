//! The counters of MariaDB and MySQL (`SHOW GLOBAL STATUS`), less what observing itself adds to them.

use super::mysql_transactions::Transactions;
use crate::db::Db;
use crate::own::{Own, Rest};
use crate::source::{Metric, Samples, SeriesSource};
use std::collections::HashMap;
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::record::Gap;
use tidemark_drivers::{Connector, RowSet};

/// A metric with the variables whose sum it is, less others. A server that has not all of them has no such
/// metric.
struct StatusMetric {
    metric: Metric,
    of: &'static [&'static str],
    less: &'static [&'static str],
    /// Whether sessions count them, too: then the observing sessions' are taken off.
    by_session: bool,
}

impl StatusMetric {
    /// Every variable that it needs.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.of.iter().chain(self.less).copied()
    }

    /// Its value; `None` of a server that has not all of them.
    fn total(&self, values: &HashMap<String, f64>) -> Option<f64> {
        let sum = |names: &[&str]| {
            let each = names.iter().map(|name| values.get(*name).copied());
            each.sum::<Option<f64>>()
        };
        Some(sum(self.of)? - sum(self.less)?)
    }
}

const fn by_session(metric: Metric, of: &'static [&'static str]) -> StatusMetric {
    StatusMetric {
        metric,
        of,
        less: &[],
        by_session: true,
    }
}

const fn global(metric: Metric, of: &'static [&'static str]) -> StatusMetric {
    StatusMetric {
        metric,
        of,
        less: &[],
        by_session: false,
    }
}

const fn between(
    metric: Metric,
    of: &'static [&'static str],
    less: &'static [&'static str],
) -> StatusMetric {
    StatusMetric {
        metric,
        of,
        less,
        by_session: false,
    }
}

/// Up to the last checkpoint, and the most that the log has room for.
const CHECKPOINT_AGE: Metric = Metric::gauge("checkpoint.age", "bytes", -3);
const MOST_AGE: Metric = Metric::gauge("checkpoint.most-age", "bytes", -3);

/// Names after the manuals' chapters on server status variables. Where the servers' names differ, each has
/// one of two rows.
const TOLD: &[StatusMetric] = &[
    by_session(Metric::count("queries"), &["Questions"]),
    by_session(Metric::count("commits"), &["Com_commit"]),
    by_session(Metric::count("rollbacks"), &["Com_rollback"]),
    by_session(
        Metric::count("rows.read"),
        &[
            "Handler_read_first",
            "Handler_read_key",
            "Handler_read_last",
            "Handler_read_next",
            "Handler_read_prev",
            "Handler_read_rnd",
            "Handler_read_rnd_next",
        ],
    ),
    // By whole tables.
    by_session(Metric::count("rows.scanned"), &["Handler_read_rnd_next"]),
    by_session(Metric::count("rows.inserted"), &["Handler_write"]),
    by_session(Metric::count("rows.updated"), &["Handler_update"]),
    by_session(Metric::count("rows.deleted"), &["Handler_delete"]),
    by_session(Metric::bytes("network.received"), &["Bytes_received"]),
    by_session(Metric::bytes("network.sent"), &["Bytes_sent"]),
    global(
        Metric::count("buffer.requests"),
        &["Innodb_buffer_pool_read_requests"],
    ),
    global(
        Metric::count("buffer.misses"),
        &["Innodb_buffer_pool_reads"],
    ),
    global(
        Metric::count("buffer.waits-for-free"),
        &["Innodb_buffer_pool_wait_free"],
    ),
    global(
        Metric::gauge("buffer.dirty", "pages", 0),
        &["Innodb_buffer_pool_pages_dirty"],
    ),
    global(Metric::count("pages.read"), &["Innodb_pages_read"]),
    global(Metric::count("pages.written"), &["Innodb_pages_written"]),
    global(Metric::bytes("data.read"), &["Innodb_data_read"]),
    global(Metric::bytes("data.written"), &["Innodb_data_written"]),
    global(Metric::count("data.syncs"), &["Innodb_data_fsyncs"]),
    global(
        Metric::gauge("data.pending-reads", "requests", 0),
        &["Innodb_data_pending_reads"],
    ),
    global(
        Metric::gauge("data.pending-writes", "requests", 0),
        &["Innodb_data_pending_writes"],
    ),
    global(
        Metric::gauge("data.pending-syncs", "requests", 0),
        &["Innodb_data_pending_fsyncs"],
    ),
    global(Metric::bytes("log.written"), &["Innodb_os_log_written"]),
    global(Metric::count("log.writes"), &["Innodb_log_writes"]),
    global(Metric::count("log.syncs"), &["Innodb_os_log_fsyncs"]),
    global(Metric::count("log.waits"), &["Innodb_log_waits"]),
    global(Metric::count("binlog.commits"), &["Binlog_commits"]),
    global(
        Metric::count("binlog.group-commits"),
        &["Binlog_group_commits"],
    ),
    global(Metric::count("locks.waits"), &["Innodb_row_lock_waits"]),
    global(
        Metric::time("locks.wait-time", 1.0),
        &["Innodb_row_lock_time"],
    ),
    global(
        Metric::gauge("locks.waiting", "sessions", 0),
        &["Innodb_row_lock_current_waits"],
    ),
    global(Metric::count("deadlocks"), &["Innodb_deadlocks"]),
    global(
        Metric::gauge("history.length", "transactions", 0),
        &["Innodb_history_list_length"],
    ),
    // MariaDB.
    global(CHECKPOINT_AGE, &["Innodb_checkpoint_age"]),
    global(MOST_AGE, &["Innodb_checkpoint_max_age"]),
    // MySQL from 8.0.30 on, which flushes at all costs a little before its log is full.
    between(
        CHECKPOINT_AGE,
        &["Innodb_redo_log_current_lsn"],
        &["Innodb_redo_log_checkpoint_lsn"],
    ),
    global(MOST_AGE, &["Innodb_redo_log_capacity_resized"]),
    global(Metric::count("connections"), &["Connections"]),
    global(Metric::count("threads.created"), &["Threads_created"]),
];
/// Sessions that are there, and those that run a statement.
const CONNECTED: Metric = Metric::gauge("sessions.open", "sessions", 0);
const RUNNING: Metric = Metric::gauge("sessions.running", "sessions", 0);

/// The server's status.
pub(crate) struct MysqlStatus {
    db: Db,
    own: Own,
    rest: Rest,
    sql: String,
    transactions: Transactions,
}

impl MysqlStatus {
    /// Of a run whose load several clients make, or one.
    pub fn new(connector: &Connector, own: &Own, by_clients: bool) -> Self {
        let names = TOLD.iter().flat_map(StatusMetric::names);
        let sql = show(
            "GLOBAL",
            names.chain(["Threads_connected", "Threads_running"]),
        );
        Self {
            db: Db::new(connector, own),
            own: own.clone(),
            rest: Rest::default(),
            sql,
            transactions: Transactions::of(connector, by_clients),
        }
    }
}

fn show<'a>(scope: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    format!(
        "SHOW {scope} STATUS WHERE Variable_name IN ({})",
        names.join(", ")
    )
}

/// Rows that SHOW STATUS reads, by the name of the counter.
const READ: &str = "Handler_read_rnd_next";
/// Those that no session counts: a session's counters stay as they are while it shows them
/// (`execute_show_status`), and the server's do not.
const READ_BY_SHOWING: &str = "Handler_read_rnd_next of SHOW STATUS";

/// Asks for status variables, and takes note of what that adds to the server's counters.
fn ask(db: &mut Db, own: &Own, sql: &str) -> Result<RowSet, String> {
    let rows = db.query(sql).map_err(|e| e.to_string())?;
    // MariaDB puts those that are asked for into a table, and reads it to its end.
    if let Some(id) = db.id().filter(|_| db.is_mariadb()) {
        own.add(id, READ_BY_SHOWING, rows.len() as f64 + 1.0);
    }
    Ok(rows)
}

/// What observing adds to a counter.
fn added(own: &Own, counter: &str) -> f64 {
    let shown = match counter {
        READ => own.total(READ_BY_SHOWING),
        _ => 0.0,
    };
    own.total(counter) + shown
}

/// Takes note of what a session adds to the server's counters.
pub(crate) fn count_own(db: &mut Db, own: &Own) -> Result<(), String> {
    let counted = TOLD.iter().filter(|told| told.by_session);
    let sql = show("SESSION", counted.flat_map(StatusMetric::names));
    let rows = ask(db, own, &sql)?;
    if let Some(id) = db.id() {
        for row in 0..rows.len() {
            if let Some((name, total)) = rows.text(row, 0).zip(rows.float(row, 1)) {
                own.count(id, &name, total);
            }
        }
    }
    Ok(())
}

impl SeriesSource for MysqlStatus {
    fn name(&self) -> &str {
        SERVER_STATUS
    }

    fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        self.db.query(&self.sql).map_err(|why| why.gap())?;
        self.transactions.start(&mut self.db, gaps);
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        count_own(&mut self.db, &self.own)?;
        let rows = ask(&mut self.db, &self.own, &self.sql)?;
        samples.are_of_now();
        let all = (0..rows.len()).filter_map(|row| rows.text(row, 0).zip(rows.float(row, 1)));
        let values: HashMap<String, f64> = all.collect();
        for told in TOLD {
            let Some(total) = told.total(&values) else {
                continue;
            };
            let rest = match told.by_session {
                true => {
                    let own = told.of.iter().map(|name| added(&self.own, name)).sum();
                    self.rest.of(told.metric.name, total, own)
                }
                false => total,
            };
            samples.tell(&told.metric, &[], rest);
        }
        let own = self.own.ids().len() as f64;
        if let Some(open) = values.get("Threads_connected") {
            samples.tell(&CONNECTED, &[], (open - own).max(0.0));
        }
        // This statement's own session runs.
        if let Some(running) = values.get("Threads_running") {
            samples.tell(&RUNNING, &[], (running - 1.0).max(0.0));
        }
        self.transactions.sample(&mut self.db, samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(values: &[(&str, f64)]) -> Vec<(&'static str, f64)> {
        let values: HashMap<String, f64> = values
            .iter()
            .map(|(name, value)| ((*name).to_string(), *value))
            .collect();
        let each = TOLD.iter();
        each.filter_map(|told| Some((told.metric.name, told.total(&values)?)))
            .collect()
    }

    #[test]
    fn a_checkpoints_age_has_one_name_and_each_server_its_own_variables() {
        let mariadb = told(&[
            ("Innodb_checkpoint_age", 7e6),
            ("Innodb_checkpoint_max_age", 80e6),
        ]);
        assert_eq!(
            mariadb,
            [("checkpoint.age", 7e6), ("checkpoint.most-age", 80e6)]
        );
        let mysql = told(&[
            ("Innodb_redo_log_current_lsn", 1_007e6),
            ("Innodb_redo_log_checkpoint_lsn", 1_000e6),
            ("Innodb_redo_log_capacity_resized", 100e6),
        ]);
        assert_eq!(
            mysql,
            [("checkpoint.age", 7e6), ("checkpoint.most-age", 100e6)]
        );
        // Half of it is nothing.
        assert_eq!(told(&[("Innodb_redo_log_current_lsn", 1.0)]), []);
    }

    #[test]
    fn rows_with_the_same_metric_share_no_variable() {
        for (n, one) in TOLD.iter().enumerate() {
            for other in TOLD.iter().skip(n + 1) {
                let same = one.metric.name == other.metric.name;
                let shared = one.names().any(|name| other.names().any(|n| n == name));
                assert!(!(same && shared), "{}", one.metric.name);
            }
        }
    }
}
