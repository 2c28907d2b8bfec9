//! Two states under one mean, queues that grow, mixes and windows: of measured and of imported runs.

use super::common::{found_in, histogram, of_rates, only, option, rules, set_latencies, stats};
use tidemark_analysis::{Severity, findings};
use tidemark_core::record::RunRecord;

/// What is said of a document's runs, without what was not judged.
fn said(text: &str) -> Vec<(&'static str, Severity)> {
    let found = found_in(text).into_iter();
    let found = found.inspect(super::common::both_languages_use_the_figures);
    found
        .filter(|f| f.rule != "not-judged")
        .map(|f| (f.rule, f.severity))
        .collect()
}

#[test]
fn two_levels_are_two_regimes_and_a_slope_is_drift() {
    let rates: Vec<u64> = (0..30)
        .map(|n| if n < 11 { 2000 } else { 1200 } + n * 7 % 5 * 9)
        .collect();
    let found = only(&of_rates(&rates), "two-regimes");
    assert_eq!(
        found.figure("at"),
        Some(&tidemark_analysis::Figure::Number(11.0))
    );
    let rising: Vec<u64> = (0..30).map(|n| 1000 + 40 * n + n * 7 % 5 * 9).collect();
    assert_eq!(rules(&of_rates(&rising)), ["drift"]);
    let level: Vec<u64> = (0..30).map(|n| 1000 + n * 7 % 5 * 60).collect();
    assert_eq!(rules(&of_rates(&level)), [""; 0]);
}

#[test]
fn stated_lines_of_two_levels_are_two_regimes() {
    let text = |after: u64| {
        let lines: String = (1..=20u64)
            .map(|s| {
                let tps = if s <= 9 { 1000 } else { after } + s * 7 % 5;
                format!("[ {s}s ] thds: 8 tps: {tps}.00 qps: {tps}.00 (r/w/o: {tps}.00/0.00/0.00) lat (ms,95%): 9.00 err/s: 0.00 reconn/s: 0.00\n")
            })
            .collect();
        format!("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\nNumber of threads: 8\n{lines}")
    };
    // There is no summary.
    let said = |text: &str| {
        let mut said = said(text);
        said.retain(|(rule, _)| *rule != "missing");
        said
    };
    assert_eq!(said(&text(500)), [("two-regimes", Severity::Suspect)]);
    assert_eq!(said(&text(950)), []);
}

fn open(asked: f64, made: u64, queue: impl Fn(u64) -> u64) -> RunRecord {
    let mut record = of_rates(&[made; 20]);
    record.rate = Some(asked);
    for (n, interval) in (0..).zip(&mut record.intervals) {
        interval.queue_length = queue(n);
    }
    record
}

#[test]
fn rates_that_are_not_served_are_told() {
    assert_eq!(
        only(&open(1000.0, 900, |_| 0), "rate-missed").severity,
        Severity::Suspect
    );
    assert_eq!(rules(&open(1000.0, 980, |_| 0)), [""; 0]);
    // 80 arrivals more or less are chance.
    let mut short = open(20.0, 18, |_| 0);
    set_latencies(&mut short, &histogram(360, 400.0));
    assert!(!rules(&short).contains(&"rate-missed"));
    assert_eq!(
        only(&open(1000.0, 970, |n| 100 * n), "backlog").severity,
        Severity::Suspect
    );
    // A queue of a few, or one that comes and goes.
    assert_eq!(rules(&open(1000.0, 1000, |n| n)), [""; 0]);
    assert_eq!(rules(&open(1000.0, 1000, |n| n % 3 * 900)), [""; 0]);
}

#[test]
fn stated_lateness_that_grows_is_a_backlog() {
    let text = |lag: fn(u64) -> u64| -> String {
        let lines = (1..=15u64).map(|s| {
            format!("progress: {s}.0 s, 99.0 tps, lat {0}.0 ms stddev 2.0, 0 failed, lag {0}.0 ms, 0 skipped\n", lag(s))
        });
        lines.collect()
    };
    assert_eq!(said(&text(|s| 200 * s)), [("backlog", Severity::Suspect)]);
    assert_eq!(said(&text(|s| 2 * s)), []);
}

fn tpcc(counts: [u64; 5]) -> RunRecord {
    let mut record = of_rates(&[1000; 20]);
    record.workload = "tpcc".into();
    let names = [
        "NewOrder",
        "Payment",
        "OrderStatus",
        "Delivery",
        "StockLevel",
    ];
    record.totals.types.clear();
    let mut all = tidemark_stats::Histogram::new();
    for (name, count) in names.into_iter().zip(counts) {
        let one = histogram(count, 7.9);
        all.merge(&one);
        record.totals.types.insert(name.into(), stats(&one));
    }
    record.totals.all = stats(&all);
    option(&mut record, "warehouses", "100");
    record
}

fn mix(counts: [u64; 5]) -> bool {
    let found = findings(&tpcc(counts)).unwrap();
    found.iter().any(|f| f.rule == "not-tpcc-like")
}

#[test]
fn a_mix_that_is_not_the_specifications_is_told() {
    assert!(!mix([9000, 8600, 800, 800, 800]));
    // Drawn by chance around four in a hundred.
    assert!(!mix([9030, 8650, 780, 770, 770]));
    assert!(mix([14_000, 3600, 800, 800, 800]));
    assert!(mix([10_000, 10_000, 0, 0, 0]));
}

fn go_tpc(neworder: u64, errors: u64, payment: u64) -> String {
    let line = |name: &str, count: u64| {
        let count = 10 * count;
        format!(
            "[Summary] {name} - Takes(s): 600.0, Count: {count}, TPM: {:.1}, Sum(ms): {}, Avg(ms): 70.0, 90th(ms): 96.5, 99th(ms): 130.3\n",
            count as f64 / 10.0,
            count * 70
        )
    };
    let mut text: String = [
        ("NEW_ORDER", neworder),
        ("PAYMENT", payment),
        ("ORDER_STATUS", 800),
        ("DELIVERY", 800),
        ("STOCK_LEVEL", 800),
    ]
    .map(|(name, count)| line(name, count))
    .concat();
    if errors > 0 {
        text += &line("NEW_ORDER_ERR", errors);
    }
    text
}

#[test]
fn rollbacks_that_belong_to_new_orders_are_explained_and_no_errors() {
    assert_eq!(said(&go_tpc(9000, 0, 8600)), []);
    assert_eq!(
        said(&go_tpc(9000, 90, 8600)),
        [("intended-errors", Severity::Note)]
    );
    assert_eq!(
        said(&go_tpc(9000, 900, 8600)),
        [("error-rate", Severity::Suspect)]
    );
    assert_eq!(
        said(&go_tpc(14_000, 0, 3600)),
        [("not-tpcc-like", Severity::Suspect)]
    );
}

#[test]
fn latencies_of_the_warm_up_are_another_window() {
    let hammer = |calls: u64| {
        format!(
            "Vuser 1:8 Active Virtual Users configured\nVuser 1:Beginning rampup time of 2 minutes\n\
             Vuser 1:Timing test period of 5 in minutes\nVuser 1:System achieved 12000 NOPM from 28000 PostgreSQL TPM\n\
             >>>>> PROC: NEWORD\nCALLS: {calls} MIN: 0.4ms AVG: 1.2ms MAX: 30ms TOTAL: {:.1}ms\n",
            calls as f64 * 1.2
        )
    };
    assert_eq!(
        said(&hammer(84_000)),
        [("different-windows", Severity::Suspect)]
    );
    assert_eq!(said(&hammer(60_000)), []);
}

#[test]
fn a_heading_of_another_tool_and_the_place_of_the_slowest_are_told() {
    let line = "READ - Takes(s): 600.0, Count: 300000, OPS: 500.0, Avg(us): 3000, Min(us): 600, Max(us): 12000, 99th(us): 11000\n";
    let under = |heading: &str| said(&format!("## {heading}\n{line}"));
    assert_eq!(under("go-tpc"), [("setting-contradicts", Severity::Note)]);
    for heading in ["go-ycsb", "YCSB, workload a", "go-tpc and go-ycsb", "MySQL"] {
        assert_eq!(under(heading), [], "{heading}");
    }
}

const SUMMARY: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 1
Report intermediate results every 1 second(s)
[ 1s ] thds: 1 tps: 50.00 qps: 50.00 (r/w/o: 50.00/0.00/0.00) lat (ms,95%): 21.00 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 1 tps: 50.00 qps: 50.00 (r/w/o: 50.00/0.00/0.00) lat (ms,95%): 21.00 err/s: 0.00 reconn/s: 0.00
[ 3s ] thds: 1 tps: 50.00 qps: 50.00 (r/w/o: 50.00/0.00/0.00) lat (ms,95%): 21.00 err/s: 0.00 reconn/s: 0.00
[ 4s ] thds: 1 tps: 50.00 qps: 50.00 (r/w/o: 50.00/0.00/0.00) lat (ms,95%): 21.00 err/s: 0.00 reconn/s: 0.00
SQL statistics:
    queries performed:
        read:  200
        write: 0
        other: 0
        total: 200
    transactions: 200 (50.00 per sec.)
    queries: 200 (50.00 per sec.)
    ignored errors: 0 (0.00 per sec.)
    reconnects: 0 (0.00 per sec.)
General statistics:
    total time: 4.0000s
    total number of events: 200
Latency (ms):
    min: 5.00
    avg: 20.00
    max: 60.00
    95th percentile: 0.00
    sum: 4000.00
Threads fairness:
    events (avg/stddev): 200.0000/0.00
    execution time (avg/stddev): 4.0000/0.00
";

#[test]
fn a_lost_line_is_told_and_a_shortened_output_is_not() {
    assert_eq!(said(SUMMARY), []);
    for lost in [
        "        read:  200\n",
        "        total: 200\n",
        "    transactions: 200 (50.00 per sec.)\n",
        "    total number of events: 200\n",
        "    avg: 20.00\n",
        "    events (avg/stddev): 200.0000/0.00\n",
    ] {
        assert_eq!(
            said(&SUMMARY.replacen(lost, "", 1)),
            [("missing", Severity::Suspect)],
            "{lost}"
        );
    }
    let interval = SUMMARY.lines().find(|l| l.starts_with("[ 3s")).unwrap();
    let without = SUMMARY.replace(&format!("{interval}\n"), "");
    assert_eq!(said(&without), [("sampler-gaps", Severity::Suspect)]);
    assert_eq!(said(&SUMMARY.replace(interval, "...")), []);
    // Whoever quotes a line or two.
    let (_, quoted) = SUMMARY.split_once("    transactions").unwrap();
    let quoted = format!(
        "SQL statistics:\n    transactions{}",
        quoted.lines().next().unwrap()
    );
    assert_eq!(said(&quoted), []);
}
