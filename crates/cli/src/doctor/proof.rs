//! Executes each statement of a workload on tables of doctor's own.

use crate::interrupt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{Access, Connector, RowSet, Session};
use tidemark_workloads::tpch::{Parameters, RefreshSet, query};
use tidemark_workloads::{Statements, Terminal, Workload};

/// Transactions that may be needed until each statement was executed once: what one in ten customers
/// asks for comes in nearly every hundred.
const TRANSACTIONS: usize = 400;
/// They end after this time: enough for 100 transactions of 30 statements each at 8 ms a round trip.
const LONGEST: Duration = Duration::from_secs(25);
const SEED: u64 = 1;

/// Statements of a workload, each counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proven {
    /// Those that were executed.
    pub executed: usize,
    /// Those that were prepared alone: no transaction needed them.
    pub prepared: usize,
}

/// What failed.
#[derive(Debug, Clone, PartialEq)]
pub enum Unproven {
    /// A statement, by its name or its text.
    Statement(String, DbError),
    /// A check of the workload, which so many rows break.
    Check(&'static str, usize),
}

/// Executes transactions until each statement was executed, then what checks and warms the tables.
///
/// # Errors
/// [`Unproven`] of the first statement that fails.
pub async fn transactions(
    connector: Connector,
    workload: Arc<dyn Workload>,
) -> Result<Proven, Unproven> {
    let unnamed = |error| Unproven::Statement(String::new(), error);
    let opened = connector.connect_for(0, Access::ReadWrite).await;
    let mut session = opened.map_err(unnamed)?;
    session.keep_texts();
    let mut statements = workload.statements();
    let mut terminal = workload.terminal(0, 1, SEED);
    let done = match statements.prepare(&mut session).await {
        Ok(()) => until_all(&mut session, &mut terminal, &statements).await,
        Err(error) => Err(error),
    };
    done.map_err(|error| named(&session, error))?;
    checks(&mut session, workload.as_ref()).await?;
    let proven = count(&session);
    session.close().await;
    Ok(proven)
}

async fn until_all(
    session: &mut Session,
    terminal: &mut Terminal,
    statements: &Statements,
) -> Result<(), DbError> {
    let begun = Instant::now();
    for done in 0..TRANSACTIONS {
        let is_all = session.given_texts().iter().all(|text| text.executed > 0);
        let is_over = begun.elapsed() > LONGEST || is_stopped();
        if done > 0 && (is_all || is_over) {
            break;
        }
        match terminal.transaction(session, statements).await {
            Ok(_) => {}
            // Nobody else is here, but a server may move or restart something.
            Err(error) if error.class == ErrorClass::Retryable => session.rollback().await?,
            Err(error) => return Err(error),
        }
        if terminal.has_deferred() {
            terminal.deferred(session, statements).await?;
        }
    }
    terminal.finish(session).await
}

async fn checks(session: &mut Session, workload: &dyn Workload) -> Result<(), Unproven> {
    let dialect = session.dialect();
    for check in workload.checks(&dialect) {
        for block in 0..check.blocks() {
            let broken = match session.query(&check.statement(block)).await {
                Ok(rows) => rows.len(),
                Err(error) => {
                    let name = format!("check {}", check.name);
                    return Err(Unproven::Statement(name, error));
                }
            };
            if broken > 0 {
                return Err(Unproven::Check(check.name, broken));
            }
        }
    }
    for sql in workload
        .prewarm(&dialect)
        .into_iter()
        .flat_map(|w| w.statements)
    {
        if let Err(error) = session.query(&sql).await {
            return Err(named(session, error));
        }
    }
    Ok(())
}

/// Executes TPC-H's queries, and its refresh functions, which are rolled back.
///
/// # Errors
/// [`Unproven`] of the first statement that fails.
pub async fn queries(
    connector: Connector,
    workload: Arc<dyn Workload>,
    scale: f64,
) -> Result<Proven, Unproven> {
    // A query is planned with its values, as in a run.
    let opened = connector.as_text().connect_for(0, Access::ReadWrite).await;
    let mut session = opened.map_err(|e| Unproven::Statement(String::new(), e))?;
    session.keep_texts();
    let dialect = session.dialect();
    let mut rows = RowSet::new();
    for query in query::ALL.iter().take_while(|_| !is_stopped()) {
        let sql = query.sql(&Parameters::validation(query.number, scale), &dialect);
        let asked = async {
            let statement = session.prepare(&sql).await?;
            session.fetch(&statement, &[], &mut rows).await
        };
        let asked = asked.await;
        asked.map_err(|error| Unproven::Statement(query.to_string(), error))?;
    }
    if let Some(set) = RefreshSet::new(&workload, scale, 1, dialect) {
        let both = set.insertions().flatten().map(|sql| ("RF1", sql));
        let both = both.chain(set.deletions().flatten().map(|sql| ("RF2", sql)));
        let begun = session.simple(dialect.begin()).await;
        begun.map_err(|error| Unproven::Statement("RF1".into(), error))?;
        for (name, sql) in both {
            let done = session.simple(&sql).await;
            done.map_err(|error| Unproven::Statement(name.into(), error))?;
        }
        let ended = session.rollback().await;
        ended.map_err(|error| Unproven::Statement("RF2".into(), error))?;
    }
    checks(&mut session, workload.as_ref()).await?;
    let proven = count(&session);
    session.close().await;
    Ok(proven)
}

/// Whether the user asked for an end: what was executed until then counts for nothing.
fn is_stopped() -> bool {
    interrupt::handle().is_stopped()
}

fn count(session: &Session) -> Proven {
    let texts = session.given_texts();
    let executed = texts.iter().filter(|text| text.executed > 0).count();
    Proven {
        executed,
        prepared: texts.len() - executed,
    }
}

/// An error with the text of its statement.
pub fn named(session: &Session, error: DbError) -> Unproven {
    const LONGEST: usize = 120;
    let text = session.last_text().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    Unproven::Statement(text, error)
}
