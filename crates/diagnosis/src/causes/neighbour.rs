//! Another program on the database's host takes CPU that client and server wait for.

use super::connection_churn;
use crate::number::{percent, three};
use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::neighbour as texts;
use crate::thresholds::{CHURN, CPU_FULL, HELD_UP, OTHERS_CORES, OTHERS_SHARE};
use crate::{Cause, Words};

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
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
    let busy = percent(host.load());
    let says = |lang| texts::says(lang, three(others), host.cores, &busy);
    let mut evidence = vec![
        seen.evidence("CPU of other programs", others, "cores"),
        host.busy.evidence(),
    ];
    for tasks in [&seen.server, &seen.threads].into_iter().flatten() {
        evidence.extend(tasks.delay.as_ref().map(|d| d.evidence()));
    }
    let share = others / host.cores;
    Outcome::Found(Found {
        share,
        confidence: match share >= 2.0 * OTHERS_SHARE {
            true => Confidence::High,
            false => Confidence::Medium,
        },
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::CpuQuota],
    })
}

/// Processors that others use, if it is more than the kernel's own work.
pub(super) fn others(seen: &Seen<'_>) -> Option<f64> {
    let cores = seen.host.as_ref()?.cores;
    let others = seen.others()?;
    (others >= OTHERS_CORES.max(OTHERS_SHARE * cores)).then_some(others)
}
