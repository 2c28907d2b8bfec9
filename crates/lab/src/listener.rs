//! Where clients knock.

use crate::LabError;
use crate::shared::Protocol;
use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::SocketAddr;

/// Connections that the system holds until they are taken.
const BACKLOG: i32 = 4096;

/// One address that clients connect to. While it is closed, the system refuses them.
#[derive(Debug)]
pub(crate) struct Door {
    pub protocol: Protocol,
    pub address: SocketAddr,
    token: mio::Token,
    /// Bound and never listening: nobody else gets the port while the door is closed.
    _keeps_port: Socket,
    listener: Option<TcpListener>,
}

impl Door {
    pub fn new(
        protocol: Protocol,
        address: SocketAddr,
        token: mio::Token,
    ) -> Result<Self, LabError> {
        let bound = in_nobodys_use(address).and_then(|()| {
            let socket = bind(address)?;
            let address = socket.local_addr()?.as_socket();
            let address = address.ok_or_else(|| io::Error::other("it is no internet address"))?;
            Ok((socket, address))
        });
        let (keeps_port, address) = bound.map_err(|error| LabError::Listen { address, error })?;
        let mut door = Self {
            protocol,
            address,
            token,
            _keeps_port: keeps_port,
            listener: None,
        };
        door.listen()
            .map_err(|error| LabError::Listen { address, error })?;
        Ok(door)
    }

    fn listen(&mut self) -> io::Result<()> {
        let socket = bind(self.address)?;
        socket.listen(BACKLOG)?;
        self.listener = Some(TcpListener::from_std(socket.into()));
        Ok(())
    }

    pub fn open(&mut self, registry: &mio::Registry) -> io::Result<()> {
        if self.listener.is_none() {
            self.listen()?;
        }
        if let Some(listener) = &mut self.listener {
            registry.register(listener, self.token, mio::Interest::READABLE)?;
        }
        Ok(())
    }

    /// Refuses whoever comes; who knocked and was not let in yet is turned away.
    pub fn close(&mut self) {
        self.listener = None;
    }

    /// The next connection; `None` when nobody waits.
    pub fn accept(&self) -> io::Result<Option<TcpStream>> {
        let Some(listener) = &self.listener else {
            return Ok(None);
        };
        match listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(e) => Err(e),
        }
    }
}

/// Fails where somebody listens already, which a port that may be shared would hide.
fn in_nobodys_use(address: SocketAddr) -> io::Result<()> {
    if address.port() == 0 {
        return Ok(());
    }
    let probe = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    probe.set_reuse_address(true)?;
    probe.bind(&address.into())?;
    probe.listen(1)
}

/// The port is shared between the socket that keeps it and the one that listens.
fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}
