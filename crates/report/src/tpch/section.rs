//! TPC-H's results in words, the same in every form of report and after a run.

use super::figures::{NoMetric, TpchResults};
use super::texts::{self, Texts};
use crate::load::option;
use crate::number::{three, whole};
use crate::report_table::ReportTable;
use crate::section::WorkloadSection;
use crate::texts::{Lang, fill};
use std::collections::BTreeMap;
use tidemark_core::record::{AnswerVerdict, QueryOutcome, QueryRun, RunRecord};

/// The results as text, for after the lines of a run; empty for one without queries.
pub fn results(record: &RunRecord, lang: Lang) -> String {
    section(record, lang).map_or_else(String::new, |s| s.text(lang))
}

/// What the run came to, in one sentence: its template and the values in it. `None` without queries.
pub(crate) fn headline(
    record: &RunRecord,
    t: &crate::texts::Texts,
) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    let figures = TpchResults::of(record)?;
    let done = record
        .queries
        .iter()
        .filter(|q| q.outcome == QueryOutcome::Done);
    let count = ("count", whole(done.count() as u64));
    let seconds = ("seconds", three(record.totals.elapsed_s));
    Some(match figures.composite() {
        Ok(composite) => (
            t.headline_composite,
            vec![("qphh", three(composite)), count, seconds],
        ),
        Err(_) => (t.headline_queries, vec![count, seconds]),
    })
}

/// `None` for a run without queries.
pub(crate) fn section(record: &RunRecord, lang: Lang) -> Option<WorkloadSection> {
    let figures = TpchResults::of(record)?;
    let t = texts::of(lang);
    let mut sentences = problems(record, t);
    if figures.power != Err(NoMetric::NotTested) || figures.throughput != Err(NoMetric::NotTested) {
        sentences.push(t.not_audited.into());
    }
    Some(WorkloadSection {
        title: t.title,
        sentences,
        facts: facts(&figures, record, t),
        types: queries(record, t),
        texts: plans(record, t),
    })
}

fn facts(f: &TpchResults, record: &RunRecord, t: &'static Texts) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    match f.composite() {
        Ok(composite) => {
            let values = [("value", &*three(composite)), ("size", &*size(f.scale))];
            facts.push((t.composite, fill(t.composite_says, &values)));
        }
        Err(NoMetric::TooFewStreams(least)) => {
            facts.push((t.composite, too_few(f.streams, least, t)));
        }
        // What is missing stands beside power or throughput.
        Err(_) => {}
    }
    let metric = |metric: &Result<f64, NoMetric>| match metric {
        Ok(value) => Some(fill(
            t.metric_says,
            &[("value", &three(*value)), ("size", &size(f.scale))],
        )),
        Err(NoMetric::NotTested) => None,
        Err(NoMetric::NoRefresh) => Some(t.no_refresh.into()),
        Err(NoMetric::Missing(what)) => Some(fill(t.missing, &[("what", &listed(what, t))])),
        Err(NoMetric::TooFewStreams(least)) => Some(too_few(f.streams, *least, t)),
    };
    facts.extend(metric(&f.power).map(|said| (t.power, said)));
    facts.extend(metric(&f.throughput).map(|said| (t.throughput, said)));
    if f.throughput.is_ok() {
        let values = [
            ("streams", &*whole(f.streams as u64)),
            ("seconds", &*three(f.throughput_s)),
        ];
        facts.push((t.streams, fill(t.streams_says, &values)));
    }
    let scale = fill(t.scale_says, &[("scale", &f.scale.to_string())]);
    facts.push((t.scale, scale));
    facts.push((
        t.parameters,
        match record.seed {
            0 => t.validation.into(),
            seed => fill(t.drawn, &[("seed", &seed.to_string())]),
        },
    ));
    facts.push((t.answers, answers(record, t)));
    if let Some(limit) = option(record, "query-timeout").filter(|l| *l != "0s") {
        let over = |q: &&QueryRun| q.outcome == QueryOutcome::TimedOut;
        let over = record.queries.iter().filter(over).count();
        let values = [("limit", limit), ("count", &*whole(over as u64))];
        facts.push((t.limit, fill(t.limit_says, &values)));
    }
    facts
}

fn too_few(streams: usize, least: usize, t: &Texts) -> String {
    let values = [
        ("streams", &*whole(streams as u64)),
        ("least", &*whole(least as u64)),
    ];
    fill(t.too_few, &values)
}

/// As the metrics are written: `QphH@1GB`, `QphH@0.1GB`.
fn size(scale: f64) -> String {
    format!("{scale}GB")
}

/// The first few names.
fn listed(names: &[String], t: &Texts) -> String {
    const SHOWN: usize = 6;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    let mut text = shown.join(t.comma);
    if names.len() > SHOWN {
        text += t.and_more;
    }
    text
}

/// How many answers were right, wrong and not compared.
fn counts<'a>(queries: impl Iterator<Item = &'a QueryRun>) -> [u64; 3] {
    let mut counts = [0; 3];
    for query in queries.filter(|q| q.outcome == QueryOutcome::Done && q.name.starts_with('Q')) {
        counts[match query.answer {
            AnswerVerdict::Right => 0,
            AnswerVerdict::Wrong(_) => 1,
            AnswerVerdict::Unchecked => 2,
        }] += 1;
    }
    counts
}

fn answers(record: &RunRecord, t: &Texts) -> String {
    let [right, wrong, unchecked] = counts(record.queries.iter());
    if right + wrong == 0 {
        return t.unchecked_all.into();
    }
    let values = [
        ("right", &*whole(right)),
        ("wrong", &*whole(wrong)),
        ("unchecked", &*whole(unchecked)),
    ];
    fill(t.answers_says, &values)
}

/// A sentence for each query that went wrong.
fn problems(record: &RunRecord, t: &Texts) -> Vec<String> {
    let sentence = |q: &QueryRun| {
        let (template, why) = match (&q.outcome, &q.answer) {
            (QueryOutcome::TimedOut, _) => (t.timed_out, String::new()),
            (QueryOutcome::Failed(why), _) => (t.failed, why.clone()),
            (_, AnswerVerdict::Wrong(difference)) => (t.wrong, difference.clone()),
            _ => return None,
        };
        let values = [
            ("query", &*q.name),
            ("stream", &*q.stream.to_string()),
            ("seconds", &*three(q.took_ms / 1000.0)),
            ("why", &*why),
        ];
        Some(fill(template, &values))
    };
    record.queries.iter().filter_map(sentence).collect()
}

/// Plans of the queries that went wrong: what somebody will want to see first.
fn plans(record: &RunRecord, t: &Texts) -> Vec<(String, String)> {
    let troubled = |name: &str| {
        record.queries.iter().any(|q| {
            let wrong = matches!(q.answer, AnswerVerdict::Wrong(_));
            q.name == name && (q.outcome != QueryOutcome::Done || wrong)
        })
    };
    let plans = record.plans.iter().filter(|(name, _)| troubled(name));
    plans
        .map(|(name, plan)| (fill(t.plan_of, &[("query", name)]), plan.clone()))
        .collect()
}

/// Names in the order of their numbers, refresh functions last.
fn place(name: &str) -> (bool, u32) {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    (!name.starts_with('Q'), digits.parse().unwrap_or(u32::MAX))
}

fn queries(record: &RunRecord, t: &'static Texts) -> ReportTable {
    let mut by_name: BTreeMap<(bool, u32), Vec<&QueryRun>> = BTreeMap::new();
    for query in &record.queries {
        by_name.entry(place(&query.name)).or_default().push(query);
    }
    ReportTable {
        title: t.queries,
        says: String::new(),
        head: vec![
            t.query, t.times, t.mean, t.fastest, t.slowest, t.rows, t.verdict,
        ],
        rows: by_name.values().map(|runs| row(runs, t)).collect(),
        numbers: 5,
    }
}

fn row(runs: &[&QueryRun], t: &Texts) -> Vec<String> {
    let done = || runs.iter().filter(|q| q.outcome == QueryOutcome::Done);
    let seconds: Vec<f64> = done().map(|q| q.took_ms / 1000.0).collect();
    let figure = |value: f64| {
        if seconds.is_empty() {
            "–".into()
        } else {
            three(value)
        }
    };
    let count = |wanted: fn(&QueryOutcome) -> bool| {
        runs.iter().filter(|q| wanted(&q.outcome)).count() as u64
    };
    let [right, wrong, _] = counts(runs.iter().copied());
    let parts = [
        (right, t.right),
        (wrong, t.wrong_short),
        (count(|o| *o == QueryOutcome::TimedOut), t.timed_out_short),
        (
            count(|o| matches!(o, QueryOutcome::Failed(_))),
            t.failed_short,
        ),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| match (runs.len(), n) {
            (1, _) => word.to_string(),
            _ => format!("{word} × {n}"),
        })
        .collect();
    let verdict = if parts.is_empty() {
        "–".into()
    } else {
        parts.join(t.comma)
    };
    vec![
        runs.first().map_or("", |q| &q.name).to_string(),
        whole(runs.len() as u64),
        figure(seconds.iter().sum::<f64>() / seconds.len().max(1) as f64),
        figure(seconds.iter().copied().fold(f64::MAX, f64::min)),
        figure(seconds.iter().copied().fold(0.0, f64::max)),
        done().map(|q| q.rows).max().map_or("–".into(), whole),
        verdict,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_stand_in_the_order_of_their_numbers() {
        let mut names = ["RF1", "Q10", "Q2", "RF2", "Q1"];
        names.sort_by_key(|name| place(name));
        assert_eq!(names, ["Q1", "Q2", "Q10", "RF1", "RF2"]);
    }
}
