//! The matrix: targets × workloads × factors × load levels.

use crate::file::{Factor, FactorValue, Levels, Study, StudyWorkload};
use std::collections::BTreeMap;

/// One load level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadLevel {
    /// What sessions or users are called: `threads` or `terminals`.
    pub word: &'static str,
    /// How many.
    pub threads: u64,
    /// Arrivals a second; `None` is as replies come.
    pub rate: Option<f64>,
    /// Sessions that they share; `None` is one for each.
    pub connections: Option<u64>,
}

/// One cell: everything that a run is made with, but for the repeat.
#[derive(Debug, Clone)]
pub struct MatrixCell<'s> {
    /// Its readable key, unique in the study and the same as long as its parts are.
    pub key: String,
    /// What tells it from others, by factor.
    pub factors: BTreeMap<String, String>,
    /// Index of its target in [`Study::targets`]; `None` when a factor names it.
    pub target: Option<usize>,
    /// Its workload.
    pub workload: &'s StudyWorkload,
    /// Its load level.
    pub level: LoadLevel,
    /// The values of the factors that are for its workload.
    pub values: Vec<(&'s Factor, &'s FactorValue)>,
}

impl LoadLevel {
    /// Every combination of what is given.
    fn all(levels: &Levels) -> Vec<LoadLevel> {
        let options = |given: &[f64]| -> Vec<Option<f64>> {
            match given {
                [] => vec![None],
                given => given.iter().copied().map(Some).collect(),
            }
        };
        let connections: Vec<Option<u64>> = match levels.connections.as_slice() {
            [] => vec![None],
            given => given.iter().copied().map(Some).collect(),
        };
        let mut all = Vec::new();
        for connections in &connections {
            for rate in options(&levels.rates) {
                for threads in &levels.threads {
                    all.push(LoadLevel {
                        word: levels.word,
                        threads: *threads,
                        rate,
                        connections: *connections,
                    });
                }
            }
        }
        all
    }
}

/// How many runs a study has, without making its matrix, which may be huge by a slip.
pub(crate) fn runs(study: &Study) -> u64 {
    let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX).max(1);
    let of_workload = |workload: &StudyWorkload| {
        let levels = workload.load.as_ref().unwrap_or(&study.load);
        let levels = [
            levels.threads.len(),
            levels.rates.len(),
            levels.connections.len(),
        ];
        let factors = study.factors.iter().filter(|f| is_for(f, workload));
        let lengths = levels.into_iter().chain(factors.map(|f| f.values.len()));
        lengths.fold(1, |all: u64, length| all.saturating_mul(count(length)))
    };
    let cells = study.workloads.iter().map(of_workload);
    let cells = cells.fold(0, u64::saturating_add);
    let cells = cells.saturating_mul(count(study.targets.len()));
    cells.saturating_mul(u64::from(study.repeats))
}

fn is_for(factor: &Factor, workload: &StudyWorkload) -> bool {
    factor.workloads.is_empty() || factor.workloads.contains(&workload.label)
}

/// Every cell, in the order of the file: targets, then workloads, then factors, then load levels.
pub(crate) fn cells(study: &Study) -> Vec<MatrixCell<'_>> {
    let targets: Vec<Option<usize>> = match study.targets.len() {
        0 => vec![None],
        count => (0..count).map(Some).collect(),
    };
    let mut cells = Vec::new();
    for target in &targets {
        for workload in &study.workloads {
            let levels = workload.load.as_ref().unwrap_or(&study.load);
            for values in combinations(study, workload) {
                for level in LoadLevel::all(levels) {
                    cells.push(cell(study, *target, workload, &values, level));
                }
            }
        }
    }
    cells
}

/// Every combination of the values of the factors that are for a workload, the last factor changing
/// first.
fn combinations<'s>(
    study: &'s Study,
    workload: &StudyWorkload,
) -> Vec<Vec<(&'s Factor, &'s FactorValue)>> {
    let mut all = vec![Vec::new()];
    for factor in study.factors.iter().filter(|f| is_for(f, workload)) {
        all = all
            .into_iter()
            .flat_map(|before: Vec<(&Factor, &FactorValue)>| {
                factor.values.iter().map(move |value| {
                    let mut with = before.clone();
                    with.push((factor, value));
                    with
                })
            })
            .collect();
    }
    all
}

fn cell<'s>(
    study: &'s Study,
    target: Option<usize>,
    workload: &'s StudyWorkload,
    values: &[(&'s Factor, &'s FactorValue)],
    level: LoadLevel,
) -> MatrixCell<'s> {
    let name = target
        .and_then(|t| study.targets.get(t))
        .map(|t| t.name.as_str());
    let mut key: Vec<String> = Vec::new();
    let mut factors = BTreeMap::new();
    if let Some(name) = name {
        key.push(name.into());
        factors.insert("target".to_string(), name.to_string());
    }
    key.push(workload.label.clone());
    factors.insert("workload".into(), workload.label.clone());
    let mut named = |name: &str, value: String| {
        key.push(format!("{name}={value}"));
        factors.insert(name.into(), value);
    };
    for (factor, value) in values {
        named(&factor.name, value.label.clone());
    }
    named(level.word, level.threads.to_string());
    if let Some(rate) = level.rate {
        named("rate", rate.to_string());
    }
    if let Some(connections) = level.connections {
        named("connections", connections.to_string());
    }
    MatrixCell {
        key: key.join("/"),
        factors,
        target,
        workload,
        level,
        values: values.to_vec(),
    }
}
