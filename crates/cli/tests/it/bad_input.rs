//! What users get wrong: each leads to one clear message and the documented exit code.

use super::common;
use super::common::Workdir;
use tidemark_testkit::{shared_mariadb, shared_postgres};

/// A command line, its exit code, and what its message must hold.
struct Case<'a>(&'a str, i32, &'a [&'a str]);

/// Needs no server.
const USAGE: &[Case<'static>] = &[
    Case(
        "sysbench oltp_raed_only run",
        2,
        &[
            "unknown workload oltp_raed_only",
            "did you mean oltp_read_only",
        ],
    ),
    Case(
        "sysbench nothing_like_it run",
        2,
        &["unknown workload", "oltp_read_write"],
    ),
    Case(
        "sysbench oltp_insert rnu",
        2,
        &["unknown command rnu", "did you mean run"],
    ),
    Case(
        "sysbench oltp_insert",
        2,
        &["no command given", "prepare, prewarm, run, cleanup, help"],
    ),
    Case("sysbench run", 2, &["needs a script name"]),
    Case(
        "sysbench oltp_insert run extra",
        2,
        &["unrecognised word extra"],
    ),
    Case(
        "sysbench oltp_insert run --tabel-size=10",
        2,
        &["--tabel-size", "did you mean --table-size"],
    ),
    Case(
        "sysbench oltp_insert run --threads=0",
        2,
        &["--threads=0", "from 1 to 1000000", "--threads=1"],
    ),
    Case(
        "sysbench oltp_insert run --threads=-3",
        2,
        &["--threads=-3"],
    ),
    Case(
        "sysbench oltp_insert run --tables=abc",
        2,
        &["--tables=abc", "--tables=1"],
    ),
    Case(
        "sysbench oltp_insert run --table-size=1e3",
        2,
        &["--table-size=1e3"],
    ),
    Case(
        "sysbench oltp_insert run --rand-type=zipf",
        2,
        &["--rand-type=zipf", "did you mean zipfian"],
    ),
    Case(
        "sysbench oltp_insert run --skip-trx=maybe",
        2,
        &["--skip-trx=maybe", "on or off"],
    ),
    Case(
        "sysbench oltp_insert run --percentile=101",
        2,
        &["--percentile=101", "95,99,99.9"],
    ),
    Case(
        "sysbench oltp_insert run --report-checkpoints=5,x",
        2,
        &["--report-checkpoints=5,x", "30,60"],
    ),
    Case(
        "sysbench oltp_insert run --forced-shutdown=soon",
        2,
        &["--forced-shutdown=soon", "off"],
    ),
    Case(
        "sysbench oltp_insert run --rate=fast",
        2,
        &[
            "--rate=fast",
            "from 0.0001 to 1000000",
            "--rate=1000..20000:1000",
        ],
    ),
    Case(
        "sysbench oltp_insert prepare --rate=-1",
        2,
        &["--rate=-1", "-1 is neither 0"],
    ),
    Case(
        "sysbench oltp_insert run --target=sqlite:x.db --rate=1..2:1 --time=5",
        2,
        &["--time=5", "--rate-hold"],
    ),
    Case(
        "sysbench oltp_insert run --think-time=gauss:1s",
        2,
        &["--think-time=gauss:1s", "--think-time=exp:12s"],
    ),
    Case(
        "sysbench oltp_insert run --find-max=p99",
        2,
        &["--find-max=p99", "has no <", "p99 < 20ms"],
    ),
    Case(
        "sysbench oltp_insert run --target=sqlite:x.db --threads=2 --connections=3",
        2,
        &["--connections=3", "0 (one session per terminal) to 2"],
    ),
    Case(
        "sysbench oltp_insert run --statement-timeout=soon",
        2,
        &["--statement-timeout=soon", "us, ms, s, m or h"],
    ),
    Case(
        "sysbench oltp_insert run --fewer-sessions=maybe",
        2,
        &["--fewer-sessions=maybe", "fail, go-on"],
    ),
    Case(
        "sysbench ./mine.lua run",
        2,
        &["./mine.lua", "no such file", "oltp_read_write"],
    ),
    Case(
        "sysbench oltp_insert run --threads",
        2,
        &["--threads needs a value"],
    ),
    Case("sysbench oltp_insert run -t4", 2, &["two dashes"]),
    Case(
        "sysbench oltp_insert run --random-points=3",
        2,
        &["--random-points is not an option of oltp_insert"],
    ),
    Case(
        "sysbench oltp_insert run --config-file=absent.cfg",
        2,
        &["absent.cfg", "can't be read"],
    ),
    Case(
        "sysbench oltp_insert run --target=mysqk://u:geheim@h/db",
        2,
        &["mysqk", "for example mysql://"],
    ),
    Case(
        "sysbench oltp_insert run --target=mysql://u@h:70000/db",
        2,
        &["port 70000", "65535"],
    ),
    Case(
        "sysbench oltp_insert run --target=mysql://u@h/db?tsl=on",
        2,
        &["unknown key tsl", "did you mean tls"],
    ),
    Case(
        "sysbench oltp_insert run --mysql-host=a,b,c --mysql-port=1,2",
        2,
        &["2 ports for 3 hosts"],
    ),
    Case(
        "sysbench oltp_insert run --mysql-compression=on",
        2,
        &["--mysql-compression"],
    ),
    Case(
        "sysbench oltp_insert run --target=sqlite:x.db --report=report.pdf",
        2,
        &["report.pdf", ".html"],
    ),
    Case(
        "sysbench oltp_insert run --target=sqlite:x.db --out=no/such/folder/r.json",
        2,
        &["folder does not exist"],
    ),
    Case(
        "sysbench oltp_insert run --target=sqlite:x.db --out=/tmp",
        2,
        &["--out=/tmp: it is a folder", "--out=/tmp/run.json"],
    ),
    Case(
        "sysbench oltp_insert run --target=sqlite:x.db --report=/proc/x.md",
        2,
        &["--report=/proc/x.md: can't be written"],
    ),
    Case(
        "sysbench oltp_insert run --target=sqlite:x.db --rate=1000..3000:1000 --rate-hold=abc",
        2,
        &[
            "--rate-hold=abc",
            "a time from 1s",
            "for example --rate-hold=10s",
        ],
    ),
    Case(
        "sysbench oltp_insert run --target=sqlite:absent.db",
        6,
        &["absent.db", "prepare"],
    ),
    Case(
        "sysbench oltp_insert run --target=mysql://u@no-such-host.invalid/db",
        4,
        &["no-such-host.invalid"],
    ),
    Case(
        "sysbench oltp_insert run --target=mysql://u@127.0.0.1:1/db",
        4,
        &["127.0.0.1:1", "refused"],
    ),
    Case(
        "sysbench oltp_insert prepare --target=postgres://u@127.0.0.1:1/db",
        4,
        &["127.0.0.1:1"],
    ),
    Case("show nothing", 2, &["no run store here"]),
    Case(
        "report last --out report.docx",
        2,
        &["report.docx", ".html"],
    ),
    Case("demo --rows=0", 2, &["--rows", "1..=10000000"]),
    Case("frobnicate", 2, &["frobnicate"]),
    Case(
        "doctor mysql://u@127.0.0.1:1/db",
        4,
        &["connect", "127.0.0.1:1"],
    ),
];

fn check(dir: &Workdir, case: &Case<'_>, args: &[&str]) {
    let said = dir.run(args);
    assert_eq!(said.code, Some(case.1), "{}: {said:?}", case.0);
    let all = said.all();
    for part in case.2 {
        assert!(all.contains(part), "{}: {part:?} is not in {all:?}", case.0);
    }
    assert!(
        !all.contains("panicked") && !all.contains("geheim"),
        "{}: {all:?}",
        case.0
    );
}

#[test]
fn wrong_command_lines() {
    let dir = Workdir::new();
    for case in USAGE {
        let args: Vec<_> = case.0.split(' ').collect();
        check(&dir, case, &args);
    }
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|f| f.unwrap().file_name())
        .collect();
    assert!(left.is_empty(), "files were left behind: {left:?}");
}

/// On both servers; `{url}` is a fresh database's, `{bad}` the same with a wrong password, `{tls}`
/// asks for TLS of a server that has none.
const SERVERS: &[Case<'static>] = &[
    Case(
        "sysbench oltp_read_only run --target={url} --tables=2",
        6,
        &[
            "sbtest1 (and 1 more)",
            "run prepare first: tidemark sysbench oltp_read_only",
            "--tables=2",
            "prepare",
        ],
    ),
    Case("sysbench oltp_read_only run --target={bad}", 4, &["sbtest"]),
    Case(
        "sysbench oltp_read_only prepare --target={bad}",
        4,
        &["sbtest"],
    ),
    Case(
        "sysbench oltp_read_only run --target={tls}",
        4,
        &["TLS", "use tls=off"],
    ),
    Case(
        "sysbench oltp_read_only run {options}",
        4,
        &["TLS", "use {plain}"],
    ),
    Case("sysbench oltp_insert cleanup --target={url}", 0, &[]),
];

fn servers() -> [(&'static str, &'static tidemark_testkit::Endpoint); 2] {
    [
        ("mariadb", shared_mariadb().unwrap()),
        ("postgres", shared_postgres().unwrap()),
    ]
}

/// The target by sysbench's options, asking for TLS, and the option that does not.
fn tls_options(server: &tidemark_testkit::Endpoint, database: &str) -> (String, &'static str) {
    let target = server.target();
    let tidemark_core::Host::Tcp { host, port } = &target.hosts[0] else {
        panic!("no TCP host")
    };
    let (prefix, tls, plain) = match target.protocol {
        tidemark_core::Protocol::Mysql => ("mysql", "--mysql-ssl=on", "--mysql-ssl=off"),
        _ => (
            "pgsql",
            "--pgsql-sslmode=require",
            "--pgsql-sslmode=disable",
        ),
    };
    let options = format!(
        "--db-driver={prefix} --{prefix}-host={host} --{prefix}-port={port} --{prefix}-user={} \
         --{prefix}-db={database} {tls}",
        target.user
    );
    (options, plain)
}

#[test]
fn wrong_accounts_and_missing_tables() {
    for (name, server) in servers() {
        let database = server.fresh_database(&format!("bad_{name}")).unwrap();
        let url = database.url();
        let bad = url.replacen(":sbtest@", ":geheim@", 1);
        assert_ne!(url, bad);
        let (options, plain) = tls_options(server, database.name());
        let dir = Workdir::new();
        for case in SERVERS {
            let line = case.0.replace("{url}", &url).replace("{bad}", &bad);
            let line = line.replace("{tls}", &format!("{url}?tls=on"));
            let line = line.replace("{options}", &options);
            let args: Vec<_> = line.split(' ').collect();
            let parts: Vec<String> = case.2.iter().map(|p| p.replace("{plain}", plain)).collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            check(&dir, &Case(case.0, case.1, &parts), &args);
        }
    }
}

#[test]
fn a_users_own_table_is_never_touched() {
    for (name, server) in servers() {
        let database = server.fresh_database(&format!("own_{name}")).unwrap();
        database
            .query("CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, salary INTEGER)")
            .unwrap();
        database
            .query("INSERT INTO sbtest1 VALUES (1, 100)")
            .unwrap();
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        for command in ["prepare", "cleanup", "run"] {
            let said = dir.run(&[
                "sysbench",
                "oltp_read_write",
                &target,
                "--tables=2",
                command,
            ]);
            assert_eq!(said.code, Some(5), "{name} {command}: {said:?}");
            assert!(
                said.err.contains("sbtest1") && said.err.contains("not the benchmark's"),
                "{said:?}"
            );
            assert!(said.err.contains("--force"), "{said:?}");
            let there = database.query("SELECT salary FROM sbtest1").unwrap();
            assert!(there.contains("100"), "{there}");
            // Nothing half-made: the table that was not in the way isn't there either.
            assert!(database.query("SELECT * FROM sbtest2").is_err());
        }
        database
            .query("CREATE VIEW sbtest3 AS SELECT 1 AS id")
            .unwrap();
        for command in ["prepare", "cleanup"] {
            let args = [
                "sysbench",
                "oltp_read_write",
                &target,
                "--tables=3",
                "--force",
                command,
            ];
            let said = dir.run(&args);
            assert_eq!(said.code, Some(5), "{name} {command}: {said:?}");
            assert!(said.err.contains("view"), "{said:?}");
        }
        // Not even --replace drops it; --force does, when asked by name.
        let said = dir.run(&[
            "sysbench",
            "oltp_read_write",
            &target,
            "--replace",
            "prepare",
        ]);
        assert_eq!(said.code, Some(5), "{said:?}");
        dir.ok(&[
            "sysbench",
            "oltp_read_write",
            &target,
            "--force",
            "--table-size=10",
            "prepare",
        ]);
        assert!(database.query("SELECT salary FROM sbtest1").is_err());
    }
}

#[test]
fn a_table_that_is_there_is_not_loaded_twice() {
    for (name, server) in servers() {
        let database = server.fresh_database(&format!("twice_{name}")).unwrap();
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        let args = [
            "sysbench",
            "oltp_read_write",
            &target,
            "--table-size=100",
            "prepare",
        ];
        dir.ok(&args);
        let said = dir.run(&args);
        assert_eq!(said.code, Some(5), "{said:?}");
        assert!(
            said.err.contains("100 rows") && said.err.contains("--replace"),
            "{said:?}"
        );
        dir.ok(&[
            "sysbench",
            "oltp_read_write",
            &target,
            "--table-size=50",
            "--replace",
            "prepare",
        ]);
        assert!(
            database
                .query("SELECT COUNT(*) FROM sbtest1")
                .unwrap()
                .contains("50")
        );
    }
}

#[test]
fn a_password_is_not_in_the_process_list_nor_in_the_record() {
    let server = shared_mariadb().unwrap();
    let database = server.fresh_database("secret").unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    dir.ok(&[
        "sysbench",
        "oltp_read_write",
        &target,
        "--table-size=100",
        "prepare",
    ]);
    let child = dir.spawn(&[
        "sysbench",
        "oltp_read_write",
        &target,
        "--table-size=100",
        "--time=2",
        "--out=record.json",
        "run",
    ]);
    let shown = || std::fs::read_to_string(format!("/proc/{}/cmdline", child.id())).unwrap();
    common::wait_until("the password to leave the process list", || {
        shown().contains(":***@")
    });
    assert!(!shown().contains(":sbtest@"), "{}", shown());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let record = std::fs::read_to_string(dir.path().join("record.json")).unwrap();
    assert!(record.contains(":***@") && !record.contains(":sbtest@"));
}
