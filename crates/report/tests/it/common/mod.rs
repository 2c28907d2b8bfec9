//! Made-up but plausible run records, the same on every machine.

#![allow(dead_code)] // Not every program that includes this uses all of it.
pub mod forms;
pub mod load;
pub mod many;

use regex::Regex;
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::record::*;
use tidemark_core::{Engine, ErrorClass, ServerInfo, Source};
use tidemark_stats::Histogram;

/// A small generator of random numbers (Knuth's MMIX constants).
pub struct Dice(pub u64);

impl Dice {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// What a made-up run is like.
#[derive(Clone)]
pub struct Shape {
    pub seconds: i64,
    pub warmup_s: i64,
    /// Name, transactions a second, median latency in milliseconds.
    pub types: Vec<(&'static str, f64, f64)>,
    pub open_loop: bool,
    pub errors: bool,
    /// Without caches that warm up and a checkpoint.
    pub steady: bool,
}

impl Shape {
    pub fn one_type() -> Self {
        Self {
            seconds: 60,
            warmup_s: 5,
            types: vec![("oltp_read_write", 1800.0, 4.2)],
            open_loop: false,
            errors: false,
            steady: false,
        }
    }

    pub fn five_types() -> Self {
        Self {
            seconds: 120,
            warmup_s: 10,
            types: vec![
                ("NewOrder", 450.0, 9.0),
                ("Payment", 430.0, 4.0),
                ("OrderStatus", 40.0, 2.0),
                ("Delivery", 40.0, 18.0),
                ("StockLevel", 40.0, 6.0),
            ],
            open_loop: true,
            errors: true,
            steady: false,
        }
    }
}

/// Makes a run's totals three times what its intervals hold: its figures must not be used.
pub fn spoil(r: &mut RunRecord) {
    r.totals.all.count *= 3;
    r.totals.types.values_mut().for_each(|t| t.count *= 3);
}

fn interval(shape: &Shape, dice: &mut Dice, n: i64) -> Interval {
    // Caches warm up, then a checkpoint makes a dip.
    let (warm, dip) = match shape.steady {
        true => (1.0, i64::MAX / 2),
        false => (
            1.0 - 0.5 * (-((n + shape.warmup_s) as f64) / 3.0).exp(),
            shape.seconds / 2,
        ),
    };
    let stall = if (dip..dip + 3).contains(&n) {
        3.5
    } else {
        1.0
    };
    let mut types = BTreeMap::new();
    let mut transactions = 0;
    for (name, rate, median_ms) in &shape.types {
        let rate = rate * warm / stall * (1.0 + 0.02 * dice.normal());
        let count = rate.round() as u64;
        let (mut service, mut response) = (Histogram::new(), Histogram::new());
        for _ in 0..count {
            let slow = if dice.uniform() < 0.004 { 6.0 } else { 1.0 };
            let ms = median_ms * stall * slow * (0.28 * dice.normal()).exp();
            service.record(Duration::from_secs_f64(ms / 1000.0));
            let waited = if stall > 1.0 {
                40.0 * dice.uniform()
            } else {
                0.0
            };
            response.record(Duration::from_secs_f64((ms + waited) / 1000.0));
        }
        transactions += count;
        let stats = TypeStats {
            count,
            service: EncodedHistogram(service.encode()),
            response: shape.open_loop.then(|| EncodedHistogram(response.encode())),
            ..TypeStats::default()
        };
        types.insert((*name).to_string(), stats);
    }
    Interval {
        start_ms: n * 1000,
        length_ms: 1000.0 + dice.normal() * 0.1,
        phase: if n < 0 { Phase::Warmup } else { Phase::Measure },
        sessions: 16,
        statements: StatementCounts {
            read: transactions * 14,
            write: transactions * 4 - transactions / 50,
            other: transactions * 2 + transactions / 50,
            noop_writes: transactions / 50,
            round_trips: 0,
        },
        ignored_errors: if shape.errors && n > 0 {
            (dice.uniform() * 4.0 * stall) as u64
        } else {
            0
        },
        reconnects: if shape.errors && n == dip { 3 } else { 0 },
        queue_length: if shape.open_loop && stall > 1.0 {
            180
        } else {
            0
        },
        concurrency: 12,
        types,
        ..Interval::default()
    }
}

/// A finished run of that shape.
pub fn run(shape: &Shape) -> RunRecord {
    run_with(shape, Dice(7))
}

/// The same with other chances.
pub fn run_with(shape: &Shape, mut dice: Dice) -> RunRecord {
    let mut intervals: Vec<Interval> = (-shape.warmup_s..shape.seconds)
        .map(|n| interval(shape, &mut dice, n))
        .collect();
    if let Some(last) = intervals.last().cloned() {
        // The run ended a little into another interval.
        intervals.push(Interval {
            start_ms: last.start_ms + 1000,
            length_ms: 3.0,
            types: BTreeMap::new(),
            ignored_errors: 0,
            statements: StatementCounts::default(),
            ..last
        });
    }
    let mut totals = tidemark_report::totals(&intervals).unwrap();
    totals.fairness = Fairness {
        events_avg: totals.all.count as f64 / 16.0,
        events_stddev: 41.3,
        time_avg_s: totals.elapsed_s - 0.01,
        time_stddev_s: 0.002,
        ..Fairness::default()
    };
    let option = |name: &str, value: &str, source| {
        let option = EffectiveOption {
            value: value.into(),
            source,
        };
        (name.to_string(), option)
    };
    let setting = |name: &str, value: &str, default: Option<&str>| Setting {
        name: name.into(),
        value: value.into(),
        default: default.map(Into::into),
    };
    let tables = |rows: u64| {
        (1..=4)
            .map(|n| TableState {
                table: format!("sbtest{n}"),
                rows,
                expected_rows: Some(100_000),
                min_key: Some(1),
                max_key: Some(100_000),
            })
            .collect()
    };
    RunRecord {
        schema_version: SCHEMA_VERSION,
        id: "01932b7e-53a0-7c11-8a70-0c1d2e3f4a5b".into(),
        tidemark_version: "0.1.0".into(),
        started_at: "2026-11-21T20:05:23.123Z".into(),
        latency_end: LatencyEnd::Session,
        state: RunState::Finished,
        command: [
            "tidemark",
            "sysbench",
            "oltp_read_write",
            "--mysql-host=10.0.3.11",
            "--mysql-user=sbtest",
            "--mysql-password=***",
            "--threads=16",
            "--tables=4",
            "--table-size=100000",
            "--warmup-time=5",
            "--time=60",
            "run",
        ]
        .map(String::from)
        .to_vec(),
        workload: if shape.types.len() > 1 {
            "tpcc".into()
        } else {
            "oltp_read_write".into()
        },
        target: "mysql://sbtest:***@10.0.3.11:3306/sbtest".into(),
        server: Some(ServerInfo {
            engine: Engine::Mariadb,
            version: "11.4.2-MariaDB-deb12".into(),
        }),
        settings: vec![
            setting("innodb_buffer_pool_size", "8589934592", Some("134217728")),
            setting("innodb_flush_log_at_trx_commit", "2", Some("1")),
            setting("innodb_log_file_size", "2147483648", Some("100663296")),
            setting("max_connections", "2000", Some("151")),
            setting("sync_binlog", "0", None),
        ],
        notes: Vec::new(),
        options: BTreeMap::from([
            option("threads", "16", Source::CommandLine),
            option("tables", "4", Source::CommandLine),
            option("table-size", "100000", Source::CommandLine),
            option("time", "60", Source::CommandLine),
            option("warmup-time", "5", Source::CommandLine),
            option("mysql-host", "10.0.3.11", Source::ConfigFile),
            option("mysql-password", "***", Source::ConfigFile),
            option("range-size", "100", Source::Default),
            option("point-selects", "10", Source::Default),
            option("rand-type", "special", Source::Default),
            option("skip-trx", "off", Source::Default),
        ]),
        sessions: 16,
        executors: 2,
        rate: shape.open_loop.then_some(1000.0),
        seed: 8_423_117,
        client: ClientHost {
            hostname: "loadgen-1".into(),
            os: "Debian GNU/Linux 12".into(),
            kernel: "6.1.0-26-amd64".into(),
            cpu_model: "AMD EPYC 7763 64-Core Processor".into(),
            cores: 8,
            memory_bytes: 33_285_996_544,
        },
        usage: ClientUsage {
            cpu_user_s: 3.1,
            cpu_system_s: 29.4,
            cpu_awake_s: 0.0,
            max_resident_bytes: 14_680_064,
            seconds: Some(65.0),
            host_busy: Some(0.07),
            waiting_threads: Some(0.1),
        },
        tables_before: tables(100_000),
        tables_after: tables(100_000),
        intervals,
        totals,
        queries: Vec::new(),
        plans: Default::default(),
        errors: if shape.errors {
            vec![
                ErrorCount {
                    code: "1213".into(),
                    class: ErrorClass::Retryable,
                    kind: None,
                    count: 214,
                    first_message:
                        "Deadlock found when trying to get lock; try restarting transaction".into(),
                },
                ErrorCount {
                    code: "2013".into(),
                    class: ErrorClass::ConnectionLost,
                    kind: None,
                    count: 3,
                    first_message: "Lost connection to server during query".into(),
                },
            ]
        } else {
            Vec::new()
        },
        ..RunRecord::default()
    }
}

/// Every element is closed, in order, and every attribute quoted.
pub fn well_formed(page: &str) {
    const VOID: [&str; 3] = ["meta", "!doctype", "br"];
    let tag =
        Regex::new(r#"<(/?)([a-zA-Z!][a-zA-Z0-9]*)((?:\s+[a-zA-Z0-9-]+(?:="[^"<>]*")?)*)\s*(/?)>"#)
            .unwrap();
    // Style and script hold no markup.
    let raw = Regex::new(r"(?s)<(style|script)>.*?</(style|script)>").unwrap();
    let page = raw.replace_all(page, "");
    let stripped = tag.replace_all(&page, "");
    assert!(
        !stripped.contains('<'),
        "stray <: {:?}",
        stripped.split('<').nth(1)
    );
    let mut open = Vec::new();
    for t in tag.captures_iter(&page) {
        let name = t[2].to_ascii_lowercase();
        if &t[1] == "/" {
            assert_eq!(open.pop(), Some(name), "{}", &t[0]);
        } else if &t[4] != "/" && !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}
