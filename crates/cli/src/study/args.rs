//! The command line of `tidemark study`.

use crate::args::StoreArg;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Begin with, in a minute and without a server:
  tidemark study plan studies/quick-sqlite.toml
  tidemark study run studies/quick-sqlite.toml
  tidemark report 'quick look at SQLite'

Files to copy from are in studies/; docs/studies.md explains every key.";

/// `study`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Study {
    /// What to do.
    #[command(subcommand)]
    pub command: StudyCommand,
}

/// What to do with a study.
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// Show a study's matrix, its steps with their commands, and the expected time; touches nothing
    Plan(Plan),
    /// Execute a study, step by step
    Run(Run),
    /// Go on with a study that was interrupted, killed, or cut off by a reboot
    Resume(Resume),
    /// Tell how far studies are: all of them, or one with its failures
    Status(Status),
}

/// `study plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// The study's file
    pub file: PathBuf,
}

/// `study run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The study's file
    pub file: PathBuf,
    /// Begin anew although an execution of this file is unfinished
    #[arg(long)]
    pub anew: bool,
    /// Watch the study in a view that fills the terminal: its steps, and rates, latencies, types,
    /// errors and host of the run in progress; q leaves it, and the study goes on with its lines;
    /// without a terminal there are lines alone
    #[arg(long)]
    pub view: bool,
    /// Where results are kept.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `study resume`.
#[derive(Debug, Args)]
pub struct Resume {
    /// The execution's id or its beginning, the study's name or file, or `last`
    #[arg(default_value = "last")]
    pub study: String,
    /// Take steps again that failed, too
    #[arg(long)]
    pub retry_failed: bool,
    /// Make runs again that ended but must not be used (INVALID); the first of each stays in the
    /// store and counts no more
    #[arg(long)]
    pub retry_invalid: bool,
    /// Go on as the study was begun although its file has changed
    #[arg(long)]
    pub as_begun: bool,
    /// Go on although another host may be executing it
    #[arg(long)]
    pub take_over: bool,
    /// Watch the study in a view that fills the terminal, as of `study run`
    #[arg(long)]
    pub view: bool,
    /// Where results are kept.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `study status`.
#[derive(Debug, Args)]
pub struct Status {
    /// The execution's id or its beginning, the study's name or file, or `last`; all when it is left out
    pub study: Option<String>,
    /// Where results are kept.
    #[command(flatten)]
    pub store: StoreArg,
}
