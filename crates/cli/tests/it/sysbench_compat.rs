//! Beside the real sysbench: its tables serve our runs, ours serve its runs, and one parser reads
//! the output of both.

use super::common::{Said, TIDEMARK, Workdir};
use std::collections::BTreeMap;
use std::process::Command;
use tidemark_testkit::{Endpoint, shared_mariadb, shared_postgres};

/// sysbench's way to name a target; passwords go through a configuration file.
fn connection(dir: &Workdir, server: &Endpoint, database: &str) -> String {
    let target = server.target();
    let tidemark_core::Host::Tcp { host, port } = &target.hosts[0] else {
        panic!("no TCP host")
    };
    let (driver, prefix) = match target.protocol {
        tidemark_core::Protocol::Mysql => ("mysql", "mysql"),
        _ => ("pgsql", "pgsql"),
    };
    let file = dir.path().join("connection.cfg");
    let text = format!(
        "db-driver={driver}\n{prefix}-host={host}\n{prefix}-port={port}\n{prefix}-user={}\n\
         {prefix}-password={}\n{prefix}-db={database}\n",
        target.user,
        target.password.reveal()
    );
    std::fs::write(&file, text).unwrap();
    format!("--config-file={}", file.display())
}

fn real_sysbench(args: &[&str]) -> Said {
    let output = Command::new("sysbench")
        .args(args)
        .output()
        .expect("the real sysbench is needed: apt-get install sysbench");
    Said::of(&output)
}

fn servers() -> [(&'static str, &'static Endpoint); 2] {
    [
        ("mariadb", shared_mariadb().unwrap()),
        ("postgres", shared_postgres().unwrap()),
    ]
}

const SCRIPTS: &[&str] = &[
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_delete",
    "oltp_insert",
    "select_random_points",
    "select_random_ranges",
];

/// sysbench has these two read one table only.
fn tables(script: &str) -> &'static str {
    if script.starts_with("select_random") {
        "--tables=1"
    } else {
        "--tables=2"
    }
}

#[test]
fn tables_of_either_serve_the_other() {
    for (name, server) in servers() {
        let dir = Workdir::new();
        let database = server.fresh_database(&format!("interop_{name}")).unwrap();
        let config = connection(&dir, server, database.name());
        let shape = ["--tables=2", "--table-size=1000"];
        // Theirs, used and dropped by ours.
        let made = real_sysbench(&[&config, shape[0], shape[1], "oltp_read_write", "prepare"]);
        assert_eq!(made.code, Some(0), "{name}: {made:?}");
        for script in SCRIPTS {
            let args = ["sysbench", script, &config, tables(script), shape[1]];
            dir.ok(&[&args[..], &["--threads=2", "--events=50", "run"]].concat());
        }
        let dropped = dir.ok(&["sysbench", "oltp_read_write", &config, shape[0], "cleanup"]);
        assert!(
            dropped.out.contains("Dropping table 'sbtest2'..."),
            "{name}: {dropped:?}"
        );
        // Ours, used and dropped by theirs.
        dir.ok(&[
            "sysbench",
            "oltp_read_write",
            &config,
            shape[0],
            shape[1],
            "--threads=2",
            "prepare",
        ]);
        for script in SCRIPTS {
            let args = [*script, &config, tables(script), shape[1], "--events=50"];
            let ran = real_sysbench(&[&args[..], &["run"]].concat());
            assert_eq!(ran.code, Some(0), "{name} {script}: {ran:?}");
        }
        let dropped = real_sysbench(&["oltp_read_write", &config, shape[0], "cleanup"]);
        assert_eq!(dropped.code, Some(0), "{name}: {dropped:?}");
        assert!(database.query("SELECT 1 FROM sbtest1").is_err());
    }
}

/// What people's scripts read out of sysbench's output: `name: value` of the summary, and the
/// intermediate lines.
#[derive(Debug, Default)]
struct Parsed {
    fields: BTreeMap<String, f64>,
    intervals: Vec<BTreeMap<String, f64>>,
}

fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    // Which errors were ignored is told after what sysbench prints.
    for line in text.lines().take_while(|line| *line != "Errors:") {
        if let Some(rest) = line.strip_prefix("[ ") {
            let words: Vec<_> = rest.split_whitespace().collect();
            let mut fields = BTreeMap::new();
            fields.insert(
                "at".to_string(),
                words[0].trim_end_matches('s').parse().unwrap(),
            );
            for pair in words.windows(2).filter(|p| p[0].ends_with(':')) {
                if let Ok(value) = pair[1].trim_end_matches(')').parse() {
                    fields.insert(pair[0].trim_end_matches(':').to_string(), value);
                }
            }
            let lat = words.iter().position(|w| w.starts_with("(ms,")).unwrap();
            fields.insert(words[lat].to_string(), words[lat + 1].parse().unwrap());
            parsed.intervals.push(fields);
        } else if let Some((name, value)) = line.split_once(':') {
            let mut numbers = value
                .split(|c: char| !(c.is_ascii_digit() || c == '.'))
                .filter_map(|w| w.parse::<f64>().ok());
            if let (true, Some(first)) = (line.starts_with(' '), numbers.next()) {
                parsed.fields.insert(name.trim().to_string(), first);
                if let Some(second) = numbers.next() {
                    parsed.fields.insert(format!("{} 2", name.trim()), second);
                }
            }
        }
    }
    parsed
}

#[test]
fn one_parser_reads_both() {
    for (name, server) in servers() {
        let dir = Workdir::new();
        let database = server.fresh_database(&format!("parser_{name}")).unwrap();
        let config = connection(&dir, server, database.name());
        dir.ok(&[
            "sysbench",
            "oltp_read_write",
            &config,
            "--table-size=1000",
            "prepare",
        ]);
        let args = [
            "oltp_read_write",
            &config,
            "--table-size=1000",
            "--threads=2",
            "--time=2",
            "--report-interval=1",
            "--rand-seed=7",
            "run",
        ];
        let ours = dir.ok(&[&["sysbench"], &args[..]].concat());
        let theirs = real_sysbench(&args);
        assert_eq!(theirs.code, Some(0), "{theirs:?}");
        let (o, t) = (parse(&ours.out), parse(&theirs.out));
        assert_eq!(
            o.fields.keys().collect::<Vec<_>>(),
            t.fields.keys().collect::<Vec<_>>(),
            "{name}: the summaries have the same fields"
        );
        assert!(!o.fields.is_empty() && !o.intervals.is_empty());
        assert_eq!(
            o.intervals[0].keys().collect::<Vec<_>>(),
            t.intervals[0].keys().collect::<Vec<_>>(),
            "{name}: the lines have the same fields"
        );
        for parsed in [&o, &t] {
            // 14 reads a transaction; those that errors cut off (deadlocks, of few rows) had as many
            // or fewer, and one in progress at the end is in neither count.
            let ended = 14.0 * parsed.fields["transactions"];
            let begun = ended + 14.0 * (parsed.fields["ignored errors"] + 2.0);
            assert!(
                (ended..=begun).contains(&parsed.fields["read"]),
                "{name}: {parsed:?}"
            );
            assert_eq!(
                parsed.fields["total"],
                parsed.fields["read"] + parsed.fields["write"] + parsed.fields["other"]
            );
        }
    }
}

#[test]
fn a_link_named_sysbench_is_the_sysbench_command() {
    let dir = Workdir::new();
    let link = dir.path().join("sysbench");
    std::os::unix::fs::symlink(TIDEMARK, &link).unwrap();
    let by_link = Command::new(&link)
        .args(["oltp_read_only", "help"])
        .output()
        .unwrap();
    let by_word = dir.ok(&["sysbench", "oltp_read_only", "help"]);
    assert_eq!(Said::of(&by_link).out, by_word.out);
    assert!(by_word.out.contains("--range-size"));
    let help = Command::new(&link).arg("--help").output().unwrap();
    assert!(Said::of(&help).out.contains("--mysql-host"));
}

#[test]
fn warm_up_rate_checkpoints_percentiles_and_histogram() {
    let dir = Workdir::new();
    let target = "--target=sqlite:a.db";
    dir.ok(&[
        "sysbench",
        "oltp_point_select",
        target,
        "--table-size=1000",
        "prepare",
    ]);
    let said = dir.ok(&[
        "sysbench",
        "oltp_point_select",
        target,
        "--table-size=1000",
        "--threads=2",
        "--time=4",
        "--warmup-time=1",
        "--rate=200",
        "--report-interval=1",
        "--report-checkpoints=2",
        "--percentile=50,99",
        "--histogram",
        "run",
    ]);
    assert!(said.out.contains("Checkpoint report:"), "{said:?}");
    assert!(said.out.contains("queue length:"), "{said:?}");
    assert!(said.out.contains("Latency histogram"), "{said:?}");
    assert!(
        said.out.contains("50th percentile:") && said.out.contains("99th percentile:"),
        "{said:?}"
    );
    let record = dir.last_record();
    let totals = &record["totals"];
    let events = totals["all"]["count"].as_f64().unwrap();
    // A Poisson count of mean 800: five standard deviations are 141.
    assert!(
        (659.0..941.0).contains(&events),
        "{events} events at 200 a second in 4 s"
    );
    assert!(
        totals["all"]["response"].is_string(),
        "response times are kept beside service times"
    );
    let phases: Vec<_> = record["intervals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["phase"].as_str().unwrap())
        .collect();
    assert_eq!(phases[0], "warmup");
    assert!(phases.contains(&"measure"));
}

#[test]
fn events_and_seeds() {
    let dir = Workdir::new();
    let target = "--target=sqlite:a.db";
    dir.ok(&[
        "sysbench",
        "oltp_point_select",
        target,
        "--table-size=1000",
        "prepare",
    ]);
    let said = dir.ok(&[
        "sysbench",
        "oltp_point_select",
        target,
        "--table-size=1000",
        "--threads=3",
        "--events=1000",
        "--time=0",
        "--rand-seed=5",
        "run",
    ]);
    assert!(
        said.out
            .contains("total number of events:              1000"),
        "{said:?}"
    );
    assert!(said.out.contains("from seed (5)"), "{said:?}");
    assert_eq!(dir.last_record()["seed"], 5);
    let quiet = dir.ok(&[
        "sysbench",
        "oltp_point_select",
        target,
        "--table-size=1000",
        "--events=10",
        "--verbosity=0",
        "run",
    ]);
    assert_eq!(quiet.out, "");
}

#[test]
fn a_table_with_fewer_rows_than_asked_for_is_told() {
    let dir = Workdir::new();
    let target = "--target=sqlite:a.db";
    let args = ["sysbench", "oltp_point_select", target];
    dir.ok(&[&args[..], &["--table-size=100", "prepare"]].concat());
    let said = dir.ok(&[&args[..], &["--table-size=1000", "--events=10", "run"]].concat());
    assert!(
        said.err
            .contains("--table-size=1000, but table sbtest1 has 100 rows"),
        "{said:?}"
    );
    let said = dir.ok(&[&args[..], &["--table-size=100", "--events=10", "run"]].concat());
    assert!(!said.err.contains("--table-size"), "{said:?}");
}

#[test]
fn debug_tells_of_each_session() {
    let dir = Workdir::new();
    let args = [
        "sysbench",
        "oltp_point_select",
        "--target=sqlite:a.db",
        "--table-size=100",
    ];
    dir.ok(&[&args[..], &["prepare"]].concat());
    let run = ["--threads=3", "--events=90", "--debug", "run"];
    let said = dir.ok(&[&args[..], &run].concat());
    let events: u64 = said
        .out
        .lines()
        .filter_map(|l| {
            l.strip_prefix("DEBUG:     thread #")?
                .split("events: ")
                .nth(1)
        })
        .map(|rest| rest.split(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(events, 90, "{said:?}");
}

#[test]
fn bulk_insert_counts_rows() {
    for (name, server) in servers() {
        let dir = Workdir::new();
        let database = server.fresh_database(&format!("bulk_{name}")).unwrap();
        let config = connection(&dir, server, database.name());
        dir.ok(&["sysbench", "bulk_insert", &config, "--threads=2", "prepare"]);
        dir.ok(&[
            "sysbench",
            "bulk_insert",
            &config,
            "--threads=2",
            "--events=5000",
            "run",
        ]);
        let rows: u64 = ["sbtest1", "sbtest2"]
            .iter()
            .map(|t| {
                database
                    .query(&format!("SELECT COUNT(*) FROM {t}"))
                    .unwrap()
                    .trim()
                    .parse::<u64>()
                    .unwrap()
            })
            .sum();
        assert_eq!(rows, 5000, "{name}");
        dir.ok(&["sysbench", "bulk_insert", &config, "--threads=2", "cleanup"]);
    }
}
