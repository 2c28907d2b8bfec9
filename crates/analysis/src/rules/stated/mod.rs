//! Rules of imported runs: they look at the figures as they were stated, each with its line.
//!
//! A rule answers `None` where the source does not state what it needs; it is then said to be left out.

mod commands;
mod document;
mod equations;
mod intervals;
mod latencies;
mod load;
mod lost;
mod options;
mod progress;
mod scale;
mod tools;
mod view;
mod windows;
mod words;

use super::{not_judged, sampling};
use crate::finding::finding;
use crate::run::Run;
use crate::texts::{missing, not_judged as text, same_output};
use crate::{AnalysisError, Figure, Finding, Severity};
use tidemark_core::record::{Imported, RunRecord};
use view::ImportedRun;

/// A rule of imported runs.
struct StatedRule {
    id: &'static str,
    /// `None` where figures are missing that it needs.
    check: fn(&ImportedRun<'_>) -> Option<Vec<Finding>>,
}

/// All, in the order in which findings of equal severity are told.
const RULES: &[StatedRule] = &[
    StatedRule {
        id: "failed-run",
        check: options::failed_run,
    },
    StatedRule {
        id: "same-output",
        check: options::same_output,
    },
    StatedRule {
        id: "summary-mismatch",
        check: equations::check,
    },
    StatedRule {
        id: MISSING,
        check: lost::missing_lines,
    },
    StatedRule {
        id: "sampler-gaps",
        check: lost::missing_seconds,
    },
    StatedRule {
        id: "impossible-pair",
        check: latencies::impossible_pair,
    },
    StatedRule {
        id: "littles-law",
        check: load::littles_law,
    },
    StatedRule {
        id: "offered-load",
        check: load::offered_load,
    },
    StatedRule {
        id: "setting-contradicts",
        check: options::setting_contradicts,
    },
    StatedRule {
        id: "wrong-column",
        check: options::wrong_column,
    },
    StatedRule {
        id: "tpcc-efficiency",
        check: scale::efficiency,
    },
    StatedRule {
        id: "tpcc-cap",
        check: scale::cap,
    },
    StatedRule {
        id: "tpcc-response",
        check: scale::response,
    },
    StatedRule {
        id: "rate-missed",
        check: load::rate_missed,
    },
    StatedRule {
        id: "backlog",
        check: load::backlog,
    },
    StatedRule {
        id: "error-rate",
        check: load::error_rate,
    },
    StatedRule {
        id: "intended-errors",
        check: load::intended_errors,
    },
    StatedRule {
        id: crate::tpcc::like::ID,
        check: scale::mix,
    },
    StatedRule {
        id: "different-windows",
        check: windows::different,
    },
    StatedRule {
        id: "not-found",
        check: load::not_found,
    },
    StatedRule {
        id: "percentile-below-mean",
        check: latencies::below_mean,
    },
    StatedRule {
        id: "averaged-percentiles",
        check: latencies::averaged,
    },
    StatedRule {
        id: "coarse-histogram",
        check: latencies::coarse,
    },
    StatedRule {
        id: "latency-floor",
        check: latencies::floor,
    },
    StatedRule {
        id: "stall",
        check: intervals::stall,
    },
    StatedRule {
        id: "too-short",
        check: latencies::too_short,
    },
    StatedRule {
        id: "wrong-working-set",
        check: options::working_set,
    },
    StatedRule {
        id: "degenerate-option",
        check: options::degenerate,
    },
];

/// Rules of measured runs whose evidence no other tool states.
const NEVER: [&str; 11] = [
    "client-bound",
    "clients-missing",
    "one-client-bound",
    "client-lagged",
    "clients-unequal",
    "row-count",
    "carried-state",
    "outage",
    "client-stopped",
    "no-op-writes",
    "deadlock-wait",
];

/// Ids of rules that only imported runs have.
pub(super) fn ids() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.id)
}

/// What is told of a command of a document that has no output.
pub fn missing_output(line: u64, command: &str) -> Finding {
    let figures = vec![
        ("line", Figure::Count(line)),
        ("command", Figure::Text(command.chars().take(120).collect())),
    ];
    let (says, instead) = (missing::SAYS, missing::INSTEAD);
    finding(MISSING, Severity::Suspect, says, instead, figures)
}

/// What is told of a client of which the document has no output, though it numbers others.
pub fn missing_client(line: u64, client: &str) -> Finding {
    let figures = vec![
        ("line", Figure::Count(line)),
        ("client", Figure::Text(client.into())),
    ];
    let (says, instead) = (missing::CLIENT, missing::CLIENT_INSTEAD);
    finding(MISSING, Severity::Suspect, says, instead, figures)
}

/// What is told of an output that another file has, too: `other` is that file with the line.
pub fn copied_output(line: u64, other: &str) -> Finding {
    let figures = vec![
        ("line", Figure::Count(line)),
        ("other", Figure::Text(other.into())),
    ];
    let (says, instead) = (same_output::IN_FILE, same_output::IN_FILE_INSTEAD);
    finding("same-output", Severity::Note, says, instead, figures)
}

/// Rules of documents.
const MISSING: &str = "missing";

/// What the rules have to say of an imported run.
pub(super) fn findings(
    record: &RunRecord,
    imported: &Imported,
) -> Result<Vec<Finding>, AnalysisError> {
    let view = ImportedRun { record, imported };
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for rule in RULES {
        match (rule.check)(&view) {
            Some(of_rule) => found.extend(of_rule.into_iter().map(|mut one| {
                words::put(&view, &mut one);
                one
            })),
            None => left_out.push(rule.id),
        }
    }
    // Of what is stated over time and by session, measured runs' rules judge as well.
    let run = Run::of(record)?;
    let is_trend = record.intervals.len() >= crate::thresholds::TREND_INTERVALS && view.is_steady();
    match run.as_ref().filter(|_| is_trend) {
        Some(run) => {
            found.extend(super::two_regimes::check(run)?);
            found.extend(super::drift::check(run)?);
        }
        None => left_out.extend([super::two_regimes::ID, super::drift::ID]),
    }
    let is_by_session = imported.figure("events_stddev").is_some();
    match run.as_ref().filter(|_| is_by_session) {
        Some(run) => found.extend(super::unfair::check(run)?),
        None => left_out.push(super::unfair::ID),
    }
    // A histogram that the tool printed, or logged.
    let buckets = latencies::buckets(&view);
    match run.as_ref().filter(|run| run.latency.count() > 0) {
        _ if !buckets.is_empty() => found.extend(super::heavy_tail::of_buckets(&buckets)),
        Some(run) => found.extend(super::heavy_tail::check(run)?),
        None => left_out.push(super::heavy_tail::ID),
    }
    // Series of other collectors that were attached.
    match run.as_ref().filter(|_| !record.series.is_empty()) {
        Some(run) => {
            found.extend(sampling::gaps(run)?);
            found.extend(sampling::outside(run)?);
            left_out.retain(|id| *id != sampling::GAPS);
        }
        None => left_out.push(sampling::OUTSIDE),
    }
    left_out.extend(NEVER);
    found.push(finding(
        not_judged::ID,
        Severity::Note,
        text::STATED,
        text::INSTEAD,
        vec![
            ("tool", Figure::Text(imported.tool.clone())),
            ("rules", Figure::Text(left_out.join(", "))),
        ],
    ));
    Ok(found)
}

/// What is counted is shown without a fraction.
fn counted(n: f64) -> Figure {
    Figure::Count(n.round().clamp(0.0, u64::MAX as f64) as u64)
}
