//! The refresh functions (clause 2.5): RF1 adds a thousandth of the orders, RF2 takes a thousandth of
//! the old ones away; and back again.
//!
//! Orders are those of dbgen's update sets. Of each 32 order keys the population has 8, and RF1 takes
//! the 8 after them; its rows are drawn as the population's are, from the random numbers that follow
//! those of its last order. Set *n* takes away the *n*-th thousandth of the population and adds as
//! many. What was changed can be changed back exactly, which leaves a database whose answers are
//! known.

use super::refresh_keys::KnownRows;
use super::{Table, rows};
use crate::Workload;
use std::fmt::Write;
use std::sync::Arc;
use tidemark_drivers::{Dialect, RowSource, RowWriter};

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
    scale: f64,
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
            scale,
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
        self.parts().map(move |orders| make(&set, orders))
    }

    fn parts(&self) -> impl Iterator<Item = std::ops::Range<u64>> + use<> {
        let end = self.orders.end;
        let starts = self.orders.clone().step_by(ORDERS_PER_TRANSACTION as usize);
        starts.map(move |start| start..(start + ORDERS_PER_TRANSACTION).min(end))
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
        let mut sql = format!("INSERT INTO {} VALUES ", table.name());
        let literals = |out: &mut Vec<u8>, rows: &mut dyn RowSource| {
            rows.next_row(&mut RowWriter::literals(out, &self.dialect))
        };
        for (nth, row) in self.rows(table, orders, keys, ',', &literals).enumerate() {
            let comma = if nth > 0 { "," } else { "" };
            // Writing to a String cannot fail.
            let _ = write!(sql, "{comma}({row})");
        }
        sql
    }

    /// The rows of the orders, as `write` writes them: with `between` between two values. Empty
    /// when there are no more.
    fn rows<'a>(
        &self,
        table: Table,
        orders: std::ops::Range<u64>,
        keys: Keys,
        between: char,
        write: &'a dyn Fn(&mut Vec<u8>, &mut dyn RowSource) -> bool,
    ) -> impl Iterator<Item = String> + use<'a> {
        let index = Table::ALL.iter().position(|t| *t == table).unwrap_or(0);
        let (first, count) = (orders.start, orders.end - orders.start);
        let mut source = match keys {
            Keys::Old => self.workload.rows(index, first, count, 0),
            Keys::New => rows::later_rows(table, self.scale, first, count),
        };
        let population = table.units(self.scale);
        std::iter::from_fn(move || {
            let mut row = Vec::new();
            if !write(&mut row, source.as_mut()) {
                return None;
            }
            let row = String::from_utf8_lossy(&row).into_owned();
            // The order's key is the first column of both tables.
            let (key, rest) = row.split_once(between)?;
            match (keys, key.parse()) {
                (Keys::New, Ok(key)) => {
                    let key = keys.of(rows::order_of(key) - population);
                    Some(format!("{key}{between}{rest}"))
                }
                _ => Some(row),
            }
        })
    }

    /// What may stand under the keys that the set changes, in parts: orders and their lines in turn.
    pub fn known_rows(&self) -> impl Iterator<Item = KnownRows> + use<> {
        let set = self.clone();
        self.parts().flat_map(move |orders| {
            let both = [Keys::Old, Keys::New];
            let of_keys = |keys: Keys| orders.clone().map(move |o| keys.of(o).to_string());
            let order_keys: Vec<String> = both.into_iter().flat_map(of_keys).collect();
            [Table::Orders, Table::LineItem].map(|table| {
                let tsv = |out: &mut Vec<u8>, rows: &mut dyn RowSource| {
                    rows.next_row(&mut RowWriter::tsv(out))
                };
                let [loaded, added] = both.map(|keys| {
                    let rows = set.rows(table, orders.clone(), keys, '\t', &tsv);
                    rows.map(String::into_bytes).collect::<Vec<_>>()
                });
                KnownRows::new(table, &order_keys, loaded.into_iter(), added.into_iter())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpch::{OPTIONS, Tpch};
    use tidemark_core::{Engine, OptionValues, Source};
    use tpchgen::generators::{LineItemGenerator, OrderGenerator};

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

    /// The values of an INSERT's rows, as they are written: no value of these tables has what
    /// separates two of them.
    fn values(sql: &str) -> Vec<Vec<String>> {
        let (_, rows) = sql.split_once(" VALUES ").unwrap();
        let rows = rows.strip_prefix('(').and_then(|r| r.strip_suffix(')'));
        let of_row = |row: &str| {
            let quoted = row.split(',').map(|v| v.trim_matches('\''));
            quoted.map(String::from).collect()
        };
        rows.unwrap().split("),(").map(of_row).collect()
    }

    /// At this scale the population is no multiple of the parts that rows are made in.
    #[test]
    fn new_orders_are_what_tpchgen_draws_after_the_population() {
        let added: Vec<Vec<String>> = [1, 2, 1000]
            .map(|number| set("0.01", number).unwrap().insertions().next().unwrap())
            .into_iter()
            .collect();
        let later = OrderGenerator::new(0.01, 2, 1);
        let orders: Vec<_> = later.iter().collect();
        let lines: Vec<_> = LineItemGenerator::new(0.01, 2, 1).iter().collect();
        for (first, set) in [0, 15, 14_985].into_iter().zip(&added) {
            let orders = &orders[first..first + 15];
            let found = values(&set[0]);
            assert_eq!(found.len(), 15);
            let mut found_lines = values(&set[1]).into_iter();
            for ((order, row), number) in orders.iter().zip(&found).zip(first as u64..) {
                let key = Keys::New.of(number).to_string();
                let told = order.to_string();
                let expected: Vec<&str> = told.split('|').skip(1).collect();
                assert_eq!(row[0], key);
                assert_eq!(row[1..].join(","), expected[..8].join(","));
                for line in lines.iter().filter(|l| l.l_orderkey == order.o_orderkey) {
                    let row = found_lines.next().unwrap();
                    let told = line.to_string();
                    let expected: Vec<&str> = told.split('|').skip(1).collect();
                    assert_eq!(row[0], key);
                    assert_eq!(row[1..].join(","), expected[..15].join(","));
                }
            }
            assert_eq!(found_lines.next(), None);
        }
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
