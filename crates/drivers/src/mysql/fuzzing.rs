//! Decoders of replies for the fuzzers.

use super::ahead::Ahead;
use super::columns::ResultColumns;
use super::decode::{Decode, RowFormat};
use super::packet::{Frame, Packets};
use super::reply::{Count, PrepareReply, Results, Terms};
use super::rsa;
use crate::RowSet;
use tidemark_core::DbError;

/// What a reply is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyKind {
    /// The reply to COM_STMT_PREPARE.
    Prepare,
    /// A result whose rows are counted.
    Count,
    /// A result whose rows are read, as COM_QUERY answers.
    Text,
    /// A result whose rows are read, as COM_STMT_EXECUTE answers.
    Binary,
    /// As many answers to what was sent ahead, then a result whose rows are counted.
    After(u8),
}

/// What came of a reply.
#[derive(Debug, PartialEq)]
pub struct ReplyOutcome {
    /// Its end, if it has one: words for what it told, or its error.
    pub end: Option<Result<String, DbError>>,
    /// Bytes behind its end.
    pub unread: usize,
}

/// Reads a reply that comes in pieces, from packet 1 on; with or without `CLIENT_DEPRECATE_EOF` and
/// `MARIADB_CLIENT_CACHE_METADATA`.
pub fn reply(
    kind: ReplyKind,
    deprecate_eof: bool,
    caches_columns: bool,
    pieces: &[&[u8]],
    rows: &mut RowSet,
) -> ReplyOutcome {
    let terms = Terms {
        deprecate_eof,
        caches_columns: caches_columns && deprecate_eof,
    };
    let mut ahead = Ahead::default();
    match kind {
        ReplyKind::Prepare => feed(&mut ahead, PrepareReply::new(terms), pieces),
        ReplyKind::Count => feed(
            &mut ahead,
            Results::new(Count, terms).knowing(ResultColumns::default()),
            pieces,
        ),
        ReplyKind::Text => feed(
            &mut ahead,
            Results::new(Decode::new(rows, RowFormat::Text), terms),
            pieces,
        ),
        ReplyKind::Binary => feed(
            &mut ahead,
            Results::new(Decode::new(rows, RowFormat::Binary), terms)
                .knowing(ResultColumns::default()),
            pieces,
        ),
        ReplyKind::After(count) => {
            ahead = Ahead::awaiting(count, terms);
            let mut seen = feed(&mut ahead, Results::new(Count, terms), pieces);
            // What was told of each is part of what was seen.
            if let Some(Ok(words)) = &mut seen.end {
                words.push_str(&format!("{ahead:?}"));
            }
            seen
        }
    }
}

fn feed<P: Packets<End: std::fmt::Debug>>(
    ahead: &mut Ahead,
    mut packets: P,
    pieces: &[&[u8]],
) -> ReplyOutcome {
    let mut frame = Frame::from_sequence(1);
    let mut read = |bytes: &mut &[u8]| match ahead.read(bytes)? {
        Ok(()) => frame.feed(&mut packets, bytes),
        Err(error) => Some(Err(error)),
    };
    let mut pieces = pieces.iter();
    while let Some(mut bytes) = pieces.next().copied() {
        if let Some(end) = read(&mut bytes) {
            return ReplyOutcome {
                end: Some(end.map(|end| format!("{end:?}"))),
                unread: bytes.len() + pieces.map(|p| p.len()).sum::<usize>(),
            };
        }
        assert!(bytes.is_empty(), "bytes are left in the middle of a reply");
    }
    ReplyOutcome {
        end: None,
        unread: 0,
    }
}

/// Encrypts for a public key in PEM form as a server sends it; whether it is one.
pub fn encrypts(pem: &[u8]) -> bool {
    rsa::encrypt(b"a password\0", pem).is_ok()
}
