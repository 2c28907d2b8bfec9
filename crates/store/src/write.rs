//! Writing runs.

use crate::columns::{RunRow, append, count, next_seq, rows};
use crate::labels::check_tag;
use crate::liveness::{Liveness, ProcessId, boot_id, now_ms};
use crate::query::process_id;
use crate::{RecordError, Store, StoreError, series};
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};
use tidemark_core::record::{Interval, RunRecord};

impl Store {
    /// Begins a run that this process will write: its row, and the intervals it may have already.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when there is a run with its id, and what writing can meet.
    pub fn begin(&mut self, record: &RunRecord) -> Result<(), StoreError> {
        let own = ProcessId::own(&record.client.hostname);
        self.insert(record, Some(&own))
    }

    /// Stores a whole record that came from elsewhere: no process here writes it.
    ///
    /// # Errors
    /// [`StoreError::BadTag`] for a tag that could not be put on a run here, and as
    /// [`Store::begin`].
    pub fn import(&mut self, record: &RunRecord) -> Result<(), StoreError> {
        record.tags.iter().try_for_each(|tag| check_tag(tag))?;
        self.insert(record, None)
    }

    /// Stores the whole record of a run that was made for this store. What a process began of it here and
    /// did not end is replaced, but for its tags and its note. All is one transaction, so that whoever is
    /// killed meanwhile leaves what was there before. Returns when the disk has it.
    ///
    /// # Errors
    /// [`StoreError::StillRunning`] when a living process writes it, [`StoreError::Exists`] when its end
    /// is stored, and what writing can meet.
    pub fn take_over(&mut self, record: &RunRecord) -> Result<(), StoreError> {
        self.synchronous("FULL")?;
        let done = self.replace_begun(record);
        let done = match done {
            // Nothing was begun here.
            Ok(false) => self.begin(record),
            done => done.map(drop),
        };
        self.synchronous("NORMAL")?;
        done
    }

    /// Whether there was a run that had been begun.
    fn replace_begun(&mut self, record: &RunRecord) -> Result<bool, StoreError> {
        let id = record.id.as_str();
        let row = RunRow::of(record).map_err(|e| self.record_error(id, e))?;
        let intervals = rows(&record.intervals).map_err(|e| self.record_error(id, e))?;
        let series = series::rows(&record.series).map_err(|e| self.record_error(id, e))?;
        let here = boot_id();
        let mut living = None;
        let done = self.in_transaction(|db| {
            let writer = db
                .prepare_cached(
                    "SELECT hostname, boot_id, pid, pid_started FROM run \
                     WHERE id = ?1 AND state = 'running'",
                )?
                .query_row([id], process_id)
                .optional()?;
            let Some(writer) = writer else {
                return Ok(false);
            };
            if writer.liveness(here.as_deref()) == Liveness::Alive {
                living = Some(writer.pid.unwrap_or(0));
                return Ok(false);
            }
            db.prepare_cached("DELETE FROM interval WHERE run_id = ?1")?
                .execute([id])?;
            row.update(db)?;
            append(db, id, 0, &intervals)?;
            series::replace(db, id, &series)?;
            Ok(true)
        });
        match living {
            Some(pid) => Err(StoreError::StillRunning { id: id.into(), pid }),
            None => done.map_err(|e| self.failed(e)),
        }
    }

    fn insert(&mut self, record: &RunRecord, writer: Option<&ProcessId>) -> Result<(), StoreError> {
        let id = record.id.as_str();
        let place = record.study.as_ref();
        let row = RunRow::of(record).map_err(|e| self.record_error(id, e))?;
        let intervals = rows(&record.intervals).map_err(|e| self.record_error(id, e))?;
        let series = series::rows(&record.series).map_err(|e| self.record_error(id, e))?;
        let done = self.in_transaction(|db| {
            db.prepare_cached(
                "INSERT INTO run (id, schema_version, tidemark_version, started_at, state, \
                 workload, target, sessions, hostname, boot_id, pid, pid_started, begun_ms, record, \
                 study, cell, repeat, note) \
                 VALUES (?1, ?2, ?3, ?4, 'running', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, '', ?13, \
                 ?14, ?15, ?16)",
            )?
            .execute(params![
                id,
                record.schema_version,
                record.tidemark_version,
                record.started_at,
                record.workload,
                record.target,
                count(record.sessions as u64),
                record.client.hostname,
                writer.and_then(|w| w.boot_id.as_deref()),
                writer.and_then(|w| w.pid),
                writer.and_then(|w| w.pid_started.as_deref()),
                now_ms(),
                place.map(|p| p.study.as_str()),
                place.map(|p| p.cell.as_str()),
                place.map(|p| p.repeat),
                record.note,
            ])?;
            for tag in &record.tags {
                db.prepare_cached("INSERT OR IGNORE INTO tag (run_id, tag) VALUES (?1, ?2)")?
                    .execute([id, tag])?;
            }
            row.update(db)?;
            append(db, id, 0, &intervals)?;
            series::replace(db, id, &series)
        });
        match done {
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(StoreError::Exists {
                    path: self.path().into(),
                    id: id.into(),
                })
            }
            done => done.map_err(|e| self.failed(e)),
        }
    }

    /// Appends one interval to a run that was begun. What this returned for is safe from the
    /// process's death.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and what writing can meet.
    pub fn push_interval(&mut self, run_id: &str, interval: &Interval) -> Result<(), StoreError> {
        let row = rows(std::slice::from_ref(interval)).map_err(|e| self.record_error(run_id, e))?;
        let done = self.in_transaction(|db| {
            let next = next_seq(db, run_id)?;
            append(db, run_id, next, &row)
        });
        match done {
            // The only constraint an appended interval can break is the reference to its run.
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(self.no_such_run(run_id))
            }
            done => done.map_err(|e| self.failed(e)),
        }
    }

    /// Writes the run's final record, and those of its intervals that were not pushed. Returns when
    /// the disk has it. A record whose intervals and series were all pushed may come without them,
    /// which spares a copy; series that it has take the place of those that were pushed.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`] when it was not begun, and what writing can meet.
    pub fn finish(&mut self, record: &RunRecord) -> Result<(), StoreError> {
        let id = record.id.as_str();
        let row = RunRow::of(record).map_err(|e| self.record_error(id, e))?;
        let intervals = rows(&record.intervals).map_err(|e| self.record_error(id, e))?;
        let series = series::rows(&record.series).map_err(|e| self.record_error(id, e))?;
        self.synchronous("FULL")?;
        let done = self.in_transaction(|db| {
            let updated = row.update(db)?;
            if updated > 0 {
                let stored = next_seq(db, id)?;
                let missing = usize::try_from(stored).unwrap_or(usize::MAX);
                append(db, id, stored, intervals.get(missing..).unwrap_or(&[]))?;
                if !series.is_empty() {
                    series::replace(db, id, &series)?;
                }
            }
            Ok(updated)
        });
        self.synchronous("NORMAL")?;
        match done {
            Ok(0) => Err(self.no_such_run(id)),
            done => done.map(|_| ()).map_err(|e| self.failed(e)),
        }
    }

    pub(crate) fn synchronous(&self, level: &str) -> Result<(), StoreError> {
        self.db
            .pragma_update(None, "synchronous", level)
            .map_err(|e| self.failed(e))
    }

    pub(crate) fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        // Taken for writing at once: a reader that turns writer could not wait for its turn.
        let transaction = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    pub(crate) fn no_such_run(&self, id: &str) -> StoreError {
        StoreError::NoSuchRun {
            path: self.path().into(),
            id: id.into(),
        }
    }

    pub(crate) fn record_error(&self, id: &str, source: RecordError) -> StoreError {
        StoreError::Record {
            path: self.path().into(),
            id: id.into(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::{Phase, RunState, StatementCounts};

    fn begun(dir: &std::path::Path) -> Store {
        let store = Store::open(&dir.join("runs.db")).unwrap();
        store
            .db
            .execute(
                "INSERT INTO run (id, schema_version, tidemark_version, started_at, state, \
                 workload, target, sessions, hostname, begun_ms, record) \
                 VALUES ('a', 1, '', '', 'running', '', '', 1, '', 0, '{}')",
                [],
            )
            .unwrap();
        store
    }

    fn interval(length_ms: f64) -> Interval {
        Interval {
            start_ms: 0,
            length_ms,
            phase: Phase::Measure,
            sessions: 1,
            statements: StatementCounts::default(),
            ignored_errors: 0,
            reconnects: 0,
            queue_length: 0,
            concurrency: 0,
            types: Default::default(),
            ..Interval::default()
        }
    }

    fn stored(store: &Store) -> i64 {
        next_seq(&store.db, "a").unwrap()
    }

    #[test]
    fn a_full_disk_is_called_so_and_what_was_stored_stays() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = begun(dir.path());
        let pages: i64 = store
            .db
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .unwrap();
        // SQLite answers a database at its size limit as it does a full disk.
        store
            .db
            .pragma_update(None, "max_page_count", pages + 2)
            .unwrap();
        let error = (0..1000)
            .find_map(|_| store.push_interval("a", &interval(1000.0)).err())
            .unwrap();
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        assert!(error.to_string().contains("runs.db"), "{error}");
        let before = stored(&store);
        assert!(before > 0);
        store
            .db
            .pragma_update(None, "max_page_count", 1000)
            .unwrap();
        store.push_interval("a", &interval(1000.0)).unwrap();
        assert_eq!(stored(&store), before + 1);
    }

    #[test]
    fn a_run_that_was_begun_is_taken_over_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = begun(dir.path());
        store.push_interval("a", &interval(1.0)).unwrap();
        store.tag(&["a".into()], &["kept".into()], &[]).unwrap();
        let whole = RunRecord {
            id: "a".into(),
            state: RunState::Finished,
            intervals: vec![interval(1000.0), interval(2000.0)],
            ..RunRecord::default()
        };
        // What is killed on the way leaves what was there: here the disk ends before the intervals do.
        store
            .db
            .execute_batch(
                "CREATE TRIGGER full BEFORE INSERT ON interval WHEN NEW.seq = 1 \
                 BEGIN SELECT RAISE(ABORT, 'full'); END",
            )
            .unwrap();
        store.take_over(&whole).unwrap_err();
        let state = |store: &Store| -> String {
            let state = "SELECT state FROM run WHERE id = 'a'";
            store.db.query_row(state, [], |row| row.get(0)).unwrap()
        };
        assert_eq!((state(&store).as_str(), stored(&store)), ("running", 1));
        store.db.execute_batch("DROP TRIGGER full").unwrap();
        store.take_over(&whole).unwrap();
        assert_eq!((state(&store).as_str(), stored(&store)), ("finished", 2));
        assert_eq!(store.tags_of("a").unwrap(), ["kept"]);
        // An end that is stored stands, and a run that nobody began here is stored, too.
        let again = store.take_over(&whole).unwrap_err();
        assert!(matches!(again, StoreError::Exists { .. }), "{again:?}");
        let other = RunRecord {
            id: "b".into(),
            ..whole.clone()
        };
        store.take_over(&other).unwrap();
        assert_eq!(next_seq(&store.db, "b").unwrap(), 2);
        // This process lives.
        let mut own = RunRecord {
            id: "c".into(),
            state: RunState::Running,
            ..other
        };
        store.begin(&own).unwrap();
        own.state = RunState::Finished;
        let living = store.take_over(&own).unwrap_err();
        assert!(
            matches!(living, StoreError::StillRunning { .. }),
            "{living:?}"
        );
    }

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = begun(dir.path());
        for length in [f64::NAN, f64::INFINITY] {
            let error = store.push_interval("a", &interval(length)).unwrap_err();
            assert!(matches!(error, StoreError::Record { .. }), "{error:?}");
        }
        assert_eq!(stored(&store), 0);
    }
}
