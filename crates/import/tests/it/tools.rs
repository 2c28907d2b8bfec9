//! Outputs that real tools print beside their plain ones: other styles, failures, logs.

use tidemark_core::record::{RateUnit, RunRecord, RunState};
use tidemark_import::{Became, Import, Origin, read};

/// The document's runs, none of whose lines was left.
pub(super) fn import(text: &str) -> Import {
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

pub(super) fn one(text: &str) -> RunRecord {
    let mut import = import(text);
    assert_eq!(import.runs.len(), 1, "{:#?}", import.runs);
    import.runs.remove(0)
}

pub(super) fn figure(run: &RunRecord, of: &str, name: &str) -> f64 {
    let found = run.imported.as_ref().unwrap().figure_of(of, name);
    found.unwrap_or_else(|| panic!("{of} {name}")).value
}

/// A figure that other runs of the document make, and the lines that it is made of.
fn beside(run: &RunRecord, name: &str) -> (f64, Vec<u64>) {
    let found = run.imported.as_ref().unwrap().beside(name);
    let found = found.unwrap_or_else(|| panic!("{name}"));
    (found.value, found.lines.clone())
}

pub(super) fn option<'r>(run: &'r RunRecord, name: &str) -> &'r str {
    &run.options[name].value
}

#[test]
fn the_same_output_again_counts_once_and_under_another_heading_is_told() {
    let output = super::sysbench::CHECKPOINTS;
    let run = one(&format!("# A\n{output}\n{output}"));
    assert_eq!(beside(&run, "pasted_again"), (40.0, vec![40]));
    let two = import(&format!("# A\n{output}\n# B\n{output}")).runs;
    assert_eq!(two.len(), 2);
    assert_eq!(beside(&two[1], "pasted_from"), (2.0, vec![2]));
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
fn latencies_that_benchbase_never_measured_are_none() {
    let text = "{\n  \"Latency Distribution\": {\n    \"Minimum Latency (microseconds)\": -1,\n    \
        \"Average Latency (microseconds)\": -1\n  },\n  \"Throughput (requests/second)\": 0.0,\n  \
        \"Measured Requests\": 0\n}\n";
    let run = one(text);
    let figures = &run.imported.as_ref().unwrap().figures;
    assert!(
        figures.iter().all(|f| !f.name.ends_with("_ms")),
        "{figures:?}"
    );
    assert_eq!(figure(&run, "", "count"), 0.0);
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
    let started = "started at 2026-01-01 10:00:00, in a time zone that is not stated";
    let mut notes = run.notes.iter();
    assert!(notes.any(|note| note.contains(started)), "{:?}", run.notes);
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
