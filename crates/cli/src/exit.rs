//! Exit codes, and the failures that lead to them.

use std::fmt;
use tidemark_core::{DbError, ErrorClass, ErrorKind, OptionError, TargetError};
use tidemark_engine::{DropFailure, EngineError, LoadFailure};
use tidemark_report::ReportError;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// All went well.
    Success = 0,
    /// A run or load began and failed, no transaction of a run ended well, no host could be reached at
    /// its end, or Tidemark could not do its own work.
    Failed = 1,
    /// The command line, a configuration file or a URL is wrong.
    Usage = 2,
    /// The data or the results are not what they should be, or a search found no rate that keeps
    /// its objective, or none whose confirmation did, or a comparison is beyond a limit, or what is
    /// strictly checked has a warning.
    Check = 3,
    /// No session could be opened: unreachable, refused, wrong password, TLS refused.
    Connect = 4,
    /// Something of the user's is in the way and was not touched, or `--strict` did not let it begin.
    Refused = 5,
    /// A table that the run needs is not there: run prepare first.
    NotPrepared = 6,
    /// The user ended it (128 + SIGINT).
    Interrupted = 130,
}

impl ExitCode {
    /// Every code with its meaning, as in `docs/cli.md`.
    pub const ALL: [(ExitCode, &'static str); 8] = [
        (ExitCode::Success, "success"),
        (
            ExitCode::Failed,
            "a run or load failed, no transaction succeeded, or no host was reachable at the end",
        ),
        (
            ExitCode::Usage,
            "the command line, a configuration file or a URL is wrong",
        ),
        (
            ExitCode::Check,
            "data or results are wrong, --find-max found no confirmed rate, or --fail-if or doctor --strict applies",
        ),
        (ExitCode::Connect, "no session could be opened"),
        (
            ExitCode::Refused,
            "something of yours is in the way and was not touched, or --strict refused",
        ),
        (
            ExitCode::NotPrepared,
            "a table that the run needs is missing",
        ),
        (ExitCode::Interrupted, "interrupted (Ctrl-C)"),
    ];
}

/// Why a command failed: what the user reads, and how the process ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// How the process ends.
    pub code: ExitCode,
    /// One clear message, without a password.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Failure {
    /// A failure of the given code.
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// Bad usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, message)
    }
}

impl From<OptionError> for Failure {
    fn from(error: OptionError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self::usage(error.to_string())
    }
}

fn code_of(error: &DbError) -> ExitCode {
    match (error.kind, error.class) {
        (ErrorKind::RunStore, _) => ExitCode::Refused,
        (ErrorKind::Isolation | ErrorKind::TlsFiles, _) => ExitCode::Usage,
        (_, ErrorClass::Refused) => ExitCode::Connect,
        (_, ErrorClass::Missing) => ExitCode::NotPrepared,
        _ => ExitCode::Failed,
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        Self::new(ExitCode::Failed, error.to_string())
    }
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        Self::new(code_of(&error), error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let code = match &error {
            EngineError::Connect { error, .. } => match (error.kind, error.class) {
                (_, ErrorClass::Missing) => ExitCode::NotPrepared,
                (ErrorKind::RunStore, _) => ExitCode::Refused,
                (ErrorKind::Isolation | ErrorKind::Pooler | ErrorKind::TlsFiles, _) => {
                    ExitCode::Usage
                }
                _ => ExitCode::Connect,
            },
            EngineError::InitTimeout { .. } | EngineError::TooFewSessions { .. } => {
                ExitCode::Connect
            }
            EngineError::Init { error, .. } => code_of(error),
            EngineError::Refused(_) => ExitCode::Refused,
            EngineError::Check(_) => ExitCode::Check,
            EngineError::Unsupported(_) => ExitCode::Usage,
            EngineError::Interrupted => ExitCode::Interrupted,
            EngineError::Statement { error, .. } if error.kind == ErrorKind::Validation => {
                ExitCode::Check
            }
            EngineError::Statement { .. }
            | EngineError::NotBack { .. }
            | EngineError::ForcedShutdown
            | EngineError::Clients(_)
            | EngineError::System(_) => ExitCode::Failed,
        };
        Self::new(code, error.to_string())
    }
}

impl From<LoadFailure> for Failure {
    fn from(failure: LoadFailure) -> Self {
        if let Some(dropping) = failure.dropping {
            let mut said = Failure::from(*dropping);
            said.message += "\nprepare stopped before it created a table; the same command drops \
                             the remaining tables and starts over";
            return said;
        }
        let mut said = Failure::from(failure.error);
        if failure.began && said.code != ExitCode::Check {
            let same = match failure.anew {
                true => "the same command starts over, without --replace or --force it resumes",
                false => "the same command resumes",
            };
            said.message = format!(
                "{}\nprepare stopped with {} of {} rows loaded: {same}; cleanup drops the tables",
                said.message, failure.rows_done, failure.rows_total
            );
        }
        said
    }
}

impl From<DropFailure> for Failure {
    fn from(failure: DropFailure) -> Self {
        let message = failure.to_string();
        Self::new(Failure::from(*failure.error).code, message)
    }
}
