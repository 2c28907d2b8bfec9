//! Sending and receiving: at once where that can be done, as it nearly always can.

use super::Stream;
use crate::low_watermark;
use crate::reactor::Reactor;
use crate::socket::Socket;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::num::NonZeroU16;
use std::rc::Rc;
use std::task::Poll;

/// Reads after which other tasks get their turn, whatever more there is to read.
const READS_AT_ONCE: u8 = 16;

/// What came of sending without a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// All is sent.
    All,
    /// So many bytes are taken; [`Stream::send_rest`] is to be given the others, also when there are
    /// none: it sends what TLS holds of them.
    Part(usize),
}

/// What came of receiving without a wait.
#[derive(Debug)]
pub enum Received<T> {
    /// What was wanted.
    Done(T),
    /// Not all of it yet: [`Stream::receive_rest`] waits for more.
    Waits(Wait),
}

/// What a receive waits for.
#[derive(Debug)]
pub struct Wait(For);

#[derive(Debug)]
enum For {
    Bytes,
    /// The other tasks.
    Turn,
    /// An injected distance.
    Distance,
}

impl Stream {
    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// As write(2); `TimedOut` when the exchange is overdue.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.send_now(bytes)? {
            Sent::All => Ok(()),
            Sent::Part(sent) => self.send_rest(&bytes[sent..]).await,
        }
    }

    /// Sends what can be sent at once: nearly always all, for requests are short. Who sends one
    /// after another keeps no room for a wait that is rare.
    ///
    /// # Errors
    /// As [`Stream::send`].
    #[inline]
    pub fn send_now(&mut self, bytes: &[u8]) -> io::Result<Sent> {
        self.reads = 0;
        let expected = std::mem::replace(&mut self.expected, 1);
        self.wake_for(expected);
        if self.has_distance() {
            return Ok(Sent::Part(0));
        }
        match self.try_send(bytes) {
            Ok(sent) if sent == bytes.len() && !self.holds_bytes() => {
                self.sent_in = self.reactor.turns.get();
                Ok(Sent::All)
            }
            Ok(sent) => Ok(Sent::Part(sent)),
            Err(e) => self.part_of(e),
        }
    }

    #[cold]
    fn part_of(&mut self, error: io::Error) -> io::Result<Sent> {
        match error.kind() {
            io::ErrorKind::WouldBlock => self.clear_writable(),
            io::ErrorKind::Interrupted => {}
            _ => return Err(error),
        }
        Ok(Sent::Part(0))
    }

    /// Sends what [`Stream::send_now`] left, or held back for an injected distance.
    ///
    /// # Errors
    /// As [`Stream::send`].
    pub async fn send_rest(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(terms) = &mut self.terms {
            poll_fn(|_| terms.travel_out(&self.reactor)).await;
        }
        let mut sent = 0;
        while sent < bytes.len() || self.holds_bytes() {
            self.writable().await?;
            match self.try_send(&bytes[sent..]) {
                Ok(n) => sent += n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.clear_writable(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.sent_in = self.reactor.turns.get();
        Ok(())
    }

    fn has_distance(&self) -> bool {
        self.terms
            .as_ref()
            .is_some_and(|terms| terms.has_distance())
    }

    /// Whether bytes are encrypted and not sent.
    fn holds_bytes(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    fn try_send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None if bytes.is_empty() => Ok(0),
            None => match self.socket.write(bytes)? {
                0 => Err(io::ErrorKind::WriteZero.into()),
                n => Ok(n),
            },
            Some(tls) => {
                let taken = tls.encrypt(bytes)?;
                match tls.send(&mut self.socket) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock && taken > 0 => Ok(taken),
                    Err(e) => Err(e),
                    Ok(()) => Ok(taken),
                }
            }
        }
    }

    /// Receives into the buffer that this executor's sessions share, and hands what came to
    /// `consume`, until that returns a value. `consume` keeps what it needs of an incomplete
    /// message; it must take all it is given.
    ///
    /// # Errors
    /// As read(2); `UnexpectedEof` when the peer closed, `TimedOut` when the exchange is overdue.
    pub async fn receive<T>(
        &mut self,
        mut consume: impl FnMut(&[u8]) -> Option<T>,
    ) -> io::Result<T> {
        match self.receive_now(&mut consume)? {
            Received::Done(value) => Ok(value),
            Received::Waits(wait) => self.receive_rest(wait, consume).await,
        }
    }

    /// Receives what is there, or comes while the thread is held up for it
    /// ([`Stream::wait_in_place`]): then a session's future has one wait less in it.
    ///
    /// # Errors
    /// As [`Stream::receive`].
    #[inline]
    pub fn receive_now<T>(
        &mut self,
        mut consume: impl FnMut(&[u8]) -> Option<T>,
    ) -> io::Result<Received<T>> {
        if self.has_distance() {
            return Ok(Received::Waits(Wait(For::Distance)));
        }
        if self.is_greedy() {
            return Ok(Received::Waits(Wait(For::Turn)));
        }
        self.read_on(self.in_place, &mut consume)
    }

    /// Goes on where [`Stream::receive_now`] ended, with the same `consume`.
    ///
    /// # Errors
    /// As [`Stream::receive`].
    #[allow(clippy::manual_async_fn)] // an `async fn` would keep all that it is given twice
    pub fn receive_rest<'s, T: 's>(
        &'s mut self,
        mut wait: Wait,
        mut consume: impl FnMut(&[u8]) -> Option<T> + 's,
    ) -> impl Future<Output = io::Result<T>> + 's {
        async move {
            loop {
                let mut in_place = self.in_place;
                match wait.0 {
                    // The executor has its turn, which told that there is something.
                    For::Bytes => {
                        self.readable().await?;
                        in_place = None;
                    }
                    // In boxes: every session that waits keeps room for what is here.
                    For::Turn => Box::pin(self.give_way()).await?,
                    For::Distance => Box::pin(self.travel_in()).await?,
                }
                match self.read_on(in_place, &mut consume)? {
                    Received::Done(value) => return Ok(value),
                    Received::Waits(next) => wait = next,
                }
            }
        }
    }

    /// A peer that sends faster than it is understood would keep the thread for itself, and no
    /// time-out would come to its turn: whoever receives message by message is held up as one who
    /// wants them all.
    fn is_greedy(&self) -> bool {
        self.reads > 0 && self.reads.is_multiple_of(READS_AT_ONCE)
    }

    /// Waits for an injected distance.
    async fn travel_in(&mut self) -> io::Result<()> {
        if let Some(terms) = &mut self.terms {
            poll_fn(|_| terms.travel_in(&self.reactor)).await;
        }
        if self.is_greedy() {
            self.give_way().await?;
        }
        Ok(())
    }

    /// Others have their turn.
    async fn give_way(&mut self) -> io::Result<()> {
        crate::yield_now().await;
        if let Some(terms) = &mut self.terms
            && let Poll::Ready(over) = terms.wait(&self.reactor)
        {
            over?;
        }
        Ok(())
    }

    /// Reads until `consume` has what it wants, or there is nothing more for now. The thread is held
    /// up for so long at most.
    fn read_on<T>(
        &mut self,
        mut in_place: Option<NonZeroU16>,
        consume: &mut impl FnMut(&[u8]) -> Option<T>,
    ) -> io::Result<Received<T>> {
        loop {
            let is_there = match in_place {
                None => self.is_readable(),
                // A read would take what is there and then wait for as much again.
                Some(longest) if self.least > 1 => self.wait_for_least(longest)?,
                Some(_) => true,
            };
            if !is_there {
                return Ok(Received::Waits(Wait(For::Bytes)));
            }
            let reactor = Rc::clone(&self.reactor);
            let mut scratch = reactor.scratch.borrow_mut();
            let n = match self.try_receive(&mut scratch) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => n,
                Err(e) => return self.nothing(e),
            };
            self.heard();
            let value = consume(&scratch[..n]);
            if n == scratch.len() {
                Reactor::widen(&mut scratch);
            }
            if let Some(value) = value {
                return Ok(Received::Done(value));
            }
            self.wake_for(1);
            if self.is_greedy() {
                return Ok(Received::Waits(Wait(For::Turn)));
            }
            in_place = self.in_place;
        }
    }

    /// A read brought nothing.
    #[cold]
    fn nothing<T>(&mut self, error: io::Error) -> io::Result<Received<T>> {
        match error.kind() {
            io::ErrorKind::WouldBlock => self.clear_readable(),
            io::ErrorKind::Interrupted => {}
            _ => return Err(error),
        }
        Ok(Received::Waits(Wait(For::Bytes)))
    }

    /// Holds up the thread until a read would bring something; whether it would.
    fn wait_for_least(&self, longest: NonZeroU16) -> io::Result<bool> {
        match &self.socket {
            Socket::Tcp(socket, _) => low_watermark::wait(socket, longest),
            Socket::Unix(_) => Ok(true),
        }
    }

    fn try_receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => {
                let n = self.socket.read(buffer)?;
                // A short read has emptied the socket: what comes later makes a new edge
                // (epoll(7), question 9). The end may have come already, with the same edge.
                if n < buffer.len()
                    && let Some(slot) = self.reactor.slots.borrow_mut().get_mut(self.slot as usize)
                {
                    slot.readable = slot.ended;
                }
                Ok(n)
            }
            // Stays readable until the socket says WouldBlock: several records may be waiting.
            Some(tls) => tls.decrypt(&mut self.socket, buffer),
        }
    }

    pub(super) fn heard(&mut self) {
        if self.reads == 0 {
            self.round_trips = self.round_trips.saturating_add(1);
        }
        self.reads = self.reads.checked_add(1).unwrap_or(READS_AT_ONCE);
        if let Some(terms) = &mut self.terms {
            terms.received();
        }
    }
}
