//! Figures that others determine: an honest output or table has no finding, and one with a figure of
//! another size has. We wrote them.

use super::common::{found_in, old_sysbench_ending};
use tidemark_analysis::Severity;

/// Rules of what is worse than a note, each once.
pub(super) fn bad(text: &str) -> Vec<&'static str> {
    let all = found_in(text).into_iter();
    let bad = all.filter(|f| f.severity > Severity::Note);
    let mut rules: Vec<_> = bad.map(|f| f.rule).collect();
    rules.dedup();
    rules
}

/// The clean text has no finding; with each change the rule tells.
pub(super) fn planted(clean: &str, rule: &str, changes: &[(&str, &str)]) {
    assert_eq!(bad(clean), [""; 0], "{clean}");
    for (from, to) in changes {
        let text = clean.replacen(from, to, 1);
        assert_ne!(text, clean, "{from}");
        assert!(bad(&text).contains(&rule), "{to}: {:?}", bad(&text));
    }
}

pub(super) const GO_YCSB: &str = "\
./bin/go-ycsb run mysql -P workloads/workloada -p recordcount=1000000 -p operationcount=1000000 -p threadcount=32
***************** properties *****************
\"threadcount\"=\"32\"
\"recordcount\"=\"1000000\"
\"operationcount\"=\"1000000\"
**********************************************
READ   - Takes(s): 10.0, Count: 151002, OPS: 15100.2, Avg(us): 900, Min(us): 210, Max(us): 30111, 50th(us): 800, 99th(us): 3100
TOTAL  - Takes(s): 10.0, Count: 301872, OPS: 30187.2, Avg(us): 1040, Min(us): 210, Max(us): 40111, 50th(us): 900, 99th(us): 3700
UPDATE - Takes(s): 10.0, Count: 150870, OPS: 15087.0, Avg(us): 1180, Min(us): 301, Max(us): 40111, 50th(us): 1000, 99th(us): 4100
READ   - Takes(s): 20.0, Count: 302002, OPS: 15100.1, Avg(us): 900, Min(us): 210, Max(us): 30111, 50th(us): 800, 99th(us): 3100
TOTAL  - Takes(s): 20.0, Count: 603872, OPS: 30193.6, Avg(us): 1040, Min(us): 210, Max(us): 40111, 50th(us): 900, 99th(us): 3700
UPDATE - Takes(s): 20.0, Count: 301870, OPS: 15093.5, Avg(us): 1180, Min(us): 301, Max(us): 40111, 50th(us): 1000, 99th(us): 4100
READ   - Takes(s): 30.0, Count: 453002, OPS: 15100.1, Avg(us): 900, Min(us): 210, Max(us): 30111, 50th(us): 800, 99th(us): 3100
TOTAL  - Takes(s): 30.0, Count: 905872, OPS: 30195.7, Avg(us): 1040, Min(us): 210, Max(us): 40111, 50th(us): 900, 99th(us): 3700
UPDATE - Takes(s): 30.0, Count: 452870, OPS: 15095.7, Avg(us): 1180, Min(us): 301, Max(us): 40111, 50th(us): 1000, 99th(us): 4100
**********************************************
Run finished, takes 33.1s
READ   - Takes(s): 33.1, Count: 500210, OPS: 15112.1, Avg(us): 905, Min(us): 201, Max(us): 35111, 50th(us): 801, 99th(us): 3150
TOTAL  - Takes(s): 33.1, Count: 1000000, OPS: 30211.5, Avg(us): 1045, Min(us): 201, Max(us): 45111, 50th(us): 900, 99th(us): 3701
UPDATE - Takes(s): 33.1, Count: 499790, OPS: 15099.4, Avg(us): 1185, Min(us): 300, Max(us): 45111, 50th(us): 1001, 99th(us): 4120
";

#[test]
fn the_total_of_go_ycsb_follows_from_its_types() {
    planted(
        GO_YCSB,
        "summary-mismatch",
        &[
            ("OPS: 30211.5, Avg(us): 1045", "OPS: 30211.5, Avg(us): 1245"),
            (
                "Avg(us): 1045, Min(us): 201, Max(us): 45111",
                "Avg(us): 1045, Min(us): 201, Max(us): 65111",
            ),
            ("Avg(us): 1045, Min(us): 201", "Avg(us): 1045, Min(us): 101"),
            (
                "50th(us): 900, 99th(us): 3701",
                "50th(us): 700, 99th(us): 3701",
            ),
            ("99th(us): 3701", "99th(us): 4701"),
            (
                "Count: 1000000, OPS: 30211.5",
                "Count: 1300000, OPS: 39274.9",
            ),
            // Neither time nor counts fall.
            ("READ   - Takes(s): 20.0", "READ   - Takes(s): 50.0"),
            ("READ   - Takes(s): 30.0", "READ   - Takes(s): 17.0"),
            (
                "READ   - Takes(s): 30.0, Count: 453002",
                "READ   - Takes(s): 30.0, Count: 253002",
            ),
        ],
    );
}

#[test]
fn properties_that_the_command_sets_are_those_that_are_printed() {
    planted(
        GO_YCSB,
        "setting-contradicts",
        &[
            ("-p recordcount=1000000", "-p recordcount=2000000"),
            ("-p threadcount=32", "-p threadcount=64"),
        ],
    );
    // A flag sets some as well.
    let flag = GO_YCSB.replace("-p threadcount=32", "-p threadcount=1 --threads 32");
    assert_eq!(bad(&flag), [""; 0]);
}

const GO_TPC: &str = "\
$ tiup bench tpcc -H 10.0.0.1 --warehouses 1000 -T 100 --time 10m run
Finished
[Summary] DELIVERY - Takes(s): 599.8, Count: 48010, TPM: 4802.6, Sum(ms): 4080850.0, Avg(ms): 85.0, 50th(ms): 79.7, 90th(ms): 113.2, 99th(ms): 151.0, Max(ms): 318.8
[Summary] NEW_ORDER - Takes(s): 599.9, Count: 540120, TPM: 54021.0, Sum(ms): 31326960.0, Avg(ms): 58.0, 50th(ms): 54.5, 90th(ms): 79.7, 99th(ms): 113.2, Max(ms): 402.7
[Summary] NEW_ORDER_ERR - Takes(s): 599.9, Count: 800, TPM: 80.0, Sum(ms): 30000.0, Avg(ms): 37.5, 50th(ms): 33.6, 90th(ms): 56.6, 99th(ms): 56.6, Max(ms): 56.6
[Summary] ORDER_STATUS - Takes(s): 599.9, Count: 48022, TPM: 4803.0, Sum(ms): 480220.0, Avg(ms): 10.0, 50th(ms): 9.4, 90th(ms): 14.2, 99th(ms): 24.1, Max(ms): 104.9
[Summary] PAYMENT - Takes(s): 599.9, Count: 516003, TPM: 51608.9, Sum(ms): 22704132.0, Avg(ms): 44.0, 50th(ms): 41.9, 90th(ms): 60.8, 99th(ms): 88.1, Max(ms): 385.9
[Summary] STOCK_LEVEL - Takes(s): 599.8, Count: 48100, TPM: 4811.6, Sum(ms): 1058200.0, Avg(ms): 22.0, 50th(ms): 21.0, 90th(ms): 28.3, 99th(ms): 44.0, Max(ms): 142.6
tpmC: 54021.0, tpmTotal: 120047.1, efficiency: 420.1%
";

#[test]
fn the_total_of_go_tpc_and_its_errors_add_up() {
    planted(
        GO_TPC,
        "summary-mismatch",
        &[
            ("tpmTotal: 120047.1", "tpmTotal: 220047.1"),
            ("Count: 800, TPM: 80.0", "Count: 900, TPM: 80.0"),
            ("TPM: 80.0, Sum(ms): 30000.0", "TPM: 80.0, Sum(ms): 40000.0"),
        ],
    );
    // Whether what failed is in the total depends on the version.
    let with = GO_TPC.replace("tpmTotal: 120047.1", "tpmTotal: 120127.1");
    assert_eq!(bad(&with), [""; 0]);
    planted(
        GO_TPC,
        "setting-contradicts",
        &[("--time 10m", "--time 30m")],
    );
    // Who quotes a part of the types has no sum.
    let part = GO_TPC.replace("[Summary] PAYMENT", "PAYMENT");
    assert!(!bad(&part).contains(&"summary-mismatch"));
}

const SYSBENCH_11: &str = "\
$ sysbench oltp_point_select --threads=4 --time=10 --report-interval=5 --percentile=99 run
sysbench 1.1.0-2ca9e3f (using bundled LuaJIT 2.1.0-beta3)
Number of threads: 4
Report intermediate results every 5 second(s)
[ 5s ] thds: 4 tps: 9010.20 qps: 9010.20 (r/w/o: 9010.20/0.00/0.00) lat (ms,99%): 0.68 err/s: 0.00 reconn/s: 0.00
[ 10s ] thds: 4 tps: 9050.40 qps: 9050.40 (r/w/o: 9050.40/0.00/0.00) lat (ms,99%): 0.67 err/s: 0.00 reconn/s: 0.00
SQL statistics:
    queries performed:
        read:                            90313
        write:                           0
        other:                           0
        total:                           90313
    transactions:                        90313  (9030.40 per sec.)
    queries:                             90313  (9030.40 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

Throughput:
    events/s (eps):                      9030.4010
    time elapsed:                        10.0010s
    total number of events:              90313

Latency (ms):
         min:                                    0.31
         avg:                                    0.44
         max:                                    5.20
         99th percentile:                        0.67
         sum:                                39890.11

Threads fairness:
    events (avg/stddev):           22578.2500/100.10
    execution time (avg/stddev):   9.9725/0.00
";

#[test]
fn both_rates_of_sysbench_agree() {
    planted(
        SYSBENCH_11,
        "summary-mismatch",
        &[
            (
                "90313  (9030.40 per sec.)\n    queries",
                "90313  (1030.40 per sec.)\n    queries",
            ),
            (
                "(eps):                      9030.4010",
                "(eps):                      7030.4010",
            ),
        ],
    );
}

#[test]
fn the_command_of_sysbench_says_what_ran() {
    planted(
        SYSBENCH_11,
        "setting-contradicts",
        &[
            ("--time=10", "--time=300"),
            ("--time=10", "--time=5"),
            ("--report-interval=5", "--report-interval=1"),
            ("--threads=4", "--threads=8"),
        ],
    );
    // It ends with its events, and version 0.5 has a limit of them that is not stated.
    let events = SYSBENCH_11.replace("--time=10", "--time=300 --events=90313");
    assert_eq!(bad(&events), [""; 0]);
}

#[test]
fn lines_of_sysbench_have_its_threads_and_its_percentile() {
    planted(
        SYSBENCH_11,
        "summary-mismatch",
        &[
            ("[ 5s ] thds: 4", "[ 5s ] thds: 9"),
            (
                "99th percentile:                        0.67",
                "99th percentile:                        1.67",
            ),
            (
                "99th percentile:                        0.67",
                "99th percentile:                        0.57",
            ),
        ],
    );
    // A tenth of the run has no line: its slowest may be there.
    let left_out = SYSBENCH_11.replace("[ 10s ]", "[ 9s ]").replace(
        "99th percentile:                        0.67",
        "99th percentile:                        1.67",
    );
    assert_eq!(bad(&left_out), [""; 0]);
}

/// Without its ending.
pub(super) const SYSBENCH_05: &str = "\
sysbench 0.5:  multi-threaded system evaluation benchmark
Number of threads: 32
Report intermediate results every 10 second(s)
[  10s] threads: 32, tps: 2510.10, reads: 35150.20, writes: 10041.10, response time: 17.60ms (95%), errors: 0.00, reconnects:  0.00
[  20s] threads: 32, tps: 2530.30, reads: 35424.10, writes: 10121.20, response time: 17.40ms (95%), errors: 0.00, reconnects:  0.00
[  30s] threads: 32, tps: 2520.00, reads: 35280.00, writes: 10080.00, response time: 17.50ms (95%), errors: 0.00, reconnects:  0.00
OLTP test statistics:
    queries performed:
        read:                            1058554
        write:                           302444
        other:                           151222
        total:                           1512220
    transactions:                        75611  (2520.17 per sec.)
    read/write requests:                 1360998 (45363.00 per sec.)
    other operations:                    151222 (5040.33 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          30.0024s
    total number of events:              75611
    total time taken by event execution: 959.6120s
    response time:
";

#[test]
fn lines_of_sysbench_have_the_statements_of_its_transactions() {
    let ms = ["4.51", "12.69", "120.00", "17.52"];
    let ending = old_sysbench_ending(ms, "2362.8438/12.00", "29.9879/0.00");
    planted(
        &format!("{SYSBENCH_05}{ending}"),
        "summary-mismatch",
        &[
            ("reads: 35424.10", "reads: 45424.10"),
            ("writes: 10121.20", "writes: 20121.20"),
            // Time goes back.
            ("[  30s] threads", "[  16s] threads"),
        ],
    );
}

pub(super) const PGBENCH: &str = "\
postgres@db1:~$ pgbench -c 16 -j 4 -T 60 -P 10 -M prepared bench
pgbench (16.2)
starting vacuum...end.
progress: 10.0 s, 2101.3 tps, lat 7.601 ms stddev 2.110, 0 failed
progress: 20.0 s, 2110.2 tps, lat 7.582 ms stddev 2.090, 0 failed
progress: 30.0 s, 2098.7 tps, lat 7.623 ms stddev 2.140, 0 failed
progress: 40.0 s, 2105.1 tps, lat 7.600 ms stddev 2.101, 0 failed
progress: 50.0 s, 2099.9 tps, lat 7.619 ms stddev 2.120, 0 failed
progress: 60.0 s, 2104.8 tps, lat 7.601 ms stddev 2.099, 0 failed
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 100
query mode: prepared
number of clients: 16
number of threads: 4
maximum number of tries: 1
duration: 60 s
number of transactions actually processed: 126216
number of failed transactions: 0 (0.000%)
latency average = 7.604 ms
latency stddev = 2.110 ms
initial connection time = 21.302 ms
tps = 2104.101200 (without initial connection time)
";

#[test]
fn lines_of_pgbench_have_its_clients_and_its_time() {
    planted(
        PGBENCH,
        "summary-mismatch",
        &[
            ("lat 7.582", "lat 8.582"),
            ("lat 7.582", "lat 6.582"),
            ("lat 7.601 ms stddev 2.110", "lat 9.601 ms stddev 2.110"),
            ("progress: 30.0", "progress: 20.0"),
            ("progress: 40.0", "progress: 24.0"),
        ],
    );
    planted(
        PGBENCH,
        "setting-contradicts",
        &[
            ("-j 4", "-j 8"),
            ("-c 16", "-c 32"),
            ("-T 60", "-T 600"),
            ("-M prepared", "-M simple"),
        ],
    );
    // It has no more threads than clients.
    let capped = PGBENCH
        .replace("-j 4", "-j 64")
        .replace("threads: 4", "threads: 16");
    assert_eq!(bad(&capped), [""; 0]);
}

#[test]
fn a_stall_that_ends_in_a_line_of_pgbench_is_no_contradiction() {
    // 16 transactions waited from second 12 on, and ended in the third line.
    let stalled = PGBENCH
        .replace(
            "progress: 20.0 s, 2110.2 tps, lat 7.582 ms stddev 2.090",
            "progress: 20.0 s, 420.2 tps, lat 7.582 ms stddev 2.090",
        )
        .replace(
            "progress: 30.0 s, 2098.7 tps, lat 7.623 ms stddev 2.140",
            "progress: 30.0 s, 2098.7 tps, lat 13.800 ms stddev 221.000",
        )
        .replace(
            "number of transactions actually processed: 126216",
            "number of transactions actually processed: 109316",
        )
        .replace("latency stddev = 2.110", "latency stddev = 96.900")
        .replace("latency average = 7.604", "latency average = 8.778")
        .replace("tps = 2104.101200", "tps = 1822.000000");
    let rules = bad(&stalled);
    assert!(!rules.contains(&"summary-mismatch"), "{rules:?}");
}

const YCSB: &str = "\
Command line: -t -db site.ycsb.db.JdbcDBClient -P workloads/workloadb -threads 64 -s
YCSB Client 0.17.0
2026-11-03 10:00:10:000 10 sec: 410233 operations; 41023.3 current ops/sec; est completion in 39 seconds [READ: Count=389710, Max=40111, Min=180, Avg=1540.1, 90=2101] [UPDATE: Count=20523, Max=40111, Min=300, Avg=1718.1, 90=2901]
2026-11-03 10:00:20:000 20 sec: 822102 operations; 41186.9 current ops/sec; est completion in 29 seconds [READ: Count=391280, Max=40111, Min=180, Avg=1530.1, 90=2101] [UPDATE: Count=20589, Max=40111, Min=300, Avg=1718.1, 90=2901]
2026-11-03 10:00:30:000 30 sec: 1234102 operations; 41200.0 current ops/sec; est completion in 19 seconds [READ: Count=391400, Max=40111, Min=180, Avg=1530.1, 90=2101] [UPDATE: Count=20600, Max=40111, Min=300, Avg=1718.1, 90=2901]
[OVERALL], RunTime(ms), 30100
[OVERALL], Throughput(ops/sec), 41099.67
[READ], Operations, 1175100
[READ], AverageLatency(us), 1538.2
[READ], MinLatency(us), 180
[READ], MaxLatency(us), 43007
[READ], 95thPercentileLatency(us), 2501
[READ], Return=OK, 1175100
[CLEANUP], Operations, 64
[CLEANUP], AverageLatency(us), 120.5
[CLEANUP], MinLatency(us), 30
[CLEANUP], MaxLatency(us), 3001
[CLEANUP], 95thPercentileLatency(us), 300
[UPDATE], Operations, 62000
[UPDATE], AverageLatency(us), 1718.4
[UPDATE], MinLatency(us), 302
[UPDATE], MaxLatency(us), 44031
[UPDATE], 95thPercentileLatency(us), 3001
[UPDATE], Return=OK, 62000
";

#[test]
fn status_lines_of_ycsb_count_what_the_run_does() {
    planted(
        YCSB,
        "summary-mismatch",
        &[
            ("822102 operations", "922102 operations"),
            ("822102 operations", "322102 operations"),
            ("41186.9 current", "61186.9 current"),
            ("READ: Count=391280", "READ: Count=591280"),
            ("Min=180, Avg=1530.1", "Min=1800, Avg=1530.1"),
            ("1234102 operations", "1934102 operations"),
        ],
    );
    // Whoever leaves lines out has no count of them.
    let cut: Vec<&str> = YCSB.lines().filter(|l| !l.contains(" 20 sec:")).collect();
    assert_eq!(bad(&cut.join("\n")), [""; 0]);
    // Closing sessions is no work that has percentiles.
    assert!(!found_in(YCSB).iter().any(|f| f.rule == "too-short"));
}

#[test]
fn a_run_of_ycsb_without_a_recordcount_has_that_of_its_file() {
    let load = "$ ./bin/ycsb load jdbc -P workloads/workloada -p recordcount=1000000 -threads 16
[OVERALL], RunTime(ms), 100000
[OVERALL], Throughput(ops/sec), 10000.0
[INSERT], Operations, 1000000
[INSERT], AverageLatency(us), 1590.0
[INSERT], Return=OK, 1000000
";
    let run = "$ ./bin/ycsb run jdbc -P workloads/workloada -p operationcount=500000 -threads 16
[OVERALL], RunTime(ms), 25000
[OVERALL], Throughput(ops/sec), 20000.0
[READ], Operations, 500000
[READ], AverageLatency(us), 780.0
[READ], Return=OK, 500000
";
    let both = format!("{load}{run}");
    assert_eq!(bad(&both), ["wrong-working-set"]);
    // The run says it, its file is no standard one, or no load says that there are more.
    let says = both.replace(
        "-p operationcount=500000",
        "-p recordcount=1000000 -p operationcount=500000",
    );
    assert_eq!(bad(&says), [""; 0]);
    assert_eq!(
        bad(&both.replace("workloads/workloada", "conf/mine")),
        [""; 0]
    );
    assert_eq!(bad(run), [""; 0]);
}

#[test]
fn mysqlslap_has_the_clients_and_queries_of_its_command() {
    let clean = "\
# mysqlslap --concurrency=50,100 --iterations=3 --number-of-queries=5000 --auto-generate-sql
Benchmark
\tAverage number of seconds to run all queries: 1.202 seconds
\tMinimum number of seconds to run all queries: 1.180 seconds
\tMaximum number of seconds to run all queries: 1.231 seconds
\tNumber of clients running queries: 50
\tAverage number of queries per client: 100
";
    planted(
        clean,
        "summary-mismatch",
        &[
            ("per client: 100", "per client: 200"),
            ("all queries: 1.231", "all queries: 2.231"),
        ],
    );
    planted(
        clean,
        "setting-contradicts",
        &[("queries: 50", "queries: 60")],
    );
}

#[test]
fn both_rates_of_k6_are_of_one_time() {
    let clean = r#"{"metrics":{"http_reqs":{"count":60120,"rate":1001.93},"http_req_duration":{"avg":9.81,"min":1.2,"med":8.9,"max":210.4},"iterations":{"count":30060,"rate":500.96},"iteration_duration":{"avg":19.92,"min":1.3,"med":9.0,"max":211},"vus":{"value":10,"min":10,"max":10},"vus_max":{"value":10,"min":10,"max":10},"http_req_failed":{"passes":0,"fails":60120,"value":0}}}
"#;
    planted(
        clean,
        "summary-mismatch",
        &[
            ("\"count\":60120", "\"count\":70120"),
            ("\"rate\":1001.93", "\"rate\":2001.93"),
            ("\"count\":30060", "\"count\":40060"),
            ("\"fails\":60120", "\"fails\":50120"),
            ("\"passes\":0", "\"passes\":3000"),
        ],
    );
}

#[test]
fn the_test_of_hammerdb_takes_its_minutes() {
    let clean = "\
Vuser 1:Beginning rampup time of 2 minutes
Vuser 1:Rampup complete, Taking start Transaction Count.
Vuser 1:Timing test period of 5 in minutes
Vuser 1:5 minutes elapsed
Vuser 1:Test complete, Taking end Transaction Count.
Vuser 1:32 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 213458 NOPM from 496210 MySQL TPM
";
    planted(
        clean,
        "summary-mismatch",
        &[
            ("Timing test period of 5", "Timing test period of 9"),
            ("1:5 minutes", "1:3 minutes"),
        ],
    );
}
