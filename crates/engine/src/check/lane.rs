//! The sessions that ask.

use super::board::{Board, CheckAnswer, Question};
use super::{CheckSpec, chosen};
use crate::error::EngineError;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{Connector, Savepoint, Session};
use tidemark_runtime::{Remote, sleep, spawn, yield_now};
use tidemark_workloads::{Check, Workload};

/// How often a statement is asked again after an error that may pass.
const TRIES: u32 = 5;
/// Pause before the next try, times the number of tries.
const PAUSE: Duration = Duration::from_millis(100);

/// How a session sees the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TableSnapshot {
    /// Each statement as they are.
    Now,
    /// All of them at one moment, which only this session sees.
    Own,
    /// At a moment that another session holds, by its name.
    Shared(String),
}

/// Opens the first session, puts the conditions up, and starts the others.
pub(super) async fn first(
    connector: Connector,
    workload: Arc<dyn Workload>,
    spec: CheckSpec,
    board: Board,
    remote: Remote,
) {
    if let Err(error) = begin(connector, workload.as_ref(), &spec, &board, remote).await {
        board.fail(error);
    }
}

async fn begin(
    connector: Connector,
    workload: &dyn Workload,
    spec: &CheckSpec,
    board: &Board,
    remote: Remote,
) -> Result<(), EngineError> {
    let opened = connector.connect(0).await;
    let mut session = opened.map_err(|error| EngineError::Connect { session: 0, error })?;
    let dialect = session.dialect();
    let checks = chosen(workload.checks(&dialect), spec, workload.name())?;
    board.post(checks, remote);
    let statement = |error| EngineError::Statement { session: 0, error };
    let view = if spec.snapshot {
        enter(&mut session, &TableSnapshot::Own)
            .await
            .map_err(statement)?;
        match dialect.export_snapshot() {
            Some(sql) => {
                TableSnapshot::Shared(name_of(&mut session, sql).await.map_err(statement)?)
            }
            None => TableSnapshot::Own,
        }
    } else {
        TableSnapshot::Now
    };
    let asked = match (&view, connector.is_blocking()) {
        // A session that blocks would keep the others of its thread from asking.
        (TableSnapshot::Own, _) | (_, true) => 1,
        _ => board.useful_sessions(spec.threads),
    };
    let lane = |number| CheckLane {
        number,
        connector: connector.clone(),
        board: board.clone(),
        checks: board.checks(),
        view: view.clone(),
    };
    if let TableSnapshot::Shared(_) = view {
        // The snapshot lasts as long as the transaction that named it, which an error would end:
        // this session asks nothing and waits for the others.
        let holder = Rc::new(Holder {
            session: RefCell::new(Some(session)),
            lanes: Cell::new(asked),
        });
        for number in 1..=asked {
            spawn(held(lane(number), Rc::clone(&holder)));
        }
        return Ok(());
    }
    for number in 1..asked {
        spawn(lane(number).open_and_run());
    }
    lane(0).run(session).await;
    Ok(())
}

/// The session whose transaction holds a shared snapshot.
struct Holder {
    session: RefCell<Option<Session>>,
    lanes: Cell<usize>,
}

/// Asks, and lets the snapshot go as the last of all.
async fn held(lane: CheckLane, holder: Rc<Holder>) {
    lane.open_and_run().await;
    holder.lanes.set(holder.lanes.get() - 1);
    if holder.lanes.get() == 0 {
        let session = holder.session.borrow_mut().take();
        if let Some(session) = session {
            end(session).await;
        }
    }
}

/// Begins what the view needs.
async fn enter(session: &mut Session, view: &TableSnapshot) -> Result<(), DbError> {
    if *view == TableSnapshot::Now {
        return Ok(());
    }
    let dialect = session.dialect();
    for sql in dialect.begin_snapshot() {
        session.query(sql).await?;
    }
    if let TableSnapshot::Shared(name) = view {
        session.query(&dialect.import_snapshot(name)).await?;
    }
    Ok(())
}

async fn name_of(session: &mut Session, sql: &str) -> Result<String, DbError> {
    let rows = session.query(sql).await?;
    rows.text(0, 0)
        .ok_or_else(|| DbError::protocol("the server returned no snapshot"))
}

/// Ends the transaction, if there is one, and closes. Nothing was changed, so nothing is lost when
/// the server does not hear it.
async fn end(mut session: Session) {
    let _ = session.query("COMMIT").await;
    session.close().await;
}

/// One session that asks.
struct CheckLane {
    number: usize,
    connector: Connector,
    board: Board,
    checks: Rc<Vec<Check>>,
    view: TableSnapshot,
}

impl CheckLane {
    async fn open_and_run(self) {
        match self.open().await {
            Ok(session) => self.run(session).await,
            // Another session may have been opened; when none was, this is why.
            Err(error) => self.board.lost(error),
        }
    }

    async fn open(&self) -> Result<Session, DbError> {
        let mut session = self.connector.connect(self.number).await?;
        enter(&mut session, &self.view).await?;
        Ok(session)
    }

    async fn run(self, mut session: Session) {
        self.board.joined();
        while let Some(question) = self.board.next() {
            // An embedded engine's session never waits: here an end that was asked for is seen.
            yield_now().await;
            let Some(check) = self.checks.get(question.condition) else {
                continue;
            };
            let begun = Instant::now();
            match self.answer(&mut session, check, question).await {
                Ok(answer) => self.board.answered(question, answer, begun.elapsed()),
                Err(error) => {
                    self.board.put_back(question);
                    self.board.lost(error);
                    return;
                }
            }
        }
        if self.view == TableSnapshot::Now {
            session.close().await;
        } else {
            end(session).await;
        }
    }

    /// Asks one statement, again when the reason may pass.
    ///
    /// # Errors
    /// When the session is lost and no other sees what it saw.
    async fn answer(
        &self,
        session: &mut Session,
        check: &Check,
        question: Question,
    ) -> Result<CheckAnswer, DbError> {
        let sql = check.statement(question.block);
        let mut tries = 0;
        loop {
            let error = match self.ask(session, check, &sql).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            tries += 1;
            let lost = error.class == ErrorClass::ConnectionLost;
            if lost && self.view == TableSnapshot::Own {
                return Err(error);
            }
            if lost {
                sleep(PAUSE * tries).await;
                *session = self.open().await?;
            } else {
                self.recover(session).await?;
            }
            let may_pass = lost || error.class == ErrorClass::Retryable;
            if !may_pass || tries >= TRIES {
                return Ok(CheckAnswer::Failed(error));
            }
            if !lost {
                sleep(PAUSE * tries).await;
            }
        }
    }

    /// Asks so that an error spoils nothing else.
    async fn ask(
        &self,
        session: &mut Session,
        check: &Check,
        sql: &str,
    ) -> Result<CheckAnswer, DbError> {
        let Some(savepoint) = self.savepoint(session) else {
            return ask(session, check, sql).await;
        };
        session.query(savepoint.set).await?;
        let answer = ask(session, check, sql).await?;
        session.query(savepoint.release).await?;
        Ok(answer)
    }

    fn savepoint(&self, session: &Session) -> Option<Savepoint> {
        let dialect = session.dialect();
        dialect
            .savepoint()
            .filter(|_| self.view == TableSnapshot::Own)
    }

    /// Goes back to before a question that failed; or begins the transaction again that the error has
    /// ended, where its snapshot can be had again.
    async fn recover(&self, session: &mut Session) -> Result<(), DbError> {
        if let Some(savepoint) = self.savepoint(session) {
            session.query(savepoint.go_back).await?;
        } else if matches!(self.view, TableSnapshot::Shared(_))
            && !session.dialect().transaction_outlives_errors()
        {
            session.query("ROLLBACK").await?;
            enter(session, &self.view).await?;
        }
        Ok(())
    }
}

/// Counts the violations, and fetches the first if there are any.
async fn ask(session: &mut Session, check: &Check, sql: &str) -> Result<CheckAnswer, DbError> {
    let rows = session
        .query(&format!("SELECT COUNT(*) FROM ({sql}) violations"))
        .await?;
    let count = rows.int(0, 0).and_then(|n| u64::try_from(n).ok());
    let count = count.ok_or_else(|| DbError::protocol("COUNT(*) returned no number"))?;
    if count == 0 {
        return Ok(CheckAnswer::Nothing);
    }
    // What identifies a violation comes first.
    let order = (1..=check.columns.len().min(3)).map(|n| n.to_string());
    let order = order.collect::<Vec<_>>().join(", ");
    let rows = session
        .query(&format!("{sql} ORDER BY {order} LIMIT 1"))
        .await?;
    let columns = check.columns.iter().enumerate();
    let first = columns.map(|(i, name)| (*name, rows.text(0, i))).collect();
    Ok(CheckAnswer::Rows(count, first))
}
