//! A parser of sysbench's output as people write them, and the same printed again.

use regex::Regex;
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_compat::sysbench::{self, IntervalLine, Latency, RunHeader, Summary};
use tidemark_core::record::{Fairness, Phase, StatementCounts};
use tidemark_stats::Histogram;

/// What scripts take out of sysbench's output.
#[derive(Debug, Default, PartialEq)]
pub struct Parsed {
    pub sysbench: String,
    pub options: BTreeMap<&'static str, String>,
    pub intervals: Vec<IntervalLine>,
    /// At checkpoints and at the end.
    pub summaries: Vec<Summary>,
    pub checkpoints: Vec<u64>,
    pub histogram: Vec<(String, u64)>,
}

pub fn number(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"))
}

pub fn parse(text: &str) -> Parsed {
    let find = |pattern: &str| -> Option<String> {
        let captured = Regex::new(pattern).unwrap().captures(text)?;
        Some(captured[1].to_string())
    };
    let mut parsed = Parsed {
        sysbench: find(r"sysbench (\d+\.\d+\.\d+)").unwrap(),
        ..Parsed::default()
    };
    for (name, pattern) in [
        ("threads", r"(?m)^Number of threads: (\d+)$"),
        ("rate", r"(?m)^Target transaction rate: (\d+)/sec$"),
        (
            "every",
            r"(?m)^Report intermediate results every (\d+) second\(s\)$",
        ),
        (
            "checkpoints",
            r"(?m)^Report checkpoint\(s\) at ([\d, ]+) seconds$",
        ),
        (
            "seed",
            r"(?m)^Initializing random number generator from seed \((\d+)\)\.$",
        ),
        ("forced", r"(?m)^Forcing shutdown in (\d+) seconds$"),
        ("debug", r"(?m)^(Debug mode enabled\.)$"),
        ("validate", r"(?m)^(Validation checks: on\.)$"),
    ] {
        if let Some(value) = find(pattern) {
            parsed.options.insert(name, value);
        }
    }
    let line = Regex::new(
        r"(?m)^\[ (\d+)s \] thds: (\d+) tps: ([\d.]+) qps: ([\d.]+) \(r/w/o: ([\d.]+)/([\d.]+)/([\d.]+)\) lat \(ms,(\d+)%\): ([\d.]+) err/s:? ([\d.]+) reconn/s: ([\d.]+)",
    )
    .unwrap();
    for c in line.captures_iter(text) {
        let percent = number(&c[8]);
        parsed.intervals.push(IntervalLine {
            at_s: number(&c[1]),
            phase: Phase::Measure,
            sessions: c[2].parse().unwrap(),
            transactions: number(&c[3]),
            queries: number(&c[4]),
            read: number(&c[5]),
            write: number(&c[6]),
            other: number(&c[7]),
            latency_ms: (percent > 0.0)
                .then(|| (percent, number(&c[9])))
                .into_iter()
                .collect(),
            errors: number(&c[10]),
            reconnects: number(&c[11]),
            open_loop: None,
            rate: None,
        });
        let sum = number(&c[5]) + number(&c[6]) + number(&c[7]);
        assert!((sum - number(&c[4])).abs() < 0.02, "qps of {}", &c[0]);
    }
    let queue = Regex::new(r"(?m)^\[ (\d+)s \] queue length: (\d+), concurrency: (\d+)$").unwrap();
    for (c, interval) in queue.captures_iter(text).zip(&mut parsed.intervals) {
        assert_eq!(number(&c[1]), interval.at_s);
        interval.open_loop = Some((c[2].parse().unwrap(), c[3].parse().unwrap()));
    }
    let at = Regex::new(r"(?m)^\[ (\d+)s \] Checkpoint report:$").unwrap();
    parsed.checkpoints = at
        .captures_iter(text)
        .map(|c| c[1].parse().unwrap())
        .collect();
    parsed.summaries = text
        .split("SQL statistics:\n")
        .skip(1)
        .map(parse_summary)
        .collect();
    let bucket = Regex::new(r"(?m)^ +(\d+\.\d{3}) \|\**\s+(\d+)$").unwrap();
    parsed.histogram = bucket
        .captures_iter(text)
        .map(|c| (c[1].to_string(), c[2].parse().unwrap()))
        .collect();
    parsed
}

pub fn parse_summary(block: &str) -> Summary {
    let captures = |pattern: &str| -> Vec<String> {
        let c = Regex::new(pattern).unwrap().captures(block);
        let c = c.unwrap_or_else(|| panic!("no {pattern} in {block}"));
        c.iter()
            .skip(1)
            .map(|m| m.unwrap().as_str().to_string())
            .collect()
    };
    let count = |pattern: &str| -> u64 { captures(pattern)[0].parse().unwrap() };
    let float = |pattern: &str| number(&captures(pattern)[0]);
    let pair = |pattern: &str| {
        let c = captures(pattern);
        (number(&c[0]), number(&c[1]))
    };
    let queries = pair(r"(?m)^\s+queries:\s+(\d+)\s+\(([\d.]+) per sec\.\)$");
    let percentile = Regex::new(r"(?m)^\s+([\d.]+)th percentile:\s+([\d.]+)$").unwrap();
    let percentiles_ms: Vec<_> = percentile
        .captures_iter(block)
        .map(|c| (number(&c[1]), number(&c[2])))
        .collect();
    assert_eq!(
        percentiles_ms.is_empty(),
        Regex::new(r"(?m)^\s+percentile stats:\s+disabled$")
            .unwrap()
            .is_match(block)
    );
    let (events_avg, events_stddev) = pair(r"events \(avg/stddev\):\s+([\d.]+)/([\d.]+)");
    let (time_avg_s, time_stddev_s) = pair(r"execution time \(avg/stddev\):\s+([\d.]+)/([\d.]+)");
    let summary = Summary {
        statements: StatementCounts {
            read: count(r"(?m)^\s+read:\s+(\d+)$"),
            write: count(r"(?m)^\s+write:\s+(\d+)$"),
            other: count(r"(?m)^\s+other:\s+(\d+)$"),
            noop_writes: 0,
            round_trips: 0,
        },
        transactions: count(r"(?m)^\s+transactions:\s+(\d+)\s+\([\d.]+ per sec\.\)$"),
        ignored_errors: count(r"(?m)^\s+ignored errors:\s+(\d+)\s+\([\d.]+ per sec\.\)$"),
        reconnects: count(r"(?m)^\s+reconnects:\s+(\d+)\s+\([\d.]+ per sec\.\)$"),
        // sysbench does not print the span its rates are over; the largest count gives it best.
        span_s: if queries.1 > 0.0 {
            queries.0 / queries.1
        } else {
            0.0
        },
        total_time_s: float(r"(?m)^\s+total time:\s+([\d.]+)s$"),
        latency: Latency {
            min_ms: float(r"(?m)^\s+min:\s+([\d.]+)$"),
            avg_ms: float(r"(?m)^\s+avg:\s+([\d.]+)$"),
            max_ms: float(r"(?m)^\s+max:\s+([\d.]+)$"),
            percentiles_ms,
            sum_ms: float(r"(?m)^\s+sum:\s+([\d.]+)$"),
        },
        fairness: Fairness {
            events_avg,
            events_stddev,
            time_avg_s,
            time_stddev_s,
            ..Fairness::default()
        },
    };
    assert_eq!(
        count(r"(?m)^\s+total:\s+(\d+)$"),
        summary.statements.total()
    );
    assert_eq!(
        count(r"(?m)^\s+total number of events:\s+(\d+)$"),
        summary.transactions
    );
    summary
}

/// Prints what was parsed, with our functions, in sysbench's order.
pub fn print_again(parsed: &Parsed) -> String {
    let option = |name: &str| parsed.options.get(name).map(String::as_str);
    let int = |name: &str| option(name).map(|v: &str| v.parse::<u64>().unwrap());
    let checkpoints_s: Vec<u64> = option("checkpoints")
        .map(|list| list.split(", ").map(|n| n.parse().unwrap()).collect())
        .unwrap_or_default();
    let mut text = sysbench::version_line("9.9.9");
    text += &RunHeader {
        threads: int("threads").unwrap() as usize,
        beyond: &[],
        rate: int("rate").map(|r| r as f64),
        report_interval_s: int("every").unwrap_or(0),
        checkpoints_s: &checkpoints_s,
        debug: option("debug").is_some(),
        validate: option("validate").is_some(),
        seed: int("seed").unwrap_or(42),
        seed_given: option("seed").is_some(),
        forced_shutdown_s: int("forced"),
        target: None,
        server: None,
    }
    .to_string();
    text += sysbench::initializing();
    text += sysbench::started();
    parsed.intervals.iter().for_each(|i| text += &i.to_string());
    let (last, before) = parsed.summaries.split_last().unwrap();
    before.iter().for_each(|s| text += &sysbench::checkpoint(s));
    if !parsed.histogram.is_empty() {
        let mut h = Histogram::new();
        for (ms, count) in &parsed.histogram {
            for _ in 0..*count {
                h.record(Duration::from_secs_f64(number(ms) / 1000.0));
            }
        }
        text += &sysbench::histogram(&h);
    }
    text + &last.to_string()
}
