//! The operating system's sockets.

use crate::arrival::{self, Stamp};
use std::io::{self, Read, Write};

pub(crate) enum Socket {
    /// With the kernel's stamp of what was received last.
    Tcp(mio::net::TcpStream, Option<Stamp>),
    Unix(mio::net::UnixStream),
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(s, came) => {
                let (n, stamp) = arrival::receive(s, buf)?;
                *came = stamp;
                Ok(n)
            }
            Socket::Unix(s) => s.read(buf),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(s, _) => send(s, buf),
            Socket::Unix(s) => send(s, buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn send(socket: &mut impl std::os::fd::AsRawFd, bytes: &[u8]) -> io::Result<usize> {
    crate::direct::send(socket.as_raw_fd(), bytes)
}

#[cfg(not(target_os = "linux"))]
fn send(socket: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    socket.write(bytes)
}
