//! What recording the client host's series costs: processor time of the thread that looks, hands over
//! and writes to the store, and what the store's file grows by.

use clap::Parser;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidemark_core::record::Gap;
use tidemark_core::record::{RunRecord, RunState, SCHEMA_VERSION};
use tidemark_core::series::SeriesChunk;
use tidemark_observe::{ClientHostSource, Samples, Sampling, SeriesSink, SeriesSource};
use tidemark_store::Store;

/// Of one core, with a look a second.
const REACH_PERCENT: f64 = 0.3;
/// In ten minutes, which are 600 looks.
const REACH_BYTES: f64 = 100_000.0;

/// Prints the processor time that one look at the client's host takes, as a share of a core with one a
/// second, and the bytes that ten minutes of its series take in the store. Beside it threads of this
/// process work and send something in turn, as a load would.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Looks; 600 are ten minutes.
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    looks: u32,
    /// Milliseconds from look to look. Fewer than 1000 are quicker, and values less fine.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    every_ms: u32,
    /// Threads that work.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// A second in all; the figures mean nothing.
    #[arg(long)]
    smoke: bool,
}

/// The source, and what its thread has used.
struct Measured {
    source: ClientHostSource,
    every: Duration,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    looks: AtomicU64,
    /// Processor time of the thread until the last look began, from the first on, in microseconds.
    first_us: AtomicU64,
    last_us: AtomicU64,
}

impl SeriesSource for Measured {
    fn name(&self) -> &str {
        self.source.name()
    }
    fn every(&self) -> Duration {
        self.every
    }
    fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        self.source.start(gaps)
    }
    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let used = thread_us();
        if self.seen.looks.fetch_add(1, Ordering::Relaxed) == 0 {
            self.seen.first_us.store(used, Ordering::Relaxed);
        }
        self.seen.last_us.store(used, Ordering::Relaxed);
        self.source.sample(samples)
    }
}

fn thread_us() -> u64 {
    let used = getrusage(UsageWho::RUSAGE_THREAD);
    used.map_or(0, |u| {
        let all = u.user_time() + u.system_time();
        u64::try_from(all.num_microseconds()).unwrap_or(0)
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = Args::parse();
    if args.smoke {
        (args.looks, args.every_ms) = (50, 20);
        println!("smoke: figures mean nothing");
    }
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("runs.db");
    let record = RunRecord {
        schema_version: SCHEMA_VERSION,
        id: uuid::Uuid::now_v7().to_string(),
        ..RunRecord::default()
    };
    let mut store = Store::open(&path)?;
    store.begin(&record)?;
    let store = Arc::new(Mutex::new(store));
    let (seen, over) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
    let sink: SeriesSink = {
        let (store, id) = (Arc::clone(&store), record.id.clone());
        Arc::new(move |chunk: SeriesChunk| {
            let written = store.lock().map(|mut s| s.push_series(&id, &chunk));
            if let Ok(Err(error)) = written {
                eprintln!("{error}");
            }
        })
    };
    let load: Vec<_> = (0..args.threads)
        .map(|n| load(n, Arc::clone(&over)))
        .collect::<Result<_, _>>()?;
    let every = Duration::from_millis(u64::from(args.every_ms));
    let source = Measured {
        source: ClientHostSource::new(),
        every,
        seen: Arc::clone(&seen),
    };
    let watch = Sampling::start(vec![Box::new(source)], Duration::ZERO, &sink);
    std::thread::sleep(every * args.looks + every / 4);
    let notes = watch.end();
    over.store(true, Ordering::Relaxed);
    for thread in load {
        let _ended = thread.join();
    }
    notes.notes.iter().for_each(|note| println!("{note}"));
    let looks = seen.looks.load(Ordering::Relaxed).max(2) - 1;
    let used = seen.last_us.load(Ordering::Relaxed) - seen.first_us.load(Ordering::Relaxed);
    let each_us = used as f64 / looks as f64;
    drop(sink);
    let mut store = store.lock().map_err(|_| "the store's thread panicked")?;
    let ended = RunRecord {
        state: RunState::Finished,
        ..record
    };
    store.finish(&ended)?;
    let series = store.series(&ended.id)?;
    let points: u64 = series.iter().map(|s| s.count).sum();
    let bytes = |sql: &str| rusqlite::Connection::open(&path)?.query_row(sql, [], |row| row.get(0));
    let bytes: Result<i64, rusqlite::Error> = bytes(
        "SELECT COUNT(*) * (SELECT page_size FROM pragma_page_size) FROM dbstat WHERE name LIKE '%series%'",
    );
    let bytes = bytes? as f64 * 600.0 / looks as f64;
    println!("{} series, {points} points, {looks} looks", series.len());
    shown(
        "look and hand over",
        each_us / 1e6 * 100.0,
        REACH_PERCENT,
        "% of a core",
    );
    println!("  that is {each_us:.0} µs a look");
    shown(
        "ten minutes in the store",
        bytes / 1000.0,
        REACH_BYTES / 1000.0,
        "KB",
    );
    Ok(())
}

fn shown(what: &str, value: f64, reach: f64, unit: &str) {
    let met = if value <= reach { "met" } else { "NOT MET" };
    println!("{what:<25} {value:7.3} {unit}   (reach ≤ {reach} {unit}: {met})");
}

/// A thread as the engine would name it, which works and sends for a changing part of each moment.
fn load(n: usize, over: Arc<AtomicBool>) -> std::io::Result<std::thread::JoinHandle<()>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut sends = TcpStream::connect(listener.local_addr()?)?;
    let (mut takes, _) = listener.accept()?;
    let work = move || {
        let mut buffer = vec![0_u8; 4096];
        let mut turn = n as u64;
        while !over.load(Ordering::Relaxed) {
            turn = turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            for _ in 0..turn >> 58 {
                let sent = sends.write_all(&buffer);
                if sent.and_then(|()| takes.read_exact(&mut buffer)).is_err() {
                    return;
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    std::thread::Builder::new()
        .name(format!("executor-{n}"))
        .spawn(work)
}
