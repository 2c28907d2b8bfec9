//! Which rows are somebody else's, and what their owner has given away.

use crate::it::ownership::place::Place;
use std::collections::BTreeSet;

/// Rows that Tidemark did not make, or that somebody has changed since: by the text in their column
/// `c`, which is theirs alone.
#[derive(Debug, Default)]
pub struct Model {
    /// Table and text.
    rows: BTreeSet<(String, String)>,
    next: u64,
}

impl Model {
    /// The text of a row to be made or changed.
    pub fn text(&mut self) -> String {
        self.next += 1;
        format!("mine {}", self.next)
    }

    /// A row of that text is in the table now.
    pub fn add(&mut self, table: &str, text: &str) {
        self.rows.insert((table.into(), text.into()));
    }

    /// A table is called otherwise now.
    pub fn rename(&mut self, from: &str, to: &str) {
        let all = std::mem::take(&mut self.rows);
        let renamed = all.into_iter().map(|(table, text)| match table == from {
            true => (to.to_string(), text),
            false => (table, text),
        });
        self.rows = renamed.collect();
    }

    /// Their owner has deleted it himself.
    pub fn forget(&mut self, table: &str, text: &str) {
        self.rows.remove(&(table.into(), text.into()));
    }

    /// Rows that are not where they were.
    pub fn missing(&self, place: &Place) -> Vec<(String, String)> {
        let tables: BTreeSet<&String> = self.rows.iter().map(|(table, _)| table).collect();
        let mut missing = Vec::new();
        for table in tables {
            let found = place.query(&format!("SELECT c FROM {table}"));
            let texts: BTreeSet<String> = found
                .iter()
                .flat_map(|rows| (0..rows.len()).filter_map(|row| rows.text(row, 0)))
                .map(|text| text.trim_end().to_string())
                .collect();
            let of_table = self.rows.iter().filter(|(t, _)| t == table);
            missing.extend(of_table.filter(|(_, text)| !texts.contains(text)).cloned());
        }
        missing
    }

    /// What is missing of these tables was given away; gives what was not.
    pub fn lost(&mut self, place: &Place, given_away: &[String]) -> Vec<(String, String)> {
        let missing = self.missing(place);
        for row in &missing {
            self.rows.remove(row);
        }
        let is_lost = |(table, _): &&(String, String)| !given_away.contains(table);
        missing.iter().filter(is_lost).cloned().collect()
    }
}
