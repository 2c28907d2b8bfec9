//! The refresh functions (clause 2.5): RF1 adds a thousandth of the orders, RF2 takes a thousandth of
//! the old ones away; and back again.
//!
//! Keys are dbgen's: of each 32 order keys the population has 8, and RF1 takes the 8 after them. Set
//! *n* takes away the *n*-th thousandth of the population and adds as many. dbgen draws the rows of
//! its update sets anew; here a set adds the rows that it takes away, under the new keys. So tables
//! keep their sizes and their distributions, and what was changed can be changed back exactly, which
//! leaves a database whose answers are known.

use super::Table;
use crate::Workload;
use std::fmt::Write;
use std::sync::Arc;
use tidemark_drivers::{Dialect, RowWriter};

/// Sets that there are.
pub const SETS: u64 = 1000;
/// What is added to a population's key to have one that it leaves free.
const NEW_KEY: u64 = 8;
/// Orders of one transaction, with their lines. The clause leaves their number open.
const ORDERS_PER_TRANSACTION: u64 = 100;

/// One set of changes.
#[derive(Debug, Clone)]
pub struct RefreshSet {
    workload: Arc<dyn Workload>,
    dialect: Dialect,
    /// The population's orders, from 0.
    orders: std::ops::Range<u64>,
}

/// A statement's keys and rows: the population's, or those that RF1 gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    Old,
    New,
}

impl Keys {
    fn of(self, order: u64) -> u64 {
        // Clause 4.2.3: the first 8 of each 32 keys. Orders count from 1 there.
        let index = order + 1;
        let old = (index >> 3 << 5) | (index & 7);
        match self {
            Keys::Old => old,
            Keys::New => old + NEW_KEY,
        }
    }
}

impl RefreshSet {
    /// The set of that number, from 1, of tables at a scale factor; `None` when there is none.
    pub fn new(
        workload: &Arc<dyn Workload>,
        scale: f64,
        number: u64,
        dialect: Dialect,
    ) -> Option<Self> {
        let orders = Table::Orders.units(scale);
        let before = number.checked_sub(1).filter(|n| *n < SETS)?;
        let first = |sets: u64| u64::try_from(u128::from(orders) * u128::from(sets) / 1000).ok();
        Some(Self {
            workload: Arc::clone(workload),
            dialect,
            orders: first(before)?..first(number)?,
        })
    }

    /// Orders that it adds, and takes away.
    pub fn len(&self) -> u64 {
        self.orders.end - self.orders.start
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// RF1's transactions.
    pub fn insertions(&self) -> impl Iterator<Item = Vec<String>> + use<> {
        self.transactions(|set, orders| set.insert(orders, Keys::New))
    }

    /// RF2's transactions.
    pub fn deletions(&self) -> impl Iterator<Item = Vec<String>> + use<> {
        self.transactions(|set, orders| set.delete(orders, Keys::Old))
    }

    /// Transactions after which the population is there again, whatever of the set was done.
    pub fn undoing(&self) -> impl Iterator<Item = Vec<String>> + use<> {
        self.transactions(|set, orders| {
            let mut statements = set.delete(orders.clone(), Keys::New);
            statements.extend(set.delete(orders.clone(), Keys::Old));
            statements.extend(set.insert(orders, Keys::Old));
            statements
        })
    }

    fn transactions(
        &self,
        make: fn(&Self, std::ops::Range<u64>) -> Vec<String>,
    ) -> impl Iterator<Item = Vec<String>> + use<> {
        let set = self.clone();
        let starts = self.orders.clone().step_by(ORDERS_PER_TRANSACTION as usize);
        starts.map(move |start| {
            let end = (start + ORDERS_PER_TRANSACTION).min(set.orders.end);
            make(&set, start..end)
        })
    }

    fn delete(&self, orders: std::ops::Range<u64>, keys: Keys) -> Vec<String> {
        let keys: Vec<String> = orders.map(|o| keys.of(o).to_string()).collect();
        let keys = keys.join(",");
        // Lines first: they may refer to their order.
        vec![
            format!("DELETE FROM lineitem WHERE l_orderkey IN ({keys})"),
            format!("DELETE FROM orders WHERE o_orderkey IN ({keys})"),
        ]
    }

    fn insert(&self, orders: std::ops::Range<u64>, keys: Keys) -> Vec<String> {
        [Table::Orders, Table::LineItem]
            .iter()
            .map(|table| self.insert_into(*table, orders.clone(), keys))
            .collect()
    }

    fn insert_into(&self, table: Table, orders: std::ops::Range<u64>, keys: Keys) -> String {
        let index = Table::ALL.iter().position(|t| *t == table).unwrap_or(0);
        let count = orders.end - orders.start;
        let mut source = self.workload.rows(index, orders.start, count, 0);
        let mut sql = format!("INSERT INTO {} VALUES ", table.name());
        let mut row = Vec::new();
        let mut first = true;
        while source.next_row(&mut RowWriter::literals(&mut row, &self.dialect)) {
            let text = String::from_utf8_lossy(&row);
            // The order's key is the first column of both tables.
            let (key, rest) = text.split_once(',').unwrap_or((&text, ""));
            let key = match (keys, key.parse::<u64>()) {
                (Keys::New, Ok(key)) => (key + NEW_KEY).to_string(),
                _ => key.to_string(),
            };
            let comma = if first { "" } else { "," };
            // Writing to a String cannot fail.
            let _ = write!(sql, "{comma}({key},{rest})");
            first = false;
            row.clear();
        }
        sql
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpch::{OPTIONS, Tpch};
    use tidemark_core::{Engine, OptionValues, Source};

    fn set(scale: &str, number: u64) -> Option<RefreshSet> {
        let mut values = OptionValues::defaults([OPTIONS]);
        values.set("sf", scale, Source::CommandLine).unwrap();
        let workload: Arc<dyn Workload> = Arc::new(Tpch::new(&values).unwrap());
        let dialect = Dialect::new(Engine::Postgres);
        RefreshSet::new(&workload, scale.parse().unwrap(), number, dialect)
    }

    fn rows(sql: &str) -> usize {
        sql.matches("),(").count() + 1
    }

    #[test]
    fn a_set_is_a_thousandth_of_the_orders() {
        assert_eq!(set("1", 1).unwrap().len(), 1500);
        assert_eq!(set("0.01", 1000).unwrap().len(), 15);
        assert!(set("1", 0).is_none() && set("1", 1001).is_none());
        let transactions: Vec<_> = set("1", 2).unwrap().insertions().collect();
        assert_eq!(transactions.len(), 15);
        assert!(transactions[0][0].starts_with("INSERT INTO orders VALUES ("));
        let orders: usize = transactions.iter().map(|t| rows(&t[0])).sum();
        let lines: usize = transactions.iter().map(|t| rows(&t[1])).sum();
        assert_eq!(orders, 1500);
        // One to seven lines each (clause 2.5.2).
        assert!((4 * 1400..4 * 1600).contains(&lines), "{lines}");
    }

    #[test]
    fn new_keys_are_those_that_the_population_leaves_free() {
        let old: std::collections::HashSet<u64> = (0..15_000).map(|o| Keys::Old.of(o)).collect();
        assert!((0..15_000).all(|o| !old.contains(&Keys::New.of(o))));
        assert_eq!([0, 6, 7, 8].map(|o| Keys::Old.of(o)), [1, 7, 32, 33]);
        assert_eq!([0, 6, 7, 8].map(|o| Keys::New.of(o)), [9, 15, 40, 41]);
    }

    #[test]
    fn what_is_added_and_taken_away_is_put_back() {
        let set = set("0.01", 1).unwrap();
        let added = set.insertions().next().unwrap();
        let taken = set.deletions().next().unwrap();
        let undone = set.undoing().next().unwrap();
        assert!(added[0].contains("VALUES (9,"), "{}", added[0]);
        assert!(added[1].contains("VALUES (9,"), "{}", added[1]);
        assert!(taken[0].starts_with("DELETE FROM lineitem WHERE l_orderkey IN (1,2,3,"));
        assert!(undone[0].contains("IN (9,10,") && undone[2].contains("IN (1,2,"));
        assert!(
            undone[4].contains("INTO orders VALUES (1,"),
            "{}",
            undone[4]
        );
    }
}
