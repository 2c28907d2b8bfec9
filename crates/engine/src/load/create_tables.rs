//! Making the tables of a load.

use super::decide::Decision;
use super::mark::{self, Mark};
use super::{LoadSpec, grid, open, statement};
use crate::error::EngineError;
use std::cell::RefCell;
use std::rc::Rc;
use tidemark_core::DbError;
use tidemark_drivers::journal::{Journal, JournalLine, LoadPart, PartState};
use tidemark_drivers::settings::{required_keys, text_options};
use tidemark_drivers::{Connector, Dialect, Session, catalog, journal};
use tidemark_runtime::Executor;
use tidemark_workloads::TablePlan;

/// So many sessions make tables at most.
const MAKERS: usize = 8;

/// Tables being made. Each waits for the disk, several side by side not for each other.
pub(super) struct Making {
    pub spec: LoadSpec,
    /// Of all tables, by which the size of their chunks is chosen.
    pub all_bytes: u64,
    pub decided: Vec<(TablePlan, Decision)>,
    /// The journal as it was.
    pub before: Journal,
}

impl Making {
    /// Makes all, in one session where the dialect wants that, and gives back their plans.
    ///
    /// # Errors
    /// The first; the other sessions end the table that they are at.
    pub(super) fn run(
        self,
        connector: &Connector,
        dialect: Dialect,
    ) -> Result<Vec<TablePlan>, EngineError> {
        let most = match dialect.makes_tables_side_by_side() {
            true => self.spec.threads.clamp(1, MAKERS),
            false => 1,
        };
        let sessions = most.min(self.decided.len());
        let making = Rc::new(self);
        let failure = Rc::new(RefCell::new(None));
        let mut executor = Executor::new()?;
        for number in 0..sessions {
            let (connector, making) = (connector.clone(), Rc::clone(&making));
            let failure = Rc::clone(&failure);
            executor.spawn(async move {
                let made = making.session(&connector, number, sessions, &failure).await;
                if let Err(error) = made {
                    failure.borrow_mut().get_or_insert(error);
                }
            });
        }
        executor.run()?;
        if let Some(error) = failure.take() {
            return Err(error);
        }
        let ended = || EngineError::System("a session that creates tables is still running".into());
        let decided = Rc::into_inner(making).ok_or_else(ended)?.decided;
        Ok(decided.into_iter().map(|(plan, _)| plan).collect())
    }

    async fn session(
        &self,
        connector: &Connector,
        number: usize,
        sessions: usize,
        failure: &RefCell<Option<EngineError>>,
    ) -> Result<(), EngineError> {
        // Of several hosts the first makes them all.
        let opened = open(connector, 0).await;
        let mut session = opened.map_err(|error| EngineError::Connect {
            session: number,
            error,
        })?;
        let made = self.share(&mut session, number, sessions, failure).await;
        session.close().await;
        made
    }

    /// Makes every n-th table from the session's own number on, until another session fails.
    async fn share(
        &self,
        session: &mut Session,
        number: usize,
        sessions: usize,
        failure: &RefCell<Option<EngineError>>,
    ) -> Result<(), EngineError> {
        let dialect = session.dialect();
        let together = dialect.makes_tables_in_transactions();
        if together {
            session.simple(dialect.begin()).await.map_err(statement)?;
        }
        let ways = Ways {
            options: text_options(session).await.map_err(statement)?,
            keys: required_keys(session).await.map_err(statement)?.is_some(),
        };
        let share = self.decided.iter().skip(number).step_by(sessions);
        for (plan, decision) in share {
            if failure.borrow().is_some() {
                return Ok(());
            }
            let size = grid::chunk_units(&self.spec, plan, self.all_bytes);
            table(self, session, plan, decision, ways, size).await?;
        }
        if together {
            session.simple("COMMIT").await.map_err(statement)?;
        }
        Ok(())
    }
}

/// Makes one table if it is to be made, and adds the parts that the journal lacks.
async fn table(
    making: &Making,
    session: &mut Session,
    plan: &TablePlan,
    decision: &Decision,
    ways: Ways,
    size: u64,
) -> Result<(), EngineError> {
    let (spec, before) = (&making.spec, &making.before);
    let mut there: Vec<LoadPart> = Vec::new();
    if decision.goes_on() {
        for line in before.of(&plan.name) {
            there.push(line.part);
            if line.state == PartState::Claimed {
                journal::reopen(session, &plan.name, line.part, &line.owner)
                    .await
                    .map_err(statement)?;
            }
        }
        let is_done = |line: &JournalLine| {
            matches!(line.part, LoadPart::Chunk { .. }) && line.state == PartState::Done
        };
        let has_rows = before.of(&plan.name).any(is_done);
        let noted = note_resumption(session, plan, spec, has_rows);
        noted.await.map_err(statement)?;
    } else {
        let mark = mark::loading(plan, spec.seed, spec.owner());
        let made = make(session, plan, ways, &mark).await;
        made.map_err(|mut error| {
            error.message = format!("table {} cannot be created: {}", plan.name, error.message);
            statement(error)
        })?;
    }
    let parts = grid::lacking(plan, &there, size);
    journal::add(session, &plan.name, &parts)
        .await
        .map_err(statement)
}

/// Notes in a table's mark that its load goes on, where it has rows: until all are compared, nobody
/// knows whether they are as they were made. A table whose rows are made by several is nobody's to
/// replace unasked, so the owner's name goes.
async fn note_resumption(
    session: &mut Session,
    plan: &TablePlan,
    spec: &LoadSpec,
    has_rows: bool,
) -> Result<(), DbError> {
    let text = catalog::table_mark(session, &plan.name).await?;
    let found = text.as_deref().and_then(Mark::of);
    let owner = found.and_then(|m| m.owner);
    let kept = owner.filter(|owner| spec.owner() == Some(owner));
    let mark = match found {
        // It was looked at already.
        Some(found) if found.loaded && owner == kept => return Ok(()),
        Some(found) if found.loaded => mark::loaded(plan, spec.seed, None),
        _ if has_rows => mark::resumed(plan, spec.seed, kept),
        _ => mark::loading(plan, spec.seed, kept),
    };
    if text.as_deref() == Some(mark.as_str()) {
        return Ok(());
    }
    catalog::mark_table(session, &plan.name, &mark).await
}

/// The same before this client takes part in a load that others are at: where the rows are not made on
/// this load's behalf alone, the owner's name goes.
///
/// # Errors
/// The server's error.
pub(super) async fn note_joining(
    session: &mut Session,
    plan: &TablePlan,
    spec: &LoadSpec,
) -> Result<(), DbError> {
    let text = catalog::table_mark(session, &plan.name).await?;
    let owner = text.as_deref().and_then(Mark::of).and_then(|m| m.owner);
    match owner.is_some() && owner != spec.owner() {
        true => note_resumption(session, plan, spec, true).await,
        false => Ok(()),
    }
}

/// Refuses tables without a primary key that the server would not make, before any is made.
///
/// # Errors
/// [`EngineError::Refused`] naming the table and the setting.
pub(super) async fn refuse_keyless(
    session: &mut Session,
    decided: &[(TablePlan, Decision)],
) -> Result<(), EngineError> {
    let keyless = |(plan, decision): &&(TablePlan, Decision)| {
        !decision.goes_on() && !has_key(plan) && !plan.may_be_numbered
    };
    let Some((plan, _)) = decided.iter().find(keyless) else {
        return Ok(());
    };
    match required_keys(session).await.map_err(statement)? {
        None => Ok(()),
        Some(setting) => Err(EngineError::Refused(format!(
            "table {} has no primary key with these options, and the server requires one ({setting}=ON); \
             nothing was changed. Set {setting}=OFF, or leave out --secondary or --parts",
            plan.name
        ))),
    }
}

fn has_key(plan: &TablePlan) -> bool {
    let mut all = plan.create.iter().chain(&plan.indexes);
    all.any(|sql| sql.to_ascii_uppercase().contains("PRIMARY KEY"))
}

/// How this server's tables are made.
#[derive(Clone, Copy)]
struct Ways {
    /// Options for text.
    options: &'static str,
    /// Whether each must have a primary key.
    keys: bool,
}

/// Makes a table with a mark, and with options for text where it names no character set itself.
async fn make(
    session: &mut Session,
    plan: &TablePlan,
    Ways { options, keys }: Ways,
    mark: &str,
) -> Result<(), DbError> {
    let dialect = session.dialect();
    let number = keys && plan.may_be_numbered;
    for (nth, sql) in plan.create.iter().enumerate() {
        let sql = &match number && nth == 0 {
            true => dialect.number_rows(sql),
            false => sql.clone(),
        };
        let marked = (nth == 0).then(|| {
            let says = sql.to_ascii_uppercase();
            let is_chosen = says.contains("CHARSET") || says.contains("CHARACTER SET");
            let options = if is_chosen { "" } else { options };
            dialect.create_with_mark(sql, options, mark)
        });
        let sql = marked.flatten().unwrap_or_else(|| sql.clone());
        session.query(&sql).await?;
    }
    // Options of the user's may have said something else, or there is another way.
    if catalog::table_mark(session, &plan.name).await?.as_deref() != Some(mark) {
        catalog::mark_table(session, &plan.name, mark).await?;
    }
    Ok(())
}
