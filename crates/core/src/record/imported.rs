//! What another tool's output stated, figure by figure, with the lines on which it stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the throughput of an imported run counts.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RateUnit {
    /// Transactions, or operations, a second.
    #[default]
    Transactions,
    /// Statements (queries) a second: nothing says how many transactions they were.
    Statements,
    /// New-Order transactions a minute (NOPM, tpmC): nothing says how many there were of all types.
    NewOrders,
}

/// The source of a run that Tidemark did not measure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// The tool that printed it: `sysbench`, `go-tpc`, `table`, …
    pub tool: String,
    /// The tool's version, where it is stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<String>,
    /// The name of the file, without its folder.
    pub file: String,
    /// The first line that belongs to the run, from 1.
    pub first_line: u64,
    /// The last one.
    pub last_line: u64,
    /// The heading above it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub heading: String,
    /// Which client of several it is, where the document says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Which test it is one of several clients of, where the document has their results one by one:
    /// runs of one document with the same value loaded one database at one time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// What its throughput and the count of its totals are of.
    #[serde(default)]
    pub rate_unit: RateUnit,
    /// What the record has and the document does not state: `started_at` (the document's own time),
    /// `elapsed_s` (1), `count` (worked out from other figures).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<String>,
    /// Lines within the run, or between it and the next one, that were not understood: first, last,
    /// and what stands on the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<LeftLines>,
    /// Every figure as it was stated, intervals apart.
    pub figures: Vec<StatedFigure>,
    /// What follows from other runs of the document, and is stated nowhere: rules hold the run's own
    /// figures against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<DerivedFigure>,
    /// The line of each option.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub option_lines: BTreeMap<String, u64>,
    /// What was stated over time, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<StatedInterval>,
    /// Whether there were so many intervals that neighbours were merged.
    #[serde(default)]
    pub intervals_merged: bool,
}

/// Lines that were not understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftLines {
    /// The first one, from 1.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// What stands on the first, or in the cell.
    pub text: String,
}

/// One figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatedFigure {
    /// The transaction type or client it is of; empty for the whole run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// What it is: `rate` (a second), `count`, `mean_ms`, `p95_ms`, `elapsed_s`, `tpmc`, …
    pub name: String,
    /// Its value, in the unit that its name says.
    pub value: f64,
    /// Half of its last printed digit's unit: it was rounded by at most so much.
    #[serde(default)]
    pub rounding: f64,
    /// The line, from 1.
    pub line: u64,
}

/// A figure that was worked out from what other runs of the document state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DerivedFigure {
    /// What it is: `clients_rate` (the sum of the clients' rates), `loaded_records`, …
    pub name: String,
    /// Its value.
    pub value: f64,
    /// It is wrong by at most so much, because what it was worked out from is rounded.
    #[serde(default)]
    pub rounding: f64,
    /// The lines of what it was worked out from, from 1; of many the first.
    pub lines: Vec<u64>,
}

/// One line of what was stated over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatedInterval {
    /// The line, from 1.
    pub line: u64,
    /// The transaction type it is of; empty for all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Whether it counts from the run's begin rather than from the line before.
    #[serde(default)]
    pub cumulative: bool,
    /// Seconds from the run's begin to the interval's end.
    pub end_s: f64,
    /// Its length in seconds, where the tool states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_s: Option<f64>,
    /// Sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<f64>,
    /// Transactions that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<f64>,
    /// Transactions a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Statements a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_rate: Option<f64>,
    /// Reading statements a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<f64>,
    /// Writing statements a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<f64>,
    /// Other statements a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_rate: Option<f64>,
    /// Mean latency in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ms: Option<f64>,
    /// Sum of latencies in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum_ms: Option<f64>,
    /// A percentile in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile_ms: Option<f64>,
    /// Ignored errors a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
    /// Reconnects a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconnect_rate: Option<f64>,
    /// Whatever else its line states, by the names of figures: `min_ms`, `p99.9_ms`, `failed`, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<String, f64>,
}

impl Imported {
    /// Whether the document does not state what the record has there.
    pub fn is_derived(&self, what: &str) -> bool {
        self.derived.iter().any(|name| name == what)
    }

    /// The throughput that was stated, in [`Imported::rate_unit`].
    pub fn rate(&self) -> Option<f64> {
        let figure = self.rate_figure()?;
        let is_by_minute = self.rate_unit == RateUnit::Transactions && figure.name != "rate";
        Some(figure.value / if is_by_minute { 60.0 } else { 1.0 })
    }

    /// The figure that [`Imported::rate`] is of.
    pub fn rate_figure(&self) -> Option<&StatedFigure> {
        match self.rate_unit {
            RateUnit::Transactions => self
                .figure("rate")
                .or_else(|| self.figure_of("TOTAL", "rate"))
                .or_else(|| self.figure("tpm_total"))
                .or_else(|| self.figure("tpm")),
            RateUnit::Statements => self.figure("statement_rate"),
            RateUnit::NewOrders => self.figure("nopm").or_else(|| self.figure("tpmc")),
        }
    }

    /// A figure of the whole run.
    pub fn figure(&self, name: &str) -> Option<&StatedFigure> {
        self.figure_of("", name)
    }

    /// What other runs of the document say of this one.
    pub fn beside(&self, name: &str) -> Option<&DerivedFigure> {
        self.beside.iter().find(|f| f.name == name)
    }

    /// A figure of a transaction type; the last one stated counts.
    pub fn figure_of(&self, of: &str, name: &str) -> Option<&StatedFigure> {
        let mut figures = self.figures.iter().rev();
        figures.find(|f| f.name == name && f.of == of)
    }

    /// The types that figures are of, each once, in order.
    pub fn types(&self) -> Vec<&str> {
        let mut types: Vec<&str> = Vec::new();
        for figure in self.figures.iter().filter(|f| !f.of.is_empty()) {
            if !types.contains(&figure.of.as_str()) {
                types.push(&figure.of);
            }
        }
        types
    }
}
