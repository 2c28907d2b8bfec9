//! What limits each point of a workload, and where along the load that changes.

use super::cell::PointResults;
use super::labels::factor_name;
use super::matrix::{CurvePoint, LoadAxis, LoadCurve};
use super::scaling::is_users_in_closed_loop;
use super::texts::Texts;
use super::workload::MeasuredWorkload;
use crate::charts::{ChartFigure, Shade, Stack, StackChart};
use crate::diagnosis::shade;
use crate::document::{Block, Grid};
use crate::number::three;
use crate::texts::{diagnosis as words, fill};
use serde::Serialize;
use tidemark_diagnosis::{
    Agreed, Cause, Coherency, Diagnosis, LoadSeen, Part, PartKind, Split, WaitClass, Words,
    coherency, mean_split, stretches,
};

/// So many bars are told apart on one picture.
const MOST_BARS: usize = 16;
/// A part that is a smaller share of each mean has no column.
const LEAST: f64 = 0.02;

/// Loads in a row at which the same limits, for programs.
#[derive(Debug, Serialize)]
pub(super) struct Limited<'m> {
    cause: Cause,
    /// The first of the loads, as it is written.
    from: &'m str,
    /// The last.
    to: &'m str,
    /// The first, as a number.
    #[serde(skip)]
    load: f64,
}

/// The diagnoses of the runs that a point's figures are of.
fn diagnoses<'d>(point: &CurvePoint<'d>) -> Vec<&'d Diagnosis> {
    let figured = point.figured().into_iter();
    figured.filter_map(|run| run.diagnosis.as_ref()).collect()
}

/// What limits each point of a series, in their order.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// `None` of a point without a diagnosis.
    agreed: Vec<Option<Agreed>>,
    /// Of loads that are users in closed loop.
    coherency: Option<Coherency>,
}

impl Course {
    /// Points by themselves, and where throughput shows it, coherency.
    pub fn of(axis: Option<&LoadAxis>, series: &LoadCurve<'_>, cells: &[PointResults]) -> Self {
        let points = series.points.iter();
        let mut agreed: Vec<Option<Agreed>> =
            points.map(|point| Agreed::of(&diagnoses(point))).collect();
        let is_judged = agreed.iter().any(Option::is_some) && series.points.len() > 1;
        if !is_judged || !is_users_in_closed_loop(axis, series) {
            return Self {
                agreed,
                coherency: None,
            };
        }
        let points = series.points.iter().zip(cells).zip(&agreed);
        let loads: Vec<LoadSeen> = points
            .map(|((point, cell), agreed)| load_seen(point, cell, *agreed))
            .collect();
        let coherency = coherency(&loads);
        if let Coherency::Limits(found) = &coherency {
            for (at, of) in &found.loads {
                if let Some(point) = agreed.get_mut(*at) {
                    *point = Some(*of);
                }
            }
        }
        Self {
            agreed,
            coherency: Some(coherency),
        }
    }

    /// Where along the load the limit changes.
    pub fn stretches<'m>(&self, series: &'m LoadCurve<'_>) -> Vec<Limited<'m>> {
        let verdicts = self.agreed.iter().map(|of| of.map(|of| of.cause));
        let verdicts: Vec<Option<Cause>> = verdicts.collect();
        let load = |n: usize| series.points.get(n)?.load.as_ref();
        let found = stretches(&verdicts).into_iter().filter_map(|stretch| {
            let (first, from) = load(stretch.first)?;
            Some(Limited {
                cause: stretch.cause,
                from,
                to: &load(stretch.last)?.1,
                load: *first,
            })
        });
        found.collect()
    }

    /// What is needed to judge coherency, where it could not be.
    pub fn coherency_needs(&self) -> Option<&Words> {
        match &self.coherency {
            Some(Coherency::Skipped(needs)) => Some(needs),
            _ => None,
        }
    }

    /// What was seen of coherency.
    fn coherency_says(&self) -> Option<&Words> {
        match &self.coherency {
            Some(Coherency::Limits(found)) => Some(&found.sentence),
            _ => None,
        }
    }
}

fn load_seen(point: &CurvePoint<'_>, cell: &PointResults, agreed: Option<Agreed>) -> LoadSeen {
    let busy = diagnoses(point).into_iter().map(|d| d.server_busy);
    let busy: Option<Vec<f64>> = busy.collect();
    let repeats = cell.repeats.iter().filter(|_| cell.usable);
    LoadSeen {
        users: cell.users as f64,
        rates: repeats.map(|repeat| repeat.transactions_per_s).collect(),
        server_busy: busy.and_then(|all| all.into_iter().reduce(f64::max)),
        agreed,
    }
}

/// What limits a point, and where its mean latency passes.
struct PointLimit {
    label: String,
    agreed: Agreed,
    split: Option<Split>,
}

/// Of each point that has a diagnosis.
fn limits(m: &MeasuredWorkload<'_, '_>, courses: &[(&LoadCurve<'_>, Course)]) -> Vec<PointLimit> {
    let limits = courses.iter().flat_map(|(series, course)| {
        let points = series.points.iter().zip(&course.agreed);
        points.filter_map(move |(point, agreed)| {
            Some(PointLimit {
                label: m.label(series, point),
                agreed: (*agreed)?,
                split: mean_split(&diagnoses(point)),
            })
        })
    });
    limits.collect()
}

/// The course of each series.
fn courses<'m>(m: &MeasuredWorkload<'_, 'm>) -> Vec<(&'m LoadCurve<'m>, Course)> {
    let axis = m.workload.axis.as_ref();
    let of = |(series, cells)| (series, Course::of(axis, series, cells));
    m.series().map(of).collect()
}

/// Where each stretch but the first begins, with what limits from there.
pub(super) fn marks(
    series: &LoadCurve<'_>,
    m: &MeasuredWorkload<'_, '_>,
) -> Vec<(f64, &'static str)> {
    let mut all = m.series();
    let Some((_, cells)) = all.find(|(of, _)| std::ptr::eq(*of, series)) else {
        return Vec::new();
    };
    let course = Course::of(m.workload.axis.as_ref(), series, cells);
    let begins = course.stretches(series).into_iter().skip(1);
    let title = |of: Limited<'_>| (of.load, of.cause.title(m.s.lang.into()));
    begins.map(title).collect()
}

/// The course of a series in a sentence; `None` where nothing is known of it.
fn in_words(
    m: &MeasuredWorkload<'_, '_>,
    series: &LoadCurve<'_>,
    course: &Course,
) -> Option<String> {
    let (t, lang) = (m.s.t, m.s.lang.into());
    let axis = m.workload.axis.as_ref()?;
    let name = factor_name(t, &axis.name);
    let told = course.stretches(series).into_iter().map(|limited| {
        let values = [
            ("cause", limited.cause.title(lang)),
            ("load", name),
            ("from", limited.from),
            ("to", limited.to),
        ];
        match limited.from == limited.to {
            // One load has no course to name a place of.
            true if series.points.len() == 1 => fill(t.limited_alone, &values),
            true => fill(t.limited_at, &values),
            false => fill(t.limited_from_to, &values),
        }
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| {
        let values = [
            ("series", &*m.name(series)),
            ("told", &*told.join(t.semicolon)),
        ];
        fill(t.limited_course, &values)
    })
}

/// The part of a workload's section: the course of each series, a table, the split at each load.
pub(super) fn blocks(m: &MeasuredWorkload<'_, '_>) -> Vec<Block> {
    let t = m.s.t;
    let courses = courses(m);
    let limits = limits(m, &courses);
    if limits.is_empty() {
        return Vec::new();
    }
    if !limits.iter().any(PointLimit::is_known) {
        return vec![Block::Fine(t.limits_unknown.into())];
    }
    let kinds = kinds(&limits);
    let mut blocks = vec![Block::Heading(t.limits.into())];
    let told = courses.iter().flat_map(|(series, course)| {
        let coherency = course.coherency_says();
        let coherency = coherency.map(|says| said(m, series, says, t.limited_coherency));
        in_words(m, series, course).into_iter().chain(coherency)
    });
    let told: Vec<String> = told.collect();
    blocks.extend((!told.is_empty()).then_some(Block::List(told)));
    blocks.push(Block::Table(table(m, &limits, &kinds)));
    blocks.extend(courses.iter().filter_map(|(series, course)| {
        let needs = course.coherency_needs()?;
        Some(Block::Fine(said(m, series, needs, t.unjudged_coherency)))
    }));
    let figure = picture(m, &limits, &kinds);
    blocks.extend(figure.map(|figure| Block::Figures(vec![figure])));
    blocks
}

/// A sentence about a series.
fn said(m: &MeasuredWorkload<'_, '_>, series: &LoadCurve<'_>, says: &Words, text: &str) -> String {
    let lang = m.s.lang.into();
    let values = [
        ("series", &*m.name(series)),
        ("cause", Cause::Coherency.title(lang)),
        ("says", says.in_language(lang)),
    ];
    fill(text, &values)
}

impl PointLimit {
    fn is_known(&self) -> bool {
        self.agreed.cause != Cause::NotEnoughSeen
    }
}

/// A row a point: what limits it, how surely, and the parts of its mean latency.
fn table(m: &MeasuredWorkload<'_, '_>, limits: &[PointLimit], kinds: &[Part]) -> Grid {
    let (t, lang) = (m.s.t, m.s.lang);
    let words = words::of(lang);
    let mut head = vec![
        (t.series.to_string(), false),
        (t.limited_by.to_string(), false),
        (words.share.to_string(), true),
        (t.confidence.to_string(), false),
        (t.mean.to_string(), true),
    ];
    let titles = kinds.iter().map(|part| part.title(lang.into()));
    head.extend(titles.map(|title| (fill(m.s.common.in_ms, &[("what", title)]), true)));
    let mut grid = Grid::new(head);
    for limit in limits {
        let agreed = &limit.agreed;
        let mut row = vec![limit.label.clone(), cause_of(t, agreed, lang)];
        row.extend(match limit.is_known() {
            true => [
                format!("{:.0}%", agreed.share * 100.0),
                agreed.confidence.word(lang.into()).into(),
            ],
            false => ["–".into(), "–".into()],
        });
        let split = limit.split.as_ref();
        row.push(split.map_or("–".into(), |s| three(s.mean_ms)));
        let ms = |of: &Part| {
            let part = split.and_then(|split| part_of(split, of));
            part.map_or("–".into(), |part| three(part.ms))
        };
        row.extend(kinds.iter().map(ms));
        grid.rows.push(row);
    }
    grid.without_empty_columns()
}

/// A cause, with how many of the repeats have it where not all do.
pub(super) fn cause_of(t: &Texts, of: &Agreed, lang: crate::Lang) -> String {
    let cause = of.cause.title(lang.into());
    match of.repeats == of.of {
        true => cause.into(),
        false => {
            let (repeats, all) = (of.repeats.to_string(), of.of.to_string());
            let values = [("cause", cause), ("repeats", &repeats), ("all", &all)];
            fill(t.limited_some, &values)
        }
    }
}

fn part_of<'s>(split: &'s Split, of: &Part) -> Option<&'s Part> {
    let same = |p: &&Part| (p.part, p.class) == (of.part, of.class);
    split.parts.iter().find(same)
}

/// Every part that is worth a column at any point, in their order.
fn kinds(limits: &[PointLimit]) -> Vec<Part> {
    let mut kinds: Vec<Part> = Vec::new();
    for split in limits.iter().filter_map(|limit| limit.split.as_ref()) {
        let large = split.parts.iter().filter(|p| split.share(p.ms) >= LEAST);
        for part in large {
            let known = |k: &Part| (k.part, k.class) == (part.part, part.class);
            if !kinds.iter().any(known) {
                kinds.push(*part);
            }
        }
    }
    let order = |part: &Part| -> (PartKind, Option<WaitClass>) { (part.part, part.class) };
    kinds.sort_by_key(order);
    kinds
}

/// A bar a point, of the parts of its mean latency.
fn picture(
    m: &MeasuredWorkload<'_, '_>,
    limits: &[PointLimit],
    kinds: &[Part],
) -> Option<ChartFigure> {
    let (t, lang) = (m.s.t, m.s.lang);
    let words = words::of(lang);
    let mut key: Vec<(&'static str, Shade)> = Vec::new();
    for part in kinds {
        let shade = shade(part, &key);
        key.push((part.title(lang.into()), shade));
    }
    let (mut stacks, mut rows) = (Vec::new(), Vec::new());
    for limit in limits {
        let (label, Some(split)) = (&limit.label, &limit.split) else {
            continue;
        };
        let numbered = kinds.iter().enumerate();
        let parts = numbered.filter_map(|(n, of)| Some((n, part_of(split, of)?.ms)));
        let parts: Vec<(usize, f64)> = parts.collect();
        for (n, ms) in &parts {
            let name = key.get(*n).map_or("", |(name, _)| name);
            let share = format!("{:.1}%", split.share(*ms) * 100.0);
            rows.push(vec![label.clone(), name.into(), three(*ms), share]);
        }
        let values = [("of", label.as_str()), ("mean", &*three(split.mean_ms))];
        stacks.push(Stack {
            label: fill(words.bar, &values),
            parts,
        });
    }
    if stacks.len() > MOST_BARS {
        return None;
    }
    let named = key.into_iter().map(|(name, shade)| (name.into(), shade));
    StackChart {
        title: words.where_it_passes.into(),
        says: t.limits_picture_says.into(),
        stacks,
        key: named.collect(),
        head: [t.series, words.where_, words.ms, words.share]
            .map(String::from)
            .to_vec(),
        rows,
    }
    .figure()
}
