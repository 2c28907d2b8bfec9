//! What sysbench prints beside its plain output: checkpoints, files and memory, report hooks.

use super::tools::{figure, import, one, option};

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
fn a_histogram_beside_checkpoints_is_of_no_window() {
    let histogram = "Latency histogram (values are in milliseconds)\n\
        \x20      value  ------------- distribution ------------- count\n\
        \x20      1.470 |                                         2\n\
        \x20      5.670 |**************************************** 390\n\
        \x20\n";
    let plain = one(CHECKPOINTS);
    let last = CHECKPOINTS.rfind("SQL statistics:").unwrap();
    let (before, behind) = CHECKPOINTS.split_at(last);
    let at_the_end = format!("{before}{histogram}{behind}");
    let each = CHECKPOINTS.replace(
        "SQL statistics:\n",
        &format!("{histogram}SQL statistics:\n"),
    );
    for text in [at_the_end, each] {
        let run = one(&text);
        assert_eq!(run.totals.all.count, plain.totals.all.count, "{text}");
        let imported = run.imported.as_ref().unwrap();
        assert!(imported.figures.iter().all(|f| f.of != "histogram"));
        assert_eq!(figure(&run, "window 3", "count"), 394.0);
    }
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
