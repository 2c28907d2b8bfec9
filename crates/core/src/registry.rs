//! Tables to which a program can add rows of its own.

use std::sync::OnceLock;

/// A table that a crate has, and rows that the program adds before the table is read.
#[derive(Debug)]
pub struct Registry<T: 'static> {
    own: &'static [T],
    added: OnceLock<&'static [T]>,
}

/// The table was read already, or rows were added before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("rows are added once, before the table is read")]
pub struct RegistryError;

impl<T: 'static> Registry<T> {
    /// A table of these rows.
    pub const fn new(own: &'static [T]) -> Self {
        Self {
            own,
            added: OnceLock::new(),
        }
    }

    /// Adds rows, which come after the table's own.
    ///
    /// # Errors
    /// [`RegistryError`]: what was read would have been another table.
    pub fn add(&self, rows: &'static [T]) -> Result<(), RegistryError> {
        self.added.set(rows).map_err(|_| RegistryError)
    }

    /// Every row; from now on the table stays as it is.
    pub fn iter(&'static self) -> impl Iterator<Item = &'static T> + Clone {
        self.own.iter().chain(self.added.get_or_init(|| &[]).iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_added_once_and_before_the_table_is_read() {
        static TABLE: Registry<u8> = Registry::new(&[1, 2]);
        static READ: Registry<u8> = Registry::new(&[1]);
        assert_eq!(TABLE.add(&[3]), Ok(()));
        assert_eq!(TABLE.iter().copied().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(TABLE.add(&[4]), Err(RegistryError));
        assert_eq!(READ.iter().count(), 1);
        assert_eq!(READ.add(&[2]), Err(RegistryError));
    }
}
