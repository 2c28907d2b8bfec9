//! Made runs for the rules to look at.
#![allow(dead_code)] // each test takes what it needs
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tidemark_analysis::{Finding, findings};
use tidemark_core::Source;
use tidemark_core::record::*;
use tidemark_import::{Origin, read};
use tidemark_stats::Histogram;

/// What is said of the runs of a document, which has some.
pub fn found_in(text: &str) -> Vec<Finding> {
    let import = read(text.as_bytes(), &Origin::of("doc.md"), &mut |_, _, _| {}).unwrap();
    assert!(!import.runs.is_empty(), "{text}");
    let runs = import.runs.iter();
    runs.flat_map(|run| findings(run).unwrap()).collect()
}

/// How sysbench ended before version 1.0: milliseconds (least, mean, most, 95th percentile), then means
/// and deviations of each session's events and seconds.
pub fn old_sysbench_ending(ms: [&str; 4], events: &str, seconds: &str) -> String {
    let names = ["min:", "avg:", "max:", "approx.  95 percentile:"];
    let mut text = String::new();
    for (name, ms) in names.into_iter().zip(ms) {
        let blank = 42 - name.len();
        text += &format!("         {name}{ms:>blank$}ms\n");
    }
    text += &format!("\nThreads fairness:\n    events (avg/stddev):           {events}\n");
    text + &format!("    execution time (avg/stddev):   {seconds}\n")
}

/// Latencies around `ms`, none alike.
pub fn histogram(count: u64, ms: f64) -> Histogram {
    let mut h = Histogram::new();
    for i in 0..count {
        let share = 0.5 + (i as f64 + 0.5) / count as f64;
        h.record(Duration::from_secs_f64(ms * share / 1000.0));
    }
    h
}

pub fn stats(h: &Histogram) -> TypeStats {
    TypeStats {
        count: h.count(),
        service: EncodedHistogram(h.encode()),
        ..TypeStats::default()
    }
}

/// The `n`-th second of a run of one type.
pub fn second(n: usize, latencies: &Histogram) -> Interval {
    Interval {
        start_ms: n as i64 * 1000,
        length_ms: 1000.0,
        types: BTreeMap::from([("t".into(), stats(latencies))]),
        ..Interval::default()
    }
}

/// A clean closed loop of 20 s: 8 sessions, 1,000 transactions a second of 7.9 ms.
pub fn clean() -> RunRecord {
    of_rates(&[1000; 20])
}

pub fn of_rates(rates: &[u64]) -> RunRecord {
    let mut all = Histogram::new();
    let intervals: Vec<Interval> = rates
        .iter()
        .enumerate()
        .map(|(n, rate)| {
            // Closed: eight sessions are always at work.
            let h = histogram(*rate, 7900.0 / (*rate).max(1) as f64);
            all.merge(&h);
            second(n, &h)
        })
        .collect();
    let elapsed_s = rates.len() as f64;
    let mut record = RunRecord {
        id: "made".into(),
        state: RunState::Finished,
        workload: "oltp_read_write".into(),
        latency_end: LatencyEnd::Session,
        sessions: 8,
        intervals,
        ..RunRecord::default()
    };
    record.totals.elapsed_s = elapsed_s;
    record.totals.statements.write = 1000;
    record.totals.fairness.between_avg_s = Some(0.01 * elapsed_s);
    set_latencies(&mut record, &all);
    record
}

pub fn set_latencies(record: &mut RunRecord, h: &Histogram) {
    record.totals.all = stats(h);
    record.totals.types = BTreeMap::from([("t".into(), stats(h))]);
}

pub fn option(record: &mut RunRecord, name: &str, value: &str) {
    let option = EffectiveOption {
        value: value.into(),
        source: Source::CommandLine,
    };
    record.options.insert(name.into(), option);
}

pub fn rules(record: &RunRecord) -> Vec<&'static str> {
    let found = findings(record).unwrap();
    found.iter().for_each(both_languages_use_the_figures);
    found.iter().map(|f| f.rule).collect()
}

pub fn both_languages_use_the_figures(found: &Finding) {
    for both in [found.says, found.instead] {
        let places = |text: &'static str| -> BTreeSet<&str> {
            let after = text.split('{').skip(1);
            after
                .filter_map(|part| part.split_once('}')?.0.split('|').next())
                .collect()
        };
        assert_eq!(places(both.en), places(both.zh), "{}", found.rule);
        assert!(
            places(both.en).iter().all(|p| found.figure(p).is_some()),
            "{found:?}"
        );
    }
}

pub fn only(record: &RunRecord, rule: &str) -> Finding {
    let mut found = findings(record).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].rule, rule);
    found.remove(0)
}
