//! What coordinator and agents say to each other. The parts: a request to an agent with its answer; what
//! a load says, numbered; what the store of keys holds of agents and runs.

use serde::{Deserialize, Serialize};
use tidemark_core::Job;
use tidemark_core::record::{ErrorCount, Interval, QueryRun, RunRecord, Step, StepPurpose};

/// Bucket of agents: a key each.
pub const AGENTS: &str = "tidemark_agents";
/// Bucket of runs: a key each.
pub const RUNS: &str = "tidemark_runs";
/// Stream of what loads say.
pub const RESULTS: &str = "TIDEMARK_RESULTS";

/// The subject at which an agent is asked.
pub fn agent_subject(agent: &str) -> String {
    format!("tidemark.agent.{agent}")
}

/// The subject to which a client's load says.
pub fn result_subject(run: &str, client: u32) -> String {
    format!("tidemark.results.{run}.{client}")
}

/// A name that can stand in a subject, of a host's name: letters, digits, `-` and `_`.
pub fn name_of_host(host: &str) -> String {
    let first = host.split('.').next().unwrap_or_default();
    let kept = |c: char| if is_of_a_name(c) { c } else { '-' };
    let name: String = first.chars().map(kept).collect();
    if name.is_empty() {
        "client".into()
    } else {
        name
    }
}

/// Whether a name can stand in a subject.
pub fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(is_of_a_name)
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// What an agent tells of itself, a few times a minute; who is gone is gone from the bucket, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// Its version of Tidemark.
    pub version: String,
    /// Its host.
    pub hostname: String,
    /// Processors that it may use.
    pub cores: usize,
    /// This start of it: a restarted agent is another one.
    pub instance: String,
    /// The run that it is part of.
    pub run: Option<String>,
}

/// The right to make load, until its deadline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The run.
    pub run: String,
    /// Which of its clients, from 0.
    pub client: u32,
    /// The run's number among all that this server has seen: what an older one says counts nowhere.
    pub epoch: u64,
}

/// What a coordinator asks of an agent. Each can be asked again, for answers are lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentRequest {
    /// What its clock shows.
    Clock,
    /// Take a part of a run: connect, prepare, wait.
    Take(Box<Take>),
    /// The lease holds on; how it stands.
    Renew(Lease),
    /// Begin at this moment of the agent's clock.
    Go {
        /// The lease.
        lease: Lease,
        /// Nanoseconds of the agent's monotonic clock.
        at_ns: i64,
    },
    /// Hold this rate.
    Hold {
        /// The lease.
        lease: Lease,
        /// Its number among the rates of the run, from 0: one asked again is held once.
        number: u64,
        /// The rate, in nanoseconds of the agent's clock.
        step: HeldRate,
    },
    /// No rate follows.
    EndSteps(Lease),
    /// End the load, and tell what was measured.
    Stop(Lease),
    /// Everything was received, or nobody wants it: the agent is free.
    Release(Lease),
}

/// A rate that all clients hold together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeldRate {
    /// Why.
    pub purpose: StepPurpose,
    /// Arrivals a second of the whole run; none is a probe without a schedule.
    pub rate: Option<f64>,
    /// From this moment of a monotonic clock on, in nanoseconds.
    pub from_ns: i64,
    /// For so many nanoseconds.
    pub hold_ns: u64,
}

/// A part of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Take {
    /// The lease.
    pub lease: Lease,
    /// Version of the coordinator; another's agent refuses.
    pub version: String,
    /// Milliseconds after the last renewal at which no load may go on.
    pub deadline_ms: u64,
    /// The client's share of the job. It holds no password.
    pub job: Job,
}

/// An agent's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentAnswer {
    /// Its clock, in nanoseconds.
    pub now_ns: i64,
    /// Which start of it.
    pub instance: String,
    /// The answer itself.
    pub said: Said,
}

/// What it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// Of a clock: the run that it is part of.
    Here(Option<String>),
    /// Of a release.
    Done,
    /// It will not, and why.
    Refused(String),
    /// It has no such lease (any more).
    NoLease,
    /// How its part of the run stands.
    Status(Status),
}

/// How an agent's part of a run stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// How far it is.
    pub stage: Stage,
    /// Messages that the load has said.
    pub said: u64,
    /// Of these, in the stream.
    pub kept: u64,
    /// Milliseconds since the load's process gave a sign of life.
    pub quiet_ms: u64,
    /// When its load began, by the agent's clock.
    pub began_ns: Option<i64>,
    /// What keeps messages from the stream.
    pub trouble: Option<String>,
    /// Whether the load is over, also where its last messages are not in the stream yet.
    pub is_over: bool,
}

/// How far a client is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// It connects and prepares.
    #[default]
    Preparing,
    /// It waits for the start.
    Ready,
    /// It makes load, or waits for the moment.
    Going,
    /// It ended and said everything.
    Ended,
    /// It ended without its last message.
    Failed(String),
}

/// What a load says to whoever collects: one message of the stream, which may have several parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// All sessions are connected.
    Started {
        /// Sessions connected.
        sessions: usize,
        /// What kept the others from being opened.
        fewer_because: Option<String>,
        /// Executor threads.
        executors: usize,
        /// Milliseconds that it took.
        connect_ms: u64,
    },
    /// An interval ended.
    Interval {
        /// Its number among the client's, from 0.
        number: u64,
        /// The interval.
        interval: Box<Interval>,
        /// Errors of it.
        errors: Vec<ErrorCount>,
        /// Processors that the load used meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpus: Option<f64>,
        /// Share of the host's processors that was busy meanwhile, 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host_busy: Option<f64>,
    },
    /// A rate was held.
    Step(Box<Step>),
    /// A stream's query ended.
    Query(Box<QueryRun>),
    /// A line for people.
    Line(String),
    /// The end, with the client's own record; its intervals came before.
    Ended(Box<RunRecord>),
    /// The end of a load of tables.
    Loaded,
    /// Nothing was measured, and why.
    Failed {
        /// The exit code that a run alone would have had.
        code: u8,
        /// The message.
        message: String,
    },
}

impl AgentRequest {
    /// The lease for which it is asked.
    pub fn lease(&self) -> Option<&Lease> {
        match self {
            AgentRequest::Clock => None,
            AgentRequest::Take(take) => Some(&take.lease),
            AgentRequest::Renew(lease)
            | AgentRequest::Go { lease, .. }
            | AgentRequest::Hold { lease, .. }
            | AgentRequest::EndSteps(lease)
            | AgentRequest::Stop(lease)
            | AgentRequest::Release(lease) => Some(lease),
        }
    }
}

impl Message {
    /// Whether nothing follows it.
    pub fn is_last(&self) -> bool {
        matches!(
            self,
            Message::Ended(_) | Message::Loaded | Message::Failed { .. }
        )
    }
}

/// What the load's process says to its agent, a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Up {
    /// It lives.
    Alive,
    /// It is connected and waits.
    Ready,
    /// Its load began at this moment of the host's clock.
    Began(i64),
    /// A [`Message`] as JSON.
    Message(String),
    /// It is over: what the process said last, where it did not end well.
    Over(Option<String>),
}

impl Up {
    /// As a line.
    pub fn line(&self) -> String {
        match self {
            Up::Alive => "alive".into(),
            Up::Ready => "ready".into(),
            Up::Began(ns) => format!("began {ns}"),
            Up::Message(json) => format!("message {json}"),
            Up::Over(_) => "over".into(),
        }
    }

    /// Of a line; none of one that is nothing of these.
    pub fn of(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "alive" => Some(Up::Alive),
            "ready" => Some(Up::Ready),
            "began" => rest.parse().ok().map(Up::Began),
            "message" => Some(Up::Message(rest.into())),
            "over" => Some(Up::Over(None)),
            _ => None,
        }
    }
}

/// What an agent says to the load's process, a line each, after the job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Down {
    /// Load may go on until this moment of the host's clock.
    Until(i64),
    /// Begin at this moment of the host's clock.
    Go(i64),
    /// Hold this rate.
    Hold(HeldRate),
    /// No rate follows.
    EndSteps,
    /// End, and tell what was measured.
    Stop,
}

impl Down {
    /// As a line.
    pub fn line(&self) -> String {
        match self {
            Down::Until(ns) => format!("until {ns}"),
            Down::Go(ns) => format!("go {ns}"),
            Down::Hold(step) => {
                let json = serde_json::to_string(step).unwrap_or_default();
                format!("hold {json}")
            }
            Down::EndSteps => "end-steps".into(),
            Down::Stop => "stop".into(),
        }
    }

    /// Of a line; none of one that is nothing of these.
    pub fn of(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "until" => rest.parse().ok().map(Down::Until),
            "go" => rest.parse().ok().map(Down::Go),
            "hold" => serde_json::from_str(rest).ok().map(Down::Hold),
            "end-steps" => Some(Down::EndSteps),
            "stop" => Some(Down::Stop),
            _ => None,
        }
    }
}

/// A sign of life of a run's coordinator, beside its entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// The coordinator of now.
    pub holder: String,
    /// Counts up while it lives.
    pub number: u64,
}

/// The key of a run's signs of life.
pub fn beat_key(run: &str) -> String {
    format!("{run}_beat")
}

/// A run in the bucket of runs: what another coordinator needs to take it up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEntry {
    /// Version of its coordinator.
    pub version: String,
    /// Its clients, in order.
    pub clients: Vec<RunClient>,
    /// What to do when a client is lost.
    pub on_loss: OnLoss,
    /// Milliseconds of the lease.
    pub deadline_ms: u64,
    /// The record so far, without what is measured, for whoever takes it up.
    pub record: Option<Box<RunRecord>>,
}

/// A client of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunClient {
    /// The agent.
    pub agent: String,
    /// Which start of it.
    pub instance: String,
    /// Its host.
    pub hostname: String,
    /// Its lease.
    pub lease: Lease,
}

/// What to do when a client is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnLoss {
    /// End all others; the run failed.
    #[default]
    Fail,
    /// The others go on with their own load; a finding says what was missing when.
    Continue,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_can_stand_in_subjects() {
        assert_eq!(name_of_host("load-1.example.org"), "load-1");
        assert_eq!(name_of_host("ü b"), "--b");
        assert_eq!(name_of_host(""), "client");
        assert!(is_name("load_1-a"));
        assert!(!is_name("a.b") && !is_name("*") && !is_name(""));
    }

    proptest! {
        #[test]
        fn lines_are_read_as_they_were_written(ns: i64, text in "[^\n]*") {
            for line in [Up::Alive, Up::Ready, Up::Began(ns), Up::Message(text.clone()), Up::Over(None)] {
                prop_assert_eq!(Up::of(&line.line()), Some(line));
            }
            let step = HeldRate {
                purpose: StepPurpose::Climb,
                rate: Some(1000.0),
                from_ns: ns,
                hold_ns: 7,
            };
            for line in [Down::Until(ns), Down::Go(ns), Down::Hold(step), Down::EndSteps, Down::Stop] {
                prop_assert_eq!(Down::of(&line.line()), Some(line));
            }
        }

        #[test]
        fn whatever_comes_is_no_panic(line in ".*") {
            let _nothing = (Up::of(&line), Down::of(&line));
        }
    }
}
