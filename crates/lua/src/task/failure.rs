//! Why a script's function did not end well.

use crate::explain::explained;
use mlua::Value;
use tidemark_core::{DbError, ErrorClass, ErrorKind};

/// Why a function did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server's error, which the script did not catch.
    Db {
        error: DbError,
        /// What the script's hooks are given.
        thrown: Value,
        place: String,
    },
    /// The script wants its event done again.
    Restart(Value),
    /// The script's own error, or that of what it asked for.
    Script(String),
    /// The user asked for an end, and it would not end by itself: where it was.
    Stopped(String),
}

impl Failure {
    /// For people.
    pub fn into_message(self) -> String {
        match self {
            Failure::Db { error, place, .. } => format!("{error} ({place})"),
            Failure::Restart(_) => "the script restarted its event outside of one".into(),
            Failure::Script(message) | Failure::Stopped(message) => message,
        }
    }

    /// As the engine's.
    pub fn into_db(self) -> DbError {
        match self {
            Failure::Db { error, place, .. } => DbError {
                message: format!("{} ({place})", error.message),
                ..error
            },
            Failure::Restart(_) => DbError::own(
                ErrorClass::Retryable,
                ErrorKind::Ignorable,
                "the script restarted its event",
            ),
            Failure::Script(message) => DbError::new(ErrorClass::Fatal, "script", message),
            // As the end of a run cuts off a statement: no error, and its session ends.
            Failure::Stopped(message) => {
                DbError::new(ErrorClass::ConnectionLost, "interrupted", message)
            }
        }
    }
}

impl From<mlua::Error> for Failure {
    fn from(error: mlua::Error) -> Self {
        Failure::Script(said(&error))
    }
}

/// An error of mlua's in one line, with the script's place where it has none yet.
pub(super) fn said(error: &mlua::Error) -> String {
    let (mut cause, mut trace) = (error, "");
    while let mlua::Error::CallbackError {
        traceback,
        cause: next,
    } = cause
    {
        (cause, trace) = (next, traceback);
    }
    let text = match cause {
        mlua::Error::RuntimeError(text) => text.clone(),
        other => other.to_string(),
    };
    let first = text.lines().next().unwrap_or_default();
    let has_place = first.contains(".lua:");
    // Lines of a traceback begin with a tab: `	file.lua:12: in function …`.
    let mut places = trace.lines().filter_map(|line| {
        let line = line.trim_start();
        let is_own = !line.starts_with('[') && !line.starts_with("stack");
        line.split_once(": in ").filter(|_| is_own)
    });
    match places.next().filter(|_| !has_place) {
        Some((place, _)) => format!("{first}: {place}"),
        None => explained(first),
    }
}
