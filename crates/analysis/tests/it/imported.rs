//! Rules of imported runs: documents that break each, and the nearest that must not. We wrote them.

use super::common::found_in;
use tidemark_analysis::{Severity, findings};
use tidemark_import::{Origin, read};

/// What is said of a document's runs, worse than a note, and notes of the rules named.
fn said(text: &str) -> Vec<(&'static str, Severity)> {
    let found = found_in(text).into_iter();
    found
        .filter(|f| f.rule != "not-judged")
        .map(|f| (f.rule, f.severity))
        .collect()
}

fn bad(text: &str) -> Vec<(&'static str, Severity)> {
    let mut bad = said(text);
    bad.retain(|(_, severity)| *severity > Severity::Note);
    bad
}

const SYSBENCH: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 4
Report intermediate results every 5 second(s)
[ 5s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 45.79 err/s: 0.00 reconn/s: 0.00
[ 10s ] thds: 4 tps: 100.20 qps: 2004.00 (r/w/o: 1402.80/400.80/200.40) lat (ms,95%): 45.79 err/s: 0.00 reconn/s: 0.00
SQL statistics:
    queries performed:
        read:                            14014
        write:                           4004
        other:                           2002
        total:                           20020
    transactions:                        1001   (100.09 per sec.)
    queries:                             20020  (2001.80 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)
General statistics:
    total time:                          10.0010s
    total number of events:              1001
Latency (ms):
         min:                                   12.10
         avg:                                   39.95
         max:                                   70.25
         95th percentile:                       45.79
         sum:                                39989.95
Threads fairness:
    events (avg/stddev):           250.2500/0.50
    execution time (avg/stddev):   9.9975/0.00
";

#[test]
fn a_consistent_output_has_no_finding() {
    assert_eq!(said(SYSBENCH), []);
}

#[test]
fn every_figure_that_another_determines_is_checked() {
    for (from, to) in [
        (
            "read:                            14014",
            "read:                            11014",
        ),
        (
            "total:                           20020",
            "total:                           24020",
        ),
        ("1001   (100.09", "1201   (100.09"),
        ("(100.09 per", "(120.09 per"),
        ("20020  (2001.80", "30020  (2001.80"),
        ("(2001.80 per", "(2401.80 per"),
        ("10.0010s", "13.0010s"),
        ("events:              1001", "events:              1301"),
        (
            "avg:                                   39.95",
            "avg:                                   49.95",
        ),
        (
            "sum:                                39989.95",
            "sum:                                29989.95",
        ),
        ("250.2500/", "350.2500/"),
        ("9.9975/", "7.9975/"),
        ("qps: 2004.00", "qps: 2504.00"),
        ("r/w/o: 1402.80", "r/w/o: 1802.80"),
        ("Number of threads: 4", "Number of threads: 5"),
    ] {
        let text = SYSBENCH.replace(from, to);
        assert_ne!(text, SYSBENCH, "{from}");
        assert!(!bad(&text).is_empty(), "{to}");
    }
}

#[test]
fn impossible_latencies_and_stalls_are_told() {
    let with = |from: &str, to: &str| bad(&SYSBENCH.replace(from, to));
    assert!(
        with(
            "min:                                   12.10",
            "min:                                   42.10"
        )
        .contains(&("impossible-pair", Severity::Invalid))
    );
    assert!(
        with(
            "max:                                   70.25",
            "max:                                   7000.25"
        )
        .contains(&("stall", Severity::Suspect))
    );
    assert!(
        with(
            "95th percentile:                       45.79",
            "95th percentile:                       20.79"
        )
        .contains(&("percentile-below-mean", Severity::Suspect))
    );
    // A percentile that is switched off is none.
    assert_eq!(
        with(
            "95th percentile:                       45.79",
            "95th percentile:                        0.00"
        ),
        []
    );
}

#[test]
fn a_table_is_judged_by_its_own_figures() {
    let row = |cells: &str| {
        format!("| threads | tps | avg (ms) | p95 (ms) |\n|---|---|---|---|\n| {cells} |\n")
    };
    assert_eq!(said(&row("768 | 9000 | 85.0 | 120")), []);
    assert_eq!(
        bad(&row("768 | 9000 | 38.5 | 120")),
        [("littles-law", Severity::Invalid)]
    );
    assert!(bad(&row("768 | 9000 | 120 | 85.3")).contains(&("wrong-column", Severity::Invalid)));
    let tpcc = |tpmc: &str| format!("warehouses,threads,tpmC,efficiency\n4000,40000,{tpmc}\n");
    assert_eq!(said(&tpcc("15414,29.97%")), []);
    assert_eq!(
        bad(&tpcc("15414,40%")),
        [("tpcc-efficiency", Severity::Invalid)]
    );
    assert!(bad(&tpcc("1.7e12,29.97%")).contains(&("wrong-column", Severity::Invalid)));
    let clients = said("threads,tps,p99 (ms)\n96,100 + 110 + 90,12.5 + 14 + 13\n");
    assert_eq!(clients, [("averaged-percentiles", Severity::Note)]);
    assert_eq!(
        bad("threads,tps\n96,100 + 110 + 90 = 400\n"),
        [("summary-mismatch", Severity::Invalid)]
    );
}

#[test]
fn a_row_says_what_else_its_load_did() {
    let think = "| 用户数 | 思考时间 | TPS | 平均响应时间(ms) |\n|---|---|---|---|\n| 1000 | 1s | 980 | 20 |\n";
    assert_eq!(bad(think), []);
    assert_eq!(
        bad(&think.replace("1s", "0")),
        [("littles-law", Severity::Invalid)]
    );
    let open = "threads,target rate,tps,avg\n16,1000,1000,250\n16,5000,2000,9000\n";
    assert_eq!(bad(open), [("rate-missed", Severity::Suspect)]);
    let errors = "threads,tps,avg,Errors\n8,1000,8,30%\n";
    assert_eq!(bad(errors), [("error-rate", Severity::Invalid)]);
    let sums =
        "threads,client1 tps,client2 tps,total tps\n64,12000,11800,23800\n128,13000,12800,26800\n";
    assert_eq!(bad(sums), [("summary-mismatch", Severity::Invalid)]);
    let before = "threads,tps (before),tps (after),p95 before,p95 after\n16,1000,1200,20,15\n";
    assert_eq!(bad(before), []);
}

#[test]
fn a_wrong_column_is_explained_by_what_fits() {
    let told = |text: &str| -> Vec<String> {
        let import = read(text.as_bytes(), &Origin::of("a.csv"), &mut |_, _, _| {}).unwrap();
        let found = import.runs.iter().flat_map(|run| findings(run).unwrap());
        let wrong = found.filter(|f| f.rule == "wrong-column");
        let other = |f: &tidemark_analysis::Finding| match f.figure("other") {
            Some(tidemark_analysis::Figure::Text(other)) => other.clone(),
            Some(tidemark_analysis::Figure::Composed { en, .. }) => en.clone(),
            _ => String::new(),
        };
        wrong
            .map(|f| format!("{} {:?}", other(&f), f.says.en.contains("repeats")))
            .collect()
    };
    let swapped = "tps,threads,avg,p95\n16,1000,16,20\n32,1500,21.3,30\n";
    assert_eq!(told(swapped), ["TPS false", "TPS false"]);
    let copied = "threads,time (s),tps,latency (ms)\n8,60,1000,60\n";
    assert_eq!(told(copied), ["time (s) true"]);
}

#[test]
fn terminals_that_think_have_a_limit() {
    let row = |row: &str| bad(&format!("warehouses,terminals,tpmC,efficiency\n{row}\n"));
    assert_eq!(
        row("1000,1000,5000,38.9%"),
        [("tpcc-cap", Severity::Invalid)]
    );
    assert_eq!(row("1000,10000,12500,97.2%"), []);
    assert_eq!(row("1000,1000,1250,9.7%"), []);
}

#[test]
fn samples_floors_and_errors_are_judged() {
    let ycsb = |seconds: &str, count: u64, avg: u64, min: u64| {
        format!(
            "READ - Takes(s): {seconds}, Count: {count}, OPS: {:.1}, Avg(us): {avg}, Min(us): {min}, Max(us): 120000, 99th(us): 110000, 99.99th(us): 120000\n",
            count as f64 / seconds.parse::<f64>().unwrap()
        )
    };
    assert_eq!(
        bad(&ycsb("1.6", 488, 3000, 600)),
        [("too-short", Severity::Suspect)]
    );
    assert_eq!(bad(&ycsb("600.0", 200_000, 3000, 600)), []);
    assert_eq!(
        bad(&ycsb("600.0", 200_000, 39_270, 35_680)),
        [("latency-floor", Severity::Suspect)]
    );
    let java = |found: u64| {
        format!(
            "[OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100.0\n[READ], Operations, 1000\n[READ], AverageLatency(us), 900\n[READ], Return=OK, {found}\n[READ], Return=NOT_FOUND, {}\n",
            1000 - found
        )
    };
    assert_eq!(bad(&java(995)), []);
    assert_eq!(bad(&java(900)), [("not-found", Severity::Suspect)]);
    let errors = |n: u64| {
        SYSBENCH.replace(
            "ignored errors:                      0      (0.00",
            &format!(
                "ignored errors:                      {n}      ({:.2}",
                n as f64 / 10.001
            ),
        )
    };
    assert_eq!(bad(&errors(5)), []);
    assert!(bad(&errors(60)).contains(&("error-rate", Severity::Suspect)));
    assert!(bad(&errors(300)).contains(&("error-rate", Severity::Invalid)));
}

#[test]
fn options_are_held_against_the_output() {
    let titled = |title: &str| bad(&format!("## {title}\n{SYSBENCH}"));
    assert_eq!(titled("oltp, 4 threads"), []);
    assert_eq!(
        titled("oltp, 64 threads"),
        [("setting-contradicts", Severity::Suspect)]
    );
    for several in [
        "oltp, 16/32/64 threads",
        "点查 8、16、32 线程",
        "threads 8, 16, 32",
        "高并发 16 核",
        "8 to 64 threads",
    ] {
        assert_eq!(titled(several), [], "{several}");
    }
    let command = "pgbench -c $c -j ${j} -T <T> bench\n";
    assert_eq!(bad(&format!("{command}{PGBENCH}")), []);
    let rate = |rate: u64| {
        bad(&SYSBENCH.replace(
            "Number of threads: 4\n",
            &format!("Number of threads: 4\nTarget transaction rate: {rate}/sec\n"),
        ))
    };
    assert_eq!(rate(100), []);
    assert!(rate(150).contains(&("rate-missed", Severity::Suspect)));
    let failed = format!("{SYSBENCH}FATAL: `thread_run' function failed\n");
    assert_eq!(bad(&failed), [("failed-run", Severity::Invalid)]);
}

#[test]
fn what_is_not_judged_is_named() {
    let import = read(
        "threads,tps\n4,100\n".as_bytes(),
        &Origin::of("a.csv"),
        &mut |_, _, _| {},
    )
    .unwrap();
    let found = findings(&import.runs[0]).unwrap();
    let [only] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(only.rule, "not-judged");
    let tidemark_analysis::Figure::Text(rules) = only.figure("rules").unwrap() else {
        panic!()
    };
    for rule in [
        "summary-mismatch",
        "littles-law",
        "too-short",
        "stall",
        "row-count",
    ] {
        assert!(rules.contains(rule), "{rules}");
    }
}

const PGBENCH: &str = "\
pgbench (15.18)
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 2
number of threads: 1
maximum number of tries: 1
duration: 4 s
number of transactions actually processed: 171
number of failed transactions: 0 (0.000%)
latency average = 40.200 ms
initial connection time = 563.000 ms
tps = 49.750000 (without initial connection time)
";

#[test]
fn a_rate_without_connecting_is_of_the_time_that_is_left() {
    assert_eq!(bad(PGBENCH), []);
    let quick = PGBENCH.replace("= 563.000", "= 5.000");
    assert_eq!(bad(&quick), [("summary-mismatch", Severity::Invalid)]);
}

#[test]
fn a_change_that_a_table_states_follows_from_its_figures() {
    let table = |change: &str, p95: &str| {
        format!(
            "| Threads | old TPS | new TPS | old p95 (ms) | new p95 (ms) | TPS change (%) | p95 change (%) |\n\
             |---|---|---|---|---|---|---|\n\
             | 300 | 1000.0 | 1200.0 | 40.0 | 30.0 | {change} | {p95} |\n"
        )
    };
    // A fall may be stated as a gain, as a part of the newer figure, or as the ratio.
    for (change, p95) in [
        ("20", "-25"),
        ("+20.0%", "25"),
        ("16.67", "33.33"),
        ("120", ""),
    ] {
        assert_eq!(bad(&table(change, p95)), [], "{change} {p95}");
    }
    for (change, p95) in [("26", "-25"), ("20", "-52"), ("2.0", "-25")] {
        assert_eq!(
            bad(&table(change, p95)),
            [("summary-mismatch", Severity::Invalid)],
            "{change} {p95}"
        );
    }
}
