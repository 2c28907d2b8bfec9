//! A latency is what a session waited: in a closed loop throughput × mean latency is the number of sessions
//! (Little 1961).
//!
//! That holds whatever else the host does: a session is in a transaction or between two, and waits for the
//! server and for a processor alike are in the latency. Left out are the client's own time between two
//! transactions, what a thread that could run waited for a processor there, attempts that failed, and as
//! much as the longest transaction at both ends of the run.

use super::common::Workdir;
use tidemark_core::record::RunRecord;
use tidemark_stats::Histogram;
use tidemark_testkit::{Endpoint, shared_mariadb, shared_postgres};

/// How to load, how to run, and with how many sessions.
type Case = (&'static [&'static str], &'static [&'static str], f64);

const TABLE: &str = "--table-size=1000";
const SYSBENCH: &[&str] = &["sysbench", "oltp_point_select", TABLE, "prepare"];
const YCSB: &[&str] = &["ycsb", "load", "-P", "workloadc", "-p", "recordcount=1000"];

const OF_ALL: [Case; 4] = [
    (
        SYSBENCH,
        &[
            "sysbench",
            "oltp_point_select",
            TABLE,
            "--threads=16",
            "--time=2",
            "run",
        ],
        16.0,
    ),
    (
        &[],
        &[
            "sysbench",
            "oltp_point_select",
            TABLE,
            "--threads=64",
            "--time=2",
            "run",
        ],
        64.0,
    ),
    (
        YCSB,
        &[
            "ycsb",
            "run",
            "-P",
            "workloadc",
            "-p",
            "recordcount=1000",
            "-p",
            "operationcount=0",
            "-p",
            "maxexecutiontime=2",
            "-p",
            "threadcount=16",
        ],
        16.0,
    ),
    (
        &[],
        &["sysbench", "mine.lua", "--threads=8", "--time=2", "run"],
        8.0,
    ),
];

const TPCC: Case = (
    &["tpcc", "--warehouses=1", "-T2", "--no-check", "prepare"],
    &["tpcc", "--warehouses=1", "-T2", "--time=3s", "run"],
    2.0,
);

const PGBENCH: Case = (
    &["pgbench", "-i", "-q"],
    &["pgbench", "-S", "-c8", "-T2"],
    8.0,
);

/// A script that asks for one row.
const SCRIPT: &str = "
    function thread_init() con = sysbench.sql.driver():connect() end
    function event() con:query('SELECT c FROM sbtest1 WHERE id = 7') end
";

fn latencies_add_up(server: &Endpoint, cases: &[Case]) {
    let database = server.fresh_database("latency_identity").unwrap();
    let target = format!("--target={}", database.url());
    let dir = Workdir::new();
    std::fs::write(dir.path().join("mine.lua"), SCRIPT).unwrap();
    let with_target = |words: &[&str]| {
        let mut words = words.to_vec();
        // Behind the tool's name, its command or its workload.
        let at = match words[0] {
            "sysbench" | "ycsb" => 2,
            _ => 1,
        };
        words.insert(at, &target);
        dir.ok(&words);
    };
    for (load, run, sessions) in cases {
        if !load.is_empty() {
            with_target(load);
        }
        with_target(run);
        let record: RunRecord = serde_json::from_value(dir.last_record()).unwrap();
        let totals = &record.totals;
        let service = Histogram::decode(&totals.all.service.0).unwrap();
        let seconds = |ns: f64| ns / 1e9 / totals.elapsed_s;
        let count = totals.all.count as f64;
        assert_eq!(service.count(), totals.all.count, "{run:?}");
        let waited = seconds(service.sum_ns() as f64) / sessions;
        let ends = seconds(service.max_ns() as f64);
        let failed = totals.ignored_errors as f64 / (count + totals.ignored_errors as f64);
        let between = totals.fairness.between_avg_s.unwrap_or(0.0) / totals.elapsed_s;
        let kept_off = between.min(record.usage.waiting_threads.unwrap_or(0.0) / sessions);
        let what = format!(
            "{run:?}: {waited} of a session's time, {kept_off} kept off, {ends} at the ends, \
             {failed} failed"
        );
        assert!(waited + kept_off >= 0.85 - ends - failed, "{what}");
        assert!(waited <= 1.05 + ends, "{what}");
    }
}

#[test]
fn on_mariadb() {
    latencies_add_up(shared_mariadb().unwrap(), &OF_ALL);
    latencies_add_up(shared_mariadb().unwrap(), &[TPCC]);
}

#[test]
fn on_postgres() {
    latencies_add_up(shared_postgres().unwrap(), &OF_ALL);
    latencies_add_up(shared_postgres().unwrap(), &[TPCC, PGBENCH]);
}
