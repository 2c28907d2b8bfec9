//! Another program on the database's host takes CPU that client and server wait for.

use super::connection_churn;
use crate::measured::SummedSeries;
use crate::number::three;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::neighbour as texts;
use crate::thresholds::{CHURN, CPU_FULL, HELD_UP, NAMED, OTHERS_CORES, OTHERS_SHARE, SURE_OTHERS};
use crate::{Cause, Words};
use tidemark_core::observe::SERVER_PROCESS;

/// What this program is called.
const OWN: &str = "tidemark";

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let (Some(host), Some(_)) = (&seen.host, seen.others()) else {
        return match seen.is_embedded {
            true => Outcome::NotFound,
            false => Outcome::Skipped(Words::of(texts::needs)),
        };
    };
    let Some(others) = others(seen) else {
        return Outcome::NotFound;
    };
    let tasks = [&seen.server, &seen.threads];
    let tasks = tasks.into_iter().flatten();
    let (mut had, mut waited) = (0.0, 0.0);
    for tasks in tasks {
        had += tasks.cpu.mean();
        waited += tasks.waiting();
    }
    // What serves new connections lives too short to be seen as the server's.
    let churns = connection_churn::opened(seen) >= CHURN;
    if host.load() < CPU_FULL || waited < HELD_UP * had || churns {
        return Outcome::NotFound;
    }
    let busy = host.said();
    let most = most(seen);
    let says = |lang| match &most {
        Some((name, used)) => {
            let used = three(used.mean());
            texts::named(lang, three(others), host.cores, name, used, &busy)
        }
        None => texts::says(lang, three(others), host.cores, &busy),
    };
    let mut evidence = vec![
        seen.evidence("CPU of other programs", others, "cores"),
        host.busy_evidence(),
    ];
    for tasks in [&seen.server, &seen.threads].into_iter().flatten() {
        evidence.extend(tasks.delay.as_ref().map(|d| d.evidence()));
    }
    evidence.extend(most.as_ref().map(|(name, used)| {
        let mut evidence = used.evidence();
        evidence.metric = format!("{} ({name})", evidence.metric);
        evidence
    }));
    let share = others / host.cores;
    // The kernel's threads are among them: a program that is named is none.
    let is_named = most
        .as_ref()
        .is_some_and(|(_, used)| used.mean() >= NAMED * others);
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::high_if(is_named && share >= SURE_OTHERS),
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::CpuQuota],
    })
}

/// The program that uses most processors, and how many.
fn most<'r>(seen: &Observations<'r>) -> Option<(&'r str, SummedSeries)> {
    let names = seen
        .series
        .labels(SERVER_PROCESS, "programs.cpu", "program");
    // Each client sees the others of its host, which are the run's own.
    let names = names.into_iter();
    let names = names.filter(|name| *name != OWN || seen.record.clients.len() < 2);
    let each = names.filter_map(|name| {
        let is_it = |s: &tidemark_core::series::Series| {
            s.key.labels.get("program").is_some_and(|p| p == name)
        };
        let used = seen
            .series
            .column_over_all(SERVER_PROCESS, "programs.cpu", is_it)?;
        Some((name, used))
    });
    each.max_by(|a, b| a.1.mean().total_cmp(&b.1.mean()))
}

/// Processors that others use, if it is more than the kernel's own work.
pub(crate) fn others(seen: &Observations<'_>) -> Option<f64> {
    let cores = seen.host.as_ref()?.cores;
    let others = seen.others()?;
    (others >= OTHERS_CORES.max(OTHERS_SHARE * cores)).then_some(others)
}
