//! A run whose coordinator has ended, to be taken up by another.

use crate::connection::{NatsConnection, NatsOptions};
use crate::error::ClientsError;
use crate::listing::keys;
use crate::protocol::{Beat, RUNS, RunEntry, beat_key};
use async_nats::jetstream::kv::Operation;
use std::time::Duration;

/// A coordinator that says nothing for so long does not live.
const DEAD: Duration = Duration::from_millis(3500);

/// A run that was found to be taken up.
pub(crate) struct FoundRun {
    pub run: String,
    pub entry: RunEntry,
    /// Of its coordinator's last sign of life.
    pub revision: u64,
    /// How many signs of life there were.
    pub number: u64,
}

/// A run whose coordinator says nothing any more.
pub(crate) async fn take_up(
    options: &NatsOptions,
    run: Option<&str>,
    version: &str,
) -> Result<FoundRun, ClientsError> {
    let connection = NatsConnection::open(options, "tidemark attach").await?;
    let kept = connection.ensure(options).await?;
    let mut runs = keys(&connection, RUNS).await?;
    runs.retain(|key| !key.ends_with("_beat"));
    // Ids sort by the time of their start.
    runs.sort();
    let mut there = Vec::new();
    for run in runs {
        let entry = kept.runs.entry(&run).await.map_err(ClientsError::nats)?;
        let entry = entry.filter(|entry| entry.operation == Operation::Put);
        if let Some(entry) = entry {
            there.push((run, entry.value));
        }
    }
    let found = match run {
        Some(run) => there
            .into_iter()
            .find(|(id, _)| id.ends_with(run) || id.starts_with(run)),
        None => there.pop(),
    };
    let no = |run: &str, why: &str| ClientsError::Run {
        run: run.into(),
        why: why.into(),
    };
    let Some((run, json)) = found else {
        let named = run.unwrap_or("last");
        return Err(no(named, "this server has no such run without a record"));
    };
    let entry: RunEntry = serde_json::from_slice(&json)
        .map_err(|_| no(&run, "another version of Tidemark began it; use that one"))?;
    if entry.version != version {
        let why = format!("version {} began it; use that one", entry.version);
        return Err(no(&run, &why));
    }
    let key = beat_key(&run);
    let beat = |entry: Option<async_nats::jetstream::kv::Entry>| {
        let entry = entry?;
        let number = serde_json::from_slice(&entry.value).map(|beat: Beat| beat.number);
        Some((entry.revision, number.unwrap_or_default()))
    };
    let first = kept.runs.entry(&key).await.map_err(ClientsError::nats)?;
    tokio::time::sleep(DEAD).await;
    let second = kept.runs.entry(&key).await.map_err(ClientsError::nats)?;
    match (beat(first), beat(second)) {
        (Some(first), Some(second)) if first == second => Ok(FoundRun {
            run,
            entry,
            revision: second.0,
            number: second.1,
        }),
        (Some(_), Some(_)) => Err(no(
            &run,
            "its coordinator is still there; end that one first",
        )),
        _ => Err(no(&run, "its record is written")),
    }
}
