//! Series of runs: what was given beside the load, in stretches that are written again while they grow.

use crate::{RecordError, Store, StoreError};
use rusqlite::{Connection, ErrorCode, params};
use tidemark_core::series::{Series, SeriesChunk, join};

impl Store {
    /// Writes a stretch of a run's series, in the place of what was there under its source and number.
    /// What this returned for is safe from the process's death.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and what writing can meet.
    pub fn push_series(&mut self, run_id: &str, chunk: &SeriesChunk) -> Result<(), StoreError> {
        let rows = rows(&chunk.series).map_err(|e| self.record_error(run_id, e))?;
        let done = self.in_transaction(|db| {
            db.prepare_cached(
                "DELETE FROM series WHERE run_id = ?1 AND source = ?2 AND chunk = ?3",
            )?
            .execute(params![run_id, chunk.source, chunk.number])?;
            insert(db, run_id, chunk.number, &rows)
        });
        match done {
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(self.no_such_run(run_id))
            }
            done => done.map_err(|e| self.failed(e)),
        }
    }

    /// The series of the run with this whole id; none for a run that is not there.
    ///
    /// # Errors
    /// [`StoreError::Record`] for series that can't be read, and what reading can meet.
    pub fn series(&self, id: &str) -> Result<Vec<Series>, StoreError> {
        let details: Vec<String> = (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached(
                    "SELECT detail FROM series WHERE run_id = ?1 ORDER BY chunk, place, source",
                )?
                .query_map([id], |row| row.get(0))?
                .collect()
        })()
        .map_err(|e| self.failed(e))?;
        let pieces: Result<Vec<Series>, _> =
            details.iter().map(|d| serde_json::from_str(d)).collect();
        let malformed = |e| self.record_error(id, RecordError::Malformed(e));
        pieces.map(join).map_err(malformed)
    }
}

/// One series as it is written.
pub(crate) struct SeriesRow<'a> {
    series: &'a Series,
    labels: String,
    json: String,
}

pub(crate) fn rows(series: &[Series]) -> Result<Vec<SeriesRow<'_>>, RecordError> {
    let row = |series| {
        Ok(SeriesRow {
            series,
            labels: serde_json::to_string(&series.key.labels)?,
            json: serde_json::to_string(series)?,
        })
    };
    series.iter().map(row).collect()
}

/// Writes all series of a run in the place of those that it has.
pub(crate) fn replace(db: &Connection, id: &str, rows: &[SeriesRow<'_>]) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM series WHERE run_id = ?1")?
        .execute([id])?;
    insert(db, id, 0, rows)
}

fn insert(db: &Connection, id: &str, chunk: u32, rows: &[SeriesRow<'_>]) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO series (run_id, source, chunk, place, name, unit, labels, points, mean, min, \
         max, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    for (place, row) in rows.iter().enumerate() {
        let key = &row.series.key;
        let all = row.series.summary().ok().flatten();
        insert.execute(params![
            id,
            key.source,
            chunk,
            place as i64,
            key.name,
            key.unit,
            row.labels,
            i64::try_from(row.series.count).unwrap_or(i64::MAX),
            all.map(|a| a.mean),
            all.map(|a| a.min),
            all.map(|a| a.max),
            row.json,
        ])?;
    }
    Ok(())
}
