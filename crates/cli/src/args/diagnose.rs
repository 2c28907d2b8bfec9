//! The command line of experiments around a baseline.

use super::{ClientsArg, StoreArg};
use crate::render;
use clap::Args;
use std::time::Duration;
use tidemark_core::parse_duration;
use tidemark_report::Lang;

/// `diagnose`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tidemark diagnose [OPTIONS] <--from RUN|JOB.json|BENCHMARK …>",
    after_help = "More:
  tidemark diagnose --budget 5m sysbench oltp_read_write --target=mysql://user@db1/sbtest --threads=16 run
  tidemark sysbench oltp_read_only --target=sqlite:bench.db --diagnose=2m run     after the run
  tidemark diagnose job.json
The job runs in closed loop for a few seconds at a time: as it is, and with one thing changed (twice and
half the sessions, later replies, a second client process, disjoint keys, 1 % of the rows, commits
without waiting for the disk or ROLLBACK, text instead of prepared statements, reads or writes only). How throughput
changes proves what limits it. Only the benchmark's own rights are needed. A workload that writes changes
its tables. Ctrl-C restores server settings and prints what was measured.
Each run is stored with the tag diagnose: tidemark runs --tag diagnose"
)]
pub struct Diagnose {
    /// File with a job from --print-job, `-` for standard input, or a benchmark's command line without
    /// `tidemark`, behind all other options
    #[arg(value_name = "JOB.json|BENCHMARK", conflicts_with = "from")]
    pub job: Option<String>,
    /// Diagnose the job of this run: an id or its beginning or end, `last` (the last run that is not
    /// of a diagnosis), or a record file
    #[arg(long, value_name = "RUN")]
    pub from: Option<String>,
    /// Keep what the experiments show in the record of this run, too: it is how `--diagnose` of a
    /// benchmark asks
    #[arg(long, value_name = "RUN", hide = true)]
    pub keep_with: Option<String>,
    /// Time for all experiments, 20s or more
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = parse_duration)]
    pub budget: Duration,
    /// Change settings of a server that is not a sandbox for some runs and restore them
    /// (innodb_flush_log_at_trx_commit and sync_binlog on MariaDB and MySQL)
    #[arg(long)]
    pub may_change_settings: bool,
    /// Use tables even if they are not this benchmark's
    #[arg(long)]
    pub force: bool,
    /// Output format
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    pub format: String,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = render::lang_parser())]
    pub lang: Lang,
    /// Who makes its runs; by default those of the job.
    #[command(flatten)]
    pub clients: ClientsArg,
    /// Where runs are.
    #[command(flatten)]
    pub store: StoreArg,
}
