//! Several client hosts as one: the agent of a host, the load that it starts, and the coordinator's side
//! of runs and loads with `--clients`.

pub mod agents;
mod attach;
mod events;
mod gather;
mod load;
mod measure;
mod reported;
pub mod scripts;
mod several;
mod worker;

pub use attach::attach;
pub use gather::Listener;
pub use load::load;
pub use measure::{follow, measure};
pub use several::Several;
pub use worker::{end_with_agent, is_load, work};

use crate::args::ClientsArg;
use crate::compat::sysbench::script_files;
use crate::compat::tpch;
use crate::exit::{ExitCode, Failure};
use std::path::PathBuf;
use std::sync::{Once, OnceLock};
use tidemark_clients::{ClientsError, NatsOptions};
use tidemark_core::job::{ClientLoss, Clients};
use tidemark_core::{Job, JobKind, OptionValues, Protocol, RunSpec, Shard};

/// What names the NATS server where no option does.
const SERVER_VARIABLE: &str = "NATS_URL";
/// What stands before a number of agents on this host.
const LOCAL: &str = "local:";
/// The most agents on one host.
const MOST_LOCAL: usize = 64;

/// The clients that a study's or another command's own option asked for, for every job that it makes.
static FOR_ALL: OnceLock<Clients> = OnceLock::new();

/// Makes every job of this process one of these clients, unless it says otherwise.
pub fn use_for_all(clients: Option<Clients>) {
    if let Some(clients) = clients {
        FOR_ALL.get_or_init(|| clients);
    }
}

/// The clients of a job of these options.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn of_options(options: &OptionValues) -> Result<Option<Clients>, Failure> {
    if !options.has("clients") {
        return Ok(None);
    }
    let said = |name: &str| options.text_opt(name).filter(|t| !t.is_empty());
    let Some(hosts) = said("clients") else {
        let alone = ["nats", "nats-creds", "nats-ca"]
            .into_iter()
            .find(|n| said(n).is_some());
        if let Some(name) = alone {
            return Err(Failure::usage(format!(
                "--{name} applies only to --clients; for example --clients=3"
            )));
        }
        return Ok(FOR_ALL.get().cloned());
    };
    let clients = Clients {
        hosts: hosts.into(),
        nats: said("nats").map(String::from),
        creds: said("nats-creds").map(PathBuf::from),
        ca: said("nats-ca").map(PathBuf::from),
        on_loss: match options.text("on-client-loss") {
            "continue" => ClientLoss::Continue,
            _ => ClientLoss::Fail,
        },
    };
    check(&clients).map(|()| Some(clients))
}

/// The clients that a command's own words ask for.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn of_words(words: &ClientsArg) -> Result<Option<Clients>, Failure> {
    let Some(hosts) = &words.clients else {
        return Ok(None);
    };
    let clients = Clients {
        hosts: hosts.clone(),
        nats: words.nats.clone(),
        creds: words.nats_creds.clone(),
        ca: words.nats_ca.clone(),
        on_loss: match words.on_client_loss.as_str() {
            "continue" => ClientLoss::Continue,
            _ => ClientLoss::Fail,
        },
    };
    check(&clients).map(|()| Some(clients))
}

/// Who makes a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// So many agents of this host's own.
    Local(usize),
    /// Agents that wait at a server: how many, or which.
    Agents(String),
}

impl Hosts {
    /// Of what `--clients` says.
    ///
    /// # Errors
    /// [`Failure`] of bad usage.
    pub(crate) fn of(said: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::usage(format!(
                "--clients={said}: {why}; use a number of agents (3), their names (a,b,c), or local:3 for \
                 three on this host"
            ))
        };
        if let Some(count) = said.strip_prefix(LOCAL) {
            let count = count.parse().ok().filter(|n| (1..=MOST_LOCAL).contains(n));
            let count = count.ok_or_else(|| wrong("must be local:1 to local:64"))?;
            return Ok(Hosts::Local(count));
        }
        if let Ok(count) = said.parse::<u32>() {
            return match (1..=tidemark_core::MOST_CLIENTS).contains(&count) {
                true => Ok(Hosts::Agents(said.into())),
                false => Err(wrong("must be 1 to 10,000")),
            };
        }
        let mut names: Vec<&str> = said.split(',').collect();
        if !names.iter().all(|name| tidemark_clients::is_name(name)) {
            return Err(wrong("names have letters, digits, - and _"));
        }
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(wrong(&format!("{} is named twice", pair[0]))),
            None => Ok(Hosts::Agents(said.into())),
        }
    }
}

/// How many clients are asked for.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn count(clients: &Clients) -> Result<u32, Failure> {
    let count = match Hosts::of(&clients.hosts)? {
        Hosts::Local(count) => count,
        Hosts::Agents(said) => match said.parse() {
            Ok(count) => count,
            Err(_) => said.split(',').count(),
        },
    };
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Refuses a job that several clients can't do together.
///
/// # Errors
/// [`Failure`] of bad usage, with what to do instead.
pub fn must_be_possible(job: &Job, clients: &Clients) -> Result<(), Failure> {
    let refused = |why: &str| {
        let hosts = &clients.hosts;
        Err(Failure::usage(format!("--clients={hosts}: {why}")))
    };
    if let Err(failure) = script_files::with_files(job.clone()) {
        return refused(&failure.message);
    }
    if job.kind() == JobKind::Load {
        return Ok(());
    }
    let protocol = job.target.parse().map(|target| target.protocol);
    if protocol.is_ok_and(|protocol| protocol == Protocol::Sqlite) {
        return refused(
            "an embedded SQLite database is a file of one host, and one process at a time writes to it; use \
             a server, or --threads",
        );
    }
    // Streams of queries are no sessions of a load: their command tells what can be shared.
    if job.tool.name == tpch::TOOL.name {
        return Ok(());
    }
    let load = RunSpec {
        shard: Shard {
            index: 0,
            of: count(clients)?,
        },
        ..job.load.clone()
    };
    match load.check_shard() {
        Ok(()) => Ok(()),
        Err(error) => refused(&error.to_string()),
    }
}

fn check(clients: &Clients) -> Result<(), Failure> {
    match Hosts::of(&clients.hosts)? {
        Hosts::Local(_) => match &clients.nats {
            Some(nats) => Err(Failure::usage(format!(
                "--nats={nats}: --clients={} starts a server of its own; leave one of them out",
                clients.hosts
            ))),
            None => Ok(()),
        },
        Hosts::Agents(_) => nats_of(clients).map(drop),
    }
}

/// The way to the server of clients that are not this host's own.
///
/// # Errors
/// [`Failure`] of bad usage, when none is named.
fn nats_of(clients: &Clients) -> Result<NatsOptions, Failure> {
    nats_options(
        clients.nats.as_deref(),
        clients.creds.clone(),
        clients.ca.clone(),
    )
}

/// The way to a server, of what was said and of the environment.
///
/// # Errors
/// [`Failure`] of bad usage, when none is named.
pub(crate) fn nats_options(
    url: Option<&str>,
    creds: Option<PathBuf>,
    ca: Option<PathBuf>,
) -> Result<NatsOptions, Failure> {
    let variable = std::env::var(SERVER_VARIABLE).ok();
    let url = url.or(variable.as_deref()).filter(|url| !url.is_empty());
    let Some(url) = url else {
        return Err(Failure::usage(format!(
            "--nats: no server named, and {SERVER_VARIABLE} is not set; for example \
             --nats=nats://load0:4222; --clients=local:3 starts one on this host"
        )));
    };
    let options = NatsOptions::new(url, creds, ca)?;
    // A command asks for its options more than once.
    static TOLD: Once = Once::new();
    if let Some(caution) = options.caution() {
        TOLD.call_once(|| eprintln!("tidemark: warning: {caution}"));
    }
    Ok(options)
}

impl From<ClientsError> for Failure {
    fn from(error: ClientsError) -> Self {
        let code = match &error {
            ClientsError::Usage(_) => ExitCode::Usage,
            ClientsError::Connect { .. }
            | ClientsError::JetStream { .. }
            | ClientsError::Agents { .. } => ExitCode::Connect,
            ClientsError::Run { .. } => ExitCode::Refused,
            ClientsError::Refused { .. } | ClientsError::Nats(_) | ClientsError::System(_) => {
                ExitCode::Failed
            }
        };
        Failure::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_counted_however_they_are_asked_for() {
        for (hosts, wanted) in [("local:3", 3), ("4", 4), ("a,b-1", 2), ("a", 1)] {
            let clients = Clients {
                hosts: hosts.into(),
                nats: None,
                creds: None,
                ca: None,
                on_loss: ClientLoss::Fail,
            };
            assert_eq!(count(&clients).unwrap(), wanted, "{hosts}");
        }
    }

    #[test]
    fn clients_are_a_number_names_or_this_hosts_own() {
        assert_eq!(Hosts::of("local:3").unwrap(), Hosts::Local(3));
        assert_eq!(Hosts::of("3").unwrap(), Hosts::Agents("3".into()));
        assert_eq!(Hosts::of("a,b-1").unwrap(), Hosts::Agents("a,b-1".into()));
        for wrong in [
            "0", "local:0", "local:x", "local:65", "a,a", "a,,b", "a.b", "20000",
        ] {
            let said = Hosts::of(wrong).unwrap_err().message;
            assert!(said.starts_with(&format!("--clients={wrong}: ")), "{said}");
            assert!(said.contains("local:3"), "{said}");
        }
    }
}
