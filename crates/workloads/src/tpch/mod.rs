//! TPC-H (Transaction Processing Performance Council, "TPC Benchmark H", revision 3.0): questions of
//! a wholesale business to its database. "Clause" in this module is a clause of that document.
//!
//! Tables and columns are called as clause 1.4 and go-tpc call them, so that tables loaded by
//! go-tpc or from dbgen's files serve these runs and the other way round. Rows are those of dbgen,
//! made by the crate `tpchgen`; they depend on the scale factor alone and on no seed.

pub mod answers;
mod options;
mod order;
mod parameters;
mod prose;
pub mod query;
mod recognise;
mod refresh;
mod refresh_keys;
mod rows;
mod schema;
mod settings;
mod tables;
mod words;

pub use options::OPTIONS;
pub use order::order;
pub use parameters::Parameters;
pub use query::Query;
pub use refresh::{RefreshSet, SETS};
pub use refresh_keys::{KnownRows, StrangeRow, Strangeness};
pub use settings::Settings;
pub use tables::Table;

use crate::columns::has_columns;
use crate::{
    CommandLine, Definition, Family, Prewarm, Runs, Statements, TablePlan, Terminal, Workload,
};
use std::sync::Arc;
use tidemark_core::{OptionError, OptionValues};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource};

/// The family's row of the registry.
pub const FAMILY: Family = Family {
    name: "tpch",
    title: "TPC-H",
    definitions: DEFINITIONS,
    command: CommandLine::go_tpc("tpch"),
    data: "tpch",
    clashes_with: &["tpcc"],
    load_s: |options| options.float("sf") * LOAD_S,
    runs: Runs::Queries(|options| options.float("sf") * QUERIES_S),
};

/// Loading scale factor 1, and its 22 queries: the order of magnitude on a small machine.
const LOAD_S: f64 = 60.0;
const QUERIES_S: f64 = 60.0;

/// The family's workload.
pub const DEFINITIONS: &[Definition] = &[Definition {
    name: "tpch",
    family: "tpch",
    summary: "TPC-H: 22 analytic queries on a wholesale supplier",
    options: &[OPTIONS],
    build: |values| Ok(Arc::new(Tpch::new(values)?)),
}];

/// TPC-H with its options set.
#[derive(Debug)]
pub struct Tpch {
    settings: Settings,
}

impl Tpch {
    /// The workload of these options.
    ///
    /// # Errors
    /// [`OptionError`] for options that contradict each other.
    pub fn new(values: &OptionValues) -> Result<Self, OptionError> {
        Ok(Self {
            settings: Settings::new(values)?,
        })
    }
}

impl Workload for Tpch {
    fn name(&self) -> &'static str {
        "tpch"
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        &[]
    }

    fn tables(&self, dialect: &Dialect, _sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        schema::plans(&self.settings, dialect)
    }

    fn rows(&self, table: usize, first: u64, count: u64, _seed: u64) -> Box<dyn RowSource + Send> {
        let table = Table::ALL.get(table).copied().unwrap_or(Table::Region);
        rows::rows(table, self.settings.scale, first, count)
    }

    fn row_count(&self, table: usize, first: u64, count: u64, _seed: u64) -> u64 {
        let table = Table::ALL.get(table).copied().unwrap_or(Table::Region);
        rows::row_count(table, self.settings.scale, first, count)
    }

    fn loaded_rows(&self, table: usize, plan: &TablePlan) -> Option<u64> {
        Some(self.row_count(table, 0, plan.rows, 0))
    }

    fn recognises(&self, found: &TableDescription) -> bool {
        self.additions(found).is_empty() && recognise::is_benchmark_table(found)
    }

    fn additions(&self, found: &TableDescription) -> Vec<String> {
        recognise::additions(found)
    }

    fn has_its_columns(&self, marked: &TableDescription) -> bool {
        recognise::has_columns(marked)
    }

    fn can_be(&self, marked: &TableDescription) -> bool {
        Table::named(&marked.name).is_some_and(|table| has_columns(marked, table.shape().names))
    }

    fn needs(&self, _sessions: usize) -> Vec<String> {
        Table::ALL.iter().map(|t| t.name().to_string()).collect()
    }

    fn prewarm(&self, dialect: &Dialect) -> Vec<Prewarm> {
        schema::prewarm(&self.settings, dialect)
    }

    fn only_reads(&self) -> bool {
        true
    }

    fn statements(&self) -> Statements {
        Statements::None
    }

    fn terminal(&self, _number: usize, _terminals: usize, _seed: u64) -> Terminal {
        Terminal::None
    }
}
