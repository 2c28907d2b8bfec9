//! Ending a sandbox: its server, if it is proven to be its own, and then its files.

use crate::home::{Home, State, place, server_of};
use crate::place::Place;
use crate::programs::Engine;
use crate::{Error, folder, holder, postgres};
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
    /// its start, or by its number and the sandbox's data folder among its arguments. A server that
    /// another process uses ([`Home::hold`]) is left as it is.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Held`], [`Error::Starting`], [`Error::NotOurs`],
    /// [`Error::Elsewhere`], [`Error::Stubborn`], [`Error::Io`].
    pub fn down(&self, name: &str) -> Result<Removed, Error> {
        self.remove(name, false)
    }

    /// The same, also when another process uses it.
    ///
    /// # Errors
    /// As [`Home::down`], but [`Error::Held`].
    pub fn force_down(&self, name: &str) -> Result<Removed, Error> {
        self.remove(name, true)
    }

    fn remove(&self, name: &str, held_too: bool) -> Result<Removed, Error> {
        let _taken = holder::taken(&self.find(name)?.folder);
        let sandbox = self.find(name)?;
        let name = sandbox.name.clone();
        match sandbox.state {
            State::Starting { by } if by != std::process::id() => {
                return Err(Error::Starting { name, pid: by });
            }
            State::Running { .. } if !held_too => {
                let holders = sandbox.holders();
                if !holders.is_empty() {
                    return Err(Error::Held { name, holders });
                }
            }
            State::Elsewhere => return Err(Error::Elsewhere { name }),
            State::NotOurs => {
                return Err(Error::NotOurs {
                    folder: sandbox.folder,
                    reason: sandbox.unmarked,
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
        unlist(self, &name, &sandbox.folder)?;
        Ok(Removed {
            name,
            folder: sandbox.folder,
            left,
        })
    }

    /// Takes a sandbox off the list that can't be ended from here or is not proven to be one. Nothing
    /// is ended, and nothing else is removed. Returns its folder.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Starting`] and [`Error::Runs`] for one that lives here,
    /// [`Error::Io`].
    pub fn forget(&self, name: &str) -> Result<PathBuf, Error> {
        let sandbox = self.find(name)?;
        let name = sandbox.name;
        match sandbox.state {
            State::Starting { by } => return Err(Error::Starting { name, pid: by }),
            State::Running { pid } | State::HalfStarted { pid: Some(pid) } => {
                return Err(Error::Runs { name, pid });
            }
            _ => {}
        }
        unlist(self, &name, &sandbox.folder)?;
        Ok(sandbox.folder)
    }
}

/// Takes a sandbox off the list, if its name still leads there.
pub(crate) fn unlist(home: &Home, name: &str, folder: &Path) -> Result<(), Error> {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::marker::Marker;
    use tidemark_process::{ProcessId, kill_and_reap};

    /// A home with one sandbox, `m`, whose server is this process.
    fn listed(dir: &Path, made_folder: bool, server: Option<u32>) -> (Home, PathBuf) {
        let folder = dir.join("box");
        fs::create_dir_all(folder.join("server/data")).unwrap();
        fs::write(folder.join("server.log"), "").unwrap();
        let marker = Marker {
            format: 1,
            name: "m".into(),
            folder: folder.clone(),
            made_folder,
            engine: Engine::MariaDb,
            port: 4711,
            password: "geheim".into(),
            starter: ProcessId::own("h"),
            server: server.map(|pid| ProcessId::of("h", pid)),
            ready: true,
        };
        marker.write().unwrap();
        let home = Home::at(&dir.join("home"));
        assert!(home.enter("m", &folder).unwrap());
        (home, folder)
    }

    /// As after a restart of the machine: another boot, and its number is another process's.
    fn restarted(folder: &Path, pid: u32) {
        let mut marker = Marker::read("m", folder).unwrap();
        marker.server = Some(ProcessId {
            boot_id: Some("another pid:[1]".into()),
            ..ProcessId::of("h", pid)
        });
        marker.write().unwrap();
        fs::write(folder.join("server/server.pid"), pid.to_string()).unwrap();
    }

    #[test]
    fn what_a_restart_left_is_removed_and_nobody_is_ended_for_it() {
        let mut other = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        for made_folder in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let (home, folder) = listed(dir.path(), made_folder, None);
            restarted(&folder, other.id());
            assert_eq!(home.find("m").unwrap().state(), State::Ended);
            home.down("m").unwrap();
            assert_eq!(folder.exists(), !made_folder);
            assert!(!folder.join("server").exists());
            assert!(home.list().unwrap().is_empty());
        }
        assert!(tidemark_process::alive(other.id()));
        kill_and_reap(&mut other);
    }

    #[test]
    fn forgetting_takes_off_the_list_and_removes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (home, folder) = listed(dir.path(), true, Some(std::process::id()));
        let pid = std::process::id();
        let runs = home.forget("m").unwrap_err();
        assert_eq!(
            runs,
            Error::Runs {
                name: "m".into(),
                pid
            }
        );
        assert!(home.find("m").is_ok());
        restarted(&folder, pid);
        assert_eq!(home.forget("m").unwrap(), folder);
        assert!(folder.join("server/data").exists() && folder.join("server.log").exists());
        assert!(matches!(home.forget("m"), Err(Error::Unknown { .. })));
        // What bears no mark, and what is gone.
        fs::remove_file(folder.join(crate::marker::FILE)).unwrap();
        assert!(home.enter("x", &folder).unwrap());
        let unproven = home.down("x").unwrap_err().to_string();
        assert!(unproven.contains("tidemark down x --forget"), "{unproven}");
        assert_eq!(home.forget("x").unwrap(), folder);
        assert!(folder.join("server/data").exists());
        assert!(home.enter("y", &dir.path().join("none")).unwrap());
        assert_eq!(home.find("y").unwrap().state(), State::Gone);
        home.forget("y").unwrap();
        assert!(home.list().unwrap().is_empty());
    }
}
