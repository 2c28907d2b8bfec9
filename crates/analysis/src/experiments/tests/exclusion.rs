//! What follows where nothing that is changed raises throughput.

use super::super::HostCpu;
use super::*;

const FULL: HostCpu = HostCpu {
    busy: 0.97,
    before: 0.02,
    client: 0.3,
};

/// As [`super::but`], on a host whose CPU is seen.
fn on(host: HostCpu, experiment: Experiment, low: f64, ratio: f64, high: f64) -> ExperimentVerdict {
    let mut ratios = FLAT.to_vec();
    ratios.retain(|(e, ..)| *e != experiment);
    ratios.push((experiment, low, ratio, high));
    let baseline = Baseline {
        host: Some(host),
        ..SATURATED
    };
    judged(baseline, &ratios, &[])
}

/// 64 sessions at one latch of PostgreSQL, or commits that wait for a replica 5 ms away: all is flat, and
/// text costs a little.
#[test]
fn exclusion_alone_is_not_certain() {
    let flat = but(Text, 0.92, 0.95, 0.97);
    assert_eq!(
        (flat.class, flat.confidence),
        (Class::Cpu, Confidence::Medium)
    );
    assert!(flat.open.is_empty() && flat.shown.is_empty());
    // Text that costs nothing is not what a busy CPU looks like.
    let doubted = but(Text, 0.99, 1.0, 1.01);
    assert_eq!(
        (doubted.class, doubted.confidence),
        (Class::Cpu, Confidence::Low)
    );
    // Wide intervals around nothing: with less confidence.
    let wide = but(DisjointKeys, 0.85, 1.0, 1.18);
    assert_eq!((wide.class, wide.confidence), (Class::Cpu, Confidence::Low));
}

#[test]
fn a_cpu_that_is_seen_full_is_certain_and_one_that_is_free_is_not_it() {
    let of = |host| {
        let verdict = on(host, Text, 0.80, 0.84, 0.88);
        assert_eq!(verdict.class, Class::Cpu);
        verdict.confidence
    };
    assert_eq!(of(FULL), Confidence::High);
    assert_eq!(of(HostCpu { busy: 0.4, ..FULL }), Confidence::Low);
    // Others fill it, or the client itself.
    let others = HostCpu {
        before: 0.5,
        ..FULL
    };
    assert_eq!(of(others), Confidence::Medium);
    let client = HostCpu {
        client: 0.6,
        ..FULL
    };
    assert_eq!(of(client), Confidence::Medium);
}

#[test]
fn sessions_that_are_in_each_others_way_are_no_busy_cpu() {
    let slower = but(SessionsTwice, 0.55, 0.6, 0.65);
    assert_eq!(slower.class, Class::None, "{slower:?}");
    assert!(slower.is_retrograde);
    assert!(!but(Text, 0.8, 0.84, 0.88).is_retrograde);
    // A full CPU is shared by more threads, at a cost.
    let full = on(FULL, SessionsTwice, 0.85, 0.9, 0.94);
    assert_eq!(
        (full.class, full.confidence),
        (Class::Cpu, Confidence::Medium)
    );
}

/// A host without a free processor before the load: more sessions get more of what is dealt out.
#[test]
fn other_programs_that_filled_the_host_are_told() {
    let taken = Baseline {
        host: Some(HostCpu {
            before: 0.98,
            ..FULL
        }),
        ..SATURATED
    };
    let more = [(SessionsTwice, 1.6, 1.8, 2.0)];
    let verdict = judged(taken, &more, &[]);
    assert_eq!(
        (verdict.class, verdict.confidence, verdict.cause()),
        (Class::Cpu, Confidence::Medium, "neighbour")
    );
    // What is gained in spite of them comes first.
    let log = [more[0], (NoCommitWait, 2.5, 3.0, 3.5)];
    let verdict = judged(taken, &log, &[]);
    assert_eq!((verdict.class, verdict.cause()), (Class::Log, "commit-log"));
}

/// Of pairs that scatter nothing follows, nor of sessions that work in larger groups on a full host; that the
/// server fills it is a guess then.
#[test]
fn a_full_host_is_a_guess_where_nothing_is_decided() {
    let more = on(FULL, SessionsTwice, 1.25, 1.36, 1.47);
    assert_eq!((more.class, more.confidence), (Class::Cpu, Confidence::Low));
    assert!(!more.rules_out.contains(&Class::Cpu), "{more:?}");
    // What finds so much more is not at its end.
    let much = on(FULL, SessionsTwice, 1.6, 1.7, 1.8);
    assert_eq!(much.class, Class::None, "{much:?}");
    assert!(much.rules_out.contains(&Class::Cpu), "{much:?}");
    let undecided = on(FULL, SessionsTwice, 0.96, 1.25, 1.7);
    assert_eq!(
        (undecided.class, undecided.confidence, undecided.cause()),
        (Class::Cpu, Confidence::Low, "server-cpu")
    );
    assert_eq!(undecided.open, [SessionsTwice]);
    let free = on(
        HostCpu { busy: 0.5, ..FULL },
        SessionsTwice,
        0.96,
        1.25,
        1.7,
    );
    assert_eq!(free.class, Class::None);
}

#[test]
fn what_was_not_measured_is_not_excluded() {
    // Commits may wait, and nobody has looked.
    let ratios = [
        (SessionsTwice, 0.98, 1.02, 1.06),
        (DisjointKeys, 0.97, 1.01, 1.05),
        (OnePercent, 0.99, 1.05, 1.12),
    ];
    let unseen = judged(SATURATED, &ratios, &[]);
    assert_eq!(unseen.class, Class::None);
    assert_eq!(unseen.open, [SecondClient, NoCommitWait]);
    // A workload that only reads waits for none.
    let reads = judged(SATURATED, &ratios, &[NoCommitWait, DisjointKeys]);
    assert_eq!(
        (reads.class, reads.confidence),
        (Class::Cpu, Confidence::Medium)
    );
    assert!(reads.rules_out.contains(&Class::Log));
    // A client whose threads have no CPU to spare needs the second one.
    let busy = Baseline {
        client_use: 0.6,
        ..SATURATED
    };
    let needed = judged(busy, &ratios, &[NoCommitWait, DisjointKeys]);
    assert_eq!(needed.class, Class::None);
    assert_eq!(needed.open, [SecondClient]);
}
