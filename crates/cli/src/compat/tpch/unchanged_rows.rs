//! Whether what refreshes change is Tidemark's alone: RF2 deletes and putting back writes whatever
//! stands under a set's keys, and a row there that somebody made or changed would be lost.

use crate::exit::{ExitCode, Failure};
use crate::progress;
use crate::texts::progress as texts;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{Connector, Dialect, RowSet, Session};
use tidemark_engine::{EngineError, StopHandle};
use tidemark_report::Lang;
use tidemark_runtime::{block_on, sleep};
use tidemark_workloads::tpch::{KnownRows, RefreshSet, StrangeRow};

/// What rows under the sets' keys are to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefreshState {
    /// Those of the load and no others: no set was done, or all of it was put back.
    AsLoaded,
    /// Each is one of the load or of RF1: some of the sets were done, in parts.
    Refreshed,
}

impl RefreshState {
    fn judge(self, known: &KnownRows, found: &RowSet) -> Result<(), StrangeRow> {
        match self {
            RefreshState::AsLoaded => known.are_as_loaded(found),
            RefreshState::Refreshed => known.are_known(found),
        }
    }
}

/// The first row under the sets' keys that is not what it is to be.
///
/// # Errors
/// [`Failure`] of the connection or of the server, and by `stop`.
pub(super) fn strange_row(
    state: RefreshState,
    connector: &Connector,
    sets: Vec<RefreshSet>,
    (dialect, lang): (Dialect, Lang),
    stop: &StopHandle,
) -> Result<Option<StrangeRow>, Failure> {
    let (connector, stop) = (connector.clone().unlimited(), stop.clone());
    let bar = progress::bar(
        sets.iter().map(RefreshSet::len).sum(),
        texts::orders(lang),
        lang,
    );
    let looked = block_on(async move {
        let mut session = open(&connector, dialect).await?;
        let mut strange = None;
        'looks: for set in &sets {
            for known in set.known_rows() {
                if stop.is_stopped() {
                    break 'looks;
                }
                let rows = ask(&mut session, &connector, dialect, &known.sql).await?;
                strange = state.judge(&known, &rows).err();
                if strange.is_some() {
                    break 'looks;
                }
                bar.inc(known.orders());
            }
        }
        bar.finish_and_clear();
        session.close().await;
        Ok::<_, DbError>((strange, stop.is_stopped()))
    });
    match looked.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?? {
        (None, true) => Err(EngineError::Interrupted.into()),
        (strange, _) => Ok(strange),
    }
}

/// Times that a question is asked: a look at thousands of parts is not for one error to end.
const TRIES: u32 = 10;
/// The wait before it is asked again, longer each time.
const PAUSE: Duration = Duration::from_millis(50);

async fn ask(
    session: &mut Session,
    connector: &Connector,
    dialect: Dialect,
    sql: &str,
) -> Result<RowSet, DbError> {
    for tries in 1.. {
        let error = match session.query(sql).await {
            Ok(rows) => return Ok(rows),
            Err(error) if tries >= TRIES => return Err(error),
            Err(error) => error,
        };
        match error.class {
            ErrorClass::Retryable => session.rollback().await?,
            ErrorClass::ConnectionLost => *session = open(connector, dialect).await?,
            _ => return Err(error),
        }
        sleep(PAUSE * tries).await;
    }
    Err(DbError::protocol("the check was given up"))
}

/// A session whose questions may take as long as they do.
async fn open(connector: &Connector, dialect: Dialect) -> Result<Session, DbError> {
    let mut session = connector.connect(0).await?;
    if let Some(unlimit) = dialect.unlimit_queries() {
        session.query(unlimit).await?;
    }
    Ok(session)
}
