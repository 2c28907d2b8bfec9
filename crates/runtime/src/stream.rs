//! Sockets: TCP or Unix, plain or TLS.

use crate::arrival::{self, Stamp};
use crate::low_watermark;
use crate::reactor::Reactor;
use crate::socket::Socket;
use crate::stream_limits::Terms;
use crate::tls::Tls;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

mod exchange;

pub use exchange::{Received, Sent, Wait};

/// A connected socket of the executor that opened it.
pub struct Stream {
    socket: Socket,
    tls: Option<Box<Tls>>,
    /// The reactor's place for it. Numbers are small here: ten thousand sessions keep one each.
    slot: u32,
    reactor: Rc<Reactor>,
    /// The reactor's turn in which bytes were sent last.
    sent_in: u32,
    /// Reads since then that brought something.
    reads: u8,
    /// Answers to what was sent, since this was asked last: with `reads` no more room than that alone
    /// took, for each session keeps them.
    round_trips: u8,
    /// For how long a read may hold up the thread for what it waits for, in milliseconds.
    in_place: Option<NonZeroU16>,
    /// What the reply to the bytes sent next has at least.
    expected: u16,
    /// With how many bytes the operating system tells that some have come.
    least: u16,
    /// When the exchange in progress began.
    begun: Option<Stamp>,
    /// Nanoseconds that the exchanges that have ended took at the peer and on the way: half the size of
    /// a `Duration`, for each session keeps them.
    away_ns: u64,
    /// An injected distance and a time limit, where there is any.
    terms: Option<Box<Terms>>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("tls", &self.tls.is_some())
            .finish_non_exhaustive()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.reactor.forget(self.slot as usize);
    }
}

impl Stream {
    /// Opens a TCP connection, with Nagle's algorithm off (a request is one small write).
    ///
    /// # Errors
    /// As connect(2).
    pub async fn connect_tcp(address: SocketAddr) -> io::Result<Self> {
        let socket = mio::net::TcpStream::connect(address)?;
        let mut stream = Self::registered(Socket::Tcp(socket, None))?;
        stream.writable().await?;
        if let Socket::Tcp(socket, _) = &stream.socket {
            if let Some(error) = socket.take_error()? {
                return Err(error);
            }
            socket.peer_addr()?;
            socket.set_nodelay(true)?;
            socket2::SockRef::from(socket).set_keepalive(true)?;
            arrival::stamp(socket);
        }
        Ok(stream)
    }

    /// Opens a Unix socket.
    ///
    /// # Errors
    /// As connect(2).
    pub async fn connect_unix(path: &Path) -> io::Result<Self> {
        let socket = loop {
            match mio::net::UnixStream::connect(path) {
                // connect(2): the server's queue is full for the moment.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    crate::sleep(std::time::Duration::from_millis(5)).await;
                }
                connected => break connected?,
            }
        };
        let mut stream = Self::registered(Socket::Unix(socket))?;
        stream.writable().await?;
        if let Socket::Unix(socket) = &stream.socket
            && let Some(error) = socket.take_error()?
        {
            return Err(error);
        }
        Ok(stream)
    }

    fn registered(mut socket: Socket) -> io::Result<Self> {
        let reactor = Reactor::current()?;
        let slot = match &mut socket {
            Socket::Tcp(s, _) => reactor.register(s)?,
            Socket::Unix(s) => reactor.register(s)?,
        };
        Ok(Self {
            socket,
            tls: None,
            slot: u32::try_from(slot).map_err(io::Error::other)?,
            reactor,
            sent_in: 0,
            reads: 0,
            round_trips: 0,
            in_place: None,
            expected: 1,
            least: 1,
            begun: None,
            away_ns: 0,
            terms: None,
        })
    }

    /// Whether the peer runs on this host, as far as addresses tell: a Unix socket, loopback, or the
    /// address that this end has itself.
    pub fn is_on_this_host(&self) -> bool {
        match &self.socket {
            Socket::Unix(_) => true,
            Socket::Tcp(socket, _) => match (socket.peer_addr(), socket.local_addr()) {
                (Ok(peer), Ok(local)) => peer.ip().is_loopback() || peer.ip() == local.ip(),
                _ => false,
            },
        }
    }

    /// The port of this end; none of a Unix socket.
    pub fn local_port(&self) -> Option<u16> {
        match &self.socket {
            Socket::Unix(_) => None,
            Socket::Tcp(socket, _) => socket.local_addr().ok().map(|address| address.port()),
        }
    }

    /// Lets a read hold up the thread until bytes come, or for so long at most: then the executor
    /// has its turn. One system call a reply instead of two, for a stream that has an executor to
    /// itself. One that is encrypted, has a distance or a time limit waits as before.
    ///
    /// # Errors
    /// As setsockopt(2).
    pub fn wait_in_place(&mut self, longest: Duration) -> io::Result<()> {
        if self.tls.is_some() || self.terms.is_some() {
            return Ok(());
        }
        let socket = match &self.socket {
            Socket::Tcp(socket, _) => socket2::SockRef::from(socket),
            Socket::Unix(socket) => socket2::SockRef::from(socket),
        };
        socket.set_read_timeout(Some(longest))?;
        socket.set_write_timeout(Some(longest))?;
        socket.set_nonblocking(false)?;
        let longest = u16::try_from(longest.as_millis()).unwrap_or(u16::MAX);
        self.in_place = Some(NonZeroU16::new(longest).unwrap_or(NonZeroU16::MIN));
        Ok(())
    }

    /// Promises that what answers the bytes sent next has so many bytes at least, or ends the
    /// connection: nobody is woken for less, where the operating system can do that (Linux, TCP).
    /// A promise that is not kept is a wait without an end.
    pub fn expect(&mut self, least: usize) {
        self.expected = u16::try_from(least).unwrap_or(u16::MAX).max(1);
    }

    /// Tells the operating system when it is to tell that bytes have come. Set before they can
    /// come, and taken back after the first of them: it counts those alone that are not read.
    fn wake_for(&mut self, least: u16) {
        if let Socket::Tcp(socket, _) = &self.socket
            && self.least != least
            && low_watermark::set(socket, least)
        {
            self.least = least;
        }
    }

    /// The time from the begin of the exchange in progress to the moment at which the last of its
    /// reply had come to this host: as the kernel stamped it, whoever has the processor. Without a
    /// stamp (a Unix socket) it ends with the wait that told of the reply, where one read brought
    /// it all, else now.
    fn away(&self, begun: Stamp) -> Option<Duration> {
        if let Socket::Tcp(_, Some(came)) = &self.socket
            && let Some(away) = came.since(begun)
        {
            return Some(away);
        }
        let until_now = Stamp::now()?.since(begun)?;
        let told_now = self.reads != 1 || self.sent_in == self.reactor.turns.get();
        let since_told = match told_now {
            true => Duration::ZERO,
            false => self.reactor.now().elapsed(),
        };
        Some(until_now.saturating_sub(since_told))
    }

    /// What exchanges took at the peer and on the way since this was asked last: an injected
    /// distance is in it, and what this host made a reply wait after it had come is not.
    pub fn take_away_time(&mut self) -> Duration {
        Duration::from_nanos(std::mem::take(&mut self.away_ns))
    }

    /// Round trips since this was asked last: what was sent, in however many pieces, until something of
    /// its answer came. 255 are as many or more.
    pub fn take_round_trips(&mut self) -> u8 {
        std::mem::take(&mut self.round_trips)
    }

    /// Makes every round trip from here on longer: what is sent after something was received, or
    /// first of all, goes out `rtt` later, and so does what a peer that greets first is heard to
    /// say. Bytes sent without an answer between them travel together.
    pub fn inject_rtt(&mut self, rtt: Duration) {
        if self.terms.is_some() || !rtt.is_zero() {
            self.terms.get_or_insert_default().set_rtt(rtt);
        }
    }

    /// Limits how long an exchange ([`Stream::begin_exchange`]) may take.
    pub fn limit_exchanges(&mut self, limit: Option<Duration>) {
        if self.terms.is_some() || limit.is_some() {
            self.terms.get_or_insert_default().set_limit(limit);
        }
    }

    /// How long an exchange may take.
    pub fn limit(&self) -> Option<Duration> {
        self.terms.as_ref().and_then(|terms| terms.limit())
    }

    /// An exchange begins, which is timed ([`Stream::take_away_time`]). What is sent and received
    /// from here on counts against the limit, if one is set: when it is reached, waiting ends with an error of kind `TimedOut`, and the stream is
    /// [overdue](Stream::is_overdue). An injected distance counts and is not cut short.
    pub fn begin_exchange(&mut self) {
        self.begun = Stamp::now();
        if let Some(terms) = &mut self.terms {
            terms.begin_exchange(&self.reactor);
        }
    }

    /// Ends what [`Stream::begin_exchange`] began.
    pub fn end_exchange(&mut self) {
        if let Some(begun) = self.begun.take() {
            let away = self.away(begun).unwrap_or_default().as_nanos();
            let away = u64::try_from(away).unwrap_or(u64::MAX);
            self.away_ns = self.away_ns.saturating_add(away);
        }
        if let Some(terms) = &mut self.terms {
            terms.end_exchange();
        }
    }

    /// Whether an exchange took longer than the limit.
    pub fn is_overdue(&self) -> bool {
        self.terms.as_ref().is_some_and(|terms| terms.is_overdue())
    }

    /// Whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Encrypts the connection from here on.
    ///
    /// # Errors
    /// When the handshake fails; an error of kind `InvalidData` carries rustls's reason.
    pub async fn start_tls(
        &mut self,
        config: Arc<rustls::ClientConfig>,
        name: rustls::pki_types::ServerName<'static>,
    ) -> io::Result<()> {
        let mut tls = Box::new(Tls::new(config, name)?);
        loop {
            if tls.wants_write()
                && let Some(terms) = &mut self.terms
            {
                poll_fn(|_| terms.travel_out(&self.reactor)).await;
            }
            tls.send(&mut self.socket)?;
            if !tls.is_handshaking() && !tls.wants_write() {
                break;
            }
            if tls.wants_write() {
                self.clear_writable();
                self.writable().await?;
                continue;
            }
            match tls.receive(&mut self.socket) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => self.heard(),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.clear_readable();
                    self.readable().await?;
                }
                // The alert that tells the server why is sent before the error is reported.
                Err(e) => {
                    let _ = tls.send(&mut self.socket);
                    return Err(e);
                }
            }
        }
        self.tls = Some(tls);
        Ok(())
    }

    fn is_readable(&self) -> bool {
        let slots = self.reactor.slots.borrow();
        // One that is not known any more fails when it is read.
        slots
            .get(self.slot as usize)
            .is_none_or(|slot| slot.readable)
    }

    fn clear_readable(&self) {
        if let Some(slot) = self.reactor.slots.borrow_mut().get_mut(self.slot as usize) {
            slot.readable = false;
            slot.ended = false;
        }
    }

    fn clear_writable(&self) {
        if let Some(slot) = self.reactor.slots.borrow_mut().get_mut(self.slot as usize) {
            slot.writable = false;
        }
    }

    async fn readable(&mut self) -> io::Result<()> {
        self.ready(|slot| slot.readable).await
    }

    async fn writable(&mut self) -> io::Result<()> {
        self.ready(|slot| slot.writable).await
    }

    async fn ready(&mut self, is_ready: fn(&crate::reactor::Slot) -> bool) -> io::Result<()> {
        let Self {
            slot,
            reactor,
            terms,
            ..
        } = self;
        poll_fn(|_| {
            match reactor.slots.borrow_mut().get_mut(*slot as usize) {
                Some(slot) if !is_ready(slot) => slot.task = reactor.current.get(),
                _ => return Poll::Ready(Ok(())),
            }
            match terms {
                None => Poll::Pending,
                Some(terms) => terms.wait(reactor),
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests;
