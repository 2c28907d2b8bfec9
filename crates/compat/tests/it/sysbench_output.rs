//! Our sysbench output against captured output of sysbench 1.0.20: one parser, written as people
//! write them, reads both; and what it read from sysbench's output is printed again byte for byte.

use super::parsed::{parse, parse_summary, print_again};
use regex::Regex;
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_compat::sysbench::{self, IntervalLine, RunHeader, Summary};
use tidemark_core::record::*;
use tidemark_core::{Engine, ErrorClass, ServerInfo};
use tidemark_report::{Merged, totals};
use tidemark_stats::Histogram;

const CAPTURED: [(&str, &str); 16] = [
    ("report", include_str!("../data/sysbench/report.txt")),
    ("pg-report", include_str!("../data/sysbench/pg-report.txt")),
    ("histogram", include_str!("../data/sysbench/histogram.txt")),
    (
        "pg-histogram",
        include_str!("../data/sysbench/pg-histogram.txt"),
    ),
    (
        "checkpoints",
        include_str!("../data/sysbench/checkpoints.txt"),
    ),
    (
        "percentile-off",
        include_str!("../data/sysbench/percentile-off.txt"),
    ),
    ("p99", include_str!("../data/sysbench/p99.txt")),
    ("p100", include_str!("../data/sysbench/p100.txt")),
    ("rate", include_str!("../data/sysbench/rate.txt")),
    (
        "rate-overload",
        include_str!("../data/sysbench/rate-overload.txt"),
    ),
    ("seed", include_str!("../data/sysbench/seed.txt")),
    ("debug", include_str!("../data/sysbench/debug.txt")),
    ("validate", include_str!("../data/sysbench/validate.txt")),
    (
        "forced-shutdown",
        include_str!("../data/sysbench/forced-shutdown.txt"),
    ),
    (
        "ignored-errors",
        include_str!("../data/sysbench/ignored-errors.txt"),
    ),
    ("events", include_str!("../data/sysbench/events.txt")),
];

/// The lines that differ on purpose, and those of sysbench's that only its debug mode has.
fn comparable(text: &str) -> String {
    let debug = Regex::new(r"(?m)^(DEBUG:.*|Event limit exceeded.*|Done\.)\n\n?").unwrap();
    let seed = Regex::new(r" \(seed \d+\)\n").unwrap();
    let version = Regex::new(r"^.*\n").unwrap();
    let text = debug.replace_all(text, "");
    let text = seed.replace_all(&text, "\n");
    version.replace(&text, "VERSION\n").into_owned()
}

#[test]
fn what_the_parser_reads_from_sysbench_is_printed_again_byte_for_byte() {
    for (name, captured) in CAPTURED {
        let parsed = parse(captured);
        assert_eq!(parsed.sysbench, "1.0.20");
        assert!(!parsed.summaries.is_empty(), "{name}");
        let again = print_again(&parsed);
        assert_eq!(comparable(&again), comparable(captured), "{name}");
        let mut reparsed = parse(&again);
        // The span is worked out from rounded rates; it can be off in its last digits.
        for (r, p) in reparsed.summaries.iter_mut().zip(&parsed.summaries) {
            assert!((r.span_s - p.span_s).abs() <= 1e-3 * p.span_s, "{name}");
            r.span_s = p.span_s;
        }
        assert_eq!(reparsed, parsed, "{name}");
    }
}

#[test]
fn the_captured_runs_have_what_they_were_captured_for() {
    let of = |name| parse(CAPTURED.iter().find(|(n, _)| *n == name).unwrap().1);
    assert_eq!(of("report").intervals.len(), 3);
    assert_eq!(of("checkpoints").checkpoints, [2, 4]);
    assert_eq!(of("checkpoints").summaries.len(), 3);
    assert_eq!(of("rate-overload").intervals[2].open_loop, Some((9637, 2)));
    assert_eq!(of("histogram").histogram.len(), 81);
    assert_eq!(of("ignored-errors").summaries[0].ignored_errors, 592);
    assert!(of("percentile-off").intervals[0].latency_ms.is_empty());
    assert_eq!(of("seed").options["seed"], "5");
}

fn interval(n: i64, latencies_us: &[u64], open_loop: bool) -> Interval {
    let mut h = Histogram::new();
    latencies_us
        .iter()
        .for_each(|us| h.record(Duration::from_micros(*us)));
    let encoded = EncodedHistogram(h.encode());
    let mut later = Histogram::new();
    latencies_us
        .iter()
        .for_each(|us| later.record(Duration::from_micros(us * 10)));
    let stats = TypeStats {
        count: h.count(),
        service: encoded,
        response: open_loop.then(|| EncodedHistogram(later.encode())),
        ..TypeStats::default()
    };
    Interval {
        start_ms: n * 1000,
        length_ms: 1000.0,
        phase: if n < 0 { Phase::Warmup } else { Phase::Measure },
        sessions: 7 + n.unsigned_abs(),
        statements: StatementCounts {
            read: 140,
            write: 40,
            other: 20,
            noop_writes: 2,
            round_trips: 190,
        },
        ignored_errors: 3,
        reconnects: 1,
        queue_length: 5,
        concurrency: 6,
        types: BTreeMap::from([("t".into(), stats)]),
        ..Interval::default()
    }
}

#[test]
fn intervals_of_ours_are_read_by_the_same_parser() {
    let intervals = [
        interval(0, &[1000; 60], false),
        interval(1, &[3000; 40], false),
    ];
    let merged = Merged::of(&intervals).unwrap();
    let line = IntervalLine::of(&merged, Phase::Measure, &[95.0], false, 5.0);
    let text = line.to_string();
    assert_eq!(
        text,
        "[ 2s ] thds: 8 tps: 50.00 qps: 200.00 (r/w/o: 140.00/40.00/20.00) \
         lat (ms,95%): 3.00 err/s: 3.00 reconn/s: 1.00\n"
    );
    // The parser wants a summary too, as any output has one.
    let total = Summary::of_totals(&totals(&intervals).unwrap(), &[95.0]).unwrap();
    let parsed = parse(&format!("{}{text}{total}", sysbench::version_line("1")));
    let mut rounded = line.clone();
    rounded.latency_ms[0].1 = 3.0;
    assert_eq!(parsed.intervals, [rounded]);
    assert_eq!(parsed.summaries[0].transactions, 100);
    assert_eq!(parsed.summaries[0].latency.sum_ms, 180.0);
    assert_eq!(parsed.summaries[0].latency.avg_ms, 1.8);
    assert_eq!(parsed.summaries[0].total_time_s, 2.0);
}

#[test]
fn several_percentiles_keep_the_line_as_parsers_know_it() {
    let merged = Merged::of(&[interval(4, &[1000; 100], false)]).unwrap();
    let line = IntervalLine::of(&merged, Phase::Measure, &[99.0, 50.0, 99.9], false, 5.0);
    let text = line.to_string();
    assert!(
        text.ends_with(
            "lat (ms,99%): 1.00 err/s: 3.00 reconn/s: 1.00 lat (ms,50%): 1.00 lat (ms,99.9%): 1.00\n"
        ),
        "{text}"
    );
    let summary = Summary::of_merged(&merged, Fairness::default(), &[99.0, 50.0, 99.9, 100.0]);
    let text = summary.to_string();
    assert!(
        text.contains(
            "
         99th percentile:                        1.00
         50th percentile:                        1.00
       99.9th percentile:                        1.00
        100th percentile:                        1.00
         sum: "
        ),
        "{text}"
    );
    assert_eq!(parse_summary(&text).latency.percentiles_ms.len(), 4);
}

#[test]
fn open_loop_lines_give_response_times_and_the_queue() {
    let merged = Merged::of(&[interval(0, &[1000; 100], true)]).unwrap();
    let text = IntervalLine::of(&merged, Phase::Measure, &[95.0], true, 5.0).to_string();
    assert!(text.contains("lat (ms,95%): 10.0"), "{text}");
    assert!(
        text.ends_with("\n[ 1s ] queue length: 5, concurrency: 6\n"),
        "{text}"
    );
}

#[test]
fn no_parser_takes_warm_up_for_a_result() {
    let merged = Merged::of(&[interval(-3, &[1000; 100], false)]).unwrap();
    let text = IntervalLine::of(&merged, Phase::Warmup, &[95.0], false, 5.0).to_string();
    assert!(
        text.starts_with("[ warm-up 3s ] thds: 10 tps: 100.00"),
        "{text}"
    );
    let summary = Summary::default().to_string();
    let text = format!("{}{text}{summary}", sysbench::version_line("1"));
    assert!(parse(&text).intervals.is_empty());
}

#[test]
fn a_run_without_an_event_prints_zeros_as_sysbench_does() {
    let text = Summary::of_totals(&Totals::default(), &[95.0])
        .unwrap()
        .to_string();
    let parsed = parse_summary(&text);
    assert_eq!(parsed.latency.percentiles_ms, [(95.0, 0.0)]);
    assert!(text.contains("transactions:                        0      (0.00 per sec.)"));
    assert!(text.contains("min:                                    0.00"));
    assert!(!text.contains("NaN") && !text.contains("inf"));
    let nothing = Merged::of(&[]).unwrap();
    let line = IntervalLine::of(&nothing, Phase::Measure, &[95.0], false, 5.0).to_string();
    assert!(line.contains("tps: 0.00"), "{line}");
    assert!(sysbench::histogram(&Histogram::new()).ends_with("count\n \n"));
}

#[test]
fn a_histogram_that_cannot_be_read_is_an_error_that_says_where() {
    let mut broken = interval(3, &[1], false);
    broken.types.get_mut("t").unwrap().service = EncodedHistogram("1:2:3:%%%".into());
    let error = Merged::of(&[interval(2, &[1], false), broken.clone()])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("3000 ms") && error.contains("type t"),
        "{error}"
    );
    let mut sum = Totals::default();
    sum.all.service = EncodedHistogram("nonsense".into());
    let error = Summary::of_totals(&sum, &[]).unwrap_err().to_string();
    assert!(error.contains("the whole run"), "{error}");
    assert!(totals(&[broken]).is_err());
}

#[test]
fn the_header_names_target_server_and_seed() {
    let server = ServerInfo {
        engine: Engine::Mariadb,
        version: "11.4.2".into(),
    };
    let text = RunHeader {
        threads: 8,
        beyond: &["Think time: exp:12s".into()],
        seed: 77,
        rate: Some(12.5),
        target: Some("mysql://u:***@h/db"),
        server: Some(&server),
        ..RunHeader::default()
    }
    .to_string();
    assert_eq!(
        text,
        "Running the test with following options:
Number of threads: 8
Target: mysql://u:***@h/db
Server: MariaDB 11.4.2
Target transaction rate: 12.5/sec
Think time: exp:12s
Initializing random number generator from current time (seed 77)


"
    );
}

#[test]
fn the_limit_that_ended_the_run_is_said_as_at_verbosity_4() {
    assert_eq!(
        sysbench::ending(true, 1),
        "Event limit exceeded, exiting...\nDone.\n\n"
    );
    assert_eq!(
        sysbench::ending(false, 4),
        "Time limit exceeded, exiting...\n(last message repeated 3 times)\nDone.\n\n"
    );
}

#[test]
fn errors_by_code_stay_on_their_lines() {
    assert_eq!(tidemark_report::errors(&[]), "");
    let text = tidemark_report::errors(&[ErrorCount {
        code: "1213".into(),
        class: ErrorClass::Retryable,
        kind: None,
        count: 12,
        first_message: "Deadlock\n    transactions:   9999".into(),
    }]);
    assert_eq!(
        text,
        "Errors:\n    1213 (retryable):                    12     Deadlock     transactions:   9999\n\n"
    );
}
