//! The counters of PostgreSQL 13 to 18: the database's, WAL, checkpoints, I/O.
//!
//! Views that are asked are functions without tables under them (monitoring-stats), so that asking reads
//! nothing that is counted. Each group is a statement: where one is refused, the others go on.

use super::load_totals::{Counters, LoadTotals, Reading};
use super::postgres_activity::listed;
use super::postgres_held_up::HeldUp;
use super::postgres_tables::Tables;
use crate::db::{Db, Refusals};
use crate::own::{Own, Rest};
use crate::source::{Metric, Samples, SeriesSource};
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::record::{Gap, GapKind, LoadTotal};
use tidemark_drivers::Connector;

const COMMITS: &str = "commits";

/// Metrics that one statement gives, each by an expression.
struct StatementMetrics {
    /// The statement's.
    name: &'static str,
    told: Vec<(Metric, &'static str)>,
    from: &'static str,
    refusals: Refusals,
}

impl StatementMetrics {
    fn new(name: &'static str, from: &'static str, told: &[(Metric, &'static str)]) -> Self {
        Self {
            name,
            told: told.to_vec(),
            from,
            refusals: Refusals::default(),
        }
    }

    fn sql(&self, database: i64) -> String {
        let expressions: Vec<&str> = self.told.iter().map(|(_, e)| *e).collect();
        let sql = format!("SELECT {} FROM {}", expressions.join(", "), self.from);
        sql.replace("$database", &database.to_string())
    }
}

const MS: fn(&'static str) -> Metric = |name| Metric::time(name, 1.0);

/// What a server of this version can be asked.
fn groups(version: i64) -> Vec<StatementMetrics> {
    let mut all = vec![database(version), checkpoints(version)];
    all.extend(wal(version));
    all.extend((version >= 160_000).then(|| io(version)));
    all
}

fn database(version: i64) -> StatementMetrics {
    let count = Metric::count;
    let mut group = StatementMetrics::new(
        "database_counters",
        "(SELECT $database::oid AS o) AS d",
        &[
            (count(COMMITS), "pg_stat_get_db_xact_commit(o)"),
            (count("rollbacks"), "pg_stat_get_db_xact_rollback(o)"),
            (count("buffer.requests"), "pg_stat_get_db_blocks_fetched(o)"),
            (
                count("buffer.misses"),
                "pg_stat_get_db_blocks_fetched(o) - pg_stat_get_db_blocks_hit(o)",
            ),
            (count("rows.read"), "pg_stat_get_db_tuples_returned(o)"),
            (count("rows.fetched"), "pg_stat_get_db_tuples_fetched(o)"),
            (count("rows.inserted"), "pg_stat_get_db_tuples_inserted(o)"),
            (count("rows.updated"), "pg_stat_get_db_tuples_updated(o)"),
            (count("rows.deleted"), "pg_stat_get_db_tuples_deleted(o)"),
            (count("deadlocks"), "pg_stat_get_db_deadlocks(o)"),
            (
                Metric::bytes("temporary.written"),
                "pg_stat_get_db_temp_bytes(o)",
            ),
            (MS("data.read-time"), "pg_stat_get_db_blk_read_time(o)"),
            (MS("data.write-time"), "pg_stat_get_db_blk_write_time(o)"),
        ],
    );
    if version >= 140_000 {
        group.told.extend([
            (MS("sessions.active-time"), "pg_stat_get_db_active_time(o)"),
            (
                MS("sessions.idle-in-transaction-time"),
                "pg_stat_get_db_idle_in_transaction_time(o)",
            ),
            (count("connections"), "pg_stat_get_db_sessions(o)"),
        ]);
    }
    group
}

fn wal(version: i64) -> Vec<StatementMetrics> {
    let count = Metric::count;
    if version < 140_000 {
        let bytes = "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')";
        return vec![StatementMetrics::new(
            "log_written",
            "(SELECT 1) AS one",
            &[(Metric::bytes("log.written"), bytes)],
        )];
    }
    let mut group = StatementMetrics::new(
        "log_counters",
        "pg_stat_wal",
        &[
            (Metric::bytes("log.written"), "wal_bytes"),
            (count("log.records"), "wal_records"),
            (count("log.full-pages"), "wal_fpi"),
            (count("log.waits"), "wal_buffers_full"),
        ],
    );
    if version < 180_000 {
        group.told.extend([
            (count("log.writes"), "wal_write"),
            (count("log.syncs"), "wal_sync"),
            (MS("log.write-time"), "wal_write_time"),
            (MS("log.sync-time"), "wal_sync_time"),
        ]);
        return vec![group];
    }
    let of_io = StatementMetrics::new(
        "log_io",
        "pg_stat_io WHERE object = 'wal' AND context = 'normal'",
        &[
            (count("log.writes"), "sum(writes)"),
            (count("log.syncs"), "sum(fsyncs)"),
            (MS("log.write-time"), "sum(write_time)"),
            (MS("log.sync-time"), "sum(fsync_time)"),
        ],
    );
    vec![group, of_io]
}

/// The checkpointer has had a view of its own since 17.
fn checkpoints(version: i64) -> StatementMetrics {
    let count = Metric::count;
    if version >= 170_000 {
        return StatementMetrics::new(
            "checkpoints",
            "pg_stat_checkpointer AS c, pg_stat_bgwriter AS b",
            &[
                (count("checkpoints.timed"), "c.num_timed"),
                (count("checkpoints.requested"), "c.num_requested"),
                (MS("checkpoints.write-time"), "c.write_time"),
                (MS("checkpoints.sync-time"), "c.sync_time"),
                (count("checkpoints.pages-written"), "c.buffers_written"),
                (count("background.pages-written"), "b.buffers_clean"),
                (count("background.stops"), "b.maxwritten_clean"),
                (count("buffer.allocated"), "b.buffers_alloc"),
            ],
        );
    }
    StatementMetrics::new(
        "checkpoints",
        "pg_stat_bgwriter",
        &[
            (count("checkpoints.timed"), "checkpoints_timed"),
            (count("checkpoints.requested"), "checkpoints_req"),
            (MS("checkpoints.write-time"), "checkpoint_write_time"),
            (MS("checkpoints.sync-time"), "checkpoint_sync_time"),
            (count("checkpoints.pages-written"), "buffers_checkpoint"),
            (count("background.pages-written"), "buffers_clean"),
            (count("background.stops"), "maxwritten_clean"),
            (count("buffer.allocated"), "buffers_alloc"),
            (count("data.backend-syncs"), "buffers_backend_fsync"),
            (
                count("pages.written"),
                "buffers_checkpoint + buffers_clean + buffers_backend",
            ),
        ],
    )
}

fn io(version: i64) -> StatementMetrics {
    let count = Metric::count;
    let (read, written) = match version >= 180_000 {
        true => (
            "sum(read_bytes)",
            "sum(write_bytes + coalesce(extend_bytes, 0))",
        ),
        false => (
            "sum(reads * op_bytes)",
            "sum((coalesce(writes, 0) + coalesce(extends, 0)) * op_bytes)",
        ),
    };
    StatementMetrics::new(
        "io_counters",
        "pg_stat_io WHERE object <> 'wal'",
        &[
            (Metric::bytes("data.read"), read),
            (Metric::bytes("data.written"), written),
            (count("data.syncs"), "sum(fsyncs)"),
            (MS("data.sync-time"), "sum(fsync_time)"),
            (count("buffer.evictions"), "sum(evictions)"),
            (count("io.reads"), "sum(reads)"),
            (count("io.writes"), "sum(writes)"),
        ],
    )
}

/// The server's counters.
pub(crate) struct PostgresStatus {
    db: Db,
    own: Own,
    rest: Rest,
    /// The database's id: looking it up in each statement costs more than the counters.
    database: i64,
    groups: Vec<StatementMetrics>,
    /// Whether it tells its counters as they are, and reports at once if it is asked to: since 15.
    is_current: bool,
    /// Counters of the whole load, of such a server, where there is a load.
    totals: Option<LoadTotals>,
    held_up: HeldUp,
    tables: Tables,
    /// Of what is asked of tables and blockers.
    refusals: Refusals,
    /// Sessions tell of what they did once a second: series that count from the begin of the load would miss
    /// the first second, so they count from its end.
    is_first: bool,
}

impl PostgresStatus {
    pub fn new(connector: &Connector, own: &Own, makes_load: bool) -> Self {
        Self {
            db: Db::new(connector, own),
            own: own.clone(),
            rest: Rest::default(),
            database: 0,
            groups: Vec::new(),
            is_current: false,
            totals: makes_load.then(LoadTotals::new),
            held_up: HeldUp::default(),
            tables: Tables::default(),
            refusals: Refusals::default(),
            is_first: true,
        }
    }

    /// Asks for the counters, and gives those of each statement to `take` when they have come.
    fn ask(&mut self, failed: &mut Option<String>, mut take: impl FnMut(&[(Metric, f64)])) {
        for group in &mut self.groups {
            // A session that reads no table tells of its commits when it ends (pgstat_report_stat has nothing
            // pending): only then are observing's among these.
            let statements = self.own.statements_of_ended();
            let sql = group.sql(self.database);
            let asked = &mut group.refusals;
            let Some(rows) = asked.ask(&mut self.db, group.name, &sql, failed) else {
                continue;
            };
            let told = group
                .told
                .iter()
                .enumerate()
                .filter_map(|(column, (metric, _))| {
                    let value = rows.float(0, column)?;
                    let rest = match metric.name {
                        COMMITS => self.rest.of(COMMITS, value, statements),
                        _ => value,
                    };
                    Some((*metric, rest))
                });
            take(&told.collect::<Vec<_>>());
        }
    }

    /// The counters at this moment.
    fn reading(&mut self, failed: &mut Option<String>) -> Reading {
        let of_run = match self.tables.of_the_run() {
            "" => "false",
            known => known,
        };
        let sql = format!(
            "SELECT concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_db_stat_reset_time({})), \
             (SELECT count(*) FROM pg_stat_get_activity(NULL) WHERE {of_run} AND pid NOT IN ({}))",
            self.database,
            listed(&self.own.ids())
        );
        let Ok(server) = self.db.query(&sql) else {
            return Reading::default();
        };
        let mut counters = Counters::new();
        self.ask(failed, |told| {
            counters.extend(told.iter().map(|(m, value)| (m.name, value * m.scale)));
        });
        Reading {
            server: server.text(0, 0).unwrap_or_default(),
            sessions: server.int(0, 1).unwrap_or(0),
            counters,
        }
    }

    /// Reads where the load begins. What preparing statements reads of catalogs is reported at once, so that it
    /// is not taken for the load's.
    fn begin(&mut self, failed: &mut Option<String>) {
        if !self.is_current {
            return;
        }
        self.reading(failed);
        let mut unseen = Samples::new(SERVER_STATUS, self.every());
        let (db, own) = (&mut self.db, &self.own);
        let blocked = self
            .held_up
            .sample(db, own, self.database, &mut unseen, failed);
        // What it refuses is told by samples.
        let _told = self.tables.sample(db, own, blocked, &mut unseen);
        self.held_up.begin_anew();
        self.tables.begin_anew();
        let _flushed = self.db.query("SELECT pg_stat_force_next_flush()");
        let reading = self.reading(failed);
        if let Some(totals) = &mut self.totals {
            totals.begin(reading);
        }
    }
}

impl SeriesSource for PostgresStatus {
    fn name(&self) -> &str {
        SERVER_STATUS
    }

    fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let sql = "SELECT current_setting('server_version_num')::int, current_setting('track_io_timing'), \
                   current_setting('track_wal_io_timing', true), \
                   (SELECT oid FROM pg_database WHERE datname = current_database())";
        let rows = self.db.query(sql).map_err(|why| why.gap())?;
        let version = rows.int(0, 0).unwrap_or_default();
        for (column, setting) in [(1, "track_io_timing = on"), (2, "track_wal_io_timing = on")] {
            if rows.text(0, column).as_deref() == Some("off") {
                gaps.push(Gap::new(GapKind::SettingOff, setting));
            }
        }
        for (since, view) in [(140_000, "pg_stat_wal (14)"), (160_000, "pg_stat_io (16)")] {
            if version < since {
                gaps.push(Gap::new(GapKind::OldVersion, view));
            }
        }
        self.database = rows.int(0, 3).unwrap_or_default();
        self.groups = groups(version);
        // Earlier ones tell what their collector wrote half a second ago (PGSTAT_STAT_INTERVAL).
        self.is_current = version >= 150_000;
        self.totals = self.totals.take().filter(|_| self.is_current);
        // Without them there are no dead rows to tell of.
        let _none = self.tables.start(&mut self.db);
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let mut failed = None;
        if std::mem::take(&mut self.is_first) {
            self.begin(&mut failed);
            return failed.map_or(Ok(()), Err);
        }
        let mut totals = self.totals.take();
        self.ask(&mut failed, |told| {
            samples.are_of_now();
            for (metric, value) in told {
                samples.tell(metric, &[], *value);
                if let Some(totals) = &mut totals {
                    totals.see(metric.name, value * metric.scale);
                }
            }
        });
        self.totals = totals;
        let blocked =
            self.held_up
                .sample(&mut self.db, &self.own, self.database, samples, &mut failed);
        if !self.refusals.are_many() {
            let tables = &mut self.tables;
            match tables.sample(&mut self.db, &self.own, blocked, samples) {
                Ok(()) => self.refusals.clear(),
                Err(why) => {
                    self.refusals.count(&why);
                    failed = Some(why.to_string());
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn load_totals(&mut self, is_last: bool) -> Result<Option<Vec<LoadTotal>>, String> {
        if self.totals.is_none() {
            return Ok(Some(Vec::new()));
        }
        // What is refused was told by samples.
        let reading = self.reading(&mut None);
        let totals = self.totals.as_mut();
        Ok(totals.map_or(Some(Vec::new()), |totals| totals.end(&reading, is_last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_is_asked_what_it_has() {
        let asked = |version: i64| -> String {
            let all = groups(version);
            all.iter().map(|g| g.sql(0) + ";").collect()
        };
        let (old, new) = (asked(130_005), asked(180_000));
        assert!(old.contains("pg_wal_lsn_diff") && !old.contains("pg_stat_wal"));
        assert!(!old.contains("active_time") && !old.contains("pg_stat_io"));
        assert!(new.contains("pg_stat_checkpointer") && !new.contains("buffers_backend"));
        assert!(new.contains("object = 'wal'") && !new.contains("wal_sync_time"));
        assert!(asked(160_000).contains("reads * op_bytes"));
        assert!(asked(150_000).contains("wal_sync_time"));
        for version in [130_000, 140_000, 150_000, 160_000, 170_000, 180_000] {
            let all = groups(version);
            let told: Vec<&str> = all
                .iter()
                .flat_map(|g| &g.told)
                .map(|(m, _)| m.name)
                .collect();
            let mut once = told.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), told.len(), "{version}: {told:?}");
            assert!(told.contains(&"log.written") && told.contains(&"checkpoints.requested"));
        }
    }
}
