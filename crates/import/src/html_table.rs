//! Tables that a document in Markdown has as HTML: their rows become rows of Markdown.

use crate::doc::{Became, Doc};
use crate::table::{SourceLine, TableReader};

/// Longer ones are no tables of results.
const LONGEST: usize = 256 << 10;

/// The lines of such a table until it ends.
#[derive(Debug, Default)]
pub(crate) struct Html {
    text: String,
    first: u64,
    open: bool,
}

impl Html {
    /// Whether a line is of such a table.
    pub fn takes(&self, text: &str) -> bool {
        self.open || text.trim_start().to_ascii_lowercase().starts_with("<table")
    }

    /// Takes a line. What becomes of all lines of the table is known at its end.
    pub fn take(
        &mut self,
        text: &str,
        line: u64,
        table: &mut TableReader,
        doc: &mut Doc,
    ) -> Became {
        if !self.open {
            table.end(doc);
            (self.open, self.first) = (true, line);
        }
        self.text.push_str(text);
        self.text.push('\n');
        table.hold(text, line);
        let is_over = text.to_ascii_lowercase().contains("</table");
        if is_over || self.text.len() > LONGEST {
            self.end(table, doc);
        }
        Became::Table
    }

    /// Ends it, whole or not.
    pub fn end(&mut self, table: &mut TableReader, doc: &mut Doc) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let before = doc.done.len();
        let mut inner = TableReader::default();
        for (at, (row, line)) in rows(&text, self.first).into_iter().enumerate() {
            inner.take(as_read(&row, line), doc);
            if at == 0 {
                inner.take(as_read("|---|---|", line), doc);
            }
        }
        inner.finish(doc);
        table.settle(doc.done.len() > before, doc);
    }
}

fn as_read(text: &str, number: u64) -> SourceLine<'_> {
    SourceLine {
        text,
        shown: text,
        number,
    }
}

/// Its rows as Markdown has them, each with the line where it ends.
fn rows(text: &str, first: u64) -> Vec<(String, u64)> {
    let mut rows = Vec::new();
    let mut cells: Vec<String> = Vec::new();
    let mut cell: Option<String> = None;
    let mut line = first;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let tag = rest.strip_prefix('<').and_then(|t| t.split_once('>'));
        let Some((tag, after)) = tag else {
            line += u64::from(c == '\n');
            if let Some(cell) = &mut cell {
                cell.push(if matches!(c, '\n' | '|') { ' ' } else { c });
            }
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        };
        line += tag.bytes().filter(|b| *b == b'\n').count() as u64;
        rest = after;
        let name = tag.split_whitespace().next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if matches!(
            name.as_str(),
            "td" | "th" | "/td" | "/th" | "tr" | "/tr" | "/table"
        ) {
            cells.extend(cell.take().map(|cell| plain(&cell)));
        }
        match name.as_str() {
            "td" | "th" => cell = Some(String::new()),
            "tr" | "/tr" | "/table" if !cells.is_empty() => {
                rows.push((format!("| {} |", cells.join(" | ")), line));
                cells.clear();
            }
            _ => {}
        }
    }
    rows
}

fn plain(cell: &str) -> String {
    let signs = [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&micro;", "µ"),
        ("&amp;", "&"),
    ];
    let text = signs
        .iter()
        .fold(cell.to_string(), |text, (from, to)| text.replace(from, to));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
