//! Servers that break the protocol, lie, or ask for more than they should get; and those of old.

use crate::it::mysql::script::{
    CAPABILITIES, DEPRECATE_EOF, OK, Peer, SSL, column, error, greeting, serve,
};
use crate::it::mysql::support::{connect, number, rows, run, step, text, try_connect};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, Engine, ErrorClass, Target};
use tidemark_drivers::{
    BulkMethod, ConnectOptions, Connector, LoadRequest, Loaded, RowWriter, Value,
};
use tidemark_runtime::sleep;

/// The refusal of a session to a server with this script.
fn refused(query: &str, script: impl FnOnce(Peer<TcpStream>) + Send + 'static) -> DbError {
    let (port, server) = serve(script);
    let url = format!("mysql://root:geheim@127.0.0.1:{port}/db{query}");
    let begun = Instant::now();
    let error = run(async move { try_connect(&url).await.map(drop) }).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(5), "{error}");
    assert_eq!(error.class, ErrorClass::Refused, "{error}");
    assert!(error.message.contains(&port.to_string()), "{error}");
    assert!(!error.message.contains("geheim"), "{error}");
    server.join().unwrap();
    error
}

#[test]
fn what_is_no_server_is_refused() {
    for (bytes, words) in [
        (
            &b"\x19\0\0\0HTTP/1.1 400 Bad Request\r\n"[..],
            "not a MySQL-protocol server",
        ),
        (b"\xff\xff\xff\0\x0a8.4.3\0", "too large"),
        (b"\x0a\0\0\0\x0a8.4", "closed"),
        (b"\x05\0\0\0\x0a8.4\0", "truncated"),
        (b"", "closed"),
    ] {
        let error = refused("", move |mut peer| peer.stream.write_all(bytes).unwrap());
        assert!(error.message.contains(words), "{error}");
    }
}

#[test]
fn the_password_is_not_given_to_whoever_asks() {
    let error = refused("", |mut peer| {
        peer.send(&[&greeting(CAPABILITIES, "mysql_native_password")]);
        peer.receive();
        peer.send(&[b"\xfemysql_clear_password\0"]);
        peer.expect_end();
    });
    assert_eq!(error.code, "auth");
    assert!(error.message.contains("in clear"), "{error}");
    let error = refused("", |mut peer| {
        peer.send(&[&greeting(CAPABILITIES, "mysql_clear_password")]);
        let answer = peer.receive();
        assert!(!answer.windows(6).any(|w| w == b"geheim"));
        peer.send(&[b"\xfe"]);
        peer.expect_end();
    });
    assert!(error.message.contains("before 4.1"), "{error}");
}

#[test]
fn authentication_comes_to_an_end() {
    let error = refused("", |mut peer| {
        peer.send(&[&greeting(CAPABILITIES, "caching_sha2_password")]);
        peer.receive();
        for _ in 0..100 {
            peer.send(&[&[1, 3]]);
        }
        peer.sequence = 0;
    });
    assert!(error.message.contains("does not finish"), "{error}");
}

#[test]
fn tls_is_asked_for_before_anything_else_and_nothing_gets_in_before_it() {
    let error = refused("?tls=no-verify", |mut peer| {
        peer.send(&[&greeting(CAPABILITIES, "mysql_native_password")]);
        peer.expect_end();
    });
    assert_eq!(error.code, "tls");
    assert!(error.message.contains("TLS refused"), "{error}");
    let error = refused("?tls=no-verify", |mut peer| {
        peer.send(&[&greeting(CAPABILITIES | SSL, "mysql_native_password"), OK]);
        assert_eq!(peer.receive().len(), 32);
        peer.expect_end();
    });
    assert!(error.message.contains("plain text was received"), "{error}");
    let error = refused("?tls=no-verify", |mut peer| {
        peer.send(&[&greeting(CAPABILITIES | SSL, "mysql_native_password")]);
        peer.receive();
        peer.stream.write_all(b"no TLS at all").unwrap();
    });
    assert_eq!(error.code, "tls", "{error}");
}

#[test]
fn a_silent_server_is_refused_in_time() {
    let (port, server) = serve(|mut peer| peer.expect_end());
    let target = Target::parse(&format!("mysql://u@127.0.0.1:{port}/db")).unwrap();
    let options = ConnectOptions {
        connect_timeout: Duration::from_millis(200),
        ..ConnectOptions::default()
    };
    let connector = Connector::new(target, options).unwrap();
    let error = run(async move { connector.connect(0).await.map(drop) }).unwrap_err();
    assert_eq!(error.class, ErrorClass::Refused);
    assert!(error.message.contains("no reply within 0.2 s"), "{error}");
    server.join().unwrap();
}

#[test]
fn a_request_for_a_file_gets_nothing() {
    let (port, server) = serve(|mut peer| {
        peer.let_in(CAPABILITIES);
        for _ in 0..2 {
            peer.receive();
            peer.send(&[b"\xfb/etc/passwd"]);
            assert_eq!(peer.receive(), b"", "an empty file");
            peer.send(&[OK]);
        }
        peer.query();
        peer.send(&[OK]);
        // Not even for a statement that can't ask for one.
        assert_eq!(peer.receive()[0], 0x16);
        peer.send(&[b"\xfb/etc/passwd"]);
        peer.expect_end();
    });
    run(async move {
        let mut session = connect(&format!("mysql://u@127.0.0.1:{port}/db")).await;
        let error = session.simple("SELECT 1").await.unwrap_err();
        assert_eq!(
            (error.class, error.code.as_str()),
            (ErrorClass::Fatal, "local-infile")
        );
        let error = session.query("SELECT 1").await.unwrap_err();
        assert_eq!(error.code, "local-infile");
        session.simple("SELECT 2").await.unwrap();
        let error = session.prepare("SELECT 3").await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
    });
    server.join().unwrap();
}

/// A text result of one cell.
fn cell(text: &str) -> Vec<u8> {
    let mut row = vec![text.len() as u8];
    row.extend_from_slice(text.as_bytes());
    row
}

/// The end of a result with `CLIENT_DEPRECATE_EOF`.
const END: &[u8] = &[0xFE, 0, 0, 2, 0, 0, 0];

/// Loads two rows into a server that asks for another file and then says `end`.
fn loaded(end: &'static [u8], last: &'static str) -> Result<Loaded, DbError> {
    let (port, server) = serve(move |mut peer| {
        peer.let_in(CAPABILITIES);
        loop {
            let sql = peer.query();
            if sql.starts_with("LOAD DATA") {
                peer.send(&[b"\xfb/etc/passwd"]);
                let mut file = Vec::new();
                loop {
                    let piece = peer.receive();
                    file.extend_from_slice(&piece);
                    if piece.is_empty() {
                        break;
                    }
                }
                assert_eq!(file, b"1\ta\\tb\n2\t\\N\n", "the load's own rows");
                peer.send(&[end]);
            } else if sql.starts_with("SHOW WARNINGS") {
                peer.send(&[&[1], &column(), END]);
            } else if sql.starts_with("SELECT") {
                peer.send(&[&[1], &column(), &cell("65536"), END]);
            } else {
                peer.send(&[OK]);
            }
            if sql == last {
                break;
            }
        }
    });
    let loaded = run(async move {
        let mut session = connect(&format!("mysql://u@127.0.0.1:{port}/db")).await;
        let mut source = rows(|i, row: &mut RowWriter<'_>| {
            row.int(i as i64 + 1);
            match i {
                0 => row.text("a\tb"),
                _ => row.push(Value::Null),
            }
            i < 2
        });
        let request = LoadRequest {
            table: "t",
            columns: &["a", "b"],
            method: None,
        };
        session.load(&request, &mut source).await
    });
    server.join().unwrap();
    loaded
}

#[test]
fn a_load_sends_its_own_rows_whatever_file_is_asked_for_and_counts_them() {
    let whole = loaded(&[0, 2, 0, 2, 0, 0, 0], "COMMIT").unwrap();
    assert_eq!((whole.rows, whole.method), (2, BulkMethod::LoadData));
    let short = loaded(&[0, 1, 0, 2, 0, 0, 0], "ROLLBACK").unwrap_err();
    assert!(short.message.contains("1 of 2 rows"), "{short}");
    let bent = loaded(&[0, 2, 0, 2, 0, 3, 0], "ROLLBACK").unwrap_err();
    assert!(bent.message.contains("3 warnings"), "{bent}");
}

#[test]
fn a_load_that_asks_for_no_rows_ends_the_session() {
    let (port, server) = serve(|mut peer| {
        peer.let_in(CAPABILITIES);
        while !peer.query().is_empty() {
            peer.send(&[OK]);
        }
    });
    run(async move {
        let mut session = connect(&format!("mysql://u@127.0.0.1:{port}/db")).await;
        let request = LoadRequest {
            table: "t",
            columns: &["a"],
            method: Some(BulkMethod::LoadData),
        };
        let mut source = rows(|i, row: &mut RowWriter<'_>| {
            row.int(i as i64);
            i < 2
        });
        let error = session.load(&request, &mut source).await.unwrap_err();
        assert!(error.message.contains("requested no rows"), "{error}");
        let error = session.simple("SELECT 1").await.unwrap_err();
        assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
    });
    drop(server);
}

#[test]
fn a_reply_that_makes_no_sense_ends_the_session() {
    for (reply, at_once) in [
        // Cut off, no columns, a wrong packet number, an empty packet.
        (&b"\x01\0\0\x01\0"[..], true),
        (b"\x03\0\0\x01\xfc\0\0", true),
        (b"\x07\0\0\x05\0\0\0\x02\0\0\0", true),
        (b"\0\0\0\x01", true),
        (b"\0\0\0\x09\xff", true),
        // More than the reply.
        (b"\x07\0\0\x01\0\0\0\x02\0\0\0more", false),
    ] {
        let (port, server) = serve(move |mut peer| {
            peer.let_in(CAPABILITIES);
            peer.query();
            peer.stream.write_all(reply).unwrap();
            peer.expect_end();
        });
        run(async move {
            let mut session = connect(&format!("mysql://u@127.0.0.1:{port}/db")).await;
            let first = session.simple("SELECT 1").await;
            if at_once {
                let error = first.unwrap_err();
                assert_eq!(error.code, "protocol", "{error}");
                assert_eq!(error.class, ErrorClass::ConnectionLost);
            } else {
                first.unwrap();
            }
            let error = session.simple("SELECT 2").await.unwrap_err();
            assert_eq!(error.class, ErrorClass::ConnectionLost, "{error}");
        });
        server.join().unwrap();
    }
}

#[test]
fn a_goodbye_is_a_lost_connection() {
    let (connected, wait) = std::sync::mpsc::channel();
    let (port, server) = serve(move |mut peer| {
        peer.let_in(CAPABILITIES);
        wait.recv().unwrap();
        peer.sequence = 0;
        let why = "The client was disconnected by the server because of inactivity.";
        peer.send(&[&error(4031, "HY000", why)]);
        peer.query();
    });
    run(async move {
        let mut session = connect(&format!("mysql://u@127.0.0.1:{port}/db")).await;
        connected.send(()).unwrap();
        sleep(Duration::from_millis(50)).await;
        let error = session.simple("SELECT 1").await.unwrap_err();
        assert_eq!(
            (error.class, error.code.as_str()),
            (ErrorClass::ConnectionLost, "4031")
        );
        assert!(error.message.contains("inactivity"), "{error}");
    });
    server.join().unwrap();
}

#[test]
fn a_server_that_ends_results_the_old_way_is_understood() {
    const EOF: &[u8] = &[0xFE, 0, 0, 2, 0];
    let (port, server) = serve(|mut peer| {
        peer.let_in(CAPABILITIES & !DEPRECATE_EOF);
        peer.query();
        peer.send(&[&[1], &column(), EOF, &cell("42"), &cell("43"), EOF]);
        // A statement with one parameter and one column.
        assert_eq!(peer.receive()[0], 0x16);
        let prepared = [0, 9, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0];
        peer.send(&[&prepared, &column(), EOF, &column(), EOF]);
        assert_eq!(peer.receive()[..5], [0x17, 9, 0, 0, 0]);
        peer.send(&[&[1], &column(), EOF, &[0, 0, 2, b'4', b'4'], &[0, 4], EOF]);
        assert_eq!(peer.query(), "");
    });
    run(async move {
        let mut session = connect(&format!("mysql://u@127.0.0.1:{port}/db")).await;
        assert_eq!(session.server().engine, Engine::Mysql);
        assert_eq!(number(&mut session, "SELECT 42").await, 42);
        let (outcome, cells) = step(&mut session, "SELECT ?", &[Value::Int(44)]).await;
        assert_eq!((outcome.rows, cells), (2, vec![Some("44".into()), None]));
        session.close().await;
    });
    server.join().unwrap();
}

#[test]
fn what_a_server_can_not_prepare_is_sent_as_text() {
    let (port, server) = serve(|mut peer| {
        peer.let_in(CAPABILITIES);
        assert_eq!(peer.receive()[1..], *b"BEGIN");
        let why = "This command is not supported in the prepared statement protocol yet";
        peer.send(&[&error(1295, "HY000", why)]);
        assert_eq!(peer.query(), "BEGIN");
        peer.send(&[OK]);
        assert_eq!(peer.query(), "SELECT 1");
        peer.send(&[&[1], &column(), &cell("1"), END]);
    });
    run(async move {
        let mut session = connect(&format!("mysql://u@127.0.0.1:{port}/db")).await;
        let begin = session.prepare("BEGIN").await.unwrap();
        assert!(!session.execute(&begin, &[]).await.unwrap().has_rows);
        assert_eq!(text(&mut session, "SELECT 1").await, "1");
    });
    server.join().unwrap();
}
