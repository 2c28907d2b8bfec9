//! The rows on one page, as far as they can be read.

use super::file::{Pages, word};
use rusqlite::types::Value;
use std::cell::Cell;

/// How the file's parts are read: once, whatever they say of each other.
pub(crate) struct Reader<'p> {
    pages: &'p Pages,
    /// Pages that may yet be read in following what a row says lies elsewhere: damaged rows may all
    /// point to each other's.
    budget: Cell<u64>,
}

/// One row: its values in order.
pub(crate) type Row = Vec<Value>;

/// Where rows are on a page of this kind.
struct Kind {
    /// Bytes of the page's header.
    header: usize,
    /// Bytes of a cell before its length.
    child: usize,
    /// Whether a row's number follows its length.
    numbered: bool,
}

impl<'p> Reader<'p> {
    pub fn new(pages: &'p Pages) -> Self {
        Self {
            pages,
            budget: Cell::new(64 * u64::from(pages.count()) + 1024),
        }
    }

    /// The rows of a page that pass `wanted`, which is asked for the number of their values before
    /// the rest of them is read. How many seemed to be there and could not be read is added to
    /// `broken`.
    pub fn rows(&self, number: u32, wanted: &dyn Fn(usize) -> bool, broken: &mut u64) -> Vec<Row> {
        let Some(page) = self.pages.read(number) else {
            *broken += 1;
            return Vec::new();
        };
        // The first page begins with the file's header.
        let begin = if number == 1 { 100 } else { 0 };
        let kind = match page.get(begin) {
            // A table's leaf; an index's leaf, and what is above leaves there holds rows, too.
            Some(0x0d) => Kind::new(8, 0, true),
            Some(0x0a) => Kind::new(8, 0, false),
            Some(0x02) => Kind::new(12, 4, false),
            _ => return Vec::new(),
        };
        if self.pages.is_free(number) {
            return Vec::new();
        }
        let cells = half(&page, begin + 3);
        let mut rows = Vec::new();
        for n in 0..cells {
            let at = half(&page, begin + kind.header + 2 * n);
            match self.row(&page, at, &kind, wanted) {
                Some(Some(row)) => rows.push(row),
                Some(None) => {}
                None => *broken += 1,
            }
        }
        rows
    }

    /// One row; none inside where it is not wanted, none outside where it can't be read.
    fn row(
        &self,
        page: &[u8],
        at: usize,
        kind: &Kind,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Option<Option<Row>> {
        let usable = self.pages.size();
        let mut cell = page.get(at..)?.get(kind.child..)?;
        let length = usize::try_from(varint(&mut cell)?).ok()?;
        if kind.numbered {
            varint(&mut cell)?;
        }
        // "Cell payload": how much of it is on the page, and how much on others.
        let most = if kind.numbered {
            usable - 35
        } else {
            (usable - 12) * 64 / 255 - 23
        };
        let here = if length <= most {
            length
        } else {
            let least = (usable - 12) * 32 / 255 - 23;
            let fitting = least + (length - least) % (usable - 4);
            if fitting <= most { fitting } else { least }
        };
        let begin = cell.get(..here)?;
        let mut head = begin;
        let header = usize::try_from(varint(&mut head)?).ok()?;
        // A header that goes on elsewhere is none of ours: rows have 30 values at most.
        let types = types(begin.get(begin.len() - head.len()..header)?)?;
        if !wanted(types.len()) {
            return Some(None);
        }
        let total: u64 = types.iter().map(|t| size(*t)).sum();
        if total != (length - header) as u64 {
            return None;
        }
        let mut payload = begin.to_vec();
        if length > here {
            self.follow(word(cell, here), length, &mut payload)?;
        }
        values(&types, payload.get(header..)?).map(Some)
    }

    /// Reads on from page to page until the payload is whole.
    fn follow(&self, first: u32, length: usize, payload: &mut Vec<u8>) -> Option<()> {
        let mut next = first;
        while payload.len() < length {
            self.budget.set(self.budget.get().checked_sub(1)?);
            let page = self.pages.read(next)?;
            next = word(&page, 0);
            let part = (length - payload.len()).min(page.len() - 4);
            payload.extend_from_slice(&page[4..4 + part]);
        }
        (next == 0).then_some(())
    }
}

impl Kind {
    fn new(header: usize, child: usize, numbered: bool) -> Self {
        Self {
            header,
            child,
            numbered,
        }
    }
}

/// The big-endian number of two bytes at `at`; 0 beyond the end.
fn half(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..at + 2)
        .map_or(0, |b| usize::from(b[0]) << 8 | usize::from(b[1]))
}

/// Takes a number of one to nine bytes off the front.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for n in 0..9 {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        if n == 8 {
            return Some(number << 8 | u64::from(*first));
        }
        number = number << 7 | u64::from(first & 0x7f);
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// The types of a row's values.
fn types(mut header: &[u8]) -> Option<Vec<u64>> {
    let mut types = Vec::new();
    while !header.is_empty() {
        types.push(varint(&mut header)?);
    }
    Some(types)
}

/// How many bytes a value of this type has ("Serial Type Codes").
fn size(kind: u64) -> u64 {
    match kind {
        0 | 8 | 9 => 0,
        1..=4 => kind,
        5 => 6,
        6 | 7 => 8,
        // 10 and 11 are not used.
        10 | 11 => u64::from(u32::MAX),
        n => (n - 12) / 2,
    }
}

fn values(types: &[u64], mut body: &[u8]) -> Option<Row> {
    let mut row = Vec::with_capacity(types.len());
    for kind in types {
        let (bytes, rest) = body.split_at_checked(usize::try_from(size(*kind)).ok()?)?;
        body = rest;
        row.push(match *kind {
            0 => Value::Null,
            1..=6 => Value::Integer(integer(bytes)),
            7 => Value::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            text if text % 2 == 1 => Value::Text(String::from_utf8(bytes.to_vec()).ok()?),
            _ => Value::Blob(bytes.to_vec()),
        });
    }
    Some(row)
}

/// A signed big-endian number.
fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|b| b & 0x80 != 0);
    let begin = if negative { -1i64 } else { 0 };
    bytes.iter().fold(begin, |n, b| n << 8 | i64::from(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_sqlite_writes_them() {
        let read = |bytes: &[u8]| {
            let mut rest = bytes;
            varint(&mut rest).map(|n| (n, rest.len()))
        };
        assert_eq!(read(&[0x7f, 9]), Some((127, 1)));
        assert_eq!(read(&[0x81, 0x00]), Some((128, 0)));
        assert_eq!(read(&[0xff; 9]), Some((u64::MAX, 0)));
        assert_eq!(read(&[0x80; 8]), None);
        assert_eq!(read(&[]), None);
        assert_eq!(integer(&[0xff]), -1);
        assert_eq!(integer(&[0x80, 0, 0, 0, 0, 0, 0, 0]), i64::MIN);
        assert_eq!(integer(&[0x01, 0x00]), 256);
    }
}
