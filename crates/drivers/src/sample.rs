//! Comparing rows in the target with what was loaded.

use crate::{Cell, Dialect, RowSet, RowWriter, Session, Value};
use flate2::Crc;
use tidemark_core::DbError;

/// What comparing a sample of a table's rows found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleComparison {
    /// Rows compared value by value.
    pub rows: u64,
    /// Of them, rows that are missing or differ.
    pub mismatches: u64,
    /// CRC-32 over the values read, in hexadecimal.
    pub checksum: String,
}

/// Rows that one statement asks for: over a distance each statement is a round trip.
const ROWS_A_STATEMENT: usize = 32;

/// Compares rows with what was loaded, some of them with each statement.
pub struct Sampler<'a> {
    table: &'a str,
    columns: &'a [&'a str],
    /// Which of the columns find one row.
    key: Vec<usize>,
    /// Rows as they were loaded that are yet to be read.
    awaited: Vec<Vec<u8>>,
    crc: Crc,
    sample: SampleComparison,
}

impl<'a> Sampler<'a> {
    /// Compares rows of `table` found by those of `columns` whose numbers are in `key`.
    pub fn new(table: &'a str, columns: &'a [&'a str], key: &[usize]) -> Self {
        Self {
            table,
            columns,
            key: key.to_vec(),
            awaited: Vec::new(),
            crc: Crc::new(),
            sample: SampleComparison::default(),
        }
    }

    /// Takes a row as it was loaded, to be compared with what the target has: tab-separated, as
    /// [`RowWriter::tsv`] writes it ([`is_same_row`]).
    ///
    /// # Errors
    /// The server's error.
    pub async fn compare(&mut self, session: &mut Session, loaded: &[u8]) -> Result<(), DbError> {
        self.awaited.push(loaded.to_vec());
        if self.awaited.len() < ROWS_A_STATEMENT {
            return Ok(());
        }
        self.read(session).await
    }

    /// Compares the last rows, and says what was found.
    ///
    /// # Errors
    /// The server's error.
    pub async fn finish(mut self, session: &mut Session) -> Result<SampleComparison, DbError> {
        self.read(session).await?;
        self.sample.checksum = format!("{:08x}", self.crc.sum());
        Ok(self.sample)
    }

    async fn read(&mut self, session: &mut Session) -> Result<(), DbError> {
        if self.awaited.is_empty() {
            return Ok(());
        }
        let sql = select(
            session.dialect(),
            self.table,
            self.columns,
            &self.key,
            &self.awaited,
        );
        let found = session.query(&sql).await?;
        // A union has no order: each row says which it is.
        let mut read = vec![(0, Vec::new()); self.awaited.len()];
        for row in 0..found.len() {
            let nth = found.int(row, 0).and_then(|nth| usize::try_from(nth).ok());
            if let Some((rows, text)) = nth.and_then(|nth| read.get_mut(nth)) {
                *rows += 1;
                text.extend(columns_as_tsv(&found, row, 1));
            }
        }
        for ((rows, read), loaded) in read.iter().zip(&self.awaited) {
            self.sample.rows += 1;
            self.crc.update(read);
            if *rows != 1 || !is_same_row(read, loaded) {
                self.sample.mismatches += 1;
            }
        }
        self.awaited.clear();
        Ok(())
    }
}

/// One statement that reads each of the rows `loaded` by its key, its number before it.
fn select(
    dialect: Dialect,
    table: &str,
    columns: &[&str],
    key: &[usize],
    loaded: &[Vec<u8>],
) -> String {
    let table = dialect.quote(table);
    let quoted: Vec<_> = columns.iter().map(|c| dialect.quote(c)).collect();
    let listed = quoted.join(", ");
    let mut sql = Vec::new();
    for (nth, row) in loaded.iter().enumerate() {
        let union = if nth > 0 { " UNION ALL " } else { "" };
        sql.extend_from_slice(
            format!("{union}SELECT {nth}, {listed} FROM {table} WHERE ").as_bytes(),
        );
        for (part, number) in key.iter().enumerate() {
            let column = quoted.get(*number).map_or("", |c| c);
            let and = if part > 0 { " AND " } else { "" };
            sql.extend_from_slice(format!("{and}{column} = ").as_bytes());
            let key = row.split(|b| *b == b'\t').nth(*number);
            let key = key.unwrap_or_default();
            let text = std::str::from_utf8(key);
            match (text, text.map(str::parse::<i64>)) {
                (_, Ok(Ok(number))) => dialect.write_literal(Value::Int(number), &mut sql),
                // Binary data would be compared byte by byte, past the index of a key of text.
                (Ok(text), _) => dialect.write_literal(Value::Text(text), &mut sql),
                _ => dialect.write_literal(Value::Bytes(key), &mut sql),
            }
        }
    }
    String::from_utf8_lossy(&sql).into_owned()
}

/// A row that was read, tab-separated as [`RowWriter::tsv`] writes what is loaded.
pub fn row_as_tsv(rows: &RowSet, row: usize) -> Vec<u8> {
    columns_as_tsv(rows, row, 0)
}

/// Of a row that was read, the columns from `first` on.
fn columns_as_tsv(rows: &RowSet, row: usize, first: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = RowWriter::tsv(&mut out);
    for column in first..rows.columns() {
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
