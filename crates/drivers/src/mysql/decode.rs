//! Rows that somebody reads, in text and binary form (MySQL Internals, "Text Resultset", "Binary
//! Protocol Value").

use super::columns::ResultColumn;
use super::packet::{take, take_le, take_lenenc_bytes};
use super::reply::{RowSink, cut_off};
use crate::{Cell, RowSet};
use mysql_common::constants::ColumnType;
use std::fmt::Write;
use tidemark_core::DbError;

/// Most bytes of one result that are read into memory.
const LARGEST_RESULT: usize = 256 << 20;

/// Bytes that a cell takes beside its text.
const CELL: usize = 24;

/// The form of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowFormat {
    /// As COM_QUERY answers.
    Text,
    /// As COM_STMT_EXECUTE answers.
    Binary,
}

/// Reads rows into a [`RowSet`]; of several results the last.
#[derive(Debug)]
pub(super) struct Decode<'a> {
    rows: &'a mut RowSet,
    form: RowFormat,
    read: usize,
}

impl<'a> Decode<'a> {
    pub fn new(rows: &'a mut RowSet, form: RowFormat) -> Self {
        rows.reset(0);
        Self {
            rows,
            form,
            read: 0,
        }
    }
}

impl RowSink for Decode<'_> {
    const READS: bool = true;

    fn begin(&mut self, columns: usize) -> Result<(), DbError> {
        self.rows.reset(columns);
        self.read = 0;
        Ok(())
    }

    fn row(&mut self, payload: &[u8], columns: &[ResultColumn]) -> Result<(), DbError> {
        // A cell takes memory even when it is NULL and took a bit on the wire.
        self.read += payload.len() + columns.len() * CELL;
        if self.read > LARGEST_RESULT {
            return Err(DbError::protocol("a result to read is larger than 256 MiB"));
        }
        match self.form {
            RowFormat::Text => text_row(payload, columns.len(), self.rows),
            RowFormat::Binary => binary_row(payload, columns, self.rows),
        }
        .ok_or_else(|| cut_off("a row"))
    }
}

fn text_row(mut rest: &[u8], columns: usize, rows: &mut RowSet) -> Option<()> {
    for _ in 0..columns {
        if rest.first() == Some(&0xFB) {
            take(&mut rest, 1)?;
            rows.push(Cell::Null);
        } else {
            rows.push(Cell::Bytes(take_lenenc_bytes(&mut rest)?));
        }
    }
    rest.is_empty().then_some(())
}

fn binary_row(mut rest: &[u8], columns: &[ResultColumn], rows: &mut RowSet) -> Option<()> {
    let rest = &mut rest;
    take_le(rest, 1).filter(|&first| first == 0)?;
    // The bitmap's first two bits are unused.
    let nulls = take(rest, (columns.len() + 2).div_ceil(8))?;
    for (i, column) in columns.iter().enumerate() {
        if nulls[(i + 2) / 8] & 1 << ((i + 2) % 8) != 0 {
            rows.push(Cell::Null);
        } else {
            binary_value(rest, column, rows)?;
        }
    }
    rest.is_empty().then_some(())
}

fn binary_value(rest: &mut &[u8], column: &ResultColumn, rows: &mut RowSet) -> Option<()> {
    use ColumnType::{
        MYSQL_TYPE_DATE, MYSQL_TYPE_DATETIME, MYSQL_TYPE_DOUBLE, MYSQL_TYPE_FLOAT,
        MYSQL_TYPE_INT24, MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_NEWDATE,
        MYSQL_TYPE_NULL, MYSQL_TYPE_SHORT, MYSQL_TYPE_TIME, MYSQL_TYPE_TIMESTAMP, MYSQL_TYPE_TINY,
        MYSQL_TYPE_YEAR,
    };
    match column.kind {
        MYSQL_TYPE_NULL => rows.push(Cell::Null),
        MYSQL_TYPE_TINY => int(rest, 1, column, rows)?,
        MYSQL_TYPE_SHORT | MYSQL_TYPE_YEAR => int(rest, 2, column, rows)?,
        MYSQL_TYPE_LONG | MYSQL_TYPE_INT24 => int(rest, 4, column, rows)?,
        MYSQL_TYPE_LONGLONG => int(rest, 8, column, rows)?,
        MYSQL_TYPE_FLOAT => {
            let bits = take_le(rest, 4)? as u32;
            // The nearest short decimal, as the text form has it: 0.1 and not 0.10000000149.
            let shortest = f32::from_bits(bits).to_string();
            rows.push(Cell::Float(shortest.parse().ok()?));
        }
        MYSQL_TYPE_DOUBLE => rows.push(Cell::Float(f64::from_bits(take_le(rest, 8)?))),
        MYSQL_TYPE_DATE | MYSQL_TYPE_NEWDATE => {
            let text = date_and_time(rest, None)?;
            rows.push(Cell::Bytes(text.as_bytes()));
        }
        MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP => {
            let text = date_and_time(rest, Some(column.decimals))?;
            rows.push(Cell::Bytes(text.as_bytes()));
        }
        MYSQL_TYPE_TIME => {
            let text = time(rest, column.decimals)?;
            rows.push(Cell::Bytes(text.as_bytes()));
        }
        // Strings, decimals, JSON, bits, geometry: as length and bytes.
        _ => rows.push(Cell::Bytes(take_lenenc_bytes(rest)?)),
    }
    Some(())
}

fn int(rest: &mut &[u8], width: usize, column: &ResultColumn, rows: &mut RowSet) -> Option<()> {
    let raw = take_le(rest, width)?;
    let unused = 64 - 8 * width as u32;
    if !column.unsigned {
        rows.push(Cell::Int((raw << unused) as i64 >> unused));
    } else if let Ok(value) = i64::try_from(raw) {
        rows.push(Cell::Int(value));
    } else {
        rows.push(Cell::Bytes(raw.to_string().as_bytes()));
    }
    Some(())
}

/// `2026-01-31`, and `2026-01-31 23:59:59.5` when decimals are given: trailing parts that are zero
/// aren't sent.
fn date_and_time(rest: &mut &[u8], decimals: Option<u8>) -> Option<String> {
    let mut value = value_of(rest, &[4, 7, 11])?;
    let value = &mut value;
    let mut next = |width| take_le(value, width).unwrap_or_default();
    let (year, month, day) = (next(2), next(1), next(1));
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if let Some(decimals) = decimals {
        let _ = write!(text, " {:02}:{:02}:{:02}", next(1), next(1), next(1));
        write_fraction(next(4), decimals, &mut text);
    }
    Some(text)
}

/// `-838:59:59.000001`.
fn time(rest: &mut &[u8], decimals: u8) -> Option<String> {
    let mut value = value_of(rest, &[8, 12])?;
    let value = &mut value;
    let mut next = |width| take_le(value, width).unwrap_or_default();
    let sign = if next(1) == 1 { "-" } else { "" };
    let hours = next(4) * 24 + next(1);
    let mut text = format!("{sign}{hours:02}:{:02}:{:02}", next(1), next(1));
    write_fraction(next(4), decimals, &mut text);
    Some(text)
}

/// A value that says its length in one byte: none, or one of `lengths`.
fn value_of<'a>(rest: &mut &'a [u8], lengths: &[usize]) -> Option<&'a [u8]> {
    let len = take_le(rest, 1)? as usize;
    if len != 0 && !lengths.contains(&len) {
        return None;
    }
    take(rest, len)
}

/// As many digits as the column has; 31 of them means "as many as there are".
fn write_fraction(micros: u64, decimals: u8, text: &mut String) {
    let digits = match decimals {
        0..=6 => usize::from(decimals),
        _ if micros == 0 => 0,
        _ => 6,
    };
    if digits > 0 {
        let fraction = format!("{micros:06}");
        let _ = write!(text, ".{}", fraction.get(..digits).unwrap_or(&fraction));
    }
}
