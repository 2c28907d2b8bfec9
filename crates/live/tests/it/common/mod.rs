//! Intervals that are known.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod drawing;

use std::time::Duration;
use tidemark_core::ErrorClass;
use tidemark_core::record::{
    EncodedHistogram, ErrorCount, Interval, Phase, StatementCounts, TypeStats,
};
use tidemark_live::RunInfo;
use tidemark_report::Lang;
use tidemark_stats::Histogram;

/// `count` latencies from `least` on, each a thousandth of it longer than the last.
pub fn histogram(count: u64, least: Duration) -> Histogram {
    let mut h = Histogram::new();
    for n in 0..count {
        h.record(least + least * u32::try_from(n).unwrap() / 1000);
    }
    h
}

pub fn stats(service: &Histogram, response: Option<&Histogram>) -> TypeStats {
    TypeStats {
        count: service.count(),
        service: EncodedHistogram(service.encode()),
        server: Some(EncodedHistogram(service.encode())),
        response: response.map(|h| EncodedHistogram(h.encode())),
        wait: None,
        ..TypeStats::default()
    }
}

/// The `n`th second of a TPC-C-like run whose first two are warm-up; `due` says whether there are
/// response times.
pub fn second(n: u32, due: bool) -> Interval {
    let mut interval = Interval {
        start_ms: (i64::from(n) - 2) * 1000,
        length_ms: 1000.0,
        phase: if n < 2 { Phase::Warmup } else { Phase::Measure },
        sessions: 16,
        statements: StatementCounts {
            read: 1000,
            write: 400,
            other: 200,
            noop_writes: 0,
            round_trips: 0,
        },
        ignored_errors: u64::from(n.is_multiple_of(3)),
        reconnects: u64::from(n == 5),
        queue_length: 3,
        concurrency: 12,
        rate: due.then_some(500.0),
        delayed_arrivals: 7,
        dropped_arrivals: 1,
        ..Interval::default()
    };
    for (name, count, least_us) in [
        ("NewOrder", 200 + u64::from(n), 3000),
        ("Payment", 190, 900),
    ] {
        let service = histogram(count, Duration::from_micros(least_us));
        let response = histogram(count, Duration::from_micros(least_us + 500));
        let one = stats(&service, due.then_some(&response));
        interval.types.insert(name.into(), one);
    }
    interval.notes.insert("rolled_back".into(), 2);
    interval
}

pub fn error(code: &str, count: u64, message: &str) -> ErrorCount {
    ErrorCount {
        code: code.into(),
        class: ErrorClass::Retryable,
        kind: None,
        count,
        first_message: message.into(),
    }
}

pub fn info(due: bool) -> RunInfo {
    RunInfo {
        id: "0199a1b2".into(),
        workload: "tpcc".into(),
        engine: "MariaDB".into(),
        version: "10.11.19".into(),
        tidemark_version: "0.1.0".into(),
        study: None,
        types: ["NewOrder", "Payment", "OrderStatus"]
            .map(String::from)
            .into(),
        sessions: 16,
        terminals: 16,
        warmup: Duration::from_secs(2),
        length: Some(Duration::from_secs(60)),
        open_loop: due,
        lang: Lang::En,
    }
}
