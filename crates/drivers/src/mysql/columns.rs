//! Columns of results (MySQL Internals, "Protocol::ColumnDefinition41").

use super::packet::{take, take_le, take_lenenc, take_lenenc_bytes};
use mysql_common::constants::{ColumnFlags, ColumnType};

/// So many columns are expected without proof.
const LIKELY: u64 = 64;

/// What has to be known of a column to read its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResultColumn {
    pub kind: ColumnType,
    pub unsigned: bool,
    /// Digits of a second's fraction.
    pub decimals: u8,
}

impl ResultColumn {
    /// Reads a definition; `None` where it is cut off.
    pub fn read(mut rest: &[u8]) -> Option<Self> {
        let rest = &mut rest;
        // Catalog, schema, table, original table, name, original name.
        for _ in 0..6 {
            take_lenenc_bytes(rest)?;
        }
        take_lenenc(rest)?;
        let _charset_and_length = take(rest, 6)?;
        let kind = take_le(rest, 1)? as u8;
        let flags = take_le(rest, 2)? as u16;
        Some(Self {
            // A type yet unknown is sent as length and bytes, like all that came after the first.
            kind: ColumnType::try_from(kind).unwrap_or(ColumnType::MYSQL_TYPE_STRING),
            unsigned: flags & ColumnFlags::UNSIGNED_FLAG.bits() != 0,
            decimals: take_le(rest, 1)? as u8,
        })
    }
}

/// Columns of a result, behind a pointer: ten thousand sessions wait with one.
#[allow(clippy::box_collection, reason = "a pointer is a third of a vector")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ResultColumns(Option<Box<Vec<ResultColumn>>>);

impl ResultColumns {
    pub fn all(&self) -> &[ResultColumn] {
        self.0.as_ref().map_or(&[], |columns| columns)
    }

    /// Leaves none.
    pub fn take(&mut self) -> Self {
        Self(self.0.take())
    }

    /// Forgets them and makes room for as many as are likely: the number is the server's word.
    pub fn expect(&mut self, count: u64) {
        let columns = self.0.get_or_insert_default();
        columns.clear();
        columns.reserve_exact(count.min(LIKELY) as usize);
    }

    pub fn push(&mut self, column: ResultColumn) {
        self.0.get_or_insert_default().push(column);
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode::{Decode, RowFormat};
    use super::super::packet::{Frame, HEADER, Packets};
    use super::super::reply::{Count, End, Results, Terms};
    use super::ResultColumns;
    use crate::RowSet;
    use tidemark_core::DbError;

    const TERMS: Terms = Terms {
        deprecate_eof: true,
        caches_columns: true,
    };
    /// Three rows of seven columns, as MariaDB sent them to a client that knows no columns.
    const RECORDED: &[u8] = include_bytes!("../../tests/data/mysql/binary.bin");

    fn payloads() -> Vec<Vec<u8>> {
        let (mut rest, mut all) = (RECORDED, Vec::new());
        while let [a, b, c, _, more @ ..] = rest {
            let length = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
            all.push(more[..length].to_vec());
            rest = &more[length..];
        }
        all
    }

    fn packets(payloads: &[Vec<u8>]) -> Vec<u8> {
        let mut all = Vec::new();
        for (payload, sequence) in payloads.iter().zip(1..) {
            all.extend_from_slice(&(payload.len() as u32).to_le_bytes()[..HEADER - 1]);
            all.push(sequence);
            all.extend_from_slice(payload);
        }
        all
    }

    /// The recorded reply with its columns, and without them.
    fn replies() -> [Vec<u8>; 2] {
        let mut payloads = payloads();
        payloads[0].push(1);
        let with = packets(&payloads);
        payloads[0][1] = 0;
        payloads.drain(1..8);
        [with, packets(&payloads)]
    }

    /// Reads a reply in two pieces, cut at that place.
    fn read<P: Packets>(packets: &mut P, bytes: &[u8], cut: usize) -> Result<P::End, DbError> {
        let mut frame = Frame::from_sequence(1);
        let (mut a, mut b) = bytes.split_at(cut);
        let end = frame.feed(packets, &mut a);
        end.or_else(|| frame.feed(packets, &mut b)).unwrap()
    }

    fn rows(end: End) -> u64 {
        end.done().0.rows
    }

    #[test]
    fn a_reply_without_columns_reads_as_the_one_with_them() {
        let [with, without] = replies();
        assert!(without.len() + 100 < with.len());
        for cut in 0..without.len() {
            // Who counts keeps the columns, and who reads has them from there.
            let mut counted = Results::new(Count, TERMS).knowing(ResultColumns::default());
            assert_eq!(rows(read(&mut counted, &with, cut).unwrap()), 3);
            let known = counted.into_columns();
            assert_eq!(known.all().len(), 7);
            let [mut first, mut second] = [RowSet::new(), RowSet::new()];
            let mut results = Results::new(Decode::new(&mut first, RowFormat::Binary), TERMS);
            assert_eq!(rows(read(&mut results, &with, cut).unwrap()), 3);
            let results = Results::new(Decode::new(&mut second, RowFormat::Binary), TERMS);
            let mut results = results.knowing(known.clone());
            assert_eq!(rows(read(&mut results, &without, cut).unwrap()), 3);
            assert_eq!(results.into_columns(), known);
            for (row, column) in (0..3).flat_map(|row| (0..7).map(move |column| (row, column))) {
                assert_eq!(first.text(row, column), second.text(row, column));
            }
        }
    }

    #[test]
    fn columns_that_were_never_sent_are_not_guessed() {
        let [with, without] = replies();
        for known in [0, 6, 8] {
            let mut counted = Results::new(Count, TERMS).knowing(ResultColumns::default());
            read(&mut counted, &with, 9).unwrap();
            let mut columns = counted.into_columns();
            let first = columns.all()[0];
            columns.expect(7);
            (0..known).for_each(|_| columns.push(first));
            let mut results = Results::new(Count, TERMS).knowing(columns);
            let error = read(&mut results, &without, 9).unwrap_err();
            let said = format!("assumes 7 known columns, but has sent {known}");
            assert!(error.to_string().contains(&said), "{error}");
        }
        // The number of columns alone.
        let mut results = Results::new(Count, TERMS);
        assert!(read(&mut results, &[1, 0, 0, 1, 7], 2).is_err());
    }
}
