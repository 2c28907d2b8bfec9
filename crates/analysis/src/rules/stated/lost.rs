//! Lines that a tool always prints and that are not there.

use super::finding;
use super::view::View;
use crate::texts::{missing, sampler_gaps};
use crate::{Figure, Finding, Severity};

/// Figures that stand together in an output, and how many of them make one. Whoever quotes a line or
/// two of it lost none.
struct Block {
    tool: &'static str,
    figures: &'static [&'static str],
    least: usize,
    /// The same where the output begins with its first lines, so that nobody quotes a part.
    first: usize,
    /// A figure of older versions, which print others.
    unless: &'static str,
}

const BLOCKS: &[Block] = &[
    Block {
        tool: "sysbench",
        figures: &[
            "read",
            "write",
            "other",
            "statement_sum",
            "count",
            "statements",
            "ignored_errors",
            "reconnects",
        ],
        least: 6,
        first: 2,
        unless: "read_write",
    },
    Block {
        tool: "sysbench",
        figures: &[
            "elapsed_s",
            "events",
            "min_ms",
            "mean_ms",
            "max_ms",
            "sum_ms",
        ],
        least: 4,
        first: 4,
        unless: "read_write",
    },
    Block {
        tool: "sysbench",
        figures: &["events_avg", "time_avg_s"],
        least: 1,
        first: 1,
        unless: "",
    },
];

/// Figures of an output of which most are there.
pub(super) fn missing_lines(view: &View<'_>) -> Option<Vec<Finding>> {
    let tool = view.imported.tool.as_str();
    let mut found = Vec::new();
    let mut judged = false;
    for block in BLOCKS.iter().filter(|b| b.tool == tool) {
        let there = block.figures.iter().filter(|f| view.all(f).is_some());
        let there = there.count();
        // Who has the first lines and those over time has the whole output.
        let is_whole = view.imported.tool_version.is_some() && !view.imported.intervals.is_empty();
        let least = if is_whole { block.first } else { block.least };
        if there < least || view.all(block.unless).is_some() {
            continue;
        }
        judged = true;
        let lost: Vec<&str> = block
            .figures
            .iter()
            .filter(|f| view.all(f).is_none())
            .copied()
            .collect();
        if lost.is_empty() {
            continue;
        }
        let figures = vec![
            ("first", Figure::Count(view.imported.first_line)),
            ("last", Figure::Count(view.imported.last_line)),
            ("names", Figure::Text(lost.join(", "))),
        ];
        let (says, instead) = (missing::LINES, missing::LINES_INSTEAD);
        found.push(finding(
            super::MISSING,
            Severity::Suspect,
            says,
            instead,
            figures,
        ));
    }
    judged.then_some(found)
}

/// Seconds between lines over time that follow each other in the document: who shortens an output
/// leaves dots there.
pub(super) fn missing_seconds(view: &View<'_>) -> Option<Vec<Finding>> {
    let all = &view.imported.intervals;
    let steady = all.iter().all(|i| !i.cumulative && i.of.is_empty());
    if all.len() < 3 || !steady || view.imported.intervals_merged {
        return None;
    }
    let usual: Vec<f64> = all.iter().filter_map(|i| i.length_s).collect();
    let usual = tidemark_stats::median(&usual);
    let gap = all.windows(2).find_map(|two| {
        let [a, b] = two else { return None };
        // The line of a queue may stand between.
        let queue = u64::from(a.more.contains_key("queue_length"));
        let follows = b.line > a.line && b.line <= a.line + 1 + queue;
        let away = b.end_s - a.end_s - usual;
        (follows && away >= 0.9 * usual && usual > 0.0).then_some((b, away))
    });
    Some(gap.map_or(Vec::new(), |(after, away)| {
        let figures = vec![
            ("line", Figure::Count(after.line)),
            ("missing", Figure::Number(away)),
            ("end", Figure::Number(after.end_s)),
        ];
        let (says, instead) = (sampler_gaps::STATED, sampler_gaps::STATED_INSTEAD);
        vec![finding(
            "sampler-gaps",
            Severity::Suspect,
            says,
            instead,
            figures,
        )]
    }))
}
