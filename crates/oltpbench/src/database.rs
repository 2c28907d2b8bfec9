//! Where the database of a workload file is.

use crate::error::FileError;
use crate::jdbc::{JdbcUrl, parse_host};
use std::path::PathBuf;
use tidemark_core::{Host, Protocol, Secret, Target, TlsMode};

/// Databases that the family names in `<dbtype>` and that Tidemark speaks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    /// PostgreSQL.
    Postgres,
    /// YugabyteDB.
    Yugabyte,
    /// CockroachDB.
    Cockroach,
    /// MySQL.
    Mysql,
    /// MariaDB.
    Mariadb,
    /// TiDB.
    Tidb,
    /// Embedded SQLite.
    Sqlite,
}

impl DatabaseKind {
    /// Every name of a kind, in workload files and JDBC URLs; the first of a kind is its own.
    const NAMES: &[(&str, DatabaseKind)] = &[
        ("postgres", DatabaseKind::Postgres),
        ("postgresql", DatabaseKind::Postgres),
        ("yugabyte", DatabaseKind::Yugabyte),
        ("yugabytedb", DatabaseKind::Yugabyte),
        ("cockroachdb", DatabaseKind::Cockroach),
        ("cockroach", DatabaseKind::Cockroach),
        ("mysql", DatabaseKind::Mysql),
        ("myrocks", DatabaseKind::Mysql),
        ("mariadb", DatabaseKind::Mariadb),
        ("tidb", DatabaseKind::Tidb),
        ("sqlite", DatabaseKind::Sqlite),
    ];

    /// The kind of a name, whatever its case.
    pub fn of(name: &str) -> Option<Self> {
        let named = |(known, _): &&(&str, DatabaseKind)| known.eq_ignore_ascii_case(name);
        Self::NAMES.iter().find(named).map(|(_, kind)| *kind)
    }

    /// Names that are allowed, in their order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|(name, _)| *name)
    }

    /// How it is spoken to.
    pub fn protocol(self) -> Protocol {
        match self {
            DatabaseKind::Postgres | DatabaseKind::Yugabyte | DatabaseKind::Cockroach => {
                Protocol::Postgres
            }
            DatabaseKind::Mysql | DatabaseKind::Mariadb | DatabaseKind::Tidb => Protocol::Mysql,
            DatabaseKind::Sqlite => Protocol::Sqlite,
        }
    }

    fn default_port(self) -> u16 {
        match self {
            DatabaseKind::Yugabyte => 5433,
            DatabaseKind::Cockroach => 26257,
            DatabaseKind::Tidb => 4000,
            other => other.protocol().default_port(),
        }
    }
}

/// What a workload file says of the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Database {
    /// Line that is named when something is missing, from 1.
    pub line: u32,
    /// `dbtype`, or what the driver and the URLs speak.
    pub kind: Option<DatabaseKind>,
    /// JDBC URLs: `DBUrl`, `url`, `jdbcURL`.
    pub urls: Vec<JdbcUrl>,
    /// `username`.
    pub user: Option<String>,
    /// `password`.
    pub password: Option<Secret>,
    /// `DBName`.
    pub name: Option<String>,
    /// `port`.
    pub port: Option<u16>,
    /// `sslCert`: PEM file of the client's certificate.
    pub cert: Option<PathBuf>,
    /// `sslKey`: PEM file of the client's key.
    pub key: Option<PathBuf>,
}

impl Database {
    /// The target of sessions: on `nodes`, each a host with or without a port, or on the hosts of
    /// the URLs, or on this one.
    ///
    /// # Errors
    /// [`FileError::Missing`] when neither type nor database is named, and what is wrong with a
    /// node.
    pub fn target(&self, nodes: &[&str]) -> Result<Target, TargetProblem> {
        let missing = |element: &str, example: &str| {
            TargetProblem::File(FileError::Missing {
                line: self.line,
                within: "parameters".into(),
                element: element.into(),
                example: format!("<{element}>{example}</{element}>"),
            })
        };
        let kind = self.kind.ok_or_else(|| missing("dbtype", "postgres"))?;
        let first = self.urls.first();
        let in_urls = |get: fn(&JdbcUrl) -> Option<String>| self.urls.iter().find_map(get);
        let name = self
            .name
            .clone()
            .or_else(|| in_urls(|u| u.database.clone()));
        if kind == DatabaseKind::Sqlite {
            let file = name.ok_or_else(|| missing("url", "jdbc:sqlite:tpcc.db"))?;
            return Ok(Target::sqlite(file));
        }
        let database = name.ok_or_else(|| missing("DBName", "tpcc"))?;
        let in_url = first.and_then(|u| u.hosts.first()).and_then(|h| h.1);
        let port = self.port.or(in_url).unwrap_or(kind.default_port());
        let mut places = Vec::new();
        for node in nodes {
            let place = parse_host(node).map_err(|reason| TargetProblem::Node {
                node: shown(node),
                reason,
            })?;
            places.push(place);
        }
        if places.is_empty() {
            places.extend(self.urls.iter().flat_map(|u| u.hosts.iter().cloned()));
        }
        if places.is_empty() {
            places.push(("127.0.0.1".into(), None));
        }
        let host = |(host, own): (String, Option<u16>)| Host::Tcp {
            host,
            port: own.unwrap_or(port),
        };
        let path = |get: fn(&JdbcUrl) -> Option<PathBuf>| self.urls.iter().find_map(get);
        let said = self.urls.iter().find_map(|u| u.tls);
        // The YugabyteDB client asks for TLS by naming a certificate.
        let implied = self.cert.as_ref().map(|_| TlsMode::VerifyFull);
        let password = self.password.clone();
        let in_urls = self.urls.iter().find_map(|u| u.password.clone());
        Ok(Target {
            protocol: kind.protocol(),
            hosts: places.into_iter().map(host).collect(),
            readers: Vec::new(),
            user: self
                .user
                .clone()
                .or_else(|| self.urls.iter().find_map(|u| u.user.clone()))
                .unwrap_or_default(),
            password: password.or(in_urls).unwrap_or_default(),
            database,
            tls: said.or(implied).unwrap_or(TlsMode::Disabled),
            ca: path(|u| u.ca.clone()),
            cert: self.cert.clone().or_else(|| path(|u| u.cert.clone())),
            key: self.key.clone().or_else(|| path(|u| u.key.clone())),
        })
    }
}

/// A node as a message repeats it: whoever puts an account before it may put its password there.
fn shown(node: &str) -> String {
    match node.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => node.into(),
    }
}

/// Why no target could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetProblem {
    /// The file says too little.
    #[error(transparent)]
    File(FileError),
    /// A node is no host.
    #[error("{node}: {reason}; for example h1,h2:5433")]
    Node {
        /// The node, as given, without an account.
        node: String,
        /// What is wrong with it.
        reason: String,
    },
}
