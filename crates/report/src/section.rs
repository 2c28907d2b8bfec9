//! A part of a report that only some workloads have.

use crate::digest::Digest;
use crate::document::text::Lines;
use crate::document::{Block, Grid, Part};
use crate::load_words::Table;
use crate::texts::Lang;
use crate::{tpcc, tpch, ycsb};

/// A workload's own results.
pub(crate) struct Section {
    pub title: &'static str,
    /// What must be known of the figures.
    pub sentences: Vec<String>,
    pub facts: Vec<(&'static str, String)>,
    pub types: Table,
    /// Longer texts with their titles, of many lines: plans of queries.
    pub texts: Vec<(String, String)>,
}

impl Section {
    /// `None` for a workload that has none.
    pub fn of(digest: &Digest<'_>, lang: Lang) -> Option<Self> {
        tpcc::section(digest, lang)
            .or_else(|| tpch::section(digest.record, lang))
            .or_else(|| ycsb::section(digest, lang))
    }

    /// As text, for after the lines of a run.
    pub fn text(self, lang: Lang) -> String {
        let mut out = Lines::default();
        out.part(&self.into(), lang.texts());
        out.line("");
        out.into()
    }
}

impl From<Section> for Part {
    fn from(section: Section) -> Self {
        let table = (!section.types.rows.is_empty()).then(|| {
            let caption = Some(section.types.title);
            let grid = section.types.grid();
            Block::Table(Grid { caption, ..grid })
        });
        let texts = section.texts.into_iter();
        let texts = texts.map(|(title, text)| Block::Fold(title, vec![Block::Code("text", text)]));
        let sentences = section.sentences.into_iter().map(Block::Fine);
        let blocks = [Block::Facts(section.facts)].into_iter();
        let blocks = blocks.chain(table).chain(sentences).chain(texts);
        Part::new(section.title, blocks.collect())
    }
}
