//! A store with a study of many long runs, made up: for what reports of it cost.

use clap::Parser;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;
use tidemark_core::record::{
    ClientHost, EffectiveOption, EncodedHistogram, Fairness, Interval, Phase, RunRecord, RunState,
    SCHEMA_VERSION, Setting, StatementCounts, TypeStats,
};
use tidemark_core::{Engine, ServerInfo, Source, StudyPlace};
use tidemark_stats::Histogram;
use tidemark_store::{NewStep, NewStudy, StepEnd, StepState, Store};

/// Makes the store, and prints by what its study is reported.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The file to make; it must not be there.
    #[arg(long)]
    store: PathBuf,
    /// Runs of the study.
    #[arg(long, default_value_t = 100)]
    runs: usize,
    /// One-second intervals of a run.
    #[arg(long, default_value_t = 600)]
    intervals: i64,
}

const NAME: &str = "made-up";
const STUDY: &str = "01932b7e-0000-7000-8000-000000000001";
const WORKLOADS: [&str; 2] = ["oltp_read_write", "oltp_point_select"];
const DURABILITY: [&str; 2] = ["1", "2"];
const THREADS: [usize; 5] = [4, 8, 16, 32, 64];
/// Intervals of a run repeat themselves after so many: making latencies is what takes time here.
const DIFFERENT: i64 = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    if args.store.exists() {
        return Err(format!("{} is there already", args.store.display()).into());
    }
    let mut store = Store::open(&args.store)?;
    let study = NewStudy {
        id: STUDY.into(),
        name: NAME.into(),
        path: "made-up.toml".into(),
        file: format!("name = \"{NAME}\"\n"),
        hostname: "loadgen-1".into(),
        ..NewStudy::default()
    };
    let steps: Vec<NewStep> = (0..args.runs).map(step).collect();
    store.begin_study(&study, &steps, true, &|_| None)?;
    for number in 0..args.runs {
        let run = run(number, args.intervals)?;
        store.import(&run)?;
        let end = StepEnd {
            state: StepState::Done,
            reason: None,
            run_id: Some(&run.id),
            // What sysbench's report of every tenth second takes.
            output: &"[ 10s ] thds: 16 tps: 1234.50 qps: 24690.00 lat (ms,95%): 18.28\n".repeat(60),
        };
        store.step_ends(STUDY, u32::try_from(number)?, end)?;
    }
    store.end_study(STUDY)?;
    println!("{NAME}");
    Ok(())
}

/// Where a run stands in the matrix: workload, durability, threads, repeat.
fn place(number: usize) -> (&'static str, &'static str, usize, usize) {
    // Repeats follow each other in the outermost loop.
    let threads = THREADS[number / 4 % THREADS.len()];
    let repeat = number / (4 * THREADS.len()) + 1;
    (
        WORKLOADS[number % 2],
        DURABILITY[number / 2 % 2],
        threads,
        repeat,
    )
}

fn cell(number: usize) -> String {
    let (workload, durability, threads, _) = place(number);
    format!("{workload}/durability={durability}/threads={threads}")
}

fn step(number: usize) -> NewStep {
    let (workload, _, threads, repeat) = place(number);
    NewStep {
        kind: "run".into(),
        cell: cell(number),
        repeat: u32::try_from(repeat).unwrap_or(0),
        command: command(workload, threads, 600),
    }
}

fn command(workload: &str, threads: usize, seconds: i64) -> Vec<String> {
    let line = format!(
        "tidemark sysbench {workload} --mysql-host=10.0.3.11 --mysql-user=sbtest --tables=16 \
         --table-size=1000000 --threads={threads} --time={seconds} --warmup-time=30 run"
    );
    line.split(' ').map(String::from).collect()
}

fn run(number: usize, seconds: i64) -> Result<RunRecord, Box<dyn Error>> {
    let (workload, durability, threads, repeat) = place(number);
    let n = threads as f64;
    let mut rng = SmallRng::seed_from_u64(number as u64);
    let chance = 1.0 + 0.02 * (rng.random::<f64>() - 0.5);
    let faster = if durability == "2" { 1.3 } else { 1.0 };
    let tps = faster * chance * 180.0 * n / (1.0 + 0.03 * (n - 1.0) + 0.0006 * n * (n - 1.0));
    let mean_s = n / tps;
    // Of a lognormal distribution the median is the mean over e^(σ²/2).
    let latencies = LogNormal::new((mean_s / 1.0408f64).ln(), 0.28)?;
    let different: Vec<Interval> = (0..DIFFERENT.min(seconds))
        .map(|_| interval(workload, tps, threads, &latencies, &mut rng))
        .collect();
    let intervals: Vec<Interval> = (0..seconds)
        .filter_map(|second| {
            let at = usize::try_from(second % DIFFERENT).ok()?;
            let one = different.get(at)?.clone();
            Some(Interval {
                start_ms: second * 1000,
                ..one
            })
        })
        .collect();
    let mut totals = tidemark_report::totals(&intervals)?;
    totals.fairness = Fairness {
        events_avg: totals.all.count as f64 / n,
        events_stddev: 3.0,
        time_avg_s: totals.elapsed_s,
        time_stddev_s: 0.001,
        between_avg_s: Some(totals.elapsed_s * 0.001),
    };
    let factors = BTreeMap::from([
        ("workload".to_string(), workload.to_string()),
        ("durability".into(), durability.into()),
        ("threads".into(), threads.to_string()),
    ]);
    let option = |value: String| EffectiveOption {
        value,
        source: Source::CommandLine,
    };
    let setting = |name: &str, value: &str, default: &str| Setting {
        name: name.into(),
        value: value.into(),
        default: Some(default.into()),
    };
    Ok(RunRecord {
        schema_version: SCHEMA_VERSION,
        id: uuid::Uuid::now_v7().to_string(),
        tidemark_version: env!("CARGO_PKG_VERSION").into(),
        started_at: format!(
            "2026-11-21T{:02}:{:02}:00.000Z",
            number / 6 % 24,
            number % 6 * 10
        ),
        state: RunState::Finished,
        study: Some(StudyPlace {
            study: STUDY.into(),
            name: NAME.into(),
            cell: cell(number),
            factors,
            repeat: u32::try_from(repeat)?,
        }),
        command: command(workload, threads, seconds),
        workload: workload.into(),
        target: "mysql://sbtest:***@10.0.3.11:3306/sbtest".into(),
        server: Some(ServerInfo {
            engine: Engine::Mariadb,
            version: "11.4.2-MariaDB".into(),
        }),
        settings: vec![
            setting("innodb_buffer_pool_size", "8589934592", "134217728"),
            setting("innodb_flush_log_at_trx_commit", durability, "1"),
        ],
        options: BTreeMap::from([
            ("threads".to_string(), option(threads.to_string())),
            ("time".into(), option(seconds.to_string())),
        ]),
        sessions: threads,
        executors: 2,
        client: ClientHost {
            hostname: "loadgen-1".into(),
            os: "Debian GNU/Linux 12".into(),
            kernel: "6.1.0-26-amd64".into(),
            cpu_model: "AMD EPYC 7763 64-Core Processor".into(),
            cores: 8,
            memory_bytes: 33_285_996_544,
        },
        intervals,
        totals,
        ..RunRecord::default()
    })
}

fn interval(
    workload: &str,
    tps: f64,
    threads: usize,
    latencies: &LogNormal<f64>,
    rng: &mut SmallRng,
) -> Interval {
    let count = (tps * (1.0 + 0.04 * (rng.random::<f64>() - 0.5))).max(1.0) as u64;
    let mut service = Histogram::new();
    for _ in 0..count {
        service.record(Duration::from_secs_f64(latencies.sample(rng)));
    }
    let stats = TypeStats {
        count,
        service: EncodedHistogram(service.encode()),
        ..TypeStats::default()
    };
    Interval {
        length_ms: 1000.0,
        phase: Phase::Measure,
        sessions: threads as u64,
        statements: StatementCounts {
            read: count * 14,
            write: count * 4,
            other: count * 2,
            noop_writes: 0,
            round_trips: 0,
        },
        concurrency: threads as u64,
        types: BTreeMap::from([(workload.to_string(), stats)]),
        ..Interval::default()
    }
}
