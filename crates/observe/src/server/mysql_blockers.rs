//! Who blocks whom among InnoDB's row locks: MariaDB's and MySQL 5.7's `INNODB_LOCK_WAITS`, MySQL 8's
//! `data_lock_waits`. Asked only while transactions wait for locks.

use crate::db::{Db, Refusal, Refusals};
use crate::source::{Metric, Samples};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};
use tidemark_drivers::RowSet;

const BLOCKED: Metric = Metric::gauge("locks.blocked", "sessions", 2);
const BLOCKERS: Metric = Metric::gauge("locks.blockers", "sessions", 0);
const BLOCKER_AGE: Metric = Metric::gauge("locks.blocker-age", "s", 2);
/// Blocked by sessions that are none of the run's. Locks on tables are not among these: a server that has
/// none of these waits may have others.
const BY_OTHERS: Metric = Metric::gauge("locks.rows-blocked-by-others", "sessions", 2);

/// Pairs of a transaction that waits and one that it waits for: of many sessions at one row there are
/// half as many as their square, and so many are looked at.
const MOST_PAIRS: u32 = 200;
/// Asking takes at most one part in so many of the time.
const ASKING: u32 = 50;
/// What a blocking statement is called; others are `other`.
const STATEMENTS: [&str; 8] = [
    "select", "insert", "update", "delete", "replace", "load", "alter", "commit",
];

/// Where the servers have it.
const MARIADB: &str = "SELECT requesting_trx_id AS waiter, blocking_trx_id AS blocker \
     FROM information_schema.INNODB_LOCK_WAITS";
const MYSQL: &str = "SELECT REQUESTING_ENGINE_TRANSACTION_ID AS waiter, \
     BLOCKING_ENGINE_TRANSACTION_ID AS blocker FROM performance_schema.data_lock_waits";

/// What a blocker does: its state and its statement's kind, empty of one that executes none.
type Doing = (&'static str, &'static str);

/// Who blocks whom.
#[derive(Debug, Default)]
pub(super) struct Blockers {
    /// Nothing where the account may not ask.
    sql: Option<String>,
    /// Whether the run's sessions come from whatever hosts.
    by_clients: bool,
    refusals: Refusals,
    next: Option<Instant>,
    /// Sessions that are blocked, by what their blockers do: what was seen once is told as 0 later.
    blocked: BTreeMap<Doing, f64>,
}

impl Blockers {
    /// Of a run whose load several clients make, or one.
    pub fn of(by_clients: bool) -> Self {
        Self {
            by_clients,
            ..Self::default()
        }
    }

    /// Finds out what may be asked.
    pub fn start(&mut self, db: &mut Db) {
        let all = [MARIADB, MYSQL].map(|pairs| sql(pairs, self.by_clients));
        self.sql = all.into_iter().find(|sql| db.query(sql).is_ok());
    }

    /// Whether they are told.
    pub fn are_known(&self) -> bool {
        self.sql.is_some() && !self.refusals.are_many()
    }

    /// Asks, where so many sessions wait.
    ///
    /// # Errors
    /// The server's.
    pub fn sample(
        &mut self,
        waiting: f64,
        db: &mut Db,
        samples: &mut Samples,
    ) -> Result<(), Refusal> {
        let Some(sql) = self.sql.as_ref().filter(|_| !self.refusals.are_many()) else {
            return Ok(());
        };
        if waiting < 1.0 {
            // None that wait are told once some have.
            if !self.blocked.is_empty() {
                self.tell(&RowSet::new(), waiting, samples);
            }
            return Ok(());
        }
        let begun = Instant::now();
        if self.next.is_some_and(|next| begun < next) {
            return Ok(());
        }
        let asked = db.query(sql);
        // What was slow is not asked again at once, whether it was answered or given up.
        self.next = Some(begun + pause(begun.elapsed()));
        let rows = asked.inspect_err(|why| self.refusals.count(why))?;
        self.refusals.clear();
        self.tell(&rows, waiting, samples);
        Ok(())
    }

    fn tell(&mut self, rows: &RowSet, waiting: f64, samples: &mut Samples) {
        let seen = Seen::of(rows);
        // Those of which there was no pair among so many are like the others.
        let each = match seen.blocked.len() {
            0 => 1.0,
            asked => (waiting / asked as f64).max(1.0),
        };
        self.blocked.values_mut().for_each(|count| *count = 0.0);
        for doing in seen.blocked.values() {
            *self.blocked.entry(*doing).or_default() += each;
        }
        for ((state, statement), count) in &self.blocked {
            let labels = [("blocker", *state), ("statement", *statement)];
            let labels = match statement.is_empty() {
                true => &labels[..1],
                false => &labels[..],
            };
            samples.tell(&BLOCKED, labels, *count);
        }
        samples.tell(&BLOCKERS, &[], seen.blockers.len() as f64);
        samples.tell(&BLOCKER_AGE, &[], seen.oldest_s);
        samples.tell(&BY_OTHERS, &[], seen.by_others.len() as f64 * each);
    }
}

fn pause(took: Duration) -> Duration {
    took * ASKING
}

/// The observing session is of the run's account and database and, where one client makes all of the load, host.
fn sql(pairs: &str, by_clients: bool) -> String {
    // Each connection has a port of its own.
    let host = |of: &str| {
        format!("LEFT({of}.HOST, CHAR_LENGTH({of}.HOST) - LOCATE(':', REVERSE({of}.HOST)))")
    };
    let is_same_host = match by_clients {
        true => "TRUE".into(),
        false => format!("{} <=> {}", host("p"), host("me")),
    };
    format!(
        "SELECT w.waiter, w.blocker, t.trx_state = 'LOCK WAIT', LEFT(t.trx_query, 80), \
         TIMESTAMPDIFF(SECOND, t.trx_started, NOW()), \
         p.USER <=> me.USER AND {is_same_host} AND p.DB <=> me.DB \
         FROM ({pairs} LIMIT {MOST_PAIRS}) AS w \
         JOIN information_schema.INNODB_TRX AS t ON t.trx_id = w.blocker \
         JOIN information_schema.PROCESSLIST AS me ON me.ID = CONNECTION_ID() \
         LEFT JOIN information_schema.PROCESSLIST AS p ON p.ID = t.trx_mysql_thread_id"
    )
}

/// What the pairs of one look say.
#[derive(Debug, Default)]
struct Seen {
    /// What blocks each that waits: one that does not wait itself, where there is one.
    blocked: HashMap<String, Doing>,
    by_others: HashSet<String>,
    /// Those that do not wait themselves.
    blockers: HashSet<String>,
    oldest_s: f64,
}

impl Seen {
    fn of(rows: &RowSet) -> Self {
        let mut seen = Self::default();
        for row in 0..rows.len() {
            let (Some(waiter), Some(blocker)) = (rows.text(row, 0), rows.text(row, 1)) else {
                continue;
            };
            let waits = rows.int(row, 2) == Some(1);
            let doing = match rows.text(row, 3) {
                statement if waits => ("waiting", kind(statement.as_deref())),
                Some(statement) if !statement.is_empty() => ("active", kind(Some(&statement))),
                _ => ("idle-in-transaction", ""),
            };
            seen.oldest_s = seen.oldest_s.max(rows.float(row, 4).unwrap_or(0.0));
            if rows.int(row, 5) != Some(1) {
                seen.by_others.insert(waiter.clone());
            }
            match waits {
                true => {
                    seen.blocked.entry(waiter).or_insert(doing);
                }
                false => {
                    seen.blocked.insert(waiter, doing);
                    seen.blockers.insert(blocker);
                }
            }
        }
        seen
    }
}

/// A statement's first word, if it is one of those that are told apart.
fn kind(statement: Option<&str>) -> &'static str {
    let first = statement.and_then(|text| text.split_whitespace().next());
    let first = first.unwrap_or_default();
    let known = STATEMENTS
        .iter()
        .find(|kind| first.eq_ignore_ascii_case(kind));
    known.copied().unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_drivers::Cell;

    type Pair = [Option<&'static str>; 6];

    fn rows(pairs: &[Pair]) -> RowSet {
        let mut rows = RowSet::new();
        rows.reset(6);
        for cell in pairs.iter().flatten() {
            rows.push(cell.map_or(Cell::Null, |text| Cell::Bytes(text.as_bytes())));
        }
        rows
    }

    #[test]
    fn each_that_waits_is_told_once_by_the_root_of_what_it_waits_for() {
        let pairs: [Pair; 4] = [
            // 2 and 3 wait for 1, which is another's and idle; 3 also for 2. 5 waits for 4, which works.
            [Some("2"), Some("1"), Some("0"), None, Some("7"), Some("0")],
            [
                Some("3"),
                Some("2"),
                Some("1"),
                Some("UPDATE t"),
                Some("3"),
                Some("1"),
            ],
            [Some("3"), Some("1"), Some("0"), None, Some("7"), Some("0")],
            [
                Some("5"),
                Some("4"),
                Some("0"),
                Some("update t"),
                Some("2"),
                Some("1"),
            ],
        ];
        let seen = Seen::of(&rows(&pairs));
        let doing = |waiter: &str| seen.blocked[waiter];
        assert_eq!(doing("2"), ("idle-in-transaction", ""));
        assert_eq!(doing("3"), ("idle-in-transaction", ""));
        assert_eq!(doing("5"), ("active", "update"));
        assert_eq!((seen.by_others.len(), seen.blockers.len()), (2, 2));
        assert_eq!(seen.oldest_s, 7.0);
        // A prepared transaction has no session, and is nobody's of the run.
        let prepared = [[Some("2"), Some("1"), Some("0"), None, Some("7"), None]];
        assert_eq!(Seen::of(&rows(&prepared)).by_others.len(), 1);
        assert_eq!(kind(Some("/* x */ SELECT 1")), "other");
        assert_eq!(kind(None), "other");
    }

    #[test]
    fn those_that_were_not_looked_at_are_like_the_others_and_none_is_a_zero() {
        let mut blockers = Blockers::default();
        let mut samples = Samples::new("test", Duration::from_secs(1));
        let pairs: [Pair; 2] = [
            [Some("2"), Some("1"), Some("0"), None, Some("1"), Some("1")],
            [Some("3"), Some("1"), Some("0"), None, Some("1"), Some("0")],
        ];
        samples.begin(Some(0));
        blockers.tell(&rows(&pairs), 8.0, &mut samples);
        samples.begin(Some(1000));
        blockers.tell(&RowSet::new(), 0.0, &mut samples);
        let series = samples.series();
        let of = |name: &str| -> Vec<f64> {
            let found = series.iter().find(|s| s.key.name == name).unwrap();
            found.points().unwrap().map(|p| p.unwrap().value).collect()
        };
        assert_eq!(of("locks.blocked"), [8.0, 0.0]);
        assert_eq!(of("locks.rows-blocked-by-others"), [4.0, 0.0]);
        assert_eq!(of("locks.blockers"), [1.0, 0.0]);
    }
}
