//! What other tools print in ways of their own: honest outputs have no finding, changed ones have.

use super::common::{found_in, old_sysbench_ending};
use tidemark_analysis::{Figure, Severity};

/// Rules of what is worse than a note.
fn bad(text: &str) -> Vec<&'static str> {
    let all = found_in(text).into_iter();
    all.filter(|f| f.severity > Severity::Note)
        .map(|f| f.rule)
        .collect()
}

/// Windows that sysbench sums up one by one.
const CHECKPOINTS: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 2
Report checkpoint(s) at 2, 4 seconds
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
Threads fairness:
    events (avg/stddev):           349.0000/48.00
    execution time (avg/stddev):   1.9981/0.00
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
Threads fairness:
    events (avg/stddev):           283.5000/36.50
    execution time (avg/stddev):   1.9975/0.00
";

#[test]
fn windows_of_sysbench_are_judged_by_their_own_seconds() {
    assert_eq!(bad(CHECKPOINTS), [""; 0]);
    assert!(bad(&CHECKPOINTS.replace("(284.45", "(184.45")).contains(&"summary-mismatch"));
    assert!(bad(&CHECKPOINTS.replace("7.05", "9.05")).contains(&"summary-mismatch"));
}

#[test]
fn flushes_of_files_are_no_missing_sessions() {
    let text = "\
sysbench 0.4.12:  multi-threaded system evaluation benchmark

Number of threads: 16
Operations performed:  6003 Read, 3997 Write, 12769 Other = 22769 Total
Read 93.797Mb  Written 62.453Mb  Total transferred 156.25Mb  (18.21Mb/sec)
 1165.43 Requests/sec executed

Test execution summary:
    total time:                          8.5805s
    total number of events:              10000
    total time taken by event execution: 52.5000
    per-request statistics:
";
    let ms = ["0.01", "5.25", "99.42", "20.90"];
    let text = text.to_string() + &old_sysbench_ending(ms, "625.0000/35.50", "3.2813/0.10");
    assert_eq!(bad(&text), [""; 0]);
    assert!(bad(&text.replace("1165.43", "1365.43")).contains(&"summary-mismatch"));
}

#[test]
fn an_output_that_is_pasted_twice_is_told() {
    let rules = |text: &str| -> Vec<(&str, Severity)> {
        let all = found_in(text)
            .into_iter()
            .filter(|f| f.rule == "same-output");
        all.map(|f| (f.rule, f.severity)).collect()
    };
    let one = "same-output";
    assert_eq!(rules(CHECKPOINTS), []);
    let twice = format!("{CHECKPOINTS}\n{CHECKPOINTS}");
    assert_eq!(rules(&twice), [(one, Severity::Note)]);
    let headed = format!("# A\n{CHECKPOINTS}\n# B\n{CHECKPOINTS}");
    assert_eq!(rules(&headed), [(one, Severity::Suspect)]);
}

/// Transactions of a mix: no two have as many statements.
const MIX: &str = "\
sysbench 1.1.0-2ca9e3f (using bundled LuaJIT 2.1.0-beta3)
Number of threads: 2
[ 1s ] thds: 2 tps: 33.91 qps: 943.56 (r/w/o: 423.91/445.85/73.81) lat (ms,95%): 248.83 err/s 0.00 reconn/s: 0.00
[ 2s ] thds: 2 tps: 65.01 qps: 2135.47 (r/w/o: 987.22/1018.23/130.03) lat (ms,95%): 75.82 err/s 1.00 reconn/s: 0.00
[ 3s ] thds: 2 tps: 76.04 qps: 1918.92 (r/w/o: 879.42/885.42/154.07) lat (ms,95%): 52.89 err/s 1.00 reconn/s: 0.00
SQL statistics:
    queries performed:
        read:                            56564
        write:                           58517
        other:                           8768
        total:                           123849
    transactions:                        4370   (72.77 per sec.)
    queries:                             123849 (2062.48 per sec.)
    ignored errors:                      30     (0.50 per sec.)
    reconnects:                          0      (0.00 per sec.)

Throughput:
    events/s (eps):                      72.7743
    time elapsed:                        60.0487s
    total number of events:              4370

Latency (ms):
         min:                                    0.38
         avg:                                   27.47
         max:                                  508.31
         95th percentile:                       82.96
         sum:                               120030.69

Threads fairness:
    events (avg/stddev):           2185.0000/27.00
    execution time (avg/stddev):   60.0153/0.02
";

#[test]
fn transactions_of_a_mix_differ_in_their_statements() {
    assert_eq!(bad(MIX), [""; 0]);
    let wrong = MIX.replace("123849 (2062.48", "123849 (2562.48");
    assert_eq!(bad(&wrong), ["summary-mismatch"]);
}

#[test]
fn an_output_that_ends_before_its_summary_is_cut() {
    let lines = &MIX[..MIX.find("SQL statistics").unwrap()];
    assert_eq!(bad(lines), ["missing"]);
    let command = "$ sysbench oltp_read_only --threads=2 run\n";
    let intervals = &lines[lines.find("[ 1s ]").unwrap()..];
    for text in [intervals.to_string(), format!("{command}{intervals}")] {
        assert_eq!(bad(&text), ["missing"], "{text}");
    }
    // What is lost is told in the tool's words.
    let before = &MIX[..MIX.find("         95th").unwrap()];
    let found = found_in(before).into_iter().find(|f| f.rule == "missing");
    let found = found.unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert_eq!(found.figure("names"), Some(&Figure::Text("sum".into())));
}

#[test]
fn a_cut_summary_lost_lines() {
    let at = MIX.find("    queries:  ").unwrap();
    assert_eq!(bad(&MIX[..at]), ["missing"]);
    assert_eq!(bad(&MIX[..at - 60]), ["missing"]);
    // Who quotes a part without the first lines lost none.
    let part = "[ 1s ] thds: 2 tps: 33.91 qps: 943.56 (r/w/o: 423.91/445.85/73.81) lat (ms,95%): 24.83 err/s: 0.00 reconn/s: 0.00\n\
        SQL statistics:\n    transactions:                        4370   (72.77 per sec.)\n";
    assert_eq!(bad(part), [""; 0]);
}

#[test]
fn memory_accesses_are_shorter_than_what_is_between_them() {
    let memory = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 2
Total operations: 8529785 (2842059.75 per second)

8329.87 MiB transferred (2775.45 MiB/sec)

General statistics:
    total time:                          3.0004s
    total number of events:              8529785

Latency (ms):
         min:                                    0.00
         avg:                                    0.00
         max:                                   44.07
         95th percentile:                        0.00
         sum:                                 2614.22

Threads fairness:
    events (avg/stddev):           4264892.5000/458821.50
    execution time (avg/stddev):   1.3071/0.02
";
    assert_eq!(bad(memory), [""; 0]);
    assert_eq!(
        bad(&memory.replace("(2775.45", "(3775.45")),
        ["summary-mismatch"]
    );
    assert!(bad(&memory.replace("(2842059.75", "(3842059.75")).contains(&"summary-mismatch"));
}

#[test]
fn latencies_that_leave_out_failures_miss_no_sessions() {
    let pgbench = "\
pgbench (15.18 (Debian 15.18-0+deb12u1))
transaction type: <builtin: TPC-B (sort of)>
number of clients: 4
duration: 3 s
number of transactions actually processed: 1130
number of failed transactions: 672 (37.292%)
latency average = 3.885 ms
tps = 389.810424 (without initial connection time)
";
    assert_eq!(bad(pgbench), ["error-rate"]);
    let none = pgbench.replace("672 (37.292%)", "0 (0.000%)");
    assert_eq!(bad(&none), ["littles-law"]);
    let ycsb = "\
Command line: -t -db site.ycsb.db.JdbcDBClient -P workloads/workloadc -threads 4
[OVERALL], RunTime(ms), 10000
[OVERALL], Throughput(ops/sec), 4000.0
[READ], Operations, 30000
[READ], AverageLatency(us), 900.0
[READ], Return=OK, 30000
[READ], Return=ERROR, 10000
[READ-FAILED], Operations, 10000
[READ-FAILED], AverageLatency(us), 1300.0
";
    assert_eq!(bad(ycsb), ["error-rate"]);
    let wrong = ycsb.replace("4000.0", "5000.0");
    assert_eq!(bad(&wrong), ["summary-mismatch", "error-rate"]);
    let idle = ycsb.replace("1300.0", "100.0");
    assert!(bad(&idle).contains(&"littles-law"));
}

#[test]
fn benchbases_rates_are_checked() {
    let json = |rate: &str, good: &str| {
        bad(&format!(
            "{{\n\"Elapsed Time (nanoseconds)\": 60000123456,\n\"Measured Requests\": 54000,\n\
             \"Latency Distribution\": {{\n\"Average Latency (microseconds)\": 22101\n}},\n\
             \"Throughput (requests/second)\": {rate},\n\"Goodput (requests/second)\": {good}\n}}"
        ))
    };
    assert_eq!(json("899.99", "895.99"), [""; 0]);
    // The goodput has the warm-up in it.
    assert_eq!(json("899.99", "1095.99"), [""; 0]);
    assert_eq!(json("1799.99", "895.99"), ["summary-mismatch"]);
    assert_eq!(json("899.99", "2895.99"), ["impossible-pair"]);
    let csv = "Time (seconds),Throughput (requests/second),Average Latency (millisecond)\n\
        0,890.4,22.4\n5,902.2,22.1\n10,898.0,22.2\n15,899.0,22.2\n";
    assert_eq!(bad(csv), [""; 0]);
}

#[test]
fn tpcc_mysql_is_judged_by_what_failed_was_late_or_waited() {
    let text = |in_time: u64, late: u64, failed: u64| {
        format!(
            " [connection]: 32\n    [measure]: 30 (sec.)\n<Raw Results>\n  \
             [0] sc:{in_time} lt:{late}  rt:5  fl:{failed} avg_rt: 10.0 (5)\n"
        )
    };
    assert_eq!(bad(&text(38_700, 9, 0)), [""; 0]);
    assert_eq!(bad(&text(100, 38_609, 0)), ["tpcc-response"]);
    assert_eq!(bad(&text(38_700, 9, 9000)), ["error-rate"]);
    let slow = text(38_700, 9, 0).replace("10.0", "8004.8");
    assert_eq!(bad(&slow), ["littles-law"]);
}

#[test]
fn hammerdb_that_lost_a_user_or_counted_no_order_has_no_result() {
    let result = "Vuser 1:64 Active Virtual Users configured\n\
        Vuser 1:TEST RESULT : System achieved 302123 NOPM from 702911 PostgreSQL TPM\n";
    assert_eq!(bad(result), [""; 0]);
    let lost = format!("Vuser 5:FINISHED FAILED\n{result}");
    assert_eq!(bad(&lost), ["failed-run"]);
    assert_eq!(bad(&result.replace("302123", "0")), ["failed-run"]);
}

#[test]
fn k6_that_failed_is_told() {
    let k6 = |failed: f64, bad_checks: u64| {
        bad(&format!(
            "{{\"metrics\":{{\"iterations\":{{\"count\":12000,\"rate\":199.9}},\
             \"http_req_failed\":{{\"value\":{failed}}},\
             \"checks\":{{\"passes\":9000,\"fails\":{bad_checks}}}}}}}"
        ))
    };
    assert_eq!(k6(0.0, 0), [""; 0]);
    assert_eq!(k6(0.5, 0), ["error-rate"]);
    assert_eq!(k6(0.0, 3000), ["error-rate"]);
}

#[test]
fn a_rate_that_pgbench_could_not_hold_is_told_without_its_command() {
    let text = |skipped: &str, lag: &str| {
        bad(&format!(
            "pgbench (15.18)\ntransaction type: <builtin: TPC-B (sort of)>\nnumber of clients: 2\nduration: 3 s\n\
             number of transactions actually processed: 538\nnumber of transactions skipped: {skipped}\n\
             latency average = 4.566 ms\nrate limit schedule lag: avg {lag} (max 4056.265) ms\n\
             tps = 181.870057 (without initial connection time)\n"
        ))
    };
    assert_eq!(text("6 (1.1%)", "1.292"), [""; 0]);
    assert_eq!(text("60 (10.033%)", "1.292"), ["rate-missed"]);
    assert_eq!(text("6 (1.1%)", "1574.266"), ["backlog"]);
    let log: String = (0..600)
        .map(|n| match n % 10 {
            0 => format!("0 {n} skipped 0 {} 0 0\n", 1_700_000_000 + n / 200),
            _ => format!(
                "0 {n} 1000 0 {} {} 10\n",
                1_700_000_000 + n / 200,
                n % 200 * 5000
            ),
        })
        .collect();
    assert_eq!(bad(&log), ["rate-missed"]);
}

#[test]
fn counts_have_no_fraction_and_words_are_in_both_languages() {
    let clients = found_in("threads,tps\n96,100 + 110 + 90 = 400\n");
    let from = clients
        .iter()
        .find(|f| f.rule == "summary-mismatch")
        .unwrap();
    let Some(Figure::Words(from)) = from.figure("from") else {
        panic!("{from:?}");
    };
    assert_eq!(from.zh, "各客户端之和");
    let row = "| threads | tps | avg (ms) |\n|---|---|---|\n| 64 | 9000 | 38.5 |\n";
    let little = found_in(row);
    let little = little.iter().find(|f| f.rule == "littles-law").unwrap();
    assert_eq!(little.figure("asked"), Some(&Figure::Count(64)));
    let stall = found_in(&MIX.replace("  508.31", " 5088.31"));
    let stall = stall.iter().find(|f| f.rule == "stall").unwrap();
    assert_eq!(stall.figure("percent"), Some(&Figure::Text("95".into())));
}

#[test]
fn figures_of_benchmarksql_determine_each_other() {
    let clean: String = [
        "     BenchmarkSQL v5.0",
        "warehouses=100",
        "terminals=64",
        "runMins=5",
        "newOrderWeight=45",
        "paymentWeight=43",
        "orderStatusWeight=4",
        "deliveryWeight=4",
        "stockLevelWeight=4",
        "Measured tpmC (NewOrders) = 45210.33",
        "Measured tpmTOTAL = 100466.11",
        "Session Start     = 2024-03-05 13:05:12",
        "Session End       = 2024-03-05 13:10:12",
        "Transaction Count = 502331",
    ]
    .map(|text| format!("13:10:12,345 [main] INFO   jTPCC : Term-00, {text}\n"))
    .concat();
    assert_eq!(bad(&clean), [""; 0]);
    for (from, to) in [
        ("Count = 502331", "Count = 902331"),
        ("= 45210.33", "= 95210.33"),
        ("= 100466.11", "= 70466.11"),
    ] {
        let text = clean.replace(from, to);
        assert!(bad(&text).contains(&"summary-mismatch"), "{to}");
    }
    // Twenty minutes of as many transactions, where five were asked for.
    let longer = clean.replace("13:10:12\n", "13:25:12\n");
    let longer = longer.replace("Count = 502331", "Count = 2009321");
    assert_eq!(bad(&longer), ["summary-mismatch"]);
    let found = found_in(&longer.replace("runMins=5", "runMins=20"));
    assert!(found.iter().all(|f| f.rule != "summary-mismatch"));
    // Other weights give another share; where none is stated, they may have been changed.
    let weights = clean.replace("newOrderWeight=45", "newOrderWeight=88");
    let weights = weights.replace("paymentWeight=43", "paymentWeight=0");
    assert_eq!(bad(&weights.replace("= 45210.33", "= 88210.33")), [""; 0]);
    assert_eq!(bad(&weights), ["summary-mismatch"]);
    let quoted = "Measured tpmC (NewOrders) = 88210.33\nMeasured tpmTOTAL = 100466.11\n";
    let found = found_in(quoted);
    let told = found.iter().find(|f| f.rule == "summary-mismatch").unwrap();
    assert_eq!(told.severity, Severity::Note);
}
