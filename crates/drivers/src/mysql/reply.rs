//! What the packets of a reply mean (MySQL Internals, "COM_QUERY Response", "COM_STMT_PREPARE
//! Response"; MariaDB, "Result Set Packets").

use super::columns::{ResultColumn, ResultColumns};
use super::error;
use super::packet::{ERR, FULL, Packet, Packets, SMALL, take_le, take_lenenc};
use crate::Outcome;
use tidemark_core::DbError;

/// First byte of an OK packet.
const OK: u8 = 0x00;
/// First byte of the packet after the rows: EOF, or OK in its place (`CLIENT_DEPRECATE_EOF`).
const EOF: u8 = 0xFE;
/// First byte of a request for a file of the client's.
const LOCAL_INFILE: u8 = 0xFB;

/// Status flags of OK and EOF packets.
pub(super) mod status {
    /// A transaction is open.
    pub const IN_TRANSACTION: u16 = 0x0001;
    /// Each statement outside transactions is one.
    pub const AUTOCOMMIT: u16 = 0x0002;
    /// Another result follows.
    pub const MORE_RESULTS: u16 = 0x0008;
    /// A backslash in a literal is only a backslash.
    pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
}

/// What an OK packet says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OkPacket {
    pub affected: u64,
    pub status: u16,
    pub warnings: u16,
}

impl OkPacket {
    /// Reads an OK packet, or an EOF packet of the old form when `deprecate_eof` is off.
    pub fn read(payload: &[u8], deprecate_eof: bool) -> Result<Self, DbError> {
        let read = |mut rest: &[u8]| {
            let rest = &mut rest;
            let first = take_le(rest, 1)?;
            if first == u64::from(EOF) && !deprecate_eof {
                let warnings = take_le(rest, 2)? as u16;
                let status = take_le(rest, 2)? as u16;
                return Some(Self {
                    affected: 0,
                    status,
                    warnings,
                });
            }
            let affected = take_lenenc(rest)?;
            let _last_insert_id = take_lenenc(rest)?;
            let status = take_le(rest, 2)? as u16;
            let warnings = take_le(rest, 2)? as u16;
            Some(Self {
                affected,
                status,
                warnings,
            })
        };
        read(payload).ok_or_else(|| cut_off("an OK packet"))
    }
}

#[cold]
pub(super) fn cut_off(what: &str) -> DbError {
    DbError::protocol(format!("{what} from the server is truncated"))
}

/// What client and server have agreed on about replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    /// `CLIENT_DEPRECATE_EOF`.
    pub deprecate_eof: bool,
    /// `MARIADB_CLIENT_CACHE_METADATA`: the number of columns is followed by whether their definitions
    /// are. A prepared statement's are sent again only when they have changed. Never without
    /// `deprecate_eof`.
    pub caches_columns: bool,
}

/// What becomes of rows.
pub(super) trait RowSink {
    /// Whether rows are handed over; otherwise they are only counted.
    const READS: bool;
    /// A result begins.
    fn begin(&mut self, columns: usize) -> Result<(), DbError>;
    /// A row.
    fn row(&mut self, payload: &[u8], columns: &[ResultColumn]) -> Result<(), DbError>;
}

/// Rows are counted, nothing is read.
#[derive(Debug)]
pub(super) struct Count;

impl RowSink for Count {
    const READS: bool = false;
    fn begin(&mut self, _: usize) -> Result<(), DbError> {
        Ok(())
    }
    fn row(&mut self, _: &[u8], _: &[ResultColumn]) -> Result<(), DbError> {
        Ok(())
    }
}

/// How a reply ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All results have come.
    Done {
        /// What the results add up to.
        outcome: Outcome,
        /// The last OK packet's words.
        last: OkPacket,
    },
    /// The server waits for a file; what came before it is forgotten.
    WantsFile,
}

impl End {
    /// What all results add up to; nothing, where a file is waited for.
    pub fn done(self) -> (Outcome, OkPacket) {
        match self {
            End::Done { outcome, last } => (outcome, last),
            End::WantsFile => Default::default(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyPhase {
    First,
    Columns { left: u16 },
    AfterColumns,
    Rows,
}

/// The largest row that is read; rows that are only counted may have any size.
pub(super) const LARGEST_ROW: usize = 64 << 20;

/// The reply to a statement.
#[derive(Debug)]
pub(super) struct Results<S> {
    sink: S,
    terms: Terms,
    /// Of the result, where they are read.
    columns: ResultColumns,
    /// Whether columns are read although rows are not.
    keeps: bool,
    phase: ReplyPhase,
    outcome: Outcome,
}

impl<S: RowSink> Results<S> {
    pub fn new(sink: S, terms: Terms) -> Self {
        Self {
            sink,
            terms,
            columns: ResultColumns::default(),
            keeps: false,
            phase: ReplyPhase::First,
            outcome: Outcome::default(),
        }
    }

    /// Of a prepared statement whose columns the server takes for known.
    pub fn knowing(mut self, columns: ResultColumns) -> Self {
        self.columns = columns;
        self.keeps = self.terms.caches_columns;
        self
    }

    /// The columns as the server has sent them last.
    pub fn into_columns(self) -> ResultColumns {
        self.columns
    }

    /// Begins another reply.
    pub fn restart(&mut self) {
        self.phase = ReplyPhase::First;
        self.outcome = Outcome::default();
    }

    fn first(&mut self, payload: &[u8]) -> Result<Option<End>, DbError> {
        match payload.first() {
            Some(&OK) => {
                let ok = OkPacket::read(payload, true)?;
                self.outcome.affected = self.outcome.affected.saturating_add(ok.affected);
                Ok(self.result_ended(ok))
            }
            Some(&LOCAL_INFILE) => Ok(Some(End::WantsFile)),
            _ => {
                let (columns, are_sent) = self
                    .begins(payload)
                    .ok_or_else(|| DbError::protocol("unknown reply from the server"))?;
                self.outcome.has_rows = true;
                self.sink.begin(columns.into())?;
                if are_sent {
                    self.phase = ReplyPhase::Columns { left: columns };
                    if self.reads_columns() {
                        self.columns.expect(columns.into());
                    }
                } else if self.columns.all().len() == usize::from(columns) {
                    self.phase = ReplyPhase::Rows;
                } else {
                    return Err(DbError::protocol(format!(
                        "the server assumes {columns} known columns, but has sent {}",
                        self.columns.all().len()
                    )));
                }
                Ok(None)
            }
        }
    }

    /// The number of columns, which has two bytes throughout the protocol, and whether their definitions
    /// follow.
    fn begins(&self, payload: &[u8]) -> Option<(u16, bool)> {
        let mut rest = payload;
        let columns = u16::try_from(take_lenenc(&mut rest)?)
            .ok()
            .filter(|n| *n > 0)?;
        let are_sent = !self.terms.caches_columns || take_le(&mut rest, 1)? != 0;
        Some((columns, are_sent))
    }

    fn reads_columns(&self) -> bool {
        S::READS || self.keeps
    }

    fn result_ended(&mut self, ok: OkPacket) -> Option<End> {
        self.phase = ReplyPhase::First;
        (ok.status & status::MORE_RESULTS == 0).then_some(End::Done {
            outcome: self.outcome,
            last: ok,
        })
    }
}

/// Whether a packet stands where a row might and ends the rows. A row that begins so holds a value
/// of 16 MiB and fills its packet.
fn ends_rows(len: usize, first: u8) -> bool {
    first == EOF && len < FULL
}

impl<S: RowSink> Packets for Results<S> {
    type End = End;

    #[inline]
    fn want(&self, len: usize, first: u8) -> Option<usize> {
        match self.phase {
            _ if first == ERR => Some(SMALL),
            ReplyPhase::Rows if !ends_rows(len, first) => S::READS.then_some(LARGEST_ROW + 1),
            ReplyPhase::Columns { .. } => self.reads_columns().then_some(SMALL),
            _ => Some(SMALL),
        }
    }

    #[inline]
    fn packet(&mut self, packet: Packet<'_>) -> Result<Option<End>, DbError> {
        let payload = match packet {
            Packet::Payload(payload) => payload,
            Packet::Skipped if self.phase == ReplyPhase::Rows => {
                self.outcome.rows += 1;
                return Ok(None);
            }
            Packet::Skipped => &[],
        };
        let first = payload.first().copied().unwrap_or_default();
        if first == ERR {
            return Err(error::from_packet(payload));
        }
        match self.phase {
            ReplyPhase::First => return self.first(payload),
            ReplyPhase::Columns { left } => {
                if self.reads_columns() {
                    let column = ResultColumn::read(payload);
                    self.columns
                        .push(column.ok_or_else(|| cut_off("a column's definition"))?);
                }
                self.phase = match left {
                    2.. => ReplyPhase::Columns { left: left - 1 },
                    _ if self.terms.deprecate_eof => ReplyPhase::Rows,
                    _ => ReplyPhase::AfterColumns,
                };
            }
            ReplyPhase::AfterColumns => {
                if first != EOF {
                    return Err(DbError::protocol("no EOF packet after the columns"));
                }
                self.phase = ReplyPhase::Rows;
            }
            ReplyPhase::Rows if ends_rows(payload.len(), first) => {
                let ok = OkPacket::read(payload, self.terms.deprecate_eof)?;
                return Ok(self.result_ended(ok));
            }
            ReplyPhase::Rows => {
                if payload.len() > LARGEST_ROW {
                    return Err(DbError::protocol("a row to read is larger than 64 MiB"));
                }
                self.outcome.rows += 1;
                self.sink.row(payload, self.columns.all())?;
            }
        }
        Ok(None)
    }
}

/// A statement prepared on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerPrepared {
    pub id: u32,
    pub params: u16,
    pub has_rows: bool,
}

/// The reply to COM_STMT_PREPARE: the statement, then definitions of parameters, which nobody reads,
/// and of columns.
#[derive(Debug)]
pub(super) struct PrepareReply {
    terms: Terms,
    prepared: Option<ServerPrepared>,
    /// Packets still to come.
    left: u32,
    /// Of them, the last so many are columns to read.
    last: u32,
    columns: ResultColumns,
}

impl PrepareReply {
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            prepared: None,
            left: 0,
            last: 0,
            columns: ResultColumns::default(),
        }
    }

    /// The statement's columns, where the server takes them for known from now on.
    pub fn into_columns(self) -> ResultColumns {
        self.columns
    }

    fn first(&mut self, payload: &[u8]) -> Option<ServerPrepared> {
        let mut rest = payload;
        take_le(&mut rest, 1).filter(|&first| first == u64::from(OK))?;
        let id = take_le(&mut rest, 4)? as u32;
        let columns = take_le(&mut rest, 2)? as u32;
        let params = take_le(&mut rest, 2)? as u16;
        let lists = u32::from(columns > 0) + u32::from(params > 0);
        let eofs = if self.terms.deprecate_eof { 0 } else { lists };
        self.left = columns + u32::from(params) + eofs;
        if self.terms.caches_columns {
            self.last = columns;
            self.columns.expect(columns.into());
        }
        Some(ServerPrepared {
            id,
            params,
            has_rows: columns > 0,
        })
    }

    /// Whether the next packet is a column to read.
    fn is_column(&self) -> bool {
        self.prepared.is_some() && self.left > 0 && self.left <= self.last
    }
}

impl Packets for PrepareReply {
    type End = ServerPrepared;

    fn want(&self, _: usize, first: u8) -> Option<usize> {
        (self.prepared.is_none() || first == ERR || self.is_column()).then_some(SMALL)
    }

    fn packet(&mut self, packet: Packet<'_>) -> Result<Option<ServerPrepared>, DbError> {
        match packet {
            Packet::Payload(payload) if payload.first() == Some(&ERR) => {
                return Err(error::from_packet(payload));
            }
            Packet::Payload(payload) if self.is_column() => {
                let column = ResultColumn::read(payload);
                self.columns
                    .push(column.ok_or_else(|| cut_off("a column's definition"))?);
                self.left -= 1;
            }
            Packet::Payload(payload) => {
                let prepared = self.first(payload);
                self.prepared = Some(prepared.ok_or_else(|| cut_off("a PREPARE_OK packet"))?);
            }
            Packet::Skipped => self.left -= 1,
        }
        Ok(self.prepared.filter(|_| self.left == 0))
    }
}
