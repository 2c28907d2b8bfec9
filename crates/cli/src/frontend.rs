//! A command with a command line of its own, as another tool has it.

use crate::exit::{ExitCode, Failure};
use crate::help::Examples;
use crate::jobs::Adapter;
use tidemark_core::{OptionSpec, OptionValues, Registry};
use tidemark_report::Lang;
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
    /// What its workloads do, by their names; of others lists have [`Definition::summary`] in every
    /// language.
    pub summaries: &'static [Summary],
    /// What studies ask of it; `None` where they can't use it.
    pub study: Option<StudySupport>,
}

/// A workload's name, and what it does in each language.
pub type Summary = (&'static str, fn(Lang) -> &'static str);

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

/// What a workload does in each language, where its command says it.
pub(crate) fn summary_of(workload: &str) -> Option<fn(Lang) -> &'static str> {
    let mut known = all().flat_map(|f| f.summaries);
    let found = known.find(|(name, _)| *name == workload);
    found.map(|(_, summary)| *summary)
}

pub(crate) static TABLE: Registry<Frontend> = Registry::new(crate::compat::FRONTENDS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_is_described_in_each_language() {
        for definition in tidemark_workloads::registry() {
            let summary = summary_of(definition.name);
            let chinese = summary.map_or("", |summary| summary(Lang::Zh));
            assert!(!chinese.is_ascii(), "{}: {chinese:?}", definition.name);
        }
    }
}
