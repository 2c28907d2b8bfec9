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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tidemark_core::{OptionValues, Source};

    fn settings(rows: u64, order: &str) -> Settings {
        let tables = [crate::random::RAND_OPTIONS, crate::oltp::COMMON];
        let mut values = OptionValues::defaults(tables);
        let rows = rows.to_string();
        for (name, value) in [("table-size", rows.as_str()), ("key-order", order)] {
            values.set(name, value, Source::CommandLine).unwrap();
        }
        Settings::new(&values).unwrap()
    }

    fn written(settings: &Settings, table: u64, first: u64, count: u64, seed: u64) -> Vec<String> {
        let mut source = Rows::new(settings, table, first, count, seed);
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            if !source.next_row(&mut RowWriter::tsv(&mut line)) {
                return lines;
            }
            lines.push(String::from_utf8(line).unwrap());
        }
    }

    proptest! {
        #[test]
        fn rows_are_the_same_whatever_the_chunks(
            rows in 0u64..200,
            chunk in 1u64..50,
            seed: u64,
            random: bool,
        ) {
            let settings = settings(rows, if random { "random" } else { "sequential" });
            let whole = written(&settings, 1, 0, rows + 10, seed);
            prop_assert_eq!(whole.len() as u64, rows);
            let mut parts = Vec::new();
            let mut first = 0;
            while first < rows {
                parts.extend(written(&settings, 1, first, chunk, seed));
                first += chunk;
            }
            prop_assert_eq!(whole, parts);
        }

        #[test]
        fn the_order_of_keys_does_not_change_the_rows(rows in 1u64..200, seed: u64) {
            let ordered = written(&settings(rows, "sequential"), 2, 0, rows, seed);
            let mut mixed = written(&settings(rows, "random"), 2, 0, rows, seed);
            mixed.sort_by_key(|line| line.split('\t').next().unwrap().parse::<u64>().unwrap());
            prop_assert_eq!(ordered, mixed);
        }
    }

    #[test]
    fn seeds_and_tables_have_rows_of_their_own() {
        let settings = settings(10, "sequential");
        let base = written(&settings, 1, 0, 10, 1);
        assert_ne!(base, written(&settings, 1, 0, 10, 2));
        assert_ne!(base, written(&settings, 2, 0, 10, 1));
        for (i, line) in base.iter().enumerate() {
            let columns: Vec<&str> = line.split('\t').collect();
            assert_eq!(columns.len(), COLUMNS.len());
            assert_eq!(columns[0], (i + 1).to_string());
            assert!((1..=10).contains(&columns[1].parse().unwrap()));
            assert!(RowText::is_c(columns[2].as_bytes()));
            assert_eq!(columns[3].len(), 59);
        }
    }

    /// A loaded table is checked against these by whatever version comes later.
    #[test]
    fn the_rows_of_a_seed_never_change() {
        let line = &written(&settings(1000, "sequential"), 1, 499, 1, 42)[0];
        assert_eq!(
            line,
            "500\t503\t56658631143-96993604848-40204051008-65905056669-77853214118-54729212456-\
             57414224897-64405829586-39303978467-28341350946\t\
             87226844498-29515493021-66168388404-66613592197-76979332493"
        );
    }
}
