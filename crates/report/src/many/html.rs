//! The document as one self-contained page.

use super::block::Block;
use super::document::Document;
use crate::ReportError;
use crate::texts::{Lang, Texts};
use askama::Template;

#[derive(Template)]
#[template(path = "many.html")]
struct Page<'d> {
    t: &'static Texts,
    contents: &'static str,
    lang: &'static str,
    document: &'d Document,
}

/// Blocks, which may hold blocks.
#[derive(Template)]
#[template(path = "blocks.html")]
struct Blocks<'d> {
    t: &'static Texts,
    blocks: &'d [Block],
}

pub(super) fn page(document: &Document, lang: Lang) -> Result<String, ReportError> {
    let page = Page {
        t: lang.texts(),
        contents: super::texts::of(lang).contents,
        lang: lang.tag(),
        document,
    };
    Ok(page.render()?)
}

impl Page<'_> {
    fn of<'b>(&self, blocks: &'b [Block]) -> Blocks<'b> {
        Blocks { t: self.t, blocks }
    }
}

impl Blocks<'_> {
    fn of<'b>(&self, blocks: &'b [Block]) -> Blocks<'b> {
        Blocks { t: self.t, blocks }
    }
}
