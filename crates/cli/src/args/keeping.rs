//! The command line of what is done with runs that are kept.

use super::StoreArg;
use crate::render;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use tidemark_core::tools::TOOLS;
use tidemark_import::Unit;
use tidemark_report::Lang;

/// Names of units of time.
fn unit_parser() -> impl TypedValueParser<Value = Unit> {
    PossibleValuesParser::new(Unit::ALL.map(Unit::name)).map(|word| {
        let named = Unit::ALL.into_iter().find(|unit| unit.name() == word);
        named.unwrap_or(Unit::Ms)
    })
}

/// The end of the page of `import`, with the tools whose outputs are known.
fn of_formats() -> String {
    let titles: Vec<&str> = TOOLS.iter().filter_map(|tool| tool.title).collect();
    format!(
        "\
More:
  tidemark import results/ --report out.html    outputs of other tools, and their report
  tidemark import --explain results.md          print how each line is read
  tidemark import --series dstat.csv --mapping dstat.toml --to last
Formats, recognised by content: {}, and tables in Markdown or CSV. Imported runs have the tag imported. \
Records that are already in the store are skipped and counted. A record that cannot be read, or whose \
id another record in the store has, is reported and sets the exit code; the others are imported.",
        titles.join(", ")
    )
}

/// `runs`.
#[derive(Debug, Args)]
pub struct List {
    /// Only runs of this workload
    #[arg(long)]
    pub workload: Option<String>,
    /// Only runs on this engine: mariadb, mysql, tidb, postgres, yugabyte, cockroach, sqlite
    #[arg(long)]
    pub engine: Option<String>,
    /// Only runs whose target URL contains this text
    #[arg(long, value_name = "TEXT")]
    pub target: Option<String>,
    /// Only runs with this tag; if repeated, with all of them
    #[arg(long)]
    pub tag: Vec<String>,
    /// Only runs in this state
    #[arg(long, value_parser = ["running", "unfinished", "finished", "interrupted", "failed"])]
    pub state: Option<String>,
    /// Only runs that started at this time or later: 2026-11-20, 2026-11-20T14:30 (local), or a
    /// period ago such as 2h or 3d
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only runs that started before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only runs of this study: an id, a name, or last
    #[arg(long, value_name = "STUDY")]
    pub study: Option<String>,
    /// Maximum number of runs to list, newest first
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `tag`.
#[derive(Debug, Args)]
#[command(after_help = "\
More:
  tidemark tag last                           print the tags of a run
  tidemark tag 660a 3c95 +before -wrong       add a tag to two runs, remove another
  tidemark tag tag:before +v1.2               add a tag to all runs with a tag
  tidemark runs --tag before                  list the runs with a tag")]
pub struct Tag {
    /// Runs (an id or its beginning, last, tag:NAME, study:ID, study:last), then +TAG to add and -TAG
    /// to remove
    #[arg(value_name = "RUN|+TAG|-TAG", allow_hyphen_values = true)]
    pub words: Vec<String>,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `note`.
#[derive(Debug, Args)]
pub struct Note {
    /// Run: an id or its beginning or end, or `last` for the latest run made here
    pub run: String,
    /// Note text; replaces the note, '' clears it; without it, the note is printed
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
    /// Every run with this tag
    #[arg(long)]
    pub tag: Option<String>,
    /// Delete without confirmation
    #[arg(long, short)]
    pub yes: bool,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `export`.
#[derive(Debug, Args)]
#[command(after_help = "\
json: the whole record with tags and note, for tidemark import
csv: one row per interval
parquet: the typed columns of csv and the start of each interval, for data frames
hdr: an HdrHistogram log (V2, compressed), one line per interval
series, series-parquet: what was observed, one row per point of each series")]
pub struct Export {
    /// Runs: an id or its beginning, last, tag:NAME, study:ID, study:last
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Output format, by default that of the file's ending, else json; `clients` is a CSV line for each client
    /// of a run
    #[arg(long, value_parser = ["json", "csv", "parquet", "series", "series-parquet", "hdr", "clients"])]
    pub format: Option<String>,
    /// File for one run, or folder with a file per run, which several runs need; existing files are not
    /// replaced; without it, a single run is printed
    #[arg(long, short, value_name = "FILE|DIR")]
    pub out: Option<PathBuf>,
    /// Replace any existing files
    #[arg(long)]
    pub overwrite: bool,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Where they are.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `import`.
#[derive(Debug, Args)]
#[command(after_help = of_formats())]
pub struct Import {
    /// Records, outputs of other tools, or folders of them; - reads standard input
    #[arg(value_name = "FILE|FOLDER|-", required_unless_present = "series")]
    pub files: Vec<PathBuf>,
    /// Attach series of another collector to the run of --to: a table with a column of times, such as the
    /// CSV of dstat
    #[arg(long, value_name = "FILE.csv", requires_all = ["mapping", "to"], conflicts_with_all = ["files", "explain", "report"])]
    pub series: Option<PathBuf>,
    /// What the columns of --series are (docs/import.md)
    #[arg(long, value_name = "MAP.toml", requires = "series")]
    pub mapping: Option<PathBuf>,
    /// Run that --series is attached to: an id or its beginning or end, `last`, or a record file
    #[arg(long, value_name = "RUN", requires = "series")]
    pub to: Option<String>,
    /// When an imported run of --to began, for example 2026-11-25T10:00:00+08:00
    #[arg(long, value_name = "TIME", requires = "series")]
    pub run_start: Option<String>,
    /// Unit of latencies where the document states none: ns, us, ms or s
    #[arg(long, value_parser = unit_parser())]
    pub unit: Option<Unit>,
    /// Print how each line is read, and store nothing
    #[arg(long)]
    pub explain: bool,
    /// Print what would be imported, and store nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Also write a report of the imported runs: .html, .md, .csv or .json; repeatable
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    pub report: Vec<PathBuf>,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Replace any existing report file
    #[arg(long)]
    pub overwrite: bool,
    /// Where they go.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `audit`.
#[derive(Debug, Args)]
#[command(after_help = "\
More:
  tidemark audit results.md     outputs of other tools, in a document
Exits with code 3 if a finding is INVALID, with --strict also if one is SUSPECT.")]
pub struct Audit {
    /// Runs (an id or its beginning, last, tag:NAME, study:ID), records, documents, folders, or -
    #[arg(value_name = "RUN|FILE|FOLDER", required = true)]
    pub what: Vec<String>,
    /// Also exit with code 3 if a finding is SUSPECT
    #[arg(long)]
    pub strict: bool,
    /// Unit of latencies where a document states none: ns, us, ms or s
    #[arg(long, value_parser = unit_parser())]
    pub unit: Option<Unit>,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
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
    /// Read the whole store and report damage
    Check(StoreCheck),
}

/// `store check`.
#[derive(Debug, Args)]
pub struct StoreCheck {
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Where it is.
    #[command(flatten)]
    pub store: StoreArg,
}
