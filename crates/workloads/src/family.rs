//! What a family of workloads is, for everybody who loads, runs, plans or names its workloads.

use crate::Definition;
use std::fmt;
use tidemark_core::{JobKind, OptionValues};

/// A family of workloads: a row of [`families`](crate::families).
///
/// What reports and commands know of it beside this is in crates that this one does not know; they
/// find it by the names that are here.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Its name, as its definitions have it ([`Definition::family`]).
    pub name: &'static str,
    /// The benchmark's name, as people write it.
    pub title: &'static str,
    /// Its workloads.
    pub definitions: &'static [Definition],
    /// How its command line is laid out.
    pub command: CommandLine,
    /// What its data are called in the plan of a study.
    pub data: &'static str,
    /// Names of families whose tables have the same names: both can't be in one database.
    pub clashes_with: &'static [&'static str],
    /// About how many seconds a load takes: in the order of what `bench/` measures with a server on
    /// the same two cores. The options are those of its command.
    pub load_s: fn(&OptionValues) -> f64,
    /// What its runs are made of.
    pub runs: Runs,
}

/// What a run is made of, and what ends it.
#[derive(Debug, Clone, Copy)]
pub enum Runs {
    /// Transactions, until its time ends.
    Transactions,
    /// Streams of queries, which end by themselves, after about so many seconds; they have no rates.
    Queries(fn(&OptionValues) -> f64),
}

impl Runs {
    /// Whether these are queries.
    pub fn are_queries(self) -> bool {
        matches!(self, Runs::Queries(_))
    }
}

/// The words of a family's command line, `tidemark WORD …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandLine {
    /// Its command. Families may share one.
    pub word: &'static str,
    /// What loads.
    pub load: &'static str,
    /// What measures.
    pub run: &'static str,
    /// What follows the command's word.
    pub order: &'static [Word],
    /// Names that the command takes for a workload in place of the definitions'.
    pub names: &'static [&'static str],
    /// Whether a workload may be the path of a file, too.
    pub takes_files: bool,
    /// The option of the warm-up's length.
    pub warmup: &'static str,
    /// Whether lengths are whole seconds.
    pub whole_seconds: bool,
    /// Options that a run is given unless they are said.
    pub run_options: &'static [(&'static str, &'static str)],
    /// Whether a run is told what the system costs.
    pub takes_price: bool,
}

impl CommandLine {
    /// What asks for a job of this kind.
    pub fn command(&self, kind: JobKind) -> &'static str {
        match kind {
            JobKind::Load => self.load,
            JobKind::Run => self.run,
        }
    }
}

/// A part of a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The workload's name.
    Name,
    /// The target.
    Target,
    /// Everything else that is said.
    Options,
    /// [`CommandLine::load`] or [`CommandLine::run`].
    Command,
    /// Itself.
    Plain(&'static str),
}

impl CommandLine {
    /// sysbench's: the command for families that have no tool of their own, too.
    pub const SYSBENCH: CommandLine = CommandLine {
        word: "sysbench",
        load: "prepare",
        run: "run",
        order: &[Word::Name, Word::Target, Word::Options, Word::Command],
        names: &[],
        takes_files: false,
        warmup: "warmup-time",
        whole_seconds: true,
        run_options: &[],
        takes_price: false,
    };

    /// go-tpc's, of this command.
    pub const fn go_tpc(word: &'static str) -> Self {
        CommandLine {
            word,
            order: &[Word::Target, Word::Options, Word::Command],
            warmup: "warmup",
            whole_seconds: false,
            ..Self::SYSBENCH
        }
    }
}

impl Family {
    /// What its command calls its workloads.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let own = match self.command.names {
            [] => self.definitions,
            _ => &[],
        };
        let own = own.iter().map(|d| d.name);
        own.chain(self.command.names.iter().copied())
    }

    /// Whether the tables of both have the same names.
    pub fn clashes(&self, other: &Family) -> bool {
        self.clashes_with.contains(&other.name)
    }
}

impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Family {}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.command.word)
    }
}
