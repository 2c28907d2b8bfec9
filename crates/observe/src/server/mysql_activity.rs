//! What the sessions of MariaDB and MySQL do, ten times a second.
//!
//! `SHOW PROCESSLIST` fills no temporary table, as a query of `information_schema` would: that would be
//! counted among the rows that the server reads and writes.

use super::mysql_status::count_own;
use super::sessions::Sessions;
use crate::db::Db;
use crate::own::Own;
use crate::source::{Samples, SeriesSource};
use tidemark_core::observe::SERVER_ACTIVITY;
use tidemark_core::record::{Gap, GapKind};
use tidemark_drivers::Connector;

/// Commands of threads that serve nobody who waits.
const ASIDE: [&str; 4] = ["Daemon", "Binlog Dump", "Slave_IO", "Slave_SQL"];

/// The server's list of processes.
pub(crate) struct MysqlActivity {
    db: Db,
    own: Own,
    sessions: Sessions,
}

impl MysqlActivity {
    pub fn new(connector: &Connector, own: &Own) -> Self {
        Self {
            db: Db::new(connector, own),
            own: own.clone(),
            sessions: Sessions::default(),
        }
    }
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
        self.sessions.look();
        for row in 0..rows.len() {
            let id = rows.int(row, 0).unwrap_or_default();
            let command = rows.text(row, 4).unwrap_or_default();
            if own.contains(&id) || ASIDE.contains(&command.as_str()) {
                continue;
            }
            if command == "Sleep" {
                self.sessions.add("idle", "", 1);
                continue;
            }
            let doing = rows.text(row, 6).filter(|state| !state.is_empty());
            self.sessions
                .add("active", doing.as_deref().unwrap_or("executing"), 1);
        }
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        self.sessions.tell(samples);
        count_own(&mut self.db, &self.own)
    }
}
