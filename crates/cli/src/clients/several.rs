//! The coordinator's side of a run or a load: agents of this host, where they are asked for, and the run.

use super::scripts::Scripts;
use super::{Hosts, nats_of};
use crate::compat::sysbench::script_files;
use crate::exit::{ExitCode, Failure};
use crate::program;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tidemark_clients::{ClientsPlan, ClientsRun, ListedState, Local, OnLoss, Timing, list};
use tidemark_core::job::{ClientLoss, Clients, OutputFiles, Watch};
use tidemark_core::record::RunRecord;
use tidemark_core::{Job, Target};

/// Agents of this host are there within this time.
const STARTED: Duration = Duration::from_secs(30);
/// How often it is looked whether they are.
const LOOK: Duration = Duration::from_millis(100);

/// A run of several clients, with what was started for it.
pub struct Several {
    /// The run.
    pub run: ClientsRun,
    /// Ends after the run.
    _local: Option<Local>,
}

impl Several {
    /// Begins a job with its clients.
    ///
    /// # Errors
    /// [`Failure`] when there is no server, or too few agents of this host can be started.
    pub fn begin(
        asked: &Clients,
        id: &str,
        (job, target): (&Job, &Target),
        record: Option<&RunRecord>,
    ) -> Result<Self, Failure> {
        let hosts = Hosts::of(&asked.hosts)?;
        let (nats, clients, local) = match hosts {
            Hosts::Agents(clients) => (nats_of(asked)?, clients, None),
            Hosts::Local(count) => {
                let mut local = start(count, target)?;
                wait_for(&mut local, count)?;
                (local.nats.clone(), count.to_string(), Some(local))
            }
        };
        let plan = ClientsPlan {
            run: id.into(),
            clients,
            version: env!("TIDEMARK_VERSION").into(),
            job: script_files::with_files(plain(job))?,
            record: record.map(|record| Box::new(record.clone())),
            on_loss: match asked.on_loss {
                ClientLoss::Fail => OnLoss::Fail,
                ClientLoss::Continue => OnLoss::Continue,
            },
            timing: Timing::default(),
        };
        Ok(Self {
            run: ClientsRun::begin(nats, plan)?,
            _local: local,
        })
    }

    /// The record is where it belongs: clients are free.
    pub fn kept(self) {
        self.run.kept();
    }
}

/// The job as a client gets it: nothing of it names files of a client, or makes it ask others.
fn plain(job: &Job) -> Job {
    Job {
        clients: None,
        study: None,
        outputs: OutputFiles {
            store: Some("off".into()),
            ..OutputFiles::default()
        },
        watch: Watch {
            observe: job.watch.observe.clone(),
            ..Watch::default()
        },
        ..job.clone()
    }
}

/// Starts a server and agents. All of them end with this process, however it ends.
fn start(count: usize, target: &Target) -> Result<Local, Failure> {
    let failed = |e: std::io::Error| Failure::new(ExitCode::Failed, e.to_string());
    let own = program::path().map_err(failed)?;
    let ends_with_this = |word: &str| {
        let mut command = Command::new(&own);
        command
            .arg(word)
            // Ctrl-C is for the coordinator, which then ends its clients.
            .process_group(0)
            .env_remove(crate::secrets::VARIABLE)
            .env(
                super::worker::PARENT_VARIABLE,
                std::process::id().to_string(),
            );
        command
    };
    let server = |nats_server: &Path| {
        let mut command = ends_with_this(super::worker::BESIDE);
        command.arg(nats_server);
        command
    };
    let agent = |name: &str| {
        let mut command = ends_with_this("agent");
        // It is this user, who has said what is run.
        let scripts = format!("--scripts={}", Scripts::Any.word());
        command.args(["--quiet", &scripts, &format!("--name={name}")]);
        let variable = target.protocol.password_variable();
        if let Some(variable) = variable.filter(|_| !target.password.is_empty()) {
            command.env(variable, target.password.reveal());
        }
        command
    };
    Ok(Local::start(count, server, agent)?)
}

fn wait_for(local: &mut Local, count: usize) -> Result<(), Failure> {
    let end = Instant::now() + STARTED;
    loop {
        let listed = list(&local.nats, env!("TIDEMARK_VERSION"))?;
        let free = listed.iter().filter(|a| a.state == ListedState::Free);
        if free.count() >= count {
            return Ok(());
        }
        if let Some(how) = local.ended_agent() {
            let why = format!("--clients=local:{count}: an agent ended ({how})");
            return Err(Failure::new(ExitCode::Failed, why));
        }
        if Instant::now() > end {
            let why = format!(
                "--clients=local:{count}: its agents were not ready within {} s",
                STARTED.as_secs()
            );
            return Err(Failure::new(ExitCode::Failed, why));
        }
        std::thread::sleep(LOOK);
    }
}
