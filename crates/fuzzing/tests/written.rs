//! The seeds of the corpora that need no server; see `recorded.rs`.

// clippy.toml allows it in functions marked as tests; these are their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod seeds;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seeds::write;
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::record::*;
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};
use tidemark_core::{Engine, ErrorClass, Protocol, ServerInfo, Source};
use tidemark_fuzzing::{CUT, Flags, NONCE, PACKET, Script, play};
use tidemark_stats::Histogram;
use tidemark_store::{Store, to_json};

#[test]
fn what_users_write_is_taken() {
    let texts: &[(u8, &str)] = &[
        (
            0,
            "# four sessions\nthreads = 4\ntable-size=10k ; rows\nskip-trx\nmysql-db=\"my db\"\n\
             rand_type=zipfian\nrand-zipfian-exp=0.8\nrange_size=100\n--point-selects=10\n",
        ),
        (
            0,
            "bool=on\nint=-7k\nfloat=0.5\ntime-limit=1.5s\nthink-time=exp:12s\nrate=1000..20000:1000\n\
             find-max='p99 < 20ms and errors < 0.1%'\nchoice=one\nlist=a,b\n",
        ),
        (
            1,
            "mysql://user:pw@h1:4000,[::1]:4001,h3/db?tls=verify-full&ca=/ca.pem&cert=c&key=k",
        ),
        (1, "postgres://user@/db?host=/var/run/postgresql"),
        (1, "mysql://u%3A@/d%2Fb?socket=/run/mysqld/mysqld.sock"),
        (1, "sqlite:bench.db"),
        (1, "mysql://us,sqlite"),
        (1, "mysql://u:p@h1:3307,h2/db,mysql://u@h3/db?socket=/a"),
        (1, "mysql://u:p@h1:3307,h2/db,mysql://u@h3/db?role=read"),
        (1, "postgres://u@h/db?role=read&tls=on"),
        (2, "1000..20000:1000,5,3..1:0.5"),
        (2, "0.5"),
        (2, "1000..2000:20010"),
        (1, "postgres://@h/?host=./un,55&ca=x"),
        (5, "/pass?word\nh1/db"),
        (5, "&a:1,mysql://h3/db?tls=x\ndb"),
        (3, "p99.9 <= 1s and errors < 0.1%, avg < 250us, max<1m"),
        (4, "exp:1.5h"),
        (4, "250us"),
        (5, "w@:/?#%\nh1:4000,h2/db?password=x&tls=on"),
    ];
    for (n, (which, text)) in texts.iter().enumerate() {
        let data = [&[*which], text.as_bytes()].concat();
        write("config", &format!("written-{n:02}"), &data);
    }
}

/// The examples, and what is wrong in many ways.
#[test]
fn study_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        write(
            "study",
            &format!("written-{name}"),
            &std::fs::read(path).unwrap(),
        );
    }
    for (name, text) in [
        ("empty", ""),
        ("no-toml", "a = = [\n[[x]\n\"\u{1}"),
        (
            "unknown",
            "nam = 1\n[[target]]\nurll = 1\n[[workload]]\nname = 1979-05-27\n",
        ),
        (
            "nested",
            "[[factor]]\nvalues = [[[[[[[[{ a = { b = { c = 1 } } }]]]]]]]]\n",
        ),
        (
            "numbers",
            "repeats = 0x10\nseed = 1_0\nload = { threads = [0, 1e9, nan, -1], rates = inf }\n",
        ),
        (
            "passwords",
            "# mysql://u:p@h/d\n[[target]]\nname = \"a\"\nurl = 'mysql://u:p@h/d'\npassword = \"x\"\n",
        ),
    ] {
        write("study", &format!("written-{name}"), text.as_bytes());
    }
}

#[test]
fn a_public_key_is_taken() {
    let pem = include_str!("../../drivers/tests/data/mysql/rsa-public.pem");
    assert!(tidemark_drivers::fuzzing::mysql::encrypts(pem.as_bytes()));
    let text: String = pem.lines().filter(|l| !l.starts_with('-')).collect();
    let der = STANDARD.decode(text).unwrap();
    write(
        "mysql_replies",
        "written-empty-packet",
        b"\0\0\0\0\0\0\xFA\xFF\xFF\xFF\x2B\xFF",
    );
    write(
        "mysql_replies",
        "written-key",
        &[&[4, 0, 0], &der[..]].concat(),
    );
}

/// Autocommit is off; one row was changed; an error; the statement's own answer.
#[test]
fn answers_to_what_was_sent_ahead_are_read() {
    let answers: [&[u8]; 4] = [
        b"\x07\0\0\x01\0\0\0\0\0\0\0",
        b"\x07\0\0\x01\0\x01\0\x01\0\0\0",
        b"\x0d\0\0\x01\xff\xbd\x04#40001dead",
        b"\x07\0\0\x01\0\x02\0\x01\0\0\0",
    ];
    let head = [5 | 8 | 3 << 4, 3, 40];
    write(
        "mysql_replies",
        "written-ahead",
        &[&head[..], &answers.concat()].concat(),
    );
}

/// A greeting of MySQL 8 ("Protocol::HandshakeV10").
fn greeting(plugin: &str) -> Vec<u8> {
    let mut g = b"\x0a8.4.3\0\x07\0\0\0abcdefgh\0".to_vec();
    g.extend_from_slice(&[0xDF, 0xF7, 45, 2, 0, 0x3F, 0x01, 21]);
    g.extend_from_slice(&[0; 10]);
    g.extend_from_slice(b"12345678ijkl\0");
    g.extend_from_slice(plugin.as_bytes());
    g.push(0);
    g
}

#[test]
fn other_ways_of_authentication_go_their_way() {
    let pem = include_bytes!("../../drivers/tests/data/mysql/rsa-public.pem");
    let ok: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
    let sha2 = greeting("caching_sha2_password");
    let native = greeting("mysql_native_password");
    let switch = |plugin: &str, nonce: &[u8]| [b"\xFE", plugin.as_bytes(), &[0], nonce].concat();
    let key = [b"\x01", &pem[..]].concat();
    let nonce = b"abcdefgh12345678ijkl\0";
    let scripts: Vec<(&str, Vec<Vec<u8>>, &str)> = vec![
        (
            "sha2-key",
            vec![sha2.clone(), vec![1, 4], key, ok.to_vec()],
            "",
        ),
        (
            "sha2-cached",
            vec![sha2.clone(), [&[1, 3], &PACKET[..], ok].concat()],
            "",
        ),
        (
            "sha2-switch",
            vec![
                native.clone(),
                switch("caching_sha2_password", nonce),
                vec![1, 3],
                ok.to_vec(),
            ],
            "",
        ),
        (
            "ed25519",
            vec![
                native.clone(),
                switch("client_ed25519", &[7; 32]),
                ok.to_vec(),
            ],
            "",
        ),
        (
            "clear",
            vec![native.clone(), switch("mysql_clear_password", b"")],
            "in clear",
        ),
        (
            "unknown",
            vec![native.clone(), switch("auth_gssapi_client", b"")],
            "auth_gssapi_client",
        ),
        ("old", vec![native, vec![0xFE]], "before 4.1"),
        (
            "full",
            vec![b"\xFF\x10\x04#08004Too many connections".to_vec()],
            "Too many connections",
        ),
    ];
    for (name, turns, why) in scripts {
        let data = [&[16 + 8], &turns.join(&CUT[..])[..]].concat();
        let ended = play(Protocol::Mysql, Script::read(&data));
        match ended.steps {
            Ok(_) => assert_eq!(why, "", "{name}"),
            Err(e) => assert!(!why.is_empty() && e.message.contains(why), "{name}: {e}"),
        }
        write("mysql_session", &format!("written-{name}"), &data);
    }
    let first = [
        b"R\0\0\0\x0br=",
        &NONCE[..],
        b"3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
    ]
    .concat();
    let hours = [&first[..first.len() - 4], b"4294967295"].concat();
    let scripts: Vec<(&str, Vec<&[u8]>, &str)> = vec![
        ("md5", vec![b"R\0\0\0\x05salt", b"R\0\0\0\0"], "closed"),
        ("clear", vec![b"R\0\0\0\x03"], "clear text"),
        (
            "scram",
            vec![
                b"R\0\0\0\x0aSCRAM-SHA-256\0\0",
                &first,
                b"R\0\0\0\x0cv=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
            ],
            "did not prove",
        ),
        (
            "scram-hours",
            vec![b"R\0\0\0\x0aSCRAM-SHA-256\0\0", &hours],
            "4294967295 iterations",
        ),
        ("md5-again", vec![b"R\0\0\0\x05salt"; 20], "no end"),
        (
            "behind",
            vec![b"R\0\0\0\0\xF8PKTZI\xF8PKTCSELECT 1\0"],
            "nothing asked for",
        ),
        (
            "refused",
            vec![b"ESFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0"],
            "too many clients",
        ),
        (
            "negotiated",
            vec![b"v\0\x03\0\0\0\0\0\0", b"R\0\0\0\0"],
            "closed",
        ),
    ];
    for (name, turns, why) in scripts {
        let data = [&[16 + 8], &turns.join(&CUT[..])[..]].concat();
        let error = play(Protocol::Postgres, Script::read(&data))
            .steps
            .unwrap_err();
        assert!(error.message.contains(why), "{name}: {error}");
        write("postgres_session", &format!("written-{name}"), &data);
    }
    assert_eq!(Script::read(&[24]).flags, Flags(24));
}

fn latencies(values_us: std::ops::Range<u64>) -> TypeStats {
    let mut h = Histogram::new();
    values_us.for_each(|us| h.record(Duration::from_micros(us)));
    let encoded = EncodedHistogram(h.encode());
    TypeStats {
        count: h.count(),
        service: encoded.clone(),
        server: Some(encoded.clone()),
        response: Some(encoded.clone()),
        wait: Some(encoded),
        ..TypeStats::default()
    }
}

fn interval(n: i64) -> Interval {
    Interval {
        start_ms: n * 1000,
        length_ms: 1000.5,
        phase: if n < 0 { Phase::Warmup } else { Phase::Measure },
        sessions: 4,
        statements: StatementCounts {
            read: 14,
            write: 4,
            other: 2,
            noop_writes: 1,
        },
        ignored_errors: 1,
        rate: Some(10.0),
        delayed_arrivals: 2,
        dropped_arrivals: 1,
        outage_ms: 10.5,
        types: BTreeMap::from([("oltp_read_write".into(), latencies(1000..1004))]),
        ..Interval::default()
    }
}

fn record() -> RunRecord {
    let totals = Totals {
        elapsed_s: 2.5,
        types: BTreeMap::from([("oltp_read_write".into(), latencies(1000..1008))]),
        all: latencies(1000..1008),
        lateness: Some(latencies(1..3).service),
        outage_s: 0.5,
        hosts: vec![HostLoad {
            host: "h1:3306".into(),
            ..HostLoad::default()
        }],
        ..Totals::default()
    };
    RunRecord {
        schema_version: SCHEMA_VERSION,
        id: "01932b7e-53a0-7c11-8a70-0c1d2e3f4a5b".into(),
        tidemark_version: "0.1.0".into(),
        started_at: "2026-11-21T20:05:23.123Z".into(),
        state: RunState::Finished,
        workload: "oltp_read_write".into(),
        target: "mysql://sbtest:***@h1:3306/sbtest".into(),
        server: Some(ServerInfo {
            engine: Engine::Mariadb,
            version: "11.4.2-MariaDB".into(),
        }),
        options: BTreeMap::from([(
            "threads".into(),
            EffectiveOption {
                value: "4".into(),
                source: Source::CommandLine,
            },
        )]),
        sessions: 4,
        executors: 2,
        rate: Some(10.0),
        inject_rtt_ms: 20.0,
        terminals: Some(100),
        tables_after: vec![TableState {
            table: "sbtest1".into(),
            rows: 10,
            expected_rows: Some(10),
            min_key: Some(1),
            max_key: None,
        }],
        intervals: (-1..3).map(interval).collect(),
        steps: vec![Step {
            purpose: StepPurpose::Climb,
            rate: Some(10.0),
            start_ms: 0,
            totals: totals.clone(),
            verdict: Some(StepVerdict {
                kept: true,
                because: "p99 17.1 ms".into(),
            }),
        }],
        outages: vec![Outage {
            host: "h1:3306".into(),
            start_ms: 100,
            length_ms: 500.5,
            ended: true,
            first_error: "2002: refused".into(),
        }],
        errors: vec![ErrorCount {
            code: "1213".into(),
            class: ErrorClass::Retryable,
            count: 3,
            first_message: "Deadlock found".into(),
        }],
        totals,
        series: series().into(),
        ..RunRecord::default()
    }
}

/// One without gaps, one with, and a second piece of the first.
fn series() -> [Series; 3] {
    [(0, 1), (0, 3), (40, 1)].map(|(first, step)| {
        let labels = format!("{step}");
        let key = SeriesKey::new("client-host", "cpu.busy", "ratio", Measures::Rate);
        let mut builder = SeriesBuilder::new(key.with("core", labels), 2, 1000);
        for n in 0..40 {
            builder.push((first + n * step) * 1000, (n * n % 17) as f64 / 17.0);
        }
        builder.series().unwrap()
    })
}

#[test]
fn a_record_is_read_and_reported() {
    let record = record();
    let text = to_json(&record).unwrap();
    write(
        "record",
        "written-record",
        &[b"\0", text.as_bytes()].concat(),
    );
    let closed = RunRecord {
        rate: None,
        steps: vec![],
        outages: vec![],
        intervals: vec![],
        ..record.clone()
    };
    let text = to_json(&closed).unwrap().replace("\n", " ");
    write(
        "record",
        "written-closed",
        &[b"\0", text.as_bytes()].concat(),
    );
    let lines = [latencies(1..50), latencies(70_000..70_009)].map(|t| t.service.0);
    let data = format!("\x01{}", lines.join("\n"));
    write("record", "written-histograms", data.as_bytes());
    let lines: Vec<String> = series()
        .iter()
        .map(|s| serde_json::to_string(s).unwrap())
        .collect();
    let data = format!("\x02{}", lines.join("\n"));
    write("record", "written-series", data.as_bytes());
}

#[test]
fn a_store_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    store.import(&record()).unwrap();
    drop(store);
    let data = std::fs::read(&path).unwrap();
    assert_eq!(data.get(68..72), Some(&b"TIDM"[..]));
    write("store", "written", &data);
}
