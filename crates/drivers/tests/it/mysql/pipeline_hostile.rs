//! Statements that are sent with the next one, to servers that answer otherwise than they should.

use crate::it::mysql::script::{CAPABILITIES, OK, Peer, error, greeting, serve};
use crate::it::mysql::support::{connect, run};
use std::io::Write;
use std::net::TcpStream;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::Outcome;

/// A server that says it is a MariaDB, until two statements without parameters are prepared.
fn begins(peer: &mut Peer<TcpStream>) {
    let mut greets = greeting(CAPABILITIES, "mysql_native_password");
    let version = greets.windows(5).position(|w| w == b"8.4.3").unwrap();
    greets.splice(version..version + 5, *b"10.11.6-MariaDB");
    peer.send(&[&greets]);
    peer.receive();
    peer.send(&[OK]);
    peer.has_the_defaults();
    for id in [1, 2] {
        assert_eq!(peer.receive()[0], 0x16);
        peer.send(&[&[0, id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]);
    }
}

/// A session with such a server, with three statements queued and a fourth sent; the fourth's outcome
/// and that of the next.
fn answered(
    answer: impl FnOnce(&mut Peer<TcpStream>) + Send + 'static,
) -> (Result<Outcome, DbError>, Result<Outcome, DbError>) {
    let (port, server) = serve(|mut peer| {
        begins(&mut peer);
        // Autocommit is turned off, and a transaction begins.
        assert_eq!(peer.query(), "SET autocommit=0");
        peer.send(&[&[0, 0, 0, 0, 0, 0, 0]]);
        for _ in 0..2 {
            assert_eq!(peer.receive()[0], 0x17);
            peer.send(&[&[0, 0, 0, 1, 0, 0, 0]]);
        }
        for _ in 0..4 {
            assert_eq!(peer.receive()[..2], [0x17, 2]);
        }
        answer(&mut peer);
        let _ = peer.stream.shutdown(std::net::Shutdown::Write);
        let _ = std::io::copy(&mut peer.stream, &mut std::io::sink());
    });
    let seen = run(async move {
        let url = format!("mysql://u@127.0.0.1:{port}/db");
        let mut session = connect(&url).await;
        let begin = session.prepare("BEGIN").await.unwrap();
        let write = session.prepare("DELETE FROM t").await.unwrap();
        assert!(session.queue(&begin, &[]).unwrap());
        session.execute(&write, &[]).await.unwrap();
        for _ in 0..3 {
            assert!(session.queue(&write, &[]).unwrap());
        }
        let first = session.execute(&write, &[]).await;
        if first.is_ok() {
            assert_eq!(session.changed_ahead(), [1, 1, 1]);
        }
        (first, session.execute(&write, &[]).await)
    });
    server.join().unwrap();
    seen
}

/// An answer that says one row was changed, as it is on the wire.
const ONE: &[u8] = b"\x07\0\0\x01\0\x01\0\x01\0\0\0";

#[test]
fn answers_that_are_too_few_too_many_or_no_answers_end_the_session() {
    let lost = |error: &DbError| error.class == ErrorClass::ConnectionLost;
    // In pieces of any length they are read as in one.
    for length in [1, 7, 11, 12, 44] {
        let (first, next) = answered(move |peer| {
            for piece in ONE.repeat(4).chunks(length) {
                peer.stream.write_all(piece).unwrap();
            }
        });
        assert_eq!(first.unwrap().affected, 1, "{length}");
        assert!(lost(&next.unwrap_err()), "the server hung up");
    }
    // More than asked.
    let (first, next) = answered(|peer| peer.stream.write_all(&ONE.repeat(5)).unwrap());
    assert_eq!(first.unwrap().affected, 1);
    assert!(next.unwrap_err().message.contains("lost before"));
    for (answers, words) in [
        (vec![], "closed"),
        (ONE.repeat(3), "closed"),
        (ONE[..5].to_vec(), "closed"),
        // A wrong number; a wish for a file; the last answer's last byte is missing.
        ([ONE, &[7, 0, 0, 2], &[0; 7]].concat(), "packet 2"),
        ([ONE, b"\x05\0\0\x01\xfb/etc"].concat(), "requested a file"),
        (ONE.repeat(4)[..43].to_vec(), "closed"),
    ] {
        let (first, next) = answered(move |peer| peer.stream.write_all(&answers).unwrap());
        let error = first.unwrap_err();
        assert!(lost(&error) && error.message.contains(words), "{error}");
        assert!(lost(&next.unwrap_err()));
    }
    // A goodbye in the midst.
    let (first, _) = answered(|peer| {
        peer.sequence = 1;
        peer.stream.write_all(ONE).unwrap();
        peer.send(&[&error(1927, "70100", "Connection was killed")]);
    });
    let told = first.unwrap_err();
    assert!(lost(&told) && told.code == "1927", "{told}");
    // Errors among answers; the first one is told, and the session goes on.
    let (first, _) = answered(|peer| {
        peer.stream.write_all(ONE).unwrap();
        for (number, message) in [(1205, "too long"), (1317, "interrupted")] {
            peer.sequence = 1;
            peer.send(&[&error(number, "HY000", message)]);
        }
        peer.stream.write_all(ONE).unwrap();
    });
    assert_eq!(first.unwrap_err().code, "1205");
}

/// Only MariaDB is known to take several at a time.
#[test]
fn a_mysql_is_sent_one_statement_at_a_time() {
    let (port, server) = serve(|mut peer| {
        peer.let_in(CAPABILITIES);
        peer.receive();
        peer.send(&[&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]);
        peer.receive();
    });
    run(async move {
        let mut session = connect(&format!("mysql://u@127.0.0.1:{port}/db")).await;
        let begin = session.prepare("BEGIN").await.unwrap();
        assert!(!session.queue(&begin, &[]).unwrap());
        session.close().await;
    });
    server.join().unwrap();
}

/// Were the mode's change to fail, a write behind it would be kept, whatever the session is told.
#[test]
fn a_write_waits_for_a_change_of_the_mode() {
    let (port, server) = serve(|mut peer| {
        begins(&mut peer);
        assert_eq!(peer.query(), "SET autocommit=0");
        peer.send(&[&error(1317, "70100", "Query execution was interrupted")]);
        assert_eq!(peer.receive()[..2], [0x17, 1]);
        peer.send(&[OK]);
        // Neither the write nor anything else.
        assert_eq!(peer.receive(), [1]);
    });
    run(async move {
        let mut session = connect(&format!("mysql://u@127.0.0.1:{port}/db")).await;
        let begin = session.prepare("BEGIN").await.unwrap();
        let write = session.prepare("DELETE FROM t").await.unwrap();
        assert!(session.queue(&begin, &[]).unwrap());
        let told = session.execute(&write, &[]).await.unwrap_err();
        assert_eq!(told.code, "1317");
        session.close().await;
    });
    server.join().unwrap();
}
