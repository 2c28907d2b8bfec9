//! Runs that loaded one server at the same time.

use crate::compare::ComparedRun;
use crate::concurrent_runs::{are_one_load, common_share, together};
use crate::finding::finding;
use crate::texts::overlap::{
    ACROSS, ACROSS_INSTEAD, CLIENTS, CLIENTS_INSTEAD, PARTLY, PARTLY_INSTEAD, SIDES, UNUSABLE,
    UNUSABLE_INSTEAD,
};
use crate::{Figure, Finding, Presence, Severity};

pub(crate) const ID: &str = "overlap";

/// A run among others.
#[derive(Debug, Clone, Copy)]
pub struct Present<'p> {
    /// When and where its load was, if that is known.
    pub presence: Option<&'p Presence>,
    /// Runs of one load's setup ([`crate::Setup::of_load`]) have the same.
    pub setup: usize,
    /// Whether its figures may be used.
    pub usable: bool,
}

/// Of runs that stand in one document, each run's findings.
pub fn overlaps(runs: &[Present<'_>]) -> Vec<Vec<Finding>> {
    let mut found: Vec<Vec<Finding>> = vec![Vec::new(); runs.len()];
    let setups: std::collections::BTreeSet<usize> = runs.iter().map(|run| run.setup).collect();
    for setup in setups {
        let of_setup = |run: &Present<'_>| run.setup == setup;
        let own: Vec<_> = runs
            .iter()
            .map(|run| run.presence.filter(|_| of_setup(run)))
            .collect();
        for group in together(&own).into_iter().filter(|group| group.len() > 1) {
            let members: Vec<&Present<'_>> = group.iter().filter_map(|n| runs.get(*n)).collect();
            let finding = of_one_job(&members);
            group.iter().for_each(|n| found[*n].push(finding.clone()));
        }
    }
    for (n, run) in runs.iter().enumerate() {
        let overlaps = |other: &&Present<'_>| {
            let pair = run.presence.zip(other.presence);
            other.setup != run.setup && pair.is_some_and(|(a, b)| a.overlaps(b))
        };
        let others = runs.iter().filter(overlaps).count() as u64;
        if others > 0 {
            let figures = vec![("others", Figure::Count(others))];
            found[n].push(finding(
                ID,
                Severity::Suspect,
                ACROSS,
                ACROSS_INSTEAD,
                figures,
            ));
        }
    }
    found
}

fn of_one_job(members: &[&Present<'_>]) -> Finding {
    let presences: Vec<&Presence> = members.iter().filter_map(|m| m.presence).collect();
    let runs = ("runs", Figure::Count(members.len() as u64));
    if are_one_load(&presences) {
        return match members.iter().filter(|m| !m.usable).count() as u64 {
            0 => finding(ID, Severity::Note, CLIENTS, CLIENTS_INSTEAD, vec![runs]),
            n => {
                let figures = vec![runs, ("unusable", Figure::Count(n))];
                finding(ID, Severity::Invalid, UNUSABLE, UNUSABLE_INSTEAD, figures)
            }
        };
    }
    let share = ("share", Figure::Number(common_share(&presences) * 100.0));
    finding(
        ID,
        Severity::Invalid,
        PARTLY,
        PARTLY_INSTEAD,
        vec![runs, share],
    )
}

/// Of the sides of a comparison.
pub(super) fn of_groups(a: &[&ComparedRun], b: &[&ComparedRun]) -> Vec<Finding> {
    let mut found = Vec::new();
    for side in [a, b] {
        if let Some(clients) = side
            .iter()
            .map(|run| run.ids.len())
            .max()
            .filter(|n| *n > 1)
        {
            let figures = vec![("runs", Figure::Count(clients as u64))];
            found.push(finding(
                ID,
                Severity::Note,
                CLIENTS,
                CLIENTS_INSTEAD,
                figures,
            ));
            break;
        }
    }
    let presences = |side: &[&ComparedRun]| -> Vec<Presence> {
        let all = side.iter().flat_map(|run| run.presences.iter().cloned());
        all.collect()
    };
    let (of_a, of_b) = (presences(a), presences(b));
    if of_a.iter().any(|p| of_b.iter().any(|q| p.overlaps(q))) {
        found.push(finding(
            ID,
            Severity::Suspect,
            SIDES,
            ACROSS_INSTEAD,
            Vec::new(),
        ));
    }
    found
}
