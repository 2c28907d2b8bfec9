//! One stream's session.

use super::{
    StepOutcome, StepResult, Stream, StreamEvent, StreamStep, StreamsSpec, Transaction, Until,
};
use crate::error::EngineError;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::{Connector, RowSet, Session};
use tidemark_runtime::{sleep, yield_now};

/// What the client waits beyond the server's own limit: the server ends a query at its next step.
const GRACE: Duration = Duration::from_secs(5);
/// How often a transaction is tried again after an error that may pass.
const TRIES: u32 = 10;
/// Pause before the next try, times the number of tries.
const PAUSE: Duration = Duration::from_millis(50);

/// Sessions that send text and give a query up after its time.
pub(super) fn limited(connector: &Connector, limit: Option<Duration>) -> Connector {
    let connector = connector.clone().as_text().unattended();
    match limit {
        None => connector.unlimited(),
        Some(limit) if connector.is_blocking() => connector.limited(limit),
        Some(limit) => connector.limited(limit + GRACE),
    }
}

/// Opens a session that is set up for queries.
pub(super) async fn open(
    connector: &Connector,
    number: usize,
    spec: &StreamsSpec,
) -> Result<Session, EngineError> {
    let opened = connector.connect(number).await;
    let mut session = opened.map_err(|error| EngineError::Connect {
        session: number,
        error,
    })?;
    let limit = spec.query_limit;
    let limit = limit.and_then(|limit| session.dialect().limit_queries(limit));
    for sql in limit.iter().chain(&spec.setup) {
        let done = session.query(sql).await;
        done.map_err(|error| EngineError::Init {
            session: number,
            error,
        })?;
    }
    Ok(session)
}

/// A stream with its session to be.
pub(super) struct StreamLane {
    /// Which of the streams, for its share of the hosts.
    pub index: usize,
    pub connector: Connector,
    pub stream: Stream,
    pub spec: StreamsSpec,
    pub tell: Sender<StreamEvent>,
}

impl StreamLane {
    pub async fn run(self, gate: Receiver<Instant>) {
        if let Err(error) = self.go(gate).await {
            let _ = self.tell.send(StreamEvent::Failed(error));
        }
    }

    async fn go(&self, gate: Receiver<Instant>) -> Result<(), EngineError> {
        let mut session = open(&self.connector, self.index, &self.spec).await?;
        let _ = self.tell.send(StreamEvent::Ready);
        // This thread has nothing else to do. Another stream could not begin: nor does this one.
        let Ok(start) = gate.recv() else {
            return Ok(());
        };
        let mut rows = RowSet::new();
        let count = self.stream.steps.len().max(1);
        for turn in 0u64.. {
            let over = match self.spec.until {
                Until::Once => turn >= count as u64,
                Until::Steps(steps) => turn >= steps,
                Until::Time(time) => start.elapsed() >= time,
            };
            // Below the number of steps.
            let index = ((self.stream.first as u64 + turn) % count as u64) as usize;
            let Some(step) = self.stream.steps.get(index).filter(|_| !over) else {
                break;
            };
            // An embedded engine's session never waits: here an end that was asked for is seen.
            yield_now().await;
            let _ = self.tell.send(StreamEvent::Begins {
                stream: self.stream.number,
                step: index,
                name: step.name().to_string(),
            });
            let began = Instant::now();
            let done = match step {
                StreamStep::Query { sql, .. } => query(&mut session, sql, &mut rows).await,
                StreamStep::Change { changes, .. } => change(&mut session, changes()).await,
            };
            let took = began.elapsed();
            let lost = matches!(&done, Err(e) if e.class == ErrorClass::ConnectionLost);
            let outcome = match done {
                Ok(()) => StepOutcome::Done(std::mem::take(&mut rows)),
                Err(error) if error.kind == ErrorKind::StatementTimeout => StepOutcome::TimedOut,
                Err(error) => StepOutcome::Failed(error),
            };
            let _ = self.tell.send(StreamEvent::Ended(StepResult {
                stream: self.stream.number,
                step: index,
                name: step.name().to_string(),
                began: began - start,
                took,
                outcome,
            }));
            if lost {
                session = self.reopen().await?;
            }
        }
        session.close().await;
        Ok(())
    }

    async fn reopen(&self) -> Result<Session, EngineError> {
        let begun = Instant::now();
        loop {
            let error = match open(&self.connector, self.index, &self.spec).await {
                Ok(session) => return Ok(session),
                Err(error) => error,
            };
            if begun.elapsed() >= self.spec.reconnect_timeout {
                return Err(match error.db() {
                    None => error,
                    Some(why) => EngineError::NotBack {
                        session: self.index,
                        after: self.spec.reconnect_timeout,
                        error: why.clone(),
                    },
                });
            }
            sleep(PAUSE * 4).await;
        }
    }
}

async fn query(session: &mut Session, sql: &str, rows: &mut RowSet) -> Result<(), DbError> {
    let statement = session.prepare(sql).await?;
    session.fetch(&statement, &[], rows).await.map(drop)
}

async fn change(
    session: &mut Session,
    transactions: impl Iterator<Item = Transaction>,
) -> Result<(), DbError> {
    for transaction in transactions {
        let mut tries = 0;
        while let Err(error) = commit(session, &transaction).await {
            tries += 1;
            if error.class == ErrorClass::ConnectionLost {
                return Err(error);
            }
            session.rollback().await?;
            if error.class != ErrorClass::Retryable || tries >= TRIES {
                return Err(error);
            }
            sleep(PAUSE * tries).await;
        }
    }
    Ok(())
}

async fn commit(session: &mut Session, statements: &Transaction) -> Result<(), DbError> {
    let begin = session.dialect().begin();
    session.simple(begin).await?;
    for sql in statements {
        session.simple(sql).await?;
    }
    session.simple("COMMIT").await.map(drop)
}
