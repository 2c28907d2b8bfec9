//! What a session has prepared of the family's statements.

use super::plan::Plan;
use std::sync::Arc;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::{Session, Statement};

/// One session's statements, by the plan's slots.
#[derive(Debug)]
pub struct Statements {
    plan: Arc<Plan>,
    slots: Vec<Statement>,
    /// What the dialect writes for "the next key" in an INSERT; `None` leaves the column out.
    next_key: Option<i64>,
}

impl Statements {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        Self {
            plan,
            slots: Vec::new(),
            next_key: None,
        }
    }

    /// Prepares every statement for every table, as sysbench does: none is prepared while
    /// transactions are timed.
    ///
    /// # Errors
    /// The server's error.
    pub async fn prepare(&mut self, session: &mut Session) -> Result<(), DbError> {
        let dialect = session.dialect();
        self.next_key = dialect.next_key();
        self.slots.clear();
        let plan = Arc::clone(&self.plan);
        for (query, table) in plan.statements() {
            let statement = session.prepare(&query.text(table, &dialect)).await?;
            self.slots.push(statement);
        }
        self.slots.shrink_to_fit();
        Ok(())
    }

    /// The statement of a slot.
    ///
    /// # Errors
    /// Fatal `workload` when it was not prepared.
    #[inline]
    pub(super) fn get(&self, slot: usize) -> Result<&Statement, DbError> {
        self.slots.get(slot).ok_or_else(not_ready)
    }

    pub(super) fn next_key(&self) -> Option<i64> {
        self.next_key
    }
}

pub(crate) fn not_ready() -> DbError {
    DbError::new(
        ErrorClass::Fatal,
        "workload",
        "a transaction started before its statements were prepared",
    )
}
