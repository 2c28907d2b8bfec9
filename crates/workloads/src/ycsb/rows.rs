//! The rows that loading writes.

use super::encoding::{deterministic_value, key, random_value};
use super::lengths::Lengths;
use super::settings::Settings;
use crate::random::Rng;
use std::sync::Arc;
use tidemark_drivers::{RowSource, RowWriter};

/// Records: one is the same for its seed and number, whatever the chunk.
#[derive(Debug)]
pub(super) struct Rows {
    settings: Arc<Settings>,
    next: u64,
    end: u64,
    seed: u64,
    key: String,
    value: String,
}

impl Rows {
    /// `count` rows from row number `first` of those to load.
    pub fn new(settings: Arc<Settings>, first: u64, count: u64, seed: u64) -> Self {
        let rows = settings.insert_count;
        let (first, end) = (first.min(rows), first.saturating_add(count).min(rows));
        Self {
            next: settings.insert_start + first,
            end: settings.insert_start + end,
            seed,
            key: String::new(),
            value: String::new(),
            settings,
        }
    }
}

impl RowSource for Rows {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        if self.next == self.end {
            return false;
        }
        let number = self.next;
        self.next += 1;
        key(&self.settings, number, &mut self.key);
        row.text(&self.key);
        let mut rng = Rng::of(&[self.seed, number]);
        for field in 0..self.settings.field_count {
            value(&self.settings, &self.key, field, &mut rng, &mut self.value);
            row.text(&self.value);
        }
        true
    }
}

/// Writes a value of a record's field.
pub(super) fn value(settings: &Settings, key: &str, field: usize, rng: &mut Rng, out: &mut String) {
    let length = match &settings.field_lengths {
        Lengths::Constant(length) => *length,
        lengths => lengths.draw(rng),
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if settings.integrity {
        deterministic_value(key, field, length, out);
    } else {
        random_value(length, rng, out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::*;
    use proptest::prelude::*;

    fn written(options: &[(&str, &str)], first: u64, count: u64, seed: u64) -> Vec<String> {
        let settings = Arc::new(settings(options).unwrap());
        let mut source = Rows::new(settings, first, count, seed);
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
            rows in 1u64..200,
            start in 0u64..50,
            chunk in 1u64..50,
            seed: u64,
            varied: bool,
        ) {
            let (rows_text, start_text) = ((rows + start).to_string(), start.to_string());
            let options = [
                ("recordcount", rows_text.as_str()),
                ("insertstart", start_text.as_str()),
                ("fieldcount", "3"),
                ("fieldlength", "20"),
                ("fieldlengthdistribution", if varied { "uniform" } else { "constant" }),
            ];
            let whole = written(&options, 0, rows + 10, seed);
            prop_assert_eq!(whole.len() as u64, rows);
            let mut parts = Vec::new();
            let mut first = 0;
            while first < rows {
                parts.extend(written(&options, first, chunk, seed));
                first += chunk;
            }
            prop_assert_eq!(whole, parts);
        }
    }

    #[test]
    fn the_rows_never_change() {
        let options = [
            ("recordcount", "3"),
            ("fieldcount", "2"),
            ("fieldlength", "12"),
        ];
        assert_eq!(written(&options, 0, 3, 1), ROWS);
    }

    /// A later version goes on with a load that this one began.
    const ROWS: [&str; 3] = [
        "user6284781860667377211\tmUWipnlMxaoL\tacwHPpuSsfWB",
        "user6284782960179005422\tOrhnXtiLLavE\tJKRGDytQdWfn",
        "user6284784059690633633\tMdkLQFcCNzJh\ttmVslRvvryJy",
    ];
}
