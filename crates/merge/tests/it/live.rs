use super::common::{second, stats};
use proptest::prelude::*;
use std::time::Duration;
use tidemark_core::record::{Interval, Phase};
use tidemark_merge::{Delivery, Live, Merged, Taken};

const SECOND: Duration = Duration::from_secs(1);

fn delivery(client: u32, number: u64, interval: Interval) -> Delivery {
    Delivery {
        client,
        epoch: 1,
        number,
        interval,
        errors: Vec::new(),
    }
}

/// Of each client one transaction a second, that tells client and second by how long it took.
fn all(clients: u32, seconds: i64) -> Vec<Delivery> {
    let of = |client: u32| {
        (0..seconds).map(move |at| {
            let micros = 100 + u64::from(client) * 1000 + at as u64;
            let mut interval = second(at, 1, &[micros]);
            // Threads wake late by as much as they like.
            interval.start_ms += i64::from(client * 7 % 11) * i64::from(at > 0);
            delivery(client, at as u64, interval)
        })
    };
    (0..clients).flat_map(of).collect()
}

fn merged(clients: u32, deliveries: &[Delivery]) -> Merged {
    let mut live = Live::new(clients, SECOND);
    for delivery in deliveries {
        live.take(delivery.clone()).unwrap();
        live.sealed(None).unwrap();
    }
    live.finish().unwrap()
}

proptest! {
    /// Whatever comes late, early, or twice, from whomever: the same record.
    #[test]
    fn the_order_of_deliveries_changes_nothing(
        (clients, order) in (1u32..6).prop_flat_map(|clients| {
            let each = all(clients, 7);
            let twice = [each.clone(), each].concat();
            (Just(clients), Just(twice).prop_shuffle())
        }),
    ) {
        let wanted = merged(clients, &all(clients, 7));
        prop_assert_eq!(wanted.intervals.len(), 7);
        let found = merged(clients, &order);
        prop_assert_eq!(&found.intervals, &wanted.intervals);
        for (at, interval) in (0u64..).zip(&found.intervals) {
            let micros: Vec<u64> = (0..clients).map(|c| 100 + u64::from(c) * 1000 + at).collect();
            prop_assert_eq!(&interval.types["t"], &stats(&micros));
        }
        for (one, other) in found.parts.iter().zip(&wanted.parts) {
            prop_assert_eq!(&one.all, &other.all);
            prop_assert_eq!((one.all.count, one.intervals), (7, 7));
        }
    }
}

#[test]
fn an_interval_is_sealed_when_all_that_live_have_told_it() {
    let mut live = Live::new(3, SECOND);
    let starts = |live: &mut Live, deadline| {
        let sealed = live.sealed(deadline).unwrap();
        sealed
            .iter()
            .map(|i| (i.start_ms, i.sessions))
            .collect::<Vec<_>>()
    };
    for client in 0..2 {
        live.take(delivery(client, 0, second(0, 1, &[1]))).unwrap();
    }
    assert_eq!(starts(&mut live, None), []);
    live.take(delivery(2, 0, second(0, 1, &[1]))).unwrap();
    assert_eq!(starts(&mut live, None), [(0, 3)]);
    // The third lags, then it is lost, then something of it comes all the same.
    for number in 1..4 {
        for client in 0..2 {
            let interval = second(number as i64, 1, &[1]);
            live.take(delivery(client, number, interval)).unwrap();
        }
    }
    assert_eq!(starts(&mut live, None), []);
    assert_eq!(starts(&mut live, Some(1500)), [(1000, 2)]);
    live.lost(2);
    assert_eq!(starts(&mut live, None), [(2000, 2), (3000, 2)]);
    live.take(delivery(2, 1, second(1, 1, &[1]))).unwrap();
    assert_eq!(live.told_until_ms(2), Some(2000));
    let merged = live.finish().unwrap();
    let sessions: Vec<_> = merged
        .intervals
        .iter()
        .map(|i| (i.start_ms, i.sessions))
        .collect();
    assert_eq!(sessions, [(0, 3), (1000, 3), (2000, 2), (3000, 2)]);
    assert_eq!(merged.parts[2].measured_s, 2.0);
}

#[test]
fn a_client_that_did_not_run_holds_nobody_up() {
    let mut live = Live::new(2, SECOND);
    let mut slept = second(0, 1, &[5]);
    slept.length_ms = 3000.0;
    for (number, at) in (0..4).zip(0..) {
        live.take(delivery(0, number, second(at, 1, &[1]))).unwrap();
    }
    live.take(delivery(1, 0, slept)).unwrap();
    // It has told of the first three seconds at once.
    assert_eq!(live.sealed(None).unwrap().len(), 3);
    live.take(delivery(1, 1, second(3, 1, &[5]))).unwrap();
    assert_eq!(live.progress(1).unwrap().longest_lag_ms, 2000.0);
    let merged = live.finish().unwrap();
    let counts: Vec<_> = merged
        .intervals
        .iter()
        .map(|i| i.types["t"].count)
        .collect();
    assert_eq!(counts, [2, 1, 1, 2]);
    assert!((merged.intervals[0].length_ms - 2000.0).abs() < 1001.0);
}

#[test]
fn each_life_of_a_client_counts_once_and_none_after_its_end() {
    let mut live = Live::new(1, SECOND);
    let take = |live: &mut Live, epoch, number, at| {
        let interval = second(at, 1, &[1]);
        let delivery = Delivery {
            epoch,
            ..delivery(0, number, interval)
        };
        live.take(delivery).unwrap()
    };
    assert_eq!(take(&mut live, 1, 0, 0), Taken::Counted);
    assert_eq!(take(&mut live, 1, 0, 0), Taken::Duplicate);
    // It was started again, and begins to count anew.
    assert_eq!(take(&mut live, 2, 0, 5), Taken::Counted);
    assert_eq!(take(&mut live, 1, 1, 1), Taken::Counted);
    live.fence(0, 1);
    assert_eq!(take(&mut live, 1, 2, 2), Taken::Fenced);
    assert_eq!(take(&mut live, 1, 1, 1), Taken::Duplicate);
    assert_eq!(take(&mut live, 2, 1, 6), Taken::Counted);
    let unknown = delivery(7, 0, second(0, 1, &[1]));
    assert_eq!(live.take(unknown).unwrap(), Taken::UnknownClient);
    assert_eq!(live.finish().unwrap().parts[0].all.count, 4);
}

#[test]
fn warm_up_and_measurement_are_never_one() {
    let mut live = Live::new(2, SECOND);
    let mut warm = second(0, 1, &[1]);
    (warm.phase, warm.start_ms, warm.length_ms) = (Phase::Warmup, -1, 100.0);
    live.take(delivery(0, 0, warm)).unwrap();
    live.take(delivery(0, 1, second(0, 1, &[2]))).unwrap();
    live.take(delivery(1, 0, second(0, 1, &[3]))).unwrap();
    let merged = live.finish().unwrap();
    let counts: Vec<_> = merged
        .intervals
        .iter()
        .map(|i| i.types["t"].count)
        .collect();
    assert_eq!(counts, [1, 2]);
    assert_eq!(merged.parts[0].all, stats(&[2]));
}
