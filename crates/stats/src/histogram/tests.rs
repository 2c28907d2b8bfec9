use super::*;
use proptest::prelude::*;

fn of(values: &[u64]) -> Histogram {
    let mut h = Histogram::new();
    values
        .iter()
        .for_each(|v| h.record(Duration::from_nanos(*v)));
    h
}

#[test]
fn no_wait_at_all_is_nothing_at_every_percentile() {
    let mut waits = Histogram::new();
    for _ in 0..10 {
        waits.record(Duration::ZERO);
    }
    waits.record(Duration::from_micros(5));
    assert_eq!(
        (waits.percentile_ns(50.0), waits.percentile_ns(90.0)),
        (0, 0)
    );
    assert_eq!(waits.percentile_ns(100.0), 5_000);
    waits.clear();
    waits.record(Duration::from_nanos(1));
    assert_eq!(waits.percentile_ns(50.0), 1);
}

#[test]
fn thirty_minutes_are_recorded_as_such() {
    let h = of(&[1_800_000_000_000]);
    assert_eq!(h.max_ns(), 1_800_000_000_000);
    assert_eq!(h.percentile_ns(99.0), 1_800_000_000_000);
}

#[test]
fn an_empty_histogram_has_no_latency() {
    let h = Histogram::new();
    assert_eq!(
        (h.count(), h.min_ns(), h.max_ns(), h.percentile_ns(99.0)),
        (0, 0, 0, 0)
    );
    assert_eq!(Histogram::decode(&h.encode()).unwrap(), h);
}

#[test]
fn what_no_histogram_holds_is_refused() {
    let of = |sum: &str, min, max, bytes: &[u8]| {
        Histogram::decode(&format!("{sum}:{min}:{max}:{}", STANDARD.encode(bytes)))
    };
    let text = of_millis().encode();
    let buckets = text.rsplit(':').next().unwrap();
    let bytes = STANDARD.decode(buckets).unwrap();
    assert!(of("2000000", 1_000_000, 1_000_000, &bytes).is_ok());
    for (sum, min, max) in [
        ("2000000", 1_000_001, 1_000_000),
        ("2000001", 1_000_000, 1_000_000),
        ("2000000", 1_000_000, u64::MAX),
        ("1000000", 500_000, 500_000),
        ("2000000", 900_000, 1_000_000),
        ("2000000", 1_000_000, 1_100_000),
        ("340282366920938463463374607431768211455", 1, MAX_NS),
    ] {
        assert!(of(sum, min, max, &bytes).is_err(), "{sum} {min} {max}");
    }
    // Digits (memory grows tenfold with each), a length of 4 GB, compressed.
    for (at, byte) in [(15, 5), (4, 0xff), (3, 0x14)] {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        let error = of("0", 0, 0, &bytes).unwrap_err();
        assert!(error.to_string().contains("three significant digits"));
    }
}

/// Two latencies of a millisecond.
fn of_millis() -> Histogram {
    of(&[1_000_000, 1_000_000])
}

proptest! {
    #[test]
    fn merged_parts_equal_the_whole(
        values in prop::collection::vec(1u64..4_000_000_000_000, 0..300),
        cut in 0usize..300,
    ) {
        let cut = cut.min(values.len());
        let mut merged = of(&values[..cut]);
        merged.merge(&of(&values[cut..]));
        let whole = of(&values);
        prop_assert_eq!(merged.sum_ns(), whole.sum_ns());
        for p in [0.0, 50.0, 95.0, 99.9, 100.0] {
            prop_assert_eq!(merged.percentile_ns(p), whole.percentile_ns(p));
        }
        prop_assert!(merged.occupied().eq(whole.occupied()));
    }

    #[test]
    fn percentiles_are_within_a_thousandth(mut values in prop::collection::vec(1u64..3_600_000_000_000, 1..300)) {
        let h = of(&values);
        values.sort_unstable();
        for p in [50.0f64, 95.0, 99.0] {
            let rank = ((p / 100.0 * values.len() as f64).ceil() as usize).max(1);
            let truth = values[rank - 1] as f64;
            let got = h.percentile_ns(p) as f64;
            prop_assert!((got - truth).abs() <= truth * 0.001 + 1.0, "p{p}: {got} for {truth}");
        }
    }

    #[test]
    fn what_is_encoded_is_read_again(values in prop::collection::vec(1u64..3_600_000_000_000, 0..100)) {
        let h = of(&values);
        prop_assert_eq!(Histogram::decode(&h.encode()).unwrap(), h);
    }

    #[test]
    fn what_is_added_as_text_is_merged(
        values in prop::collection::vec((0u32..42, any::<u64>()), 0..300),
        before in prop::collection::vec(0u64..4_000_000_000_000, 0..5),
    ) {
        let values: Vec<u64> = values.into_iter().map(|(m, bits)| bits % (1 << m)).collect();
        let other = of(&values);
        let (mut added, mut merged) = (of(&before), of(&before));
        added.add_encoded(&other.encode()).unwrap();
        merged.merge(&other);
        prop_assert_eq!(added.encode(), merged.encode());
        prop_assert_eq!(added, merged);
    }

    /// A changed byte may turn counts into others; what is refused, both refuse, but for a range
    /// that is too small for the buckets, which does no harm.
    #[test]
    fn what_is_added_as_text_is_judged_as_what_is_read(
        values in prop::collection::vec(1u64..3_600_000_000_000, 1..50),
        at in 0usize..400,
        to in any::<u8>(),
    ) {
        let text = of(&values).encode();
        let (numbers, buckets) = text.rsplit_once(':').unwrap();
        let mut bytes = STANDARD.decode(buckets).unwrap();
        let at = at % bytes.len();
        bytes[at] = to;
        let text = format!("{numbers}:{}", STANDARD.encode(bytes));
        let mut added = Histogram::new();
        match (added.add_encoded(&text), Histogram::decode(&text)) {
            (Ok(()), Ok(read)) => prop_assert_eq!(added, read),
            (Err(_), Err(_)) => prop_assert_eq!(added, Histogram::new()),
            (added, read) => prop_assert!(
                (24..32).contains(&at),
                "byte {} to {}: {:?} and {:?}", at, to, added, read.map(|h| h.count())
            ),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// As many clients as you like, with values from nanoseconds to an hour, and in any order of
    /// merging: the same bytes, and so the same of everything that is ever told of them.
    #[test]
    fn a_hundred_shards_give_the_histogram_of_one_run(
        values in prop::collection::vec((0u32..42, any::<u64>(), 0usize..100), 0..500),
        backwards in any::<bool>(),
    ) {
        let mut shards = vec![Histogram::new(); 100];
        let mut whole = Histogram::new();
        for (magnitude, bits, shard) in values {
            let latency = Duration::from_nanos((bits % (1 << magnitude)).max(1));
            shards[shard].record(latency);
            whole.record(latency);
        }
        if backwards {
            shards.reverse();
        }
        let mut merged = Histogram::new();
        // What other clients measured comes as text.
        for shard in &shards {
            merged.merge(&Histogram::decode(&shard.encode()).unwrap());
        }
        prop_assert_eq!(merged.encode(), whole.encode());
        for p in [0.0, 50.0, 95.0, 99.0, 99.9, 100.0] {
            prop_assert_eq!(merged.percentile_ns(p), whole.percentile_ns(p));
        }
        prop_assert_eq!(merged.mean_ns(), whole.mean_ns());
    }
}
