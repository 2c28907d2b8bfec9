//! Distance is proven by what later replies and more sessions do, not by the ping alone.

use super::super::{distance_share, later_ms};
use super::*;

const TWICE: (Experiment, f64, f64, f64) = (SessionsTwice, 1.95, 2.0, 2.05);

#[test]
fn distance_is_round_trips_that_are_most_of_the_latency() {
    let far = judged(FAR, &[TWICE, (Rtt, 0.76, 0.77, 0.78)], &[]);
    assert_eq!(
        (far.class, far.confidence),
        (Class::Distance, Confidence::High)
    );
    assert_eq!(far.shown[1].class, Class::Sessions);
    assert!(far.rules_out.contains(&Class::Cpu));
    // What others take of the host changes nothing of it: twice as many sessions find their CPU.
    let beside = Baseline {
        host: Some(HostCpu {
            busy: 0.95,
            before: 0.93,
            client: 0.01,
        }),
        ..FAR
    };
    let beside = judged(beside, &[TWICE, (Rtt, 0.76, 0.77, 0.78)], &[]);
    assert!(beside.shown.iter().all(|s| s.class != Class::Cpu));
    // The same session beside the server.
    let near = Baseline {
        rate: 15_000.0,
        mean_ms: 0.066,
        ping_ms: Some(0.05),
        later_ms: 1.0,
        ..FAR
    };
    assert!(distance_share(&near).unwrap() > 0.7);
    let near = judged(near, &[TWICE, (Rtt, 0.05, 0.06, 0.07)], &[]);
    assert_eq!(near.class, Class::Sessions);
    assert!(near.rules_out.contains(&Class::Distance));
    // Far away, and most of the latency is the statement's own.
    let slow = Baseline {
        rate: 20.0,
        mean_ms: 50.0,
        later_ms: 15.0,
        ..FAR
    };
    assert_eq!(judged(slow, &[TWICE], &[]).class, Class::Sessions);
}

/// 200 sessions 10 ms from a server that does 10,000 transactions a second and no more: half of the 20 ms
/// is the way, and a server next door would do no more either.
#[test]
fn a_saturated_server_far_away_is_not_limited_by_distance() {
    let far = Baseline {
        sessions: 200,
        rate: 10_000.0,
        mean_ms: 20.0,
        ping_ms: Some(10.0),
        later_ms: later_ms(20.0, 1.0),
        ..SATURATED
    };
    assert!(distance_share(&far).unwrap() >= 0.5);
    let saturated = (SessionsTwice, 0.98, 1.0, 1.02);
    // One millisecond would cost 5 % even of sessions that only wait: nothing that is seen.
    let without_power = Baseline {
        later_ms: 1.0,
        ..far
    };
    for baseline in [far, without_power] {
        let verdict = judged(baseline, &[saturated, (Rtt, 0.98, 1.0, 1.02)], &[]);
        assert_ne!(verdict.class, Class::Distance, "{verdict:?}");
        assert!(!verdict.shown.iter().any(|s| s.class == Class::Distance));
    }
    let ruled_out = judged(far, &[saturated, (Rtt, 0.98, 1.0, 1.02)], &[]).rules_out;
    assert!(ruled_out.contains(&Class::Distance), "{ruled_out:?}");
    // Even where later replies lower throughput (rows are locked for longer), more sessions bring nothing.
    let locked = judged(far, &[saturated, (Rtt, 0.74, 0.77, 0.80)], &[]);
    assert_ne!(locked.class, Class::Distance);
}

#[test]
fn without_a_test_that_shows_it_distance_is_not_certain() {
    let moved = (Rtt, 0.76, 0.77, 0.78);
    for ratios in [
        &[][..],
        &[TWICE],
        &[moved],
        // Undecided.
        &[TWICE, (Rtt, 0.70, 0.80, 0.95)],
        &[(SessionsTwice, 1.0, 1.4, 1.9), moved],
    ] {
        let verdict = judged(FAR, ratios, &[]);
        assert_eq!(verdict.class, Class::Distance, "{ratios:?}");
        assert_eq!(verdict.confidence, Confidence::Medium, "{ratios:?}");
    }
}

#[test]
fn replies_come_so_much_later_that_it_would_be_seen() {
    for (mean, trips) in [(5.26, 1.0), (20.0, 1.0), (300.0, 14.0), (1.0, 1.0)] {
        let added: f64 = later_ms(mean, trips) * trips;
        assert!(1.0 - mean / (mean + added) > 0.2, "{mean} {trips}");
        assert!(later_ms(mean, trips) >= 1.0);
    }
    assert_eq!(later_ms(20.0, 1.0), 6.0);
    assert_eq!(later_ms(f64::NAN, 1.0), 1.0);
}

/// A second away, one or two transactions end in a run, with later replies or without.
#[test]
fn a_run_of_few_transactions_does_not_say_that_distance_costs_nothing() {
    let far = Baseline {
        rate: 1.0,
        mean_ms: 1000.0,
        ping_ms: Some(1000.0),
        later_ms: later_ms(1000.0, 1.0),
        ..FAR
    };
    let ratios = [TWICE, (Rtt, 1.0, 1.0, 1.0)];
    let few = judged(far, &ratios, &[]);
    assert_eq!(
        (few.class, few.confidence),
        (Class::Distance, Confidence::Medium)
    );
    assert!(few.shown.iter().any(|s| s.class == Class::Sessions));
    // Of many transactions it says so.
    let many = Baseline { run_s: 60.0, ..far };
    assert_eq!(judged(many, &ratios, &[]).class, Class::Sessions);
}
