//! The command line of watching.

use super::{StoreArg, a_time};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use tidemark_core::{Observe, OptionKind, option};

/// `watch`.
#[derive(Debug, Args)]
#[command(after_help = "More:
  tidemark watch mysql://app@db1/shop --time 2h --observe-host http://db1:9100/metrics
  tidemark watch postgres://app@127.0.0.1/shop --time 10m --pid 4711 --report watch.html
The record has no transactions: throughput and latency belong to whatever loads the database. It is
stored like a run: see tidemark runs, show, report and export. compare and audit do not use it.
Ctrl-C ends a watch early; what was seen is stored, and the exit code is 130.")]
pub struct Watch {
    /// Target URL, for example mysql://user@host:3306/database; the password is read from MYSQL_PWD or
    /// PGPASSWORD
    pub target: String,
    /// How long to watch, for example 30s, 10m or 2h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = a_time)]
    pub time: Duration,
    /// Time between samples, 100ms or more
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = a_time)]
    pub interval: Duration,
    /// What is observed: auto, or a list of client-host, server-host, server-process, server-status,
    /// server-nodes, server-activity, server-statements and network
    #[arg(long, value_name = "auto|LIST", default_value = "auto", value_parser = sources)]
    pub observe: Observe,
    /// URL of the node_exporter on the database's host, if that is another host
    #[arg(long, value_name = "URL", value_parser = urls)]
    pub observe_host: Option<String>,
    /// URLs of the metrics of TiDB, CockroachDB or YugabyteDB nodes, separated by commas; by default the
    /// database lists its nodes
    #[arg(long, value_name = "URL,…", value_parser = urls)]
    pub observe_nodes: Option<String>,
    /// URL of a Prometheus that has the nodes' metrics; asked in place of the nodes
    #[arg(long, value_name = "URL", value_parser = urls)]
    pub observe_prometheus: Option<String>,
    /// PEM file of the certificate authority that https:// URLs are verified with; default: the system's
    #[arg(long, value_name = "FILE")]
    pub observe_ca: Option<PathBuf>,
    /// TiUP's topology.yaml of the target's cluster
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Process of the server on this host (PostgreSQL: the postmaster), if it cannot be found
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Option<u32>,
    /// Time limit for opening the first session
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = a_time)]
    pub connect_timeout: Duration,
    /// Serve the newest values to Prometheus at this port or address; 0 is any free port
    #[arg(long, value_name = "[HOST:]PORT")]
    pub metrics: Option<String>,
    /// Write the record to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write a report to this file (.html, .md, .txt, .json); repeatable
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    pub report: Vec<PathBuf>,
    /// Language of the summary and the report
    #[arg(long, default_value = "auto", value_parser = crate::render::LANGS)]
    pub lang: String,
    /// Replace any existing files of --out and --report
    #[arg(long)]
    pub overwrite: bool,
    /// Where the record goes.
    #[command(flatten)]
    pub store: StoreArg,
}

fn sources(text: &str) -> Result<Observe, String> {
    match text.parse() {
        Ok(Observe::Off) => Err(
            "a watch only observes, and off would leave nothing; use auto or a list of sources, for \
             example server-status,server-activity"
                .into(),
        ),
        Ok(observe) => Ok(observe),
        Err(error) => Err(format!("{error}")),
    }
}

/// As the option of a run takes them.
fn urls(text: &str) -> Result<String, String> {
    let of_runs = option("observe-host", OptionKind::Urls, "", "");
    of_runs.parse(text).map_err(|e| e.to_string())
}
