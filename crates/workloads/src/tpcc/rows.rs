//! The population of clause 4.3.3.1. A row depends on the seed, the table and its number alone.

use super::names::{RandomText, last_name};
use super::nurand::{C_LOAD, NuRand};
use super::tables::Table;
use super::{CUSTOMERS, DISTRICTS, FIRST_UNDELIVERED, ITEMS};
use crate::random::{Permutation, Rng};
use tidemark_drivers::{RowSource, RowWriter, Value};

/// Every date and time of the population.
pub const LOADED_AT: &str = "2026-01-01 00:00:00";

/// Streams of random numbers that tables share: the lines of an order, and which customer has it.
const LINES: u64 = 100;
const ORDERER: u64 = 101;
/// Streams of who is one of the ten in a hundred.
const ORIGINAL: u64 = 102;
const BAD_CREDIT: u64 = 103;

/// Rows of one table.
#[derive(Debug)]
pub(super) struct Rows {
    table: Table,
    seed: u64,
    /// Unit that is made next, and the one after the last.
    next: u64,
    end: u64,
    /// Lines of the order in progress: how many there are, and how many were made.
    lines: u64,
    line: u64,
    /// The order in progress.
    rng: Rng,
    text: RandomText,
    last_names: NuRand,
    /// The group that the permutation belongs to, and the permutation.
    group: u64,
    order: Permutation,
}

impl Rows {
    /// The rows of `count` units from unit `first` (from 0).
    pub fn new(table: Table, first: u64, count: u64, seed: u64) -> Self {
        Self {
            table,
            seed,
            next: first,
            end: first + count,
            lines: 0,
            line: 0,
            rng: Rng::of(&[seed]),
            text: RandomText::default(),
            last_names: NuRand::last_name(C_LOAD),
            group: u64::MAX,
            order: Permutation::new(1, seed),
        }
    }

    /// A permutation of 0..n of its own for each group of a stream.
    fn permuted(&mut self, stream: u64, group: u64, n: u64, index: u64) -> u64 {
        if self.group != group {
            self.group = group;
            let seed = Rng::of(&[self.seed, stream, group]).bits();
            self.order = Permutation::new(n, seed);
        }
        self.order.of(index)
    }

    /// Whether the `index`-th of a group of n belongs to exactly a tenth of them, chosen by chance.
    fn is_tenth(&mut self, stream: u64, group: u64, n: u64, index: u64) -> bool {
        self.permuted(stream, group, n, index) < n / 10
    }

    fn item(&mut self, row: &mut RowWriter<'_>, unit: u64) {
        let original = self.is_tenth(ORIGINAL, u64::MAX - 1, ITEMS, unit);
        let (rng, text) = (&mut self.rng, &mut self.text);
        row.int(number(unit + 1));
        row.int(number(1 + rng.below(10_000)));
        row.text(text.alphanumeric(rng, 14, 24));
        row.text(text.decimal(between(rng, 100, 10_000), 2));
        row.text(text.data(rng, original));
    }

    fn warehouse(&mut self, row: &mut RowWriter<'_>, unit: u64) {
        let (rng, text) = (&mut self.rng, &mut self.text);
        row.int(number(unit + 1));
        row.text(text.alphanumeric(rng, 6, 10));
        address(row, rng, text);
        row.text(text.decimal(between(rng, 0, 2_000), 4));
        row.text("300000.00");
    }

    fn stock(&mut self, row: &mut RowWriter<'_>, unit: u64) {
        let (warehouse, item) = (unit / ITEMS, unit % ITEMS);
        let original = self.is_tenth(ORIGINAL, warehouse, ITEMS, item);
        let (rng, text) = (&mut self.rng, &mut self.text);
        row.int(number(item + 1));
        row.int(number(warehouse + 1));
        row.int(between(rng, 10, 100));
        for _ in 0..DISTRICTS {
            row.text(text.letters(rng, 24));
        }
        for _ in ["s_ytd", "s_order_cnt", "s_remote_cnt"] {
            row.int(0);
        }
        row.text(text.data(rng, original));
    }

    fn district(&mut self, row: &mut RowWriter<'_>, unit: u64) {
        let (rng, text) = (&mut self.rng, &mut self.text);
        row.int(number(unit % DISTRICTS + 1));
        row.int(number(unit / DISTRICTS + 1));
        row.text(text.alphanumeric(rng, 6, 10));
        address(row, rng, text);
        row.text(text.decimal(between(rng, 0, 2_000), 4));
        row.text("30000.00");
        row.int(number(CUSTOMERS + 1));
    }

    fn customer(&mut self, row: &mut RowWriter<'_>, unit: u64) {
        let (warehouse, district, index) = place(unit, CUSTOMERS);
        let bad = self.is_tenth(BAD_CREDIT, unit / CUSTOMERS, CUSTOMERS, index);
        let (rng, text) = (&mut self.rng, &mut self.text);
        row.int(number(index + 1));
        row.int(district);
        row.int(warehouse);
        row.text(text.alphanumeric(rng, 8, 16));
        row.text("OE");
        row.text(last_name(if index < 1_000 {
            index
        } else {
            self.last_names.draw(rng)
        }));
        address(row, rng, text);
        row.text(text.phone(rng));
        row.text(LOADED_AT);
        row.text(if bad { "BC" } else { "GC" });
        row.text("50000.00");
        row.text(text.decimal(between(rng, 0, 5_000), 4));
        row.text("-10.00");
        row.text("10.00");
        row.int(1);
        row.int(0);
        row.text(text.alphanumeric(rng, 300, 500));
    }

    fn history(&mut self, row: &mut RowWriter<'_>, unit: u64) {
        let (warehouse, district, index) = place(unit, CUSTOMERS);
        row.int(number(index + 1));
        row.int(district);
        row.int(warehouse);
        row.int(district);
        row.int(warehouse);
        row.text(LOADED_AT);
        row.text("10.00");
        row.text(self.text.alphanumeric(&mut self.rng, 12, 24));
    }

    fn order(&mut self, row: &mut RowWriter<'_>, unit: u64) {
        let (warehouse, district, index) = place(unit, CUSTOMERS);
        let customer = self.permuted(ORDERER, unit / CUSTOMERS, CUSTOMERS, index);
        row.int(number(index + 1));
        row.int(district);
        row.int(warehouse);
        row.int(number(customer + 1));
        row.text(LOADED_AT);
        if index + 1 < FIRST_UNDELIVERED {
            row.int(between(&mut self.rng, 1, 10));
        } else {
            row.push(Value::Null);
        }
        row.int(number(lines(self.seed, unit)));
        row.int(1);
    }

    fn new_order(row: &mut RowWriter<'_>, unit: u64) {
        let (warehouse, district, index) = place(unit, CUSTOMERS + 1 - FIRST_UNDELIVERED);
        row.int(number(index + FIRST_UNDELIVERED));
        row.int(district);
        row.int(warehouse);
    }

    fn order_line(&mut self, row: &mut RowWriter<'_>, unit: u64) {
        let (warehouse, district, index) = place(unit, CUSTOMERS);
        let (rng, text) = (&mut self.rng, &mut self.text);
        row.int(number(index + 1));
        row.int(district);
        row.int(warehouse);
        row.int(number(self.line + 1));
        row.int(number(1 + rng.below(ITEMS)));
        row.int(warehouse);
        let delivered = index + 1 < FIRST_UNDELIVERED;
        if delivered {
            row.text(LOADED_AT);
        } else {
            row.push(Value::Null);
        }
        row.int(5);
        if delivered {
            row.text("0.00");
        } else {
            row.text(text.decimal(between(rng, 1, 999_999), 2));
        }
        row.text(text.letters(rng, 24));
    }
}

impl RowSource for Rows {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        if self.next == self.end {
            return false;
        }
        let unit = self.next;
        if self.line == 0 {
            self.rng = Rng::of(&[self.seed, self.table as u64, unit]);
            if self.table == Table::OrderLine {
                self.lines = lines(self.seed, unit);
            }
        }
        match self.table {
            Table::Item => self.item(row, unit),
            Table::Warehouse => self.warehouse(row, unit),
            Table::Stock => self.stock(row, unit),
            Table::District => self.district(row, unit),
            Table::Customer => self.customer(row, unit),
            Table::History => self.history(row, unit),
            Table::Orders => self.order(row, unit),
            Table::NewOrder => Self::new_order(row, unit),
            Table::OrderLine => self.order_line(row, unit),
        }
        self.line += 1;
        if self.line >= self.lines {
            self.line = 0;
            self.next += 1;
        }
        true
    }
}

/// Lines of the `order`-th order of the database: 5 to 15.
pub(super) fn lines(seed: u64, order: u64) -> u64 {
    5 + Rng::of(&[seed, LINES, order]).below(11)
}

/// Warehouse and district (from 1), and the place within the district (from 0), of a table with so
/// many units a district.
fn place(unit: u64, per_district: u64) -> (i64, i64, u64) {
    let district = unit / per_district;
    (
        number(district / DISTRICTS + 1),
        number(district % DISTRICTS + 1),
        unit % per_district,
    )
}

/// Two streets, city, state and zip code.
fn address(row: &mut RowWriter<'_>, rng: &mut Rng, text: &mut RandomText) {
    for _ in ["street_1", "street_2", "city"] {
        row.text(text.alphanumeric(rng, 10, 20));
    }
    row.text(text.letters(rng, 2));
    row.text(text.zip(rng));
}

fn between(rng: &mut Rng, least: i64, most: i64) -> i64 {
    least + number(rng.below((most - least + 1) as u64))
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
