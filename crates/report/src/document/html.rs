//! A document as one self-contained page.

use super::{Block, Document};
use crate::ReportError;
use crate::texts::Texts;
use askama::Template;

#[derive(Template)]
#[template(path = "document.html")]
struct Page<'d> {
    t: &'static Texts,
    document: &'d Document,
}

/// Blocks, which may hold blocks.
#[derive(Template)]
#[template(path = "blocks.html")]
struct Blocks<'d> {
    t: &'static Texts,
    blocks: &'d [Block],
    /// Of the headings of its charts.
    level: &'static str,
}

impl Document {
    /// The page: no network, light and dark, readable when printed, in colours and without, and with
    /// or without scripts. Everything in it that came from outside is escaped.
    ///
    /// # Errors
    /// [`ReportError::Page`].
    pub fn html(&self) -> Result<String, ReportError> {
        let page = Page {
            t: self.texts(),
            document: self,
        };
        Ok(page.render()?)
    }
}

impl Page<'_> {
    fn of<'b>(&self, blocks: &'b [Block], level: &'static str) -> Blocks<'b> {
        Blocks {
            t: self.t,
            blocks,
            level,
        }
    }
}

impl Blocks<'_> {
    fn of<'b>(&self, blocks: &'b [Block]) -> Blocks<'b> {
        Blocks {
            t: self.t,
            blocks,
            level: self.level,
        }
    }

    /// The class of so many key figures, whose rows are full: by four where that goes, else by three or
    /// five, else the last one is wider.
    fn rows_of(&self, tiles: &[(String, String)]) -> &'static str {
        match tiles.len() {
            count if count.is_multiple_of(4) => "by-4",
            count if count.is_multiple_of(3) => "by-3",
            count if count.is_multiple_of(5) => "by-5",
            _ => "wide-end",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::Lang;

    #[test]
    fn no_key_figure_stands_alone_in_a_row() {
        let rendered = |count: usize| {
            let tile = |n: usize| (format!("figure {n}"), "1".to_string());
            let blocks = Blocks {
                t: Lang::En.texts(),
                blocks: &[Block::Tiles((0..count).map(tile).collect())],
                level: "h3",
            };
            blocks.render().unwrap()
        };
        for (count, class) in [
            (8, "by-4"),
            (9, "by-3"),
            (10, "by-5"),
            (11, "wide-end"),
            (12, "by-4"),
        ] {
            let page = rendered(count);
            let list = format!("<dl class=\"tiles {class}\">");
            assert!(page.contains(&list), "{count}: {page}");
        }
    }
}
