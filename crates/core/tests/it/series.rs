//! Series: what goes in comes out, few bytes for what hardly moves, nothing hostile gets through.
use proptest::prelude::*;
use serde_json::{Value, json};
use tidemark_core::series::{Measures, Point, Series, SeriesBuilder, SeriesError, SeriesKey, join};

fn key() -> SeriesKey {
    SeriesKey::new("client-host", "cpu.busy", "ratio", Measures::Rate).with("core", 0)
}

fn of(digits: i8, step_ms: u32, points: &[(i64, f64)]) -> Series {
    let mut builder = SeriesBuilder::new(key(), digits, step_ms);
    for (at_ms, value) in points {
        assert!(builder.push(*at_ms, *value), "{at_ms} {value}");
    }
    builder.series().unwrap()
}

fn read(series: &Series) -> Result<Vec<(i64, f64)>, SeriesError> {
    let points = series.points()?;
    points.map(|p| p.map(|p| (p.at_ms, p.value))).collect()
}

/// As it is after a way through JSON.
fn again(series: &Series) -> Series {
    serde_json::from_str(&serde_json::to_string(series).unwrap()).unwrap()
}

#[test]
fn its_json_is_pinned() {
    let series = of(2, 1000, &[(-1000, 0.25), (0, 0.5), (2000, 0.25)]);
    let json = serde_json::to_value(&series).unwrap();
    let expected = json!({
        "source": "client-host", "name": "cpu.busy", "unit": "ratio", "measures": "rate",
        "labels": {"core": "0"}, "start_ms": -1000, "step_ms": 1000, "digits": 2, "count": 3,
        "values": "AQMA/P8yMjE", "gaps": "AQIA/f8BAg",
    });
    assert_eq!(json, expected);
    // Short ones were compressed, too, and have to be read.
    let mut old = expected;
    (old["values"], old["gaps"]) = ("MzIyBAA".into(), "Y2QCAA".into());
    let old: Series = serde_json::from_value(old).unwrap();
    assert_eq!(read(&old).unwrap(), [(-1000, 0.25), (0, 0.5), (2000, 0.25)]);
}

#[test]
fn what_hardly_moves_takes_few_bytes() {
    let still: Vec<_> = (0..3600).map(|n| (n * 1000, 0.0)).collect();
    let still = serde_json::to_string(&of(2, 1000, &still)).unwrap();
    assert!(still.len() < 220, "{}", still.len());
    let moving = (0..600_i64).map(|n| (n * 1000, (n * 7919 % 41) as f64 / 100.0));
    let moving = serde_json::to_string(&of(2, 1000, &moving.collect::<Vec<_>>())).unwrap();
    assert!(moving.len() < 1000, "{}", moving.len());
}

#[test]
fn short_ones_that_hardly_move_take_few_bytes_and_noise_takes_no_more_than_itself() {
    let size = |series: &Series| {
        let json = serde_json::to_value(series).unwrap();
        json["values"].as_str().unwrap().len()
    };
    let still: Vec<_> = (0..120).map(|n| (n * 1000, 0.0)).collect();
    let still = of(2, 1000, &still);
    assert!(size(&still) < 24, "{still:?}");
    assert_eq!(read(&again(&still)).unwrap().len(), 120);
    let mut builder = SeriesBuilder::new(key(), 0, 1000);
    let mut noise = 1_u64;
    for n in 0..250 {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        assert!(builder.push(n * 1000, (noise >> 40) as f64));
        let (stored, packed) = (builder.unfinished().unwrap(), builder.series().unwrap());
        assert!(size(&packed) <= size(&stored), "{packed:?}");
        assert_eq!(read(&packed).unwrap(), read(&stored).unwrap());
    }
}

#[test]
fn an_unfinished_series_reads_as_it_does_when_it_is_whole() {
    // More than a stored block of 65,535 bytes holds.
    let points: Vec<_> = (0..20_000_i64)
        .map(|n| (n * 1000, (n * 7919 % 1_000_003 * 1000) as f64))
        .collect();
    let mut builder = SeriesBuilder::new(key(), 0, 1000);
    for (nth, (at, value)) in points.iter().enumerate() {
        assert!(builder.push(*at, *value));
        if [1, 60, 300, 20_000].contains(&(nth + 1)) {
            let (now, whole) = (builder.unfinished().unwrap(), builder.series().unwrap());
            assert_eq!(read(&again(&now)).unwrap(), points[..=nth]);
            assert_eq!(read(&now).unwrap(), read(&whole).unwrap());
        }
    }
}

#[test]
fn what_can_be_no_point_is_a_gap() {
    let mut builder = SeriesBuilder::new(key(), 0, 1000);
    assert!(builder.push(500, 1.0));
    for (at, value) in [
        (1500, f64::NAN),
        (1500, f64::INFINITY),
        (1500, 1e19),
        (1499, 5.0),
        (0, 5.0),
        (i64::MIN, 5.0),
    ] {
        assert!(!builder.push(at, value), "{at} {value}");
    }
    assert!(builder.push(2600, 2.0));
    let series = builder.series().unwrap();
    assert_eq!(read(&series).unwrap(), [(500, 1.0), (2500, 2.0)]);
    builder.clear();
    assert!(builder.series().is_none());
}

#[test]
fn pieces_of_one_figure_become_one_series() {
    let first = of(0, 1000, &[(0, 1.0), (1000, 2.0)]);
    let second = of(0, 1000, &[(2000, 3.0)]);
    let mut other = second.clone();
    other.key = other.key.with("core", 1);
    let joined = join(vec![first, other.clone(), second]);
    let whole = of(0, 1000, &[(0, 1.0), (1000, 2.0), (2000, 3.0)]);
    assert_eq!(joined, [whole.clone(), other]);
    // Nothing of what can't be read is lost.
    let mut json = serde_json::to_value(&whole).unwrap();
    json["values"] = "!".into();
    let damaged: Series = serde_json::from_value(json).unwrap();
    let pieces = vec![whole, damaged];
    assert_eq!(join(pieces.clone()), pieces);
}

#[test]
fn fewer_points_keep_mean_and_extremes() {
    let points = (0..100).filter(|n| !(40..60).contains(n));
    let points: Vec<_> = points.map(|n| (n * 1000, n as f64)).collect();
    let series = of(0, 1000, &points);
    let few = series.downsampled(10).unwrap();
    let seen: Vec<_> = few
        .iter()
        .map(|b| (b.at_ms, b.count, b.mean, b.min, b.max))
        .collect();
    assert_eq!(seen.len(), 8);
    assert_eq!(seen[1], (10_000, 10, 14.5, 10.0, 19.0));
    assert_eq!(seen[4], (60_000, 10, 64.5, 60.0, 69.0));
    let all = series.summary().unwrap().unwrap();
    assert_eq!((all.count, all.min, all.max), (80, 0.0, 99.0));
    assert!((all.mean - 49.5).abs() < 1e-9);
}

#[test]
fn a_damaged_series_is_an_error_of_its_own() {
    let good = serde_json::to_value(of(0, 1000, &[(0, 1.0), (2000, 2.0)])).unwrap();
    let with = |name: &str, value: Value| {
        let mut bad = good.clone();
        bad[name] = value;
        read(&serde_json::from_value(bad).unwrap()).unwrap_err()
    };
    let name = || "cpu.busy".to_string();
    let too_many = SeriesError::TooMany(name(), u64::MAX);
    assert_eq!(with("count", json!(u64::MAX)), too_many);
    assert_eq!(with("step_ms", json!(0)), SeriesError::NoStep(name()));
    assert_eq!(with("digits", json!(99)), SeriesError::Digits(name(), 99));
    let damaged = |what| SeriesError::Damaged(name(), what);
    assert_eq!(with("count", json!(3)), damaged("it ends too soon"));
    assert_eq!(with("values", json!("!")), damaged("it is not base64"));
    let bytes = json!("/////w");
    assert_eq!(with("values", bytes), damaged("it cannot be decompressed"));
    let end = damaged("its times are out of range");
    assert_eq!(with("start_ms", json!(i64::MAX)), end);
}

fn points() -> impl Strategy<Value = (i8, u32, Vec<(i64, i64)>)> {
    let steps = prop_oneof![4 => Just(1_i64), 1 => 2_i64..9, 1 => 1_i64..100_000];
    let values = prop_oneof![3 => -100_i64..100, 1 => -9_000_000_000_000..9_000_000_000_000_i64];
    let all = prop::collection::vec((steps, values), 1..200);
    (-3_i8..7, 1_u32..5000, -100_000_i64..100_000, all).prop_map(|(digits, step, start, all)| {
        let mut at = start;
        let points = all.into_iter().enumerate().map(|(n, (steps, value))| {
            at += i64::from(n > 0) * steps * i64::from(step);
            (at, value)
        });
        (digits, step, points.collect())
    })
}

proptest! {
    #[test]
    fn what_goes_in_comes_out((digits, step, points) in points(), cut in 0_usize..200) {
        let unit = 10_f64.powi(i32::from(digits.unsigned_abs()));
        let value = |whole: i64| match digits < 0 {
            true => whole as f64 * unit,
            false => whole as f64 / unit,
        };
        let points: Vec<_> = points.into_iter().map(|(at, whole)| (at, value(whole))).collect();
        let series = again(&of(digits, step, &points));
        prop_assert_eq!(&read(&series).unwrap(), &points);
        // In pieces it is the same.
        let (begin, rest) = points.split_at(cut.min(points.len()));
        let pieces = [begin, rest].into_iter().filter(|p| !p.is_empty());
        let joined = join(pieces.map(|p| of(digits, step, p)).collect());
        prop_assert_eq!(&joined, &[series]);
    }

    #[test]
    fn values_are_kept_to_half_of_their_last_digit(
        values in prop::collection::vec(-1e6_f64..1e6, 1..50),
    ) {
        let points: Vec<_> = values.iter().enumerate().map(|(n, v)| (n as i64 * 7, *v)).collect();
        for ((_, kept), given) in read(&of(3, 7, &points)).unwrap().iter().zip(&values) {
            prop_assert!((kept - given).abs() <= 0.000_500_1, "{kept} {given}");
        }
    }

    #[test]
    fn hostile_bytes_are_read_or_refused(
        values in "[A-Za-z0-9+/]{0,40}", gaps in prop::option::of("[A-Za-z0-9+/]{0,40}"),
        start_ms: i64, step_ms: u32, digits: i8, count in 0_u64..5000, most in 0_usize..50,
    ) {
        let mut json = json!({
            "source": "s", "name": "n", "unit": "u", "measures": "gauge", "start_ms": start_ms,
            "step_ms": step_ms, "digits": digits, "count": count, "values": values,
        });
        if let Some(gaps) = gaps {
            json["gaps"] = gaps.into();
        }
        let series: Series = serde_json::from_value(json).unwrap();
        if let Ok(points) = series.points().and_then(|p| p.collect::<Result<Vec<Point>, _>>()) {
            prop_assert_eq!(points.len() as u64, count);
        }
        if let Ok(buckets) = series.downsampled(most) {
            prop_assert!(buckets.len() <= most.max(1));
        }
    }
}
