//! Rows of a table, each a run or several.

use super::opening::is_source;
use super::{MOST_AMBIGUOUS, TOOL, TableReader, doc_draft};
use crate::beside::is_total;
use crate::captions::take_units;
use crate::cell::{is_missing, plain};
use crate::doc::{Became, Doc};
use crate::heading_objectives::is_objective;
use crate::heading_units::states_unit;
use crate::headings::{ColumnMeaning, column, is_bare_statistic};
use crate::labels::client;
use crate::numeral::numeral;
use crate::row::{DraftRow, adds_up, multiple};
use crate::unit::Unit;

impl TableReader {
    /// Takes what a row's numbers show of the table's notation; what was read before and may have been
    /// meant otherwise is given up.
    pub(super) fn learn(&mut self, cells: &[String], columns: &[&ColumnMeaning], doc: &mut Doc) {
        let before = self.notation;
        for (cell, column) in cells.iter().zip(columns) {
            if !matches!(
                column,
                ColumnMeaning::Figure(..) | ColumnMeaning::Several(_)
            ) {
                continue;
            }
            for part in cell.split(['/', '+', '=']) {
                if let Some((numeral, _)) = numeral(part.trim()) {
                    numeral.shows(&mut self.notation);
                }
            }
        }
        if !self.notation.comma || before.comma {
            return;
        }
        for one in self.ambiguous.drain(..) {
            let runs = doc.done.iter_mut().rev().chain(&mut self.turned);
            let runs = runs.chain(&mut self.made);
            for run in runs.filter(|d| d.tool == TOOL) {
                run.figures
                    .retain(|f| f.line != one.line || f.name != one.name);
            }
            doc.leftovers.cells(one.line, &[one.shown]);
        }
        doc.done.retain(|d| d.tool != TOOL || d.has_figures());
    }

    pub(super) fn row(
        &mut self,
        cells: &[String],
        text: &str,
        line: u64,
        doc: &mut Doc,
    ) -> Option<Became> {
        let mut cells: Vec<String> = cells.iter().map(|c| plain(c)).collect();
        if cells.iter().all(String::is_empty) {
            return None;
        }
        if self.rows == 1 && take_units(&mut self.columns, &cells) {
            for (is_without, cell) in self.without_unit.iter_mut().zip(&cells) {
                *is_without &= cell.is_empty();
            }
            return Some(Became::Table);
        }
        let extra = cells.len() > self.names.len() && {
            let extra = cells.get(self.names.len()..).unwrap_or_default();
            extra.iter().any(|c| !c.is_empty())
        };
        // A comma within a number moves all that follows.
        if extra {
            doc.leftovers.cells(line, &[text.into()]);
            return Some(Became::NotUnderstood);
        }
        self.carry_down(&mut cells);
        // A row of what is wanted is no run.
        self.has_source |= cells.first().is_some_and(|first| is_source(first));
        // Beside a source a target is a system.
        if !self.has_source && cells.first().is_some_and(|first| is_wanted(first)) {
            doc.leftovers.cells(line, &[text.into()]);
            return Some(Became::NotUnderstood);
        }
        let of_row = cells.first().and_then(|first| self.of_row(first));
        if of_row.is_some() {
            self.told.fill(false);
        }
        let has_unit = of_row.is_some() && cells.first().is_some_and(|first| states_unit(first));
        let columns = of_row.unwrap_or_else(|| self.columns.clone());
        self.learn(&cells, &columns.iter().collect::<Vec<_>>(), doc);
        let mut row = DraftRow::of(doc_draft(doc, line), line, self.notation);
        if self.over_time.is_some() {
            row.over_time();
        }
        let parts = cells.iter().zip(&columns).zip(&self.owners);
        for (at, ((cell, column), of)) in parts.enumerate() {
            let name = self.names.get(at).map_or(String::new(), |n| plain(n));
            match column {
                // A row of each client.
                ColumnMeaning::Label | ColumnMeaning::Unknown if client(cell).is_some() => {
                    row.client(client(cell));
                }
                ColumnMeaning::Label if !cell.is_empty() => row.label(cell),
                ColumnMeaning::Change(of) if !cell.is_empty() => {
                    let of = of.as_deref().or_else(|| self.changed(at));
                    row.change(&name, of, cell);
                }
                ColumnMeaning::Aside | ColumnMeaning::Unknown
                    if is_multiple(&name) && multiple(cell).is_some() =>
                {
                    row.change(&name, self.changed(at), cell);
                }
                ColumnMeaning::Aside if !cell.is_empty() && !name.is_empty() => {
                    row.aside(&name, cell)
                }
                ColumnMeaning::Unknown if !cell.is_empty() => {
                    // Numbers may be figures, whatever their name is; they are told once. Those of the
                    // first column without a name count its rows.
                    let is_place = at == 0 && (name.is_empty() || self.over_time.is_some());
                    let is_number = numeral(cell).is_some() && !is_place;
                    let first = self.told.get_mut(at);
                    let first = first.is_some_and(|t| is_number && !std::mem::replace(t, true));
                    row.unknown(&name, cell, first);
                }
                column => row.take(&name, column, of, cell),
            }
        }
        let mut named = self.names.iter().zip(&self.columns);
        if named.any(|(name, c)| {
            matches!(c, ColumnMeaning::Figure(f, _) if adds_up(f)) && is_total(name)
        }) {
            row.total();
        }
        let none = self.columns.iter().zip(&cells).all(|(column, cell)| {
            !matches!(
                column,
                ColumnMeaning::Figure(..) | ColumnMeaning::Several(_)
            ) || is_missing(cell) && !cell.is_empty()
        });
        let (runs, unclear, ambiguous) = row.end();
        if self.ambiguous.len() < MOST_AMBIGUOUS {
            self.ambiguous.extend(ambiguous);
        }
        let any = !runs.is_empty();
        let mut without = cells.iter().zip(&self.without_unit);
        let is_without =
            !has_unit && without.any(|(cell, is_without)| *is_without && has_no_unit(cell));
        for mut run in runs {
            run.without_unit = is_without.then_some(Unit::Ms);
            doc.close();
            doc.open = Some(run);
            doc.close();
        }
        if !unclear.is_empty() {
            doc.leftovers.cells(line, &unclear);
        } else if !any && !none {
            doc.leftovers.cells(line, &[text.into()]);
            return Some(Became::NotUnderstood);
        }
        Some(match (any, unclear.is_empty()) {
            (_, true) => Became::Table,
            (true, false) => Became::TableInPart,
            (false, false) => Became::NotUnderstood,
        })
    }

    /// The columns of a row whose first cell names the figure that they are statistics of: `TPS` or
    /// `Latency (us)` beside `min`, `avg` and `max`.
    fn of_row(&self, first: &str) -> Option<Vec<ColumnMeaning>> {
        let is_name = matches!(
            self.columns.first()?,
            ColumnMeaning::Label | ColumnMeaning::Unknown | ColumnMeaning::Aside
        );
        let is_number = first.starts_with(|c: char| c.is_ascii_digit());
        if !is_name || is_number || first.is_empty() || first.chars().count() > 24 {
            return None;
        }
        let lower = first.to_lowercase();
        let is_of_test = ["test", "测试", "场景"].iter().any(|w| lower.contains(w));
        let ColumnMeaning::Figure(name, factor) = column(first) else {
            return None;
        };
        let names = self.names.iter();
        let is_bare: Vec<bool> = names.map(|name| is_bare_statistic(name)).collect();
        if is_of_test || !is_bare.contains(&true) {
            return None;
        }
        let of_rate = !name.ends_with("_ms");
        let mut columns = self.columns.clone();
        for (column, _) in columns.iter_mut().zip(&is_bare).filter(|(_, bare)| **bare) {
            let ColumnMeaning::Figure(figure, each) = column else {
                continue;
            };
            match (name.as_str(), figure.as_str()) {
                ("mean_ms", _) if states_unit(first) => *each = factor,
                ("mean_ms", _) => {}
                (_, "mean_ms") if of_rate => {
                    *column = ColumnMeaning::Figure(name.clone(), factor);
                }
                _ => *column = ColumnMeaning::Unknown,
            }
        }
        Some(columns)
    }

    /// The figure that a column of changes is about, where only its place says it: the nearest one left
    /// of it, if each pair of columns has its own or others follow.
    fn changed(&self, at: usize) -> Option<&str> {
        let is_figure = |c: &ColumnMeaning| matches!(c, ColumnMeaning::Figure(..));
        let is_change = |c: &ColumnMeaning| matches!(c, ColumnMeaning::Change(_));
        let changes = self.columns.iter().filter(|c| is_change(c)).count();
        let figures = self.columns.iter().filter(|c| is_figure(c)).count();
        let follow = self.columns.iter().skip(at).any(is_figure);
        let mut before = self.columns.iter().take(at).rev();
        match before.find(|c| is_figure(c))? {
            ColumnMeaning::Figure(name, _) if follow || changes * 2 >= figures => Some(name),
            _ => None,
        }
    }

    /// Cells left of the figures that are blank are merged with the ones above.
    fn carry_down(&mut self, cells: &mut [String]) {
        if self.by == '|' {
            let figure = |c: &ColumnMeaning| {
                matches!(c, ColumnMeaning::Figure(..) | ColumnMeaning::Several(_))
            };
            let left = self.columns.iter().take_while(|c| !figure(c)).count();
            for (cell, above) in cells.iter_mut().zip(&self.above).take(left) {
                if cell.is_empty() {
                    cell.clone_from(above);
                }
            }
        }
        self.above = cells.to_vec();
    }
}

/// Whether a row's label says that its figures are wanted: `Target`, `SLO`, `目标值`.
fn is_wanted(label: &str) -> bool {
    let is_short = label.chars().count() <= 12 && !label.contains(|c: char| c.is_ascii_digit());
    is_short && column(label) == ColumnMeaning::Unknown && is_objective(label)
}

/// Whether a number in a cell stands alone.
pub(super) fn has_no_unit(cell: &str) -> bool {
    cell.split(['/', '+', '=']).any(|part| {
        let rest = numeral(part.trim()).map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.trim().is_empty())
    })
}

/// Whether a heading is of how many times one column is another: `v2/v1`, `ratio`. Machines may be `2x`,
/// too.
fn is_multiple(name: &str) -> bool {
    let lower = name.to_lowercase();
    let words = [
        "ratio",
        "speedup",
        "speed-up",
        "multiple",
        "vs",
        "倍",
        "加速比",
        "比值",
    ];
    name.contains('/') || words.iter().any(|w| lower.contains(w))
}
