//! A proxy that makes a server farther away.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};
use tidemark_lab::distance;

const EACH_WAY: Duration = Duration::from_millis(15);

/// A server of one connection that sends back what it gets until nothing more comes.
fn echo() -> std::net::SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut back = socket.try_clone().unwrap();
        std::io::copy(&mut socket, &mut back).unwrap();
        back.shutdown(Shutdown::Write).unwrap();
    });
    address
}

#[test]
fn an_answer_takes_a_round_trip_longer_and_stays_whole() {
    let mut socket = TcpStream::connect(distance(echo(), EACH_WAY).unwrap()).unwrap();
    for size in [1, 300_000] {
        let sent: Vec<u8> = (0..size).map(|i: u32| i.to_le_bytes()[0]).collect();
        let mut got = vec![0; sent.len()];
        let asked = Instant::now();
        let mut writer = socket.try_clone().unwrap();
        let bytes = sent.clone();
        let writing = std::thread::spawn(move || writer.write_all(&bytes).unwrap());
        socket.read_exact(&mut got).unwrap();
        writing.join().unwrap();
        assert!(asked.elapsed() >= 2 * EACH_WAY);
        assert_eq!(got, sent);
    }
}

#[test]
fn the_end_of_either_side_reaches_the_other() {
    let mut socket = TcpStream::connect(distance(echo(), EACH_WAY).unwrap()).unwrap();
    socket.write_all(b"last").unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut all = Vec::new();
    socket.read_to_end(&mut all).unwrap();
    assert_eq!(all, b"last");
}

#[test]
fn a_server_that_is_not_there_ends_the_connection() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let nobody = listener.local_addr().unwrap();
    drop(listener);
    let mut socket = TcpStream::connect(distance(nobody, EACH_WAY).unwrap()).unwrap();
    assert!(matches!(socket.read(&mut [0]), Ok(0) | Err(_)));
}
