//! `tidemark oltpbench` as its users meet it, on every engine.

use super::common::{Workdir, loaded};
use std::collections::BTreeMap;
use std::path::Path;
use tidemark_core::Host;
use tidemark_testkit::{Database, Endpoint, shared_mariadb, shared_postgres};

const TYPES: &str = "\
    <transactiontypes>
        <transactiontype><name>NewOrder</name></transactiontype>
        <transactiontype><name>Payment</name></transactiontype>
        <transactiontype><name>OrderStatus</name></transactiontype>
        <transactiontype><name>Delivery</name></transactiontype>
        <transactiontype><name>StockLevel</name></transactiontype>
    </transactiontypes>";

/// Two phases: as fast as replies come, and a rate that every engine keeps.
const WORKS: &str = "\
    <works>
        <work>
            <time>2</time><warmup>1</warmup>
            <rate>unlimited</rate>
            <weights>45,43,4,4,4</weights>
        </work>
        <work>
            <time>2</time>
            <rate>20</rate>
            <ratelimited bench=\"tpcc\">true</ratelimited>
            <weights>20,20,20,20,20</weights>
        </work>
    </works>";

/// Name, what a file says of the database, and the database of each server; SQLite has none.
fn engines(purpose: &str) -> Vec<(&'static str, String, Option<Database>)> {
    let sqlite = "<type>SQLITE</type><url>jdbc:sqlite:a.db</url>";
    let mut all = vec![("sqlite", sqlite.to_string(), None)];
    for (name, server) in [
        ("mariadb", shared_mariadb().unwrap()),
        ("postgres", shared_postgres().unwrap()),
    ] {
        let database = server.fresh_database(&format!("{purpose}_{name}")).unwrap();
        let said = elements(name, server, database.name());
        all.push((name, said, Some(database)));
    }
    all
}

/// MariaDB by a URL, PostgreSQL by its parts.
fn elements(name: &str, server: &Endpoint, database: &str) -> String {
    let target = server.target();
    let tcp = |host: &Host| match host {
        Host::Tcp { host, port } => Some((host.clone(), *port)),
        Host::Unix(_) => None,
    };
    let (host, port) = target.hosts.iter().find_map(tcp).unwrap();
    let account = format!(
        "<username>{}</username><password>{}</password>",
        target.user,
        target.password.reveal()
    );
    match name {
        "mariadb" => format!(
            "<type>MARIADB</type><driver>org.mariadb.jdbc.Driver</driver>{account}\
             <url>jdbc:mariadb://{host}:{port}/{database}?useServerPrepStmts</url>"
        ),
        _ => format!(
            "<dbtype>postgres</dbtype><driver>org.postgresql.Driver</driver>{account}\
             <port>{port}</port><DBName>{database}</DBName>\
             <isolation>TRANSACTION_REPEATABLE_READ</isolation>"
        ),
    }
}

fn write(dir: &Workdir, database: &str, works: &str) {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<parameters>\n{database}\n<scalefactor>1</scalefactor>\
         <terminals>4</terminals><loaderThreads>2</loaderThreads>\n{TYPES}\n{works}\n</parameters>"
    );
    std::fs::write(dir.path().join("w.xml"), text).unwrap();
}

/// Lines of a file behind its head.
fn rows(path: &Path, head: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), head);
    let cut = |line: &str| line.split(',').map(String::from).collect();
    lines.map(cut).collect()
}

const HEAD: &str = "Transaction Type Index,Transaction Name,Start Time (microseconds),\
                    Latency (microseconds),Worker Id (start number),\
                    Phase Id (index in config file)";

/// The number behind `name |` in the results.
fn figure(out: &str, name: &str) -> f64 {
    let line = out
        .lines()
        .find(|l| l.trim_start().starts_with(&format!("{name} |")))
        .unwrap_or_else(|| panic!("{name}: {out}"));
    line.split('|').nth(1).unwrap().trim().parse().unwrap()
}

#[test]
fn a_workload_file_is_created_loaded_executed_and_cleared() {
    for (name, database, _kept) in engines("oltpbench") {
        let dir = Workdir::new();
        write(&dir, &database, WORKS);
        let step = |words: &str| {
            let mut args = vec!["oltpbench", "-c", "w.xml", "-b", "tpcc"];
            args.extend(words.split_whitespace());
            dir.run(&args)
        };
        let before = step("--execute=true");
        assert_eq!(before.code, Some(6), "{name}: {before:?}");
        assert!(before.err.contains("--load=true"), "{name}: {before:?}");
        assert!(
            !dir.path().join("results").exists(),
            "{name}: nothing was run"
        );

        let shared = step("--create=true --clients=2 --nats=nats://127.0.0.1:1");
        assert_eq!(shared.code, Some(2), "{name}: {shared:?}");
        assert!(
            shared.err.contains("--clients=2 applies only to --execute"),
            "{name}: {shared:?}"
        );
        let created = step("--create=true");
        assert_eq!(created.code, Some(0), "{name}: {created:?}");
        assert!(
            created.out.contains("Created table 'order_line'"),
            "{name}: {created:?}"
        );
        let empty = step("--execute=true");
        assert_eq!(empty.code, Some(6), "{name}: {empty:?}");
        // Made anew, as the family does; then a load goes on with what was made.
        let loaded = step("--create=true --load=true");
        assert_eq!(loaded.code, Some(0), "{name}: {loaded:?}");
        assert!(
            loaded.out.contains("Verified 'stock': 100000 rows"),
            "{name}: {loaded:?}"
        );
        let again = step("--load=true");
        assert_eq!(
            again.code,
            Some(5),
            "{name}: rows that are there stay: {again:?}"
        );

        let ran = step(
            "--execute=true --output-samples=true -s 1 -im 500 --vv --histograms \
             --num-connections=2 --out=record.json",
        );
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
        executed(name, &dir, &ran.out);

        let cleared = step("--clear=true");
        assert_eq!(cleared.code, Some(0), "{name}: {cleared:?}");
        assert_eq!(
            cleared.out.matches("Dropping table").count(),
            9,
            "{name}: {cleared:?}"
        );
        let nothing = step("--clear=true");
        assert_eq!(nothing.code, Some(0), "{name}: {nothing:?}");
    }
}

/// What the execution of [`WORKS`] printed and wrote.
fn executed(name: &str, dir: &Workdir, out: &str) {
    for said in [
        "terminals: 4, dbConnections: 2, loaderThreads: 2",
        "Launching the TPCC Benchmark with 2 Phases...",
        "Phase 1 of 2: 2 s after 1 s of warm-up, rate unlimited, weights 45,43,4,4,4",
        "Phase 2 of 2: 2 s, rate 20, weights 20,20,20,20,20",
        "Rate limited reqs/s: Results(nanoSeconds=",
        "================RESULTS================",
        "        Efficiency |                n/a",
        "======================LATENCIES (INCLUDE RETRY ATTEMPTS)=====================",
        " Transaction |  Count   | Avg. Latency | P99 Latency | Connection Acq Latency",
        "Completed Transactions:",
        "Output Raw data into file: results/oltpbench.csv",
    ] {
        assert!(out.contains(said), "{name}: {said}: {out}");
    }
    assert!(out.matches("Throughput: ").count() >= 6, "{name}: {out}");
    assert!(figure(out, "TPM-C") > 0.0 && figure(out, "Throughput (req/s)") > 0.0);

    // Of every transaction that counts a line.
    let records: Vec<serde_json::Value> = [1, 2]
        .map(|phase| {
            let path = dir.path().join(format!("record.{phase}.json"));
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
        })
        .into();
    let lines = rows(&dir.path().join("results/oltpbench.csv"), HEAD);
    for (record, phase) in records.iter().zip(["1", "2"]) {
        let mine: Vec<_> = lines.iter().filter(|l| l[5] == phase).collect();
        let counted = record["totals"]["all"]["count"].as_u64().unwrap();
        assert_eq!(mine.len() as u64, counted, "{name}: phase {phase}");
        let mut by_type: BTreeMap<&str, u64> = BTreeMap::new();
        mine.iter()
            .for_each(|l| *by_type.entry(l[1].as_str()).or_default() += 1);
        for (kind, count) in by_type {
            let stats = &record["totals"]["types"][kind]["count"];
            assert_eq!(stats.as_u64(), Some(count), "{name}: phase {phase}, {kind}");
        }
        assert_eq!(record["workload"], "tpcc");
        assert_eq!(record["options"]["phase"]["value"], phase);
    }
    let numbers = [("NewOrder", "1"), ("Payment", "2"), ("StockLevel", "5")];
    for line in &lines {
        assert_eq!(line.len(), 6, "{name}: {line:?}");
        if let Some((_, number)) = numbers.iter().find(|(kind, _)| *kind == line[1]) {
            assert_eq!(&line[0], number, "{name}: {line:?}");
        }
        let (whole, micros) = line[2].split_once('.').unwrap();
        assert!(whole.parse::<u64>().unwrap() > 1_600_000_000 && micros.len() == 6);
        assert!(
            line[3].parse::<u64>().unwrap() < 60_000_000,
            "{name}: {line:?}"
        );
        assert!(line[4].parse::<u64>().unwrap() < 4, "{name}: {line:?}");
    }
    // The latencies' table counts what the file has.
    let all = out
        .lines()
        .find(|l| l.starts_with("        All  |"))
        .unwrap();
    let count: usize = all.split('|').nth(1).unwrap().trim().parse().unwrap();
    assert_eq!(count, lines.len(), "{name}: {out}");
    let second = &records[1]["totals"]["all"]["count"];
    let second = second.as_u64().unwrap();
    assert!(
        (25..=41).contains(&second),
        "{name}: 2 s at 20 a second, {second}"
    );
    let results = std::fs::read_to_string(dir.path().join("results/oltpbench.results.csv"));
    assert!(results.unwrap().lines().count() >= 5, "{name}");
    let samples = std::fs::read_to_string(dir.path().join("results/oltpbench.samples.csv"));
    assert!(samples.unwrap().lines().count() >= 5, "{name}");
}

#[test]
fn files_of_earlier_runs_stay_and_none_is_written_unasked() {
    let dir = Workdir::new();
    let works = "<works><work><time>1</time><rate>unlimited</rate>\
                 <weights>45,43,4,4,4</weights></work></works>";
    write(
        &dir,
        "<type>SQLITE</type><url>jdbc:sqlite:a.db</url>",
        works,
    );
    loaded::warehouse(&dir, "a.db");
    let execute = |more: &[&str]| {
        let mut args = vec!["oltpbench", "-c", "w.xml", "--execute"];
        args.extend(more);
        dir.ok(&args)
    };
    execute(&["--output-raw=false"]);
    assert!(!dir.path().join("results").exists());
    execute(&["-d", "out", "-o", "mine", "--start-times=microseconds"]);
    let first = rows(&dir.path().join("out/mine.csv"), HEAD);
    let micros: u64 = first[0][2].parse().unwrap();
    assert!(micros > 1_600_000_000_000_000, "{micros}");
    execute(&["-d", "out", "-o", "mine"]);
    assert_eq!(rows(&dir.path().join("out/mine.csv"), HEAD), first);
    assert!(dir.path().join("out/mine.2.csv").exists());
}

#[test]
fn terminals_that_key_and_think_have_an_efficiency() {
    let dir = Workdir::new();
    let works = "<useKeyingTime>true</useKeyingTime><useThinkTime>true</useThinkTime>\
                 <works><work><time>4</time><rate>10000</rate>\
                 <weights>45,43,4,4,4</weights></work></works>";
    write(
        &dir,
        "<type>SQLITE</type><url>jdbc:sqlite:a.db</url>",
        works,
    );
    loaded::warehouse(&dir, "a.db");
    // Pauses are drawn: in one run of eight all ten would last longer than the run.
    let execute = ["oltpbench", "-c", "w.xml", "--execute", "--seed=1"];
    let ran = dir.ok(&[&execute[..], &["--terminals=10"]].concat());
    assert!(
        ran.out
            .contains("rate 10000 (above the 0.5 that 10 terminals"),
        "{ran:?}"
    );
    let line = ran
        .out
        .lines()
        .find(|l| l.contains("Efficiency |"))
        .unwrap();
    assert!(line.ends_with('%'), "{ran:?}");
}

#[test]
fn what_is_not_the_benchmarks_is_left_alone() {
    let dir = Workdir::new();
    write(
        &dir,
        "<type>SQLITE</type><url>jdbc:sqlite:a.db</url>",
        WORKS,
    );
    let sqlite = rusqlite(
        &dir,
        "CREATE TABLE warehouse (mine TEXT); INSERT INTO warehouse VALUES ('x')",
    );
    assert_eq!(sqlite, 0);
    for step in ["--create", "--clear", "--load", "--create --load"] {
        let mut args = vec!["oltpbench", "-c", "w.xml"];
        args.extend(step.split_whitespace());
        let said = dir.run(&args);
        assert_eq!(said.code, Some(5), "{step}: {said:?}");
        assert!(said.err.contains("warehouse"), "{step}: {said:?}");
    }
    let left = rusqlite(&dir, "SELECT mine FROM warehouse");
    assert_eq!(left, 1);
}

/// Rows that statements give, run on the file by the embedded engine.
fn rusqlite(dir: &Workdir, sql: &str) -> usize {
    let path = dir.path().join("a.db");
    let target = tidemark_core::Target::sqlite(path.to_str().unwrap());
    let options = tidemark_drivers::ConnectOptions::default();
    let connector = tidemark_drivers::Connector::new(target, options).unwrap();
    let statements: Vec<String> = sql.split(';').map(|s| s.trim().to_string()).collect();
    tidemark_runtime::block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let mut rows = 0;
        for sql in &statements {
            rows += session.query(sql).await.unwrap().len();
        }
        session.close().await;
        rows
    })
    .unwrap()
}

#[test]
fn a_password_is_shown_nowhere() {
    let dir = Workdir::new();
    let database = "<dbtype>mysql</dbtype><DBName>d</DBName><username>u</username>\
                    <password>geheim</password>";
    write(&dir, database, WORKS);
    let file = "--config=w.xml";
    let url = "--target=mysql://u:geheim@127.0.0.1:1/d";
    for args in [
        ["oltpbench", file, "--nodes=127.0.0.1:1", "--execute"],
        ["oltpbench", file, "--nodes=127.0.0.1:1", "--load"],
        ["oltpbench", file, url, "--execute"],
    ] {
        let said = dir.run(&args);
        assert_eq!(said.code, Some(4), "{args:?}: {said:?}");
        assert!(!said.all().contains("geheim"), "{args:?}: {said:?}");
    }
}
