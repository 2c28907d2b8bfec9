//! A script's connections: that of its session, and further ones that it opens itself.

use crate::answer::ScriptAnswer;
use crate::bind::{BindValues, FEW};
use crate::dropping::drop_benchmark_table;
use crate::result_set::Shelf;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use tidemark_core::record::StatementCounts;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{Access, Connector, RowSet, Session, Statement, Value};

/// The engine's session, where the script runs on one.
pub(crate) type EngineSession<'a> = Option<&'a mut Session>;

/// One connection of a script thread.
pub(crate) struct ScriptConnection {
    link: Link,
    /// Counts the sessions that it was on: their statements are prepared again.
    generation: u64,
    kept: Vec<KeptStatement>,
    by_text: HashMap<Arc<str>, usize>,
    /// Statements of an own session that were told to the engine's.
    counted: StatementCounts,
    /// Its last result.
    shelf: Rc<Shelf>,
}

enum Link {
    /// The session that the engine opened for this thread.
    Engine,
    Own(Box<Session>),
    Closed,
}

/// Texts of statements that threads have in common.
#[derive(Default)]
pub(crate) struct SharedTexts(RefCell<HashSet<Arc<str>>>);

impl SharedTexts {
    /// Scripts that make ever new texts have nothing in common.
    const MOST: usize = 10_000;

    fn share(&self, sql: &str) -> Arc<str> {
        let mut texts = self.0.borrow_mut();
        if let Some(known) = texts.get(sql) {
            return Arc::clone(known);
        }
        let text: Arc<str> = sql.into();
        if texts.len() < Self::MOST {
            texts.insert(Arc::clone(&text));
        }
        text
    }
}

struct KeptStatement {
    text: Arc<str>,
    statement: Option<Statement>,
    generation: u64,
}

/// Where the session is.
fn reach<'a>(link: &'a mut Link, engine: &'a mut EngineSession<'_>) -> Option<&'a mut Session> {
    match link {
        Link::Engine => engine.as_deref_mut(),
        Link::Own(own) => Some(own),
        Link::Closed => None,
    }
}

fn closed() -> ScriptAnswer {
    ScriptAnswer::Refused("the connection is closed".into())
}

/// What of an operation is told to the script.
pub(crate) type OperationResult = Result<ScriptAnswer, DbError>;

impl ScriptConnection {
    fn on(link: Link) -> Self {
        Self {
            link,
            generation: 0,
            kept: Vec::new(),
            by_text: HashMap::new(),
            counted: StatementCounts::default(),
            shelf: Rc::default(),
        }
    }

    /// On the engine's session.
    pub fn of_engine() -> Self {
        Self::on(Link::Engine)
    }

    /// On a session of its own.
    ///
    /// # Errors
    /// The server's, or that of the way to it.
    pub async fn open(connector: &Connector, number: usize) -> Result<Self, DbError> {
        let session = connector.connect_for(number, Access::ReadWrite).await?;
        Ok(Self::on(Link::Own(Box::new(session))))
    }

    /// Whether it is on the engine's session.
    pub fn is_engines(&self) -> bool {
        matches!(self.link, Link::Engine)
    }

    /// The engine's session is another one now.
    pub fn session_replaced(&mut self) {
        if self.is_engines() {
            self.generation += 1;
        }
    }

    /// Sends a text.
    pub async fn query(&mut self, sql: &str, engine: &mut EngineSession<'_>) -> OperationResult {
        let Some(session) = reach(&mut self.link, engine) else {
            return Ok(closed());
        };
        let mut rows = self.shelf.buffer(false);
        let done = session.fetch_text(sql, &mut rows).await;
        self.tell(engine);
        Ok(self.shelved(done?.has_rows, rows))
    }

    /// Prepares a text; one that was prepared before is the same statement.
    pub async fn prepare(
        &mut self,
        sql: &str,
        texts: &SharedTexts,
        engine: &mut EngineSession<'_>,
    ) -> OperationResult {
        let at = match self.by_text.get(sql) {
            Some(at) => *at,
            None => {
                let text = texts.share(sql);
                self.by_text.insert(Arc::clone(&text), self.kept.len());
                self.kept.push(KeptStatement {
                    text,
                    statement: None,
                    generation: 0,
                });
                self.kept.len() - 1
            }
        };
        match self.prepared(at, engine).await? {
            true => Ok(ScriptAnswer::Number(at)),
            false => Ok(closed()),
        }
    }

    /// Prepares a statement on this session unless it is; false where there is none.
    async fn prepared(
        &mut self,
        at: usize,
        engine: &mut EngineSession<'_>,
    ) -> Result<bool, DbError> {
        let (Some(session), Some(kept)) = (reach(&mut self.link, engine), self.kept.get_mut(at))
        else {
            return Ok(false);
        };
        if kept.statement.is_none() || kept.generation != self.generation {
            kept.statement = None;
            kept.statement = Some(session.prepare(&kept.text).await?);
            kept.generation = self.generation;
        }
        Ok(true)
    }

    /// Executes a statement.
    pub async fn execute(
        &mut self,
        at: usize,
        values: &BindValues,
        engine: &mut EngineSession<'_>,
    ) -> OperationResult {
        if !self.prepared(at, engine).await? {
            return Ok(closed());
        }
        let statement = self.kept.get(at).and_then(|kept| kept.statement.as_ref());
        let (Some(session), Some(statement)) = (reach(&mut self.link, engine), statement) else {
            return Ok(closed());
        };
        let mut rows = self.shelf.buffer(statement.returns_rows());
        let (mut few, mut many) = ([Value::Null; FEW], Vec::new());
        let values = values.bound(&mut few, &mut many);
        let done = session.fetch(statement, values, &mut rows).await;
        self.tell(engine);
        Ok(self.shelved(done?.has_rows, rows))
    }

    fn shelved(&mut self, has_rows: bool, rows: RowSet) -> ScriptAnswer {
        if has_rows {
            return ScriptAnswer::Rows(Shelf::lay(&mut self.shelf, rows));
        }
        self.shelf.give_back(rows);
        ScriptAnswer::Nothing
    }

    /// Drops a table of sysbench's.
    pub async fn drop_table(
        &mut self,
        table: &str,
        engine: &mut EngineSession<'_>,
    ) -> OperationResult {
        let Some(session) = reach(&mut self.link, engine) else {
            return Ok(closed());
        };
        let kept = drop_benchmark_table(session, table).await;
        self.tell(engine);
        Ok(match kept? {
            Some(why) => ScriptAnswer::Refused(format!("cleanup(): {why}")),
            None => ScriptAnswer::Nothing,
        })
    }

    /// Statements of an own session count as the engine's.
    fn tell(&mut self, engine: &mut EngineSession<'_>) {
        if let (Link::Own(own), Some(engine)) = (&self.link, engine) {
            let now = own.counts();
            engine.count_beside(now - std::mem::replace(&mut self.counted, now));
        }
    }

    /// Closes it; the engine's session stays open for the next.
    pub async fn close(&mut self) {
        if let Link::Own(own) = std::mem::replace(&mut self.link, Link::Closed) {
            own.close().await;
        }
    }

    /// Opens it again.
    pub async fn reopen(
        &mut self,
        connector: &Connector,
        number: usize,
        engine: &mut EngineSession<'_>,
    ) -> OperationResult {
        let Some(session) = reach(&mut self.link, engine) else {
            return Ok(closed());
        };
        let mut fresh = connector.connect_for(number, Access::ReadWrite).await?;
        fresh.follows(session);
        std::mem::replace(session, fresh).close().await;
        self.generation += 1;
        Ok(ScriptAnswer::Nothing)
    }

    /// Leaves an own session ready for the next try, after an error.
    pub async fn recover(&mut self, lost: bool, connector: Option<&Connector>, number: usize) {
        let Link::Own(own) = &mut self.link else {
            return;
        };
        let is_well = !lost && own.rollback().await.is_ok();
        if let (false, Some(connector)) = (is_well, connector) {
            // Where it can't be had, the next statement says so.
            let _later = self.reopen(connector, number, &mut None).await;
        }
    }

    /// Whether an error on an own session is the connection's end.
    pub fn is_own_loss(&self, error: &DbError) -> bool {
        matches!(self.link, Link::Own(_)) && error.class == ErrorClass::ConnectionLost
    }
}
