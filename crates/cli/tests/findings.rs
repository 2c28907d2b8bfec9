//! Findings over real runs: none over clean ones, and each rule by a run that breaks it. Three
//! rules are broken by made records only (`tests` of the analysis): `summary-mismatch`,
//! because Tidemark's own totals are sums of its intervals, `tpcc-response`, which takes minutes, and
//! `littles-law`, whose missing sessions no server refuses reliably.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Said, Workdir, signal};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tidemark_analysis::{Finding, Severity, findings};
use tidemark_core::record::RunRecord;
use tidemark_testkit::{Database, Engine, Server, shared_mariadb, shared_postgres};

/// Runs that are judged are not disturbed by each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

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

fn mariadb() -> Database {
    shared_mariadb()
        .unwrap()
        .fresh_database("findings")
        .unwrap()
}

fn postgres() -> Database {
    shared_postgres()
        .unwrap()
        .fresh_database("findings")
        .unwrap()
}

/// TPC-C's users meet at their district: what was changed since a snapshot can't be written.
#[test]
fn errors_that_a_setting_makes_are_told_with_it() {
    let _alone = alone();
    let server = Server::builder(Engine::MariaDb)
        .setting("innodb-snapshot-isolation", "ON")
        .start()
        .unwrap();
    let dir = Workdir::new();
    let url = server.url();
    let tpcc = ["tpcc", "--target", &url, "--warehouses=1", "-T", "8"];
    dir.ok(&[&tpcc[..], &["prepare"]].concat());
    dir.ok(&[&tpcc[..], &["--time=3s", "run"]].concat());
    let finding = |dir: &Workdir| found(dir).into_iter().find(|f| f.rule == "error-rate");
    let told = finding(&dir).unwrap();
    assert!(
        told.says.en.contains("innodb_snapshot_isolation is ON"),
        "{told:?}"
    );
    let record = dir.last_record();
    assert_eq!(record["errors"][0]["code"], "1020", "{}", record["errors"]);
    // What it advises ends them.
    let level = "--isolation=read-committed";
    dir.ok(&[&tpcc[..], &["--time=3s", level, "run"]].concat());
    let told = finding(&dir);
    assert!(told.is_none_or(|f| !f.says.en.contains("snapshot")));
}

#[test]
fn clean_runs_have_no_finding() {
    let _alone = alone();
    let dir = Workdir::new();
    let (mariadb, postgres) = (mariadb(), postgres());
    let sqlite = "sqlite:clean.db";
    for url in [mariadb.url(), postgres.url(), sqlite.into()] {
        sysbench(&dir, &url, "oltp_read_write --table-size=10000 prepare");
    }
    for (url, words) in [
        (sqlite, "oltp_read_only --threads=2 --time=6 run"),
        (&mariadb.url(), "oltp_read_write --threads=4 --time=6 run"),
        (
            &postgres.url(),
            "oltp_update_index --threads=4 --time=6 run",
        ),
        // More sessions than processors: the client's own time counts.
        (
            &mariadb.url(),
            "oltp_point_select --threads=64 --time=6 run",
        ),
        // On a schedule; at rates that follow each other; users who think.
        (
            &postgres.url(),
            "oltp_point_select --threads=8 --rate=300 --time=6 run",
        ),
        (
            &mariadb.url(),
            "oltp_point_select --threads=8 --rate=200..600:200 --rate-hold=2s run",
        ),
        (
            &postgres.url(),
            "oltp_point_select --threads=100 --connections=8 --think-time=exp:200ms --time=8 run",
        ),
    ] {
        let words = format!("{words} --table-size=10000");
        let said = sysbench(&dir, url, &words);
        // Client and server share this host, and tests beside it: that is told as what it is.
        let mut found = found(&dir);
        found.retain(|f| f.rule != "client-bound" || f.severity != Severity::Note);
        assert_eq!(found, [], "{words}");
        let alarms = said.lines().filter(|line| {
            let told = line.starts_with("SUSPECT") || line.starts_with("NOTE");
            told && !line.starts_with("NOTE [client-bound]")
        });
        assert_eq!(alarms.collect::<Vec<_>>(), [""; 0], "{said}");
    }
}

#[test]
fn data_that_is_not_what_it_should_be_is_told() {
    let _alone = alone();
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
    sysbench(&dir, url, "oltp_delete --table-size=1000 --time=3 run");
    assert!(has(&dir, "no-op-writes") >= Severity::Suspect);
}

#[test]
fn errors_that_change_the_work_are_told() {
    let _alone = alone();
    let dir = Workdir::new();
    let postgres = postgres();
    sysbench(
        &dir,
        &postgres.url(),
        "oltp_write_only --table-size=10 prepare",
    );
    sysbench(
        &dir,
        &postgres.url(),
        "oltp_write_only --table-size=10 --threads=16 --time=4 run",
    );
    assert!(has(&dir, "error-rate") >= Severity::Suspect);
}

#[test]
fn a_distance_that_is_most_of_the_latency_is_told() {
    let _alone = alone();
    let dir = Workdir::new();
    let mariadb = mariadb();
    sysbench(
        &dir,
        &mariadb.url(),
        "oltp_point_select --table-size=1000 prepare",
    );
    let words = "oltp_point_select --table-size=1000 --threads=8 --inject-rtt=20ms --time=6 run";
    sysbench(&dir, &mariadb.url(), words);
    assert_eq!(has(&dir, "latency-floor"), Severity::Note);
}

/// A run of eight seconds, with what happens beside it.
fn disturbed(dir: &Workdir, url: &str, words: &str, disturb: impl FnOnce(u32)) -> Said {
    let target = format!("--target={url}");
    let line = format!("sysbench {words} --table-size=1000 --threads=4 --time=8 run");
    let mut args: Vec<&str> = line.split_whitespace().collect();
    args.push(&target);
    let run = dir.spawn(&args);
    std::thread::sleep(Duration::from_secs(3));
    disturb(run.id());
    Said::of(&run.wait_with_output().unwrap())
}

fn stopped_for(pid: u32, seconds: f64) {
    signal(pid, "STOP");
    std::thread::sleep(Duration::from_secs_f64(seconds));
    signal(pid, "CONT");
}

#[test]
fn dead_time_is_told_with_its_side() {
    let _alone = alone();
    let dir = Workdir::new();
    let server = Server::builder(Engine::MariaDb).start().unwrap();
    let url = server.url();
    let words = "oltp_point_select";
    sysbench(&dir, &url, &format!("{words} --table-size=1000 prepare"));
    let pid = server.pid().unwrap();
    let said = disturbed(&dir, &url, words, |_| stopped_for(pid, 2.5));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(has(&dir, "stall"), Severity::Invalid);
    assert!(said.out.contains("while the client ran"), "{said:?}");
    assert!(!said.out.contains("client-stopped"), "{said:?}");
    // The client itself.
    let said = disturbed(&dir, &url, words, |client| stopped_for(client, 1.0));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(has(&dir, "client-stopped"), Severity::Invalid);
    assert!(!said.out.contains("[stall]"), "{said:?}");
    // To the end and beyond it.
    let said = disturbed(&dir, &url, words, |_| stopped_for(pid, 6.0));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(has(&dir, "stall"), Severity::Invalid);
    // An embedded engine's lock, which another process holds.
    let url = "sqlite:locked.db";
    let words = "oltp_read_write";
    sysbench(&dir, url, &format!("{words} --table-size=1000 prepare"));
    let other = rusqlite::Connection::open(dir.path().join("locked.db")).unwrap();
    other.busy_timeout(Duration::from_secs(20)).unwrap();
    let said = disturbed(&dir, url, words, |_| {
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        std::thread::sleep(Duration::from_secs(3));
        other.execute_batch("ROLLBACK").unwrap();
    });
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(has(&dir, "stall"), Severity::Invalid);
}

#[test]
fn a_run_without_a_transaction_is_no_success() {
    let _alone = alone();
    let dir = Workdir::new();
    sysbench(
        &dir,
        "sqlite:none.db",
        "oltp_point_select --table-size=1000 prepare",
    );
    dir.ok(&["ycsb", "load", "-P", "workloada", "--target=sqlite:y.db"]);
    let tpcc = ["tpcc", "--target=sqlite:c.db", "--warehouses=1"];
    dir.ok(&[&tpcc[..], &["--no-check", "prepare"]].concat());
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
        assert!(said.err.contains("no transaction ended in"), "{said:?}");
        assert!(said.err.contains("Run longer"), "{said:?}");
    }
}

#[test]
fn a_rate_that_falls_is_told() {
    let _alone = alone();
    let dir = Workdir::new();
    let mariadb = mariadb();
    let url = mariadb.url();
    sysbench(&dir, &url, "oltp_read_write --table-size=1000 prepare");
    let target = format!("--target={url}");
    let other = Workdir::new();
    let load = "sysbench oltp_read_only --table-size=1000 --threads=32 --time=9 run";
    let mut args: Vec<&str> = load.split_whitespace().collect();
    args.push(&target);
    // What else the machine does may disturb the first half as much as this does the second.
    let drift = (0..3).find_map(|_| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_secs(8));
                other.ok(&args);
            });
            sysbench(
                &dir,
                &url,
                "oltp_read_only --table-size=1000 --threads=2 --time=16 run",
            );
            found(&dir).into_iter().find(|f| f.rule == "drift")
        })
    });
    assert_eq!(drift.map(|f| f.severity), Some(Severity::Suspect));
}

#[test]
fn a_tpmc_without_think_times_is_told() {
    let _alone = alone();
    let dir = Workdir::new();
    let target = ["--target", "sqlite:tpcc.db", "--warehouses", "1"];
    dir.ok(&[&["tpcc"], &target[..], &["--no-check", "prepare"]].concat());
    dir.ok(&[&["tpcc"], &target[..], &["--time", "6s", "run"]].concat());
    assert_eq!(has(&dir, "tpcc-cap"), Severity::Note);
}

#[test]
fn runs_are_compared() {
    let _alone = alone();
    let dir = Workdir::new();
    let url = "sqlite:compare.db";
    sysbench(&dir, url, "oltp_point_select --table-size=1000 prepare");
    let run = |words: &str| {
        sysbench(&dir, url, &format!("{words} --table-size=1000 run"));
        dir.last_record()["id"].as_str().unwrap().to_string()
    };
    // A transaction of point select beside one of fifteen statements: slower beyond doubt.
    let fast: Vec<String> = (0..3).map(|_| run("oltp_point_select --time=2")).collect();
    let slow: Vec<String> = (0..3).map(|_| run("oltp_read_only --time=2")).collect();
    let (fast, slow) = (fast.join(","), slow.join(","));
    let said = dir.ok(&["compare", &fast, &slow]);
    for part in [
        "slower",
        "95% confidence intervals from repeats",
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
    let failed = limit("p99 > +5%");
    assert_eq!(failed.code, Some(3), "{failed:?}");
    assert!(failed.out.contains("FAILED: p99 > +5%"), "{failed:?}");
    assert_eq!(limit("throughput > +5%").code, Some(0));
    // Single runs, and one that is a file.
    let one = fast.split(',').next().unwrap();
    dir.ok(&["report", "last", "--out", "last.json"]);
    let said = dir.ok(&["compare", one, "last.json"]);
    assert!(said.out.contains("[no-repeat]"), "{said:?}");
    assert!(said.out.contains("too little measured to tell"), "{said:?}");
    for (args, part) in [
        (vec!["compare", one, one], "on both sides"),
        (
            vec!["compare", &format!("{one},{one}"), "last"],
            "there twice",
        ),
        (vec!["compare", one, ","], "which run?"),
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
