//! Messages of a load on their way into the stream: numbered, in parts, again until they are there.

use crate::connection::NatsConnection;
use crate::protocol::{Lease, result_subject};
use async_nats::HeaderMap;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// A part of a message is no larger: NATS takes 1 MiB unless it is told otherwise.
const LARGEST_PART: usize = 512 * 1024;
/// A message has no more of them.
const MOST_PARTS: u32 = 4096;
/// A message that was not taken is sent again after this time.
const PAUSE: Duration = Duration::from_millis(200);

/// What stands before each part of a message, as a line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The client.
    pub client: u32,
    /// The lease's epoch.
    pub epoch: u64,
    /// The message's number among the client's, from 0.
    pub number: u64,
    /// Which part, from 0.
    pub part: u32,
    /// How many there are.
    pub of: u32,
}

impl Envelope {
    /// The parts of a message, each with its envelope.
    pub fn parts(lease: &Lease, number: u64, text: &str, largest: usize) -> Vec<(Self, Bytes)> {
        let chunks: Vec<&[u8]> = match text.is_empty() {
            true => vec![&[]],
            false => text.as_bytes().chunks(largest.max(1)).collect(),
        };
        let of = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
        let numbered = chunks.into_iter().zip(0..of);
        numbered
            .map(|(chunk, part)| {
                let envelope = Self {
                    client: lease.client,
                    epoch: lease.epoch,
                    number,
                    part,
                    of,
                };
                let mut bytes = serde_json::to_vec(&envelope).unwrap_or_default();
                bytes.push(b'\n');
                bytes.extend_from_slice(chunk);
                (envelope, bytes.into())
            })
            .collect()
    }

    /// A part as it arrived; none of what is no part.
    pub fn open(payload: &Bytes) -> Option<(Self, Bytes)> {
        let end = payload.iter().position(|b| *b == b'\n')?;
        let envelope: Self = serde_json::from_slice(&payload[..end]).ok()?;
        let is_right = envelope.part < envelope.of && envelope.of <= MOST_PARTS;
        is_right.then(|| (envelope, payload.slice(end + 1..)))
    }

    /// By which the server knows one that comes again.
    fn id(&self, run: &str) -> String {
        let Self {
            client,
            epoch,
            number,
            part,
            ..
        } = self;
        format!("{run}-{epoch}-{client}-{number}-{part}")
    }
}

/// How far messages are.
#[derive(Debug, Default)]
pub(crate) struct PublishProgress {
    /// Messages in the stream.
    pub kept: AtomicU64,
    trouble: Mutex<Option<String>>,
}

impl PublishProgress {
    /// What keeps messages from the stream.
    pub fn trouble(&self) -> Option<String> {
        let held = self.trouble.lock();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_trouble(&self, trouble: Option<String>) {
        let held = self.trouble.lock();
        *held.unwrap_or_else(PoisonError::into_inner) = trouble;
    }
}

/// Sends all that comes, in order, until nothing more can come.
pub(crate) async fn publish(
    connection: NatsConnection,
    lease: Lease,
    mut messages: UnboundedReceiver<String>,
    progress: Arc<PublishProgress>,
) {
    let subject = result_subject(&lease.run, lease.client);
    let mut number = 0;
    while let Some(text) = messages.recv().await {
        for (envelope, bytes) in Envelope::parts(&lease, number, &text, LARGEST_PART) {
            let id = envelope.id(&lease.run);
            while let Err(trouble) = send(&connection, &subject, &id, bytes.clone()).await {
                progress.set_trouble(Some(trouble));
                tokio::time::sleep(PAUSE).await;
            }
        }
        number += 1;
        progress.set_trouble(None);
        progress.kept.store(number, Ordering::Release);
    }
}

async fn send(
    connection: &NatsConnection,
    subject: &str,
    id: &str,
    bytes: Bytes,
) -> Result<(), String> {
    let mut headers = HeaderMap::new();
    headers.insert("Nats-Msg-Id", id);
    let sent = connection
        .context
        .publish_with_headers(subject.to_string(), headers, bytes)
        .await
        .map_err(|e| e.to_string())?;
    sent.await.map(drop).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_hold_the_whole_text(text in ".{0,200}", largest in 1_usize..40, number: u64) {
            let lease = Lease { run: "r".into(), client: 3, epoch: 7 };
            let parts = Envelope::parts(&lease, number, &text, largest);
            let mut whole = Vec::new();
            for (at, (envelope, bytes)) in parts.iter().enumerate() {
                let (read, rest) = Envelope::open(bytes).unwrap();
                prop_assert_eq!(&read, envelope);
                prop_assert_eq!((read.part as usize, read.of as usize), (at, parts.len()));
                prop_assert!(rest.len() <= largest);
                whole.extend_from_slice(&rest);
            }
            prop_assert_eq!(whole, text.into_bytes());
        }

        #[test]
        fn what_is_no_part_is_none(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _nothing = Envelope::open(&Bytes::from(bytes));
        }
    }
}
