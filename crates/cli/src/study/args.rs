//! The command line of `tidemark study`.

use crate::args::{ClientsArg, StoreArg, a_time};
use crate::render;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use tidemark_report::Lang;

const EXAMPLES: &str = "\
The example takes a minute and needs no server. Its report: tidemark report study:last
More study files are in studies/; docs/studies.md explains every key.";

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
    /// Print the matrix, the steps with their commands, and the expected time; changes nothing
    Plan(Plan),
    /// Run a study
    Run(Run),
    /// Resume a study that was interrupted, killed, or stopped by a reboot
    Resume(Resume),
    /// Print the progress of all studies, or of one with its failures
    Status(Status),
}

/// `study plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// Study file
    pub file: PathBuf,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
}

/// `study run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Study file
    pub file: PathBuf,
    /// Start over even if an execution of this file is unfinished
    #[arg(long)]
    pub anew: bool,
    /// Do not start a study whose `repeats` is 1, which cannot tell noise from a difference
    #[arg(long)]
    pub strict: bool,
    /// Experiments after the steps.
    #[command(flatten)]
    pub experiments: ExperimentArgs,
    /// Show the study in a full-screen view; q closes it and the study continues with plain lines;
    /// without a terminal, only lines are printed
    #[arg(long)]
    pub view: bool,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Who makes its runs and loads.
    #[command(flatten)]
    pub clients: ClientsArg,
    /// Where results are kept.
    #[command(flatten)]
    pub store: StoreArg,
}

/// Experiments when all steps are over.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Then run experiments around the job at the knee of each throughput curve, for this time in all, and
    /// add what they show to the report; see tidemark diagnose [default: 3m for each]
    #[arg(long, value_name = "BUDGET", num_args = 0..=1, require_equals = true, value_parser = a_time)]
    pub diagnose: Option<Option<Duration>>,
    /// With --diagnose: change settings of servers that are not sandboxes for some runs and restore them
    #[arg(long, requires = "diagnose")]
    pub may_change_settings: bool,
}

/// `study resume`.
#[derive(Debug, Args)]
pub struct Resume {
    /// Execution id or its beginning, study name or file, or `last`
    #[arg(default_value = "last")]
    pub study: String,
    /// Also retry failed steps
    #[arg(long)]
    pub retry_failed: bool,
    /// Repeat INVALID runs; the first run of each stays in the store but is no longer counted
    #[arg(long)]
    pub retry_invalid: bool,
    /// Continue with the original file although it has changed
    #[arg(long)]
    pub as_begun: bool,
    /// Continue although another host may be executing it
    #[arg(long)]
    pub take_over: bool,
    /// Experiments that are not made yet.
    #[command(flatten)]
    pub experiments: ExperimentArgs,
    /// Show the study in a full-screen view, as in `study run`
    #[arg(long)]
    pub view: bool,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Who makes what is left: as in `study run`
    #[command(flatten)]
    pub clients: ClientsArg,
    /// Where results are kept.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `study status`.
#[derive(Debug, Args)]
pub struct Status {
    /// Execution id or its beginning, study name or file, or `last` [default: all]
    pub study: Option<String>,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Where results are kept.
    #[command(flatten)]
    pub store: StoreArg,
}
