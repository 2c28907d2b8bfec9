//! A document, of one run or of many: what it says in blocks, and a writer for each format.

mod block;
mod html;
pub(crate) mod markdown;
mod picture;
pub(crate) mod text;

pub(crate) use block::{Block, DocumentPart, Grid, Judged, Panel, Role, TextPiece, Width};
pub use picture::{
    CHART_MARK, ChartFile, Illustrated, is_unchanged_chart, links_chart, marked_chart,
};

use crate::texts::{Lang, Texts};

/// What is read, in its order. Nothing in it is escaped yet.
pub(crate) struct Document {
    pub lang: Lang,
    pub title: String,
    /// When, and of what; may be empty.
    pub when: String,
    /// The result, before everything else.
    pub opening: Vec<Block>,
    pub parts: Vec<DocumentPart>,
    /// The heading of a page's table of contents, if it is to have one.
    pub contents: Option<&'static str>,
    pub made_by: String,
}

impl Document {
    pub(crate) fn texts(&self) -> &'static Texts {
        self.lang.texts()
    }
}
