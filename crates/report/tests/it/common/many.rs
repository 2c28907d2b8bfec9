//! Made-up studies.

use super::{Dice, Shape, run_with};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tidemark_core::record::*;
use tidemark_core::{Engine, ServerInfo, Source, StudyPlace};
use tidemark_report::{Many, RunDigest, StepState, StudyFactor, StudyFacts, StudyStep};

/// What a made-up cell is like.
#[derive(Clone)]
pub struct Cell<'a> {
    pub workload: &'a str,
    pub threads: usize,
    /// Other factors.
    pub factors: &'a [(&'a str, &'a str)],
    pub transactions_per_s: f64,
    pub seconds: i64,
}

/// Throughput by the scalability law.
pub fn law(lambda: f64, sigma: f64, kappa: f64, n: f64) -> f64 {
    lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

/// A run of a cell: Little's law holds in it.
pub fn record(cell: &Cell<'_>, repeat: u32, number: u64) -> RunRecord {
    let mut dice = Dice(number + 1);
    let tps = cell.transactions_per_s * (1.0 + 0.01 * dice.normal());
    // The made-up distribution's mean is 6 % above its median.
    let median_ms = cell.threads as f64 / tps * 1000.0 / 1.06;
    let name: &'static str = match cell.workload {
        "oltp_point_select" => "oltp_point_select",
        "tpcc" => "NewOrder",
        _ => "oltp_read_write",
    };
    let shape = Shape {
        seconds: cell.seconds,
        warmup_s: 2,
        types: vec![(name, tps, median_ms)],
        open_loop: false,
        errors: false,
        steady: true,
    };
    let mut r = run_with(&shape, dice);
    r.id = format!("0193{number:04x}-53a0-7c11-8a70-0c1d2e3f4a5b");
    // Two minutes apart: none of them lasts longer.
    let minutes = number * 2;
    r.started_at = format!(
        "2026-11-{:02}T{:02}:{:02}:00.000Z",
        21 + minutes / 1440,
        minutes / 60 % 24,
        minutes % 60
    );
    r.workload = cell.workload.into();
    r.sessions = cell.threads;
    let threads = cell.threads.to_string();
    r.options.insert(
        "threads".into(),
        EffectiveOption {
            value: threads.clone(),
            source: Source::CommandLine,
        },
    );
    r.totals.fairness.events_avg = r.totals.all.count as f64 / cell.threads as f64;
    r.command = [
        "tidemark",
        "sysbench",
        cell.workload,
        "--mysql-password=***",
    ]
    .map(String::from)
    .to_vec();
    r.command.push(format!("--threads={threads}"));
    r.command.push("run".into());
    let mut factors: BTreeMap<String, String> = cell
        .factors
        .iter()
        .map(|(n, v)| ((*n).to_string(), (*v).to_string()))
        .collect();
    if factors
        .get("target")
        .is_some_and(|t| t.contains("PostgreSQL"))
    {
        r.target = "postgres://u:***@10.0.3.12:5432/sbtest".into();
        r.server = Some(ServerInfo {
            engine: Engine::Postgres,
            version: "17.2".into(),
        });
    }
    if let Some(durability) = factors.get("durability") {
        r.settings[1].value = durability.clone();
    }
    factors.insert("workload".into(), cell.workload.into());
    factors.insert("threads".into(), threads);
    let key: Vec<String> = factors.iter().map(|(n, v)| format!("{n}={v}")).collect();
    r.study = Some(StudyPlace {
        study: "01932b7e-0000-7000-8000-000000000001".into(),
        name: "durability".into(),
        cell: key.join(" "),
        factors,
        repeat,
    });
    r
}

/// Records of a matrix: threads, one more factor's values, repeats.
pub fn records(
    workloads: &[&str],
    threads: &[usize],
    factor: (&str, &[(&str, f64)]),
    repeats: u32,
    seconds: i64,
) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for workload in workloads {
        for (value, times) in factor.1 {
            for n in threads {
                for repeat in 1..=repeats {
                    let cell = Cell {
                        workload,
                        threads: *n,
                        factors: &[(factor.0, value)],
                        transactions_per_s: times * law(60.0, 0.03, 0.0006, *n as f64),
                        seconds,
                    };
                    records.push(record(&cell, repeat, records.len() as u64));
                }
            }
        }
    }
    records
}

/// A factor: its name, and each value with how many times as fast it is.
pub type Factor<'a> = (&'a str, &'a [(&'a str, f64)]);

/// Records of a matrix of two factors.
pub fn of_two_factors(
    workload: &str,
    threads: &[usize],
    (one, two): (Factor<'_>, Factor<'_>),
    repeats: u32,
    seconds: i64,
) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for (a, times_a) in one.1 {
        for (b, times_b) in two.1 {
            for n in threads {
                for repeat in 1..=repeats {
                    let cell = Cell {
                        workload,
                        threads: *n,
                        factors: &[(one.0, a), (two.0, b)],
                        transactions_per_s: times_a * times_b * law(60.0, 0.03, 0.0006, *n as f64),
                        seconds,
                    };
                    records.push(record(&cell, repeat, records.len() as u64));
                }
            }
        }
    }
    records
}

/// Names of isolation levels, in the order of a file.
pub const ISOLATION: Factor<'static> = (
    "isolation",
    &[
        ("serializable", 0.7),
        ("repeatable-read", 1.0),
        ("read-committed", 1.02),
        ("read-uncommitted", 1.02),
    ],
);
/// Injected distances.
pub const DISTANCE: Factor<'static> = (
    "rtt",
    &[("0ms", 1.0), ("1ms", 0.6), ("5ms", 0.25), ("20ms", 0.08)],
);

/// A document whose study names its factors in their order.
pub fn with_factors(name: &str, records: &[RunRecord], factors: &[Factor<'_>]) -> Many {
    let mut many = document(name, records);
    let factors = factors.iter().map(|(name, values)| StudyFactor {
        name: (*name).into(),
        values: values.iter().map(|(value, _)| (*value).into()).collect(),
        changes: Vec::new(),
    });
    if let Some(study) = &mut many.study {
        study.factors = factors.collect();
    }
    many
}

/// Runs of TPC-H, one for each target, with the 22 queries.
pub fn queries(targets: &[(&str, f64)]) -> Vec<RunRecord> {
    let runs = targets.iter().enumerate().map(|(n, (target, times))| {
        let cell = Cell {
            workload: "tpch",
            threads: 1,
            factors: &[("target", target)],
            transactions_per_s: 10.0,
            seconds: 6,
        };
        let mut r = record(&cell, 1, n as u64);
        r.queries = (1..=22u64)
            .map(|q| QueryRun {
                name: format!("Q{q}"),
                took_ms: times * (200.0 + 350.0 * ((q * 7) % 22) as f64),
                ..QueryRun::default()
            })
            .collect();
        r
    });
    runs.collect()
}

/// A document of records, with a step for each.
pub fn document(name: &str, records: &[RunRecord]) -> Many {
    let steps = records.iter().map(|r| StudyStep {
        kind: "run".into(),
        cell: r.study.as_ref().map_or("run", |s| &s.cell).into(),
        repeat: r.study.as_ref().map_or(1, |s| s.repeat),
        command: r.command.clone(),
        state: StepState::Done,
        reason: None,
        run_id: Some(r.id.clone()),
        took_s: Some(r.totals.elapsed_s + 2.0),
        output: format!("transactions: {}\n", r.totals.all.count),
    });
    Many {
        study: Some(StudyFacts {
            id: "01932b7e-0000-7000-8000-000000000001".into(),
            name: name.into(),
            path: "studies/durability.toml".into(),
            file: "name = \"durability\"\nrepeats = 3\n".into(),
            command: ["tidemark", "study", "run", "studies/durability.toml"]
                .map(String::from)
                .to_vec(),
            open: false,
            objective: None,
            factors: Vec::new(),
        }),
        steps: steps.collect(),
        runs: records.iter().map(|r| RunDigest::of(r).unwrap()).collect(),
        unreadable: Vec::new(),
        version: "0.1.0".into(),
        ..Many::default()
    }
}

/// Two workloads, seven loads, durability on and off, three repeats. Making their seconds takes longer than
/// what a test does with it, so each is made once.
pub fn durability(seconds: i64) -> Many {
    static OF_THREE: LazyLock<Many> = LazyLock::new(|| made_durability(3));
    static OF_SIX: LazyLock<Many> = LazyLock::new(|| made_durability(6));
    static OF_EIGHT: LazyLock<Many> = LazyLock::new(|| made_durability(8));
    match seconds {
        3 => OF_THREE.clone(),
        6 => OF_SIX.clone(),
        8 => OF_EIGHT.clone(),
        other => made_durability(other),
    }
}

fn made_durability(seconds: i64) -> Many {
    let records = records(
        &["oltp_read_write", "oltp_point_select"],
        &[1, 2, 4, 8, 16, 32, 64],
        ("durability", &[("1", 1.0), ("2", 1.4)]),
        3,
        seconds,
    );
    document("Durability on and off", &records)
}
