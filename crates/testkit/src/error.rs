//! What can go wrong with a test server.

use crate::SandboxEngine;
use std::fmt;

/// The variable that names a server of this protocol running elsewhere.
pub fn variable(engine: SandboxEngine) -> &'static str {
    match engine {
        SandboxEngine::MariaDb => "TIDEMARK_TEST_MYSQL_URL",
        SandboxEngine::Postgres => "TIDEMARK_TEST_POSTGRES_URL",
    }
}

/// Why a test server could not be had or used.
///
/// `Debug` prints the same text as `Display`, so that `unwrap` in a test tells what to do.
#[derive(Clone, thiserror::Error)]
pub enum Error {
    /// A program is not installed.
    #[error(
        "{program} was not found (looked in {looked}). Install it with \
         `apt-get install --no-install-recommends mariadb-server postgresql postgresql-contrib`, \
         or name a server that runs elsewhere in {}", variable(*.engine)
    )]
    Missing {
        /// The server it belongs to.
        engine: SandboxEngine,
        /// The program's name.
        program: String,
        /// The folders that were searched.
        looked: String,
    },
    /// The server did not come up, or the operating system refused something.
    #[error(transparent)]
    Sandbox(tidemark_sandbox::Error),
    /// A command line client refused some SQL.
    #[error("{engine} client: {message}")]
    Sql {
        /// Which client.
        engine: SandboxEngine,
        /// What it printed on standard error.
        message: String,
    },
    /// A variable does not hold a usable target URL.
    #[error("{variable}: {reason}")]
    Variable {
        /// The variable's name.
        variable: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The server is not running.
    #[error("{0} is not running")]
    NotRunning(SandboxEngine),
}

impl Error {
    /// An error made of what was being done and the system's error.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let made = tidemark_sandbox::Error::io(doing);
        move |error| Error::Sandbox(made(error))
    }

    /// The same with any reason.
    pub(crate) fn failed(doing: &str, reason: impl fmt::Display) -> Error {
        Error::Sandbox(tidemark_sandbox::Error::Io {
            doing: doing.into(),
            reason: reason.to_string(),
        })
    }
}

/// What making a server can meet. A server that runs elsewhere would do for tests.
impl From<tidemark_sandbox::Error> for Error {
    fn from(error: tidemark_sandbox::Error) -> Error {
        use tidemark_sandbox::Error as Theirs;
        match error {
            Theirs::Missing {
                engine,
                program,
                looked,
            } => Error::Missing {
                engine,
                program,
                looked,
            },
            other => Error::Sandbox(other),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_says_how_to_get_it_and_which_variable_helps() {
        let e: Error = tidemark_sandbox::find(SandboxEngine::Postgres, &["no-such-program"], None)
            .unwrap_err()
            .into();
        let text = e.to_string();
        assert!(text.contains("no-such-program"), "{text}");
        assert!(text.contains("apt-get install"), "{text}");
        assert!(text.contains("TIDEMARK_TEST_POSTGRES_URL"), "{text}");
        assert_eq!(format!("{e:?}"), text);
    }
}
