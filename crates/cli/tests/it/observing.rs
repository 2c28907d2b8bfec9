//! What a run observes beside its load, and what it tells of it.

use super::common::Workdir;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidemark_testkit::{SandboxEngine, Server};

fn sources(record: &Value) -> BTreeSet<String> {
    let all = record["series"].as_array().cloned().unwrap_or_default();
    all.iter()
        .map(|s| s["source"].as_str().unwrap().to_string())
        .collect()
}

fn run<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let line = [
        "sysbench",
        "oltp_read_write",
        target,
        "--table-size=500",
        "--threads=2",
    ];
    [&line[..], more].concat()
}

#[test]
fn a_url_that_is_none_is_refused_before_the_run() {
    let dir = Workdir::new();
    for option in [
        "--observe-host=db1:9100/metrics",
        "--observe-nodes=http://a:1,ftp://b:2",
        "--observe-prometheus=kv1:9090",
    ] {
        let said = dir.run(&[
            "sysbench",
            "oltp_read_only",
            "--target=sqlite:a.db",
            option,
            "run",
        ]);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains("http://db1:9100/metrics"), "{said:?}");
    }
}

#[test]
fn a_source_that_was_asked_for_is_there_or_says_why_not() {
    let work = Workdir::new();
    let target = "--target=sqlite:a.db";
    work.ok(&run(target, &["prepare"]));
    work.ok(&run(target, &["--time=1", "--observe=server-host", "run"]));
    let said = work.ok(&["show", "last"]).out;
    assert!(
        said.contains("server-host: the database runs on the client's host"),
        "{said}"
    );
    // Whoever names an exporter asks for it. There is none.
    let url = "--observe-host=http://127.0.0.1:9/metrics";
    work.ok(&run(
        target,
        &["--time=1", "--observe=client-host", url, "run"],
    ));
    let observed = &work.last_record()["observed"];
    let all = observed.as_array().unwrap();
    let of_host = all.iter().find(|o| o["source"] == "server-host");
    assert_eq!(of_host.unwrap()["sampled"], false, "{observed}");
}

#[test]
fn a_run_records_hosts_and_database_and_what_a_transaction_cost() {
    for (engine, is_postgres) in [
        (SandboxEngine::MariaDb, false),
        (SandboxEngine::Postgres, true),
    ] {
        // A server counts what all its sessions do.
        let server = Server::builder(engine).start().unwrap();
        let database = server.fresh_database("observing").unwrap();
        let work = Workdir::new();
        let target = format!("--target={}", database.url());
        work.ok(&run(&target, &["prepare"]));
        work.ok(&run(&target, &["--time=10", "--out=run.json", "run"]));
        let read = |file: &str| -> Value {
            let text = std::fs::read_to_string(work.path().join(file)).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        let record = read("run.json");
        let all = [
            "client-host",
            "network",
            "server-activity",
            "server-process",
            "server-status",
        ];
        assert_eq!(sources(&record), BTreeSet::from(all.map(String::from)));
        let observed = record["observed"].as_array().unwrap();
        // Nobody turned statistics of statements on.
        let others = observed
            .iter()
            .filter(|o| o["source"] != "server-statements");
        assert!(others.clone().all(|o| o["sampled"] == true), "{observed:?}");
        assert_eq!(others.count(), all.len());
        assert!(record["ping_before"]["min_ms"].as_f64().unwrap() > 0.0);
        // A local server's host is the client's, and is not missing.
        assert!(
            observed.iter().all(|o| o["source"] != "server-host"),
            "{observed:?}"
        );

        let costs = record["costs"].as_array().unwrap();
        let cost = |kind: &str| {
            let found = costs.iter().find(|c| c["kind"] == kind);
            found.map(|c| c["per_transaction"].as_f64().unwrap())
        };
        // Ten point selects, four ranges of a hundred rows, four rows changed; servers count what they
        // read of indexes otherwise, and on a machine with other work a second is more or less.
        let rows = cost("rows-read").unwrap_or_else(|| panic!("{costs:?}"));
        assert!((50.0..2000.0).contains(&rows), "{costs:?}");
        assert_eq!(record["load_totals"].is_array(), is_postgres);
        if is_postgres {
            assert!((400.0..600.0).contains(&rows), "{costs:?}");
        }
        for kind in [
            "server-cpu-us",
            "client-cpu-us",
            "log-bytes",
            "pages-requested",
        ] {
            assert!(cost(kind).is_some_and(|c| c > 1.0), "{kind}: {costs:?}");
        }
        assert!(
            cost("network-bytes").is_some_and(|c| c > 1000.0),
            "{costs:?}"
        );

        // Where the time goes adds up to the latency, and the verdict stands under the headline.
        let limits = &record["diagnosis"];
        let all = &limits["parts"][0];
        let parts = all["parts"].as_array().unwrap().iter();
        let sum: f64 = parts.map(|p| p["ms"].as_f64().unwrap()).sum();
        let mean = all["mean_ms"].as_f64().unwrap();
        assert!((sum / mean - 1.0).abs() < 1e-6, "{limits:#}");
        let shown = work.ok(&["show", "last"]).out;
        let verdict = shown.lines().nth(2).unwrap().trim();
        assert_eq!(limits["sentence"].as_str(), Some(verdict), "{shown}");
        for part in [
            "Bottleneck",
            "All transactions: mean latency",
            "Cost of a transaction",
            "Database during the run",
            "Rows read",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(
            is_postgres,
            shown.contains("Set track_io_timing = on."),
            "{shown}"
        );
        let chinese = work.ok(&["show", "last", "--lang", "zh"]).out;
        assert!(chinese.contains("单个事务的开销"), "{chinese}");
        work.ok(&["report", "last", "--out", "report.html"]);
        let page = std::fs::read_to_string(work.path().join("report.html")).unwrap();
        assert!(page.contains("<b>Commits</b><svg"));

        // Of several runs their figures have it, too.
        work.ok(&run(
            &target,
            &["--time=2", "--observe=off", "--out=off.json", "run"],
        ));
        let off = read("off.json");
        assert!(off.get("series").is_none() && off.get("observed").is_none());
        // Its own sessions count their round trips all the same.
        let costs = off["costs"].as_array().unwrap();
        assert_eq!(costs.len(), 1, "{costs:?}");
        assert!(costs[0].to_string().contains("round"), "{costs:?}");
        work.ok(&["report", "run.json", "off.json", "--out", "both.json"]);
        let both = read("both.json");
        assert_eq!(both["runs"][0]["costs"], record["costs"]);
        assert_eq!(both["runs"][1]["costs"], off["costs"]);

        // It goes with the job.
        let job = &off["job"]["watch"]["observe"];
        assert_eq!(job, "off");
        work.ok(&run(
            &target,
            &[
                "--time=1",
                "--observe=server-status",
                "--out=one.json",
                "run",
            ],
        ));
        let one = read("one.json");
        assert_eq!(sources(&one), BTreeSet::from(["server-status".to_string()]));
        // However short it was: PostgreSQL's sessions have told all when they have ended.
        let costs = one["costs"].as_array().unwrap();
        let rows = costs.iter().find(|c| c["kind"] == "rows-read");
        let rows = rows.and_then(|c| c["per_transaction"].as_f64());
        let is_right = |rows| (400.0..900.0).contains(&rows);
        assert!(!is_postgres || rows.is_some_and(is_right), "{costs:?}");
    }
}

#[test]
fn a_source_that_is_none_is_told_with_the_nearest() {
    let work = Workdir::new();
    let said = work.run(&run(
        "--target=sqlite:x.db",
        &["--observe=server-state", "run"],
    ));
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("did you mean server-status?"), "{said:?}");
}

#[test]
fn a_remote_host_that_cannot_be_seen_is_said_to_be() {
    let work = Workdir::new();
    let target = "--target=sqlite:x.db";
    work.ok(&run(target, &["prepare"]));
    let host = "--observe-host=http://127.0.0.1:1/metrics";
    let out = "--out=host.json";
    let ran = work
        .ok(&run(
            target,
            &["--time=2", "--think-time=5ms", host, out, "run"],
        ))
        .out;
    let told = ran
        .matches("Not observed: server-host: 127.0.0.1:1: ")
        .count();
    assert_eq!(told, 1, "{ran}");
    let record = std::fs::read_to_string(work.path().join("host.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let notes = record["notes"].as_array().unwrap().iter();
    let of_host = |note: &Value| {
        let note = note.as_str().unwrap();
        note.starts_with("source server-host: 127.0.0.1:1: ")
    };
    assert_eq!(notes.filter(|note| of_host(note)).count(), 1, "{record}");
    let shown = work.ok(&["show", "last"]).out;
    assert_eq!(
        shown.matches("server-host: 127.0.0.1:1: ").count(),
        1,
        "{shown}"
    );
    assert!(
        shown.contains("Log: size of the file") || shown.contains("Server: written"),
        "{shown}"
    );
    // So is a source that is named and does not exist here.
    let nodes = "--observe=server-nodes,client-host";
    let ran = work
        .ok(&run(
            target,
            &["--time=2", "--think-time=5ms", nodes, "run"],
        ))
        .out;
    let told = "Not observed: server-nodes: SQLite has no cluster nodes to observe";
    assert_eq!(ran.matches(told).count(), 1, "{ran}");
    assert_eq!(ran.matches("Not observed").count(), 1, "{ran}");
}

/// What a record says of a source, and how long its load took.
fn told(record: &Value, source: &str) -> (Vec<String>, f64) {
    let all = record["observed"].as_array().unwrap();
    let of = all.iter().find(|o| o["source"] == source);
    let gaps = of.unwrap_or_else(|| panic!("{source}: {all:?}"))["gaps"].as_array();
    let kinds = gaps.into_iter().flatten().map(|g| g["kind"].to_string());
    (
        kinds.collect(),
        record["totals"]["elapsed_s"].as_f64().unwrap(),
    )
}

#[test]
fn a_run_goes_on_while_its_observing_sessions_are_ended_again_and_again() {
    let server = Server::postgres().unwrap();
    let work = Workdir::new();
    let target = format!("--target={}", server.url());
    work.ok(&run(&target, &["prepare"]));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                       WHERE application_name = 'tidemark-observe'";
            while !is_done.load(Ordering::Relaxed) {
                server.query(end).unwrap();
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        let words = ["--time=4", "--think-time=5ms", "--out=run.json", "run"];
        let ran = work.run(&run(&target, &words));
        is_done.store(true, Ordering::Relaxed);
        assert!(ran.is_done(), "{ran:?}");
    });
    let record = work.last_record();
    let (kinds, elapsed) = told(&record, "server-status");
    assert!(kinds.iter().any(|k| k.contains("failed")), "{kinds:?}");
    // Room for a machine that is busy; what observes is waited for by nobody.
    assert!((3.9..7.0).contains(&elapsed), "{elapsed}");
    assert_eq!(record["totals"]["reconnects"], 0, "{record:#}");
    assert!(record["intervals"].as_array().unwrap().len() >= 4);
}

#[test]
fn a_host_that_never_answers_is_not_waited_for() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = format!(
        "--observe-host=http://{}/metrics",
        silent.local_addr().unwrap()
    );
    let work = Workdir::new();
    let target = "--target=sqlite:x.db";
    work.ok(&run(target, &["prepare"]));
    work.ok(&run(
        target,
        &["--time=2", "--think-time=5ms", &host, "run"],
    ));
    let (kinds, elapsed) = told(&work.last_record(), "server-host");
    let said = kinds
        .iter()
        .any(|k| k.contains("stalled") || k.contains("failed"));
    assert!(said, "{kinds:?}");
    assert!((1.9..5.0).contains(&elapsed), "{elapsed}");
}

/// Where a transaction type's latency passes, in milliseconds by part.
fn type_parts(record: &Value, kind: &str) -> BTreeMap<String, f64> {
    let splits = record["diagnosis"]["parts"].as_array().unwrap();
    let split = splits.iter().find(|split| split["type"] == kind);
    let split = split.unwrap_or_else(|| panic!("{kind}: {splits:?}"));
    let parts = split["parts"].as_array().unwrap().iter();
    let name = |part: &Value| {
        let class = part["class"].as_str().or(part["part"].as_str());
        class.unwrap().to_string()
    };
    let parts = parts.map(|part| (name(part), part["ms"].as_f64().unwrap()));
    parts.collect()
}

#[test]
fn each_type_has_its_own_part_of_the_server() {
    let work = Workdir::new();
    let server = Server::postgres().unwrap();
    let target = format!("--target={}", server.url());
    // Much longer than a look at the sessions takes on a busy machine: types are not told apart where sessions
    // go on to the next transaction meanwhile.
    for (name, sql) in [
        ("sleeps.sql", "SELECT pg_sleep(0.2);"),
        (
            "works.sql",
            "SELECT count(*) FROM generate_series(1, 600000);",
        ),
    ] {
        std::fs::write(work.path().join(name), sql).unwrap();
    }
    let line = "pgbench -n -c 4 -T 10 -f sleeps.sql@1 -f works.sql@1 --observe=server-activity,server-process";
    let mut args: Vec<&str> = line.split_whitespace().collect();
    args.push(&target);
    work.ok(&args);
    let record = work.ok(&["show", "last", "--json"]).out;
    let record: Value = serde_json::from_str(&record).unwrap();
    let (sleeps, works) = (
        type_parts(&record, "sleeps.sql"),
        type_parts(&record, "works.sql"),
    );
    let of = |parts: &BTreeMap<String, f64>, name: &str| parts.get(name).copied().unwrap_or(0.0);
    // The wait for a timer is PostgreSQL's own, of no class.
    let asleep = of(&sleeps, "other");
    assert!((140.0..240.0).contains(&asleep), "{sleeps:?} {works:?}");
    assert!(of(&works, "other") < 0.3 * asleep, "{works:?}");
    let cpu = |parts| of(parts, "server-cpu") + of(parts, "run-queue");
    assert!(cpu(&works) > 3.0 * cpu(&sleeps), "{sleeps:?} {works:?}");
    for parts in [&sleeps, &works] {
        assert_eq!(of(parts, "server-and-network"), 0.0, "{parts:?}");
    }
}
