//! Watching a database that something else loads: a record like a run's, without transactions.

use super::common::{Said, Workdir, signal, wait_until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use tidemark_core::record::{GapKind, RunRecord, RunState};
use tidemark_core::series::Series;
use tidemark_store::Store;
use tidemark_testkit::{SandboxEngine, Server, shared_mariadb};

fn prepared() -> Workdir {
    let work = Workdir::new();
    work.ok(&[
        "sysbench",
        "oltp_point_select",
        "--target=sqlite:bench.db",
        "--table-size=100",
        "prepare",
    ]);
    work
}

fn json(work: &Workdir, file: &str) -> Value {
    let text = std::fs::read_to_string(work.path().join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn sources(record: &RunRecord) -> BTreeSet<&str> {
    record
        .series
        .iter()
        .map(|s| s.key.source.as_str())
        .collect()
}

fn refused(said: &Said, code: i32, part: &str) {
    assert_eq!(said.code, Some(code), "{said:?}");
    assert!(said.all().contains(part), "{part}: {said:?}");
}

#[test]
fn prometheus_can_ask_a_watch() {
    let work = prepared();
    let line = ["watch", "sqlite:bench.db", "--time=60s", "--metrics=0"];
    let mut child = work.spawn(&line);
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let begins = "Metrics: http://";
    let address = said.find_map(|line| {
        let line = line.unwrap();
        line.strip_prefix(begins)
            .map(|url| url.trim_end_matches("/metrics").to_string())
    });
    let address = address.unwrap();
    let mut page = String::new();
    wait_until("a value", || {
        let mut stream = TcpStream::connect(&address).unwrap();
        let ask = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(ask.as_bytes()).unwrap();
        page.clear();
        stream.read_to_string(&mut page).unwrap();
        page.contains("tidemark_observed{")
    });
    assert!(page.contains("workload=\"watch\""), "{page}");
    assert!(page.contains("source=\"server-status\""), "{page}");
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    refused(
        &work.run(&["watch", "sqlite:bench.db", "--metrics=nowhere"]),
        2,
        "--metrics=nowhere",
    );
}

#[test]
fn a_watch_is_a_record_without_transactions() {
    let work = prepared();
    let said = work.ok(&[
        "watch",
        "sqlite:bench.db",
        "--time=2s",
        "--interval=500ms",
        "--out=w.json",
        "--report=w.html,w.md",
    ]);
    assert!(said.out.starts_with("Watch of SQLite "), "{said:?}");
    assert!(said.out.contains("with no load of its own"), "{said:?}");
    assert!(
        said.out.contains("is stored; see: tidemark show "),
        "{said:?}"
    );

    let record: RunRecord = serde_json::from_value(json(&work, "w.json")).unwrap();
    assert_eq!(
        (record.workload.as_str(), &record.state),
        ("watch", &RunState::Finished)
    );
    assert!(record.watched_s.is_some_and(|s| s >= 2.0), "{record:?}");
    assert!(record.intervals.is_empty() && record.job.is_none());
    assert_eq!(record.totals, Default::default());
    assert!(
        sources(&record).contains("server-status"),
        "{:?}",
        sources(&record)
    );
    assert!(record.series.iter().all(|s| s.step_ms == 500));

    // No figure of a load, not even a zero, in any form.
    let shown = work.ok(&["show", "last"]).out;
    let page = std::fs::read_to_string(work.path().join("w.html")).unwrap();
    let markdown = std::fs::read_to_string(work.path().join("w.md")).unwrap();
    for text in [&shown, &page, &markdown] {
        assert!(text.contains("no load of its own"), "{text}");
        for part in [
            "Transactions/s",
            "Ignored errors",
            "Executor",
            "NaN",
            "No transaction",
        ] {
            assert!(!text.contains(part), "{part}: {text}");
        }
    }
    for text in [&page, &markdown] {
        assert!(text.contains("Database during the watch"), "{text}");
    }
    let chinese = work.ok(&["show", "last", "--lang", "zh"]).out;
    assert!(chinese.contains("自身未施加负载"), "{chinese}");
    let listed = work.ok(&["runs"]).out;
    let line = listed.lines().find(|l| l.contains("  watch  ")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert!(cells.contains(&"finished"), "{line}");
    assert_eq!(cells.iter().filter(|c| **c == "-").count(), 3, "{line}");

    // It travels as a record does.
    let out = work.ok(&["export", "last"]).out;
    std::fs::write(work.path().join("export.json"), &out).unwrap();
    work.ok(&["import", "export.json", "--store=other.db"]);
    let other = work.ok(&["show", &record.id, "--store=other.db"]).out;
    assert_eq!(other, shown);
    let schema = work.ok(&["schema", "record"]).out;
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    schema
        .validate(&serde_json::from_str(&out).unwrap())
        .unwrap();

    // What is made of transactions says why there is nothing.
    work.ok(&["tag", "last", "+seen"]);
    work.ok(&[
        "sysbench",
        "oltp_point_select",
        "--target=sqlite:bench.db",
        "--table-size=100",
        "--time=1",
        "--out=run.json",
        "run",
    ]);
    let id = record.id.as_str();
    refused(&work.run(&["compare", "run.json", id]), 2, "is a watch");
    refused(
        &work.run(&["compare", "tag:seen", "run.json"]),
        2,
        "has no finished run",
    );
    refused(&work.run(&["audit", id]), 2, "a watch has no transactions");
    refused(
        &work.run(&["audit", "w.json"]),
        2,
        "a watch has no transactions",
    );
    refused(&work.run(&["export", id, "--format=csv"]), 2, "is a watch");
    let series = work.ok(&["export", id, "--format=series"]).out;
    assert!(series.contains(",client-host,cpu.busy,"), "{series}");
    refused(
        &work.run(&["report", id, "--format=csv", "--out=-"]),
        2,
        "report it alone",
    );
    refused(&work.run(&["exec", "--from", id]), 2, "that run is a watch");
    let both = work.ok(&["report", "w.json", "run.json", "--out=both.json"]);
    assert!(both.err.contains("is excluded: it is a watch"), "{both:?}");
    assert_eq!(
        json(&work, "both.json")["runs"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn what_cannot_be_watched_is_refused_with_what_is_right() {
    let work = prepared();
    let watch = |more: &[&str]| work.run(&[&["watch", "sqlite:bench.db"], more].concat());
    for (more, part) in [
        (&["--time=0"][..], "must be any time above 0, as 10s"),
        (&["--time=soon"], "--time"),
        (&["--observe=off"], "a watch only observes"),
        (&["--observe=server-state"], "did you mean server-status?"),
        (
            &["--observe=server-activity"],
            "this target has none of these sources",
        ),
        (&["--interval=1ms"], "must be 100ms or more"),
        (&["--time=5s", "--interval=1m"], "is longer than --time=5s"),
        (&["--pid=1"], "SQLite has no server process"),
        (&["--pid=0"], "--pid"),
        (&["--report=w.csv"], "a watch has no transactions"),
        (&["--report=w.pdf"], "unknown report format"),
    ] {
        refused(&watch(more), 2, part);
    }
    let mysql = "mysql://app@127.0.0.1:1/shop";
    refused(&work.run(&["watch", mysql]), 4, "127.0.0.1:1");
    let without = &["watch", mysql, "--pid=1", "--observe=server-status"];
    refused(&work.run(without), 2, "applies only to server-process");
    let nobody = &["watch", mysql, "--pid=4194304"];
    refused(&work.run(nobody), 2, "no such process");
    refused(&work.run(&["watch", "oracle://db/x"]), 2, "oracle");
    assert_ne!(work.run(&["watch", "sqlite:none.db"]).code, Some(0));
    assert!(!work.path().join("none.db").exists());
    // Nothing of all that is in the store.
    assert!(!work.ok(&["runs"]).out.contains("  watch  "));
}

fn points(series: &Series) -> Vec<i64> {
    series.points().unwrap().map(|p| p.unwrap().at_ms).collect()
}

/// The moments of a series so far.
fn so_far(work: &Workdir, source: &str, name: &str) -> Vec<i64> {
    let store = Store::open_existing(&work.path().join("store.db")).unwrap();
    let Some(id) = store.latest().unwrap() else {
        return Vec::new();
    };
    let all = store.series(&id).unwrap();
    let found = all
        .iter()
        .find(|s| s.key.source == source && s.key.name == name);
    found.map(points).unwrap_or_default()
}

#[test]
fn a_server_that_goes_away_is_a_gap_and_an_interrupt_keeps_what_was_seen() {
    for engine in [SandboxEngine::MariaDb, SandboxEngine::Postgres] {
        let server = Server::builder(engine).start().unwrap();
        let work = Workdir::new();
        // The store is there before anything looks into it.
        drop(Store::open(&work.path().join("store.db")).unwrap());
        let url = server.url();
        let watch = work.spawn(&["watch", &url, "--time=5m", "--interval=200ms"]);
        let seen = || so_far(&work, "server-status", "sessions.open");
        wait_until("samples", || seen().len() >= 5);
        server.stop().unwrap();
        let before = seen().last().copied().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        server.restart().unwrap();
        wait_until("samples after the restart", || {
            seen().last().is_some_and(|last| *last > before + 2000)
        });
        wait_until("the new process", || {
            let all = so_far(&work, "server-process", "process.cpu-user");
            all.last().is_some_and(|last| *last > before + 2000)
        });
        signal(watch.id(), "INT");
        let said = Said::of(&watch.wait_with_output().unwrap());
        assert_eq!(said.code, Some(130), "{said:?}");
        assert!(said.out.contains("The user stopped this watch"), "{said:?}");
        assert!(!said.all().contains("sbtest:sbtest@"), "{said:?}");

        let record: RunRecord = serde_json::from_value(work.last_record()).unwrap();
        assert_eq!(record.state, RunState::Interrupted);
        assert!(record.target.contains(":***@"), "{}", record.target);
        assert!(
            !record.command.join(" ").contains(":sbtest@"),
            "{:?}",
            record.command
        );
        let at = seen();
        assert!(at.windows(2).any(|w| w[1] - w[0] >= 1000), "{at:?}");
        let status = record.observed.iter().find(|o| o.source == "server-status");
        let gaps = &status.unwrap().gaps;
        assert!(gaps.iter().any(|g| g.kind == GapKind::Failed), "{gaps:?}");
    }
}

#[test]
fn a_process_that_is_named_is_watched_and_lines_tell_of_it() {
    let server = Server::builder(SandboxEngine::MariaDb).start().unwrap();
    let work = Workdir::new();
    let (url, pid) = (server.url(), format!("--pid={}", server.pid().unwrap()));
    let said = work.ok(&[
        "watch",
        &url,
        "--time=11s",
        &pid,
        "--observe=server-process,server-status",
    ]);
    assert!(
        said.out.contains("[ 10s ] ") && said.out.contains(" statements/s"),
        "{said:?}"
    );
    let record: RunRecord = serde_json::from_value(work.last_record()).unwrap();
    assert_eq!(
        sources(&record),
        BTreeSet::from(["server-process", "server-status"])
    );
    let other = shared_mariadb().unwrap().fresh_database("watch").unwrap();
    // It is what was named, whatever the server says of itself.
    let mine = format!("--pid={}", std::process::id());
    work.ok(&[
        "watch",
        &other.url(),
        "--time=1s",
        &mine,
        "--observe=server-process",
    ]);
    let record: RunRecord = serde_json::from_value(work.last_record()).unwrap();
    assert_eq!(sources(&record), BTreeSet::from(["server-process"]));
}
