//! A record with something in each of its parts.

use super::write;
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::record::*;
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};
use tidemark_core::{Engine, ErrorClass, ServerInfo, Source};
use tidemark_stats::Histogram;
use tidemark_store::{Store, to_json};

fn latencies(values_us: std::ops::Range<u64>) -> TypeStats {
    let mut h = Histogram::new();
    values_us.for_each(|us| h.record(Duration::from_micros(us)));
    let encoded = EncodedHistogram(h.encode());
    TypeStats {
        count: h.count(),
        service: encoded.clone(),
        server: Some(encoded.clone()),
        response: Some(encoded.clone()),
        wait: Some(encoded),
        ..TypeStats::default()
    }
}

fn interval(n: i64) -> Interval {
    Interval {
        start_ms: n * 1000,
        length_ms: 1000.5,
        phase: if n < 0 { Phase::Warmup } else { Phase::Measure },
        sessions: 4,
        statements: StatementCounts {
            read: 14,
            write: 4,
            other: 2,
            noop_writes: 1,
            round_trips: 0,
        },
        ignored_errors: 1,
        rate: Some(10.0),
        delayed_arrivals: 2,
        dropped_arrivals: 1,
        outage_ms: 10.5,
        types: BTreeMap::from([("oltp_read_write".into(), latencies(1000..1004))]),
        ..Interval::default()
    }
}

fn record() -> RunRecord {
    let totals = Totals {
        elapsed_s: 2.5,
        types: BTreeMap::from([("oltp_read_write".into(), latencies(1000..1008))]),
        all: latencies(1000..1008),
        lateness: Some(latencies(1..3).service),
        outage_s: 0.5,
        hosts: vec![HostLoad {
            host: "h1:3306".into(),
            ..HostLoad::default()
        }],
        ..Totals::default()
    };
    RunRecord {
        schema_version: SCHEMA_VERSION,
        id: "01932b7e-53a0-7c11-8a70-0c1d2e3f4a5b".into(),
        tidemark_version: "0.1.0".into(),
        started_at: "2026-11-21T20:05:23.123Z".into(),
        state: RunState::Finished,
        workload: "oltp_read_write".into(),
        target: "mysql://sbtest:***@h1:3306/sbtest".into(),
        server: Some(ServerInfo {
            engine: Engine::Mariadb,
            version: "11.4.2-MariaDB".into(),
        }),
        options: BTreeMap::from([(
            "threads".into(),
            EffectiveOption {
                value: "4".into(),
                source: Source::CommandLine,
            },
        )]),
        sessions: 4,
        executors: 2,
        rate: Some(10.0),
        inject_rtt_ms: 20.0,
        terminals: Some(100),
        tables_after: vec![TableState {
            table: "sbtest1".into(),
            rows: 10,
            expected_rows: Some(10),
            min_key: Some(1),
            max_key: None,
        }],
        intervals: (-1..3).map(interval).collect(),
        steps: vec![Step {
            purpose: StepPurpose::Climb,
            rate: Some(10.0),
            start_ms: 0,
            totals: totals.clone(),
            verdict: Some(StepVerdict {
                kept: true,
                because: "p99 17.1 ms".into(),
            }),
            cut_short: false,
        }],
        outages: vec![Outage {
            host: "h1:3306".into(),
            start_ms: 100,
            length_ms: 500.5,
            ended: true,
            first_error: "2002: refused".into(),
        }],
        errors: vec![ErrorCount {
            code: "1213".into(),
            class: ErrorClass::Retryable,
            kind: None,
            count: 3,
            first_message: "Deadlock found".into(),
        }],
        totals,
        series: series().into(),
        ..RunRecord::default()
    }
}

/// One without gaps, one with, and a second piece of the first.
fn series() -> [Series; 3] {
    [(0, 1), (0, 3), (40, 1)].map(|(first, step)| {
        let labels = format!("{step}");
        let key = SeriesKey::new("client-host", "cpu.busy", "ratio", Measures::Rate);
        let mut builder = SeriesBuilder::new(key.with("core", labels), 2, 1000);
        for n in 0..40 {
            builder.push((first + n * step) * 1000, (n * n % 17) as f64 / 17.0);
        }
        builder.series().unwrap()
    })
}

pub fn records() {
    let record = record();
    let text = to_json(&record).unwrap();
    write(
        "record",
        "written-record",
        &[b"\0", text.as_bytes()].concat(),
    );
    let closed = RunRecord {
        rate: None,
        steps: vec![],
        outages: vec![],
        intervals: vec![],
        ..record.clone()
    };
    let text = to_json(&closed).unwrap().replace("\n", " ");
    write(
        "record",
        "written-closed",
        &[b"\0", text.as_bytes()].concat(),
    );
    let lines = [latencies(1..50), latencies(70_000..70_009)].map(|t| t.service.0);
    let data = format!("\x01{}", lines.join("\n"));
    write("record", "written-histograms", data.as_bytes());
    let lines: Vec<String> = series()
        .iter()
        .map(|s| serde_json::to_string(s).unwrap())
        .collect();
    let data = format!("\x02{}", lines.join("\n"));
    write("record", "written-series", data.as_bytes());
}

pub fn a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    store.import(&record()).unwrap();
    drop(store);
    let data = std::fs::read(&path).unwrap();
    assert_eq!(data.get(68..72), Some(&b"TIDM"[..]));
    write("store", "written", &data);
}
