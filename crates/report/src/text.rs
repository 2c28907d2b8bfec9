//! One run as plain text, for terminals and files.

use crate::by_hand::{self, OneRun};
use crate::digest::Digest;
use crate::findings::{Said, said};
use crate::load_words::Table;
use crate::merge::per_second;
use crate::number::{three, whole};
use crate::section::Section;
use crate::texts::{Lang, fill};
use crate::words::{Words, rows_differ};
use crate::{ReportError, TypeLatency, series};
use std::fmt::Write;
use tidemark_core::record::RunRecord;

/// A summary in a few dozen lines. Control characters from outside are left out, so that printing
/// it can't change a terminal.
///
/// # Errors
/// [`ReportError::Histogram`] when a latency distribution of the record can't be read.
pub fn text(record: &RunRecord, lang: Lang) -> Result<String, ReportError> {
    text_of(record.into(), lang)
}

/// The same, with what the run's command needs.
pub(crate) fn text_of(run: OneRun<'_>, lang: Lang) -> Result<String, ReportError> {
    let record = run.record;
    let digest = Digest::of(record)?;
    let w = Words {
        d: &digest,
        t: lang.texts(),
    };
    let mut out = Summary::default();
    out.line(&w.title());
    out.line(&w.headline());
    for warning in w.warnings() {
        out.line(&format!("! {warning}"));
    }
    w.how_sentences().iter().for_each(|s| out.line(s));
    let figures = w.key_figures();
    if !figures.is_empty() {
        out.line("");
        figures
            .iter()
            .for_each(|(name, value)| out.pair(name, value));
        out.line(&w.latency_kind());
    }
    out.findings(&said(record, lang)?, &w);
    if let Some(section) = Section::of(&digest, lang) {
        out.section(&section);
    }
    if digest.types.len() > 1 {
        out.types(&w);
    }
    let load = w.load_facts();
    if !load.is_empty() {
        out.head(w.t.load);
        load.iter().for_each(|(name, value)| out.pair(name, value));
    }
    w.load_tables().iter().for_each(|table| out.table(table));
    series::table(record, lang, true)
        .iter()
        .for_each(|table| out.table(table));
    out.errors(&w);
    out.tables(&w);
    for (head, facts) in [
        (w.t.run, w.run_facts()),
        (w.t.target, w.target_facts()),
        (w.t.client, w.client_facts()),
    ] {
        out.head(head);
        facts.iter().for_each(|(name, value)| out.pair(name, value));
    }
    if !record.notes.is_empty() {
        out.head(w.t.notes);
        record
            .notes
            .iter()
            .for_each(|n| out.line(&format!("  {n}")));
    }
    if !record.command.is_empty() {
        out.head(w.t.repeat);
        by_hand::of_run(run, w.t)
            .lines()
            .for_each(|l| out.line(&format!("  {l}")));
    }
    out.line("");
    out.line(&w.made_by());
    Ok(out.0)
}

/// Text in the making.
#[derive(Default)]
pub(crate) struct Summary(String);

impl From<Summary> for String {
    fn from(text: Summary) -> Self {
        text.0
    }
}

impl Summary {
    /// A part that only some workloads have.
    pub fn section(&mut self, section: &Section) {
        self.head(section.title);
        let facts = section.facts.iter();
        facts.for_each(|(name, value)| self.pair(name, value));
        self.table(&section.types);
        section
            .sentences
            .iter()
            .for_each(|s| self.line(&format!("  {s}")));
        for (title, text) in &section.texts {
            self.head(title);
            text.lines().for_each(|l| self.line(&format!("  {l}")));
        }
    }

    pub fn line(&mut self, text: &str) {
        self.0.extend(text.chars().filter(|c| !c.is_control()));
        self.0.push('\n');
    }

    fn head(&mut self, text: &str) {
        self.0.push('\n');
        self.line(text);
    }

    fn pair(&mut self, name: &str, value: &str) {
        let mut lines = value.lines();
        let first = lines.next().unwrap_or_default();
        self.line(&format!("  {} {first}", padded(name, 22)));
        // What a user notes may have several.
        for more in lines {
            self.line(&format!("  {} {more}", padded("", 22)));
        }
    }

    fn findings(&mut self, found: &[Said], w: &Words<'_>) {
        if found.is_empty() {
            return;
        }
        self.head(w.t.findings);
        for said in found {
            self.line(&format!("  {}", said.line(w.t)));
            self.line(&format!("    {}", said.instead));
        }
    }

    fn types(&mut self, w: &Words<'_>) {
        self.head(w.t.types);
        let t = w.t;
        let mut row = |name: &str, cells: [String; 6]| {
            let mut line = format!("  {}", padded(name, 22));
            for cell in cells {
                // Writing to a String cannot fail.
                let _ = write!(
                    line,
                    " {}{cell}",
                    " ".repeat(11usize.saturating_sub(width(&cell)))
                );
            }
            self.line(&line);
        };
        row(
            t.transaction_type,
            [
                t.count,
                t.per_second,
                t.p50_ms,
                t.p95_ms,
                t.p99_ms,
                t.max_ms,
            ]
            .map(String::from),
        );
        let all: (&str, &TypeLatency) = (t.total, &w.d.all);
        for (name, latency) in w.d.types.iter().map(|(n, l)| (*n, l)).chain([all]) {
            let ms = |p| latency.percentile_ms(p).map_or("–".into(), three);
            let rate = three(per_second(latency.count, w.d.totals.elapsed_s));
            row(
                name,
                [
                    whole(latency.count),
                    rate,
                    ms(50.0),
                    ms(95.0),
                    ms(99.0),
                    ms(100.0),
                ],
            );
        }
    }

    pub fn table(&mut self, table: &Table) {
        self.head(table.title);
        let head: Vec<String> = table.head.iter().map(|h| (*h).into()).collect();
        let lines = || std::iter::once(&head).chain(&table.rows);
        let widest = |column: usize| {
            let cells = lines().filter_map(|row| row.get(column));
            cells.map(|c| width(c)).max().unwrap_or(0)
        };
        for row in lines() {
            let mut line = String::from(" ");
            for (column, cell) in row.iter().enumerate() {
                let space = " ".repeat(widest(column).saturating_sub(width(cell)));
                // Writing to a String cannot fail.
                let _ = if table.is_number(&column) {
                    write!(line, " {space}{cell} ")
                } else {
                    write!(line, " {cell}{space} ")
                };
            }
            self.line(line.trim_end());
        }
        if !table.says.is_empty() {
            self.line(&format!("  {}", table.says));
        }
    }

    fn errors(&mut self, w: &Words<'_>) {
        let errors = &w.d.record.errors;
        if errors.is_empty() {
            return;
        }
        self.head(w.t.errors);
        for e in errors {
            let name = format!("{} ({})", e.code, w.error_class(e.class));
            let count = format!("{}  {}", whole(e.count), e.first_message);
            self.pair(&name, &count);
        }
    }

    /// Only what is wrong; a line above says when all is well.
    fn tables(&mut self, w: &Words<'_>) {
        let wrong: Vec<_> =
            w.d.record
                .tables_after
                .iter()
                .filter(|t| rows_differ(t))
                .collect();
        if wrong.is_empty() {
            return;
        }
        self.head(w.t.tables);
        for table in wrong {
            let values = [
                ("rows", &*whole(table.rows)),
                ("expected", &*table.expected_rows.map_or("–".into(), whole)),
            ];
            self.pair(&table.table, &fill(w.t.rows_otherwise, &values));
        }
    }
}

/// Columns on a terminal: East Asian wide characters take two.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| match u32::from(c) {
            // CJK, kana, Hangul and full-width forms (Unicode Standard Annex 11).
            0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe4f
            | 0xff00..=0xff60
            | 0xffe0..=0xffe6 => 2,
            _ => 1,
        })
        .sum()
}

fn padded(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_characters_take_two_columns() {
        assert_eq!(width("事务/秒（TPS）"), 14);
        assert_eq!(padded("会话", 6), "会话  ");
        assert_eq!(padded("sessions", 3), "sessions");
    }
}
