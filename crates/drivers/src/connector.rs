//! Opens sessions to a target.

use crate::attendance::Attendance;
use crate::connection::{Connection, Driver};
use crate::pooler::{self, Pooling, Use};
use crate::settings::session::{self, SessionSettings};
use crate::{RunningTypes, Session, isolation, mysql, postgres, sqlite, tls};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tidemark_core::job::SETUP_TIMEOUT;
use tidemark_core::record::HostRole;
use tidemark_core::{DbError, ErrorClass, Host, Isolation, PreparedMode, Protocol, Target};
use tidemark_runtime::{Stream, sleep, timeout};

/// Round trips that opening a session takes at most: TCP, TLS, greeting, authentication, version.
const CONNECT_ROUND_TRIPS: u32 = 16;

/// How sessions are opened.
#[derive(Debug, Clone, Copy)]
pub struct ConnectOptions {
    /// Whether statements are prepared on the server.
    pub prepared: PreparedMode,
    /// How long opening one connection may take, greeting and authentication included.
    pub connect_timeout: Duration,
    /// Added to every round trip; connecting and each flight of a TLS handshake are such, too. An
    /// embedded database's statements each take it.
    pub inject_rtt: Duration,
    /// How long a statement of a run may take before its session is given up; `None` waits for
    /// ever. Neither loads nor housekeeping are limited.
    pub statement_timeout: Option<Duration>,
    /// How long a statement outside the measurement (a load's, a check's, one that asks for settings)
    /// may take, [`SETUP_TIMEOUT`] unless another is given; `None` waits as long as the server lives. An
    /// embedded database's are not limited.
    pub setup_timeout: Option<Duration>,
    /// Isolation level of a run's transactions; `None` is the server's default. Neither loads nor
    /// housekeeping take it.
    pub isolation: Option<Isolation>,
    /// Whether rows that an UPDATE matched count as affected, also those whose values were there
    /// already. Only the MySQL family counts otherwise, unless it is told.
    pub count_matched: bool,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            prepared: PreparedMode::Server,
            connect_timeout: Duration::from_secs(10),
            inject_rtt: Duration::ZERO,
            statement_timeout: None,
            setup_timeout: Some(SETUP_TIMEOUT),
            isolation: None,
            count_matched: false,
        }
    }
}

/// What a session is for: decides which hosts it is opened on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing is changed: on a host that only reads, where the target has such.
    ReadOnly,
    /// On a host that takes writes; where the target also has hosts that only read, on one of those
    /// too, which gets the reads outside transactions.
    ReadWrite,
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
    /// The target's hosts, then its readers.
    hosts: Vec<(Host, HostRole)>,
    /// The addresses that each host's name has.
    addresses: Vec<Vec<Address>>,
    tls: Option<Arc<rustls::ClientConfig>>,
    options: ConnectOptions,
    session: Arc<SessionSettings>,
    must_exist: bool,
    /// Whether sessions for housekeeping are given up when the server is silent.
    attends: bool,
    /// What stands before each host, as soon as it is known.
    pooling: Arc<[OnceLock<Pooling>]>,
    /// The sessions of a run, and what they are running.
    running: Option<Arc<RunningTypes>>,
}

impl Connector {
    /// Looks up the target's hosts and reads its certificates.
    ///
    /// # Errors
    /// [`ErrorClass::Refused`] when a name has no address or a certificate can't be read.
    pub fn new(target: Target, options: ConnectOptions) -> Result<Self, DbError> {
        let any = target.hosts.iter().map(|h| (h.clone(), HostRole::Any));
        let readers = target.readers.iter().map(|h| (h.clone(), HostRole::Read));
        let hosts: Vec<_> = any.chain(readers).collect();
        let addresses = hosts
            .iter()
            .map(|(host, _)| look_up(host))
            .collect::<Result<_, _>>()?;
        let tls = tls::client_config(&target)?;
        Ok(Self {
            target,
            pooling: hosts.iter().map(|_| OnceLock::new()).collect(),
            hosts,
            addresses,
            tls,
            options,
            session: Arc::default(),
            must_exist: false,
            attends: true,
            running: None,
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

    /// Makes every session take these settings when it is opened.
    #[must_use]
    pub fn with_session_settings(mut self, settings: SessionSettings) -> Self {
        self.session = Arc::new(settings);
        self
    }

    /// Makes sessions of a run tell by their connection ids that they are the run's, and which of several types
    /// of transactions they are running. Those of several hosts don't, for connection ids are each host's own.
    #[must_use]
    pub fn with_running_types(mut self, names: &'static [&'static str]) -> Self {
        let are_told = !names.is_empty() && self.hosts.len() == 1;
        self.running = are_told.then(|| Arc::new(RunningTypes::new(names)));
        self
    }

    /// What the sessions of the run are running, where they tell it.
    pub fn running_types(&self) -> Option<&Arc<RunningTypes>> {
        self.running.as_ref()
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

    /// Without a limit on statements: for loading, whose statements take as long as they take.
    #[must_use]
    pub fn unlimited(mut self) -> Self {
        self.options.statement_timeout = None;
        self
    }

    /// Waits with sessions for housekeeping as long as they take, whether the server lives or not: for
    /// measuring on them, beside which nothing else is to ask the server.
    #[must_use]
    pub fn unattended(mut self) -> Self {
        self.attends = false;
        self
    }

    /// With a limit on statements, whatever the options say.
    #[must_use]
    pub fn limited(mut self, limit: Duration) -> Self {
        self.options.statement_timeout = Some(limit);
        self
    }

    /// For sessions that observe a run beside its own: as the target names them, without what the run's
    /// sessions are given, and given up when a statement or an opening takes longer than this.
    #[must_use]
    pub fn observing(mut self, longest: Duration) -> Self {
        self.options = ConnectOptions {
            prepared: PreparedMode::Text,
            connect_timeout: longest,
            statement_timeout: Some(longest),
            ..ConnectOptions::default()
        };
        self.session = Arc::default();
        self.attends = false;
        self
    }

    /// Sends statements as text, whatever the options say: a query that is executed once is planned
    /// with its values then.
    #[must_use]
    pub fn as_text(mut self) -> Self {
        self.options.prepared = PreparedMode::Text;
        self
    }

    /// The hosts that sessions are opened on, each with its role; sessions name them by their index
    /// here. Empty for an embedded database.
    pub fn hosts(&self) -> &[(Host, HostRole)] {
        &self.hosts
    }

    /// Opens a session for housekeeping, on its share of the hosts that take writes; of those that
    /// only read, when there are no others.
    ///
    /// # Errors
    /// [`ErrorClass::Refused`] with the host's name when it can't be opened within the time.
    pub async fn connect(&self, number: usize) -> Result<Session, DbError> {
        let host = self.share(HostRole::Any, number);
        let host = host.or_else(|| self.share(HostRole::Read, number));
        self.open_attended(host).await
    }

    /// Opens the `number`-th session of a run, on its share of the hosts.
    ///
    /// # Errors
    /// As [`Connector::connect`]; also when it is to write and all hosts only read, and when the
    /// engine has not got the isolation level that was asked for.
    pub async fn connect_for(&self, number: usize, access: Access) -> Result<Session, DbError> {
        let reader = self.share(HostRole::Read, number);
        if access == Access::ReadOnly && reader.is_some() {
            let only = Session::new(self.open_isolated(reader).await?, None);
            return Ok(self.telling(only));
        }
        if self.target.is_read_only() {
            return Err(self.no_writer());
        }
        let host = self.share(HostRole::Any, number);
        let primary = self.open_isolated(host).await?;
        let reader = match reader {
            None => None,
            reader => Some(Box::new(Box::pin(self.open_isolated(reader)).await?)),
        };
        Ok(self.telling(Session::new(primary, reader)))
    }

    /// A session of a run, which tells what it is running where that is asked.
    fn telling(&self, session: Session) -> Session {
        match &self.running {
            Some(types) if !session.is_pooled() => session.running(types),
            _ => session,
        }
    }

    /// Opens a session on the host of that index in [`Connector::hosts`].
    ///
    /// # Errors
    /// As [`Connector::connect`].
    pub async fn connect_to(&self, host: usize) -> Result<Session, DbError> {
        self.open_attended(Some(host)).await
    }

    /// Opens a session for housekeeping, whose statements are waited for no longer than the server
    /// lives and `setup_timeout` says. An embedded database has no server that could fall silent.
    async fn open_attended(&self, host: Option<usize>) -> Result<Session, DbError> {
        let opening = Box::pin(self.open(host, Use::Housekeeping));
        if self.is_blocking() || !self.attends {
            return Ok(Session::new(opening.await?, None));
        }
        let mut attendance = Attendance::new(self, host);
        let opened = Box::pin(attendance.attend(opening)).await?;
        Ok(Session::new(opened, None).attended(attendance))
    }

    /// What stands between client and the host of that index in [`Connector::hosts`].
    ///
    /// # Errors
    /// As [`Connector::connect`].
    pub async fn pooling(&self, host: usize) -> Result<Pooling, DbError> {
        let connection = self.open_plain(Some(host)).await?;
        let pooling = self.look(&connection).await;
        connection.close().await;
        Ok(pooling)
    }

    /// Why a target whose hosts all only read can't be written to.
    pub fn no_writer(&self) -> DbError {
        let scheme = self.target.protocol;
        DbError::new(
            ErrorClass::Refused,
            "role",
            format!(
                "{} has only hosts with role=read, but this command writes: add a writable host, \
                 for example {scheme}://user@primary/db,{scheme}://user@replica/db?role=read",
                self.target
            ),
        )
    }

    /// Index of the `number`-th session's host among those of a role.
    fn share(&self, role: HostRole, number: usize) -> Option<usize> {
        let writers = self.target.hosts.len();
        let (first, count) = match role {
            HostRole::Any => (0, writers),
            HostRole::Read => (writers, self.hosts.len() - writers),
        };
        (count > 0).then(|| first + number % count)
    }

    /// Opens a connection whose transactions have the level that was asked for.
    async fn open_isolated(&self, host: Option<usize>) -> Result<Connection, DbError> {
        let is_set = self.options.isolation.is_some() || !self.session.is_empty();
        let mut connection = Box::pin(self.open(host, Use::Run { is_set })).await?;
        if let Some(level) = self.options.isolation {
            Box::pin(isolation::isolate(&mut connection, level)).await?;
        }
        Ok(connection)
    }

    /// Opens a connection that has the settings asked for.
    async fn open(&self, host: Option<usize>, purpose: Use) -> Result<Connection, DbError> {
        let mut connection = self.open_plain(host).await?;
        let pooling = Box::pin(self.look(&connection)).await;
        if pooling != Pooling::Direct
            && let Err(error) = Box::pin(pooler::adapt(&mut connection, pooling, purpose)).await
        {
            connection.close().await;
            return Err(error);
        }
        if let (Driver::Mysql(session), Use::Housekeeping) = (&mut connection.driver, purpose) {
            Box::pin(session.settle_form()).await?;
        }
        // A time-out that was asked for takes its place.
        if let (Driver::Sqlite(session), Use::Run { .. }) = (&connection.driver, purpose) {
            session.count_waits();
        }
        if !self.session.is_empty() {
            Box::pin(session::apply(&mut connection, &self.session)).await?;
        }
        Ok(connection)
    }

    /// Opens a connection; without a host, to an embedded database.
    pub(crate) async fn open_plain(&self, host: Option<usize>) -> Result<Connection, DbError> {
        if self.is_blocking() {
            let opened = sqlite::SqliteSession::open(&self.target, &self.options, self.must_exist)?;
            return Ok(Connection::new(Driver::Sqlite(opened), None, 0));
        }
        let place = host.and_then(|h| self.hosts.get(h).zip(self.addresses.get(h)));
        let Some(((host_name, _), addresses)) = place else {
            return Err(DbError::new(
                ErrorClass::Refused,
                "connect",
                format!("{} names no host", self.target),
            ));
        };
        // Boxed: a session's task is as large as the largest of what it ever waits for.
        let opening = Box::pin(self.open_driver(host_name, addresses));
        let opened = timeout(self.longest_opening(), opening).await;
        let (driver, connection_id) = opened.unwrap_or_else(|_| {
            let seconds = self.options.connect_timeout.as_secs_f64();
            let known = host.and_then(|h| self.pooling.get(h)?.get());
            let hint = match known {
                Some(Pooling::Session | Pooling::Transaction { .. }) => {
                    "; the pooler may have no server session left: a load needs two, and one per \
                     thread"
                }
                _ => "",
            };
            Err(refused(
                host_name,
                &format!("no reply within {seconds} s{hint}"),
            ))
        })?;
        Ok(Connection::new(driver, host, connection_id))
    }

    /// How long opening a connection may take. What is added to each round trip is not the server's
    /// delay.
    pub(crate) fn longest_opening(&self) -> Duration {
        self.options.connect_timeout + self.options.inject_rtt * CONNECT_ROUND_TRIPS
    }

    /// What stands before a connection's host. A pooler is looked at once.
    async fn look(&self, connection: &Connection) -> Pooling {
        let host = connection.host();
        let place = host.and_then(|h| Some((self.hosts.get(h)?, self.addresses.get(h)?)));
        let (Some(((name, _), addresses)), true) = (place, connection.is_pooled()) else {
            return Pooling::Direct;
        };
        let known = host.and_then(|h| self.pooling.get(h));
        if let Some(known) = known.and_then(OnceLock::get) {
            return *known;
        }
        let options = ConnectOptions {
            prepared: pooler::LOOKING,
            ..self.options
        };
        let another = || async {
            let stream = self.stream(name, addresses).await?;
            let (target, tls) = (&self.target, self.tls.as_ref());
            let opened = postgres::PostgresSession::open(stream, name, target, tls, &options);
            opened.await.map(|(session, _)| session)
        };
        match (Box::pin(pooler::look(another)).await, known) {
            (Some(pooling), Some(known)) => *known.get_or_init(|| pooling),
            (Some(pooling), None) => pooling,
            // It is looked at again with the next session.
            (None, _) => pooler::UNKNOWN,
        }
    }

    /// A name may have several addresses (`localhost` is `::1` and `127.0.0.1`) and the server
    /// listen at one of them: the first that answers is taken.
    async fn stream(&self, host: &Host, addresses: &[Address]) -> Result<Stream, DbError> {
        let mut last = None;
        for address in addresses {
            // Connecting is a round trip, too.
            if !self.options.inject_rtt.is_zero() {
                sleep(self.options.inject_rtt).await;
            }
            let opened = match address {
                Address::Tcp(address) => Stream::connect_tcp(*address).await,
                Address::Unix(path) => Stream::connect_unix(path).await,
            };
            match opened {
                Ok(mut stream) => {
                    stream.inject_rtt(self.options.inject_rtt);
                    stream.limit_exchanges(self.options.statement_timeout);
                    return Ok(stream);
                }
                Err(error) => last = Some(error),
            }
        }
        let why = last.map_or("it has no address".into(), |e| e.to_string());
        Err(refused(host, &why))
    }

    /// With the connection id that the server told when it greeted; 0 where it told none.
    async fn open_driver(
        &self,
        host: &Host,
        addresses: &[Address],
    ) -> Result<(Driver, u32), DbError> {
        let stream = self.stream(host, addresses).await?;
        let (target, tls, options) = (&self.target, self.tls.as_ref(), &self.options);
        match target.protocol {
            Protocol::Mysql => mysql::MysqlSession::open(stream, host, target, tls, options)
                .await
                .map(|(session, id)| (Driver::Mysql(session), id)),
            _ => postgres::PostgresSession::open(stream, host, target, tls, options)
                .await
                .map(|(session, id)| (Driver::Postgres(session), id)),
        }
    }
}

/// The addresses that a host's name has.
fn look_up(host: &Host) -> Result<Vec<Address>, DbError> {
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
    Ok(found)
}

/// The target refused a session.
pub(crate) fn refused(host: &Host, why: &str) -> DbError {
    DbError::new(
        ErrorClass::Refused,
        "connect",
        format!("can't connect to {host}: {why}"),
    )
}
