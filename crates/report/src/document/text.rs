//! A document as plain text, for terminals and files.

use super::{Block, Document, DocumentPart, Grid};
use crate::texts::Texts;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Columns of the names of facts.
const NAME_WIDTH: usize = 22;

impl Document {
    /// Control characters from outside are left out, so that printing it can't change a terminal.
    pub fn text(&self) -> String {
        let t = self.texts();
        let mut out = TextBuilder::default();
        out.line(&self.title);
        self.opening.iter().for_each(|b| out.block(b, "", t));
        self.parts.iter().for_each(|part| out.part(part, t));
        out.line("");
        out.line(&self.made_by);
        out.into()
    }
}

/// Text in the making.
#[derive(Default)]
pub(crate) struct TextBuilder(String);

impl From<TextBuilder> for String {
    fn from(text: TextBuilder) -> Self {
        text.0
    }
}

impl TextBuilder {
    pub fn line(&mut self, text: &str) {
        self.0.extend(text.chars().filter(|c| !c.is_control()));
        self.0.push('\n');
    }

    pub fn part(&mut self, part: &DocumentPart, t: &Texts) {
        self.head(&part.title);
        part.blocks.iter().for_each(|b| self.block(b, "  ", t));
    }

    pub fn head(&mut self, text: &str) {
        self.0.push('\n');
        self.line(text);
    }

    fn block(&mut self, block: &Block, indent: &str, t: &Texts) {
        match block {
            Block::Heading(text) => self.head(text),
            Block::Warning(text) => self.line(&format!("! {text}")),
            Block::Headline(pieces) => {
                let pieces: Vec<&str> = pieces.iter().map(|p| &*p.text).collect();
                self.line(&pieces.concat());
            }
            Block::Lead(text) | Block::Say(text) | Block::Fine(text) => {
                self.line(&format!("{indent}{text}"));
            }
            Block::Sentences(lines) | Block::List(lines) => {
                lines
                    .iter()
                    .for_each(|l| self.line(&format!("{indent}{l}")));
            }
            Block::Tiles(tiles) => {
                self.line("");
                tiles
                    .iter()
                    .for_each(|(name, value)| self.pair(name, value));
            }
            Block::Facts(facts) => facts
                .iter()
                .for_each(|(name, value)| self.pair(name, value)),
            Block::Table(grid) => {
                grid.caption.iter().for_each(|caption| self.head(caption));
                self.table(grid);
            }
            Block::Findings(found) => found.iter().for_each(|f| {
                self.line(&format!("  {}", f.said.line(t)));
                self.line(&format!("    {}", f.said.instead));
            }),
            Block::Figures(figures) => figures.iter().for_each(|f| {
                self.line(&format!("{indent}{}{}{}", f.title, t.colon, f.says));
            }),
            Block::OfPanels(_) => {}
            Block::Panels(panels) => panels.iter().for_each(|p| self.line(&p.says)),
            Block::Code(_, text) => text.lines().for_each(|l| self.line(&format!("  {l}"))),
            Block::Fold(title, inner) => {
                self.head(title);
                inner.iter().for_each(|b| self.block(b, indent, t));
            }
            Block::Authored { markdown, .. } => {
                let lines = markdown.trim().lines();
                lines.for_each(|line| self.line(&format!("{indent}{line}")));
            }
        }
    }

    fn pair(&mut self, name: &str, value: &str) {
        let mut name = name;
        // What a user notes may have several lines.
        for line in value.lines() {
            self.line(&format!("  {} {line}", padded(name, NAME_WIDTH)));
            name = "";
        }
    }

    pub fn table(&mut self, grid: &Grid) {
        let lines = || std::iter::once(&grid.head).chain(&grid.rows);
        let widest = |column: usize| {
            let cells = lines().filter_map(|row| row.get(column));
            cells.map(|c| c.width()).max().unwrap_or(0)
        };
        for row in lines() {
            let mut line = String::from(" ");
            for (column, cell) in row.iter().enumerate() {
                let space = " ".repeat(widest(column).saturating_sub(cell.width()));
                // Writing to a String cannot fail.
                let _ = if grid.is_number(&column) {
                    write!(line, " {space}{cell} ")
                } else {
                    write!(line, " {cell}{space} ")
                };
            }
            self.line(line.trim_end());
        }
    }
}

fn padded(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_characters_take_two_columns() {
        assert_eq!("事务/秒（TPS）".width(), 14);
        assert_eq!(padded("会话", 6), "会话  ");
        assert_eq!(padded("sessions", 3), "sessions");
    }
}
