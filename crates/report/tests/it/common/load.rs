//! Made-up runs with loads that sysbench has no words for.

use super::{Shape, run};
use std::time::Duration;
use tidemark_core::Source;
use tidemark_core::record::*;
use tidemark_report::beyond;
use tidemark_stats::Histogram;

/// A distribution of 1,000 around a median.
pub fn spread(median_ms: f64) -> Histogram {
    let mut h = Histogram::new();
    for n in 1..=1000u32 {
        let ms = median_ms * (0.5 + f64::from(n) / 1000.0);
        h.record(Duration::from_secs_f64(ms / 1000.0));
    }
    h
}

pub fn encoded(median_ms: f64) -> EncodedHistogram {
    EncodedHistogram(spread(median_ms).encode())
}

pub fn option(record: &mut RunRecord, name: &str, value: &str) {
    let value = EffectiveOption {
        value: value.into(),
        source: Source::CommandLine,
    };
    record.options.insert(name.into(), value);
}

/// What is printed after sysbench's summary.
pub fn printed(record: &RunRecord) -> String {
    beyond(record).unwrap()
}

/// Sessions that wait for each reply.
pub fn closed() -> RunRecord {
    run(&Shape {
        seconds: 10,
        ..Shape::one_type()
    })
}

fn short() -> RunRecord {
    run(&Shape {
        seconds: 30,
        warmup_s: 3,
        ..Shape::one_type()
    })
}

/// Transactions were due before they were sent.
fn due(stats: &mut TypeStats, wait_ms: f64) {
    stats.response = Some(encoded(4.0 + wait_ms));
    stats.wait = Some(encoded(wait_ms));
}

/// 1,000 terminals that think, on 50 sessions, 20 ms away.
pub fn thinking() -> RunRecord {
    let mut r = short();
    r.sessions = 50;
    r.terminals = Some(1000);
    r.inject_rtt_ms = 20.0;
    option(&mut r, "think-time", "exp:12s");
    option(&mut r, "statement-timeout", "5s");
    for i in &mut r.intervals {
        i.types.values_mut().for_each(|t| due(t, 1.5));
    }
    due(&mut r.totals.all, 1.5);
    r.totals.types.values_mut().for_each(|t| due(t, 1.5));
    r
}

/// 1,800 arrivals a second on two hosts, one of which went away; too few sessions, a full backlog
/// and a late generator.
pub fn overloaded() -> RunRecord {
    let mut r = short();
    r.rate = Some(1800.0);
    r.sessions = 10_000;
    r.sessions_opened = Some(500);
    r.fewer_sessions_because = Some("this process may open 564 files (ulimit -n)".into());
    option(&mut r, "arrivals", "constant");
    option(&mut r, "max-backlog", "5000");
    let host = |name: &str, role, statements| HostLoad {
        host: name.into(),
        role,
        sessions: 250,
        statements,
    };
    for i in &mut r.intervals {
        i.rate = Some(1800.0);
        i.delayed_arrivals = 10;
        i.dropped_arrivals = 3;
        i.queue_length = 2;
        i.concurrency = 1;
        i.hosts = vec![
            host("10.0.3.11:3306", HostRole::Any, 1000),
            host("10.0.3.12:3306", HostRole::Read, 3000),
        ];
        i.types.values_mut().for_each(|t| due(t, 30.0));
        if (10_000..12_000).contains(&i.start_ms) {
            i.outage_ms = 700.0;
        }
    }
    let fairness = r.totals.fairness;
    r.totals = tidemark_report::totals(&r.intervals).unwrap();
    r.totals.fairness = fairness;
    r.totals.lateness = Some(encoded(3.0));
    r.outages = vec![
        Outage {
            host: "10.0.3.12:3306".into(),
            start_ms: 10_300,
            length_ms: 1400.0,
            ended: true,
            first_error: "2002: Connection refused".into(),
        },
        Outage {
            host: "10.0.3.11:3306".into(),
            start_ms: 29_000,
            length_ms: 1000.0,
            ended: false,
            first_error: "2013: Lost connection".into(),
        },
    ];
    r
}

fn step(purpose: StepPurpose, rate: f64, ms: f64, verdict: Option<(bool, &str)>) -> Step {
    let all = TypeStats {
        count: (rate * 10.0) as u64,
        service: encoded(ms),
        server: Some(encoded(ms * 0.9)),
        response: Some(encoded(ms * 1.5)),
        wait: Some(encoded(ms * 0.5)),
        ..TypeStats::default()
    };
    Step {
        purpose,
        rate: (purpose != StepPurpose::Probe).then_some(rate),
        start_ms: 0,
        totals: Totals {
            elapsed_s: 10.0,
            all,
            delayed_arrivals: rate as u64,
            unserved_arrivals: if rate == 2000.0 { 7 } else { 0 },
            lateness: Some(encoded(0.05)),
            ..Totals::default()
        },
        verdict: verdict.map(|(kept, because)| StepVerdict {
            kept,
            because: because.into(),
        }),
        cut_short: false,
    }
}

/// Rates of 1,000 to 3,000 a second.
pub fn stepped() -> RunRecord {
    let mut r = short();
    option(&mut r, "rate", "1000..3000:1000");
    for i in &mut r.intervals {
        let n = (i.start_ms / 10_000).clamp(0, 2);
        i.rate = Some(1000.0 * (n + 1) as f64);
        i.types.values_mut().for_each(|t| due(t, 2.0));
    }
    due(&mut r.totals.all, 2.0);
    r.steps = vec![
        step(StepPurpose::Asked, 1000.0, 2.0, None),
        step(StepPurpose::Asked, 2000.0, 4.0, None),
        step(StepPurpose::Asked, 3000.0, 90.0, None),
    ];
    r
}

/// A search that ended at 12,400 a second, kept or not when it was held again.
pub fn searched(confirmed: bool) -> RunRecord {
    let mut r = stepped();
    option(&mut r, "rate", "0");
    option(&mut r, "find-max", "p99 < 20ms");
    let last = if confirmed {
        "p99 17.1 ms"
    } else {
        "p99 24.0 ms"
    };
    r.steps = vec![
        step(StepPurpose::Probe, 15_000.0, 4.0, None),
        step(
            StepPurpose::Climb,
            10_000.0,
            5.0,
            Some((true, "p99 11.2 ms")),
        ),
        step(
            StepPurpose::Climb,
            15_000.0,
            50.0,
            Some((false, "p99 112 ms")),
        ),
        step(
            StepPurpose::Bisect,
            12_400.0,
            8.0,
            Some((true, "p99 17.0 ms")),
        ),
        step(StepPurpose::Confirm, 12_400.0, 8.0, Some((confirmed, last))),
    ];
    r.steps[2].totals.lateness = Some(encoded(20.0));
    r.steps[4].totals.elapsed_s = 30.0;
    r.totals = r.steps[4].totals.clone();
    r
}
