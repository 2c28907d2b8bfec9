//! Coherency along a load, from rates and verdicts of each load.

use tidemark_diagnosis::{Agreed, Cause, Coherency, Confidence, LoadSeen, coherency};

fn agreed(cause: Cause) -> Option<Agreed> {
    Some(Agreed {
        cause,
        repeats: 2,
        of: 2,
        share: 0.5,
        confidence: Confidence::Medium,
    })
}

/// Loads by the scalability law, whose peak is at √(0.97 / 0.0006) = 40 sessions; two repeats, half a
/// percent around it.
fn retrograde(users: &[u32]) -> Vec<LoadSeen> {
    with_law(users, |n| {
        60.0 * n / (1.0 + 0.03 * (n - 1.0) + 0.0006 * n * (n - 1.0))
    })
}

fn with_law(users: &[u32], law: impl Fn(f64) -> f64) -> Vec<LoadSeen> {
    let load = |users: &u32| {
        let users = f64::from(*users);
        LoadSeen {
            users,
            rates: vec![law(users) * 0.995, law(users) * 1.005],
            server_busy: Some(0.4),
            agreed: agreed(Cause::NotEnoughSeen),
        }
    };
    users.iter().map(load).collect()
}

const USERS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Places of the loads that coherency limits.
fn limited(loads: &[LoadSeen]) -> Vec<usize> {
    match coherency(loads) {
        Coherency::Limits(found) => found.loads.iter().map(|(at, _)| *at).collect(),
        _ => Vec::new(),
    }
}

fn needs(loads: &[LoadSeen]) -> String {
    match coherency(loads) {
        Coherency::Skipped(needs) => {
            assert!(!needs.zh.is_empty());
            needs.en
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn throughput_that_falls_with_processors_left_is_limited_by_coherency() {
    let Coherency::Limits(found) = coherency(&retrograde(&USERS)) else {
        panic!("{:?}", coherency(&retrograde(&USERS)));
    };
    let places: Vec<usize> = found.loads.iter().map(|(at, _)| *at).collect();
    // At 64 sessions it is 5 % below the peak, which is little.
    assert_eq!(places, [7, 8]);
    let (_, of) = found.loads[0];
    assert_eq!((of.cause, of.repeats, of.of), (Cause::Coherency, 2, 2));
    assert!(
        of.share > 0.5 && of.share < 0.8,
        "9.75 of 14.6: {}",
        of.share
    );
    let says = &found.sentence.en;
    for part in ["From 128 sessions", "at 32 sessions", "40%"] {
        assert!(says.contains(part), "{part}: {says}");
    }
    assert!(found.sentence.zh.contains("128"));
}

#[test]
fn a_full_host_and_a_cause_of_its_own_explain_a_fall_by_themselves() {
    let mut loads = retrograde(&USERS);
    loads[8].server_busy = Some(0.97);
    assert_eq!(limited(&loads), [7]);
    loads[7].server_busy = Some(0.9);
    assert!(matches!(coherency(&loads), Coherency::No));
    // Row locks are what the sessions wait for; too few sessions there are not where more bring less.
    let mut loads = retrograde(&USERS);
    loads[7].agreed = agreed(Cause::RowLocks);
    loads[8].agreed = agreed(Cause::TooFewSessions);
    assert_eq!(limited(&loads), [8]);
    loads[8].agreed = None;
    assert_eq!(limited(&loads), [8]);
}

#[test]
fn throughput_that_rises_or_stays_is_not_limited_by_it() {
    // Amdahl's law: contention alone.
    let saturating = with_law(&USERS, |n| 60.0 * n / (1.0 + 0.05 * (n - 1.0)));
    assert!(matches!(coherency(&saturating), Coherency::No));
    assert!(matches!(
        coherency(&with_law(&USERS, |n| 60.0 * n)),
        Coherency::No
    ));
    // The peak is beyond what was measured.
    assert!(matches!(coherency(&retrograde(&USERS[..6])), Coherency::No));
    // One repeat of the last loads that is as good as the peak is no clear fall.
    let mut loads = retrograde(&USERS);
    loads[8].rates[0] = 800.0;
    assert!(limited(&loads).is_empty());
}

#[test]
fn what_is_missing_is_said() {
    assert!(needs(&retrograde(&[1, 64, 256])).contains("there are 3"));
    assert!(matches!(coherency(&retrograde(&[8])), Coherency::No));
    let mut unseen = retrograde(&USERS);
    unseen.iter_mut().for_each(|load| load.server_busy = None);
    assert!(needs(&unseen).contains("--observe-host"));
    // A collapse at the end of a straight line is of another law.
    let collapse = with_law(&USERS, |n| if n > 128.0 { 60.0 } else { 60.0 * n });
    assert!(needs(&collapse).contains("scalability law"));
    // Of a load without a result nothing is told.
    let mut loads = retrograde(&USERS);
    loads[7].rates.clear();
    assert_eq!(limited(&loads), [8]);
}
