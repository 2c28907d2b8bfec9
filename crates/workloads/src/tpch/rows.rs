//! The population of clause 4.2.3, as `tpchgen` makes it: byte by byte what dbgen writes.
//!
//! `tpchgen` makes a table in equal parts and no other ranges. Parts of some thousand units are opened
//! here one after the other, and what lies before the first unit asked for is skipped.

mod columns;
mod text;

pub(super) use columns::order_of;

use super::prose::{self, Prose, Room, TextPosition};
use super::tables::Table;
use text::ValueText;
use tidemark_drivers::{RowSource, RowWriter};
use tpchgen::generators::{
    Customer, LineItem, Nation, Order, OrderGenerator, Part, PartSupp, Region, Supplier,
};
use tpchgen::random::RowRandomInt;

/// About how many units a part of tpchgen's has: enough that opening one costs little beside making
/// its rows, few enough that skipping to its middle does.
const PART_UNITS: u64 = 1024;

/// Rows made together.
const AHEAD: usize = 16;

/// Suppliers of a part (clause 4.2.3).
pub(super) const SUPPLIERS_OF_A_PART: u64 = 4;

/// The rows of `count` units from unit `first` of a table.
pub(super) fn rows(table: Table, scale: f64, first: u64, count: u64) -> Box<dyn RowSource + Send> {
    let units = table.units(scale);
    let first = first.min(units);
    let end = first + count.min(units - first);
    made(table, Range::new(scale, units, first, end))
}

/// The rows of `count` orders from number `first` of those that come after the population, or of their
/// lines. Their keys are those of a population that went on.
pub(super) fn later_rows(
    table: Table,
    scale: f64,
    first: u64,
    count: u64,
) -> Box<dyn RowSource + Send> {
    let units = table.units(scale);
    let first = units + first;
    made(table, Range::new(scale, units, first, first + count))
}

fn made(table: Table, range: Range) -> Box<dyn RowSource + Send> {
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

/// Units of a table: of its population, or of those after it.
#[derive(Debug, Clone, Copy)]
struct Range {
    scale: f64,
    /// Units of the population.
    units: u64,
    first: u64,
    end: u64,
}

impl Range {
    fn new(scale: f64, units: u64, first: u64, end: u64) -> Self {
        Self {
            scale,
            units,
            first,
            end,
        }
    }

    /// The part that the first unit is in, from 0. tpchgen goes on behind the last part with parts of
    /// the same size, whose random numbers follow those of the population.
    fn first_part(&self) -> u64 {
        let (parts, size) = self.parts();
        let part = self.first / size;
        if self.first < self.units {
            part.min(parts - 1)
        } else {
            part
        }
    }

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
    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut ValueText);

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
    /// Rows made and not written, the next one last.
    ahead: Vec<(R, TextPosition)>,
    prose: &'static Prose,
    room: Room,
    text: ValueText,
}

impl<R: Row> Rows<R> {
    fn new(range: Range) -> Self {
        let part = range.first_part();
        let (made, comments, part_end) = open::<R>(&range, part);
        Self {
            range,
            part,
            part_end,
            made,
            comments,
            ahead: Vec::with_capacity(AHEAD),
            prose: Prose::get(),
            room: Room::default(),
            text: ValueText::default(),
        }
    }

    /// Makes the next rows; false when there are none.
    fn make(&mut self) -> bool {
        // Their comments' places are looked up after all are made: see `Prose::find`.
        let mut cuts = [(0, 0); AHEAD];
        let mut made = 0;
        while made < AHEAD {
            let Some(row) = self.made.next() else {
                if made > 0 {
                    break;
                }
                if self.part_end >= self.range.end {
                    return false;
                }
                self.part += 1;
                (self.made, self.comments, self.part_end) = open::<R>(&self.range, self.part);
                continue;
            };
            let unit = row.unit();
            let cut = self.comments.next(unit);
            if unit < self.range.first {
                continue;
            }
            if unit >= self.range.end {
                break;
            }
            cuts[made] = cut;
            made += 1;
            self.ahead.push((row, TextPosition::default()));
        }
        for ((_, place), (offset, length)) in self.ahead.iter_mut().zip(cuts) {
            *place = self.prose.find(offset, length);
        }
        self.ahead.reverse();
        made > 0
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
        if self.ahead.is_empty() && !self.make() {
            return false;
        }
        let Some((made, place)) = self.ahead.pop() else {
            return false;
        };
        let comment = self.prose.cut(place, &mut self.room);
        made.overlay(comment);
        let comment = std::str::from_utf8(comment).unwrap_or_default();
        made.write(comment, row, &mut self.text);
        true
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
