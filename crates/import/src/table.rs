//! Tables of results in Markdown, CSV or of a client's frame: each row is a run.

use crate::beside::is_total;
use crate::captions::{
    grouped, is_of_variants, take_the_clients, take_the_heading, take_the_rate, take_the_unit,
    take_units,
};
use crate::cell::{is_missing, plain, sessions_in};
use crate::doc::{Became, Doc};
use crate::draft::{Draft, From};
use crate::groups::{Of, owners};
use crate::headings::{Column, column, only_figure};
use crate::held::{Held, MOST_HELD};
use crate::labels::client;
use crate::lines_of_tables::{cells, is_frame, is_heading};
use crate::numeral::{Notation, numeral};
use crate::over_time::{as_one, is_over_time};
use crate::row::{Ambiguous, Row, adds_up, multiple};
use crate::scan::number;

/// The tool of a run that a row tells of.
pub(crate) const TOOL: &str = "table";
/// More cells whose separator may mean two things are not kept in mind.
const MOST_AMBIGUOUS: usize = 10_000;

/// A table while it is read.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The last line that may be a heading.
    before: Option<(Vec<String>, char)>,
    columns: Vec<Column>,
    owners: Vec<Of>,
    names: Vec<String>,
    by: char,
    /// Of a table whose rows are figures: a run for each column.
    turned: Vec<Draft>,
    open: bool,
    /// Headings of groups of columns, below which those of the columns stand.
    groups: Vec<String>,
    rows: usize,
    /// Cells of the row above, for those that are merged with them.
    above: Vec<String>,
    notation: Notation,
    /// Cells that were read before the table showed its notation.
    ambiguous: Vec<Ambiguous>,
    /// Columns that were told as not understood.
    told: Vec<bool>,
    /// The only figure of a table whose rows are workloads, which its caption or heading names.
    only: Option<Column>,
    /// Whether the columns of a table whose rows are figures are named by what was compared.
    by_variant: bool,
    /// Runs of such a table.
    made: Vec<Draft>,
    /// How many runs the document had before those of a table whose rows may be moments of one.
    over_time: Option<usize>,
    held: Held,
}

impl Table {
    /// Takes a line that no format takes. What becomes of the first lines of a table is known only
    /// later: [`Table::settled`].
    pub fn take(&mut self, text: &str, line: u64, doc: &mut Doc) -> Option<Became> {
        let was_open = self.open;
        let became = self.taken(text, line, doc);
        match became {
            Some(Became::Table) if !self.open => {
                self.held.hold(text, line);
                if self.held.lines.len() >= MOST_HELD && self.held.has_numbers {
                    self.held.settle(false, doc);
                    self.held.is_told = true;
                }
            }
            Some(_) if !was_open => self.held.settle(true, doc),
            Some(_) => {}
            None => self.held.settle(false, doc),
        }
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

    fn taken(&mut self, text: &str, line: u64, doc: &mut Doc) -> Option<Became> {
        if is_frame(text, self.before.is_some()) {
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
            if by != '|' && is_heading(&cells) {
                self.begin(cells, by, line, doc);
                return self.open.then_some(Became::Table);
            }
            if by == '|' && cells.len() == self.groups.len() {
                let names = grouped(&std::mem::take(&mut self.groups), &cells);
                if is_heading(&names) {
                    self.begin(names, by, line, doc);
                    return Some(Became::Table);
                }
            }
            self.before = (by == '|').then_some((cells, by));
            return (by == '|').then_some(Became::Table);
        }
        // Another file's heading, right below the rows of the last one.
        if self.rows > 0 && self.turned.is_empty() && is_heading(&cells) {
            let by = self.by;
            self.begin(cells, by, line, doc);
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
            self.begin(names, by, line, doc);
            return Some(Became::Table);
        }
        self.rows += 1;
        match self.turned.is_empty() {
            true => self.row(&cells, text, line, doc),
            false => Some(self.turned_row(&cells, line, doc)),
        }
    }

    /// Ends a table, and hands its runs over.
    pub fn end(&mut self, doc: &mut Doc) {
        self.finish(doc);
        self.held.settle(false, doc);
        self.held.is_told = false;
    }

    /// Keeps a line until it is known whether anything of its table is understood.
    pub fn hold(&mut self, text: &str, line: u64) {
        self.held.hold(text, line);
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
            ..Self::default()
        };
    }

    fn begin(&mut self, names: Vec<String>, by: char, line: u64, doc: &mut Doc) {
        self.finish(doc);
        doc.settle_heading();
        let mut columns: Vec<Column> = names.iter().map(|n| column(n)).collect();
        let captions = [std::mem::take(&mut doc.caption), doc.heading().to_string()];
        for caption in &captions {
            take_the_unit(&mut columns, &names, caption);
        }
        let figures = columns
            .iter()
            .filter(|c| matches!(c, Column::Figure(..) | Column::Several(_)))
            .count();
        let rest = names.get(1..).unwrap_or_default();
        let values = ["value", "值", "数值", "结果", "result", "results"];
        let is_value = |n: &String| {
            number(n.trim()).is_some_and(|(_, rest)| rest.trim().is_empty())
                || sessions_in(n).is_some()
                || values.contains(&n.trim().to_lowercase().as_str())
        };
        // `client 1` has no session, it is one of several clients.
        let is_of_clients = rest.iter().any(|n| client(n).is_some())
            && rest.iter().all(|n| client(n).is_some() || is_total(n));
        let all_are = |is: &dyn Fn(&String) -> bool| !rest.is_empty() && rest.iter().all(is);
        // `MySQL 8.0` begins with no number, but `8.0` may be a version.
        if figures == 0 && is_of_clients {
            for name in rest {
                let mut draft = doc_draft(doc, line);
                (draft.client, draft.is_total) = (client(name), client(name).is_none());
                self.turned.push(draft);
            }
        } else if figures == 0 && all_are(&is_value) {
            self.only = captions.iter().find_map(|c| only_figure(c));
            for name in rest {
                let mut draft = doc_draft(doc, line);
                let named = plain(name);
                if let Some(sessions) = sessions_in(name) {
                    draft.option("threads", &sessions.to_string(), line, From::Output);
                } else if let (Some(Column::Option(option)), Some(n)) =
                    (columns.first(), whole_number(&named))
                {
                    draft.option(option, &n.to_string(), line, From::Output);
                }
                self.turned.push(draft);
            }
        } else if figures == 0 && is_of_variants(&names) {
            self.by_variant = true;
            self.only = captions.iter().find_map(|c| only_figure(c));
            for name in rest {
                let mut draft = doc_draft(doc, line);
                draft.option("variant", &plain(name), line, From::Output);
                self.turned.push(draft);
            }
        } else if figures == 0
            && !captions
                .iter()
                .any(|caption| take_the_heading(&mut columns, &names, caption))
        {
            self.groups = names;
            return;
        }
        for caption in &captions {
            take_the_rate(&mut columns, &names, caption);
            if caption.to_lowercase().contains("pgbench") {
                take_the_clients(&mut columns, &names);
            }
        }
        self.notation.comma_is_free = by == ';';
        self.owners = owners(&names, &columns);
        self.over_time = is_over_time(&names, &columns).then_some(doc.done.len());
        self.told = vec![false; names.len()];
        (self.columns, self.names, self.by, self.open) = (columns, names, by, true);
    }

    /// Takes what a row's numbers show of the table's notation; what was read before and may have been
    /// meant otherwise is given up.
    fn learn(&mut self, cells: &[String], columns: &[&Column], doc: &mut Doc) {
        let before = self.notation;
        for (cell, column) in cells.iter().zip(columns) {
            if !matches!(column, Column::Figure(..) | Column::Several(_)) {
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

    fn row(&mut self, cells: &[String], text: &str, line: u64, doc: &mut Doc) -> Option<Became> {
        let mut cells: Vec<String> = cells.iter().map(|c| plain(c)).collect();
        if cells.iter().all(String::is_empty) {
            return None;
        }
        if self.rows == 1 && take_units(&mut self.columns, &cells) {
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
        let columns = self.columns.clone();
        self.learn(&cells, &columns.iter().collect::<Vec<_>>(), doc);
        let mut row = Row::of(doc_draft(doc, line), line, self.notation);
        if self.over_time.is_some() {
            row.over_time();
        }
        let parts = cells.iter().zip(&self.columns).zip(&self.owners);
        for (at, ((cell, column), of)) in parts.enumerate() {
            let name = self.names.get(at).map_or(String::new(), |n| plain(n));
            match column {
                // A row of each client.
                Column::Label | Column::Unknown if client(cell).is_some() => {
                    row.client(client(cell));
                }
                Column::Label if !cell.is_empty() => row.label(cell),
                Column::Change(of) if !cell.is_empty() => {
                    let of = of.as_deref().or_else(|| self.changed(at));
                    row.change(&name, of, cell);
                }
                Column::Aside | Column::Unknown
                    if is_multiple(&name) && multiple(cell).is_some() =>
                {
                    row.change(&name, self.changed(at), cell);
                }
                Column::Aside if !cell.is_empty() && !name.is_empty() => row.aside(&name, cell),
                Column::Unknown if !cell.is_empty() => {
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
        if named.any(|(name, c)| matches!(c, Column::Figure(f, _) if adds_up(f)) && is_total(name))
        {
            row.total();
        }
        let none = self.columns.iter().zip(&cells).all(|(column, cell)| {
            !matches!(column, Column::Figure(..) | Column::Several(_))
                || is_missing(cell) && !cell.is_empty()
        });
        let (runs, unclear, ambiguous) = row.end();
        if self.ambiguous.len() < MOST_AMBIGUOUS {
            self.ambiguous.extend(ambiguous);
        }
        let any = !runs.is_empty();
        for run in runs {
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

    /// The figure that a column of changes is about, where only its place says it: the nearest one left
    /// of it, if each pair of columns has its own or others follow.
    fn changed(&self, at: usize) -> Option<&str> {
        let is_figure = |c: &Column| matches!(c, Column::Figure(..));
        let is_change = |c: &Column| matches!(c, Column::Change(_));
        let changes = self.columns.iter().filter(|c| is_change(c)).count();
        let figures = self.columns.iter().filter(|c| is_figure(c)).count();
        let follow = self.columns.iter().skip(at).any(is_figure);
        let mut before = self.columns.iter().take(at).rev();
        match before.find(|c| is_figure(c))? {
            Column::Figure(name, _) if follow || changes * 2 >= figures => Some(name),
            _ => None,
        }
    }

    /// Cells left of the figures that are blank are merged with the ones above.
    fn carry_down(&mut self, cells: &mut [String]) {
        if self.by == '|' {
            let figure = |c: &Column| matches!(c, Column::Figure(..) | Column::Several(_));
            let left = self.columns.iter().take_while(|c| !figure(c)).count();
            for (cell, above) in cells.iter_mut().zip(&self.above).take(left) {
                if cell.is_empty() {
                    cell.clone_from(above);
                }
            }
        }
        self.above = cells.to_vec();
    }

    fn turned_row(&mut self, cells: &[String], line: u64, doc: &mut Doc) -> Became {
        let Some(name) = cells.first() else {
            return Became::Table;
        };
        let kind = column(name);
        let name = plain(name);
        let values: Vec<String> = cells.iter().skip(1).map(|c| plain(c)).collect();
        self.learn(&values, &vec![&kind; values.len()], doc);
        let mut unclear = Vec::new();
        let mut turned = std::mem::take(&mut self.turned);
        let all = turned.len();
        // A row of one workload: a run in each column.
        let is_figure = !matches!(kind, Column::Unknown | Column::Label);
        if let Some(figure) = &self.only
            && !name.is_empty()
            && (!is_figure || sessions_in(&name).is_some())
        {
            for (base, cell) in turned.iter().zip(&values) {
                let mut run = base.clone();
                (run.first_line, run.last_line) = (line, line);
                let mut row = Row::of(run, line, self.notation);
                match sessions_in(&name) {
                    Some(sessions) => row.sessions(sessions),
                    None => row.label(&name),
                }
                row.take(&name, figure, &Of::Row, cell);
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
            // A figure that was stated above may be of another run.
            let again = matches!(&kind, Column::Figure(f, _) if draft.has("", f));
            let of = if again { Of::Unclear } else { Of::Row };
            let mut row = Row::of(std::mem::take(draft), line, self.notation);
            match &kind {
                Column::Label if !cell.is_empty() => row.label(cell),
                Column::Aside | Column::Change(_) => row.aside(&name, cell),
                Column::Unknown | Column::Label => {
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

/// The number that a heading is.
fn whole_number(text: &str) -> Option<f64> {
    let (numeral, rest) = numeral(text)?;
    let (n, _) = numeral.value(Notation::default())?;
    (rest.trim().is_empty() && n.value >= 0.0).then_some(n.value)
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
