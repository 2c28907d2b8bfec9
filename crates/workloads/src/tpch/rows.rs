//! The population of clause 4.2.3, as `tpchgen` makes it: byte by byte what dbgen writes.
//!
//! `tpchgen` makes a table in equal parts and no other ranges. Parts of some thousand units are opened
//! here one after the other, and what lies before the first unit asked for is skipped.

use super::prose::{self, Prose, Room};
use super::tables::Table;
use crate::digits::write_decimal;
use std::fmt::{Display, Write};
use std::sync::LazyLock;
use tidemark_drivers::{RowSource, RowWriter};
use tpchgen::dates::{MIN_GENERATE_DATE, TOTAL_DATE_RANGE, TPCHDate};
use tpchgen::decimal::TPCHDecimal;
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    Customer, CustomerGenerator, CustomerGeneratorIterator, LineItem, LineItemGenerator,
    LineItemGeneratorIterator, Nation, NationGenerator, NationGeneratorIterator, Order,
    OrderGenerator, OrderGeneratorIterator, Part, PartGenerator, PartGeneratorIterator, PartSupp,
    PartSuppGenerator, PartSuppGeneratorIterator, Region, RegionGenerator, RegionGeneratorIterator,
    Supplier, SupplierGenerator, SupplierGeneratorIterator,
};
use tpchgen::random::RowRandomInt;
use tpchgen::text::TextPool;

/// About how many units a part of tpchgen's has: enough that opening one costs little beside making
/// its rows, few enough that skipping to its middle does.
const PART_UNITS: u64 = 1024;

/// Suppliers of a part (clause 4.2.3).
pub(super) const SUPPLIERS_OF_A_PART: u64 = 4;

/// The rows of `count` units from unit `first` of a table.
pub(super) fn rows(table: Table, scale: f64, first: u64, count: u64) -> Box<dyn RowSource + Send> {
    let units = table.units(scale);
    let first = first.min(units);
    let range = Range {
        scale,
        units,
        first,
        end: first + count.min(units - first),
    };
    match table {
        Table::Region => Box::new(Rows::<Region<'static>>::new(range)),
        Table::Nation => Box::new(Rows::<Nation<'static>>::new(range)),
        Table::Part => Box::new(Rows::<Part<'static>>::new(range)),
        Table::Supplier => Box::new(Rows::<Supplier>::new(range)),
        Table::PartSupp => Box::new(Rows::<PartSupp<'static>>::new(range)),
        Table::Customer => Box::new(Rows::<Customer<'static>>::new(range)),
        Table::Orders => Box::new(Rows::<Order<'static>>::new(range)),
        Table::LineItem => Box::new(Rows::<LineItem<'static>>::new(range)),
    }
}

/// How many rows `count` units from unit `first` are.
pub(super) fn row_count(table: Table, scale: f64, first: u64, count: u64) -> u64 {
    let units = table.units(scale);
    let first = first.min(units);
    let count = count.min(units - first);
    match table {
        Table::PartSupp => count * SUPPLIERS_OF_A_PART,
        Table::LineItem => {
            let mut lines = OrderGenerator::create_line_count_random();
            lines.advance_rows(number(first));
            let one = |_| {
                let of_order = lines.next_value();
                lines.row_finished();
                u64::try_from(of_order).unwrap_or(0)
            };
            (0..count).map(one).sum()
        }
        _ => count,
    }
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Units of a table.
#[derive(Debug, Clone, Copy)]
struct Range {
    scale: f64,
    /// Units that there are.
    units: u64,
    first: u64,
    end: u64,
}

impl Range {
    /// Number of tpchgen's parts, and of the units that all but the last have.
    fn parts(&self) -> (u64, u64) {
        let parts = (self.units / PART_UNITS).clamp(1, i32::MAX as u64);
        (parts, (self.units / parts).max(1))
    }
}

/// A row of a table.
trait Row: Sized {
    /// Where its comments come from: a seed, their average length, and how many a unit has at most.
    const COMMENTS: (i64, f64, i32);
    type Rows: Iterator<Item = Self> + Send;

    /// The rows of the `part`-th of so many parts, from 1.
    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows;

    /// Its unit, from 0.
    fn unit(&self) -> u64;

    /// Writes its columns.
    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut Text);

    /// Writes over what is not text of the pool.
    fn overlay(&self, _comment: &mut [u8]) {}
}

/// Rows of one table.
struct Rows<R: Row> {
    range: Range,
    /// The part in progress, from 0, and the unit after its last.
    part: u64,
    part_end: u64,
    made: R::Rows,
    comments: Comments,
    prose: &'static Prose,
    room: Room,
    text: Text,
}

impl<R: Row> Rows<R> {
    fn new(range: Range) -> Self {
        let (parts, size) = range.parts();
        let part = (range.first / size).min(parts - 1);
        let (made, comments, part_end) = open::<R>(&range, part);
        Self {
            range,
            part,
            part_end,
            made,
            comments,
            prose: Prose::get(),
            room: Room::default(),
            text: Text::default(),
        }
    }
}

/// The rows and comments of a part, and the unit after its last.
fn open<R: Row>(range: &Range, part: u64) -> (R::Rows, Comments, u64) {
    let (parts, size) = range.parts();
    let as_i32 = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
    let first = part * size;
    let end = if part + 1 == parts {
        range.units
    } else {
        first + size
    };
    let made = R::make(range.scale, as_i32(part + 1), as_i32(parts));
    (made, Comments::new(R::COMMENTS, first), end)
}

impl<R: Row> RowSource for Rows<R> {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        loop {
            let Some(made) = self.made.next() else {
                if self.part_end >= self.range.end {
                    return false;
                }
                self.part += 1;
                (self.made, self.comments, self.part_end) = open::<R>(&self.range, self.part);
                continue;
            };
            let unit = made.unit();
            let (offset, length) = self.comments.next(unit);
            if unit < self.range.first {
                continue;
            }
            if unit >= self.range.end {
                return false;
            }
            let comment = self.prose.cut(offset, length, &mut self.room);
            made.overlay(comment);
            let comment = std::str::from_utf8(comment).unwrap_or_default();
            made.write(comment, row, &mut self.text);
            return true;
        }
    }
}

/// Where comments are cut: tpchgen's own, from a text that isn't held in memory.
#[derive(Debug)]
struct Comments {
    random: RowRandomInt,
    shortest: i32,
    longest: i32,
    unit: u64,
}

impl Comments {
    /// Clause 4.2.2.10: from 0.4 times to 1.6 times the average.
    fn new((seed, average, of_unit): (i64, f64, i32), unit: u64) -> Self {
        // A position and a length.
        let mut random = RowRandomInt::new(seed, 2 * of_unit);
        random.advance_rows(number(unit));
        Self {
            random,
            shortest: (average * 0.4) as i32,
            longest: (average * 1.6) as i32,
            unit,
        }
    }

    /// Position and length of the next comment, which is of that unit.
    fn next(&mut self, unit: u64) -> (usize, usize) {
        if std::mem::replace(&mut self.unit, unit) != unit {
            self.random.row_finished();
        }
        let offset = self.random.next_int(0, prose::LENGTH - self.longest);
        let length = self.random.next_int(self.shortest, self.longest);
        (offset as usize, length as usize)
    }
}

/// What tpchgen cuts comments from that nobody reads: lengths don't depend on it.
static UNREAD: LazyLock<TextPool> =
    LazyLock::new(|| TextPool::new(4096, Distributions::static_default()));

static DATES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let days = (0..TOTAL_DATE_RANGE).map(|day| TPCHDate::new(MIN_GENERATE_DATE + day));
    days.map(|day| day.to_string()).collect()
});

/// Discounts and taxes, in hundredths.
static FRACTIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let hundredths = (0..=10).map(TPCHDecimal::new);
    hundredths.map(|part| part.to_string()).collect()
});

/// Writes values as text.
#[derive(Debug)]
struct Text {
    number: [u8; 24],
    shown: String,
    dates: &'static [String],
    fractions: &'static [String],
}

impl Default for Text {
    fn default() -> Self {
        Self {
            number: [0; 24],
            shown: String::new(),
            dates: &DATES,
            fractions: &FRACTIONS,
        }
    }
}

impl Text {
    fn money(&mut self, value: TPCHDecimal) -> &str {
        let at = write_decimal(value.into_inner(), 2, &mut self.number);
        std::str::from_utf8(&self.number[at..]).unwrap_or_default()
    }

    fn fraction(&self, value: TPCHDecimal) -> &str {
        at(self.fractions, value.into_inner())
    }

    fn date(&self, date: TPCHDate) -> &str {
        at(self.dates, date.into_inner().into())
    }

    fn shown(&mut self, value: &impl Display) -> &str {
        self.shown.clear();
        // Writing into a String does not fail.
        let _ = write!(self.shown, "{value}");
        &self.shown
    }
}

fn at(list: &[String], index: i64) -> &str {
    let index = usize::try_from(index).ok();
    index.and_then(|i| list.get(i)).map_or("", |text| text)
}

impl Row for Region<'static> {
    const COMMENTS: (i64, f64, i32) = (1_500_869_201, 72.0, 1);
    type Rows = RegionGeneratorIterator<'static>;

    fn make(_scale: f64, _part: i32, _parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        RegionGenerator::new_with_distributions_and_text_pool(lists, &UNREAD).iter()
    }

    fn unit(&self) -> u64 {
        self.r_regionkey as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, _text: &mut Text) {
        row.int(self.r_regionkey);
        row.text(self.r_name);
        row.text(comment);
    }
}

impl Row for Nation<'static> {
    const COMMENTS: (i64, f64, i32) = (606_179_079, 72.0, 1);
    type Rows = NationGeneratorIterator<'static>;

    fn make(_scale: f64, _part: i32, _parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        NationGenerator::new_with_distributions_and_text_pool(lists, &UNREAD).iter()
    }

    fn unit(&self) -> u64 {
        self.n_nationkey as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, _text: &mut Text) {
        row.int(self.n_nationkey);
        row.text(self.n_name);
        row.int(self.n_regionkey);
        row.text(comment);
    }
}

impl Row for Part<'static> {
    const COMMENTS: (i64, f64, i32) = (804_159_733, 14.0, 1);
    type Rows = PartGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        PartGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        (self.p_partkey - 1) as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut Text) {
        row.int(self.p_partkey);
        row.text(text.shown(&self.p_name));
        row.text(text.shown(&self.p_mfgr));
        row.text(text.shown(&self.p_brand));
        row.text(self.p_type);
        row.int(self.p_size.into());
        row.text(self.p_container);
        row.text(text.money(self.p_retailprice));
        row.text(comment);
    }
}

impl Row for Supplier {
    const COMMENTS: (i64, f64, i32) = (1_341_315_363, 63.0, 1);
    type Rows = SupplierGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        SupplierGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        (self.s_suppkey - 1) as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut Text) {
        row.int(self.s_suppkey);
        row.text(text.shown(&self.s_name));
        row.text(text.shown(&self.s_address));
        row.int(self.s_nationkey);
        row.text(text.shown(&self.s_phone));
        row.text(text.money(self.s_acctbal));
        row.text(comment);
    }

    /// Ten in ten thousand suppliers have "Customer", some way and "Complaints" or "Recommends"
    /// written over their comments (clause 4.2.3). The text itself has no capitals.
    fn overlay(&self, comment: &mut [u8]) {
        for word in [
            SupplierGenerator::BBB_BASE_TEXT,
            SupplierGenerator::BBB_COMPLAINT_TEXT,
            SupplierGenerator::BBB_RECOMMEND_TEXT,
        ] {
            let at = self.s_comment.find(word);
            if let Some(place) = at.and_then(|at| comment.get_mut(at..at + word.len())) {
                place.copy_from_slice(word.as_bytes());
            }
        }
    }
}

impl Row for PartSupp<'static> {
    const COMMENTS: (i64, f64, i32) = (1_961_692_154, 124.0, SUPPLIERS_OF_A_PART as i32);
    type Rows = PartSuppGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        PartSuppGenerator::new_with_text_pool(scale, part, parts, &UNREAD).iter()
    }

    fn unit(&self) -> u64 {
        (self.ps_partkey - 1) as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut Text) {
        row.int(self.ps_partkey);
        row.int(self.ps_suppkey);
        row.int(self.ps_availqty.into());
        row.text(text.money(self.ps_supplycost));
        row.text(comment);
    }
}

impl Row for Customer<'static> {
    const COMMENTS: (i64, f64, i32) = (1_335_826_707, 73.0, 1);
    type Rows = CustomerGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        CustomerGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        (self.c_custkey - 1) as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut Text) {
        row.int(self.c_custkey);
        row.text(text.shown(&self.c_name));
        row.text(text.shown(&self.c_address));
        row.int(self.c_nationkey);
        row.text(text.shown(&self.c_phone));
        row.text(text.money(self.c_acctbal));
        row.text(self.c_mktsegment);
        row.text(comment);
    }
}

/// The number of an order, from 0, by its key: of each 32 keys the first eight are used (clause
/// 4.2.3), and the first of all is 1.
fn order_of(key: i64) -> u64 {
    let index = (key >> 5) << 3 | (key & 7);
    (index - 1) as u64
}

impl Row for Order<'static> {
    const COMMENTS: (i64, f64, i32) = (276_090_261, 49.0, 1);
    type Rows = OrderGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        OrderGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        order_of(self.o_orderkey)
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut Text) {
        row.int(self.o_orderkey);
        row.int(self.o_custkey);
        row.text(self.o_orderstatus.as_str());
        row.text(text.money(self.o_totalprice));
        row.text(text.date(self.o_orderdate));
        row.text(self.o_orderpriority);
        row.text(text.shown(&self.o_clerk));
        row.int(self.o_shippriority.into());
        row.text(comment);
    }
}

impl Row for LineItem<'static> {
    const COMMENTS: (i64, f64, i32) = (1_095_462_486, 27.0, OrderGenerator::LINE_COUNT_MAX);
    type Rows = LineItemGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        LineItemGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        order_of(self.l_orderkey)
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut Text) {
        row.int(self.l_orderkey);
        row.int(self.l_partkey);
        row.int(self.l_suppkey);
        row.int(self.l_linenumber.into());
        row.int(self.l_quantity);
        row.text(text.money(self.l_extendedprice));
        row.text(text.fraction(self.l_discount));
        row.text(text.fraction(self.l_tax));
        row.text(self.l_returnflag);
        row.text(self.l_linestatus);
        row.text(text.date(self.l_shipdate));
        row.text(text.date(self.l_commitdate));
        row.text(text.date(self.l_receiptdate));
        row.text(self.l_shipinstruct);
        row.text(self.l_shipmode);
        row.text(comment);
    }
}
