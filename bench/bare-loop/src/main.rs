//! The bare blocking socket loop that every client-cost figure is measured against: one thread per
//! session, one blocking socket each, one prepared point select by primary key after the other.
//! Nothing is decoded and nothing is recorded but a count, so that whatever a load generator costs
//! beyond this is its own.

mod error;
mod mysql;
mod postgres;
mod session;
mod usage;

use clap::Parser;
use error::LoopError;
use mysql::Mysql;
use postgres::Postgres;
use session::Session;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tidemark_core::{Protocol, Target};

/// Enough for connecting, which needs most; pages that are never touched cost nothing anyway.
/// Code that is not optimised takes several times as much.
const STACK_BYTES: usize = if cfg!(debug_assertions) {
    1 << 20
} else {
    64 << 10
};

/// Runs a prepared point select on tables that sysbench or Tidemark prepared (YCSB's: Tidemark or go-ycsb), from one thread and
/// blocking socket per session, and prints one line of JSON: queries, seconds, CPU time and largest
/// resident memory of the whole process.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The target: mysql://user:password@host:port/database or postgres://…
    #[arg(long, value_name = "URL", required_unless_present = "url_file")]
    url: Option<String>,
    /// A file with the target's URL, so that the password stands in no process list.
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    url_file: Option<PathBuf>,
    #[command(flatten)]
    load: Load,
}

/// How much to run.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Load {
    /// Number of sessions.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sessions: u32,
    /// Seconds to run.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    time: u64,
    /// Number of tables.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    tables: u32,
    /// Rows in each table.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(i32).range(1..))]
    table_size: i32,
    /// Rows that each query counts from a random id on, instead of a point select: the server then
    /// takes longer over it, and the client's thread sleeps in between.
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Read so many fields of a record of YCSB's usertable, instead of a column of sysbench's tables:
    /// one loaded with insertorder=ordered and zeropadding=19, whose keys are as long as hashes.
    #[arg(long, value_name = "FIELDS", conflicts_with_all = ["count", "tables"], value_parser = clap::value_parser!(u32).range(1..=1000))]
    ycsb: Option<u32>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bare-loop: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<serde_json::Value, LoopError> {
    let url = match (&args.url, &args.url_file) {
        (Some(url), _) => url.clone(),
        (None, Some(file)) => std::fs::read_to_string(file)?,
        (None, None) => return Err(LoopError::Usage("no target is named".into())),
    };
    let target = Target::parse(url.trim()).map_err(|e| LoopError::Usage(e.to_string()))?;
    let (queries, seconds) = match target.protocol {
        Protocol::Mysql => drive::<Mysql>(&target, args.load)?,
        Protocol::Postgres => drive::<Postgres>(&target, args.load)?,
        Protocol::Sqlite => {
            return Err(LoopError::Usage("SQLite has no socket to loop over".into()));
        }
    };
    let used = usage::usage()?;
    Ok(serde_json::json!({
        "queries": queries,
        "seconds": seconds,
        "cpu_user_s": used.cpu_user_s,
        "cpu_system_s": used.cpu_system_s,
        "max_rss_bytes": used.max_rss_bytes,
        "sessions": args.load.sessions,
    }))
}

/// Runs all sessions from one common start; the queries they did, and the seconds they took.
fn drive<S: Session>(target: &Target, load: Load) -> Result<(u64, f64), LoopError> {
    let (connected, connects) = mpsc::channel();
    let (ended, ends) = mpsc::channel();
    let start = Arc::new(Barrier::new(load.sessions as usize + 1));
    let stop = Arc::new(AtomicBool::new(false));
    for index in 0..load.sessions {
        let target = target.clone();
        let (connected, ended) = (connected.clone(), ended.clone());
        let (start, stop) = (Arc::clone(&start), Arc::clone(&stop));
        let session = move || match S::connect(&target, index as usize, load) {
            Ok(session) => {
                // Nobody listens any more once another session has failed.
                let _ = connected.send(Ok(()));
                drop(connected);
                start.wait();
                let _ = ended.send(query_until(&stop, session, load, index));
            }
            Err(error) => {
                let _ = connected.send(Err(error));
            }
        };
        thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(session)?;
    }
    drop((connected, ended));
    for _ in 0..load.sessions {
        connects.recv().map_err(|_| LoopError::Thread)??;
    }
    start.wait();
    let started = Instant::now();
    // A session that ends before its time has failed.
    if let Ok(early) = ends.recv_timeout(Duration::from_secs(load.time)) {
        early?;
    }
    stop.store(true, Ordering::Relaxed);
    let mut queries = 0;
    for _ in 0..load.sessions {
        queries += ends.recv().map_err(|_| LoopError::Thread)??;
    }
    Ok((queries, started.elapsed().as_secs_f64()))
}

/// Queries random rows of random tables, uniformly, until `stop`; how many.
fn query_until<S: Session>(
    stop: &AtomicBool,
    mut session: S,
    load: Load,
    index: u32,
) -> Result<u64, LoopError> {
    let (mut random, mut queries) = (Random::new(index), 0);
    while !stop.load(Ordering::Relaxed) {
        let table = random.below(load.tables) as usize;
        let id = random.below(load.table_size.unsigned_abs()) + 1;
        session.query(table, id.cast_signed())?;
        queries += 1;
    }
    Ok(queries)
}

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
struct Random(u64);

impl Random {
    /// A stream of its own for each session.
    fn new(stream: u32) -> Self {
        Self(u64::from(stream) << 40)
    }

    /// Uniform in 0..`bound`.
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        // Lemire's multiply-shift: the high half of 32 random bits times the bound.
        (((z >> 32) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uniform_and_streams_differ() {
        let (mut a, mut b) = (Random::new(0), Random::new(1));
        let mut counts = [0u32; 4];
        let mut same = 0;
        for _ in 0..40_000 {
            let (x, y) = (a.below(4), b.below(4));
            counts[x as usize] += 1;
            same += u32::from(x == y);
        }
        for count in counts {
            assert!((9_500..10_500).contains(&count), "{counts:?}");
        }
        assert!((9_500..10_500).contains(&same), "{same}");
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }

    #[test]
    fn a_target_without_socket_is_refused() {
        let args = Args::parse_from(["bare-loop", "--url", "sqlite:x.db"]);
        assert!(run(&args).unwrap_err().to_string().contains("SQLite"));
    }
}
