//! Findings over real runs: none over a clean one, and what breaks a rule is told in the summary and
//! the reports. The rules themselves are judged by made records (`tests` of the analysis), and how
//! often they speak of clean runs by `bench/clean-runs` and `bench/dead-time`.

use super::common::{OF_A_BUSY_HOST, Running, Said, Workdir, loaded, signal};
use std::io::{BufRead, BufReader, Read};
use std::time::Duration;
use tidemark_analysis::{Finding, Severity, findings};
use tidemark_core::record::RunRecord;
use tidemark_testkit::{SandboxEngine, Server, shared_mariadb};

fn found(dir: &Workdir) -> Vec<Finding> {
    let record: RunRecord = serde_json::from_value(dir.last_record()).unwrap();
    findings(&record).unwrap()
}

fn has(dir: &Workdir, rule: &str) -> Severity {
    let found = found(dir);
    let of_rule = found.iter().find(|f| f.rule == rule);
    of_rule
        .unwrap_or_else(|| panic!("no {rule} in {found:?}"))
        .severity
}

/// `prepare` or `run` of a workload with words, which must end well.
fn sysbench(dir: &Workdir, url: &str, words: &str) -> String {
    let target = format!("--target={url}");
    let mut args = vec!["sysbench"];
    args.extend(words.split_whitespace());
    args.push(&target);
    dir.ok(&args).out
}

#[test]
fn a_clean_run_has_no_finding() {
    let dir = Workdir::new();
    let mariadb = shared_mariadb().unwrap();
    let database = mariadb.fresh_database("findings").unwrap();
    let url = database.url();
    let words = "oltp_read_write --table-size=10000";
    sysbench(&dir, &url, &format!("{words} prepare"));
    let said = sysbench(&dir, &url, &format!("{words} --threads=4 --time=5 run"));
    // Client and server share this host, and tests beside it: that is told as what it is.
    let is_told = |rule: &str| !OF_A_BUSY_HOST.contains(&rule);
    let found = found(&dir).into_iter().filter(|f| is_told(f.rule));
    assert_eq!(found.collect::<Vec<_>>(), []);
    let alarms = said.lines().filter_map(|line| {
        let told = line
            .strip_prefix("SUSPECT [")
            .or(line.strip_prefix("NOTE ["))?;
        is_told(told.split(']').next()?).then_some(line)
    });
    assert_eq!(alarms.collect::<Vec<_>>(), [""; 0], "{said}");
}

#[test]
fn data_that_is_not_what_it_should_be_is_told() {
    let dir = Workdir::new();
    let url = "sqlite:data.db";
    sysbench(&dir, url, "oltp_read_write --table-size=1000 prepare");
    let said = sysbench(
        &dir,
        url,
        "oltp_point_select --table-size=500 --events=100 run",
    );
    assert_eq!(has(&dir, "row-count"), Severity::Suspect);
    assert_eq!(has(&dir, "too-short"), Severity::Suspect);
    // The summary says so, and so do the reports, in both languages.
    assert!(
        said.contains("SUSPECT [row-count] Before the run sbtest1 held 1,000 rows"),
        "{said}"
    );
    let shown = dir.ok(&["show", "last"]).out;
    assert!(
        shown.contains("Findings") && shown.contains("SUSPECT [too-short]"),
        "{shown}"
    );
    for (file, lang, parts) in [
        ("f.html", "zh", ["存疑", "row-count"]),
        ("f.md", "en", ["**SUSPECT** `row-count`", "## Findings"]),
    ] {
        dir.ok(&["report", "last", "--out", file, "--lang", lang]);
        let text = std::fs::read_to_string(dir.path().join(file)).unwrap();
        assert!(parts.iter().all(|p| text.contains(p)), "{text}");
    }
    sysbench(&dir, url, "oltp_insert --table-size=1000 --events=200 run");
    sysbench(&dir, url, "oltp_insert --table-size=1000 --events=200 run");
    assert_eq!(has(&dir, "carried-state"), Severity::Suspect);
    sysbench(
        &dir,
        url,
        "oltp_delete --table-size=1000 --events=4000 --time=0 run",
    );
    assert!(has(&dir, "no-op-writes") >= Severity::Suspect);
}

/// A run that leaves the machine room, with a line a second.
const PACED: [&str; 5] = [
    "--threads=4",
    "--think-time=2ms",
    "--time=5",
    "--report-interval=1",
    "run",
];

/// A server with a table, and the words of a run there.
fn with_table(dir: &Workdir, engine: SandboxEngine) -> (Server, Vec<String>) {
    let server = Server::builder(engine).start().unwrap();
    let target = format!("--target={}", server.url());
    let words = [
        "sysbench",
        "oltp_point_select",
        &target,
        "--table-size=1000",
    ];
    dir.ok(&[&words[..], &["prepare"]].concat());
    let run = words.iter().chain(&PACED).map(ToString::to_string);
    (server, run.collect())
}

fn start(dir: &Workdir, run: &[String]) -> Running {
    let run: Vec<&str> = run.iter().map(String::as_str).collect();
    Running::start(dir, &run)
}

/// A server that is stopped in the midst of a run is told, on its side.
fn a_stopped_server_is_told(dir: &Workdir, server: &Server, run: &[String]) {
    let disturbed = start(dir, run);
    server.pause().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    server.resume().unwrap();
    let said = disturbed.end();
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(has(dir, "stall"), Severity::Invalid);
    assert!(
        said.out.contains("while the client was running"),
        "{said:?}"
    );
}

#[test]
fn a_postgres_that_is_stopped_is_told() {
    let dir = Workdir::new();
    let (server, run) = with_table(&dir, SandboxEngine::Postgres);
    a_stopped_server_is_told(&dir, &server, &run);
}

/// Server and client that are stopped in the midst of a run, and a lock that another process holds.
#[test]
fn dead_time_is_told_with_its_side() {
    let dir = Workdir::new();
    let (server, run) = with_table(&dir, SandboxEngine::MariaDb);
    a_stopped_server_is_told(&dir, &server, &run);
    // The client itself.
    let disturbed = start(&dir, &run);
    let client = disturbed.child.id();
    signal(client, "STOP");
    std::thread::sleep(Duration::from_millis(1500));
    signal(client, "CONT");
    let said = disturbed.end();
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(has(&dir, "client-stopped"), Severity::Invalid);
    // To the end and beyond it.
    let disturbed = start(&dir, &run);
    server.pause().unwrap();
    std::thread::sleep(Duration::from_secs(6));
    server.resume().unwrap();
    let said = disturbed.end();
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(has(&dir, "stall"), Severity::Invalid);
    // An embedded engine's lock.
    let url = "sqlite:locked.db";
    sysbench(&dir, url, "oltp_read_write --table-size=1000 prepare");
    let target = format!("--target={url}");
    let words = ["sysbench", "oltp_read_write", &target, "--table-size=1000"];
    let other = rusqlite::Connection::open(dir.path().join("locked.db")).unwrap();
    other.busy_timeout(Duration::from_secs(20)).unwrap();
    let disturbed = Running::start(&dir, &[&words[..], &PACED].concat());
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    std::thread::sleep(Duration::from_millis(2000));
    other.execute_batch("ROLLBACK").unwrap();
    let said = disturbed.end();
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(has(&dir, "stall"), Severity::Invalid);
}

/// A client that is stopped in tests of the machine and between queries.
#[test]
fn a_stopped_client_is_told_in_every_kind_of_run() {
    let dir = Workdir::new();
    let stop = |child: u32| {
        signal(child, "STOP");
        std::thread::sleep(Duration::from_millis(1500));
        signal(child, "CONT");
    };
    let words = ["sysbench", "cpu", "--time=5", "--report-interval=1", "run"];
    let disturbed = Running::start(&dir, &words);
    stop(disturbed.child.id());
    let said = disturbed.end();
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(has(&dir, "client-stopped"), Severity::Invalid);

    loaded::tpch_file(&dir, "q.db");
    let words = ["tpch", "--target=sqlite:q.db", "--sf=0.01"];
    let run = ["--queries=q6", "--time=5s", "--interval=1s", "run"];
    let mut disturbed = dir.spawn(&[&words[..], &run[..]].concat());
    let mut out = BufReader::new(disturbed.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("[Current]") {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "it ended");
    }
    stop(disturbed.id());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let said = Said::of(&disturbed.wait_with_output().unwrap());
    assert_eq!(said.code, Some(0), "{rest} {said:?}");
    assert_eq!(has(&dir, "client-stopped"), Severity::Invalid);
}

#[test]
fn a_run_without_a_transaction_is_no_success() {
    let dir = Workdir::new();
    sysbench(
        &dir,
        "sqlite:none.db",
        "oltp_point_select --table-size=1000 prepare",
    );
    dir.ok(&["ycsb", "load", "-P", "workloada", "--target=sqlite:y.db"]);
    loaded::warehouse(&dir, "c.db");
    // Arrivals are drawn: one run of a thousand would have one.
    for args in [
        "sysbench oltp_point_select --table-size=1000 --target=sqlite:none.db --rate=0.001 --rand-seed=1 \
         --time=1 run",
        "ycsb run -P workloada --target=sqlite:y.db --rate=0.001 --seed=1 --time=1s",
        "tpcc --target=sqlite:c.db --warehouses=1 --rate=0.001 --seed=1 --time=1s run",
        // Users who think for longer than the run lasts.
        "sysbench oltp_point_select --table-size=1000 --target=sqlite:none.db --threads=2 \
         --connections=1 --think-time=1h --time=1 run",
    ] {
        let said = dir.run(&args.split_whitespace().collect::<Vec<_>>());
        assert_eq!(said.code, Some(1), "{args}: {said:?}");
        assert!(said.err.contains("no transaction completed in"), "{said:?}");
        assert!(said.err.contains("Run longer"), "{said:?}");
    }
}

#[test]
fn runs_are_compared() {
    let dir = Workdir::new();
    let url = "sqlite:compare.db";
    sysbench(&dir, url, "oltp_point_select --table-size=1000 prepare");
    // A run that the host held up for a fifth of its second is invalid, and made again.
    let run = |words: &str| {
        for _ in 0..5 {
            sysbench(&dir, url, &format!("{words} --table-size=1000 run"));
            let id = dir.last_record()["id"].as_str().unwrap().to_string();
            if dir.run(&["audit", &id]).code == Some(0) {
                return id;
            }
        }
        panic!("five invalid runs of {words}")
    };
    // A point select beside a transaction of ten of them and four ranges of the whole table: slower
    // beyond doubt, even where the machine does much else in some of the runs.
    let repeats = |words: &str| -> Vec<String> { (0..4).map(|_| run(words)).collect() };
    let fast = repeats("oltp_point_select --time=1");
    let slow = repeats("oltp_read_only --range-size=1000 --time=1");
    let (fast, slow) = (fast.join(","), slow.join(","));
    let said = dir.ok(&["compare", &fast, &slow]);
    for part in [
        "slower",
        "95% confidence intervals are based on repeats",
        "workload",
    ] {
        assert!(said.out.contains(part), "{said:?}");
    }
    assert!(!said.out.contains("no-repeat"), "{said:?}");
    let zh = dir.ok(&["compare", &fast, &slow, "--lang=zh"]);
    assert!(
        zh.out.contains("更慢") && zh.out.contains("重复压测"),
        "{zh:?}"
    );
    let md = dir.ok(&["compare", &fast, &slow, "--format=md"]);
    assert!(md.out.contains("| --- |"), "{md:?}");
    let json = dir.ok(&["compare", &slow, &fast, "--format=json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["basis"], "repeats");
    assert_eq!(json["metrics"][0]["metric"], "throughput");
    assert_eq!(json["metrics"][0]["verdict"], "faster");
    // What is worse than allowed ends with a code of its own.
    let limit = |text: &str| dir.run(&["compare", &fast, &slow, "--fail-if", text]);
    let failed = limit("throughput < -5%");
    assert_eq!(failed.code, Some(3), "{failed:?}");
    assert!(
        failed.out.contains("FAILED: throughput < −5%"),
        "{failed:?}"
    );
    assert_eq!(limit("throughput > +5%").code, Some(0));
    let json = ["--fail-if", "throughput < -5%", "--format=json"];
    let failed = dir.run(&[&["compare", &fast, &slow][..], &json].concat());
    assert_eq!(failed.code, Some(3), "{failed:?}");
    serde_json::from_str::<serde_json::Value>(&failed.out).unwrap();
    assert!(
        failed.err.contains("FAILED: throughput < −5%"),
        "{failed:?}"
    );
    // Single runs, and one that is a file.
    let one = fast.split(',').next().unwrap();
    dir.ok(&["report", "last", "--out", "last.json"]);
    let said = dir.ok(&["compare", one, "last.json"]);
    assert!(said.out.contains("[no-repeat]"), "{said:?}");
    assert!(said.out.contains("not enough data"), "{said:?}");
    for (args, part) in [
        (vec!["compare", one, one], "on both sides"),
        (
            vec!["compare", &format!("{one},{one}"), "last"],
            "listed twice",
        ),
        (vec!["compare", one, ","], "no run given"),
        (vec!["compare", one, "zzz"], "zzz"),
        (vec!["compare", one, "absent.json"], "absent.json"),
        (
            vec!["compare", one, "last", "--fail-if", "p98 > 5%"],
            "did you mean",
        ),
    ] {
        let said = dir.run(&args);
        assert_eq!(said.code, Some(2), "{args:?}: {said:?}");
        assert!(said.err.contains(part), "{args:?}: {said:?}");
    }
}
