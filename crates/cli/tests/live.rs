//! Runs that are watched: the view on a terminal, and figures served to scrapers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Said, TIDEMARK, Workdir, signal, wait_until};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidemark_stats::Histogram;
use tidemark_testkit::openmetrics::Exposition;

/// A table to run on.
fn prepared() -> Workdir {
    let dir = Workdir::new();
    dir.ok(&[
        "sysbench",
        "oltp_read_write",
        "--target=sqlite:a.db",
        "--table-size=500",
        "prepare",
    ]);
    dir
}

const RUN: [&str; 5] = [
    "sysbench",
    "oltp_read_write",
    "--target=sqlite:a.db",
    "--table-size=500",
    "--threads=2",
];

// ---- the view -------------------------------------------------------------------------------

/// A program on a terminal of its own, and what that shows.
struct OnTerminal {
    child: Child,
    keys: File,
    terminal: OwnedFd,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl OnTerminal {
    /// Runs with the view; `out` in the place of a terminal as standard output.
    fn start(dir: &Workdir, options: &[&str], out: Option<File>) -> Self {
        let size = Winsize {
            ws_row: 60,
            ws_col: 120,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(&size, None).unwrap();
        let theirs = || Stdio::from(pair.slave.try_clone().unwrap());
        // A session of its own, whose controlling terminal this is.
        let mut command = Command::new("setsid");
        command
            .args(["--ctty", "--wait", TIDEMARK])
            .args(RUN)
            .args(options)
            .arg("run")
            .current_dir(dir.path())
            .env("TIDEMARK_STORE", dir.path().join("store.db"))
            .env("TERM", "xterm-256color")
            .stdin(theirs())
            .stdout(out.map_or_else(theirs, Stdio::from))
            .stderr(theirs());
        let child = command.spawn().unwrap();
        drop(command);
        let [rows, columns] = [60, 120].map(|n| NonZero::new(n).unwrap());
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 1000)));
        let mut shown = File::from(pair.master.try_clone().unwrap());
        let drawn = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = shown.read(&mut bytes) {
                drawn.lock().unwrap().process(&bytes[..n]);
            }
        });
        Self {
            child,
            keys: File::from(pair.master),
            terminal: pair.slave,
            screen,
        }
    }

    fn contents(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn has_view(&self) -> bool {
        self.screen.lock().unwrap().screen().alternate_screen()
    }

    fn wait_for_view(&self) {
        wait_until("a view with figures", || {
            self.has_view() && self.contents().contains("Latency p50")
        });
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the program's end; the terminal must be as it was, and show what came after the
    /// view.
    fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        let modes = tcgetattr(&self.terminal).unwrap().local_flags;
        let cooked = LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG;
        assert!(modes.contains(cooked), "{modes:?}");
        // All that the program wrote is before it. The end of the terminal can't be waited for:
        // whatever another test starts at this moment may have the other side open, too.
        const END: &str = "<end>";
        let mut terminal = File::from(self.terminal.try_clone().unwrap());
        terminal.write_all(END.as_bytes()).unwrap();
        wait_until("all that was written", || self.contents().ends_with(END));
        let screen = self.screen.lock().unwrap();
        let screen = screen.screen();
        let said = screen.contents();
        assert!(!screen.alternate_screen(), "{said}");
        assert!(!screen.hide_cursor(), "{said}");
        (status, said)
    }
}

#[test]
fn a_view_shows_the_run_and_leaves_the_summary() {
    let dir = prepared();
    let run = OnTerminal::start(&dir, &["--view", "--time=3", "--report-interval=1"], None);
    run.wait_for_view();
    let shown = run.contents();
    for part in [
        "oltp_read_write on SQLite",
        "measuring",
        "of 0:03",
        "Transactions/s",
        "By type, last interval",
        "p99 so far",
        "Sessions 2",
        "processors",
        "q leaves the view",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    assert!(!shown.contains("[ 1s ]"), "{shown}");
    let (status, said) = run.end();
    assert!(status.success(), "{said}");
    // Lines of the run wait for the view's end, and come before the summary.
    let (lines, summary) = said
        .split_once("SQL statistics:")
        .unwrap_or_else(|| panic!("{said}"));
    assert!(lines.contains("[ 1s ]"), "{said}");
    assert!(summary.contains("is kept; see: tidemark show"), "{said}");
    assert_eq!(dir.last_record()["state"], "finished");
}

#[test]
fn q_leaves_the_view_and_the_run_goes_on_with_its_lines() {
    let dir = prepared();
    let mut run = OnTerminal::start(&dir, &["--view", "--time=5", "--report-interval=1"], None);
    run.wait_for_view();
    run.press("q");
    wait_until("lines in the place of the view", || {
        !run.has_view() && run.contents().contains("[ 2s ]")
    });
    assert!(run.child.try_wait().unwrap().is_none(), "the run has ended");
    let (status, said) = run.end();
    assert!(status.success(), "{said}");
    for line in ["[ 1s ]", "[ 2s ]", "[ 3s ]", "[ 4s ]", "SQL statistics:"] {
        assert_eq!(said.matches(line).count(), 1, "{line} in\n{said}");
    }
}

#[test]
fn an_interrupt_ends_run_and_view_however_it_comes() {
    let dir = prepared();
    for how in ["key", "key twice", "signal"] {
        let mut run = OnTerminal::start(&dir, &["--view", "--time=60"], None);
        run.wait_for_view();
        match how {
            "key" => run.press("\x03"),
            "key twice" => run.press("\x03\x03"),
            _ => signal(run.child.id(), "TERM"),
        }
        let (status, said) = run.end();
        assert_eq!(status.code(), Some(130), "{how}: {said}");
        if how != "key twice" {
            assert!(said.contains("SQL statistics:"), "{how}: {said}");
        }
    }
}

#[test]
fn lines_go_where_they_are_sent_while_the_view_is_shown() {
    let dir = prepared();
    let path = dir.path().join("lines.txt");
    let out = File::create(&path).unwrap();
    let run = OnTerminal::start(
        &dir,
        &["--view", "--time=3", "--report-interval=1"],
        Some(out),
    );
    run.wait_for_view();
    wait_until("lines in the file", || {
        std::fs::read_to_string(&path).unwrap().contains("[ 1s ]")
    });
    let (status, shown) = run.end();
    assert!(status.success(), "{shown}");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("SQL statistics:"), "{written}");
    assert!(!written.contains('\x1b'), "{written:?}");
}

#[test]
fn without_a_terminal_a_view_changes_nothing() {
    let dir = prepared();
    let run = |view: &str| {
        let mut args = RUN.to_vec();
        args.extend([
            view,
            "--events=50",
            "--time=0",
            "--rand-seed=1",
            "--report-interval=1",
            "run",
        ]);
        dir.ok(&args)
    };
    let (with, without) = (run("--view=on"), run("--view=off"));
    assert_eq!(with.err, without.err);
    // Figures of time are others every time, and so may be what is found in them.
    let words = |said: &Said| -> Vec<String> {
        let (lines, _) = said.out.split_once("Threads fairness").unwrap();
        let words = lines.split_whitespace();
        let figure = |w: &&str| w.contains(|c: char| c.is_ascii_digit());
        words.filter(|w| !figure(w)).map(Into::into).collect()
    };
    assert_eq!(words(&with), words(&without));
    assert!(!with.all().contains('\x1b'), "{with:?}");
}

// ---- metrics --------------------------------------------------------------------------------

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
    dir.ok(&with(&tpch, &["prepare"]));
    let run = with(&tpch, &["run", "--queries=q1,q6,q14,q3"]);
    let (page, record) = Served::start(&dir, &run, &["--time=2"]).last(&dir);
    must_agree(&page, &record);
    let tpcc = ["tpcc", "--target=sqlite:tpcc.db", "--warehouses=1"];
    dir.ok(&with(&tpcc, &["prepare", "--no-check"]));
    let (page, record) = Served::start(&dir, &tpcc, &["run", "--time=2s"]).last(&dir);
    must_agree(&page, &record);
    assert!(page.of("tidemark_outcomes_total").next().is_some());
}

#[test]
fn a_port_that_is_taken_is_told_before_anything_is_begun() {
    let dir = Workdir::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (option, said) in [
        (
            format!("--metrics={port}"),
            format!("--metrics=127.0.0.1:{port} can't be listened at"),
        ),
        (
            "--metrics=there".into(),
            "--metrics=there: allowed is a port".into(),
        ),
        (
            "--metrics-linger=5s".into(),
            "--metrics-linger=5s is only for --metrics".into(),
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
