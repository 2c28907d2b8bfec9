//! Which process executes a study: one at a time, and no two on one server.

use super::{NewStep, NewStudy, StudyRow, StudyState, is_earlier_boot, json, study_row};
use crate::liveness::{Liveness, ProcessId, boot_id, now_ms};
use crate::query::process_id;
use crate::{Store, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

/// Whether a study can be claimed.
enum Claim {
    Free,
    Taken,
    Elsewhere,
    ServerTaken(Box<StudyRow>, String),
}

/// Whether a study can begin.
enum Beginning {
    Begun,
    /// An execution of its file has something left to do.
    SameFile(Box<StudyRow>),
    ServerTaken(Box<StudyRow>, String),
}

/// The server that an execution which goes on needs as well as the one that asks; `None` where
/// there is none. It is asked within the transaction, so of the store only what it is given can be
/// looked at.
pub type SharedServerOf<'a> = &'a dyn Fn(&StudyRow) -> Option<String>;

/// Another execution whose process lives, on a server that is shared with it.
fn on_shared_server(
    db: &Connection,
    id: &str,
    here: Option<&str>,
    shared: SharedServerOf<'_>,
) -> rusqlite::Result<Option<(StudyRow, String)>> {
    let others = db
        .prepare("SELECT * FROM study WHERE id <> ?1 AND ended_ms IS NULL ORDER BY begun_ms, id")?
        .query_map([id], |row| study_row(row, here))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let living = others
        .into_iter()
        .filter(|o| o.state == StudyState::Running);
    Ok(living
        .filter_map(|other| shared(&other).map(|server| (other, server)))
        .next())
}

fn server_taken(other: StudyRow, server: String) -> StoreError {
    StoreError::ServerTaken {
        id: other.id,
        name: other.name,
        pid: other.pid.unwrap_or(0),
        server,
    }
}

impl Store {
    /// Begins the execution of a study by this process: its row and those of all its steps. Nothing
    /// is begun when an execution of the same file has something left to do, which is returned then;
    /// `anew` begins beside it, unless its process lives.
    ///
    /// # Errors
    /// [`StoreError::ServerTaken`] when a study goes on that needs one of its servers, and what
    /// reading and writing can meet.
    pub fn begin_study(
        &mut self,
        study: &NewStudy,
        steps: &[NewStep],
        anew: bool,
        shared: SharedServerOf<'_>,
    ) -> Result<Option<StudyRow>, StoreError> {
        let own = ProcessId::own(&study.hostname);
        let here = boot_id();
        let commands: Vec<String> = steps.iter().map(|s| json(&s.command)).collect();
        // Asked and begun in one transaction: of two that come at once one is refused.
        let beginning = self.in_transaction(|db| {
            let in_the_way = |other: &StudyRow| match other.state {
                StudyState::Running => true,
                StudyState::PerhapsRunning | StudyState::Unfinished => !anew,
                StudyState::Ended => false,
            };
            let before = db
                .prepare("SELECT * FROM study WHERE path = ?1 ORDER BY begun_ms DESC, id DESC")?
                .query_map([&study.path], |row| study_row(row, here.as_deref()))?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            if let Some(other) = before.into_iter().find(in_the_way) {
                return Ok(Beginning::SameFile(Box::new(other)));
            }
            if let Some((other, server)) = on_shared_server(db, &study.id, here.as_deref(), shared)?
            {
                return Ok(Beginning::ServerTaken(Box::new(other), server));
            }
            db.execute(
                "INSERT INTO study (id, name, path, file, folder, hostname, boot_id, pid, \
                 pid_started, begun_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    study.id,
                    study.name,
                    study.path,
                    study.file,
                    study.folder,
                    own.hostname,
                    own.boot_id,
                    own.pid,
                    own.pid_started,
                    now_ms(),
                ],
            )?;
            let mut insert = db.prepare_cached(
                "INSERT INTO study_step (study, seq, kind, cell, repeat, command, state) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'waiting')",
            )?;
            for (seq, (step, command)) in (0_i64..).zip(steps.iter().zip(&commands)) {
                let row = params![study.id, seq, step.kind, step.cell, step.repeat, command];
                insert.execute(row)?;
            }
            Ok(Beginning::Begun)
        });
        match beginning.map_err(|e| self.failed(e))? {
            Beginning::Begun => Ok(None),
            Beginning::SameFile(other) => Ok(Some(*other)),
            Beginning::ServerTaken(other, server) => Err(server_taken(*other, server)),
        }
    }

    /// Forgets an execution that came to nothing: none of its steps was begun.
    ///
    /// # Errors
    /// What writing can meet.
    pub fn forget_study(&mut self, id: &str) -> Result<(), StoreError> {
        self.change_step(
            "DELETE FROM study WHERE id = ?1 AND NOT EXISTS \
             (SELECT 1 FROM study_step WHERE study = ?1 AND state <> 'waiting')",
            params![id],
        )
    }

    /// Makes this process the one that executes a study that was begun before. `take_over` insists
    /// where another host may be at it, which can't be seen from here.
    ///
    /// # Errors
    /// [`StoreError::StudyGoesOn`] when a living process does, [`StoreError::StudyElsewhere`] when
    /// one of another host may, [`StoreError::ServerTaken`] when another study goes on that needs one
    /// of its servers, [`StoreError::NoSuchStudy`], and what writing can meet.
    pub fn claim_study(
        &mut self,
        id: &str,
        hostname: &str,
        take_over: bool,
        shared: SharedServerOf<'_>,
    ) -> Result<(), StoreError> {
        let own = ProcessId::own(hostname);
        let here = boot_id();
        // Asked and claimed in one transaction: of two that come at once one is refused.
        let seen = self.in_transaction(|db| {
            let owner = db
                .query_row(
                    "SELECT hostname, boot_id, pid, pid_started, ended_ms FROM study WHERE id = ?1",
                    [id],
                    |row| {
                        let ended = row.get::<_, Option<i64>>("ended_ms")?.is_some();
                        Ok((process_id(row)?, ended))
                    },
                )
                .optional()?;
            let Some((owner, ended)) = owner else {
                return Ok(None);
            };
            let mut claim = match owner.liveness(here.as_deref()) {
                _ if ended || owner == own => Claim::Free,
                Liveness::Alive => Claim::Taken,
                Liveness::Unknown if !take_over && !is_earlier_boot(&owner, here.as_deref()) => {
                    Claim::Elsewhere
                }
                Liveness::Gone | Liveness::Unknown => Claim::Free,
            };
            if matches!(claim, Claim::Free)
                && let Some((other, server)) = on_shared_server(db, id, here.as_deref(), shared)?
            {
                claim = Claim::ServerTaken(Box::new(other), server);
            }
            if matches!(claim, Claim::Free) {
                db.execute(
                    "UPDATE study SET hostname = ?2, boot_id = ?3, pid = ?4, pid_started = ?5, \
                     ended_ms = NULL WHERE id = ?1",
                    params![id, own.hostname, own.boot_id, own.pid, own.pid_started],
                )?;
            }
            Ok(Some((owner, claim)))
        });
        let (id, seen) = (id.to_string(), seen.map_err(|e| self.failed(e))?);
        match seen {
            None => Err(self.no_such_study(&id)),
            Some((_, Claim::Free)) => Ok(()),
            Some((_, Claim::ServerTaken(other, server))) => Err(server_taken(*other, server)),
            Some((owner, Claim::Taken)) => Err(StoreError::StudyGoesOn {
                id,
                pid: owner.pid.unwrap_or(0),
                hostname: owner.hostname,
            }),
            Some((owner, Claim::Elsewhere)) => Err(StoreError::StudyElsewhere {
                id,
                hostname: owner.hostname,
            }),
        }
    }
}
