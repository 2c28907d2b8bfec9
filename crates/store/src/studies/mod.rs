//! Studies: a row for each execution, a row for each of its steps, and the settings of servers that
//! it has changed and not restored yet.

mod executing;
mod imported;
mod runs;
mod settings;

pub use executing::SharedServerOf;
pub use imported::StudyElsewhere;
pub use runs::{RunProgress, StudyRun};
pub use settings::ChangedSetting;

use crate::liveness::{Liveness, ProcessId, boot_id, now_ms};
use crate::query::process_id;
use crate::{Store, StoreError};
use rusqlite::{OptionalExtension, Row, params};
use std::fmt;

/// How far an execution of a study came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyState {
    /// Its process lives.
    Running,
    /// Something is left to do, and whether its process lives can't be seen from here.
    PerhapsRunning,
    /// Something is left to do and its process is gone: it can be resumed.
    Unfinished,
    /// Nothing is left to do.
    Ended,
}

impl fmt::Display for StudyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StudyState::Running => "running",
            StudyState::PerhapsRunning => "running?",
            StudyState::Unfinished => "unfinished",
            StudyState::Ended => "ended",
        })
    }
}

/// A study that is about to be executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewStudy {
    /// Id of this execution.
    pub id: String,
    /// Its name, as its file has it.
    pub name: String,
    /// Path of its file.
    pub path: String,
    /// The file's text, passwords as `***`.
    pub file: String,
    /// The folder in which its commands are executed.
    pub folder: String,
    /// The host that executes it.
    pub hostname: String,
}

/// One execution of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyRow {
    /// Its id (UUID version 7: later ones sort later).
    pub id: String,
    /// The study's name.
    pub name: String,
    /// Path of its file.
    pub path: String,
    /// The file's text, passwords as `***`.
    pub file: String,
    /// The folder in which its commands are executed.
    pub folder: String,
    /// When it began, in Unix milliseconds.
    pub begun_ms: i64,
    /// When nothing was left to do.
    pub ended_ms: Option<i64>,
    /// How far it came.
    pub state: StudyState,
    /// The host that executes it, or did last.
    pub hostname: String,
    /// The process that executes it, or did last.
    pub pid: Option<u32>,
}

/// How far a step came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepState {
    /// It is still to be taken.
    Waiting,
    /// It was begun and has no end: it goes on, or its process was killed.
    GoingOn,
    /// It ended well.
    Done,
    /// It ended, and its figures must not be used; the reason says why.
    Invalid,
    /// It failed; the reason says why.
    Failed,
    /// It was left out because a step that it needs failed.
    Skipped,
}

impl StepState {
    /// Every state with its word in the file.
    const WORDS: [(StepState, &'static str); 6] = [
        (StepState::Waiting, "waiting"),
        (StepState::GoingOn, "going-on"),
        (StepState::Done, "done"),
        (StepState::Invalid, "invalid"),
        (StepState::Failed, "failed"),
        (StepState::Skipped, "skipped"),
    ];

    fn word(self) -> &'static str {
        let named = Self::WORDS.iter().find(|(state, _)| *state == self);
        named.map_or("waiting", |(_, word)| word)
    }

    fn of(word: &str) -> Self {
        let named = Self::WORDS.iter().find(|(_, w)| *w == word);
        named.map_or(StepState::Waiting, |(state, _)| *state)
    }

    /// Whether nothing more is to be done for it.
    pub fn is_over(self) -> bool {
        !matches!(self, StepState::Waiting | StepState::GoingOn)
    }
}

impl fmt::Display for StepState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A step of a study that is about to be executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewStep {
    /// `load` or `run`.
    pub kind: String,
    /// The cell of the matrix, or the name of the data that are loaded.
    pub cell: String,
    /// Which repeat of the cell, from 1; 0 for a load.
    pub repeat: u32,
    /// The command's words, passwords as `***`.
    pub command: Vec<String>,
}

/// One step of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRow {
    /// Its place in the order, from 0.
    pub seq: u32,
    /// `load` or `run`.
    pub kind: String,
    /// The cell of the matrix, or the name of the data that are loaded.
    pub cell: String,
    /// Which repeat of the cell, from 1; 0 for a load.
    pub repeat: u32,
    /// The command's words, passwords as `***`.
    pub command: Vec<String>,
    /// How far it came.
    pub state: StepState,
    /// Why it failed, was skipped or must not be used, or why it is to be taken again.
    pub reason: Option<String>,
    /// The run that it made.
    pub run_id: Option<String>,
    /// What the command printed, its last part if that is much.
    pub output: String,
    /// When it began, in Unix milliseconds.
    pub begun_ms: Option<i64>,
    /// When it ended.
    pub ended_ms: Option<i64>,
}

/// How a step ended.
#[derive(Debug, Clone, Copy)]
pub struct StepEnd<'a> {
    /// How.
    pub state: StepState,
    /// Why, unless it is done.
    pub reason: Option<&'a str>,
    /// The run that it made.
    pub run_id: Option<&'a str>,
    /// What the command printed.
    pub output: &'a str,
}

impl Store {
    /// Every execution of a study, newest first.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn studies(&self) -> Result<Vec<StudyRow>, StoreError> {
        let here = boot_id();
        (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached("SELECT * FROM study ORDER BY rowid DESC")?
                .query_map([], |row| study_row(row, here.as_deref()))?
                .collect()
        })()
        .map_err(|e| self.failed(e))
    }

    /// The execution of a study that is meant: by its id, the beginning of it, the study's name (its
    /// newest execution) or `last`.
    ///
    /// # Errors
    /// [`StoreError::NoSuchStudy`], [`StoreError::Ambiguous`], and what reading can meet.
    pub fn study(&self, word: &str) -> Result<StudyRow, StoreError> {
        let mut all = self.studies()?;
        let known: Vec<(&str, &str)> = all
            .iter()
            .map(|s| (s.id.as_str(), s.name.as_str()))
            .collect();
        let at = self.which(word, &known)?;
        Ok(all.swap_remove(at))
    }

    /// Which of these studies, ids and names, newest first, a word means.
    fn which(&self, word: &str, known: &[(&str, &str)]) -> Result<usize, StoreError> {
        let asked = word.trim();
        // As words for runs have it; a study may be called so.
        let is_name = known.iter().any(|(_, name)| *name == asked);
        let asked = match asked.strip_prefix("study:") {
            Some(study) if !is_name => study,
            _ => asked,
        };
        let lower = asked.to_ascii_lowercase();
        let found = match asked {
            "last" => (!known.is_empty()).then_some(0),
            _ => known
                .iter()
                .position(|(id, _)| id.eq_ignore_ascii_case(asked))
                .or_else(|| known.iter().position(|(_, name)| *name == asked)),
        };
        if let Some(found) = found {
            return Ok(found);
        }
        let begins = |id: &str| !asked.is_empty() && id.to_ascii_lowercase().starts_with(&lower);
        let matches: Vec<usize> = (0..known.len()).filter(|i| begins(known[*i].0)).collect();
        match matches.as_slice() {
            [] => Err(self.no_such_study(word)),
            [one] => Ok(*one),
            several => Err(StoreError::Ambiguous {
                id: word.into(),
                matches: several.iter().take(6).map(|i| known[*i].0.into()).collect(),
            }),
        }
    }

    /// The steps of the execution with this whole id, in their order.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn steps(&self, study: &str) -> Result<Vec<StepRow>, StoreError> {
        (|| -> rusqlite::Result<_> {
            self.db
                .prepare_cached("SELECT * FROM study_step WHERE study = ?1 ORDER BY seq")?
                .query_map([study], step_row)?
                .collect()
        })()
        .map_err(|e| self.failed(e))
    }

    /// One step of the execution with this whole id.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn step(&self, study: &str, seq: u32) -> Result<Option<StepRow>, StoreError> {
        self.db
            .prepare_cached("SELECT * FROM study_step WHERE study = ?1 AND seq = ?2")
            .and_then(|mut s| s.query_row(params![study, seq], step_row).optional())
            .map_err(|e| self.failed(e))
    }

    /// A step begins, with this command.
    ///
    /// # Errors
    /// What writing can meet.
    pub fn step_begins(
        &mut self,
        study: &str,
        seq: u32,
        command: &[String],
    ) -> Result<(), StoreError> {
        let command = json(command);
        self.change_step(
            "UPDATE study_step SET state = 'going-on', command = ?3, begun_ms = ?4, \
             ended_ms = NULL, reason = NULL, run_id = NULL, output = '' \
             WHERE study = ?1 AND seq = ?2",
            params![study, seq, command, now_ms()],
        )
    }

    /// A step ends. Returns when the disk has it.
    ///
    /// # Errors
    /// What writing can meet.
    pub fn step_ends(&mut self, study: &str, seq: u32, end: StepEnd<'_>) -> Result<(), StoreError> {
        self.synchronous("FULL")?;
        let done = self.change_step(
            "UPDATE study_step SET state = ?3, reason = ?4, run_id = ?5, output = ?6, \
             ended_ms = ?7 WHERE study = ?1 AND seq = ?2",
            params![
                study,
                seq,
                end.state.word(),
                end.reason,
                end.run_id,
                end.output,
                now_ms()
            ],
        );
        self.synchronous("NORMAL")?;
        done
    }

    /// A step is to be taken, or taken again, and why.
    ///
    /// # Errors
    /// What writing can meet.
    pub fn step_waits(&mut self, study: &str, seq: u32, why: &str) -> Result<(), StoreError> {
        self.change_step(
            "UPDATE study_step SET state = 'waiting', reason = ?3, run_id = NULL, begun_ms = NULL, \
             ended_ms = NULL WHERE study = ?1 AND seq = ?2",
            params![study, seq, why],
        )
    }

    pub(super) fn change_step(
        &mut self,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<(), StoreError> {
        self.in_transaction(|db| db.prepare_cached(sql)?.execute(values))
            .map(|_| ())
            .map_err(|e| self.failed(e))
    }

    /// Nothing is left to do for a study.
    ///
    /// # Errors
    /// What writing can meet.
    pub fn end_study(&mut self, study: &str) -> Result<(), StoreError> {
        self.change_step(
            "UPDATE study SET ended_ms = ?2 WHERE id = ?1",
            params![study, now_ms()],
        )
    }

    fn no_such_study(&self, id: &str) -> StoreError {
        StoreError::NoSuchStudy {
            path: self.path().into(),
            id: id.into(),
        }
    }
}

fn json(words: &[String]) -> String {
    serde_json::Value::from(words).to_string()
}

fn study_row(row: &Row<'_>, here: Option<&str>) -> rusqlite::Result<StudyRow> {
    let process = process_id(row)?;
    let ended_ms: Option<i64> = row.get("ended_ms")?;
    let state = match (ended_ms, process.liveness(here)) {
        (Some(_), _) => StudyState::Ended,
        (None, Liveness::Alive) => StudyState::Running,
        (None, Liveness::Gone) => StudyState::Unfinished,
        // After a restart of this very machine nothing of before lives.
        (None, Liveness::Unknown) if is_earlier_boot(&process, here) => StudyState::Unfinished,
        (None, Liveness::Unknown) => StudyState::PerhapsRunning,
    };
    Ok(StudyRow {
        id: row.get("id")?,
        name: row.get("name")?,
        path: row.get("path")?,
        file: row.get("file")?,
        folder: row.get("folder")?,
        begun_ms: row.get("begun_ms")?,
        ended_ms,
        state,
        hostname: process.hostname,
        pid: process.pid,
    })
}

/// Whether a process was one of this machine before it was started again, by the machine's name.
fn is_earlier_boot(process: &ProcessId, here: Option<&str>) -> bool {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    here.is_some() && process.hostname == name.trim()
}

fn step_row(row: &Row<'_>) -> rusqlite::Result<StepRow> {
    let command: String = row.get("command")?;
    let state: String = row.get("state")?;
    Ok(StepRow {
        seq: row.get("seq")?,
        kind: row.get("kind")?,
        cell: row.get("cell")?,
        repeat: row.get("repeat")?,
        command: serde_json::from_str(&command).unwrap_or_default(),
        state: StepState::of(&state),
        reason: row.get("reason")?,
        run_id: row.get("run_id")?,
        output: row.get("output")?,
        begun_ms: row.get("begun_ms")?,
        ended_ms: row.get("ended_ms")?,
    })
}
