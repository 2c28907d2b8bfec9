//! Outputs that real tools print beside their plain ones: checkpoints, other styles, failures, logs.

use tidemark_core::record::{RateUnit, RunRecord, RunState};
use tidemark_import::{Became, Import, Origin, read};

/// The document's runs, none of whose lines was left.
fn import(text: &str) -> Import {
    let mut left = Vec::new();
    let mut seen = |line: u64, text: &str, became: Became| {
        if became == Became::NotUnderstood {
            left.push(format!("{line}: {text}"));
        }
    };
    let import = read(text.as_bytes(), &Origin::of("doc.txt"), &mut seen).unwrap();
    assert_eq!(left, [""; 0]);
    import
}

fn one(text: &str) -> RunRecord {
    let mut import = import(text);
    assert_eq!(import.runs.len(), 1, "{:#?}", import.runs);
    import.runs.remove(0)
}

fn figure(run: &RunRecord, of: &str, name: &str) -> f64 {
    let found = run.imported.as_ref().unwrap().figure_of(of, name);
    found.unwrap_or_else(|| panic!("{of} {name}")).value
}

/// A figure that other runs of the document make, and the lines that it is made of.
fn beside(run: &RunRecord, name: &str) -> (f64, Vec<u64>) {
    let found = run.imported.as_ref().unwrap().beside(name);
    let found = found.unwrap_or_else(|| panic!("{name}"));
    (found.value, found.lines.clone())
}

fn option<'r>(run: &'r RunRecord, name: &str) -> &'r str {
    &run.options[name].value
}

#[test]
fn throughput_below_the_statistics_of_sysbench_1_1_is_of_the_same_run() {
    let run = one("\
sysbench 1.1.0-de18a03 (using bundled LuaJIT 2.1.0-beta3)
Number of threads: 16
[ 10s ] thds: 16 tps: 1719.39 qps: 1719.39 (r/w/o: 1719.39/0.00/0.00) lat (ms,95%): 10.65 err/s 1.00 reconn/s 0.50
SQL statistics:
    queries performed:
        read:                            1028516
        total:                           1028516
    transactions:                        1028516 (1714.17 per sec.)

Throughput:
    events/s (eps):                      1714.1689
    time elapsed:                        600.0085s
    total number of events:              1028516

Latency (ms):
         avg:                                    9.33
         sum:                              9599491.76
");
    assert_eq!((run.sessions, run.totals.elapsed_s), (16, 600.0085));
    assert_eq!(run.totals.all.count, 1_028_516);
    let interval = &run.imported.as_ref().unwrap().intervals[0];
    assert_eq!(
        (interval.error_rate, interval.reconnect_rate),
        (Some(1.0), Some(0.5))
    );
}

pub(super) const CHECKPOINTS: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 2
Report checkpoint(s) at 2, 4 seconds
Threads started!

[ 2s ] Checkpoint report:
SQL statistics:
    transactions:                        696    (347.88 per sec.)
General statistics:
    total time:                          2.0001s
    total number of events:              696
Latency (ms):
         min:                                    1.47
         avg:                                    5.73
         max:                                   19.58
         sum:                                 3996.25
[ 4s ] Checkpoint report:
SQL statistics:
    transactions:                        569    (284.45 per sec.)
General statistics:
    total time:                          4.0006s
    total number of events:              569
Latency (ms):
         min:                                    1.67
         avg:                                    7.05
         max:                                   47.68
         sum:                                 3995.09
SQL statistics:
    transactions:                        394    (194.26 per sec.)
General statistics:
    total time:                          6.0287s
    total number of events:              394
Latency (ms):
         min:                                    2.43
         avg:                                   10.24
         max:                                   35.55
         sum:                                 4034.45
";

#[test]
fn checkpoints_are_windows_of_one_run() {
    let run = one(CHECKPOINTS);
    assert_eq!((run.sessions, run.totals.elapsed_s), (2, 6.0287));
    assert_eq!(run.totals.all.count, 696 + 569 + 394);
    assert_eq!(figure(&run, "", "min_ms"), 1.47);
    assert_eq!(figure(&run, "", "max_ms"), 47.68);
    assert!((figure(&run, "window 3", "elapsed_s") - 2.0281).abs() < 1e-9);
    let intervals = &run.imported.as_ref().unwrap().intervals;
    let rates: Vec<f64> = intervals.iter().map(|i| i.rate.unwrap()).collect();
    assert_eq!(rates, [347.88, 284.45, 194.26]);
    // What follows the last window is another run.
    let two = import(&(CHECKPOINTS.to_string() + &CHECKPOINTS.replace("35.55", "36.55")));
    assert_eq!(two.runs.len(), 2);
}

#[test]
fn memory_and_files_have_their_own_figures() {
    let run = one("\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 2
Threads started!
Total operations: 8529785 (2842059.75 per second)

8329.87 MiB transferred (2775.45 MiB/sec)

General statistics:
    total time:                          3.0004s
    total number of events:              8529785
");
    assert_eq!(figure(&run, "", "count"), 8_529_785.0);
    assert_eq!(figure(&run, "", "rate"), 2_842_059.75);
    assert_eq!(figure(&run, "", "mib_rate"), 2775.45);
    let run = one("\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 4
File operations:
    reads/s:                      1500.00
    writes/s:                     1000.00
    fsyncs/s:                     3210.50

Throughput:
    read, MiB/s:                  23.44
    written, MiB/s:               15.62

General statistics:
    total time:                          10.0100s
    total number of events:              57150
");
    assert_eq!(figure(&run, "", "fsync_rate"), 3210.5);
    assert_eq!(figure(&run, "", "written_mib_rate"), 15.62);
    assert_eq!(run.totals.elapsed_s, 10.01);
}

#[test]
fn files_and_memory_of_sysbench_0_4_have_their_own_figures() {
    let run = one("\
sysbench 0.4.12:  multi-threaded system evaluation benchmark

Number of threads: 16
Doing random r/w test
Done.

Operations performed:  6003 Read, 3997 Write, 12769 Other = 22769 Total
Read 93.797Mb  Written 62.453Mb  Total transferred 1.5Gb  (18.21Mb/sec)
 1165.44 Requests/sec executed

Test execution summary:
    total time:                          8.5805s
    total number of events:              10000
    total time taken by event execution: 52.5000
");
    assert_eq!(figure(&run, "", "rate"), 1165.44);
    assert_eq!(figure(&run, "", "file_writes"), 3997.0);
    assert_eq!(figure(&run, "", "file_operations"), 22_769.0);
    assert_eq!(figure(&run, "", "written_mib"), 62.453);
    assert_eq!(figure(&run, "", "transferred_mib"), 1536.0);
    assert_eq!(figure(&run, "", "mib_rate"), 18.21);
    let run = one("\
sysbench 0.4.12:  multi-threaded system evaluation benchmark
Number of threads: 1
Doing memory operations speed test
Operations performed: 1048576 (1834567.12 ops/sec)

1024.00 MB transferred (1791.57 MB/sec)

Test execution summary:
    total time:                          0.5716s
");
    assert_eq!(figure(&run, "", "count"), 1_048_576.0);
    assert_eq!(figure(&run, "", "rate"), 1_834_567.12);
    assert_eq!(figure(&run, "", "mib_rate"), 1791.57);
}

#[test]
fn the_same_output_again_counts_once_and_under_another_heading_is_told() {
    let output = CHECKPOINTS;
    let run = one(&format!("# A\n{output}\n{output}"));
    assert_eq!(beside(&run, "pasted_again"), (40.0, vec![40]));
    let two = import(&format!("# A\n{output}\n# B\n{output}")).runs;
    assert_eq!(two.len(), 2);
    assert_eq!(beside(&two[1], "pasted_from"), (2.0, vec![2]));
}

#[test]
fn pgbench_tells_retries_of_statements_and_failures_of_scripts() {
    let run = one("\
pgbench (15.18 (Debian 15.18-0+deb12u1))
transaction type: multiple scripts
number of clients: 4
duration: 3 s
number of transactions actually processed: 1424
number of failed transactions: 7 (0.5%)
number of transactions skipped: 17 (1.180%)
number of transactions above the 10.0 ms latency limit: 114/1424 (8.006%)
latency average = 3.885 ms
rate limit schedule lag: avg 0.754 (max 26.690) ms
tps = 389.810424 (without initial connection time)
statement latencies in milliseconds, failures and retries:
         0.316           0           0  BEGIN;
         0.480         329         760  UPDATE pgbench_tellers SET tbalance = 1;
SQL script 1: <builtin: simple update>
 - weight: 2 (targets 20.0% of total)
 - 4009 transactions (19.9% of total, tps = 806.601375)
 - number of failed transactions: 7 (0.500%)
 - latency average = 1.259 ms
SQL script 2: <builtin: select only>
 - weight: 8 (targets 80.0% of total)
 - 16050 transactions (80.1% of total)
 - number of transactions actually processed: 16040 (tps = 3208.500000)
 - number of failed transactions: 10 (0.062%)
");
    assert_eq!(figure(&run, "", "failed"), 7.0);
    assert_eq!(figure(&run, "script 1", "failed"), 7.0);
    assert_eq!(figure(&run, "script 1", "count"), 4009.0);
    assert_eq!(figure(&run, "script 2", "begun"), 16_050.0);
    assert_eq!(figure(&run, "script 2", "count"), 16_040.0);
    assert_eq!(figure(&run, "script 2", "rate"), 3208.5);
    let update = "UPDATE pgbench_tellers SET tbalance = 1;";
    assert_eq!(
        figure(&run, "statements", &format!("{update} failures")),
        329.0
    );
    assert_eq!(
        figure(&run, "statements", &format!("{update} retries")),
        760.0
    );
    assert_eq!(figure(&run, "", "above_limit"), 114.0);
    assert_eq!(option(&run, "latency-limit"), "10");
    assert_eq!(figure(&run, "", "lag_mean_ms"), 0.754);
    assert_eq!(figure(&run, "", "lag_max_ms"), 26.69);
    assert_eq!(figure(&run, "statements", "BEGIN; ms"), 0.316);
}

#[test]
fn benchbase_states_rates_windows_and_outcomes() {
    let run = one(
        "{\n\"Elapsed Time (nanoseconds)\": 60000123456,\n\"Measured Requests\": 54000,\n\
        \"Latency Distribution\": {\n\"Average Latency (microseconds)\": 22101\n},\n\
        \"Throughput (requests/second)\": 899.99,\n\"Goodput (requests/second)\": 895.99\n}",
    );
    assert_eq!(figure(&run, "", "rate"), 899.99);
    assert_eq!(figure(&run, "", "goodput"), 895.99);
    // Rows without counts: their windows follow from their begins.
    let run = one("\
Time (seconds),Throughput (requests/second),Average Latency (millisecond),tp (req/s) scaled
0,890.4,22.4,44.64
5,902.2,22.1,45.25
10,898.0,22.2,45.05
");
    let intervals = &run.imported.as_ref().unwrap().intervals;
    let of = |i: &tidemark_core::record::StatedInterval| (i.end_s, i.length_s.unwrap());
    let all: Vec<_> = intervals.iter().map(of).collect();
    assert_eq!(all, [(5.0, 5.0), (10.0, 5.0), (15.0, 5.0)]);
    let run = one("\
Benchmark:              TPCC {com.oltpbenchmark.benchmarks.tpcc.TPCCBenchmark}
Isolation:              TRANSACTION_SERIALIZABLE
Scale Factor:           10.0
Terminals:              20

[INFO ] 2023-05-01 10:00:10,323 [main] ThreadBench - PHASE START :: [Workload=TPCC] [Time=60] [WarmupTime=0] [Rate=unlimited] [ActiveWorkers=20]
[INFO ] 2023-05-01 10:01:10,424 [Thread-2] DBWorkload - Rate limited reqs/s: Results(state=EXIT, nanoSeconds=60000123456, measuredRequests=54000) = 899.99 requests/sec (throughput), 895.99 requests/sec (goodput)
Completed Transactions:
com.oltpbenchmark.benchmarks.tpcc.procedures.NewOrder/01                         [24120] *****
Aborted Transactions:
com.oltpbenchmark.benchmarks.tpcc.procedures.NewOrder/01                         [  240] **
Rejected Transactions (Server Retry):
com.oltpbenchmark.benchmarks.tpcc.procedures.Payment/02                          [ 9000] *****
Unexpected SQL Errors:
<EMPTY>
");
    assert_eq!((run.sessions, run.totals.ignored_errors), (20, 9000));
    assert_eq!(option(&run, "isolation"), "TRANSACTION_SERIALIZABLE");
    assert_eq!(option(&run, "scalefactor"), "10.0");
    assert_eq!(run.totals.types["NewOrder"].count, 24_120);
    assert_eq!(run.rate, None);
}

#[test]
fn go_ycsb_is_read_in_every_style() {
    let table = one("\
Run finished, takes 10.1s
+-----------+----------+-------+--------+---------+----------+
| Operation | Takes(s) | Count |  OPS   | Avg(us) | 99th(us) |
+-----------+----------+-------+--------+---------+----------+
| READ      |     10.0 | 50000 | 5000.0 |    1500 |     6000 |
| UPDATE    |     10.0 | 40000 | 4000.0 |    1700 |     7000 |
+-----------+----------+-------+--------+---------+----------+
");
    let json = one(
        "{\"READ\":{\"Operation\":\"READ\",\"Takes(s)\":\"10.0\",\"Count\":\"50000\",\"OPS\":\"5000.0\",\
         \"Avg(us)\":\"1500\",\"99th(us)\":\"6000\"}}",
    );
    assert_eq!(figure(&table, "UPDATE", "count"), 40_000.0);
    for run in [&table, &json] {
        assert_eq!(run.imported.as_ref().unwrap().tool, "go-ycsb");
        assert_eq!(figure(run, "READ", "rate"), 5000.0);
        assert_eq!(figure(run, "READ", "p99_ms"), 6.0);
    }
}

#[test]
fn tpcc_mysql_has_latencies_failures_and_checks() {
    let run = one("\
 [connection]: 32
    [measure]: 30 (sec.)
10, trx: 7688, 95%: 37.412, 99%: 51.629, max_rt: 96.649, 7691|83.015
<Raw Results>
  [0] sc:100 lt:38609  rt:5  fl:9000 avg_rt: 80.8 (5)
 in 30 sec.
<Constraint Check> (all must be [OK])
 [transaction percentage]
        Payment: 43.48% (>=43.0%) [OK]
 [response time (at least 90% passed)]
      New-Order: 0.25%  [NG] *
<TpmC>
                 77418.000 TpmC
");
    assert_eq!(figure(&run, "NewOrder", "mean_ms"), 80.8);
    assert_eq!(run.totals.ignored_errors, 9000);
    let more = &run.imported.as_ref().unwrap().intervals[0].more;
    assert_eq!((more["p99_ms"], more["max_ms"]), (51.629, 96.649));
}

#[test]
fn a_user_of_hammerdb_that_failed_fails_its_run_alone() {
    let text = "\
Vuser 1:RUNNING
Error in Virtual User 3: mysqlexec/db server: Lost connection
Vuser 3:FINISHED FAILED
Vuser 1:Timing test period of 5 in minutes
Vuser 1:2 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 42123 NOPM from 97911 MySQL TPM
Vuser 2:FINISHED SUCCESS
ALL VIRTUAL USERS COMPLETE
Vuser 1:RUNNING
Vuser 1:Timing test period of 2 in minutes
Vuser 1:4 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 52123 NOPM from 117911 MySQL TPM
";
    let runs = import(text).runs;
    let states: Vec<bool> = runs
        .iter()
        .map(|r| matches!(&r.state, RunState::Failed(why) if why.contains("Lost connection")))
        .collect();
    assert_eq!(states, [true, false]);
    assert_eq!(
        (option(&runs[0], "time"), option(&runs[1], "time")),
        ("300", "120")
    );
}

#[test]
fn two_kinds_of_measurement_of_ycsb_are_one_run() {
    let run = one("\
[OVERALL], RunTime(ms), 10000
[OVERALL], Throughput(ops/sec), 150.0
[READ], Operations, 1000
[READ], AverageLatency(us), 835.5
[READ], 99thPercentileLatency(us), 3011
[READ], Return=OK, 1000
[READ], Operations, 1000
[READ], AverageLatency(us), 835.5
[READ], MinLatency(us), 100
[READ], 0, 990
[READ], 3, 10
[UPDATE], Operations, 500
[UPDATE], AverageLatency(us), 900
[UPDATE], Operations, 500
[UPDATE], AverageLatency(us), 900
");
    assert_eq!(run.totals.all.count, 1500);
    assert_eq!(figure(&run, "READ", "count_at_3ms"), 10.0);
    // As many operations of another run have another mean.
    let two = import(
        "[READ], Operations, 1000\n[READ], AverageLatency(us), 800\n[READ], Operations, 1000\n[READ], AverageLatency(us), 900\n",
    );
    let means: Vec<f64> = two
        .runs
        .iter()
        .map(|run| figure(run, "READ", "mean_ms"))
        .collect();
    assert_eq!(means, [0.8, 0.9]);
    assert!(two.runs.iter().all(|run| run.totals.all.count == 1000));
}

#[test]
fn a_query_that_goes_on_behind_a_summary_of_go_tpc_is_the_next_runs() {
    let ch = "\
[Current] Q1     - Count: 1, Sum(ms): 300.0, Avg(ms): 300.0
[Summary] NEW_ORDER - Takes(s): 60.0, Count: 720, TPM: 720.0, Sum(ms): 54000.0, Avg(ms): 75.0
[Summary] Q1     - Count: 3, Sum(ms): 900.0, Avg(ms): 300.0
";
    let tpch = "[Current] Q1: 1.00s\n[Summary] Q1: 1.07s\n";
    for (text, workload) in [(ch, "ch"), (tpch, "tpch")] {
        let next = text.replace("720", "730").replace("1.07", "2.07");
        let two = import(&format!("{text}{next}"));
        let first_lines: Vec<u64> = two
            .runs
            .iter()
            .map(|run| run.imported.as_ref().unwrap().first_line)
            .collect();
        assert_eq!(first_lines, [1, text.lines().count() as u64 + 1]);
        assert!(two.runs.iter().all(|run| run.workload == workload));
    }
}

#[test]
fn a_session_of_benchmarksql_is_taken_over() {
    let log = |text: &str| format!("10:00:00,123 [main] INFO   jTPCC : Term-00, {text}\n");
    let output: String = [
        "+-----------------------+",
        "     BenchmarkSQL v5.0",
        "+-----------------------+",
        "conn=jdbc:postgresql://10.0.0.1:5432/tpcc?user=a&password=b",
        "user=a",
        "warehouses=10",
        "terminals=20",
        "runMins=2",
        "newOrderWeight=45",
    ]
    .map(log)
    .concat();
    let average = "Term-00, Running Average tpmTOTAL: 900.1    Current tpmTOTAL: 9780    Memory Usage: 6MB / 30MB   ";
    let summary: String = [
        "Measured tpmC (NewOrders) = 405.25",
        "Measured tpmTOTAL = 900.5",
        "Session Start     = 2026-01-01 10:00:00",
        "Session End       = 2026-01-01 10:02:00",
        "Transaction Count = 1800",
    ]
    .map(log)
    .concat();
    let run = one(&format!("{output}{average}{summary}"));
    assert_eq!((&*run.workload, run.sessions), ("TPC-C", 20));
    assert_eq!(figure(&run, "", "tpmc"), 405.25);
    assert_eq!(figure(&run, "", "tpm_total"), 900.5);
    assert_eq!((run.totals.elapsed_s, run.totals.all.count), (120.0, 1800));
    assert_eq!(
        (option(&run, "time"), option(&run, "newOrderWeight")),
        ("120", "45")
    );
    assert!(!format!("{run:?}").contains("jdbc:"));
    // Quoted without what stands before, and another below it.
    let quoted = "Measured tpmC (NewOrders) = 289711.96\nMeasured tpmTOTAL = 644025.66\n";
    let other = quoted.replace("289711.96", "300000.01");
    assert_eq!(import(&format!("{quoted}\n{other}")).runs.len(), 2);
    let next = summary.replace("405.25", "410.25");
    let whole = format!("{output}{summary}{output}{next}");
    assert_eq!(import(&whole).runs.len(), 2);
}

#[test]
fn queries_of_hammerdb_are_taken_over() {
    let run = one("\
Vuser 1:RUNNING
Vuser 1:Executing Query 14 (1 of 22)
Vuser 1:query 14 completed in 0.234 seconds
Vuser 2:RUNNING
Vuser 2:query 14 completed in 0.301 seconds
Vuser 1:Executing Query 2 (2 of 22)
Vuser 1:query 2 completed in 1.5 seconds
Vuser 1:Completed 1 query set(s) in 2 seconds
Vuser 1:Geometric mean of query times returning rows (2) is 0.59245
Vuser 1:FINISHED SUCCESS
");
    let queries: Vec<_> = run.queries.iter().map(|q| (&*q.name, q.took_ms)).collect();
    assert_eq!(queries, [("Q14", 234.0), ("Q2", 1500.0)]);
    assert_eq!(run.workload, "tpch");
    assert_eq!(run.totals.elapsed_s, 2.0);
    assert_eq!(figure(&run, "", "geometric_mean_s"), 0.59245);
    assert_eq!(figure(&run, "user 2", "Q14_s"), 0.301);
}

#[test]
fn k6_has_failed_requests_and_conditions() {
    let run = one(
        "{\"metrics\":{\"iterations\":{\"count\":12000,\"rate\":199.9},\
         \"http_req_failed\":{\"passes\":6000,\"fails\":6000,\"value\":0.5},\
         \"vus\":{\"value\":10,\"min\":10,\"max\":10},\"checks\":{\"passes\":9000,\"fails\":3000}}}",
    );
    assert_eq!(figure(&run, "", "error_share"), 50.0);
    assert_eq!(figure(&run, "", "checks_failed"), 3000.0);
    assert_eq!(run.sessions, 10);
}

#[test]
fn a_job_of_hammerdb_is_a_list_of_texts() {
    let run = one("\
[
  \"5F04B1E9567603E253231363\",
  \"2026-07-07 13:40:25\",
  \"2 Active Virtual Users configured\",
  \"TEST RESULT : System achieved 2011 NOPM from 4664 Oracle TPM\"
]
");
    assert_eq!((run.sessions, run.stated_rate()), (2, Some(2011.0)));
    assert_eq!(figure(&run, "", "tpm"), 4664.0);
    // The older order, and what the counter of transactions printed.
    let run = one("\
Vuser 1:Timing test period of 5 in minutes
0 PostgreSQL tpm
27975 PostgreSQL tpm
Vuser 1:TEST RESULT : System achieved 27012 PostgreSQL TPM at 11745 NOPM
");
    assert_eq!(
        (figure(&run, "", "nopm"), figure(&run, "", "tpm")),
        (11_745.0, 27_012.0)
    );
    assert_eq!(figure(&run, "counter", "tpm"), 27_975.0);
    assert_eq!(run.rate_unit(), RateUnit::NewOrders);
    assert_eq!(run.totals.all.count, 0);
}

#[test]
fn a_profile_of_one_user_is_no_count_of_all() {
    let run = one("\
>>>>> VIRTUAL USER 2 : ELAPSED TIME : 300012ms
>>>>> PROC: NEWORD
CALLS: 13081\tMIN: 1.2ms\tAVG: 6.1ms\tMAX: 80.5ms\tTOTAL: 79794.1ms
P99: 12ms\tP95: 9ms\tP50: 6ms\tSD: 1000.3\tRATIO: 43.7%
");
    assert_eq!(run.totals.all.count, 0);
    assert_eq!(figure(&run, "NewOrder", "mean_ms"), 6.1);
}

#[test]
fn mysqlslap_prints_csv_as_well() {
    let run = one("innodb,mixed,1.234,1.200,1.300,50,20\n");
    assert_eq!((run.sessions, run.totals.elapsed_s), (50, 1.234));
    assert_eq!(figure(&run, "", "longest_s"), 1.3);
    assert_eq!(run.totals.all.count, 1000);
    assert_eq!(
        import(",query,0.1,0.1,0.1,8,12\n,query,0.2,0.2,0.2,16,6\n")
            .runs
            .len(),
        2
    );
}

#[test]
fn moments_of_pgbench_are_no_durations() {
    let lines = "\
progress: 1764150000.0 s, 800.0 tps, lat 9.990 ms stddev 1.2, 0 failed
progress: 1764150005.0 s, 810.0 tps, lat 9.870 ms stddev 1.2, 0 failed
progress: 1764150010.0 s, 805.0 tps, lat 9.930 ms stddev 1.2, 0 failed
";
    let ends = |run: &RunRecord| -> Vec<(f64, Option<f64>)> {
        let intervals = run.imported.as_ref().unwrap().intervals.iter();
        intervals.map(|i| (i.end_s, i.length_s)).collect()
    };
    let run = one(lines);
    assert_eq!(
        ends(&run),
        [(0.0, None), (5.0, Some(5.0)), (10.0, Some(5.0))]
    );
    assert_eq!(run.totals.all.count, 5 * 810 + 5 * 805);
    let run = one(&format!(
        "pgbench -c 8 -P 5 -T 15 --progress-timestamp bench\n{lines}"
    ));
    assert_eq!(
        ends(&run),
        [(5.0, Some(5.0)), (10.0, Some(5.0)), (15.0, Some(5.0))]
    );
}

#[test]
fn a_rate_with_reconnections_is_the_only_one() {
    let run = one("\
pgbench (16.1)
transaction type: <builtin: select only>
scaling factor: 10
partition method: hash
partitions: 4
number of clients: 8
duration: 10 s
number of transactions actually processed: 8000
latency average = 9.990 ms
average connection time = 2.5 ms
tps = 800.250000 (including reconnection times)
");
    assert_eq!(run.stated_rate(), Some(800.25));
    assert_eq!(option(&run, "partitions"), "4");
}

#[test]
fn tpcc_mysql_states_percentiles_and_histograms() {
    let run = one("\
***************************************
*** ###easy### TPC-C Load Generator ***
***************************************
option h with value '127.0.0.1'
option w with value '10'
option c with value '16'
option r with value '10'
option l with value '60'
MEASURING START.

<Raw Results>
  [0] sc:205 lt:5  rt:0  fl:0
<RT Histogram>

1.New-Order

0.20,     13
0.40,    190
<90th Percentile RT (MaxRT)>
   New-Order : 0.38  (1.02)
     Payment : 0.05  (0.40)
<TpmC>
                 210.000 TpmC
");
    assert_eq!(figure(&run, "NewOrder", "p90_ms"), 380.0);
    assert_eq!(figure(&run, "NewOrder", "max_ms"), 1020.0);
    assert_eq!(option(&run, "warmup-time"), "10");
}

#[test]
fn scripts_of_sysbench_are_named_by_their_files() {
    let output = super::documents::SYSBENCH_1;
    for command in [
        "./tpcc.lua --mysql-db=sbt --threads=4 --tables=10 --scale=100 --time=2 run",
        "sysbench --test=/usr/share/sysbench/tests/db/tpcc.lua --num-threads=4 run",
    ] {
        let run = one(&format!("{command}\n{output}"));
        assert_eq!(run.workload, "TPC-C", "{command}");
        assert_eq!(option(&run, "threads"), "4");
    }
}

#[test]
fn the_json_hook_of_sysbench_prints_a_list() {
    let object = |time: u32| {
        format!(
            "  {{\n    \"time\": {time},\n    \"threads\": 4,\n    \"tps\": 100.00,\n    \"qps\": {{\n      \"total\": 2000.00,\n      \"reads\": 1400.00,\n      \"writes\": 400.00,\n      \"other\": 200.00\n    }},\n    \"latency\": 45.79,\n    \"errors\": 0.00,\n    \"reconnects\": 0.00\n  }}"
        )
    };
    let (head, tail) = super::documents::SYSBENCH_1.split_once("[ 1s ]").unwrap();
    let tail = &tail[tail.find("SQL statistics").unwrap()..];
    let run = one(&format!(
        "{head}[\n{},\n{}\n]\n{tail}",
        object(1),
        object(2)
    ));
    assert_eq!(run.intervals.len(), 2);
    assert_eq!(run.totals.all.count, 200);
}

#[test]
fn k6_prints_its_parts_since_version_1() {
    let run = one("\
  █ TOTAL RESULTS

    checks_total.......................: 12000   199.9/s
    checks_succeeded...................: 99.50%  11940 out of 12000
    checks_failed......................: 0.50%   60 out of 12000

    ✓ status is 200
    ✗ body is whole
      ↳  99% — ✓ 11940 / ✗ 60

    HTTP
    http_req_duration..................: avg=9.81ms min=1.2ms med=8.9ms max=1.21s p(90)=15.2ms p(95)=19.8ms
    http_req_failed....................: 0.50%  60 out of 12000
    http_reqs..........................: 12000  199.9/s

    EXECUTION
    iteration_duration.................: avg=50.01ms min=40ms med=49ms max=1.5s p(90)=60ms p(95)=70ms
    iterations.........................: 12000  199.9/s
    vus................................: 10     min=10 max=10

    NETWORK
    data_received......................: 12 MB  200 kB/s

running (1m00.0s), 00/10 VUs, 12000 complete and 0 interrupted iterations
default ✓ [======================================] 10 VUs  1m0s
");
    assert_eq!(figure(&run, "", "checks_failed"), 60.0);
    assert_eq!(figure(&run, "", "checks_passed"), 11_940.0);
    assert_eq!(figure(&run, "", "request_rate"), 199.9);
    assert_eq!((run.sessions, run.totals.elapsed_s), (10, 60.0));
}

#[test]
fn k6_prints_every_measurement_as_json() {
    let point = |metric: &str, second: u32, value: f64| {
        format!(
            "{{\"metric\":\"{metric}\",\"type\":\"Point\",\"data\":{{\"time\":\"2026-01-01T10:00:{second:02}.5+08:00\",\"value\":{value},\"tags\":{{\"scenario\":\"default\"}}}}}}\n"
        )
    };
    let mut text = String::from(
        "{\"type\":\"Metric\",\"data\":{\"name\":\"iteration_duration\",\"type\":\"trend\",\"contains\":\"time\",\"thresholds\":[],\"submetrics\":null},\"metric\":\"iteration_duration\"}\n",
    );
    for second in 0..10 {
        text += &point("http_reqs", second, 1.0);
        text += &point("http_req_failed", second, f64::from(u8::from(second == 3)));
        text += &point("iteration_duration", second, 40.0 + f64::from(second));
        text += &point("vus_max", second, 4.0);
    }
    let run = one(&text);
    assert_eq!((run.sessions, run.totals.all.count), (4, 10));
    assert_eq!(figure(&run, "", "error_share"), 10.0);
    assert!((figure(&run, "", "mean_ms") - 44.5).abs() < 0.1);
    assert!((run.totals.elapsed_s - 9.04).abs() < 0.01);
}

#[test]
fn what_aborts_a_run_fails_it() {
    let summary = "\
transaction type: <builtin: TPC-B (sort of)>
number of clients: 8
duration: 10 s
number of transactions actually processed: 800
";
    for said in [
        "client 3 aborted in command 5 of script 0; ERROR:  deadlock detected",
        "Run was aborted; the above results are incomplete.",
        "pgbench: error: Run was aborted; the above results are incomplete.",
    ] {
        let run = one(&format!("pgbench -c 8 -T 10 bench\n{summary}{said}\n"));
        assert!(matches!(run.state, RunState::Failed(_)), "{said}");
    }
    let command = "mysqlslap -uroot -psecret -c8 -i1 -a";
    let warned = one(&format!(
        "{command}\nmysqlslap: [Warning] Using a password on the command line interface can be insecure.\n\
         Benchmark\n\tAverage number of seconds to run all queries: 1.5 seconds\n\tNumber of clients running queries: 8\n"
    ));
    assert_eq!(warned.state, RunState::Finished);
    let failed = one(&format!(
        "{command}\nmysqlslap: Cannot run query SELECT 1 ERROR : Lost connection\n"
    ));
    assert!(matches!(failed.state, RunState::Failed(_)));
}
