//! The runs of studies.

use crate::liveness::boot_id;
use crate::query::state_of;
use crate::{Filter, ListedState, RecordError, RunListing, Store, StoreError, from_json};
use rusqlite::{OptionalExtension, named_params, params};
use tidemark_core::record::{Interval, RunRecord};

/// A run of a study, with its place there.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyRun {
    /// The step that made it.
    pub seq: u32,
    /// The cell of the matrix.
    pub cell: String,
    /// Which repeat of the cell, from 1.
    pub repeat: u32,
    /// The run.
    pub run: RunListing,
}

/// What a run that goes on has measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunProgress {
    /// Seconds since the measurement began; below 0 in warm-up.
    pub at_s: f64,
    /// Transactions a second, in the last interval.
    pub transactions_per_s: f64,
    /// 95th percentile of latency in milliseconds, in the last interval.
    pub p95_ms: Option<f64>,
}

impl Store {
    /// The runs that steps of a study ended with, in the order of the steps; half-made runs, which a
    /// later one took the place of, are not among them. Of a study that was executed elsewhere these
    /// are the newest runs at each place.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn runs_of(&self, study: &str) -> Result<Vec<StudyRun>, StoreError> {
        if !self.has_study(study)? {
            return self.runs_by_place(study);
        }
        let filter = Filter {
            study: Some(study.into()),
            ..Filter::default()
        };
        let mut runs = self.list(&filter)?;
        let steps = self.places_of_runs(study)?;
        Ok(steps
            .into_iter()
            .filter_map(|(seq, cell, repeat, id)| {
                let at = runs.iter().position(|r| r.id == id)?;
                let run = runs.swap_remove(at);
                Some(StudyRun {
                    seq,
                    cell,
                    repeat,
                    run,
                })
            })
            .collect())
    }

    fn places_of_runs(&self, study: &str) -> Result<Vec<(u32, String, u32, String)>, StoreError> {
        (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached(
                    "SELECT seq, cell, repeat, run_id FROM study_step \
                     WHERE study = ?1 AND run_id IS NOT NULL ORDER BY seq",
                )?
                .query_map([study], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })?
                .collect()
        })()
        .map_err(|e| self.failed(e))
    }

    /// The newest run that stands at this place of a study, begun at this moment (Unix milliseconds)
    /// or later, and how far it came.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn run_at(
        &self,
        study: &str,
        cell: &str,
        repeat: u32,
        since_ms: i64,
    ) -> Result<Option<(String, ListedState)>, StoreError> {
        let here = boot_id();
        self.db
            .prepare_cached(
                "SELECT id, state, reason, hostname, boot_id, pid, pid_started FROM run \
                 WHERE study = :study AND cell = :cell AND repeat = :repeat \
                 AND begun_ms >= :since ORDER BY begun_ms DESC, id DESC LIMIT 1",
            )
            .and_then(|mut select| {
                let place = named_params! {
                    ":study": study, ":cell": cell, ":repeat": repeat, ":since": since_ms,
                };
                select
                    .query_row(place, |row| {
                        let state = state_of(row, here.as_deref())?;
                        Ok((row.get("id")?, state))
                    })
                    .optional()
            })
            .map_err(|e| self.failed(e))
    }

    /// What the run with this whole id measured last.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn progress(&self, run_id: &str) -> Result<Option<RunProgress>, StoreError> {
        self.db
            .prepare_cached(
                "SELECT start_ms, length_ms, transactions, p95_ms FROM interval \
                 WHERE run_id = ?1 ORDER BY seq DESC LIMIT 1",
            )
            .and_then(|mut select| {
                select
                    .query_row([run_id], |row| {
                        let start_ms: f64 = row.get::<_, i64>(0)? as f64;
                        let length_ms: f64 = row.get(1)?;
                        let count: f64 = row.get::<_, i64>(2)? as f64;
                        Ok(RunProgress {
                            at_s: (start_ms + length_ms) / 1000.0,
                            transactions_per_s: count * 1000.0 / length_ms.max(1.0),
                            p95_ms: row.get(3)?,
                        })
                    })
                    .optional()
            })
            .map_err(|e| self.failed(e))
    }

    /// What is known of a run with this whole id while it goes on, without its intervals.
    ///
    /// # Errors
    /// [`StoreError::Record`] for a record that can't be read, and what reading can meet.
    pub fn record_so_far(&self, run_id: &str) -> Result<Option<RunRecord>, StoreError> {
        let json: Option<String> = self
            .db
            .prepare_cached("SELECT record FROM run WHERE id = ?1")
            .and_then(|mut select| select.query_row([run_id], |row| row.get(0)).optional())
            .map_err(|e| self.failed(e))?;
        json.map(|json| from_json(&json).map_err(|e| self.record_error(run_id, e)))
            .transpose()
    }

    /// The intervals that a run has written beyond its first so many, in order.
    ///
    /// # Errors
    /// [`StoreError::Record`] for an interval that can't be read, and what reading can meet.
    pub fn intervals_from(&self, run_id: &str, first: u64) -> Result<Vec<Interval>, StoreError> {
        let first = i64::try_from(first).unwrap_or(i64::MAX);
        let details: Vec<String> = (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached(
                    "SELECT detail FROM interval WHERE run_id = ?1 AND seq >= ?2 ORDER BY seq",
                )?
                .query_map(params![run_id, first], |row| row.get(0))?
                .collect()
        })()
        .map_err(|e| self.failed(e))?;
        let read = details.iter().map(|detail| serde_json::from_str(detail));
        read.collect::<Result<_, _>>()
            .map_err(|e| self.record_error(run_id, RecordError::Malformed(e)))
    }

    /// Writes a note to a run that has none.
    ///
    /// # Errors
    /// What writing can meet.
    pub fn note_half_made(&mut self, run_id: &str, note: &str) -> Result<(), StoreError> {
        self.change_step(
            "UPDATE run SET note = ?2 WHERE id = ?1 AND note = ''",
            params![run_id, note],
        )
    }
}
