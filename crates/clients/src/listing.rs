//! Who is there. The bucket says who was; each is asked itself, which also compares the clocks.

use crate::clock::{Comparisons, Offset, now_ns};
use crate::connection::{NatsConnection, NatsOptions, NatsStores};
use crate::error::ClientsError;
use crate::protocol::{AGENTS, AgentAnswer, AgentRequest, Presence, Said, agent_subject};
use async_nats::jetstream::kv::Operation;
use futures_util::{StreamExt, stream};
use std::time::{Duration, Instant};

/// So many agents are asked at the same time.
const TOGETHER: usize = 16;
/// Clocks are compared so often, one after the other; the shortest round trip counts.
const COMPARISONS: usize = 20;
/// An answer takes no longer.
const ANSWER: Duration = Duration::from_millis(1500);

/// An agent, as a list has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    pub presence: Presence,
    /// What it is good for.
    pub state: ListedState,
    /// How far its clock is ahead of this host's; none of one that does not answer.
    pub clock: Option<Offset>,
}

/// What an agent is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedState {
    /// It waits for a run.
    Free,
    /// It is part of this run.
    Busy(String),
    /// It said that it is there, and does not answer.
    Silent,
    /// It has another version than this program.
    OtherVersion,
}

/// All agents, by name.
///
/// # Errors
/// [`ClientsError`] when NATS can't be reached or asked.
pub fn list(options: &NatsOptions, version: &str) -> Result<Vec<Listed>, ClientsError> {
    crate::runtime()?.block_on(async {
        let connection = NatsConnection::open(options, "tidemark agents").await?;
        let kept = connection.ensure(options).await?;
        all(&connection, &kept, version).await
    })
}

/// All agents, by name.
pub(crate) async fn all(
    connection: &NatsConnection,
    kept: &NatsStores,
    version: &str,
) -> Result<Vec<Listed>, ClientsError> {
    let names = keys(connection, AGENTS).await?;
    let listed = stream::iter(names).map(|name| one(connection, kept, name, version));
    let mut listed: Vec<Listed> = listed
        .buffer_unordered(TOGETHER)
        .filter_map(std::future::ready)
        .collect()
        .await;
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(listed)
}

/// The keys of a bucket, also deleted ones: by what the server counts, for watchers have stalled.
pub(crate) async fn keys(
    connection: &NatsConnection,
    bucket: &str,
) -> Result<Vec<String>, ClientsError> {
    let stream = connection.context.get_stream(format!("KV_{bucket}")).await;
    let stream = stream.map_err(ClientsError::nats)?;
    let prefix = format!("$KV.{bucket}.");
    let counted = stream.info_with_subjects(format!("{prefix}>")).await;
    let mut counted = counted.map_err(ClientsError::nats)?;
    let mut keys = Vec::new();
    while let Some(subject) = counted.next().await {
        let (subject, _) = subject.map_err(ClientsError::nats)?;
        keys.extend(subject.strip_prefix(&prefix).map(String::from));
    }
    Ok(keys)
}

async fn one(
    connection: &NatsConnection,
    kept: &NatsStores,
    name: String,
    version: &str,
) -> Option<Listed> {
    let entry = kept.agents.entry(&name).await.ok().flatten()?;
    if entry.operation != Operation::Put {
        return None;
    }
    let mut presence: Presence = serde_json::from_slice(&entry.value).ok()?;
    let compared = compare(connection, &name).await;
    let clock = compared.map(|(answer, offset)| {
        presence.instance = answer.instance;
        // What it says now is newer than what it said of itself.
        presence.run = match answer.said {
            Said::Here(run) => run,
            _ => presence.run.take(),
        };
        offset
    });
    let state = match (clock, &presence.run) {
        (None, _) => ListedState::Silent,
        _ if presence.version != version => ListedState::OtherVersion,
        (_, Some(run)) => ListedState::Busy(run.clone()),
        (_, None) => ListedState::Free,
    };
    Some(Listed {
        name,
        presence,
        state,
        clock,
    })
}

/// Compares an agent's clock with this host's; its last answer, too.
async fn compare(connection: &NatsConnection, agent: &str) -> Option<(AgentAnswer, Offset)> {
    let mut all = Comparisons::default();
    let mut last = None;
    for _ in 0..COMPARISONS {
        let sent = now_ns();
        let answer = ask(connection, agent, &AgentRequest::Clock, ANSWER)
            .await
            .ok()?;
        all.add(Instant::now(), Offset::of(sent, answer.now_ns, now_ns()));
        last = Some(answer);
    }
    Some((last?, all.best()?))
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Nobody listens there: the server says so.
    Nobody,
    /// Nothing came.
    Nothing,
}

/// Asks an agent.
pub(crate) async fn ask(
    connection: &NatsConnection,
    agent: &str,
    request: &AgentRequest,
    limit: Duration,
) -> Result<AgentAnswer, NoAnswer> {
    let json = serde_json::to_vec(request).unwrap_or_default();
    let asked = connection.client.request(agent_subject(agent), json.into());
    match tokio::time::timeout(limit, asked).await {
        Ok(Ok(message)) => serde_json::from_slice(&message.payload).map_err(|_| NoAnswer::Nothing),
        Ok(Err(error)) if error.kind() == async_nats::RequestErrorKind::NoResponders => {
            Err(NoAnswer::Nobody)
        }
        _ => Err(NoAnswer::Nothing),
    }
}
