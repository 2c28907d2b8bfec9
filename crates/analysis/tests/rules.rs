//! Every rule on made records: what breaks it, and what must not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tidemark_analysis::{Finding, RULES, Severity, findings};
use tidemark_core::record::*;
use tidemark_core::{ErrorClass, Source};
use tidemark_stats::Histogram;

/// Latencies around `ms`, none alike.
fn histogram(count: u64, ms: f64) -> Histogram {
    let mut h = Histogram::new();
    for i in 0..count {
        let share = 0.5 + (i as f64 + 0.5) / count as f64;
        h.record(Duration::from_secs_f64(ms * share / 1000.0));
    }
    h
}

fn stats(h: &Histogram) -> TypeStats {
    TypeStats {
        count: h.count(),
        service: EncodedHistogram(h.encode()),
        ..TypeStats::default()
    }
}

/// A clean closed loop of 20 s: 8 sessions, 1,000 transactions a second of 7.9 ms.
fn clean() -> RunRecord {
    of_rates(&[1000; 20])
}

fn of_rates(rates: &[u64]) -> RunRecord {
    let mut all = Histogram::new();
    let intervals: Vec<Interval> = rates
        .iter()
        .enumerate()
        .map(|(n, rate)| {
            // Closed: eight sessions are always at work.
            let h = histogram(*rate, 7900.0 / (*rate).max(1) as f64);
            all.merge(&h);
            Interval {
                start_ms: n as i64 * 1000,
                length_ms: 1000.0,
                types: BTreeMap::from([("t".into(), stats(&h))]),
                ..Interval::default()
            }
        })
        .collect();
    let elapsed_s = rates.len() as f64;
    let mut record = RunRecord {
        id: "made".into(),
        state: RunState::Finished,
        workload: "oltp_read_write".into(),
        sessions: 8,
        intervals,
        ..RunRecord::default()
    };
    record.totals.elapsed_s = elapsed_s;
    record.totals.statements.write = 1000;
    record.totals.fairness.between_avg_s = Some(0.01 * elapsed_s);
    set_latencies(&mut record, &all);
    record
}

fn set_latencies(record: &mut RunRecord, h: &Histogram) {
    record.totals.all = stats(h);
    record.totals.types = BTreeMap::from([("t".into(), stats(h))]);
}

fn option(record: &mut RunRecord, name: &str, value: &str) {
    let option = EffectiveOption {
        value: value.into(),
        source: Source::CommandLine,
    };
    record.options.insert(name.into(), option);
}

fn rules(record: &RunRecord) -> Vec<&'static str> {
    let found = findings(record).unwrap();
    found.iter().for_each(both_languages_use_the_figures);
    found.iter().map(|f| f.rule).collect()
}

fn both_languages_use_the_figures(found: &Finding) {
    for both in [found.says, found.instead] {
        let places = |text: &'static str| -> BTreeSet<&str> {
            let after = text.split('{').skip(1);
            after
                .filter_map(|part| Some(part.split_once('}')?.0))
                .collect()
        };
        assert_eq!(places(both.en), places(both.zh), "{}", found.rule);
        assert!(
            places(both.en).iter().all(|p| found.figure(p).is_some()),
            "{found:?}"
        );
    }
}

fn only(record: &RunRecord, rule: &str) -> Finding {
    let mut found = findings(record).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].rule, rule);
    found.remove(0)
}

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
    assert_eq!(RULES.len(), 18);
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
fn users_that_were_not_working_are_missed() {
    let mut record = clean();
    record.sessions = 18;
    assert_eq!(only(&record, "littles-law").severity, Severity::Invalid);
    record.sessions = 10;
    assert_eq!(only(&record, "littles-law").severity, Severity::Suspect);
    // Eight sessions can't do the work of two.
    record.sessions = 2;
    assert_eq!(only(&record, "littles-law").severity, Severity::Invalid);
    // The client's own time counts, and without it nothing can be told.
    record.sessions = 18;
    record.totals.fairness.between_avg_s = Some(11.0);
    assert_eq!(rules(&record), [""; 0]);
    record.totals.fairness.between_avg_s = None;
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn users_are_not_missed_while_their_host_was_out_of_reach() {
    let mut record = clean();
    let misses_users = |record: &RunRecord| rules(record).contains(&"littles-law");
    // A quarter more users than were seen, who could not work for 15 % of the time.
    record.sessions = 10;
    assert!(misses_users(&record));
    let out_for = |record: &mut RunRecord, share: f64| {
        let seconds = record.totals.elapsed_s * share;
        record.totals.outage_s = seconds;
        record.outages = vec![Outage {
            host: "a:1".into(),
            start_ms: 0,
            length_ms: seconds * 1000.0,
            ended: true,
            first_error: "refused".into(),
        }];
    };
    out_for(&mut record, 0.15);
    assert!(!misses_users(&record));
    record.sessions = 13;
    assert!(misses_users(&record));
    out_for(&mut record, 0.95);
    assert!(!misses_users(&record));
    // Of four hosts the other three could be reached.
    record.totals.hosts = vec![HostLoad::default(); 4];
    assert!(misses_users(&record));
}

#[test]
fn users_who_think_are_users() {
    let mut record = clean();
    record.totals.all.response = Some(record.totals.all.service.clone());
    record.terminals = Some(108);
    option(&mut record, "think-time", "exp:100ms");
    assert_eq!(rules(&record), [""; 0]);
    record.terminals = Some(300);
    assert_eq!(rules(&record), ["littles-law"]);
    // TPC-C's users key and think by a clock that no record holds.
    option(&mut record, "wait", "on");
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn an_open_loop_has_no_users_and_no_drift() {
    let rates: Vec<u64> = (0..20).map(|n| 500 + 50 * n).collect();
    let mut record = of_rates(&rates);
    assert_eq!(rules(&record), ["drift"]);
    record.rate = Some(1000.0);
    record.sessions = 500;
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn rates_that_follow_each_other_are_no_stall() {
    let mut rates = vec![1000; 10];
    rates.extend([10; 5]);
    let mut record = of_rates(&rates);
    assert!(rules(&record).contains(&"stall"));
    record.steps = vec![Step {
        purpose: StepPurpose::Asked,
        rate: Some(1000.0),
        start_ms: 0,
        totals: Totals::default(),
        verdict: None,
    }];
    assert_eq!(rules(&record), [""; 0]);
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
    let mut record = of_rates(&[2; 10]);
    record.workload = "tpch".into();
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn a_second_of_nothing_is_a_stall() {
    let mut rates = vec![1000; 20];
    rates[12] = 0;
    let mut record = of_rates(&rates);
    let found = only(&record, "stall");
    assert_eq!(
        found.figure("start"),
        Some(&tidemark_analysis::Figure::Number(12.0))
    );
    // One transaction of 15 s where the rest took 8 ms, in the interval that has it.
    record = clean();
    let mut slow = histogram(999, 7.9);
    slow.record(Duration::from_secs(15));
    record.intervals[3].types.insert("t".into(), stats(&slow));
    let mut all = histogram(19_000, 7.9);
    all.merge(&slow);
    set_latencies(&mut record, &all);
    let found = only(&record, "stall");
    assert_eq!(
        found.figure("start"),
        Some(&tidemark_analysis::Figure::Number(3.0))
    );
    // Where little is to be expected, an empty second is chance.
    let mut rates = vec![8; 30];
    rates[5] = 0;
    assert!(!rules(&of_rates(&rates)).contains(&"stall"));
}

#[test]
fn errors_are_a_share_of_all_tries() {
    for (errors, severity) in [(300, Severity::Suspect), (3000, Severity::Invalid)] {
        let mut record = clean();
        record.totals.ignored_errors = errors;
        record.errors = vec![ErrorCount {
            code: "1213".into(),
            class: ErrorClass::Retryable,
            count: errors,
            first_message: "Deadlock".into(),
        }];
        assert_eq!(only(&record, "error-rate").severity, severity);
    }
    let mut record = clean();
    record.totals.ignored_errors = 100;
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn a_moment_tells_nothing_of_its_users() {
    let mut record = clean();
    record.sessions = 100;
    assert!(rules(&record).contains(&"littles-law"));
    record.totals.elapsed_s = 0.02;
    assert!(!rules(&record).contains(&"littles-law"));
}

#[test]
fn time_without_a_host_is_no_time_of_the_load() {
    for (away_s, severity) in [(0.5, Severity::Suspect), (9.0, Severity::Invalid)] {
        let mut record = clean();
        record.totals.outage_s = away_s;
        record.outages = vec![Outage {
            host: "db1:3306".into(),
            start_ms: 3000,
            length_ms: away_s * 1000.0,
            ended: false,
            first_error: "refused".into(),
        }];
        assert_eq!(only(&record, "outage").severity, severity);
    }
    // One that ended in the warm-up is none of the measurement's.
    let mut record = clean();
    record.outages = vec![Outage {
        host: "db1:3306".into(),
        start_ms: -3000,
        length_ms: 1000.0,
        ended: true,
        first_error: "refused".into(),
    }];
    assert_eq!(rules(&record), [""; 0]);
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
    record.totals.fairness.between_avg_s = None;
    record.totals.all = stats(&h);
    record.totals.types = BTreeMap::from([("NewOrder".into(), stats(&h))]);
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
        [""; 0],
        "users who think less may make more"
    );
    // 12 a minute and warehouse, by ten terminals each.
    let mut record = tpcc(1200, 600.0, 20.0);
    assert_eq!(
        rules(&record),
        [""; 0],
        "below the limit nothing is to be said"
    );
    option(&mut record, "wait", "on");
    assert_eq!(rules(&record), [""; 0]);
    record.sessions = 10;
    assert_eq!(only(&record, "tpcc-cap").severity, Severity::Note);
}

#[test]
fn tpccs_response_times_have_limits() {
    assert_eq!(rules(&tpcc(1200, 600.0, 3000.0)), [""; 0]);
    let found = only(&tpcc(1200, 600.0, 4000.0), "tpcc-response");
    assert_eq!(found.severity, Severity::Suspect);
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
fn every_rule_is_documented() {
    let page = include_str!("../../../docs/findings.md");
    for rule in RULES {
        assert!(page.contains(&format!("\n| `{rule}` |")), "{rule}");
    }
}
