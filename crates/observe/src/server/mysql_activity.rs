//! What the sessions of MariaDB and MySQL do, ten times a second.
//!
//! `SHOW PROCESSLIST` fills no temporary table, as a query of `information_schema` would: that would be
//! counted among the rows that the server reads and writes.

use super::mysql_status::count_own;
use super::sessions::{OTHERS, SESSIONS, Sessions};
use crate::db::Db;
use crate::own::Own;
use crate::source::{Samples, SeriesSource};
use tidemark_core::observe::SERVER_ACTIVITY;
use tidemark_core::record::{Gap, GapKind};
use tidemark_drivers::{Connector, RowSet};

/// Commands of threads that serve nobody who waits.
const ASIDE: [&str; 6] = [
    "Daemon",
    "Binlog Dump",
    "Binlog Dump GTID",
    "Slave_IO",
    "Slave_SQL",
    "Slave_worker",
];
/// The account of MySQL's own threads, whose commands are Connect and Query.
const SYSTEM: &str = "system user";

/// The server's list of processes.
pub(crate) struct MysqlActivity {
    db: Db,
    own: Own,
    sessions: Sessions,
    others: Sessions,
    /// Of a watch all sessions are told alike.
    makes_load: bool,
}

impl MysqlActivity {
    pub fn new(connector: &Connector, own: &Own, makes_load: bool) -> Self {
        Self {
            db: Db::new(connector, own),
            own: own.clone(),
            sessions: Sessions::default(),
            others: Sessions::default(),
            makes_load,
        }
    }
}

/// Who a session is of: its account, host and database. The run's are of the same as those that observe.
fn whose(rows: &RowSet, row: usize) -> [String; 3] {
    let [account, host, database] = [1, 2, 3].map(|at| rows.text(row, at).unwrap_or_default());
    // Each connection has a port of its own.
    let host = host.rsplit_once(':').map_or(&*host, |(host, _)| host);
    [account, host.into(), database]
}

impl SeriesSource for MysqlActivity {
    fn name(&self) -> &str {
        SERVER_ACTIVITY
    }

    fn peeks(&self) -> u32 {
        10
    }

    fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let sees_all = "SELECT COUNT(*), REPLACE(CURRENT_USER(), '@', '\\'@\\'') FROM \
                        information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE IN ('PROCESS', 'SUPER')";
        let rows = self.db.query(sees_all).map_err(|why| why.gap())?;
        if rows.int(0, 0) == Some(0) {
            let account = rows.text(0, 1).unwrap_or_default();
            let grant = format!("GRANT PROCESS ON *.* TO '{account}'");
            gaps.push(Gap::new(GapKind::OtherSessions, grant));
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<(), String> {
        let rows = self
            .db
            .query("SHOW PROCESSLIST")
            .map_err(|e| e.to_string())?;
        let own = self.own.ids();
        let this = (0..rows.len()).find(|row| rows.int(*row, 0) == self.db.id());
        let of_run = this.filter(|_| self.makes_load && self.db.id().is_some());
        let of_run = of_run.map(|row| whose(&rows, row));
        self.sessions.look();
        self.others.look();
        for row in 0..rows.len() {
            let id = rows.int(row, 0).unwrap_or_default();
            let command = rows.text(row, 4).unwrap_or_default();
            let is_system = rows.text(row, 1).as_deref() == Some(SYSTEM);
            if own.contains(&id) || is_system || ASIDE.contains(&command.as_str()) {
                continue;
            }
            let is_other = of_run.as_ref().is_some_and(|run| *run != whose(&rows, row));
            if command == "Sleep" {
                if !is_other {
                    self.sessions.add("idle", "", 1);
                }
                continue;
            }
            let doing = rows.text(row, 6).filter(|state| !state.is_empty());
            let sessions = match is_other {
                true => &mut self.others,
                false => &mut self.sessions,
            };
            sessions.add("active", doing.as_deref().unwrap_or("executing"), 1);
        }
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        self.sessions.tell(&SESSIONS, samples);
        self.others.tell(&OTHERS, samples);
        count_own(&mut self.db, &self.own)
    }
}
