//! What the rules say of all runs together: each finding once, with the runs that it is in.

use super::digest::RunDigest;
use super::document::{Sources, named, runs_said};
use super::labels::run_label;
use super::missing::nothing_measured;
use crate::document::{Block, DocumentPart, Judged};
use crate::findings::Said;
use crate::texts::fill;
use std::collections::BTreeSet;
use tidemark_analysis::{Finding, Severity};

/// So many runs are named beside a finding.
const NAMED: usize = 8;

/// A rule with a severity, and the runs that it is in.
pub(super) struct Group<'m> {
    pub rule: &'static str,
    pub severity: Severity,
    pub found: Vec<(&'m RunDigest, &'m Finding)>,
}

/// The severest first, then what is in most runs.
pub(super) fn groups(runs: &[RunDigest]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in runs {
        for finding in &run.findings {
            let same =
                |g: &&mut Group<'_>| g.rule == finding.rule && g.severity == finding.severity;
            match groups.iter_mut().find(same) {
                Some(group) => group.found.push((run, finding)),
                None => groups.push(Group {
                    rule: finding.rule,
                    severity: finding.severity,
                    found: vec![(run, finding)],
                }),
            }
        }
    }
    groups.sort_by_key(|g| std::cmp::Reverse((g.severity, g.found.len())));
    groups
}

/// `None` where there is nothing to judge.
pub(super) fn part(s: &Sources<'_>) -> Option<DocumentPart> {
    let groups = groups(&s.many.runs);
    let judged: Vec<Judged> = groups.iter().map(|g| judged(s, g)).collect();
    let block = match judged.is_empty() {
        true if nothing_measured(s) => return None,
        true => Block::Say(s.t.no_findings.into()),
        false => Block::Findings(judged),
    };
    Some(DocumentPart::new(s.common.findings, vec![block]))
}

fn judged(s: &Sources<'_>, group: &Group<'_>) -> Judged {
    let labels: BTreeSet<String> = group
        .found
        .iter()
        .map(|(run, _)| run_label(s, run))
        .collect();
    let labels: Vec<String> = labels.into_iter().collect();
    let mut said = group
        .found
        .first()
        .map(|(_, finding)| Said::of(finding, s.lang))
        .unwrap_or_default();
    // Of one run its own sentence is enough; of several it is an example.
    if let (true, Some((run, _))) = (group.found.len() > 1, group.found.first()) {
        let values = [("run", &*run_label(s, run)), ("says", &*said.says)];
        said.says = fill(s.t.example, &values);
    }
    let runs = named(&labels, NAMED, s.t, s.common.comma);
    let count = runs_said(s.t, group.found.len());
    Judged {
        said,
        runs: fill(s.t.in_runs, &[("count", &count), ("runs", &runs)]),
    }
}
