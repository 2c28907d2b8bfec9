//! What pgbench prints with its options and in its versions.

use super::tools::{figure, one, option};
use tidemark_core::record::RunRecord;

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
fn statements_of_the_only_script_stand_below_a_heading() {
    let run = one("\
starting vacuum...end.
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 10
number of threads: 1
number of transactions per client: 1000
number of transactions actually processed: 10000/10000
latency average = 15.844 ms
latency stddev = 2.715 ms
tps = 618.764555 (including connections establishing)
tps = 622.977698 (excluding connections establishing)
script statistics:
 - statement latencies in milliseconds:
         0.002  \\set aid random(1, 100000 * :scale)
         0.326  BEGIN;
");
    assert_eq!(figure(&run, "", "rate"), 622.977_698);
    assert_eq!(figure(&run, "statements", "BEGIN; ms"), 0.326);
    // Version 9.5 prints six decimals.
    let old = one("\
transaction type: TPC-B (sort of)
number of clients: 10
latency average: 15.844 ms
tps = 622.977698 (excluding connections establishing)
statement latencies in milliseconds:
\t0.002184\t\\setrandom aid 1 100000
\t0.326152\tBEGIN;
");
    assert_eq!(figure(&old, "statements", "BEGIN; ms"), 0.326_152);
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
