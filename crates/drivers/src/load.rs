//! Loading many rows by the fastest way a target takes.

use crate::dialect::write_hex;
use crate::mysql::bulk::ArrayRow;
use crate::postgres::binary::BinaryRows;
use crate::{BulkMethod, Dialect, Value};

/// Makes rows one after another.
pub trait RowSource {
    /// Writes the next row's values in column order and returns true, or returns false at the end.
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool;
}

/// Where rows go.
#[derive(Debug, Clone, Copy)]
pub struct LoadRequest<'a> {
    /// Table name, unquoted.
    pub table: &'a str,
    /// Columns in the order that the source writes them, unquoted.
    pub columns: &'a [&'a str],
    /// The way to use; `None` takes the best that the server allows.
    pub method: Option<BulkMethod>,
}

/// What a load did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Rows sent and accepted.
    pub rows: u64,
    /// The way used.
    pub method: BulkMethod,
}

/// Takes one row's values in the form that the way of loading wants.
pub struct RowWriter<'a> {
    pub(crate) sink: BulkSink<'a>,
    pub(crate) first: bool,
}

pub(crate) enum BulkSink<'a> {
    /// Tab-separated, backslash-escaped: COPY's text format and LOAD DATA's default format agree
    /// but for binary data.
    Tsv(&'a mut Vec<u8>),
    /// COPY's text format, with binary data as bytea reads it (PostgreSQL manual, 8.4.1).
    Copy(&'a mut Vec<u8>),
    /// COPY's binary format.
    CopyBinary(&'a mut Vec<u8>, &'a mut BinaryRows),
    /// Indicators and binary values of MariaDB's arrays.
    Array(&'a mut Vec<u8>, &'a mut ArrayRow),
    /// Literals of a VALUES list.
    Values(&'a mut Vec<u8>, &'a Dialect),
    /// Comma-separated, quoted where it must be (RFC 4180); NULL is `NULL` without quotes.
    Csv(&'a mut Vec<u8>),
    /// Bound one by one (SQLite).
    Bind(&'a mut dyn FnMut(usize, Value<'_>), usize),
}

impl<'a> RowWriter<'a> {
    /// Writes tab-separated text.
    pub fn tsv(out: &'a mut Vec<u8>) -> Self {
        Self {
            sink: BulkSink::Tsv(out),
            first: true,
        }
    }

    /// Writes comma-separated values, for files that bulk importers read. The end of the line is
    /// the caller's.
    pub fn csv(out: &'a mut Vec<u8>) -> Self {
        Self {
            sink: BulkSink::Csv(out),
            first: true,
        }
    }

    /// Writes COPY's text format.
    pub(crate) fn copy_text(out: &'a mut Vec<u8>) -> Self {
        Self {
            sink: BulkSink::Copy(out),
            first: true,
        }
    }

    /// Writes COPY's binary format, into a row that was begun.
    pub(crate) fn copy_binary(out: &'a mut Vec<u8>, rows: &'a mut BinaryRows) -> Self {
        Self {
            sink: BulkSink::CopyBinary(out, rows),
            first: true,
        }
    }

    /// Writes a row of MariaDB's arrays.
    pub(crate) fn array_row(out: &'a mut Vec<u8>, row: &'a mut ArrayRow) -> Self {
        Self {
            sink: BulkSink::Array(out, row),
            first: true,
        }
    }

    /// Writes literals with commas between them, for a list of VALUES.
    pub fn literals(out: &'a mut Vec<u8>, dialect: &'a Dialect) -> Self {
        Self {
            sink: BulkSink::Values(out, dialect),
            first: true,
        }
    }

    pub(crate) fn bind(bind: &'a mut dyn FnMut(usize, Value<'_>)) -> Self {
        Self {
            sink: BulkSink::Bind(bind, 0),
            first: true,
        }
    }

    /// The next column's value.
    pub fn push(&mut self, value: Value<'_>) {
        let first = std::mem::replace(&mut self.first, false);
        match &mut self.sink {
            BulkSink::Tsv(out) => {
                if !first {
                    out.push(b'\t');
                }
                write_tsv(value, out);
            }
            BulkSink::Copy(out) => {
                if !first {
                    out.push(b'\t');
                }
                match value {
                    Value::Bytes(v) => {
                        out.extend_from_slice(b"\\\\x");
                        write_hex(v, out);
                    }
                    other => write_tsv(other, out),
                }
            }
            BulkSink::CopyBinary(out, rows) => rows.push(value, out),
            BulkSink::Array(out, row) => row.push(value, out),
            BulkSink::Csv(out) => {
                if !first {
                    out.push(b',');
                }
                write_csv(value, out);
            }
            BulkSink::Values(out, dialect) => {
                if !first {
                    out.push(b',');
                }
                dialect.write_literal(value, out);
            }
            BulkSink::Bind(bind, column) => {
                bind(*column, value);
                *column += 1;
            }
        }
    }

    /// The next column's integer.
    pub fn int(&mut self, value: i64) {
        self.push(Value::Int(value));
    }

    /// The next column's text.
    pub fn text(&mut self, value: &str) {
        self.push(Value::Text(value));
    }
}

fn write_tsv(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"\\N"),
        Value::Int(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
        Value::Float(v) => out.extend_from_slice(v.to_string().as_bytes()),
        Value::Text(v) => escape_tsv(v.as_bytes(), out),
        Value::Bytes(v) => escape_tsv(v, out),
    }
}

fn write_csv(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Int(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
        Value::Float(v) => out.extend_from_slice(v.to_string().as_bytes()),
        Value::Text(v) => quote_csv(v.as_bytes(), out),
        Value::Bytes(v) => quote_csv(v, out),
    }
}

fn quote_csv(bytes: &[u8], out: &mut Vec<u8>) {
    let special = |b: &u8| matches!(b, b',' | b'"' | b'\n' | b'\r' | b'\\');
    let plain = !bytes.iter().any(special) && !bytes.starts_with(b" ") && bytes != b"NULL";
    if plain {
        out.extend_from_slice(bytes);
        return;
    }
    out.push(b'"');
    for byte in bytes {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

fn escape_tsv(bytes: &[u8], out: &mut Vec<u8>) {
    let special = |b: &u8| matches!(b, b'\\' | b'\t' | b'\n' | b'\r');
    // Nearly all texts have none of them. Without an early end the compiler looks at many bytes at
    // once.
    if !bytes.iter().fold(false, |found, b| found | special(b)) {
        out.extend_from_slice(bytes);
        return;
    }
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(special) {
        out.extend_from_slice(&rest[..at]);
        out.push(b'\\');
        out.push(match rest[at] {
            b'\t' => b't',
            b'\n' => b'n',
            b'\r' => b'r',
            other => other,
        });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_is_quoted_where_it_must_be() {
        let mut out = Vec::new();
        let mut row = RowWriter::csv(&mut out);
        row.int(-5);
        row.push(Value::Null);
        for text in [
            "plain",
            "a,b",
            "say \"x\"",
            "two\nlines",
            " led",
            "NULL",
            "",
        ] {
            row.text(text);
        }
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "-5,NULL,plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\" led\",\"NULL\","
        );
    }

    #[test]
    fn tabs_newlines_and_backslashes_are_escaped() {
        let mut out = Vec::new();
        let mut row = RowWriter::tsv(&mut out);
        row.int(-7);
        row.text("a\tb\\c\nd");
        row.push(Value::Null);
        assert_eq!(out, b"-7\ta\\tb\\\\c\\nd\t\\N");
    }

    #[test]
    fn copy_writes_binary_data_as_escaped_hex() {
        let mut out = Vec::new();
        let mut row = RowWriter::copy_text(&mut out);
        row.push(Value::Bytes(&[0, 10, 255]));
        row.text("a\tb");
        assert_eq!(out, b"\\\\x000aff\ta\\tb");
    }
}
