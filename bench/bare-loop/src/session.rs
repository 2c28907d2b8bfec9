//! What both protocols share: a blocking socket with its reply buffer.

use crate::Load;
use crate::error::LoopError;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tidemark_core::{Host, Target};

/// A server that is silent for this long is taken for dead.
const SILENCE: Duration = Duration::from_secs(30);
/// A point select's reply is under 400 bytes; the buffer grows for a longer one.
const REPLY_BYTES: usize = 1024;

/// One session with its statements prepared.
pub(crate) trait Session: Sized {
    /// Connects, authenticates and prepares the query of each table, `sbtest1` to
    /// `sbtest<tables>`.
    fn connect(target: &Target, index: usize, load: Load) -> Result<Self, LoopError>;

    /// Sends one execution of the query of table `table` (from 0) and reads its reply to
    /// the end.
    fn query(&mut self, table: usize, id: i32) -> Result<(), LoopError>;
}

/// Columns that the query returns.
pub(crate) fn columns(load: Load) -> u32 {
    load.ycsb.unwrap_or(1)
}

/// Bytes of YCSB's keys: `user` and 19 digits.
pub(crate) const KEY_BYTES: usize = 23;

/// Writes the key of a record, whose number counts from 0; ids count from 1.
pub(crate) fn write_key(id: i32, key: &mut [u8]) {
    let mut rest = id - 1;
    let (prefix, digits) = key.split_at_mut(4.min(key.len()));
    prefix.copy_from_slice(&b"user"[..prefix.len()]);
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// The query of a table, from 1; `mark` stands for its one parameter.
pub(crate) fn query(load: Load, table: u32, mark: &str) -> String {
    if let Some(fields) = load.ycsb {
        let fields: Vec<String> = (0..fields).map(|i| format!("FIELD{i}")).collect();
        let fields = fields.join(",");
        return format!("SELECT {fields} FROM usertable WHERE YCSB_KEY={mark}");
    }
    match load.count {
        None => format!("SELECT c FROM sbtest{table} WHERE id={mark}"),
        Some(rows) => format!(
            "SELECT COUNT(c) FROM (SELECT c FROM sbtest{table} WHERE id>={mark} ORDER BY id LIMIT {rows}) AS r"
        ),
    }
}

/// A blocking socket, and what was received from it.
pub(crate) struct Wire {
    socket: TcpStream,
    reply: Vec<u8>,
}

impl Wire {
    /// Connects to the host of the `index`-th session.
    pub(crate) fn connect(target: &Target, index: usize) -> Result<Self, LoopError> {
        let socket = match target.host_for(index) {
            Some(Host::Tcp { host, port }) => TcpStream::connect((host.as_str(), *port))?,
            _ => {
                return Err(LoopError::Usage(
                    "the bare loop knows TCP only: name a host and port".into(),
                ));
            }
        };
        socket.set_nodelay(true)?;
        // A time-out in the socket costs no system call per read.
        socket.set_read_timeout(Some(SILENCE))?;
        Ok(Self {
            socket,
            reply: vec![0; REPLY_BYTES],
        })
    }

    /// Sends `request` in one call.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<(), LoopError> {
        Ok(self.socket.write_all(request)?)
    }

    /// Reads until `end` finds the reply complete: it is given all bytes received so far and
    /// answers with the number of them that make up the reply, or `None` for more. Whatever the
    /// server sent beyond the reply is an error, for nothing else was asked.
    pub(crate) fn receive(
        &mut self,
        mut end: impl FnMut(&[u8]) -> Result<Option<usize>, LoopError>,
    ) -> Result<&[u8], LoopError> {
        let mut filled = 0;
        loop {
            if filled == self.reply.len() {
                self.reply.resize(filled * 2, 0);
            }
            match self.socket.read(&mut self.reply[filled..]) {
                Ok(0) => {
                    return Err(LoopError::Io(ErrorKind::UnexpectedEof.into()));
                }
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    return Err(LoopError::Io(ErrorKind::TimedOut.into()));
                }
                Err(e) => return Err(e.into()),
            }
            if let Some(length) = end(&self.reply[..filled])? {
                if length != filled {
                    return Err(LoopError::Protocol(format!(
                        "{} bytes came after the end of the reply",
                        filled - length
                    )));
                }
                return Ok(&self.reply[..filled]);
            }
        }
    }
}
