//! The `tidemark-lab` command: a laboratory until Ctrl-C.

use clap::Parser;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use tidemark_core::parse_duration;
use tidemark_lab::{Delay, FaultSpan, Lab, LabConfig};

/// A server whose delays are known, to prove what a load generator measures. It speaks the MySQL
/// and the PostgreSQL protocol, lets everybody in, takes any statement, keeps no data, and answers
/// each execution of a prepared statement after a delay drawn from a distribution.
///
/// It prints how to reach it as shell variables, serves until Ctrl-C, SIGTERM or what --time and
/// --until-eof say, and prints then, as JSON, what really happened: `delays` from each request read
/// to its answer written, and counts.
#[derive(Debug, Parser)]
#[command(name = "tidemark-lab", version)]
struct Args {
    /// Address to listen at
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Port of the MySQL protocol; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    mysql_port: u16,
    /// Port of the PostgreSQL protocol; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    postgres_port: u16,
    /// Event loops, a thread each
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=256))]
    threads: usize,
    /// What each execution waits: none, constant:5ms, uniform:1ms..9ms, exp:5ms,
    /// lognormal:median=2ms,sigma=1, pareto:min=1ms,shape=1.5, bimodal:1ms@0.99,50ms@0.01
    #[arg(long, value_name = "DISTRIBUTION", default_value_t = Delay::None)]
    delay: Delay,
    /// Let statements sent as text wait too
    #[arg(long)]
    delay_queries: bool,
    /// Seed of the delays
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Answer nothing from a moment after the start on, for a time, as 2s:1s; may be repeated
    #[arg(long, value_name = "AT:LENGTH")]
    stall_at: Vec<FaultSpan>,
    /// Answer nothing for a time, again and again, as 5s:500ms
    #[arg(long, value_name = "EVERY:LENGTH")]
    stall_every: Option<FaultSpan>,
    /// Refuse sessions beyond so many at once: "Too many connections"
    #[arg(long, value_name = "N")]
    refuse_after: Option<usize>,
    /// End all sessions so long after the start and refuse new ones for --down-for; may be repeated
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    drop_at: Vec<Duration>,
    /// How long new sessions are refused then
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "2s")]
    down_for: Duration,
    /// Let in only this account, with any password
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Tables sbtest1 to sbtestN that the catalogue tells of
    #[arg(long, value_name = "N", default_value_t = 100)]
    tables: u32,
    /// Rows that it says they have
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    table_size: u64,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time: Option<Duration>,
    /// End with standard input, so that it never outlives who started it
    #[arg(long)]
    until_eof: bool,
    /// Write what really happened to a file instead of to standard output
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

impl Args {
    fn config(&self) -> LabConfig {
        let outage = |at: &Duration| FaultSpan {
            at: *at,
            length: self.down_for,
        };
        LabConfig {
            mysql: Some(SocketAddr::new(self.host, self.mysql_port)),
            postgres: Some(SocketAddr::new(self.host, self.postgres_port)),
            threads: self.threads,
            delay: self.delay.clone(),
            delay_queries: self.delay_queries,
            seed: self.seed,
            stalls: self.stall_at.clone(),
            stall_every: self.stall_every,
            refuse_after: self.refuse_after,
            outages: self.drop_at.iter().map(outage).collect(),
            user: self.user.clone(),
            tables: self.tables,
            table_size: self.table_size,
        }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    tidemark_runtime::raise_open_files();
    match serve(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tidemark-lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let (end, ended) = channel::<()>();
    let interrupted = end.clone();
    ctrlc::set_handler(move || {
        // Asked twice, it is ending already.
        let _ = interrupted.send(());
    })?;
    let lab = Lab::start(args.config())?;
    let mut out = io::stdout();
    for (name, url) in [("MYSQL", lab.mysql_url()), ("POSTGRES", lab.postgres_url())] {
        if let Some(url) = url {
            writeln!(out, "export TIDEMARK_LAB_{name}_URL='{url}'")?;
        }
    }
    writeln!(out, "# ready")?;
    out.flush()?;
    if args.until_eof {
        end_with_input(end.clone())?;
    }
    match args.time {
        // Nobody asked for an end before: the time is over.
        Some(time) => drop(ended.recv_timeout(time)),
        None => ended.recv()?,
    }
    let elapsed = lab.elapsed();
    let truth = lab.stop()?.to_json(elapsed);
    match &args.truth {
        Some(path) => std::fs::write(path, format!("{truth}\n"))?,
        None => writeln!(out, "{truth}")?,
    }
    Ok(())
}

fn end_with_input(end: Sender<()>) -> io::Result<()> {
    std::thread::Builder::new().spawn(move || {
        // However it ends, it has ended.
        let _ = io::copy(&mut io::stdin().lock().by_ref(), &mut io::sink());
        let _ = end.send(());
    })?;
    Ok(())
}
