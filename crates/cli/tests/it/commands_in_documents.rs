//! Every `tidemark` command that stands in a document is run.
//!
//! Only what a reader puts in himself is put in (hosts, accounts, ids), and what takes long is made
//! short ([`INSTEAD`]); each of these must be needed, so that none outlives the command it is for.

use super::clients::Nats;
use super::common::{Said, TIDEMARK, Workdir};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use tidemark_core::Host;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// Seconds after which a command is ended and counts as failed.
const LIMIT_S: &str = "100";

/// A script of a reader's own, and a database without tables.
const MINE: &str = r#"echo 'function thread_init() con = sysbench.sql.driver():connect() end function event() con:query("SELECT 1") end' > mine.lua && touch mine.db"#;

/// What is typed before the commands of some documents, and which: in this order.
const DOCUMENTS: &[(&str, &[&str])] = &[
    (
        "docs/guide.md",
        &[
            "tidemark tag last +wrong",
            "tidemark study run studies/sweep.toml",
        ],
    ),
    (
        "README.md",
        &[
            "tidemark tpch --target sqlite:tpch.db --sf 0.01 prepare",
            "tidemark oltpbench -c workload_all.xml --load=true",
            MINE,
        ],
    ),
    ("docs/compatibility.md", &[]),
    ("docs/cli.md", &[]),
    ("docs/clients.md", &[]),
    (
        "docs/import.md",
        &[
            "rm -rf results && mkdir results && cp results.md results/",
            r#"printf 'source = "dstat"\n[time]\ncolumn = "t"\nformat = "rfc3339"\n' > dstat.toml"#,
            r#"printf '[[column]]\ncolumn = "usr"\nname = "cpu.user"\nunit = "ratio"\n' >> dstat.toml"#,
            r#"began=$(tidemark show last --json | grep -o '"load_began_at": "[^"]*' | cut -d '"' -f 4) && printf "t,usr\n$began,5\n" > dstat.csv"#,
        ],
    ),
    ("docs/jobs.md", &[]),
    ("docs/metrics.md", &[]),
    (
        "docs/observe.md",
        &["tidemark sysbench oltp_read_write --target=$postgres prepare"],
    ),
    ("docs/reports.md", &[]),
    ("docs/studies.md", &[]),
    ("docs/findings.md", &[]),
    ("docs/scripts.md", &[MINE]),
    ("docs/store.md", &["cp store.db recovered.db"]),
    ("docs/testing.md", &[]),
    ("docs/workloads.md", &[]),
    ("bench/README.md", &[]),
    ("CONTRIBUTING.md", &[]),
];

/// What stands there, and what is typed in its place.
const INSTEAD: &[(&str, &str)] = &[
    // A reader's own hosts, accounts and runs.
    ("mysql://user@127.0.0.1:3306/sbtest", "$first"),
    ("mysql://u@other/db", "$url"),
    ("postgres://user@host:5433/db", "$postgres"),
    ("postgres://app@db1/bench", "$postgres"),
    ("http://db1:9100/metrics", "http://127.0.0.1:1/metrics"),
    (
        "-H 127.0.0.1 -P 3306 -U user -D tpcc",
        "-H 127.0.0.1 -P $port -U sbtest -D $db",
    ),
    (
        "-H 127.0.0.1 -P 3306 -U user -D tpch",
        "-H 127.0.0.1 -P $port -U sbtest -D $tpch",
    ),
    (
        "-p mysql.user=user -p mysql.db=ycsb",
        "-p mysql.port=$port -p mysql.user=sbtest -p mysql.db=$db",
    ),
    ("660a 3c95 4e24", "${before//,/ }"),
    ("660a", "${before%%,*}"),
    (
        "/opt/postgresql-18",
        "$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)",
    ),
    (" --nodes=10.0.0.1,10.0.0.2", ""),
    // It waits for runs until it is ended: 124 says that it did.
    (
        "tidemark agent --nats nats://HOST:4222",
        "timeout 1 tidemark agent --nats $nats; [ $? = 124 ]",
    ),
    ("nats://HOST:4222", "$nats"),
    // Sizes and times.
    ("--time 10m", "--time 1s"),
    ("--table-size=250000", "--table-size=10000"),
    ("--file-total-size=1G", "--file-total-size=8M"),
    ("--warehouses 4", "--warehouses 1"),
    ("--warehouses 10 -T 100", "--warehouses 1 -T 10"),
    ("--connections 20 ", "--connections 2 "),
    (
        "--warehouses=10 --load=true",
        "--warehouses=1 --load=true --replace",
    ),
    ("--warehouses=10", "--warehouses=1"),
    ("--sf 1 ", "--sf 0.01 "),
    ("--sf 0.1 ", "--sf 0.01 "),
    ("recordcount=1000000", "recordcount=1000"),
    // A Payment is typed for three seconds.
    ("--time 30m", "--time 12s"),
    ("--time 5m", "--time 1s"),
    ("--time=300", "--time=1"),
    ("--time=60", "--time=1"),
    (
        "--warmup-time=10 --report-interval=10",
        "--warmup-time=1 --report-interval=1",
    ),
    (
        "--rate=1000..20000:1000 --rate-hold=10s",
        "--rate=1000..2000:1000 --rate-hold=2s",
    ),
    (
        "--threads=1000 --connections=50",
        "--threads=100 --connections=5",
    ),
    (
        "--threads=8 --print-job",
        "--threads=8 --time=1 --print-job",
    ),
    ("--budget 5m", "--budget 20s"),
    // Others may use the port.
    ("--metrics=9090", "--metrics=127.0.0.1:0"),
    // As many minutes as the search takes.
    (
        "--find-max='p95 < 5ms and errors < 0.1%'",
        "--find-max='p95 < 5ms and errors < 0.1%' --print-job",
    ),
    (
        "--find-max='p99 < 20ms'",
        "--find-max='p99 < 20ms' --print-job",
    ),
    // Nobody is there to be asked.
    ("delete --tag wrong", "delete --tag wrong --yes"),
];

/// What stands there and is no whole command: parts that the text speaks of.
const PARTS: &[&str] = &[
    "tidemark compare --format json",
    "tidemark sysbench oltp_read_write --target=$url --tables=4",
];

fn root() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).to_path_buf()
}

/// The commands of a document, as they stand there: lines of blocks, and words in backquotes.
fn commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let mut found = Vec::new();
    let mut in_block = false;
    for line in joined.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let line = line.split("  # ").next().unwrap_or(line).trim();
            let line = line.split(" # ").next().unwrap_or(line).trim();
            if line.starts_with("tidemark ") || line.starts_with("… --") {
                found.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        } else {
            let spans = line.split('`').skip(1).step_by(2);
            found.extend(
                spans
                    .filter(|s| s.starts_with("tidemark "))
                    .map(String::from),
            );
        }
    }
    found
}

/// Whether it has a place for something: `FILE`, `A B`, `…` within, `run|resume`.
fn has_places(command: &str) -> bool {
    let is_place = |word: &str| {
        let letters: String = word
            .chars()
            .take_while(|c| c.is_ascii_alphabetic())
            .collect();
        !letters.is_empty()
            && letters == word.split('.').next().unwrap_or(word)
            && letters.chars().all(|c| c.is_ascii_uppercase())
    };
    command.contains('…')
        || command.contains("|run")
        || command.contains("|pg")
        || command.contains("|record")
        || command.split(' ').skip(1).any(is_place)
}

/// Runs that are there before anything is typed, and a record of the last.
fn measured(work: &Workdir) -> Vec<(&'static str, String)> {
    let bench = ["sysbench", "oltp_read_only", "--target=sqlite:a.db"];
    work.ok(&[&bench[..], &["prepare"]].concat());
    let record = ["--events=200", "--out=record.json", "--overwrite", "run"];
    let three = |tag: &'static str| {
        let one = |_| {
            work.ok(&[&bench[..], &record].concat());
            work.ok(&["tag", "last", &format!("+{tag}")]);
            work.last_record()["id"].as_str().unwrap().to_string()
        };
        (tag, (0..3).map(one).collect::<Vec<_>>().join(","))
    };
    vec![three("before"), three("after")]
}

/// Where the commands are typed.
struct Desk {
    work: Workdir,
    databases: Vec<(&'static str, Database)>,
    /// Those of three runs each that have the tags `before` and `after`.
    ids: Vec<(&'static str, String)>,
    nats: Nats,
}

impl Desk {
    fn new() -> Self {
        let work = Workdir::new();
        let link = |name: &str| {
            std::os::unix::fs::symlink(root().join(name), work.path().join(name)).unwrap();
        };
        link("workloads");
        let study =
            |name: &str| std::fs::read_to_string(root().join("studies").join(name)).unwrap();
        let short = study("quick-sqlite.toml")
            .replace("\"4s\"", "\"1s\"")
            .replace("warmup = \"1s\"", "warmup = \"0s\"")
            .replace("[1, 2, 4]", "[1]")
            .replace("repeats = 2", "repeats = 1");
        let sweep = short.replace("quick look at SQLite", "thread sweep");
        let xml = std::fs::read_to_string(root().join("workloads/tpcc.xml")).unwrap();
        let xml = xml.replace("<time>10<", "<time>1<");
        std::fs::create_dir(work.path().join("studies")).unwrap();
        for (name, text) in [
            ("studies/quick-sqlite.toml", short.as_str()),
            ("studies/sweep.toml", &sweep),
            ("workload_all.xml", &xml),
            (
                "results.md",
                "| threads | TPS | QPS |\n|---|---|---|\n| 8 | 100 | 2000 |\n| 16 | 150 | 3000 |\n",
            ),
        ] {
            std::fs::write(work.path().join(name), text).unwrap();
        }
        let mysql = |name| shared_mariadb().unwrap().fresh_database(name).unwrap();
        let postgres = shared_postgres()
            .unwrap()
            .fresh_database("documents")
            .unwrap();
        let ids = measured(&work);
        Self {
            work,
            ids,
            nats: Nats::start(),
            databases: vec![
                ("url", mysql("documents")),
                ("first", mysql("documents_first")),
                ("tpch", mysql("documents_tpch")),
                ("postgres", postgres),
            ],
        }
    }

    /// Types it; gives what went wrong.
    fn typed(&self, line: &str) -> Result<(), String> {
        let program = Path::new(TIDEMARK);
        let (folder, path) = (program.parent().unwrap(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("timeout");
        shell
            .args(["--kill-after=5", LIMIT_S, "bash", "-c", line])
            .current_dir(self.work.path())
            .env("PATH", format!("{}:{path}", folder.display()))
            .env("HOME", self.work.path())
            .env("XDG_DATA_HOME", self.work.path().join("data"))
            .env("TIDEMARK_STORE", self.work.path().join("store.db"))
            .env("MYSQL_PWD", "sbtest")
            .env("PGPASSWORD", "sbtest")
            .env("nats", &self.nats.url)
            .envs(self.ids.iter().cloned())
            .stdin(Stdio::null());
        for (name, database) in &self.databases {
            let url = database.url().replace("sbtest:sbtest@", "sbtest@");
            shell.env(
                name,
                if *name == "tpch" {
                    database.name()
                } else {
                    &url
                },
            );
            if *name == "url" {
                let Host::Tcp { port, .. } = database.endpoint().target().hosts[0] else {
                    panic!("{url} has no port");
                };
                shell
                    .env("port", port.to_string())
                    .env("db", database.name());
            }
        }
        let begun = Instant::now();
        let said = Said::of(&shell.output().unwrap());
        println!("{:.1} s: {line}", begun.elapsed().as_secs_f64());
        // What can't be removed is not there, and that is what it says.
        if line == "tidemark down --forget mariadb" {
            assert!(said.err.contains("there is no sandbox mariadb"), "{said:?}");
            return Ok(());
        }
        // A busy machine, or a regression that `--fail-if` is asked to find, makes 3 of it.
        let judges = line.contains("--fail-if") || line.contains(" audit ");
        match said.is_done() || judges && said.code == Some(3) {
            true => Ok(()),
            false => Err(format!("{line}: {said:?}")),
        }
    }
}

#[test]
fn every_command_in_a_document_works() {
    let desk = Desk::new();
    let help = desk.work.ok(&["--help"]).out;
    let (mut failed, mut done) = (Vec::new(), BTreeSet::new());
    let (mut used, mut parts) = (BTreeSet::new(), BTreeSet::new());
    for (name, before) in DOCUMENTS {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        for line in *before {
            desk.typed(line).unwrap();
            done.insert((*line).to_string());
        }
        for command in commands(&text) {
            if has_places(command.trim_start_matches('…')) {
                continue;
            }
            if let Some(part) = PARTS.iter().find(|part| **part == command) {
                parts.insert(*part);
                continue;
            }
            let words: Vec<&str> = command.split(' ').collect();
            if words.len() == 2 && words[0] == "tidemark" {
                let known =
                    words[1].starts_with('-') || help.contains(&format!("\n  {} ", words[1]));
                if !known {
                    failed.push(format!("{name}: {command}: no such command"));
                }
                continue;
            }
            let typed = as_typed(&command, &mut used);
            if done.insert(typed.clone())
                && let Err(why) = desk.typed(&typed)
            {
                failed.push(format!("{name}: {command}: {why}"));
            }
        }
    }
    desk.typed("tidemark down --all").unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    assert!(done.len() > 50, "{done:?}");
    let all: BTreeSet<&str> = INSTEAD.iter().map(|(there, _)| *there).collect();
    assert_eq!(used, all);
    assert_eq!(parts, PARTS.iter().copied().collect());
}

/// A command with what a reader puts in.
fn as_typed(command: &str, used: &mut BTreeSet<&'static str>) -> String {
    let mut typed = match command.strip_prefix('…') {
        Some(rest) => format!("{}{rest}", PARTS[1]),
        None => command.to_string(),
    };
    for (there, instead) in INSTEAD {
        if typed.contains(there) {
            used.insert(there);
            typed = typed.replace(there, instead);
        }
    }
    // "Commands without a URL also take `--target=URL`."
    let runs = typed.starts_with("tidemark sysbench ") && typed.ends_with(" run");
    let of_machine = ["cpu", "memory", "fileio", "threads", "mutex"];
    let is_of_machine = of_machine
        .iter()
        .any(|test| typed.starts_with(&format!("tidemark sysbench {test} ")));
    if runs && !is_of_machine && !typed.contains("--target=") {
        typed = typed.replace(" run", " --target=$url --tables=4 run");
    }
    if typed.starts_with("tidemark diagnose ") && !typed.contains("--budget") {
        typed.push_str(" --budget 20s");
    }
    let is_timed = ["--time=", "--rate-hold=", "--find-max="];
    if runs && !is_timed.iter().any(|option| typed.contains(option)) {
        typed = typed.replace(" run", " --time=1 run");
    }
    typed
}
