//! Every other rule on made records: what breaks it, and what must not.

use super::common::{clean, histogram, of_rates, only, option, rules, set_latencies, stats};
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_analysis::{Figure, Severity, findings};
use tidemark_core::record::*;
use tidemark_core::{ErrorClass, ErrorKind};
use tidemark_stats::Histogram;

fn table(rows: u64, expected: Option<u64>, max_key: i64) -> TableState {
    TableState {
        table: "sbtest1".into(),
        rows,
        expected_rows: expected,
        min_key: Some(1),
        max_key: Some(max_key),
    }
}

#[test]
fn a_clean_run_has_no_finding() {
    assert_eq!(rules(&clean()), [""; 0]);
    assert_eq!(tidemark_analysis::rules().count(), 53);
}

#[test]
fn streams_of_queries_are_judged_by_sums_rows_and_errors_alone() {
    // 22 queries of one stream, each an interval, from 50 ms to 20 s.
    let mut record = of_rates(&[1; 22]);
    record.totals.statements.write = 0;
    let mut all = Histogram::new();
    for (n, interval) in record.intervals.iter_mut().enumerate() {
        let h = histogram(1, 50.0 * (n * n + 1) as f64);
        all.merge(&h);
        interval.types = BTreeMap::from([("t".into(), stats(&h))]);
        interval.length_ms = 50.0 * (n * n + 1) as f64;
    }
    record.totals.elapsed_s = record.intervals.iter().map(|i| i.length_ms).sum::<f64>() / 1000.0;
    set_latencies(&mut record, &all);
    assert_ne!(
        rules(&record),
        [""; 0],
        "as transactions it would be judged"
    );
    record.queries = vec![QueryRun::default()];
    assert_eq!(rules(&record), [""; 0]);
    record.tables_before = vec![table(999, Some(1000), 1000)];
    assert_eq!(rules(&record), ["row-count"]);
}

#[test]
fn a_few_transactions_that_hold_most_of_the_time_are_told() {
    let with_slow = |count: u64, ms: u64| {
        let mut record = clean();
        let mut all = histogram(20_000 - count, 0.2);
        (0..count).for_each(|_| all.record(Duration::from_millis(ms)));
        set_latencies(&mut record, &all);
        record.sessions = 1;
        for interval in &mut record.intervals {
            let fast = stats(&histogram(1000, 0.2));
            interval.types.insert("t".into(), fast);
        }
        record
    };
    // 100 of 20,000 take 900 ms: the mean is 4.7 ms, the 95th percentile 0.3.
    let record = with_slow(100, 900);
    assert!(rules(&record).contains(&"heavy-tail"));
    let found = findings(&record).unwrap();
    let tail = found.iter().find(|f| f.rule == "heavy-tail").unwrap();
    assert_eq!(tail.severity, Severity::Suspect);
    // Every second has its share of them: mean and percentile together are what there is every time.
    let mut steady = record.clone();
    for interval in &mut steady.intervals {
        let mut h = histogram(995, 0.2);
        (0..5).for_each(|_| h.record(Duration::from_millis(900)));
        interval.types.insert("t".into(), stats(&h));
    }
    let found = findings(&steady).unwrap();
    let tail = found.iter().find(|f| f.rule == "heavy-tail").unwrap();
    assert_eq!(tail.severity, Severity::Note);
    // 100 take 5 ms: they hold a ninth of the time, and the mean is below the percentile.
    assert!(!rules(&with_slow(100, 5)).contains(&"heavy-tail"));
    // The percentile is above the mean, and one in a hundred holds most of the time all the same.
    let mut record = clean();
    let mut all = Histogram::new();
    for (count, ms) in [(17_000, 0.1), (2_800, 1.0), (200, 30.0)] {
        (0..count).for_each(|_| all.record(Duration::from_secs_f64(ms / 1000.0)));
    }
    set_latencies(&mut record, &all);
    record.sessions = 1;
    assert!(
        findings(&record)
            .unwrap()
            .iter()
            .any(|f| { f.rule == "heavy-tail" && f.severity == Severity::Note })
    );
}

#[test]
fn totals_must_add_up() {
    let mut record = clean();
    record.intervals.remove(7);
    assert_eq!(
        only(&record, "summary-mismatch").severity,
        Severity::Invalid
    );
    let mut record = clean();
    record.totals.elapsed_s = 25.0;
    assert!(rules(&record).contains(&"summary-mismatch"));
    let mut record = clean();
    record
        .totals
        .types
        .insert("u".into(), stats(&histogram(5, 1.0)));
    assert_eq!(rules(&record), ["summary-mismatch"]);
    let found = only(&record, "summary-mismatch");
    let part = found.figure("part");
    assert!(
        matches!(part, Some(Figure::Words(part)) if part.zh == "各类型的事务数"),
        "{part:?}"
    );
    // A record whose intervals are elsewhere.
    let mut record = clean();
    record.intervals.clear();
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn percentiles_need_samples() {
    let record = of_rates(&[90; 10]);
    assert_eq!(only(&record, "too-short").severity, Severity::Note);
    let record = of_rates(&[12; 10]);
    assert_eq!(only(&record, "too-short").severity, Severity::Suspect);
    assert_eq!(rules(&of_rates(&[2000; 3])), ["too-short"]);
    let mut record = of_rates(&[900; 10]);
    option(&mut record, "percentile", "95,99.9");
    assert_eq!(rules(&record), ["too-short"]);
    // A percentile is called by its name: P99, and not P99.0 or P100.
    for (asked, named) in [("99", "99"), ("99.99", "99.99")] {
        let mut record = of_rates(&[90; 10]);
        option(&mut record, "percentile", asked);
        let found = only(&record, "too-short");
        assert_eq!(
            found.figure("percentile"),
            Some(&Figure::Text(named.into()))
        );
    }
    let mut record = of_rates(&[2; 10]);
    record.workload = "tpch".into();
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn errors_are_a_share_of_all_tries() {
    for (errors, severity) in [(300, Severity::Suspect), (3000, Severity::Invalid)] {
        let mut record = clean();
        record.totals.ignored_errors = errors;
        record.errors = vec![ErrorCount {
            code: "1213".into(),
            class: ErrorClass::Retryable,
            kind: None,
            count: errors,
            first_message: "Deadlock".into(),
        }];
        assert_eq!(only(&record, "error-rate").severity, severity);
    }
    let mut record = clean();
    record.totals.ignored_errors = 100;
    assert_eq!(rules(&record), [""; 0]);
}

/// What was tried again was not left out, and where a setting makes the errors it is named.
#[test]
fn errors_are_told_by_what_came_of_them_and_by_their_cause() {
    let said = |errors: &[(ErrorKind, ErrorClass)], snapshot: Option<&str>| {
        let mut record = clean();
        record.totals.ignored_errors = 3000;
        let count = |(kind, class): &(ErrorKind, ErrorClass)| ErrorCount {
            code: kind.name().into(),
            class: *class,
            kind: Some(*kind),
            count: 3000 / errors.len() as u64,
            first_message: "why".into(),
        };
        record.errors = errors.iter().map(count).collect();
        record.settings.extend(snapshot.map(|value| Setting {
            name: "innodb_snapshot_isolation".into(),
            value: value.into(),
            default: None,
        }));
        let finding = only(&record, "error-rate");
        (finding.says.en, finding.instead.en)
    };
    let read = [(ErrorKind::SerializationFailure, ErrorClass::Retryable)];
    let (says, instead) = said(&read, Some("ON"));
    assert!(says.contains("innodb_snapshot_isolation is ON"), "{says}");
    assert!(
        instead.contains("innodb_snapshot_isolation=OFF"),
        "{instead}"
    );
    let deadlock = (ErrorKind::Deadlock, ErrorClass::Retryable);
    for (errors, snapshot) in [
        (&read[..], Some("OFF")),
        (&read[..], None),
        (&[deadlock], Some("ON")),
    ] {
        let (says, instead) = said(errors, snapshot);
        assert!(says.contains("rolled back and retried"), "{says}");
        assert!(!format!("{says}{instead}").contains("snapshot"), "{says}");
    }
    let mixed = [deadlock, (ErrorKind::Other, ErrorClass::Fatal)];
    let (says, _) = said(&mixed, None);
    assert!(says.contains("ignored"), "{says}");
}

#[test]
fn writes_must_write() {
    for (noop, severity) in [(100, Severity::Suspect), (5000, Severity::Invalid)] {
        let mut record = clean();
        record.totals.statements.noop_writes = noop;
        assert_eq!(only(&record, "no-op-writes").severity, severity);
    }
    let mut record = clean();
    record.totals.statements.noop_writes = 20;
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn rows_are_what_was_asked_for() {
    let mut record = clean();
    record.tables_before = vec![table(1000, Some(1000), 1000)];
    record.tables_after = vec![table(1400, None, 1400)];
    assert_eq!(rules(&record), [""; 0], "the run wrote");
    record.totals.statements.write = 0;
    assert_eq!(rules(&record), ["row-count"], "somebody else wrote");
    record.tables_after = vec![table(1000, None, 1000)];
    assert_eq!(rules(&record), [""; 0]);
    record.tables_before = vec![table(100, Some(1000), 100)];
    record.tables_after = vec![table(100, None, 100)];
    assert_eq!(rules(&record), ["row-count"]);
    // More rows than keys: the database counts wrongly.
    record.tables_before = vec![table(1100, Some(1100), 1000)];
    record.tables_after = vec![];
    assert_eq!(only(&record, "row-count").severity, Severity::Invalid);
}

#[test]
fn what_earlier_runs_left_is_told_where_a_run_writes() {
    let mut record = clean();
    record.tables_before = vec![table(1200, Some(1000), 1200)];
    assert_eq!(rules(&record), ["carried-state"]);
    record.tables_before = vec![table(1005, Some(1000), 1005)];
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn a_floor_under_every_latency_is_told() {
    let mut h = Histogram::new();
    (0..20_000u64).for_each(|i| h.record(Duration::from_micros(35_700 + i % 4000)));
    let mut record = clean();
    record.intervals.clear();
    record.sessions = 40;
    set_latencies(&mut record, &h);
    assert_eq!(only(&record, "latency-floor").severity, Severity::Suspect);
    record.inject_rtt_ms = 35.0;
    assert_eq!(only(&record, "latency-floor").severity, Severity::Note);
}

fn tpcc(new_orders: u64, elapsed_s: f64, ms: f64) -> RunRecord {
    let h = histogram(new_orders, ms);
    let mut record = clean();
    record.workload = "tpcc".into();
    record.intervals.clear();
    record.totals.elapsed_s = elapsed_s;
    // Of an earlier version and without the client's own time: its users can't be counted.
    record.latency_end = LatencyEnd::Arrival;
    record.totals.fairness.between_avg_s = None;
    // The least shares of clause 5.2.3 for 45 % New-Orders, as quick as these limits ask.
    let others = [
        ("Payment", 43.0),
        ("OrderStatus", 4.0),
        ("Delivery", 4.0),
        ("StockLevel", 4.0),
    ];
    record.totals.types = BTreeMap::from([("NewOrder".into(), stats(&h))]);
    let mut all = h.clone();
    for (name, share) in others {
        let h = histogram(
            (new_orders as f64 * share / 45.0).ceil() as u64,
            ms.min(1000.0),
        );
        record.totals.types.insert(name.into(), stats(&h));
        all.merge(&h);
    }
    record.totals.all = stats(&all);
    record.sessions = 100;
    option(&mut record, "warehouses", "10");
    record
}

#[test]
fn tpmc_has_a_limit_where_users_think() {
    // 200 a minute and warehouse.
    let mut record = tpcc(20_000, 600.0, 20.0);
    assert_eq!(only(&record, "tpcc-cap").severity, Severity::Note);
    option(&mut record, "wait", "on");
    assert_eq!(only(&record, "tpcc-cap").severity, Severity::Invalid);
    option(&mut record, "wait-scale", "0.1");
    assert_eq!(
        rules(&record),
        ["not-tpcc-like"],
        "users who think less may make more"
    );
    // 12 a minute and warehouse, by ten terminals each.
    let mut record = tpcc(1200, 600.0, 20.0);
    assert_eq!(
        rules(&record),
        ["not-tpcc-like"],
        "below the limit nothing is to be said of it"
    );
    option(&mut record, "wait", "on");
    assert_eq!(rules(&record), [""; 0]);
    record.sessions = 10;
    assert_eq!(only(&record, "tpcc-cap").severity, Severity::Note);
}

#[test]
fn terminals_that_began_together_are_not_called_miscounted() {
    // 16 a minute and warehouse.
    let mut record = tpcc(1600, 600.0, 100.0);
    option(&mut record, "wait", "on");
    record.sessions = 100;
    let told = |record: &RunRecord| {
        let all = findings(record).unwrap();
        let cap = all.into_iter().find(|f| f.rule == "tpcc-cap").unwrap();
        (cap.severity, cap.says.en)
    };
    record.warmup_s = Some(25.0);
    let (severity, says) = told(&record);
    assert_eq!(severity, Severity::Suspect);
    assert!(says.contains("started together"), "{says}");
    // After three of their cycles they come at times of their own; older records don't tell.
    for warmup_s in [Some(63.0), None] {
        record.warmup_s = warmup_s;
        let (severity, says) = told(&record);
        assert_eq!(severity, Severity::Invalid);
        assert!(says.contains("exceed the maximum"), "{says}");
    }
}

#[test]
fn tpccs_response_times_have_limits() {
    let told = |ms: f64| {
        let found = findings(&tpcc(1200, 600.0, ms)).unwrap().into_iter();
        let mut found = found.filter(|f| f.rule == "tpcc-response");
        found.next().map(|f| f.severity)
    };
    assert_eq!(told(3000.0), None);
    assert_eq!(told(4000.0), Some(Severity::Suspect));
}

#[test]
fn what_has_no_end_or_no_transaction_is_not_judged() {
    let mut record = clean();
    record.state = RunState::Running;
    record.intervals.clear();
    assert_eq!(rules(&record), [""; 0]);
    assert_eq!(rules(&RunRecord::default()), [""; 0]);
}

#[test]
fn a_latency_distribution_that_cannot_be_read_is_an_error() {
    let mut record = clean();
    record.totals.all.service = EncodedHistogram("1:1:1:?".into());
    assert!(
        findings(&record)
            .unwrap_err()
            .to_string()
            .contains("run made")
    );
}

#[test]
fn a_client_that_was_built_quickly_is_noted() {
    let mut record = clean();
    record.tidemark_version = "0.1.0".into();
    assert_eq!(rules(&record), [""; 0]);
    record.tidemark_version = "0.1.0+quick".into();
    assert_eq!(rules(&record), ["quick-build"]);
}

#[test]
fn every_rule_is_documented() {
    let page = include_str!("../../../../docs/findings.md");
    for rule in tidemark_analysis::rules() {
        assert!(page.contains(&format!("\n| `{rule}` |")), "{rule}");
    }
}

/// What a tool gives that prints a mean and percentiles.
fn given() -> RunRecord {
    let mut record = clean();
    record.intervals.clear();
    let given = TypeStats {
        count: record.totals.all.count,
        quantiles: Some(Quantiles {
            mean_ms: Some(3.2),
            max_ms: Some(80.0),
            percentiles_ms: BTreeMap::from([("95".into(), 7.1)]),
            ..Quantiles::default()
        }),
        ..TypeStats::default()
    };
    record.totals.types = BTreeMap::from([("t".into(), given.clone())]);
    record.totals.all = given;
    record
}

#[test]
fn without_a_histogram_rules_that_need_one_are_left_out_and_named() {
    let found = findings(&given()).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].rule, found[0].severity),
        ("not-judged", Severity::Note)
    );
    let rules = format!("{:?}", found[0].figure("rules"));
    for rule in [
        "littles-law",
        "stall",
        "heavy-tail",
        "drift",
        "latency-floor",
    ] {
        assert!(rules.contains(rule), "{rules}");
    }
    assert!(!rules.contains("summary-mismatch") && !rules.contains("error-rate"));
    // What needs neither judges.
    let mut wrong = given();
    wrong.totals.all.count += 1;
    assert!(rules_of(&wrong).contains(&"summary-mismatch"));
}

fn rules_of(record: &RunRecord) -> Vec<&'static str> {
    findings(record).unwrap().iter().map(|f| f.rule).collect()
}

#[test]
fn what_was_given_is_compared_and_the_rest_left_out() {
    let mut slower = given();
    slower.id = "other".into();
    let all = &mut slower.totals.all;
    all.quantiles
        .as_mut()
        .unwrap()
        .percentiles_ms
        .insert("95".into(), 14.2);
    let compared = tidemark_analysis::compare(&[given()], &[slower]).unwrap();
    let metrics: Vec<_> = compared
        .metrics
        .iter()
        .map(|m| (m.metric.name(), m.ratio.round()))
        .collect();
    assert_eq!(metrics, [("throughput", 1.0), ("mean", 1.0), ("p95", 2.0)]);
}
