//! What the transactions have in common: a session with its statements, and memory to work in.

use super::input::Who;
use super::names::last_name;
use super::sql::Sql;
use super::statements::Statements;
use std::fmt::Write as _;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{Cell, MOST_AHEAD, Outcome, RowSet, Session, Statement, Value};

/// The code of rows that must be there and are not.
pub const CODE: &str = "tpcc";

/// Memory of a transaction, used again by the session's next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub rows: RowSet,
    pub text: String,
}

/// How many rows the statements must have changed that wait to be sent with the next one.
#[derive(Debug, Default)]
pub(super) struct Expected {
    changes: [Option<(u16, Sql)>; MOST_AHEAD],
    count: usize,
}

/// A transaction at work.
pub(super) struct TransactionWork<'a> {
    pub session: &'a mut Session,
    pub sql: &'a Statements,
    pub scratch: &'a mut Scratch,
    /// The terminal's home warehouse.
    pub warehouse: i64,
    pub expected: Expected,
}

impl TransactionWork<'_> {
    /// Executes a statement whose rows, if any, nobody reads.
    pub async fn execute(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<Outcome, DbError> {
        let statement = self.sql.get(sql)?;
        let outcome = self.session.execute(statement, values).await?;
        self.check_ahead()?;
        Ok(outcome)
    }

    /// Executes a statement whose outcome nobody needs to send the next one, which takes it along
    /// where statements are pipelined.
    pub async fn execute_ahead(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<(), DbError> {
        let statement = self.sql.get(sql)?;
        if self.queue(statement, values, None)? {
            return Ok(());
        }
        self.execute(sql, values).await.map(drop)
    }

    /// The same of an INSERT of so many order lines.
    pub async fn insert_ahead(
        &mut self,
        lines: usize,
        values: &[Value<'_>],
    ) -> Result<(), DbError> {
        let statement = self.sql.lines(lines)?;
        if self.queue(statement, values, None)? {
            return Ok(());
        }
        self.session.execute(statement, values).await?;
        self.check_ahead()
    }

    /// The same of one that must change `rows` rows, which is checked with the next.
    pub async fn change_ahead(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
        rows: u16,
    ) -> Result<(), DbError> {
        let statement = self.sql.get(sql)?;
        if self.queue(statement, values, Some((rows, sql)))? {
            return Ok(());
        }
        self.change(sql, values, rows).await
    }

    fn queue(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        change: Option<(u16, Sql)>,
    ) -> Result<bool, DbError> {
        let Expected { changes, count } = &mut self.expected;
        let Some(place) = changes.get_mut(*count) else {
            return Ok(false);
        };
        if !self.sql.style().pipelined || !self.session.queue(statement, values)? {
            return Ok(false);
        }
        *place = change;
        *count += 1;
        Ok(true)
    }

    /// Checks what went ahead of the statement that was just executed.
    fn check_ahead(&mut self) -> Result<(), DbError> {
        if self.expected.count == 0 {
            return Ok(());
        }
        let expected = std::mem::take(&mut self.expected);
        let changed = self.session.changed_ahead();
        for (change, changed) in expected.changes.into_iter().zip(changed) {
            if let Some((rows, sql)) = change {
                check((*changed).into(), rows, sql)?;
            }
        }
        Ok(())
    }

    /// Executes a statement that must change `rows` rows.
    pub async fn change(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
        rows: u16,
    ) -> Result<(), DbError> {
        let outcome = self.execute(sql, values).await?;
        check(outcome.affected, rows, sql)
    }

    /// Executes a statement and keeps its rows.
    pub async fn fetch(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<usize, DbError> {
        let statement = self.sql.get(sql)?;
        let rows = &mut self.scratch.rows;
        self.session.fetch(statement, values, rows).await?;
        let rows = rows.len();
        self.check_ahead()?;
        Ok(rows)
    }

    /// Executes a statement and keeps its row, of which there must be one.
    pub async fn fetch_one(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
        what: &str,
    ) -> Result<(), DbError> {
        match self.fetch(sql, values).await? {
            1 => Ok(()),
            rows => Err(missing(format_args!(
                "{what}: {rows} rows were found instead of one"
            ))),
        }
    }

    /// An integer of the rows kept.
    pub fn int(&self, row: usize, column: usize, what: &str) -> Result<i64, DbError> {
        let value = self.scratch.rows.int(row, column);
        value.ok_or_else(|| missing(format_args!("{what} is not a whole number")))
    }

    /// A decimal number of the rows kept, in units of its `places`-th place after the point.
    pub fn decimal(
        &self,
        row: usize,
        column: usize,
        places: u32,
        what: &str,
    ) -> Result<i64, DbError> {
        let cell = self.scratch.rows.get(row, column);
        cell.and_then(|cell| scaled(cell, places))
            .ok_or_else(|| missing(format_args!("{what} is not a decimal number")))
    }

    /// Keeps the customers of a last name, sorted by first name, with the statement given; the row
    /// of the one in the middle, counted up where their number is odd (2.5.2.2, 2.6.2.2).
    pub async fn by_last_name(
        &mut self,
        sql: Sql,
        warehouse: i64,
        district: i64,
        number: u16,
    ) -> Result<usize, DbError> {
        let name = last_name(number.into());
        let values = [
            Value::Int(warehouse),
            Value::Int(district),
            Value::Text(name),
        ];
        match self.fetch(sql, &values).await? {
            0 => Err(missing(format_args!(
                "no customer of warehouse {warehouse}, district {district} is called {name}"
            ))),
            found => Ok((found - 1) / 2),
        }
    }
}

impl Who {
    pub fn is_by_name(self) -> bool {
        matches!(self, Who::LastName(_))
    }
}

fn check(changed: u64, rows: u16, sql: Sql) -> Result<(), DbError> {
    if changed == u64::from(rows) {
        return Ok(());
    }
    let what = sql.changed_rows();
    Err(missing(format_args!(
        "{what}: {changed} rows were changed instead of {rows}"
    )))
}

/// Rows that the population makes are not there.
pub(super) fn missing(what: impl std::fmt::Display) -> DbError {
    let message = format!(
        "{what}; check that the tables are fully loaded, with the same --warehouses as the run"
    );
    DbError::new(ErrorClass::Fatal, CODE, message)
}

/// A decimal number in units of its `places`-th place; `None` where it is none, or has more.
fn scaled(cell: Cell<'_>, places: u32) -> Option<i64> {
    let scale = 10i64.checked_pow(places)?;
    match cell {
        Cell::Int(value) => value.checked_mul(scale),
        // SQLite keeps decimals so.
        Cell::Float(value) => Some((value * scale as f64).round() as i64),
        Cell::Bytes(text) => scaled_text(text, places),
        Cell::Null => None,
    }
}

fn scaled_text(text: &[u8], places: u32) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mut value, mut left) = (0i64, None);
    for byte in digits {
        match (byte, left) {
            (b'.', None) => left = Some(places),
            // Further places are there in what an engine has computed, and are 0.
            (b'0', Some(0)) => {}
            (b'0'..=b'9', None | Some(1..)) => {
                value = value.checked_mul(10)?.checked_add((byte - b'0').into())?;
                left = left.map(|places| places - 1);
            }
            _ => return None,
        }
    }
    if digits.is_empty() {
        return None;
    }
    let value = value.checked_mul(10i64.checked_pow(left.unwrap_or(places))?)?;
    Some(if negative { -value } else { value })
}

/// An amount of money as it is sent: two places after the point, in memory of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Money {
    text: [u8; 20],
    start: u8,
}

impl Money {
    /// An amount in hundredths.
    pub fn new(hundredths: i64) -> Self {
        let mut text = [0; 20];
        let mut start = text.len();
        let mut rest = hundredths.unsigned_abs();
        let mut written = 0;
        while written < 3 || rest > 0 {
            if written == 2 {
                start -= 1;
                text[start] = b'.';
            }
            start -= 1;
            text[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            written += 1;
            // Sixteen digits are more than any sum of a table.
            if start == 1 {
                break;
            }
        }
        if hundredths < 0 {
            start -= 1;
            text[start] = b'-';
        }
        Self {
            text,
            start: start as u8,
        }
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[usize::from(self.start)..]).unwrap_or_default()
    }

    pub fn value(&self) -> Value<'_> {
        Value::Text(self.as_str())
    }
}

/// The time of a transaction: its client's clock, in UTC, to the second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now([u8; 19]);

impl Now {
    pub fn read() -> Self {
        let now = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now());
        let mut text = *b"0000-00-00 00:00:00";
        let mut write = |at: usize, digits: usize, number: i64| {
            let mut rest = number.unsigned_abs();
            for digit in text[at..at + digits].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
        };
        write(0, 4, now.year().into());
        for (at, number) in [
            (5, now.month()),
            (8, now.day()),
            (11, now.hour()),
            (14, now.minute()),
            (17, now.second()),
        ] {
            write(at, 2, number.into());
        }
        Self(text)
    }

    pub fn value(&self) -> Value<'_> {
        Value::Text(std::str::from_utf8(&self.0).unwrap_or_default())
    }
}

/// Lists of many rows in one text: a PostgreSQL array for each column.
pub(super) struct Arrays<'a> {
    text: &'a mut String,
    ends: [usize; 6],
    count: usize,
}

impl<'a> Arrays<'a> {
    pub fn new(text: &'a mut String) -> Self {
        text.clear();
        Self {
            text,
            ends: [0; 6],
            count: 0,
        }
    }

    /// Adds a column of numbers, as they are written.
    pub fn numbers(&mut self, numbers: impl Iterator<Item = impl std::fmt::Display>) {
        self.text.push('{');
        for (i, number) in numbers.enumerate() {
            let comma = if i > 0 { "," } else { "" };
            // Writing to a String can't fail.
            let _ = write!(self.text, "{comma}{number}");
        }
        self.close();
    }

    /// Adds a column of texts.
    pub fn texts<'t>(&mut self, texts: impl Iterator<Item = &'t str>) {
        self.text.push('{');
        for (i, text) in texts.enumerate() {
            self.text.push_str(if i > 0 { ",\"" } else { "\"" });
            for c in text.chars() {
                if matches!(c, '"' | '\\') {
                    self.text.push('\\');
                }
                self.text.push(c);
            }
            self.text.push('"');
        }
        self.close();
    }

    fn close(&mut self) {
        self.text.push('}');
        if let Some(end) = self.ends.get_mut(self.count) {
            *end = self.text.len();
        }
        self.count += 1;
    }

    /// The `index`-th column.
    pub fn value(&self, index: usize) -> Value<'_> {
        let start = match index {
            0 => 0,
            _ => self.ends.get(index - 1).copied().unwrap_or(0),
        };
        let end = self.ends.get(index).copied().unwrap_or(start);
        Value::Text(self.text.get(start..end).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_as_each_engine_writes_them() {
        for (cell, places, expected) in [
            (Cell::Int(5), 2, Some(500)),
            (Cell::Float(0.1234), 4, Some(1234)),
            (Cell::Float(-10.0), 2, Some(-1000)),
            (Cell::Float(0.29), 2, Some(29)),
            (Cell::Bytes(b"12.34"), 2, Some(1234)),
            (Cell::Bytes(b"-0.05"), 2, Some(-5)),
            (Cell::Bytes(b"7"), 2, Some(700)),
            (Cell::Bytes(b"7.5"), 2, Some(750)),
            (Cell::Bytes(b"0.120000"), 2, Some(12)),
            (Cell::Bytes(b".5"), 1, Some(5)),
            (Cell::Bytes(b"0.129"), 2, None),
            (Cell::Bytes(b""), 2, None),
            (Cell::Bytes(b"-"), 2, None),
            (Cell::Bytes(b"1.2.3"), 2, None),
            (Cell::Bytes(b"x"), 2, None),
            (Cell::Bytes(b"99999999999999999999"), 2, None),
            (Cell::Null, 2, None),
        ] {
            assert_eq!(scaled(cell, places), expected, "{cell:?}");
        }
    }

    #[test]
    fn money_has_two_places() {
        for (hundredths, text) in [
            (0, "0.00"),
            (5, "0.05"),
            (100, "1.00"),
            (500_000, "5000.00"),
            (-1_234_567, "-12345.67"),
        ] {
            assert_eq!(Money::new(hundredths).as_str(), text);
        }
    }

    #[test]
    fn times_are_written_to_the_second() {
        let before = jiff::Timestamp::now().as_second();
        let now = Now::read();
        let Value::Text(text) = now.value() else {
            unreachable!()
        };
        let written: jiff::civil::DateTime = text.parse().unwrap();
        let read = jiff::tz::Offset::UTC.to_timestamp(written).unwrap();
        assert!((before..=before + 5).contains(&read.as_second()), "{text}");
        assert_eq!(text.len(), 19);
    }

    #[test]
    fn arrays_are_quoted_where_they_hold_texts() {
        let mut text = String::from("left over");
        let mut arrays = Arrays::new(&mut text);
        arrays.numbers([1, -2].iter());
        arrays.numbers(std::iter::empty::<i64>());
        arrays.texts(["a b", "\"\\,}"].into_iter());
        arrays.numbers([Money::new(5)].iter().map(Money::as_str));
        let columns: Vec<_> = (0..4).map(|i| arrays.value(i)).collect();
        let expected = ["{1,-2}", "{}", r#"{"a b","\"\\,}"}"#, "{0.05}"].map(Value::Text);
        assert_eq!(columns, expected);
    }
}
