//! A script's file, and what it declares.

use crate::declared::{self, Declared};
use crate::file::{Origin, SCRIPT_OPTIONS, ScriptError, ScriptFiles};
use crate::program::Program;
use crate::sources;
use crate::state::ScriptState;
use crate::task::{Failure, ScriptThread};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tidemark_core::OptionSpec;
use tidemark_runtime::block_on;

/// A script that was read: what it declares at its top level.
#[derive(Debug)]
pub struct Script {
    path: PathBuf,
    origin: Origin,
    /// Files that its top level read.
    read: BTreeSet<String>,
    name: &'static str,
    options: &'static [OptionSpec],
    tables: &'static [&'static [OptionSpec]],
    unset: BTreeSet<&'static str>,
    commands: Vec<(String, bool)>,
    functions: BTreeSet<String>,
    is_legacy: bool,
}

/// The functions of its own that a script may have, beside commands.
const FUNCTIONS: &[&str] = &[
    "event",
    "init",
    "done",
    "thread_init",
    "thread_done",
    "thread_run",
    "prepare",
    "cleanup",
    "help",
];
/// Those that are commands where no table of commands has them.
const PLAIN_COMMANDS: &[&str] = &["prepare", "cleanup", "help"];

impl Script {
    /// Reads a script of this host: runs its top level once, without a database, with the options that were
    /// given as sysbench 0.5's globals.
    ///
    /// # Errors
    /// [`ScriptError`] with file and line.
    pub fn read(
        path: &Path,
        given: &[(String, String)],
        command: &str,
    ) -> Result<Arc<Self>, ScriptError> {
        Self::read_from(path, Origin::default(), given, command)
    }

    /// The same of a script that may have come from another host.
    ///
    /// # Errors
    /// As [`Script::read`].
    pub fn read_from(
        path: &Path,
        origin: Origin,
        given: &[(String, String)],
        command: &str,
    ) -> Result<Arc<Self>, ScriptError> {
        let shown = path.display().to_string();
        if origin.files.is_none() {
            std::fs::File::open(path).map_err(|error| ScriptError::Unreadable {
                path: shown.clone(),
                reason: error.to_string(),
            })?;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut script = Self {
            path: path.to_path_buf(),
            origin,
            read: BTreeSet::new(),
            // A process has few scripts.
            name: Box::leak(format!("lua:{stem}").into_boxed_str()),
            options: &[],
            tables: &[],
            unset: BTreeSet::new(),
            commands: Vec::new(),
            functions: BTreeSet::new(),
            is_legacy: true,
        };
        let program = Program::reading(&script, given, command);
        let declared = block_on(look(Arc::clone(&program), given.to_vec()))??;
        script.read = program.read_files();
        script.commands = declared.commands;
        script.functions = declared.functions;
        script.is_legacy = declared.is_legacy;
        script.unset = declared.unset.into_iter().collect();
        script.options = Box::leak(declared.options.into_boxed_slice());
        script.tables = Box::leak(Box::new([SCRIPT_OPTIONS, script.options]));
        if script.has("thread_run") {
            return Err(ScriptError::Failed(format!(
                "{shown}: thread_run() is not supported: Tidemark calls event()"
            )));
        }
        Ok(Arc::new(script))
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it comes from.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Its files by the names under which it asks for them: those that its top level read, and all that
    /// one of them names where it reads another (`require("lib")`). Names that are made up while it runs
    /// are not known.
    ///
    /// # Errors
    /// [`ScriptError`] of a file that its top level read and that can't be read any more.
    pub fn files(&self) -> Result<ScriptFiles, ScriptError> {
        let search = sources::search_path(&self.path);
        sources::all(&self.origin, &self.read, &search)
    }

    /// Its name as a workload: `lua:` and the file's name without its ending.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The options that it declares; of a script without declarations those that were given.
    pub fn options(&self) -> &'static [OptionSpec] {
        self.options
    }

    /// Its option tables: [`SCRIPT_OPTIONS`] and its own.
    pub fn tables(&self) -> &'static [&'static [OptionSpec]] {
        self.tables
    }

    /// Whether it declares no options, as scripts of sysbench 0.4 and 0.5: it then takes any.
    pub fn is_legacy(&self) -> bool {
        self.is_legacy
    }

    /// Whether an option is nil unless it is given.
    pub(crate) fn is_unset(&self, option: &str) -> bool {
        self.unset.contains(option)
    }

    /// Whether it defines a function.
    pub fn has(&self, function: &str) -> bool {
        self.functions.contains(function)
    }

    /// Whether a command runs on all threads; `None` where there is none of this name.
    pub fn command(&self, name: &str) -> Option<bool> {
        let found = self.commands.iter().find(|(known, _)| known == name);
        match found {
            Some((_, parallel)) => Some(*parallel),
            None => (PLAIN_COMMANDS.contains(&name) && self.has(name)).then_some(false),
        }
    }

    /// Every command.
    pub fn commands(&self) -> Vec<&str> {
        let own = self.commands.iter().map(|(name, _)| name.as_str());
        let plain = PLAIN_COMMANDS.iter().copied().filter(|n| self.has(n));
        let mut all: Vec<&str> = own.chain(plain).chain(["run", "help"]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Runs the top level and reads what it left.
async fn look(
    program: Arc<Program>,
    given: Vec<(String, String)>,
) -> Result<Declared, ScriptError> {
    let failed = |failure: Failure| ScriptError::Failed(failure.into_message());
    let state = ScriptState::new(&program).map_err(failed)?;
    let mut task = ScriptThread::new(&state, 0).map_err(failed)?;
    task.load(&state, &mut None).await.map_err(failed)?;
    let mut declared = declared::of(task.environment(), &given)
        .map_err(|e| ScriptError::Failed(format!("{}: {e}", program.script_text())))?;
    for name in FUNCTIONS {
        if task.function(name).is_some() {
            declared.functions.insert((*name).to_string());
        }
    }
    Ok(declared)
}
