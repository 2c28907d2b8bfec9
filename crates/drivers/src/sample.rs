//! Comparing rows in the target with what was loaded.

use crate::{Cell, RowSet, RowWriter, Session, Value};
use flate2::Crc;
use tidemark_core::DbError;

/// What comparing a sample of a table's rows found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// Rows compared value by value.
    pub rows: u64,
    /// Of them, rows that are missing or differ.
    pub mismatches: u64,
    /// CRC-32 over the values read, in hexadecimal.
    pub checksum: String,
}

/// Compares rows one by one.
pub struct Sampler<'a> {
    table: &'a str,
    columns: &'a [&'a str],
    /// Which of the columns find one row.
    key: Vec<usize>,
    crc: Crc,
    sample: Sample,
}

impl<'a> Sampler<'a> {
    /// Compares rows of `table` found by those of `columns` whose numbers are in `key`.
    pub fn new(table: &'a str, columns: &'a [&'a str], key: &[usize]) -> Self {
        Self {
            table,
            columns,
            key: key.to_vec(),
            crc: Crc::new(),
            sample: Sample::default(),
        }
    }

    /// Reads one row and compares it with what was loaded: tab-separated, as
    /// [`RowWriter::tsv`] writes it ([`is_same_row`]).
    ///
    /// # Errors
    /// The server's error.
    pub async fn compare(&mut self, session: &mut Session, loaded: &[u8]) -> Result<(), DbError> {
        let dialect = session.dialect();
        let quoted: Vec<_> = self.columns.iter().map(|c| dialect.quote(c)).collect();
        let mut sql = format!(
            "SELECT {} FROM {} WHERE ",
            quoted.join(", "),
            dialect.quote(self.table),
        )
        .into_bytes();
        for (nth, number) in self.key.iter().enumerate() {
            let column = quoted.get(*number).map_or("", |c| c);
            let and = if nth > 0 { " AND " } else { "" };
            sql.extend_from_slice(format!("{and}{column} = ").as_bytes());
            let key = loaded.split(|b| *b == b'\t').nth(*number);
            let key = key.unwrap_or_default();
            let text = std::str::from_utf8(key);
            match (text, text.map(str::parse::<i64>)) {
                (_, Ok(Ok(number))) => dialect.write_literal(Value::Int(number), &mut sql),
                // Binary data would be compared byte by byte, past the index of a key of text.
                (Ok(text), _) => dialect.write_literal(Value::Text(text), &mut sql),
                _ => dialect.write_literal(Value::Bytes(key), &mut sql),
            }
        }
        let found = session.query(&String::from_utf8_lossy(&sql)).await?;
        self.sample.rows += 1;
        let read: Vec<u8> = (0..found.len())
            .flat_map(|row| row_as_tsv(&found, row))
            .collect();
        self.crc.update(&read);
        if found.len() != 1 || !is_same_row(&read, loaded) {
            self.sample.mismatches += 1;
        }
        Ok(())
    }

    /// What was found.
    pub fn finish(mut self) -> Sample {
        self.sample.checksum = format!("{:08x}", self.crc.sum());
        self.sample
    }
}

/// A row that was read, tab-separated as [`RowWriter::tsv`] writes what is loaded.
pub fn row_as_tsv(rows: &RowSet, row: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = RowWriter::tsv(&mut out);
    for column in 0..rows.columns() {
        writer.push(match rows.get(row, column) {
            None | Some(Cell::Null) => Value::Null,
            Some(Cell::Int(v)) => Value::Int(v),
            Some(Cell::Float(v)) => Value::Float(v),
            Some(Cell::Bytes(b)) => Value::Bytes(b),
        });
    }
    out
}

/// Whether a row that was read is the one that was loaded, both tab-separated. Blanks at a value's
/// end don't count, nor do zeros after a decimal point: CHAR and DECIMAL columns come padded from some
/// engines and stripped from others.
pub fn is_same_row(read: &[u8], loaded: &[u8]) -> bool {
    let mut read = read.split(|b| *b == b'\t').map(<[u8]>::trim_ascii_end);
    let mut loaded = loaded.split(|b| *b == b'\t').map(<[u8]>::trim_ascii_end);
    loop {
        match (read.next(), loaded.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b || same_number(a, b) => {}
            _ => return false,
        }
    }
}

/// `0.1` and `0.1000`. Texts of digits alone are compared as they are: `0123` is no number.
fn same_number(a: &[u8], b: &[u8]) -> bool {
    if !a.contains(&b'.') && !b.contains(&b'.') {
        return false;
    }
    let number = |text| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
    number(a).is_some_and(|a| number(b) == Some(a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_does_not_count_and_everything_else_does() {
        assert!(is_same_row(b"1\tabc  \tx", b"1\tabc\tx"));
        assert!(!is_same_row(b"1\tabc\tx", b"1\tabd\tx"));
        assert!(!is_same_row(b"1\tabc", b"1\tabc\tx"));
        assert!(!is_same_row(b"1\t abc", b"1\tabc"));
        assert!(is_same_row(b"0.1\t5.0", b"0.1000\t5"));
        assert!(
            !is_same_row(b"0.1", b"0.11")
                && !is_same_row(b"0123", b"123")
                && !is_same_row(b"\\N", b"0.0")
        );
    }
}
