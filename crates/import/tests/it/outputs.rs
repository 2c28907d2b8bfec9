//! Outputs of each format. All are written by us after the tools' documented formats, none was printed
//! by a tool; what real tools print is tested where they run (`crates/cli/tests/it/importing.rs`).

use super::documents::{SYSBENCH_1, figure, import, near, one};
use std::collections::BTreeMap;

#[test]
fn sysbench_1_0_is_taken_over_with_its_lines() {
    let run = one(SYSBENCH_1);
    let imported = run.imported.as_ref().unwrap();
    assert_eq!(
        (&*imported.tool, imported.tool_version.as_deref()),
        ("sysbench", Some("1.0.20"))
    );
    assert_eq!((imported.first_line, imported.last_line), (1, 39));
    assert_eq!(figure(&run, "", "count"), (200.0, 21));
    assert_eq!(figure(&run, "", "rate"), (100.0, 21));
    assert_eq!(figure(&run, "", "p95_ms"), (45.79, 34));
    assert_eq!(figure(&run, "", "sum_ms"), (7998.0, 35));
    assert_eq!(imported.intervals[1].line, 14);
    assert_eq!(imported.intervals[1].length_s, Some(1.0));
    assert_eq!(
        (run.totals.all.count, run.totals.elapsed_s, run.sessions),
        (200, 2.0, 4)
    );
    assert_eq!(run.totals.statements.read, 2800);
    assert_eq!(run.intervals.len(), 2);
    assert!(import(SYSBENCH_1).leftovers.ranges.is_empty());
}

#[test]
fn a_percentile_of_intervals_is_the_one_that_their_lines_name() {
    let percentiles = |line: &str| {
        let run = one(line);
        let stats = &run.intervals[0].types["transaction"];
        stats.quantiles.as_ref().unwrap().percentiles_ms.clone()
    };
    let of = |percent: &str, ms: f64| BTreeMap::from([(percent.to_string(), ms)]);
    assert_eq!(
        percentiles(
            "[ 10s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,99%): 45.79 err/s: 0.00 reconn/s: 0.00\n"
        ),
        of("99", 45.79)
    );
    assert_eq!(
        percentiles(
            "[  10s] threads: 4, tps: 100.00, reads: 1400.00, writes: 400.00, response time: 45.79ms (99%), errors: 0.00, reconnects:  0.00\n"
        ),
        of("99", 45.79)
    );
    // Switched off: there is none.
    assert_eq!(
        percentiles(
            "[ 10s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,0%): 0.00 err/s: 0.00 reconn/s: 0.00\n"
        ),
        BTreeMap::new()
    );
}

#[test]
fn sysbench_of_every_version_is_read() {
    // 0.4: other labels, units behind numbers, sessions in the header.
    let run = one("\
sysbench 0.4.12:  multi-threaded system evaluation benchmark

Number of threads: 16
Doing OLTP test.
Running mixed OLTP test
Threads started!
Done.

OLTP test statistics:
    queries performed:
        read:                            140014
        write:                           50005
        other:                           20002
        total:                           210021
    transactions:                        10001  (333.31 per sec.)
    deadlocks:                           0      (0.00 per sec.)
    read/write requests:                 190019 (6332.88 per sec.)
    other operations:                    20002  (666.62 per sec.)

Test execution summary:
    total time:                          30.0051s
    total number of events:              10001
    total time taken by event execution: 479.9000
    per-request statistics:
         min:                                 20.11ms
         avg:                                 47.99ms
         max:                                201.55ms
         approx.  95 percentile:              80.20ms

Threads fairness:
    events (avg/stddev):           625.0625/3.10
    execution time (avg/stddev):   29.9938/0.00
");
    assert_eq!(figure(&run, "", "read_write").0, 190_019.0);
    assert!(near(figure(&run, "", "sum_ms").0, 479_900.0));
    assert_eq!(figure(&run, "", "p95_ms").0, 80.2);
    // 0.5: three variants of intervals.
    for line in [
        "[   2s] threads: 16, tps: 310.50, reads: 4350.01, writes: 1242.00, response time: 83.70ms (95%), errors: 0.00, reconnects:  0.00",
        "[   2s] threads: 16, tps: 310.50, reads/s: 4350.01, writes/s: 1242.00, response time: 83.70ms (95%)",
        "[   2s] Intermediate results: 16 threads, tps: 310.50, reads/s: 4350.01, writes/s: 1242.00 response time: 83.70ms (95%)",
    ] {
        let run = one(line);
        let i = &run.imported.as_ref().unwrap().intervals[0];
        assert_eq!(
            (i.sessions, i.rate, i.read_rate, i.percentile_ms),
            (Some(16.0), Some(310.5), Some(4350.01), Some(83.7)),
            "{line}"
        );
    }
    // 1.1.
    let run = one("\
sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)
Number of threads: 1

CPU speed:
    events per second:   812.33

Throughput:
    events/s (eps):                      812.3312
    time elapsed:                        10.0010s
    total number of events:              8124

Latency (ms):
         min:                                    1.19
         avg:                                    1.23
         max:                                    4.80
         95th percentile:                        1.30
         sum:                                 9995.11
");
    assert_eq!(
        (
            figure(&run, "", "rate").0,
            run.totals.elapsed_s,
            run.totals.all.count
        ),
        (812.33, 10.001, 8124)
    );
}

#[test]
fn go_tpc_is_read() {
    let run = one("\
> ./bin/go-tpc tpcc -H 10.0.0.1 -P 4000 -D tpcc --warehouses 6 run --threads 3 --time 3m
[Current] NEW_ORDER - Takes(s): 10.0, Count: 20, TPM: 120.0, Sum(ms): 16000, Avg(ms): 800, 90th(ms): 1000, 99th(ms): 1500, 99.9th(ms): 1500
Finished
[Summary] DELIVERY - Takes(s): 170.0, Count: 40, TPM: 14.1, Sum(ms): 48000, Avg(ms): 1200, 90th(ms): 1500, 99th(ms): 4000, 99.9th(ms): 4000
[Summary] NEW_ORDER - Takes(s): 176.0, Count: 400, TPM: 136.4, Sum(ms): 320000, Avg(ms): 800, 90th(ms): 1000, 99th(ms): 1500, 99.9th(ms): 2000
[Summary] NEW_ORDER_ERR - Takes(s): 176.0, Count: 3, TPM: 1.0, Sum(ms): 1164, Avg(ms): 388, 90th(ms): 1000, 99th(ms): 1000, 99.9th(ms): 1000
tpmC: 136.4
");
    assert_eq!((&*run.workload, run.sessions), ("tpcc", 3));
    assert_eq!(figure(&run, "NewOrder", "per_minute"), (136.4, 5));
    assert_eq!(figure(&run, "NewOrder", "p99.9_ms").0, 2000.0);
    assert_eq!(figure(&run, "", "tpmc"), (136.4, 7));
    assert_eq!(
        (
            run.totals.ignored_errors,
            run.totals.types["Delivery"].count
        ),
        (3, 40)
    );
    assert_eq!(run.options["warehouses"].value, "6");
    let current = &run.imported.as_ref().unwrap().intervals[0];
    assert_eq!(
        (current.rate, current.percentile_ms),
        (Some(2.0), Some(1500.0))
    );
    assert_eq!(
        (current.more["p90_ms"], current.more["p99.9_ms"]),
        (1000.0, 1500.0)
    );
    let run =
        one("./bin/go-tpc tpch run --sf 1\nFinished\n[Summary] Q1: 1.07s\n[Summary] Q2: 1m2.5s\n");
    assert_eq!(
        (&*run.workload, run.queries.len(), run.queries[1].took_ms),
        ("tpch", 2, 62_500.0)
    );
}

#[test]
fn go_ycsb_counts_from_the_begin_and_its_last_lines_are_the_result() {
    let run = one("\
> ./bin/go-ycsb run mysql -P workloads/workloada -p operationcount=1000 --threads 4
***************** properties *****************
\"recordcount\"=\"1000\"
\"threadcount\"=\"4\"
**********************************************
READ   - Takes(s): 9.9, Count: 200, OPS: 20.2, Avg(us): 99000, Min(us): 641, Max(us): 120000, 99th(us): 110000, 99.9th(us): 120000, 99.99th(us): 120000
UPDATE - Takes(s): 9.9, Count: 210, OPS: 21.2, Avg(us): 99000, Min(us): 641, Max(us): 120000, 99th(us): 110000, 99.9th(us): 120000, 99.99th(us): 120000
Run finished, takes 25.1s
READ   - Takes(s): 25.0, Count: 490, OPS: 19.6, Avg(us): 99000, Min(us): 641, Max(us): 120000, 99th(us): 110000, 99.9th(us): 120000, 99.99th(us): 120000
UPDATE - Takes(s): 25.0, Count: 510, OPS: 20.4, Avg(us): 99000, Min(us): 641, Max(us): 120000, 99th(us): 110000, 99.9th(us): 120000, 99.99th(us): 120000
");
    assert_eq!(
        (&*run.workload, run.totals.all.count, run.sessions),
        ("ycsb-a", 1000, 4)
    );
    assert_eq!(figure(&run, "READ", "mean_ms"), (99.0, 9));
    assert_eq!(figure(&run, "", "elapsed_s"), (25.1, 8));
    let lines = &run.imported.as_ref().unwrap().intervals;
    assert_eq!(
        (lines.len(), lines[0].line, lines[0].cumulative),
        (2, 6, true)
    );
}

#[test]
fn ycsb_is_read_among_noise() {
    let run = one("\
DEBUG something of a driver
YCSB Client 0.17.0
Command line: -db site.ycsb.db.JdbcClient -P workloads/workloadb -threads 8 -p recordcount=1000 -t
2026-01-01 10:00:10:001 10 sec: 1000 operations; 100.0 current ops/sec; est completion in 10 seconds
2026-01-01 10:00:20:001 20 sec: 2000 operations; 100.0 current ops/sec; [READ: Count=950, Max=9, Min=1, Avg=2, 90=3, 99.9=8]
[OVERALL], RunTime(ms), 20000
[OVERALL], Throughput(ops/sec), 100.0
[READ], Operations, 1900
[READ], AverageLatency(us), 79000.5
[READ], MinLatency(us), 500
[READ], MaxLatency(us), 200000
[READ], 95thPercentileLatency(us), 90000
[READ], 99.9PercentileLatency(us), 150000
[READ], Return=OK, 1890
[READ], Return=NOT_FOUND, 10
[UPDATE], Operations, 100
[UPDATE], AverageLatency(us), 99000
[READ], 0, 1890
[READ], 1, 0
[READ], >1000, 10
[UPDATE], 1000, 835.5
");
    assert_eq!(
        (&*run.workload, run.totals.all.count, run.sessions),
        ("ycsb-b", 2000, 8)
    );
    assert_eq!(figure(&run, "READ", "return_NOT_FOUND").0, 10.0);
    assert_eq!(figure(&run, "READ", "p99.9_ms").0, 150.0);
    assert_eq!(figure(&run, "READ", "count_at_0ms").0, 1890.0);
    assert_eq!(figure(&run, "READ", "count_above_1000ms").0, 10.0);
    assert!(near(figure(&run, "UPDATE", "mean_ms_at_1000ms").0, 0.8355));
    assert_eq!(run.intervals.len(), 2);
    let more = &run.imported.as_ref().unwrap().intervals[1].more;
    assert!(near(more["READ p90_ms"], 0.003) && near(more["READ p99.9_ms"], 0.008));
    let old = one(
        " 10 sec: 1000 operations; 100 current ops/sec; [UPDATE AverageLatency(us)=700] [READ AverageLatency(us)=835.5]\n",
    );
    let more = &old.imported.as_ref().unwrap().intervals[0].more;
    assert!(near(more["READ mean_ms"], 0.8355) && near(more["UPDATE mean_ms"], 0.7));
}

#[test]
fn pgbench_of_every_version_is_read() {
    let run = one("\
pgbench (15.4)
starting vacuum...end.
progress: 5.0 s, 800.0 tps, lat 9.990 ms stddev 1.2, 0 failed
progress: 10.0 s, 800.0 tps, lat 9.990 ms stddev 1.2, 0 failed
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: prepared
number of clients: 8
number of threads: 2
maximum number of tries: 1
duration: 10 s
number of transactions actually processed: 8000
number of failed transactions: 0 (0.000%)
latency average = 9.990 ms
latency stddev = 1.200 ms
initial connection time = 12.5 ms
tps = 800.250000 (without initial connection time)
statement latencies in milliseconds and failures:
         0.001           0  \\set aid random(1, 100000 * :scale)
         1.250           0  BEGIN;
");
    assert_eq!(
        (&*run.workload, run.totals.all.count, run.sessions),
        ("tpcb-like", 8000, 8)
    );
    assert_eq!(figure(&run, "", "rate"), (800.25, 17));
    assert_eq!(
        (run.totals.elapsed_s, run.options["time"].value.as_str()),
        (10.0, "10")
    );
    assert_eq!(run.intervals.len(), 2);
    let old = one("\
transaction type: <builtin: select only>
number of clients: 1
number of transactions per client: 10
number of transactions actually processed: 10/10
latency average: 1.50 ms
tps = 600.5 (including connections establishing)
tps = 660.5 (excluding connections establishing)
");
    assert_eq!(figure(&old, "", "rate").0, 660.5);
    assert_eq!(figure(&old, "", "asked").0, 10.0);
}

#[test]
fn benchbase_is_read_as_log_csv_and_json() {
    let run = one(
        "[INFO ] 2026-01-01 10:01:00,000 [main]  com.oltpbenchmark.DBWorkload runWorkload - Rate limited reqs/s: Results(nanoSeconds=60000000000, measuredRequests=12000) = 200.0 requests/sec (throughput), 199.5 requests/sec (goodput)\n",
    );
    assert_eq!((run.totals.all.count, run.totals.elapsed_s), (12_000, 60.0));
    assert_eq!(figure(&run, "", "goodput").0, 199.5);
    let run = one("\
17:07:30,091 (DBWorkload.java:878) INFO  - Num New Order transactions : 638, time seconds: 300
17:07:30,092 (DBWorkload.java:880) INFO  - TPM-C: 127.6
17:07:30,092 (DBWorkload.java:881) INFO  - Efficiency : 99.22%
17:07:30,104 (DBWorkload.java:900) INFO  - NewOrder, Avg Latency: 33.19 msecs, p99 Latency: 43.55 msecs
");
    assert_eq!(figure(&run, "", "tpmc").0, 127.6);
    assert_eq!(figure(&run, "NewOrder", "p99_ms").0, 43.55);
    assert_eq!(run.totals.types["NewOrder"].count, 638);
    let csv = one("\
Time (seconds),Throughput (requests/second),Average Latency (millisecond),Minimum Latency (millisecond),95th Percentile Latency (millisecond)
0,100.0,10.0,1.0,20.0
5,110.0,11.0,1.0,21.0
10,120.0,12.0,1.0,22.0
");
    assert_eq!(
        csv.imported.as_ref().unwrap().intervals[2].percentile_ms,
        Some(22.0)
    );
    let json = one(
        "{\n  \"scalefactor\": \"10\",\n  \"Benchmark Type\": \"tpcc\",\n  \"terminals\": \"10\",\n  \"Latency Distribution\": {\n    \"95th Percentile Latency (microseconds)\": 25000,\n    \"Average Latency (microseconds)\": 12000\n  },\n  \"Throughput (requests/second)\": 800.5,\n  \"Measured Requests\": 48030,\n  \"Elapsed Time (nanoseconds)\": 60000000000\n}\n",
    );
    assert_eq!(figure(&json, "", "p95_ms"), (25.0, 6));
    assert_eq!((json.sessions, json.totals.all.count), (10, 48_030));
}

#[test]
fn other_tools_are_read() {
    let run = one(
        "Vuser 1:64 Active Virtual Users configured\nVuser 1:TEST RESULT : System achieved 12,345 NOPM from 28384 PostgreSQL TPM\n",
    );
    assert_eq!(
        (
            figure(&run, "", "nopm").0,
            figure(&run, "", "tpm").0,
            run.sessions
        ),
        (12_345.0, 28_384.0, 64)
    );
    let run = one(
        "Benchmark\n\tRunning for engine innodb\n\tAverage number of seconds to run all queries: 1.500 seconds\n\tMinimum number of seconds to run all queries: 1.400 seconds\n\tMaximum number of seconds to run all queries: 1.600 seconds\n\tNumber of clients running queries: 50\n\tAverage number of queries per client: 20\n",
    );
    assert_eq!(
        (
            run.totals.elapsed_s,
            run.sessions,
            figure(&run, "", "longest_s").0
        ),
        (1.5, 50, 1.6)
    );
    let run = one("\
***************************************
*** ###easy### TPC-C Load Generator ***
***************************************
option w with value '10'
option c with value '16'
option l with value '60'
MEASURING START.

10, trx: 100, 95%: 37.412, 99%: 51.629, max_rt: 96.649, 100|83.015, 10|13.419, 10|91.254, 10|161.849
20, trx: 110, 95%: 37.412, 99%: 51.629, max_rt: 96.649, 100|83.015, 10|13.419, 10|91.254, 10|161.849

<Raw Results>
  [0] sc:205 lt:5  rt:0  fl:0
<TpmC>
                 630.000 TpmC
");
    assert_eq!((figure(&run, "", "tpmc").0, run.sessions), (630.0, 16));
    assert_eq!(run.imported.as_ref().unwrap().intervals[1].rate, Some(11.0));
    let run = one(
        "{\"metrics\": {\n\"iterations\": {\"count\": 500, \"rate\": 50.0},\n\"vus_max\": {\"value\": 5},\n\"iteration_duration\": {\"avg\": 99.5, \"min\": 50, \"med\": 98, \"max\": 300, \"p(90)\": 150, \"p(95)\": 180}}}\n",
    );
    assert_eq!(
        (
            run.totals.all.count,
            run.sessions,
            figure(&run, "", "p95_ms")
        ),
        (500, 5, (180.0, 4))
    );
}
