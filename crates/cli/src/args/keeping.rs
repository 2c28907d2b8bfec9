//! The command line of what is done with runs that are kept.

use super::StoreArg;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `runs`.
#[derive(Debug, Args)]
pub struct List {
    /// Only runs of this workload
    #[arg(long)]
    pub workload: Option<String>,
    /// Only runs on this engine: mariadb, mysql, tidb, postgres, yugabyte, cockroach, sqlite
    #[arg(long)]
    pub engine: Option<String>,
    /// Only runs whose target's URL holds this text
    #[arg(long, value_name = "TEXT")]
    pub target: Option<String>,
    /// Only runs that bear this tag; given several times, all of them
    #[arg(long)]
    pub tag: Vec<String>,
    /// Only runs that came so far
    #[arg(long, value_parser = ["running", "unfinished", "finished", "interrupted", "failed"])]
    pub state: Option<String>,
    /// Only runs that started at this time or later: 2026-11-20, 2026-11-20T14:30 (local), or how
    /// long ago, as 2h or 3d
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only runs that started before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only runs of this study: its id, its name, or last
    #[arg(long, value_name = "STUDY")]
    pub study: Option<String>,
    /// How many of the newest to list
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `tag`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tidemark tag last +nightly                  put a tag on the run made last here
  tidemark tag 660a 3c95 +before -wrong       put one on two runs, take another off
  tidemark tag tag:before +v1.2               on all that bear a tag already
  tidemark tag last                           print a run's tags
  tidemark tag                                print every tag there is
Then: tidemark runs --tag nightly, tidemark compare tag:before tag:after")]
pub struct Tag {
    /// Runs (an id or its beginning, last, tag:NAME, study:ID, study:last), then +TAG to put on, -TAG
    /// to take off
    #[arg(value_name = "RUN|+TAG|-TAG", allow_hyphen_values = true)]
    pub words: Vec<String>,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `note`.
#[derive(Debug, Args)]
pub struct Note {
    /// The run's id, its beginning or end; `last` is the one made last here
    pub run: String,
    /// What is to be said of it, in the place of what was said; '' takes it away; without this it is
    /// printed
    #[arg(allow_hyphen_values = true)]
    pub text: Option<String>,
    /// Where it is.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `delete`.
#[derive(Debug, Args)]
pub struct Delete {
    /// Runs: an id or its beginning, last, tag:NAME, study:ID, study:last
    #[arg(value_name = "RUN", required_unless_present = "tag")]
    pub runs: Vec<String>,
    /// Every run that bears this tag
    #[arg(long)]
    pub tag: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `export`.
#[derive(Debug, Args)]
#[command(after_help = "\
json is the whole record, with tags and note, for tidemark import; csv has a line an interval;
parquet has the columns of csv with their types, and when each interval began, for data frames;
hdr is an HdrHistogram log (V2, compressed), with a line an interval, for its own tools.")]
pub struct Export {
    /// Runs: an id or its beginning, last, tag:NAME, study:ID, study:last
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// As what
    #[arg(long, default_value = "json", value_parser = ["json", "csv", "parquet", "hdr"])]
    pub format: String,
    /// File, or folder, which gets a file for each run; nothing that is there is replaced; without it
    /// a single run is printed
    #[arg(long, short, value_name = "FILE|DIR")]
    pub out: Option<PathBuf>,
    /// Replace files that are there, whoever wrote them
    #[arg(long)]
    pub overwrite: bool,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tidemark import run.json                              a record, as export or --out wrote it
  tidemark import results/ --report out.html --lang zh  outputs of other tools, and their report
  tidemark import --explain results.md                  print what each line is taken for
Known by content: sysbench, go-tpc, go-ycsb, YCSB, pgbench, BenchBase, HammerDB, mysqlslap, tpcc-mysql,
k6 and HdrHistogram logs, and tables in Markdown or CSV. Such runs have the tag imported.

A record that is in the store already is left out and counted. One that can't be read, or whose id
another record in the store has, is told and decides the exit code; the others are imported.")]
pub struct Import {
    /// Records, outputs of other tools, or folders with them; - reads standard input
    #[arg(value_name = "FILE|FOLDER|-", required = true)]
    pub files: Vec<PathBuf>,
    /// Print every line with what it is taken for, and store nothing
    #[arg(long)]
    pub explain: bool,
    /// Print what would be imported, and store nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Also write a report of the imported runs: .html, .md, .csv or .json
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Language of the report
    #[arg(long, default_value = "en", value_parser = ["en", "zh"])]
    pub lang: String,
    /// Replace the report's file, whoever wrote it
    #[arg(long)]
    pub overwrite: bool,
    /// Where they go.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `audit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tidemark audit results.md      outputs of other tools, in a document
  tidemark audit tag:nightly     runs of the store
Ends with code 3 if a finding is INVALID, with --strict also if one is SUSPECT.")]
pub struct Audit {
    /// Runs (an id or its beginning, last, tag:NAME, study:ID), records, documents, folders, or -
    #[arg(value_name = "RUN|FILE|FOLDER", required = true)]
    pub what: Vec<String>,
    /// End with code 3 if a finding is SUSPECT
    #[arg(long)]
    pub strict: bool,
    /// Language
    #[arg(long, default_value = "en", value_parser = ["en", "zh"])]
    pub lang: String,
    /// Where the runs are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `store`.
#[derive(Debug, Args)]
pub struct StoreCare {
    /// What to do.
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// What is done with the store's file.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Read everything in it and say whether it is whole
    Check(StoreArg),
}
