//! Ending a sandbox: its server, if it is proven to be its own, and then its files.

use crate::home::{Home, State, place, server_of};
use crate::place::Place;
use crate::programs::Engine;
use crate::{Error, folder, postgres};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;
use tidemark_process::{signal, started, wait_until};

/// How long an orderly end may take before SIGKILL.
const STOP_LIMIT: Duration = Duration::from_secs(30);
/// How long a killed process may be there.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// What was ended and removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The sandbox's name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What is still in the folder because the sandbox did not make it.
    pub left: Vec<String>,
}

impl Home {
    /// Ends the sandbox of this name, in whatever state it is, and removes what was made for it.
    ///
    /// A process is ended only if it is the one that was started here: by its number and the time of
    /// its start, or by its number and the sandbox's data folder among its arguments.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Starting`], [`Error::NotOurs`], [`Error::Elsewhere`],
    /// [`Error::Stubborn`], [`Error::Io`].
    pub fn down(&self, name: &str) -> Result<Removed, Error> {
        let sandbox = self.find(name)?;
        let name = sandbox.name.clone();
        match sandbox.state {
            State::Starting { by } if by != std::process::id() => {
                return Err(Error::Starting { name, pid: by });
            }
            State::Elsewhere => return Err(Error::Elsewhere { name }),
            State::NotOurs => {
                let link = self.link(&name);
                return Err(Error::NotOurs {
                    folder: sandbox.folder,
                    reason: sandbox.unmarked,
                    link,
                    name,
                });
            }
            _ => {}
        }
        let mut left = Vec::new();
        if let Some(marker) = &sandbox.marker {
            let place = place(marker);
            if let Some(pid) = server_of(marker)
                && !end(&place, pid)?
            {
                return Err(Error::Stubborn { name, pid });
            }
            left = folder::remove(&sandbox.folder, marker.made_folder)?;
        }
        forget(self, &name, &sandbox.folder)?;
        Ok(Removed {
            name,
            folder: sandbox.folder,
            left,
        })
    }
}

/// Takes a sandbox off the list, if its name still leads there.
pub(crate) fn forget(home: &Home, name: &str, folder: &Path) -> Result<(), Error> {
    let link = home.link(name);
    if fs::read_link(&link).is_ok_and(|there| there == folder) {
        fs::remove_file(&link).map_err(Error::io(format!("removing {}", link.display())))?;
    }
    Ok(())
}

/// Ends a server in an orderly way, by SIGKILL if it takes too long; whether it has ended.
fn end(place: &Place, pid: u32) -> Result<bool, Error> {
    // Asked again before each signal: the number may be another's by then.
    let start = started(pid);
    let there = || start.is_some() && started(pid) == start;
    let send = |name: &str| match there() {
        true => signal(name, &[pid]).map_err(Error::io(format!("ending process {pid}"))),
        false => Ok(()),
    };
    // A paused server takes no other signal.
    send("CONT")?;
    // PostgreSQL: fast shutdown, sessions are cut (its documentation, Shutting Down the Server).
    send(match place.engine {
        Engine::MariaDb => "TERM",
        Engine::Postgres => "INT",
    })?;
    if wait_until(STOP_LIMIT, || !there()) {
        return Ok(true);
    }
    // Immediate shutdown takes PostgreSQL's other processes along.
    if place.engine == Engine::Postgres {
        send("QUIT")?;
        wait_until(KILL_LIMIT, || !there());
    }
    if there() {
        send("KILL")?;
        if place.engine == Engine::Postgres {
            postgres::remove_shared_memory(place);
        }
    }
    Ok(wait_until(KILL_LIMIT, || !there()))
}

/// Ends a server that this process has just started.
pub(crate) fn end_child(place: &Place, mut child: Child) {
    if let Ok(Some(_)) = child.try_wait() {
        return;
    }
    let pid = child.id();
    let reaper = std::thread::spawn(move || {
        let _ = child.wait();
    });
    if matches!(end(place, pid), Ok(true)) {
        let _ = reaper.join();
    }
}
