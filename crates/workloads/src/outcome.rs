//! What came of a transaction.

use std::time::Duration;

/// How many outcomes a workload may name.
pub const MAX_NOTES: usize = 8;

/// Counted outcomes of one transaction that its type does not tell: each of
/// [`crate::Workload::notes`], how often. No count passes 255.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Notes([u8; MAX_NOTES]);

impl Notes {
    /// Nothing noted.
    pub const NONE: Notes = Notes([0; MAX_NOTES]);

    /// Counts one more of the `index`-th name of [`crate::Workload::notes`]; an index beyond
    /// [`MAX_NOTES`] is none.
    #[inline]
    pub fn add(&mut self, index: usize) {
        if let Some(count) = self.0.get_mut(index) {
            *count = count.saturating_add(1);
        }
    }

    /// How often the `index`-th was noted.
    pub fn get(&self, index: usize) -> u8 {
        self.0.get(index).copied().unwrap_or(0)
    }

    /// Whether nothing was noted.
    #[inline]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// All counts, in the order of [`crate::Workload::notes`].
    #[inline]
    pub fn counts(&self) -> &[u8; MAX_NOTES] {
        &self.0
    }
}

/// A transaction that ended as its workload wants it to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Its type: an index into [`crate::Workload::transaction_types`].
    pub kind: usize,
    /// What else is to be counted.
    pub notes: Notes,
}

impl Done {
    /// A transaction of this type, with nothing to note.
    pub fn of(kind: usize) -> Self {
        Self {
            kind,
            notes: Notes::NONE,
        }
    }
}

/// One of the transactions that a larger one was made of, which is of a type of its own too (the
/// READ within a READ_MODIFY_WRITE).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InnerOperation {
    /// Its type: an index into [`crate::Workload::transaction_types`].
    pub kind: usize,
    /// From its first statement to its last reply.
    pub service: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_counted_up_to_a_byte_and_beyond_their_number_not_at_all() {
        let mut notes = Notes::default();
        assert!(notes.is_empty());
        (0..300).for_each(|_| notes.add(1));
        notes.add(7);
        notes.add(MAX_NOTES);
        assert_eq!(notes.counts(), &[0, 255, 0, 0, 0, 0, 0, 1]);
        assert_eq!((notes.get(1), notes.get(MAX_NOTES)), (255, 0));
        assert!(!notes.is_empty());
    }
}
