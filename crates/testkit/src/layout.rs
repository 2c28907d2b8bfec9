//! Where one server's files are and what it runs as.

use crate::programs::Account;
use crate::{Engine, Error, process};
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Where one server's files are and what it runs as.
#[derive(Debug)]
pub(crate) struct Layout {
    pub engine: Engine,
    pub account: Option<Account>,
    pub port: u16,
    folder: TempDir,
}

impl Layout {
    pub fn create(engine: Engine) -> Result<Layout, Error> {
        let account = Account::for_engine(engine)?;
        // Short, as a Unix socket's path is limited to 107 bytes (unix(7)).
        let folder = tempfile::Builder::new()
            .prefix("tmtk")
            // The server's account must pass through; the data folder itself is closed.
            .permissions(fs::Permissions::from_mode(0o711))
            .tempdir()
            .map_err(Error::io("making a temporary folder"))?;
        let layout = Layout {
            engine,
            account,
            port: free_port()?,
            folder,
        };
        if let Some(Account { uid, gid }) = account {
            // Sockets, pid files and temporary tables go beside the data.
            chown(layout.folder(), Some(uid), Some(gid))
                .map_err(Error::io("giving the folder to the server's account"))?;
        }
        fs::DirBuilder::new()
            .mode(0o700)
            .create(layout.data())
            .map_err(Error::io("making the data folder"))?;
        if let Some(Account { uid, gid }) = account {
            chown(layout.data(), Some(uid), Some(gid))
                .map_err(Error::io("giving the data to the server's account"))?;
        }
        Ok(layout)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    pub fn log(&self) -> PathBuf {
        self.folder().join("server.log")
    }

    /// PostgreSQL chooses the name itself.
    pub fn socket(&self) -> PathBuf {
        self.folder().join(match self.engine {
            Engine::MariaDb => "s.sock".to_string(),
            Engine::Postgres => format!(".s.PGSQL.{}", self.port),
        })
    }

    /// The failure to start, with the end of the log.
    pub fn failed(&self, reason: impl Into<String>) -> Error {
        Error::Start {
            engine: self.engine,
            reason: reason.into(),
            tail: process::tail(&self.log()),
        }
    }
}

/// A port that nobody listens at now.
pub(crate) fn free_port() -> Result<u16, Error> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|l| l.local_addr())
        .map(|a| a.port())
        .map_err(Error::io("looking for a free port"))
}

/// Runs a set-up program to its end, its output into the log.
pub(crate) fn run(layout: &Layout, mut command: Command) -> Result<(), Error> {
    let name = Path::new(command.get_program()).display().to_string();
    let status = logged(layout, &mut command)?
        .status()
        .map_err(Error::io(format!("starting {name}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(layout.failed(format!("{name}: {status}")))
    }
}

/// Sends the command's output into the server's log.
pub(crate) fn logged<'c>(
    layout: &Layout,
    command: &'c mut Command,
) -> Result<&'c mut Command, Error> {
    let log = File::options()
        .create(true)
        .append(true)
        .open(layout.log())
        .map_err(Error::io("opening the server's log"))?;
    let copy = log
        .try_clone()
        .map_err(Error::io("opening the server's log"))?;
    Ok(command.stdin(Stdio::null()).stdout(log).stderr(copy))
}
