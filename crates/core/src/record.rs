//! The run record: everything about one run, self-contained, so that an old record can be
//! analysed and reported again by a newer Tidemark.

mod client;
mod clients;
mod experiments;
mod imported;
mod interval;
mod latency;
mod machine;
mod observed;
mod query;
mod text;
mod topology;
mod totals;

pub use client::{ClientHost, ClientUsage};
pub use clients::{ClientPart, ClientState, MissingSpan};
pub use experiments::{Experiments, MeasuredChange, SkippedChange};
pub use imported::{DerivedFigure, Imported, LeftLines, RateUnit, StatedFigure, StatedInterval};
pub use interval::{
    DeadSide, DeadTime, HostLoad, HostRole, Interval, Outage, Phase, StatementCounts,
};
pub use latency::{EncodedHistogram, LatencyEnd, LatencyParts, Quantiles, TypeStats};
pub use machine::MachineFigures;
pub use observed::{Disk, Gap, GapKind, LoadTotal, Observed, Ping, ServerStatement};
pub use query::{AnswerVerdict, QueryOutcome, QueryRun};
pub use text::to_text;
pub use topology::{ClusterDisk, ClusterHost, Component, ComponentSetting, Topology};
pub use totals::{ErrorCount, Fairness, Step, StepPurpose, StepVerdict, Totals};

use crate::series::Series;
use crate::{Isolation, Job, ServerInfo, Source, StudyPlace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of this schema; readers accept their own and older ones, which read as what lacks the newer
/// parts. Since 2 a record says what its latencies end with ([`LatencyEnd`]), and splits them; since 3
/// it may have [series](RunRecord::series), and [quantiles](TypeStats::quantiles) without a histogram; since 4 it may be
/// [imported](RunRecord::imported), or a [watch](RunRecord::watched_s); since 5 of [several
/// clients](RunRecord::clients).
pub const SCHEMA_VERSION: u32 = 5;

/// What a watch has in the place of a workload.
pub const WATCH: &str = "watch";

/// How far a run came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "state", content = "reason")]
pub enum RunState {
    /// It is going on, or its process died: no end was written.
    #[default]
    Running,
    /// It ended as asked.
    Finished,
    /// The user ended it; what was measured until then stands.
    Interrupted,
    /// It ended by an error, which is given.
    Failed(String),
}

/// One effective option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EffectiveOption {
    /// As it was used; passwords are `***`.
    pub value: String,
    /// Where it came from.
    pub source: Source,
}

/// One database setting that differs from the engine's default, or that always matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The engine's default where it is known.
    pub default: Option<String>,
}

/// What a table held when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableState {
    /// Table name.
    pub table: String,
    /// `COUNT(*)`.
    pub rows: u64,
    /// Rows asked for, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_rows: Option<u64>,
    /// Smallest key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_key: Option<i64>,
    /// Largest key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_key: Option<i64>,
}

/// Everything about one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Sortable by start time, unique without coordination (UUID version 7).
    pub id: String,
    /// Version of Tidemark that wrote it.
    pub tidemark_version: String,
    /// When the run started (RFC 3339, UTC).
    pub started_at: String,
    /// When its sessions were open and its load began (RFC 3339, UTC): what intervals count from, less
    /// the warm-up. Absent in records of versions that did not keep it, and of runs that came less far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_began_at: Option<String>,
    /// What its latencies end with.
    #[serde(default)]
    pub latency_end: LatencyEnd,
    /// How far it came.
    #[serde(flatten)]
    pub state: RunState,
    /// Where its figures come from, if Tidemark did not measure them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Seconds for which the target was only observed, with no load of its own (`tidemark watch`): such a
    /// record has series, and nothing of transactions. Absent of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched_s: Option<f64>,
    /// Where it stands in a study; absent for a run of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudyPlace>,
    /// Words that the user put on it, to find and compare it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What the user noted about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The run as it was asked for, by which it can be made again; absent in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// The command line, passwords as `***`.
    pub command: Vec<String>,
    /// The workload's name.
    pub workload: String,
    /// The target's URL, password as `***`.
    pub target: String,
    /// Whether the target is at an address of the client's own host: loopback, a Unix socket, one of
    /// its interfaces. Absent of embedded databases and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_on_client: Option<bool>,
    /// What answered there.
    pub server: Option<ServerInfo>,
    /// Its settings that matter.
    pub settings: Vec<Setting>,
    /// What settings could not be read, or other collectors that failed: a line each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The isolation level of its transactions: the one asked for, or the server's own; absent where
    /// the server didn't tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// Every option with its value and source.
    pub options: BTreeMap<String, EffectiveOption>,
    /// Sessions asked for.
    pub sessions: usize,
    /// Sessions that could be had, where they were fewer (`--fewer-sessions=go-on`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions_opened: Option<usize>,
    /// What kept the others from being opened, with the limit's name and value; absent in records of
    /// before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewer_sessions_because: Option<String>,
    /// Emulated users that shared the sessions; absent where each had its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminals: Option<usize>,
    /// Seconds of warm-up before the measurement, as asked for; absent in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_s: Option<f64>,
    /// Milliseconds added to every round trip inside the client.
    #[serde(default)]
    pub inject_rtt_ms: f64,
    /// Executor threads used.
    pub executors: usize,
    /// Arrivals a second asked for; absent in closed loop.
    #[serde(default)]
    pub rate: Option<f64>,
    /// The seed used.
    pub seed: u64,
    /// The client host.
    pub client: ClientHost,
    /// What short tests of it showed before the run's study; absent where none were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineFigures>,
    /// What the client used.
    pub usage: ClientUsage,
    /// The clients that made the run together, by number: `client` is the first one's host then, and
    /// `usage` the sum. Empty where there was one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientPart>,
    /// Tables before the run.
    pub tables_before: Vec<TableState>,
    /// Tables after the run.
    pub tables_after: Vec<TableState>,
    /// In short, what tables of the run's study held before it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contents_before: BTreeMap<String, String>,
    /// The same after it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contents_after: BTreeMap<String, String>,
    /// Intervals in order.
    pub intervals: Vec<Interval>,
    /// Totals of the measurement; of the confirmation, where a search looked for the rate.
    pub totals: Totals,
    /// Rates that followed each other, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Times in which a host could not be reached, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Stretches of 0.8 s and more in which no transaction ended (0.4 s where the client did not run),
    /// the longest hundred, in order. Absent in records that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_times: Option<Vec<DeadTime>>,
    /// Errors by code.
    pub errors: Vec<ErrorCount>,
    /// What watched the run beside the load gave: the client's host, first of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// What each source of series could see and could not; empty in records of before, and where nothing
    /// was observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Observed>,
    /// Statements that do nothing, before the load; absent in records of before, and where the network
    /// was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping_before: Option<Ping>,
    /// The statements that took most of the server's time, by its own account; empty where it keeps none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_statements: Vec<ServerStatement>,
    /// Counters of a server whose sessions report late, over the whole load: those that did not begin anew
    /// meanwhile. Empty of other servers, and where not all was reported soon after its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_totals: Vec<LoadTotal>,
    /// The disks that hold the data of a server on the client's host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_disks: Vec<Disk>,
    /// The hosts of the target's cluster; absent where neither a file nor the database describes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Queries of a benchmark that asks questions, in the order in which they ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<QueryRun>,
    /// The plan of each of them by name, in the engine's words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub plans: BTreeMap<String, String>,
    /// What experiments around its job showed; absent where none were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiments: Option<Experiments>,
}

impl RunRecord {
    /// Whether it only observed: then it has no transactions, and no figure of any.
    pub fn is_watch(&self) -> bool {
        self.watched_s.is_some()
    }

    /// Whether the machine itself was tested, and no database.
    pub fn is_of_machine(&self) -> bool {
        self.target == crate::job::MACHINE
    }

    /// The throughput that another tool stated, in [`RunRecord::rate_unit`], where it stated one.
    pub fn stated_rate(&self) -> Option<f64> {
        self.imported.as_ref()?.rate()
    }

    /// What its throughput counts.
    pub fn rate_unit(&self) -> RateUnit {
        let imported = self.imported.as_ref();
        imported.map_or(RateUnit::Transactions, |imported| imported.rate_unit)
    }

    /// Whether its document does not state what the record has there.
    pub fn is_derived(&self, what: &str) -> bool {
        let imported = self.imported.as_ref();
        imported.is_some_and(|imported| imported.is_derived(what))
    }
}
