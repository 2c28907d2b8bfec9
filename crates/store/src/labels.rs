//! What a user says of runs: tags, by which they are found and compared, and notes.

use crate::{RecordError, Store, StoreError};
use rusqlite::params;

/// Whether a word can be put on a run as a tag.
///
/// A comma parts names in a comparison and a blank in a command line; a sign in front says what is
/// done with the word. Letters may be of any language.
///
/// # Errors
/// [`StoreError::BadTag`], which says what is allowed.
pub fn check_tag(tag: &str) -> Result<(), StoreError> {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && c != ',';
    let length = tag.chars().count();
    if (1..=64).contains(&length) && !tag.starts_with(['+', '-']) && tag.chars().all(plain) {
        return Ok(());
    }
    Err(StoreError::BadTag { tag: tag.into() })
}

/// Whether a record from elsewhere has an id that can name a run on a command line and in a file's
/// name.
///
/// # Errors
/// [`RecordError::BadId`], which says what is allowed.
pub fn check_id(id: &str) -> Result<(), RecordError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = id.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && id.len() <= 64 && id != "last" && id.chars().all(plain) {
        return Ok(());
    }
    Err(RecordError::BadId(id.chars().take(64).collect()))
}

impl Store {
    /// Puts tags on the runs with these whole ids and takes others off, on all or on none.
    ///
    /// # Errors
    /// [`StoreError::BadTag`] for a tag to put on that can be none, [`StoreError::NoSuchRun`] when a
    /// run is not there (any more), and what writing can meet.
    pub fn tag(
        &mut self,
        ids: &[String],
        add: &[String],
        remove: &[String],
    ) -> Result<(), StoreError> {
        add.iter().try_for_each(|tag| check_tag(tag))?;
        let mut missing = None;
        let done = self.in_transaction(|db| {
            for id in ids {
                let there = db
                    .prepare_cached("SELECT 1 FROM run WHERE id = ?1")?
                    .exists([id])?;
                if !there {
                    missing = Some(id.clone());
                    // What was done until here is taken back.
                    return Err(rusqlite::Error::QueryReturnedNoRows);
                }
                for tag in add {
                    db.prepare_cached("INSERT OR IGNORE INTO tag (run_id, tag) VALUES (?1, ?2)")?
                        .execute([id, tag])?;
                }
                for tag in remove {
                    db.prepare_cached("DELETE FROM tag WHERE run_id = ?1 AND tag = ?2")?
                        .execute([id, tag])?;
                }
            }
            Ok(())
        });
        match missing {
            Some(id) => Err(self.no_such_run(&id)),
            None => done.map_err(|e| self.failed(e)),
        }
    }

    /// Writes what its user notes about the run with this whole id, in the place of what was there.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and what writing can meet.
    pub fn set_note(&mut self, id: &str, note: &str) -> Result<(), StoreError> {
        let done = self.in_transaction(|db| {
            db.execute("UPDATE run SET note = ?2 WHERE id = ?1", params![id, note])
        });
        match done {
            Ok(0) => Err(self.no_such_run(id)),
            done => done.map(drop).map_err(|e| self.failed(e)),
        }
    }

    /// What was noted about the run with this whole id; nothing for a run that is not there.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn note_of(&self, id: &str) -> Result<String, StoreError> {
        let notes = self.strings("SELECT note FROM run WHERE id = ?1", [id])?;
        Ok(notes.into_iter().next().unwrap_or_default())
    }

    /// The tags of the run with this whole id, sorted; none for a run that is not there.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn tags_of(&self, id: &str) -> Result<Vec<String>, StoreError> {
        self.strings("SELECT tag FROM tag WHERE run_id = ?1 ORDER BY tag", [id])
    }

    /// Every tag that a run bears, sorted.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn tags(&self) -> Result<Vec<String>, StoreError> {
        self.strings("SELECT DISTINCT tag FROM tag ORDER BY tag", [])
    }

    fn strings(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare_cached(sql)?
                .query_map(parameters, |row| row.get(0))?
                .collect()
        };
        read().map_err(|e| self.failed(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words() {
        for good in ["nightly", "v1.2", "基线", "a:b", "50%", "<b>"] {
            check_tag(good).unwrap();
        }
        let long = "x".repeat(65);
        for bad in ["", "a b", "a,b", "+a", "-a", "a\u{1b}[31m", "a\n", &long] {
            let text = check_tag(bad).unwrap_err().to_string();
            assert!(text.contains("use 1 to 64"), "{text}");
            assert!(!text.contains('\u{1b}'), "{text:?}");
        }
    }

    #[test]
    fn ids_are_plain() {
        check_id("01932b7e-53a0-7c11-8a70-0c1d2e3f4a5b").unwrap();
        for bad in ["", "last", "../x", "-x", "tag:x", "a b", "é", "x\0"] {
            assert!(matches!(check_id(bad), Err(RecordError::BadId(_))), "{bad}");
        }
    }
}
