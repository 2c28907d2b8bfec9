//! Settings of servers that studies have changed.

use crate::liveness::now_ms;
use crate::{Store, StoreError};
use rusqlite::params;

/// A server's setting that a study has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSetting {
    /// The target's name in the study's file.
    pub target: String,
    /// The server: host and port, or socket. Two studies that name it differently mean the same one.
    pub server: String,
    /// The setting.
    pub name: String,
    /// Its value before; `None` when nobody had set it, so that it is to be reset.
    pub before: Option<String>,
    /// What it was changed to.
    pub changed_to: String,
}

impl Store {
    /// A setting of a server is about to be changed. Returns when the disk has its value before, so
    /// that it can be restored whatever happens. Of a setting that waits for being restored already,
    /// the first value before counts.
    ///
    /// # Errors
    /// What writing can meet.
    pub fn setting_changes(
        &mut self,
        study: &str,
        change: &ChangedSetting,
    ) -> Result<(), StoreError> {
        self.synchronous("FULL")?;
        let done = self.change_step(
            "INSERT INTO study_setting (study, target, name, before, changed_to, changed_ms, server) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
             ON CONFLICT (study, target, name) DO UPDATE SET changed_to = ?5, changed_ms = ?6",
            params![
                study,
                change.target,
                change.name,
                change.before,
                change.changed_to,
                now_ms(),
                change.server
            ],
        );
        self.synchronous("NORMAL")?;
        done
    }

    /// A setting is as it was before.
    ///
    /// # Errors
    /// What writing can meet.
    pub fn setting_restored(
        &mut self,
        study: &str,
        target: &str,
        name: &str,
    ) -> Result<(), StoreError> {
        self.change_step(
            "DELETE FROM study_setting WHERE study = ?1 AND target = ?2 AND name = ?3",
            params![study, target, name],
        )
    }

    /// The settings that a study has changed and not restored yet, the last changed first.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn changed_settings(&self, study: &str) -> Result<Vec<ChangedSetting>, StoreError> {
        let all = self.all_changed_settings()?;
        let own = all.into_iter().filter(|(of, _)| of == study);
        Ok(own.map(|(_, changed)| changed).collect())
    }

    /// The settings of this server that other studies have changed and not restored yet, each with
    /// the study's id: their values are nobody's but that study's, and must not be taken for the
    /// server's own.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn settings_of_others(
        &self,
        study: &str,
        server: &str,
    ) -> Result<Vec<(String, ChangedSetting)>, StoreError> {
        let mut all = self.all_changed_settings()?;
        all.retain(|(of, changed)| of != study && changed.server == server);
        Ok(all)
    }

    fn all_changed_settings(&self) -> Result<Vec<(String, ChangedSetting)>, StoreError> {
        (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached(
                    "SELECT study, target, name, before, changed_to, server FROM study_setting \
                     ORDER BY changed_ms DESC, name DESC",
                )?
                .query_map([], |row| {
                    let changed = ChangedSetting {
                        target: row.get(1)?,
                        name: row.get(2)?,
                        before: row.get(3)?,
                        changed_to: row.get(4)?,
                        server: row.get(5)?,
                    };
                    Ok((row.get(0)?, changed))
                })?
                .collect()
        })()
        .map_err(|e| self.failed(e))
    }
}
