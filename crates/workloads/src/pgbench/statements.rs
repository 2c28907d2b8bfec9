//! What a session has prepared of the scripts' statements.

use super::script::{CommandKind, Mode, Sql};
use super::terminal::Plan;
use std::cell::OnceCell;
use std::sync::Arc;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{RowSet, Session, Statement};

/// A statement with the names of its columns.
#[derive(Debug)]
pub(super) struct PreparedSql {
    pub statement: Statement,
    pub names: Vec<String>,
}

/// One session's statements, by their numbers.
#[derive(Debug)]
pub struct Statements {
    plan: Arc<Plan>,
    slots: Vec<OnceCell<PreparedSql>>,
    mode: Mode,
}

impl Statements {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        Self {
            mode: plan.settings.mode,
            plan,
            slots: Vec::new(),
        }
    }

    /// Prepares every statement, so that none is prepared while transactions are timed; but those of
    /// tables that a script makes itself.
    ///
    /// # Errors
    /// The server's error.
    pub async fn prepare(&mut self, session: &mut Session) -> Result<(), DbError> {
        let plan = Arc::clone(&self.plan);
        self.mode = plan.settings.mode;
        self.slots.clear();
        if self.mode != Mode::Prepared {
            return Ok(());
        }
        if !session.prepares() {
            // A pooler's session keeps no statement.
            self.mode = Mode::Simple;
            return Ok(());
        }
        self.slots
            .resize_with(plan.settings.statements, OnceCell::new);
        let commands = plan.settings.scripts.iter().flat_map(|s| &s.commands);
        for command in commands {
            if let CommandKind::Sql(sql) = &command.what {
                match self.get(session, sql).await {
                    Err(e) if e.class == ErrorClass::Missing => {}
                    prepared => drop(prepared?),
                }
            }
        }
        Ok(())
    }

    /// How statements reach this session.
    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    /// A statement that was prepared.
    #[inline]
    pub(super) fn ready(&self, sql: &Sql) -> Option<&PreparedSql> {
        self.slots.get(sql.number)?.get()
    }

    /// A statement, which is prepared now if it was not.
    ///
    /// # Errors
    /// The server's error.
    pub(super) async fn get(
        &self,
        session: &mut Session,
        sql: &Sql,
    ) -> Result<&PreparedSql, DbError> {
        let slot = self
            .slots
            .get(sql.number)
            .ok_or_else(crate::oltp::not_ready)?;
        if let Some(prepared) = slot.get() {
            return Ok(prepared);
        }
        let mut rows = RowSet::named();
        let statement = session.prepare_numbered(&sql.numbered, &mut rows).await?;
        let names = rows.names().to_vec();
        Ok(slot.get_or_init(|| PreparedSql { statement, names }))
    }
}
