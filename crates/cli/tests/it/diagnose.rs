//! Experiments around a job, on real servers.

use super::common::{Said, Workdir};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidemark_store::{Filter, Store};
use tidemark_testkit::{shared_mariadb, shared_postgres};

pub fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {said:?}"))
}

/// A command that has the test servers' password, which no job holds.
pub fn command(work: &Workdir, words: &[&str]) -> Command {
    let mut command = work.command(words);
    command
        .env("PGPASSWORD", "sbtest")
        .env("MYSQL_PWD", "sbtest")
        // Where what is changed of servers is written down.
        .env("XDG_DATA_HOME", work.path().join("data"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn ok(work: &Workdir, words: &[&str]) -> Said {
    let said = Said::of(&command(work, words).output().unwrap());
    assert_eq!(said.code, Some(0), "{words:?}: {said:?}");
    said
}

pub fn refused(said: &Said, code: i32, parts: &[&str]) {
    assert_eq!(said.code, Some(code), "{said:?}");
    for part in parts {
        assert!(said.err.contains(part), "{part}: {said:?}");
    }
}

/// The job of a sysbench run, in a file.
pub fn job(work: &Workdir, words: &[&str]) {
    let printed = work.ok(&[&["sysbench"], words, &["--print-job", "run"]].concat());
    std::fs::write(work.path().join("job.json"), printed.out).unwrap();
}

fn measured<'j>(found: &'j Value, name: &str) -> Option<&'j Value> {
    let all = found["experiments"].as_array().unwrap();
    all.iter().find(|e| e["experiment"] == name)
}

/// A diagnosis that has made an experiment: a busy machine has no time for its pairs in the first of these
/// seconds.
fn until_measured(work: &Workdir, words: &[&str], budgets: &[u32], name: &str) -> (Said, Value) {
    let made = budgets.iter().find_map(|seconds| {
        let budget = format!("--budget={seconds}s");
        let said = ok(work, &[words, &[budget.as_str()][..]].concat());
        let found = json(&said);
        measured(&found, name).is_some().then_some((said, found))
    });
    made.unwrap_or_else(|| panic!("{name} was not made in {budgets:?} s"))
}

pub fn skipped(found: &Value, name: &str) -> String {
    let all = found["skipped"].as_array().unwrap();
    let one = all.iter().find(|e| e["experiment"] == name);
    one.unwrap_or_else(|| panic!("{name}: {found:#}"))["reason"]
        .as_str()
        .unwrap()
        .into()
}

/// Every experiment is measured or skipped, each ratio lies in its interval, and the runs are ordinary
/// runs with the diagnosis' tag.
fn is_sound(found: &Value, store: &Path) {
    let names = |key: &str| -> Vec<String> {
        let all = found[key].as_array().unwrap().iter();
        all.map(|e| e["experiment"].as_str().unwrap().into())
            .collect()
    };
    let mut all = [names("experiments"), names("skipped")].concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 10, "{found:#}");
    let mut pairs = 0;
    for experiment in found["experiments"].as_array().unwrap() {
        let of = |key: &str| experiment[key].as_f64().unwrap();
        assert!(of("low") <= of("ratio") && of("ratio") <= of("high"));
        assert!(of("ratio") > 0.0, "{experiment}");
        pairs += experiment["pairs"].as_u64().unwrap();
    }
    assert!(pairs >= 3, "{found:#}");
    let store = Store::open_existing(store).unwrap();
    let of_diagnosis = Filter {
        study: Some(found["id"].as_str().unwrap().into()),
        tags: vec!["diagnose".into()],
        ..Filter::default()
    };
    let runs = store.list(&of_diagnosis).unwrap();
    assert!(runs.len() as u64 > 2 * pairs, "{} {pairs}", runs.len());
    let record = store.get(&runs[0].id).unwrap();
    assert!(record.study.unwrap().factors.contains_key("experiment"));
    assert!(record.series.is_empty(), "nothing is observed");
}

#[test]
fn a_far_session_is_limited_by_distance_and_runs_bear_a_tag() {
    let work = Workdir::new();
    let database = shared_postgres()
        .unwrap()
        .fresh_database("diagnose")
        .unwrap();
    let url = format!("--target={}", database.url());
    let table = ["oltp_point_select", &url, "--table-size=1000"];
    work.ok(&[&["sysbench"][..], &table, &["prepare"]].concat());
    let far = ["--inject-rtt=5ms", "--time=1", "run"];
    work.ok(&[&["sysbench"][..], &table, &far].concat());
    let words = ["diagnose", "--from=last", "--format=json"];
    let (said, found) = until_measured(&work, &words, &[40, 160], "later-replies");
    is_sound(&found, &work.path().join("store.db"));
    assert_eq!(found["class"], "distance", "{said:?}");
    assert_eq!(found["verdict"], "network-distance");
    // On a full host twice as many sessions may not complete twice as much: then it is not sure.
    let sure = found["confidence"].as_str().unwrap();
    assert!(["high", "medium"].contains(&sure), "{found:#}");
    assert!(found["baseline"]["later_ms"].as_f64().unwrap() > 1.0);
    // The job itself adds the distance, which is said.
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.contains("the job injects 5"), "{sentence}");
    let later = measured(&found, "later-replies").unwrap()["ratio"]
        .as_f64()
        .unwrap();
    // On a full host the pairs scatter.
    assert!(later < 1.0, "{found:#}");
    assert_eq!(skipped(&found, "disjoint-keys"), "the workload only reads");
    // The run has what its experiments showed.
    let id = found["id"].as_str().unwrap();
    let store = Store::open_existing(&work.path().join("store.db")).unwrap();
    let all = store.list(&Filter::default()).unwrap();
    let own = all.iter().find(|run| run.tags.is_empty()).unwrap();
    let kept = store.get(&own.id).unwrap().experiments.unwrap();
    assert_eq!(
        (kept.id.as_str(), kept.verdict.as_str()),
        (id, "network-distance")
    );
    assert!(kept.later_ms >= 1.0, "{kept:?}");
    let told = work.ok(&["show", &own.id]).out;
    let row = told.lines().find(|line| line.contains(" ms later  "));
    assert!(row.is_some_and(|row| row.contains("replies ")), "{told}");
    // `last` is not one of the experiments.
    let said = ok(
        &work,
        &["diagnose", "--from=last", "--budget=20s", "--lang=zh"],
    );
    assert!(said.out.contains("瓶颈在网络距离"), "{said:?}");
    let listed = work.ok(&["runs", "--tag", "diagnose"]).out;
    assert!(listed.contains("diagnose"), "{listed}");
    let id = found["id"].as_str().unwrap();
    let listed = work.ok(&["runs", "--study", id]).out;
    assert!(listed.contains("oltp_point_select"), "{listed}");
}

#[test]
fn a_hot_row_is_contention() {
    let work = Workdir::new();
    let database = shared_postgres()
        .unwrap()
        .fresh_database("hot_row")
        .unwrap();
    let url = format!("--target={}", database.url());
    let table = ["oltp_update_non_index", &url, "--table-size=1000"];
    work.ok(&[&["sysbench"][..], &table, &["prepare"]].concat());
    // A transaction that holds its row for a round trip of 5 ms.
    let hot = [
        "oltp_write_only",
        &url,
        "--table-size=1",
        "--delete-inserts=0",
        "--inject-rtt=5ms",
        "--threads=8",
    ];
    job(&work, &hot);
    let words = ["diagnose", "job.json", "--format=json"];
    let (said, found) = until_measured(&work, &words, &[120, 240], "disjoint-keys");
    is_sound(&found, &work.path().join("store.db"));
    let disjoint = measured(&found, "disjoint-keys").unwrap();
    assert!(disjoint["low"].as_f64().unwrap() > 1.5, "{found:#}");
    assert_eq!(found["class"], "contention", "{found:#}");
    assert!(said.err.contains("changes rows"), "{said:?}");
}

/// Tells a thread to end, whatever happens.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Readers that another session's lock keeps away now and then: none of the changes moves anything, and the
/// server answers whoever asks nothing of the table.
#[test]
fn a_lock_that_another_session_holds_is_contention() {
    let work = Workdir::new();
    let server = shared_postgres().unwrap();
    let database = server.fresh_database("locked_out").unwrap();
    let url = format!("--target={}", database.url());
    let table = [
        "oltp_point_select",
        &url,
        "--table-size=1000",
        "--threads=4",
    ];
    work.ok(&[&["sysbench"][..], &table, &["prepare"]].concat());
    job(&work, &table);
    let is_over = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        let _ends = Ends(&is_over);
        scope.spawn(|| {
            let sql =
                "BEGIN; LOCK TABLE sbtest1 IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(0.6); COMMIT";
            while !is_over.load(Ordering::Relaxed) {
                database.query(sql).unwrap();
                std::thread::sleep(Duration::from_millis(400));
            }
        });
        // On a busy machine a statement that asks nothing waits for a processor, too.
        let words = ["diagnose", "job.json", "--format=json", "--budget=20s"];
        let mut all = (0..4).map(|_| json(&ok(&work, &words)));
        all.find(|found| found["verdict"] == "lock-held")
    });
    let found = found.expect("a lock is found in one of four diagnoses");
    assert_eq!(found["class"], "contention", "{found:#}");
    assert_eq!(found["confidence"], "medium", "{found:#}");
    let still = found["baseline"]["share_without_transactions"]
        .as_f64()
        .unwrap();
    assert!((0.3..0.95).contains(&still), "{found:#}");
    let sentence = found["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("of the time no transaction ended"),
        "{sentence}"
    );
}

/// An embedded database with a table, as words of a command.
fn embedded(work: &Workdir) -> [&'static str; 3] {
    let words = [
        "oltp_write_only",
        "--target=sqlite:a.db",
        "--table-size=1000",
    ];
    work.ok(&[&["sysbench"][..], &words, &["prepare"]].concat());
    words
}

#[test]
fn an_embedded_database_is_diagnosed_too() {
    let work = Workdir::new();
    let words = embedded(&work);
    // A benchmark's own command line.
    let diagnose = ["diagnose", "--budget=20s", "--format=json", "sysbench"];
    let found = json(&work.ok(&[&diagnose[..], &words, &["run"]].concat()));
    is_sound(&found, &work.path().join("store.db"));
    assert_eq!(skipped(&found, "text-protocol"), "the database is embedded");
    assert_eq!(found["baseline"]["ping_ms"], Value::Null);
    // Behind a run.
    let run = |budget: &str| {
        let words = [&["sysbench"][..], &words, &["--time=1", budget, "run"]];
        work.run(&words.concat())
    };
    refused(&run("--diagnose=1s"), 2, &["--diagnose=1s", "20s"]);
    let said = run("--diagnose=20s");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("transactions:"), "{said:?}");
    assert!(said.out.contains("sessions ×2"), "{said:?}");
    // The run has what its experiments showed.
    let store = Store::open_existing(&work.path().join("store.db")).unwrap();
    let all = store.list(&Filter::default()).unwrap();
    let own = all.iter().find(|run| run.tags.is_empty()).unwrap();
    let kept = store.get(&own.id).unwrap().experiments.unwrap();
    assert!(said.out.contains(&kept.id), "{kept:?} {said:?}");
    // It is the last one made, not one of the experiments, which are not listed beside it either.
    let told = work.ok(&["show", "last"]).out;
    assert!(
        told.contains("sessions ×2") && told.contains(&own.id),
        "{told}"
    );
    let listed = work.ok(&["runs"]);
    assert_eq!(listed.out.lines().count(), 2, "{listed:?}");
    let left_out = all.len() - 1;
    let said = format!("{left_out} runs of diagnoses not listed");
    assert!(listed.err.contains(&said), "{listed:?}");
    let experiments = work.ok(&["runs", "--tag=diagnose", "--limit=1000"]);
    assert_eq!(experiments.out.lines().count(), 1 + left_out);
    assert_eq!(experiments.err, "");
}

/// Whoever ends it has what was measured until then, and reads what was not.
#[test]
fn an_interrupted_diagnosis_tells_what_it_did_not_make() {
    let work = Workdir::new();
    let words = embedded(&work);
    job(&work, &words);
    let mut child = work.spawn(&["diagnose", "job.json", "--budget=60s", "--format=json"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let second = lines.find(|line| line.as_ref().unwrap().contains(": 2 pairs"));
    assert!(second.is_some());
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let _rest: Vec<_> = lines.collect();
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:?}");
    let found = json(&said);
    assert_eq!(found["interrupted"], true);
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.contains("interrupted"), "{sentence}");
    let left_out = found["skipped"].as_array().unwrap().iter();
    let reasons: Vec<&str> = left_out.map(|e| e["reason"].as_str().unwrap()).collect();
    assert!(
        reasons.contains(&"the diagnosis was interrupted"),
        "{found:#}"
    );
}

/// The database goes away while a baseline runs: what was measured until then is judged.
#[test]
fn a_late_baseline_that_fails_ends_a_diagnosis_with_what_there_is() {
    let work = Workdir::new();
    let words = embedded(&work);
    job(&work, &words);
    let mut child = work.spawn(&["diagnose", "job.json", "--budget=60s"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let second = lines.find(|line| line.as_ref().unwrap().contains(": 2 pairs"));
    assert!(second.is_some());
    let from = work.path().join("a.db");
    std::fs::rename(from, work.path().join("away.db")).unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let said = Said::of(&child.wait_with_output().unwrap());
    assert!(!matches!(said.code, Some(0)), "{said:?}");
    assert!(said.out.contains("sessions ×2"), "{said:?}");
    let told = |line: &String| line.contains("a run of the baseline failed");
    assert!(rest.iter().any(told), "{rest:?}");
}

#[test]
fn what_cannot_be_diagnosed_is_refused_with_what_can() {
    let work = Workdir::new();
    refused(&work.run(&["diagnose"]), 2, &["--from last", "job.json"]);
    work.ok(&["demo", "--time=1"]);
    refused(
        &work.run(&["diagnose", "--from=nonesuch"]),
        2,
        &["nonesuch"],
    );
    let short = ["diagnose", "--from=last", "--budget=5s"];
    refused(&work.run(&short), 2, &["--budget=5s", "20s", "--budget=3m"]);
    let none = ["diagnose", "--from=last", "--budget=0"];
    refused(&work.run(&none), 2, &["--budget=0", "20s", "--budget=3m"]);
    let off = ["diagnose", "--from=last", "--store=off"];
    assert_eq!(work.run(&off).code, Some(2));
    let words = ["tpch", "--target=sqlite:h.db", "--sf=0.01"];
    let queries = ["--test=power", "--refresh=off", "--print-job", "run"];
    let printed = work.ok(&[&words[..], &queries].concat()).out;
    std::fs::write(work.path().join("tpch.json"), printed).unwrap();
    refused(
        &work.run(&["diagnose", "tpch.json"]),
        2,
        &["workload.name: tpch", "oltp_read_write"],
    );
    job(&work, &["oltp_delete", "--target=sqlite:a.db"]);
    refused(&work.run(&["diagnose", "job.json"]), 2, &["oltp_delete"]);
    job(&work, &["oltp_read_only", "--target=sqlite:none.db"]);
    let missing = work.run(&["diagnose", "job.json", "--budget=20s"]);
    assert!(matches!(missing.code, Some(4 | 6)), "{missing:?}");
    let watch = ["watch", "sqlite:bench.db", "--time=1s", "--interval=100ms"];
    work.ok(&[
        "sysbench",
        "oltp_read_only",
        "--target=sqlite:bench.db",
        "prepare",
    ]);
    work.ok(&watch);
    refused(&work.run(&["diagnose", "--from=last"]), 2, &["watch"]);
    let url = shared_mariadb().unwrap().url();
    let url = format!("--target={url}");
    let load = ["oltp_read_only", &url, "--print-job", "prepare"];
    let printed = work.ok(&[&["sysbench"][..], &load].concat()).out;
    std::fs::write(work.path().join("load.json"), printed).unwrap();
    refused(&work.run(&["diagnose", "load.json"]), 2, &["prepare"]);
}
