//! Replies recorded from MariaDB 10.11.19, with and without `CLIENT_DEPRECATE_EOF`, in any pieces;
//! and nonsense.

use super::bind::{self, Bound};
use super::decode::{Decode, RowFormat};
use super::packet::{
    COM_QUERY, COM_STMT_EXECUTE, CommandPacket, FULL, Frame, HEADER, Packets, take_lenenc,
    take_lenenc_bytes, write_lenenc,
};
use super::reply::{Count, End, OkPacket, PrepareReply, Results, ServerPrepared, Terms};
use crate::{Cell, Outcome, RowSet, Value};
use proptest::prelude::*;
use std::fmt::Debug;
use tidemark_core::DbError;

macro_rules! recorded {
    ($name:literal) => {
        [
            (
                &include_bytes!(concat!("../../tests/data/mysql/", $name, ".bin"))[..],
                true,
            ),
            (
                &include_bytes!(concat!("../../tests/data/mysql/", $name, "-eof.bin"))[..],
                false,
            ),
        ]
    };
}

/// The reply's end, and whether all bytes were taken.
fn read<P: Packets>(mut packets: P, pieces: &[&[u8]]) -> Option<Result<P::End, DbError>> {
    let mut frame = Frame::from_sequence(1);
    for (i, piece) in pieces.iter().enumerate() {
        let mut bytes = *piece;
        let end = frame.feed(&mut packets, &mut bytes);
        if let Some(Err(_)) = end {
            return end;
        }
        if end.is_some() {
            let rest: usize = pieces[i + 1..].iter().map(|p| p.len()).sum();
            assert_eq!(bytes.len() + rest, 0, "bytes after the reply's end");
            return end;
        }
        assert!(bytes.is_empty(), "a piece was left");
    }
    None
}

fn plain(deprecate_eof: bool) -> Terms {
    Terms {
        deprecate_eof,
        caches_columns: false,
    }
}

fn count(deprecate_eof: bool) -> Results<Count> {
    Results::new(Count, plain(deprecate_eof))
}

fn done(has_rows: bool, rows: u64, affected: u64, status: u16) -> End {
    End::Done {
        outcome: Outcome {
            has_rows,
            rows,
            affected,
        },
        last: OkPacket {
            affected: if has_rows { 0 } else { affected },
            status,
            warnings: 0,
        },
    }
}

/// Reads a reply whole, and cut in two and three at every place.
fn in_any_pieces<P: Packets>(bytes: &[u8], packets: impl Fn() -> P) -> Result<P::End, DbError>
where
    P::End: PartialEq + Debug,
{
    let whole = read(packets(), &[bytes]).unwrap();
    for cut in 0..bytes.len() {
        let (a, b) = bytes.split_at(cut);
        assert_eq!(read(packets(), &[a]), None, "ends before its end, at {cut}");
        assert_eq!(
            read(packets(), &[a, b]).as_ref(),
            Some(&whole),
            "cut at {cut}"
        );
        let (b, c) = b.split_at(b.len().min(3));
        assert_eq!(
            read(packets(), &[a, b, c]).as_ref(),
            Some(&whole),
            "cut at {cut}"
        );
    }
    let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(packets(), &bytewise).as_ref(), Some(&whole));
    whole
}

#[test]
fn results_are_counted_whatever_the_pieces() {
    for (bytes, eof) in recorded!("text").into_iter().chain(recorded!("binary")) {
        let end = in_any_pieces(bytes, || count(eof)).unwrap();
        assert!(matches!(end, End::Done { outcome, .. } if outcome
            == Outcome { has_rows: true, rows: 3, affected: 0 }));
    }
    for (bytes, eof) in recorded!("empty") {
        let end = in_any_pieces(bytes, || count(eof)).unwrap();
        assert!(matches!(end, End::Done { outcome, .. } if outcome
            == Outcome { has_rows: true, rows: 0, affected: 0 }));
    }
    for (bytes, eof) in recorded!("update") {
        let end = in_any_pieces(bytes, || count(eof)).unwrap();
        assert_eq!(end, done(false, 0, 2, 2));
    }
}

#[test]
fn the_results_of_a_procedure_add_up() {
    for (bytes, eof) in recorded!("call") {
        let end = in_any_pieces(bytes, || count(eof)).unwrap();
        assert!(matches!(end, End::Done { outcome, .. } if outcome
            == Outcome { has_rows: true, rows: 5, affected: 0 }));
    }
}

#[test]
fn errors_end_a_reply_whatever_the_pieces() {
    for (bytes, eof) in recorded!("error") {
        let error = in_any_pieces(bytes, || count(eof)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "1062: Duplicate entry '1' for key 'PRIMARY'"
        );
        let error = in_any_pieces(bytes, || PrepareReply::new(plain(eof))).unwrap_err();
        assert_eq!(error.code, "1062");
    }
}

#[test]
fn a_prepared_statement_is_known_whatever_the_pieces() {
    for (bytes, eof) in recorded!("prepare") {
        let prepared = in_any_pieces(bytes, || PrepareReply::new(plain(eof))).unwrap();
        assert_eq!(
            prepared,
            ServerPrepared {
                id: 1,
                params: 2,
                has_rows: true,
            }
        );
    }
}

#[test]
fn text_and_binary_rows_read_the_same_whatever_the_pieces() {
    // Between the two recordings the second column was changed.
    let forms = [
        (recorded!("text"), RowFormat::Text, [None, Some("")]),
        (
            recorded!("binary"),
            RowFormat::Binary,
            [Some("x"), Some("x")],
        ),
    ];
    for (recordings, form, changed) in forms {
        for (bytes, eof) in recordings {
            for cut in 0..bytes.len() {
                let mut rows = RowSet::new();
                let (a, b) = bytes.split_at(cut);
                let packets = Results::new(Decode::new(&mut rows, form), plain(eof));
                read(packets, &[a, b]).unwrap().unwrap();
                assert_eq!((rows.columns(), rows.len()), (7, 3));
                let texts = |row| (0..7).map(|c| rows.text(row, c)).collect::<Vec<_>>();
                let some = |t: &str| Some(t.to_string());
                assert_eq!(
                    texts(0),
                    [
                        some("1"),
                        some("one"),
                        some("2026-01-31 23:59:59.125"),
                        some("-27:30:00"),
                        some("1.50"),
                        some("0.1"),
                        some("18446744073709551615"),
                    ]
                );
                assert_eq!(texts(1)[1], changed[0].map(String::from));
                assert_eq!(texts(1)[2..], [const { None::<String> }; 5]);
                assert_eq!(
                    texts(2),
                    [
                        some("3"),
                        changed[1].map(String::from),
                        some("2026-01-31 00:00:00.000"),
                        some("00:00:00"),
                        some("-2.00"),
                        some("-1.5"),
                        some("0"),
                    ]
                );
            }
        }
    }
}

/// One packet's header.
fn header(len: usize, sequence: u8) -> [u8; HEADER] {
    let [a, b, c, _] = (len as u32).to_le_bytes();
    [a, b, c, sequence]
}

/// A text result of one column whose rows are `payloads`, cut into packets as servers do.
fn result_of(payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = [&header(1, 1)[..], &[1], &header(4, 2), b"\x03def"].concat();
    let mut sequence = 3u8;
    let end = vec![0xFE, 0, 0, 2, 0, 0, 0];
    for payload in payloads.iter().chain([&end]) {
        let mut rest = payload.as_slice();
        loop {
            let (piece, after) = rest.split_at(rest.len().min(FULL));
            bytes.extend_from_slice(&header(piece.len(), sequence));
            bytes.extend_from_slice(piece);
            sequence = sequence.wrapping_add(1);
            rest = after;
            if piece.len() < FULL {
                break;
            }
        }
    }
    bytes
}

#[test]
fn rows_of_sixteen_megabytes_count_once() {
    // The second row fills its packet, so that an empty one follows; the third row's packets begin
    // like an error, like EOF and like a header.
    let mut long = vec![0xFE; 2 * FULL + 5];
    long[FULL] = 0xFF;
    let payloads = [vec![1, b'a'], vec![b'x'; FULL], long, vec![0xFB]];
    let bytes = result_of(&payloads);
    for size in [bytes.len(), 64 * 1024, 1_000_003] {
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        let end = read(count(true), &pieces).unwrap().unwrap();
        assert_eq!(end, done(true, 4, 0, 2));
    }
}

#[test]
fn a_long_row_is_read_whole() {
    let text = vec![b'y'; FULL + 100];
    let mut row = Vec::new();
    write_lenenc(text.len() as u64, &mut row);
    row.extend_from_slice(&text);
    // Its only column's definition is not what the test is about.
    let mut bytes = result_of(&[row]);
    let mut definition = b"\x03def\0\0\0\x01c\x01c\x0c".to_vec();
    definition.extend_from_slice(&[45, 0, 0, 0, 0, 0, 0xFD, 0, 0, 0, 0, 0]);
    let at = 2 * HEADER + 1;
    bytes.splice(at..at + 4, definition.iter().copied());
    bytes[HEADER + 1..at].copy_from_slice(&header(definition.len(), 2));
    let mut rows = RowSet::new();
    let pieces: Vec<&[u8]> = bytes.chunks(64 * 1024).collect();
    let packets = Results::new(Decode::new(&mut rows, RowFormat::Text), plain(true));
    read(packets, &pieces).unwrap().unwrap();
    assert_eq!(rows.get(0, 0), Some(Cell::Bytes(&text)));
}

#[test]
fn a_row_too_large_to_read_is_an_error_and_to_count_is_none() {
    let bytes = result_of(&[vec![0xFD; (64 << 20) + 1]]);
    let pieces: Vec<&[u8]> = bytes.chunks(1 << 20).collect();
    let end = read(count(true), &pieces).unwrap().unwrap();
    assert_eq!(end, done(true, 1, 0, 2));
    let mut frame = Frame::from_sequence(1);
    let mut rows = RowSet::new();
    let mut packets = Results::new(Decode::new(&mut rows, RowFormat::Text), plain(true));
    let mut definition = b"\x03def\0\0\0\x01c\x01c\x0c".to_vec();
    definition.extend_from_slice(&[45, 0, 0, 0, 0, 0, 0xFD, 0, 0, 0, 0, 0]);
    let head = [
        &header(1, 1)[..],
        &[1],
        &header(definition.len(), 2),
        &definition,
    ]
    .concat();
    let row = &bytes[2 * HEADER + 1 + 4..];
    assert!(frame.feed(&mut packets, &mut &head[..]).is_none());
    let end = row
        .chunks(1 << 20)
        .find_map(|piece| frame.feed(&mut packets, &mut &*piece));
    assert!(end.unwrap().unwrap_err().message.contains("64 MiB"));
    assert!(frame.memory() <= 129 << 20);
}

#[test]
fn broken_protocol_is_an_error() {
    let protocol = |bytes: &[u8]| {
        let error = read(count(true), &[bytes]).unwrap().unwrap_err();
        assert_eq!(error.code, "protocol", "{bytes:x?}");
        error.message
    };
    assert!(protocol(&header(0, 1)).contains("empty packet"));
    assert!(protocol(&[1, 0, 0, 7, 0]).contains("packet 7 was received"));
    // OK without its end; no columns; more columns than there can be; no number.
    protocol(&[1, 0, 0, 1, 0]);
    protocol(&[3, 0, 0, 1, 0xFC, 0, 0]);
    protocol(&[4, 0, 0, 1, 0xFD, 0, 0, 1]);
    protocol(&[1, 0, 0, 1, 0xFE]);
    // An error may come with any sequence number.
    let error = read(count(true), &[&[3, 0, 0, 0, 0xFF, 0x87, 0x07]]).unwrap();
    assert_eq!(error.unwrap_err().code, "1927");
}

#[test]
fn a_length_field_takes_no_memory() {
    for first in [0x00, 0xFF, 0x05] {
        let mut frame = Frame::from_sequence(1);
        let bytes = [&header(FULL - 1, 1)[..], &[first; 20]].concat();
        assert!(frame.feed(&mut count(true), &mut &bytes[..]).is_none());
        assert!(frame.memory() < 100, "{}", frame.memory());
    }
}

#[test]
fn a_request_for_a_file_is_told() {
    let bytes = [&header(4, 1)[..], b"\xFB/etc"].concat();
    assert!(matches!(
        read(count(true), &[&bytes[..8]]),
        Some(Ok(End::WantsFile))
    ));
}

fn executing() -> CommandPacket {
    CommandPacket::command(COM_STMT_EXECUTE)
}

#[test]
fn commands_that_are_sent_together_are_each_whole() {
    let mut first = CommandPacket::query("BEGIN");
    first.finish(0);
    let mut second = CommandPacket::behind(first.into_bytes(), COM_QUERY);
    second.body().extend_from_slice(b"SELECT 1");
    assert_eq!(second.finish(0), 1);
    let expected = b"\x06\0\0\0\x03BEGIN\x09\0\0\0\x03SELECT 1";
    assert_eq!(second.bytes(), expected);
    // One that needs two packets.
    let mut long = CommandPacket::behind(second.into_bytes(), COM_QUERY);
    long.body().resize(expected.len() + HEADER + FULL, b'x');
    assert_eq!(long.finish(0), 2);
    let bytes = long.bytes();
    assert_eq!(&bytes[..expected.len()], expected);
    assert_eq!(&bytes[expected.len()..][..5], b"\xff\xff\xff\0\x03");
    assert_eq!(&bytes[expected.len() + HEADER + FULL..], b"\0\0\0\x01");
}

#[test]
fn execute_packets_are_as_documented() {
    let mut bound = Bound::none(4);
    let values = [
        Value::Int(-2),
        Value::Null,
        Value::Text("ü"),
        Value::Float(0.5),
    ];
    let mut request = bind::execute(executing(), 7, &values, &mut bound, true);
    request.finish(0);
    let mut expected = vec![38, 0, 0, 0, 0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0b0010, 1];
    expected.extend_from_slice(&[8, 0, 6, 0, 0xFD, 0, 5, 0]);
    expected.extend_from_slice(&(-2i64).to_le_bytes());
    expected.extend_from_slice(&[2, 0xC3, 0xBC]);
    expected.extend_from_slice(&0.5f64.to_le_bytes());
    expected[0] = (expected.len() - HEADER) as u8;
    assert_eq!(request.bytes(), expected);
}

#[test]
fn types_are_sent_when_they_change_and_only_then() {
    for params in [3, 40] {
        let mut bound = Bound::none(params);
        let mut first = true;
        let mut flag = |values: &[Value<'_>]| {
            let mut values = values.to_vec();
            values.resize(usize::from(params), Value::Int(0));
            let sent = std::mem::take(&mut first);
            let request = bind::execute(executing(), 1, &values, &mut bound, sent);
            request.bytes()[HEADER + 10 + values.len().div_ceil(8)]
        };
        let int = Value::Int;
        assert_eq!(flag(&[int(1), int(2), int(3)]), 1);
        assert_eq!(flag(&[int(4), int(5), int(6)]), 0);
        assert_eq!(flag(&[int(4), Value::Null, int(6)]), 0);
        assert_eq!(flag(&[int(4), Value::Text("5"), int(6)]), 1);
        assert_eq!(flag(&[int(4), Value::Text("x"), int(6)]), 0);
        assert_eq!(flag(&[int(4), Value::Bytes(b"x"), int(6)]), 1);
        assert_eq!(flag(&[int(4), Value::Bytes(b"x"), Value::Float(6.0)]), 1);
    }
}

#[test]
fn long_requests_are_cut_into_packets() {
    for len in [FULL - 2, FULL - 1, FULL, 2 * FULL - 1, 2 * FULL + 10] {
        let sql = "x".repeat(len);
        let mut request = CommandPacket::query(&sql);
        let next = request.finish(0);
        // Put together again by our own reader.
        let mut rest = request.bytes();
        let mut payload = Vec::new();
        let mut sequence = 0u8;
        loop {
            let [a, b, c, s] = *rest.first_chunk::<HEADER>().unwrap();
            assert_eq!(s, sequence);
            sequence += 1;
            let n = u32::from_le_bytes([a, b, c, 0]) as usize;
            payload.extend_from_slice(&rest[HEADER..HEADER + n]);
            rest = &rest[HEADER + n..];
            if n < FULL {
                break;
            }
        }
        assert!(rest.is_empty());
        assert_eq!(next, sequence);
        assert_eq!(payload[0], COM_QUERY);
        assert!(payload[1..] == *sql.as_bytes());
    }
}

#[test]
fn a_thread_reuses_its_request_buffer() {
    let mut request = CommandPacket::query("SELECT 1");
    request.body().reserve(1000);
    let address = request.bytes().as_ptr();
    request.give_back();
    assert_eq!(CommandPacket::query("SELECT 2").bytes().as_ptr(), address);
}

proptest! {
    #[test]
    fn integers_survive(n in any::<u64>(), shift in 0u32..64) {
        let mut bytes = Vec::new();
        write_lenenc(n >> shift, &mut bytes);
        prop_assert_eq!(take_lenenc(&mut &bytes[..]), Some(n >> shift));
        for cut in 0..bytes.len() {
            prop_assert_eq!(take_lenenc(&mut &bytes[..cut]), None);
        }
    }

    #[test]
    fn recorded_replies_read_the_same_in_any_pieces(sizes in proptest::collection::vec(1usize..40, 1..60)) {
        let recordings = [recorded!("text"), recorded!("binary"), recorded!("call"), recorded!("update")];
        for (bytes, eof) in recordings.into_iter().flatten() {
            let mut pieces = Vec::new();
            let mut rest = bytes;
            for size in &sizes {
                let (piece, after) = rest.split_at(rest.len().min(*size));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            let pieces: Vec<_> = pieces.into_iter().filter(|p| !p.is_empty()).collect();
            prop_assert_eq!(read(count(eof), &pieces), read(count(eof), &[bytes]));
        }
    }

    /// Random payloads in well-formed packets reach deeper than random bytes do.
    #[test]
    fn nonsense_neither_panics_nor_takes_memory(
        payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..60), 1..12),
        raw in proptest::collection::vec(any::<u8>(), 0..200),
        first in 0usize..6,
        deprecate_eof in any::<bool>(),
    ) {
        let mut bytes = Vec::new();
        for (i, payload) in payloads.iter().enumerate() {
            bytes.extend_from_slice(&header(payload.len(), i as u8 + 1));
            bytes.extend_from_slice(payload);
        }
        // The first byte decides what a reply is: make the interesting ones likely.
        if let Some(byte) = [Some(0x00), Some(0xFF), Some(0xFB), Some(1), Some(2), None][first] {
            bytes[HEADER] = byte;
        }
        for bytes in [&bytes, &raw] {
            let mut frame = Frame::from_sequence(1);
            let _ = frame.feed(&mut count(deprecate_eof), &mut &bytes[..]);
            let mut frame = Frame::from_sequence(1);
            let _ = frame.feed(&mut PrepareReply::new(plain(deprecate_eof)), &mut &bytes[..]);
            for form in [RowFormat::Text, RowFormat::Binary] {
                let mut rows = RowSet::new();
                let mut packets = Results::new(Decode::new(&mut rows, form), plain(deprecate_eof));
                let mut frame = Frame::from_sequence(1);
                let _ = frame.feed(&mut packets, &mut &bytes[..]);
                prop_assert!(frame.memory() <= 2 * bytes.len());
            }
        }
    }

    #[test]
    fn strings_cut_off_are_none(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        if let Some(text) = take_lenenc_bytes(&mut &bytes[..]) {
            prop_assert!(text.len() < bytes.len());
        }
    }
}
