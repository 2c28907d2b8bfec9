//! Tables of results in Markdown, CSV or of a client's frame: each row is a run.

use crate::doc::{Became, Doc};
use crate::draft::{Draft, From};
use crate::headings::{Column, column};
use crate::scan::{Number, number, unit_ms};

/// The tool of a run that a row tells of.
pub(crate) const TOOL: &str = "table";

/// A table while it is read.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The last line that may be a heading.
    before: Option<(Vec<String>, char)>,
    columns: Vec<Column>,
    names: Vec<String>,
    by: char,
    /// Of a table whose rows are figures: a run for each column.
    turned: Vec<Draft>,
    open: bool,
}

impl Table {
    /// Takes a line that no format takes.
    pub fn take(&mut self, text: &str, line: u64, doc: &mut Doc) -> Option<Became> {
        if is_frame(text) {
            if let Some((names, by)) = self.before.take() {
                self.begin(names, by, line, doc);
            }
            return (self.open || text.contains('|') || text.contains('+'))
                .then_some(Became::Table);
        }
        let Some((cells, by)) = cells(text, self.open.then_some(self.by)) else {
            self.end(doc);
            return None;
        };
        if !self.open {
            let is_heading = by != '|' && is_heading(&cells);
            if is_heading {
                self.begin(cells, by, line, doc);
                return self.open.then_some(Became::Table);
            }
            self.before = (by == '|').then_some((cells, by));
            return (by == '|').then_some(Became::Table);
        }
        match self.turned.is_empty() {
            true => self.row(&cells, line, doc).then_some(Became::Table),
            false => {
                self.turned_row(&cells, line);
                Some(Became::Table)
            }
        }
    }

    /// Ends a table, and hands its runs over.
    pub fn end(&mut self, doc: &mut Doc) {
        for draft in self.turned.drain(..) {
            doc.close();
            doc.open = Some(draft);
            doc.close();
        }
        *self = Self::default();
    }

    fn begin(&mut self, names: Vec<String>, by: char, line: u64, doc: &mut Doc) {
        self.end(doc);
        let columns: Vec<Column> = names.iter().map(|n| column(n)).collect();
        let figures = columns
            .iter()
            .filter(|c| matches!(c, Column::Figure(..)))
            .count();
        let rest = names.get(1..).unwrap_or_default();
        let values = ["value", "值", "数值", "结果", "result", "results"];
        let is_value = |n: &String| {
            number(n.trim()).is_some() || values.contains(&n.trim().to_lowercase().as_str())
        };
        if figures == 0 && !rest.is_empty() && rest.iter().all(is_value) {
            for name in rest {
                let mut draft = doc_draft(doc, line);
                if let (Some(Column::Option(option)), Some((n, _))) =
                    (columns.first(), number(name.trim()))
                {
                    draft.option(option, &n.value.to_string(), line, From::Output);
                }
                self.turned.push(draft);
            }
        } else if figures == 0 {
            return;
        }
        (self.columns, self.names, self.by, self.open) = (columns, names, by, true);
    }

    fn row(&mut self, cells: &[String], line: u64, doc: &mut Doc) -> bool {
        let mut draft = doc_draft(doc, line);
        for ((cell, column), name) in cells.iter().zip(&self.columns).zip(&self.names) {
            let text = plain(cell);
            match column {
                Column::Figure(figure, factor) => {
                    cell_figure(&mut draft, figure, *factor, &text, line)
                }
                Column::Option(option) => threads(&mut draft, option, &text, line),
                Column::Label if !text.is_empty() => {
                    draft.workload = text.chars().take(60).collect()
                }
                Column::Unknown if !text.is_empty() && !name.trim().is_empty() => {
                    draft.option(plain(name).trim(), &text, line, From::Output);
                }
                _ => {}
            }
        }
        let any = draft.has_figures();
        if any {
            doc.close();
            doc.open = Some(draft);
            doc.close();
        }
        any || cells.iter().any(|c| !c.trim().is_empty())
    }

    fn turned_row(&mut self, cells: &[String], line: u64) {
        let Some(name) = cells.first() else { return };
        let kind = column(name);
        for (draft, cell) in self.turned.iter_mut().zip(cells.iter().skip(1)) {
            let text = plain(cell);
            draft.last_line = line;
            match &kind {
                Column::Figure(figure, factor) => cell_figure(draft, figure, *factor, &text, line),
                Column::Option(option) => threads(draft, option, &text, line),
                _ => draft.option(plain(name).trim(), &text, line, From::Output),
            }
        }
    }
}

fn doc_draft(doc: &Doc, line: u64) -> Draft {
    Draft {
        tool: TOOL,
        first_line: line,
        last_line: line,
        heading: doc.heading.clone(),
        client: doc.client.clone(),
        workload: doc.heading.chars().take(60).collect(),
        ..Draft::default()
    }
}

/// A line that only frames: `|---|:--:|`, `+----+----+`.
fn is_frame(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 3
        && text.contains("--")
        && (text.contains('|') || text.starts_with('+'))
        && text
            .bytes()
            .all(|b| matches!(b, b'|' | b'-' | b':' | b'+' | b' ' | b'\t'))
}

/// The cells of a line, and what parts them. In an open table only its own sign parts.
fn cells(text: &str, open: Option<char>) -> Option<(Vec<String>, char)> {
    let trimmed = text.trim();
    let by = match open {
        Some(by) => by,
        None => ['|', '\t', ';', ',']
            .into_iter()
            .find(|by| trimmed.contains(*by))?,
    };
    if !trimmed.contains(by) || trimmed.len() > 20_000 {
        return None;
    }
    let mut cells = Vec::new();
    let mut cell = String::new();
    let (mut quoted, mut escaped, mut code) = (false, false, false);
    let inner = match by {
        '|' => trimmed.strip_prefix('|').unwrap_or(trimmed),
        _ => trimmed,
    };
    for c in inner.chars() {
        match c {
            '\\' if by == '|' && !escaped => {
                escaped = true;
                continue;
            }
            '"' if by != '|' => quoted = !quoted,
            '`' if by == '|' => code = !code,
            c if c == by && !quoted && !escaped && !code => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
        escaped = false;
    }
    if by != '|' || !cell.trim().is_empty() {
        cells.push(cell);
    }
    (cells.len() > 1).then_some((cells, by))
}

/// Whether a line of CSV is a heading: a figure or two are named in it, and no cell is a number.
fn is_heading(cells: &[String]) -> bool {
    let known = cells
        .iter()
        .filter(|c| column(c) != Column::Unknown)
        .count();
    let figure = cells
        .iter()
        .any(|c| matches!(column(c), Column::Figure(..)));
    let any_number = cells
        .iter()
        .any(|c| number(c.trim()).is_some_and(|(_, rest)| rest.trim().is_empty()));
    let short = cells.iter().all(|c| c.chars().count() <= 40);
    figure && known >= 2 && known * 2 >= cells.len() && !any_number && short
}

/// Without emphasis and what stands around a number.
fn plain(cell: &str) -> String {
    let cell = cell.replace("<br>", " ").replace("**", "").replace('`', "");
    let cell = cell.trim().trim_matches('"');
    let cell = cell.trim_start_matches(['~', '≈', '约', '*', '<', '>']);
    cell.trim().chars().take(200).collect()
}

fn threads(draft: &mut Draft, option: &str, text: &str, line: u64) {
    let parts = parts(text);
    let all: f64 = parts.iter().map(|(n, _)| n.value).sum();
    match parts.as_slice() {
        [] if text.is_empty() => {}
        [] => draft.option(option, text, line, From::Output),
        // `3 × 256`, of three clients.
        [(n, rest)] => {
            let times = rest.trim_start().strip_prefix(['x', '×', '*']);
            let each = times
                .and_then(|t| number(t.trim_start()))
                .map(|(n, _)| n.value);
            let all = n.value * each.unwrap_or(1.0);
            draft.option(option, &all.to_string(), line, From::Output);
        }
        // Warehouses are shared or not; sessions never are.
        _ => draft.option(option, &all.to_string(), line, From::Output),
    }
}

/// The numbers of `a + b + c`, each with what follows it.
fn parts(text: &str) -> Vec<(Number, String)> {
    let before = text.split('=').next().unwrap_or(text);
    let mut all = Vec::new();
    for part in before.split(['+', '＋']) {
        match number(part.trim().trim_start_matches(['$', '¥', '(', '（'])) {
            Some((n, rest)) => all.push((n, rest.into())),
            None => return Vec::new(),
        }
    }
    all
}

/// Figures that clients of one test have together.
fn adds_up(name: &str) -> bool {
    let sums = [
        "rate",
        "statement_rate",
        "count",
        "statements",
        "tpmc",
        "nopm",
        "tpm_total",
        "ignored_errors",
    ];
    sums.contains(&name)
}

fn cell_figure(draft: &mut Draft, name: &str, factor: f64, text: &str, line: u64) {
    let missing = ["", "-", "--", "—", "/", "n/a", "na", "无", "null", "none"];
    if missing.contains(&text.to_lowercase().as_str()) {
        return;
    }
    let parts = parts(text);
    if parts.is_empty() {
        let shown: String = text.chars().take(60).collect();
        draft
            .notes
            .push(format!("line {line}: {name} {shown:?} is no number"));
        return;
    }
    let is_time = name.ends_with("_ms");
    let scaled: Vec<(Number, f64)> = parts
        .iter()
        .map(|(n, rest)| (*n, unit(rest, is_time).unwrap_or(factor)))
        .collect();
    if let [(n, factor)] = scaled.as_slice() {
        draft.scaled("", name, *n, *factor, line);
        return;
    }
    for (at, (n, factor)) in scaled.iter().enumerate() {
        draft.scaled(&format!("client {}", at + 1), name, *n, *factor, line);
    }
    let stated = text
        .rsplit_once('=')
        .and_then(|(_, sum)| number(sum.trim()));
    if let Some((sum, rest)) = stated {
        draft.scaled("", name, sum, unit(rest, is_time).unwrap_or(factor), line);
    } else if adds_up(name) {
        let value = scaled.iter().map(|(n, f)| n.value * f).sum();
        let decimals = scaled.iter().map(|(n, _)| n.decimals).min().unwrap_or(0);
        draft.figure("", name, Number { value, decimals }, line);
    }
}

/// What a unit behind a number makes of it.
fn unit(rest: &str, is_time: bool) -> Option<f64> {
    let rest = rest.trim_start();
    if is_time {
        return unit_ms(rest);
    }
    let each = [
        ("万", 1e4),
        ("亿", 1e8),
        ("千", 1e3),
        ("w", 1e4),
        ("W", 1e4),
        ("k", 1e3),
        ("K", 1e3),
        ("M", 1e6),
    ];
    let found = each.iter().find(|(u, _)| {
        let after = rest.strip_prefix(u);
        after.is_some_and(|a| !a.starts_with(|c: char| c.is_ascii_alphabetic()))
    });
    found.map(|(_, factor)| *factor)
}
