//! The command line of what stands beside measuring: private servers, completions, manual pages.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;
use tidemark_core::Shard;

/// `up`.
#[derive(Debug, Args)]
#[command(after_help = "More:
  url=$(tidemark up mariadb)      standard output is only the URL
  tidemark up                     list sandboxes, with passwords as ***
  tidemark up mariadb --url       print the URL of a running sandbox, with its password
  tidemark up mariadb --name new --version-from /opt/mariadb-11.8
A sandbox is a private server that listens only on 127.0.0.1. It has the default settings of its
engine, except max_connections (1000) and --set. tidemark down deletes its data.")]
pub struct Up {
    /// mariadb or postgres; without it, sandboxes are listed; with --url, the name of a sandbox
    pub engine: Option<String>,
    /// Print the URL of the sandbox with this name, including its password; start nothing
    #[arg(long, requires = "engine", conflicts_with_all = ["version_from", "set", "dir", "name"])]
    pub url: bool,
    /// Folder of the server's programs, such as an unpacked archive [default: installed programs]
    #[arg(long, value_name = "FOLDER", requires = "engine")]
    pub version_from: Option<PathBuf>,
    /// Server setting, or a MariaDB switch such as skip-log-bin; repeatable
    #[arg(long, value_name = "NAME=VALUE", requires = "engine")]
    pub set: Vec<String>,
    /// Folder for its files, empty or new [default: a temporary folder]
    #[arg(long, value_name = "FOLDER", requires = "engine")]
    pub dir: Option<PathBuf>,
    /// Name of the sandbox [default: mariadb, mariadb-2, …]
    #[arg(long, requires = "engine")]
    pub name: Option<String>,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = crate::render::lang_parser())]
    pub lang: tidemark_report::Lang,
}

/// `down`.
#[derive(Debug, Args)]
#[command(after_help = "\
A sandbox that a running study uses is not stopped (exit code 5); --force stops it anyway.
A sandbox that is not running, for example after a reboot, is removed with its files.
--forget is for a sandbox that cannot be removed: its folder is gone, has no mark, or belongs to
another container.")]
pub struct Down {
    /// Name of the sandbox; optional if there is only one
    pub name: Option<String>,
    /// Stop all sandboxes
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
    /// Stop it even if a running study uses it
    #[arg(long)]
    pub force: bool,
    /// Only remove it from the list: stop nothing, delete no files
    #[arg(long, requires = "name", conflicts_with_all = ["all", "force"])]
    pub forget: bool,
    /// Language of the output
    #[arg(long, default_value = "auto", value_parser = crate::render::lang_parser())]
    pub lang: tidemark_report::Lang,
}

/// `completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Install:
  bash:  tidemark completions bash > ~/.local/share/bash-completion/completions/tidemark
  zsh:   tidemark completions zsh > ~/.zfunc/_tidemark   (with ~/.zfunc in fpath)
  fish:  tidemark completions fish > ~/.config/fish/completions/tidemark.fish")]
pub struct Completions {
    /// Shell
    pub shell: Shell,
}

/// `man`.
#[derive(Debug, Args)]
#[command(after_help = "\
  tidemark man ~/.local/share/man/man1 && man tidemark-runs")]
pub struct Man {
    /// Folder for the pages, one per command; created if missing
    pub dir: PathBuf,
}

/// `exec`.
#[derive(Debug, Args)]
#[command(after_help = "More:\n  \
    tidemark exec --from 660a --target mysql://user@other/sbtest   the same on another server\n  \
    tidemark sysbench oltp_read_write --target sqlite:a.db --print-job run > job.json\n  \
    tidemark exec job.json\n\n\
    A job contains no password; set MYSQL_PWD or PGPASSWORD.")]
pub struct Exec {
    /// File with a job or a list of jobs from --print-job, or `-` for standard input
    #[arg(
        value_name = "JOB.json",
        required_unless_present = "from",
        conflicts_with = "from"
    )]
    pub job: Option<String>,
    /// Repeat this run exactly: an id or its beginning or end, `last`, or a record file; the run's
    /// former record and report files are not written again
    #[arg(long, value_name = "RUN")]
    pub from: Option<String>,
    /// Run on another database
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Write the record to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Tag of the run, as `tidemark tag` adds it; repeatable
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Note of the run, as `tidemark note` sets it
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Write a report to this file (.html, .md, .txt, .json, .csv); repeatable
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    pub report: Vec<PathBuf>,
    /// Language of the report
    #[arg(long, value_parser = crate::render::LANGS)]
    pub lang: Option<String>,
    /// Replace any existing files of --out and --report
    #[arg(long)]
    pub overwrite: bool,
    /// Use tables even if they are not this benchmark's; a load drops them
    #[arg(long)]
    pub force: bool,
    /// Do not run if a hint says that the figures would mislead
    #[arg(long)]
    pub strict: bool,
    /// Show the run in a full-screen view
    #[arg(long)]
    pub view: bool,
    /// Do only one client's share of the run, as 1/3: the first of three clients
    #[arg(long, value_name = "CLIENT/OF")]
    pub shard: Option<Shard>,
    /// Print the job and do nothing else
    #[arg(long)]
    pub print_job: bool,
    /// Who makes it.
    #[command(flatten)]
    pub clients: super::ClientsArg,
    /// Where runs are.
    #[command(flatten)]
    pub store: super::StoreArg,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct Schema {
    /// Schema to print
    #[arg(value_parser = ["job", "record", "diagnosis"])]
    pub of: String,
}
