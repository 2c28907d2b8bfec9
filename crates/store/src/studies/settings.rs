//! Settings of servers that studies have changed.

use crate::liveness::now_ms;
use crate::{Store, StoreError};
use rusqlite::params;

/// A server's setting that a study has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// The setting whose change made the server change this one, too; `None` when the study asked
    /// for it.
    pub moved_by: Option<String>,
    /// The server's other settings before the change, until it is known which of them moved.
    pub snapshot: Option<String>,
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
            "INSERT INTO study_setting (study, target, name, before, changed_to, changed_ms, server, \
             snapshot, moved_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
             ON CONFLICT (study, target, name) DO UPDATE SET changed_to = ?5, changed_ms = ?6, \
             snapshot = ?8, moved_by = ?9",
            params![
                study,
                change.target,
                change.name,
                change.before,
                change.changed_to,
                now_ms(),
                change.server,
                change.snapshot,
                change.moved_by
            ],
        );
        self.synchronous("NORMAL")?;
        done
    }

    /// It is known which settings moved with a changed one (`moved`: name, value before, value
    /// after): its snapshot has served. Returns when the disk has them.
    ///
    /// # Errors
    /// What writing can meet.
    pub fn settings_moved(
        &mut self,
        study: &str,
        target: &str,
        name: &str,
        moved: &[(&str, &str, &str)],
    ) -> Result<(), StoreError> {
        self.synchronous("FULL")?;
        let done = self.in_transaction(|db| {
            let mut insert = db.prepare_cached(
                "INSERT INTO study_setting (study, target, name, before, changed_to, changed_ms, \
                 server, moved_by) SELECT study, target, ?4, ?5, ?6, changed_ms, server, name \
                 FROM study_setting WHERE study = ?1 AND target = ?2 AND name = ?3 \
                 ON CONFLICT (study, target, name) DO UPDATE SET changed_to = ?6",
            )?;
            for (other, before, after) in moved {
                insert.execute(params![study, target, name, other, before, after])?;
            }
            db.execute(
                "UPDATE study_setting SET snapshot = NULL \
                 WHERE study = ?1 AND target = ?2 AND name = ?3",
                params![study, target, name],
            )
        });
        self.synchronous("NORMAL")?;
        done.map(drop).map_err(|e| self.failed(e))
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

    /// The settings that a study has changed and not restored yet, the last changed first, and what
    /// moved with each after it.
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
                    "SELECT study, target, name, before, changed_to, server, moved_by, snapshot \
                     FROM study_setting \
                     ORDER BY changed_ms DESC, moved_by IS NOT NULL, name DESC",
                )?
                .query_map([], |row| {
                    let changed = ChangedSetting {
                        target: row.get(1)?,
                        name: row.get(2)?,
                        before: row.get(3)?,
                        changed_to: row.get(4)?,
                        server: row.get(5)?,
                        moved_by: row.get(6)?,
                        snapshot: row.get(7)?,
                    };
                    Ok((row.get(0)?, changed))
                })?
                .collect()
        })()
        .map_err(|e| self.failed(e))
    }
}
