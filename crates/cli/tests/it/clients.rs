//! Several client hosts as one: processes on this host, with a NATS server of the test's own.

mod scripts;

use super::common::loaded::Tpch;
use super::common::tpch::{json, ok};
use super::common::{Said, Workdir, signal, wait_until};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// A nats-server at a port of its own.
pub(crate) struct Nats {
    child: Child,
    pub(crate) url: String,
    _folder: TempDir,
}

pub(crate) fn program() -> PathBuf {
    let places = ["/usr/sbin/nats-server", "/usr/local/bin/nats-server"];
    let there = places.iter().map(PathBuf::from).find(|p| p.exists());
    there.unwrap_or_else(|| "nats-server".into())
}

impl Nats {
    pub(crate) fn start() -> Self {
        Self::at("127.0.0.1:-1")
    }

    fn at(address: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("nats.conf");
        let place = folder.path().display();
        let text = format!(
            "listen: \"{address}\"\nports_file_dir: \"{place}\"\njetstream {{ store_dir: \"{place}\" }}\n"
        );
        std::fs::write(&config, text).unwrap();
        let mut command = Command::new(program());
        command.arg("--config").arg(&config);
        let child = silent(&mut command).spawn().unwrap();
        wait_until("the server's port", || ports(folder.path()).is_some());
        Self {
            child,
            url: ports(folder.path()).unwrap(),
            _folder: folder,
        }
    }
}

fn ports(folder: &Path) -> Option<String> {
    let mut files = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let file = files.find(|f| f.path().extension().is_some_and(|e| e == "ports"))?;
    let value: Value = serde_json::from_str(&std::fs::read_to_string(file.path()).ok()?).ok()?;
    Some(value["nats"][0].as_str()?.to_string())
}

fn silent(command: &mut Command) -> &mut Command {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// Agents as processes of their own.
struct Agents(Vec<Child>);

impl Agents {
    fn start(dir: &Workdir, nats: &Nats, names: &[&str], database: &Database) -> Self {
        Self::start_with(dir, nats, names, database, &[])
    }

    fn start_with(
        dir: &Workdir,
        nats: &Nats,
        names: &[&str],
        database: &Database,
        more: &[&str],
    ) -> Self {
        let one = |name: &&str| {
            let first = ["agent", "--nats", &nats.url, "--name", name];
            let mut command = dir.command(&[&first[..], more].concat());
            let password = database.endpoint().target().password.reveal().to_string();
            command
                .env("MYSQL_PWD", &password)
                .env("PGPASSWORD", &password);
            let log = dir.path().join(format!("agent-{name}.log"));
            let log = std::fs::File::create(log).unwrap();
            silent(&mut command).stdout(log).spawn().unwrap()
        };
        let agents = Self(names.iter().map(one).collect());
        wait_until("the agents", || {
            let listed = dir.run(&["agents", "--nats", &nats.url]).out;
            listed.matches(" free").count() == names.len()
        });
        agents
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        for agent in &mut self.0 {
            let _ended = agent.kill();
            let _gone = agent.wait();
        }
    }
}

fn words<'a>(target: &'a str, more: &[&'a str], command: &'a str) -> Vec<&'a str> {
    let first = [
        "sysbench",
        "oltp_read_only",
        target,
        "--tables=1",
        "--table-size=1000",
    ];
    [&first, more, &[command]].concat()
}

/// The sum of one figure of the clients of a record.
fn sum(record: &Value, of: impl Fn(&Value) -> u64) -> u64 {
    record["clients"].as_array().unwrap().iter().map(of).sum()
}

#[test]
fn local_clients_load_and_run_as_one() {
    for server in [shared_mariadb().unwrap(), shared_postgres().unwrap()] {
        let database = server.fresh_database("local_clients").unwrap();
        let dir = Workdir::new();
        let target = format!("--target={}", database.url());
        let load = dir.run(&words(
            &target,
            &["--clients=local:2", "--threads=2"],
            "prepare",
        ));
        assert_eq!(load.code, Some(0), "{load:?}");
        let rows = database
            .query("SELECT COUNT(*), COUNT(DISTINCT id) FROM sbtest1")
            .unwrap();
        assert!(rows.matches("1000").count() == 2, "{rows}");
        let run = dir.run(&words(
            &target,
            &[
                "--clients=local:3",
                "--threads=7",
                "--think-time=5ms",
                "--time=3",
                "--report-interval=1",
            ],
            "run",
        ));
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.out.contains("clients: local-1 on "), "{run:?}");
        let record = dir.last_record();
        assert_eq!(record["state"], "finished", "{record}");
        assert_eq!(record["sessions"], 7);
        assert_eq!(record["clients"].as_array().unwrap().len(), 3);
        assert_eq!(sum(&record, |c| c["sessions"].as_u64().unwrap()), 7);
        // The whole is the sum of its parts, and of its intervals.
        let whole = record["totals"]["all"]["count"].as_u64().unwrap();
        assert!(whole > 0);
        assert_eq!(sum(&record, |c| c["all"]["count"].as_u64().unwrap()), whole);
        let intervals = record["intervals"].as_array().unwrap().iter();
        let of_types = |i: &Value| {
            let types = i["types"].as_object().unwrap().values();
            types.map(|t| t["count"].as_u64().unwrap()).sum::<u64>()
        };
        let measured = intervals.filter(|i| i["phase"] == "measure").map(of_types);
        assert_eq!(measured.sum::<u64>(), whole);
        for client in record["clients"].as_array().unwrap() {
            assert!(client["clock_error_ms"].as_f64().unwrap() > 0.0, "{client}");
            assert!(client["start_late_ms"].is_number(), "{client}");
        }
        // The job can be made again, and has no secret.
        let password = database.endpoint().target().password.reveal();
        let mut print = dir.command(&["exec", "--from", "last", "--print-job"]);
        print.env("MYSQL_PWD", password).env("PGPASSWORD", password);
        let job = Said::of(&print.output().unwrap());
        assert_eq!(job.code, Some(0), "{job:?}");
        assert!(
            job.out.contains("\"local:3\"") && !job.out.contains(&format!(":{password}@")),
            "{job:?}"
        );
    }
}

#[test]
fn ycsb_and_pgbench_load_and_run_from_several_clients() {
    let database = shared_postgres()
        .unwrap()
        .fresh_database("clients_of_tools")
        .unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    let both = "--clients=local:2";
    let count = |table: &str| {
        let rows = database.query(&format!("SELECT COUNT(*) FROM {table}"));
        rows.unwrap().trim().to_string()
    };
    let load = dir.ok(&[
        "ycsb",
        "load",
        &target,
        "-p",
        "recordcount=2000",
        "--threads=2",
        both,
    ]);
    assert!(load.err.contains("client local-2: done"), "{load:?}");
    assert!(count("usertable").contains("2000"));
    dir.ok(&[
        "ycsb",
        "run",
        &target,
        "-p",
        "recordcount=2000",
        "-p",
        "operationcount=500",
        "--threads=2",
        both,
    ]);
    let record = dir.last_record();
    assert_eq!(record["clients"].as_array().unwrap().len(), 2);
    assert_eq!(record["totals"]["all"]["count"], 500);
    let load = dir.ok(&["pgbench", &target, "-i", "-s", "1", both]);
    assert!(load.err.contains("client local-2: done"), "{load:?}");
    assert!(count("pgbench_accounts").contains("100000"));
    dir.ok(&["pgbench", &target, "-c", "4", "-T", "2", both]);
    let record = dir.last_record();
    assert_eq!(record["clients"].as_array().unwrap().len(), 2);
    let whole = record["totals"]["all"]["count"].as_u64().unwrap();
    assert!(whole > 0);
    assert_eq!(sum(&record, |c| c["all"]["count"].as_u64().unwrap()), whole);
}

#[test]
fn streams_of_queries_are_shared_by_clients() {
    let tables = Tpch::on("postgres", "tpch_clients");
    let (dir, target) = (&tables.dir, &tables.target);
    ok(
        dir,
        target,
        "run --test throughput --refresh=off --streams 3 --clients local:2 --out r.json",
    );
    let record = json(dir, "r.json");
    assert_eq!(record["state"], "finished", "{record}");
    let queries = record["queries"].as_array().unwrap();
    for stream in 1..=3 {
        let own = queries.iter().filter(|q| q["stream"] == stream);
        let done = own.filter(|q| q["outcome"] == "done");
        assert_eq!(done.count(), 22, "{stream}");
    }
    // Each was asked once: by the first or the second client.
    assert_eq!(queries.len(), 66);
    assert_eq!(record["totals"]["all"]["count"], 66);
    assert_eq!(sum(&record, |c| c["sessions"].as_u64().unwrap()), 3);
    assert_eq!(sum(&record, |c| c["all"]["count"].as_u64().unwrap()), 66);
    let of_types = |i: &Value| {
        let types = i["types"].as_object().unwrap().values();
        types.map(|t| t["count"].as_u64().unwrap()).sum::<u64>()
    };
    let intervals = record["intervals"].as_array().unwrap().iter();
    assert_eq!(intervals.map(of_types).sum::<u64>(), 66);
    // In the order in which they ended, from the common start.
    let ends = |q: &Value| q["start_ms"].as_f64().unwrap() + q["took_ms"].as_f64().unwrap();
    let last = queries.iter().map(ends).fold(0.0, f64::max);
    let elapsed_ms = record["totals"]["elapsed_s"].as_f64().unwrap() * 1000.0;
    assert!((last - elapsed_ms).abs() < 1.0, "{last} {elapsed_ms}");
}

#[test]
fn a_diagnosis_is_made_by_several_clients() {
    let database = shared_mariadb()
        .unwrap()
        .fresh_database("diagnosed_clients")
        .unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    dir.ok(&words(&target, &[], "prepare"));
    let diagnosis = ["diagnose", "--budget=20s", "--format=json", "--lang=en"];
    let job = words(&target, &["--threads=2", "--clients=local:2"], "run");
    let said = dir.ok(&[&diagnosis[..], &job].concat());
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert!(found["baseline"]["transactions_per_s"].as_f64().unwrap() > 0.0);
    let skipped = found["skipped"].as_array().unwrap().iter();
    let reasons: Vec<&str> = skipped.filter_map(|s| s["reason"].as_str()).collect();
    for reason in [
        "several clients make the load already",
        "half of the sessions are fewer than the 2 clients",
    ] {
        assert!(reasons.contains(&reason), "{reasons:?}");
    }
    let record = dir.last_record();
    assert_eq!(record["clients"].as_array().unwrap().len(), 2, "{record}");
    // As an option of its own it is the job's from then on.
    let more = words(&target, &["--threads=1"], "run");
    let diagnosis = ["diagnose", "--budget=20s", "--clients=local:2"];
    let refused = dir.run(&[&diagnosis[..], &more].concat());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.err.contains("2 clients can't share 1 sessions"),
        "{refused:?}"
    );
}

#[test]
fn a_load_that_is_interrupted_ends_well_and_is_resumed() {
    let database = shared_mariadb()
        .unwrap()
        .fresh_database("interrupted_load")
        .unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    let prepare = [
        "sysbench",
        "oltp_read_only",
        &target,
        "--tables=1",
        "--table-size=300000",
        "--chunk-rows=1000",
        "--clients=local:2",
        "--threads=2",
        "prepare",
    ];
    let first = dir.spawn(&prepare);
    let done = "SELECT COUNT(*) FROM tidemark_load_journal WHERE state = 'done'";
    wait_until("some chunks", || {
        let count = database.query(done);
        count.is_ok_and(|n| n.trim().parse::<u32>().is_ok_and(|n| n > 2))
    });
    signal(first.id(), "INT");
    let said = Said::of(&first.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(said.err.contains("the same command resumes"), "{said:?}");
    // It ended by itself: it was neither forced nor lost.
    assert!(
        !said.err.contains("forced exit") && !said.err.contains("is lost"),
        "{said:?}"
    );
    let again = dir.run(&prepare);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.all().contains("Resuming 'sbtest1'"), "{again:?}");
    let rows = database
        .query("SELECT COUNT(*), COUNT(DISTINCT id) FROM sbtest1")
        .unwrap();
    assert_eq!(rows.matches("300000").count(), 2, "{rows}");
}

#[test]
fn an_agent_may_be_there_before_its_server() {
    let dir = Workdir::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let url = format!("nats://{address}");
    let mut command = dir.command(&["agent", "--nats", &url, "--name=early", "--wait=60s"]);
    let mut agents = Agents(vec![silent(&mut command).spawn().unwrap()]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(agents.0[0].try_wait().unwrap().is_none(), "it ended");
    let _nats = Nats::at(&address);
    wait_until("the agent", || {
        let listed = dir.run(&["agents", "--nats", &url]).out;
        listed.contains("early") && listed.contains(" free")
    });
}

#[test]
fn rates_and_searches_are_led_by_the_sum() {
    let database = shared_postgres()
        .unwrap()
        .fresh_database("led_rates")
        .unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    dir.ok(&words(&target, &[], "prepare"));
    let steps = [
        "--clients=local:2",
        "--threads=4",
        "--rate=20..60:20",
        "--rate-hold=1s",
    ];
    let run = dir.run(&words(&target, &steps, "run"));
    assert_eq!(run.code, Some(0), "{run:?}");
    let record = dir.last_record();
    let rates = record["steps"].as_array().unwrap().iter();
    let rates: Vec<f64> = rates.map(|s| s["rate"].as_f64().unwrap()).collect();
    assert_eq!(rates, [20.0, 40.0, 60.0]);
    let search = [
        "--clients=local:2",
        "--threads=4",
        "--find-max=p99 < 60s",
        "--find-from=50",
        "--find-hold=1s",
        "--find-confirm=1s",
        "--find-precision=0.5",
    ];
    let run = dir.run(&words(&target, &search, "run"));
    assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
    let record = dir.last_record();
    let steps = record["steps"].as_array().unwrap();
    assert!(steps.iter().any(|s| s["purpose"] == "climb"), "{record}");
    assert!(
        steps
            .iter()
            .all(|s| s["verdict"]["kept"].is_boolean() || s["purpose"] == "probe")
    );
}

#[test]
fn a_killed_client_is_lost_and_the_policy_decides() {
    let database = shared_mariadb()
        .unwrap()
        .fresh_database("killed_client")
        .unwrap();
    let dir = Workdir::new();
    let nats = Nats::start();
    let target = format!("--target={}", database.url());
    dir.ok(&words(&target, &[], "prepare"));
    for (policy, code) in [("fail", 1), ("continue", 0)] {
        let mut agents = Agents::start(&dir, &nats, &["a", "b"], &database);
        let server = format!("--nats={}", nats.url);
        let policy = format!("--on-client-loss={policy}");
        let more = [
            "--clients=a,b",
            &server,
            "--threads=4",
            "--time=12",
            "--report-interval=1",
            &policy,
        ];
        let run = dir.spawn(&words(&target, &more, "run"));
        wait_until("load of both", || {
            let listed = dir.run(&["agents", "--nats", &nats.url]).out;
            listed.matches("in run ").count() == 2
        });
        // Some of its seconds are measured.
        std::thread::sleep(std::time::Duration::from_secs(4));
        signal(agents.0[1].id(), "KILL");
        let said = Said::of(&run.wait_with_output().unwrap());
        assert_eq!(said.code, Some(code), "{said:?}");
        assert!(said.all().contains("client b is lost"), "{said:?}");
        let record = dir.last_record();
        let lost = &record["clients"][1];
        assert_eq!(
            (lost["name"].as_str(), lost["state"].as_str()),
            (Some("b"), Some("lost"))
        );
        let whole = record["totals"]["all"]["count"].as_u64().unwrap();
        assert_eq!(sum(&record, |c| c["all"]["count"].as_u64().unwrap()), whole);
        let _reaped = agents.0[1].wait();
    }
}

#[test]
fn a_run_whose_coordinator_was_killed_is_taken_up() {
    let database = shared_postgres()
        .unwrap()
        .fresh_database("taken_up")
        .unwrap();
    let dir = Workdir::new();
    let nats = Nats::start();
    let target = format!("--target={}", database.url());
    dir.ok(&words(&target, &[], "prepare"));
    let _agents = Agents::start(&dir, &nats, &["a", "b"], &database);
    let server = format!("--nats={}", nats.url);
    let more = [
        "--clients=2",
        &server,
        "--threads=4",
        "--think-time=5ms",
        "--time=12",
        "--report-interval=1",
    ];
    let mut run = dir.spawn(&words(&target, &more, "run"));
    wait_until("load of both", || {
        let listed = dir.run(&["agents", "--nats", &nats.url]).out;
        listed.matches("in run ").count() == 2
    });
    std::thread::sleep(std::time::Duration::from_secs(3));
    signal(run.id(), "KILL");
    run.wait().unwrap();
    let taken = dir.run(&["attach", "--nats", &nats.url]);
    assert_eq!(taken.code, Some(0), "{taken:?}");
    let record = dir.last_record();
    assert_eq!(record["state"], "finished", "{record}");
    assert_eq!(record["clients"].as_array().unwrap().len(), 2);
    let whole = record["totals"]["all"]["count"].as_u64().unwrap();
    assert_eq!(sum(&record, |c| c["all"]["count"].as_u64().unwrap()), whole);
    let again = dir.run(&["attach", "--nats", &nats.url]);
    assert_eq!(again.code, Some(5), "{again:?}");
}

#[test]
fn what_several_clients_cannot_do_is_refused() {
    let dir = Workdir::new();
    let refused = |args: &[&str], code: i32, words: &[&str]| {
        let said = dir.run(args);
        assert_eq!(said.code, Some(code), "{args:?}: {said:?}");
        for word in words {
            assert!(said.err.contains(word), "{args:?}: {said:?}");
        }
    };
    let sqlite = "--target=sqlite:a.db";
    let run = |more: &[&'static str], command: &'static str| words(sqlite, more, command);
    refused(
        &run(&["--clients=local:2"], "prepare"),
        2,
        &["SQLite", "use a server"],
    );
    dir.ok(&run(&[], "prepare"));
    refused(
        &run(&["--clients=local:2"], "run"),
        2,
        &["SQLite", "use a server"],
    );
    refused(
        &run(&["--clients=2"], "run"),
        2,
        &["--nats", "NATS_URL", "local:3"],
    );
    refused(
        &run(&["--nats=nats://h:1"], "run"),
        2,
        &["applies only to --clients"],
    );
    refused(
        &run(&["--clients=2", "--nats=h:1"], "run"),
        2,
        &["nats://HOST:4222"],
    );
    refused(
        &["agents", "--nats", "nats://127.0.0.1:1"],
        4,
        &["nats-server --jetstream"],
    );
    let tpch = |more: &[&'static str]| {
        let first = ["tpch", "run", "--target=mysql://u@127.0.0.1:1/d"];
        [&first[..], &["--clients=local:2"], more].concat()
    };
    refused(
        &tpch(&["--test=power"]),
        2,
        &["--test=power has one stream", "--refresh=off"],
    );
    refused(
        &tpch(&["--test=throughput"]),
        2,
        &["RF1 and RF2", "--refresh=off"],
    );
    refused(&tpch(&["--threads=1"]), 2, &["at most as many clients"]);
    refused(
        &tpch(&["--threads=2", "--check"]),
        2,
        &["check once without --clients"],
    );
    refused(
        &tpch(&["--threads=2", "--on-client-loss=continue"]),
        2,
        &["use fail"],
    );
    let server = "--target=mysql://u@127.0.0.1:1/d";
    refused(
        &words(server, &["--clients=local:3", "--threads=2"], "run"),
        2,
        &["--clients=local:3: 3 clients can't share 2 sessions"],
    );
    refused(
        &["sysbench", "cpu", "--clients=local:2", "run"],
        2,
        &["run it on each host"],
    );
}
