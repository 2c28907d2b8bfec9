//! A TCP proxy that makes a server farther away: what it gets, it passes on a fixed time later.

use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Read at once.
const CHUNK: usize = 64 * 1024;

/// Listens on a free port of the loopback address, and passes each connection's bytes on to `to`
/// and back, each way `delay` later; the port. It goes on until the process ends.
pub fn distance(to: SocketAddr, delay: Duration) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    spawn(move || {
        for client in listener.incoming() {
            // A client that went away meanwhile, or a server that takes no more: the client's own
            // end is closed, which is what it would see of the server.
            let _closed = client.and_then(|client| connect(client, to, delay));
        }
    })?;
    Ok(address)
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .stack_size(128 * 1024)
        .spawn(work)
        .map(drop)
}

fn connect(client: TcpStream, to: SocketAddr, delay: Duration) -> io::Result<()> {
    // Opening a connection takes a round trip.
    spawn(move || {
        thread::sleep(2 * delay);
        let _closed = TcpStream::connect(to).and_then(|server| {
            for socket in [&client, &server] {
                socket.set_nodelay(true)?;
                SockRef::from(socket).set_keepalive(true)?;
            }
            pass(client.try_clone()?, server.try_clone()?, delay)?;
            pass(server, client, delay)
        });
    })
}

/// One direction: a thread reads, another writes when it is time.
fn pass(from: TcpStream, to: TcpStream, delay: Duration) -> io::Result<()> {
    let (sender, receiver) = channel();
    spawn(move || read(from, &sender, delay))?;
    spawn(move || write(to, &receiver))
}

fn read(mut from: TcpStream, sender: &Sender<(Instant, Vec<u8>)>, delay: Duration) {
    let mut buffer = vec![0; CHUNK];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let chunk = buffer.get(..count).unwrap_or_default().to_vec();
        if sender.send((Instant::now() + delay, chunk)).is_err() {
            break;
        }
    }
}

fn write(mut to: TcpStream, receiver: &Receiver<(Instant, Vec<u8>)>) {
    while let Ok((due, chunk)) = receiver.recv() {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&chunk).is_err() {
            break;
        }
    }
    // The other end sees what this one saw: no more comes. Its reader ends with it.
    let _gone = to.shutdown(Shutdown::Write);
}
