//! The server's side: says its turns whenever the client waits.

use crate::script::{FuzzScript, NONCE};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use tidemark_core::Protocol;

/// Most that is kept of what the client says.
const KEPT: usize = 1 << 20;

/// A client that says nothing in so many turns of the executor waits: what it was sent reaches it in
/// the first, it answers in the second at the latest.
const WAITS: usize = 3;

/// One connection of a server that plays a script.
pub(crate) struct Player {
    protocol: Protocol,
    framed: bool,
    turns: VecDeque<Vec<Vec<u8>>>,
    socket: Option<UnixStream>,
    /// Bytes not yet taken by the socket.
    unsent: VecDeque<u8>,
    /// All that the client said.
    pub heard: Vec<u8>,
    /// How much of it was said before the last turn.
    answered: usize,
    /// Number of the next MySQL packet.
    sequence: u8,
    /// Turns of the executor in which nothing was said.
    quiet: usize,
}

impl Player {
    pub fn new(protocol: Protocol, script: FuzzScript) -> Self {
        let framed = script.flags.framed();
        let turns = script.turns.into_iter();
        Self {
            protocol,
            framed,
            turns: match framed {
                true => turns.collect(),
                // Each piece comes alone.
                false => turns.flatten().map(|piece| vec![piece]).collect(),
            },
            socket: None,
            unsent: VecDeque::new(),
            heard: Vec::new(),
            answered: 0,
            sequence: 0,
            quiet: 0,
        }
    }

    /// Listens, and says the next turn if the client waits. To be called once a turn of the executor.
    pub fn step(&mut self, listener: &UnixListener) {
        let socket = match &mut self.socket {
            Some(socket) => socket,
            empty => match listener.accept() {
                Ok((socket, _)) => {
                    socket.set_nonblocking(true).expect("a fresh socket");
                    empty.insert(socket)
                }
                Err(_) => return,
            },
        };
        let before = self.heard.len();
        let mut buffer = [0; 4096];
        loop {
            match socket.read(&mut buffer) {
                Ok(n) if n > 0 => {
                    let room = KEPT.saturating_sub(self.heard.len());
                    self.heard.extend_from_slice(&buffer[..n.min(room)]);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        self.quiet += 1;
        if self.heard.len() != before {
            self.quiet = 0;
        }
        if self.quiet < WAITS {
            return;
        }
        self.quiet = 0;
        while self.unsent.is_empty() {
            let Some(turn) = self.turns.pop_front() else {
                let _ = socket.shutdown(Shutdown::Write);
                return;
            };
            let heard = &self.heard[self.answered..];
            let bytes = if self.framed {
                frame(self.protocol, &turn, heard, &mut self.sequence)
            } else {
                turn.concat()
            };
            self.answered = self.heard.len();
            self.unsent.extend(bytes);
        }
        let (bytes, _) = self.unsent.as_slices();
        if let Ok(n) = socket.write(bytes) {
            self.unsent.drain(..n);
        }
    }
}

/// The packets of a turn with their headers.
fn frame(protocol: Protocol, turn: &[Vec<u8>], heard: &[u8], sequence: &mut u8) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(last) = last_sequence(heard).filter(|_| protocol == Protocol::Mysql) {
        *sequence = last.wrapping_add(1);
    }
    for packet in turn {
        if protocol == Protocol::Mysql {
            let [a, b, c, _] = (packet.len() as u32).to_le_bytes();
            out.extend_from_slice(&[a, b, c, *sequence]);
            out.extend_from_slice(packet);
            *sequence = sequence.wrapping_add(1);
        } else if let Some((tag, body)) = packet.split_first() {
            let body = with_nonce(body, heard);
            out.push(*tag);
            out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
            out.extend_from_slice(&body);
        }
    }
    out
}

/// The number of the last MySQL packet.
fn last_sequence(mut packets: &[u8]) -> Option<u8> {
    let mut last = None;
    while let Some((&[a, b, c, sequence], rest)) = packets.split_first_chunk() {
        last = Some(sequence);
        let len = u32::from_le_bytes([a, b, c, 0]) as usize;
        packets = rest.get(len..).unwrap_or_default();
    }
    last
}

/// The body with the nonce of the client's first SCRAM message (RFC 5802, 5.1) for [`NONCE`].
fn with_nonce(body: &[u8], heard: &[u8]) -> Vec<u8> {
    let Some(at) = body.windows(NONCE.len()).position(|w| w == NONCE) else {
        return body.to_vec();
    };
    let nonce = match heard.windows(3).position(|w| w == b",r=") {
        Some(at) => heard[at + 3..].split(|b| *b == b',').next(),
        None => None,
    };
    let after = &body[at + NONCE.len()..];
    [&body[..at], nonce.unwrap_or_default(), after].concat()
}
