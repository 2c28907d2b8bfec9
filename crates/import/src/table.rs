//! Tables of results in Markdown, CSV, of a client's frame or aligned by blanks: each row is a run.

mod opening;
mod rows;
mod turned;

use crate::aligned::{Aligned, Heading, cells_of_levels, is_rule, levels};
use crate::captions::grouped;
use crate::cell::plain;
use crate::doc::{Became, Doc};
use crate::draft::Draft;
use crate::groups::Of;
use crate::headings::ColumnMeaning;
use crate::held::PendingLines;
use crate::lines_of_tables::{
    are_types, cells, is_frame, is_heading, is_heading_of_levels, is_turned, numbers_below,
};
use crate::numeral::Notation;
use crate::over_time::as_one;
use crate::row::Ambiguous;
use crate::unit::Unit;

/// The tool of a run that a row tells of.
pub(crate) const TOOL: &str = "table";
/// More cells whose separator may mean two things are not kept in mind.
const MOST_AMBIGUOUS: usize = 10_000;
/// What parts the cells of a table that blanks alone align.
const BLANKS: char = ' ';

/// A line as it is read, and as it stands in the document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceLine<'t> {
    /// Frames that are drawn are ASCII here.
    pub text: &'t str,
    pub shown: &'t str,
    pub number: u64,
}

/// A line that is the heading of a table if a row follows it.
#[derive(Debug)]
struct Candidate {
    heading: CandidateHeading,
    line: u64,
    /// The caption above it.
    caption: String,
}

/// What it is the heading of.
#[derive(Debug)]
enum CandidateHeading {
    /// A table that blanks align.
    Aligned(Heading),
    /// A table whose rows are figures: the names of its columns, and what parts them.
    Turned(Vec<String>, char),
}

/// A table while it is read.
#[derive(Debug, Default)]
pub(crate) struct TableReader {
    /// The last line that may be a heading.
    before: Option<(Vec<String>, char)>,
    columns: Vec<ColumnMeaning>,
    owners: Vec<Of>,
    names: Vec<String>,
    by: char,
    /// The line above, where it may be the heading of an aligned table.
    candidate: Option<Candidate>,
    /// Where the columns of the aligned table stand that is open.
    aligned: Option<Aligned>,
    /// Whether something above the table states the unit of its latencies.
    unit_is_known: bool,
    /// The unit that the user named.
    asked: Option<Unit>,
    /// Columns of latencies whose unit is stated nowhere.
    without_unit: Vec<bool>,
    /// Of a table whose rows are figures: a run for each column.
    turned: Vec<Draft>,
    open: bool,
    /// Headings of groups of columns, below which those of the columns stand.
    groups: Vec<String>,
    /// The caption above those.
    above_groups: String,
    rows: usize,
    /// Whether a row is called a source: a target beside it is a system.
    has_source: bool,
    /// Cells of the row above, for those that are merged with them.
    above: Vec<String>,
    notation: Notation,
    /// Cells that were read before the table showed its notation.
    ambiguous: Vec<Ambiguous>,
    /// Columns that were told as not understood.
    told: Vec<bool>,
    /// The only figure of a table whose rows are workloads, which its caption or heading names.
    only: Option<ColumnMeaning>,
    /// Columns of such a table that are no run, and the one of units among them.
    beside: Vec<usize>,
    units: Option<usize>,
    /// Columns among those that are kept beside the runs: of what is wanted, and of changes.
    kept: Vec<usize>,
    /// Whether the columns of a table whose rows are figures are named by what was compared.
    by_variant: bool,
    /// Runs of such a table.
    made: Vec<Draft>,
    /// How many runs the document had before those of a table whose rows may be moments of one.
    over_time: Option<usize>,
    held: PendingLines,
    /// Whether any line came since it was ended: there is something to end.
    has_lines: bool,
}

impl TableReader {
    /// Takes a line that no format takes. What becomes of the first lines of a table is known only
    /// later: [`TableReader::settled`].
    pub fn take(&mut self, line: SourceLine<'_>, doc: &mut Doc) -> Option<Became> {
        self.has_lines = true;
        let was_open = self.open;
        let had_candidate = self.candidate.is_some();
        let mut became = self.taken(line, doc);
        if became.is_none() {
            became = self.begin_candidate(line, doc);
        } else if had_candidate && self.candidate.is_some() && !self.open {
            self.held.hold_as(line.shown, line.number, Became::Remark);
            return became;
        }
        match became {
            // It is held already.
            Some(_) if self.candidate.is_some() => {}
            Some(Became::Table) if !self.open => {
                self.held.hold(line.shown, line.text, line.number);
                if self.held.is_full() {
                    let has_numbers = self.held.has_numbers;
                    self.held.settle(false, doc);
                    self.held.is_told |= has_numbers;
                }
            }
            Some(_) if !was_open => self.held.settle(true, doc),
            Some(_) => {}
            None => self.held.settle(false, doc),
        }
        // The line may have ended a table and be the heading of the next.
        self.has_lines = true;
        became
    }

    /// Lines before this one of which it is known now what they became.
    pub fn settled(&mut self) -> impl Iterator<Item = (u64, String, Became)> {
        self.held.settled.drain(..)
    }

    /// Whether it is not yet known what the last line became.
    pub fn holds(&self) -> bool {
        !self.held.lines.is_empty()
    }

    fn taken(&mut self, line: SourceLine<'_>, doc: &mut Doc) -> Option<Became> {
        let (text, number) = (line.text, line.number);
        if let Some(became) = self.aligned_line(line, doc) {
            return Some(became);
        }
        if is_frame(text, self.before.is_some()) {
            if let Some((names, by)) = self.before.take() {
                self.begin(names, by, number, doc);
            }
            return (self.open || text.contains('|') || text.contains('+'))
                .then_some(Became::Table);
        }
        let Some((cells, by)) = cells(text, self.open.then_some(self.by)) else {
            self.end(doc);
            return None;
        };
        if !self.open {
            if by != '|' && is_heading(&cells) {
                self.begin(cells, by, number, doc);
                return self.open.then_some(Became::Table);
            }
            if by == '|' && is_turned(&self.groups, &cells) {
                let names = std::mem::take(&mut self.groups);
                doc.caption = std::mem::take(&mut self.above_groups);
                return self.begin_turned(
                    (names, by),
                    &cells,
                    (number.saturating_sub(1), number),
                    doc,
                );
            }
            if by == '|' && cells.len() == self.groups.len() {
                let names = grouped(&std::mem::take(&mut self.groups), &cells);
                if is_heading(&names) {
                    self.begin(names, by, number, doc);
                    return Some(Became::Table);
                }
            }
            let above = self.before.take();
            if let Some((names, by)) = above.filter(|_| by == '|') {
                // Some clients tell the columns' types below their names.
                if are_types(&cells) {
                    self.before = Some((names, by));
                    return Some(Became::Table);
                }
                // Others print no frame between.
                let is_row =
                    names.len() == cells.len() && numbers_below(&names, &cells) == (true, true);
                if is_row && is_heading(&names) {
                    self.begin(names, by, number.saturating_sub(1), doc);
                    if self.open {
                        self.rows += 1;
                        return self.row(&cells, line.shown, number, doc);
                    }
                }
            }
            self.before = (by == '|').then_some((cells, by));
            return (by == '|').then_some(Became::Table);
        }
        // Another file's heading, right below the rows of the last one.
        if self.rows > 0 && self.turned.is_empty() && is_heading(&cells) {
            let by = self.by;
            self.begin(cells, by, number, doc);
            return Some(Became::Table);
        }
        // Headings may stand below those of groups of columns.
        let may_be_groups = self.turned.is_empty() || self.by_variant;
        if self.rows == 0 && may_be_groups && is_heading(&cells) {
            let by = self.by;
            let names = match self.by_variant {
                true => grouped(&self.names, &cells),
                false => cells,
            };
            self.turned.clear();
            self.begin(names, by, number, doc);
            return Some(Became::Table);
        }
        if self.rows == 0 && are_types(&cells) {
            return Some(Became::Table);
        }
        self.rows += 1;
        match self.turned.is_empty() {
            true => self.row(&cells, line.shown, number, doc),
            false => Some(self.turned_row(&cells, number, doc)),
        }
    }

    /// Begins a table whose rows are figures with the first of them; `lines` are those of its heading and
    /// of the row.
    fn begin_turned(
        &mut self,
        (names, by): (Vec<String>, char),
        cells: &[String],
        (above, line): (u64, u64),
        doc: &mut Doc,
    ) -> Option<Became> {
        self.begin_as(names, by, above, true, doc);
        if !self.open {
            return None;
        }
        self.rows += 1;
        Some(self.turned_row(cells, line, doc))
    }

    /// A line of an aligned table, or the first row below what may be its heading.
    fn aligned_line(&mut self, line: SourceLine<'_>, doc: &mut Doc) -> Option<Became> {
        if let Some(candidate) = self.candidate.take() {
            let mut heading = match candidate.heading {
                CandidateHeading::Aligned(heading) => heading,
                CandidateHeading::Turned(names, by) => {
                    if by == BLANKS && is_rule(line.text) && !self.held.is_full() {
                        let heading = CandidateHeading::Turned(names, by);
                        self.candidate = Some(Candidate {
                            heading,
                            ..candidate
                        });
                        return Some(Became::Remark);
                    }
                    let row = match by {
                        BLANKS => cells_of_levels(line.text, names.len()),
                        _ => cells(line.text, Some(by)).map(|(cells, _)| cells),
                    };
                    let Some(row) = row.filter(|row| is_turned(&names, row)) else {
                        self.held.settle(false, doc);
                        return None;
                    };
                    doc.take_back(candidate.line, candidate.caption);
                    let lines = (candidate.line, line.number);
                    return self.begin_turned((names, by), &row, lines, doc);
                }
            };
            if is_rule(line.text) && !self.held.is_full() {
                heading.ruled(line.text);
                let heading = CandidateHeading::Aligned(heading);
                self.candidate = Some(Candidate {
                    heading,
                    ..candidate
                });
                return Some(Became::Remark);
            }
            let Some((aligned, cells)) = heading.confirmed(line.text) else {
                self.held.settle(false, doc);
                return None;
            };
            doc.take_back(candidate.line, candidate.caption);
            self.begin(aligned.names.clone(), BLANKS, candidate.line, doc);
            if !self.open {
                return None;
            }
            self.aligned = Some(aligned);
            self.rows += 1;
            return self.row(&cells, line.shown, line.number, doc);
        }
        if !self.open || self.by != BLANKS {
            return None;
        }
        if is_rule(line.text) {
            return Some(Became::Table);
        }
        let Some(aligned) = &self.aligned else {
            let Some(row) = cells_of_levels(line.text, self.names.len()) else {
                self.finish(doc);
                return None;
            };
            self.rows += 1;
            return Some(self.turned_row(&row, line.number, doc));
        };
        match aligned.row(line.text) {
            Some(cells) => {
                self.rows += 1;
                self.row(&cells, line.shown, line.number, doc)
            }
            None => {
                self.finish(doc);
                None
            }
        }
    }

    /// Keeps in mind that a line may be the heading of an aligned or a turned table; until the next one
    /// shows it, it is what it would be without.
    fn begin_candidate(&mut self, line: SourceLine<'_>, doc: &mut Doc) -> Option<Became> {
        let aligned = Heading::of(line.text).map(CandidateHeading::Aligned);
        let heading = aligned.or_else(|| {
            if let Some(names) = levels(line.text) {
                return Some(CandidateHeading::Turned(names, BLANKS));
            }
            let (names, by) = cells(line.text, None)?;
            let is_one = by != '|' && is_heading_of_levels(&names);
            is_one.then_some(CandidateHeading::Turned(names, by))
        })?;
        let caption = doc.caption.clone();
        self.held.settle(false, doc);
        let otherwise = doc.left(line.shown, line.number);
        self.held.hold_as(line.shown, line.number, otherwise);
        self.candidate = Some(Candidate {
            heading,
            line: line.number,
            caption,
        });
        Some(otherwise)
    }

    /// Ends a table, and hands its runs over.
    pub fn end(&mut self, doc: &mut Doc) {
        // Every line of an output comes here.
        if !self.has_lines {
            return;
        }
        self.finish(doc);
        self.held.settle(false, doc);
        self.held.is_told = false;
        self.has_lines = false;
    }

    /// Keeps a line until it is known whether anything of its table is understood.
    pub fn hold(&mut self, text: &str, line: u64) {
        self.has_lines = true;
        self.held.hold(text, text, line);
        self.held.has_numbers |= text.contains(|c: char| c.is_ascii_digit());
    }

    /// Tells what became of the lines that were kept.
    pub fn settle(&mut self, is_understood: bool, doc: &mut Doc) {
        self.held.settle(is_understood, doc);
    }

    /// Hands its runs over. What is held may be the heading of the next table.
    pub fn finish(&mut self, doc: &mut Doc) {
        for draft in self.turned.drain(..).chain(self.made.drain(..)) {
            doc.close();
            doc.open = Some(draft);
            doc.close();
        }
        let rows = self.over_time.and_then(|from| doc.done.get(from..));
        let moments = self
            .names
            .first()
            .map(|name| plain(name))
            .unwrap_or_default();
        let one = rows.and_then(|rows| as_one(rows, &moments));
        if let (Some(one), Some(from)) = (one, self.over_time) {
            doc.done.truncate(from);
            doc.open = Some(one);
            doc.close();
        }
        *self = Self {
            held: std::mem::take(&mut self.held),
            has_lines: self.has_lines,
            ..Self::default()
        };
    }
}

fn doc_draft(doc: &Doc, line: u64) -> Draft {
    let heading = match doc.client {
        Some(_) => doc.test_heading(),
        None => doc.heading(),
    };
    Draft {
        tool: TOOL,
        first_line: line,
        last_line: line,
        heading: heading.into(),
        client: doc.client.clone(),
        test: doc.test(),
        workload: heading.chars().take(60).collect(),
        ..Draft::default()
    }
}
