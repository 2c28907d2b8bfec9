//! Studies that were executed elsewhere: their runs were imported, and each record keeps its place.

use super::StudyRun;
use crate::{Filter, Store, StoreError};
use std::collections::BTreeMap;

/// A study of which runs are in the store, and its execution is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyElsewhere {
    /// Id of its execution.
    pub id: String,
    /// Its name, as its records have it.
    pub name: String,
}

impl Store {
    /// Every study of which there are runs alone, the one begun last first.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn studies_elsewhere(&self) -> Result<Vec<StudyElsewhere>, StoreError> {
        (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached(
                    "SELECT study, COALESCE(json_extract(record, '$.study.name'), '') FROM run \
                     WHERE study IS NOT NULL AND study NOT IN (SELECT id FROM study) \
                     GROUP BY study ORDER BY study DESC",
                )?
                .query_map([], |row| {
                    Ok(StudyElsewhere {
                        id: row.get(0)?,
                        name: row.get(1)?,
                    })
                })?
                .collect()
        })()
        .map_err(|e| self.failed(e))
    }

    /// The one of [`Store::studies_elsewhere`] that is meant, in the words of [`Store::study`].
    ///
    /// # Errors
    /// As [`Store::study`].
    pub fn study_elsewhere(&self, word: &str) -> Result<StudyElsewhere, StoreError> {
        if matches!(word.trim(), "last" | "study:last") {
            // That is the one begun last here.
            return Err(self.no_such_study(word));
        }
        let all = self.studies_elsewhere()?;
        let known: Vec<(&str, &str)> = all
            .iter()
            .map(|s| (s.id.as_str(), s.name.as_str()))
            .collect();
        let at = self.which(word, &known)?;
        Ok(all[at].clone())
    }

    /// Whether the execution with this whole id is in the store.
    pub(super) fn has_study(&self, id: &str) -> Result<bool, StoreError> {
        self.db
            .prepare_cached("SELECT 1 FROM study WHERE id = ?1")
            .and_then(|mut select| select.exists([id]))
            .map_err(|e| self.failed(e))
    }

    /// The newest run at each place of a study, in the order of time: what was made again counts
    /// once.
    pub(super) fn runs_by_place(&self, study: &str) -> Result<Vec<StudyRun>, StoreError> {
        let places: BTreeMap<String, (String, u32)> = (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached("SELECT id, cell, repeat FROM run WHERE study = ?1")?
                .query_map([study], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
                .collect()
        })()
        .map_err(|e| self.failed(e))?;
        let filter = Filter {
            study: Some(study.into()),
            ..Filter::default()
        };
        // Newest first.
        let mut newest: Vec<StudyRun> = Vec::new();
        for run in self.list(&filter)? {
            let Some((cell, repeat)) = places.get(&run.id).cloned() else {
                continue;
            };
            let is_there = |r: &StudyRun| r.cell == cell && r.repeat == repeat;
            if !newest.iter().any(is_there) {
                newest.push(StudyRun {
                    seq: 0,
                    cell,
                    repeat,
                    run,
                });
            }
        }
        newest.reverse();
        for (seq, run) in (0..).zip(&mut newest) {
            run.seq = seq;
        }
        Ok(newest)
    }
}
