//! What the sessions of MariaDB and MySQL do, ten times a second.
//!
//! `SHOW PROCESSLIST` fills no temporary table, as a query of `information_schema` would: that would be
//! counted among the rows that the server reads and writes.

use super::mysql_status::count_own;
use super::postgres_activity::hidden_now;
use super::sessions::{OTHERS, SESSIONS, Sessions};
use super::types_during_look::SessionsByType;
use crate::db::{Db, Refusal};
use crate::own::Own;
use crate::source::{Samples, SeriesSource};
use std::collections::{HashMap, HashSet};
use tidemark_core::observe::SERVER_ACTIVITY;
use tidemark_core::record::{Gap, GapKind};
use tidemark_drivers::{Connector, RowSet};

const LIST: &str = "SHOW PROCESSLIST";
/// What commands of threads begin with that serve nobody who waits: replicas of MySQL ask for a "Binlog Dump
/// GTID".
const ASIDE: [&str; 3] = ["Daemon", "Binlog Dump", "Slave_"];
/// A session that was none of the run's in so many looks is no session of it that opens.
const LOOKS_UNKNOWN: u32 = 5;
/// Who the server's own threads are of: those that replicate have the commands of sessions in MySQL.
const SERVER: &str = "system user";

fn is_aside(user: &str, command: &str) -> bool {
    user == SERVER || ASIDE.iter().any(|word| command.starts_with(word))
}

/// The server's list of processes.
pub(crate) struct MysqlActivity {
    db: Db,
    own: Own,
    sessions: Sessions,
    others: Sessions,
    by_type: SessionsByType,
    /// Sessions of the server's list that are or were the run's: what one does may outlive its connection.
    known: HashSet<i64>,
    /// Those of the run's account that are none of the run's, and in how many looks.
    strangers: HashMap<i64, u32>,
    /// Of a watch all sessions are told alike.
    makes_load: bool,
    /// Whether the run's sessions come from whatever hosts.
    by_clients: bool,
    /// Whether all sessions were seen, by the session of this id: a new one may have lost the right.
    saw_all: bool,
    asked_on: Option<i64>,
}

impl MysqlActivity {
    pub fn new(connector: &Connector, own: &Own, makes_load: bool) -> Self {
        Self {
            db: Db::new(connector, own),
            own: own.clone(),
            sessions: Sessions::default(),
            others: Sessions::default(),
            by_type: SessionsByType::of(connector),
            known: HashSet::new(),
            strangers: HashMap::new(),
            makes_load,
            by_clients: false,
            saw_all: false,
            asked_on: None,
        }
    }

    /// Whether several clients make the load.
    pub fn by_clients(self, by_clients: bool) -> Self {
        Self { by_clients, ..self }
    }

    /// What would show all sessions; nothing where they are shown.
    fn grant(&mut self) -> Result<Option<String>, Refusal> {
        let sees_all = "SELECT COUNT(*), REPLACE(CURRENT_USER(), '@', '\\'@\\'') FROM \
                        information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE IN ('PROCESS', 'SUPER')";
        let rows = self.db.query(sees_all)?;
        self.asked_on = self.db.id();
        let account = rows.text(0, 1).unwrap_or_default();
        let grant = format!("GRANT PROCESS ON *.* TO '{account}'");
        Ok((rows.int(0, 0) == Some(0)).then_some(grant))
    }
}

/// Who a session is of: its account, database and, where one client makes all of the load, host. The run's are
/// of the same as those that observe, and known by their ids where one process makes all of it.
fn whose(rows: &RowSet, row: usize, by_clients: bool) -> [String; 3] {
    let [account, host, database] = [1, 2, 3].map(|at| rows.text(row, at).unwrap_or_default());
    // Each connection has a port of its own.
    let host = host.rsplit_once(':').map_or(&*host, |(host, _)| host);
    let host = if by_clients { "" } else { host };
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
        let grant = self.grant().map_err(Refusal::gap)?;
        self.saw_all = grant.is_none();
        gaps.extend(grant.map(|grant| Gap::new(GapKind::OtherSessions, grant)));
        Ok(())
    }

    fn peek(&mut self) -> Result<(), String> {
        self.by_type.types.before();
        let rows = self.db.query(LIST).map_err(|e| e.to_string())?;
        let own = self.own.ids();
        let this = (0..rows.len()).find(|row| rows.int(*row, 0) == self.db.id());
        let of_run = this.filter(|_| self.makes_load && self.db.id().is_some());
        let of_run = of_run.map(|row| whose(&rows, row, self.by_clients));
        self.sessions.look();
        self.others.look();
        self.by_type.looked(&self.db);
        // A proxy may have answered for the server who this session is.
        let is_this = |row| rows.text(row, 7).is_some_and(|text| text == LIST);
        if !this.is_some_and(is_this) {
            self.by_type.types.forget();
        }
        let (mut known, mut strangers) = (HashSet::new(), HashMap::new());
        for row in 0..rows.len() {
            let id = rows.int(row, 0).unwrap_or_default();
            let command = rows.text(row, 4).unwrap_or_default();
            let user = rows.text(row, 1).unwrap_or_default();
            if own.contains(&id) || is_aside(&user, &command) {
                continue;
            }
            let is_anothers = |run: &[String; 3]| *run != whose(&rows, row, self.by_clients);
            let mut is_other = of_run.as_ref().is_some_and(is_anothers);
            let is_of_run = self.by_type.types.is_of_run(id);
            if is_of_run == Some(true) || self.known.contains(&id) {
                known.insert(id);
            } else if self.makes_load && is_of_run == Some(false) {
                // One that is opened just now is in no list yet.
                let looks = self.strangers.get(&id).map_or(0, |looks| looks + 1);
                strangers.insert(id, looks);
                is_other |= looks >= LOOKS_UNKNOWN;
            }
            if command == "Sleep" {
                if !is_other {
                    self.sessions.add("idle", "", 1);
                }
                continue;
            }
            let doing = rows.text(row, 6).filter(|state| !state.is_empty());
            let doing = doing.as_deref().unwrap_or("executing");
            if is_other {
                self.others.add("active", doing, 1);
                continue;
            }
            self.sessions.add("active", doing, 1);
            self.by_type.add("active", doing, id);
        }
        (self.known, self.strangers) = (known, strangers);
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        self.sessions.tell(&SESSIONS, samples);
        self.others.tell(&OTHERS, samples);
        self.by_type.tell(samples);
        count_own(&mut self.db, &self.own)?;
        if self.db.id() != self.asked_on {
            let lost = self.grant().map_err(|e| e.to_string())?;
            if let Some(grant) = lost.filter(|_| std::mem::take(&mut self.saw_all)) {
                return Err(hidden_now(&grant));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{is_aside, whose};
    use tidemark_drivers::{Cell, RowSet};

    #[test]
    fn sessions_of_several_clients_come_from_whatever_hosts() {
        let mut rows = RowSet::new();
        rows.reset(4);
        for [account, host, database] in [
            ["bench", "10.0.0.1:4000", "sbtest"],
            ["bench", "10.0.0.2:4000", "sbtest"],
            ["bench", "10.0.0.2:4001", "shop"],
        ] {
            for cell in ["7", account, host, database] {
                rows.push(Cell::Bytes(cell.as_bytes()));
            }
        }
        let whose = |row, by_clients| whose(&rows, row, by_clients);
        assert_ne!(whose(0, false), whose(1, false));
        assert_eq!(whose(0, true), whose(1, true));
        assert_ne!(whose(1, true), whose(2, true));
    }

    #[test]
    fn threads_that_replicate_are_no_sessions() {
        for (user, command) in [
            ("repl", "Binlog Dump"),
            ("repl", "Binlog Dump GTID"),
            ("system user", "Query"),
            ("system user", "Connect"),
            ("system user", "Slave_worker"),
            ("event_scheduler", "Daemon"),
        ] {
            assert!(is_aside(user, command), "{user} {command}");
        }
        for command in ["Query", "Execute", "Sleep", "Connect"] {
            assert!(!is_aside("bench", command), "{command}");
        }
    }
}
