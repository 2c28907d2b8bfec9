//! The seeds of the corpora: sessions with real servers, recorded by a proxy. Each is played back and
//! must go as it went. With `TIDEMARK_FUZZ_RECORD=1` they are written into `fuzz/corpus/`.

use super::seeds::write;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use tidemark_core::{DbError, PreparedMode, Protocol, Target};
use tidemark_drivers::{Access, ConnectOptions, Connector, RowSet, fuzzing};
use tidemark_fuzzing::{Flags, FuzzScript, NONCE, PROGRAMS, play, run_program};
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// `Flags` of what is recorded: on a network, with headers made anew.
const FRAMED: u8 = 16 + 8;
const AS_TEXT: u8 = 4;

/// Stands between a client and `server`; what the server says between two words of the client is a
/// turn.
fn proxy(server: String) -> (u16, thread::JoinHandle<Vec<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(server).unwrap();
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        let turns = Arc::new(Mutex::new((true, Vec::<Vec<u8>>::new())));
        let said = Arc::clone(&turns);
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let up = thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(n @ 1..) = from.read(&mut buffer) {
                said.lock().unwrap().0 = true;
                to.write_all(&buffer[..n]).unwrap();
            }
            let _ = to.shutdown(std::net::Shutdown::Write);
        });
        let mut buffer = [0; 65536];
        while let Ok(n @ 1..) = server.read(&mut buffer) {
            let mut turns = turns.lock().unwrap();
            if std::mem::take(&mut turns.0) {
                turns.1.push(Vec::new());
            }
            turns.1.last_mut().unwrap().extend_from_slice(&buffer[..n]);
            let _ = client.write_all(&buffer[..n]);
        }
        let _ = client.shutdown(std::net::Shutdown::Both);
        up.join().unwrap();
        let turns = turns.lock().unwrap();
        turns.1.clone()
    });
    (port, thread)
}

/// What a program's steps came to, and the server's turns.
fn record(db: &Database, flags: Flags) -> (Vec<Result<(), DbError>>, Vec<Vec<u8>>) {
    let target = Target::parse(&db.url()).unwrap();
    let (port, thread) = proxy(target.hosts[0].to_string());
    let target = Target {
        hosts: vec![tidemark_core::Host::Tcp {
            host: "127.0.0.1".into(),
            port,
        }],
        ..target
    };
    let options = ConnectOptions {
        prepared: match flags.as_text() {
            true => PreparedMode::Text,
            false => PreparedMode::Server,
        },
        ..ConnectOptions::default()
    };
    let connector = Connector::new(target, options).unwrap();
    let steps = tidemark_runtime::block_on(async move {
        // As a run's own sessions: those that look at tables ask more when they begin.
        let opened = connector.connect_for(0, Access::ReadWrite).await;
        let mut session = opened.unwrap();
        let steps = run_program(flags.program(), &mut session).await;
        session.close().await;
        steps
    });
    (steps.unwrap(), thread.join().unwrap())
}

/// All that is recorded: for each program its flags, and the packets of its turns.
fn recorded(protocol: Protocol, db: &Database) -> Vec<FuzzScript> {
    let mut scripts = Vec::new();
    let programs = (0..PROGRAMS as u8).map(|n| FRAMED | n);
    for flags in programs.chain([FRAMED | AS_TEXT]).map(Flags) {
        let (steps, turns) = record(db, flags);
        let whole = FuzzScript {
            flags,
            turns: turns.iter().map(|turn| packets(protocol, turn)).collect(),
        };
        let framed = match protocol {
            Protocol::Postgres => without_proofs(&whole),
            _ => whole.clone(),
        };
        let data = framed.write();
        assert_eq!(FuzzScript::read(&data), framed, "a mark is in the data");
        let raw = FuzzScript {
            flags: Flags(flags.0 & !8),
            turns: match protocol {
                Protocol::Postgres => framed.turns.iter().map(|t| vec![with_lengths(t)]).collect(),
                _ => turns.into_iter().map(|turn| vec![turn]).collect(),
            },
        };
        for script in [&framed, &raw] {
            let played = play(protocol, FuzzScript::read(&script.write()));
            let played = played.steps.unwrap();
            assert_eq!(played, steps, "{flags:?} goes otherwise when it is played");
            let name = match protocol {
                Protocol::Mysql => "mysql_session",
                _ => "postgres_session",
            };
            // The text of a long look at the catalogue once is enough.
            if script.flags.framed() || flags.program() != 2 {
                write(
                    name,
                    &format!("recorded-{:02x}", script.flags.0),
                    &script.write(),
                );
            }
        }
        if protocol == Protocol::Postgres && flags.0 == FRAMED {
            let mut proof = with_nonce(&whole);
            proof.turns.truncate(4);
            let ended = play(protocol, FuzzScript::read(&proof.write())).steps;
            // The server's proof was for another nonce.
            let error = ended.unwrap_err();
            assert!(error.message.contains("did not prove"), "{error}");
            write("postgres_session", "recorded-scram", &proof.write());
        }
        scripts.push(framed);
    }
    scripts
}

fn packets(protocol: Protocol, mut turn: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while !turn.is_empty() {
        let (tag, len) = match protocol {
            Protocol::Mysql => {
                let len = u32::from_le_bytes([turn[0], turn[1], turn[2], 0]) as usize;
                turn = &turn[4..];
                (None, len)
            }
            _ => {
                let len = u32::from_be_bytes(turn[1..5].try_into().unwrap()) as usize - 4;
                let tag = turn[0];
                turn = &turn[5..];
                (Some(tag), len)
            }
        };
        packets.push(tag.into_iter().chain(turn[..len].iter().copied()).collect());
        turn = &turn[len..];
    }
    packets
}

/// PostgreSQL's messages with their lengths.
fn with_lengths(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    for packet in packets {
        out.push(packet[0]);
        out.extend_from_slice(&(packet.len() as u32 + 3).to_be_bytes());
        out.extend_from_slice(&packet[1..]);
    }
    out
}

/// As a server says it that trusts its client: a proof is for one nonce only.
fn without_proofs(script: &FuzzScript) -> FuzzScript {
    let asks = |packet: &Vec<u8>| packet[0] == b'R' && packet[1..5] != [0; 4];
    let mut turns = script.turns.clone();
    turns.iter_mut().for_each(|turn| turn.retain(|p| !asks(p)));
    turns.retain(|turn| !turn.is_empty());
    FuzzScript {
        flags: script.flags,
        turns,
    }
}

/// With the mark for the client's nonce.
fn with_nonce(script: &FuzzScript) -> FuzzScript {
    /// Characters of the client's nonce.
    const LENGTH: usize = 24;
    let mut script = script.clone();
    for packet in script.turns.iter_mut().flatten() {
        if packet.starts_with(b"R\0\0\0\x0br=") {
            packet.splice(7..7 + LENGTH, *NONCE);
        }
    }
    script
}

#[test]
fn sessions_with_mariadb_go_as_recorded() {
    let db = shared_mariadb().unwrap().fresh_database("fuzz").unwrap();
    db.query(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, c VARCHAR(20), KEY k_t (k));
         INSERT INTO t VALUES (1, 10, 'one'), (2, NULL, 'zwei'), (3, 30, NULL);
         CREATE TABLE loaded (id INT, c VARCHAR(20));
         CREATE TABLE kinds (a TINYINT, b SMALLINT UNSIGNED, c INT, d BIGINT, e FLOAT, f DOUBLE,
           g DECIMAL(10,2), h DATE, i DATETIME(6), j TIME(3), k TIMESTAMP NULL, l YEAR, m BLOB,
           n BIT(9), o ENUM('x','y'), p JSON, q CHAR(3), r MEDIUMINT);
         INSERT INTO kinds VALUES (-1, 65535, -7, 9e15, 0.1, 1e-300, 12.34, '2026-11-21',
           '2026-11-21 20:05:23.123456', '-838:59:59.5', '2026-11-21 20:05:23', 2026,
           x'00ff', b'101', 'y', '{}', 'abc', 8388607),
           (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL);",
    )
    .unwrap();
    for script in recorded(Protocol::Mysql, &db) {
        for (n, turn) in script.turns.iter().enumerate().skip(1) {
            let mut bytes = Vec::new();
            for (n, packet) in turn.iter().enumerate() {
                bytes.extend_from_slice(&(packet.len() as u32).to_le_bytes()[..3]);
                bytes.push(n as u8 + 1);
                bytes.extend_from_slice(packet);
            }
            use fuzzing::mysql::{ReplyKind, reply};
            let kinds = [
                ReplyKind::Prepare,
                ReplyKind::Count,
                ReplyKind::Text,
                ReplyKind::Binary,
            ];
            for (flags, kind) in kinds.into_iter().enumerate() {
                let seen = reply(kind, true, false, &[&bytes], &mut RowSet::new());
                let well = matches!(&seen.end, Some(Ok(_))) && seen.unread == 0;
                if well && matches!(script.flags.program(), 0 | 3) {
                    let name = format!("recorded-{:02x}-{n:02}-{kind:?}", script.flags.0);
                    let head = [flags as u8 | 8, 5, 90];
                    write("mysql_replies", &name, &[&head[..], &bytes].concat());
                }
            }
        }
    }
}

#[test]
fn sessions_with_postgres_go_as_recorded() {
    let db = shared_postgres().unwrap().fresh_database("fuzz").unwrap();
    db.query(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, c VARCHAR(20)); CREATE INDEX k_t ON t (k);
         INSERT INTO t VALUES (1, 10, 'one'), (2, NULL, 'zwei'), (3, 30, NULL);
         CREATE TABLE loaded (id INT, c VARCHAR(20));
         CREATE TABLE kinds (a SMALLINT, b INT, c BIGINT, d REAL, e DOUBLE PRECISION,
           f NUMERIC(10,2), g DATE, h TIMESTAMPTZ, i INTERVAL, j BYTEA, k JSONB, l INT[], m UUID,
           n BOOLEAN, o CHAR(3));
         INSERT INTO kinds VALUES (-1, 7, 9e15, 0.1, 'NaN', 12.34, '2026-11-21', now(),
           '3 days', '\\x00ff', '{}', '{1,2}', '00000000-0000-0000-0000-000000000000', true, 'abc'),
           (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    )
    .unwrap();
    for script in recorded(Protocol::Postgres, &db) {
        for (n, turn) in script.turns.iter().enumerate().skip(1) {
            use fuzzing::postgres::{ReplyKind, reply};
            let bytes = with_lengths(turn);
            let columns = [3, 15];
            let kinds = [
                (0, ReplyKind::Prepare),
                (1, ReplyKind::Count),
                (3, ReplyKind::Rows(None)),
            ];
            let known = columns.map(|n| (4 | (n as u8) << 3, ReplyKind::Rows(Some(n))));
            for (flags, kind) in kinds.into_iter().chain(known) {
                let seen = reply(kind, &[&bytes], &mut RowSet::new());
                let well = seen.broken.is_none() && seen.over && seen.closed.is_ok();
                if well && matches!(script.flags.program(), 0 | 3) {
                    let name = format!("recorded-{:02x}-{n:02}-{flags:02x}", script.flags.0);
                    let head = [flags, 5, 90];
                    write("postgres_replies", &name, &[&head[..], &bytes].concat());
                }
            }
        }
    }
}
