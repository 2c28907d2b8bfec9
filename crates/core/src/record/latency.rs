//! Latencies of transaction types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// A latency distribution as stored: HdrHistogram V2, compact, base64; nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EncodedHistogram(pub String);

/// What a source that keeps no distribution gave of latencies, in milliseconds. Whatever needs a
/// distribution says so and leaves such a record out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantiles {
    /// Their mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ms: Option<f64>,
    /// The shortest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ms: Option<f64>,
    /// The longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ms: Option<f64>,
    /// By percentage (`"95"`, `"99.9"`), the time within which so many ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub percentiles_ms: BTreeMap<String, f64>,
}

impl Quantiles {
    /// The time within which so many percent ended, if it was given: 100 is the longest.
    pub fn percentile_ms(&self, percent: f64) -> Option<f64> {
        let is = |name: &str| name.parse::<f64>().is_ok_and(|given| given == percent);
        let given = self.percentiles_ms.iter().find(|(name, _)| is(name));
        let end = match percent {
            0.0 => self.min_ms,
            100.0 => self.max_ms,
            _ => None,
        };
        given.map(|(_, ms)| *ms).or(end)
    }
}

/// One transaction type over a whole run or one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TypeStats {
    /// Transactions that ended well.
    pub count: u64,
    /// Their service times: from handing the first statement over until the session has the last
    /// reply and can go on, as [`latency_end`](super::RunRecord::latency_end) says.
    pub service: EncodedHistogram,
    /// What a source gave in their place; `service` is empty then. Of whatever a user waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantiles: Option<Quantiles>,
    /// Of these, the times at the server and on the way: of each exchange from sending to the moment
    /// at which the last of the reply had come to the client's host (the kernel's stamp). The rest
    /// is the client's share and `paused_ms`. Absent of embedded databases and in records of before.
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
    /// Sum of what their own script paused within these service times, in milliseconds: pgbench's
    /// `\sleep`, a Lua script's `usleep`. Neither the server's nor the client's.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paused_ms: f64,
}

/// For serde, which asks by reference.
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Where a mean service time passed, in milliseconds; the parts add up to the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyParts {
    /// From handing the first statement over until the session can go on.
    pub service_mean_ms: f64,
    /// Of it, until replies had come to the client's host.
    pub server_and_network_mean_ms: f64,
    /// Of it, the rest: waiting for the client host's processors, reading.
    pub client_mean_ms: f64,
    /// Of it, what the transaction's own script paused.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paused_mean_ms: f64,
}
