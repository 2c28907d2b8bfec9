//! A command with a command line of its own, as another tool has it.

use crate::exit::{ExitCode, Failure};
use crate::help::Examples;
use crate::jobs::Adapter;
use tidemark_core::{OptionSpec, OptionValues, Registry};
use tidemark_study::{JobKind, StepCommand};
use tidemark_workloads::Definition;

/// What the program must know of such a command: everything that it does is behind [`Frontend::main`].
#[derive(Debug, Clone, Copy)]
pub struct Frontend {
    /// `tidemark WORD …`.
    pub word: &'static str,
    /// What it does, in the list of commands.
    pub about: &'static str,
    /// What its words are like.
    pub words: &'static str,
    /// Runs it: everything for the record, and what follows its word.
    pub main: fn(args: &[String], words: &[String]) -> Result<ExitCode, Failure>,
    /// Its command line as clap has it, for completions and manual pages.
    pub grammar: fn() -> Result<clap::Command, Failure>,
    /// Every option beside those of workloads.
    pub options: fn() -> Vec<OptionSpec>,
    /// What else may stand in place of its word, with an example of what was meant.
    pub commands: &'static [(&'static str, &'static str)],
    /// Command lines that work as they stand, which open its help.
    pub examples: Examples,
    /// Whether `-p` is followed by a password.
    pub has_password_letter: bool,
    /// Whether its flags may stand before its word.
    pub flags_first: bool,
    /// How its options make a job of a run, and a job its options; `None` where it runs as another
    /// command does.
    pub runs: Option<&'static Adapter>,
    /// What studies ask of it; `None` where they can't use it.
    pub study: Option<StudySupport>,
}

/// What studies ask of a command that makes jobs.
#[derive(Debug, Clone, Copy)]
pub struct StudySupport {
    /// Whether it has the option when it loads or measures.
    pub takes: fn(kind: JobKind, option: &str) -> bool,
    /// Whether the option says what the data are.
    pub shapes: fn(option: &str) -> bool,
    /// Whether the option is given as `-p name=value`.
    pub is_property: fn(option: &str) -> bool,
    /// The options that a step asks for on the target of this URL.
    pub options: fn(step: &StepCommand, url: &str) -> Result<StepOptions, Failure>,
}

/// The options of a step, each with its effective value.
pub struct StepOptions {
    /// The workload's row of the registry.
    pub definition: &'static Definition,
    /// The options.
    pub values: OptionValues,
    /// What its record is to tell of how they were found.
    pub notes: Vec<String>,
}

/// Those that there are, in the order in which help lists them.
pub fn all() -> impl Iterator<Item = &'static Frontend> + Clone {
    TABLE.iter()
}

/// The one of this word.
pub fn find(word: &str) -> Option<&'static Frontend> {
    all().find(|f| f.word == word)
}

pub(crate) static TABLE: Registry<Frontend> = Registry::new(crate::FRONTENDS);
