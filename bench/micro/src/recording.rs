//! What recording one latency costs, in nanoseconds: the histogram alone, what the engine does for
//! each transaction, and reading the clock before and after it.

use clap::Parser;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tidemark_core::record::StatementCounts;
use tidemark_engine::Recorder;
use tidemark_stats::Histogram;
use tidemark_workloads::Done;

/// Latencies to record in turn: few enough to stay in the first-level cache beside the histogram's
/// own buckets, many enough that the branch predictor can't learn them.
const LATENCIES: usize = 1024;
/// Sessions that share one recorder.
const SESSIONS: usize = 256;

/// Prints the cost of recording one latency in nanoseconds: the median of several runs, with the
/// smallest and largest.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Runs to take the median of.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Latencies recorded in each run.
    #[arg(long, default_value_t = 5_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    records: u32,
    /// A fraction of a second in all; the figures mean nothing.
    #[arg(long)]
    smoke: bool,
}

fn main() {
    let mut args = Args::parse();
    if args.smoke {
        (args.runs, args.records) = (3, 20_000);
        println!("smoke: figures mean nothing");
    }
    let latencies = latencies();
    // Latencies in order would be learnt by the branch predictor.
    debug_assert!(latencies.windows(2).any(|w| w[0] > w[1]));
    let mut histogram = Histogram::new();
    show("clock, read twice", &args, &latencies, |_, _| {
        black_box(Instant::now().elapsed());
    });
    show("Histogram::record", &args, &latencies, |_, latency| {
        histogram.record(black_box(latency));
    });
    let recorder = Recorder::new(1, SESSIONS, 1);
    let statements = StatementCounts {
        read: 1,
        ..StatementCounts::default()
    };
    show("Recorder::record", &args, &latencies, |i, latency| {
        recorder.record(
            Done::of(0),
            i % SESSIONS,
            statements,
            black_box(latency),
            None,
        );
    });
    black_box(histogram.count());
}

/// Between 50 µs and 5 ms, each magnitude as likely as the other, as replies on a busy server are.
fn latencies() -> Vec<Duration> {
    let (low, high) = (50_000f64.ln(), 5_000_000f64.ln());
    (0..LATENCIES)
        .map(|i| {
            // A permutation of 0..LATENCIES (odd multiplier, power of two): evenly spread, unordered.
            let share = (i * 645 % LATENCIES) as f64 / LATENCIES as f64;
            Duration::from_nanos((low + (high - low) * share).exp() as u64)
        })
        .collect()
}

/// Runs `step` as often as asked and prints what one costs.
fn show(name: &str, args: &Args, latencies: &[Duration], mut step: impl FnMut(usize, Duration)) {
    let mut costs: Vec<f64> = (0..args.runs)
        .map(|_| {
            let started = Instant::now();
            for i in 0..args.records as usize {
                step(i, latencies[i % LATENCIES]);
            }
            started.elapsed().as_nanos() as f64 / f64::from(args.records)
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    let median = costs[costs.len() / 2];
    let (low, high) = (costs[0], costs[costs.len() - 1]);
    println!(
        "{name:<20} {median:6.1} ns   ({low:.1}–{high:.1}, {} runs)",
        costs.len()
    );
}
