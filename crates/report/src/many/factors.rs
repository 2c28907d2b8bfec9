//! What tells a run from the others of its workload: a study's factors, or the options that differ.

use super::digest::RunDigest;
use super::matrix::{RATES, USERS, number};
use super::server_labels::ServerLabels;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_analysis::Setup;
use tidemark_core::Source;

/// Options that are told otherwise, or that make no condition of their own: they tell runs apart only
/// where nothing else does.
const ASIDE: [&str; 8] = [
    "threads",
    "terminals",
    "connections",
    "rate",
    "time",
    "warmup",
    "warmup-time",
    "inject-rtt",
];
/// Options that differ between runs of no study are factors, so many at most.
const MOST_OPTIONS: usize = 3;

/// What a run has no value of.
const NONE: &str = "–";

type Factors = BTreeMap<String, String>;

/// Whether all runs are of the same execution of a study, whose factors tell them apart.
pub(super) fn all_of_one_study<'d>(runs: impl Iterator<Item = &'d RunDigest>) -> bool {
    let studies: BTreeSet<_> = runs.map(study_of).collect();
    studies.len() == 1 && !studies.contains(&None)
}

fn study_of(run: &RunDigest) -> Option<&String> {
    run.study.as_ref().map(|s| &s.study)
}

/// What tells each run from the others of its workload. Runs that have the same factors are repeats of
/// each other: everything that their jobs say is equal.
pub(super) fn factors<'d>(
    runs: &[&'d RunDigest],
    labels: ServerLabels,
) -> Vec<(&'d RunDigest, Factors)> {
    let mut placed = told(runs, labels);
    // Sorted by name: options before settings.
    for name in Setup::differing(runs.iter().map(|run| &run.setup)) {
        let told: BTreeMap<Factors, &str> = placed
            .iter()
            .map(|(run, f)| (f.clone(), fact(run, &name)))
            .collect();
        let is_told = |(run, f): &(&RunDigest, Factors)| told.get(f) == Some(&fact(run, &name));
        if placed.iter().all(is_told) {
            continue;
        }
        let factor = name.strip_prefix("option ").unwrap_or(&name);
        for (run, factors) in &mut placed {
            factors.insert(factor.into(), fact(run, &name).into());
        }
    }
    placed
}

fn fact<'d>(run: &'d RunDigest, name: &str) -> &'d str {
    run.setup.get(name).unwrap_or(NONE)
}

/// What people would name: a study's factors, or where and how much, and a few options.
fn told<'d>(runs: &[&'d RunDigest], labels: ServerLabels) -> Vec<(&'d RunDigest, Factors)> {
    let one_study = all_of_one_study(runs.iter().copied());
    let several = runs
        .iter()
        .map(|r| study_of(r))
        .collect::<BTreeSet<_>>()
        .len()
        > 1;
    let options = differing_options(runs);
    let users = match runs.iter().all(|r| r.terminals.is_some()) {
        true => "terminals",
        false => "threads",
    };
    let of = |run: &&'d RunDigest| {
        let mut factors = run
            .study
            .as_ref()
            .map_or(Factors::new(), |s| s.factors.clone());
        factors.remove("workload");
        let loads = loads_of(study_of(run), runs);
        if one_study {
            // A study may vary them under another name; a constant is dropped later.
            if loads.is_empty() && !factors.keys().any(|n| is_load(n)) && knows_users(run) {
                factors.insert(users.into(), run.users().to_string());
            }
            return (*run, factors);
        }
        // Beside others, its load has the name that theirs has.
        factors.retain(|name, _| !loads.contains(name));
        for (name, value) in own_factors(run, &options, labels) {
            factors.entry(name).or_insert(value);
        }
        if knows_users(run) {
            factors.insert(users.into(), run.users().to_string());
        }
        if let (true, Some(place)) = (several, &run.study) {
            let short: String = place.study.chars().take(13).collect();
            // A document has one study, and is its name.
            let named = match run.imported {
                Some(_) => place.name.clone(),
                None => format!("{} {short}", place.name),
            };
            factors.insert("study".into(), named);
        }
        (*run, factors)
    };
    runs.iter().map(of).collect()
}

/// Another tool may not have stated them.
fn knows_users(run: &RunDigest) -> bool {
    run.imported.is_none() || run.users() > 0
}

fn is_load(name: &str) -> bool {
    USERS.contains(&name) || RATES.contains(&name)
}

/// Factors of a study that are the load of each of its runs, whatever they are called; none of runs
/// of no study.
fn loads_of(study: Option<&String>, runs: &[&RunDigest]) -> BTreeSet<String> {
    let places = || {
        let of_it = runs
            .iter()
            .filter(|r| study.is_some() && study_of(r) == study);
        of_it.filter_map(|r| Some((*r, &r.study.as_ref()?.factors)))
    };
    let names: BTreeSet<&String> = places().flat_map(|(_, f)| f.keys()).collect();
    let values = |name: &String| -> Option<Vec<(&RunDigest, f64)>> {
        let each = places().map(|(run, f)| Some((run, number(f.get(name)?)?.0)));
        each.collect()
    };
    let is = |name: &&&String| {
        values(name).is_some_and(|of| {
            let users = of.iter().all(|(run, n)| run.users() as f64 == *n);
            let rate = of.iter().all(|(run, n)| run.rate == Some(*n));
            // Any factor may be 1 beside one user.
            let told = is_load(name) || of.iter().any(|(_, n)| *n > 1.0);
            told && (users || rate)
        })
    };
    names.iter().filter(is).map(|n| (*n).clone()).collect()
}

/// Of a run that stands beside others than its study's.
fn own_factors(run: &RunDigest, options: &[String], labels: ServerLabels) -> Factors {
    let mut factors = Factors::new();
    factors.insert("target".to_string(), labels.target(run));
    if let Some(rate) = run.rate {
        factors.insert("rate".into(), format!("{rate}"));
    }
    // None is a distance, too: it is what a run with one is compared with.
    factors.insert("rtt".into(), format!("{}ms", run.inject_rtt_ms));
    for name in options {
        let value = option(run, name).unwrap_or(NONE);
        factors.insert(name.clone(), value.into());
    }
    factors
}

/// An option's value, given or not; of clients of one load, those of all.
fn option<'d>(run: &'d RunDigest, name: &str) -> Option<&'d str> {
    run.setup.get(&format!("option {name}"))
}

/// Options that were given to some of these runs and are not the same in all.
fn differing_options(runs: &[&RunDigest]) -> Vec<String> {
    let all = runs.iter().flat_map(|r| r.options.iter());
    let given = all.filter(|(_, o)| o.source != Source::Default);
    let names: BTreeSet<&String> = given.map(|(n, _)| n).collect();
    let values = |name: &String| -> BTreeSet<Option<&str>> {
        runs.iter().map(|r| option(r, name)).collect()
    };
    let matters =
        |name: &str| !ASIDE.contains(&name) && runs.iter().any(|run| option(run, name).is_some());
    let differing = names
        .into_iter()
        .filter(|name| matters(name) && values(name).len() > 1);
    differing.take(MOST_OPTIONS).cloned().collect()
}
