//! Sessions of the server that are none of the run's, where they take what the run waits for.

use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::other_sessions as texts;
use crate::thresholds::{CPU_FULL, OTHERS_ACTIVE, SHARE};
use crate::{PartKind, WaitClass, Words};
use tidemark_core::observe::SERVER_ACTIVITY;

/// What sessions share: each takes its part of it.
const SHARED: [WaitClass; 4] = [
    WaitClass::Log,
    WaitClass::DataRead,
    WaitClass::DataWrite,
    WaitClass::Latch,
];
/// So many of their waits are named.
const NAMED: usize = 3;

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let Some(activity) = seen.activity.as_ref().filter(|_| !seen.is_embedded) else {
        return Outcome::NotFound;
    };
    let others = &activity.others;
    let active = others.all();
    if active < OTHERS_ACTIVE {
        return Outcome::NotFound;
    }
    let part = |theirs: f64, own: f64| theirs / (theirs + own).max(1e-9);
    let of_class = |class: &WaitClass| {
        let of = |waits: &std::collections::BTreeMap<WaitClass, f64>| {
            waits.get(class).copied().unwrap_or(0.0)
        };
        seen.wait_share(*class) * part(of(&others.waits), of(&activity.waits))
    };
    let waits: f64 = SHARED.iter().map(of_class).sum();
    // Processors that are not all taken are shared by nobody.
    let is_full = seen.host_busy().is_some_and(|busy| busy >= CPU_FULL);
    let cpu = match is_full {
        true => {
            let own = activity.cpu.unwrap_or(0.0) + activity.executing;
            let of_cpu = seen.share(PartKind::ServerCpu)
                + seen.wait_share(WaitClass::RunQueue)
                + seen.share(PartKind::Unexplained);
            of_cpu * part(others.cpu + others.executing, own)
        }
        false => 0.0,
    };
    let share = waits + cpu;
    let names = others.names.iter().take(NAMED).map(String::as_str);
    let names = names.collect::<Vec<_>>().join(", ");
    let says = |lang| match share >= SHARE {
        true => texts::says(lang, three(active), &names, percent(share)),
        false => texts::aside(lang, three(active), &names),
    };
    let metric = format!("{SERVER_ACTIVITY} sessions.others");
    Outcome::Found(FindingDetails {
        share,
        confidence: match share >= SHARE {
            true => Confidence::Medium,
            false => Confidence::Low,
        },
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: vec![seen.evidence(&metric, active, "sessions")],
        excludes: Vec::new(),
    })
}
