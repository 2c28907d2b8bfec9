//! One document of many runs: of a study, or of any runs.
//!
//! Records are digested one by one ([`RunDigest::of`]) and dropped; a document is made of digests.

mod across_runs;
mod cell;
mod commands;
mod contrast;
mod contrast_changes;
mod contrast_part;
mod costs;
mod csv;
mod digest;
mod document;
mod environment;
mod factors;
mod figure;
mod findings;
mod headline;
mod json;
mod labels;
mod latencies;
mod law;
mod limits;
mod littles_law;
mod marks;
mod matrix;
mod missing;
mod objective;
mod one_client;
mod overview;
mod panels;
mod pictures;
mod queries;
mod repeat;
mod resources;
mod scaling;
mod server_labels;
mod summary;
mod varied;
mod workload;

use crate::texts::many as texts;

pub use digest::RunDigest;
pub(crate) use digest::{Metrics, PriceDigest};
pub(crate) use figure::of_run as figure_of_run;

use crate::texts::Lang;
use crate::{Authored, Illustrated, ReportError};
use serde::Serialize;
use tidemark_core::Objective;

/// Version of the document in JSON and of the columns in CSV; it grows when a reader of an older
/// one could be misled.
pub const DOCUMENT_VERSION: u32 = 2;

/// What is known of a study beside its runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StudyFacts {
    /// Id of its execution.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The path of its file.
    pub path: String,
    /// The file's text, passwords as `***`.
    pub file: String,
    /// What executes it again, as words of a command line.
    pub command: Vec<String>,
    /// Whether something is left to do.
    pub open: bool,
    /// What results are judged by.
    pub objective: Option<Objective>,
    /// What is varied, in the order of the file.
    pub factors: Vec<StudyFactor>,
}

/// What a study varies: a factor, the target, the workload or the load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StudyFactor {
    /// Its name.
    pub name: String,
    /// Its values, in the order of the file.
    pub values: Vec<String>,
    /// What its values change, by the names of a comparison's differences: `setting fsync`,
    /// `option table-size`.
    pub changes: Vec<String>,
}

/// How far a step of a study came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepState {
    /// It has not begun.
    #[default]
    Waiting,
    /// It has begun, and no end was written.
    GoingOn,
    /// It ended well.
    Done,
    /// It failed.
    Failed,
    /// It was left out.
    Skipped,
}

/// One step of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StudyStep {
    /// `load`, `run`, …
    pub kind: String,
    /// The cell of the matrix, or the data that is loaded.
    pub cell: String,
    /// Which repeat.
    pub repeat: u32,
    /// Its command line, passwords as `***`.
    pub command: Vec<String>,
    /// How far it came.
    pub state: StepState,
    /// Why it failed or was left out.
    pub reason: Option<String>,
    /// The run that it made.
    pub run_id: Option<String>,
    /// How long it took in seconds.
    pub took_s: Option<f64>,
    /// What it printed.
    #[serde(skip)]
    pub output: String,
}

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The run's id.
    pub id: String,
    /// Why.
    pub why: String,
}

/// Everything that a document of many runs is made of.
#[derive(Debug, Clone, Default)]
pub struct Many {
    /// The study that they are of; `None` for any runs.
    pub study: Option<StudyFacts>,
    /// Its steps, in order.
    pub steps: Vec<StudyStep>,
    /// The runs.
    pub runs: Vec<RunDigest>,
    /// Runs whose record could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Version of the Tidemark that makes the document.
    pub version: String,
    /// What the report's author writes.
    pub authored: Authored,
}

impl Many {
    /// The document as one self-contained page: no network, light and dark, readable when printed,
    /// in colours and without. Everything in it that came from outside is escaped.
    ///
    /// # Errors
    /// [`ReportError`] when a chart can't be drawn, or the author's text refers to nothing.
    pub fn html(&self, lang: Lang) -> Result<String, ReportError> {
        document::of(&self.judged(), lang)?.html()
    }

    /// The document as Markdown: its tables and sentences, without pictures. What came from outside
    /// is escaped.
    ///
    /// # Errors
    /// As [`Many::html`].
    pub fn markdown(&self, lang: Lang) -> Result<String, ReportError> {
        Ok(document::of(&self.judged(), lang)?.markdown())
    }

    /// As [`Many::markdown`], with links to its charts in this folder beside the document.
    ///
    /// # Errors
    /// As [`Many::html`].
    pub fn markdown_illustrated(
        &self,
        lang: Lang,
        folder: &str,
    ) -> Result<Illustrated, ReportError> {
        document::of(&self.judged(), lang)?.illustrated(folder)
    }

    /// A row a run, with the study's factors as columns, as RFC 4180 has it. A cell of text that a
    /// spreadsheet would take for a formula begins with an apostrophe.
    pub fn csv(&self) -> String {
        csv::text(&self.judged().runs)
    }

    /// The digests and what was made of them, as JSON with a version.
    ///
    /// # Errors
    /// [`ReportError`] when a distribution can't be read, or what can't be written as JSON.
    pub fn json(&self) -> Result<String, ReportError> {
        json::text(&self.judged())
    }

    /// With what is found of the runs only together.
    fn judged(&self) -> Self {
        Self {
            runs: across_runs::judged_together(&self.runs, self.order()),
            ..self.clone()
        }
    }

    /// The order of the study's file.
    fn order(&self) -> matrix::FactorOrder<'_> {
        let study = self.study.as_ref();
        matrix::FactorOrder(study.map_or(&[], |study| study.factors.as_slice()))
    }
}
