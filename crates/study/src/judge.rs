//! What can only be judged when the whole file is read.

use crate::Family;
use crate::file::{Factor, Study, StudyWorkload};
use crate::read::{StudyReader, StudyTable};
use std::collections::BTreeSet;
use std::time::Duration;
use tidemark_core::did_you_mean;
use tidemark_workloads::families;

/// At a second each they take a day and more.
const MOST_RUNS: u64 = 100_000;

/// What can only be judged when all is read.
pub(crate) fn judge(reader: &StudyReader, top: &StudyTable<'_, '_>, study: &Study) {
    unique(reader, "[[target]] name", &study.targets, |t| {
        (t.line, &t.name)
    });
    unique(reader, "[[workload]] label", &study.workloads, |w| {
        (w.line, &w.label)
    });
    unique(reader, "[[factor]] name", &study.factors, |f| {
        (f.line, &f.name)
    });
    let naming = |f: &&Factor| f.values.iter().any(|v| v.target.is_some());
    let naming: Vec<&Factor> = study.factors.iter().filter(naming).collect();
    match naming.as_slice() {
        [] if study.targets.is_empty() && top.get("target").is_none() => top.problem(
            "no [[target]]; for example\n[[target]]\nname = \"mariadb\"\nurl = \
             \"mysql://root@127.0.0.1:3306/sbtest\"",
        ),
        [] => {}
        [one] => {
            if !study.targets.is_empty() {
                reader.problem(
                    one.line,
                    format!("factor {} and [[target]] both set the database", one.name),
                );
            }
            if one.values.iter().any(|v| v.target.is_none()) || !one.workloads.is_empty() {
                let name = &one.name;
                reader.problem(
                    one.line,
                    format!("factor {name}: every value needs a target, for every workload"),
                );
            }
        }
        [_, second, ..] => {
            reader.problem(second.line, "only one factor can name targets");
        }
    }
    let labels: Vec<&str> = study.workloads.iter().map(|w| w.label.as_str()).collect();
    for factor in &study.factors {
        for name in factor
            .workloads
            .iter()
            .filter(|n| !labels.contains(&n.as_str()))
        {
            let hint = did_you_mean(name, labels.iter().copied());
            let known = labels.join(", ");
            reader.problem(
                factor.line,
                format!(
                    "workloads of factor {}: no workload is called {name}; there are {known}{hint}",
                    factor.name
                ),
            );
        }
    }
    let runs = crate::matrix::runs(study);
    if runs > MOST_RUNS {
        top.problem(format!(
            "the matrix has {runs} runs; at most {MOST_RUNS} are allowed in one study: remove \
             values, levels or repeats"
        ));
    }
    whole_seconds(top, study);
    for workload in &study.workloads {
        let clashes = |other: &&StudyWorkload| workload.family.clashes(other.family);
        if let Some(other) = study.workloads.iter().find(clashes)
            && other.line < workload.line
        {
            reader.problem(
                workload.line,
                format!(
                    "{}: {} have tables of the same names and cannot share a database with {}; \
                     use a separate study with another database",
                    workload.label,
                    titles(workload.family, other.family),
                    other.label
                ),
            );
        }
        let levels = workload.load.as_ref().unwrap_or(&study.load);
        if workload.family.runs.are_queries() && !levels.rates.is_empty() {
            reader.problem(
                workload.line,
                format!(
                    "{}: {} has no rates; give it a load of its own, as load = {{ threads = [1] }}",
                    workload.label, workload.family.title
                ),
            );
        }
    }
}

/// Sysbench's commands take whole seconds. What holds for the whole study is told where it stands,
/// with the workloads that it is nothing for.
fn whole_seconds(top: &StudyTable<'_, '_>, study: &Study) {
    type Own = fn(&StudyWorkload) -> Option<Duration>;
    let keys: [(&str, Duration, Own); 2] = [
        ("warmup", study.warmup, |w| w.warmup),
        ("time", study.time, |w| w.time),
    ];
    for (name, of_study, own) in keys {
        let takes = |w: &&StudyWorkload| w.family.command.whole_seconds && own(w).is_none();
        let of_it: Vec<&StudyWorkload> = study.workloads.iter().filter(takes).collect();
        let labels: Vec<&str> = of_it.iter().map(|w| &*w.label).collect();
        if of_study.subsec_nanos() > 0
            && let Some(first) = of_it.first()
            && let Some(value) = top.get(name)
        {
            value.refuse(&not_whole(first.family, &labels.join(", ")));
        }
    }
}

/// Why a part of a second is refused.
pub(crate) fn not_whole(family: &Family, workloads: &str) -> String {
    format!("{workloads}: {family}'s workloads take whole seconds")
}

/// Both titles, in the order of the registry.
fn titles(one: &Family, other: &Family) -> String {
    let both = families().filter(|f| *f == one || *f == other);
    both.map(|f| f.title).collect::<Vec<_>>().join(" and ")
}

fn unique<T>(
    reader: &StudyReader,
    what: &str,
    items: &[T],
    named: impl Fn(&T) -> (usize, &String),
) {
    let mut seen = BTreeSet::new();
    for item in items {
        let (line, name) = named(item);
        if !name.is_empty() && !seen.insert(name) {
            reader.problem(
                line,
                format!("{what} {name:?} appears twice; names must be unique"),
            );
        }
    }
}
