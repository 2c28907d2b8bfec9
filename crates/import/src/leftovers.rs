//! What a document has that was not understood.

use crate::without_secrets;

/// The lines that were not understood, as ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// First and last line of each range, and what stands on the first.
    pub ranges: Vec<(u64, u64, String)>,
    /// Lines in all.
    pub lines: u64,
    /// Whether the last one is a cell, which no line is added to.
    is_cell: bool,
}

/// More ranges are counted only.
const MOST_RANGES: usize = 200;

impl Leftovers {
    pub(crate) fn add(&mut self, line: u64, text: &str) {
        self.lines += 1;
        let room = self.ranges.len() < MOST_RANGES;
        match self.ranges.last_mut() {
            Some((_, last, _)) if *last + 1 == line && !self.is_cell => *last = line,
            _ if room => self.push(line, text),
            _ => {}
        }
        self.is_cell = false;
    }

    /// Cells of one row: each is told.
    pub(crate) fn cells(&mut self, line: u64, cells: &[String]) {
        self.lines += 1;
        for cell in cells {
            if self.ranges.len() < MOST_RANGES {
                self.push(line, cell);
            }
        }
        self.is_cell = true;
    }

    fn push(&mut self, line: u64, text: &str) {
        let shown = without_secrets(text.trim()).chars().take(120).collect();
        self.ranges.push((line, line, shown));
    }
}
