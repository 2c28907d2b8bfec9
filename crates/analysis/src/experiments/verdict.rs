//! What experiments prove together.

use super::held_up::{locked_out, starved};
use super::thresholds::{
    APART, CLIENT_FREE, CPU_FREE, CUT_OFF, DISTANCE_POSSIBLE, DISTANCE_SHARE, GAIN, NEAR_MS,
    ON_HOST_MS, RETROGRADE, RTT_MOVED, RTT_POWER, SESSIONS_GAIN, TEXT_COSTS, UNLIKELY_HIGH,
};
use super::{Baseline, Class, Experiment, distance_share, is_decided};
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
    /// Experiments that can't be made for other reasons, however much time there is.
    pub impossible: BTreeSet<Experiment>,
    /// Whether each transaction writes to one of fewer rows than there are sessions.
    pub is_crowded: bool,
    /// [`Baseline::still`] of the runs on the first hundredth of the rows.
    pub still_on_one_percent: Option<f64>,
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

/// What proves a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// What throughput does without it, or what an experiment leaves.
    Experiment,
    /// Other programs kept the host's processors busy before the load.
    Neighbours,
    /// The server has no reply to anything, though its host has CPU left.
    NoCpu,
    /// All readers stand still at once, though the server answers.
    LockedOut,
}

/// A cause that an experiment proves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProvenCause {
    /// What it is.
    pub class: Class,
    /// What proves it.
    pub proof: Proof,
    /// How many times as high throughput is without it; `None` where nothing could be changed.
    pub gain: Option<f64>,
    /// How sure it is by itself.
    pub confidence: Confidence,
}

/// What all experiments prove.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentVerdict {
    /// What limits.
    pub class: Class,
    /// How sure that is.
    pub confidence: Confidence,
    /// All that was shown, the largest gain first.
    pub shown: Vec<ProvenCause>,
    /// What is excluded.
    pub rules_out: Vec<Class>,
    /// Experiments that could tell more: not made, or not decided.
    pub open: Vec<Experiment>,
    /// Whether more sessions lower throughput: they are in each other's way, wherever that is.
    pub is_retrograde: bool,
}

/// What is proven by them.
pub fn judge(evidence: &Evidence) -> ExperimentVerdict {
    let mut shown = shown(evidence);
    // What fewer rows gain where they are written is of all that writing waits for: the log comes first.
    let is_log = evidence.baseline.writes && shown.iter().any(|s| s.class == Class::Log);
    let order = |of: &ProvenCause| match of.class {
        Class::Cache if is_log => 1.0,
        _ => of.order(),
    };
    shown.sort_by(|a, b| order(b).total_cmp(&order(a)));
    let open: Vec<Experiment> = open(evidence)
        .into_iter()
        .filter(|e| {
            e.proves()
                .is_none_or(|(of, _)| shown.iter().all(|s| s.class != of))
        })
        .collect();
    let rules_out: Vec<Class> = Class::PROVABLE
        .into_iter()
        .filter(|class| !shown.iter().any(|s| s.class == *class))
        .filter(|class| is_ruled_out(evidence, *class))
        .collect();
    let (class, confidence) = match shown.first() {
        None if evidence.baseline.is_client_busy() => (Class::Client, Confidence::Medium),
        None => match by_exclusion(evidence) {
            Some(confidence) => (Class::Cpu, confidence),
            // Nothing is excluded, and nothing shown: what is seen full is a guess.
            None if is_full_of_server(evidence) && !is_ruled_out(evidence, Class::Cpu) => {
                (Class::Cpu, Confidence::Low)
            }
            None => (Class::None, Confidence::Low),
        },
        Some(first) => (first.class, of_first(first, &shown, &open)),
    };
    ExperimentVerdict {
        class,
        confidence,
        shown,
        rules_out,
        open,
        is_retrograde: is_retrograde(evidence),
    }
}

/// How sure the largest gain is beside the others.
fn of_first(first: &ProvenCause, shown: &[ProvenCause], open: &[Experiment]) -> Confidence {
    // Whoever waits for round trips does more with more sessions: both are one thing.
    let is_same = |s: &&ProvenCause| first.class == Class::Distance && s.class == Class::Sessions;
    let second = shown.iter().skip(1).find(|s| !is_same(s));
    let is_near = second.is_some_and(|second| first.order() < second.order() * APART);
    // Sessions that wait for one another or for the disk follow, too.
    let is_guess = open.iter().any(|e| e.tells_what_sessions_wait_for());
    let most = match first.class {
        Class::Sessions if is_guess => Confidence::Low,
        Class::Sessions if !open.is_empty() => Confidence::Medium,
        _ if is_near => Confidence::Medium,
        _ => Confidence::High,
    };
    first.confidence.min(most)
}

impl ProvenCause {
    /// By what causes stand in order. Of one that could not be changed nobody knows the gain: whatever is
    /// gained beside crowded rows is gained by sessions that still wait for one another, and what is gained
    /// beside other programs is gained in spite of them.
    fn order(&self) -> f64 {
        match (self.class, self.gain) {
            (Class::Contention, None) => f64::INFINITY,
            (_, None) => 1.0,
            (_, Some(gain)) => gain,
        }
    }

    /// The cause, as diagnoses of runs name it.
    pub fn cause(&self) -> &'static str {
        match self.proof {
            Proof::Experiment => self.class.cause(),
            Proof::Neighbours => "neighbour",
            Proof::NoCpu => "cpu-quota",
            Proof::LockedOut => "lock-held",
        }
    }
}

impl ExperimentVerdict {
    /// What proves it.
    pub fn proof(&self) -> Proof {
        self.shown
            .first()
            .map_or(Proof::Experiment, |first| first.proof)
    }

    /// The cause, as diagnoses of runs name it.
    pub fn cause(&self) -> &'static str {
        self.shown
            .first()
            .map_or(self.class.cause(), ProvenCause::cause)
    }
}

fn shown(evidence: &Evidence) -> Vec<ProvenCause> {
    let measured = evidence.measured.iter();
    let mut shown: Vec<ProvenCause> = measured
        .filter_map(|(experiment, of)| {
            let (class, limit) = experiment.proves()?;
            (of.low > limit).then_some(ProvenCause {
                class,
                proof: Proof::Experiment,
                gain: Some(of.ratio),
                confidence: match experiment {
                    // A COMMIT may do more than wait for the log: send what was written, ask other nodes.
                    Experiment::Rollback => Confidence::Medium,
                    // Fewer rows are fewer pages to log and to write, too.
                    Experiment::OnePercent if evidence.baseline.writes => Confidence::Medium,
                    _ => Confidence::High,
                },
            })
        })
        .collect();
    shown.extend(distance(evidence));
    shown.extend(crowd(evidence));
    shown.extend(locked_out(evidence));
    let host = evidence.baseline.host;
    let starved = starved(&evidence.baseline);
    if host.is_some_and(|host| host.is_full() || host.was_full()) || starved.is_some() {
        // Where processors are all busy, more sessions get more of what a scheduler deals out, or work in
        // larger groups: that they do more does not show that there were too few.
        shown.retain(|s| s.class != Class::Sessions);
    }
    shown.extend(starved);
    // Who waits for a distance finds CPU for twice as many sessions, whatever others take.
    let is_far = shown.iter().any(|s| s.class == Class::Distance);
    let finds_cpu = is_far && is_ruled_out(evidence, Class::Cpu);
    if host.is_some_and(|host| host.was_full()) && !finds_cpu {
        shown.push(NEIGHBOURS);
    }
    shown
}

/// Other programs that kept the host's processors busy before the load.
const NEIGHBOURS: ProvenCause = ProvenCause {
    class: Class::Cpu,
    proof: Proof::Neighbours,
    gain: None,
    confidence: Confidence::Medium,
};

/// Whether the server is seen to fill its host, and sessions are not in each other's way.
fn is_full_of_server(evidence: &Evidence) -> bool {
    let host = evidence.baseline.host;
    host.is_some_and(|host| host.is_full_of_server()) && !is_retrograde(evidence)
}

/// More sessions than rows that they write: some always wait. That twice as many bring nothing, and that
/// neither the client nor the host is full, leaves nothing else to wait for that comes first.
fn crowd(evidence: &Evidence) -> Option<ProvenCause> {
    let baseline = &evidence.baseline;
    let of = |experiment| evidence.measured.get(&experiment);
    let is_saturated = of(Experiment::SessionsTwice).is_some_and(|of| of.high < SESSIONS_GAIN);
    let is_client =
        baseline.is_client_busy() || of(Experiment::SecondClient).is_some_and(|of| of.low > GAIN);
    let is_full = baseline.host.is_some_and(|host| host.is_full()) && !is_retrograde(evidence);
    (evidence.is_crowded && is_saturated && !is_client && !is_full).then_some(ProvenCause {
        class: Class::Contention,
        proof: Proof::Experiment,
        gain: None,
        confidence: Confidence::Medium,
    })
}

/// Round trips that are most of the latency, unless later replies cost nothing or more sessions bring
/// nothing: then they wait for something else. That both do is what proves it.
fn distance(evidence: &Evidence) -> Option<ProvenCause> {
    let baseline = &evidence.baseline;
    let (ping, share) = (baseline.ping_ms?, distance_share(baseline)?);
    let twice = evidence.measured.get(&Experiment::SessionsTwice);
    let is_saturated = twice.is_some_and(|of| of.high < SESSIONS_GAIN);
    let is_far = ping >= NEAR_MS && share >= DISTANCE_SHARE;
    if !is_far || is_saturated || is_unmoved_by_distance(evidence) {
        return None;
    }
    let follows = twice.is_some_and(|of| of.low > SESSIONS_GAIN);
    let saved = share * (1.0 - ON_HOST_MS / ping);
    Some(ProvenCause {
        class: Class::Distance,
        proof: Proof::Experiment,
        // Of what would be left nobody knows more than that it is something.
        gain: Some(1.0 / (1.0 - saved).max(0.01)),
        confidence: match follows && is_moved_by_distance(evidence) {
            true => Confidence::High,
            false => Confidence::Medium,
        },
    })
}

/// Throughput with later replies, beside what it would be if less than half of the loss came that comes
/// where waiting for them is all that there is; `None` where that would not be seen, or was not measured.
fn later_replies(evidence: &Evidence) -> Option<(&Ratio, f64)> {
    let of = evidence.measured.get(&Experiment::Rtt)?;
    let baseline = &evidence.baseline;
    let added = baseline.round_trips * baseline.later_ms;
    let loss = added / (baseline.mean_ms + added);
    let is_seen = loss >= RTT_POWER && loss * baseline.a_session() >= CUT_OFF;
    is_seen.then_some((of, 1.0 - loss * RTT_MOVED))
}

fn is_unmoved_by_distance(evidence: &Evidence) -> bool {
    later_replies(evidence).is_some_and(|(of, half)| of.low > half)
}

fn is_moved_by_distance(evidence: &Evidence) -> bool {
    later_replies(evidence).is_some_and(|(of, half)| of.high < half)
}

fn is_retrograde(evidence: &Evidence) -> bool {
    let twice = evidence.measured.get(&Experiment::SessionsTwice);
    twice.is_some_and(|of| of.high < RETROGRADE)
}

fn is_ruled_out(evidence: &Evidence, class: Class) -> bool {
    let baseline = &evidence.baseline;
    let by_experiment = is_excluded(evidence, class, false);
    match class {
        Class::Client => by_experiment && baseline.client_use < CLIENT_FREE,
        Class::Distance => {
            is_unmoved_by_distance(evidence)
                || distance_share(baseline).is_none_or(|share| {
                    share < DISTANCE_POSSIBLE || baseline.ping_ms.is_some_and(|ping| ping < NEAR_MS)
                })
        }
        Class::Cpu => {
            let twice = evidence.measured.get(&Experiment::SessionsTwice);
            twice.is_some_and(|of| of.low > CPU_FREE)
        }
        _ => by_experiment,
    }
}

/// Experiments that can prove a class.
fn proving(class: Class) -> impl Iterator<Item = Experiment> {
    let proves = move |e: &Experiment| e.proves().is_some_and(|(of, _)| of == class);
    Experiment::ALL.into_iter().filter(proves)
}

/// Whether an experiment shows that a class is not what limits.
fn is_excluded(evidence: &Evidence, class: Class, loosely: bool) -> bool {
    proving(class).any(|experiment| excludes(evidence, experiment, loosely))
}

/// Whether an experiment shows that what it looks for is not what limits; `loosely` also where its
/// interval is wider than that.
fn excludes(evidence: &Evidence, experiment: Experiment, loosely: bool) -> bool {
    if evidence.excluded.contains(&experiment) {
        return true;
    }
    // Undoing takes time, too, and BEGIN and its end are round trips: they may hide a wait.
    if experiment == Experiment::Rollback && !loosely {
        return false;
    }
    let measured = evidence.measured.get(&experiment);
    let Some((of, (_, limit))) = measured.zip(experiment.proves()) else {
        return false;
    };
    of.high < limit || loosely && of.ratio < 1.0 + (limit - 1.0) / 2.0 && of.high < UNLIKELY_HIGH
}

/// How sure it is that the server's CPU limits, because all else that can be changed is excluded. What
/// can't be changed (latches, another session's lock, replication, a quota) looks the same: only a CPU
/// that is seen full makes it certain.
fn by_exclusion(evidence: &Evidence) -> Option<Confidence> {
    let baseline = &evidence.baseline;
    let is_near = is_ruled_out(evidence, Class::Distance);
    let others = [
        Class::Sessions,
        Class::Contention,
        Class::Log,
        Class::Cache,
        Class::Client,
    ];
    // A client with CPU to spare needs no second one.
    let is_needed = |class: &Class| {
        *class != Class::Client
            || baseline.client_use >= CLIENT_FREE
            || evidence.measured.contains_key(&Experiment::SecondClient)
    };
    let all = |loosely| {
        let mut needed = others.into_iter().filter(is_needed);
        needed.all(|class| is_excluded(evidence, class, loosely))
    };
    let is_saturated = evidence
        .measured
        .get(&Experiment::SessionsTwice)
        .is_some_and(|of| of.ratio < SESSIONS_GAIN);
    let is_full = baseline.host.is_some_and(|host| host.is_full_of_server());
    // What is full does not become less by being wanted more.
    let is_in_the_way = is_retrograde(evidence) && !is_full;
    if !is_near || !is_saturated || is_in_the_way || !all(true) {
        return None;
    }
    let is_seen_free = baseline.host.is_some_and(|host| !host.is_full());
    let text = evidence.measured.get(&Experiment::Text);
    // Text that costs nothing is not what a busy CPU looks like.
    let is_free = is_seen_free || text.is_some_and(|text| text.low > TEXT_COSTS);
    Some(match () {
        () if !all(false) || is_free => Confidence::Low,
        () if is_full && !is_retrograde(evidence) => Confidence::High,
        () => Confidence::Medium,
    })
}

/// Experiments that prove something and were not made, or are not decided; where several prove one class, one
/// that is decided is enough, and one that was made, or can be, is named.
fn open(evidence: &Evidence) -> Vec<Experiment> {
    let is_told = |e: &Experiment| {
        let measured = evidence.measured.get(e);
        evidence.excluded.contains(e) || measured.is_some_and(|of| is_decided(*e, of))
    };
    let of_class = |class: Class| {
        let mut all: Vec<Experiment> = proving(class).collect();
        all.sort_by_key(|e| {
            let is_made = evidence.measured.contains_key(e);
            (!is_made, evidence.impossible.contains(e))
        });
        let is_open = !all.iter().any(is_told);
        all.into_iter().next().filter(|_| is_open)
    };
    let mut open: Vec<Experiment> = Class::PROVABLE.into_iter().filter_map(of_class).collect();
    open.sort();
    open
}
