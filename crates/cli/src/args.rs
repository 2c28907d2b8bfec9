//! The command line of everything whose grammar is not another tool's.

mod clients;
mod diagnose;
mod keeping;
mod tools;
mod watch;

pub use clients::{Agent, Agents, AgentsCommand, AgentsStart, Attach, Beside, ClientsArg};
pub use diagnose::Diagnose;
pub use keeping::{
    Audit, Delete, Export, Import, List, Note, StoreCare, StoreCheck, StoreCommand, Tag,
};
pub use tools::{Completions, Down, Exec, Man, Schema, Up};
pub use watch::Watch;

use crate::{frontend, help, render};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use tidemark_core::parse_duration;
use tidemark_report::Lang;

/// Runs database benchmarks, measures its own overhead and flags results you should not trust.
#[derive(Debug, Parser)]
#[command(name = "tidemark", version = env!("TIDEMARK_VERSION"), after_help = help::exit_codes(), propagate_version = true,
    next_display_order = MOST_FRONTENDS)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Benchmark embedded SQLite for ten seconds; needs no server
    #[command(display_order = 0)]
    Demo(Demo),
    /// Run a job file, or repeat a stored run
    Exec(Exec),
    /// Print the JSON schema of jobs, records or diagnoses
    Schema(Schema),
    /// Run a matrix of benchmarks from a file: plan, run, resume, status
    Study(crate::study::args::Study),
    /// List the workloads
    Workloads(Workloads),
    /// List stored runs
    Runs(List),
    /// Print the summary of a run
    Show(Show),
    /// Write the report of one or more runs, or of a study
    Report(Report),
    /// Compare runs: changes, confidence intervals, other differences
    Compare(Compare),
    /// Add, remove or list tags of runs
    Tag(Tag),
    /// Set, print or clear the note of a run
    Note(Note),
    /// Delete runs from the store
    Delete(Delete),
    /// Export runs as JSON, CSV, Parquet or HdrHistogram logs
    Export(Export),
    /// Import records, and outputs of other tools
    Import(Import),
    /// Judge runs, records and outputs of other tools
    Audit(Audit),
    /// Check the store file
    Store(StoreCare),
    /// Start a sandbox (a private MariaDB or PostgreSQL), or list sandboxes
    Up(Up),
    /// Stop a sandbox and delete its data
    Down(Down),
    /// Check a target: connection, rights, loading, statements, what spoils results
    Doctor(Doctor),
    /// Find what limits throughput by experiments around a job
    Diagnose(Diagnose),
    /// Observe a database that something else loads; makes no load
    Watch(Watch),
    /// Make load for coordinators elsewhere; waits at a NATS server
    Agent(Agent),
    /// List agents, or start them on other hosts by SSH
    Agents(Agents),
    /// Take up a run of several clients whose coordinator was killed
    Attach(Attach),
    /// The load of an agent
    #[command(name = "client-load", hide = true)]
    ClientLoad,
    /// A program beside an agent
    #[command(name = "client-beside", hide = true)]
    ClientBeside(Beside),
    /// Print a shell completion script
    Completions(Completions),
    /// Write man pages
    Man(Man),
}

/// Commands that are listed between the demo and the others.
const MOST_FRONTENDS: usize = 100;
/// The words of a command with a command line of its own.
pub const WORDS: &str = "args";

/// The whole command line. Commands whose grammar is another tool's take any words.
pub fn command() -> clap::Command {
    let stub = |(at, found): (usize, &frontend::Frontend)| {
        let words = clap::Arg::new(WORDS)
            .value_name("ARGS")
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .help(found.words);
        clap::Command::new(found.word)
            .about(found.about)
            .display_order(1 + at)
            .disable_help_flag(true)
            .arg(words)
    };
    let program = Cli::command().subcommands(frontend::all().enumerate().map(stub));
    let overview = help::overview(&program);
    help::with_examples(help::for_language(program), "").override_help(overview)
}

/// `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Folder for the database, the record and the reports
    #[arg(long, default_value = "tidemark-out")]
    pub dir: PathBuf,
    /// Rows to load
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub rows: u64,
    /// Seconds to measure
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub time: u64,
    /// Print one line per second instead of the full-screen view
    #[arg(long)]
    pub plain: bool,
    /// Replace existing record and report files in the folder
    #[arg(long)]
    pub overwrite: bool,
    /// Number of sessions
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub threads: u64,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::LANGS)]
    pub lang: String,
    /// Run store file [default: TIDEMARK_STORE, or tidemark/runs.db in the user's data folder]
    #[arg(long)]
    pub store: Option<PathBuf>,
}

/// Which store.
#[derive(Debug, Args)]
pub struct StoreArg {
    /// Run store file [default: TIDEMARK_STORE, or tidemark/runs.db in the user's data folder]
    #[arg(long)]
    pub store: Option<PathBuf>,
}

/// `workloads`.
#[derive(Debug, Args)]
pub struct Workloads {
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
}

/// `show`.
#[derive(Debug, Args)]
pub struct Show {
    /// Run: an id or its beginning or end, or `last` for the latest run made here
    pub id: String,
    /// Print the whole record as JSON
    #[arg(long)]
    pub json: bool,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Where it is.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `report`.
#[derive(Debug, Args)]
#[command(after_help = "More:\n  \
    tidemark report \"thread sweep\" --lang zh       a study, by name or id\n  \
    tidemark report study:last                      the latest study\n  \
    tidemark report 660a 3c95 --format md -o -      several runs, printed\n  \
    tidemark report --tag before --out before.csv   every run with a tag, one row each")]
pub struct Report {
    /// Runs (an id or its beginning or end, `last`, tag:NAME, or a record file) or studies (an id or
    /// its beginning, a name, study:last); several make one document
    #[arg(value_name = "RUN|STUDY", required_unless_present = "tag")]
    pub what: Vec<String>,
    /// Every run with this tag; repeatable
    #[arg(long)]
    pub tag: Vec<String>,
    /// Output format [default: from the extension of --out, or html]; json is the record of one run,
    /// or the metrics of several
    #[arg(long, value_parser = ["html", "md", "csv", "json", "txt"])]
    pub format: Option<String>,
    /// File to write, or `-` to print; replaces only reports that Tidemark wrote [default: report.html,
    /// .md, .csv, .json or .txt]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace any existing file
    #[arg(long)]
    pub overwrite: bool,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Title of the report
    #[arg(long)]
    pub title: Option<String>,
    /// Markdown file with text of yours: each heading is placed by its words, or by {place=analysis} at
    /// its end; {{tps workload=oltp_read_only threads=64}} is a figure, ![](plan.png) a picture
    #[arg(long, value_name = "FILE")]
    pub text: Option<PathBuf>,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Baseline: an id or its beginning or end, `last`, or a record file; repeats separated by commas,
    /// or as tag:NAME, study:ID or study:last
    pub a: String,
    /// Runs to compare with the baseline, in the same form
    pub b: String,
    /// Exit with code 3 if a metric changed by more than this and the change is shown, or if too little
    /// was measured to tell: 'p99 > +5%' or 'throughput < -3%'; metrics: throughput, mean, p50, p95, p99;
    /// repeatable
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Vec<String>,
    /// Output format
    #[arg(long, default_value = "text", value_parser = ["text", "md", "json"])]
    pub format: String,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Target URL, for example mysql://user@host:3306/database; the password is read from MYSQL_PWD or
    /// PGPASSWORD
    pub target: String,
    /// Time limit for opening a session, for example 500ms or 10s; a server is given up if it replies
    /// neither to a statement nor to three new sessions
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = a_time)]
    pub connect_timeout: Duration,
    /// Do not execute the statements of the workloads
    #[arg(long)]
    pub quick: bool,
    /// Exit with code 3 if there is a warning
    #[arg(long)]
    pub strict: bool,
    /// Output format
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    pub format: String,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
}

pub fn a_time(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(time) if time > Duration::ZERO => Ok(time),
        Ok(_) => Err("must be any time above 0, as 10s".into()),
        Err(error) => Err(error.to_string()),
    }
}
