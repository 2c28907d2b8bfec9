//! Ending a sandbox: its server, if it is proven to be its own, and then its files.

use crate::home::{Home, SandboxState, is_of, place, server_of};
use crate::programs::SandboxEngine;
use crate::server_files::ServerFiles;
use crate::{Error, folder, holder, postgres};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;
use tidemark_process::{Signal, all, arguments, group, kill_group, signal, started, wait_until};

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
            SandboxState::Starting { by } if by != std::process::id() => {
                return Err(Error::Starting { name, pid: by });
            }
            SandboxState::Running { .. } if !held_too => {
                let holders = sandbox.holders();
                if !holders.is_empty() {
                    return Err(Error::Held { name, holders });
                }
            }
            SandboxState::Elsewhere => return Err(Error::Elsewhere { name }),
            SandboxState::NotOurs => {
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
                && !end(&place, pid)
            {
                return Err(Error::Stubborn { name, pid });
            }
            if let Some(pid) = end_set_up(&place) {
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
            SandboxState::Starting { by } => return Err(Error::Starting { name, pid: by }),
            SandboxState::Running { pid } | SandboxState::HalfStarted { pid: Some(pid) } => {
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
fn end(place: &ServerFiles, pid: u32) -> bool {
    // Asked again before each signal: the number may be another's by then.
    let start = started(pid);
    let there = || start.is_some() && started(pid) == start;
    let send = |name: Signal| {
        if there() {
            signal(name, &[pid]);
        }
    };
    // A paused server takes no other signal.
    send(Signal::SIGCONT);
    // PostgreSQL: fast shutdown, sessions are cut (its documentation, Shutting Down the Server).
    send(match place.engine {
        SandboxEngine::MariaDb => Signal::SIGTERM,
        SandboxEngine::Postgres => Signal::SIGINT,
    });
    if wait_until(STOP_LIMIT, || !there()) {
        return true;
    }
    // Immediate shutdown takes PostgreSQL's other processes along.
    if place.engine == SandboxEngine::Postgres {
        send(Signal::SIGQUIT);
        wait_until(KILL_LIMIT, || !there());
    }
    if there() {
        send(Signal::SIGKILL);
        if place.engine == SandboxEngine::Postgres {
            postgres::remove_shared_memory(place);
        }
    }
    wait_until(KILL_LIMIT, || !there())
}

/// Ends what still makes a server's files after whoever started it was killed: `initdb` and
/// MariaDB's script lead process groups of their own and would write on into a folder that is being
/// removed. One that did not end, if any.
fn end_set_up(place: &ServerFiles) -> Option<u32> {
    let data = place.data();
    let at_work = || {
        let mut all = all().into_iter();
        all.find(|pid| group(*pid) == Some(*pid) && is_of(&arguments(*pid), &data))
    };
    while let Some(leader) = at_work() {
        kill_group(leader);
        let members = || all().into_iter().any(|pid| group(pid) == Some(leader));
        if !wait_until(KILL_LIMIT, || !members()) {
            return Some(leader);
        }
    }
    None
}

/// Ends a server that this process has just started.
pub(crate) fn end_child(place: &ServerFiles, mut child: Child) {
    if let Ok(Some(_)) = child.try_wait() {
        return;
    }
    let pid = child.id();
    let reaper = std::thread::spawn(move || {
        let _ = child.wait();
    });
    if end(place, pid) {
        let _ = reaper.join();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::home::stand_in;
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
            engine: SandboxEngine::MariaDb,
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
            assert_eq!(home.find("m").unwrap().state(), SandboxState::Ended);
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
        let mut server = stand_in::server(&dir.path().join("box"));
        let pid = server.id();
        let (home, folder) = listed(dir.path(), true, Some(pid));
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
        assert_eq!(home.find("y").unwrap().state(), SandboxState::Gone);
        home.forget("y").unwrap();
        assert!(home.list().unwrap().is_empty());
        stand_in::end(&mut server);
    }

    /// Whoever started it was killed while a program, with a child, made the server's files.
    #[test]
    fn what_still_makes_the_files_is_ended_before_they_are_removed() {
        use std::os::unix::process::CommandExt;
        // Both write as fast as they can, and would make the folders again.
        let script = "at=$1; writes() { while :; do mkdir -p $at/$1; : > $at/$1/$2; done; }; \
                      writes a b 2>/dev/null & writes c d 2>/dev/null";
        for named in ["--datadir=", "--pgdata="] {
            let dir = tempfile::tempdir().unwrap();
            let (home, folder) = listed(dir.path(), true, None);
            let mut marker = Marker::read("m", &folder).unwrap();
            marker.ready = false;
            marker.starter.pid_started = Some("1".into());
            marker.write().unwrap();
            let data = folder.join("server/data");
            let mut maker = std::process::Command::new("/bin/sh")
                .args(["-c", script, "initdb"])
                .arg(&data)
                .arg(format!("{named}{}", data.display()))
                .process_group(0)
                .spawn()
                .unwrap();
            let (leader, busy) = (maker.id(), data.join("a/b"));
            assert!(wait_until(KILL_LIMIT, || busy.exists()));
            assert_eq!(
                home.find("m").unwrap().state(),
                SandboxState::HalfStarted { pid: None }
            );
            home.down("m").unwrap();
            maker.wait().unwrap();
            assert!(!all().into_iter().any(|pid| group(pid) == Some(leader)));
            assert!(!folder.exists());
        }
    }

    /// Whoever forges a mark, nothing that it says is believed: neither that a server runs, nor where,
    /// nor which process to end.
    fn nothing_is_believed(home: &Home, folder: &Path, victim: &mut std::process::Child) {
        let found = home.find("m").unwrap();
        assert_eq!(found.state(), SandboxState::NotOurs, "{}", found.unmarked);
        assert_eq!((found.url().as_str(), found.engine()), ("", None));
        assert!(home.hold("m", "study x").is_err());
        for ended in [home.down("m"), home.force_down("m")] {
            assert!(matches!(ended, Err(Error::NotOurs { .. })), "{ended:?}");
        }
        assert!(folder.join("server/data").exists());
        assert!(victim.try_wait().unwrap().is_none(), "its process lives");
    }

    #[test]
    fn a_mark_that_others_can_write_or_that_is_a_link_is_none() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let mut victim = stand_in::server(&dir.path().join("box"));
        let (home, folder) = listed(dir.path(), true, Some(victim.id()));
        let mark = folder.join(crate::marker::FILE);
        let pid = victim.id();
        assert_eq!(
            home.find("m").unwrap().state(),
            SandboxState::Running { pid }
        );
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for (path, open, closed) in [(&mark, 0o620, 0o600), (&folder, 0o777, 0o711)] {
            mode(path, open);
            nothing_is_believed(&home, &folder, &mut victim);
            mode(path, closed);
            assert_eq!(
                home.find("m").unwrap().state(),
                SandboxState::Running { pid }
            );
        }
        let elsewhere = dir.path().join("mark");
        fs::rename(&mark, &elsewhere).unwrap();
        symlink(&elsewhere, &mark).unwrap();
        nothing_is_believed(&home, &folder, &mut victim);
        stand_in::end(&mut victim);
    }

    /// The folder for temporary files was cleared, and another account makes the sandbox's folder
    /// again. Only root can play another account.
    #[test]
    fn a_mark_of_another_account_is_none() {
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::process::CommandExt;
        let script = "umask 022; mkdir -p \"$1/server/data\" && cat > \"$1/tidemark-sandbox.json\" \
                      && chmod 600 \"$1/tidemark-sandbox.json\"";
        if crate::Account::for_engine(SandboxEngine::MariaDb)
            .unwrap()
            .is_none()
        {
            return;
        }
        // As /tmp is.
        let dir = tempfile::tempdir().unwrap();
        let open = fs::Permissions::from_mode(0o1777);
        fs::set_permissions(dir.path(), open).unwrap();
        // What is at work on that very folder, so that its arguments alone prove nothing either.
        let mut victim = stand_in::server(&dir.path().join("box"));
        let (home, folder) = listed(dir.path(), true, Some(victim.id()));
        let mark = fs::read(folder.join(crate::marker::FILE)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(home.find("m").unwrap().state(), SandboxState::Gone);
        let mut forger = std::process::Command::new("/bin/sh")
            .args(["-c", script, "sh"])
            .arg(&folder)
            .stdin(std::process::Stdio::piped())
            .uid(65534)
            .gid(65534)
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut forger.stdin.take().unwrap(), &mark).unwrap();
        assert!(forger.wait().unwrap().success());
        nothing_is_believed(&home, &folder, &mut victim);
        let said = home.down("m").unwrap_err().to_string();
        assert!(said.contains("it belongs to user id 65534"), "{said}");
        stand_in::end(&mut victim);
    }
}
