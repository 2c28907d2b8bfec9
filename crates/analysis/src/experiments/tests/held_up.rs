//! What a statement that does nothing proves beside the load.

use super::super::HostCpu;
use super::*;

const FREE: HostCpu = HostCpu {
    busy: 0.3,
    before: 0.0,
    client: 0.1,
};

/// 8 sessions that read, and stand still for two thirds of the time, on whatever rows.
const LOCKED_OUT: Baseline = Baseline {
    host: Some(FREE),
    writes: false,
    still: Some(0.66),
    ..SATURATED
};

fn of_still(baseline: Baseline, on_one_percent: Option<f64>) -> ExperimentVerdict {
    // Runs of the same differ with how long they stand still.
    let wide = [
        (SessionsTwice, 0.5, 0.9, 1.3),
        (OnePercent, 0.5, 1.0, 1.9),
        (SecondClient, 0.5, 1.1, 2.4),
    ];
    let mut evidence = evidence(baseline, &wide, &[NoCommitWait, DisjointKeys]);
    evidence.still_on_one_percent = on_one_percent;
    judge(&evidence)
}

#[test]
fn readers_that_stand_still_together_wait_for_a_lock() {
    let locked = of_still(LOCKED_OUT, Some(0.6));
    assert_eq!(
        (locked.class, locked.cause(), locked.confidence),
        (Class::Contention, "lock-held", Confidence::Medium)
    );
    let gain = locked.shown[0].gain.unwrap();
    assert!((gain - 1.0 / 0.34).abs() < 0.01, "{gain}");
    for (what, other, on_one_percent) in [
        ("rows that are read from disk", LOCKED_OUT, Some(0.0)),
        ("nobody looked whether the disk matters", LOCKED_OUT, None),
        (
            "a short one",
            Baseline {
                still: Some(0.1),
                ..LOCKED_OUT
            },
            Some(0.1),
        ),
        (
            "the server stands still, too",
            Baseline {
                loaded_ping_ms: Some(200.0),
                ..LOCKED_OUT
            },
            Some(0.6),
        ),
        (
            "the log or the disk may hold up writers",
            Baseline {
                writes: true,
                ..LOCKED_OUT
            },
            Some(0.6),
        ),
        (
            "three sessions with a slow transaction each",
            Baseline {
                sessions: 3,
                ..LOCKED_OUT
            },
            Some(0.6),
        ),
        (
            "the client",
            Baseline {
                client_use: 0.9,
                ..LOCKED_OUT
            },
            Some(0.6),
        ),
        (
            "nobody asked the server",
            Baseline {
                loaded_ping_ms: None,
                ..LOCKED_OUT
            },
            Some(0.6),
        ),
    ] {
        let verdict = of_still(other, on_one_percent);
        assert_ne!(verdict.class, Class::Contention, "{what}: {verdict:?}");
    }
    // What gains more comes first.
    let half = Baseline {
        still: Some(0.3),
        ..LOCKED_OUT
    };
    let more = [(SecondClient, 1.8, 1.9, 2.0)];
    let mut evidence_of_half = evidence(half, &more, &[NoCommitWait, DisjointKeys]);
    evidence_of_half.still_on_one_percent = Some(0.3);
    let client = judge(&evidence_of_half);
    assert_eq!(client.class, Class::Client);
    assert_eq!(client.shown[1].cause(), "lock-held");
    // A table that is in memory whole has no first hundredth that could be more so.
    let mut small = evidence(LOCKED_OUT, &[], &[NoCommitWait, DisjointKeys, OnePercent]);
    assert_eq!(judge(&small).cause(), "lock-held");
    small.excluded.clear();
    assert_eq!(judge(&small).class, Class::None);
}

#[test]
fn a_server_that_answers_nothing_on_a_free_host_gets_no_cpu() {
    let of = |baseline| judged(baseline, &[(SessionsTwice, 1.3, 1.4, 1.5)], &[]);
    let starved = Baseline {
        host: Some(FREE),
        loaded_ping_ms: Some(35.0),
        ..SATURATED
    };
    let verdict = of(starved);
    assert_eq!(
        (verdict.class, verdict.cause(), verdict.confidence),
        (Class::Cpu, "cpu-quota", Confidence::Low)
    );
    assert!(
        verdict.shown.iter().all(|s| s.class != Class::Sessions),
        "more sessions find what is left of a quota: {verdict:?}"
    );
    for (what, other) in [
        (
            "it answers",
            Baseline {
                loaded_ping_ms: Some(2.0),
                ..starved
            },
        ),
        (
            "it is far",
            Baseline {
                ping_ms: Some(30.0),
                ..starved
            },
        ),
        (
            "the host is half full",
            Baseline {
                host: Some(HostCpu { busy: 0.7, ..FREE }),
                ..starved
            },
        ),
        (
            "its host is not seen: the way may be full",
            Baseline {
                host: None,
                ..starved
            },
        ),
        (
            "the client has no CPU itself",
            Baseline {
                client_use: 0.9,
                ..starved
            },
        ),
    ] {
        assert_ne!(of(other).cause(), "cpu-quota", "{what}");
    }
}
