//! Decoded results, for statements whose rows somebody reads.

/// One value of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// SQL NULL.
    Null,
    /// An integer sent in binary form.
    Int(i64),
    /// A floating number sent in binary form.
    Float(f64),
    /// Everything else, as the server writes it in text form.
    Bytes(&'a [u8]),
}

#[derive(Debug, Clone, Copy)]
enum Stored {
    Null,
    Int(i64),
    Float(f64),
    Bytes { start: usize, end: usize },
}

/// The rows of one result, in one buffer that is reused.
#[derive(Debug, Clone, Default)]
pub struct RowSet {
    columns: usize,
    cells: Vec<Stored>,
    bytes: Vec<u8>,
    /// Names of columns, and the results before this one, where somebody wants them.
    named: Option<Box<Named>>,
}

#[derive(Debug, Clone, Default)]
struct Named {
    names: Vec<String>,
    /// Whether the server described this result.
    is_described: bool,
    earlier: Vec<(Vec<String>, RowSet)>,
}

impl RowSet {
    /// An empty result that keeps the names of its columns, and every result of a request of several
    /// statements.
    pub fn named() -> Self {
        Self {
            named: Some(Box::default()),
            ..Self::default()
        }
    }

    /// Whether it keeps names.
    pub(crate) fn is_named(&self) -> bool {
        self.named.is_some()
    }

    /// The columns' names, as the server described them; empty where it did not.
    pub fn names(&self) -> &[String] {
        self.named.as_ref().map_or(&[], |named| &named.names)
    }

    /// Every result of the request with its columns' names, in order.
    pub fn results(&self) -> impl Iterator<Item = (&[String], &RowSet)> {
        let earlier = self.named.iter().flat_map(|named| &named.earlier);
        let earlier = earlier.map(|(names, rows)| (names.as_slice(), rows));
        earlier.chain(std::iter::once((self.names(), self)))
    }

    /// The server described another result of the same request.
    pub(crate) fn describe(&mut self, names: Vec<String>) {
        let columns = names.len();
        let Some(named) = &mut self.named else {
            return self.reset(columns);
        };
        let before = std::mem::replace(&mut named.names, names);
        if std::mem::replace(&mut named.is_described, true) {
            let rows = RowSet {
                columns: self.columns,
                cells: std::mem::take(&mut self.cells),
                bytes: std::mem::take(&mut self.bytes),
                named: None,
            };
            named.earlier.push((before, rows));
        }
        self.columns = columns;
        self.cells.clear();
        self.bytes.clear();
    }

    /// An empty result.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the rows, keeps the memory, and sets the number of columns.
    pub fn reset(&mut self, columns: usize) {
        self.columns = columns;
        self.cells.clear();
        self.bytes.clear();
        if let Some(named) = &mut self.named {
            **named = Named::default();
        }
    }

    /// Appends one value to the row in progress.
    pub fn push(&mut self, cell: Cell<'_>) {
        self.cells.push(match cell {
            Cell::Null => Stored::Null,
            Cell::Int(v) => Stored::Int(v),
            Cell::Float(v) => Stored::Float(v),
            Cell::Bytes(b) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(b);
                Stored::Bytes {
                    start,
                    end: self.bytes.len(),
                }
            }
        });
    }

    /// Bytes that its buffers hold, used or not.
    pub fn bytes_held(&self) -> usize {
        self.bytes.capacity() + self.cells.capacity() * size_of::<Stored>()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `row`, `column`; `None` outside the result.
    pub fn get(&self, row: usize, column: usize) -> Option<Cell<'_>> {
        if column >= self.columns {
            return None;
        }
        Some(match *self.cells.get(row * self.columns + column)? {
            Stored::Null => Cell::Null,
            Stored::Int(v) => Cell::Int(v),
            Stored::Float(v) => Cell::Float(v),
            Stored::Bytes { start, end } => Cell::Bytes(&self.bytes[start..end]),
        })
    }

    /// The value as an integer; `None` when it is NULL, absent or not a whole number.
    pub fn int(&self, row: usize, column: usize) -> Option<i64> {
        match self.get(row, column)? {
            Cell::Int(v) => Some(v),
            Cell::Float(v) if v.fract() == 0.0 => Some(v as i64),
            Cell::Bytes(b) => std::str::from_utf8(b).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// The value as a number; `None` when it is NULL, absent or no number.
    pub fn float(&self, row: usize, column: usize) -> Option<f64> {
        match self.get(row, column)? {
            Cell::Int(v) => Some(v as f64),
            Cell::Float(v) => Some(v),
            Cell::Bytes(b) => std::str::from_utf8(b).ok()?.trim().parse().ok(),
            Cell::Null => None,
        }
    }

    /// The value as text; `None` when it is NULL, absent or not UTF-8.
    pub fn text(&self, row: usize, column: usize) -> Option<String> {
        match self.get(row, column)? {
            Cell::Null => None,
            Cell::Int(v) => Some(v.to_string()),
            Cell::Float(v) => Some(v.to_string()),
            Cell::Bytes(b) => String::from_utf8(b.to_vec()).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_of_a_request_keeps_its_names() {
        let mut rows = RowSet::named();
        rows.reset(0);
        rows.describe(vec!["a".into()]);
        rows.push(Cell::Int(1));
        rows.describe(vec!["b".into(), "c".into()]);
        rows.push(Cell::Int(2));
        rows.push(Cell::Null);
        let seen: Vec<_> = rows
            .results()
            .map(|(names, rows)| (names.join(","), rows.len(), rows.int(0, 0)))
            .collect();
        assert_eq!(seen, [("a".into(), 1, Some(1)), ("b,c".into(), 1, Some(2))]);
        rows.reset(1);
        assert!(rows.names().is_empty());
        assert_eq!(rows.results().count(), 1);
    }
}
