//! `tidemark ycsb` as its users meet it, on every engine.

use super::common::{Said, Workdir};
use std::collections::BTreeMap;
use tidemark_core::Host;
use tidemark_testkit::{Database, Endpoint, shared_mariadb, shared_postgres};

/// The database's word, the properties that connect, and the database; SQLite has none.
fn engines(purpose: &str) -> Vec<(&'static str, Vec<String>, Option<Database>)> {
    let sqlite = ("sqlite", vec!["-p".into(), "sqlite.db=a.db".into()], None);
    let servers = [
        ("mysql", shared_mariadb().unwrap()),
        ("pg", shared_postgres().unwrap()),
    ];
    let mut all = vec![sqlite];
    for (name, server) in servers {
        let database = server.fresh_database(&format!("{purpose}_{name}")).unwrap();
        all.push((
            name,
            properties(name, server, database.name()),
            Some(database),
        ));
    }
    all
}

/// As a user of go-ycsb would write them.
fn properties(name: &str, server: &Endpoint, database: &str) -> Vec<String> {
    let target = server.target();
    let tcp = target.hosts.iter().find_map(|h| match h {
        Host::Tcp { host, port } => Some((host, port)),
        Host::Unix(_) => None,
    });
    let (host, port) = tcp.expect("servers of tests listen on TCP");
    [
        ("host", host.clone()),
        ("port", port.to_string()),
        ("user", target.user.clone()),
        ("password", target.password.reveal().into()),
        ("db", database.into()),
    ]
    .iter()
    .flat_map(|(property, value)| ["-p".into(), format!("{name}.{property}={value}")])
    .collect()
}

fn run(dir: &Workdir, name: &str, connection: &[String], command: &str, line: &str) -> Said {
    let mut args = vec!["ycsb", command, name];
    args.extend(connection.iter().map(String::as_str));
    args.extend(line.split_whitespace());
    dir.run(&args)
}

fn ok(dir: &Workdir, name: &str, connection: &[String], command: &str, line: &str) -> Said {
    let said = run(dir, name, connection, command, line);
    assert_eq!(said.code, Some(0), "{name} {command} {line}: {said:?}");
    said
}

/// Operations and their fields, as a parser of go-ycsb's summary reads them.
fn summary(out: &str) -> BTreeMap<String, BTreeMap<String, f64>> {
    let after = out.split("Run finished, takes ").nth(1).unwrap();
    after
        .lines()
        .filter_map(|line| line.split_once(" - Takes(s): "))
        .map(|(operation, rest)| {
            let fields = format!("Takes(s): {rest}");
            let fields = fields.split(", ").map(|field| {
                let (name, value) = field.split_once(": ").unwrap();
                (name.to_string(), value.parse().unwrap())
            });
            (operation.trim().to_string(), fields.collect())
        })
        .collect()
}

const RECORDS: &str = "-p recordcount=500 -p fieldcount=3 -p fieldlength=30";

#[test]
fn the_paper_s_workloads_on_every_engine() {
    for (name, connection, _database) in engines("ycsb") {
        let dir = Workdir::new();
        let said = ok(
            &dir,
            name,
            &connection,
            "load",
            &format!("-P workloads/workloada {RECORDS} -p batch.size=100 --threads 2"),
        );
        assert!(said.out.contains("\"recordcount\"=\"500\""), "{said:?}");
        assert!(
            said.out
                .contains("Verified 'usertable': 500 rows, 64 sampled"),
            "{name}: {said:?}"
        );
        assert!(said.out.contains("INSERT - Takes(s): "), "{said:?}");

        for letter in ["a", "b", "c", "f", "e", "d"] {
            let line =
                format!("-P workload{letter} {RECORDS} -p operationcount=400 --threads 4 --seed 5");
            let said = ok(&dir, name, &connection, "run", &line);
            let lines = summary(&said.out);
            let count = |operation: &str| lines.get(operation).map_or(0.0, |f| f["Count"]);
            let (reads, updates, inserts, scans, both) = (
                count("READ"),
                count("UPDATE"),
                count("INSERT"),
                count("SCAN"),
                count("READ_MODIFY_WRITE"),
            );
            // The parts of a READ_MODIFY_WRITE count, too.
            assert_eq!(
                reads + updates + inserts + scans - both,
                400.0,
                "{letter}: {lines:?}"
            );
            assert_eq!(
                count("TOTAL"),
                reads + updates + inserts + scans,
                "{letter}: {lines:?}"
            );
            assert_eq!(both > 0.0, letter == "f", "{letter}");
            assert_eq!(scans > 0.0, letter == "e", "{letter}");
            assert_eq!(inserts > 0.0, ["d", "e"].contains(&letter), "{letter}");
            for fields in lines.values() {
                assert!(fields["Min(us)"] <= fields["50th(us)"], "{fields:?}");
                assert!(fields["50th(us)"] <= fields["99.99th(us)"], "{fields:?}");
                assert!(fields["99.99th(us)"] <= fields["Max(us)"], "{fields:?}");
            }
            let record = dir.last_record();
            assert_eq!(record["workload"], "ycsb");
            assert_eq!(record["totals"]["all"]["count"], 400, "{letter}");
            let parts = record["totals"]["parts"]["UPDATE"]["count"].as_f64();
            assert_eq!(parts.unwrap_or(0.0), both, "{letter}");
            assert_eq!(record["totals"]["notes"]["missing_record"], 0, "{letter}");
            // Workload d comes after e, which inserted; a to f keep the records as they are.
            let warned = said
                .err
                .contains("HINT: recordcount=500, but table usertable has");
            assert_eq!(warned, letter == "d", "{letter}: {said:?}");
        }
    }
}

#[test]
fn values_are_verified_and_what_is_missing_is_told() {
    for (name, connection, _database) in engines("ycsb_integrity") {
        let dir = Workdir::new();
        let line = format!("{RECORDS} -p dataintegrity=true");
        ok(&dir, name, &connection, "load", &line);
        let mix = "-p readproportion=0.4 -p updateproportion=0.2 -p scanproportion=0.1 \
                   -p insertproportion=0.1 -p readmodifywriteproportion=0.2 \
                   -p requestdistribution=latest -p maxscanlength=20 -p operationcount=600";
        let report = "--report r.md,r.html,r.txt --out r.json";
        let said = ok(
            &dir,
            name,
            &connection,
            "run",
            &format!("{line} {mix} {report} --threads 3"),
        );
        assert!(!said.out.contains("Missing records"), "{name}: {said:?}");
        let markdown = std::fs::read_to_string(dir.path().join("r.md")).unwrap();
        assert!(markdown.contains("YCSB operations"), "{markdown}");
        assert!(markdown.contains("every value read matched its key"));
        assert!(
            markdown.contains("READ and UPDATE include those within"),
            "{markdown}"
        );

        // Loaded without: what is read is not what it must be.
        let plain = format!("{RECORDS} --table other");
        ok(&dir, name, &connection, "load", &plain);
        let said = run(
            &dir,
            name,
            &connection,
            "run",
            &format!("{plain} -p dataintegrity=true -p operationcount=10"),
        );
        assert_eq!(said.code, Some(3), "{said:?}");
        assert!(said.err.contains("validation failed: field"), "{said:?}");

        // More records than there are.
        let said = ok(
            &dir,
            name,
            &connection,
            "run",
            "-p recordcount=1000 -p fieldcount=3 -p fieldlength=30 --table other -p readproportion=0.5 \
             -p updateproportion=0.5 -p operationcount=400 --lang zh",
        );
        assert!(
            said.err
                .contains("recordcount=1000，但表 other 有 500 行：缺少 500 条待访问的记录"),
            "{said:?}"
        );
        assert!(said.out.contains("次读取未找到记录"), "{said:?}");
        let notes = &dir.last_record()["totals"]["notes"];
        for note in ["missing_record", "noop_update"] {
            let count = notes[note].as_u64().unwrap();
            assert!((50..200).contains(&count), "{name}: {note}: {notes}");
        }
    }
}

#[test]
fn updates_that_write_what_is_there_have_hit_their_records() {
    for (name, connection, _database) in engines("ycsb_same") {
        let dir = Workdir::new();
        let line = format!("{RECORDS} -p dataintegrity=true -P workloada");
        ok(&dir, name, &connection, "load", &line);
        let line = format!("{line} -p operationcount=1000 --threads 2");
        let said = ok(&dir, name, &connection, "run", &line);
        let told = said.out.contains("change nothing");
        assert_eq!(told, name == "mysql", "{said:?}");
        let totals = &dir.last_record()["totals"];
        assert_eq!(totals["notes"]["noop_update"], 0, "{name}: {totals}");
        assert_eq!(totals["statements"]["noop_writes"], 0, "{name}: {totals}");
        assert!(totals["statements"]["write"].as_u64().unwrap() > 300);
        let shown = dir.ok(&["show", "last"]).out;
        assert!(!shown.contains("no-op-writes"), "{name}: {shown}");
        assert!(!shown.contains("changed nothing"), "{name}: {shown}");
    }
}

#[test]
fn a_run_that_would_find_none_of_its_records_is_refused() {
    for (name, connection, _database) in engines("ycsb_there") {
        let dir = Workdir::new();
        ok(&dir, name, &connection, "load", RECORDS);
        let other = format!("{RECORDS} -p insertorder=ordered -p operationcount=10");
        let said = run(&dir, name, &connection, "run", &other);
        assert_eq!(said.code, Some(5), "{name}: {said:?}");
        for word in [
            "user0, user250, user499 are missing",
            "insertorder",
            "--force",
        ] {
            assert!(said.err.contains(word), "{name}: {said:?}");
        }
        let forced = format!("{other} --force");
        let said = ok(&dir, name, &connection, "run", &forced);
        assert!(
            said.out
                .contains("WARNING: the first, middle and last of the records"),
            "{said:?}"
        );
        let tables = &dir.last_record()["tables_before"][0];
        assert_eq!(tables["expected_rows"], 500, "{tables}");
    }
}

#[test]
fn only_a_table_of_ycsb_is_dropped() {
    for (name, connection, database) in engines("ycsb_drop") {
        let dir = Workdir::new();
        let target = match &database {
            Some(database) => database.url(),
            None => "sqlite:a.db".into(),
        };
        let line = "-p recordcount=20 -p fieldcount=2";
        ok(&dir, name, &connection, "load", line);
        let said = run(&dir, name, &connection, "load", line);
        assert_eq!(said.code, Some(5), "{said:?}");
        let said = ok(
            &dir,
            name,
            &connection,
            "load",
            &format!("{line} -p dropdata=true"),
        );
        assert!(
            said.out.contains("Verified 'usertable': 20 rows"),
            "{said:?}"
        );
        // A table of somebody else's under the same name: sysbench's.
        ok_args(
            &dir,
            &[
                "sysbench",
                "oltp_point_select",
                "--table-size=10",
                &format!("--target={target}"),
                "prepare",
            ],
        );
        for command in ["load", "run"] {
            let said = run(
                &dir,
                name,
                &connection,
                command,
                &format!("{line} --table sbtest1 -p dropdata=true -p operationcount=1"),
            );
            assert_eq!(said.code, Some(5), "{name} {command}: {said:?}");
        }
        let said = ok_args(
            &dir,
            &[
                "sysbench",
                "oltp_point_select",
                "--table-size=10",
                &format!("--target={target}"),
                "--events=5",
                "run",
            ],
        );
        assert!(said.out.contains("total number of events"), "{said:?}");
    }
}

fn ok_args(dir: &Workdir, args: &[&str]) -> Said {
    dir.ok(args)
}

#[test]
fn figures_come_while_it_runs_and_programs_get_json() {
    let dir = Workdir::new();
    let connection = ["-p".to_string(), "sqlite.db=a.db".to_string()];
    let run = |command: &str, line: &str| ok(&dir, "sqlite", &connection, command, line);
    run("load", "-P workloadc -p recordcount=100");
    let timed = "-P workloadc -p recordcount=100 -p operationcount=0 -p maxexecutiontime=3 \
                 -p measurement.interval=1";
    let said = run("run", timed);
    let before = said.out.split("Run finished").next().unwrap();
    let counts: Vec<u64> = before
        .lines()
        .filter_map(|line| line.strip_prefix("READ   - Takes(s): "))
        .map(|rest| {
            let count = rest.split(", ").find_map(|f| f.strip_prefix("Count: "));
            count.unwrap().parse().unwrap()
        })
        .collect();
    // Of the run so far: each is more than the one before.
    assert!(counts.len() >= 2 && counts.is_sorted(), "{counts:?}");

    let said = run(
        "run",
        "-P workloadc -p recordcount=100 -p operationcount=50 -p outputstyle=json",
    );
    let figures: serde_json::Value = serde_json::from_str(said.out.trim()).unwrap();
    assert_eq!(figures[0]["Operation"], "READ");
    assert_eq!(figures[0]["Count"], "50");
    assert!(said.err.contains("Run finished, takes"), "{said:?}");

    // A throughput to keep.
    let said = run("run", &format!("{timed} --target 200"));
    let reads = summary(&said.out)["READ"]["Count"];
    assert!((500.0..=610.0).contains(&reads), "{reads}");
    let options = dir.last_record()["options"].take();
    assert_eq!(options["rate"]["value"], "200");
    assert_eq!(options["arrivals"]["value"], "constant");
}

#[test]
fn a_run_without_a_table_names_the_command_that_loads_it() {
    let dir = Workdir::new();
    let connection = ["-p".to_string(), "sqlite.db=none.db".to_string()];
    let said = run(
        &dir,
        "sqlite",
        &connection,
        "run",
        "-P workloadc -p recordcount=7",
    );
    assert_eq!(said.code, Some(6), "{said:?}");
    assert!(
        said.err.contains(
            "tidemark ycsb load sqlite -P workloadc -p recordcount=7 -p sqlite.db=none.db"
        ),
        "{said:?}"
    );
    let said = run(&dir, "sqlite", &connection, "load", "");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("-p recordcount=100000"), "{said:?}");
}

#[test]
fn batches_are_for_loads_and_a_run_says_so() {
    let dir = Workdir::new();
    let sqlite = &["-p".to_string(), "sqlite.db=batch.db".to_string()];
    let said = ok(
        &dir,
        "sqlite",
        sqlite,
        "load",
        &format!("-P workloadc {RECORDS} -p batch.size=100"),
    );
    // 500 records.
    assert!(said.out.contains(", 5 commits"), "{said:?}");
    assert!(!said.out.contains("WARNING: batch.size"), "{said:?}");
    let run = format!("-P workloadc {RECORDS} -p operationcount=20");
    let batched = ok(
        &dir,
        "sqlite",
        sqlite,
        "run",
        &format!("{run} -p batch.size=100"),
    );
    let warning = "\nWARNING: batch.size=100 applies only to load; a run executes operations one \
                   by one\n";
    assert!(batched.out.contains(warning), "{batched:?}");
    let record = dir.last_record();
    assert_eq!(record["totals"]["all"]["count"], 20);
    assert_eq!(record["totals"]["statements"]["read"], 20);
    let single = ok(&dir, "sqlite", sqlite, "run", &run);
    assert!(!single.out.contains("WARNING: batch.size"), "{single:?}");
}
