//! One server's files, and its programs at work there.

use crate::programs::{self, Account, SandboxEngine};
use crate::{Error, mariadb, postgres, ready, stop};
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Ports tried before giving up: between choosing a free one and the server's taking it, another
/// process may take it.
const PORTS: usize = 5;

/// Where one server's files are and what it runs as.
#[derive(Debug, Clone)]
pub struct ServerFiles {
    /// What kind of server.
    pub engine: SandboxEngine,
    /// What it runs as; none for whoever starts it.
    pub account: Option<Account>,
    /// The server's own folder: its data and its socket.
    pub folder: PathBuf,
    /// What it and the programs that set it up print.
    pub log: PathBuf,
    /// Its port at 127.0.0.1.
    pub port: u16,
    /// The only folder whose programs are used; none for those of the machine.
    pub programs: Option<PathBuf>,
}

/// The account that may do everything in a server, and its database.
#[derive(Clone)]
pub struct Superuser<'a> {
    /// Its name, which is that of the database, too: letters and digits.
    pub name: &'a str,
    /// Its password: letters and digits.
    pub password: &'a str,
}

impl ServerFiles {
    /// Gives the folder to the server's account and makes the data folder in it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn make(&self) -> Result<(), Error> {
        self.give(&self.folder)?;
        DirBuilder::new()
            .mode(0o700)
            .create(self.data())
            .map_err(Error::io("making the data folder"))?;
        self.give(&self.data())
    }

    fn give(&self, path: &Path) -> Result<(), Error> {
        match self.account {
            Some(Account { uid, gid }) => {
                let doing = format!("giving {} to the server's account", path.display());
                chown(path, Some(uid), Some(gid)).map_err(Error::io(doing))
            }
            None => Ok(()),
        }
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The Unix socket. PostgreSQL chooses the name itself.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(match self.engine {
            SandboxEngine::MariaDb => "s.sock".to_string(),
            SandboxEngine::Postgres => format!(".s.PGSQL.{}", self.port),
        })
    }

    /// Where MariaDB writes its process number.
    pub fn pid_file(&self) -> PathBuf {
        match self.engine {
            SandboxEngine::MariaDb => self.folder.join("server.pid"),
            SandboxEngine::Postgres => self.data().join("postmaster.pid"),
        }
    }

    /// The failure to start, with the end of the log.
    pub fn failed(&self, reason: impl Into<String>) -> Error {
        Error::Start {
            engine: self.engine,
            reason: reason.into(),
            tail: tail(&self.log),
        }
    }

    /// Makes the data: the server's own tables, the account and its database.
    ///
    /// `settings` are those the server will get; `go_on` is asked many times a second, and what is
    /// being done is given up when it says no.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Start`] with what the programs printed, [`Error::GivenUp`].
    pub fn initialise(
        &self,
        superuser: &Superuser<'_>,
        settings: &[(String, String)],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        match self.engine {
            SandboxEngine::MariaDb => mariadb::initialise(self, superuser, settings, go_on),
            SandboxEngine::Postgres => postgres::initialise(self, superuser, go_on),
        }
    }

    /// The command that runs the server in the foreground; of settings of one name the last wins.
    ///
    /// # Errors
    /// [`Error::Missing`].
    fn server(&self, settings: &[(String, String)]) -> Result<Command, Error> {
        match self.engine {
            SandboxEngine::MariaDb => mariadb::server(self, settings),
            SandboxEngine::Postgres => postgres::server(self, settings),
        }
    }

    /// Starts the server at a free port, as [`ServerFiles::launch`] does.
    ///
    /// # Errors
    /// As [`ServerFiles::launch`], and [`Error::Io`] when there is no port.
    pub fn start(
        &mut self,
        settings: &[(String, String)],
        limit: Duration,
        started: &mut dyn FnMut(&ServerFiles, &Child) -> Result<(), Error>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Child, Error> {
        let mut attempt = 1;
        loop {
            self.port = free_port()?;
            match self.launch(settings, limit, started, go_on) {
                Err(e) if attempt < PORTS && e.is_port_taken() => attempt += 1,
                done => return done,
            }
        }
    }

    /// Starts the server's process, says so to `started`, and waits until it takes sessions; when it
    /// does not within `limit`, or `go_on` says no, it is ended.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Start`] with the end of the log, [`Error::GivenUp`], and those of
    /// `started`.
    pub fn launch(
        &self,
        settings: &[(String, String)],
        limit: Duration,
        started: &mut dyn FnMut(&ServerFiles, &Child) -> Result<(), Error>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Child, Error> {
        let mut command = self.server(settings)?;
        // What an earlier start wrote must not be taken for this one's failure.
        let _ = fs::remove_file(&self.log);
        let mut child = self
            .logged(&mut command)?
            .spawn()
            .map_err(Error::io(format!("starting {}", self.engine)))?;
        let answered = started(self, &child).and_then(|()| self.answers(&mut child, limit, go_on));
        match answered {
            Ok(()) => Ok(child),
            Err(error) => {
                stop::end_child(self, child);
                Err(error)
            }
        }
    }

    fn answers(
        &self,
        child: &mut Child,
        limit: Duration,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        let end = Instant::now() + limit;
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(self.failed(format!("it ended with {status}")));
            }
            if ready::takes_sessions(self, child.id()) {
                return Ok(());
            }
            if !go_on() {
                return Err(Error::GivenUp(self.engine));
            }
            if Instant::now() >= end {
                return Err(self.failed(format!("no reply within {} s", limit.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// One of the server's programs, as the server's account in its folder.
    ///
    /// # Errors
    /// [`Error::Missing`].
    pub(crate) fn command(&self, names: &[&str]) -> Result<Command, Error> {
        let program = programs::find(self.engine, names, self.programs.as_deref())?;
        Ok(programs::command(&program, self.account, &self.folder))
    }

    /// Sends a command's output into the log.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn logged<'c>(&self, command: &'c mut Command) -> Result<&'c mut Command, Error> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(&self.log)
            .map_err(Error::io("opening the server's log"))?;
        let copy = log
            .try_clone()
            .map_err(Error::io("opening the server's log"))?;
        Ok(command.stdin(Stdio::null()).stdout(log).stderr(copy))
    }

    /// Runs a set-up program to its end, its output into the log.
    pub(crate) fn run(
        &self,
        mut command: Command,
        input: &str,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        let name = Path::new(command.get_program()).display().to_string();
        let starting = || Error::io(format!("starting {name}"));
        let command = self.logged(&mut command)?;
        if !input.is_empty() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().map_err(starting())?;
        if let Some(mut stdin) = child.stdin.take() {
            // Some lines: they fit into the pipe. A program that has ended early says why in its log.
            let _ = stdin.write_all(input.as_bytes());
        }
        loop {
            match child.try_wait().map_err(starting())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(self.failed(format!("{name}: {status}"))),
                None if !go_on() => {
                    // The programs have children of their own, in a process group with them.
                    tidemark_process::kill_group(child.id());
                    tidemark_process::kill_and_reap(&mut child);
                    return Err(Error::GivenUp(self.engine));
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Writes a file that only the server's account can read.
    pub(crate) fn secret(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.folder.join(name);
        let doing = || Error::io(format!("writing {}", path.display()));
        File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(doing())?;
        self.give(&path)?;
        Ok(path)
    }
}

/// A port of 127.0.0.1 that nobody listens at now.
///
/// # Errors
/// [`Error::Io`] when there is none.
pub fn free_port() -> Result<u16, Error> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|l| l.local_addr())
        .map(|a| a.port())
        .map_err(Error::io("looking for a free port"))
}

/// The last lines of a log file, for an error message.
fn tail(log: &Path) -> String {
    let text = fs::read(log)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}
