//! Lines that tools always print and that an output has no more.

use super::common::found_in;
use super::determined::{GO_YCSB, PGBENCH, SYSBENCH_05, bad};

/// What is said of lines that are not there.
pub(super) fn lost(text: &str) -> Vec<&'static str> {
    let found = found_in(text).into_iter();
    let found = found.filter(|f| matches!(f.rule, "missing" | "sampler-gaps"));
    let found = found.inspect(super::common::both_languages_use_the_figures);
    found.map(|f| f.rule).collect()
}

/// The text without its only line that begins so.
pub(super) fn without(text: &str, line: &str) -> String {
    let kept = text.lines().filter(|l| !l.starts_with(line));
    let kept: String = kept.map(|l| format!("{l}\n")).collect();
    assert_eq!(kept.lines().count() + 1, text.lines().count(), "{line}");
    kept
}

#[test]
fn lines_of_pgbench_that_were_lost_are_told() {
    assert_eq!(lost(PGBENCH), [""; 0]);
    for line in [
        "number of transactions actually processed",
        "latency average",
        "initial connection time",
        "tps =",
    ] {
        let text = without(PGBENCH, line);
        assert!(bad(&text).contains(&"missing"), "{line}");
        // Whoever quotes a part.
        let quoted = without(&text, "scaling factor");
        assert_eq!(lost(&quoted), [""; 0], "{line}");
    }
    assert_eq!(lost(&without(PGBENCH, "progress: 30.0")), ["sampler-gaps"]);
    let progress = PGBENCH
        .lines()
        .find(|l| l.starts_with("progress: 30.0"))
        .unwrap();
    assert_eq!(lost(&PGBENCH.replace(progress, "...")), [""; 0]);
}

#[test]
fn lines_of_go_ycsb_that_were_lost_are_told() {
    let mut text = String::new();
    for second in (10..=60).step_by(10) {
        for name in ["READ  ", "UPDATE"] {
            text += &format!(
                "{name} - Takes(s): {second}.0, Count: {0}, OPS: 1000.0, Avg(us): 900, Min(us): 210, \
                 Max(us): 30111, 99th(us): 3100\n",
                second * 1000
            );
        }
    }
    assert_eq!(lost(&text), [""; 0]);
    let line = "READ   - Takes(s): 30.0";
    assert_eq!(lost(&without(&text, line)), ["sampler-gaps"]);
    let shortened = text.replace(line, "... shortened");
    assert_eq!(lost(&shortened), [""; 0]);
}

#[test]
fn lines_of_go_tpc_that_were_lost_are_told() {
    let types = [("DELIVERY", 100u64), ("NEW_ORDER", 1000), ("PAYMENT", 950)];
    let line = |kind: &str, name: &str, seconds: u64, count: u64| {
        format!(
            "[{kind}] {name} - Takes(s): {seconds}.0, Count: {count}, TPM: {}, Sum(ms): {}, \
             Avg(ms): 7, 90th(ms): 9.4, 99th(ms): 13.1\n",
            count * 60 / seconds,
            count * 7
        )
    };
    let intervals = |last_s: u64| {
        let mut text = String::new();
        for n in 1..=7u64 {
            let seconds = if n == 7 { last_s } else { 10 };
            for (name, count) in types {
                let count = count * seconds / 10 + n;
                // Of a moment only those that ended have a line.
                if seconds > 1 || name != "DELIVERY" {
                    text += &line("Current", name, seconds, count);
                }
            }
        }
        for (name, count) in types {
            text += &line("Summary", name, 60 + last_s, count * 6 + 21);
        }
        text
    };
    for last_s in [1, 5, 10] {
        assert_eq!(lost(&intervals(last_s)), [""; 0], "{last_s}");
    }
    let text = intervals(10);
    let over_time = without(&text, "[Current] PAYMENT - Takes(s): 10.0, Count: 953");
    assert_eq!(lost(&over_time), ["missing"]);
    let summary = without(&text, "[Summary] PAYMENT");
    assert_eq!(lost(&summary), ["missing"]);
    // An output that was cut has no summary at all.
    let (cut, _) = text.split_once("[Summary]").unwrap();
    assert_eq!(lost(cut), [""; 0]);
}

#[test]
fn an_output_that_ends_within_its_summary_is_told() {
    let (pgbench, _) = PGBENCH.split_once("latency stddev").unwrap();
    let slap = "Benchmark\n\tRunning for engine innodb\n\tAverage number of seconds to run all queries: 1.234 \
                seconds\n\tMinimum number of seconds to run all queries: 1.101 seconds\n";
    let of_log = |text: &str| format!("13:10:12,345 [main] INFO   jTPCC : Term-00, {text}\n");
    let benchmarksql: String = [
        "     BenchmarkSQL v5.0",
        "warehouses=100",
        "terminals=64",
        "Measured tpmC (NewOrders) = 452.33",
    ]
    .map(of_log)
    .concat();
    for cut in [SYSBENCH_05, pgbench, slap, &*benchmarksql] {
        assert_eq!(lost(cut), ["missing"], "{cut}");
        let found = found_in(cut).into_iter().find(|f| f.rule == "missing");
        let is_named = found.is_some_and(|f| f.figure("names").is_some());
        assert!(is_named, "{cut}");
        assert_eq!(lost(&format!("{cut}\n\n")), ["missing"], "{cut}");
        // Whoever leaves out the rest says so, or quotes a part in a block.
        assert_eq!(lost(&format!("{cut}...\n")), [""; 0], "{cut}");
        assert_eq!(lost(&format!("```\n{cut}```\n")), [""; 0], "{cut}");
    }
    let ending = "Transaction Count = 1800";
    assert_eq!(lost(&(benchmarksql.clone() + &of_log(ending))), [""; 0]);
    let k6 = "{\n  \"metrics\": {\n    \"iterations\": {\"count\": 12000, \"rate\": 199.8},\n    \
              \"http_reqs\": {\"count\": 24000, \"rate\": 399.6}";
    assert_eq!(lost(&format!("{k6},\n")), ["missing"]);
    assert_eq!(lost(&format!("{k6}\n  }}\n}}\n")), [""; 0]);
}

#[test]
fn an_output_of_go_ycsb_that_ends_before_its_run_has_no_wrong_count() {
    assert_eq!(bad(GO_YCSB), [""; 0]);
    let (head, _) = GO_YCSB.split_once("****\nRun finished").unwrap();
    let cut = head.trim_end_matches('*');
    assert_eq!(bad(cut), ["missing"]);
}
