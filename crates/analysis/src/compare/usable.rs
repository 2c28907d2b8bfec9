//! Which runs of a group its figures are of: one with a finding that says not to use it is in none.

use super::ComparedRun;
use crate::concurrent_runs::together;
use crate::rules::overlap;
use crate::{Finding, Severity};
use serde::Serialize;
use std::borrow::Cow;

/// A side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first group.
    A,
    /// The second, which is compared with it.
    B,
}

/// A run with a finding that says not to use its figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unusable {
    /// The run's id.
    pub run: String,
    /// Its side.
    pub side: Side,
    /// The rules that say so.
    pub rules: Vec<&'static str>,
    /// Whether it is in no figure, because its side has others; where a side has no others, its
    /// figures are these, and every verdict is [`Verdict::Invalid`](super::Verdict::Invalid).
    pub left_out: bool,
}

/// The runs of a side, sorted.
pub(super) struct Sorted<'m> {
    /// Those that figures are of: that may be used, or all where none may. Clients of one load are
    /// one of them.
    pub figured: Vec<Cow<'m, ComparedRun>>,
    pub is_usable: bool,
    pub unusable: Vec<Unusable>,
}

impl<'m> Sorted<'m> {
    pub fn out(runs: &[&'m ComparedRun], side: Side) -> Self {
        let (mut usable, mut not) = (Vec::new(), Vec::new());
        let presences: Vec<_> = runs.iter().map(|run| run.presences.first()).collect();
        for group in together(&presences) {
            let group: Vec<&ComparedRun> = group
                .into_iter()
                .filter_map(|n| runs.get(n).copied())
                .collect();
            match group.as_slice() {
                [one] if one.invalid.is_empty() => usable.push(Cow::Borrowed(*one)),
                [one] => not.push((*one, one.invalid.clone())),
                several => match ComparedRun::of_clients(several) {
                    Some(load) => usable.push(Cow::Owned(load)),
                    None => not.extend(several.iter().map(|run| {
                        let rules = [run.invalid.as_slice(), &[overlap::ID]].concat();
                        (*run, rules)
                    })),
                },
            }
        }
        let is_usable = !usable.is_empty() || runs.is_empty();
        let unusable = not.iter().map(|(run, rules)| Unusable {
            run: run.ids.join(", "),
            side,
            rules: rules.clone(),
            left_out: is_usable,
        });
        Self {
            unusable: unusable.collect(),
            figured: match is_usable {
                true => usable,
                false => runs.iter().map(|run| Cow::Borrowed(*run)).collect(),
            },
            is_usable,
        }
    }
}

/// The runs that may be used as repeats of each other, clients of one load as one.
pub(crate) fn repeats<'m>(runs: &[&'m ComparedRun]) -> Vec<Cow<'m, ComparedRun>> {
    let sorted = Sorted::out(runs, Side::A);
    match sorted.is_usable {
        true => sorted.figured,
        false => Vec::new(),
    }
}

/// The rules that say not to use a run's figures.
pub(super) fn invalid_rules(found: &[Finding]) -> Vec<&'static str> {
    let invalid = found.iter().filter(|f| f.severity == Severity::Invalid);
    invalid.map(|f| f.rule).collect()
}
