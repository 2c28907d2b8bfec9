//! Messages of the stream, by a durable pull consumer that is made anew whenever it is silent: consumers
//! have stalled after restarts of servers in more than one client library.

use crate::connection::NatsConnection;
use crate::protocol::RESULTS;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use bytes::Bytes;
use futures_util::StreamExt;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// So many messages are asked for at once.
const BATCH: usize = 256;
/// A batch that is not full comes after this time.
const WAIT: Duration = Duration::from_millis(500);
/// What is asked for and does not come in this time does not come.
const ANSWER: Duration = Duration::from_secs(4);
/// A consumer that brought nothing for so long is made anew.
const IDLE: Duration = Duration::from_secs(5);
/// After an error.
const PAUSE: Duration = Duration::from_millis(300);
/// Consumers that nobody asks any more go by themselves.
const FORGOTTEN: Duration = Duration::from_secs(3600);

/// Brings all messages of a run, from the first on, until nobody takes them any more.
pub(crate) async fn collect(
    connection: NatsConnection,
    run: String,
    holder: String,
    to: UnboundedSender<Bytes>,
) {
    let (mut last, mut created) = (0, None);
    for attempt in 0_u64.. {
        let name = format!("{holder}-{attempt}");
        let stream = tokio::time::timeout(ANSWER, connection.context.get_stream(RESULTS));
        if let Ok(Ok(stream)) = stream.await {
            let now = Some(stream.cached_info().created);
            last = first_after(last, created, now);
            created = now;
        }
        if let Ok(consumer) = consumer(&connection, &run, &name, last).await {
            drain(&consumer, &mut last, &to).await;
        }
        let deleted = connection
            .context
            .delete_consumer_from_stream(name, RESULTS);
        let _gone = tokio::time::timeout(ANSWER, deleted).await;
        if to.is_closed() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// After which message of the stream it is gone on. One that was made anew, because its files were lost,
/// counts from 1 again.
fn first_after<T: PartialEq>(last: u64, created: Option<T>, now: Option<T>) -> u64 {
    match created.is_some() && created != now {
        true => 0,
        false => last,
    }
}

async fn consumer(
    connection: &NatsConnection,
    run: &str,
    name: &str,
    last: u64,
) -> Result<PullConsumer, String> {
    let config = pull::Config {
        durable_name: Some(name.into()),
        filter_subject: format!("tidemark.results.{run}.*"),
        ack_policy: AckPolicy::Explicit,
        deliver_policy: match last {
            0 => DeliverPolicy::All,
            last => DeliverPolicy::ByStartSequence {
                start_sequence: last + 1,
            },
        },
        inactive_threshold: FORGOTTEN,
        ..pull::Config::default()
    };
    let made = connection
        .context
        .create_consumer_on_stream(config, RESULTS);
    match tokio::time::timeout(ANSWER, made).await {
        Ok(Ok(consumer)) => Ok(consumer),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("no answer".into()),
    }
}

/// Takes messages until the consumer is silent or fails.
async fn drain(consumer: &PullConsumer, last: &mut u64, to: &UnboundedSender<Bytes>) {
    let mut heard = Instant::now();
    while heard.elapsed() < IDLE && !to.is_closed() {
        let batch = consumer
            .fetch()
            .max_messages(BATCH)
            .expires(WAIT)
            .messages();
        let Ok(Ok(mut batch)) = tokio::time::timeout(ANSWER, batch).await else {
            return;
        };
        loop {
            match tokio::time::timeout(ANSWER, batch.next()).await {
                Ok(Some(Ok(message))) => {
                    heard = Instant::now();
                    let Ok(sequence) = message.info().map(|info| info.stream_sequence) else {
                        return;
                    };
                    if sequence > *last {
                        *last = sequence;
                        if to.send(message.payload.clone()).is_err() {
                            return;
                        }
                    }
                    // What is not acknowledged comes again, and is known by its number.
                    let _again = message.ack().await;
                }
                Ok(None) => break,
                Ok(Some(Err(_))) | Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_was_made_anew_is_read_from_its_beginning() {
        assert_eq!(first_after(0, None, Some(1)), 0);
        assert_eq!(first_after(70, Some(1), Some(1)), 70);
        assert_eq!(first_after(70, Some(1), Some(2)), 0);
    }
}
