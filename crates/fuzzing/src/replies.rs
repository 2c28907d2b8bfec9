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

/// A reply as a fuzzer writes it: flags, lengths of the pieces by turns, the reply's bytes.
struct Input<'a> {
    flags: u8,
    whole: &'a [u8],
    pieces: Vec<&'a [u8]>,
}

fn read_input(data: &[u8]) -> Option<Input<'_>> {
    let [flags, first, second, whole @ ..] = data else {
        return None;
    };
    let mut pieces = Vec::new();
    let mut rest = whole;
    let mut turn = 0;
    while !rest.is_empty() {
        let length = if turn % 2 == 0 { *first } else { *second };
        let (piece, after) = rest.split_at(usize::from(length).clamp(1, rest.len()));
        pieces.push(piece);
        rest = after;
        turn += 1;
    }
    Some(Input {
        flags: *flags,
        whole,
        pieces,
    })
}

fn same<S: PartialEq + Debug>(input: &Input<'_>, run: impl Fn(&[&[u8]], &mut RowSet) -> S) {
    bounded(input.whole.len(), A_BYTE, || {
        let (mut of_whole, mut of_pieces) = (RowSet::new(), RowSet::new());
        let seen = run(&[input.whole], &mut of_whole);
        let in_pieces = run(&input.pieces, &mut of_pieces);
        assert_eq!(seen, in_pieces, "cuts change what is seen");
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
    let Some(input) = read_input(data) else {
        return;
    };
    let kind = match input.flags & 7 {
        0 => mysql::ReplyKind::Prepare,
        1 => mysql::ReplyKind::Count,
        2 => mysql::ReplyKind::Text,
        3 => mysql::ReplyKind::Binary,
        5 => mysql::ReplyKind::After(input.flags >> 4),
        _ => return key(input.whole),
    };
    let deprecate_eof = input.flags & 8 != 0;
    let counts = matches!(kind, mysql::ReplyKind::After(_));
    let caches = !counts && input.flags & 16 != 0;
    same(&input, |bytes, rows| {
        mysql::reply(kind, deprecate_eof, caches, bytes, rows)
    });
}

/// A server's public key in DER form.
fn key(der: &[u8]) {
    let text = STANDARD.encode(der);
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n");
    bounded(der.len(), A_BYTE, || mysql::encrypts(pem.as_bytes()));
}

pub(crate) fn postgres(data: &[u8]) {
    let Some(input) = read_input(data) else {
        return;
    };
    let kind = match input.flags & 7 {
        0 => postgres::ReplyKind::Prepare,
        1 => postgres::ReplyKind::Count,
        2 => postgres::ReplyKind::Unasked,
        3 => postgres::ReplyKind::Rows(None),
        4 => postgres::ReplyKind::After(input.flags >> 3),
        _ => postgres::ReplyKind::Rows(Some(u16::from(input.flags >> 3))),
    };
    same(&input, |bytes, rows| postgres::reply(kind, bytes, rows));
}
