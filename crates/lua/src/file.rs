//! What is known of scripts whether or not this build runs them.

use std::path::PathBuf;
use tidemark_core::OptionKind::{Bool, Int, Text};
use tidemark_core::{OptionSpec, option};

/// Options of every script.
pub const SCRIPT_OPTIONS: &[OptionSpec] = &[
    option(
        "script",
        Text,
        "",
        "the Lua script, where its path is not the first word",
    ),
    option(
        "lua-memory",
        Int {
            min: 1 << 20,
            max: 1 << 40,
        },
        "1G",
        "most memory of a Lua state, which up to 512 script threads share",
    ),
    option(
        "lua-ffi",
        Bool,
        "off",
        "let the script call C functions with LuaJIT's ffi",
    ),
];

/// Why a script can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// Its file can't be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's reason.
        reason: String,
    },
    /// It failed, or asked for what is not there; file and line are in the text.
    #[error("{0}")]
    Failed(String),
    /// It has not what was asked for.
    #[error("{path}: has no {what}; it has: {known}")]
    Lacks {
        /// The file.
        path: String,
        /// What was asked for.
        what: String,
        /// What there is.
        known: String,
    },
}

impl From<std::io::Error> for ScriptError {
    fn from(error: std::io::Error) -> Self {
        ScriptError::Failed(error.to_string())
    }
}

/// The file that a word of the command line names, with or without `.lua`.
pub fn find_file(word: &str) -> Option<PathBuf> {
    let with_ending = format!("{word}.lua");
    [word, &with_ending]
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file())
}
