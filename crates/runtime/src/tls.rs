//! TLS over a non-blocking socket, by rustls.

use rustls::pki_types::ServerName;
use std::io::{self, Read, Write};
use std::sync::Arc;

pub(crate) struct Tls(rustls::ClientConnection);

fn invalid(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl Tls {
    pub fn new(config: Arc<rustls::ClientConfig>, name: ServerName<'static>) -> io::Result<Self> {
        rustls::ClientConnection::new(config, name)
            .map(Self)
            .map_err(invalid)
    }

    pub fn is_handshaking(&self) -> bool {
        self.0.is_handshaking()
    }

    pub fn wants_write(&self) -> bool {
        self.0.wants_write()
    }

    /// Takes plain text to encrypt, as much as the session's buffer holds.
    pub fn encrypt(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.writer().write(bytes)
    }

    /// Sends what is encrypted.
    pub fn send(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.0.wants_write() {
            match self.0.write_tls(socket) {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && self.0.is_handshaking() => {
                    return Ok(());
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Receives records; 0 when the peer closed.
    pub fn receive(&mut self, socket: &mut impl Read) -> io::Result<usize> {
        let n = self.0.read_tls(socket)?;
        self.0.process_new_packets().map_err(invalid)?;
        Ok(n)
    }

    /// Plain text from the socket; 0 when the peer closed.
    pub fn decrypt(&mut self, socket: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.reader().read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            if self.receive(socket)? == 0 {
                return Ok(0);
            }
        }
    }
}
