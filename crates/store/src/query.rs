//! Reading and deleting runs.

use crate::liveness::{Liveness, ProcessId, boot_id, now_ms};
use crate::{RecordError, Store, StoreError, from_json};
use rusqlite::{OptionalExtension, Row, named_params};
use std::fmt;
use tidemark_core::record::{Interval, RunRecord};

/// Which runs to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those of this workload.
    pub workload: Option<String>,
    /// Only those on this engine, in the words of the `engine` column (`mariadb`).
    pub engine: Option<String>,
    /// Only those of this execution of a study, by its whole id.
    pub study: Option<String>,
    /// At most so many, the newest; `None` is all.
    pub limit: Option<u32>,
}

/// How far a run came, as far as can be seen from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedState {
    /// Its process lives.
    Running,
    /// No end was written, and whether its process lives can't be seen from here.
    PerhapsRunning,
    /// No end was written and its process is gone: what was measured until then stands.
    Unfinished,
    /// It ended as asked.
    Finished,
    /// The user ended it.
    Interrupted,
    /// It ended by an error, which is given.
    Failed(String),
}

impl fmt::Display for ListedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ListedState::Running => "running",
            ListedState::PerhapsRunning => "running?",
            ListedState::Unfinished => "unfinished",
            ListedState::Finished => "finished",
            ListedState::Interrupted => "interrupted",
            ListedState::Failed(_) => "failed",
        })
    }
}

/// One line of a list of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunListing {
    /// The run's id.
    pub id: String,
    /// When it started (RFC 3339, UTC).
    pub started_at: String,
    /// How far it came.
    pub state: ListedState,
    /// The workload.
    pub workload: String,
    /// The target's URL, password as `***`.
    pub target: String,
    /// The engine, in JSON's word for it (`mariadb`).
    pub engine: Option<String>,
    /// The engine's version.
    pub engine_version: Option<String>,
    /// Sessions.
    pub sessions: u64,
    /// Measured seconds: of the whole run, or of the intervals stored so far.
    pub elapsed_s: f64,
    /// Transactions in that time.
    pub transactions: u64,
    /// 95th percentile of latency in milliseconds, of a run with an end in which anything ended.
    pub p95_ms: Option<f64>,
    /// Intervals stored, warm-up included.
    pub intervals: u64,
}

impl RunListing {
    /// Transactions a second; 0 before anything was measured.
    pub fn transactions_per_s(&self) -> f64 {
        if self.elapsed_s > 0.0 {
            self.transactions as f64 / self.elapsed_s
        } else {
            0.0
        }
    }
}

impl Store {
    /// The runs that the filter lets through, newest first.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunListing>, StoreError> {
        // A run without an end is summed from its intervals.
        let sql = "SELECT r.id, r.started_at, r.state, r.reason, r.workload, r.target, r.engine, \
             r.engine_version, r.sessions, r.p95_ms, r.hostname, r.boot_id, r.pid, r.pid_started, \
             r.begun_ms, COALESCE(r.elapsed_s, i.elapsed_s, 0.0) AS elapsed_s, \
             COALESCE(r.transactions, i.transactions, 0) AS transactions, \
             COALESCE(i.intervals, 0) AS intervals, i.longest_ms, i.written_ms \
             FROM run r LEFT JOIN ( \
               SELECT run_id, COUNT(*) AS intervals, MAX(written_ms) AS written_ms, \
                 MAX(length_ms) AS longest_ms, \
                 TOTAL(length_ms) FILTER (WHERE phase = 'measure') / 1000 AS elapsed_s, \
                 SUM(transactions) FILTER (WHERE phase = 'measure') AS transactions \
               FROM interval GROUP BY run_id) i ON i.run_id = r.id \
             WHERE (:workload IS NULL OR r.workload = :workload) \
               AND (:engine IS NULL OR r.engine = :engine) \
               AND (:study IS NULL OR r.study = :study) \
             ORDER BY r.started_at DESC, r.id DESC LIMIT :limit";
        let here = boot_id();
        let read = || -> rusqlite::Result<_> {
            self.db
                .prepare_cached(sql)?
                .query_map(
                    named_params! {
                        ":workload": filter.workload,
                        ":engine": filter.engine,
                        ":study": filter.study,
                        ":limit": filter.limit.map_or(-1, i64::from),
                    },
                    |row| listing(row, here.as_deref()),
                )?
                .collect()
        };
        read().map_err(|e| self.failed(e))
    }

    /// The whole record of the run whose id is this or, if only one does, begins so.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::Ambiguous`], [`StoreError::Record`] for a record
    /// that can't be read (a newer Tidemark's, for one), and what reading can meet.
    pub fn get(&self, id: &str) -> Result<RunRecord, StoreError> {
        let id = self.resolve(id)?;
        let json: String = self
            .db
            .query_row("SELECT record FROM run WHERE id = ?1", [&id], |row| {
                row.get(0)
            })
            .map_err(|e| self.failed(e))?;
        let mut record = from_json(&json).map_err(|e| self.record_error(&id, e))?;
        record.intervals = self.intervals(&id)?;
        Ok(record)
    }

    /// The intervals of the run with this whole id, in order; none for a run that is not there.
    ///
    /// # Errors
    /// [`StoreError::Record`] for an interval that can't be read, and what reading can meet.
    pub fn intervals(&self, id: &str) -> Result<Vec<Interval>, StoreError> {
        let details: Vec<String> = (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached("SELECT detail FROM interval WHERE run_id = ?1 ORDER BY seq")?
                .query_map([id], |row| row.get(0))?
                .collect()
        })()
        .map_err(|e| self.failed(e))?;
        details
            .iter()
            .map(|detail| serde_json::from_str::<Interval>(detail))
            .collect::<Result<_, _>>()
            .map_err(|e| self.record_error(id, RecordError::Malformed(e)))
    }

    /// The id of the run that started last.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn latest(&self) -> Result<Option<String>, StoreError> {
        self.db
            .query_row(
                "SELECT id FROM run ORDER BY started_at DESC, id DESC LIMIT 1",
                [],
                |row| row.get(0),
            )
            .optional()
            .map_err(|e| self.failed(e))
    }

    /// The full id of the run whose id is this or, if only one does, begins so.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::Ambiguous`], and what reading can meet.
    pub fn resolve(&self, id: &str) -> Result<String, StoreError> {
        let asked = id.trim().to_ascii_lowercase();
        // Compared as text and not with LIKE, whose wildcards an id could hold.
        let mut matches: Vec<String> = (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached(
                    "SELECT id FROM run WHERE ?1 <> '' \
                     AND lower(substr(id, 1, length(?1))) = ?1 \
                     ORDER BY lower(id) = ?1 DESC, id DESC LIMIT 6",
                )?
                .query_map([&asked], |row| row.get(0))?
                .collect()
        })()
        .map_err(|e| self.failed(e))?;
        match matches.as_slice() {
            [] => Err(self.no_such_run(id)),
            [first, ..] if first.to_ascii_lowercase() == asked => Ok(matches.swap_remove(0)),
            [_] => Ok(matches.swap_remove(0)),
            _ => Err(StoreError::Ambiguous {
                id: id.into(),
                matches,
            }),
        }
    }

    /// Deletes the run whose id is this or, if only one does, begins so; returns its id.
    ///
    /// # Errors
    /// [`StoreError::StillRunning`] when a living process writes it, and as [`Store::get`].
    pub fn delete(&mut self, id: &str) -> Result<String, StoreError> {
        let id = self.resolve(id)?;
        let here = boot_id();
        let (state, writer) = self
            .db
            .query_row(
                "SELECT state, hostname, boot_id, pid, pid_started FROM run WHERE id = ?1",
                [&id],
                |row| Ok((row.get::<_, String>("state")?, process_id(row)?)),
            )
            .map_err(|e| self.failed(e))?;
        if state == "running" && writer.liveness(here.as_deref()) == Liveness::Alive {
            return Err(StoreError::StillRunning {
                id,
                pid: writer.pid.unwrap_or(0),
            });
        }
        self.in_transaction(|db| db.execute("DELETE FROM run WHERE id = ?1", [&id]))
            .and_then(|_| self.give_back_space())
            .map_err(|e| self.failed(e))?;
        Ok(id)
    }
}

impl Store {
    fn give_back_space(&self) -> rusqlite::Result<()> {
        let mut vacuum = self.db.prepare("PRAGMA incremental_vacuum")?;
        // Each step frees one page.
        let mut steps = vacuum.query([])?;
        while steps.next()?.is_some() {}
        Ok(())
    }
}

pub(crate) fn process_id(row: &Row<'_>) -> rusqlite::Result<ProcessId> {
    Ok(ProcessId {
        hostname: row.get("hostname")?,
        boot_id: row.get("boot_id")?,
        pid: row.get("pid")?,
        pid_started: row.get("pid_started")?,
    })
}

fn listing(row: &Row<'_>, here: Option<&str>) -> rusqlite::Result<RunListing> {
    let unsigned = |name| {
        row.get::<_, i64>(name)
            .map(|n| u64::try_from(n).unwrap_or(0))
    };
    let state = match state_of(row, here)? {
        ListedState::PerhapsRunning if is_silent(row)? => ListedState::Unfinished,
        seen => seen,
    };
    Ok(RunListing {
        id: row.get("id")?,
        started_at: row.get("started_at")?,
        state,
        workload: row.get("workload")?,
        target: row.get("target")?,
        engine: row.get("engine")?,
        engine_version: row.get("engine_version")?,
        sessions: unsigned("sessions")?,
        elapsed_s: row.get("elapsed_s")?,
        transactions: unsigned("transactions")?,
        p95_ms: row.get("p95_ms")?,
        intervals: unsigned("intervals")?,
    })
}

/// How far a run came, by its row alone.
pub(crate) fn state_of(row: &Row<'_>, here: Option<&str>) -> rusqlite::Result<ListedState> {
    Ok(match row.get::<_, String>("state")?.as_str() {
        "finished" => ListedState::Finished,
        "interrupted" => ListedState::Interrupted,
        "failed" => ListedState::Failed(row.get::<_, Option<_>>("reason")?.unwrap_or_default()),
        _ => match process_id(row)?.liveness(here) {
            Liveness::Alive => ListedState::Running,
            Liveness::Gone => ListedState::Unfinished,
            Liveness::Unknown => ListedState::PerhapsRunning,
        },
    })
}

/// Whether nothing was written for ten intervals and more than a minute.
fn is_silent(row: &Row<'_>) -> rusqlite::Result<bool> {
    let last: i64 = match row.get("written_ms")? {
        Some(written) => written,
        None => row.get("begun_ms")?,
    };
    let longest_ms: Option<f64> = row.get("longest_ms")?;
    let silence_ms = (now_ms() - last) as f64;
    Ok(silence_ms > 60_000.0_f64.max(10.0 * longest_ms.unwrap_or(0.0)))
}
