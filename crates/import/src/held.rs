//! Lines that may be a table: what became of them is known only later.

use crate::cell::plain;
use crate::doc::{Became, Doc};
use crate::lines_of_tables::cells;
use crate::numeral::numeral;

/// Lines that may be a table, until it shows whether anything of it is understood.
#[derive(Debug, Default)]
pub(crate) struct PendingLines {
    pub lines: Vec<(u64, String, Option<Became>)>,
    /// Whether any of its cells holds a number: then it may be of results.
    pub has_numbers: bool,
    /// Whether it was so long that its first lines were told.
    pub is_told: bool,
    pub settled: Vec<(u64, String, Became)>,
}

/// Lines of a table that is not understood, before they are told.
const MOST_HELD: usize = 200;
/// The same of a table without numbers: of words alone.
const MOST_OF_WORDS: usize = 10 * MOST_HELD;

impl PendingLines {
    /// Keeps a line as it stands in the document; `text` is what is read of it.
    pub fn hold(&mut self, shown: &str, text: &str, line: u64) {
        self.lines.push((line, shown.into(), None));
        let cells = cells(text, Some('|'));
        let of_cells = cells.iter().flat_map(|(cells, _)| cells.iter().skip(1));
        self.has_numbers |= of_cells.into_iter().any(|cell| {
            let cell = plain(cell);
            let cell = cell.trim_start_matches(['~', '≈', '<', '>', '约']);
            numeral(cell.trim()).is_some_and(|(_, rest)| rest.chars().count() <= 12)
        });
    }

    /// Keeps a line of which it was said already what it is where no table follows.
    pub fn hold_as(&mut self, shown: &str, line: u64, otherwise: Became) {
        self.lines.push((line, shown.into(), Some(otherwise)));
    }

    /// Whether there are more lines than are kept before it is known what they are.
    pub fn is_full(&self) -> bool {
        let most = match self.has_numbers {
            true => MOST_HELD,
            false => MOST_OF_WORDS,
        };
        self.lines.len() >= most
    }

    /// The table is understood, or is none.
    pub fn settle(&mut self, is_understood: bool, doc: &mut Doc) {
        let became = match (is_understood, self.has_numbers || self.is_told) {
            (true, _) => Became::Table,
            (false, true) => Became::NotUnderstood,
            (false, false) => Became::Remark,
        };
        for (line, text, otherwise) in self.lines.drain(..) {
            let became = match otherwise {
                Some(otherwise) if !is_understood => otherwise,
                _ => became,
            };
            if became == Became::NotUnderstood && otherwise.is_none() {
                doc.leftovers.add(line, &text);
            }
            self.settled.push((line, text, became));
        }
        self.has_numbers = false;
    }
}
