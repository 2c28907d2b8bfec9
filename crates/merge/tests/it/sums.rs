use super::common::{second, stats};
use proptest::prelude::*;
use tidemark_core::record::{
    EncodedHistogram, ErrorCount, Fairness, LatencyParts, Quantiles, Totals, TypeStats,
};
use tidemark_core::{ErrorClass, ErrorKind};
use tidemark_merge::{ClientTotals, MergeError, errors, interval, totals, type_stats};

fn merged(each: &[TypeStats]) -> TypeStats {
    type_stats(&each.iter().collect::<Vec<_>>(), "here").unwrap()
}

proptest! {
    /// To the byte, in any order and in whatever groups.
    #[test]
    fn merged_histograms_are_those_of_all_samples(
        clients in prop::collection::vec(prop::collection::vec(1u64..90_000_000, 0..60), 1..9),
        split in 0usize..9,
        turn in 0usize..9,
    ) {
        let all = stats(&clients.concat());
        let mut each: Vec<TypeStats> = clients.iter().map(|micros| stats(micros)).collect();
        let turn = turn % each.len();
        each.rotate_left(turn);
        let whole = merged(&each);
        prop_assert_eq!(whole.count, all.count);
        if all.count > 0 {
            prop_assert_eq!(&whole.service, &all.service);
        }
        let (left, right) = each.split_at(split % each.len());
        let grouped = merged(&[merged(left), merged(right)]);
        prop_assert_eq!(grouped, whole);
    }

    #[test]
    fn round_trips_are_those_of_all_clients(trips in prop::collection::vec(0u64..1_000_000, 1..9)) {
        let each = trips.iter().map(|trips| {
            let mut one = second(3, 1, &[10]);
            one.statements.round_trips = *trips;
            one
        });
        let each: Vec<_> = each.collect();
        let sum = interval(&each.iter().collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(sum.statements.round_trips, trips.iter().sum::<u64>());
    }

    #[test]
    fn means_of_sessions_are_those_of_all_sessions(
        clients in prop::collection::vec(prop::collection::vec(0u32..1000, 1..20), 1..6),
    ) {
        let fairness = |events: &[u32]| {
            let events = || events.iter().map(|n| f64::from(*n));
            Fairness {
                events_avg: tidemark_stats::mean(events()),
                events_stddev: tidemark_stats::population_stddev(events()),
                between_avg_s: Some(tidemark_stats::mean(events())),
                ..Fairness::default()
            }
        };
        let each: Vec<Totals> = clients
            .iter()
            .map(|events| Totals { fairness: fairness(events), ..Totals::default() })
            .collect();
        let parts: Vec<ClientTotals<'_>> = each
            .iter()
            .zip(&clients)
            .map(|(totals, events)| ClientTotals { totals, sessions: events.len() as u64, late_s: 0.0 })
            .collect();
        let (merged, all) = (totals(&parts).unwrap().fairness, fairness(&clients.concat()));
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + b.abs());
        prop_assert!(near(merged.events_avg, all.events_avg));
        prop_assert!(near(merged.events_stddev, all.events_stddev), "{merged:?} {all:?}");
        prop_assert!(near(merged.between_avg_s.unwrap(), all.between_avg_s.unwrap()));
    }
}

#[test]
fn what_is_known_of_a_part_only_is_not_said_of_the_sum() {
    let split = TypeStats {
        server: Some(stats(&[10]).service),
        ..stats(&[100])
    };
    assert!(merged(&[split.clone(), split.clone()]).server.is_some());
    assert_eq!(merged(&[split, stats(&[100])]).server, None);
    // What was never due before it was sent waited for nothing else.
    let due = TypeStats {
        response: Some(stats(&[500]).service),
        wait: Some(stats(&[400]).service),
        ..stats(&[100])
    };
    let both = merged(&[due, stats(&[100])]);
    assert_eq!(both.response, Some(stats(&[500, 100]).service));
    assert_eq!(both.wait, Some(stats(&[400]).service));
    assert_eq!(both.service, stats(&[100, 100]).service);
}

#[test]
fn of_several_sets_of_quantiles_no_percentile_follows() {
    let with = |count, mean_ms, max_ms| TypeStats {
        count,
        quantiles: Some(Quantiles {
            mean_ms: Some(mean_ms),
            min_ms: Some(mean_ms / 2.0),
            max_ms: Some(max_ms),
            percentiles_ms: [("95".to_string(), max_ms)].into(),
        }),
        ..TypeStats::default()
    };
    let one = with(100, 2.0, 9.0);
    assert_eq!(merged(std::slice::from_ref(&one)), one);
    let both = merged(&[one, with(300, 6.0, 8.0)]).quantiles.unwrap();
    assert_eq!(both.mean_ms, Some(5.0));
    assert_eq!((both.min_ms, both.max_ms), (Some(1.0), Some(9.0)));
    assert!(both.percentiles_ms.is_empty());
    assert_eq!(merged(&[with(1, 1.0, 1.0), stats(&[5])]).quantiles, None);
}

#[test]
fn the_time_of_all_is_the_union_of_theirs() {
    let of = |elapsed_s| Totals {
        elapsed_s,
        ..Totals::default()
    };
    let [a, b, none] = [of(10.0), of(10.0), of(0.0)];
    let part = |totals, late_s| ClientTotals {
        totals,
        sessions: 1,
        late_s,
    };
    let elapsed = |each: &[ClientTotals<'_>]| totals(each).unwrap().elapsed_s;
    assert_eq!(
        elapsed(&[part(&a, 0.5), part(&b, 0.75), part(&none, 0.0)]),
        10.25
    );
    assert_eq!(elapsed(&[part(&none, 3.0)]), 0.0);
    assert!(matches!(totals(&[]), Err(MergeError::Nothing)));
}

#[test]
fn where_the_mean_passed_is_weighed_by_transactions() {
    let of = |micros: &[u64], service, client| Totals {
        all: stats(micros),
        latency_parts: Some(LatencyParts {
            service_mean_ms: service,
            server_and_network_mean_ms: service - client,
            client_mean_ms: client,
            paused_mean_ms: 0.0,
        }),
        ..Totals::default()
    };
    let [one, three] = [of(&[1000], 1.0, 0.5), of(&[2000; 3], 2.0, 1.5)];
    let part = |totals| ClientTotals {
        totals,
        sessions: 1,
        late_s: 0.0,
    };
    let parts = totals(&[part(&one), part(&three)]).unwrap().latency_parts;
    let parts = parts.unwrap();
    assert_eq!((parts.service_mean_ms, parts.client_mean_ms), (1.75, 1.25));
    let unknown = Totals {
        latency_parts: None,
        ..one.clone()
    };
    assert_eq!(
        totals(&[part(&one), part(&unknown)]).unwrap().latency_parts,
        None
    );
}

#[test]
fn an_interval_is_the_sum_and_as_long_as_most_were() {
    let mut lags = second(3, 4, &[30, 40]);
    (lags.start_ms, lags.length_ms) = (3002, 4500.0);
    lags.rate = Some(50.0);
    let mut other = second(3, 2, &[10]);
    other.rate = Some(25.0);
    let sum = interval(&[&other, &lags, &second(3, 1, &[20])]).unwrap();
    assert_eq!((sum.start_ms, sum.length_ms), (3000, 1000.0));
    assert_eq!(
        (sum.sessions, sum.rate, sum.statements.read),
        (7, Some(75.0), 4)
    );
    assert_eq!(sum.statements.round_trips, 8);
    assert_eq!(sum.types["t"], stats(&[10, 20, 30, 40]));
    assert_eq!(sum.notes["noted"], 3);
    let mut broken = second(3, 1, &[10]);
    broken.types.get_mut("t").unwrap().service = EncodedHistogram("nothing".into());
    let error = interval(&[&broken, &other]).unwrap_err().to_string();
    assert!(error.contains("3000 ms, type t"), "{error}");
}

#[test]
fn errors_of_one_kind_are_one() {
    let error = |code: &str, count, message: &str| ErrorCount {
        code: code.into(),
        class: ErrorClass::Retryable,
        kind: Some(ErrorKind::Deadlock),
        count,
        first_message: message.into(),
    };
    let each = [
        error("1213", 2, "first"),
        error("1020", 9, "x"),
        error("1213", 8, "second"),
    ];
    let all = errors(&each);
    assert_eq!(all, [error("1213", 10, "first"), error("1020", 9, "x")]);
}
