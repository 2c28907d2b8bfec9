//! Packets: cutting a stream into them, and building requests.
//!
//! A packet is a 3-byte length, a sequence number and the payload; a payload of 16 MiB − 1 bytes or
//! more goes on in the next packet (MySQL Internals, "MySQL Packets"; MariaDB, "0 - Packet").
//! What nobody reads is passed over by counting, without being stored: a session that waits for a
//! reply of any size holds a few dozen bytes.

use std::cell::Cell;
use tidemark_core::DbError;

/// Bytes before a payload.
pub(super) const HEADER: usize = 4;
/// Payload of a packet that another one continues.
pub(super) const FULL: usize = 0xFF_FF_FF;
/// Most that is stored of one packet that is no row: errors, OK, column definitions.
pub(super) const SMALL: usize = 64 * 1024;
/// Capacity above which a thread's request buffer isn't kept.
const KEEP_REQUEST: usize = 64 * 1024;

/// One packet of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packet<'a> {
    /// Passed over as wanted.
    Skipped,
    /// Its payload.
    Payload(&'a [u8]),
}

/// What reads the packets of one reply.
pub(super) trait Packets {
    /// What a whole reply tells.
    type End;

    /// How many bytes of a packet to store at most; `None` passes it over. `len` is the payload's
    /// length ([`FULL`] when it goes on), `first` its first byte.
    fn want(&self, len: usize, first: u8) -> Option<usize>;

    /// Takes the next packet; a value ends the reply.
    ///
    /// # Errors
    /// The server's error, or a broken protocol.
    fn packet(&mut self, packet: Packet<'_>) -> Result<Option<Self::End>, DbError>;
}

/// Cuts pieces of a stream into packets.
#[derive(Debug, Default)]
pub(super) struct Frame {
    header: [u8; HEADER],
    have: u8,
    /// Sequence number of the next packet.
    sequence: u8,
    /// Whether the next packet continues this one.
    continues: bool,
    /// How many bytes of this packet to store; `None` passes it over.
    keep: Option<usize>,
    /// Payload bytes of this packet still to come.
    left: usize,
    stored: Vec<u8>,
}

impl Frame {
    /// Expects packets from the sequence number on.
    pub fn from_sequence(sequence: u8) -> Self {
        Self {
            sequence,
            ..Self::default()
        }
    }

    /// Sequence number of the packet after the last one.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Bytes of memory that are held.
    #[cfg(test)]
    pub fn memory(&self) -> usize {
        self.stored.capacity()
    }

    /// Reads one piece of a reply; `Some` at the reply's end, with the bytes after it still in
    /// `bytes`.
    pub fn feed<P: Packets>(
        &mut self,
        packets: &mut P,
        bytes: &mut &[u8],
    ) -> Option<Result<P::End, DbError>> {
        loop {
            if let Some(payload) = self.whole(bytes) {
                let packet = match packets.want(payload.len(), payload[0]) {
                    None => Packet::Skipped,
                    Some(most) => Packet::Payload(&payload[..payload.len().min(most)]),
                };
                match packets.packet(packet) {
                    Ok(None) => continue,
                    Ok(Some(end)) => return Some(Ok(end)),
                    Err(e) => return Some(Err(e)),
                }
            }
            if bytes.is_empty() {
                return None;
            }
            match self.next(bytes, |len, first| packets.want(len, first)) {
                Ok(None) => return None,
                Ok(Some(packet)) => match packets.packet(packet) {
                    Ok(None) => {}
                    Ok(Some(end)) => return Some(Ok(end)),
                    Err(e) => return Some(Err(e)),
                },
                Err(e) => return Some(Err(e)),
            }
        }
    }

    /// Takes a packet that came in one piece, as nearly all do, and has nothing wrong with it.
    #[inline]
    fn whole<'b>(&mut self, bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
        let (&[a, b, c, sequence], rest) = bytes.split_first_chunk::<HEADER>()?;
        let len = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
        let is_between = self.have == 0 && self.left == 0 && !self.continues;
        if !is_between || sequence != self.sequence || len == 0 || len == FULL {
            return None;
        }
        let (payload, rest) = rest.split_at_checked(len)?;
        self.sequence = sequence.wrapping_add(1);
        *bytes = rest;
        Some(payload)
    }

    #[cold]
    fn next<'s, 'b: 's>(
        &'s mut self,
        bytes: &mut &'b [u8],
        want: impl FnOnce(usize, u8) -> Option<usize>,
    ) -> Result<Option<Packet<'s>>, DbError> {
        if self.left == 0 && !self.continues {
            let Some((len, first)) = self.header(bytes)? else {
                return Ok(None);
            };
            let Some(first) = first else {
                return Err(DbError::protocol("the server sent an empty packet"));
            };
            self.keep = want(len, first);
            self.continues = len == FULL;
            if !self.continues && bytes.len() >= len {
                let payload = advance(bytes, len);
                return Ok(Some(match self.keep {
                    None => Packet::Skipped,
                    Some(most) => Packet::Payload(&payload[..len.min(most)]),
                }));
            }
            self.left = len;
            self.stored.clear();
        }
        self.rest(bytes)
    }

    /// The rest of a packet that didn't come in one piece, or in one packet.
    fn rest(&mut self, bytes: &mut &[u8]) -> Result<Option<Packet<'_>>, DbError> {
        loop {
            let piece = advance(bytes, self.left.min(bytes.len()));
            self.left -= piece.len();
            if let Some(most) = self.keep {
                let room = most.saturating_sub(self.stored.len());
                // Grows with what came, never by what a length field says.
                self.stored
                    .extend_from_slice(&piece[..piece.len().min(room)]);
            }
            if self.left > 0 {
                return Ok(None);
            }
            if !self.continues {
                return Ok(Some(match self.keep {
                    None => Packet::Skipped,
                    Some(_) => Packet::Payload(&self.stored),
                }));
            }
            let Some((len, _)) = self.header(bytes)? else {
                return Ok(None);
            };
            self.continues = len == FULL;
            self.left = len;
        }
    }

    /// Length and first byte of the next packet. The first byte stays in `bytes`: together with
    /// the length it tells what the packet is.
    #[inline]
    fn header(&mut self, bytes: &mut &[u8]) -> Result<Option<(usize, Option<u8>)>, DbError> {
        let header = match bytes.first_chunk::<HEADER>() {
            Some(header) if self.have == 0 => {
                *bytes = &bytes[HEADER..];
                *header
            }
            _ => {
                let have = usize::from(self.have);
                let piece = advance(bytes, (HEADER - have).min(bytes.len()));
                self.header[have..have + piece.len()].copy_from_slice(piece);
                self.have += piece.len() as u8;
                if usize::from(self.have) < HEADER {
                    return Ok(None);
                }
                self.header
            }
        };
        let [a, b, c, sequence] = header;
        let len = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
        // What follows an empty packet is another one's.
        let first = bytes.first().copied().filter(|_| len > 0);
        if len > 0 && first.is_none() {
            self.header = header;
            self.have = HEADER as u8;
            return Ok(None);
        }
        self.have = 0;
        // An error may come outside the order: a server says goodbye whenever it likes.
        if sequence != self.sequence && first != Some(ERR) {
            return Err(DbError::protocol(format!(
                "packet {sequence} was received instead of packet {}",
                self.sequence
            )));
        }
        self.sequence = sequence.wrapping_add(1);
        Ok(Some((len, first)))
    }
}

/// First byte of an error packet.
pub(super) const ERR: u8 = 0xFF;

fn advance<'a>(bytes: &mut &'a [u8], n: usize) -> &'a [u8] {
    let (piece, rest) = bytes.split_at(n);
    *bytes = rest;
    piece
}

thread_local! {
    /// Requests are built here: between statements a session holds no buffer of its own.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// One command, built in place behind room for its header; before it are those, each whole, that
/// are sent with it.
#[derive(Debug)]
pub(super) struct CommandPacket(Vec<u8>);

impl CommandPacket {
    /// Begins a command in this thread's buffer.
    pub fn command(command: u8) -> Self {
        Self::behind(spare(), command)
    }

    /// Begins a command that is sent together with those that were built before.
    pub fn behind(mut bytes: Vec<u8>, command: u8) -> Self {
        bytes.extend_from_slice(&[0, 0, 0, 0, command]);
        Self(bytes)
    }

    /// Begins a packet without a command byte.
    pub fn packet() -> Self {
        let mut bytes = spare();
        bytes.extend_from_slice(&[0; HEADER]);
        Self(bytes)
    }

    /// A statement as text.
    pub fn query(sql: &str) -> Self {
        let mut request = Self::command(COM_QUERY);
        request.0.extend_from_slice(sql.as_bytes());
        request
    }

    /// Where the payload is written to.
    pub fn body(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// Begins anew, in the same buffer.
    pub fn restart(&mut self) -> &mut Vec<u8> {
        self.0.clear();
        self.0.extend_from_slice(&[0; HEADER]);
        &mut self.0
    }

    /// Where it begins: the lengths of those before lead to it, which has none yet. Asked for once,
    /// and not kept: a session that waits keeps a request several times over.
    fn start(&self) -> usize {
        let mut at = 0;
        while let Some([a, b, c, _]) = self.0.get(at..).and_then(|rest| rest.first_chunk()) {
            match u32::from_le_bytes([*a, *b, *c, 0]) {
                0 => break,
                len => at += HEADER + len as usize,
            }
        }
        at
    }

    /// Writes the headers, beginning at the sequence number. Returns the number after the last.
    pub fn finish(&mut self, sequence: u8) -> u8 {
        let start = self.start();
        let len = self.0.len() - start - HEADER;
        if len < FULL {
            write_header(&mut self.0[start..], len, sequence);
            return sequence.wrapping_add(1);
        }
        let payload = self.0.split_off(start + HEADER);
        self.0.truncate(start);
        let mut next = sequence;
        // A payload that fills its last packet is closed by an empty one.
        for piece in payload
            .chunks(FULL)
            .chain(len.is_multiple_of(FULL).then_some(&[][..]))
        {
            let at = self.0.len();
            self.0.extend_from_slice(&[0; HEADER]);
            write_header(&mut self.0[at..], piece.len(), next);
            self.0.extend_from_slice(piece);
            next = next.wrapping_add(1);
        }
        next
    }

    /// The bytes to send.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its bytes, and those before it, for another one to be built behind them.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Gives the buffer back to the thread.
    pub fn give_back(self) {
        give_back(self.0);
    }
}

/// This thread's buffer, empty.
pub(super) fn spare() -> Vec<u8> {
    SPARE.take()
}

/// Gives a buffer back to the thread.
pub(super) fn give_back(mut bytes: Vec<u8>) {
    if bytes.capacity() <= KEEP_REQUEST {
        bytes.clear();
        SPARE.set(bytes);
    }
}

fn write_header(at: &mut [u8], len: usize, sequence: u8) {
    let [a, b, c, ..] = (len as u32).to_le_bytes();
    at[..HEADER].copy_from_slice(&[a, b, c, sequence]);
}

// Commands (MySQL Internals, "Text Protocol", "Prepared Statements").
pub(super) const COM_QUIT: u8 = 0x01;
pub(super) const COM_QUERY: u8 = 0x03;
pub(super) const COM_PING: u8 = 0x0E;
pub(super) const COM_STMT_PREPARE: u8 = 0x16;
pub(super) const COM_STMT_EXECUTE: u8 = 0x17;
pub(super) const COM_STMT_CLOSE: u8 = 0x19;
/// MariaDB only.
pub(super) const COM_STMT_BULK_EXECUTE: u8 = 0xFA;

/// Takes a length-encoded integer off the front (MySQL Internals, "Integer"); `None` when it is cut
/// off or no number.
pub(super) fn take_lenenc(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    let width = match first {
        0..=0xFA => {
            *bytes = rest;
            return Some(u64::from(first));
        }
        0xFC => 2,
        0xFD => 3,
        0xFE => 8,
        _ => return None,
    };
    *bytes = rest;
    take_le(bytes, width)
}

/// Takes a little-endian integer of `width` bytes off the front.
pub(super) fn take_le(bytes: &mut &[u8], width: usize) -> Option<u64> {
    let (number, rest) = bytes.split_at_checked(width)?;
    *bytes = rest;
    Some(number.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
}

/// Takes `n` bytes off the front.
pub(super) fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (piece, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(piece)
}

/// Takes a length-encoded string off the front.
pub(super) fn take_lenenc_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = take_lenenc(bytes)?;
    take(bytes, usize::try_from(len).ok()?)
}

/// Appends a length-encoded integer.
pub(super) fn write_lenenc(n: u64, out: &mut Vec<u8>) {
    let bytes = n.to_le_bytes();
    match n {
        0..=0xFA => out.push(bytes[0]),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&bytes);
        }
    }
}
