//! TPC-C (Transaction Processing Performance Council, "TPC Benchmark C", revision 5.11): an order
//! business of warehouses, whose terminals enter orders, payments and deliveries. "Clause" in this
//! module is a clause of that document.
//!
//! Tables and columns are called as clause 1.3 and go-tpc call them, so that tables loaded by
//! go-tpc serve these runs and the other way round.
//!
//! # Where this departs from the specification
//! - 4.3.3.1 asks for the time at which a row is populated; every populated time is [`LOADED_AT`],
//!   because a row must be the same whoever loads it and whenever.
//! - 2.1.6.1 has C-load of `C_LAST` chosen by chance; it is a constant here ([`nurand::C_LOAD`]), so
//!   that every run can keep to its rule. Tables that another tool loaded don't tell theirs.

mod check;
mod delivery;
mod input;
pub mod names;
mod new_order;
pub mod nurand;
mod options;
mod order_status;
mod pacing;
mod payment;
mod recognise;
mod rows;
mod schema;
mod settings;
mod sql;
mod statements;
mod stock_level;
mod tables;
mod terminal;
#[cfg(test)]
mod tests;
mod work;

pub use options::OPTIONS;
pub use rows::LOADED_AT;
pub use settings::{PartitionType, Settings};
pub use statements::Statements;
pub use tables::Table;
pub use terminal::Terminal;
pub use work::CODE;

use crate::columns::has_columns;
use crate::{Check, CommandLine, Definition, Family, Prewarm, Runs, TablePlan, Workload};
use std::sync::Arc;
use tidemark_core::{OptionError, OptionValues};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Dialect, RowSource};

/// Items of the catalogue, and so rows of `stock` for each warehouse (clause 1.2.1).
pub const ITEMS: u64 = 100_000;
/// Districts of a warehouse (clause 1.2.1).
pub const DISTRICTS: u64 = 10;
/// Customers of a district, and the orders it is populated with (clauses 1.2.1, 4.3.3.1).
pub const CUSTOMERS: u64 = 3_000;
/// The first order of a district that is populated as not yet delivered (clause 4.3.3.1).
pub const FIRST_UNDELIVERED: u64 = 2_101;

/// The transaction types, in the order of clause 2; what a deferred Delivery does in the background
/// is a type of its own.
pub const TRANSACTION_TYPES: [&str; 6] = [
    "NewOrder",
    "Payment",
    "OrderStatus",
    "Delivery",
    "StockLevel",
    "DeferredDelivery",
];

/// Outcomes that are counted beside the types.
pub const NOTES: [&str; 6] = [
    // New-Orders rolled back for an unused item (2.4.1.4).
    "rolled_back",
    // Districts without an order to deliver (2.7.4.2).
    "delivery_skipped",
    // Payments of another warehouse's customers (2.5.1.2).
    "remote_payment",
    // Order lines that another warehouse supplies (2.4.1.5).
    "remote_line",
    // Payments and Order-Statuses that name the customer so (2.5.1.2, 2.6.1.2).
    "by_last_name",
    // Lines of orders, for the share of the remote ones.
    "order_line",
];

/// The family's row of the registry.
pub const FAMILY: Family = Family {
    name: "tpcc",
    title: "TPC-C",
    definitions: DEFINITIONS,
    command: CommandLine {
        takes_price: true,
        ..CommandLine::go_tpc("tpcc")
    },
    data: "tpcc",
    clashes_with: &["tpch"],
    load_s: |options| options.float("warehouses") * WAREHOUSE_S,
    runs: Runs::Transactions,
};

/// Loading a warehouse.
const WAREHOUSE_S: f64 = 1.5;

/// The family's workload.
pub const DEFINITIONS: &[Definition] = &[Definition {
    name: "tpcc",
    family: "tpcc",
    summary: "TPC-C: orders, payments and deliveries of a wholesale supplier",
    options: &[OPTIONS],
    build: |values| Ok(Arc::new(Tpcc::new(values)?)),
}];

/// TPC-C with its options set.
#[derive(Debug)]
pub struct Tpcc {
    settings: Arc<Settings>,
}

impl Tpcc {
    /// The workload of these options.
    ///
    /// # Errors
    /// [`OptionError`] for options that contradict each other.
    pub fn new(values: &OptionValues) -> Result<Self, OptionError> {
        Ok(Self {
            settings: Arc::new(Settings::new(values)?),
        })
    }
}

impl Workload for Tpcc {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        &TRANSACTION_TYPES
    }

    fn notes(&self) -> &'static [&'static str] {
        &NOTES
    }

    fn paces(&self) -> bool {
        self.settings.wait
    }

    fn tables(&self, dialect: &Dialect, _sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        schema::plans(&self.settings, dialect)
    }

    fn rows(&self, table: usize, first: u64, count: u64, seed: u64) -> Box<dyn RowSource + Send> {
        let table = Table::ALL.get(table).copied().unwrap_or(Table::Item);
        let units = table.units(self.settings.warehouses);
        let first = first.min(units);
        Box::new(rows::Rows::new(
            table,
            first,
            count.min(units - first),
            seed,
        ))
    }

    fn row_count(&self, table: usize, first: u64, count: u64, seed: u64) -> u64 {
        match Table::ALL.get(table) {
            Some(Table::OrderLine) => {
                let units = Table::OrderLine.units(self.settings.warehouses);
                let end = first.saturating_add(count).min(units);
                (first..end).map(|order| rows::lines(seed, order)).sum()
            }
            _ => count,
        }
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

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        check::checks(self.settings.warehouses)
    }

    fn statements(&self) -> crate::Statements {
        crate::Statements::Tpcc(Statements::new(Arc::clone(&self.settings)))
    }

    fn terminal(&self, number: usize, terminals: usize, seed: u64) -> crate::Terminal {
        let settings = Arc::clone(&self.settings);
        crate::Terminal::Tpcc(Terminal::new(settings, number, terminals, seed))
    }
}
