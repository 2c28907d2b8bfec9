//! What no driver sends: requests in pieces, several at once, and nonsense.

use crate::it::common::{connectors, lab};
use crate::it::lab::support::{run, wait_until};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tidemark_core::Target;
use tidemark_lab::{Lab, LabConfig};

type Make = fn(&Lab) -> (TcpStream, Vec<u8>);

fn connect(url: Option<String>) -> TcpStream {
    let target = Target::parse(&url.unwrap()).unwrap();
    let stream = TcpStream::connect(target.hosts[0].to_string()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    out.extend_from_slice(body);
    out
}

/// A start-up message, and a prepared SELECT named `s`.
fn postgres_opening() -> [Vec<u8>; 2] {
    let parameters = b"\0\x03\0\0user\0lab\0\0";
    let mut start = (parameters.len() as u32 + 4).to_be_bytes().to_vec();
    start.extend_from_slice(parameters);
    let parse = [
        message(b'P', b"s\0SELECT c FROM sbtest1 WHERE id=$1\0\0\0"),
        message(b'S', b""),
    ];
    [start, parse.concat()]
}

/// Binds and executes `s`.
fn execute() -> Vec<u8> {
    [
        message(b'B', b"\0s\0\0\0\0\x01\0\0\0\x011\0\0"),
        message(b'E', b"\0\0\0\0\0"),
        message(b'S', b""),
    ]
    .concat()
}

/// Reads messages up to the `count`-th ReadyForQuery; their types.
fn read_replies(stream: &mut TcpStream, count: usize) -> String {
    let mut tags = String::new();
    while tags.matches('Z').count() < count {
        let mut header = [0; 5];
        stream.read_exact(&mut header).unwrap();
        let [tag, length @ ..] = header;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        stream.read_exact(&mut body).unwrap();
        tags.push(char::from(tag));
    }
    tags
}

#[test]
fn requests_may_come_byte_by_byte() {
    let lab = lab(LabConfig::default());
    let mut stream = connect(lab.postgres_url());
    let [start, parse] = postgres_opening();
    for (bytes, replies) in [(start, "RSSSSSSSKZ"), (parse, "1Z"), (execute(), "2DCZ")] {
        for byte in bytes {
            stream.write_all(&[byte]).unwrap();
        }
        assert_eq!(read_replies(&mut stream, 1), replies);
    }
}

#[test]
fn requests_that_come_at_once_are_answered_one_after_the_other() {
    let lab = lab(LabConfig {
        delay: "constant:30ms".parse().unwrap(),
        ..LabConfig::default()
    });
    let mut stream = connect(lab.postgres_url());
    let [start, parse] = postgres_opening();
    let begun = Instant::now();
    stream
        .write_all(&[start, parse, execute(), execute(), execute()].concat())
        .unwrap();
    read_replies(&mut stream, 2);
    assert_eq!(read_replies(&mut stream, 3), "2DCZ2DCZ2DCZ");
    // Each waits for the one before.
    assert!(begun.elapsed() >= Duration::from_millis(90));
    let delays = lab.truth().delays;
    assert_eq!(delays.count(), 3);
    assert!(delays.max_ns() >= 90_000_000, "{}", delays.max_ns());
}

#[test]
fn what_follows_an_error_is_passed_over_up_to_sync() {
    let lab = lab(LabConfig::default());
    let mut stream = connect(lab.postgres_url());
    let [start, _] = postgres_opening();
    stream.write_all(&[start, execute()].concat()).unwrap();
    read_replies(&mut stream, 1);
    assert_eq!(read_replies(&mut stream, 1), "EZ");
}

#[test]
fn nonsense_ends_its_own_session_and_no_other() {
    let lab = lab(LabConfig::default());
    let [mysql, postgres] = connectors(&lab);
    let nonsense: [Make; 5] = [
        |lab| (connect(lab.mysql_url()), b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        |lab| (connect(lab.mysql_url()), vec![0, 0, 0, 1]),
        |lab| (connect(lab.mysql_url()), vec![3, 0, 0, 1, 1, 2, 3]),
        |lab| (connect(lab.postgres_url()), vec![0xFF; 100]),
        |lab| {
            let [start, _] = postgres_opening();
            let bytes = [start, message(b'?', b"")].concat();
            (connect(lab.postgres_url()), bytes)
        },
    ];
    for (number, make) in nonsense.iter().enumerate() {
        let (mut stream, bytes) = make(&lab);
        stream.write_all(&bytes).unwrap();
        let mut rest = Vec::new();
        // The end, or the system's word for an end with bytes unread.
        if let Err(e) = stream.read_to_end(&mut rest) {
            assert_eq!(e.kind(), std::io::ErrorKind::ConnectionReset);
        }
        wait_until(|| {
            let truth = lab.truth();
            truth.mysql.broken + truth.postgres.broken == number as u64 + 1 && truth.open() == 0
        });
    }
    for connector in [mysql, postgres] {
        run(async move { connector.connect(0).await.unwrap().close().await });
    }
}
