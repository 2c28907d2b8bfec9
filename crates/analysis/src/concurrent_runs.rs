//! Runs that loaded one server at the same time: clients of one load, or in each other's way, and
//! never repeats of each other.

use crate::setup::hosts;
use crate::thresholds::{OVERLAPS, OVERLAPS_WHOLLY};
use jiff::Timestamp;
use tidemark_core::record::RunRecord;

/// When and where a run's load was.
#[derive(Debug, Clone, PartialEq)]
pub struct Presence {
    /// From and to, in milliseconds since 1970, warm-up included.
    span: (f64, f64),
    hosts: Vec<String>,
}

impl Presence {
    /// Of a record; `None` where it does not say when it was, or for how long.
    pub fn of(run: &RunRecord) -> Option<Self> {
        // A document that has clients of one test one by one says it, and not when they ran.
        if let Some(imported) = &run.imported {
            let test = imported.test.as_ref()?;
            return Some(Self {
                span: (0.0, 1.0),
                hosts: vec![format!("{} {test}", imported.file)],
            });
        }
        // Before the load began, its sessions were opened: an older record's end is told too early,
        // and no run that followed it seems to overlap it.
        let began = run.load_began_at.as_ref().unwrap_or(&run.started_at);
        let from = began.parse::<Timestamp>().ok()?.as_millisecond() as f64;
        let first = run.intervals.first().map_or(0.0, |i| i.start_ms as f64);
        let ends = run
            .intervals
            .iter()
            .map(|i| i.start_ms as f64 + i.length_ms);
        let last = ends.fold(run.totals.elapsed_s * 1000.0, f64::max);
        let length = last - first.min(0.0);
        (length > 0.0).then(|| Self {
            span: (from, from + length),
            hosts: hosts(run),
        })
    }

    fn length(&self) -> f64 {
        self.span.1 - self.span.0
    }

    fn shared(&self, other: &Self) -> f64 {
        (self.span.1.min(other.span.1) - self.span.0.max(other.span.0)).max(0.0)
    }

    /// Whether both loaded one server at the same time, by more than clocks and ends of runs explain.
    pub fn overlaps(&self, other: &Self) -> bool {
        let shorter = self.length().min(other.length());
        self.shared(other) > shorter * OVERLAPS
            && self.hosts.iter().any(|host| other.hosts.contains(host))
    }
}

/// Sorts runs into those that overlapped, directly or by others; one that overlapped none is a group
/// of its own. Groups, and runs in them, are in the order given.
pub fn together(runs: &[Option<&Presence>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (n, run) in runs.iter().enumerate() {
        let overlaps = |group: &Vec<usize>| {
            let mut others = group
                .iter()
                .filter_map(|at| runs.get(*at).copied().flatten());
            run.is_some_and(|run| others.any(|other| run.overlaps(other)))
        };
        let (with, mut without): (Vec<_>, Vec<_>) = groups.into_iter().partition(overlaps);
        let mut one: Vec<usize> = with.into_iter().flatten().collect();
        one.push(n);
        one.sort_unstable();
        without.push(one);
        groups = without;
    }
    groups.sort_by_key(|group| group.first().copied());
    groups
}

/// The share of the time in which any of them ran in which all did. Only where it is nearly all of
/// it ([`are_one_load`]) do their rates have a sum.
pub fn common_share(runs: &[&Presence]) -> f64 {
    let from = |pick: fn(f64, f64) -> f64| runs.iter().map(|p| p.span.0).reduce(pick);
    let to = |pick: fn(f64, f64) -> f64| runs.iter().map(|p| p.span.1).reduce(pick);
    let (Some(first), Some(begun)) = (from(f64::min), from(f64::max)) else {
        return 0.0;
    };
    let (Some(ended), Some(last)) = (to(f64::min), to(f64::max)) else {
        return 0.0;
    };
    ((ended - begun) / (last - first)).max(0.0)
}

/// Whether runs that overlapped are clients of one load, whose rates and counts can be added.
pub fn are_one_load(runs: &[&Presence]) -> bool {
    common_share(runs) >= OVERLAPS_WHOLLY
}

/// What runs of one time are to each other, with their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Load {
    /// One run, alone.
    Run(usize),
    /// Clients of one load.
    Clients(Vec<usize>),
    /// They overlapped in part, and were in each other's way.
    Disturbed(Vec<usize>),
}

/// The loads that runs made, in the order of their first runs.
pub fn loads(runs: &[Option<&Presence>]) -> Vec<Load> {
    let groups = together(runs).into_iter();
    let load = groups.map(|group| {
        let presences = group.iter().filter_map(|n| runs.get(*n).copied().flatten());
        match group.as_slice() {
            [one] => Load::Run(*one),
            _ if are_one_load(&presences.collect::<Vec<_>>()) => Load::Clients(group),
            _ => Load::Disturbed(group),
        }
    });
    load.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(from: f64, to: f64, host: &str) -> Presence {
        Presence {
            span: (from * 1000.0, to * 1000.0),
            hosts: vec![host.into()],
        }
    }

    fn groups(runs: &[Presence]) -> Vec<Vec<usize>> {
        together(&runs.iter().map(Some).collect::<Vec<_>>())
    }

    #[test]
    fn documents_say_which_runs_were_at_one_time() {
        let run = |test: Option<&str>| RunRecord {
            started_at: "2026-11-21T00:00:00Z".into(),
            target: "results.md:9".into(),
            imported: Some(tidemark_core::record::Imported {
                test: test.map(String::from),
                ..Default::default()
            }),
            totals: tidemark_core::record::Totals {
                elapsed_s: 1.0,
                ..Default::default()
            },
            ..RunRecord::default()
        };
        assert_eq!(Presence::of(&run(None)), None);
        let both = [run(Some("a")), run(Some("a")), run(Some("b"))];
        let presences: Vec<_> = both.iter().map(Presence::of).collect();
        let presences: Vec<_> = presences.iter().map(Option::as_ref).collect();
        assert_eq!(together(&presences), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn runs_one_after_the_other_are_apart() {
        let runs = [
            run(0.0, 10.0, "a"),
            run(10.0, 20.0, "a"),
            run(19.9, 30.0, "a"),
            run(0.0, 30.0, "b"),
        ];
        assert_eq!(groups(&runs), [[0], [1], [2], [3]]);
        assert_eq!(together(&[None, None]), [[0], [1]]);
    }

    #[test]
    fn runs_at_one_time_are_together_and_have_a_sum_where_all_of_it_is_common() {
        let runs = [
            run(0.0, 10.0, "a"),
            run(50.0, 60.0, "a"),
            run(0.2, 10.2, "a"),
            run(9.0, 19.0, "a"),
        ];
        assert_eq!(groups(&runs), [vec![0, 2, 3], vec![1]]);
        let of = |at: &[usize]| -> Vec<&Presence> { at.iter().map(|n| &runs[*n]).collect() };
        assert!(are_one_load(&of(&[0, 2])));
        assert!(!are_one_load(&of(&[0, 2, 3])));
        assert!(!are_one_load(&of(&[0, 1])));
    }
}
