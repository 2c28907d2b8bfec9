//! Whether keeping sessions coherent limits a load: throughput falls past its peak although the database's
//! host has processors left.

use crate::number::{percent, three};
use crate::texts::coherency as texts;
use crate::thresholds::{CPU_FULL, FALLEN, LAW_FITS};
use crate::{Agreed, Cause, Confidence, Words};
use tidemark_stats::{LoadPoint, Usl, UslError, mean};

/// One load of several in closed loop, with what its repeats say.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSeen {
    /// Sessions.
    pub users: f64,
    /// Transactions a second of each repeat that may be used.
    pub rates: Vec<f64>,
    /// Share of the processors of the database's host that was busy, in the repeat with most of it;
    /// `None` unless all repeats tell.
    pub server_busy: Option<f64>,
    /// What limits its repeats by themselves.
    pub agreed: Option<Agreed>,
}

/// What becomes of looking for coherency along a load.
#[derive(Debug, Clone, PartialEq)]
pub enum Coherency {
    /// It limits some of the loads.
    Limits(CoherencyLimit),
    /// It limits none of them.
    No,
    /// It could not be judged: what is needed.
    Skipped(Words),
}

/// Loads that coherency limits.
#[derive(Debug, Clone, PartialEq)]
pub struct CoherencyLimit {
    /// The place of each, with its verdict.
    pub loads: Vec<(usize, Agreed)>,
    /// What was seen, as sentences.
    pub sentence: Words,
}

impl LoadSeen {
    fn rate(&self) -> f64 {
        mean(self.rates.iter().copied())
    }
}

/// Looks for coherency along loads, given by their number of sessions: the scalability law fits with a cost
/// of coherency above 0, its peak was passed, each repeat beyond is below each one at the peak, and the
/// host has processors left. A load keeps its own verdict where that is a cause which more sessions can
/// make worse.
pub fn coherency(loads: &[LoadSeen]) -> Coherency {
    let measured = || loads.iter().filter(|load| !load.rates.is_empty());
    let points = measured().flat_map(|load| {
        let point = move |throughput: &f64| LoadPoint {
            load: load.users,
            throughput: *throughput,
        };
        load.rates.iter().map(point)
    });
    let points: Vec<LoadPoint> = points.collect();
    let fit = Usl::fit(&points);
    if let Err(UslError::TooFewLoads(count)) = fit {
        // One load has no course.
        if count < 2 {
            return Coherency::No;
        }
        return Coherency::Skipped(Words::of(|lang| texts::few_loads(lang, count)));
    }
    let Some(highest) = measured().max_by(|a, b| a.rate().total_cmp(&b.rate())) else {
        return Coherency::No;
    };
    let fallen = fallen(loads, highest);
    let (Some((_, first)), Some((_, last))) = (fallen.first(), fallen.last()) else {
        return Coherency::No;
    };
    let usl = match fit {
        Ok(usl) if usl.r_squared >= LAW_FITS => usl,
        _ => return Coherency::Skipped(Words::of(texts::no_fit)),
    };
    let is_passed = usl.peak().is_some_and(|peak| peak.load < first.users);
    if usl.kappa.interval.0 <= 0.0 || !is_passed {
        return Coherency::No;
    }
    if fallen.iter().all(|(_, load)| load.server_busy.is_none()) {
        return Coherency::Skipped(Words::of(texts::needs_cpu));
    }
    let limited = fallen.iter().filter(|(_, load)| is_limited(load));
    let verdict = |(at, load): &(usize, &LoadSeen)| {
        let repeats = load.rates.len();
        let agreed = Agreed {
            cause: Cause::Coherency,
            repeats,
            of: repeats,
            share: share(&usl, load.users),
            confidence: Confidence::Medium,
        };
        (*at, agreed)
    };
    let limited: Vec<(usize, Agreed)> = limited.map(verdict).collect();
    let Some((_, at_last)) = limited.last() else {
        return Coherency::No;
    };
    let busy = fallen.iter().filter_map(|(_, load)| load.server_busy);
    let busy = busy.fold(0.0, f64::max);
    let fall = 1.0 - last.rate() / highest.rate();
    let says = |lang| {
        texts::says(
            lang,
            format!("{:.0}", first.users),
            percent(fall),
            three(highest.rate()),
            format!("{:.0}", highest.users),
            percent(busy),
            percent(at_last.share),
        )
    };
    Coherency::Limits(CoherencyLimit {
        sentence: Words::of(says),
        loads: limited,
    })
}

/// The loads at the end of the axis whose throughput is clearly below the highest, with their places.
fn fallen<'l>(loads: &'l [LoadSeen], highest: &LoadSeen) -> Vec<(usize, &'l LoadSeen)> {
    let least = highest.rates.iter().copied().fold(f64::INFINITY, f64::min);
    let has_fallen = |load: &LoadSeen| {
        let most = load.rates.iter().copied().fold(0.0, f64::max);
        load.users > highest.users && most < least && load.rate() <= highest.rate() * (1.0 - FALLEN)
    };
    let measured = loads.iter().enumerate();
    let measured = measured.filter(|(_, load)| !load.rates.is_empty());
    let mut fallen: Vec<(usize, &LoadSeen)> = measured
        .rev()
        .take_while(|(_, load)| has_fallen(load))
        .collect();
    fallen.reverse();
    fallen
}

/// Whether processors are left, and the load has no verdict of its own but one that a falling throughput
/// excludes: with too few sessions, or at a distance, more sessions bring more.
fn is_limited(load: &LoadSeen) -> bool {
    let has_room = load.server_busy.is_some_and(|busy| busy < CPU_FULL);
    let is_open = load.agreed.is_none_or(|agreed| {
        matches!(
            agreed.cause,
            Cause::NotEnoughSeen | Cause::TooFewSessions | Cause::NetworkDistance
        )
    });
    has_room && is_open
}

/// The share of a latency that the law puts down to coherency.
fn share(usl: &Usl, users: f64) -> f64 {
    let waits = usl.sigma.value * (users - 1.0);
    let coherency = usl.kappa.value * users * (users - 1.0);
    coherency / (1.0 + waits + coherency)
}
