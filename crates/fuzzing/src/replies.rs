//! Decoders of replies, fed whole and in pieces: both must see the same.

use crate::memory::bounded;
use crate::programs::read;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Debug;
use tidemark_drivers::fuzzing::{mysql, postgres};
use tidemark_drivers::{Cell, RowSet};

/// As for a session, with two replies in memory and two words for each.
const A_BYTE: usize = 1024;

/// Flags, length of the first piece, of the second, then the reply's bytes.
fn parts(data: &[u8]) -> Option<(u8, [&[u8]; 1], Vec<&[u8]>)> {
    let [flags, first, second, bytes @ ..] = data else {
        return None;
    };
    let mut pieces = Vec::new();
    let mut rest = bytes;
    let mut turn = 0;
    while !rest.is_empty() {
        let length = if turn % 2 == 0 { *first } else { *second };
        let (piece, after) = rest.split_at(usize::from(length).clamp(1, rest.len()));
        pieces.push(piece);
        rest = after;
        turn += 1;
    }
    Some((*flags, [bytes], pieces))
}

fn same<S: PartialEq + Debug>(
    len: usize,
    whole: &[&[u8]],
    pieces: &[&[u8]],
    run: impl Fn(&[&[u8]], &mut RowSet) -> S,
) {
    bounded(len, A_BYTE, || {
        let (mut of_whole, mut of_pieces) = (RowSet::new(), RowSet::new());
        let seen = run(whole, &mut of_whole);
        assert_eq!(
            seen,
            run(pieces, &mut of_pieces),
            "cuts change what is seen"
        );
        read(&of_whole);
        assert_eq!(of_whole.len(), of_pieces.len());
        for row in 0..of_whole.len() {
            for column in 0..of_whole.columns() {
                let cells = [&of_whole, &of_pieces].map(|rows| rows.get(row, column).map(bits));
                assert_eq!(cells[0], cells[1], "cuts change cell {row}, {column}");
            }
        }
    });
}

/// A cell that can be compared whatever number it holds.
fn bits(cell: Cell<'_>) -> (u8, u64, &[u8]) {
    match cell {
        Cell::Null => (0, 0, &[]),
        Cell::Int(n) => (1, n as u64, &[]),
        Cell::Float(n) => (2, n.to_bits(), &[]),
        Cell::Bytes(b) => (3, 0, b),
    }
}

pub(crate) fn mysql(data: &[u8]) {
    let Some((flags, whole, pieces)) = parts(data) else {
        return;
    };
    let kind = match flags & 7 {
        0 => mysql::Kind::Prepare,
        1 => mysql::Kind::Count,
        2 => mysql::Kind::Text,
        3 => mysql::Kind::Binary,
        _ => return key(whole[0]),
    };
    let deprecate_eof = flags & 8 != 0;
    same(data.len(), &whole, &pieces, |bytes, rows| {
        mysql::reply(kind, deprecate_eof, bytes, rows)
    });
}

/// A server's public key in DER form.
fn key(der: &[u8]) {
    let text = STANDARD.encode(der);
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n");
    bounded(der.len(), A_BYTE, || mysql::encrypts(pem.as_bytes()));
}

pub(crate) fn postgres(data: &[u8]) {
    let Some((flags, whole, pieces)) = parts(data) else {
        return;
    };
    let kind = match flags & 7 {
        0 => postgres::Kind::Prepare,
        1 => postgres::Kind::Count,
        2 => postgres::Kind::Unasked,
        3 => postgres::Kind::Rows(None),
        _ => postgres::Kind::Rows(Some(u16::from(flags >> 3))),
    };
    same(data.len(), &whole, &pieces, |bytes, rows| {
        postgres::reply(kind, bytes, rows)
    });
}
