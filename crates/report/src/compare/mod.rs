//! A comparison as people read it, as text and as Markdown.

mod changes;
mod names;

use crate::ReportError;
use crate::document::markdown;
use crate::document::text::TextBuilder;
use crate::findings::finding_lines;
use crate::number::{bytes, three, whole};
use crate::observed::said_of;
use crate::report_table::ReportTable;
use crate::settings::readable;
use crate::texts::{Lang, compare as texts, fill, observed};
pub(crate) use changes::signed;
pub(crate) use names::difference_name;
use texts::Texts;
use tidemark_analysis::compare::{
    Basis, Compared, Comparison, Metric, Needed, RegressionLimit, Side, TELLING, Verdict,
};
use tidemark_diagnosis::Changes;

/// Limits that were given, and whether each is broken.
pub type Judged<'l> = &'l [(RegressionLimit, bool)];

/// A comparison as plain text, with what limits either side. Control characters from outside are left out.
pub fn comparison_text(
    comparison: &Comparison,
    bottleneck: &Changes,
    judged: Judged<'_>,
    lang: Lang,
) -> String {
    let t = texts::of(lang);
    let mut out = TextBuilder::default();
    out.line(&sides(comparison, t));
    out.part(&metrics(comparison, t).into(), lang.texts());
    if let Some(needed) = needed(comparison, lang) {
        out.line(&needed);
    }
    if let Some(limits) = changes::limits(bottleneck, lang) {
        out.line(&limits);
    }
    let tables = [
        changes::parts(bottleneck, lang),
        compared_costs(comparison, lang),
    ];
    for table in tables.into_iter().flatten() {
        out.part(&table.into(), lang.texts());
    }
    if comparison.differences.is_empty() {
        out.line("");
        out.line(t.no_differences);
    } else {
        out.part(&differences(comparison, lang).into(), lang.texts());
    }
    if !comparison.settings_compared {
        out.line(lang.texts().settings_not_compared);
    }
    let found = finding_lines(&comparison.findings, lang);
    let mut judged_on = unusable(comparison, t);
    judged_on.extend(found.lines().map(String::from));
    let judged = judgements(comparison, judged, t);
    for lines in [judged_on, judged] {
        if !lines.is_empty() {
            out.line("");
        }
        lines.iter().for_each(|line| out.line(line));
    }
    out.into()
}

/// A comparison as Markdown, with what limits either side; what came from outside is escaped.
pub fn comparison_markdown(
    comparison: &Comparison,
    bottleneck: &Changes,
    judged: Judged<'_>,
    lang: Lang,
) -> String {
    let t = texts::of(lang);
    let metrics = metrics(comparison, t);
    let mut out = format!(
        "# {}\n\n{}\n\n{}\n\n{}",
        t.title,
        markdown::escaped(&sides(comparison, t)),
        metrics.title,
        markdown::table(&metrics.head, &metrics.rows)
    );
    if let Some(needed) = needed(comparison, lang) {
        out += &format!("\n{needed}\n");
    }
    if let Some(limits) = changes::limits(bottleneck, lang) {
        out += &format!("\n{limits}\n");
    }
    let tables = [
        changes::parts(bottleneck, lang),
        compared_costs(comparison, lang),
    ];
    for table in tables.into_iter().flatten() {
        out += &markdown::section(table.title, &markdown::table(&table.head, &table.rows));
    }
    out += &if comparison.differences.is_empty() {
        format!("\n{}\n", t.no_differences)
    } else {
        let table = differences(comparison, lang);
        markdown::section(table.title, &markdown::table(&table.head, &table.rows))
    };
    if !comparison.settings_compared {
        out += &format!("\n{}\n", lang.texts().settings_not_compared);
    }
    let list = |lines: Vec<String>| -> String {
        let items = lines
            .iter()
            .map(|l| format!("- {}\n", markdown::escaped(l)));
        items.collect()
    };
    let found = finding_lines(&comparison.findings, lang);
    let mut lines = unusable(comparison, t);
    lines.extend(found.lines().map(String::from));
    if !lines.is_empty() {
        out += &markdown::section(t.findings, &list(lines));
    }
    if !judged.is_empty() {
        out += &format!("\n{}", list(judgements(comparison, judged, t)));
    }
    out
}

/// A sentence for each limit, as the text and the Markdown have them.
pub fn judgement_lines(comparison: &Comparison, judged: Judged<'_>, lang: Lang) -> Vec<String> {
    judgements(comparison, judged, texts::of(lang))
}

/// A comparison as JSON: its figures, and what limits either side as `bottleneck`.
///
/// # Errors
/// [`ReportError`] for what can't be written as JSON.
pub fn comparison_json(
    comparison: &Comparison,
    bottleneck: &Changes,
) -> Result<String, ReportError> {
    #[derive(serde::Serialize)]
    struct Document<'c> {
        #[serde(flatten)]
        comparison: &'c Comparison,
        bottleneck: &'c Changes,
    }
    let mut text = serde_json::to_string_pretty(&Document {
        comparison,
        bottleneck,
    })?;
    text.push('\n');
    Ok(text)
}

/// What would show a difference of throughput where none is shown.
fn needed(comparison: &Comparison, lang: Lang) -> Option<String> {
    let mut metrics = comparison.metrics.iter();
    let throughput = metrics.find(|m| m.metric == Metric::Throughput)?;
    Some(needed_says(throughput.needed?, lang))
}

/// That in words.
pub(crate) fn needed_says(needed: Needed, lang: Lang) -> String {
    let t = texts::of(lang);
    let (template, much) = match needed {
        Needed::Repeats(n) => (t.needed_repeats, whole(n)),
        Needed::Seconds(s) => (t.needed_time, lang.texts().duration(s.ceil())),
    };
    let percent = three(TELLING * 100.0);
    fill(template, &[("much", &much), ("percent", &percent)])
}

fn sides(comparison: &Comparison, t: &Texts) -> String {
    let (a, b) = (comparison.a.join(", "), comparison.b.join(", "));
    fill(t.sides, &[("a", &a), ("b", &b)])
}

fn metrics(comparison: &Comparison, t: &'static Texts) -> ReportTable {
    ReportTable {
        title: match comparison.basis {
            Basis::Repeats => t.basis_repeats,
            Basis::Intervals => t.basis_intervals,
        },
        head: vec![t.metric, t.a, t.b, t.change, t.interval, t.verdict],
        rows: comparison.metrics.iter().map(|m| row(m, t)).collect(),
        says: String::new(),
        numbers: 4,
    }
}

/// What a transaction took on either side.
fn compared_costs(comparison: &Comparison, lang: Lang) -> Option<ReportTable> {
    let (t, o) = (texts::of(lang), observed::of(lang));
    let by_statement = comparison.costs.iter().any(|c| c.of_statement.is_some());
    let rows = comparison.costs.iter().map(|cost| {
        let said = |value| said_of(cost.kind, value, o).1;
        let called = said_of(cost.kind, cost.a, o).0;
        let change = cost.ratio.map_or_else(|| "–".into(), change);
        let mut row = vec![called.into(), said(cost.a), said(cost.b), change];
        if by_statement {
            let each = cost.of_statement.map(|(a, b)| [said(a), said(b)]);
            row.extend(each.unwrap_or_else(|| ["–".into(), "–".into()]));
        }
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let mut head = vec![o.cost, t.a, t.b, t.change];
    if by_statement {
        head.extend([t.a_statement, t.b_statement]);
    }
    (!rows.is_empty()).then(|| ReportTable {
        title: o.costs,
        numbers: head.len() - 1,
        head,
        rows,
        says: String::new(),
    })
}

/// Both values, the change, its interval, and what that says.
pub(crate) fn values_of(of: &Compared, lang: Lang) -> Vec<String> {
    row(of, texts::of(lang)).split_off(1)
}

fn row(of: &Compared, t: &Texts) -> Vec<String> {
    let name = match of.metric {
        Metric::Throughput => t.throughput,
        Metric::Mean => t.mean,
        Metric::P50 => t.p50,
        Metric::P95 => t.p95,
        Metric::P99 => t.p99,
    };
    let interval = match of.interval {
        None => "–".into(),
        // Its figures would look as if they said something.
        Some(_) if of.is_too_wide() => t.too_wide.into(),
        Some((low, high)) => format!("{} … {}", change(low), change(high)),
    };
    let verdict = match of.verdict {
        Verdict::Faster => t.faster,
        Verdict::Slower => t.slower,
        Verdict::NoDifferenceShown => t.no_difference,
        Verdict::NotEnough => t.not_enough,
        Verdict::Invalid => t.not_to_be_used,
    };
    vec![
        name.into(),
        three(of.a),
        three(of.b),
        change(of.ratio),
        interval,
        verdict.into(),
    ]
}

/// A ratio as a change in percent; a large one as a multiple.
pub(crate) fn change(ratio: f64) -> String {
    if ratio >= 10.0 {
        return format!("×{}", three(ratio));
    }
    let percent = format!("{:+.1}%", (ratio - 1.0) * 100.0);
    match percent.trim_start_matches(['+', '-']) {
        // Nothing has no direction.
        "0.0%" => "0.0%".into(),
        _ => percent.replace('-', "−"),
    }
}

/// The values that one side has of what differs: bytes with a unit.
pub(crate) fn listed(what: &str, values: &[String]) -> String {
    let shown = |value: &String| match (what.strip_prefix("setting "), value.parse()) {
        (Some(setting), _) => readable(setting, value),
        (None, Ok(memory)) if what == "client memory" => bytes(memory),
        _ => value.clone(),
    };
    match values {
        [] => "–".into(),
        values => values.iter().map(shown).collect::<Vec<_>>().join(", "),
    }
}

fn differences(comparison: &Comparison, lang: Lang) -> ReportTable {
    let t = texts::of(lang);
    let differences = comparison.differences.iter();
    ReportTable {
        title: t.differences,
        head: vec![t.what, t.a, t.b],
        rows: differences
            .map(|d| {
                let name = difference_name(&d.what, lang);
                vec![name, listed(&d.what, &d.a), listed(&d.what, &d.b)]
            })
            .collect(),
        says: String::new(),
        numbers: 0,
    }
}

/// Runs that must not be used, and what came of that.
fn unusable(comparison: &Comparison, t: &Texts) -> Vec<String> {
    let said = comparison.unusable.iter().map(|run| {
        let template = if run.left_out { t.left_out } else { t.no_other };
        let side = match run.side {
            Side::A => t.a,
            Side::B => t.b,
        };
        let rules = run.rules.join(", ");
        let values = [("run", run.run.as_str()), ("side", side), ("rules", &rules)];
        fill(template, &values)
    });
    said.collect()
}

fn judgements(comparison: &Comparison, judged: Judged<'_>, t: &Texts) -> Vec<String> {
    let said = |(limit, broken): &(RegressionLimit, bool)| {
        let template = match (broken, comparison.is_usable()) {
            (true, true) if !limit.can_judge(comparison) => t.unjudged,
            (true, true) => t.broken,
            (true, false) => t.broken_unusable,
            (false, _) => t.kept,
        };
        // With the sign of the figures beside it.
        let shown = limit.to_string().replace('-', "−");
        let said = fill(template, &[("limit", &shown)]);
        let said = decided_on(comparison, limit, said, t);
        // What is left out must not let a limit pass in silence.
        match comparison.left_out() {
            0 => said,
            count => {
                let runs = match count {
                    1 => t.runs_one.into(),
                    n => fill(t.runs_many, &[("count", &n.to_string())]),
                };
                fill(t.judged_without, &[("said", &said), ("runs", &runs)])
            }
        }
    };
    judged.iter().map(said).collect()
}

/// Says beside a judgement what it was made on.
fn decided_on(comparison: &Comparison, limit: &RegressionLimit, said: String, t: &Texts) -> String {
    let mut metrics = comparison.metrics.iter();
    let Some(of) = metrics.find(|m| m.metric == limit.metric()) else {
        return fill(t.on_nothing, &[("said", &said)]);
    };
    let template = match (of.verdict, comparison.basis) {
        // It is said already that nothing can be judged.
        (Verdict::Invalid, _) => return said,
        (Verdict::Faster | Verdict::Slower, _) => t.on_shown,
        (Verdict::NotEnough, _) => t.on_too_little,
        (Verdict::NoDifferenceShown, _) if of.is_too_wide() => t.on_too_wide,
        (Verdict::NoDifferenceShown, Basis::Repeats) => t.on_repeats,
        (Verdict::NoDifferenceShown, Basis::Intervals) => t.on_intervals,
    };
    let values = [
        ("said", &*said),
        ("change", &*change(of.ratio)),
        ("a", &*comparison.a.len().to_string()),
        ("b", &*comparison.b.len().to_string()),
    ];
    fill(template, &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_zero_has_none() {
        for (ratio, text) in [
            (1.05, "+5.0%"),
            (0.9, "−10.0%"),
            (1.0, "0.0%"),
            (0.9996, "0.0%"),
            (1.0004, "0.0%"),
            (0.999, "−0.1%"),
            (25.0, "×25.0"),
        ] {
            assert_eq!(change(ratio), text);
        }
    }
}
