//! How many sessions can be had, and why no more.

use crate::error::EngineError;
use crate::load::{on_session, statement};
use tidemark_core::{DbError, ErrorKind, FewerSessions, RunSpec};
use tidemark_drivers::settings::{SessionLimit, StatementLimit, session_limit, statement_limit};
use tidemark_drivers::{Connector, Session};
use tidemark_runtime::raise_open_files;

/// Files that are open beside the sessions' sockets: the store, pollers, the report.
const OTHER_FILES: u64 = 64;

/// The sessions that the process may have, and why they are fewer than were asked for.
pub(super) fn within_open_files(
    spec: &RunSpec,
    connector: &Connector,
    only_reads: bool,
) -> Result<(usize, Option<String>), EngineError> {
    let Some(limit) = raise_open_files() else {
        return Ok((spec.sessions, None));
    };
    // A session that reads from a replica and writes to the primary has two.
    let sockets = 1 + u64::from(!only_reads && !connector.target().readers.is_empty());
    let most = limit.saturating_sub(OTHER_FILES) / sockets;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if spec.sessions <= most {
        return Ok((spec.sessions, None));
    }
    let reason = format!("this process may open {limit} files (ulimit -n)");
    if spec.fewer_sessions == FewerSessions::GoOn && most > 0 {
        return Ok((most, Some(reason)));
    }
    Err(EngineError::TooFewSessions {
        asked: spec.sessions,
        possible: most,
        reason,
    })
}

/// What the target says of its limits, for when it refuses a session or its statements. They are no
/// ground to refuse any before: a pool in front of it may take more.
#[derive(Debug, Default)]
pub(super) struct Limits {
    pub sessions: Option<SessionLimit>,
    statements: Option<StatementLimit>,
}

impl Limits {
    pub fn of(connector: &Connector) -> Self {
        let limits = on_session(connector, async |session: &mut Session| {
            Ok(Self {
                sessions: session_limit(session).await.map_err(statement)?,
                statements: statement_limit(session).await.map_err(statement)?,
            })
        });
        limits.unwrap_or_default()
    }

    /// Why no more sessions can be had of those asked for, each of which has the server keep `each`
    /// statements.
    pub fn reason(&self, asked: usize, each: usize, error: DbError) -> String {
        let told = if error.kind == ErrorKind::TooManyStatements {
            self.statements.map(|limit| {
                let StatementLimit {
                    limit,
                    in_use,
                    name,
                } = limit;
                let all = asked.saturating_mul(each);
                let told =
                    format!("the server's {name} is {limit}, of which {in_use} were in use before");
                // None was opened whole, so nobody knows how many it prepares.
                match each {
                    0 => told,
                    _ => format!("{told}, and {asked} sessions need {all}, {each} each"),
                }
            })
        } else {
            self.sessions.map(|limit| {
                // The asking session will have gone.
                let others = limit.in_use.saturating_sub(1);
                let SessionLimit { name, limit, .. } = limit;
                format!("the server's {name} is {limit}, of which {others} were in use before")
            })
        };
        match told {
            Some(told) => format!("{told} ({})", error.message),
            None => error.message,
        }
    }
}
