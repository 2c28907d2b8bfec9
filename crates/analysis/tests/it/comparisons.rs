//! Comparisons of made runs whose truth is known.

use super::common::{second, stats};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::collections::BTreeMap;
use std::slice::from_ref;
use std::time::Duration;
use tidemark_analysis::compare::{Basis, Compared, Metric, Needed, RegressionLimit, Side, Verdict};
use tidemark_analysis::{Comparison, compare, telling_settings};
use tidemark_core::record::*;
use tidemark_core::{Engine, ServerInfo, Source};
use tidemark_stats::Histogram;

fn normal(rng: &mut SmallRng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// A run of `seconds` intervals: 40 transactions or so in each, latencies around `ms`, and a level
/// that moves as a first-order autoregression.
fn run(rng: &mut SmallRng, ms: f64, seconds: usize, phi: f64) -> RunRecord {
    let mut all = Histogram::new();
    let mut level = normal(rng);
    let intervals = (0..seconds).map(|n| {
        level = phi * level + (1.0 - phi * phi).sqrt() * normal(rng);
        let slow = (0.1 * level).exp();
        let mut h = Histogram::new();
        for _ in 0..(40.0 * 10.0 / ms / slow).round() as u64 {
            let each = ms * slow * (0.3 * normal(rng)).exp();
            h.record(Duration::from_secs_f64(each / 1000.0));
        }
        all.merge(&h);
        second(n, &h)
    });
    let intervals = intervals.collect();
    RunRecord {
        id: format!("{:x}", rng.random::<u64>()),
        state: RunState::Finished,
        sessions: 8,
        intervals,
        totals: Totals {
            elapsed_s: seconds as f64,
            types: BTreeMap::from([("t".into(), stats(&all))]),
            all: stats(&all),
            ..Totals::default()
        },
        ..RunRecord::default()
    }
}

fn of(comparison: &Comparison, metric: Metric) -> Compared {
    let mut metrics = comparison.metrics.iter();
    *metrics.find(|m| m.metric == metric).unwrap()
}

fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}

#[test]
fn equal_single_runs_are_rarely_told_apart_in_any_metric() {
    const PAIRS: usize = 200;
    let mut rng = SmallRng::seed_from_u64(1);
    for phi in [0.0, 0.6] {
        let mut alarms = [0; 5];
        for _ in 0..PAIRS {
            let a = run(&mut rng, 10.0, 60, phi);
            let b = run(&mut rng, 10.0, 60, phi);
            let comparison = compare(&[a], &[b]).unwrap();
            assert_eq!(comparison.basis, Basis::Intervals);
            for (count, metric) in alarms.iter_mut().zip(Metric::ALL) {
                *count += usize::from(differs(of(&comparison, metric).verdict));
            }
        }
        let mean = alarms.iter().sum::<usize>() as f64 / (5 * PAIRS) as f64;
        eprintln!("phi {phi}: {alarms:?} of {PAIRS} each, {mean}");
        // 5 % of two hundred is ten; by chance sixteen (two standard errors).
        assert!(
            mean <= 0.05 && alarms.iter().all(|n| *n <= 16),
            "{phi}: {alarms:?}"
        );
    }
}

#[test]
fn equal_groups_are_rarely_told_apart() {
    const PAIRS: usize = 200;
    let mut rng = SmallRng::seed_from_u64(2);
    let mut alarms = 0;
    for _ in 0..PAIRS {
        let mut group = || -> Vec<RunRecord> {
            // Each start is a little faster or slower than the others.
            (0..3)
                .map(|_| {
                    let ms = 10.0 * (0.05 * normal(&mut rng)).exp();
                    run(&mut rng, ms, 10, 0.0)
                })
                .collect()
        };
        let (a, b) = (group(), group());
        let comparison = compare(&a, &b).unwrap();
        assert_eq!(comparison.basis, Basis::Repeats);
        assert!(comparison.findings.is_empty());
        alarms += usize::from(differs(of(&comparison, Metric::P99).verdict));
    }
    assert!(alarms <= 16, "{alarms} of {PAIRS}");
}

#[test]
fn a_difference_is_shown_and_has_a_direction() {
    let mut rng = SmallRng::seed_from_u64(3);
    let fast = run(&mut rng, 10.0, 60, 0.3);
    let slow = run(&mut rng, 12.0, 60, 0.3);
    let comparison = compare(from_ref(&fast), from_ref(&slow)).unwrap();
    for metric in Metric::ALL {
        let of = of(&comparison, metric);
        assert_eq!(of.verdict, Verdict::Slower, "{of:?}");
        let (low, high) = of.interval.unwrap();
        assert!(low < of.ratio && of.ratio < high);
        let truth = if metric.more_is_better() {
            1.0 / 1.2
        } else {
            1.2
        };
        assert!((of.ratio / truth - 1.0).abs() < 0.08, "{of:?}");
    }
    assert_eq!(comparison.findings[0].rule, "no-repeat");
    let back = compare(&[slow], &[fast]).unwrap();
    assert!(back.metrics.iter().all(|m| m.verdict == Verdict::Faster));
}

#[test]
fn runs_of_other_loads_are_no_repeats() {
    let mut rng = SmallRng::seed_from_u64(5);
    let mut four = || run(&mut rng, 10.0, 30, 0.3);
    let (mut a, b) = ([four(), four()], [four(), four()]);
    let rules = |a: &[RunRecord], b: &[RunRecord]| -> Vec<&str> {
        let found = compare(a, b).unwrap().findings;
        found.iter().map(|f| f.rule).collect()
    };
    assert_eq!(rules(&a, &b), [""; 0]);
    // Another server is another job, whatever was asked of it.
    a[1].target = "mysql://elsewhere:3307".into();
    assert_eq!(rules(&a, &b), ["unlike-repeats"]);
    a[1].target = a[0].target.clone();
    a[1].workload = "oltp_insert".into();
    a[1].sessions += 8;
    assert_eq!(rules(&a, &b), ["unlike-repeats"]);
    assert_eq!(rules(&b, &a), ["unlike-repeats"]);
    let found = compare(&a, &b).unwrap().findings.remove(0);
    assert_eq!(
        found.figure("what"),
        Some(&tidemark_analysis::Figure::Text(
            "sessions, workload".into()
        ))
    );
}

#[test]
fn a_limit_is_broken_by_what_is_shown_and_not_by_noise() {
    let mut rng = SmallRng::seed_from_u64(4);
    let a = run(&mut rng, 10.0, 60, 0.3);
    let limit = |text: &str| -> RegressionLimit { text.parse().unwrap() };
    let slower = compare(from_ref(&a), &[run(&mut rng, 12.0, 60, 0.3)]).unwrap();
    assert!(limit("p99 > +5%").is_broken_by(&slower));
    assert!(limit("throughput < -5%").is_broken_by(&slower));
    assert!(!limit("p99 > +50%").is_broken_by(&slower));
    assert!(!limit("p99 < -5%").is_broken_by(&slower));
    let same = compare(from_ref(&a), &[run(&mut rng, 10.0, 60, 0.3)]).unwrap();
    let p99 = of(&same, Metric::P99);
    assert_eq!(p99.verdict, Verdict::NoDifferenceShown);
    // Whatever the ratio, noise breaks nothing.
    assert!(!limit("p99 > -90%").is_broken_by(&same));
    let short = compare(&[a], &[run(&mut rng, 12.0, 5, 0.0)]).unwrap();
    assert_eq!(of(&short, Metric::P99).verdict, Verdict::NotEnough);
    // What can't be judged does not pass, whichever way the limit looks.
    for text in ["p99 > +5%", "p99 < -5%", "p99 > +900%"] {
        assert!(!limit(text).can_judge(&short), "{text}");
        assert!(limit(text).is_broken_by(&short), "{text}");
    }
}

#[test]
fn no_limit_passes_on_repeats_that_say_nothing() {
    let mut rng = SmallRng::seed_from_u64(5);
    let mut side = |first: f64, second: f64| [first, second].map(|ms| run(&mut rng, ms, 60, 0.3));
    let wide = compare(&side(10.0, 34.0), &side(8.0, 28.0)).unwrap();
    let mean = of(&wide, Metric::Mean);
    assert_eq!(mean.verdict, Verdict::NoDifferenceShown);
    assert!(mean.is_too_wide(), "{mean:?}");
    for text in ["mean < -5%", "mean > +5%", "throughput < -90%"] {
        let limit: RegressionLimit = text.parse().unwrap();
        assert!(
            !limit.can_judge(&wide) && limit.is_broken_by(&wide),
            "{text}"
        );
    }
    let near = compare(&side(10.0, 10.5), &side(10.2, 10.4)).unwrap();
    let limit: RegressionLimit = "mean > +90%".parse().unwrap();
    assert!(limit.can_judge(&near) && !limit.is_broken_by(&near));
}

#[test]
fn what_else_differed_is_told_once() {
    let mut rng = SmallRng::seed_from_u64(5);
    let mut runs: Vec<RunRecord> = (0..4).map(|_| run(&mut rng, 10.0, 10, 0.0)).collect();
    for (n, run) in runs.iter_mut().enumerate() {
        let option = |value: &str| EffectiveOption {
            value: value.into(),
            source: Source::CommandLine,
        };
        let side = if n < 2 { "16" } else { "32" };
        run.options.insert("threads".into(), option(side));
        let observe = if n < 2 { "auto" } else { "off" };
        run.options.insert("observe".into(), option(observe));
        run.options.insert("out".into(), option(&n.to_string()));
        run.options.insert("seed".into(), option(&n.to_string()));
        run.options.insert("table-size".into(), option("1000"));
        run.settings = vec![Setting {
            name: "sync_binlog".into(),
            value: side.into(),
            default: None,
        }];
        run.tables_before = vec![TableState {
            table: "sbtest1".into(),
            rows: 1000 + 100 * n as u64,
            expected_rows: Some(1000),
            min_key: None,
            max_key: None,
        }];
    }
    let comparison = compare(&runs[..2], &runs[2..]).unwrap();
    let told: Vec<&str> = comparison
        .differences
        .iter()
        .map(|d| d.what.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "rows of sbtest1 before",
            "option observe",
            "option threads",
            "setting sync_binlog"
        ]
    );
    assert_eq!(comparison.differences[2].a, ["16"]);
    assert_eq!(comparison.differences[2].b, ["32"]);
    assert_eq!(comparison.findings[0].rule, "carried-state");
}

fn set(run: &mut RunRecord, engine: Engine, settings: &[(&str, &str, &str)]) {
    run.server = Some(ServerInfo {
        engine,
        version: "1".into(),
    });
    let setting = |(name, value, default): &(&str, &str, &str)| Setting {
        name: (*name).into(),
        value: (*value).into(),
        default: Some((*default).into()),
    };
    run.settings = settings.iter().map(setting).collect();
}

#[test]
fn a_value_in_two_notations_is_no_difference() {
    let mut rng = SmallRng::seed_from_u64(5);
    let [mut a, mut b] = [(); 2].map(|()| run(&mut rng, 10.0, 10, 0.0));
    let of_a = [
        ("log_file_mode", "0600", "384"),
        ("shared_buffers", "1GB", "128MB"),
        ("fsync", "off", "on"),
        ("work_mem", "4MB", "4MB"),
    ];
    let of_b = [
        ("log_file_mode", "384", "384"),
        ("shared_buffers", "1024MB", "128MB"),
        ("fsync", "0", "on"),
        ("work_mem", "8MB", "4MB"),
    ];
    set(&mut a, Engine::Postgres, &of_a);
    set(&mut b, Engine::Postgres, &of_b);
    let told = |a: &RunRecord, b: &RunRecord| {
        let comparison = compare(from_ref(a), from_ref(b)).unwrap();
        let told = comparison.differences.into_iter();
        let told = told.filter(|d| d.what.starts_with("setting"));
        (
            told.map(|d| (d.what, d.a, d.b)).collect::<Vec<_>>(),
            comparison.settings_compared,
        )
    };
    let values = |value: &str| vec![value.to_string()];
    let (differences, compared) = told(&a, &b);
    assert_eq!(
        differences,
        [("setting work_mem".into(), values("4MB"), values("8MB"))]
    );
    assert!(compared);
    // What only looks different from its default tells nothing.
    let names = |run| -> Vec<String> { telling_settings(run).map(|s| s.name.clone()).collect() };
    assert_eq!(names(&a), ["shared_buffers", "fsync", "work_mem"]);
    // Engines have their own settings.
    set(&mut b, Engine::Mariadb, &[("sync_binlog", "1", "0")]);
    assert_eq!(told(&a, &b), (Vec::new(), false));
    b.server = None;
    assert!(told(&a, &b).1, "what is not known is told");
}

#[test]
fn engines_of_one_descent_are_compared_by_the_settings_that_both_have() {
    let mut rng = SmallRng::seed_from_u64(6);
    let [mut a, mut b] = [(); 2].map(|()| run(&mut rng, 10.0, 10, 0.0));
    let commit = "innodb_flush_log_at_trx_commit";
    let of_a = [
        (commit, "1", "1"),
        ("skip_name_resolve", "ON", "OFF"),
        ("a_only", "1", "0"),
    ];
    let of_b = [
        (commit, "2", "1"),
        ("skip_name_resolve", "1", "OFF"),
        ("b_only", "1", "0"),
    ];
    use Engine::{Cockroach, Mariadb, Mysql, Postgres, Tidb, Yugabyte};
    for (one, other, common) in [
        (Mysql, Mariadb, true),
        (Postgres, Yugabyte, true),
        (Mysql, Tidb, false),
        (Tidb, Mariadb, false),
        (Cockroach, Yugabyte, false),
        (Postgres, Cockroach, false),
        (Mysql, Postgres, false),
    ] {
        set(&mut a, one, &of_a);
        set(&mut b, other, &of_b);
        let comparison = compare(from_ref(&a), from_ref(&b)).unwrap();
        assert_eq!(comparison.settings_compared, common, "{one} {other}");
        let told = comparison.differences.iter();
        let told = told.filter(|d| d.what.starts_with("setting"));
        let told: Vec<_> = told.map(|d| (&*d.what, &*d.a, &*d.b)).collect();
        let (what, of_one, of_other) = (format!("setting {commit}"), ["1".into()], ["2".into()]);
        let differs = [(&*what, &of_one[..], &of_other[..])];
        assert_eq!(told, if common { &differs[..] } else { &[] });
    }
}

#[test]
fn a_run_that_failed_is_refused_and_one_that_was_ended_is_told() {
    let mut rng = SmallRng::seed_from_u64(7);
    let a = run(&mut rng, 10.0, 30, 0.0);
    let mut other = run(&mut rng, 10.0, 30, 0.0);
    other.state = RunState::Interrupted;
    let comparison = compare(from_ref(&a), from_ref(&other)).unwrap();
    let state = comparison.differences.iter().find(|d| d.what == "state");
    assert_eq!(state.unwrap().b, ["interrupted"]);
    other.state = RunState::Failed("server has gone away".into());
    for (first, second) in [(&a, &other), (&other, &a)] {
        let error = compare(from_ref(first), from_ref(second)).unwrap_err();
        assert!(error.to_string().contains("server has gone away"));
    }
}

/// A run whose totals are three times what its intervals hold: its figures must not be used.
fn spoilt(mut run: RunRecord) -> RunRecord {
    run.totals.all.count *= 3;
    run.totals.types.values_mut().for_each(|t| t.count *= 3);
    run
}

#[test]
fn a_run_that_must_not_be_used_is_left_out_while_there_are_others() {
    let mut rng = SmallRng::seed_from_u64(9);
    let mut group =
        |n| -> Vec<RunRecord> { (0..n).map(|_| run(&mut rng, 10.0, 30, 0.0)).collect() };
    let (a, b) = (group(3), group(2));
    let clean = compare(&a, &b).unwrap();
    assert!(clean.is_usable() && clean.unusable.is_empty());
    // Each third of a run more would be a change of a half.
    let spoilt = spoilt(group(1).remove(0));
    let with = [b.clone(), vec![spoilt.clone()]].concat();
    let comparison = compare(&a, &with).unwrap();
    assert_eq!(
        (&comparison.metrics, &comparison.b),
        (&clean.metrics, &clean.b)
    );
    assert_eq!((comparison.is_usable(), comparison.left_out()), (true, 1));
    let told = &comparison.unusable[0];
    assert_eq!((&told.run, told.side), (&spoilt.id, Side::B));
    assert_eq!(
        (told.rules.as_slice(), told.left_out),
        (&["summary-mismatch"][..], true)
    );
    // Where one run of a side is left, the interval comes from what is within it.
    let comparison = compare(&a, &[b[0].clone(), spoilt]).unwrap();
    assert_eq!(comparison.basis, Basis::Intervals);
    assert!(of(&comparison, Metric::P99).interval.is_some());
    assert_eq!(comparison.findings[0].rule, "no-repeat");
}

#[test]
fn of_a_side_without_a_run_that_may_be_used_nothing_is_concluded() {
    let mut rng = SmallRng::seed_from_u64(10);
    let (a, b) = (run(&mut rng, 10.0, 30, 0.0), run(&mut rng, 10.0, 30, 0.0));
    let b = spoilt(b);
    for (first, second) in [(&a, &b), (&b, &a)] {
        let comparison = compare(from_ref(first), from_ref(second)).unwrap();
        assert!(!comparison.is_usable() && !comparison.unusable[0].left_out);
        // Its figures are there to be looked at.
        for metric in Metric::ALL {
            assert_eq!(of(&comparison, metric).verdict, Verdict::Invalid);
        }
        // No limit passes, whichever way it looks.
        for limit in [
            "p99 > +5%",
            "p99 < -5%",
            "throughput < -90%",
            "throughput > +900%",
        ] {
            let limit: RegressionLimit = limit.parse().unwrap();
            assert!(limit.is_broken_by(&comparison), "{limit}");
        }
    }
}

#[test]
fn one_pass_of_queries_can_not_tell_how_sure_a_ratio_is() {
    let mut rng = SmallRng::seed_from_u64(8);
    let (mut a, mut b) = (run(&mut rng, 10.0, 30, 0.0), run(&mut rng, 20.0, 30, 0.0));
    for run in [&mut a, &mut b] {
        run.queries = vec![QueryRun::default()];
    }
    let comparison = compare(&[a], &[b]).unwrap();
    for metric in Metric::ALL {
        let of = of(&comparison, metric);
        assert_eq!((of.verdict, of.interval), (Verdict::NotEnough, None));
    }
}

#[test]
fn of_runs_too_short_it_is_said_how_long_ones_would_show_it() {
    let mut rng = SmallRng::seed_from_u64(9);
    let mut of_seconds = |seconds| run(&mut rng, 10.0, seconds, 0.0);
    let (a, b, c) = (of_seconds(8), of_seconds(8), of_seconds(2));
    let short = of(&compare(from_ref(&a), &[b]).unwrap(), Metric::Throughput);
    assert_eq!((short.verdict, short.interval), (Verdict::NotEnough, None));
    let Some(Needed::Seconds(seconds)) = short.needed else {
        panic!("{short:?}");
    };
    assert!((20.0..100_000.0).contains(&seconds), "{seconds}");
    // Two parts do not tell how parts vary.
    let shorter = of(&compare(&[a], &[c]).unwrap(), Metric::Throughput);
    assert_eq!(
        (shorter.verdict, shorter.needed),
        (Verdict::NotEnough, None)
    );
}

#[test]
fn nothing_can_not_be_compared() {
    let mut rng = SmallRng::seed_from_u64(6);
    let a = run(&mut rng, 10.0, 10, 0.0);
    assert!(compare(&[], from_ref(&a)).is_err());
    assert!(compare(from_ref(&a), &[RunRecord::default()]).is_err());
    let mut damaged = a.clone();
    damaged.totals.all.service = EncodedHistogram("x".into());
    assert!(compare(&[a], &[damaged]).is_err());
}
