//! What PostgreSQL's sessions do and wait for, ten times a second (`pg_stat_activity`).

use super::sessions::{OTHERS, SESSIONS, Sessions};
use super::types_during_look::SessionsByType;
use crate::db::{Db, Refusal};
use crate::own::Own;
use crate::source::{Samples, SeriesSource};
use tidemark_core::observe::SERVER_ACTIVITY;
use tidemark_core::record::{Gap, GapKind};
use tidemark_drivers::Connector;

/// Wait events of processes that have nothing to do.
const RESTING: [&str; 2] = ["Activity", "Timeout"];

/// The server's activity. The function under the view is asked: the view joins catalogs.
pub(crate) struct PostgresActivity {
    db: Db,
    own: Own,
    sessions: Sessions,
    others: Sessions,
    by_type: SessionsByType,
    /// What is true of the run's sessions; of a watch all are told alike.
    of_run: String,
    makes_load: bool,
    /// Whether parallel workers tell their leader (13).
    has_leaders: bool,
    /// What shows all sessions to an account that sees them: it may lose the right.
    grant: Option<String>,
    /// Whether it has looked before: what was hidden from the first look on is no loss.
    has_looked: bool,
}

impl PostgresActivity {
    pub fn new(connector: &Connector, own: &Own, makes_load: bool) -> Self {
        Self {
            db: Db::new(connector, own),
            own: own.clone(),
            sessions: Sessions::default(),
            others: Sessions::default(),
            by_type: SessionsByType::of(connector),
            of_run: "true".into(),
            makes_load,
            has_leaders: false,
            grant: None,
            has_looked: false,
        }
    }
}

/// What is true in SQL of the sessions of this client's runs: they are in this database, under the name
/// with which this session began, too.
///
/// # Errors
/// The server's.
pub(super) fn of_the_run(db: &mut Db) -> Result<String, Refusal> {
    let sql = "SELECT format('coalesce(datid = %s AND application_name = %L, false)', \
               (SELECT oid FROM pg_database WHERE datname = current_database()), \
               (SELECT coalesce(reset_val, '') FROM pg_settings WHERE name = 'application_name'))";
    let rows = db.query(sql)?;
    Ok(rows.text(0, 0).unwrap_or_else(|| "true".into()))
}

/// Said once of an account that saw all sessions until now.
pub(super) fn hidden_now(grant: &str) -> String {
    format!("sessions of other accounts are hidden from now on; {grant}")
}

/// A list of process ids for SQL, never empty.
pub(super) fn listed(ids: &[i64]) -> String {
    let ids = ids.iter().chain([&0]).map(i64::to_string);
    ids.collect::<Vec<_>>().join(", ")
}

/// The numbers of an array as text (manual, "Array Input and Output Syntax"); none of what is no array.
fn in_array(text: &str) -> impl Iterator<Item = i64> {
    let list = text.trim_matches(['{', '}']).split(',');
    list.filter_map(|number| number.parse().ok())
}

impl SeriesSource for PostgresActivity {
    fn name(&self) -> &str {
        SERVER_ACTIVITY
    }

    fn peeks(&self) -> u32 {
        10
    }

    fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let sql = "SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')::int, \
                   quote_ident(current_user), current_setting('track_activities'), \
                   (current_setting('server_version_num')::int >= 130000)::int";
        let rows = self.db.query(sql).map_err(|why| why.gap())?;
        let account = rows.text(0, 1).unwrap_or_default();
        let grant = format!("GRANT pg_read_all_stats TO {account}");
        match rows.int(0, 0) == Some(0) {
            true => gaps.push(Gap::new(GapKind::OtherSessions, grant)),
            false => self.grant = Some(grant),
        }
        self.has_leaders = rows.int(0, 3) == Some(1);
        if rows.text(0, 2).as_deref() == Some("off") {
            gaps.push(Gap::new(GapKind::SettingOff, "track_activities = on"));
        }
        if self.makes_load {
            self.of_run = of_the_run(&mut self.db).map_err(|why| why.gap())?;
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<(), String> {
        let own = listed(&self.own.ids());
        let ids = match (self.by_type.types.are_told(), self.has_leaders) {
            (false, _) => "",
            // A parallel worker is at its leader's transaction.
            (true, true) => ", array_agg(coalesce(leader_pid, pid)) FILTER (WHERE state <> 'idle')",
            (true, false) => ", array_agg(pid) FILTER (WHERE state <> 'idle')",
        };
        let sql = format!(
            "SELECT backend_type, state, wait_event_type, wait_event, count(*), ({})::int{ids} FROM \
             pg_stat_get_activity(NULL) WHERE pid NOT IN ({own}) GROUP BY 1, 2, 3, 4, 6",
            self.of_run
        );
        self.by_type.types.before();
        let rows = self.db.query_prepared("activity", &sql);
        let rows = rows.map_err(|e| e.to_string())?;
        self.sessions.look();
        self.others.look();
        self.by_type.looked(&self.db);
        let mut are_hidden = false;
        for row in 0..rows.len() {
            let text = |column| rows.text(row, column).unwrap_or_default();
            let (of, state, kind, event) = (text(0), text(1), text(2), text(3));
            let count = u64::try_from(rows.int(row, 4).unwrap_or(0)).unwrap_or(0);
            let wait = match event.is_empty() {
                true => "CPU".to_string(),
                false => format!("{kind}:{event}"),
            };
            let is_client = of == "client backend" || of == "parallel worker";
            let is_other = is_client && rows.int(row, 5) == Some(0);
            match state.as_str() {
                // Other accounts' are hidden.
                "" if of.is_empty() => are_hidden = true,
                "active" | "fastpath function call" if is_other => {
                    self.others.add("active", &wait, count);
                }
                // Those that are idle take nothing.
                "idle" if is_other => {}
                state if is_other && state.starts_with("idle in transaction") => {
                    self.others.add("idle-in-transaction", "", count);
                }
                "active" | "fastpath function call" if is_client => {
                    self.sessions.add("active", &wait, count);
                    for id in in_array(&text(6)) {
                        self.by_type.add("active", &wait, id);
                    }
                }
                "idle" => self.sessions.add("idle", "", count),
                state if state.starts_with("idle in transaction") => {
                    self.sessions.add("idle-in-transaction", "", count);
                    for id in in_array(&text(6)) {
                        self.by_type.add("idle-in-transaction", "", id);
                    }
                }
                _ if RESTING.contains(&kind.as_str()) => {}
                _ => self.sessions.add("background", &wait, count),
            }
        }
        let has_looked = std::mem::replace(&mut self.has_looked, true);
        let lost = self.grant.take_if(|_| are_hidden).filter(|_| has_looked);
        lost.map_or(Ok(()), |grant| Err(hidden_now(&grant)))
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        self.sessions.tell(&SESSIONS, samples);
        self.others.tell(&OTHERS, samples);
        self.by_type.tell(samples);
        Ok(())
    }
}
