//! Opens sessions to a target.

use crate::{Session, mysql, postgres, sqlite, tls};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass, Host, PreparedMode, Protocol, Target};
use tidemark_runtime::{Stream, timeout};

/// How sessions are opened.
#[derive(Debug, Clone, Copy)]
pub struct ConnectOptions {
    /// Whether statements are prepared on the server.
    pub prepared: PreparedMode,
    /// How long opening one session may take, greeting and authentication included.
    pub connect_timeout: Duration,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            prepared: PreparedMode::Server,
            connect_timeout: Duration::from_secs(10),
        }
    }
}

/// A host whose name was looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// TCP address.
    Tcp(SocketAddr),
    /// Unix socket.
    Unix(PathBuf),
}

/// Opens sessions to one target: names are looked up and certificates read once.
#[derive(Debug, Clone)]
pub struct Connector {
    target: Target,
    /// Each host with the addresses its name has.
    addresses: Vec<(Host, Vec<Address>)>,
    tls: Option<Arc<rustls::ClientConfig>>,
    options: ConnectOptions,
    must_exist: bool,
}

impl Connector {
    /// Looks up the target's hosts and reads its certificates.
    ///
    /// # Errors
    /// [`ErrorClass::Refused`] when a name has no address or a certificate can't be read.
    pub fn new(target: Target, options: ConnectOptions) -> Result<Self, DbError> {
        let mut addresses = Vec::new();
        for host in &target.hosts {
            let found: Vec<_> = match host {
                Host::Unix(path) => vec![Address::Unix(path.clone())],
                Host::Tcp { host: name, port } => (name.as_str(), *port)
                    .to_socket_addrs()
                    .map_err(|e| refused(host, &format!("name not found: {e}")))?
                    .map(Address::Tcp)
                    .collect(),
            };
            if found.is_empty() {
                return Err(refused(host, "the name has no address"));
            }
            addresses.push((host.clone(), found));
        }
        let tls = tls::client_config(&target)?;
        Ok(Self {
            target,
            addresses,
            tls,
            options,
            must_exist: false,
        })
    }

    /// Makes opening a session fail with [`ErrorClass::Missing`] when an embedded database's file
    /// does not exist. Otherwise the first session makes an empty one, as preparing needs; what
    /// only reads or runs asks for this, so that no empty file is left by a mistyped path.
    #[must_use]
    pub fn must_exist(mut self) -> Self {
        self.must_exist = true;
        self
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The options.
    pub fn options(&self) -> &ConnectOptions {
        &self.options
    }

    /// Whether a session blocks its thread and so needs one of its own.
    pub fn is_blocking(&self) -> bool {
        self.target.protocol == Protocol::Sqlite
    }

    /// Opens the `number`-th session, on its share of the hosts.
    ///
    /// # Errors
    /// [`ErrorClass::Refused`] with the host's name when it can't be opened within the time.
    pub async fn connect(&self, number: usize) -> Result<Session, DbError> {
        if self.target.protocol == Protocol::Sqlite {
            return sqlite::SqliteSession::open(&self.target, &self.options, self.must_exist)
                .map(Session::from);
        }
        let (host, addresses) = &self.addresses[number % self.addresses.len()];
        let opened = timeout(self.options.connect_timeout, self.open(host, addresses)).await;
        opened.unwrap_or_else(|_| {
            let seconds = self.options.connect_timeout.as_secs_f64();
            Err(refused(host, &format!("no answer within {seconds} s")))
        })
    }

    /// A name may have several addresses (`localhost` is `::1` and `127.0.0.1`) and the server
    /// listen at one of them: the first that answers is taken.
    async fn stream(host: &Host, addresses: &[Address]) -> Result<Stream, DbError> {
        let mut last = None;
        for address in addresses {
            let opened = match address {
                Address::Tcp(address) => Stream::connect_tcp(*address).await,
                Address::Unix(path) => Stream::connect_unix(path).await,
            };
            match opened {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(error),
            }
        }
        let why = last.map_or("it has no address".into(), |e| e.to_string());
        Err(refused(host, &why))
    }

    async fn open(&self, host: &Host, addresses: &[Address]) -> Result<Session, DbError> {
        let stream = Self::stream(host, addresses).await?;
        match self.target.protocol {
            Protocol::Mysql => mysql::MysqlSession::open(
                stream,
                host,
                &self.target,
                self.tls.as_ref(),
                &self.options,
            )
            .await
            .map(Session::from),
            _ => postgres::PostgresSession::open(
                stream,
                host,
                &self.target,
                self.tls.as_ref(),
                &self.options,
            )
            .await
            .map(Session::from),
        }
    }
}

/// The target refused a session.
pub(crate) fn refused(host: &Host, why: &str) -> DbError {
    DbError::new(
        ErrorClass::Refused,
        "connect",
        format!("can't connect to {host}: {why}"),
    )
}
