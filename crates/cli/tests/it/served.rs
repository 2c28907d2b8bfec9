//! Figures of a run that are served while it goes on.

use super::common::small::{RUN, prepared};
use super::common::{Workdir, loaded, signal, wait_until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;
use tidemark_stats::Histogram;
use tidemark_testkit::openmetrics::Exposition;

/// A run that serves its figures.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(dir: &Workdir, args: &[&str], more: &[&str]) -> Self {
        let mut all = args.to_vec();
        all.extend(["--metrics=0", "--metrics-linger=60s", "--out=record.json"]);
        all.extend(more);
        let mut child = dir.command(&all).stdout(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(
                said.read_line(&mut line).unwrap() > 0,
                "no address was told"
            );
            if let Some(url) = line.trim().strip_prefix("Metrics: http://") {
                break url.trim_end_matches("/metrics").to_string();
            }
        };
        // What else is said must not fill the pipe.
        std::thread::spawn(move || said.read_to_end(&mut Vec::new()));
        Self { child, address }
    }

    fn page(&self) -> Exposition {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let request = b"GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text\r\n\r\n";
        stream.write_all(request).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        Exposition::read(body).unwrap_or_else(|e| panic!("{e}\n{body}"))
    }

    /// Fetches until the record is written; the last page, and the record. No count may ever fall.
    fn last(mut self, dir: &Workdir) -> (Exposition, serde_json::Value) {
        let path = dir.path().join("record.json");
        let mut pages = 0;
        let mut before = Exposition::default();
        let mut read = None;
        wait_until("the record", || {
            let is_over = path.exists();
            let page = self.page();
            for ((name, labels), value) in &before.samples {
                let kind = page.families.get(name).map(String::as_str);
                let now = page.samples.get(&(name.clone(), labels.clone())).copied();
                assert!(
                    kind == Some("gauge") || now >= Some(*value),
                    "{name} {labels:?}: {value} then {now:?}"
                );
            }
            pages += 1;
            before = page.clone();
            read = Some(page);
            is_over
        });
        assert!(pages > 2, "{pages}");
        // The run is over and figures are still there: an interrupt ends that, and nothing else.
        assert!(self.child.try_wait().unwrap().is_none());
        signal(self.child.id(), "INT");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        assert!(TcpStream::connect(&self.address).is_err());
        let record = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        (read.unwrap(), record)
    }
}

/// What was served last is what the record says.
fn must_agree(page: &Exposition, record: &serde_json::Value) {
    let measured = ("phase", "measure");
    let totals = &record["totals"];
    let run = page.of("tidemark_run_info").next().unwrap().0;
    assert_eq!(run["run"], record["id"].as_str().unwrap());
    assert_eq!(run["workload"], record["workload"].as_str().unwrap());
    let types = totals["types"].as_object().unwrap();
    assert!(!types.is_empty());
    for (name, stats) in types {
        let labels = [("type", name.as_str()), measured];
        let count = stats["count"].as_f64();
        assert_eq!(
            page.value("tidemark_transactions_total", &labels),
            count,
            "{name}"
        );
        let latencies = Histogram::decode(stats["service"].as_str().unwrap()).unwrap();
        let labels = labels.map(|(k, v)| (k.to_string(), v.to_string()));
        for (bound, count) in page.buckets("tidemark_service_time_seconds", &labels.into()) {
            let ns = if bound.is_finite() {
                (bound * 1e9).round() as u64
            } else {
                u64::MAX
            };
            let really = latencies.occupied().filter(|(edge, _)| *edge <= ns);
            let really: u64 = really.map(|(_, n)| n).sum();
            assert_eq!(count, really as f64, "{name} {bound}");
        }
    }
    let served = page.of("tidemark_transactions_total");
    let served = served.filter(|(labels, _)| labels["phase"] == "measure");
    let all: f64 = served.map(|(_, count)| count).sum();
    assert_eq!(Some(all), totals["all"]["count"].as_f64());
    for group in ["read", "write", "other"] {
        let labels = [("group", group), measured];
        let count = totals["statements"][group].as_f64();
        assert_eq!(
            page.value("tidemark_statements_total", &labels),
            count,
            "{group}"
        );
    }
    for (name, total) in [
        ("tidemark_ignored_errors_total", &totals["ignored_errors"]),
        ("tidemark_reconnects_total", &totals["reconnects"]),
    ] {
        assert_eq!(page.value(name, &[measured]), total.as_f64(), "{name}");
    }
    let errors = record["errors"].as_array().unwrap();
    let counted = |code: &str| -> f64 {
        let errors = page.of("tidemark_errors_total");
        let of_code = errors.filter(|(l, _)| l["code"] == code && l["phase"] == "measure");
        of_code.map(|(_, n)| n).sum()
    };
    for error in errors {
        let code = error["code"].as_str().unwrap();
        assert_eq!(Some(counted(code)), error["count"].as_f64(), "{code}");
    }
    let elapsed = page
        .value("tidemark_elapsed_seconds_total", &[measured])
        .unwrap();
    assert!(
        (elapsed - totals["elapsed_s"].as_f64().unwrap()).abs() < 0.1,
        "{elapsed}"
    );
}

#[test]
fn figures_of_a_run_are_those_of_its_record() {
    let dir = prepared();
    let more = ["--time=2", "--warmup-time=1", "run"];
    let (page, record) = Served::start(&dir, &RUN, &more).last(&dir);
    must_agree(&page, &record);
    let warmup = page.of("tidemark_transactions_total");
    let warmup = warmup
        .filter(|(l, _)| l["phase"] == "warmup")
        .map(|(_, n)| n)
        .sum::<f64>();
    assert!(warmup > 0.0);
    // Open loop has more to tell.
    let more = ["--time=2", "--rate=50", "run"];
    let (page, record) = Served::start(&dir, &RUN, &more).last(&dir);
    must_agree(&page, &record);
    let due: f64 = page
        .of("tidemark_response_time_seconds_count")
        .map(|(_, n)| n)
        .sum();
    assert_eq!(Some(due), record["totals"]["all"]["count"].as_f64());
}

#[test]
fn errors_that_servers_make_are_served_by_class_and_code() {
    let server = tidemark_testkit::shared_mariadb().unwrap();
    let database = server.fresh_database("live").unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    // Few rows and many sessions: deadlocks.
    let args = [
        "sysbench",
        "oltp_write_only",
        &target,
        "--table-size=20",
        "--threads=8",
    ];
    let mut prepare = args.to_vec();
    prepare.push("prepare");
    dir.ok(&prepare);
    let (page, record) = Served::start(&dir, &args, &["--time=2", "run"]).last(&dir);
    must_agree(&page, &record);
    let labels = [
        ("class", "retryable"),
        ("code", "1213"),
        ("phase", "measure"),
    ];
    let deadlocks = page.value("tidemark_errors_total", &labels);
    assert!(deadlocks > Some(0.0), "{:?}", page.samples.keys());
}

#[test]
fn every_command_that_makes_load_serves() {
    let dir = Workdir::new();
    let ycsb = ["-P", "workloada", "--target=sqlite:ycsb.db"];
    let with = |words: &[&'static str], more: &[&'static str]| -> Vec<&'static str> {
        words.iter().chain(more).copied().collect()
    };
    dir.ok(&with(&["ycsb", "load"], &ycsb));
    let run = with(&["ycsb", "run"], &ycsb);
    let (page, record) =
        Served::start(&dir, &run, &["-p", "operationcount=0", "--time=2"]).last(&dir);
    must_agree(&page, &record);
    let tpch = ["tpch", "--target=sqlite:tpch.db", "--sf=0.01"];
    loaded::tpch_file(&dir, "tpch.db");
    let run = with(&tpch, &["run", "--queries=q1,q6,q14,q3"]);
    let (page, record) = Served::start(&dir, &run, &["--time=2"]).last(&dir);
    must_agree(&page, &record);
    let tpcc = ["tpcc", "--target=sqlite:tpcc.db", "--warehouses=1"];
    loaded::warehouse(&dir, "tpcc.db");
    let (page, record) = Served::start(&dir, &tpcc, &["run", "--time=2s"]).last(&dir);
    must_agree(&page, &record);
    assert!(page.of("tidemark_outcomes_total").next().is_some());
    let file = "<parameters><type>SQLITE</type><url>jdbc:sqlite:tpcc.db</url>\
         <scalefactor>1</scalefactor><terminals>2</terminals><transactiontypes>\
         <transactiontype><name>NewOrder</name></transactiontype>\
         <transactiontype><name>Payment</name></transactiontype></transactiontypes>\
         <works><work><time>2</time><rate>unlimited</rate><weights>50,50</weights></work></works>\
         </parameters>";
    std::fs::write(dir.path().join("w.xml"), file).unwrap();
    let run = ["oltpbench", "-c", "w.xml", "--execute=true"];
    let (page, record) = Served::start(&dir, &run, &[]).last(&dir);
    must_agree(&page, &record);
}

#[test]
fn a_port_that_is_taken_is_told_before_anything_is_begun() {
    let dir = Workdir::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (option, said) in [
        (
            format!("--metrics={port}"),
            format!("--metrics={port}: cannot listen on 127.0.0.1:{port}: "),
        ),
        (
            format!("--metrics=127.0.0.1:{port}"),
            "; use another port, or 0 for a free one; for example --metrics=0".into(),
        ),
        (
            "--metrics=there".into(),
            "--metrics=there: must be a port".into(),
        ),
        (
            "--metrics-linger=5s".into(),
            "--metrics-linger=5s applies only to --metrics".into(),
        ),
    ] {
        // There is no such database, and nobody has looked for it.
        let mut args = RUN.to_vec();
        args.extend([option.as_str(), "run"]);
        let run = dir.run(&args);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains(&said), "{run:?}");
        assert!(!run.err.contains("a.db"), "{run:?}");
    }
}
