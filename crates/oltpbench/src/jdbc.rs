//! JDBC URLs, as far as they say where a database is and how a session is encrypted.

use percent_encoding::percent_decode_str;
use std::fmt;
use std::path::PathBuf;
use tidemark_core::{Secret, TlsMode};

/// Parameters that name a server's authority, a certificate and a key, by driver.
const CA: &[&str] = &["sslrootcert", "serverSslCert"];
const CERT: &[&str] = &["sslcert"];
const KEY: &[&str] = &["sslkey"];

/// What a JDBC URL says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JdbcUrl {
    /// `postgresql`, `mysql`, `mariadb`, `yugabytedb`, `sqlite`, …
    pub protocol: String,
    /// Hosts, each with its port if it names one.
    pub hosts: Vec<(String, Option<u16>)>,
    /// The database; for SQLite the file.
    pub database: Option<String>,
    /// Account name.
    pub user: Option<String>,
    /// Password.
    pub password: Option<Secret>,
    /// How sessions are encrypted; `None` when nothing is said.
    pub tls: Option<TlsMode>,
    /// PEM file of the authorities to trust.
    pub ca: Option<PathBuf>,
    /// PEM file of the client's certificate.
    pub cert: Option<PathBuf>,
    /// PEM file of the client's key.
    pub key: Option<PathBuf>,
    /// Names of parameters that mean nothing here. Behind a password that holds an `&` stands what
    /// looks like one: what follows a password is not among them.
    pub unused: Vec<String>,
}

/// Why a JDBC URL was not taken; nothing of the URL is in it that may be a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JdbcError(pub(crate) String);

impl JdbcUrl {
    /// Reads a JDBC URL: `jdbc:postgresql://h1:5433,h2/db?sslmode=verify-full`,
    /// `jdbc:mysql://h/db`, `jdbc:mariadb:loadbalance://h1,h2/db`, `jdbc:sqlite:bench.db`.
    ///
    /// # Errors
    /// [`JdbcError`] naming what is wrong.
    pub fn parse(url: &str) -> Result<Self, JdbcError> {
        let fail = |reason: &str| Err(JdbcError(reason.into()));
        let Some(rest) = url.trim().strip_prefix("jdbc:") else {
            return fail("it begins with jdbc:");
        };
        let Some((_, rest)) = rest.split_once(':') else {
            return fail("jdbc:, the kind of database, and where it is");
        };
        let Some(protocol) = Self::kind(url) else {
            return fail("after jdbc: the kind of database is named, as jdbc:postgresql:");
        };
        let mut read = JdbcUrl {
            protocol: protocol.to_ascii_lowercase(),
            ..JdbcUrl::default()
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        for pair in query.split(['&', ';']).filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !key
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
            {
                return fail("a ? in a user or password is written %3F, an & %26");
            }
            read.parameter(key, &decode(value)?)?;
        }
        if read.protocol == "sqlite" {
            let file = place.strip_prefix("file:").unwrap_or(place);
            if file.is_empty() || file.starts_with(':') {
                return fail("an SQLite database in memory has one session; name a file");
            }
            read.database = Some(file.into());
            return Ok(read);
        }
        // A mode may stand before the hosts: sessions are spread evenly whatever it says.
        let place = match place.split_once("//") {
            Some((mode, place)) => {
                let mode = mode.trim_end_matches(':');
                if !mode.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
                    return fail("after the kind of database comes // and a host");
                }
                place
            }
            // jdbc:postgresql:db is a database of this host.
            None => {
                read.database = database(place.trim_start_matches('/'))?;
                return Ok(read);
            }
        };
        let (authority, name) = place.split_once('/').unwrap_or((place, ""));
        let hosts = match authority.rsplit_once('@') {
            None => authority,
            Some((account, hosts)) => {
                let (user, password) = account.split_once(':').unwrap_or((account, ""));
                read.user = Some(decode(user)?).filter(|u| !u.is_empty());
                let password = Some(decode(password)?).filter(|p| !p.is_empty());
                read.password = read.password.or(password.map(Secret::new));
                hosts
            }
        };
        for host in hosts.split(',').filter(|h| !h.is_empty()) {
            read.hosts.push(parse_host(host).map_err(JdbcError)?);
        }
        read.database = database(name)?;
        Ok(read)
    }

    /// The kind of database that a JDBC URL names, as it is written, whatever follows.
    pub fn kind(url: &str) -> Option<&str> {
        let (kind, _) = url.trim().strip_prefix("jdbc:")?.split_once(':')?;
        let is_word = !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphanumeric());
        is_word.then_some(kind)
    }

    fn parameter(&mut self, key: &str, value: &str) -> Result<(), JdbcError> {
        let is = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(key));
        let path = || Some(PathBuf::from(value)).filter(|_| !value.is_empty());
        let on = matches!(value.to_ascii_lowercase().as_str(), "" | "true" | "1");
        match key {
            _ if is(&["user"]) => self.user = Some(value.into()).filter(|u: &String| !u.is_empty()),
            _ if is(&["password"]) => {
                self.password = Some(Secret::new(value)).filter(|p| !p.is_empty());
            }
            _ if is(CA) => self.ca = path(),
            _ if is(CERT) => self.cert = path(),
            _ if is(KEY) => self.key = path(),
            _ if is(&["sslmode"]) => self.tls = Some(tls(value)?),
            // Whoever names a mode has said more than that there is one.
            _ if is(&["ssl", "useSSL", "requireSSL"]) => {
                let mode = if on {
                    TlsMode::VerifyFull
                } else {
                    TlsMode::Disabled
                };
                self.tls.get_or_insert(mode);
            }
            _ if self.password.is_some() => {}
            _ => self.unused.push(key.chars().take(40).collect()),
        }
        Ok(())
    }
}

/// The modes of the drivers of PostgreSQL, MySQL (`sslMode`) and MariaDB.
fn tls(mode: &str) -> Result<TlsMode, JdbcError> {
    const WORDS: &[&str] = &[
        "disable",
        "disabled",
        "allow",
        "prefer",
        "preferred",
        "trust",
        "no-verify",
        "verify-ca",
        "require",
        "required",
        "verify-full",
        "verify-identity",
    ];
    let mode = mode.to_ascii_lowercase().replace('_', "-");
    TlsMode::among(WORDS, &mode).ok_or_else(|| {
        JdbcError("sslmode: must be disable, require, verify-ca, verify-full, no-verify".into())
    })
}

/// The name of a database. Where an account stands in another way than `//user:password@host`, as
/// Oracle's and Db2's drivers have it, or where the `//` was forgotten, a password would be taken for
/// a part of the name and be shown with it.
fn database(text: &str) -> Result<Option<String>, JdbcError> {
    let name = text.trim_end_matches('/');
    if name.contains(['@', ':', ';', '=', '/']) {
        return Err(JdbcError(
            "a database's name ends it, or a ? and parameters; an account is written //user@host \
             or in <username> and <password>, and any of @ : ; = / in a name as %40, %3A, %3B, %3D, \
             %2F"
                .into(),
        ));
    }
    Ok(Some(decode(name)?).filter(|d| !d.is_empty()))
}

fn decode(text: &str) -> Result<String, JdbcError> {
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| JdbcError("a %-escape is not UTF-8".into()))?;
    Ok(decoded.into_owned())
}

/// A host with its port, as URLs and `--nodes` have it.
pub(crate) fn parse_host(text: &str) -> Result<(String, Option<u16>), String> {
    let port_of = |port: &str| {
        let number = port.parse::<u16>().ok().filter(|p| *p > 0);
        number.ok_or("a port is a number from 1 to 65535")
    };
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("an IPv6 address lacks its ]")?;
            match after.strip_prefix(':') {
                Some(port) => (host, Some(port_of(port)?)),
                None if after.is_empty() => (host, None),
                None => return Err("after an IPv6 address comes : and a port".into()),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port_of(port)?)),
            None => (text, None),
        },
    };
    let parts = |c: char| "/?#@,[]()=\\ ".contains(c) || c.is_control();
    if host.is_empty() || host.contains(parts) {
        return Err("a host is one name or address, and its port after a colon".into());
    }
    Ok((host.into(), port))
}

/// The URL without parameters and account: for people.
impl fmt::Display for JdbcUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.database.as_deref().unwrap_or_default();
        if self.protocol == "sqlite" {
            return write!(f, "jdbc:sqlite:{database}");
        }
        let host = |(host, port): &(String, Option<u16>)| match port {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        };
        let hosts: Vec<String> = self.hosts.iter().map(host).collect();
        write!(f, "jdbc:{}://{}/{database}", self.protocol, hosts.join(","))
    }
}
