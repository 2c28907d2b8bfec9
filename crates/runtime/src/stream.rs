//! Sockets: TCP or Unix, plain or TLS.

use crate::reactor::Reactor;
use crate::tls::Tls;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

/// Reads after which other tasks get their turn, whatever more there is to read.
const READS_AT_ONCE: u8 = 16;

enum Socket {
    Tcp(mio::net::TcpStream),
    Unix(mio::net::UnixStream),
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(s) => s.read(buf),
            Socket::Unix(s) => s.read(buf),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(s) => s.write(buf),
            Socket::Unix(s) => s.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connected socket of the executor that opened it.
pub struct Stream {
    socket: Socket,
    tls: Option<Box<Tls>>,
    slot: usize,
    reactor: Rc<Reactor>,
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
        self.reactor.forget(self.slot);
    }
}

impl Stream {
    /// Opens a TCP connection, with Nagle's algorithm off (a request is one small write).
    ///
    /// # Errors
    /// As connect(2).
    pub async fn connect_tcp(address: SocketAddr) -> io::Result<Self> {
        let socket = mio::net::TcpStream::connect(address)?;
        let mut stream = Self::registered(Socket::Tcp(socket))?;
        stream.writable().await;
        if let Socket::Tcp(socket) = &stream.socket {
            if let Some(error) = socket.take_error()? {
                return Err(error);
            }
            socket.peer_addr()?;
            socket.set_nodelay(true)?;
            socket2::SockRef::from(socket).set_keepalive(true)?;
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
        stream.writable().await;
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
            Socket::Tcp(s) => reactor.register(s)?,
            Socket::Unix(s) => reactor.register(s)?,
        };
        Ok(Self {
            socket,
            tls: None,
            slot,
            reactor,
        })
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
            tls.send(&mut self.socket)?;
            if !tls.is_handshaking() && !tls.wants_write() {
                break;
            }
            if tls.wants_write() {
                self.clear_writable();
                self.writable().await;
                continue;
            }
            match tls.receive(&mut self.socket) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.clear_readable();
                    self.readable().await;
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

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// As write(2).
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut sent = 0;
        loop {
            match self.try_send(&bytes[sent..]) {
                Ok(n) => sent += n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.clear_writable();
                    self.writable().await;
                    continue;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            if sent == bytes.len() && !self.tls.as_ref().is_some_and(|t| t.wants_write()) {
                return Ok(());
            }
        }
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
    /// As read(2); `UnexpectedEof` when the peer closed.
    pub async fn receive<T>(
        &mut self,
        mut consume: impl FnMut(&[u8]) -> Option<T>,
    ) -> io::Result<T> {
        let mut reads = 0u8;
        loop {
            self.readable().await;
            if let Some(value) = self.receive_once(&mut consume)? {
                return Ok(value);
            }
            // A peer that sends faster than it is understood would keep the thread for itself, and
            // no time-out would come to its turn.
            reads += 1;
            if reads == READS_AT_ONCE {
                reads = 0;
                crate::yield_now().await;
            }
        }
    }

    fn receive_once<T>(
        &mut self,
        consume: &mut impl FnMut(&[u8]) -> Option<T>,
    ) -> io::Result<Option<T>> {
        let reactor = Rc::clone(&self.reactor);
        let mut scratch = reactor.scratch.borrow_mut();
        match self.try_receive(&mut scratch) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => Ok(consume(&scratch[..n])),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                self.clear_readable();
                Ok(None)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn try_receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => {
                let n = self.socket.read(buffer)?;
                // A short read has emptied the socket: what comes later makes a new edge
                // (epoll(7), question 9). The end may have come already, with the same edge.
                if n < buffer.len()
                    && let Some(slot) = self.reactor.slots.borrow_mut().get_mut(self.slot)
                {
                    slot.readable = slot.ended;
                }
                Ok(n)
            }
            // Stays readable until the socket says WouldBlock: several records may be waiting.
            Some(tls) => tls.decrypt(&mut self.socket, buffer),
        }
    }

    fn clear_readable(&self) {
        if let Some(slot) = self.reactor.slots.borrow_mut().get_mut(self.slot) {
            slot.readable = false;
            slot.ended = false;
        }
    }

    fn clear_writable(&self) {
        if let Some(slot) = self.reactor.slots.borrow_mut().get_mut(self.slot) {
            slot.writable = false;
        }
    }

    async fn readable(&mut self) {
        self.ready(|slot| slot.readable).await;
    }

    async fn writable(&mut self) {
        self.ready(|slot| slot.writable).await;
    }

    async fn ready(&mut self, is_ready: fn(&crate::reactor::Slot) -> bool) {
        poll_fn(
            |_| match self.reactor.slots.borrow_mut().get_mut(self.slot) {
                Some(slot) if !is_ready(slot) => {
                    slot.task = self.reactor.current.get();
                    Poll::Pending
                }
                _ => Poll::Ready(()),
            },
        )
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Executor, block_on};
    use std::net::TcpListener;

    /// Echoes every byte until the peer closes.
    fn echo_server(connections: usize) -> (SocketAddr, std::thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let threads: Vec<_> = (0..connections)
                .map(|_| {
                    let (mut socket, _) = listener.accept().unwrap();
                    std::thread::spawn(move || {
                        let mut buffer = [0; 4096];
                        while let Ok(n) = socket.read(&mut buffer) {
                            if n == 0 || socket.write_all(&buffer[..n]).is_err() {
                                break;
                            }
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|t| t.join().unwrap());
        });
        (address, server)
    }

    #[test]
    fn many_streams_of_one_executor_get_their_own_bytes() {
        let (address, server) = echo_server(20);
        let mut executor = Executor::new().unwrap();
        for task in 0..20u32 {
            executor.spawn(async move {
                let mut stream = Stream::connect_tcp(address).await.unwrap();
                for turn in 0..50u32 {
                    let message = (task * 1000 + turn).to_le_bytes();
                    stream.send(&message).await.unwrap();
                    let mut got = Vec::new();
                    let reply = stream
                        .receive(|bytes| {
                            got.extend_from_slice(bytes);
                            (got.len() >= 4).then(|| got.clone())
                        })
                        .await
                        .unwrap();
                    assert_eq!(reply, message);
                }
            });
        }
        executor.run().unwrap();
        server.join().unwrap();
    }

    #[test]
    fn megabytes_go_out_and_come_back_whole() {
        let (address, server) = echo_server(1);
        let sent: Vec<u8> = (0..3_000_000u32).map(|i| i as u8).collect();
        let expected = sent.clone();
        let got = block_on(async move {
            let mut stream = Stream::connect_tcp(address).await.unwrap();
            let mut got = Vec::new();
            for chunk in sent.chunks(50_000) {
                stream.send(chunk).await.unwrap();
                let want = got.len() + chunk.len();
                stream
                    .receive(|bytes| {
                        got.extend_from_slice(bytes);
                        (got.len() >= want).then_some(())
                    })
                    .await
                    .unwrap();
            }
            got
        })
        .unwrap();
        assert!(got == expected);
        server.join().unwrap();
    }

    #[test]
    fn an_end_that_came_with_the_last_bytes_is_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sent, closed) = std::sync::mpsc::channel();
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            socket.write_all(b"last words").unwrap();
            drop(socket);
            sent.send(()).unwrap();
        });
        let ended = block_on(async move {
            let mut stream = Stream::connect_tcp(address).await.unwrap();
            // The poller hears of the bytes and of the end at once.
            closed.recv().unwrap();
            let mut got = 0;
            let wait = stream.receive(|bytes| {
                got += bytes.len();
                None::<()>
            });
            let ended = crate::timeout(std::time::Duration::from_secs(5), wait).await;
            (ended, got)
        });
        let (ended, got) = ended.unwrap();
        let kind = ended.map(|end| end.unwrap_err().kind());
        assert_eq!((kind, got), (Ok(io::ErrorKind::UnexpectedEof), 10));
        server.join().unwrap();
    }

    #[test]
    fn a_flood_does_not_keep_the_thread() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            while socket.write_all(&[7; 1 << 20]).is_ok() {}
        });
        let ended = block_on(async move {
            let mut stream = Stream::connect_tcp(address).await.unwrap();
            // Slower than the peer: there is always more to read.
            let wait = stream.receive(|_| {
                std::thread::sleep(std::time::Duration::from_millis(2));
                None::<()>
            });
            crate::timeout(std::time::Duration::from_millis(50), wait).await
        });
        assert!(ended.unwrap().is_err());
        server.join().unwrap();
    }

    #[test]
    fn a_closed_port_is_refused_and_a_closed_peer_is_an_end() {
        let free = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let refused = block_on(async move { Stream::connect_tcp(free).await.map(|_| ()) }).unwrap();
        assert_eq!(
            refused.unwrap_err().kind(),
            io::ErrorKind::ConnectionRefused
        );

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || drop(listener.accept().unwrap()));
        let ended = block_on(async move {
            let mut stream = Stream::connect_tcp(address).await.unwrap();
            stream.receive(|_| Some(())).await
        });
        assert_eq!(
            ended.unwrap().unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
        server.join().unwrap();
    }
}
