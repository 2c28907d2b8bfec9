//! What a run is asked to do.

use crate::duration_text;
use crate::{Arrivals, ErrorKind, Isolation, Pacing, Shard, ShardError, ThinkTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Whether statements are prepared on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PreparedMode {
    /// Prepared once a session on the server, then executed (`--db-ps-mode=auto`).
    Server,
    /// Sent as text with the values written in (`--db-ps-mode=disable`).
    Text,
}

/// What to do when a session is lost during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DisconnectPolicy {
    /// End the run with an error.
    Fail,
    /// Open a new session with jittered back-off, for at most `give_up_after`.
    Reconnect,
}

/// Which statement errors are counted and retried instead of ending the run, beyond those the
/// driver already calls retryable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IgnoreErrors {
    /// Those the driver classes as [`crate::ErrorClass::Retryable`], and these kinds (sysbench also
    /// retries a duplicate key on PostgreSQL).
    Retryable {
        /// Kinds beside the class.
        also: Vec<ErrorKind>,
    },
    /// Exactly these engine codes (`--mysql-ignore-errors=1213,1020`).
    Codes(Vec<String>),
    /// Every error.
    All,
}

/// What to do when fewer sessions can be had than were asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FewerSessions {
    /// End with an error before any load is made.
    #[default]
    Fail,
    /// Run with those that could be had; the record says how many.
    GoOn,
}

/// One workload on one target at one load level: the `load` of a [`crate::Job`]. Times are texts there,
/// as `10s` and `250us`; what is left out is as [`RunSpec::default`] has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunSpec {
    /// Emulated users (sysbench's threads).
    pub terminals: usize,
    /// Connections that the terminals share; as many as terminals when each has its own.
    pub sessions: usize,
    /// A terminal's pause between two transactions.
    pub think_time: ThinkTime,
    /// Sessions opened a second in all; `None` is as fast as the target takes them.
    pub connect_rate: Option<f64>,
    /// What to do when fewer sessions can be had.
    pub fewer_sessions: FewerSessions,
    /// Executor threads; `None` is one per core, and never more than sessions.
    pub executors: Option<usize>,
    /// Whether executors leave the processor to a server that shares it, until it has no more to
    /// do, instead of taking it from it at every reply.
    pub yield_to_server: bool,
    /// How long before an arrival of an open loop an executor stays awake for it, instead of
    /// sleeping until its timer rings; zero sleeps.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub busy_poll: Duration,
    /// Measurement ends after this time.
    #[serde(with = "duration_text::option")]
    #[schemars(with = "Option<String>")]
    pub time: Option<Duration>,
    /// Measurement ends after this many transactions in all.
    pub events: Option<u64>,
    /// Load before the measurement that does not count.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub warmup: Duration,
    /// What lets a transaction start.
    pub pacing: Pacing,
    /// How arrivals of an open loop are spaced.
    pub arrivals: Arrivals,
    /// Arrivals that may wait for a free session; beyond them arrivals are dropped and counted.
    pub max_backlog: u64,
    /// Added to every round trip inside the client.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub inject_rtt: Duration,
    /// How long one statement may take before its session is given up; `None` waits.
    #[serde(with = "duration_text::option")]
    #[schemars(with = "Option<String>")]
    pub statement_timeout: Option<Duration>,
    /// Seed of every random choice; the same seed gives the same choices per session.
    pub seed: u64,
    /// Whether statements are prepared on the server.
    pub prepared: PreparedMode,
    /// Isolation level of transactions; `None` is the server's default.
    pub isolation: Option<Isolation>,
    /// Open a new session every so many transactions (sysbench's `reconnect`); 0 is never.
    pub reconnect_every: u64,
    /// Which errors are counted and retried.
    pub ignore_errors: IgnoreErrors,
    /// What to do when a session is lost.
    pub on_disconnect: DisconnectPolicy,
    /// How long a lost session is tried again before the run fails.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub reconnect_timeout: Duration,
    /// How long opening all sessions and preparing their statements may take.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub init_timeout: Duration,
    /// How long one connection attempt may take.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub connect_timeout: Duration,
    /// How long after its end a run waits for transactions in flight; `None` waits for all.
    #[serde(with = "duration_text::option")]
    #[schemars(with = "Option<String>")]
    pub forced_shutdown: Option<Duration>,
    /// Length of a recorded interval.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub interval: Duration,
    /// Which client's share this process does, where several share the run. All else here is of the
    /// whole run.
    pub shard: Shard,
}

impl RunSpec {
    /// What this client does of the whole: its sessions, terminals, transactions and backlog. Rates
    /// stay those of the whole, because arrivals are dealt one by one.
    #[must_use]
    pub fn own(&self) -> Self {
        let shard = self.shard;
        Self {
            sessions: shard.count_usize(self.sessions),
            terminals: shard.count_usize(self.terminals),
            events: self.events.map(|events| shard.count(events)),
            max_backlog: shard.count(self.max_backlog).max(1),
            ..self.clone()
        }
    }

    /// Whether the run can be dealt to so many clients.
    ///
    /// # Errors
    /// [`ShardError`] of a shard that is none, or that has no session of this run.
    pub fn check_shard(&self) -> Result<(), ShardError> {
        self.shard.check()?;
        let most = self.sessions.min(self.terminals);
        match u64::from(self.shard.of) > most as u64 {
            true => Err(ShardError::TooFew {
                of: self.shard.of,
                sessions: most,
            }),
            false => Ok(()),
        }
    }
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            terminals: 1,
            sessions: 1,
            think_time: ThinkTime::None,
            connect_rate: None,
            fewer_sessions: FewerSessions::Fail,
            executors: None,
            yield_to_server: true,
            busy_poll: Duration::from_micros(500),
            time: Some(Duration::from_secs(10)),
            events: None,
            warmup: Duration::ZERO,
            pacing: Pacing::Closed,
            arrivals: Arrivals::Poisson,
            max_backlog: 100_000,
            inject_rtt: Duration::ZERO,
            statement_timeout: None,
            seed: 1,
            prepared: PreparedMode::Server,
            isolation: None,
            reconnect_every: 0,
            ignore_errors: IgnoreErrors::Retryable { also: Vec::new() },
            on_disconnect: DisconnectPolicy::Reconnect,
            reconnect_timeout: Duration::from_secs(30),
            init_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            forced_shutdown: None,
            interval: Duration::from_secs(1),
            shard: Shard::WHOLE,
        }
    }
}
