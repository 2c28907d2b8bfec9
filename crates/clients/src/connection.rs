//! The way to NATS: address, credential, certificates; buckets and stream.

use crate::clock::now_ns;
use crate::error::ClientsError;
use crate::protocol::{AGENTS, RESULTS, RUNS};
use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::{Context, kv, stream};
use async_nats::{Client, ConnectOptions, Event};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A server that does not answer in this time is not there.
const CONNECT: Duration = Duration::from_secs(5);
/// The same of one thing that is asked of JetStream.
const ASKED: Duration = Duration::from_secs(3);
/// A silent connection is asked so often whether it lives; two questions without an answer end it.
const PING: Duration = Duration::from_secs(2);
/// A lost connection is tried again at least so often.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// An agent that did not say for so long that it is there is gone from the bucket.
const PRESENT: Duration = Duration::from_secs(20);
/// Results and runs are kept so long for whoever takes them up.
const KEPT: Duration = Duration::from_secs(24 * 3600);
/// A message that is sent again within this time is one.
const SAME: Duration = Duration::from_secs(600);

/// How NATS is reached.
#[derive(Clone, Default)]
pub struct NatsOptions {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`, several joined by commas; without a password.
    pub url: String,
    /// File with the credential of an account (JWT and seed).
    pub creds: Option<PathBuf>,
    /// File with the certificate authority, where it is not the system's.
    pub ca: Option<PathBuf>,
    /// User and password.
    pub user: Option<(String, String)>,
}

impl std::fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let user = self.user.as_ref().map(|(user, _)| user);
        write!(f, "{} as {user:?}", self.url)
    }
}

impl NatsOptions {
    /// An address with what the environment has of the credential: `NATS_USER` and `NATS_PASSWORD`, or
    /// `NATS_CREDS` (a file) unless one is given.
    ///
    /// # Errors
    /// [`ClientsError::Usage`] of an address with a password, or with another scheme.
    pub fn new(
        url: &str,
        creds: Option<PathBuf>,
        ca: Option<PathBuf>,
    ) -> Result<Self, ClientsError> {
        for one in url.split(',') {
            let known = one.strip_prefix("nats://").or(one.strip_prefix("tls://"));
            let Some(rest) = known.filter(|rest| !rest.is_empty()) else {
                return Err(ClientsError::Usage(format!(
                    "--nats={one}: must be nats://HOST:4222 or tls://HOST:4222; for example \
                     --nats=nats://load0:4222"
                )));
            };
            if rest.contains('@') {
                return Err(ClientsError::Usage(
                    "--nats: the address contains a user or a password, which other users of this host \
                     can see; set NATS_USER and NATS_PASSWORD, or use --nats-creds=FILE"
                        .into(),
                ));
            }
            // It would be passed over, and the user would believe in it.
            if rest.trim_end_matches('/').contains(['?', '#', '/']) {
                return Err(ClientsError::Usage(
                    "--nats: an address is nats://HOST:4222 or tls://HOST:4222 and nothing more; \
                     certificates are always verified, as a password is sent (tls=no-verify does not \
                     exist here): use --nats-ca=FILE for a CA of your own"
                        .into(),
                ));
            }
        }
        let said = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let user = said("NATS_USER").map(|user| (user, said("NATS_PASSWORD").unwrap_or_default()));
        Ok(Self {
            url: url.into(),
            creds: creds.or_else(|| said("NATS_CREDS").map(PathBuf::from)),
            ca,
            user,
        })
    }

    /// What the user may not have meant: a password that other hosts can read on its way.
    pub fn caution(&self) -> Option<String> {
        let is_read = |one: &str| {
            let host = one.strip_prefix("nats://");
            let is_local = |host: &str| {
                let local = ["127.", "localhost", "[::1]"];
                local.iter().any(|name| host.starts_with(name))
            };
            host.is_some_and(|host| !is_local(host))
        };
        let plain = self.url.split(',').find(|one| is_read(one))?;
        (self.user.is_some() && self.ca.is_none()).then(|| {
            format!(
                "--nats={plain}: NATS_PASSWORD is not encrypted unless the server requires TLS; use tls:// \
                 or --nats-ca=FILE"
            )
        })
    }

    fn failed(&self, why: impl std::fmt::Display) -> ClientsError {
        ClientsError::Connect {
            url: self.url.clone(),
            why: why.to_string(),
        }
    }
}

/// A connection that comes back by itself.
#[derive(Clone)]
pub struct NatsConnection {
    /// For requests.
    pub client: Client,
    /// For what is kept.
    pub context: Context,
    /// Since when it has been there, by this host's clock.
    since: Arc<AtomicI64>,
}

impl NatsConnection {
    /// Connects.
    ///
    /// # Errors
    /// [`ClientsError::Connect`].
    pub async fn open(options: &NatsOptions, name: &str) -> Result<Self, ClientsError> {
        let since = Arc::new(AtomicI64::new(now_ns()));
        let seen = Arc::clone(&since);
        let mut asked = ConnectOptions::new()
            .name(name)
            .connection_timeout(CONNECT)
            .ping_interval(PING)
            .request_timeout(Some(ASKED))
            .max_reconnects(None)
            .reconnect_delay_callback(|tried| {
                let tried = u32::try_from(tried).unwrap_or(u32::MAX);
                LONGEST_PAUSE.min(Duration::from_millis(50).saturating_mul(tried))
            })
            .event_callback(move |event| {
                if matches!(event, Event::Connected) {
                    seen.store(now_ns(), Ordering::Relaxed);
                }
                std::future::ready(())
            });
        if let Some(file) = &options.creds {
            asked = asked
                .credentials_file(file)
                .await
                .map_err(|e| options.failed(format!("--nats-creds={}: {e}", file.display())))?;
        }
        if let Some((user, password)) = &options.user {
            asked = asked.user_and_password(user.clone(), password.clone());
        }
        if let Some(ca) = &options.ca {
            asked = asked.add_root_certificates(ca.clone()).require_tls(true);
        }
        let servers: Vec<&str> = options.url.split(',').collect();
        let connecting = tokio::time::timeout(2 * CONNECT, asked.connect(servers)).await;
        let client = connecting
            .map_err(|_| options.failed("no answer"))?
            .map_err(|e| options.failed(chain(&e)))?;
        let context = ContextBuilder::new()
            .timeout(ASKED)
            .ack_timeout(ASKED)
            .build(client.clone());
        Ok(Self {
            client,
            context,
            since,
        })
    }

    /// How long the connection has been there; none while it is not.
    pub fn up_for(&self) -> Option<Duration> {
        let is_up = self.client.connection_state() == async_nats::connection::State::Connected;
        let since = now_ns() - self.since.load(Ordering::Relaxed);
        is_up.then(|| Duration::from_nanos(since.max(0).unsigned_abs()))
    }

    /// Makes what is not there yet: the buckets of agents and runs, the stream of results.
    ///
    /// # Errors
    /// [`ClientsError::JetStream`].
    pub async fn ensure(&self, options: &NatsOptions) -> Result<NatsStores, ClientsError> {
        let made = async {
            let results = stream::Config {
                name: RESULTS.into(),
                description: Some("what loads of Tidemark measured".into()),
                subjects: vec!["tidemark.results.>".into()],
                max_age: KEPT,
                duplicate_window: SAME,
                ..stream::Config::default()
            };
            let made = self.context.get_or_create_stream(results).await;
            // Another one may have been quicker.
            if let Err(error) = made
                && self.context.get_stream(RESULTS).await.is_err()
            {
                return Err(chain(&error));
            }
            Ok(NatsStores {
                agents: self.bucket(AGENTS, PRESENT).await?,
                runs: self.bucket(RUNS, KEPT).await?,
            })
        };
        made.await.map_err(|why: String| ClientsError::JetStream {
            url: options.url.clone(),
            why,
        })
    }

    async fn bucket(&self, name: &str, max_age: Duration) -> Result<kv::Store, String> {
        if let Ok(store) = self.context.get_key_value(name).await {
            return Ok(store);
        }
        // As the library makes it, which first asks for limits that a server of 2.9 does not tell
        // (https://docs.nats.io/nats-concepts/jetstream/key-value-store).
        let config = stream::Config {
            name: format!("KV_{name}"),
            subjects: vec![format!("$KV.{name}.>")],
            max_messages_per_subject: 1,
            max_age,
            discard: stream::DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            num_replicas: 1,
            ..stream::Config::default()
        };
        let made = self.context.get_or_create_stream(config).await;
        // Another one may have been quicker.
        let there = self.context.get_key_value(name).await;
        there.map_err(|error| match made {
            Ok(_) => chain(&error),
            Err(error) => chain(&error),
        })
    }
}

/// What NATS keeps.
#[derive(Clone)]
pub struct NatsStores {
    /// Agents by name.
    pub agents: kv::Store,
    /// Runs by id.
    pub runs: kv::Store,
}

/// An error with what it comes from.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_no_password() {
        let refused = NatsOptions::new("nats://u:p@h:4222", None, None).unwrap_err();
        assert!(refused.to_string().contains("NATS_PASSWORD"), "{refused}");
        assert!(!refused.to_string().contains("u:p"), "{refused}");
        let refused = NatsOptions::new("h:4222", None, None).unwrap_err();
        assert!(refused.to_string().contains("nats://HOST:4222"));
        assert!(NatsOptions::new("tls://a:4222,nats://b:4222", None, None).is_ok());
        assert!(NatsOptions::new("nats://h:4222/", None, None).is_ok());
        for wrong in ["tls://h:4222?tls=no-verify", "nats://h:4222/x"] {
            let refused = NatsOptions::new(wrong, None, None).unwrap_err();
            assert!(refused.to_string().contains("always verified"), "{refused}");
        }
    }

    #[test]
    fn a_password_that_others_can_read_is_warned_of() {
        let with = |url: &str, user: bool, ca: bool| NatsOptions {
            url: url.into(),
            user: user.then(|| ("u".into(), "s3cret".into())),
            ca: ca.then(|| "ca.pem".into()),
            ..NatsOptions::default()
        };
        let caution = with("tls://a:4222,nats://b:4222", true, false).caution();
        let caution = caution.unwrap();
        assert!(caution.starts_with("--nats=nats://b:4222: "), "{caution}");
        assert!(!caution.contains("s3cret"), "{caution}");
        for (url, user, ca) in [
            ("nats://b:4222", false, false),
            ("nats://b:4222", true, true),
            ("nats://127.0.0.1:4222", true, false),
            ("tls://b:4222", true, false),
        ] {
            assert_eq!(with(url, user, ca).caution(), None, "{url}");
        }
    }
}
