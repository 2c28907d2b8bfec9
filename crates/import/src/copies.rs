//! Outputs that a document has twice: whoever pastes one again has not run again.

use crate::draft::Draft;
use std::collections::BTreeMap;
use tidemark_core::record::{DerivedFigure, RunRecord};

/// Figures that no two runs have in common.
const SAME: usize = 8;
/// Where the hash of a run's figures begins in its id: behind its place in the document.
const PLACE: usize = 9;

/// Runs of which none is another's copy.
#[derive(Default)]
pub(crate) struct Copies {
    pub runs: Vec<RunRecord>,
    /// Runs by the hash of their figures.
    known: BTreeMap<String, usize>,
}

impl Copies {
    /// Whether it has so many figures that another run can't have the same.
    pub fn is_output(draft: &Draft) -> bool {
        draft.tool != "table" && draft.figures.len() + draft.intervals.len() >= SAME
    }

    /// Takes a run over, unless it is a copy under the same heading. A rule tells what the figures say
    /// of copies.
    pub fn add(&mut self, mut run: RunRecord, is_output: bool) {
        let figures = run.id.get(PLACE..).unwrap_or_default().to_string();
        let before = self.known.get(&figures).filter(|_| is_output);
        let before = before.and_then(|at| self.runs.get_mut(*at)?.imported.as_mut());
        if let (Some(before), Some(own)) = (before, &mut run.imported) {
            if before.heading == own.heading {
                before.beside.push(line("pasted_again", own.first_line));
                return;
            }
            own.beside.push(line("pasted_from", before.first_line));
        }
        self.known.insert(figures, self.runs.len());
        self.runs.push(run);
    }
}

/// That the figures stand on another line, too.
fn line(name: &str, line: u64) -> DerivedFigure {
    DerivedFigure {
        name: name.into(),
        value: line as f64,
        rounding: 0.0,
        lines: vec![line],
    }
}
