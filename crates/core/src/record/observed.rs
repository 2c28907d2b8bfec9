//! What the sources of a run's series could see, and what they could not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One source of a run's series.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// Its name, one of [`crate::observe::SOURCES`].
    pub source: String,
    /// Whether it was sampled; one that could not start has gaps alone.
    pub sampled: bool,
    /// What it could not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
}

/// Times of statements that do nothing, one after the other on one session, until their replies had come
/// to the client's host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ping {
    /// How many there were.
    pub count: u32,
    /// The shortest, in milliseconds.
    pub min_ms: f64,
    /// Their mean.
    pub mean_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

impl Ping {
    /// Of these times in milliseconds; `None` without any.
    pub fn of(times_ms: &[f64]) -> Option<Self> {
        let count = u32::try_from(times_ms.len()).ok().filter(|n| *n > 0)?;
        let sum: f64 = times_ms.iter().sum();
        Some(Self {
            count,
            min_ms: times_ms.iter().copied().fold(f64::INFINITY, f64::min),
            mean_ms: sum / f64::from(count),
            max_ms: times_ms.iter().copied().fold(0.0, f64::max),
        })
    }
}

/// Statements of one form by the server's own account, over the time in which they were observed: what
/// it knew of them at the end, less what it knew at the begin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStatement {
    /// Their text with marks in the place of values, as the server has it; a long one is cut.
    pub text: String,
    /// The database that they were of, where the server says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub database: String,
    /// How many were executed.
    pub count: u64,
    /// The server's time for all of them, in milliseconds.
    pub time_ms: f64,
    /// The longest of them since the server counts, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ms: Option<f64>,
    /// Rows sent or changed.
    pub rows: u64,
    /// Rows read in tables for them (MySQL, MariaDB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_examined: Option<u64>,
    /// Time in which they waited for table locks, in milliseconds (MySQL, MariaDB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_ms: Option<f64>,
    /// Pages requested of the cache (PostgreSQL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages_requested: Option<u64>,
    /// Pages that the cache did not have (PostgreSQL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages_read: Option<u64>,
    /// Bytes of log written for them (PostgreSQL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
}

/// What a counter of the database grew by from the begin of the load until its sessions were closed, warm-up
/// included. Of a server whose sessions report late it is right where the series of a short time is not; what
/// sessions read to begin with is part of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadTotal {
    /// The source that told, one of [`crate::observe::SOURCES`].
    pub source: String,
    /// The name of the series that has the same by the second: `rows.read`.
    pub name: String,
    /// The growth, in what the series counts each second.
    pub total: f64,
}

/// A disk that holds a server's data, where its host is this one or has a node_exporter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disk {
    /// Its device: `nvme0n1`. Empty where the file system is on no disk.
    pub device: String,
    /// Its model, where the device says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Whether it rotates, as the kernel takes it; what is virtual may say anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// The kernel's scheduler of its requests: `none`, `mq-deadline`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scheduler: String,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// The file system on it: `ext4`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file_system: String,
    /// The folder that it holds: the server's data.
    pub holds: String,
}

/// Something that a source could not see. Its words are the report's: each kind says what is missing and
/// how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// What is missing.
    pub kind: GapKind,
    /// What the words need: an account, a setting, an error in the server's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Of what began while a run went on: the second, from the start of the measurement; negative in the
    /// warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<i64>,
}

impl Gap {
    /// One with its detail.
    pub fn new(kind: GapKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            second: None,
        }
    }

    /// The same that began in a second of the run.
    #[must_use]
    pub fn at(mut self, second: Option<i64>) -> Self {
        self.second = second;
        self
    }
}

/// Why something could not be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GapKind {
    /// The database's host is the client's, whose source tells of it.
    LocalHost,
    /// The database's host is another one, and no `--observe-host` names its node_exporter.
    RemoteHost,
    /// No process of this host is the server's.
    NoProcess,
    /// I/O of the server's processes is for its own account and root; the detail is a process.
    ProcessIo,
    /// This version observes no database of this engine; the detail is the engine.
    Engine,
    /// A pooler answers for the server.
    Pooler,
    /// The server has no connections to spare.
    NoConnections,
    /// Sessions of other accounts are hidden; the detail is the statement that shows them.
    OtherSessions,
    /// A setting of the server is off; the detail is the setting that turns it on.
    SettingOff,
    /// The server keeps no account of statements; the detail is what makes it.
    NoStatements,
    /// Statements that the server counted together, for its table of them is full; the detail is how many.
    StatementsTogether,
    /// The server keeps no account of prepared statements; the detail is how often they were executed.
    Prepared,
    /// There is no TCP connection to look at; the detail is what there is instead.
    NoTcp,
    /// The account may not read it; the detail is the statement that allows it.
    Refused,
    /// The server's version has no such figures; the detail is the view.
    OldVersion,
    /// The database does not name its nodes to this account; the detail is the statement that allows it.
    NodesRefused,
    /// There are more nodes than are looked at; the detail is how many.
    NodesTooMany,
    /// A node tells nothing; the detail is the node and why.
    NodeSilent,
    /// A node asks for TLS; the detail is its address.
    NodeTls,
    /// It failed; the detail is the error.
    Failed,
    /// It did not answer before the run's end.
    Stalled,
    /// What a newer version knows.
    #[serde(other)]
    Other,
}
