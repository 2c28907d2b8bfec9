//! What experiments prove together.

use super::thresholds::{
    APART, CLIENT_BUSY, CLIENT_FREE, CPU_FREE, DISTANCE_POSSIBLE, DISTANCE_SHARE, NEAR_MS,
    ON_HOST_MS, RTT_MOVED, RTT_POWER, SESSIONS_GAIN, TEXT_COSTS, UNLIKELY_HIGH,
};
use super::{Baseline, Class, Experiment};
use std::collections::{BTreeMap, BTreeSet};
use tidemark_stats::Ratio;

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Before anything was changed.
    pub baseline: Baseline,
    /// Throughput of each experiment over the baseline's.
    pub measured: BTreeMap<Experiment, Ratio>,
    /// Experiments that can't be made because what they look for can't be there: a workload that only
    /// reads waits for no commit.
    pub excluded: BTreeSet<Experiment>,
}

/// How sure a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Something else may be the cause.
    Low,
    /// It holds, and another holds nearly as much, or it follows by exclusion.
    Medium,
    /// Its interval proves it.
    High,
}

/// A cause that an experiment proves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown {
    /// What it is.
    pub class: Class,
    /// How many times as high throughput is without it.
    pub gain: f64,
}

/// What all experiments prove.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What limits.
    pub class: Class,
    /// How sure that is.
    pub confidence: Confidence,
    /// All that was shown, the largest gain first.
    pub shown: Vec<Shown>,
    /// What is excluded.
    pub rules_out: Vec<Class>,
    /// Experiments that could tell more: not made, or not decided.
    pub open: Vec<Experiment>,
}

/// The share of the latency that round trips are; `None` of an embedded database.
pub fn distance_share(baseline: &Baseline) -> Option<f64> {
    let ping = baseline.ping_ms?;
    Some((baseline.round_trips * ping / baseline.latency_ms()).min(1.0))
}

/// What is proven by them.
pub fn judge(evidence: &Evidence) -> Verdict {
    let mut shown = shown(evidence);
    shown.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let open = open(evidence);
    let rules_out: Vec<Class> = Class::PROVABLE
        .into_iter()
        .filter(|class| !shown.iter().any(|s| s.class == *class) && is_ruled_out(evidence, *class))
        .collect();
    let (class, confidence) = match shown.as_slice() {
        [] if evidence.baseline.client_use >= CLIENT_BUSY => (Class::Client, Confidence::Medium),
        [] => match by_exclusion(evidence) {
            Some(confidence) => (Class::Cpu, confidence),
            None => (Class::None, Confidence::Low),
        },
        [first, second, ..] if first.gain < second.gain * APART => {
            (first.class, Confidence::Medium)
        }
        // Sessions that wait for one another or for the disk follow, too.
        [first, ..] if first.class == Class::Sessions && !open.is_empty() => {
            (Class::Sessions, Confidence::Medium)
        }
        [first, ..] => (first.class, Confidence::High),
    };
    Verdict {
        class,
        confidence,
        shown,
        rules_out,
        open,
    }
}

fn shown(evidence: &Evidence) -> Vec<Shown> {
    let measured = evidence.measured.iter();
    let mut shown: Vec<Shown> = measured
        .filter_map(|(experiment, of)| {
            let (class, limit) = experiment.proves()?;
            let gain = of.ratio;
            (of.low > limit).then_some(Shown { class, gain })
        })
        .collect();
    shown.extend(distance(evidence));
    shown
}

/// Round trips that are most of the latency, unless later replies cost nothing.
fn distance(evidence: &Evidence) -> Option<Shown> {
    let baseline = &evidence.baseline;
    let (ping, share) = (baseline.ping_ms?, distance_share(baseline)?);
    if ping < NEAR_MS || share < DISTANCE_SHARE || is_unmoved_by_distance(evidence) {
        return None;
    }
    let saved = share * (1.0 - ON_HOST_MS / ping);
    Some(Shown {
        class: Class::Distance,
        // Of what would be left nobody knows more than that it is something.
        gain: 1.0 / (1.0 - saved).max(0.01),
    })
}

/// Whether later replies cost less than if waiting for them were all that there is.
fn is_unmoved_by_distance(evidence: &Evidence) -> bool {
    let Some(of) = evidence.measured.get(&Experiment::Rtt) else {
        return false;
    };
    let latency = evidence.baseline.latency_ms();
    let loss = 1.0 - latency / (latency + evidence.baseline.round_trips);
    loss >= RTT_POWER && of.low > 1.0 - loss * RTT_MOVED
}

fn is_ruled_out(evidence: &Evidence, class: Class) -> bool {
    let baseline = &evidence.baseline;
    let proving = Experiment::ALL
        .into_iter()
        .find(|e| e.proves().is_some_and(|(of, _)| of == class));
    let by_experiment = proving.is_some_and(|e| is_excluded(evidence, e, false));
    match class {
        Class::Client => by_experiment && baseline.client_use < CLIENT_FREE,
        Class::Distance => distance_share(baseline).is_none_or(|share| {
            share < DISTANCE_POSSIBLE || baseline.ping_ms.is_some_and(|ping| ping < NEAR_MS)
        }),
        Class::Cpu => {
            let twice = evidence.measured.get(&Experiment::SessionsTwice);
            twice.is_some_and(|of| of.low > CPU_FREE)
        }
        _ => by_experiment,
    }
}

/// Whether an experiment shows that what it looks for is not what limits; `loosely` also where its
/// interval is wider than that.
fn is_excluded(evidence: &Evidence, experiment: Experiment, loosely: bool) -> bool {
    if evidence.excluded.contains(&experiment) {
        return true;
    }
    let measured = evidence.measured.get(&experiment);
    let Some((of, (_, limit))) = measured.zip(experiment.proves()) else {
        return false;
    };
    of.high < limit || loosely && of.ratio < 1.0 + (limit - 1.0) / 2.0 && of.high < UNLIKELY_HIGH
}

/// How sure it is that the server's CPU limits, because all else is excluded.
fn by_exclusion(evidence: &Evidence) -> Option<Confidence> {
    let baseline = &evidence.baseline;
    let is_near = is_ruled_out(evidence, Class::Distance) || is_unmoved_by_distance(evidence);
    let others = [
        Experiment::SessionsTwice,
        Experiment::DisjointKeys,
        Experiment::NoCommitWait,
        Experiment::OnePercent,
        Experiment::SecondClient,
    ];
    // A client with CPU to spare needs no second one.
    let is_needed = |e: &Experiment| {
        *e != Experiment::SecondClient
            || baseline.client_use >= CLIENT_FREE
            || evidence.measured.contains_key(e)
    };
    let all = |loosely| {
        let mut needed = others.into_iter().filter(is_needed);
        needed.all(|e| is_excluded(evidence, e, loosely))
    };
    let is_saturated = evidence
        .measured
        .get(&Experiment::SessionsTwice)
        .is_some_and(|of| of.ratio < SESSIONS_GAIN);
    if !is_near || !is_saturated || !all(true) {
        return None;
    }
    let text = evidence.measured.get(&Experiment::Text);
    Some(match (all(false), text) {
        (_, Some(text)) if text.low > TEXT_COSTS => Confidence::Low,
        (true, Some(text)) if text.high < TEXT_COSTS => Confidence::High,
        (true, _) => Confidence::Medium,
        (false, _) => Confidence::Low,
    })
}

/// Experiments that prove something and were not made, or are not decided.
fn open(evidence: &Evidence) -> Vec<Experiment> {
    let is_open = |e: &Experiment| {
        let measured = evidence.measured.get(e);
        let is_decided = measured.is_some_and(|of| super::is_decided(*e, of));
        e.proves().is_some() && !evidence.excluded.contains(e) && !is_decided
    };
    Experiment::ALL.into_iter().filter(is_open).collect()
}
