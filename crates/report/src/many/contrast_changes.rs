//! Why two values of a factor differ: what limits either, which parts of the latency changed, and what a
//! transaction costs.

use super::contrast::{Contrast, Pair, pair_label};
use super::document::Sources;
use super::limits::cause_of;
use crate::compare::{change, signed};
use crate::document::{Block, Grid};
use crate::number::three;
use crate::observed::said_of;
use crate::texts::{diagnosis as words, fill, observed};
use tidemark_diagnosis::Cause;

/// A cost that changed by less is what repeats differ by.
const COST_CHANGED: f64 = 0.05;

pub(super) fn blocks(s: &Sources<'_>, contrasts: &[&Contrast]) -> Vec<Block> {
    let t = s.t;
    let pairs = contrasts
        .iter()
        .flat_map(|c| c.pairs.iter().map(move |p| (*c, p)));
    let pairs: Vec<(&Contrast, &Pair)> = pairs.collect();
    let mut blocks = Vec::new();
    let limits: Vec<String> = pairs.iter().filter_map(|(c, p)| limits(s, c, p)).collect();
    let (parts, costs) = (parts(s, &pairs), costs(s, &pairs));
    let any_part = !parts.rows.is_empty();
    if any_part || !limits.is_empty() {
        blocks.push(Block::Heading(t.contrast_parts.into()));
    }
    blocks.extend((!limits.is_empty()).then_some(Block::List(limits)));
    blocks.extend(any_part.then_some(Block::Table(parts)));
    let title = observed::of(s.lang).costs.into();
    blocks.extend((!costs.rows.is_empty()).then(|| Block::Fold(title, vec![Block::Table(costs)])));
    blocks
}

/// What limits either side; `None` where that is not known of both.
fn limits(s: &Sources<'_>, c: &Contrast, pair: &Pair) -> Option<String> {
    let t = s.t;
    let (a, b) = (pair.bottleneck.a?, pair.bottleneck.b?);
    if [a.cause, b.cause].contains(&Cause::NotEnoughSeen) {
        return None;
    }
    let label = pair_label(s, c, pair);
    let (of_a, of_b) = (cause_of(t, &a, s.lang), cause_of(t, &b, s.lang));
    let template = match a.cause == b.cause {
        true => t.contrast_limit_same,
        false => t.contrast_limit,
    };
    let values = [
        ("pair", label.as_str()),
        ("a", &of_a),
        ("b", &of_b),
        ("of_a", &c.a),
        ("of_b", &c.b),
    ];
    Some(fill(template, &values))
}

/// The columns before the figures: which pair, and of several values which.
fn grid(s: &Sources<'_>, what: &str, head: &str) -> Grid {
    let t = s.t;
    let text = |head: &str| (head.to_string(), false);
    let number = |side: &str| (fill(head, &[("what", side)]), true);
    Grid::new([
        text(t.pair),
        text(what),
        number(t.a_side),
        number(t.b_side),
        (t.change.to_string(), true),
    ])
}

fn label(s: &Sources<'_>, c: &Contrast, pair: &Pair) -> String {
    let values = [
        ("text", &*pair_label(s, c, pair)),
        ("aside", &*format!("{} → {}", c.a, c.b)),
    ];
    fill(s.t.parenthesised, &values)
}

fn parts(s: &Sources<'_>, pairs: &[(&Contrast, &Pair)]) -> Grid {
    let mut grid = grid(s, words::of(s.lang).where_, s.common.in_ms);
    for (c, pair) in pairs {
        for of in &pair.bottleneck.parts {
            grid.rows.push(vec![
                label(s, c, pair),
                of.part().title(s.lang.into()).into(),
                three(of.a_ms),
                three(of.b_ms),
                signed(of.b_ms - of.a_ms),
            ]);
        }
    }
    grid
}

fn costs(s: &Sources<'_>, pairs: &[(&Contrast, &Pair)]) -> Grid {
    let o = observed::of(s.lang);
    let mut grid = grid(s, o.cost, "{what}");
    for (c, pair) in pairs {
        for cost in &pair.comparison.costs {
            let Some(ratio) = cost.ratio.filter(|r| (r - 1.0).abs() >= COST_CHANGED) else {
                continue;
            };
            let (called, a) = said_of(cost.kind, cost.a, o);
            let (_, b) = said_of(cost.kind, cost.b, o);
            let change = change(ratio);
            grid.rows
                .push(vec![label(s, c, pair), called.into(), a, b, change]);
        }
    }
    grid
}
