//! The whole document, in the order in which it is read: the result first, then what it was measured
//! on, each workload, what speaks against it, and how to repeat it.

use super::cell::PointResults;
use super::digest::RunDigest;
use super::matrix::{Matrix, Workload};
use super::texts::{self, Texts};
use super::{DOCUMENT_VERSION, Many};
use super::{
    commands, contrast, contrast_part, costs, environment, figure, findings, overview, resources,
    summary, workload,
};
use crate::ReportError;
use crate::document::{Block, Document, DocumentPart, Role};
use crate::number::whole;
use crate::single;
use crate::texts::{Lang, fill, unit_word};
use crate::topology;
use crate::words::readable_time;
use std::collections::BTreeSet;
use tidemark_core::record::RateUnit;

/// So many clusters are drawn.
const MOST_CLUSTERS: usize = 4;
/// So many workloads are named in a title.
const NAMED: usize = 3;

/// What every part is made from.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'m> {
    pub many: &'m Many,
    pub matrix: &'m Matrix<'m>,
    /// Of each workload, each series, each point.
    pub cells: &'m [Vec<Vec<PointResults>>],
    pub lang: Lang,
    pub t: &'static Texts,
    /// Words that reports of one run have too.
    pub common: &'static crate::texts::Texts,
    /// What the texts say that a throughput counts.
    pub unit: RateUnit,
}

impl<'m> Sources<'m> {
    /// The same with texts of another throughput.
    pub fn of_unit(&self, unit: RateUnit) -> Self {
        Self {
            t: texts::of_unit(self.lang, unit),
            common: self.lang.texts_of(unit),
            unit,
            ..*self
        }
    }

    /// A throughput, with what it counts where the texts say something else.
    pub fn rate(&self, figure: String, unit: RateUnit) -> String {
        match unit == self.unit {
            true => figure,
            false => format!("{figure} {}", unit_word(self.lang, unit)),
        }
    }

    /// Workloads with their cells.
    pub fn workloads(
        &self,
    ) -> impl Iterator<Item = (&'m Workload<'m>, &'m [Vec<PointResults>])> + use<'m> {
        let cells = self.cells.iter().map(Vec::as_slice);
        self.matrix.workloads.iter().zip(cells)
    }
}

/// Figures of every point, workload by workload.
pub(super) fn cells(matrix: &Matrix<'_>) -> Result<Vec<Vec<Vec<PointResults>>>, ReportError> {
    let of_workload = |w: &Workload<'_>| -> Result<Vec<Vec<PointResults>>, ReportError> {
        let series = w.series.iter();
        let cells = series.map(|s| s.points.iter().map(PointResults::of).collect());
        cells.collect()
    };
    matrix.workloads.iter().map(of_workload).collect()
}

pub(super) fn of(many: &Many, lang: Lang) -> Result<Document, ReportError> {
    let matrix = Matrix::of(&many.runs, many.order());
    let cells = cells(&matrix)?;
    let sources = Sources {
        many,
        matrix: &matrix,
        cells: &cells,
        lang,
        t: texts::of(lang),
        common: lang.texts(),
        unit: RateUnit::Transactions,
    };
    // Where all count the same, everything says so.
    let mut units = many.runs.iter().map(|run| run.rate_unit);
    let first = units.next().unwrap_or_default();
    let sources = match units.all(|unit| unit == first) {
        true => sources.of_unit(first),
        false => sources,
    };
    let contrasts = contrast::contrasts(many, &matrix);
    let mut parts = vec![summary::part(&sources, &contrasts).role(Role::Answer)];
    parts.extend(overview::part(&sources));
    let any_runs = !many.runs.is_empty();
    parts.extend(any_runs.then(|| environment::part(&sources).role(Role::Environment)));
    parts.extend(topologies(&sources));
    for (workload, cells) in sources.workloads() {
        let of_unit = sources.of_unit(workload.unit());
        parts.push(workload::part(&of_unit, workload, cells)?.role(Role::Results));
    }
    let by_run = [resources::part(&sources), costs::part(&sources)].into_iter();
    parts.extend(by_run.flatten().map(|part| part.role(Role::Results)));
    let compared = contrast_part::parts(&sources, &contrasts).into_iter();
    parts.extend(compared.map(|part| part.role(Role::Results)));
    parts.extend(findings::part(&sources));
    parts.extend(commands::failures(&sources));
    parts.push(commands::repeat(&sources));
    parts.extend(any_runs.then(|| commands::runs(&sources)));
    parts.extend(commands::outputs(&sources));
    parts.push(words(&sources));
    let document = Document {
        lang,
        title: title(&sources),
        opening: Vec::new(),
        contents: Some(sources.t.contents),
        when: when(&sources),
        parts,
        made_by: made_by(&sources),
    };
    Ok(document.with(&many.authored, &|reference| figure::of(&sources, reference))?)
}

/// The clusters of the runs, the same one once.
fn topologies(s: &Sources<'_>) -> Vec<DocumentPart> {
    let mut told = Vec::new();
    for topology in s.many.runs.iter().filter_map(|run| run.topology.as_ref()) {
        if !told.contains(&topology) && told.len() < MOST_CLUSTERS {
            told.push(topology);
        }
    }
    let parts = told.into_iter();
    parts.map(|of| topology::part(of, s.lang, true)).collect()
}

/// Some names, and how many more there are.
pub(super) fn named<S: AsRef<str>>(names: &[S], most: usize, t: &Texts, comma: &str) -> String {
    let listed = |n: usize| {
        let names = names.iter().take(n).map(AsRef::as_ref);
        names.collect::<Vec<_>>().join(comma)
    };
    if names.len() <= most {
        return listed(most);
    }
    let count = (names.len() - most).to_string();
    fill(t.more, &[("names", &listed(most)), ("count", &count)])
}

/// `1 run`, `12 runs`.
pub(super) fn runs_said(t: &Texts, count: usize) -> String {
    match count {
        1 => t.run_one.into(),
        n => fill(t.run_many, &[("count", &whole(n as u64))]),
    }
}

fn title(s: &Sources<'_>) -> String {
    if let Some(study) = &s.many.study {
        return fill(s.t.title_study, &[("name", &study.name)]);
    }
    let files: BTreeSet<Option<&str>> = s.many.runs.iter().map(file).collect();
    if let (1, Some(Some(file))) = (files.len(), files.first()) {
        return fill(s.t.title_study, &[("name", file)]);
    }
    let names: Vec<&str> = s.matrix.workloads.iter().map(|w| w.name.as_str()).collect();
    let runs = runs_said(s.t, s.many.runs.len() + s.many.unreadable.len());
    let workloads = named(&names, NAMED, s.t, s.common.comma);
    fill(
        s.t.title_runs,
        &[("runs", &runs), ("workloads", &workloads)],
    )
}

/// The document that a run was imported from.
fn file(run: &RunDigest) -> Option<&str> {
    run.imported.as_ref().map(|source| source.file.as_str())
}

fn when(s: &Sources<'_>) -> String {
    let starts = || s.many.runs.iter().filter_map(|r| r.started());
    let written = s.many.runs.iter().map(|r| r.started_at.as_str()).max();
    if let (None, Some(written)) = (starts().next(), written) {
        let time = readable_time(written);
        return fill(s.t.document_of, &[("time", &time)]);
    }
    let (Some(first), Some(last)) = (starts().min(), starts().max()) else {
        return String::new();
    };
    let (first, last) = (readable_time(first), readable_time(last));
    if first == last {
        first
    } else {
        fill(s.t.from_to, &[("from", &first), ("to", &last)])
    }
}

fn made_by(s: &Sources<'_>) -> String {
    let version = DOCUMENT_VERSION.to_string();
    let mut text = fill(
        s.t.made_by,
        &[("version", &s.many.version), ("document", &version)],
    );
    if let Some(study) = s.many.study.as_ref().filter(|study| !study.id.is_empty()) {
        text += s.common.gap;
        text += &fill(s.t.made_by_study, &[("id", &study.id)]);
    }
    text
}

fn words(s: &Sources<'_>) -> DocumentPart {
    let (t, c) = (s.t, s.common);
    let mut said = single::words(c);
    let more = [
        (t.word_interval, t.word_interval_says),
        (t.word_law, t.word_law_says),
    ];
    said.extend(more.map(|(word, says)| format!("{word}{}{says}", c.colon)));
    DocumentPart::new(c.words, vec![Block::List(said)])
}
