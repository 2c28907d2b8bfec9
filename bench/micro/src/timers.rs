//! How late this machine wakes a thread that does nothing but sleep: the least that any client's
//! schedule is late here.

use clap::Parser;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, Exp};
use std::time::{Duration, Instant};
use tidemark_stats::Histogram;

/// Prints, as JSON, how late threads wake that sleep until each moment of a schedule with random
/// (Poisson) arrivals and do nothing else, in nanoseconds. The schedule is spread over one thread a
/// core.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Moments a second, over all threads.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: u32,
    /// Seconds.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    time: u64,
}

fn main() {
    let args = Args::parse();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let rate = f64::from(args.rate) / cores as f64;
    let threads: Vec<_> = (0..cores)
        .map(|core| std::thread::spawn(move || sleep_and_look(core as u64, rate, args.time)))
        .collect();
    let mut late = Histogram::new();
    for thread in threads {
        match thread.join() {
            Ok(histogram) => late.merge(&histogram),
            Err(_) => std::process::exit(1),
        }
    }
    println!(
        "{{\"count\":{},\"p50_ns\":{},\"p99_ns\":{},\"max_ns\":{}}}",
        late.count(),
        late.percentile_ns(50.0),
        late.percentile_ns(99.0),
        late.max_ns()
    );
}

/// How late each of the moments was that lie `1 / rate` seconds apart on the average.
fn sleep_and_look(seed: u64, rate: f64, seconds: u64) -> Histogram {
    exact_timers();
    let mut random = StdRng::seed_from_u64(seed);
    let mut late = Histogram::new();
    let Ok(gap) = Exp::new(rate) else {
        return late;
    };
    let begun = Instant::now();
    let mut due = Duration::ZERO;
    loop {
        due += Duration::from_secs_f64(gap.sample(&mut random));
        if due.as_secs() >= seconds {
            return late;
        }
        let moment = begun + due;
        let now = Instant::now();
        // What is due already is late by what the last one was, as in a client that was busy.
        if now < moment {
            std::thread::sleep(moment - now);
        }
        late.record(moment.elapsed());
    }
}

/// Takes the slack from this thread's timers (`PR_SET_TIMERSLACK`, prctl(2)), which is 50 µs
/// otherwise.
#[cfg(target_os = "linux")]
fn exact_timers() {
    // Without it the figure is 50 µs worse, no more.
    let _ = nix::sys::prctl::set_timerslack(1);
}

#[cfg(not(target_os = "linux"))]
fn exact_timers() {}
