mod distance;
mod exclusion;
mod held_up;
mod pairs;

use super::{
    Baseline, Class, Confidence, Evidence, Experiment, ExperimentVerdict, HostCpu, judge, order,
};
use Experiment::{
    DisjointKeys, NoCommitWait, OnePercent, Rollback, Rtt, SecondClient, SessionsTwice, Text,
};
use tidemark_stats::Ratio;

/// 16 sessions on one host, 20,000 transactions a second of one statement.
const SATURATED: Baseline = Baseline {
    sessions: 16,
    rate: 20_000.0,
    mean_ms: 0.8,
    round_trips: 1.0,
    ping_ms: Some(0.04),
    loaded_ping_ms: Some(0.06),
    still: Some(0.0),
    client_use: 0.3,
    host: None,
    writes: true,
    later_ms: 1.0,
    run_s: 1.0,
};

/// One session 5 ms away.
const FAR: Baseline = Baseline {
    sessions: 1,
    rate: 190.0,
    mean_ms: 5.26,
    later_ms: 1.6,
    ping_ms: Some(5.1),
    loaded_ping_ms: Some(5.2),
    client_use: 0.02,
    writes: false,
    ..SATURATED
};

type Ratios<'a> = &'a [(Experiment, f64, f64, f64)];

fn evidence(baseline: Baseline, ratios: Ratios<'_>, excluded: &[Experiment]) -> Evidence {
    let of = |(e, low, ratio, high): &(Experiment, f64, f64, f64)| {
        let (low, ratio, high) = (*low, *ratio, *high);
        (*e, Ratio { ratio, low, high })
    };
    Evidence {
        baseline,
        measured: ratios.iter().map(of).collect(),
        excluded: excluded.iter().copied().collect(),
        impossible: [].into(),
        is_crowded: false,
        still_on_one_percent: None,
    }
}

fn judged(baseline: Baseline, ratios: Ratios<'_>, excluded: &[Experiment]) -> ExperimentVerdict {
    judge(&evidence(baseline, ratios, excluded))
}

/// What moves nothing.
const FLAT: [(Experiment, f64, f64, f64); 5] = [
    (SessionsTwice, 0.98, 1.02, 1.06),
    (SecondClient, 0.95, 0.99, 1.03),
    (DisjointKeys, 0.97, 1.01, 1.05),
    (OnePercent, 0.99, 1.05, 1.12),
    (NoCommitWait, 0.96, 1.01, 1.06),
];

/// Nothing moves a saturated server; one experiment has another ratio.
fn but(experiment: Experiment, low: f64, ratio: f64, high: f64) -> ExperimentVerdict {
    let mut ratios = FLAT.to_vec();
    ratios.push((Text, 0.80, 0.84, 0.88));
    ratios.retain(|(e, ..)| *e != experiment);
    ratios.push((experiment, low, ratio, high));
    judged(SATURATED, &ratios, &[])
}

#[test]
fn each_experiment_that_raises_throughput_proves_its_class() {
    for (experiment, ratio, class) in [
        (SecondClient, 1.6, Class::Client),
        (DisjointKeys, 1.61, Class::Contention),
        (NoCommitWait, 3.0, Class::Log),
        (SessionsTwice, 1.9, Class::Sessions),
    ] {
        let verdict = but(experiment, ratio * 0.95, ratio, ratio * 1.05);
        assert_eq!(verdict.class, class);
        assert_eq!(verdict.confidence, Confidence::High, "{class:?}");
        assert!(!verdict.rules_out.contains(&class), "{verdict:?}");
        let others = verdict.rules_out.len();
        assert!(others >= 4, "{class:?} excludes the others: {verdict:?}");
    }
}

#[test]
fn fewer_rows_tell_of_the_cache_and_of_writers_also_what_they_write() {
    let of = |writes: bool, ratios: Ratios<'_>| {
        let baseline = Baseline {
            writes,
            ..SATURATED
        };
        judged(baseline, ratios, &[])
    };
    let fewer = (OnePercent, 2.4, 2.5, 2.6);
    let told = |verdict: ExperimentVerdict| (verdict.class, verdict.confidence);
    let reads = [fewer, (SessionsTwice, 1.7, 1.8, 1.9)];
    assert_eq!(told(of(false, &reads)), (Class::Cache, Confidence::High));
    assert_eq!(told(of(true, &reads)), (Class::Cache, Confidence::Medium));
    // Checkpoint storms: fewer pages are logged and written.
    let log = [fewer, (NoCommitWait, 1.6, 1.8, 2.0)];
    let verdict = of(true, &log);
    assert_eq!(verdict.class, Class::Log);
    assert_eq!(verdict.shown[1].class, Class::Cache);
}

#[test]
fn what_rises_by_less_than_its_limit_proves_nothing() {
    for (experiment, ratio) in [
        (SecondClient, 1.10),
        (DisjointKeys, 1.10),
        (NoCommitWait, 1.10),
        (OnePercent, 1.2),
        (SessionsTwice, 1.12),
    ] {
        let verdict = but(experiment, ratio - 0.03, ratio, ratio + 0.03);
        assert_eq!(verdict.class, Class::Cpu, "{experiment:?}: {verdict:?}");
    }
}

#[test]
fn an_undecided_interval_leaves_the_verdict_open() {
    for (experiment, limit) in [
        (SecondClient, 1.15),
        (DisjointKeys, 1.15),
        (NoCommitWait, 1.15),
        (OnePercent, 1.3),
        (SessionsTwice, 1.2),
    ] {
        let verdict = but(experiment, limit - 0.3, limit, limit + 0.3);
        assert_eq!(verdict.class, Class::None, "{experiment:?}: {verdict:?}");
        assert_eq!(verdict.open, [experiment]);
    }
}

#[test]
fn the_larger_gain_comes_first_and_near_ones_share_the_confidence() {
    let ratios = [
        (SessionsTwice, 1.5, 1.6, 1.7),
        (NoCommitWait, 4.5, 5.0, 5.5),
        (DisjointKeys, 0.97, 1.01, 1.05),
    ];
    let log = judged(SATURATED, &ratios, &[]);
    assert_eq!((log.class, log.confidence), (Class::Log, Confidence::High));
    assert_eq!(log.shown[1].class, Class::Sessions);
    let ratios = [
        (NoCommitWait, 1.7, 1.8, 1.9),
        (DisjointKeys, 1.8, 2.0, 2.2),
        (SessionsTwice, 0.9, 0.95, 1.0),
    ];
    let both = judged(SATURATED, &ratios, &[]);
    assert_eq!(
        (both.class, both.confidence),
        (Class::Contention, Confidence::Medium)
    );
}

/// Where the log can't be told not to wait, transactions that are rolled back show the same.
#[test]
fn one_of_two_experiments_of_a_class_is_enough() {
    let mut ratios = FLAT.to_vec();
    ratios.retain(|(e, ..)| *e != NoCommitWait);
    ratios.push((Rollback, 7.5, 8.0, 8.5));
    let log = judged(SATURATED, &ratios, &[]);
    // A COMMIT may do more than wait.
    assert_eq!(
        (log.class, log.confidence),
        (Class::Log, Confidence::Medium)
    );
    assert!(log.open.is_empty(), "{log:?}");
    // Undoing may take as long as the wait that it saves: it hardly excludes one.
    ratios.pop();
    ratios.push((Rollback, 0.92, 0.96, 1.0));
    let cpu = judged(SATURATED, &ratios, &[]);
    assert_eq!((cpu.class, cpu.confidence), (Class::Cpu, Confidence::Low));
    assert!(!cpu.rules_out.contains(&Class::Log), "{cpu:?}");
    ratios.pop();
    ratios.push((Rollback, 0.8, 1.1, 1.6));
    assert_eq!(judged(SATURATED, &ratios, &[]).open, [Rollback]);
    // Where neither was made, the one that can be is named.
    ratios.pop();
    let mut neither = evidence(SATURATED, &ratios, &[]);
    assert_eq!(judge(&neither).open, [NoCommitWait]);
    neither.impossible.insert(NoCommitWait);
    assert_eq!(judge(&neither).open, [Rollback]);
}

/// More sessions always do more where they wait for the disk together: as long as nobody has looked for
/// that, too few of them is a guess.
#[test]
fn too_few_sessions_is_a_guess_while_nobody_knows_what_they_wait_for() {
    let confidence = |more: Ratios<'_>| {
        let twice = [(SessionsTwice, 1.8, 1.9, 2.0)];
        let verdict = judged(SATURATED, &[&twice, more].concat(), &[]);
        assert_eq!(verdict.class, Class::Sessions);
        verdict.confidence
    };
    assert_eq!(confidence(&[]), Confidence::Low);
    assert_eq!(confidence(&FLAT[2..4]), Confidence::Low);
    assert_eq!(confidence(&FLAT[2..]), Confidence::Medium);
    assert_eq!(confidence(&FLAT[1..]), Confidence::High);
}

#[test]
fn more_sessions_than_rows_wait_for_one_another() {
    let of = |baseline, twice: (Experiment, f64, f64, f64)| {
        let ratios = [twice, (Rollback, 1.9, 2.0, 2.1)];
        let mut evidence = evidence(baseline, &ratios, &[OnePercent]);
        evidence.is_crowded = true;
        judge(&evidence)
    };
    let flat = (SessionsTwice, 0.9, 0.99, 1.08);
    let crowd = of(SATURATED, flat);
    assert_eq!(
        (crowd.class, crowd.confidence, crowd.shown[0].gain),
        (Class::Contention, Confidence::Medium, None)
    );
    assert_eq!(crowd.shown[1].class, Class::Log);
    assert_eq!(crowd.open, [SecondClient]);
    // More of them do more, or the client or the host is full.
    let more = of(SATURATED, (SessionsTwice, 1.7, 1.8, 1.9));
    assert_eq!(more.class, Class::Log);
    let client = Baseline {
        client_use: 0.9,
        ..SATURATED
    };
    assert_ne!(of(client, flat).class, Class::Contention);
    let host = HostCpu {
        busy: 0.95,
        before: 0.0,
        client: 0.2,
    };
    let full = Baseline {
        host: Some(host),
        ..SATURATED
    };
    assert_ne!(of(full, flat).class, Class::Contention);
}

#[test]
fn a_client_without_cpu_to_spare_is_the_limit() {
    let busy = Baseline {
        client_use: 0.9,
        ..SATURATED
    };
    let nothing = [
        (SessionsTwice, 0.98, 1.0, 1.02),
        (SecondClient, 0.98, 1.0, 1.02),
    ];
    let verdict = judged(busy, &nothing, &[]);
    assert_eq!(verdict.class, Class::Client);
    assert!(!verdict.rules_out.contains(&Class::Client));
}

#[test]
fn nothing_measured_is_not_enough() {
    let verdict = judged(SATURATED, &[], &[]);
    assert_eq!(verdict.class, Class::None);
    assert_eq!(verdict.open.len(), 5);
    assert_eq!(Class::None.cause(), "not-enough-seen");
}

#[test]
fn the_order_follows_what_the_baseline_leaves_open() {
    assert_eq!(
        order(&SATURATED)[..3],
        [SessionsTwice, NoCommitWait, Rollback]
    );
    assert_eq!(order(&FAR)[..3], [SessionsTwice, Rtt, OnePercent]);
    let busy = Baseline {
        client_use: 0.8,
        ..SATURATED
    };
    assert_eq!(order(&busy)[..2], [SessionsTwice, SecondClient]);
    let mut all = order(&busy);
    all.sort();
    assert_eq!(all, {
        let mut known = Experiment::ALL;
        known.sort();
        known
    });
}
