//! The command line of agents.

use super::{StoreArg, a_time};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// The way to NATS.
#[derive(Debug, Args)]
pub struct Nats {
    /// NATS server with JetStream, for example nats://load0:4222 or tls://load0:4222 [default: NATS_URL];
    /// user and password are read from NATS_USER and NATS_PASSWORD
    #[arg(long, value_name = "URL", global = true)]
    pub nats: Option<String>,
    /// File with the credential of an account [default: NATS_CREDS]
    #[arg(long, value_name = "FILE", global = true)]
    nats_creds: Option<PathBuf>,
    /// File with the certificate authority of NATS, if it is not one of the system's
    #[arg(long, value_name = "FILE", global = true)]
    nats_ca: Option<PathBuf>,
}

impl Nats {
    /// File with the credential.
    pub fn creds(&self) -> Option<PathBuf> {
        self.nats_creds.clone()
    }

    /// File with the certificate authority.
    pub fn ca(&self) -> Option<PathBuf> {
        self.nats_ca.clone()
    }
}

/// The clients of every run of a command whose options are not a benchmark's.
#[derive(Debug, Args)]
pub struct ClientsArg {
    /// Run from several hosts as one: how many of the agents at --nats (3), which (a,b,c), or how many on
    /// this host, to try it (local:3)
    #[arg(long)]
    pub clients: Option<String>,
    /// NATS server at which the agents wait [default: NATS_URL]
    #[arg(long, value_name = "URL", requires = "clients")]
    pub nats: Option<String>,
    /// File with the credential of an account of NATS
    #[arg(long, value_name = "FILE", requires = "clients")]
    pub nats_creds: Option<PathBuf>,
    /// File with the certificate authority of NATS
    #[arg(long, value_name = "FILE", requires = "clients")]
    pub nats_ca: Option<PathBuf>,
    /// What to do if a client is lost: fail or continue
    #[arg(long, requires = "clients", value_parser = ["fail", "continue"], default_value = "fail")]
    pub on_client_loss: String,
}

/// `agent`.
#[derive(Debug, Args)]
#[command(after_help = "\
The agent runs Tidemark's jobs and nothing else, of coordinators of its own version that hold the
credential of the server. Their Lua scripts do what --scripts allows. A job contains no password:
set MYSQL_PWD or PGPASSWORD here, or use --password-file. It ends its load by itself when the
coordinator is silent for 10 s.")]
pub struct Agent {
    /// Where it waits.
    #[command(flatten)]
    pub to: Nats,
    /// Its name, as --clients takes it [default: the host's]
    #[arg(long)]
    pub name: Option<String>,
    /// File with the database's password, in place of MYSQL_PWD or PGPASSWORD
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Hosts of databases that runs may use; no other host gets the password. Written as in targets
    /// [default: any]
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', value_parser = host_of_targets)]
    pub targets: Vec<String>,
    /// What Lua scripts of runs may do here: nothing (off), compute and query (queries), or all that this
    /// user may, as reading files, starting programs and --lua-ffi (any)
    #[arg(long, value_name = "WHAT", value_parser = ["off", "queries", "any"], default_value = "off")]
    pub scripts: String,
    /// How long the NATS server may take to be there, where both are started together
    #[arg(long, value_name = "TIME", value_parser = a_time)]
    pub wait: Option<Duration>,
    /// Print nothing
    #[arg(long, hide = true)]
    pub quiet: bool,
}

/// `agents`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = false)]
pub struct Agents {
    /// Where they wait.
    #[command(flatten)]
    pub to: Nats,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<AgentsCommand>,
}

/// What is done with agents.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Copy this program to hosts and start an agent on each, by SSH
    Start(AgentsStart),
}

/// `agents start`.
#[derive(Debug, Args)]
pub struct AgentsStart {
    /// Hosts, as SSH takes them
    #[arg(required = true)]
    pub hosts: Vec<String>,
    /// Command that reaches a host, with its options
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    pub ssh: String,
    /// What Lua scripts of runs may do there, as tidemark agent has it
    #[arg(long, value_name = "WHAT", value_parser = ["off", "queries", "any"])]
    pub scripts: Option<String>,
    /// Hosts of databases that runs may use, as tidemark agent has it
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', value_parser = host_of_targets)]
    pub targets: Vec<String>,
}

/// `attach`.
#[derive(Debug, Args)]
pub struct Attach {
    /// Where its agents wait.
    #[command(flatten)]
    pub to: Nats,
    /// Run: its id, or the beginning or end of it [default: the latest without a record]
    pub run: Option<String>,
    /// Where its record goes.
    #[command(flatten)]
    pub store: StoreArg,
}

/// `client-beside`.
#[derive(Debug, Args)]
pub struct Beside {
    /// The program and its words.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub words: Vec<String>,
}

/// A host's name without what only a target needs around it.
fn host_of_targets(text: &str) -> Result<String, String> {
    let name = text.trim();
    let inner = match name.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']'),
        // An address has more colons than one.
        None => Some(name).filter(|name| name.matches(':').count() != 1),
    };
    match inner {
        Some("") => Err("a host has no name; write --targets=db1,10.0.0.2".into()),
        Some(name) => Ok(name.into()),
        None => Err("write the host without a port, as in --targets=db1,10.0.0.2".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_taken_as_targets_have_them_without_a_port() {
        for (text, name) in [
            (" db1 ", "db1"),
            ("[::1]", "::1"),
            ("fe80::2", "fe80::2"),
            ("/run/mysqld.sock", "/run/mysqld.sock"),
        ] {
            assert_eq!(host_of_targets(text).as_deref(), Ok(name));
        }
        for (text, why) in [
            ("", "no name"),
            ("[]", "no name"),
            ("db1:3307", "without a port"),
            ("[::1]:3306", "without a port"),
        ] {
            let refused = host_of_targets(text).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}
