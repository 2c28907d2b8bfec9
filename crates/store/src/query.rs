//! Reading and deleting runs.

use crate::liveness::{Liveness, ProcessId, boot_id, now_ms};
use crate::{RecordError, Store, StoreError, from_json};
use rusqlite::{OptionalExtension, Row, ToSql, named_params};
use std::collections::BTreeMap;
use std::fmt;
use tidemark_core::record::{EffectiveOption, Interval, RateUnit, RunRecord, WATCH};

/// Which runs to list: those that meet everything given.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those with these whole ids.
    pub ids: Option<Vec<String>>,
    /// Only those of this workload.
    pub workload: Option<String>,
    /// Only those on this engine, in the words of the `engine` column (`mariadb`).
    pub engine: Option<String>,
    /// Only those of this execution of a study, by its whole id.
    pub study: Option<String>,
    /// None of the runs that diagnoses made for their experiments.
    pub no_experiments: bool,
    /// Only those that bear all of these tags.
    pub tags: Vec<String>,
    /// Only those that came so far.
    pub state: Option<StateWord>,
    /// Only those whose target's URL holds this text, in letters of either case.
    pub target: Option<String>,
    /// Only those that started at this moment or later (RFC 3339, UTC, as records have it).
    pub since: Option<String>,
    /// Only those that started before this moment.
    pub until: Option<String>,
    /// At most so many, the newest; `None` is all.
    pub limit: Option<u32>,
    /// Workloads whose runs are listed with their options.
    pub options_of: Vec<&'static str>,
}

impl Filter {
    /// Whether processes must be looked at, which the file can't tell of.
    fn asks_whether_alive(&self) -> bool {
        let words = [StateWord::Running, StateWord::Unfinished];
        self.state.is_some_and(|state| words.contains(&state))
    }

    /// Asks with the values of [`CHOSEN`]'s parameters, and `:limit`; -1 is none. Lists are JSON.
    fn ask<T>(&self, limit: i64, ask: impl FnOnce(&[(&str, &dyn ToSql)]) -> T) -> T {
        let json = |words: &Vec<String>| serde_json::Value::from(words.clone()).to_string();
        ask(named_params! {
            ":ids": self.ids.as_ref().map(json),
            ":workload": self.workload,
            ":engine": self.engine,
            ":study": self.study,
            ":diagnoses": self.no_experiments.then_some(DIAGNOSIS_IDS),
            ":state": self.state.map(StateWord::stored),
            ":target": self.target,
            ":since": self.since,
            ":until": self.until,
            ":tags": json(&self.tags),
            ":limit": limit,
        })
    }
}

/// How far a run came, as a filter has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateWord {
    /// It goes on, as far as can be seen.
    Running,
    /// Its process died.
    Unfinished,
    /// It ended as asked.
    Finished,
    /// The user ended it.
    Interrupted,
    /// It ended by an error.
    Failed,
}

impl StateWord {
    /// All of them, with their words.
    pub const ALL: [(&'static str, StateWord); 5] = [
        ("running", StateWord::Running),
        ("unfinished", StateWord::Unfinished),
        ("finished", StateWord::Finished),
        ("interrupted", StateWord::Interrupted),
        ("failed", StateWord::Failed),
    ];

    /// The word in the file, which can't tell whether a process lives.
    fn stored(self) -> &'static str {
        match self {
            StateWord::Running | StateWord::Unfinished => "running",
            StateWord::Finished => "finished",
            StateWord::Interrupted => "interrupted",
            StateWord::Failed => "failed",
        }
    }

    fn is(self, state: &ListedState) -> bool {
        match state {
            ListedState::Running | ListedState::PerhapsRunning => self == StateWord::Running,
            ListedState::Unfinished => self == StateWord::Unfinished,
            ListedState::Finished => self == StateWord::Finished,
            ListedState::Interrupted => self == StateWord::Interrupted,
            ListedState::Failed(_) => self == StateWord::Failed,
        }
    }
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
    /// Whether it only observed: then there are no sessions and no transactions to tell of.
    pub is_watch: bool,
    /// Whether it is another tool's, imported from a document.
    pub is_imported: bool,
    /// The run's options, of a workload that [`Filter::options_of`] names; empty otherwise.
    pub options: BTreeMap<String, EffectiveOption>,
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
    /// What its throughput counts.
    pub rate_unit: RateUnit,
    /// The throughput of a run with an end, as another tool stated it where it did.
    pub ended_per_s: Option<f64>,
    /// 95th percentile of latency in milliseconds, of a run with an end in which anything ended.
    pub p95_ms: Option<f64>,
    /// Intervals stored, warm-up included.
    pub intervals: u64,
    /// Its tags, sorted.
    pub tags: Vec<String>,
    /// What its user noted about it.
    pub note: String,
}

impl RunListing {
    /// Whether it is an imported output whose end is missing: nobody interrupted that run.
    pub fn is_cut_output(&self) -> bool {
        self.is_imported && self.state == ListedState::Interrupted
    }

    /// The throughput, in [`RunListing::rate_unit`]; 0 before anything was measured.
    pub fn transactions_per_s(&self) -> f64 {
        if let Some(per_s) = self.ended_per_s {
            per_s
        } else if self.elapsed_s > 0.0 {
            self.transactions as f64 / self.elapsed_s
        } else {
            0.0
        }
    }
}

/// What ids of diagnoses begin with, where runs tell their study.
pub const DIAGNOSIS_IDS: &str = "diagnose-";

/// The ids of the runs that a filter lets through, as far as the file can tell.
const CHOSEN: &str = "SELECT id FROM run r \
     WHERE (:ids IS NULL OR r.id IN (SELECT value FROM json_each(:ids))) \
     AND (:workload IS NULL OR r.workload = :workload) \
     AND (:engine IS NULL OR r.engine = :engine) \
     AND (:study IS NULL OR r.study = :study) \
     AND (:diagnoses IS NULL OR r.study IS NULL \
     OR substr(r.study, 1, length(:diagnoses)) <> :diagnoses) \
     AND (:state IS NULL OR r.state = :state) \
     AND (:target IS NULL OR instr(lower(r.target), lower(:target)) > 0) \
     AND (:since IS NULL OR r.started_at >= :since) \
     AND (:until IS NULL OR r.started_at < :until) \
     AND NOT EXISTS (SELECT 1 FROM json_each(:tags) word WHERE NOT EXISTS ( \
     SELECT 1 FROM tag t WHERE t.run_id = r.id AND t.tag = word.value))";

impl Store {
    /// The runs that the filter lets through, newest first.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunListing>, StoreError> {
        // The runs are chosen first: what is asked of their intervals is asked for these alone, and
        // sums only for those without an end.
        let quoted = |name: &&str| format!("'{}'", name.replace('\'', "''"));
        let with_options: Vec<String> = filter.options_of.iter().map(quoted).collect();
        let with_options = with_options.join(", ");
        let sql = format!(
            "WITH chosen AS MATERIALIZED ({CHOSEN} \
               ORDER BY r.started_at DESC, r.id DESC LIMIT :limit) \
             SELECT r.id, r.started_at, r.state, r.reason, r.workload, r.target, r.engine, \
               r.engine_version, r.sessions, r.p95_ms, r.transactions_per_s, r.hostname, r.boot_id, r.pid, \
               r.pid_started, r.begun_ms, r.note, \
               (SELECT json_group_array(tag) FROM (SELECT tag FROM tag \
                 WHERE run_id = r.id ORDER BY tag)) AS tags, \
               CASE WHEN r.workload IN ({with_options}) THEN r.record ->> '$.options' END AS options, \
               r.workload = '{WATCH}' AND r.record ->> '$.watched_s' IS NOT NULL AS is_watch, \
               CASE WHEN r.engine IS NULL THEN r.record ->> '$.imported.rate_unit' END AS rate_unit, \
               r.engine IS NULL AND r.record ->> '$.imported.tool' IS NOT NULL AS is_imported, \
               COALESCE(r.elapsed_s, (SELECT TOTAL(length_ms) / 1000 FROM interval \
                 WHERE run_id = r.id AND phase = 'measure')) AS elapsed_s, \
               COALESCE(r.transactions, (SELECT SUM(transactions) FROM interval \
                 WHERE run_id = r.id AND phase = 'measure'), 0) AS transactions, \
               (SELECT COUNT(*) FROM interval WHERE run_id = r.id) AS intervals, \
               CASE r.state WHEN 'running' THEN (SELECT MAX(length_ms) FROM interval \
                 WHERE run_id = r.id) END AS longest_ms, \
               CASE r.state WHEN 'running' THEN (SELECT MAX(written_ms) FROM interval \
                 WHERE run_id = r.id) END AS written_ms \
             FROM chosen JOIN run r ON r.id = chosen.id \
             ORDER BY r.started_at DESC, r.id DESC"
        );
        let here = boot_id();
        // Whether a process lives is seen after reading; until then all must be kept.
        let wanted = filter.limit.map_or(usize::MAX, |n| n as usize);
        let limit = filter.limit.filter(|_| !filter.asks_whether_alive());
        let limit = limit.map_or(-1, i64::from);
        let read = || -> rusqlite::Result<Vec<RunListing>> {
            let mut statement = self.db.prepare_cached(&sql)?;
            filter.ask(limit, |values| {
                let rows = statement.query_map(values, |row| listing(row, here.as_deref()))?;
                rows.collect()
            })
        };
        let mut listed = read().map_err(|e| self.failed(e))?;
        if let Some(state) = filter.state {
            listed.retain(|run| state.is(&run.state));
        }
        listed.truncate(wanted);
        Ok(listed)
    }

    /// How many runs the filter lets through, its limit left aside.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn count(&self, filter: &Filter) -> Result<usize, StoreError> {
        if filter.asks_whether_alive() {
            let all = Filter {
                limit: None,
                ..filter.clone()
            };
            return Ok(self.list(&all)?.len());
        }
        let sql = format!("SELECT COUNT(*) FROM ({CHOSEN} LIMIT :limit)");
        filter
            .ask(-1, |values| {
                self.db.query_row(&sql, values, |row| row.get::<_, i64>(0))
            })
            .map(|count| usize::try_from(count).unwrap_or(0))
            .map_err(|e| self.failed(e))
    }

    /// The whole record of the run whose id is this or, if only one does, begins so, with the tags
    /// and the note that it has now.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::Ambiguous`], [`StoreError::Record`] for a record
    /// that can't be read (a newer Tidemark's, for one), and what reading can meet.
    pub fn get(&self, id: &str) -> Result<RunRecord, StoreError> {
        let id = self.resolve(id)?;
        let (json, note): (String, String) = self
            .db
            .query_row("SELECT record, note FROM run WHERE id = ?1", [&id], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .map_err(|e| self.failed(e))?;
        let mut record = from_json(&json).map_err(|e| self.record_error(&id, e))?;
        record.intervals = self.intervals(&id)?;
        record.series = self.series(&id)?;
        record.tags = self.tags_of(&id)?;
        record.note = note;
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

    /// The id of the run that was begun last in this store: neither a clock that was wrong nor an
    /// imported record, which no process here wrote, puts another one in its place, nor do the runs that a
    /// diagnosis made for its experiments, unless there are no others.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn latest(&self) -> Result<Option<String>, StoreError> {
        self.db
            .query_row(
                // Rows are numbered in the order of their making (sqlite.org/autoinc.html).
                "SELECT id FROM run WHERE pid IS NOT NULL \
                 ORDER BY substr(coalesce(study, ''), 1, length(?1)) = ?1, rowid DESC LIMIT 1",
                [DIAGNOSIS_IDS],
                |row| row.get(0),
            )
            .optional()
            .map_err(|e| self.failed(e))
    }

    /// The full id of the run whose id is this or, if only one does, begins so, or ends so in four
    /// characters or more: ids begin with the time, so that neighbours differ at their end.
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
                     AND (lower(substr(id, 1, length(?1))) = ?1 \
                     OR length(?1) >= 4 AND lower(substr(id, -length(?1))) = ?1) \
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
    /// As [`Store::delete_all`].
    pub fn delete(&mut self, id: &str) -> Result<String, StoreError> {
        let id = self.resolve(id)?;
        self.delete_all(std::slice::from_ref(&id))?;
        Ok(id)
    }

    /// Deletes the runs with these whole ids: all, or none. One that is gone already is no error.
    ///
    /// # Errors
    /// [`StoreError::StillRunning`] when a living process writes one, and what writing can meet.
    pub fn delete_all(&mut self, ids: &[String]) -> Result<(), StoreError> {
        let here = boot_id();
        let mut living = None;
        let done = self.in_transaction(|db| {
            for id in ids {
                let writer = db
                    .prepare_cached(
                        "SELECT hostname, boot_id, pid, pid_started FROM run \
                         WHERE id = ?1 AND state = 'running'",
                    )?
                    .query_row([id], process_id)
                    .optional()?;
                let alive = writer.filter(|w| w.liveness(here.as_deref()) == Liveness::Alive);
                if let Some(writer) = alive {
                    living = Some((id.clone(), writer.pid.unwrap_or(0)));
                    // What was deleted until here is taken back.
                    return Err(rusqlite::Error::QueryReturnedNoRows);
                }
                db.prepare_cached("DELETE FROM run WHERE id = ?1")?
                    .execute([id])?;
            }
            Ok(())
        });
        if let Some((id, pid)) = living {
            return Err(StoreError::StillRunning { id, pid });
        }
        done.and_then(|()| self.give_back_space())
            .map_err(|e| self.failed(e))
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

/// As records name it; that of a later version is none that is known.
fn rate_unit(name: Option<String>) -> RateUnit {
    let named = name.map(|name| serde_json::from_value(name.into()));
    named.and_then(Result::ok).unwrap_or_default()
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
        is_watch: row.get("is_watch")?,
        is_imported: row.get("is_imported")?,
        options: match row.get::<_, Option<String>>("options")? {
            Some(json) => serde_json::from_str(&json).unwrap_or_default(),
            None => BTreeMap::new(),
        },
        target: row.get("target")?,
        engine: row.get("engine")?,
        engine_version: row.get("engine_version")?,
        sessions: unsigned("sessions")?,
        elapsed_s: row.get("elapsed_s")?,
        transactions: unsigned("transactions")?,
        rate_unit: rate_unit(row.get("rate_unit")?),
        ended_per_s: row.get("transactions_per_s")?,
        p95_ms: row.get("p95_ms")?,
        intervals: unsigned("intervals")?,
        tags: serde_json::from_str(&row.get::<_, String>("tags")?).unwrap_or_default(),
        note: row.get("note")?,
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
