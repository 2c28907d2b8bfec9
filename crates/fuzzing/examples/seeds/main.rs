//! Writes the seeds of the corpora that need no server and no expectation into `fuzz/corpus/`:
//! `cargo run -p tidemark-fuzzing --example seeds`. Each keeps its target's promises, or is not written.

#![allow(clippy::unwrap_used)] // a developer's tool says where it fails

mod collected;
#[path = "../../tests/it/seeds/mod.rs"]
#[allow(dead_code)] // what tests write
mod corpora;
mod documents;
mod records;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Tries a seed, and writes it.
fn write(target: &str, name: &str, data: &[u8]) {
    tidemark_fuzzing::run(target, data);
    let folder = corpora::folder(target);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), data).unwrap();
}

fn main() {
    what_users_write();
    study_files();
    for (name, text) in documents::DOCUMENTS {
        write("import", &format!("written-{name}"), text.as_bytes());
    }
    for (name, text) in collected::SERIES {
        write("series", &format!("written-{name}"), text.as_bytes());
    }
    for (name, text) in collected::TOPOLOGIES {
        write("topology", &format!("written-{name}"), text.as_bytes());
    }
    a_public_key();
    answers_to_what_was_sent_ahead();
    records::records();
    records::a_store();
}

fn what_users_write() {
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

fn a_public_key() {
    let pem = include_str!("../../../drivers/tests/data/mysql/rsa-public.pem");
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
fn answers_to_what_was_sent_ahead() {
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
