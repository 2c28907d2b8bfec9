//! A part of a report that only some workloads have.

use crate::digest::Digest;
use crate::document::text::TextBuilder;
use crate::document::{Block, DocumentPart, Grid};
use crate::family::Family;
use crate::report_table::ReportTable;
use crate::texts::Lang;

/// A workload's own results.
#[derive(Debug, Clone, Default)]
pub struct WorkloadSection {
    /// What stands above it.
    pub title: &'static str,
    /// What must be known of the figures.
    pub sentences: Vec<String>,
    /// Names and what is to say of them.
    pub facts: Vec<(&'static str, String)>,
    /// A row for each transaction type, or query.
    pub types: ReportTable,
    /// Longer texts with their titles, of many lines: plans of queries.
    pub texts: Vec<(String, String)>,
}

impl WorkloadSection {
    /// `None` for a workload that has none.
    pub(crate) fn of(digest: &Digest<'_>, lang: Lang) -> Option<Self> {
        (Family::of(&digest.record.workload)?.section)(digest, lang)
    }

    /// As text, for after the lines of a run.
    pub fn text(self, lang: Lang) -> String {
        let mut out = TextBuilder::default();
        out.part(&self.into(), lang.texts());
        out.line("");
        out.into()
    }
}

impl From<WorkloadSection> for DocumentPart {
    fn from(section: WorkloadSection) -> Self {
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
        DocumentPart::new(section.title, blocks.collect())
    }
}
