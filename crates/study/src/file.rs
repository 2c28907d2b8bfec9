//! What a study file says, as types.

use crate::Family;
use std::time::Duration;
use tidemark_core::{Objective, ReportPlace, Secret};

/// Everything that a study file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// What it is called.
    pub name: String,
    /// How often each cell is measured.
    pub repeats: u32,
    /// Load before each measurement.
    pub warmup: Duration,
    /// How long each run measures.
    pub time: Duration,
    /// In which order runs are made.
    pub order: RunOrder,
    /// What shuffles.
    pub seed: u64,
    /// When data are loaded again.
    pub reload: Reload,
    /// What becomes of tables that are there before.
    pub existing: Existing,
    /// Sessions that load.
    pub load_threads: u32,
    /// Whether it goes on after a failure.
    pub on_failure: OnFailure,
    /// Whether the machine is tested first.
    pub host_tests: bool,
    /// What results are judged by.
    pub objective: Option<Objective>,
    /// What the system costs.
    pub price: Option<Price>,
    /// The databases; empty when a factor names them.
    pub targets: Vec<StudyTarget>,
    /// The workloads; not empty.
    pub workloads: Vec<StudyWorkload>,
    /// Load levels of workloads that have none of their own.
    pub load: Levels,
    /// What else is varied.
    pub factors: Vec<Factor>,
    /// The report's title, where it is not the name.
    pub title: Option<String>,
    /// Markdown of the report's author.
    pub text: Option<String>,
    /// Sections of the report's author, in the order of the file.
    pub sections: Vec<StudySection>,
}

/// A section that the report's author writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudySection {
    /// Where it stands.
    pub place: ReportPlace,
    /// Its heading, where it is not that of the place.
    pub title: Option<String>,
    /// Markdown.
    pub text: String,
}

/// In which order runs are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOrder {
    /// As the file has them, one repeat after the other.
    Given,
    /// Shuffled within each repeat.
    Shuffled,
}

/// When data are loaded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// Each data once.
    Never,
    /// Before each workload.
    PerWorkload,
    /// Before each run.
    PerRun,
}

/// What becomes of a benchmark's tables that are there before the study begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Used when they are what is asked for, refused else.
    Keep,
    /// Dropped, if they are the benchmark's.
    Replace,
}

/// What happens after a step that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The next one is taken.
    GoOn,
    /// The study waits to be resumed.
    Stop,
}

/// What the system costs in three years.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// How much.
    pub total: f64,
    /// Of what.
    pub currency: String,
}

/// Where the password of a target comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Password {
    /// From the environment variable of this name.
    Variable(String),
    /// From the file.
    Given(Secret),
}

/// A database.
#[derive(Clone, PartialEq, Eq)]
pub struct StudyTarget {
    /// Line of the file.
    pub line: usize,
    /// What results call it.
    pub name: String,
    /// Where it is; may hold a password, or begin with `up:`.
    pub url: String,
    /// The URL of the account that changes settings; may hold a password.
    pub admin: Option<String>,
    /// The password of `admin`'s account.
    pub admin_password: Option<Password>,
    /// The password of `url`'s account.
    pub password: Option<Password>,
    /// Settings of every session.
    pub session: Vec<NamedValue>,
}

impl std::fmt::Debug for StudyTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StudyTarget")
            .field("name", &self.name)
            .field("url", &tidemark_core::redact_url(&self.url))
            .finish_non_exhaustive()
    }
}

/// A name with a value, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedValue {
    /// Line of the file.
    pub line: usize,
    /// The name.
    pub name: String,
    /// The value, as it is written on a command line.
    pub value: String,
}

/// A workload with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyWorkload {
    /// Line of the file.
    pub line: usize,
    /// Its name.
    pub name: String,
    /// What results call it.
    pub label: String,
    /// Whose command line it has.
    pub family: &'static Family,
    /// Options of its commands.
    pub options: Vec<NamedValue>,
    /// Load levels of its own.
    pub load: Option<Levels>,
    /// Load before the measurement, in place of the study's.
    pub warmup: Option<Duration>,
    /// How long a run measures, in place of the study's.
    pub time: Option<Duration>,
    /// Settings of the sessions of its runs.
    pub session: Vec<NamedValue>,
}

/// Load levels: every combination of what is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Line of the file.
    pub line: usize,
    /// What sessions or users are called: `threads` or `terminals`.
    pub word: &'static str,
    /// How many; not empty.
    pub threads: Vec<u64>,
    /// Arrivals a second; empty is as replies come.
    pub rates: Vec<f64>,
    /// Sessions that they share; empty is one for each.
    pub connections: Vec<u64>,
    /// Whether the file says them; what holds without is one thread.
    pub given: bool,
}

/// When a factor's settings hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum During {
    /// While data are loaded.
    Load,
    /// In runs.
    Run,
    /// In both.
    Both,
}

/// Something that is varied.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// Line of the file.
    pub line: usize,
    /// What results call it.
    pub name: String,
    /// When its settings hold.
    pub during: During,
    /// Labels of the only workloads that it is for; empty is all.
    pub workloads: Vec<String>,
    /// What it can be; not empty.
    pub values: Vec<FactorValue>,
}

/// What a factor can be.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorValue {
    /// Line of the file.
    pub line: usize,
    /// What results call it.
    pub label: String,
    /// Options of the commands.
    pub options: Vec<NamedValue>,
    /// Settings of every session.
    pub session: Vec<NamedValue>,
    /// Settings of the server.
    pub set_global: Vec<NamedValue>,
    /// Injected distance, as on a command line.
    pub inject_rtt: Option<String>,
    /// Where the database is; may hold a password.
    pub target: Option<String>,
}
