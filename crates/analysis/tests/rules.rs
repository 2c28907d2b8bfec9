//! Every rule on made records: what breaks it, and what must not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use rand::{RngExt, SeedableRng, rngs::SmallRng};
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
        latency_end: LatencyEnd::Session,
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
                .filter_map(|part| part.split_once('}')?.0.split('|').next())
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
    assert_eq!(RULES.len(), 24);
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
    // Time between transactions excuses nothing: a latency is what the session waited.
    record.sessions = 18;
    record.totals.fairness.between_avg_s = Some(11.0);
    assert_eq!(only(&record, "littles-law").severity, Severity::Invalid);
    // Latencies of earlier records end before the client's own time begins: it counts, and without
    // it nothing can be told.
    record.latency_end = LatencyEnd::Arrival;
    assert_eq!(rules(&record), [""; 0]);
    record.totals.fairness.between_avg_s = None;
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn sessions_that_were_allowed_to_be_missing_are_told_and_not_missed_twice() {
    let mut record = clean();
    record.sessions = 18;
    record.sessions_opened = Some(8);
    assert_eq!(only(&record, "offered-load").severity, Severity::Suspect);
    // Those that were opened have to work.
    record.sessions_opened = Some(12);
    assert_eq!(rules(&record), ["littles-law", "offered-load"]);
}

#[test]
fn a_client_that_makes_its_sessions_wait_is_told() {
    let split = |share: f64| {
        let mut record = clean();
        let mut server = Histogram::new();
        for i in 0..20_000 {
            let ms = 7.9 * (0.5 + (i as f64 + 0.5) / 20_000.0);
            server.record(Duration::from_secs_f64(ms * share / 1000.0));
        }
        record.totals.all.server = Some(EncodedHistogram(server.encode()));
        record.client.cores = 2;
        record
    };
    let mut record = split(0.14);
    let found = only(&record, "client-bound");
    assert_eq!(found.severity, Severity::Suspect);
    let client = match found.figure("client") {
        Some(tidemark_analysis::Figure::Number(share)) => *share,
        other => panic!("{other:?}"),
    };
    assert!((client - 86.0).abs() < 0.5, "{client}");
    // Server and client on one host are measured together, as every tool does.
    record.target_on_client = Some(true);
    assert_eq!(only(&record, "client-bound").severity, Severity::Note);
    assert_eq!(rules(&split(0.9)), [""; 0]);
}

#[test]
fn sessions_that_did_most_of_the_work_are_told() {
    let mut record = clean();
    let fairness = &mut record.totals.fairness;
    (fairness.events_avg, fairness.events_stddev) = (2500.0, 300.0);
    assert_eq!(rules(&record), [""; 0]);
    record.totals.fairness.events_stddev = 1500.0;
    assert_eq!(only(&record, "unfair").severity, Severity::Note);
    record.totals.fairness.events_stddev = 2600.0;
    assert_eq!(only(&record, "unfair").severity, Severity::Suspect);
    // On a schedule whoever is free takes the next.
    record.rate = Some(1000.0);
    assert_eq!(rules(&record), [""; 0]);
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

/// A clean run of `total_s` seconds at 1,000/s whose eight sessions were caught by stretches of a
/// side: (start, length) in seconds.
fn with_dead_times(total_s: u64, stretches: &[(f64, f64, DeadSide)]) -> RunRecord {
    let dead = |n: u64| {
        let middle = n as f64 + 0.5;
        stretches
            .iter()
            .any(|(s, l, _)| *s <= middle && middle < s + l)
    };
    let rates: Vec<u64> = (0..total_s)
        .map(|n| if dead(n) { 0 } else { 1000 })
        .collect();
    let mut record = of_rates(&rates);
    let mut all = Histogram::decode(&record.totals.all.service.0).unwrap();
    for (_, length, _) in stretches {
        (0..8).for_each(|_| all.record(Duration::from_secs_f64(*length)));
    }
    // They end in the last interval.
    let mut last = histogram(rates[rates.len() - 1], 7.9);
    for (_, length, _) in stretches {
        (0..8).for_each(|_| last.record(Duration::from_secs_f64(*length)));
    }
    let end = record.intervals.last_mut().unwrap();
    end.types.insert("t".into(), stats(&last));
    set_latencies(&mut record, &all);
    record.dead_times = Some(
        stretches
            .iter()
            .map(|(start_s, length_s, side)| DeadTime {
                start_ms: (start_s * 1000.0) as i64,
                length_ms: length_s * 1000.0,
                side: *side,
            })
            .collect(),
    );
    record
}

#[test]
fn dead_time_is_told_whatever_its_share_and_on_its_side() {
    use Severity::{Invalid, Note, Suspect};
    for (side, rule, severities) in [
        (DeadSide::Target, "stall", [Suspect, Invalid, Invalid]),
        (DeadSide::Client, "client-stopped", [Invalid; 3]),
    ] {
        for (length, severity) in [1.0, 7.0, 9.0].into_iter().zip(severities) {
            let record = with_dead_times(10, &[(0.5, length, side)]);
            let found = only(&record, rule);
            assert_eq!(found.severity, severity, "{rule} {length}");
            let number = |name: &str| match found.figure(name) {
                Some(tidemark_analysis::Figure::Number(n)) => *n,
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!((number("start"), number("end")), (0.5, 0.5 + length));
            let outside = number("outside");
            assert!((900.0..2100.0).contains(&outside), "{outside}");
            assert_eq!(rules(&record), [rule]);
        }
    }
    // Several, of which the longest is told.
    let target = |start: f64, length: f64| (start, length, DeadSide::Target);
    let record = with_dead_times(20, &[target(2.0, 2.0), target(7.0, 3.0), target(12.0, 2.0)]);
    let found = only(&record, "stall");
    assert_eq!(
        found.figure("stretches"),
        Some(&tidemark_analysis::Figure::Count(3))
    );
    let record = with_dead_times(200, &[target(2.0, 1.0)]);
    assert_eq!(only(&record, "stall").severity, Note);
    // Both sides are told apart.
    let both = with_dead_times(20, &[target(2.0, 2.0), (7.0, 3.0, DeadSide::Client)]);
    assert_eq!(rules(&both), ["client-stopped", "stall"]);
    // To the end.
    assert_eq!(rules(&with_dead_times(10, &[target(1.0, 9.0)])), ["stall"]);
}

#[test]
fn a_pause_that_is_to_be_expected_is_no_dead_time() {
    let nothing = |seconds: f64| {
        vec![DeadTime {
            start_ms: 3000,
            length_ms: seconds * 1000.0,
            side: DeadSide::Target,
        }]
    };
    // No arrival was due.
    let mut record = of_rates(&[2; 20]);
    record.rate = Some(2.0);
    record.dead_times = Some(nothing(3.0));
    assert!(!rules(&record).contains(&"stall"));
    // Few transactions, of four seconds each.
    let mut record = of_rates(&[2; 20]);
    record.dead_times = Some(nothing(3.0));
    assert!(!rules(&record).contains(&"stall"));
    // Sixty-four sessions in step with each other.
    let mut record = of_rates(&[64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0]);
    record.sessions = 64;
    set_latencies(&mut record, &histogram(384, 2000.0));
    record.dead_times = Some(
        (0..6)
            .map(|n| DeadTime {
                start_ms: n * 2000,
                length_ms: 1900.0,
                side: DeadSide::Target,
            })
            .collect(),
    );
    assert!(!rules(&record).contains(&"stall"));
    // One in ten takes three seconds, the others a millisecond.
    let mut record = of_rates(&[27; 60]);
    let mut all = histogram(1458, 1.0);
    all.merge(&histogram(162, 3000.0));
    set_latencies(&mut record, &all);
    record.dead_times = Some(
        (0..20)
            .map(|n| DeadTime {
                start_ms: n * 3000,
                length_ms: 800.0 + 20.0 * n as f64,
                side: DeadSide::Target,
            })
            .collect(),
    );
    assert!(!rules(&record).contains(&"stall"));
    // It is an outage's.
    let mut record = with_dead_times(20, &[(3.0, 2.0, DeadSide::Target)]);
    record.totals.outage_s = 2.0;
    record.outages = vec![Outage {
        host: "db1:3306".into(),
        start_ms: 3000,
        length_ms: 2000.0,
        ended: true,
        first_error: "refused".into(),
    }];
    assert_eq!(only(&record, "outage").severity, Severity::Invalid);
}

/// A closed loop of ten seconds and eight sessions whose server worked for the first only, at `rate`
/// transactions a second.
fn stopped_after_a_second(rate: u64) -> RunRecord {
    let mut rates = [0; 10];
    rates[0] = rate;
    let mut record = of_rates(&rates);
    let mut all = histogram(rate, 7900.0 / rate as f64);
    (0..8).for_each(|_| all.record(Duration::from_secs(9)));
    set_latencies(&mut record, &all);
    record.dead_times = Some(vec![DeadTime {
        start_ms: 1000,
        length_ms: 9000.0,
        side: DeadSide::Target,
    }]);
    record
}

#[test]
fn a_slow_server_that_stops_is_told_and_the_more_the_more_of_it_is_dead() {
    for rate in [10, 30, 1000] {
        let mut record = stopped_after_a_second(rate);
        let stall = |record: &RunRecord| {
            let found = findings(record).unwrap();
            found.into_iter().find(|f| f.rule == "stall")
        };
        let found = stall(&record).unwrap_or_else(|| panic!("silent at {rate}/s"));
        assert_eq!(found.severity, Severity::Invalid);
        assert!(found.says.en.contains("No transaction ended"), "{found:?}");
        // On a schedule, too,
        record.rate = Some(rate as f64);
        assert!(stall(&record).is_some(), "open loop at {rate}/s");
        // but only as much was to end as was due.
        record.rate = Some(2.0);
        assert!(stall(&record).is_none(), "{rate}/s");
        // Intervals tell it where nobody looked.
        record.rate = None;
        record.dead_times = None;
        let found = stall(&record).unwrap_or_else(|| panic!("intervals are silent at {rate}/s"));
        assert_eq!(found.severity, Severity::Invalid);
    }
}

/// What a run records whose transactions ended at these moments, in seconds.
fn ended_at(moments: &[f64], total_s: u64, ms: f64) -> RunRecord {
    let mut rates = vec![0u64; total_s as usize];
    moments.iter().for_each(|at| rates[*at as usize] += 1);
    let mut record = of_rates(&rates);
    set_latencies(&mut record, &histogram(moments.len() as u64, ms));
    let mut gaps: Vec<DeadTime> = moments
        .windows(2)
        .filter(|w| w[1] - w[0] >= 0.8)
        .map(|w| DeadTime {
            start_ms: (w[0] * 1000.0) as i64,
            length_ms: (w[1] - w[0]) * 1000.0,
            side: DeadSide::Target,
        })
        .collect();
    // The longest are kept.
    gaps.sort_by(|a, b| b.length_ms.total_cmp(&a.length_ms));
    gaps.truncate(100);
    gaps.sort_by_key(|gap| gap.start_ms);
    record.dead_times = Some(gaps);
    record
}

#[test]
fn users_who_think_by_a_clock_that_no_record_holds_make_no_dead_time() {
    let mut rng = SmallRng::seed_from_u64(7);
    for rate in [0.05, 0.2, 0.5, 1.0, 2.0, 5.0] {
        for round in 0..20 {
            let (mut at, mut moments) = (0.0, Vec::new());
            loop {
                at -= (1.0 - rng.random::<f64>()).ln() / rate;
                if at >= 600.0 {
                    break;
                }
                moments.push(at);
            }
            let mut record = ended_at(&moments, 600, 8.0);
            option(&mut record, "wait", "on");
            let what = format!("{rate}/s, round {round}");
            assert!(!rules(&record).contains(&"stall"), "{what}");
            record.dead_times = None;
            assert!(!rules(&record).contains(&"stall"), "intervals of {what}");
        }
    }
}

#[test]
fn a_session_alone_with_heavy_transactions_waits_for_them() {
    // Eight in a hundred are reports of four to six seconds, the others take 20 ms.
    let run = |named: bool| {
        let (mut at, mut moments) = (0.0, Vec::new());
        for n in 0..300u64 {
            at += if n % 12 == 5 {
                4.0 + (n % 7) as f64 / 3.0
            } else {
                0.02
            };
            moments.push(at);
        }
        let mut record = ended_at(&moments, at as u64 + 1, 20.0);
        let mut slow = Histogram::new();
        let longs = (0..300u64).filter(|n| n % 12 == 5);
        longs.for_each(|n| slow.record(Duration::from_secs_f64(4.0 + (n % 7) as f64 / 3.0)));
        let fast = histogram(300 - slow.count(), 20.0);
        let mut all = fast.clone();
        all.merge(&slow);
        record.sessions = 1;
        set_latencies(&mut record, &all);
        if named {
            let types = [("report".into(), stats(&slow)), ("t".into(), stats(&fast))];
            record.totals.types = BTreeMap::from(types);
        }
        record
    };
    assert!(!rules(&run(true)).contains(&"stall"));
    // Where any transaction may take so long, the server made it.
    assert!(rules(&run(false)).contains(&"stall"));
}

#[test]
fn intervals_tell_dead_time_where_nobody_looked_for_it() {
    // Most of the run, and all but one interval of it.
    for (alive, dead) in [(3, 7), (4, 6), (1, 25)] {
        let mut rates = vec![1000; alive];
        rates.extend(vec![0; dead]);
        let mut record = of_rates(&rates);
        record.dead_times = None;
        let found = findings(&record).unwrap();
        let stall = found.iter().find(|f| f.rule == "stall").unwrap();
        assert_eq!(stall.severity, Severity::Invalid);
        assert_eq!(
            stall.figure("median"),
            Some(&tidemark_analysis::Figure::Number(1000.0))
        );
    }
    // Ten thousand users in step who think for ten seconds.
    let mut rates = vec![0; 30];
    rates.iter_mut().step_by(10).for_each(|r| *r = 10_000);
    let mut record = of_rates(&rates);
    record.terminals = Some(10_000);
    option(&mut record, "think-time", "10s");
    assert!(!rules(&record).contains(&"stall"));
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

/// What was tried again was not left out, and where a setting makes the errors it is named.
#[test]
fn errors_are_told_by_what_came_of_them_and_by_their_cause() {
    let said = |errors: &[(&str, ErrorClass)], snapshot: Option<&str>| {
        let mut record = clean();
        record.totals.ignored_errors = 3000;
        let count = |(code, class): &(&str, ErrorClass)| ErrorCount {
            code: (*code).into(),
            class: *class,
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
    let read = [("1020", ErrorClass::Retryable)];
    let (says, instead) = said(&read, Some("ON"));
    assert!(says.contains("innodb_snapshot_isolation is ON"), "{says}");
    assert!(
        instead.contains("innodb_snapshot_isolation=OFF"),
        "{instead}"
    );
    for (errors, snapshot) in [
        (&read[..], Some("OFF")),
        (&read[..], None),
        (&[("1213", ErrorClass::Retryable)], Some("ON")),
    ] {
        let (says, instead) = said(errors, snapshot);
        assert!(says.contains("rolled back and retried"), "{says}");
        assert!(!format!("{says}{instead}").contains("snapshot"), "{says}");
    }
    let mixed = [("1213", ErrorClass::Retryable), ("9", ErrorClass::Fatal)];
    let (says, _) = said(&mixed, None);
    assert!(says.contains("passed over"), "{says}");
}

#[test]
fn errors_that_were_retried_excuse_no_missing_user() {
    let run = |workload: &str, code: &str, class: ErrorClass| {
        let mut record = clean();
        record.workload = workload.into();
        // A third of all tries failed, and 8 of 12 users were seen.
        record.totals.ignored_errors = 9_763;
        record.errors = vec![ErrorCount {
            code: code.into(),
            class,
            count: 9_763,
            first_message: "why".into(),
        }];
        record.sessions = 12;
        rules(&record).contains(&"littles-law")
    };
    let retryable = ErrorClass::Retryable;
    assert!(run("oltp_read_write", "1020", retryable));
    assert!(run("tpcc", "1020", retryable));
    assert!(run("tpcc", "lost", ErrorClass::ConnectionLost));
    // sysbench's scripts and YCSB try another one within the same transaction.
    assert!(run("oltp_read_write", "1062", ErrorClass::Constraint));
    // What TPC-C's users saw fail is in no latency.
    assert!(!run("tpcc", "tpcc", ErrorClass::Fatal));
    assert!(!run("tpcc", "commit-unknown", ErrorClass::ConnectionLost));
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
    // Of an earlier version and without the client's own time: its users can't be counted.
    record.latency_end = LatencyEnd::Arrival;
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
