//! Decoders of replies for the fuzzers.

use super::reply::Reply;
use super::skim::Skimmer;
use crate::RowSet;
use tidemark_core::DbError;

/// What a reply is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyKind {
    /// To a statement that is prepared.
    Prepare,
    /// A result whose rows are counted.
    Count,
    /// A result whose rows are read, of so many columns when they are not described.
    Rows(Option<u16>),
    /// A result whose rows are counted, after those of so many statements that went ahead.
    After(u8),
    /// What comes between two statements.
    Unasked,
}

/// What came of a reply.
#[derive(Debug, PartialEq)]
pub struct ReplyOutcome {
    /// What broke the protocol.
    pub broken: Option<DbError>,
    /// Whether there is nothing more to wait for.
    pub over: bool,
    /// Words for all that it told.
    pub told: String,
    /// What the statement is told.
    pub closed: Result<(), DbError>,
}

/// Reads a reply that comes in pieces.
pub fn reply(kind: ReplyKind, pieces: &[&[u8]], rows: &mut RowSet) -> ReplyOutcome {
    let mut reply = match kind {
        ReplyKind::Prepare => Reply::preparing(),
        ReplyKind::Count => Reply::counting(),
        ReplyKind::After(count) => Reply::counting().after(count),
        ReplyKind::Rows(columns) => Reply::decoding(rows, columns),
        ReplyKind::Unasked => Reply::none(),
    };
    let mut skimmer = Skimmer::default();
    let broken = pieces
        .iter()
        .find_map(|piece| skimmer.skim(piece, &mut reply).err());
    let told = format!(
        "{:?}",
        (
            reply.outcome,
            reply.columns,
            reply.params,
            &reply.error,
            &reply.farewell,
            (reply.completed, reply.ready),
            (reply.in_transaction, reply.copy_in, reply.went_ahead),
        )
    );
    ReplyOutcome {
        broken,
        over: reply.is_over(),
        told,
        closed: reply.close(),
    }
}
