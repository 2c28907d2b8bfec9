//! Rows of a table whose columns are the runs.

use super::rows::has_no_unit;
use super::{MOST_AMBIGUOUS, TableReader};
use crate::cell::{is_missing, plain, sessions_in};
use crate::doc::{Became, Doc};
use crate::groups::Of;
use crate::headings::{ColumnMeaning, column, is_bare_statistic};
use crate::numeral::numeral;
use crate::row::DraftRow;
use crate::unit::Unit;

impl TableReader {
    pub(super) fn turned_row(&mut self, cells: &[String], line: u64, doc: &mut Doc) -> Became {
        let Some(name) = cells.first() else {
            return Became::Table;
        };
        let (kind, is_without) = self.in_unit(column(name), name);
        // Statistics of a rate that only the caption names are no latencies.
        let of_rate = match (&self.only, &kind) {
            (Some(ColumnMeaning::Figure(rate, each)), ColumnMeaning::Figure(statistic, _))
                if !rate.ends_with("_ms") && is_bare_statistic(name) =>
            {
                Some(match statistic.as_str() {
                    "mean_ms" => ColumnMeaning::Figure(rate.clone(), *each),
                    _ => ColumnMeaning::Unknown,
                })
            }
            _ => None,
        };
        let is_statistic = of_rate.is_some();
        let is_without = is_without && !is_statistic;
        let kind = of_rate.unwrap_or(kind);
        let name = plain(name);
        let unit = self.units.and_then(|at| cells.get(at));
        let unit = unit
            .map(|unit| plain(unit))
            .filter(|unit| !is_missing(unit));
        let kept: Vec<(String, String)> = self
            .kept
            .iter()
            .filter_map(|at| {
                let (heading, cell) = (self.names.get(*at)?, plain(cells.get(*at)?));
                let heading = format!("{name} ({})", plain(heading));
                (!name.is_empty() && !cell.is_empty()).then_some((heading, cell))
            })
            .collect();
        let cells = cells.iter().enumerate().skip(1);
        let cells = cells.filter(|(at, _)| !self.beside.contains(at));
        let values: Vec<String> = cells
            .map(|(_, cell)| {
                let cell = plain(cell);
                unit.as_ref()
                    .map_or(cell.clone(), |unit| with_unit(&cell, unit))
            })
            .collect();
        self.learn(&values, &vec![&kind; values.len()], doc);
        let mut unclear = Vec::new();
        let mut turned = std::mem::take(&mut self.turned);
        let all = turned.len();
        // A row of one workload: a run in each column.
        let is_figure = !matches!(kind, ColumnMeaning::Unknown | ColumnMeaning::Label);
        if let Some(figure) = &self.only
            && !is_statistic
            && !name.is_empty()
            && (!is_figure || sessions_in(&name).is_some())
        {
            let (figure, is_without) = self.in_unit(figure.clone(), "");
            for (base, cell) in turned.iter().zip(&values) {
                let mut run = base.clone();
                run.without_unit = (is_without && has_no_unit(cell)).then_some(Unit::Ms);
                (run.first_line, run.last_line) = (line, line);
                let mut row = DraftRow::of(run, line, self.notation);
                match sessions_in(&name) {
                    Some(sessions) => row.sessions(sessions),
                    None => row.label(&name),
                }
                row.take(&name, &figure, &Of::Row, cell);
                kept.iter().for_each(|(of, cell)| row.aside(of, cell));
                let (one, cells, ambiguous) = row.end_one();
                self.made.push(one);
                unclear.extend(cells);
                if self.ambiguous.len() < MOST_AMBIGUOUS {
                    self.ambiguous.extend(ambiguous);
                }
            }
            turned.iter_mut().for_each(|run| run.last_line = line);
            self.turned = turned;
            return self.told_of(unclear, line, all, doc);
        }
        for (draft, cell) in turned.iter_mut().zip(&values) {
            draft.last_line = line;
            if is_without && has_no_unit(cell) {
                draft.without_unit = Some(Unit::Ms);
            }
            // A figure that was stated above may be of another run.
            let again = matches!(&kind, ColumnMeaning::Figure(f, _) if draft.has("", f));
            let of = if again { Of::Unclear } else { Of::Row };
            let mut row = DraftRow::of(std::mem::take(draft), line, self.notation);
            kept.iter().for_each(|(of, cell)| row.aside(of, cell));
            match &kind {
                ColumnMeaning::Label if !cell.is_empty() => row.label(cell),
                ColumnMeaning::Aside | ColumnMeaning::Change(_) => row.aside(&name, cell),
                ColumnMeaning::Unknown | ColumnMeaning::Label => {
                    let is_number = numeral(cell).is_some() && !name.is_empty();
                    row.unknown(&name, cell, is_number);
                }
                kind => row.take(&name, kind, &of, cell),
            }
            let (one, cells, ambiguous) = row.end_one();
            *draft = one;
            unclear.extend(cells);
            if self.ambiguous.len() < MOST_AMBIGUOUS {
                self.ambiguous.extend(ambiguous);
            }
        }
        self.turned = turned;
        self.told_of(unclear, line, all, doc)
    }

    fn told_of(&self, unclear: Vec<String>, line: u64, all: usize, doc: &mut Doc) -> Became {
        if unclear.is_empty() {
            return Became::Table;
        }
        doc.leftovers.cells(line, &unclear);
        match unclear.len() < all {
            true => Became::TableInPart,
            false => Became::NotUnderstood,
        }
    }
}

/// Each number of a cell that has no unit of its own with that of its row.
fn with_unit(cell: &str, unit: &str) -> String {
    let parts = cell.split_inclusive(['/', '+', '=']).map(|part| {
        let (number, sign) = match part.char_indices().last() {
            Some((at, '/' | '+' | '=')) => part.split_at(at),
            _ => (part, ""),
        };
        let number = number.trim();
        match numeral(number) {
            Some((_, rest)) if rest.trim().is_empty() => format!("{number} {unit} {sign} "),
            _ => part.into(),
        }
    });
    parts.collect::<String>().trim().into()
}
