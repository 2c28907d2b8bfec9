//! One client's connection.

use crate::arrivals::ArrivalClock;
use crate::mysql::Mysql;
use crate::postgres::Postgres;
use crate::shared::{Newcomer, Protocol, SharedLab};
use crate::wire::{Done, Exchange, RequestStep};
use mio::net::TcpStream;
use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};
use tidemark_runtime::arrival;

/// A buffer that grew beyond this is given back once it is empty.
const KEPT: usize = 1024;

#[derive(Debug)]
enum ProtocolState {
    Mysql(Mysql),
    Postgres(Postgres),
}

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionPhase {
    /// The client's next request.
    ForRequest,
    /// The moment to answer.
    ToAnswer,
    /// Room to send the rest of the answer.
    ToSend,
}

/// What to do after looking at what was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextAction {
    /// Wait for more.
    More,
    /// Send the answer after this delay.
    Answer,
    /// End the session once the answer is sent.
    Close,
    /// End the session: what it sent is no request.
    Broken,
}

/// How far sending came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    All,
    /// The client takes no more for now.
    Part,
    /// The client has gone.
    Lost,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub stream: TcpStream,
    state: ProtocolState,
    pub serial: u32,
    pub waits: SessionPhase,
    /// Bytes may be waiting to be read.
    pub readable: bool,
    /// The client sends no more, and nothing else will tell.
    pub ended: bool,
    /// It ends once its answer is sent.
    pub closing: bool,
    /// It counts among those let in.
    pub counted: bool,
    /// Received and not yet taken.
    input: Vec<u8>,
    /// The answer; its memory is kept for the next one.
    out: Vec<u8>,
    sent: usize,
    /// When the request had come.
    pub came_at: Instant,
    /// When the answer is due; `None` when at once.
    pub due: Option<Instant>,
    /// What the request was.
    pub done: Done,
}

impl Session {
    pub fn new(newcomer: Newcomer, serial: u32, now: Instant) -> Self {
        let refused = newcomer.refused;
        let mut out = Vec::new();
        arrival::stamp(&newcomer.stream);
        let state = match newcomer.protocol {
            Protocol::Mysql if refused => {
                Mysql::refuse(&mut out);
                ProtocolState::Mysql(Mysql::default())
            }
            Protocol::Mysql => {
                Mysql::greet(serial, &mut out);
                ProtocolState::Mysql(Mysql::default())
            }
            Protocol::Postgres => ProtocolState::Postgres(Postgres::new(refused)),
        };
        Self {
            stream: newcomer.stream,
            closing: refused && newcomer.protocol == Protocol::Mysql,
            counted: !refused,
            state,
            serial,
            waits: SessionPhase::ForRequest,
            readable: false,
            ended: false,
            input: Vec::new(),
            out,
            sent: 0,
            came_at: now,
            due: None,
            done: Done::default(),
        }
    }

    pub fn protocol(&self) -> Protocol {
        match self.state {
            ProtocolState::Mysql(_) => Protocol::Mysql,
            ProtocolState::Postgres(_) => Protocol::Postgres,
        }
    }

    /// Whether an answer is ready: a greeting, before any request.
    pub fn has_answer(&self) -> bool {
        !self.out.is_empty()
    }

    /// Whether a request may stand in what was received.
    pub fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    /// Receives once; `None` when nothing waits, 0 at the end. What waited unread while other
    /// sessions had their turn was with this server already: the kernel's stamp says since when.
    pub fn receive(
        &mut self,
        scratch: &mut [u8],
        clock: &ArrivalClock,
    ) -> io::Result<Option<usize>> {
        loop {
            match arrival::receive(&mut self.stream, scratch) {
                Ok((n, stamp)) => {
                    let came = stamp.and_then(|at| clock.moment(at, self.came_at));
                    self.came_at = came.unwrap_or_else(Instant::now);
                    return Ok(Some(n));
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Takes requests off what was received until one is to be answered.
    pub fn take(&mut self, received: &[u8], shared: &SharedLab) -> NextAction {
        if self.input.is_empty() {
            let (used, next) = self.requests(received, shared);
            self.input
                .extend_from_slice(received.get(used..).unwrap_or_default());
            return next;
        }
        let mut input = std::mem::take(&mut self.input);
        input.extend_from_slice(received);
        let (used, next) = self.requests(&input, shared);
        input.drain(..used);
        if !input.is_empty() || input.capacity() <= KEPT {
            self.input = input;
        }
        next
    }

    fn requests(&mut self, bytes: &[u8], shared: &SharedLab) -> (usize, NextAction) {
        let mut used = 0;
        loop {
            let rest = bytes.get(used..).unwrap_or_default();
            if rest.is_empty() {
                return (used, NextAction::More);
            }
            let to = Exchange {
                config: &shared.config,
                out: &mut self.out,
                done: &mut self.done,
            };
            let step = match &mut self.state {
                ProtocolState::Mysql(mysql) => mysql.step(rest, to),
                ProtocolState::Postgres(postgres) => postgres.step(rest, to),
            };
            match step {
                RequestStep::Incomplete => return (used, NextAction::More),
                RequestStep::Taken(n) => used += n,
                RequestStep::Answer(n) => return (used + n, NextAction::Answer),
                RequestStep::Close => return (bytes.len(), NextAction::Close),
                RequestStep::Broken => return (bytes.len(), NextAction::Broken),
            }
        }
    }

    /// Executions that this request's answer waits for.
    pub fn delayed(&self, with_queries: bool) -> u32 {
        self.done.executed + if with_queries { self.done.queries } else { 0 }
    }

    /// Sends the answer, or the rest of it.
    pub fn send(&mut self) -> Sent {
        while let Some(rest) = self.out.get(self.sent..).filter(|r| !r.is_empty()) {
            match self.stream.write(rest) {
                Ok(0) => return Sent::Lost,
                Ok(n) => self.sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Sent::Part,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Sent::Lost,
            }
        }
        self.sent = 0;
        self.out.clear();
        if self.out.capacity() > KEPT {
            self.out = Vec::new();
        }
        Sent::All
    }

    /// How long the answer took.
    pub fn took(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.came_at)
    }
}
