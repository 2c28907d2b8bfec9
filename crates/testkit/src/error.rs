//! What can go wrong with a test server.

use crate::Engine;
use std::fmt;

/// The variable that names a server of this protocol running elsewhere.
pub fn variable(engine: Engine) -> &'static str {
    match engine {
        Engine::MariaDb => "TIDEMARK_TEST_MYSQL_URL",
        Engine::Postgres => "TIDEMARK_TEST_POSTGRES_URL",
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
        engine: Engine,
        /// The program's name.
        program: String,
        /// The folders that were searched.
        looked: String,
    },
    /// The server did not come up.
    #[error("{engine} did not start: {reason}\n--- end of its log ---\n{tail}")]
    Start {
        /// Which server.
        engine: Engine,
        /// What was seen.
        reason: String,
        /// The log's last lines.
        tail: String,
    },
    /// A command line client refused some SQL.
    #[error("{engine} client: {message}")]
    Sql {
        /// Which client.
        engine: Engine,
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
    /// The operating system refused something.
    #[error("{doing}: {reason}")]
    Io {
        /// What was being done.
        doing: String,
        /// The system's reason.
        reason: String,
    },
    /// The server is not running.
    #[error("{0} is not running")]
    NotRunning(Engine),
}

impl Error {
    /// An [`Error::Io`] made of what was being done and the system's error.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let doing = doing.into();
        move |error| Error::Io {
            doing,
            reason: error.to_string(),
        }
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
            Theirs::Start {
                engine,
                reason,
                tail,
            } => Error::Start {
                engine,
                reason,
                tail,
            },
            Theirs::Io { doing, reason } => Error::Io { doing, reason },
            other => Error::Io {
                doing: "making a server".into(),
                reason: other.to_string(),
            },
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
        let e: Error = tidemark_sandbox::find(Engine::Postgres, &["no-such-program"], None)
            .unwrap_err()
            .into();
        let text = e.to_string();
        assert!(text.contains("no-such-program"), "{text}");
        assert!(text.contains("apt-get install"), "{text}");
        assert!(text.contains("TIDEMARK_TEST_POSTGRES_URL"), "{text}");
        assert_eq!(format!("{e:?}"), text);
    }
}
