//! The statements of the five transactions, and what a session has prepared of them.

use super::Settings;
use super::input::MOST_LINES;
use super::sql::Sql;
use super::work::Scratch;
use crate::oltp::not_ready;
use std::cell::RefCell;
use std::sync::Arc;
use tidemark_core::DbError;
use tidemark_drivers::{Dialect, Session, Statement};

/// How statements are written for one engine, as the options ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// Many rows in one statement.
    pub batched: bool,
    /// Statements that don't wait for each other travel together, where the protocol can.
    pub pipelined: bool,
    /// UPDATE returns its rows.
    pub returning: bool,
    /// Rows of a batch are arrays, one for each column.
    pub arrays: bool,
}

impl Style {
    pub fn of(settings: &Settings, dialect: &Dialect) -> Self {
        Self {
            batched: settings.batched,
            pipelined: settings.pipelined,
            returning: dialect.update_returns(),
            arrays: settings.batched && dialect.has_array_parameters(),
        }
    }
}

/// One session's statements.
#[derive(Debug)]
pub struct Statements {
    settings: Arc<Settings>,
    style: Style,
    /// By [`Sql`]; those that the style does without are missing.
    slots: Vec<Option<Statement>>,
    /// INSERTs of as many order lines as their index; empty where one takes any number.
    lines: Vec<Option<Statement>>,
    /// Memory that transactions use one after another.
    scratch: RefCell<Option<Box<Scratch>>>,
}

impl Statements {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self {
            style: Style {
                batched: settings.batched,
                pipelined: false,
                returning: false,
                arrays: false,
            },
            settings,
            slots: Vec::new(),
            lines: Vec::new(),
            scratch: RefCell::new(None),
        }
    }

    /// Prepares every statement that transactions of the mix send.
    ///
    /// # Errors
    /// The server's error.
    pub async fn prepare(&mut self, session: &mut Session) -> Result<(), DbError> {
        let dialect = session.dialect();
        self.style = Style::of(&self.settings, &dialect);
        self.slots.clear();
        self.lines.clear();
        for sql in Sql::ALL {
            let text = sql.text(self.style, &dialect);
            self.slots.push(match text {
                Some(text) if sql.is_in(&self.settings.weight) => {
                    Some(session.prepare(&text).await?)
                }
                _ => None,
            });
        }
        if self.style.batched && !self.style.arrays && self.settings.weight[0] > 0 {
            for count in 0..=MOST_LINES {
                // An order of fewer than five lines has none, or one less when it is rolled back.
                let text = (count >= 4).then(|| Sql::insert_lines(count));
                self.lines.push(match text {
                    Some(text) => Some(session.prepare(&text).await?),
                    None => None,
                });
            }
        }
        Ok(())
    }

    pub(super) fn style(&self) -> Style {
        self.style
    }

    pub(super) fn get(&self, sql: Sql) -> Result<&Statement, DbError> {
        let slot = self.slots.get(sql as usize).and_then(Option::as_ref);
        slot.ok_or_else(not_ready)
    }

    /// The INSERT of so many lines.
    pub(super) fn lines(&self, count: usize) -> Result<&Statement, DbError> {
        let slot = self.lines.get(count).and_then(Option::as_ref);
        slot.ok_or_else(not_ready)
    }

    pub(super) fn take_scratch(&self) -> Box<Scratch> {
        self.scratch.take().unwrap_or_default()
    }

    pub(super) fn give_back(&self, scratch: Box<Scratch>) {
        self.scratch.replace(Some(scratch));
    }
}
