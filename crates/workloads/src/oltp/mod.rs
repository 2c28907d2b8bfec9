//! The sysbench OLTP family: what sysbench 1.0's bundled scripts do, statement by statement, and
//! what its forks added (batches, partitioning, random keys).
//!
//! `docs/workloads.md` tells what each workload sends and how its numbers read.

mod bulk;
mod check;
mod definitions;
mod options;
mod plan;
mod recognise;
mod rows;
mod schema;
mod settings;
mod sql;
mod statements;
mod terminal;

pub use bulk::{BulkTerminal, NoStatements};
pub(crate) use check::failed as failed_validation;
pub use definitions::{DEFINITIONS, FAMILY};
pub use options::{BATCH, COMMON, RANDOM_POINTS, RANDOM_RANGES};
pub use statements::Statements;
pub(crate) use statements::not_ready;
pub use terminal::Terminal;

use crate::{Prewarm, TablePlan, Workload};
use plan::Plan;
use recognise::is_benchmark_table;
use rows::Rows;
use std::sync::Arc;
use tidemark_core::OptionError;
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource};

/// A workload over the tables sbtest1 to sbtestN.
#[derive(Debug)]
struct Oltp {
    /// The one transaction type, named like the workload.
    types: &'static [&'static str; 1],
    plan: Arc<Plan>,
}

impl Workload for Oltp {
    fn name(&self) -> &'static str {
        self.types[0]
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        self.types
    }

    fn tables(&self, dialect: &Dialect, _sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        let settings = &self.plan.settings;
        (1..=settings.tables)
            .map(|table| schema::table(settings, table, dialect))
            .collect()
    }

    fn rows(&self, table: usize, first: u64, count: u64, seed: u64) -> Box<dyn RowSource + Send> {
        let number = table as u64 + 1;
        Box::new(Rows::new(&self.plan.settings, number, first, count, seed))
    }

    fn recognises(&self, found: &TableDescription) -> bool {
        self.additions(found).is_empty() && is_benchmark_table(found)
    }

    fn additions(&self, found: &TableDescription) -> Vec<String> {
        recognise::additions(found, &self.plan.settings)
    }

    fn has_its_columns(&self, marked: &TableDescription) -> bool {
        recognise::has_columns(marked)
    }

    fn needs(&self, _sessions: usize) -> Vec<String> {
        (1..=self.plan.settings.tables).map(schema::name).collect()
    }

    fn prewarm(&self, dialect: &Dialect) -> Vec<Prewarm> {
        let settings = &self.plan.settings;
        let index = if settings.secondary {
            schema::SECONDARY
        } else {
            "PRIMARY"
        };
        (1..=settings.tables)
            .map(|table| {
                let name = schema::name(table);
                Prewarm {
                    statements: dialect.prewarm(&name, "id", index, "k", settings.table_size),
                    table: name,
                }
            })
            .collect()
    }

    fn only_reads(&self) -> bool {
        self.plan.only_reads()
    }

    fn fewest_round_trips(&self) -> u32 {
        self.plan.statements_sent()
    }

    fn statements(&self) -> crate::Statements {
        crate::Statements::Oltp(Statements::new(Arc::clone(&self.plan)))
    }

    fn terminal(&self, number: usize, terminals: usize, seed: u64) -> crate::Terminal {
        let plan = Arc::clone(&self.plan);
        crate::Terminal::Oltp(Terminal::new(plan, number, terminals, seed))
    }
}
