//! YCSB's core workload (Cooper, Silberstein, Tam, Ramakrishnan, Sears, "Benchmarking Cloud Serving
//! Systems with YCSB", SoCC 2010): operations on the records of one table, chosen by key.
//!
//! Properties, keys, values and statements are go-ycsb's, so that tables loaded by it serve these
//! runs and the other way round.
//!
//! # Where this departs from go-ycsb
//! - A scan is ordered by the key: the paper scans "records in order", and PostgreSQL promises none
//!   without being asked.
//! - `latest` chooses among all records, also the first, which go-ycsb leaves out; ages follow the
//!   growing table exactly.
//! - With `dataintegrity` scans are verified, too.

mod encoding;
mod inserted;
mod keys;
mod lengths;
mod options;
mod probe;
mod recognise;
mod rows;
mod schema;
mod settings;
mod statements;
mod terminal;
#[cfg(test)]
mod tests;
mod zipfian;

pub use options::OPTIONS;
pub use probe::{Probe, probe};
pub use settings::Settings;
pub use statements::Statements;
pub use terminal::Terminal;

use crate::{CommandLine, Definition, Family, Prewarm, Runs, TablePlan, Word, Workload};
use std::sync::Arc;
use terminal::Plan;
use tidemark_core::{OptionError, OptionValues, Shard};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource};

/// The operations.
pub const TRANSACTION_TYPES: [&str; 5] = ["READ", "UPDATE", "INSERT", "SCAN", "READ_MODIFY_WRITE"];

/// Outcomes that are counted beside the operations.
pub const NOTES: [&str; 4] = [
    // Reads that found no record.
    "missing_record",
    // Updates that found no record.
    "noop_update",
    // Inserts of keys that were there already.
    "duplicate_insert",
    // Scans that found no record.
    "empty_scan",
];

/// The family's row of the registry.
pub const FAMILY: Family = Family {
    name: "ycsb",
    title: "YCSB",
    definitions: DEFINITIONS,
    command: CommandLine {
        load: "load",
        order: &[
            Word::Command,
            Word::Target,
            Word::Plain("-P"),
            Word::Name,
            Word::Options,
        ],
        names: WORKLOADS,
        takes_files: true,
        // The built-in files end after a thousand operations.
        run_options: &[("operationcount", "0")],
        ..CommandLine::go_tpc("ycsb")
    },
    data: "ycsb",
    clashes_with: &[],
    load_s: |options| options.float("recordcount") / RECORDS_PER_S,
    runs: Runs::Transactions,
};

/// The standard workloads, whose property files are built in.
pub const WORKLOADS: &[&str] = &[
    "workloada",
    "workloadb",
    "workloadc",
    "workloadd",
    "workloade",
    "workloadf",
];
/// Records that a load makes a second.
const RECORDS_PER_S: f64 = 50_000.0;

/// The family's workload.
pub const DEFINITIONS: &[Definition] = &[Definition {
    name: "ycsb",
    family: "ycsb",
    summary: "YCSB: reads, updates, inserts and scans of records by key",
    options: &[OPTIONS],
    build: |values| Ok(Arc::new(Ycsb::new(values)?)),
}];

/// YCSB with its properties set.
#[derive(Debug)]
pub struct Ycsb {
    settings: Arc<Settings>,
    plan: Arc<Plan>,
}

impl Ycsb {
    /// The workload of these properties.
    ///
    /// # Errors
    /// [`OptionError`] for properties that contradict each other.
    pub fn new(values: &OptionValues) -> Result<Self, OptionError> {
        let settings = Arc::new(Settings::new(values)?);
        Ok(Self {
            plan: Arc::new(Plan::new(Arc::clone(&settings))),
            settings,
        })
    }
}

impl Workload for Ycsb {
    fn name(&self) -> &'static str {
        "ycsb"
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        &TRANSACTION_TYPES
    }

    fn notes(&self) -> &'static [&'static str] {
        &NOTES
    }

    fn tables(&self, dialect: &Dialect, _sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        Ok(vec![schema::plan(&self.settings, dialect)])
    }

    fn rows(&self, _table: usize, first: u64, count: u64, seed: u64) -> Box<dyn RowSource + Send> {
        let settings = Arc::clone(&self.settings);
        Box::new(rows::Rows::new(settings, first, count, seed))
    }

    fn recognises(&self, found: &TableDescription) -> bool {
        self.additions(found).is_empty()
            && recognise::is_benchmark_table(found, &self.settings.table)
    }

    fn has_its_columns(&self, marked: &TableDescription) -> bool {
        recognise::has_columns(marked)
    }

    fn needs(&self, _sessions: usize) -> Vec<String> {
        vec![self.settings.table.clone()]
    }

    fn prewarm(&self, dialect: &Dialect) -> Vec<Prewarm> {
        vec![schema::prewarm(&self.settings, dialect)]
    }

    fn only_reads(&self) -> bool {
        let [_, update, insert, _, both] = self.settings.proportions;
        update + insert + both <= 0.0
    }

    /// With `dataintegrity` every update writes the same values again.
    fn counts_matched(&self) -> bool {
        true
    }

    fn statements(&self) -> crate::Statements {
        crate::Statements::Ycsb(Statements::new(Arc::clone(&self.settings)))
    }

    fn deal(&self, shard: Shard) {
        self.plan.deal(shard);
    }

    fn terminal(&self, number: usize, terminals: usize, seed: u64) -> crate::Terminal {
        let plan = Arc::clone(&self.plan);
        crate::Terminal::Ycsb(Terminal::new(plan, number, terminals, seed))
    }
}
