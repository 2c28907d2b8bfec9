//! Transactions of InnoDB: the oldest, and those that wait for locks.

use crate::db::Db;
use crate::source::{Metric, Samples};
use tidemark_core::record::{Gap, GapKind};
use tidemark_drivers::RowSet;

const OPEN: Metric = Metric::gauge("transactions.open", "transactions", 0);
const OLDEST: Metric = Metric::gauge("transactions.oldest", "s", 2);
const BLOCKED: Metric = Metric::gauge("locks.blocked", "sessions", 0);
const LONGEST_WAIT: Metric = Metric::gauge("locks.longest-wait", "s", 2);
const HISTORY: Metric = Metric::gauge("history.length", "transactions", 0);
const DEADLOCKS: Metric = Metric::count("deadlocks");

/// The server's times have whole seconds.
const TRANSACTIONS: &str = "SELECT COUNT(*), COALESCE(SUM(trx_state = 'LOCK WAIT'), 0), \
     COALESCE(MAX(TIMESTAMPDIFF(SECOND, trx_started, NOW())), 0), \
     COALESCE(MAX(TIMESTAMPDIFF(SECOND, trx_wait_started, NOW())), 0) FROM information_schema.INNODB_TRX";
/// MariaDB has these among its status variables. MySQL counts them unless its user turned that off
/// (MySQL manual, "InnoDB INFORMATION_SCHEMA Metrics Table").
const COUNTED: &str = "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS \
     WHERE STATUS = 'enabled' AND NAME IN ('trx_rseg_history_len', 'lock_deadlocks')";

/// What is asked, as far as the account may.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    transactions: bool,
    counted: bool,
}

impl Transactions {
    /// Finds out what may be asked.
    pub fn start(&mut self, db: &mut Db, gaps: &mut Vec<Gap>) {
        let account = db.query("SELECT REPLACE(CURRENT_USER(), '@', '\\'@\\''), VERSION()");
        self.transactions = db.query(TRANSACTIONS).is_ok();
        let Ok(account) = account else { return };
        let is_mariadb = account
            .text(0, 1)
            .is_some_and(|version| version.contains("MariaDB"));
        self.counted = self.transactions && !is_mariadb && db.query(COUNTED).is_ok();
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
    pub fn sample(&self, db: &mut Db, samples: &mut Samples) -> Result<(), String> {
        if !self.transactions {
            return Ok(());
        }
        let rows = db.query(TRANSACTIONS).map_err(|e| e.to_string())?;
        for (column, metric) in [OPEN, BLOCKED, OLDEST, LONGEST_WAIT].iter().enumerate() {
            if let Some(value) = rows.float(0, column) {
                samples.tell(metric, &[], value);
            }
        }
        if self.counted {
            let rows = db.query(COUNTED).map_err(|e| e.to_string())?;
            for (metric, value) in counted(&rows) {
                samples.tell(&metric, &[], value);
            }
        }
        Ok(())
    }
}

/// What MySQL's counters are here.
fn counted(rows: &RowSet) -> Vec<(Metric, f64)> {
    let told = (0..rows.len()).filter_map(|row| {
        let metric = match rows.text(row, 0)?.as_str() {
            "trx_rseg_history_len" => HISTORY,
            "lock_deadlocks" => DEADLOCKS,
            _ => return None,
        };
        Some((metric, rows.float(row, 1)?))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_drivers::Cell;

    #[test]
    fn mysqls_counters_have_mariadbs_names() {
        let mut rows = RowSet::new();
        rows.reset(2);
        for cell in [
            "lock_deadlocks",
            "3",
            "trx_rseg_history_len",
            "42",
            "other",
            "1",
        ] {
            rows.push(Cell::Bytes(cell.as_bytes()));
        }
        assert_eq!(counted(&rows), [(DEADLOCKS, 3.0), (HISTORY, 42.0)]);
    }
}
