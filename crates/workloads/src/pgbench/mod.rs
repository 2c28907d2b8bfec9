//! pgbench's workloads: its built-in scripts, which resemble TPC-B, and scripts that users write
//! (PostgreSQL manual, "pgbench").
//!
//! Tables, rows, statements, expressions and meta commands are pgbench's, so that tables loaded by it
//! serve these runs and the other way round.
//!
//! # Where this departs from pgbench
//! - A NULL of a variable is NULL in every mode, also from `\gset`.
//! - An error that may not be tried again ends the run, and not one client.
//! - Random numbers are drawn by another generator: a seed gives other numbers.

mod expression;
mod options;
mod rows;
mod schema;
mod script;
mod settings;
mod statements;
mod tally;
mod terminal;

pub use options::OPTIONS;
pub use script::{BUILTINS, Builtin, Mode, Script};
pub use settings::{ScriptChoice, Settings, builtin_named};
pub use statements::Statements;
pub use tally::{CommandCounts, FailedTransaction, FailureKind, ScriptCounts, Tally};
pub use terminal::Terminal;

use crate::{CommandLine, Definition, Family, Prewarm, Runs, TablePlan, Word, Workload};
use std::sync::Arc;
use terminal::Plan;
use tidemark_core::{OptionError, OptionValues};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource};

/// The variables that every client has, in the order of their values, but for the next.
const AUTOMATIC: [&str; 3] = ["client_id", "scale", "random_seed"];
/// The variable that seeds hash functions and permutations.
const DEFAULT_SEED: &str = "default_seed";

/// Outcomes that are counted beside the scripts.
const NOTES: [&str; 2] = ["retried", "retries"];
const RETRIED: usize = 0;
const RETRIES: usize = 1;

use expression::is_of_name as expression_name;

/// The family's row of the registry.
pub const FAMILY: Family = Family {
    name: "pgbench",
    title: "pgbench",
    definitions: DEFINITIONS,
    command: CommandLine {
        word: "pgbench",
        load: "--initialize",
        run: "--run",
        order: &[
            Word::Command,
            Word::Target,
            Word::Plain("--builtin"),
            Word::Name,
            Word::Options,
        ],
        names: &["tpcb-like", "simple-update", "select-only"],
        takes_files: false,
        warmup: "warmup",
        whole_seconds: true,
        run_options: &[],
        takes_price: false,
    },
    data: "pgbench",
    clashes_with: &[],
    load_s: |options| options.float("scale") / SCALES_PER_S,
    runs: Runs::Transactions,
};

/// Scaling factors that a load makes a second.
const SCALES_PER_S: f64 = 3.0;

/// The family's workload.
pub const DEFINITIONS: &[Definition] = &[Definition {
    name: "pgbench",
    family: "pgbench",
    summary: "pgbench: its built-in scripts and scripts of users (PostgreSQL)",
    options: &[OPTIONS],
    build: |values| Ok(Arc::new(Pgbench::new(values)?)),
}];

/// Scripts of pgbench with their options set.
#[derive(Debug)]
pub struct Pgbench {
    plan: Arc<Plan>,
}

impl Pgbench {
    /// The workload of these options.
    ///
    /// # Errors
    /// [`OptionError`] for scripts that can't be read, with the line.
    pub fn new(values: &OptionValues) -> Result<Self, OptionError> {
        let settings = Settings::new(values)?;
        let tally = Tally::new(&settings);
        Ok(Self {
            plan: Arc::new(Plan { settings, tally }),
        })
    }

    /// The options, understood.
    pub fn settings(&self) -> &Settings {
        &self.plan.settings
    }

    /// What its runs count beside transactions.
    pub fn tally(&self) -> &Tally {
        &self.plan.tally
    }

    /// It, if a workload is pgbench's.
    pub fn of(workload: &dyn Workload) -> Option<&Self> {
        (workload as &dyn std::any::Any).downcast_ref()
    }
}

impl Workload for Pgbench {
    fn name(&self) -> &'static str {
        "pgbench"
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        self.plan.settings.types
    }

    fn notes(&self) -> &'static [&'static str] {
        &NOTES
    }

    fn events_are_each(&self) -> bool {
        true
    }

    fn tables(&self, dialect: &Dialect, _sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        schema::plans(&self.plan.settings, dialect)
    }

    fn rows(&self, table: usize, first: u64, count: u64, _seed: u64) -> Box<dyn RowSource + Send> {
        Box::new(rows::Rows::new(table, first, count))
    }

    fn recognises(&self, found: &TableDescription) -> bool {
        self.additions(found).is_empty() && schema::recognises(found)
    }

    fn additions(&self, found: &TableDescription) -> Vec<String> {
        schema::additions(found)
    }

    fn has_its_columns(&self, marked: &TableDescription) -> bool {
        schema::has_its_columns(marked)
    }

    /// Those of the built-in scripts; scripts of users name their own.
    fn needs(&self, _sessions: usize) -> Vec<String> {
        let builtins = &self.plan.settings.builtins;
        let is_named = |table: &&schema::TableSchema| {
            let named = |b: &&'static Builtin| b.text.contains(table.name);
            builtins.iter().any(named)
        };
        let tables = schema::TABLES.iter().filter(is_named);
        tables.map(|table| table.name.into()).collect()
    }

    fn prewarm(&self, _dialect: &Dialect) -> Vec<Prewarm> {
        Vec::new()
    }

    fn only_reads(&self) -> bool {
        let settings = &self.plan.settings;
        let is_all = settings.builtins.len() == settings.scripts.len();
        is_all && settings.builtins.iter().all(|b| b.name == "select-only")
    }

    fn fewest_round_trips(&self) -> u32 {
        self.plan.settings.fewest_round_trips()
    }

    fn statements(&self) -> crate::Statements {
        crate::Statements::Pgbench(Statements::new(Arc::clone(&self.plan)))
    }

    fn terminal(&self, number: usize, _terminals: usize, seed: u64) -> crate::Terminal {
        crate::Terminal::Pgbench(Terminal::new(Arc::clone(&self.plan), number, seed))
    }
}
