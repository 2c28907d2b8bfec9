//! What is known of scripts whether or not this build runs them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
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
    option(
        FILES_OPTION,
        Text,
        "",
        "the script's files by name, in base64, as JSON: what several clients get, who have no such files",
    ),
    option(
        COMMAND_OPTION,
        Text,
        "",
        "the script's command that a load of several clients does, where it is not prepare",
    ),
];
/// The option that has a script's files.
pub const FILES_OPTION: &str = "script-files";
/// The option that names a command.
pub const COMMAND_OPTION: &str = "script-command";
/// Of [`SCRIPT_OPTIONS`], those that jobs have and people do not give: neither help nor script shows them.
pub const OF_JOBS: &[&str] = &[FILES_OPTION, COMMAND_OPTION];

/// Files by the names under which a script asks for them.
pub type ScriptFiles = BTreeMap<String, Vec<u8>>;

/// Where a script comes from, and what that allows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The files that came with it, of which it is; none is a script of this host and its files.
    pub files: Option<Arc<ScriptFiles>>,
    /// Whether it only computes and queries: it reaches no files, programs and environment of this host.
    pub is_confined: bool,
    /// Whether what it prints goes to the error output, because nobody reads the output.
    pub prints_aside: bool,
}

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
