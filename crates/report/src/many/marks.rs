//! How figures are marked that must not be used: with a sign, not with a colour, and with the rules
//! that say so.

use super::RunDigest;
use super::cell::PointResults;
use super::document::named;
use super::matrix::CurvePoint;
use super::texts::Texts;
use super::workload::MeasuredWorkload;
use crate::texts::fill;

/// So many points or runs are named in a sentence.
const NAMED: usize = 4;

/// A text with the sign before it where a point's figures must not be used.
pub(super) fn marked(t: &Texts, cell: &PointResults, text: String) -> String {
    match cell.counted > 0 && !cell.usable {
        true => fill(t.mark, &[("text", &text)]),
        false => text,
    }
}

/// Which of these points must not be used, and why; `None` where all may.
pub(super) fn crossed<'p>(
    m: &MeasuredWorkload<'_, '_>,
    points: impl Iterator<Item = (String, &'p CurvePoint<'p>, &'p PointResults)>,
) -> Option<String> {
    let t = m.s.t;
    let crossed = points.filter(|(_, _, cell)| cell.counted > 0 && !cell.usable);
    let said = crossed.map(|(label, point, _)| {
        let rules = point.invalid_rules().join(m.s.common.comma);
        let values = [("text", &*label), ("aside", &*rules)];
        fill(t.parenthesised, &values)
    });
    let said: Vec<String> = said.collect();
    let points = named(&said, NAMED, t, m.s.common.comma);
    (!said.is_empty()).then(|| fill(t.crossed, &[("points", &points)]))
}

/// Which runs of a point are crossed out on its picture over time, and why.
pub(super) fn crossed_runs(m: &MeasuredWorkload<'_, '_>, point: &CurvePoint<'_>) -> Vec<String> {
    let t = m.s.t;
    let several = point.runs.len() > 1;
    let named_runs = |of: &dyn Fn(&RunDigest) -> Option<String>| {
        let runs = point.runs.iter().enumerate().filter_map(|(n, run)| {
            let why = of(run)?;
            let repeat = fill(t.repeat_n, &[("n", &(n + 1).to_string())]);
            Some(match (several, why.as_str()) {
                (false, _) => why,
                (true, "") => repeat,
                (true, _) => fill(t.parenthesised, &[("text", &repeat), ("aside", &why)]),
            })
        });
        named(&runs.collect::<Vec<_>>(), NAMED, t, m.s.common.comma)
    };
    let invalid = named_runs(&|run| {
        let rules = run.invalid_rules().join(m.s.common.comma);
        (run.counts() && !run.usable).then_some(rules)
    });
    let without = named_runs(&|run| (!run.counts()).then(String::new));
    let mut said = Vec::new();
    if !invalid.is_empty() {
        said.push(fill(t.panel_crossed, &[("runs", &invalid)]));
    }
    if point.runs.iter().any(|run| !run.counts()) {
        let text = match without.as_str() {
            "" => t.no_result.to_string(),
            runs => format!("{}{}{runs}", t.no_result, m.s.common.colon),
        };
        said.push(fill(t.mark, &[("text", &text)]));
    }
    said
}
