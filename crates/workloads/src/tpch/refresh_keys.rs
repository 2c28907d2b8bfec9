//! What may stand under the keys of a refresh set: the rows of the load, and those that RF1 adds. Any
//! other is somebody's own, which no refresh may delete and no putting back overwrite.

use super::Table;
use std::collections::BTreeMap;
use std::fmt;
use tidemark_drivers::{RowSet, is_same_row, row_as_tsv};

/// The rows of one table under some of a set's keys.
#[derive(Debug, Clone)]
pub struct KnownRows {
    table: Table,
    /// Asks for all rows under these keys, with all columns.
    pub sql: String,
    /// Tab-separated, by the values of the primary key.
    loaded: BTreeMap<Vec<u8>, Vec<u8>>,
    added: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// A row that is not what it is known to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrangeRow {
    table: &'static str,
    /// As in SQL: `l_orderkey = 9 AND l_linenumber = 1`.
    key: String,
    /// What is strange about it.
    pub what: Strangeness,
}

/// What is strange about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strangeness {
    /// The load made it, and it is not there.
    Missing,
    /// It stands under a key of the load's or of RF1's, with other values.
    Changed,
    /// Nothing of Tidemark's has its key.
    Foreign,
}

impl fmt::Display for StrangeRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let says = match self.what {
            Strangeness::Missing => "is missing",
            Strangeness::Changed => "is not as it was loaded",
            Strangeness::Foreign => "was not loaded by Tidemark",
        };
        let (table, key) = (self.table, &self.key);
        write!(f, "table {table}: the row of {key} {says}")
    }
}

impl KnownRows {
    /// The rows of the load and of RF1, each tab-separated, and the keys of their orders.
    pub(super) fn new(
        table: Table,
        order_keys: &[String],
        loaded: impl Iterator<Item = Vec<u8>>,
        added: impl Iterator<Item = Vec<u8>>,
    ) -> Self {
        let shape = table.shape();
        let by_key = |row: Vec<u8>| (key(table, &row), row);
        Self {
            table,
            sql: format!(
                "SELECT {} FROM {} WHERE {} IN ({})",
                shape.names.join(", "),
                shape.name,
                shape.key[0],
                order_keys.join(",")
            ),
            loaded: loaded.map(by_key).collect(),
            added: added.map(by_key).collect(),
        }
    }

    /// Orders of the load that it is about, counted once and not again for their lines.
    pub fn orders(&self) -> u64 {
        match self.table {
            Table::Orders => self.loaded.len() as u64,
            _ => 0,
        }
    }

    /// Whether the rows found are those of the load, and no others.
    ///
    /// # Errors
    /// The first row that is missing, changed or somebody else's.
    pub fn are_as_loaded(&self, found: &RowSet) -> Result<(), StrangeRow> {
        let mut missing = self.loaded.clone();
        for row in (0..found.len()).map(|row| row_as_tsv(found, row)) {
            let key = key(self.table, &row);
            match missing.remove(&key) {
                // One that is there twice is missing only once.
                None => return Err(self.strange(&key, Strangeness::Foreign)),
                Some(loaded) if !is_same_row(&row, &loaded) => {
                    return Err(self.strange(&key, Strangeness::Changed));
                }
                Some(_) => {}
            }
        }
        match missing.first_key_value() {
            None => Ok(()),
            Some((key, _)) => Err(self.strange(key, Strangeness::Missing)),
        }
    }

    /// Whether each of the rows found is one of the load or one that RF1 adds, however many of them
    /// there are.
    ///
    /// # Errors
    /// The first row that is changed or somebody else's.
    pub fn are_known(&self, found: &RowSet) -> Result<(), StrangeRow> {
        for row in (0..found.len()).map(|row| row_as_tsv(found, row)) {
            let key = key(self.table, &row);
            match self.loaded.get(&key).or_else(|| self.added.get(&key)) {
                Some(known) if is_same_row(&row, known) => {}
                Some(_) => return Err(self.strange(&key, Strangeness::Changed)),
                None => return Err(self.strange(&key, Strangeness::Foreign)),
            }
        }
        Ok(())
    }

    fn strange(&self, key: &[u8], what: Strangeness) -> StrangeRow {
        let key = String::from_utf8_lossy(key);
        let names = self.table.shape().key.iter();
        let parts: Vec<String> = names
            .zip(key.split('\t'))
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        StrangeRow {
            table: self.table.name(),
            key: parts.join(" AND "),
            what,
        }
    }
}

/// The values of a row's primary key, tab-separated as the row is.
fn key(table: Table, row: &[u8]) -> Vec<u8> {
    let shape = table.shape();
    let values: Vec<&[u8]> = row.split(|b| *b == b'\t').collect();
    let at = |name: &&str| shape.names.iter().position(|column| column == name);
    let of_key = shape.key.iter().filter_map(at);
    let of_key: Vec<&[u8]> = of_key.filter_map(|at| values.get(at).copied()).collect();
    of_key.join(&b'\t')
}
