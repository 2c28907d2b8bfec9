//! Errors counted by code, with the first message kept.

use tidemark_core::DbError;
use tidemark_core::record::ErrorCount;

/// Errors counted by code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorTally(Vec<ErrorCount>);

impl ErrorTally {
    /// Counts one error.
    pub fn add(&mut self, error: &DbError) {
        match self.0.iter_mut().find(|e| e.code == error.code) {
            Some(known) => known.count += 1,
            None => self.0.push(ErrorCount {
                code: error.code.clone(),
                class: error.class,
                kind: Some(error.kind),
                count: 1,
                first_message: error.message.clone(),
            }),
        }
    }

    /// Adds another tally; of two first messages this one's stays.
    pub fn merge(&mut self, other: &ErrorTally) {
        for theirs in &other.0 {
            match self.0.iter_mut().find(|e| e.code == theirs.code) {
                Some(known) => known.count += theirs.count,
                None => self.0.push(theirs.clone()),
            }
        }
    }

    /// Of counts that others have made.
    pub fn of(counts: Vec<ErrorCount>) -> Self {
        Self(counts)
    }

    /// The counts, in the order of first sight.
    pub fn counts(&self) -> &[ErrorCount] {
        &self.0
    }

    /// All errors together.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|e| e.count).sum()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
