//! Outputs of other benchmark tools, and tables of results, as run records.
//!
//! A document is read line by line in bounded memory ([`read`]). Formats are recognised by content;
//! every figure keeps its line, and every line says what it became ([`Became`]).
//!
//! ```
//! let text = "sysbench 1.0.20 (using system LuaJIT)\nSQL statistics:\n    transactions: 600 (10.00 per sec.)\n";
//! let import = tidemark_import::read(text.as_bytes(), &tidemark_import::Origin::of("a.txt"), &mut |_, _, _| {})?;
//! assert_eq!(import.runs[0].totals.all.count, 600);
//! # Ok::<(), tidemark_import::TextError>(())
//! ```

mod aligned;
mod beside;
mod boxes;
mod captions;
mod cell;
mod changes;
mod clients;
mod command;
mod copies;
mod doc;
mod draft;
mod formats;
mod groups;
mod heading_forms;
mod heading_objectives;
mod heading_units;
mod heading_words;
mod headings;
mod held;
mod html_table;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;
mod labels;
mod leftovers;
mod lines_of_tables;
mod numeral;
mod over_time;
mod own_csv;
mod prefix;
mod record;
mod row;
mod samples;
mod scan;
mod secrets;
pub mod series;
mod table;
mod text;
mod totals;
mod unit;
mod units;
mod windows;

#[cfg(test)]
extern crate self as tidemark_import;

pub use clients::TEST_OPTIONS;
pub use doc::Became;
pub use headings::may_tell_apart;
pub use leftovers::Leftovers;
pub use secrets::without_secrets;
pub use text::TextError;
pub use unit::Unit;

use doc::Doc;
use draft::Draft;
use formats::FORMATS;
use formats::json::{Collected, Collector};
use html_table::Html;
use std::collections::BTreeMap;
use std::io::Read;
use table::{SourceLine, TableReader};
use text::TextLines;
use tidemark_core::record::{LeftLines, RunRecord};

/// What is known of a document beside its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its file's name, without the folder.
    pub file: String,
    /// When it was written (RFC 3339, UTC): runs have no better time.
    pub written_at: String,
    /// Unit of latencies of which the document states none.
    pub unit: Option<Unit>,
}

impl Origin {
    /// A file of this name, written at the beginning of time.
    pub fn of(file: &str) -> Self {
        Self {
            file: file.into(),
            written_at: "1970-01-01T00:00:00.000Z".into(),
            unit: None,
        }
    }
}

/// What a document held.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// Its runs, in order.
    pub runs: Vec<RunRecord>,
    /// Lines within outputs that nothing explains.
    pub leftovers: Leftovers,
    /// Command lines that promise a run and have no output: their line and text.
    pub missing: Vec<(u64, String)>,
    /// Clients that the document's numbering promises and that have no output: the line of the next
    /// one's, and the number.
    pub missing_clients: Vec<(u64, String)>,
    /// Outputs whose summary is missing or cut: their first and last line, and the tool.
    pub incomplete: Vec<(u64, u64, &'static str)>,
    /// Latencies whose unit is stated nowhere, and what they were taken as: first and last line.
    pub without_unit: Vec<(u64, u64, Unit)>,
    /// Lines in all.
    pub lines: u64,
}

/// Gives each run the lines that were not understood within it, or behind it.
fn place_leftovers(runs: &mut [RunRecord], leftovers: &Leftovers) {
    let mut places: Vec<(u64, usize)> = runs
        .iter()
        .enumerate()
        .filter_map(|(at, run)| Some((run.imported.as_ref()?.first_line, at)))
        .collect();
    places.sort_unstable();
    for (first, last, text) in &leftovers.ranges {
        let behind = places.partition_point(|(line, _)| line <= first);
        let place = places.get(behind.saturating_sub(1));
        let run = place.and_then(|(_, at)| runs.get_mut(*at)?.imported.as_mut());
        if let Some(imported) = run {
            imported.not_understood.push(LeftLines {
                first: *first,
                last: *last,
                text: text.clone(),
            });
        }
    }
}

/// Reads a document. `seen` is told of every line what it became.
///
/// # Errors
/// [`TextError`] where it is no text, or reading fails.
pub fn read(
    from: impl Read,
    origin: &Origin,
    seen: &mut dyn FnMut(u64, &str, Became),
) -> Result<Import, TextError> {
    let mut lines = TextLines::of(from)?;
    let mut reader = OutputReader::default();
    reader.doc.unit = origin.unit;
    let mut count = 0;
    while let Some((line, text)) = lines.next()? {
        count = line;
        let became = reader.line(text, line);
        reader.doc.has_room(line)?;
        let mut is_told = false;
        for (held, text, became) in reader.table.settled() {
            is_told |= held == line;
            seen(held, &text, became);
        }
        if !is_told && !reader.table.holds() {
            seen(line, text, became);
        }
    }
    let OutputReader {
        mut doc,
        mut table,
        mut html,
        mut json,
        ..
    } = reader;
    doc.end_text(lines.is_open());
    if lines.is_open() {
        doc.leave_cut_line(count);
    }
    json.end(count, &mut doc);
    html.end(&mut table, &mut doc);
    table.end(&mut doc);
    for (line, text, became) in table.settled() {
        seen(line, &text, became);
    }
    doc.close();
    doc.has_room(count)?;
    doc.miss();
    doc.give_modes();
    let without_unit = without_unit(&doc.done);
    let mut runs = record::records(doc.done, origin);
    place_leftovers(&mut runs, &doc.leftovers);
    Ok(Import {
        missing_clients: missing_clients(&runs),
        runs,
        leftovers: doc.leftovers,
        missing: doc.missing,
        incomplete: doc.incomplete,
        without_unit,
        lines: count,
    })
}

/// The lines of runs whose latencies have no stated unit, those of one table or log together.
fn without_unit(drafts: &[Draft]) -> Vec<(u64, u64, Unit)> {
    let mut all: Vec<(u64, u64, Unit)> = Vec::new();
    for draft in drafts {
        let Some(unit) = draft.without_unit else {
            continue;
        };
        match all.last_mut() {
            Some((_, last, same)) if *same == unit && draft.first_line <= *last + 1 => {
                *last = draft.last_line.max(*last);
            }
            _ => all.push((draft.first_line, draft.last_line, unit)),
        }
    }
    all
}

/// Numbers below the highest client's of which there is no output, or, where all others have the same
/// number of outputs, fewer.
fn missing_clients(runs: &[RunRecord]) -> Vec<(u64, String)> {
    let mut outputs: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for imported in runs.iter().filter_map(|run| run.imported.as_ref()) {
        // Threads of one pgbench are numbered by their files.
        let number = imported.client.as_ref().and_then(|c| c.parse::<u64>().ok());
        let number = number.filter(|n| *n < 1000 && imported.tool != "pgbench-log");
        if let Some(number) = number {
            let (_, count) = outputs.entry(number).or_insert((imported.first_line, 0));
            *count += 1;
        }
    }
    let (Some((first, _)), Some((last, _))) = (outputs.first_key_value(), outputs.last_key_value())
    else {
        return Vec::new();
    };
    // The first is client 0 or 1.
    let mut missing: Vec<(u64, String)> = (*first.min(&1)..*last)
        .filter(|n| !outputs.contains_key(n))
        .filter_map(|n| {
            let (_, (line, _)) = outputs.range(n..).next()?;
            Some((*line, n.to_string()))
        })
        .collect();
    let most = outputs.values().map(|(_, n)| *n).max().unwrap_or(0);
    let mut fewer = outputs.iter().filter(|(_, (_, n))| *n < most);
    if let (Some((n, (line, _))), None) = (fewer.next(), fewer.next())
        && outputs.len() > 2
    {
        missing.push((*line, n.to_string()));
    }
    missing
}

/// What a line that a tool's format took became.
fn output(tool: &'static str, doc: &Doc) -> Became {
    match doc.no_figure {
        true => Became::NoFigure(tool),
        false => Became::Output(tool),
    }
}

#[derive(Default)]
struct OutputReader {
    doc: Doc,
    table: TableReader,
    html: Html,
    json: Collector,
    /// The format that took the last line.
    last: usize,
    /// The name that stands before each line of an output.
    name: Option<String>,
}

impl OutputReader {
    fn line(&mut self, text: &str, line: u64) -> Became {
        let doc = &mut self.doc;
        doc.no_figure = false;
        doc.note_text(text, line);
        let mut text = prefix::without_moment(text);
        if let Some(name) = &self.name {
            match prefix::without(text, name) {
                Some(rest) => text = rest,
                // Lines of two outputs between each other are nobody's.
                None if prefix::named(text).is_some() => {
                    doc.leftovers.add(line, text);
                    return Became::NotUnderstood;
                }
                None => self.name = None,
            }
        }
        let json = match self.json.take(text, line, doc) {
            Collected::No => None,
            Collected::More | Collected::Whole(true) => Some(Became::Output("json")),
            // It said itself that they are left.
            Collected::Whole(false) => Some(Became::Remark),
        };
        if let Some(became) = json {
            self.table.end(doc);
            return became;
        }
        let drawn = boxes::in_ascii(text);
        let read = SourceLine {
            text: drawn.as_deref().unwrap_or(text),
            shown: text,
            number: line,
        };
        let begun = read.text.trim_start();
        if !begun.starts_with(['|', '+']) {
            doc.go_names.clear();
        }
        if !begun.is_empty() {
            // Lines of one output follow each other.
            let first = FORMATS
                .get(self.last)
                .filter(|f| (f.take)(read.text, line, doc));
            let tool = first.map(|f| f.tool).or_else(|| {
                let mut others = FORMATS.iter().enumerate();
                let found =
                    others.find(|(at, f)| *at != self.last && (f.take)(read.text, line, doc));
                let (at, format) = found?;
                self.last = at;
                Some(format.tool)
            });
            if let Some(tool) = tool {
                self.table.end(doc);
                return output(tool, doc);
            }
            let begins = |c: char| c.is_ascii_alphabetic() || matches!(c, '[' | '*');
            if let Some((name, rest)) = prefix::named(read.text)
                && rest.starts_with(begins)
                && let Some((at, format)) = FORMATS
                    .iter()
                    .enumerate()
                    .find(|(_, f)| (f.take)(rest, line, doc))
            {
                (self.last, self.name) = (at, Some(name.into()));
                self.table.end(doc);
                return output(format.tool, doc);
            }
        }
        if !doc.fenced && self.html.takes(text) {
            return self.html.take(text, line, &mut self.table, doc);
        }
        if let Some(became) = doc.context(read.text, line) {
            self.table.end(doc);
            return became;
        }
        match self.table.take(read, doc) {
            Some(became) => became,
            None => doc.left(text, line),
        }
    }
}
