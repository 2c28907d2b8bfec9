//! The distributions of keys against what sysbench 1.0.20 was observed to draw, and against the
//! laws they are named for. Seeds are fixed: a test that passes once always passes.

use proptest::prelude::*;
use std::path::Path;
use tidemark_core::{OptionValues, Source};
use tidemark_workloads::random::{Distribution, RAND_OPTIONS, RandOptions, Rng};

const SAMPLES: usize = 1_000_000;
/// Two samples of a million whose distribution functions are further apart than this come from
/// one distribution with a chance of 1 in 20,000 (Kolmogorov & Smirnov: 2.3 * sqrt(2 / 10^6)).
const KS: f64 = 0.0033;

fn distribution(options: &[(&str, &str)], low: i64, high: i64) -> Distribution {
    let mut values = OptionValues::defaults([RAND_OPTIONS]);
    for (name, value) in options {
        values.set(name, value, Source::CommandLine).unwrap();
    }
    RandOptions::new(&values).over(low, high)
}

/// How often each key of `low..=high` is drawn.
fn counts(options: &[(&str, &str)], low: i64, high: i64, samples: usize) -> Vec<f64> {
    let d = distribution(options, low, high);
    let mut rng = Rng::of(&[2024]);
    let mut counts = vec![0.0; (high - low + 1) as usize];
    for _ in 0..samples {
        counts[(d.draw(&mut rng) - low) as usize] += 1.0;
    }
    counts
}

fn table(name: &str, kind: &str) -> Vec<Vec<f64>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/data/sysbench-rand/{name}.{kind}.tsv"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().filter(|l| !l.starts_with('#')).skip(1);
    lines
        .map(|l| l.split('\t').map(|n| n.parse().unwrap()).collect())
        .collect()
}

/// Compares with the buckets, quantiles and most frequent values of real sysbench.
fn same_as_sysbench(name: &str, options: &[(&str, &str)], low: i64, high: i64) {
    let ours = counts(options, low, high, SAMPLES);
    let n = SAMPLES as f64;
    let mut below = vec![0.0];
    for c in &ours {
        below.push(below.last().unwrap() + c / n);
    }
    // Share of our draws that are at most this value.
    let share = |value: f64| below[(value as i64 - low + 1).clamp(0, ours.len() as i64) as usize];

    let mut theirs = 0.0;
    for bucket in table(name, "buckets") {
        theirs += bucket[2] / n;
        let gap = (share(bucket[1]) - theirs).abs();
        assert!(gap < KS, "{name}: {gap} apart at {}", bucket[1]);
    }
    assert!(
        (theirs - 1.0).abs() < 1e-9,
        "{name}: the buckets hold {theirs}"
    );
    for row in table(name, "quantiles") {
        let (q, value) = (row[0], row[1]);
        assert!(
            share(value) > q - KS && share(value - 1.0) < q + KS,
            "{name}: the {q} quantile of sysbench is {value}, ours have {} up to there",
            share(value)
        );
    }
    for row in table(name, "top") {
        let (value, count) = (row[0], row[1]);
        let found = ours[(value as i64 - low) as usize];
        // They are picked for being frequent, hence six standard deviations of a difference.
        let allowed = 6.0 * (2.0 * count).sqrt();
        assert!(
            (found - count).abs() < allowed,
            "{name}: {value} was drawn {found} times, by sysbench {count}"
        );
    }
}

macro_rules! observed {
    ($($test:ident: $name:literal, [$(($option:literal, $value:literal)),*], $low:literal, $high:literal;)*) => {
        $(#[test]
        fn $test() {
            same_as_sysbench($name, &[$(($option, $value)),*], $low, $high);
        })*

        #[test]
        fn every_observation_is_compared() {
            let compared = [$($name),*];
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sysbench-rand");
            for entry in std::fs::read_dir(folder).unwrap() {
                let file = entry.unwrap().file_name().into_string().unwrap();
                if let Some(name) = file.strip_suffix(".buckets.tsv") {
                    assert!(compared.contains(&name), "nothing compares {name}");
                }
            }
        }
    };
}

observed! {
    default: "default", [], 1, 10000;
    default_uniform: "default-rand-type-uniform", [("rand-type", "uniform")], 1, 10000;
    default_gaussian: "default-rand-type-gaussian", [("rand-type", "gaussian")], 1, 10000;
    default_pareto: "default-rand-type-pareto", [("rand-type", "pareto")], 1, 10000;
    uniform: "uniform", [("rand-type", "uniform")], 1, 10000;
    uniform_100: "uniform-1-100", [("rand-type", "uniform")], 1, 100;
    gaussian: "gaussian", [("rand-type", "gaussian")], 1, 10000;
    gaussian_100: "gaussian-1-100", [("rand-type", "gaussian")], 1, 100;
    gaussian_iter3: "gaussian-iter3", [("rand-type", "gaussian"), ("rand-spec-iter", "3")], 1, 10000;
    special: "special", [], 1, 10000;
    special_100: "special-1-100", [], 1, 100;
    special_501: "special-501-600", [], 501, 600;
    special_pct10: "special-pct10", [("rand-spec-pct", "10")], 1, 10000;
    special_res50: "special-res50", [("rand-spec-res", "50")], 1, 10000;
    special_all: "special-pct5-res25-iter4",
        [("rand-spec-pct", "5"), ("rand-spec-res", "25"), ("rand-spec-iter", "4")], 1, 10000;
    pareto: "pareto", [("rand-type", "pareto")], 1, 10000;
    pareto_100: "pareto-1-100", [("rand-type", "pareto")], 1, 100;
    pareto_h01: "pareto-h0.1", [("rand-type", "pareto"), ("rand-pareto-h", "0.1")], 1, 10000;
    pareto_h04: "pareto-h0.4", [("rand-type", "pareto"), ("rand-pareto-h", "0.4")], 1, 10000;
}

/// Pearson's statistic, as standard deviations from its mean: keys expected fewer than ten times
/// are taken together.
fn chi_square(ours: &[f64], expected: &[f64]) -> f64 {
    let (mut sum, mut classes) = (0.0, 0.0);
    let (mut seen, mut due) = (0.0, 0.0);
    for (o, e) in ours.iter().zip(expected) {
        seen += o;
        due += e;
        if due >= 10.0 {
            sum += (seen - due) * (seen - due) / due;
            classes += 1.0;
            (seen, due) = (0.0, 0.0);
        }
    }
    let freedom: f64 = classes - 1.0;
    if freedom < 1.0 {
        return 0.0;
    }
    (sum - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn zipfian_follows_zipfs_law() {
    for exponent in [
        "0",
        "0.5",
        "0.8",
        "0.99",
        "1",
        "1.0000001",
        "1.5",
        "3",
        "20",
    ] {
        for n in [1i64, 2, 3, 10, 1000, 20_000] {
            let e: f64 = exponent.parse().unwrap();
            let options = [("rand-type", "zipfian"), ("rand-zipfian-exp", exponent)];
            let ours = counts(&options, 1, n, 200_000);
            let weights: Vec<f64> = (1..=n).map(|r| (r as f64).powf(-e)).collect();
            let total: f64 = weights.iter().sum();
            let expected: Vec<f64> = weights.iter().map(|w| w / total * 200_000.0).collect();
            let deviation = chi_square(&ours, &expected);
            assert!(deviation < 4.5, "exponent {e}, {n} keys: {deviation} sigma");
            let (first, due) = (ours[0], expected[0]);
            assert!(
                (first - due).abs() < 5.0 * due.sqrt() + 1.0,
                "{e}, {n}: {first} of {due}"
            );
        }
    }
}

#[test]
fn the_test_of_zipfs_law_would_see_another_exponent() {
    let ours = counts(
        &[("rand-type", "zipfian"), ("rand-zipfian-exp", "0.8")],
        1,
        1000,
        200_000,
    );
    let weights: Vec<f64> = (1..=1000).map(|r| f64::from(r).powf(-0.82)).collect();
    let total: f64 = weights.iter().sum();
    let expected: Vec<f64> = weights.iter().map(|w| w / total * 200_000.0).collect();
    assert!(chi_square(&ours, &expected) > 4.5);
}

#[test]
fn uniform_is_even() {
    let ours = counts(&[("rand-type", "uniform")], 1, 1000, SAMPLES);
    assert!(chi_square(&ours, &[1000.0; 1000]).abs() < 4.5);
}

#[test]
fn gaussian_has_its_mean_and_deviation() {
    for (iterations, text) in [(1u32, "1"), (3, "3"), (12, "12"), (50, "50")] {
        let ours = counts(
            &[("rand-type", "gaussian"), ("rand-spec-iter", text)],
            1,
            10_000,
            200_000,
        );
        let keys = || {
            ours.iter()
                .enumerate()
                .map(|(i, c)| (i as f64 + 0.5, c / 200_000.0))
        };
        let mean: f64 = keys().map(|(k, share)| k * share).sum();
        let variance: f64 = keys()
            .map(|(k, share)| (k - mean) * (k - mean) * share)
            .sum();
        let sigma = 10_000.0 / (12.0 * f64::from(iterations)).sqrt();
        assert!(
            (mean - 5000.0).abs() < 5.0 * sigma / 200_000f64.sqrt(),
            "{iterations}: {mean}"
        );
        assert!(
            (variance.sqrt() / sigma - 1.0).abs() < 0.01,
            "{iterations}: {}",
            variance.sqrt()
        );
    }
}

#[test]
fn special_draws_from_the_hot_keys_as_often_as_asked() {
    let ours = counts(&[], 1, 10_000, SAMPLES);
    // The upper 75 % of a window of 101 in the middle.
    let hot: f64 = ours[4974..=5050].iter().sum::<f64>() / SAMPLES as f64;
    // The gaussian rest, a quarter, falls there too with a density of 0.00048 a key.
    let rest = 0.25 * 76.0 * 0.000_479;
    assert!((hot - 0.75 - rest).abs() < 0.003, "{hot}");
}

#[test]
fn pareto_is_self_similar() {
    for (h, text) in [(0.1, "0.1"), (0.2, "0.2"), (0.4, "0.4")] {
        let ours = counts(
            &[("rand-type", "pareto"), ("rand-pareto-h", text)],
            1,
            10_000,
            SAMPLES,
        );
        let upto = |n: f64| ours[..n as usize].iter().sum::<f64>() / SAMPLES as f64;
        assert!((upto(10_000.0 * h) - (1.0 - h)).abs() < 0.002);
        assert!((upto(10_000.0 * h * h) - (1.0 - h) * (1.0 - h)).abs() < 0.002);
    }
}

proptest! {
    #[test]
    fn every_draw_lies_in_the_range(
        low in -3_000_000_000i64..3_000_000_000,
        size in 0i64..5_000_000_000,
        kind in 0usize..5,
        iterations in 1u32..30,
        pct in 0u32..=100,
        res in 0u32..=100,
        h in 0.001f64..0.999,
        exponent in 0.0f64..20.0,
        seed: u64,
    ) {
        let (pct, res) = (f64::from(pct) / 100.0, f64::from(res) / 100.0);
        let high = low + size;
        let d = match kind {
            0 => Distribution::uniform(low, high),
            1 => Distribution::gaussian(low, high, iterations),
            2 => Distribution::special(low, high, iterations, pct, res),
            3 => Distribution::pareto(low, high, h),
            _ => Distribution::zipfian(low, high, exponent),
        };
        let mut rng = Rng::of(&[seed]);
        for _ in 0..200 {
            let key = d.draw(&mut rng);
            prop_assert!((low..=high).contains(&key), "{key}");
        }
    }
}

#[test]
fn an_empty_range_is_its_lower_bound() {
    let d = Distribution::uniform(1, 0);
    assert_eq!(d.draw(&mut Rng::of(&[1])), 1);
}
