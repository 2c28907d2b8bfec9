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
}
