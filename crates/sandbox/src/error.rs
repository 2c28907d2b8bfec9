//! What can go wrong with a private server.

use crate::{Holder, SandboxEngine};
use std::path::PathBuf;

/// Why a private server could not be had, found or ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A program is not installed.
    #[error(
        "{program} was not found (looked in {looked}). Install it with `apt-get install \
         --no-install-recommends {}`, or give the folder of the server's programs, for example \
         --version-from /opt/{}",
        .engine.package(), .engine.word()
    )]
    Missing {
        /// The server it belongs to.
        engine: SandboxEngine,
        /// The program's name.
        program: String,
        /// The folders that were searched.
        looked: String,
    },
    /// The server did not come up.
    #[error("{engine} did not start: {}\n--- end of its log ---\n{}", cause(.reason, .tail), end(.tail))]
    Start {
        /// Which server.
        engine: SandboxEngine,
        /// What was seen.
        reason: String,
        /// The log's last lines.
        tail: String,
    },
    /// The operating system refused something.
    #[error("{doing}: {reason}")]
    Io {
        /// What was being done.
        doing: String,
        /// The system's reason.
        reason: String,
    },
    /// A request that can't be understood.
    #[error("{0}")]
    Request(String),
    /// The folder asked for is not to be had.
    #[error("{}: {reason}; use a folder that is empty or does not exist, for example --dir \
             /var/tmp/tidemark-server", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        reason: String,
    },
    /// There is a sandbox of this name.
    #[error("sandbox {name} already exists; stop it with: tidemark down {name}")]
    Taken {
        /// The name.
        name: String,
    },
    /// There is no sandbox of this name.
    #[error("there is no sandbox {name}{}", hint(.known))]
    Unknown {
        /// As asked.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// Another process is starting it right now.
    #[error("sandbox {name} is being started by process {pid}; stop that first")]
    Starting {
        /// The name.
        name: String,
        /// The process.
        pid: u32,
    },
    /// What its name leads to bears no mark of this sandbox.
    #[error(
        "sandbox {name}: {} does not have its mark ({reason}); nothing was touched. Check it, \
         and remove it from the list with: tidemark down {name} --forget",
        .folder.display()
    )]
    NotOurs {
        /// The name.
        name: String,
        /// Where its name leads.
        folder: PathBuf,
        /// What is wrong with the mark.
        reason: String,
    },
    /// It runs where its processes can't be seen.
    #[error(
        "sandbox {name} was started in another container or on another machine; stop it there, \
         or remove it from this list with: tidemark down {name} --forget"
    )]
    Elsewhere {
        /// The name.
        name: String,
    },
    /// Others use it.
    #[error(
        "sandbox {name} is in use by {} and was not stopped. Wait until that ends, or stop it \
         anyway with: tidemark down {name} --force",
        listed(.holders)
    )]
    Held {
        /// The name.
        name: String,
        /// Who uses it.
        holders: Vec<Holder>,
    },
    /// It does not run.
    #[error("sandbox {name} is not running; tidemark up lists sandboxes")]
    NotRunning {
        /// The name.
        name: String,
    },
    /// It runs, so it can't be forgotten.
    #[error("sandbox {name} is running (process {pid}); stop it with: tidemark down {name}")]
    Runs {
        /// The name.
        name: String,
        /// The server's process.
        pid: u32,
    },
    /// It does not end.
    #[error("sandbox {name}: process {pid} does not stop; its files were kept")]
    Stubborn {
        /// The name.
        name: String,
        /// The server's process.
        pid: u32,
    },
    /// The start was given up on request; what it had made is removed.
    #[error("the start of {0} was cancelled")]
    GivenUp(SandboxEngine),
}

impl Error {
    /// An [`Error::Io`] made of what was being done and the system's error.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let doing = doing.into();
        move |error| Error::Io {
            doing,
            reason: error.to_string(),
        }
    }

    /// Whether a server did not start because somebody else has its port: another one may do.
    pub fn is_port_taken(&self) -> bool {
        // MariaDB's and PostgreSQL's words for EADDRINUSE.
        matches!(self, Error::Start { tail, .. } if tail.contains("already in use"))
    }
}

/// What the server complains of first, the rest being its consequences; else what was seen.
fn cause(reason: &str, tail: &str) -> String {
    let complaint = |line: &str| {
        let begins = ["[ERROR]", "FATAL:"].map(|word| line.find(word));
        let at = begins.into_iter().flatten().min()?;
        line.get(at..).map(String::from)
    };
    match tail.lines().find_map(complaint) {
        Some(said) => format!("{said} ({reason})"),
        None => reason.into(),
    }
}

/// The few last lines, for people; the others are in the value.
fn end(tail: &str) -> String {
    let lines: Vec<&str> = tail.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

fn listed(holders: &[Holder]) -> String {
    let said: Vec<String> = holders.iter().map(ToString::to_string).collect();
    said.join(", ")
}

fn hint(known: &[String]) -> String {
    match known {
        [] => "; tidemark up mariadb starts one".into(),
        known => format!("; there are {}", known.join(", ")),
    }
}
