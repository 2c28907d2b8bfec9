//! What a factor does, in one sentence: which value is faster, by how much, and how sure that is.

use super::contrast::{Contrast, Pair, most, ratios};
use super::document::Sources;
use super::labels::factor_value;
use super::texts::Texts;
use crate::compare::{change, needed_says, values_of};
use crate::number::whole;
use crate::texts::fill;
use tidemark_analysis::compare::{Compared, Metric, Verdict};

/// What becomes of one factor, told of each value beside the first; and what would show a difference
/// where none is shown.
pub(super) fn of(s: &Sources<'_>, contrasts: &[&Contrast]) -> String {
    let said = match contrasts {
        [one] => of_two(s, one),
        several => of_several(s, several),
    };
    let mut said: Vec<String> = said.into_iter().collect();
    let throughput = contrasts
        .iter()
        .filter(|c| c.metric() == Metric::Throughput);
    let needed = throughput.filter_map(|c| c.needed()).reduce(most);
    said.extend(needed.map(|needed| needed_says(needed, s.lang)));
    let pairs = || contrasts.iter().flat_map(|c| &c.pairs);
    let unusable = pairs().filter(|p| !p.comparison.is_usable()).count();
    let all = pairs().count();
    if unusable > 0 && unusable < all {
        let values = [
            ("n", &*whole(unusable as u64)),
            ("all", &*whole(all as u64)),
        ];
        said.push(fill(s.t.contrast_unusable, &values));
    }
    said.join(s.common.gap)
}

/// The contrasts of each factor.
pub(super) fn by_factor(contrasts: &[Contrast]) -> Vec<Vec<&Contrast>> {
    let mut factors: Vec<Vec<&Contrast>> = Vec::new();
    for contrast in contrasts {
        match factors.last_mut() {
            Some(of) if of.iter().all(|c| c.factor == contrast.factor) => of.push(contrast),
            _ => factors.push(vec![contrast]),
        }
    }
    factors
}

fn of_two(s: &Sources<'_>, c: &Contrast) -> Option<String> {
    let a = factor_value(s.t, &c.factor, &c.a);
    let b = factor_value(s.t, &c.factor, &c.b);
    let ends = [("a", a.as_str()), ("b", b.as_str())];
    if c.usable().next().is_none() {
        let pairs = whole(c.pairs.len() as u64);
        let values = [ends.as_slice(), &[("all", &*pairs)]].concat();
        return Some(fill(s.t.contrast_none, &values));
    }
    let said = match c.pairs.as_slice() {
        [one] => of_pair(s, one, c.metric())?,
        _ => counts(s, c)?,
    };
    let values = [ends.as_slice(), &[("said", &*said)]].concat();
    Some(fill(s.t.contrast_head, &values))
}

/// Of the only pair: the change, its interval and both figures.
fn of_pair(s: &Sources<'_>, pair: &Pair, metric: Metric) -> Option<String> {
    let t = s.t;
    let of = pair.metric(metric)?;
    let template = match (metric, of.verdict) {
        (_, Verdict::Invalid) => return None,
        (Metric::Throughput, Verdict::Faster) => t.contrast_one_faster,
        (Metric::Throughput, Verdict::Slower) => t.contrast_one_slower,
        (Metric::Throughput, Verdict::NoDifferenceShown) => t.contrast_one_same,
        (Metric::Throughput, Verdict::NotEnough) => t.contrast_one_unknown,
        (_, Verdict::Faster) => t.contrast_one_faster_p95,
        (_, Verdict::Slower) => t.contrast_one_slower_p95,
        (_, Verdict::NoDifferenceShown) => t.contrast_one_same_p95,
        (_, Verdict::NotEnough) => t.contrast_one_unknown_p95,
    };
    let mut said = filled(s, template, of);
    let p95 = pair.metric(Metric::P95).filter(|_| metric != Metric::P95);
    if let Some(p95) = p95 {
        let template = match p95.verdict {
            Verdict::Faster | Verdict::Slower => t.contrast_and_p95,
            Verdict::NoDifferenceShown => t.contrast_and_p95_same,
            Verdict::NotEnough | Verdict::Invalid => "",
        };
        said += &filled(s, template, p95);
    }
    Some(said)
}

fn filled(s: &Sources<'_>, template: &str, of: &Compared) -> String {
    let words = values_of(of, s.lang);
    let word = |n: usize| words.get(n).map_or("–", String::as_str);
    let values = [
        ("from", word(0)),
        ("to", word(1)),
        ("change", word(2)),
        ("interval", word(3)),
    ];
    fill(template, &values)
}

/// In how many pairs, and by how much there.
fn counts(s: &Sources<'_>, c: &Contrast) -> Option<String> {
    let (t, metric) = (s.t, c.metric());
    let all = whole(c.usable().count() as u64);
    let (faster, slower) = match metric {
        Metric::Throughput => (t.contrast_faster, t.contrast_slower),
        _ => (t.contrast_faster_p95, t.contrast_slower_p95),
    };
    let said = [
        (Verdict::Faster, faster),
        (Verdict::Slower, slower),
        (Verdict::NoDifferenceShown, t.contrast_same),
        (Verdict::NotEnough, t.contrast_unknown),
    ]
    .into_iter()
    .filter_map(|(verdict, template)| {
        let ratios = ratios(c, metric, &[verdict]);
        let values = [
            ("n", &*whole(ratios.len() as u64)),
            ("all", &*all),
            ("range", &*range(t, &ratios)?),
        ];
        Some(fill(template, &values))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join(s.common.comma))
}

/// From the least to the most; `None` of none.
fn range(t: &Texts, ratios: &[f64]) -> Option<String> {
    let low = change(ratios.iter().copied().reduce(f64::min)?);
    let high = change(ratios.iter().copied().reduce(f64::max)?);
    Some(match low == high {
        true => low,
        false => fill(t.range, &[("low", &low), ("high", &high)]),
    })
}

/// Of three values and more: each beside the first, in a few words.
fn of_several(s: &Sources<'_>, contrasts: &[&Contrast]) -> Option<String> {
    let t = s.t;
    let first = contrasts.first()?;
    let latency = contrasts.iter().all(|c| c.metric() == Metric::P95);
    let metric = if latency {
        Metric::P95
    } else {
        Metric::Throughput
    };
    let said: Vec<String> = contrasts.iter().map(|c| of_value(s, c, metric)).collect();
    let a = factor_value(t, &first.factor, &first.a);
    let values = [("a", &*a), ("said", &*said.join(t.semicolon))];
    Some(fill(
        match metric {
            Metric::Throughput => t.contrast_each,
            _ => t.contrast_each_p95,
        },
        &values,
    ))
}

fn of_value(s: &Sources<'_>, c: &Contrast, metric: Metric) -> String {
    let t = s.t;
    let b = ("b", c.b.as_str());
    let all = ratios(
        c,
        metric,
        &[
            Verdict::Faster,
            Verdict::Slower,
            Verdict::NoDifferenceShown,
            Verdict::NotEnough,
        ],
    );
    let Some(range) = range(t, &all) else {
        return fill(t.contrast_each_invalid, &[b]);
    };
    if let [pair] = c.pairs.as_slice()
        && let Some(of) = pair.metric(metric)
    {
        let template = match of.verdict {
            Verdict::Faster | Verdict::Slower => t.contrast_each_shown,
            Verdict::NoDifferenceShown => t.contrast_each_same,
            Verdict::NotEnough | Verdict::Invalid => t.contrast_each_unknown,
        };
        let words = values_of(of, s.lang);
        let interval = words.get(3).map_or("–", String::as_str);
        let values = [b, ("change", &*range), ("interval", interval)];
        return fill(template, &values);
    }
    if ratios(c, metric, &[Verdict::NotEnough]).len() == all.len() {
        return fill(t.contrast_each_unknown, &[b, ("change", &*range)]);
    }
    let shown = ratios(c, metric, &[Verdict::Faster, Verdict::Slower]).len();
    let values = [
        b,
        ("range", &*range),
        ("n", &*whole(shown as u64)),
        ("all", &*whole(all.len() as u64)),
    ];
    fill(t.contrast_each_pairs, &values)
}
