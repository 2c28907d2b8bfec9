//! The rows that loading writes.

use super::settings::Settings;
use crate::random::{Distribution, Permutation, Rng, RowText};
use tidemark_drivers::{RowSource, RowWriter};

/// Columns of a row, in order.
pub(super) const COLUMNS: &[&str] = &["id", "k", "c", "pad"];

/// Rows of one table: a row is the same for its seed, table and key, whatever the chunk.
#[derive(Debug)]
pub(super) struct Rows {
    table: u64,
    next: u64,
    end: u64,
    seed: u64,
    order: Option<Permutation>,
    keys: Distribution,
    text: RowText,
}

impl Rows {
    /// `count` rows of table number `table` (from 1), from row number `first` (from 0).
    pub fn new(settings: &Settings, table: u64, first: u64, count: u64, seed: u64) -> Self {
        let n = settings.table_size;
        Self {
            table,
            next: first.min(n),
            end: first.saturating_add(count).min(n),
            seed,
            order: settings
                .random_keys
                .then(|| Permutation::new(n, seed ^ table)),
            keys: settings.keys(),
            text: RowText::default(),
        }
    }
}

impl RowSource for Rows {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        if self.next == self.end {
            return false;
        }
        let id = self.order.map_or(self.next, |order| order.of(self.next)) + 1;
        self.next += 1;
        let mut rng = Rng::of(&[self.seed, self.table, id]);
        row.int(i64::try_from(id).unwrap_or(i64::MAX));
        row.int(self.keys.draw(&mut rng));
        self.text.draw_c(&mut rng);
        row.text(self.text.c());
        self.text.draw_pad(&mut rng);
        row.text(self.text.pad());
        true
    }
}

/// A source without rows: `bulk_insert` starts with empty tables.
#[derive(Debug)]
pub(super) struct NoRows;

impl RowSource for NoRows {
    fn next_row(&mut self, _row: &mut RowWriter<'_>) -> bool {
        false
    }
}
