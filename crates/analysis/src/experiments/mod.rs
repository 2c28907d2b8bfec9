//! Experiments around a baseline: one thing is changed, and what throughput does tells what limits it.
//!
//! Nothing is measured here: [`order`] says which experiment tells most beside what the baseline has
//! told, [`wants_more`] whether more pairs are to be made, [`judge`] what all of them prove.

mod baseline;
mod held_up;
mod pairs;
mod standstill;
mod thresholds;
mod verdict;

pub use baseline::{Baseline, HostCpu, distance_share, later_ms};
pub use pairs::{FEWEST_PAIRS, baseline_goes_first, is_decided, ratio, wants_more};
pub use standstill::Progress;
pub use verdict::{Confidence, Evidence, ExperimentVerdict, Proof, ProvenCause, judge};

use thresholds::{CACHE_GAIN, CLIENT_FREE, DISTANCE_POSSIBLE, GAIN, SESSIONS_GAIN};

/// One thing that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Experiment {
    /// Twice as many sessions.
    SessionsTwice,
    /// Half as many.
    SessionsHalf,
    /// Every reply comes [later](later_ms).
    Rtt,
    /// The same sessions in two client processes.
    SecondClient,
    /// No two sessions choose the same row.
    DisjointKeys,
    /// Only the first hundredth of the rows.
    OnePercent,
    /// A commit does not wait for the disk.
    NoCommitWait,
    /// Transactions end with ROLLBACK, compared with the same that end with COMMIT: where what a commit
    /// waits for can't be changed.
    Rollback,
    /// Statements as text beside prepared ones, whichever the job has.
    Text,
    /// Only what the mix reads.
    ReadsOnly,
    /// Only what it writes.
    WritesOnly,
}

impl Experiment {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::SessionsTwice,
        Self::SessionsHalf,
        Self::Rtt,
        Self::SecondClient,
        Self::DisjointKeys,
        Self::OnePercent,
        Self::NoCommitWait,
        Self::Rollback,
        Self::Text,
        Self::ReadsOnly,
        Self::WritesOnly,
    ];

    /// Its name in data.
    pub fn id(self) -> &'static str {
        match self {
            Self::SessionsTwice => "sessions-x2",
            Self::SessionsHalf => "sessions-half",
            Self::Rtt => "later-replies",
            Self::SecondClient => "second-client",
            Self::DisjointKeys => "disjoint-keys",
            Self::OnePercent => "one-percent-of-rows",
            Self::NoCommitWait => "no-commit-wait",
            Self::Rollback => "rollback",
            Self::Text => "text-protocol",
            Self::ReadsOnly => "reads-only",
            Self::WritesOnly => "writes-only",
        }
    }

    /// Whether it shows what sessions wait for on the server, which more sessions may wait for together.
    pub fn tells_what_sessions_wait_for(self) -> bool {
        let proven = self.proves().map(|(class, _)| class);
        matches!(proven, Some(Class::Log | Class::Contention | Class::Cache))
    }

    /// What limits throughput if it rises by more than so much.
    fn proves(self) -> Option<(Class, f64)> {
        match self {
            Self::SessionsTwice => Some((Class::Sessions, SESSIONS_GAIN)),
            Self::SecondClient => Some((Class::Client, GAIN)),
            Self::DisjointKeys => Some((Class::Contention, GAIN)),
            Self::OnePercent => Some((Class::Cache, CACHE_GAIN)),
            Self::NoCommitWait | Self::Rollback => Some((Class::Log, GAIN)),
            Self::SessionsHalf | Self::Rtt | Self::Text | Self::ReadsOnly | Self::WritesOnly => {
                None
            }
        }
    }
}

/// What limits throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The client.
    Client,
    /// Round trips.
    Distance,
    /// Too few sessions for anything to be busy.
    Sessions,
    /// Rows that several sessions want.
    Contention,
    /// Commits that wait for the log.
    Log,
    /// Rows that are not in memory.
    Cache,
    /// The server's CPU, by exclusion.
    Cpu,
    /// Nothing was proven.
    None,
}

impl Class {
    /// All that can be proven.
    pub const PROVABLE: [Self; 7] = [
        Self::Client,
        Self::Distance,
        Self::Sessions,
        Self::Contention,
        Self::Log,
        Self::Cache,
        Self::Cpu,
    ];

    /// Its name in data.
    pub fn id(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Distance => "distance",
            Self::Sessions => "sessions",
            Self::Contention => "contention",
            Self::Log => "log",
            Self::Cache => "cache",
            Self::Cpu => "cpu",
            Self::None => "none",
        }
    }

    /// The cause, as diagnoses of runs name it.
    pub fn cause(self) -> &'static str {
        match self {
            Self::Client => "client-cpu",
            Self::Distance => "network-distance",
            Self::Sessions => "too-few-sessions",
            Self::Contention => "row-locks",
            Self::Log => "commit-log",
            Self::Cache => "cache-misses",
            Self::Cpu => "server-cpu",
            Self::None => "not-enough-seen",
        }
    }
}

/// Experiments in the order of what they tell beside the baseline.
pub fn order(baseline: &Baseline) -> Vec<Experiment> {
    let is_far = distance_share(baseline).is_some_and(|share| share >= DISTANCE_POSSIBLE);
    let weight = |experiment: Experiment| match experiment {
        Experiment::SessionsTwice => 100,
        Experiment::Rtt if is_far => 99,
        Experiment::SecondClient if baseline.client_use >= CLIENT_FREE => 98,
        Experiment::NoCommitWait if baseline.writes => 95,
        // In its place, where it can't be made.
        Experiment::Rollback if baseline.writes => 94,
        Experiment::DisjointKeys if baseline.writes => 90,
        Experiment::OnePercent => 80,
        Experiment::SecondClient => 70,
        Experiment::Rtt => 60,
        Experiment::Text => 50,
        Experiment::SessionsHalf => 40,
        Experiment::ReadsOnly => 30,
        Experiment::WritesOnly => 20,
        Experiment::NoCommitWait | Experiment::Rollback | Experiment::DisjointKeys => 10,
    };
    let mut all = Experiment::ALL.to_vec();
    all.sort_by_key(|experiment| std::cmp::Reverse(weight(*experiment)));
    all
}

#[cfg(test)]
mod tests;
