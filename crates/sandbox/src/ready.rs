//! Whether a server that was started takes sessions.

use crate::{Engine, Place};
use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// One look, without an account: what is there answers or not.
pub(crate) fn takes_sessions(place: &Place) -> bool {
    match place.engine {
        Engine::MariaDb => greets(place.port),
        Engine::Postgres => says_ready(place),
    }
}

/// MariaDB speaks first: a packet that begins, after its header of four bytes, with the protocol's
/// version, 10, or with 255 for an error (MariaDB documentation, Connecting). Accounts are made
/// before it takes the first connection.
fn greets(port: u16) -> bool {
    const SOON: Duration = Duration::from_millis(500);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut begin = [0u8; 5];
    TcpStream::connect_timeout(&address, SOON)
        .and_then(|mut stream| {
            stream.set_read_timeout(Some(SOON))?;
            stream.read_exact(&mut begin)
        })
        .is_ok_and(|()| begin[4] == 10)
}

/// The 8th line of `postmaster.pid` tells the state, which is what `pg_ctl -w` waits for
/// (PostgreSQL documentation, 73.1 Database File Layout, and `pg_ctl`).
fn says_ready(place: &Place) -> bool {
    fs::read_to_string(place.pid_file())
        .is_ok_and(|text| text.lines().nth(7).is_some_and(|l| l.trim() == "ready"))
}
