//! What the messages of one reply amount to.

use super::ahead::WentAhead;
use super::error::ServerError;
use super::skim::{Skimmer, Visitor};
use crate::{Cell, Outcome, RowSet};
use std::io;
use tidemark_core::{DbError, ErrorClass};

/// Bytes kept of an error: its severity, state and message stand first.
const ERROR_BYTES: usize = 16 * 1024;
/// Bytes kept of a command tag; the longest (`CREATE TEXT SEARCH CONFIGURATION`) is shorter.
const TAG_BYTES: usize = 64;
/// The most that messages have which are short by their nature; a longer one is out of step.
const MAX_SHORT: usize = 30_000;
/// The longest row that is decoded; one that nobody reads may be as long as the server makes it.
const MAX_ROW: usize = 64 << 20;

/// The reply to one request: everything up to `ReadyForQuery`.
#[derive(Debug, Default)]
pub(super) struct Reply<'r> {
    /// Where rows are decoded to; without it they are counted.
    rows: Option<&'r mut RowSet>,
    /// Rows returned, rows changed.
    pub outcome: Outcome,
    /// Columns of the result set, if one was described.
    pub columns: Option<u16>,
    /// Parameters of the statement that was prepared.
    pub params: u16,
    /// The first error.
    pub error: Option<Box<DbError>>,
    /// What the server said when it closed the session after this reply.
    pub farewell: Option<Box<DbError>>,
    /// Whether a command ended, with a tag or as an empty one.
    pub completed: bool,
    /// `ReadyForQuery` came: the reply is whole.
    pub ready: bool,
    /// Whether a transaction is open, or failed and not rolled back.
    pub in_transaction: bool,
    /// The server waits for `CopyData`.
    pub copy_in: bool,
    /// The request was `Bind` and `Execute`, not `Query`.
    pub extended: bool,
    /// What came of the statements that were sent with this one, before it.
    pub went_ahead: WentAhead,
}

impl<'r> Reply<'r> {
    /// Counts rows.
    pub fn counting() -> Self {
        Self::default()
    }

    /// The same, of a statement that so many went ahead of.
    pub fn after(self, count: u8) -> Self {
        Self {
            went_ahead: WentAhead::new(count),
            ..self
        }
    }

    /// Decodes rows of `columns` columns (none: as described in the reply) into `rows`.
    pub fn decoding(rows: &'r mut RowSet, columns: Option<u16>) -> Self {
        rows.reset(columns.unwrap_or(0).into());
        Self {
            rows: Some(rows),
            columns,
            ..Self::default()
        }
    }

    /// For the reply to a request that executes nothing, whose columns' names go to `rows`.
    pub fn describing(rows: &'r mut RowSet) -> Self {
        Self {
            completed: true,
            ..Self::decoding(rows, None)
        }
    }

    /// For the reply to a request that executes nothing.
    pub fn preparing() -> Self {
        Self {
            completed: true,
            ..Self::default()
        }
    }

    /// For messages outside a reply.
    pub fn none() -> Self {
        Self {
            ready: true,
            ..Self::default()
        }
    }

    /// Whether there is nothing more to wait for.
    pub fn is_over(&self) -> bool {
        self.ready || self.copy_in || self.is_lost()
    }

    /// Reads a piece of it; a value when there is nothing more to wait for.
    pub fn read(&mut self, skimmer: &mut Skimmer, bytes: &[u8]) -> Option<Result<(), DbError>> {
        let skimmed = skimmer.skim(bytes, self);
        (skimmed.is_err() || self.is_over()).then_some(skimmed)
    }

    /// Why a reply did not come: what the server said of it, where it did.
    #[cold]
    pub fn lost(&mut self, error: &io::Error) -> DbError {
        let said = self.error.take();
        said.map_or_else(|| DbError::lost(error), |said| *said)
    }

    /// What the whole reply amounts to.
    ///
    /// # Errors
    /// The server's error, or that the reply has no end.
    pub fn close(&mut self) -> Result<(), DbError> {
        if let Some(error) = self.error.take() {
            return Err(*error);
        }
        if !self.completed || self.went_ahead.awaited > 0 {
            return Err(DbError::protocol(
                "the server ended a reply before its result",
            ));
        }
        self.outcome.has_rows = self.columns.is_some() || self.outcome.rows > 0;
        Ok(())
    }

    fn is_lost(&self) -> bool {
        matches!(&self.error, Some(e) if e.class == ErrorClass::ConnectionLost)
    }

    #[cold]
    fn fail(&mut self, body: &[u8]) {
        let error = Box::new(ServerError::parse(body).of_statement());
        if self.ready {
            self.farewell = Some(error);
        } else if self.error.is_none() || error.class == ErrorClass::ConnectionLost {
            self.error = Some(error);
        }
    }

    /// `CommandComplete`: the tag ends in the number of rows.
    fn complete(&mut self, tag: &[u8]) {
        let words = || tag.split(|b| matches!(b, b' ' | 0));
        let changes = match words().next() {
            Some(b"INSERT" | b"UPDATE" | b"DELETE" | b"MERGE" | b"COPY") => true,
            // CREATE TABLE AS and SELECT INTO say SELECT too, and return no rows.
            Some(b"SELECT") => self.columns.is_none() && self.outcome.rows == 0,
            _ => false,
        };
        if changes {
            let number = words().filter_map(decimal).next_back();
            self.outcome.affected = self.outcome.affected.saturating_add(number.unwrap_or(0));
        }
        self.ended();
    }

    /// `ReadyForQuery`.
    fn end(&mut self, transaction: u8) {
        self.ready = true;
        self.in_transaction = matches!(transaction, b'T' | b'E');
    }

    /// A command ended.
    fn ended(&mut self) {
        if self.went_ahead.awaited == 0 {
            self.completed = true;
        } else {
            let outcome = std::mem::take(&mut self.outcome);
            self.went_ahead.complete(outcome.affected);
        }
    }

    fn row(&mut self, body: &[u8]) -> Result<(), DbError> {
        self.outcome.rows += 1;
        let Some(rows) = &mut self.rows else {
            return Ok(());
        };
        decode_row(body, rows).ok_or_else(|| DbError::protocol("the server sent a broken row"))
    }
}

fn decimal(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The number that a message begins with.
fn count(body: &[u8]) -> Result<u16, DbError> {
    match *body {
        [a, b, ..] => Ok(u16::from_be_bytes([a, b])),
        _ => Err(DbError::protocol("the server sent a message cut short")),
    }
}

/// `RowDescription`: the number of columns, then each one's name and 18 bytes of its table and type.
fn names(body: &[u8], columns: u16) -> Result<Vec<String>, DbError> {
    const REST: usize = 18;
    let broken = || DbError::protocol("the server sent a broken description of columns");
    let mut rest = body.get(2..).ok_or_else(broken)?;
    let mut names = Vec::with_capacity(columns.into());
    for _ in 0..columns {
        let end = rest.iter().position(|b| *b == 0).ok_or_else(broken)?;
        names.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        rest = rest.get(end + 1 + REST..).ok_or_else(broken)?;
    }
    Ok(names)
}

/// `DataRow`: the number of columns, then each one's length (-1 for NULL) and text.
fn decode_row(body: &[u8], rows: &mut RowSet) -> Option<()> {
    let (columns, mut rest) = body.split_at_checked(2)?;
    if usize::from(u16::from_be_bytes(columns.try_into().ok()?)) != rows.columns() {
        return None;
    }
    for _ in 0..rows.columns() {
        let (length, after) = rest.split_at_checked(4)?;
        let length = i32::from_be_bytes(length.try_into().ok()?);
        if length == -1 {
            rows.push(Cell::Null);
            rest = after;
        } else {
            let (value, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
            rows.push(Cell::Bytes(value));
            rest = after;
        }
    }
    rest.is_empty().then_some(())
}

impl Visitor for Reply<'_> {
    fn wanted(&self, tag: u8, length: usize) -> Result<usize, DbError> {
        let wanted = match tag {
            b'D' if self.rows.is_none() => 0,
            b'D' if length <= MAX_ROW => length,
            b'D' => {
                return Err(DbError::protocol(format!(
                    "the server sent a row of {length} bytes; at most {MAX_ROW} are read"
                )));
            }
            b'C' if length <= MAX_SHORT => TAG_BYTES,
            b'E' => ERROR_BYTES,
            b'Z' if length == 1 => 1,
            // The columns' names, where somebody wants them.
            b'T' if self.rows.as_ref().is_some_and(|rows| rows.is_named()) && length <= MAX_ROW => {
                length
            }
            // Only the number of columns or parameters.
            b'T' | b't' => 2,
            // Notices, parameters and notifications may come at any time (manual, "Asynchronous
            // Operations"); copied rows are thrown away.
            b'N' | b'A' | b'd' => 0,
            // CopyInResponse, CopyOutResponse.
            b'S' | b'G' | b'H' if length <= MAX_SHORT => 0,
            // ParseComplete, BindComplete, CloseComplete, NoData, PortalSuspended,
            // EmptyQueryResponse, CopyDone.
            b'1' | b'2' | b'3' | b'n' | b's' | b'I' | b'c' if length == 0 => 0,
            _ => {
                return Err(DbError::protocol(format!(
                    "the server sent an invalid message of type {} and {length} bytes",
                    char::from(tag).escape_default()
                )));
            }
        };
        Ok(wanted)
    }

    /// Those of which nearly every reply is made come first.
    #[inline]
    fn whole(&mut self, tag: u8, body: &[u8]) -> Result<(), DbError> {
        match (tag, body) {
            _ if self.ready => self.one(tag, body),
            (b'2', []) => Ok(()),
            (b'D', _) if self.rows.is_none() => self.row(&[]),
            (b'C', [.., 0]) if body.len() <= TAG_BYTES => {
                self.complete(body);
                Ok(())
            }
            (b'Z', &[state]) => {
                self.end(state);
                Ok(())
            }
            _ => self.one(tag, body),
        }
    }

    fn message(&mut self, tag: u8, body: &[u8]) -> Result<(), DbError> {
        match tag {
            b'N' | b'S' | b'A' => {}
            // The one that ends the session may come at any time too.
            b'E' => self.fail(body),
            _ if self.ready => {
                return Err(DbError::protocol(format!(
                    "the server sent an unexpected message of type {}",
                    char::from(tag).escape_default()
                )));
            }
            b'D' => self.row(body)?,
            b'C' => self.complete(body),
            b'Z' => self.end(body.first().copied().unwrap_or_default()),
            b'T' => {
                let columns = count(body)?;
                self.columns = Some(columns);
                match &mut self.rows {
                    Some(rows) if rows.is_named() => rows.describe(names(body, columns)?),
                    Some(rows) => rows.reset(columns.into()),
                    None => {}
                }
            }
            b't' => self.params = count(body)?,
            b'I' => self.ended(),
            b'G' => self.copy_in = true,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::skim::Skimmer;
    use super::*;
    use proptest::prelude::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut out = vec![tag];
        out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        out.extend_from_slice(body);
        out
    }

    fn row(cells: &[Option<&str>]) -> Vec<u8> {
        let mut body = (cells.len() as u16).to_be_bytes().to_vec();
        for cell in cells {
            match cell {
                None => body.extend_from_slice(&(-1i32).to_be_bytes()),
                Some(text) => {
                    body.extend_from_slice(&(text.len() as u32).to_be_bytes());
                    body.extend_from_slice(text.as_bytes());
                }
            }
        }
        message(b'D', &body)
    }

    fn select_reply() -> Vec<u8> {
        [
            message(b'2', b""),
            row(&[Some("1"), None]),
            message(b'N', b"SNOTICE\0Mhm\0\0"),
            row(&[Some(""), Some("tide")]),
            message(b'S', b"TimeZone\0UTC\0"),
            message(b'C', b"SELECT 2\0"),
            message(b'Z', b"T"),
        ]
        .concat()
    }

    fn tag_outcome(tag: &str, described: bool) -> Outcome {
        let mut reply = Reply::counting();
        reply.columns = described.then_some(1);
        reply.complete(format!("{tag}\0").as_bytes());
        reply.outcome
    }

    #[test]
    fn a_select_split_at_any_byte_is_the_same() {
        let bytes = select_reply();
        for cut in 0..=bytes.len() {
            let mut rows = RowSet::new();
            let mut reply = Reply::decoding(&mut rows, Some(2));
            let mut skimmer = Skimmer::default();
            skimmer.skim(&bytes[..cut], &mut reply).unwrap();
            assert_eq!(reply.is_over(), cut == bytes.len());
            skimmer.skim(&bytes[cut..], &mut reply).unwrap();
            assert!(reply.ready && reply.completed && reply.in_transaction);
            assert_eq!(reply.outcome.rows, 2);
            assert_eq!(rows.len(), 2);
            assert_eq!(rows.int(0, 0), Some(1));
            assert_eq!(rows.get(0, 1), Some(Cell::Null));
            assert_eq!(rows.get(1, 0), Some(Cell::Bytes(b"")));
            assert_eq!(rows.text(1, 1).as_deref(), Some("tide"));

            let mut counted = Reply::counting();
            skimmer.skim(&bytes[..cut], &mut counted).unwrap();
            skimmer.skim(&bytes[cut..], &mut counted).unwrap();
            assert_eq!((counted.outcome.rows, counted.ready), (2, true));
        }
    }

    #[test]
    fn tags_tell_changed_rows() {
        for (tag, affected) in [
            ("INSERT 0 3", 3),
            ("UPDATE 7", 7),
            ("DELETE 0", 0),
            ("MERGE 2", 2),
            ("COPY 100000", 100_000),
            ("BEGIN", 0),
            ("FETCH 4", 0),
            ("CREATE TABLE", 0),
            ("INSERT 0 99999999999999999999", 0),
        ] {
            assert_eq!(tag_outcome(tag, false).affected, affected, "{tag}");
        }
        assert_eq!(tag_outcome("SELECT 5", true).affected, 0);
        assert_eq!(tag_outcome("SELECT 5", false).affected, 5);
    }

    #[test]
    fn an_error_is_kept_and_the_reply_goes_on_to_its_end() {
        let bytes = [
            message(b'E', b"SERROR\0VERROR\0C40P01\0Mdeadlock detected\0\0"),
            message(b'Z', b"E"),
        ]
        .concat();
        for cut in 0..bytes.len() {
            let mut reply = Reply::counting();
            let mut skimmer = Skimmer::default();
            skimmer.skim(&bytes[..cut], &mut reply).unwrap();
            assert!(!reply.is_over());
            skimmer.skim(&bytes[cut..], &mut reply).unwrap();
            assert!(reply.ready && reply.in_transaction);
            let error = reply.error.unwrap();
            assert_eq!(error.class, ErrorClass::Retryable);
            assert_eq!(error.to_string(), "40P01: deadlock detected");
        }
    }

    #[test]
    fn a_shutdown_ends_the_wait_or_is_kept_for_the_next_statement() {
        let shutdown = message(b'E', b"SFATAL\0VFATAL\0C57P01\0Mterminating\0\0");
        let mut reply = Reply::counting();
        Skimmer::default().skim(&shutdown, &mut reply).unwrap();
        assert!(reply.is_over() && !reply.ready);
        assert_eq!(reply.error.unwrap().code, "57P01");

        let mut reply = Reply::counting();
        let bytes = [select_reply(), shutdown].concat();
        Skimmer::default().skim(&bytes, &mut reply).unwrap();
        assert!(reply.ready && reply.error.is_none());
        assert_eq!(reply.farewell.unwrap().class, ErrorClass::ConnectionLost);
    }

    #[test]
    fn what_breaks_the_protocol_is_said() {
        let mut rows = RowSet::new();
        let broken: [Vec<u8>; 9] = [
            message(b'?', b""),
            message(b'n', b"onsense"),
            message(b'Z', b""),
            message(b'W', b""),
            message(b'T', b"\0"),
            message(b'D', b"\0\x01\0\0"),
            message(b'D', b"\0\x01\0\0\0\x09ab"),
            message(b'D', b"\0\x02\xff\xff\xff\xff\xff\xff\xff\xff"),
            [message(b'Z', b"I"), message(b'C', b"BEGIN\0")].concat(),
        ];
        for bytes in broken {
            let mut reply = Reply::decoding(&mut rows, Some(1));
            let error = Skimmer::default().skim(&bytes, &mut reply).unwrap_err();
            assert_eq!(
                (error.class, error.code.as_str()),
                (ErrorClass::ConnectionLost, "protocol")
            );
        }
        let mut huge = vec![b'D'];
        huge.extend_from_slice(&0x7fff_ffffu32.to_be_bytes());
        let mut reply = Reply::decoding(&mut rows, Some(1));
        assert!(Skimmer::default().skim(&huge, &mut reply).is_err());
        assert!(
            Skimmer::default()
                .skim(&huge, &mut Reply::counting())
                .is_ok()
        );
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            columns in prop::option::of(0u16..4),
        ) {
            let mut rows = RowSet::new();
            let _ = Skimmer::default().skim(&bytes, &mut Reply::decoding(&mut rows, columns));
            let _ = Skimmer::default().skim(&bytes, &mut Reply::counting());
        }

        #[test]
        fn well_framed_nonsense_never_panics(
            messages in prop::collection::vec(("[0-9A-Za-z]", prop::collection::vec(any::<u8>(), 0..24)), 0..12),
            pieces in 1usize..20,
        ) {
            let bytes: Vec<u8> = messages.iter().flat_map(|(tag, body)| message(tag.as_bytes()[0], body)).collect();
            let mut rows = RowSet::new();
            let mut reply = Reply::decoding(&mut rows, None);
            let mut skimmer = Skimmer::default();
            for piece in bytes.chunks(pieces) {
                if skimmer.skim(piece, &mut reply).is_err() {
                    break;
                }
            }
        }
    }
}
