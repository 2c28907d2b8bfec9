//! The counters of MariaDB and MySQL (`SHOW GLOBAL STATUS`), less what observing itself adds to them.

use super::mysql_transactions::Transactions;
use crate::db::Db;
use crate::own::{Own, Rest};
use crate::source::{Metric, Samples, SeriesSource};
use std::collections::HashMap;
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::record::Gap;
use tidemark_drivers::Connector;

/// A metric with the variables whose sum it is. A server that has not all of them has no such metric.
struct Told {
    metric: Metric,
    of: &'static [&'static str],
    /// A variable that is taken off the sum, in a server that has no other.
    less: Option<&'static str>,
    /// Whether sessions count them, too: then the observing sessions' are taken off.
    by_session: bool,
}

impl Told {
    /// What a server's variables give; nothing where one is missing.
    fn value(&self, values: &HashMap<String, f64>) -> Option<f64> {
        let of = self.of.iter().map(|name| values.get(*name).copied());
        let sum = of.sum::<Option<f64>>()?;
        match self.less {
            // The two are read one after the other.
            Some(less) => Some((sum - values.get(less)?).max(0.0)),
            None => Some(sum),
        }
    }
}

const fn by_session(metric: Metric, of: &'static [&'static str]) -> Told {
    Told {
        metric,
        of,
        less: None,
        by_session: true,
    }
}

const fn global(metric: Metric, of: &'static [&'static str]) -> Told {
    Told {
        metric,
        of,
        less: None,
        by_session: false,
    }
}

/// The distance of two variables.
const fn distance(metric: Metric, of: &'static [&'static str], less: &'static str) -> Told {
    Told {
        metric,
        of,
        less: Some(less),
        by_session: false,
    }
}

/// Names after the manuals' chapters on server status variables (MariaDB 10.6 to 11.8, MySQL 8.0 to 9). Only
/// MariaDB has `Binlog_commits`, `Innodb_deadlocks`, `Innodb_history_list_length` and
/// `Innodb_checkpoint_age`; of MySQL the [transactions](super::mysql_transactions) tell the two between.
const TOLD: &[Told] = &[
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
    global(
        Metric::gauge("checkpoint.age", "bytes", -3),
        &["Innodb_checkpoint_age"],
    ),
    // MySQL's, from 8.0.30 on, for the same.
    distance(
        Metric::gauge("checkpoint.age", "bytes", -3),
        &["Innodb_redo_log_current_lsn"],
        "Innodb_redo_log_checkpoint_lsn",
    ),
    global(
        Metric::gauge("checkpoint.most-age", "bytes", -3),
        &["Innodb_checkpoint_max_age"],
    ),
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
    pub fn new(connector: &Connector, own: &Own) -> Self {
        let names = TOLD
            .iter()
            .flat_map(|told| told.of.iter().copied().chain(told.less));
        let sql = show(
            "GLOBAL",
            names.chain(["Threads_connected", "Threads_running"]),
        );
        Self {
            db: Db::new(connector, own),
            own: own.clone(),
            rest: Rest::default(),
            sql,
            transactions: Transactions::default(),
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

/// Takes note of what a session adds to the server's counters.
pub(crate) fn count_own(db: &mut Db, own: &Own) -> Result<(), String> {
    let counted = TOLD.iter().filter(|told| told.by_session);
    let sql = show("SESSION", counted.flat_map(|told| told.of).copied());
    let rows = db.query(&sql).map_err(|e| e.to_string())?;
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
        let rows = self.db.query(&self.sql).map_err(|e| e.to_string())?;
        let all = (0..rows.len()).filter_map(|row| rows.text(row, 0).zip(rows.float(row, 1)));
        let values: HashMap<String, f64> = all.collect();
        for told in TOLD {
            let Some(total) = told.value(&values) else {
                continue;
            };
            let rest = match told.by_session {
                true => {
                    let own = told.of.iter().map(|name| self.own.total(name)).sum();
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
    use std::collections::BTreeSet;

    /// Built from the manuals' lists of status variables: MySQL is not at hand here.
    const MYSQL_8_4: &str = "Bytes_received 1,Bytes_sent 1,Com_commit 1,Com_rollback 1,Connections 1,\
        Handler_delete 1,Handler_read_first 1,Handler_read_key 1,Handler_read_last 1,Handler_read_next 1,\
        Handler_read_prev 1,Handler_read_rnd 1,Handler_read_rnd_next 1,Handler_update 1,Handler_write 1,\
        Innodb_buffer_pool_pages_dirty 1,Innodb_buffer_pool_read_requests 1,Innodb_buffer_pool_reads 1,\
        Innodb_buffer_pool_wait_free 1,Innodb_data_fsyncs 1,Innodb_data_pending_fsyncs 1,\
        Innodb_data_pending_reads 1,Innodb_data_pending_writes 1,Innodb_data_read 1,Innodb_data_written 1,\
        Innodb_log_waits 1,Innodb_log_writes 1,Innodb_os_log_fsyncs 1,Innodb_os_log_written 1,\
        Innodb_pages_read 1,Innodb_pages_written 1,Innodb_redo_log_checkpoint_lsn 1000,\
        Innodb_redo_log_current_lsn 26000,Innodb_row_lock_current_waits 1,Innodb_row_lock_time 1,\
        Innodb_row_lock_waits 1,Questions 1,Threads_connected 1,Threads_created 1,Threads_running 1";

    fn told(variables: &str) -> HashMap<&'static str, f64> {
        let pairs = variables
            .split(',')
            .filter_map(|pair| pair.trim().split_once(' '));
        let values = pairs
            .map(|(name, value)| (name.to_string(), value.parse().unwrap()))
            .collect();
        let told = TOLD
            .iter()
            .filter_map(|told| Some((told.metric.name, told.value(&values)?)));
        told.collect()
    }

    #[test]
    fn mysql_has_all_but_what_is_mariadbs_alone() {
        let told = told(MYSQL_8_4);
        let all: BTreeSet<&str> = TOLD.iter().map(|told| told.metric.name).collect();
        let missing: Vec<&str> = all
            .into_iter()
            .filter(|name| !told.contains_key(name))
            .collect();
        assert_eq!(
            missing,
            [
                "binlog.commits",
                "binlog.group-commits",
                "checkpoint.most-age",
                "deadlocks",
                "history.length"
            ]
        );
        assert_eq!(told["checkpoint.age"], 25_000.0);
    }

    #[test]
    fn a_server_has_one_of_the_two_names_of_the_checkpoints_age() {
        assert_eq!(told("Innodb_checkpoint_age 7")["checkpoint.age"], 7.0);
        let early = told("Innodb_redo_log_current_lsn 5,Innodb_redo_log_checkpoint_lsn 6");
        assert_eq!(early["checkpoint.age"], 0.0);
        assert!(!told("Innodb_redo_log_current_lsn 5").contains_key("checkpoint.age"));
    }
}
