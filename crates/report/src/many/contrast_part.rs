//! A factor's values beside its first: a table for each metric, what the rules say of the comparisons,
//! and what else was different.

use super::contrast::{Contrast, merged, pair_label};
use super::contrast_changes;
use super::document::{Sources, named, runs_said};
use super::headline;
use super::labels::factor_name;
use crate::compare::{difference_name, listed, values_of};
use crate::document::{Block, DocumentPart, Grid};
use crate::findings::finding_lines;
use crate::number::whole;
use crate::texts::fill;
use tidemark_analysis::compare::{Basis, Metric};

/// So many pairs are named beside a finding.
const NAMED: usize = 4;

/// A part for each factor.
pub(super) fn parts(s: &Sources<'_>, contrasts: &[Contrast]) -> Vec<DocumentPart> {
    let factors = headline::by_factor(contrasts).into_iter();
    factors.filter_map(|of| part(s, &of)).collect()
}

fn part(s: &Sources<'_>, contrasts: &[&Contrast]) -> Option<DocumentPart> {
    let first = contrasts.first()?;
    let t = s.t;
    let factor = factor_name(t, &first.factor);
    let values = [
        ("factor", factor),
        ("a", first.a.as_str()),
        ("b", first.b.as_str()),
    ];
    let title = match contrasts {
        [_] => fill(t.contrast, &values),
        _ => fill(t.contrast_all, &values),
    };
    let mut blocks = vec![Block::Say(headline::of(s, contrasts))];
    let pairs = || contrasts.iter().flat_map(|c| &c.pairs);
    for (metric, name) in [(Metric::Throughput, t.throughput), (Metric::P95, t.p95)] {
        if pairs().any(|p| p.metric(metric).is_some()) {
            blocks.push(Block::Heading(name.into()));
            blocks.push(Block::Table(table(s, contrasts, metric)));
        }
    }
    let repeats = pairs().all(|p| p.comparison.basis == Basis::Repeats);
    let basis = match repeats {
        true => t.contrast_repeats,
        false => t.contrast_intervals,
    };
    blocks.push(Block::Fine(basis.into()));
    let means = pairs().any(|p| p.comparison.a.len() > 1 || p.comparison.b.len() > 1);
    blocks.extend(means.then(|| Block::Fine(t.contrast_means.into())));
    let left_out = pairs().map(|p| p.comparison.left_out()).sum();
    if left_out > 0 {
        let values = [("runs", &*runs_said(t, left_out))];
        blocks.push(Block::Fine(fill(t.contrast_left_out, &values)));
    }
    blocks.extend(contrast_changes::blocks(s, contrasts));
    blocks.extend(found(s, contrasts));
    for c in contrasts {
        let title = match contrasts {
            [_] => t.else_differed.to_string(),
            _ => format!("{}{}{}", t.else_differed, s.common.colon, c.b),
        };
        blocks.extend(differences(s, c, title));
    }
    let mut told: Vec<String> = Vec::new();
    // What is the same for each value is said once.
    blocks.retain(|block| match block {
        Block::Fine(text) if told.contains(text) => false,
        Block::Fine(text) => {
            told.push(text.clone());
            true
        }
        _ => true,
    });
    Some(DocumentPart::new(title, blocks))
}

/// A table for each metric: all of them side by side are wider than a page.
fn table(s: &Sources<'_>, contrasts: &[&Contrast], metric: Metric) -> Grid {
    let t = s.t;
    let text = |head: &str| (head.to_string(), false);
    let number = |head: &str| (head.to_string(), true);
    let mut head = vec![text(t.pair)];
    match contrasts {
        [one] => head.extend([number(&one.a), number(&one.b)]),
        several => {
            let first = several.first();
            let factor = first.map_or("", |c| factor_name(t, &c.factor));
            let a = first.map_or("", |c| c.a.as_str());
            head.extend([text(factor), number(a), number(t.this_value)]);
        }
    }
    head.extend([number(t.change), number(t.interval), text(t.verdict)]);
    let mut grid = Grid::new(head);
    for c in contrasts {
        for pair in &c.pairs {
            let mut row = vec![pair_label(s, c, pair)];
            row.extend((contrasts.len() > 1).then(|| c.b.clone()));
            row.extend(match pair.metric(metric) {
                Some(compared) => values_of(compared, s.lang),
                None => vec!["–".to_string(); 5],
            });
            grid.rows.push(row);
        }
    }
    grid
}

/// What the rules say of comparisons, each finding once, with the pairs that it is in.
fn found(s: &Sources<'_>, contrasts: &[&Contrast]) -> Vec<Block> {
    let pairs = contrasts
        .iter()
        .flat_map(|c| c.pairs.iter().map(move |p| (c, p)));
    let pairs: Vec<_> = pairs.collect();
    let each = pairs.iter().enumerate().flat_map(|(n, (_, pair))| {
        let lines = finding_lines(&pair.comparison.findings, s.lang);
        let lines: Vec<String> = lines.lines().map(String::from).collect();
        lines.into_iter().map(move |line| (n, line))
    });
    let label = |n: &usize| {
        let (c, pair) = pairs[*n];
        let label = pair_label(s, c, pair);
        match contrasts {
            [_] => label,
            _ => [label, c.b.clone()].join(s.common.comma),
        }
    };
    let said = merged(each).into_iter().map(|(text, of)| {
        if of.len() == pairs.len() {
            return Block::Fine(text);
        }
        let labels: Vec<String> = of.iter().map(label).collect();
        let values = [
            ("text", text.as_str()),
            ("count", &*whole(of.len() as u64)),
            ("all", &*whole(pairs.len() as u64)),
            ("pairs", &*named(&labels, NAMED, s.t, s.t.semicolon)),
        ];
        Block::Fine(fill(s.t.in_pairs, &values))
    });
    said.collect()
}

fn differences(s: &Sources<'_>, c: &Contrast, title: String) -> Vec<Block> {
    let t = s.t;
    let not_compared = c.pairs.iter().any(|p| !p.comparison.settings_compared);
    if c.differences.is_empty() {
        let said = match not_compared {
            true => s.common.settings_not_compared,
            false => t.nothing_else,
        };
        return vec![Block::Fine(said.into())];
    }
    let mut heads = vec![t.item, c.a.as_str(), c.b.as_str()];
    // Of one pair there is nothing to tell apart.
    heads.extend((c.pairs.len() > 1).then_some(t.pairs_differ));
    let mut grid = Grid::new(heads.iter().map(|h| (h.to_string(), false)));
    let all = whole(c.pairs.len() as u64);
    let rows = c.differences.iter().map(|of| {
        let d = &of.difference;
        let pairs = if of.pairs.len() == c.pairs.len() {
            fill(t.every_pair, &[("all", &all)])
        } else {
            let pairs = of.pairs.iter().map(|n| pair_label(s, c, &c.pairs[*n]));
            named(&pairs.collect::<Vec<_>>(), NAMED, t, t.semicolon)
        };
        let mut row = vec![
            difference_name(&d.what, s.lang),
            listed(&d.what, &d.a),
            listed(&d.what, &d.b),
            pairs,
        ];
        row.truncate(heads.len());
        row
    });
    grid.rows = rows.collect();
    let mut told = vec![Block::Table(grid)];
    if not_compared {
        told.push(Block::Fine(s.common.settings_not_compared.into()));
    }
    vec![Block::Fold(title, told)]
}
