//! What a diagnosis is made of.

use crate::number::three;
use crate::texts::evidence as texts;
use crate::{Lang, Words};
use schemars::JsonSchema;
use serde::Serialize;

/// What may limit a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The client has too little CPU.
    ClientCpu,
    /// Round trips between client and server.
    NetworkDistance,
    /// The server could do more.
    TooFewSessions,
    /// The server's CPU, with the client's where they share a host.
    ServerCpu,
    /// Commits that wait for the log.
    CommitLog,
    /// A disk that serves no more requests.
    DiskRate,
    /// Pages that the cache lacks.
    CacheMisses,
    /// Transactions of the run that wait for each other's rows.
    RowLocks,
    /// Table locks that sessions of the run hold in turn.
    TableLocks,
    /// A lock that another session holds for long.
    LockHeld,
    /// Latches inside the server.
    Latches,
    /// The server accepts no more connections.
    ConnectionLimit,
    /// Connections opened again and again.
    ConnectionChurn,
    /// Checkpoints and flushing.
    Checkpoints,
    /// Vacuum, purge, compaction.
    Cleanup,
    /// A transaction that stays open.
    LongTransaction,
    /// One node works and the others don't.
    StoreImbalance,
    /// Statements that read far more rows than they need.
    MissingIndex,
    /// More arrivals than are served.
    Overload,
    /// A CPU quota, or a hypervisor that takes CPU.
    CpuQuota,
    /// Another program on the host.
    Neighbour,
    /// Sessions of the server that are none of the run's.
    OtherSessions,
    /// Coherency-limited scaling.
    Coherency,
    /// The server paused now and then.
    ServerStalls,
    /// All that was asked for was served.
    OfferedLoad,
    /// Evidence is missing.
    NotEnoughSeen,
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// It fits, and so may other causes.
    Low,
    /// It fits, and some neighbour could not be excluded.
    Medium,
    /// The proof was seen, and the neighbours were excluded.
    High,
}

impl Confidence {
    /// High where the proof was seen, else medium.
    pub(crate) fn high_if(is_proven: bool) -> Self {
        match is_proven {
            true => Self::High,
            false => Self::Medium,
        }
    }
}

/// A metric that supports a finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Its source and name, as the record has them.
    pub metric: String,
    /// Its mean over the time.
    pub value: f64,
    /// What it is counted in.
    pub unit: String,
    /// Of a part of a host's CPU: how many cores there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<f64>,
    /// Begin, in seconds from the start of the measurement.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
}

impl Evidence {
    /// Its value with what it is counted in, where that is a share as charts have it; others are told by
    /// their value and unit.
    pub fn share(&self, lang: Lang) -> Option<String> {
        let percent = |share: f64| three(share * 100.0);
        match self.cores {
            Some(cores) => {
                let share = percent(self.value / cores.max(1.0));
                Some(texts::cores(lang, three(self.value), cores, share))
            }
            None => (self.unit == "ratio").then(|| format!("{}%", percent(self.value))),
        }
    }
}

/// A cause that was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Which.
    pub cause: Cause,
    /// The part of the time that goes without it, 0 to 1: of the latency where sessions wait, of the run
    /// where all stands still, of processors where they are taken. Throughput is at most 1 / (1 − share) times
    /// as high then, so that shares of different causes can be compared. 0 where no effect was seen.
    pub share: f64,
    /// How sure it is.
    pub confidence: Confidence,
    /// What was seen, as a sentence.
    pub sentence: Words,
    /// What supports it.
    pub evidence: Vec<Evidence>,
    /// Causes that were measured to be small and were not found.
    pub excludes: Vec<Cause>,
    /// The next experiment.
    pub next: Words,
}

/// A cause that could not be judged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Skipped {
    /// Which.
    pub cause: Cause,
    /// What to collect.
    pub needs: Words,
}

/// What became of looking for one cause.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Found(FindingDetails),
    NotFound,
    /// Evidence was not collected: what is needed.
    Skipped(Words),
}

/// A finding without its cause, which the table of causes has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FindingDetails {
    pub share: f64,
    pub confidence: Confidence,
    pub says: Words,
    pub next: Words,
    pub evidence: Vec<Evidence>,
    /// Neighbours that its evidence would tell from it: those that were measured to be small are excluded.
    pub excludes: Vec<Cause>,
}

/// Where one millisecond of a latency may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// Due, and no session was free.
    WaitingForSession,
    /// In the client: CPU and run queue.
    Client,
    /// Its own script's pauses.
    Paused,
    /// Round trips: neither the client nor a statement in the server.
    Network,
    /// On the server's CPU.
    ServerCpu,
    /// Waiting in the server.
    ServerWait,
    /// Server and network together, of a type where only all types together were split.
    ServerAndNetwork,
    /// Not known.
    Unexplained,
}

/// What a server's session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitClass {
    /// For a processor.
    RunQueue,
    /// For the log: writing, flushing, replicating it.
    Log,
    /// For pages to be read.
    DataRead,
    /// For pages to be written.
    DataWrite,
    /// For rows that another transaction changed.
    RowLock,
    /// For a lock on a table or another object.
    TableLock,
    /// For a lock that an application names itself: an advisory or user lock.
    Advisory,
    /// For a latch of the server's own.
    Latch,
    /// For something else.
    Other,
}

/// A part of a mean latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Part {
    /// Where.
    pub part: PartKind,
    /// Of a server's wait: for what.
    pub class: Option<WaitClass>,
    /// Milliseconds of the mean.
    pub ms: f64,
}

/// A mean latency in parts that add up to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Split {
    /// The transaction type; `null` for all together.
    #[serde(rename = "type")]
    pub of: Option<String>,
    /// The mean that was measured.
    pub mean_ms: f64,
    /// What the parts came to before they were made to add up, `unexplained` aside: clocks and samples
    /// disagree, so that it may be more than the mean.
    pub measured_ms: f64,
    /// Its parts, none of them negative.
    pub parts: Vec<Part>,
}

impl Split {
    /// Milliseconds of a part, over all its classes.
    pub fn ms(&self, part: PartKind) -> f64 {
        self.sum(|p| p.part == part)
    }

    /// Milliseconds of waits of one class.
    pub fn wait_ms(&self, class: WaitClass) -> f64 {
        self.sum(|p| p.class == Some(class))
    }

    /// From 0: a sum of nothing would be −0.
    fn sum(&self, is_it: impl Fn(&Part) -> bool) -> f64 {
        let of = self.parts.iter().filter(|p| is_it(p));
        of.fold(0.0, |sum, p| sum + p.ms)
    }

    /// A time as a share of the mean.
    pub fn share(&self, ms: f64) -> f64 {
        match self.mean_ms > 0.0 {
            true => (ms / self.mean_ms).clamp(0.0, 1.0),
            false => 0.0,
        }
    }
}

/// What limits a run, and why.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The first finding's cause, or `not-enough-seen`.
    pub verdict: Cause,
    /// It as a sentence or two.
    pub sentence: Words,
    /// Where the mean latency passes: of all transactions, then of each type where there are several.
    pub parts: Vec<Split>,
    /// What was found, the most telling first.
    pub findings: Vec<Finding>,
    /// What could not be judged.
    pub skipped: Vec<Skipped>,
    /// Share of the processors of the database's host that was busy, with whatever, 0 to 1; absent where
    /// that was not seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_busy: Option<f64>,
}
