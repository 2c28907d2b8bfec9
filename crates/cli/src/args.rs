//! The command line of everything whose grammar is not another tool's.

mod keeping;
mod tools;

pub use keeping::{Audit, Delete, Export, Import, List, Note, StoreCare, StoreCommand, Tag};
pub use tools::{Completions, Down, Exec, Man, Schema, Up};

use crate::exit::ExitCode;
use crate::frontend;
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use tidemark_core::parse_duration;

/// Runs the standard database benchmarks, and says whether the numbers can be believed.
#[derive(Debug, Parser)]
#[command(name = "tidemark", version = env!("TIDEMARK_VERSION"), after_help = after_help(), propagate_version = true,
    next_display_order = MOST_FRONTENDS)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure embedded SQLite for ten seconds: no server, nothing to set up
    #[command(display_order = 0)]
    Demo(Demo),
    /// Run a job: one that --print-job wrote, or a run of the store once more
    Exec(Exec),
    /// Print the JSON schema of jobs or of records
    Schema(Schema),
    /// Run a matrix of runs from a file: plan, run, resume, status
    Study(crate::study::args::Study),
    /// List the workloads
    Workloads,
    /// List the runs in the store
    Runs(List),
    /// Print one run's summary
    Show(Show),
    /// Write the report of a run, of several, or of a study
    Report(Report),
    /// Compare runs: how much faster or slower, how sure that is, what else differed
    Compare(Compare),
    /// Put tags on runs, to find and compare them by, or take them off
    Tag(Tag),
    /// Note something about a run
    Note(Note),
    /// Delete runs from the store
    Delete(Delete),
    /// Write runs to files: whole records, intervals as CSV or Parquet, or HdrHistogram logs
    Export(Export),
    /// Take records and outputs of other tools into the store
    Import(Import),
    /// Judge runs, records and outputs of other tools: can their figures be believed?
    Audit(Audit),
    /// Check the store's file, or save what can be saved of a damaged one
    Store(StoreCare),
    /// Start a private MariaDB or PostgreSQL to try things on, or list those that run
    Up(Up),
    /// Stop a private server and remove its data
    Down(Down),
    /// Check step by step that a target can be used: connection, rights, statements, loading
    Doctor(Doctor),
    /// Print what lets a shell complete this command line
    Completions(Completions),
    /// Write manual pages
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
    Cli::command().subcommands(frontend::all().enumerate().map(stub))
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
    /// Print a line a second instead of the view that fills the terminal
    #[arg(long)]
    pub plain: bool,
    /// Replace files of the record's and the reports' names in the folder, whoever wrote them
    #[arg(long)]
    pub overwrite: bool,
    /// Sessions
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub threads: u64,
    /// Language of the report
    #[arg(long, default_value = "en", value_parser = ["en", "zh"])]
    pub lang: String,
    /// File of the run store [default: TIDEMARK_STORE, or tidemark/runs.db in the user's data folder]
    #[arg(long)]
    pub store: Option<PathBuf>,
}

/// Which store.
#[derive(Debug, Args)]
pub struct StoreArg {
    /// File of the run store [default: TIDEMARK_STORE, or tidemark/runs.db in the user's data folder]
    #[arg(long)]
    pub store: Option<PathBuf>,
}

/// `show`.
#[derive(Debug, Args)]
pub struct Show {
    /// The run's id, its beginning or end; `last` is the one made last here
    pub id: String,
    /// Print the whole record as JSON
    #[arg(long)]
    pub json: bool,
    /// Language
    #[arg(long, default_value = "en", value_parser = ["en", "zh"])]
    pub lang: String,
    /// Where it is.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `report`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    tidemark report last                          the run made last, as report.html\n  \
    tidemark report \"thread sweep\" --lang zh     a study, by its name or id\n  \
    tidemark report study:last                    the study that was begun last\n  \
    tidemark report 660a 3c95 --format md -o -    several runs, printed\n  \
    tidemark report --tag before --out before.csv  every run with a tag, a row each")]
pub struct Report {
    /// Runs (an id, its beginning or end, `last` for the one made last here, tag:NAME, or a record written by --out)
    /// or studies (an id, its beginning, or a name; study:last is the one begun last); several make
    /// one document
    #[arg(value_name = "RUN|STUDY", required_unless_present = "tag")]
    pub what: Vec<String>,
    /// Every run that bears this tag; may be given several times
    #[arg(long)]
    pub tag: Vec<String>,
    /// How it is written [default: as the ending of --out says, else html]; json is one run's
    /// record, or the figures of several
    #[arg(long, value_parser = ["html", "md", "csv", "json", "txt"])]
    pub format: Option<String>,
    /// File to write, `-` to print; a report of Tidemark's that is there is replaced, no other file
    /// [default: report with the format's ending]
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Replace the file that is there, whoever wrote it
    #[arg(long)]
    pub overwrite: bool,
    /// Language
    #[arg(long, default_value = "en", value_parser = ["en", "zh"])]
    pub lang: String,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Run to compare with: an id, its beginning or end, `last`, or a record written by --out; repeats
    /// with commas, or as tag:NAME or study:ID (study:last is the one begun last)
    pub a: String,
    /// Run that is compared, likewise
    pub b: String,
    /// End with code 3 when a metric changed by more than this and that is shown, or too little was measured to tell, as 'p99 > +5%' or
    /// 'throughput < -3%'; of throughput, mean, p50, p95, p99; may be given several times
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Vec<String>,
    /// How it is printed
    #[arg(long, default_value = "text", value_parser = ["text", "md", "json"])]
    pub format: String,
    /// Language
    #[arg(long, default_value = "en", value_parser = ["en", "zh"])]
    pub lang: String,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// The target, as mysql://user@host:3306/database; MYSQL_PWD or PGPASSWORD hold a password
    pub target: String,
    /// Time within which a session must be open, as 500ms or 10s; a server that answers neither a
    /// statement nor three more sessions is given up
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = a_time)]
    pub connect_timeout: Duration,
}

fn a_time(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(time) if time > Duration::ZERO => Ok(time),
        Ok(_) => Err("allowed is any time above 0, as 10s".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn after_help() -> String {
    let codes: String = ExitCode::ALL
        .iter()
        .map(|(code, meaning)| format!("  {:3}  {meaning}\n", *code as u8))
        .collect();
    let beginners = frontend::all().filter(|f| f.for_beginners);
    let helps = beginners.map(|f| format!("  tidemark {} --help\n", f.word));
    format!(
        "Begin with:\n  tidemark demo\n{}\nExit codes:\n{}",
        helps.collect::<String>(),
        codes.trim_end()
    )
}
