//! The command line of what stands beside measuring: private servers, completions, manual pages.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// `up`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  url=$(tidemark up mariadb)                    standard output is the URL alone
  tidemark up postgres --set shared_buffers=1GB --set synchronous_commit=off
  tidemark up mariadb --name new --version-from /opt/mariadb-11.8
  tidemark up                                   lists those that there are, passwords as ***
  tidemark up mariadb --url                     prints the URL of one that runs, with its password
  tidemark down mariadb
The server listens at 127.0.0.1 alone. Its settings are its makers' defaults, but max_connections
(1000) and what is given by --set. Its data is gone when it is taken down.")]
pub struct Up {
    /// Which server: mariadb or postgres; without it the private servers are listed; with --url the
    /// name of one of them
    pub engine: Option<String>,
    /// Start nothing: print the URL of the private server of this name, with its password
    #[arg(long, requires = "engine", conflicts_with_all = ["version_from", "set", "dir", "name"])]
    pub url: bool,
    /// Folder of the server's programs, as an unpacked archive has them; those of the machine else
    #[arg(long, value_name = "FOLDER", requires = "engine")]
    pub version_from: Option<PathBuf>,
    /// A setting by the server's own name, or a switch of MariaDB's alone, as skip-log-bin; may be
    /// given several times
    #[arg(long, value_name = "NAME=VALUE", requires = "engine")]
    pub set: Vec<String>,
    /// Folder for its files, empty or not there yet [default: a temporary one]
    #[arg(long, value_name = "FOLDER", requires = "engine")]
    pub dir: Option<PathBuf>,
    /// What it is called by [default: mariadb, mariadb-2, …]
    #[arg(long, requires = "engine")]
    pub name: Option<String>,
}

/// `down`.
#[derive(Debug, Args)]
#[command(after_help = "\
A server that a study in progress uses is left as it is, and told (exit code 5); --force insists.
A server that is not running, after a restart of the machine perhaps, is removed with its files.
--forget is for what can't be removed: its folder is gone, bears no mark, or is of another
container.")]
pub struct Down {
    /// Its name, as tidemark up tells; may be left out where there is one alone
    pub name: Option<String>,
    /// All of them
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
    /// Also what a study in progress uses
    #[arg(long)]
    pub force: bool,
    /// Only take it off the list: nothing is ended, and no file is removed
    #[arg(long, requires = "name", conflicts_with_all = ["all", "force"])]
    pub forget: bool,
}

/// `completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
  bash:  tidemark completions bash > ~/.local/share/bash-completion/completions/tidemark
  zsh:   tidemark completions zsh > ~/.zfunc/_tidemark   (with ~/.zfunc in fpath)
  fish:  tidemark completions fish > ~/.config/fish/completions/tidemark.fish")]
pub struct Completions {
    /// For which shell
    pub shell: Shell,
}

/// `man`.
#[derive(Debug, Args)]
#[command(after_help = "\
  tidemark man ~/.local/share/man/man1 && man tidemark-runs")]
pub struct Man {
    /// Folder for the pages, one a command; it is made if it is not there
    pub dir: PathBuf,
}

/// `exec`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    tidemark exec --from last                      the run made last here, once more\n  \
    tidemark exec --from 660a --target mysql://user@other/sbtest   the same on another server\n  \
    tidemark sysbench oltp_read_write --target sqlite:a.db --print-job run > job.json\n  \
    tidemark exec job.json\n\n\
    A job holds no password: MYSQL_PWD or PGPASSWORD in the environment have it.")]
pub struct Exec {
    /// File with a job or a list of jobs, as --print-job writes them, or `-` for standard input
    #[arg(
        value_name = "JOB.json",
        required_unless_present = "from",
        conflicts_with = "from"
    )]
    pub job: Option<String>,
    /// Make this run again, exactly: an id, its beginning or end, `last`, or a record written by --out.
    /// Its record and reports are not written to the files of before
    #[arg(long, value_name = "RUN")]
    pub from: Option<String>,
    /// URL of another database to run it on
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// File for the record
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// File for a report; its ending says how it is written; may be given several times
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    pub report: Vec<PathBuf>,
    /// Language of the report
    #[arg(long, value_parser = ["en", "zh"])]
    pub lang: Option<String>,
    /// Replace the files of --out and --report that are there, whoever wrote them
    #[arg(long)]
    pub overwrite: bool,
    /// Use tables even if they are not this benchmark's; a load drops them
    #[arg(long)]
    pub force: bool,
    /// Watch the run in a view that fills the terminal
    #[arg(long)]
    pub view: bool,
    /// Print the job and do nothing else
    #[arg(long)]
    pub print_job: bool,
    /// Where runs are.
    #[command(flatten)]
    pub store: super::StoreArg,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct Schema {
    /// Of what
    #[arg(value_parser = ["job", "record"])]
    pub of: String,
}
