//! Loads, records and the store as users meet them.

use super::common;
use super::common::Workdir;
use tidemark_testkit::{SandboxEngine, Server, shared_mariadb};

const TARGET: &str = "--target=sqlite:a.db";
const SIZE: &str = "--table-size=100";

fn prepared() -> Workdir {
    let dir = Workdir::new();
    dir.ok(&["sysbench", "oltp_point_select", TARGET, SIZE, "prepare"]);
    dir
}

fn run(dir: &Workdir, more: &[&str]) -> common::Said {
    let args = ["sysbench", "oltp_point_select", TARGET, SIZE];
    dir.ok(&[&args[..], more, &["run"]].concat())
}

/// A server with a narrow limit, not the shared one: other tests want their sessions there.
fn mariadb_with(setting: &str, value: &str) -> Server {
    Server::builder(SandboxEngine::MariaDb)
        .setting(setting, value)
        .start()
        .unwrap()
}

#[test]
fn an_open_loop_is_told_after_sysbenchs_summary() {
    let dir = prepared();
    let said = run(
        &dir,
        &[
            "--rate=200",
            "--arrivals=constant",
            "--time=2",
            "--threads=2",
        ],
    );
    let (before, after) = said.out.split_once("Open loop:").unwrap();
    assert!(before.contains("Threads fairness:"), "{said:?}");
    assert!(
        after.contains("arrivals asked:                      200.00 per sec."),
        "{said:?}"
    );
    assert!(
        after.contains("arrival spacing:                     constant"),
        "{said:?}"
    );
    // Closed loop says nothing of the sort.
    let said = run(&dir, &["--events=10"]);
    assert!(said.out.ends_with(&format!(
        "see: tidemark show {}\n",
        dir.last_record()["id"].as_str().unwrap()
    )));
    assert!(!said.out.contains("Open loop"), "{said:?}");
}

#[test]
fn reports_and_records_hold_the_intervals_that_only_the_store_has() {
    let dir = prepared();
    let files = [
        "--out=r.json",
        "--report=a.html",
        "--report=b.json",
        "--time=2",
    ];
    for store in [&[][..], &["--store=off"]] {
        run(&dir, &[&files[..], store].concat());
        for file in ["r.json", "b.json"] {
            let text = std::fs::read_to_string(dir.path().join(file)).unwrap();
            let record: serde_json::Value = serde_json::from_str(&text).unwrap();
            let intervals = record["intervals"].as_array().unwrap();
            assert!((2..=4).contains(&intervals.len()), "{file}: {intervals:?}");
            let counted: u64 = intervals
                .iter()
                .flat_map(|i| i["types"].as_object().unwrap().values())
                .map(|t| t["count"].as_u64().unwrap())
                .sum();
            assert_eq!(record["totals"]["all"]["count"].as_u64().unwrap(), counted);
            std::fs::remove_file(dir.path().join(file)).unwrap();
        }
        let page = std::fs::read_to_string(dir.path().join("a.html")).unwrap();
        assert!(page.contains("Throughput over time"));
    }
}

#[test]
fn the_newest_run_is_deleted_by_its_name() {
    let dir = prepared();
    run(&dir, &["--events=10"]);
    run(&dir, &["--events=20"]);
    let newest = dir.last_record()["id"].as_str().unwrap().to_string();
    let said = dir.ok(&["delete", "last", "--yes"]);
    assert_eq!(said.out, format!("deleted run {newest}\n"));
    assert_ne!(dir.last_record()["id"].as_str().unwrap(), newest);
    dir.ok(&["delete", "last", "--yes"]);
    let said = dir.run(&["delete", "last", "--yes"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("no runs yet"), "{said:?}");
}

#[test]
fn a_run_that_made_no_load_is_not_kept() {
    let server = mariadb_with("max_connections", "12");
    let dir = Workdir::new();
    let target = format!("--target={}", server.url());
    let args = ["sysbench", "oltp_point_select", &target, SIZE];
    dir.ok(&[&args[..], &["prepare"]].concat());
    let said = dir.run(&[&args[..], &["--threads=500", "--out=failed.json", "run"]].concat());
    assert!(matches!(said.code, Some(1 | 4)), "{said:?}");
    let runs = dir.ok(&["runs"]);
    assert!(runs.out.contains("no runs yet"), "{runs:?}");
    // The file that was asked for says why.
    let failed = std::fs::read_to_string(dir.path().join("failed.json")).unwrap();
    let failed: serde_json::Value = serde_json::from_str(&failed).unwrap();
    assert_eq!(failed["state"], "failed");
}

#[test]
fn terminals_that_share_sessions_have_their_tables_all_the_same() {
    let dir = Workdir::new();
    let args = [
        "sysbench",
        "bulk_insert",
        TARGET,
        "--threads=6",
        "--connections=2",
    ];
    dir.ok(&[&args[..], &["prepare"]].concat());
    let said = dir.ok(&[&args[..], &["--events=60", "run"]].concat());
    assert!(said.out.contains("Number of threads: 6\n"), "{said:?}");
    assert!(
        said.out.contains("Sessions: 2 for 6 terminals\n"),
        "{said:?}"
    );
    let record = dir.last_record();
    assert_eq!(
        (&record["terminals"], &record["sessions"]),
        (&6.into(), &2.into())
    );
    let said = dir.ok(&[&args[..], &["cleanup"]].concat());
    assert!(said.out.contains("Dropping table 'sbtest6'..."), "{said:?}");
}

/// A run on a server that ends well: what was said, and its record.
fn on_server(name: &str, more: &[&str]) -> (common::Said, serde_json::Value) {
    let (said, record) = ended_on_server(name, more);
    assert_eq!(said.code, Some(0), "{said:?}");
    (said, record)
}

/// The same, however it ends.
fn ended_on_server(name: &str, more: &[&str]) -> (common::Said, serde_json::Value) {
    let (said, dir) = in_database(name, &[more, &["--report=r.html"]].concat());
    let page = std::fs::read_to_string(dir.path().join("r.html")).unwrap();
    assert!(page.contains("<h2>Breakdown of time</h2>"), "{name}");
    let record = dir.last_record();
    (said, record)
}

/// A run of point selects in a database of its own.
fn in_database(name: &str, more: &[&str]) -> (common::Said, Workdir) {
    let database = shared_mariadb().unwrap().fresh_database(name).unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    let args = ["sysbench", "oltp_point_select", &target, SIZE];
    dir.ok(&[&args[..], &["prepare"]].concat());
    let said = dir.run(&[&args[..], more, &["run"]].concat());
    (said, dir)
}

#[test]
fn staying_awake_for_arrivals_is_told_apart_and_can_be_turned_off() {
    let cpu = |name: &str, more: &[&str]| {
        let load = ["--threads=4", "--time=2"];
        let (said, dir) = in_database(name, &[&load[..], more].concat());
        assert_eq!(said.code, Some(0), "{said:?}");
        let usage = &dir.last_record()["usage"];
        let all = usage["cpu_user_s"].as_f64().unwrap() + usage["cpu_system_s"].as_f64().unwrap();
        (usage["cpu_awake_s"].as_f64(), all)
    };
    let (awake, all) = cpu("awake", &["--rate=500", "--busy-poll=500us"]);
    let awake = awake.unwrap();
    // How long is the scheduler's affair.
    assert!(0.0 < awake && awake < all, "{awake} of {all}");
    assert_eq!(cpu("asleep", &["--rate=500", "--busy-poll=0"]).0, None);
    // A closed loop awaits no arrival.
    assert_eq!(cpu("closed", &["--busy-poll=500us"]).0, None);
}

#[test]
fn steps_are_said_when_they_end_and_stand_in_a_table() {
    let load = ["--threads=4", "--rate=50..150:50", "--rate-hold=1s"];
    let (said, record) = on_server("steps", &load);
    let line = "Steps: 3 rates from 50 to 150/sec, each held for 1s\n";
    assert!(said.out.contains(line), "{said:?}");
    assert!(said.out.contains("\nstep: 100.00 asked/s, "), "{said:?}");
    let (_, table) = said.out.split_once("\nSteps:\n").unwrap();
    assert_eq!(table.matches("\n    step").count(), 3, "{said:?}");
    let rates: Vec<_> = record["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["rate"])
        .collect();
    assert_eq!(rates, [50.0, 100.0, 150.0]);
    let elapsed = record["totals"]["elapsed_s"].as_f64().unwrap();
    assert!((2.9..10.0).contains(&elapsed), "{elapsed}");
    // With interval lines, those name the rate, and nothing stands between them.
    let lines = [&load[..], &["--report-interval=1"]].concat();
    let (said, _) = on_server("steps", &lines);
    assert!(!said.out.contains("\nstep: "), "{said:?}");
    assert!(said.out.contains(", rate: 150.00\n"), "{said:?}");
}

#[test]
fn a_search_ends_with_one_sentence() {
    // No database is this fast, so the search goes down until there is nothing to search.
    let load = [
        "--threads=4",
        "--find-max=max < 1us",
        "--find-from=800",
        "--find-hold=1s",
        "--find-confirm=1s",
    ];
    let (said, record) = ended_on_server("search", &load);
    // Who has its result checked by a script need not read it.
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(
        said.err
            .starts_with("tidemark: no rate met max < 1µs; the lowest tried was "),
        "{said:?}"
    );
    assert!(
        said.out.contains("\nOpen loop, at the last rate tried:\n"),
        "{said:?}"
    );
    let line = "Searching for the highest rate that meets max < 1µs\n";
    assert!(said.out.contains(line), "{said:?}");
    let result = "\nWARNING: no rate met max < 1µs; the lowest tried was ";
    assert!(said.out.contains(result), "{said:?}");
    let steps = record["steps"].as_array().unwrap();
    assert!(steps.len() > 3, "{steps:?}");
    for step in steps {
        assert_eq!(step["verdict"]["kept"], false, "{step:?}");
    }
}

#[test]
fn a_run_that_measured_nothing_but_errors_fails_and_names_them() {
    let database = shared_mariadb().unwrap().fresh_database("refuses").unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    let args = ["sysbench", "oltp_insert", &target, SIZE];
    dir.ok(&[&args[..], &["prepare"]].concat());
    database
        .query(
            "CREATE TRIGGER nothing_more BEFORE INSERT ON sbtest1 FOR EACH ROW \
             SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'nothing more'",
        )
        .unwrap();
    let said = dir.run(&[&args[..], &["--mysql-ignore-errors=all", "--time=1", "run"]].concat());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err
            .starts_with("tidemark: no transaction succeeded; the most frequent error ("),
        "{said:?}"
    );
    assert!(said.err.contains("1644: nothing more"), "{said:?}");
    // It is kept with its errors all the same.
    assert_eq!(dir.last_record()["totals"]["all"]["count"], 0);
}

#[test]
fn seconds_of_warm_up_are_counted_from_its_start() {
    let dir = prepared();
    let said = run(
        &dir,
        &["--warmup-time=2", "--time=1", "--report-interval=1"],
    );
    let (warmup, measured) = said.out.split_once("\n[ warm-up 2s ] thds: ").unwrap();
    assert!(warmup.contains("\n[ warm-up 1s ] thds: "), "{said:?}");
    assert!(measured.contains("\n[ 1s ] thds: "), "{said:?}");
}

#[test]
fn terminals_wait_apart_from_the_database() {
    let load = [
        "--threads=100",
        "--connections=4",
        "--think-time=exp:50ms",
        "--time=2",
    ];
    let (said, record) = on_server("terminals", &load);
    for line in [
        "Sessions: 4 for 100 terminals\n",
        "    terminals on sessions:               100 on 4\n",
        "    think time:                          exp:50ms\n",
        "    waiting for a session (ms):          mean ",
    ] {
        assert!(said.out.contains(line), "{line}: {said:?}");
    }
    assert_eq!(
        (&record["terminals"], &record["sessions"]),
        (&100.into(), &4.into())
    );
    assert!(record["totals"]["all"]["wait"].is_string());
}

#[test]
fn a_doctor_speaks_of_loading_as_people_do() {
    let server = shared_mariadb().unwrap();
    let database = server.fresh_database("doctor_words").unwrap();
    let said = Workdir::new().ok(&["doctor", &database.url(), "--quick"]);
    assert!(
        said.out.contains("1000 rows (prepared) by arrays of rows"),
        "{said:?}"
    );
    assert!(!said.out.contains("BulkExecute"), "{said:?}");
}

#[test]
fn prepared_statements_that_a_server_will_not_keep_are_told_with_its_limit() {
    // More than the 32 sessions that are opened at a time prepare, so that some get all of theirs.
    let server = mariadb_with("max_prepared_stmt_count", "400");
    let dir = Workdir::new();
    let target = format!("--target={}", server.url());
    let args = ["sysbench", "oltp_read_write", &target, SIZE];
    dir.ok(&[&args[..], &["prepare"]].concat());
    let said = dir.run(&[&args[..], &["--threads=80", "--time=1", "run"]].concat());
    assert_eq!(said.code, Some(4), "{said:?}");
    for words in [
        "80 sessions requested, ",
        "the server's max_prepared_stmt_count is 400, of which 0 were in use before, and 80 \
         sessions need ",
        " each (",
        "--fewer-sessions=go-on",
    ] {
        assert!(said.err.contains(words), "{words}: {said:?}");
    }
    let fewer = [
        "--threads=80",
        "--fewer-sessions=go-on",
        "--events=50",
        "run",
    ];
    dir.ok(&[&args[..], &fewer].concat());
    let record = dir.last_record();
    let had = record["sessions_opened"].as_u64().unwrap();
    assert!((1..80).contains(&had), "{had}");
    let why = record["fewer_sessions_because"].as_str().unwrap();
    assert!(why.contains("max_prepared_stmt_count is 400"), "{why}");
}

#[test]
fn a_run_goes_on_with_fewer_sessions_also_where_an_executor_has_none() {
    let server = mariadb_with("max_connections", "12");
    let dir = Workdir::new();
    let target = format!("--target={}", server.url());
    let args = ["sysbench", "oltp_point_select", &target, SIZE];
    dir.ok(&[&args[..], &["--threads=2", "prepare"]].concat());
    let many = ["--threads=40", "--executors=20", "--events=200", "run"];
    let said = dir.run(&[&args[..], &many].concat());
    assert_eq!(said.code, Some(4), "{said:?}");
    // Of few sessions the server's limit is asked for afterwards.
    let few = ["--threads=20", "--events=200", "run"];
    let said = dir.run(&[&args[..], &few].concat());
    assert_eq!(said.code, Some(4), "{said:?}");
    assert!(said.err.contains("max_connections is 12"), "{said:?}");
    dir.ok(&[&args[..], &["--fewer-sessions=go-on"], &many].concat());
    let record = dir.last_record();
    let had = record["sessions_opened"].as_u64().unwrap();
    assert!((1..20).contains(&had), "{had}");
    let why = record["fewer_sessions_because"].as_str().unwrap();
    assert!(why.contains("max_connections is 12"), "{why}");
    assert_eq!(record["totals"]["all"]["count"], 200);
    // Terminals of an executor without a session would not run, so that it is refused.
    let shared = ["--fewer-sessions=go-on", "--think-time=1ms"];
    let said = dir.run(&[&args[..], &shared, &many].concat());
    assert_eq!(said.code, Some(4), "{said:?}");
}

#[test]
fn fewer_sessions_for_want_of_files_blame_no_server() {
    let server = mariadb_with("max_connections", "150");
    let dir = Workdir::new();
    let target = format!("--target={}", server.url());
    let args = ["sysbench", "oltp_point_select", &target, SIZE];
    dir.ok(&[&args[..], &["prepare"]].concat());
    let line = format!(
        "ulimit -n 128; exec {} sysbench oltp_point_select '{target}' {SIZE} --threads=200 --time=1 \
         --fewer-sessions=go-on --store=off --out=fewer.json run",
        common::TIDEMARK
    );
    let ended = std::process::Command::new("bash")
        .args(["-c", &line])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = common::Said::of(&ended);
    assert_eq!(said.code, Some(0), "{said:?}");
    let why = "(this process may open 128 files (ulimit -n))";
    assert!(said.out.contains(why), "{said:?}");
    assert!(!said.out.contains("max_connections"), "{said:?}");
    let record = std::fs::read_to_string(dir.path().join("fewer.json")).unwrap();
    assert!(
        record.contains("this process may open 128 files"),
        "{record}"
    );
}
