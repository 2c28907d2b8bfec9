//! The run record: everything about one run, self-contained, so that an old record can be
//! analysed and reported again by a newer Tidemark.

mod query;

pub use query::{AnswerVerdict, QueryOutcome, QueryRun};

use crate::{ErrorClass, Isolation, Job, ServerInfo, Source, StudyPlace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of this schema; readers accept their own and older ones. Since 2 a record says what its
/// latencies end with ([`LatencyEnd`]), and splits them.
pub const SCHEMA_VERSION: u32 = 2;

/// What a latency ends with. Figures of the two kinds can't be put beside each other: the first leaves
/// out all that the client's own host made a session wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyEnd {
    /// The last reply's arrival at the client's host, as its kernel stamped it: records of schema 1.
    #[default]
    Arrival,
    /// The session has the reply and can go on, as in sysbench and its like.
    Session,
}

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

/// The machine that made the load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientHost {
    /// Host name.
    pub hostname: String,
    /// Operating system and its version.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// CPU model name.
    pub cpu_model: String,
    /// Logical cores that the process may use.
    pub cores: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

/// What the client process itself used during the measurement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientUsage {
    /// CPU seconds in user space.
    pub cpu_user_s: f64,
    /// CPU seconds in the kernel.
    pub cpu_system_s: f64,
    /// Of these two together, what threads took to stay awake for arrivals of an open loop.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cpu_awake_s: f64,
    /// Largest resident memory in bytes.
    pub max_resident_bytes: u64,
    /// Seconds in which it was used, warm-up included; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Share of the client host's processors that was busy meanwhile, 0 to 1, with whatever ran there;
    /// absent where the system did not tell, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy: Option<f64>,
}

impl ClientUsage {
    /// CPU seconds of what the load itself took.
    pub fn work_s(&self) -> f64 {
        (self.cpu_user_s + self.cpu_system_s - self.cpu_awake_s).max(0.0)
    }
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
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

/// Statement counts as sysbench groups them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatementCounts {
    /// Statements that returned rows.
    pub read: u64,
    /// Statements that changed rows.
    pub write: u64,
    /// The others: transaction control, and writes that changed nothing.
    pub other: u64,
    /// Of the others: INSERT, UPDATE and DELETE statements that changed nothing.
    pub noop_writes: u64,
}

impl StatementCounts {
    /// All statements.
    pub fn total(&self) -> u64 {
        self.read
            .saturating_add(self.write)
            .saturating_add(self.other)
    }
}

impl std::ops::AddAssign for StatementCounts {
    fn add_assign(&mut self, o: Self) {
        // A record from elsewhere may hold any numbers.
        self.read = self.read.saturating_add(o.read);
        self.write = self.write.saturating_add(o.write);
        self.other = self.other.saturating_add(o.other);
        self.noop_writes = self.noop_writes.saturating_add(o.noop_writes);
    }
}

impl std::ops::Sub for StatementCounts {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self {
            read: self.read.saturating_sub(o.read),
            write: self.write.saturating_sub(o.write),
            other: self.other.saturating_sub(o.other),
            noop_writes: self.noop_writes.saturating_sub(o.noop_writes),
        }
    }
}

/// A latency distribution as stored: HdrHistogram V2, compact, base64; nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EncodedHistogram(pub String);

/// One transaction type over a whole run or one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TypeStats {
    /// Transactions that ended well.
    pub count: u64,
    /// Their service times: from handing the first statement over until the session has the last
    /// reply and can go on, as [`RunRecord::latency_end`] says.
    pub service: EncodedHistogram,
    /// Of these, the times at the server and on the way: of each exchange from sending to the moment
    /// at which the last of the reply had come to the client's host (the kernel's stamp). The rest
    /// is the client's share. Absent of embedded databases and in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<EncodedHistogram>,
    /// Their response times (from the moment they were due: the scheduled arrival, or the end of a
    /// terminal's thinking); absent where a transaction is never due before it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<EncodedHistogram>,
    /// Their waits for a free session, from the moment they were due; 0 where a session was free.
    /// Neither this nor the generator's lateness is in the service time; absent as `response` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<EncodedHistogram>,
}

/// Where a mean service time passed, in milliseconds; the two parts add up to the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyParts {
    /// From handing the first statement over until the session can go on.
    pub service_mean_ms: f64,
    /// Of it, until replies had come to the client's host.
    pub server_and_network_mean_ms: f64,
    /// Of it, the rest: waiting for the client host's processors, reading.
    pub client_mean_ms: f64,
}

/// Whether an interval counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Load that does not count.
    Warmup,
    /// Load that counts.
    #[default]
    Measure,
}

/// What a host of the target is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostRole {
    /// Reads and writes.
    #[default]
    Any,
    /// What only reads (`role=read`).
    Read,
}

/// What one host of the target was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostLoad {
    /// `host:port`, or the socket's path.
    pub host: String,
    /// What it is for.
    pub role: HostRole,
    /// Sessions connected to it at the end.
    pub sessions: u64,
    /// Statements sent to it.
    pub statements: u64,
}

/// A time in which a host could not be reached: from the first session lost to it that could not be
/// opened again at once, to the first that could.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// The host.
    pub host: String,
    /// Start, in milliseconds from the start of the measurement.
    pub start_ms: i64,
    /// Length in milliseconds; it may have lasted beyond the run's end.
    pub length_ms: f64,
    /// Whether it ended before the run did.
    pub ended: bool,
    /// What the first refused session was told.
    pub first_error: String,
}

/// Where a stretch without transactions arose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeadSide {
    /// The client ran and heard nothing.
    #[default]
    Target,
    /// The client itself did not run.
    Client,
}

/// A stretch of the measurement in which no transaction ended, well or with an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeadTime {
    /// Start, in milliseconds from the start of the measurement.
    pub start_ms: i64,
    /// Length in milliseconds.
    pub length_ms: f64,
    /// Where it arose.
    pub side: DeadSide,
}

/// Why a rate was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepPurpose {
    /// It was asked for (`--rate 1000..20000:1000`).
    Asked,
    /// No schedule: how fast replies come, to know where a search starts.
    Probe,
    /// A search went up.
    Climb,
    /// A search halved the distance between a rate kept and one not kept.
    Bisect,
    /// The rate that a search found was held again.
    Confirm,
}

/// A rate that was held for a time, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Why it was held.
    pub purpose: StepPurpose,
    /// Arrivals a second asked for; absent for a probe.
    pub rate: Option<f64>,
    /// Start, in milliseconds from the start of the measurement.
    pub start_ms: i64,
    /// What was measured.
    pub totals: Totals,
    /// Whether the objective was kept, and why not; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<StepVerdict>,
}

/// Whether a step kept the objective.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepVerdict {
    /// Whether it did.
    pub kept: bool,
    /// The value that decided, for people: `p99 12.3 ms`, `only 812 of 1,000 a second were sent`.
    pub because: String,
}

/// What happened in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Start, in milliseconds from the start of the measurement (negative in warm-up).
    pub start_ms: i64,
    /// Length in milliseconds.
    pub length_ms: f64,
    /// Whether it counts.
    pub phase: Phase,
    /// Sessions connected at its end.
    pub sessions: u64,
    /// Statements by group.
    pub statements: StatementCounts,
    /// Errors that were counted and retried.
    pub ignored_errors: u64,
    /// Sessions opened again.
    pub reconnects: u64,
    /// Arrivals waiting at its end (open loop).
    #[serde(default)]
    pub queue_length: u64,
    /// Transactions in progress at its end.
    #[serde(default)]
    pub concurrency: u64,
    /// Arrivals a second asked for at its end (open loop).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Arrivals that came when no session was free (open loop).
    #[serde(default)]
    pub delayed_arrivals: u64,
    /// Arrivals dropped because the backlog was full (open loop).
    #[serde(default)]
    pub dropped_arrivals: u64,
    /// Milliseconds of it in which a host could not be reached.
    #[serde(default)]
    pub outage_ms: f64,
    /// What each host was sent, in the order of the target's hosts; empty for embedded engines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostLoad>,
    /// Per transaction type, by name.
    pub types: BTreeMap<String, TypeStats>,
    /// Per type, by name, the transactions that were parts of larger ones, which are in `types` as a
    /// whole (the READs within READ_MODIFY_WRITEs): they are in no other sum.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, TypeStats>,
    /// Outcomes that the workload counts beside its types, by name (TPC-C's `rolled_back`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, u64>,
}

/// One kind of error, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// The engine's code.
    pub code: String,
    /// The driver's class.
    pub class: ErrorClass,
    /// How often.
    pub count: u64,
    /// The first message.
    pub first_message: String,
}

/// How evenly sessions were served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// Mean transactions per session.
    pub events_avg: f64,
    /// Their standard deviation.
    pub events_stddev: f64,
    /// Mean busy seconds per session.
    pub time_avg_s: f64,
    /// Their standard deviation.
    pub time_stddev_s: f64,
    /// Mean seconds per session between a transaction's end and the begin of the next: the client's
    /// own, and those of opening it again. Absent where something makes transactions due, and in
    /// records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_avg_s: Option<f64>,
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

/// Totals of the measurement phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Measured seconds.
    pub elapsed_s: f64,
    /// Statements by group.
    pub statements: StatementCounts,
    /// Errors that were counted and retried.
    pub ignored_errors: u64,
    /// Sessions opened again.
    pub reconnects: u64,
    /// Per transaction type, by name.
    pub types: BTreeMap<String, TypeStats>,
    /// Per type, by name, the transactions that were parts of larger ones, which are in `types` as a
    /// whole (the READs within READ_MODIFY_WRITEs): they are in no other sum.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, TypeStats>,
    /// Outcomes that the workload counts beside its types, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, u64>,
    /// All types together.
    pub all: TypeStats,
    /// Where their mean service time passed; absent of embedded databases and in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_parts: Option<LatencyParts>,
    /// How evenly sessions were served.
    pub fairness: Fairness,
    /// Arrivals that came when no session was free (open loop).
    #[serde(default)]
    pub delayed_arrivals: u64,
    /// Arrivals dropped because the backlog was full (open loop).
    #[serde(default)]
    pub dropped_arrivals: u64,
    /// Arrivals that had come due and were not served when the time was over, those begun and not
    /// ended among them: they are in no latency (open loop).
    #[serde(default)]
    pub unserved_arrivals: u64,
    /// The generator's own lateness: from due to actual start, of transactions that a free session
    /// awaited (open loop, and terminals that think).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<EncodedHistogram>,
    /// Seconds in which a host could not be reached.
    #[serde(default)]
    pub outage_s: f64,
    /// What each host was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostLoad>,
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
    /// What the client used.
    pub usage: ClientUsage,
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
    /// Queries of a benchmark that asks questions, in the order in which they ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<QueryRun>,
    /// The plan of each of them by name, in the engine's words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub plans: BTreeMap<String, String>,
}
