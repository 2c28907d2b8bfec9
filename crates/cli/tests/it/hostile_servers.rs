//! What a server calls itself and what it answers is shown, and never obeyed by a terminal.

use super::common::{Said, Workdir};
use nix::pty::openpty;
use std::fs;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::thread;
use tidemark_lab::{Lab, LabConfig};

/// Words of the laboratory's greeting and errors, and what a hostile server says instead. Lengths are
/// the same, so that the packets stay whole: a colour, a new title for the window with its end (BEL),
/// a screen that is cleared, and U+009B, which begins such a sequence by itself.
const INSTEAD: [(&[u8], &[u8]); 3] = [
    (b"tidemark-lab", b"\x1b[31mX\x1b[2J\x07\r"),
    (b"denied for user", b"\x1b]0;owned\x07 \xc2\x9b3m"),
    (b" does not exist", b"\x1b]0;owned\x07\xc2\x9b31m"),
];

/// A laboratory behind a relay that changes what it says.
struct Hostile {
    _lab: Lab,
    mysql: String,
    postgres: String,
}

impl Hostile {
    fn start(user: Option<&str>) -> Self {
        let lab = Lab::start(LabConfig {
            user: user.map(Into::into),
            tables: 1,
            table_size: 100,
            ..LabConfig::default()
        })
        .unwrap();
        let through = |url: String| {
            let (scheme, rest) = url.split_once("://").unwrap();
            let place = rest.split_once('@').unwrap().1;
            let (address, database) = place.split_once('/').unwrap();
            let relay = relay(address.parse().unwrap());
            format!("{scheme}://other@{relay}/{database}")
        };
        Self {
            mysql: through(lab.mysql_url().unwrap()),
            postgres: through(lab.postgres_url().unwrap()),
            _lab: lab,
        }
    }

    fn urls(&self) -> [&str; 2] {
        [&self.mysql, &self.postgres]
    }
}

fn relay(to: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(to).unwrap();
            let (requests, out) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass(requests, out, &[]));
            thread::spawn(move || pass(server, client, &INSTEAD));
        }
    });
    address
}

fn pass(mut from: TcpStream, mut to: TcpStream, instead: &[(&[u8], &[u8])]) {
    let mut buffer = [0; 16384];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let bytes = &mut buffer[..n];
        for (word, other) in instead {
            assert_eq!(word.len(), other.len());
            for at in 0..bytes.len().saturating_sub(word.len() - 1) {
                if bytes[at..].starts_with(word) {
                    bytes[at..at + word.len()].copy_from_slice(other);
                }
            }
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

fn harmless(text: &str, what: &str) {
    let obeyed = |c: &char| c.is_control() && !matches!(c, '\n' | '\t');
    let found: Vec<char> = text.chars().filter(obeyed).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
}

/// Runs a command, of which nothing may be obeyed.
fn said(work: &Workdir, words: &[&str]) -> Said {
    let said = work.run(words);
    harmless(&said.out, &format!("{words:?}"));
    harmless(&said.err, &format!("{words:?}"));
    said
}

/// Standard output as a terminal gets it, which puts a return before each line feed itself.
fn on_terminal(work: &Workdir, words: &[&str]) -> String {
    let pair = openpty(None, None).unwrap();
    let side = |end: &OwnedFd| Stdio::from(end.try_clone().unwrap());
    let mut command = work.command(words);
    let mut child = command.stdout(side(&pair.slave)).spawn().unwrap();
    drop(command);
    drop(pair.slave);
    let mut shown = Vec::new();
    // Its end is an error (EIO).
    let _ = File::from(pair.master).read_to_end(&mut shown);
    assert!(child.wait().unwrap().success(), "{words:?}");
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}

#[test]
fn no_command_passes_on_what_a_terminal_obeys() {
    let hostile = Hostile::start(None);
    let work = Workdir::new();
    for url in hostile.urls() {
        let target = format!("--target={url}");
        let found = said(&work, &["doctor", url]);
        assert!(
            found.all().contains("[31mX"),
            "the version is told: {found:?}"
        );
        let sizes = [
            "--tables=1",
            "--table-size=100",
            "--threads=1",
            "--events=5",
        ];
        let sysbench = [&["sysbench", "oltp_point_select", &target], &sizes[..]].concat();
        for command in ["prepare", "run"] {
            said(&work, &[&sysbench[..], &[command]].concat());
        }
        let ran = said(&work, &[&sysbench[..], &["run"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.out.contains("[31mX"), "{ran:?}");
        for command in ["prepare", "run", "check"] {
            said(
                &work,
                &["tpcc", &target, "--warehouses=1", "--time=1s", command],
            );
            said(&work, &["tpch", &target, "--sf=1", command]);
        }
        let database = url.split(':').next().unwrap();
        for command in ["load", "run"] {
            let words = ["ycsb", command, database, "-p", "recordcount=10", &target];
            said(&work, &words);
        }
        for words in [
            &["runs"][..],
            &["show", "last"],
            &["show", "last", "--json"],
            &["report", "last", "-o", "-", "--format", "md"],
            &["report", "last", "-o", "-", "--format", "txt"],
            &["compare", "last", "last"],
            &["delete", "last"],
        ] {
            said(&work, words);
        }
        for (format, file) in [("md", "a.md"), ("txt", "a.txt"), ("json", "a.json")] {
            said(&work, &["report", "last", "--format", format, "-o", file]);
            let text = fs::read_to_string(work.path().join(file)).unwrap();
            harmless(&text, file);
        }
        // Data keeps what it is for programs, and on a terminal nothing of it is obeyed.
        let csv = ["report", "last", "-o", "-", "--format", "csv"];
        assert!(work.ok(&csv).out.contains('\u{1b}'));
        for words in [
            &csv[..],
            &["export", "last", "--format", "csv"],
            &["export", "last", "--format", "hdr"],
            &["export", "last"],
        ] {
            harmless(&on_terminal(&work, words), &format!("{words:?}"));
        }
        let study = format!(
            "name = \"s\"\ntime = \"1s\"\n[target.t]\nurl = \"{url}\"\n[workload.w]\nuse = \
             \"oltp_point_select\"\ntables = 1\ntable-size = 100\n[load]\nthreads = [1]\n"
        );
        fs::write(work.path().join("study.toml"), study).unwrap();
        for words in [
            &["study", "run", "study.toml"][..],
            &["study", "status"],
            &["study", "status", "last", "--output"],
        ] {
            said(&work, words);
        }
    }
}

#[test]
fn errors_of_a_server_are_not_obeyed_either() {
    let hostile = Hostile::start(Some("nobody"));
    let work = Workdir::new();
    for url in hostile.urls() {
        let target = format!("--target={url}");
        for words in [
            &["doctor", url][..],
            &["sysbench", "oltp_point_select", &target, "prepare"],
            &["sysbench", "oltp_point_select", &target, "run"],
            &["sysbench", "oltp_point_select", &target, "cleanup"],
            &["tpcc", &target, "run"],
            &["tpch", &target, "run"],
            &["ycsb", "run", "mysql", &target],
        ] {
            let found = said(&work, words);
            assert!(found.code != Some(0), "{words:?}: {found:?}");
        }
        let found = said(&work, &["doctor", url]);
        assert!(found.all().contains("]0;owned"), "{found:?}");
    }
}

/// Names of files and records from elsewhere are shown, too.
#[test]
fn words_and_records_from_elsewhere_are_not_obeyed() {
    const ESCAPE: &str = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";
    let work = Workdir::new();
    let point = ["sysbench", "oltp_point_select", "--db-driver=sqlite"];
    work.ok(&[&point[..], &["--table-size=100", "prepare"]].concat());
    let run = ["--table-size=100", "--events=5", "--out=a.json", "run"];
    work.ok(&[&point[..], &run].concat());
    let text = fs::read_to_string(work.path().join("a.json")).unwrap();
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["id"] = "other".into();
    for place in ["workload", "target", "note"] {
        record[place] = format!("x{ESCAPE}").into();
    }
    record["server"]["version"] = format!("1{ESCAPE}").into();
    record["client"]["hostname"] = format!("h{ESCAPE}").into();
    let name = format!("{ESCAPE}.json");
    fs::write(work.path().join(&name), record.to_string()).unwrap();
    let imported = said(&work, &["import", &name]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    for words in [
        &["runs"][..],
        &["show", "other"],
        &["report", "other", "-o", "-"],
        &["report", "other", &name, "-o", "-"],
        &["compare", "other", "last"],
        &["note", "other"],
        &["tag", "other"],
        &["export", "other", "-o", &name],
        &["show", ESCAPE],
        &[ESCAPE],
        &["runs", ESCAPE],
        &["study", "run", ESCAPE],
        &["sysbench", ESCAPE, "run"],
        &["ycsb", "run", "mysql", "-P", ESCAPE],
    ] {
        said(&work, words);
    }
}
