//! The texts of the statements that a session was given, for who wants to know which were executed.

use crate::statement::{Statement, StatementForm};

/// A statement's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenText {
    /// As it was given, with `?` for values.
    pub sql: String,
    /// How often the server executed it without an error.
    pub executed: u64,
}

/// All of a session's, each once, in the order in which they were given first.
#[derive(Debug, Default)]
pub(crate) struct GivenStatements {
    texts: Vec<GivenText>,
    /// What each prepared statement is known by, with its text's place.
    prepared: Vec<(StatementForm, usize)>,
    last: Option<usize>,
}

impl GivenStatements {
    /// A text is sent, or prepared.
    pub fn text(&mut self, sql: &str) {
        let known = self.texts.iter().position(|t| t.sql == sql);
        let at = known.unwrap_or_else(|| {
            self.texts.push(GivenText {
                sql: sql.into(),
                executed: 0,
            });
            self.texts.len() - 1
        });
        self.last = Some(at);
    }

    /// The text that was given last became a statement.
    pub fn became(&mut self, statement: &Statement) {
        let at = self.last;
        self.prepared
            .extend(at.map(|at| (statement.form.clone(), at)));
    }

    /// A statement is sent.
    pub fn statement(&mut self, statement: &Statement) {
        // A session may have prepared a text a second time: the later counts.
        let mut known = self.prepared.iter().rev();
        let at = known.find(|(form, _)| *form == statement.form);
        self.last = at.map(|(_, at)| *at);
    }

    /// What was given last was executed.
    pub fn executed(&mut self) {
        if let Some(text) = self.last.and_then(|at| self.texts.get_mut(at)) {
            text.executed += 1;
        }
    }

    pub fn texts(&self) -> &[GivenText] {
        &self.texts
    }

    /// The text that was sent last.
    pub fn last(&self) -> Option<&str> {
        let text = self.last.and_then(|at| self.texts.get(at));
        text.map(|text| text.sql.as_str())
    }
}
