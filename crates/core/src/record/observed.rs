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

/// Something that a source could not see. Its words are the report's: each kind says what is missing and
/// how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// What is missing.
    pub kind: GapKind,
    /// What the words need: an account, a setting, an error in the server's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

impl Gap {
    /// One with its detail.
    pub fn new(kind: GapKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}

/// Why something could not be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GapKind {
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
