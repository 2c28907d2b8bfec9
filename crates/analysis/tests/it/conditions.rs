//! Which runs may be put together, and what is said of those that may not.

use super::common::{second, stats};
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_analysis::compare::{Basis, Metric, Needed, Verdict};
use tidemark_analysis::{Comparison, Severity, compare};
use tidemark_core::record::*;
use tidemark_core::{Engine, Isolation, ServerInfo, Source};
use tidemark_stats::Histogram;

/// A run of ten seconds at `rate` transactions a second, begun `at` seconds after the first.
fn run(id: &str, at: u64, rate: u64) -> RunRecord {
    let mut all = Histogram::new();
    let intervals = (0..10).map(|n| {
        let mut h = Histogram::new();
        for k in 0..rate {
            let ms = 8_000.0 / rate as f64 * (0.8 + 0.4 * (k as f64 + 0.5) / rate as f64);
            h.record(Duration::from_secs_f64(ms / 1000.0));
        }
        all.merge(&h);
        second(n, &h)
    });
    let intervals = intervals.collect();
    let began = format!("2026-11-24T10:{:02}:{:02}.250Z", at / 60, at % 60);
    RunRecord {
        id: id.into(),
        state: RunState::Finished,
        started_at: began.clone(),
        load_began_at: Some(began),
        latency_end: LatencyEnd::Session,
        workload: "oltp_read_only".into(),
        target: "mysql://u:***@10.0.0.1:3306/sbtest".into(),
        server: Some(ServerInfo {
            engine: Engine::Mariadb,
            version: "10.11.6-MariaDB".into(),
        }),
        sessions: 8,
        intervals,
        totals: Totals {
            elapsed_s: 10.0,
            types: BTreeMap::from([("t".into(), stats(&all))]),
            all: stats(&all),
            fairness: Fairness {
                between_avg_s: Some(0.0),
                ..Fairness::default()
            },
            ..Totals::default()
        },
        ..RunRecord::default()
    }
}

fn rules(comparison: &Comparison) -> Vec<&'static str> {
    comparison.findings.iter().map(|f| f.rule).collect()
}

fn throughput(comparison: &Comparison) -> tidemark_analysis::compare::Compared {
    let mut metrics = comparison.metrics.iter();
    *metrics.find(|m| m.metric == Metric::Throughput).unwrap()
}

#[test]
fn clients_at_one_time_are_added_and_are_no_repeats() {
    let a = [run("a1", 0, 100), run("a2", 0, 300), run("a3", 1, 200)];
    let b = [run("b1", 60, 610), run("b2", 120, 590)];
    let comparison = compare(&a, &b).unwrap();
    let of = throughput(&comparison);
    assert!((of.a - 600.0).abs() < 1e-9, "{of:?}");
    // Three clients are one repeat, of which nothing is known but its sum.
    assert_eq!(comparison.basis, Basis::Intervals);
    assert_eq!(of.verdict, Verdict::NotEnough);
    assert_eq!(comparison.a, ["a1", "a2", "a3"]);
    assert_eq!(rules(&comparison), ["overlap", "no-repeat"]);
    // A latency of all is neither of one client nor the mean of them: the slow client has fewer.
    let p50 = comparison.metrics.iter().find(|m| m.metric == Metric::P50);
    let p50 = p50.unwrap().a;
    assert!(p50 > 26.0 && p50 < 42.0, "{p50}");
}

#[test]
fn runs_that_overlap_in_part_are_in_no_figure() {
    let a = [run("a1", 0, 100), run("a2", 5, 300), run("a3", 60, 200)];
    let b = [run("b1", 90, 200), run("b2", 120, 200)];
    let comparison = compare(&a, &b).unwrap();
    assert_eq!(comparison.a, ["a3"]);
    let left_out: Vec<_> = comparison.unusable.iter().map(|u| &*u.run).collect();
    assert_eq!(left_out, ["a1", "a2"]);
    assert!(
        comparison
            .unusable
            .iter()
            .all(|u| u.rules == ["overlap"] && u.left_out)
    );
    // The same runs, one after the other, are repeats.
    let b = [run("b1", 90, 200), run("b2", 100, 200)];
    assert_eq!(compare(&a[2..], &b).unwrap().b, ["b1", "b2"]);
}

#[test]
fn sides_that_ran_at_the_same_time_were_in_each_others_way() {
    let (a, b) = ([run("a1", 0, 100)], [run("b1", 2, 100)]);
    assert_eq!(rules(&compare(&a, &b).unwrap()), ["overlap", "no-repeat"]);
    // On two servers they were not, as far as the records tell.
    let mut b = b;
    b[0].target = "mysql://u:***@10.0.0.2:3306/sbtest".into();
    assert_eq!(rules(&compare(&a, &b).unwrap()), ["no-repeat"]);
}

/// The side's runs under these isolation levels, one after the other.
fn under(side: &str, from: u64, levels: &[Isolation]) -> Vec<RunRecord> {
    let each = levels.iter().zip(0..).map(|(level, n)| {
        let mut run = run(&format!("{side}{n}"), from + n * 60, 200 + n);
        run.isolation = Some(*level);
        run
    });
    each.collect()
}

#[test]
fn a_side_that_mixes_settings_is_told_and_so_are_they() {
    use Isolation::{ReadCommitted as Rc, RepeatableRead as Rr};
    let (a, b) = (under("a", 0, &[Rc, Rr, Rc]), under("b", 300, &[Rr, Rc, Rr]));
    let comparison = compare(&a, &b).unwrap();
    assert!(rules(&comparison).contains(&"unlike-repeats"));
    let told: Vec<&str> = comparison.differences.iter().map(|d| &*d.what).collect();
    assert_eq!(told, ["isolation"]);
    // Of sides that hold one each, that is the difference and nothing else.
    let (a, b) = (under("a", 0, &[Rc, Rc]), under("b", 300, &[Rr, Rr]));
    let comparison = compare(&a, &b).unwrap();
    assert_eq!(rules(&comparison), [""; 0]);
    assert_eq!(comparison.differences.len(), 1);
    // A setting that only some runs of a side have is none that all have.
    let (mut a, b) = (under("a", 0, &[Rc, Rc]), under("b", 300, &[Rc, Rc]));
    a[1].settings = vec![Setting {
        name: "innodb_flush_log_at_trx_commit".into(),
        value: "2".into(),
        default: Some("1".into()),
    }];
    let comparison = compare(&a, &b).unwrap();
    assert_eq!(rules(&comparison), ["unlike-repeats"]);
    assert_eq!(
        comparison.differences[0].what,
        "setting innodb_flush_log_at_trx_commit"
    );
}

#[test]
fn sides_between_which_two_conditions_changed_are_told() {
    use Isolation::{ReadCommitted as Rc, RepeatableRead as Rr};
    let told = |change: &dyn Fn(&mut RunRecord)| {
        let (a, mut b) = (under("a", 0, &[Rc, Rc]), under("b", 300, &[Rc, Rc]));
        b.iter_mut().for_each(change);
        let comparison = compare(&a, &b).unwrap();
        let mut found = comparison.findings.into_iter();
        found.find(|f| f.rule == "unequal-conditions")
    };
    let option = |run: &mut RunRecord, name: &str, value: &str| {
        let value = EffectiveOption {
            value: value.into(),
            source: Source::CommandLine,
        };
        run.options.insert(name.into(), value);
    };
    // One condition, whatever it entails.
    assert_eq!(told(&|_| {}), None);
    assert_eq!(told(&|run| run.isolation = Some(Rr)), None);
    assert_eq!(
        told(&|run| {
            run.sessions = 16;
            run.sessions_opened = Some(16);
        }),
        None
    );
    assert_eq!(
        told(&|run| {
            run.target = "postgres://u:***@10.0.0.2:5432/sbtest".into();
            run.server = Some(ServerInfo {
                engine: Engine::Postgres,
                version: "15.10".into(),
            });
        }),
        None
    );
    // What only one side states may be the other's, too.
    assert_eq!(
        told(&|run| {
            run.isolation = Some(Rr);
            option(run, "table-size", "1000");
        }),
        None
    );
    // How a run was observed is no condition of its load; how its sessions reconnect is.
    for (name, is_condition) in [("observe", false), ("on-disconnect", true)] {
        let (mut a, mut b) = (under("a", 0, &[Rc, Rc]), under("b", 300, &[Rr, Rr]));
        a.iter_mut().for_each(|run| option(run, name, "one"));
        b.iter_mut().for_each(|run| option(run, name, "other"));
        let found = compare(&a, &b).unwrap().findings;
        let is_found = found.iter().any(|f| f.rule == "unequal-conditions");
        assert_eq!(is_found, is_condition, "{name}");
    }
    let two = told(&|run| {
        run.isolation = Some(Rr);
        run.sessions = 16;
    });
    let two = two.unwrap();
    assert_eq!(two.severity, Severity::Note);
    let what = format!("{:?}", two.figure("what"));
    assert!(what.contains("sessions, isolation"), "{what}");
    assert!(
        told(&|run| {
            run.client.hostname = "other".into();
            run.isolation = Some(Rr);
        })
        .is_some()
    );
}

fn of_rates(side: &str, from: u64, rates: &[u64]) -> Vec<RunRecord> {
    let each = rates.iter().zip(0..);
    each.map(|(rate, n)| run(&format!("{side}{n}"), from + n * 60, *rate))
        .collect()
}

#[test]
fn repeats_that_disagree_are_flagged_and_those_that_agree_are_not() {
    let steady = of_rates("b", 600, &[200, 204, 198]);
    let apart = of_rates("a", 0, &[1036, 1105, 164]);
    let comparison = compare(&apart, &steady).unwrap();
    assert_eq!(rules(&comparison), ["repeats-disagree"]);
    assert_eq!(comparison.findings[0].severity, Severity::Suspect);
    let near = of_rates("a", 0, &[200, 260, 185]);
    assert_eq!(rules(&compare(&near, &steady).unwrap()), [""; 0]);
}

#[test]
fn repeats_that_climb_in_their_order_are_flagged() {
    let steady = of_rates("b", 600, &[200, 204, 198, 201, 199]);
    let climb = of_rates("a", 0, &[200, 208, 215, 220, 226]);
    assert_eq!(rules(&compare(&climb, &steady).unwrap()), ["order-effect"]);
    // The same in another order, or by a trifle, is chance.
    let mixed = of_rates("a", 0, &[208, 200, 215, 226, 220]);
    assert_eq!(rules(&compare(&mixed, &steady).unwrap()), [""; 0]);
    let trifle = of_rates("a", 0, &[200, 201, 202, 203, 204]);
    assert_eq!(rules(&compare(&trifle, &steady).unwrap()), [""; 0]);
}

#[test]
fn latencies_with_two_ends_are_not_compared_in_silence() {
    let a = of_rates("a", 0, &[1000, 1010, 1005]);
    let mut b = of_rates("b", 600, &[1003, 1008, 1001]);
    assert!(!rules(&compare(&a, &b).unwrap()).contains(&"unlike-latencies"));
    let other = match b[0].latency_end {
        LatencyEnd::Session => LatencyEnd::Arrival,
        LatencyEnd::Arrival => LatencyEnd::Session,
    };
    b.iter_mut().for_each(|run| run.latency_end = other);
    assert!(rules(&compare(&a, &b).unwrap()).contains(&"unlike-latencies"));
}

#[test]
fn where_nothing_is_shown_it_is_said_what_would_show_it() {
    let a = of_rates("a", 0, &[1000, 1100, 1050]);
    let b = of_rates("b", 600, &[1040, 1080, 1110]);
    let of = throughput(&compare(&a, &b).unwrap());
    assert_eq!(of.verdict, Verdict::NoDifferenceShown);
    let Some(Needed::Repeats(repeats)) = of.needed else {
        panic!("{of:?}");
    };
    // Deviations of 4.8 % and 3.3 %: (2.8 / ln 1.05)² × (0.048² + 0.033²) is 11.
    assert!((11..=12).contains(&repeats), "{repeats}");
    let far = of_rates("b", 600, &[2040, 2080, 2110]);
    assert_eq!(throughput(&compare(&a, &far).unwrap()).needed, None);
}

#[test]
fn what_would_show_it_is_more_than_was_made_and_nothing_where_equality_is_shown() {
    // Ten repeats a side within a tenth of a percent: no difference of 5 % is left.
    let steady = |side: &str, from: u64| {
        let rates: Vec<u64> = (0..10).map(|n| 2000 + n % 3).collect();
        of_rates(side, from, &rates)
    };
    let of = throughput(&compare(&steady("a", 0), &steady("b", 900)).unwrap());
    assert_eq!(of.verdict, Verdict::NoDifferenceShown);
    assert_eq!(of.needed, None, "{of:?}");
    // Six repeats of 2.4 %: by their spread four would do, but these six left 5 % open.
    let a = of_rates("a", 0, &[1000, 1040, 980, 1030, 990, 1010]);
    let b = of_rates("b", 900, &[1030, 1060, 1005, 1055, 1010, 1040]);
    let of = throughput(&compare(&a, &b).unwrap());
    assert_eq!(of.verdict, Verdict::NoDifferenceShown);
    assert!(of.interval.unwrap().1 > 1.05, "{of:?}");
    assert_eq!(of.needed, Some(Needed::Repeats(7)), "{of:?}");
}

#[test]
fn printed_repeats_are_no_more_sure_than_their_digits() {
    let printed = |tool: &str, side: &str, from: u64, (ms, rounding): (f64, f64)| {
        let mut runs = of_rates(side, from, &[1000; 6]);
        for run in &mut runs {
            run.imported = Some(Imported {
                tool: tool.into(),
                figures: vec![StatedFigure {
                    name: "p95_ms".into(),
                    value: ms,
                    rounding,
                    ..StatedFigure::default()
                }],
                ..Imported::default()
            });
            run.totals.all = TypeStats {
                quantiles: Some(Quantiles {
                    mean_ms: Some(ms),
                    percentiles_ms: BTreeMap::from([("95".into(), ms)]),
                    ..Quantiles::default()
                }),
                ..stats(&Histogram::new())
            };
            run.totals.all.count = 10_000;
        }
        runs
    };
    let p95 = |tool: &str, ms: f64, rounding: f64| {
        let of = |side, from| printed(tool, side, from, (ms, rounding));
        let (a, b) = (of("a", 0), of("b", 600));
        let of = compare(&a, &b).unwrap();
        let of = of.metrics.iter().find(|of| of.metric == Metric::P95);
        let of = *of.unwrap();
        assert_eq!(of.verdict, Verdict::NoDifferenceShown, "{of:?}");
        assert_eq!(of.needed, None, "{of:?}");
        of.interval.unwrap().1
    };
    // Two digits behind the point are a twentieth of a percent of 20 ms, and a fifth of 0.05 ms: no number of
    // repeats shows 5 % of it. So are whole milliseconds of 12.
    assert!(p95("hammerdb", 20.0, 0.005) < 1.001);
    assert!(p95("hammerdb", 0.05, 0.005) > 1.1);
    assert!(p95("hammerdb", 12.0, 0.5) > 1.05);
    // Where nobody knows how it was rounded, it is two digits.
    assert!(p95("hammerdb", 20.0, 0.0) < 1.001);
    // sysbench's are bounds of its buckets, too, and so may be a table's.
    for tool in ["sysbench", "table"] {
        let of_buckets = p95(tool, 20.0, 0.005);
        assert!(of_buckets > 1.01 && of_buckets < 1.05, "{of_buckets}");
    }
}

#[test]
fn of_several_jobs_on_a_side_neither_spread_nor_order_is_told() {
    let steady = of_rates("b", 600, &[200, 204, 198, 201, 199]);
    let threads = |runs: &mut [RunRecord]| {
        for (n, run) in runs.iter_mut().enumerate() {
            run.sessions = 8 + n;
        }
    };
    for rates in [[200, 208, 215, 220, 226], [200, 900, 215, 220, 226]] {
        let mut mixed = of_rates("a", 0, &rates);
        assert_eq!(rules(&compare(&mixed, &steady).unwrap()).len(), 1);
        threads(&mut mixed);
        let found = compare(&mixed, &steady).unwrap();
        assert_eq!(rules(&found), ["unlike-repeats"]);
        // The other side is of one job, and is judged.
        let apart = of_rates("b", 600, &[200, 204, 400, 201, 199]);
        let found = compare(&mixed, &apart).unwrap();
        assert_eq!(rules(&found), ["unlike-repeats", "repeats-disagree"]);
    }
}

#[test]
fn what_is_told_by_a_size_is_no_carried_state() {
    let table = |table: &str, rows: u64, expected_rows: Option<u64>| TableState {
        table: table.into(),
        rows,
        expected_rows,
        min_key: None,
        max_key: None,
    };
    let option = |value: &str| EffectiveOption {
        value: value.into(),
        source: Source::CommandLine,
    };
    let of = |id: &str, at: u64, warehouses: u64, lines: u64| {
        let mut run = run(id, at, 200);
        run.options
            .insert("warehouses".into(), option(&warehouses.to_string()));
        run.tables_before = vec![
            table("warehouse", warehouses, Some(warehouses)),
            table("order_line", lines, None),
        ];
        run
    };
    let a = [of("a1", 0, 1, 300_000), of("a2", 60, 1, 300_100)];
    let b = [of("b1", 120, 2, 600_000), of("b2", 180, 2, 600_100)];
    let comparison = compare(&a, &b).unwrap();
    assert_eq!(rules(&comparison), [""; 0]);
    let told: Vec<&str> = comparison.differences.iter().map(|d| &*d.what).collect();
    assert_eq!(told, ["option warehouses"]);
    let grown = [of("b1", 120, 1, 300_000), of("b2", 180, 1, 340_000)];
    assert_eq!(rules(&compare(&a, &grown).unwrap()), ["carried-state"]);
}
