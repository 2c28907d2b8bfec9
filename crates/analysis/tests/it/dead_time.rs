//! The rules of time in which nothing ended, on made records.

use super::common::{clean, histogram, of_rates, only, option, rules, set_latencies, stats};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_analysis::{Severity, findings};
use tidemark_core::record::*;
use tidemark_core::{Engine, ErrorKind, Job, ServerInfo};
use tidemark_stats::Histogram;

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
                ..DeadTime::default()
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
    // After the time of the load none of it begins: that is no time without a stall.
    let mut drained = with_dead_times(10, &[(2.0, 3.0, DeadSide::Target)]);
    let outside = |record: &RunRecord| {
        let all = findings(record).unwrap();
        let stall = all.iter().find(|f| f.rule == "stall").unwrap();
        match stall.figure("outside") {
            Some(tidemark_analysis::Figure::Number(n)) => *n,
            other => panic!("{other:?}"),
        }
    };
    let without = outside(&drained);
    drained.totals.elapsed_s += 2.0;
    drained.job = Some(asked("10s"));
    assert!((outside(&drained) - without).abs() < 1e-6, "{without}");
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
fn the_clients_stops_are_told_of_queries_and_both_sides_of_the_machine() {
    let client = [(2.0, 2.0, DeadSide::Client)];
    let mut queries = with_dead_times(10, &client);
    queries.queries = vec![QueryRun::default()];
    assert_eq!(only(&queries, "client-stopped").severity, Severity::Invalid);
    let of_machine = |stretches: &[(f64, f64, DeadSide)]| {
        let mut record = with_dead_times(10, stretches);
        record.target = tidemark_core::job::MACHINE.into();
        record
    };
    assert_eq!(rules(&of_machine(&client)), ["client-stopped"]);
    let stopped = of_machine(&[(2.0, 2.0, DeadSide::Target)]);
    let found = only(&stopped, "stall");
    assert!(found.instead.en.contains("the machine and its disk"));
    // An empty second that nobody looked at, and a slow event, are how such tests may be.
    let mut rates = vec![1000; 20];
    rates[12] = 0;
    let mut record = of_rates(&rates);
    record.target = tidemark_core::job::MACHINE.into();
    assert!(!rules(&record).contains(&"stall"));
}

#[test]
fn a_stretch_that_ended_with_a_deadlock_is_a_wait_for_it() {
    let target = |start: f64, length: f64| (start, length, DeadSide::Target);
    let stretches = [target(2.0, 0.9), target(7.0, 1.0), target(12.0, 1.0)];
    let mut record = with_dead_times(20, &stretches);
    let server = |engine| {
        Some(ServerInfo {
            engine,
            version: String::new(),
        })
    };
    record.server = server(Engine::Postgres);
    let dead = |record: &mut RunRecord, deadlocks: [u64; 3]| {
        let times = record.dead_times.iter_mut().flatten();
        times
            .zip(deadlocks)
            .for_each(|(time, n)| time.deadlocks = n);
    };
    dead(&mut record, [1, 1, 2]);
    let found = only(&record, "deadlock-wait");
    assert_eq!(found.severity, Severity::Note);
    assert_eq!(
        found.figure("stretches"),
        Some(&tidemark_analysis::Figure::Count(3))
    );
    assert_eq!(rules(&record), ["deadlock-wait"]);
    // One that no deadlock ended is a stall beside them.
    dead(&mut record, [1, 1, 0]);
    assert_eq!(rules(&record), ["stall", "deadlock-wait"]);
    // MariaDB finds a deadlock at once: what it waited for was something else.
    dead(&mut record, [1, 1, 2]);
    record.server = server(Engine::Mariadb);
    assert_eq!(rules(&record), ["stall"]);
    // No server takes so long to find a deadlock: something else held it up, too.
    let mut record = with_dead_times(10, &[target(0.5, 5.0)]);
    record.server = server(Engine::Postgres);
    dead(&mut record, [1, 0, 0]);
    assert_eq!(rules(&record)[0], "stall");
}

/// What a run was asked for, of which only the time matters here.
fn asked(time: &str) -> Job {
    let job = serde_json::json!({
        "version": 1,
        "target": {"url": "sqlite:a.db"},
        "workload": {"name": "oltp_write_only", "settings": {}},
        "load": {"time": time},
        "tool": {"name": "sysbench", "settings": {}},
    });
    serde_json::from_value(job).unwrap()
}

#[test]
fn waiting_for_what_is_in_progress_at_the_end_is_no_stall() {
    let mut record = of_rates(&[1000; 11]);
    let last = stats(&histogram(5, 7.9));
    record.intervals[10].types.insert("t".into(), last);
    set_latencies(&mut record, &histogram(10_005, 7.9));
    record.intervals[10].length_ms = 503.0;
    record.totals.elapsed_s = 10.503;
    assert!(rules(&record).contains(&"stall"));
    record.job = Some(asked("10s"));
    assert_eq!(rules(&record), [""; 0]);
    // The load was to last longer: it stalled.
    record.job = Some(asked("15s"));
    assert!(rules(&record).contains(&"stall"));
}

#[test]
fn a_transaction_that_waited_for_a_deadlock_to_be_broken_is_no_stall() {
    let slowest = |ms: u64, engine: Engine, kind: ErrorKind| {
        let mut all = histogram(19_999, 7.9);
        all.record(Duration::from_millis(ms));
        let mut record = clean();
        set_latencies(&mut record, &all);
        record.server = Some(ServerInfo {
            engine,
            version: String::new(),
        });
        record.errors = vec![ErrorCount {
            code: "40P01".into(),
            class: tidemark_core::ErrorClass::Retryable,
            kind: Some(kind),
            count: 3,
            first_message: String::new(),
        }];
        rules(&record).contains(&"stall")
    };
    let (postgres, deadlock) = (Engine::Postgres, ErrorKind::Deadlock);
    assert!(!slowest(1015, postgres, deadlock));
    assert!(slowest(1015, postgres, ErrorKind::SerializationFailure));
    assert!(slowest(1015, Engine::Mysql, deadlock));
    // No deadlock takes so long.
    assert!(slowest(5000, postgres, deadlock));
}

#[test]
fn a_pause_that_is_to_be_expected_is_no_dead_time() {
    let nothing = |seconds: f64| {
        vec![DeadTime {
            start_ms: 3000,
            length_ms: seconds * 1000.0,
            side: DeadSide::Target,
            ..DeadTime::default()
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
                ..DeadTime::default()
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
                ..DeadTime::default()
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
        ..DeadTime::default()
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
        assert!(
            found.says.en.contains("No transaction completed"),
            "{found:?}"
        );
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
            ..DeadTime::default()
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
        cut_short: false,
    }];
    assert_eq!(rules(&record), [""; 0]);
}
