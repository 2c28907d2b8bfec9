//! A document as Markdown, for issue trackers and wikis. What came from outside is escaped: it can
//! make no heading, link, image or HTML.

use super::picture::{self, ChartFile, Illustrated};
use super::{Block, Document, Judged};
use crate::ReportError;
use crate::charts::ChartFigure;
use crate::texts::Texts;

/// The charts that a document links.
struct Linked<'d> {
    /// The folder of their files, as an address.
    folder: String,
    figures: Vec<&'d ChartFigure>,
}

impl Document {
    /// With tables as GitHub's Markdown has them, and without pictures: what they say in words stays.
    pub fn markdown(&self) -> String {
        self.written(&mut None)
    }

    /// As [`Document::markdown`], with links to charts in this folder beside it.
    ///
    /// # Errors
    /// [`ReportError`] when a chart can't be made a file.
    pub fn illustrated(&self, folder: &str) -> Result<Illustrated, ReportError> {
        let mut linked = Some(Linked {
            folder: picture::address(folder),
            figures: Vec::new(),
        });
        let markdown = self.written(&mut linked);
        let figures = linked.map(|linked| linked.figures).unwrap_or_default();
        let file = |(number, figure): (usize, &ChartFigure)| -> Result<ChartFile, ReportError> {
            Ok(ChartFile {
                name: picture::file_name(number),
                svg: picture::standalone(figure)?,
            })
        };
        let charts: Result<Vec<ChartFile>, ReportError> =
            figures.into_iter().enumerate().map(file).collect();
        Ok(Illustrated {
            markdown,
            charts: charts?,
        })
    }

    fn written<'d>(&'d self, linked: &mut Option<Linked<'d>>) -> String {
        let t = self.texts();
        let mut out = format!("# {}\n", escaped(&self.title));
        if !self.when.is_empty() {
            out += &format!("\n{}\n", self.when);
        }
        blocks(&mut out, &self.opening, t, linked);
        for part in &self.parts {
            let mut body = String::new();
            blocks(&mut body, &part.blocks, t, linked);
            let body = body.trim_start();
            out += &match part.title.is_empty() {
                true => format!("\n{body}"),
                false => section(&escaped(&part.title), body),
            };
        }
        out += &format!("\n{}\n", escaped(&self.made_by));
        out
    }
}

fn blocks<'d>(out: &mut String, blocks: &'d [Block], t: &Texts, linked: &mut Option<Linked<'d>>) {
    for block in blocks {
        let text = one(block, t, linked);
        if !text.is_empty() {
            out.push('\n');
            out.push_str(&text);
        }
    }
}

fn one<'d>(block: &'d Block, t: &Texts, linked: &mut Option<Linked<'d>>) -> String {
    match block {
        Block::Heading(text) => format!("### {}\n", escaped(text)),
        Block::Warning(text) => format!("> **!** {}\n", escaped(text)),
        Block::Headline(pieces) => {
            let text: String = pieces.iter().map(|p| escaped(&p.text)).collect();
            format!("**{text}**\n")
        }
        Block::Lead(text) => format!("**{}**\n", escaped(text)),
        Block::Say(text) | Block::Fine(text) => format!("{}\n", escaped(text)),
        Block::Sentences(sentences) => format!("{}\n", escaped(&sentences.join(t.gap))),
        Block::List(items) => items.iter().map(|i| item(i)).collect(),
        Block::Tiles(tiles) => {
            let (names, values): (Vec<_>, Vec<_>) = tiles.iter().cloned().unzip();
            table(&names, &[values])
        }
        Block::Facts(facts) => facts
            .iter()
            .map(|(name, value)| format!("- {name}: {}\n", escaped(value)))
            .collect(),
        Block::Table(grid) => {
            let caption = grid.caption.map(|c| format!("{}\n\n", escaped(c)));
            caption.unwrap_or_default() + &table(&grid.head, &grid.rows)
        }
        Block::Findings(found) => found.iter().map(|of| finding(of, t)).collect(),
        Block::Figures(figures) => match linked {
            Some(linked) => linked.charts(figures, t),
            None => figures
                .iter()
                .map(|f| item(&format!("{}{}{}", f.title, t.colon, f.says)))
                .collect(),
        },
        Block::OfPanels(_) => String::new(),
        Block::Panels(panels) => panels.iter().map(|p| item(&p.says)).collect(),
        Block::Code(language, text) => code_block(language, text),
        Block::Fold(title, inner) => {
            let mut out = format!("{}\n", escaped(title));
            blocks(&mut out, inner, t, linked);
            out
        }
        // It is the author's own.
        Block::Authored { markdown, .. } => format!("{}\n", markdown.trim()),
    }
}

impl<'d> Linked<'d> {
    /// Each chart with what it says.
    fn charts(&mut self, figures: &'d [ChartFigure], t: &Texts) -> String {
        let mut charts = Vec::new();
        for figure in figures {
            let name = picture::file_name(self.figures.len());
            let says = format!("{}{}{}", figure.title, t.colon, figure.says);
            charts.push(format!(
                "![{}]({}/{name})\n\n{}\n",
                escaped(&figure.title),
                self.folder,
                escaped(&says)
            ));
            self.figures.push(figure);
        }
        charts.join("\n")
    }
}

fn item(text: &str) -> String {
    format!("- {}\n", escaped(text))
}

fn finding(found: &Judged, t: &Texts) -> String {
    let said = &found.said;
    let sentences = [&said.says, &said.instead, &found.runs];
    let sentences: Vec<String> = sentences
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| escaped(text))
        .collect();
    let sentences = sentences.join(t.gap);
    format!("- **{}** `{}` {sentences}\n", said.severity, said.rule)
}

pub(crate) fn section(head: &str, body: &str) -> String {
    format!("\n## {head}\n\n{body}")
}

pub(crate) fn table<H: AsRef<str>>(head: &[H], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(&mut head.iter().map(|h| escaped(h.as_ref())));
    text += &line(&mut head.iter().map(|_| "---".to_string()));
    for row in rows {
        text += &line(&mut row.iter().map(|cell| escaped(cell)));
    }
    text
}

/// A fence longer than any run of backticks inside (CommonMark 4.5).
pub(crate) fn code_block(language: &str, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let code: String = code
        .chars()
        .filter(|c| *c == '\n' || !c.is_control())
        .collect();
    format!("{fence}{language}\n{code}\n{fence}\n")
}

/// On one line, with every character that could begin markup escaped (CommonMark 2.4), and no bare
/// address left for GitHub to make a link of.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '!' | '&' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.replace("://", "\\://").replace("www.", "www\\.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escaped("a|b\n# [x](y) <script> **"),
            r"a\|b \# \[x\](y) \<script\> \*\*"
        );
        assert_eq!(escaped("http://x www.y"), r"http\://x www\.y");
    }

    #[test]
    fn a_code_block_cannot_be_left() {
        assert_eq!(code_block("sh", "a ``` b"), "````sh\na ``` b\n````\n");
        assert_eq!(code_block("sh", "a"), "```sh\na\n```\n");
    }
}
