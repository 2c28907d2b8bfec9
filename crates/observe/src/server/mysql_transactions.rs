//! Transactions of InnoDB: the oldest, and those that wait for locks.

use super::mysql_blockers::Blockers;
use super::types_during_look::TypesDuringLook;
use crate::db::Db;
use crate::source::{Metric, Samples};
use std::collections::BTreeMap;
use tidemark_core::record::{Gap, GapKind};
use tidemark_drivers::{Connector, RowSet};

const OPEN: Metric = Metric::gauge("transactions.open", "transactions", 0);
const OLDEST: Metric = Metric::gauge("transactions.oldest", "s", 2);
const BLOCKED: Metric = Metric::gauge("locks.blocked", "sessions", 0);
/// Those of the run, by the type of the transaction that waits.
const BLOCKED_TYPES: Metric = Metric::gauge("locks.blocked.by-type", "sessions", 1);
const LONGEST_WAIT: Metric = Metric::gauge("locks.longest-wait", "s", 2);
const HISTORY: Metric = Metric::gauge("history.length", "transactions", 0);
const DEADLOCKS: Metric = Metric::count("deadlocks");

/// The column of transactions that wait for locks.
const WAITING: usize = 1;
/// The column of their sessions, separated by commas.
const WAITERS: usize = 4;
/// The server's times have whole seconds, and are of its own time zone, as sessions that observe are.
const TRANSACTIONS: &str = "SELECT COUNT(*), COALESCE(SUM(trx_state = 'LOCK WAIT'), 0), \
     COALESCE(MAX(TIMESTAMPDIFF(SECOND, trx_started, NOW())), 0), \
     COALESCE(MAX(TIMESTAMPDIFF(SECOND, trx_wait_started, NOW())), 0), \
     GROUP_CONCAT(IF(trx_state = 'LOCK WAIT', trx_mysql_thread_id, NULL)) FROM information_schema.INNODB_TRX";
/// What MariaDB has among its status variables, and MySQL counts here without being asked to.
const METRICS: &str = "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME IN \
     ('trx_rseg_history_len', 'lock_deadlocks') AND STATUS = 'enabled'";

/// What is asked, as far as the account may.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    transactions: bool,
    metrics: bool,
    blockers: Blockers,
    types: TypesDuringLook,
    /// Sessions that wait by type: what was seen once is told as 0 later.
    blocked: BTreeMap<&'static str, f64>,
}

impl Transactions {
    /// Of a target; nothing is asked yet.
    pub fn of(connector: &Connector, by_clients: bool) -> Self {
        Self {
            blockers: Blockers::of(by_clients),
            types: TypesDuringLook::of(connector),
            ..Self::default()
        }
    }

    /// Finds out what may be asked.
    pub fn start(&mut self, db: &mut Db, gaps: &mut Vec<Gap>) {
        let account = db.query("SELECT REPLACE(CURRENT_USER(), '@', '\\'@\\''), VERSION()");
        self.transactions = db.query(TRANSACTIONS).is_ok();
        if self.transactions {
            self.blockers.start(db);
        }
        let Ok(account) = account else { return };
        let is_mariadb = account
            .text(0, 1)
            .is_some_and(|version| version.contains("MariaDB"));
        self.metrics = self.transactions && !is_mariadb && db.query(METRICS).is_ok();
        if !self.transactions {
            let account = account.text(0, 0).unwrap_or_default();
            let grant = format!("GRANT PROCESS ON *.* TO '{account}'");
            gaps.push(Gap::new(GapKind::Refused, grant));
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// The server's.
    pub fn sample(&mut self, db: &mut Db, samples: &mut Samples) -> Result<(), String> {
        if !self.transactions {
            return Ok(());
        }
        self.types.before();
        let rows = db.query(TRANSACTIONS).map_err(|e| e.to_string())?;
        self.types.after(db);
        self.tell_types(&rows, samples);
        for (column, metric) in [OPEN, BLOCKED, OLDEST, LONGEST_WAIT].iter().enumerate() {
            // Told by blocker, where that is known.
            let is_told_apart = column == WAITING && self.blockers.are_known();
            if let Some(value) = rows.float(0, column).filter(|_| !is_told_apart) {
                samples.tell(metric, &[], value);
            }
        }
        let waiting = rows.float(0, WAITING).unwrap_or(0.0);
        let blockers = self.blockers.sample(waiting, db, samples);
        if self.metrics {
            let rows = db.query(METRICS).map_err(|e| e.to_string())?;
            for row in 0..rows.len() {
                let metric = match rows.text(row, 0).as_deref() {
                    Some("trx_rseg_history_len") => &HISTORY,
                    Some("lock_deadlocks") => &DEADLOCKS,
                    _ => continue,
                };
                if let Some(count) = rows.float(row, 1) {
                    samples.tell(metric, &[], count);
                }
            }
        }
        blockers.map_err(|e| e.to_string())
    }

    fn tell_types(&mut self, rows: &RowSet, samples: &mut Samples) {
        let waiters = rows.text(0, WAITERS).unwrap_or_default();
        let ids = waiters.split(',').filter_map(|id| id.parse().ok());
        self.blocked.values_mut().for_each(|count| *count = 0.0);
        let parts = ids.flat_map(|id| self.types.of_session(id).0);
        for (kind, part) in parts.flatten() {
            *self.blocked.entry(kind).or_default() += part;
        }
        for (kind, count) in &self.blocked {
            samples.tell(&BLOCKED_TYPES, &[("type", kind)], *count);
        }
    }
}
