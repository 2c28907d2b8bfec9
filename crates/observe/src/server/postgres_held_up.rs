//! What PostgreSQL's sessions hold up: other sessions by their locks, and VACUUM by row versions that they
//! may still see.
//!
//! A second's usual question is one pass over the sessions, without a join: to set up the executor for one
//! takes longer than to read them. What is rare or costly is asked only when it is there.

use super::postgres_activity::listed;
use crate::db::{Db, Refusals};
use crate::own::Own;
use crate::source::{Metric, Samples};
use tidemark_drivers::RowSet;

const OPEN: Metric = Metric::gauge("sessions.open", "sessions", 0);
const WAITING: Metric = Metric::gauge("locks.waiting", "sessions", 0);
const BLOCKERS: Metric = Metric::gauge("locks.blockers", "sessions", 0);
/// Of the oldest transaction of a client that has changed or may still look at this database's rows:
/// VACUUM's own keep none of them.
const OLDEST: Metric = Metric::gauge("transactions.oldest", "s", 2);
/// Transactions that began since the oldest one for whose sake row versions of this database are kept: of
/// clients, replicas that give feedback, replication slots and prepared transactions.
const HELD_BACK: Metric = Metric::gauge("transactions.held-back", "transactions", 0);

/// Sessions of the database; those that wait for a lock or hide whether they do; the oldest transaction;
/// what clients and replicas hold back.
const SESSIONS: &str = "SELECT count(*) FILTER (WHERE datid = $database), \
     count(*) FILTER (WHERE wait_event_type = 'Lock' OR backend_type IS NULL AND usesysid IS NOT NULL), \
     extract(epoch FROM clock_timestamp() - min(xact_start) FILTER (WHERE backend_type = 'client backend' \
     AND datid = $database AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL))), \
     max(greatest(age(backend_xmin), age(backend_xid))) FILTER (WHERE backend_type = 'walsender' \
     OR backend_type = 'client backend' AND datid = $database) \
     FROM pg_stat_get_activity(NULL) WHERE pid NOT IN ($own)";
/// Who waits for locks, and who holds what they wait for. To read `pg_locks` holds up whoever takes a lock.
const LOCKS: &str = "WITH l AS MATERIALIZED (SELECT * FROM pg_locks WHERE pid NOT IN ($own)) \
     SELECT (SELECT count(*) FROM l WHERE NOT granted), (SELECT count(DISTINCT h.pid) \
     FROM l AS w JOIN l AS h ON h.granted AND NOT w.granted AND h.pid <> w.pid \
     AND h.locktype = w.locktype \
     AND (h.database, h.relation, h.page, h.tuple, h.virtualxid, h.transactionid, h.classid, h.objid) \
     IS NOT DISTINCT FROM (w.database, w.relation, w.page, w.tuple, w.virtualxid, w.transactionid, \
     w.classid, w.objid))";
/// What holds row versions without a session.
const SLOTS: &str = "SELECT greatest((SELECT max(age(xmin)) FROM pg_get_replication_slots()), \
     (SELECT max(age(transaction)) FROM pg_prepared_xact() WHERE dbid = $database))";
/// They come and go seldom: they are asked for once in so many samples.
const SLOTS_EVERY: u32 = 5;

/// What is asked of sessions, once a second.
#[derive(Debug, Default)]
pub(super) struct HeldUp {
    sessions: Refusals,
    locks: Refusals,
    slots: Refusals,
    samples: u32,
    /// What slots and prepared transactions held back when they were last asked for.
    by_slots: f64,
}

impl HeldUp {
    /// The next sample is the first one.
    pub fn begin_anew(&mut self) {
        self.samples = 0;
    }

    /// Asks. Whether sessions may be blocked; `failed` has why something was not answered.
    pub fn sample(
        &mut self,
        db: &mut Db,
        own: &Own,
        database: i64,
        samples: &mut Samples,
        failed: &mut Option<String>,
    ) -> bool {
        let own = listed(&own.ids());
        let sql = |text: &str| {
            let text = text.replace("$database", &database.to_string());
            text.replace("$own", &own)
        };
        let is_due = self.samples.is_multiple_of(SLOTS_EVERY);
        self.samples += 1;
        if is_due && let Some(rows) = self.slots.ask(db, "slots", &sql(SLOTS), failed) {
            self.by_slots = rows.float(0, 0).unwrap_or(0.0);
        }
        let rows = self.sessions.ask(db, "sessions", &sql(SESSIONS), failed);
        if let Some(rows) = &rows {
            let found = |column| rows.float(0, column).unwrap_or(0.0);
            samples.tell(&OPEN, &[], found(0));
            samples.tell(&OLDEST, &[], found(2));
            samples.tell(&HELD_BACK, &[], found(3).max(self.by_slots));
        }
        let blocked = rows.is_none_or(|rows| rows.float(0, 1) != Some(0.0));
        let locks = match blocked {
            true => self.locks.ask(db, "locks", &sql(LOCKS), failed),
            false => Some(RowSet::default()),
        };
        if let Some(rows) = locks {
            samples.tell(&WAITING, &[], rows.float(0, 0).unwrap_or(0.0));
            samples.tell(&BLOCKERS, &[], rows.float(0, 1).unwrap_or(0.0));
        }
        blocked
    }
}
