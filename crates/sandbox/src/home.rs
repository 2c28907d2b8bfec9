//! The sandboxes of a user, by their names.

use crate::marker::Marker;
use crate::programs::SandboxEngine;
use crate::server_files::ServerFiles;
use crate::{Error, Holder, holder, ownership, ready};
use std::fs;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use tidemark_process::{Liveness, ProcessId, alive, arguments, boot_id};

/// What is being done while a server starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartStep {
    /// Its files are made.
    Files,
    /// It was started and does not answer yet.
    Start,
}

/// How far a sandbox is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxState {
    /// A living process starts it right now.
    Starting {
        /// That process.
        by: u32,
    },
    /// Its server runs.
    Running {
        /// The server's process.
        pid: u32,
    },
    /// Whoever started it died before the server answered. A process of it may be there.
    HalfStarted {
        /// The server's process, if there is one.
        pid: Option<u32>,
    },
    /// Its server has ended, perhaps with the machine or its container; its files are there.
    Ended,
    /// Its server answers in another container, or was started by a process that can't be seen.
    Elsewhere,
    /// Its folder is no longer there: a restart of the machine clears temporary ones.
    Gone,
    /// What its name leads to bears no mark of it.
    NotOurs,
}

/// One sandbox, as it was when it was looked at.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) state: SandboxState,
    pub(crate) marker: Option<Marker>,
    /// Why there is no mark.
    pub(crate) unmarked: String,
}

/// The account and the database of every sandbox.
pub(crate) const ACCOUNT: &str = "tidemark";

impl Sandbox {
    /// What it is called by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How far it is.
    pub fn state(&self) -> SandboxState {
        self.state
    }

    /// What kind of server it is; none where no mark says.
    pub fn engine(&self) -> Option<SandboxEngine> {
        self.marker.as_ref().map(|m| m.engine)
    }

    /// What the server prints.
    pub fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    /// The other processes that use it now.
    pub fn holders(&self) -> Vec<Holder> {
        holder::others(&self.folder)
    }

    /// The target's URL with its password, which opens nothing but this server, from this machine.
    /// Empty where no mark says.
    pub fn url(&self) -> String {
        self.marker.as_ref().map_or_else(String::new, |marker| {
            let scheme = match marker.engine {
                SandboxEngine::MariaDb => "mysql",
                SandboxEngine::Postgres => "postgres",
            };
            let Marker { port, password, .. } = marker;
            format!("{scheme}://{ACCOUNT}:{password}@127.0.0.1:{port}/{ACCOUNT}")
        })
    }
}

/// The place of one marked sandbox's server.
pub(crate) fn place(marker: &Marker) -> ServerFiles {
    ServerFiles {
        engine: marker.engine,
        account: None,
        folder: marker.folder.join("server"),
        log: marker.folder.join("server.log"),
        port: marker.port,
        programs: None,
    }
}

/// The folder in which a user's sandboxes are found by their names: a link for each to its folder.
#[derive(Debug, Clone)]
pub struct Home {
    folder: PathBuf,
}

impl Home {
    /// The sandboxes that are listed in this folder, which need not be there yet.
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    pub(crate) fn link(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Lists a folder under a name; whether the name was free.
    pub(crate) fn enter(&self, name: &str, folder: &Path) -> Result<bool, Error> {
        let doing = || Error::io(format!("writing {}", self.link(name).display()));
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(doing())?;
        match symlink(folder, self.link(name)) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(doing()(e)),
        }
    }

    /// All sandboxes, by name.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder can't be read.
    pub fn list(&self) -> Result<Vec<Sandbox>, Error> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io(format!("reading {}", self.folder.display()))(e)),
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|e| e.file_type().is_ok_and(|t| t.is_symlink()))
            .filter_map(|e| e.file_name().into_string().ok())
            .collect();
        names.sort();
        Ok(names.into_iter().filter_map(|n| self.look(&n)).collect())
    }

    /// The sandbox of this name.
    ///
    /// # Errors
    /// [`Error::Unknown`] when there is none.
    pub fn find(&self, name: &str) -> Result<Sandbox, Error> {
        // Names are no paths.
        let plain = crate::request::check_name(name).is_ok();
        match self.look(name).filter(|_| plain) {
            Some(sandbox) => Ok(sandbox),
            None => Err(Error::Unknown {
                name: name.into(),
                known: self.list()?.into_iter().map(|s| s.name).collect(),
            }),
        }
    }

    fn look(&self, name: &str) -> Option<Sandbox> {
        let folder = fs::read_link(self.link(name)).ok()?;
        let (state, marker, unmarked) = if fs::symlink_metadata(&folder).is_ok() {
            match Marker::read(name, &folder) {
                Ok(marker) => (state(&marker), Some(marker), String::new()),
                Err(reason) => (SandboxState::NotOurs, None, reason),
            }
        } else {
            (SandboxState::Gone, None, "the folder does not exist".into())
        };
        Some(Sandbox {
            name: name.into(),
            folder,
            state,
            marker,
            unmarked,
        })
    }
}

/// How far the sandbox with this mark is.
fn state(marker: &Marker) -> SandboxState {
    let here = boot_id();
    let seen = |process: &ProcessId| process.liveness(here.as_deref());
    if let Some(server) = &marker.server {
        match (seen(server), server.pid) {
            (Liveness::Alive, Some(pid)) if marker.ready && serves(pid, marker) => {
                return SandboxState::Running { pid };
            }
            // Of another container, or of this one before it was restarted. A socket is a file: who
            // listens there is heard here, too.
            (Liveness::Unknown, _)
                if same_boot(server, here.as_deref())
                    && !(marker.ready && ready::nobody_listens(&place(marker))) =>
            {
                return SandboxState::Elsewhere;
            }
            _ => {}
        }
    }
    match (seen(&marker.starter), marker.starter.pid) {
        (Liveness::Alive, Some(by)) if !marker.ready => SandboxState::Starting { by },
        (Liveness::Unknown, _) if !marker.ready && same_boot(&marker.starter, here.as_deref()) => {
            SandboxState::Elsewhere
        }
        _ if marker.ready => SandboxState::Ended,
        _ => SandboxState::HalfStarted {
            pid: server_of(marker),
        },
    }
}

/// Whether a process lives, or may for all that can be seen.
pub(crate) fn may_live(process: &ProcessId, here: Option<&str>) -> bool {
    match process.liveness(here) {
        Liveness::Alive => true,
        Liveness::Gone => false,
        Liveness::Unknown => same_boot(process, here),
    }
}

/// Whether a process that can't be seen from here may yet live: this is the boot it was started in.
fn same_boot(process: &ProcessId, here: Option<&str>) -> bool {
    let boot = |id: &str| id.split(' ').next().map(String::from);
    match (process.boot_id.as_deref(), here) {
        (Some(there), Some(here)) => boot(there) == boot(here),
        // Nobody can tell.
        _ => true,
    }
}

/// The server's process: the one in the mark, or, where whoever started it died before it could
/// write that down, the one that the server's own file names, if it was started on this very folder.
pub(crate) fn server_of(marker: &Marker) -> Option<u32> {
    let here = boot_id();
    if let Some(server) = &marker.server
        && server.liveness(here.as_deref()) == Liveness::Alive
        && let Some(pid) = server.pid.filter(|pid| serves(*pid, marker))
    {
        return Some(pid);
    }
    let text = ownership::text_of_server(&place(marker).pid_file())?;
    let pid: u32 = text.lines().next()?.trim().parse().ok()?;
    (alive(pid) && serves(pid, marker)).then_some(pid)
}

/// Whether a process was started on this sandbox's data: its number alone says little, whoever wrote
/// it down.
fn serves(pid: u32, marker: &Marker) -> bool {
    is_of(&arguments(pid), &place(marker).data())
}

/// Whether a server, or what makes its files, was started on this data folder: `--datadir=FOLDER`,
/// `-D FOLDER`, `--pgdata=FOLDER`.
pub(crate) fn is_of(arguments: &[String], data: &Path) -> bool {
    let data = data.display().to_string();
    let named = ["datadir", "pgdata"].map(|name| format!("--{name}={data}"));
    let mut pairs = arguments.windows(2);
    arguments.iter().any(|word| named.contains(word))
        || pairs.any(|pair| pair[0] == "-D" && pair[1] == data)
}

/// Processes that are started as a server would be.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod stand_in {
    use std::fs;
    use std::path::Path;
    use std::process::{Child, Command};

    /// A process with these arguments, which does nothing.
    pub(crate) fn started_with(words: &[&str]) -> Child {
        let child = Command::new("/bin/sh")
            .args(["-c", "sleep 60; :", "mariadbd"])
            .args(words)
            .spawn()
            .unwrap();
        // A new program's arguments are there a moment after its process.
        let arguments = format!("/proc/{}/cmdline", child.id());
        while fs::read(&arguments).unwrap().is_empty() {
            std::thread::yield_now();
        }
        child
    }

    /// One that says that it serves the data of the sandbox in this folder.
    pub(crate) fn server(folder: &Path) -> Child {
        let data = folder.join("server/data");
        started_with(&[&format!("--datadir={}", data.display())])
    }

    pub(crate) fn end(child: &mut Child) {
        use tidemark_process::{Signal, children, signal};
        signal(Signal::SIGKILL, &children(child.id()));
        tidemark_process::kill_and_reap(child);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::marker;
    use std::os::unix::net::UnixListener;

    fn marked(dir: &Path) -> Marker {
        Marker {
            format: 1,
            name: "m".into(),
            folder: dir.into(),
            made_folder: false,
            engine: SandboxEngine::MariaDb,
            port: 4711,
            password: "geheim".into(),
            starter: ProcessId {
                pid_started: Some("1".into()),
                ..ProcessId::own("h")
            },
            server: None,
            ready: false,
        }
    }

    fn entered(dir: &Path, marker: &Marker) -> Home {
        marker.write().unwrap();
        let home = Home::at(&dir.join("home"));
        assert!(home.enter("m", &marker.folder).unwrap());
        home
    }

    #[test]
    fn states_are_told_from_the_mark_and_the_processes() {
        let dir = tempfile::tempdir().unwrap();
        let mut marker = marked(dir.path());
        let home = entered(dir.path(), &marker);
        let state = |marker: &Marker| {
            marker.write().unwrap();
            home.find("m").unwrap().state()
        };
        assert_eq!(state(&marker), SandboxState::HalfStarted { pid: None });
        marker.starter = ProcessId::own("h");
        let by = std::process::id();
        assert_eq!(state(&marker), SandboxState::Starting { by });
        marker.ready = true;
        assert_eq!(state(&marker), SandboxState::Ended);
        marker.server = Some(ProcessId::own("h"));
        assert_eq!(
            state(&marker),
            SandboxState::Ended,
            "this process serves no data"
        );
        let mut server = stand_in::server(&marker.folder);
        let pid = server.id();
        marker.server = Some(ProcessId::of("h", pid));
        assert_eq!(state(&marker), SandboxState::Running { pid });
        stand_in::end(&mut server);
        // Another process with its number.
        marker.server = Some(ProcessId {
            pid_started: Some("1".into()),
            ..ProcessId::own("h")
        });
        assert_eq!(state(&marker), SandboxState::Ended);
        let here = boot_id().unwrap();
        let boot = here.split(' ').next().unwrap();
        let of = |boot_id: String| {
            Some(ProcessId {
                boot_id: Some(boot_id),
                ..ProcessId::own("h")
            })
        };
        marker.server = of(format!("{boot} pid:[1]"));
        assert_eq!(
            state(&marker),
            SandboxState::Ended,
            "the container was restarted"
        );
        fs::create_dir(dir.path().join("server")).unwrap();
        let listens = UnixListener::bind(place(&marker).socket()).unwrap();
        assert_eq!(state(&marker), SandboxState::Elsewhere, "it answers there");
        drop(listens);
        assert_eq!(state(&marker), SandboxState::Ended, "and does no more");
        marker.ready = false;
        assert_eq!(
            state(&marker),
            SandboxState::Elsewhere,
            "it may be starting"
        );
        marker.ready = true;
        marker.server = of("another pid:[1]".into());
        assert_eq!(
            state(&marker),
            SandboxState::Ended,
            "the machine was restarted"
        );
    }

    #[test]
    fn a_server_is_known_by_its_data_folder_when_nothing_was_written_down() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("server/data");
        fs::create_dir_all(&data).unwrap();
        let marker = marked(dir.path());
        let sleeping = |words: &[&str]| {
            let child = stand_in::started_with(words);
            fs::write(dir.path().join("server/server.pid"), child.id().to_string()).unwrap();
            child
        };
        let ours = format!("--datadir={}", data.display());
        let mut other = sleeping(&["--datadir=/var/lib/mysql"]);
        assert_eq!(server_of(&marker), None);
        let mut own = sleeping(&[&ours]);
        assert_eq!(server_of(&marker), Some(own.id()));
        stand_in::end(&mut other);
        stand_in::end(&mut own);
        assert_eq!(server_of(&marker), None);
        let words = |w: &[&str]| w.iter().map(|w| w.to_string()).collect::<Vec<_>>();
        assert!(is_of(&words(&["postgres", "-D", "/d"]), Path::new("/d")));
        assert!(!is_of(&words(&["less", "/d"]), Path::new("/d")));
    }

    #[test]
    fn marks_of_others_are_no_marks() {
        let dir = tempfile::tempdir().unwrap();
        let mut marker = marked(dir.path());
        let home = entered(dir.path(), &marker);
        assert!(!home.enter("m", dir.path()).unwrap(), "taken");
        marker.name = "other".into();
        marker.write().unwrap();
        let found = home.find("m").unwrap();
        assert_eq!(
            (found.state(), found.url().as_str()),
            (SandboxState::NotOurs, "")
        );
        assert!(found.unmarked.contains("of sandbox other"));
        fs::write(dir.path().join(marker::FILE), "{}").unwrap();
        assert_eq!(home.find("m").unwrap().state(), SandboxState::NotOurs);
        let known = home.find("x").unwrap_err().to_string();
        assert_eq!(known, "there is no sandbox x; there are m");
        assert!(home.find("../home/m").is_err());
    }

    #[test]
    fn the_mark_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let marker = marked(dir.path());
        let home = entered(dir.path(), &marker);
        let seen = fs::metadata(dir.path().join(marker::FILE)).unwrap();
        assert_eq!(seen.permissions().mode() & 0o777, 0o600);
        let url = home.find("m").unwrap().url();
        assert_eq!(url, "mysql://tidemark:geheim@127.0.0.1:4711/tidemark");
    }
}
