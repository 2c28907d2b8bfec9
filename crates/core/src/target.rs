//! A database to test, named by a URL.

mod advice;
mod list;
mod redact;
mod redact_text;
mod shown;
#[cfg(test)]
mod tests;
mod tls;

pub use redact::{redact_target, redact_url, redact_value};
pub use redact_text::{is_password_name, is_secret_variable, redact_text, redact_urls};
pub use tls::TlsMode;

use crate::{Protocol, Secret, did_you_mean, nearest};
use advice::{ESCAPES, SQLITE_EXAMPLE, example_like, key_elsewhere, libpq_key, sslmode};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;

/// One place a target listens at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A host name or address with a port.
    Tcp {
        /// Name, IPv4 address, or IPv6 address without brackets.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Host::Tcp { host, port } => write!(f, "{host}:{port}"),
            Host::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A database to test: protocol, hosts, account, database and connection options.
///
/// `mysql://user:pw@h1:4000,h2:4000/db?tls=verify-full&ca=/ca.pem`, `postgres://user@h/db`,
/// `mysql://user@/db?socket=/run/mysqld/mysqld.sock`, `sqlite:path/to/file.db`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The wire protocol.
    pub protocol: Protocol,
    /// Where it listens for reads and writes; sessions are spread evenly. Empty for SQLite, and
    /// when all hosts only read.
    pub hosts: Vec<Host>,
    /// Where it listens for reads alone (`role=read`).
    pub readers: Vec<Host>,
    /// Account name.
    pub user: String,
    /// Password.
    pub password: Secret,
    /// Database name; for SQLite the file's path.
    pub database: String,
    /// Encryption.
    pub tls: TlsMode,
    /// PEM file of the authorities to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// PEM file of the client's certificate.
    pub cert: Option<PathBuf>,
    /// PEM file of the client's key.
    pub key: Option<PathBuf>,
}

/// Why a target URL was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("target {given}: {reason}; for example {example}")]
pub struct TargetError {
    /// The URL without its password.
    pub given: String,
    /// What is wrong with it.
    pub reason: String,
    /// A right example.
    pub example: &'static str,
}

const QUERY_KEYS: &[&str] = &["socket", "tls", "ca", "cert", "key", "host", "role"];

impl Target {
    /// Reads a target URL, or several with commas between that differ in hosts and role only.
    ///
    /// # Errors
    /// [`TargetError`] naming what is wrong and a right example; the password is not in it.
    pub fn parse(urls: &str) -> Result<Target, TargetError> {
        list::parse(urls)
    }

    fn parse_one(url: &str) -> Result<Target, TargetError> {
        let fail = |reason: String| TargetError {
            given: redact_target(url),
            reason,
            example: example_like(url),
        };
        if let Some(path) = url.strip_prefix("sqlite:") {
            if redact::has_account(url) {
                return Err(fail(
                    "a file has no account; for a file with this name write sqlite:./NAME".into(),
                ));
            }
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() {
                return Err(TargetError {
                    given: url.into(),
                    reason: "no file given".into(),
                    example: SQLITE_EXAMPLE,
                });
            }
            return Ok(Target::sqlite(path));
        }
        let (scheme, rest) = url
            .split_once("://")
            .filter(|(scheme, _)| redact::is_scheme(scheme))
            .ok_or_else(|| {
                fail(format!(
                    "not a URL: a target is scheme://user:password@host:port/database; {ESCAPES}"
                ))
            })?;
        let protocol = match scheme {
            "mysql" | "mariadb" | "tidb" => Protocol::Mysql,
            "postgres" | "postgresql" | "yugabyte" | "cockroach" => Protocol::Postgres,
            other => {
                let hint = did_you_mean(other, ["mysql", "mariadb", "postgres", "sqlite"]);
                return Err(fail(format!(
                    "unknown scheme {other}; known: {}, sqlite{hint}",
                    list::SCHEMES.join(", ")
                )));
            }
        };
        let default_port = match scheme {
            "tidb" => 4000,
            "yugabyte" => 5433,
            "cockroach" => 26257,
            _ => protocol.default_port(),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        // libpq's way of naming the port.
        let default_port = match query.split('&').find_map(|pair| pair.strip_prefix("port=")) {
            Some(port) => port
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(|| fail("port=: must be 1 to 65535".into()))?,
            None => default_port,
        };
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (account, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let decode = |part: &str| -> Result<String, TargetError> {
            percent_decode_str(part)
                .decode_utf8()
                .map(|s| s.into_owned())
                .map_err(|_| fail("a %-escape is not UTF-8".into()))
        };
        let mut target = Target {
            protocol,
            hosts: Vec::new(),
            readers: Vec::new(),
            user: decode(user)?,
            password: Secret::new(decode(password)?),
            database: decode(database)?,
            tls: TlsMode::Disabled,
            ca: None,
            cert: None,
            key: None,
        };
        // What looks like a place or a query may be a piece of a password: it is not repeated.
        let unescaped = || match account.is_empty() {
            true => format!(
                "a / or ? in the user or password must be written %2F or %3F; \
                             {ESCAPES}"
            ),
            false => format!("unexpected @ after the host; {ESCAPES}"),
        };
        if database.contains('@') {
            return Err(fail(unescaped()));
        }
        let doubtful = |reason: String| match query.contains('@') {
            true => fail(unescaped()),
            false => fail(reason),
        };
        let has_account = authority.contains('@');
        for host in hosts.split(',').filter(|h| !h.is_empty()) {
            let host = parse_host(host, default_port, has_account).map_err(doubtful)?;
            target.hosts.push(host);
        }
        let mut seen = BTreeMap::new();
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if seen.insert(key.to_string(), decode(value)?).is_some() {
                return Err(doubtful(format!("{key} is given twice")));
            }
        }
        let role = seen.remove("role");
        seen.remove("port");
        // A socket's name has the port that stands before the database, too.
        let port = match target.hosts.first() {
            Some(Host::Tcp { port, .. }) => *port,
            _ => default_port,
        };
        for (key, value) in seen {
            target.set_query(&key, &value, port).map_err(doubtful)?;
        }
        if target.hosts.is_empty() {
            target.hosts.push(Host::Tcp {
                host: "127.0.0.1".into(),
                port: default_port,
            });
        }
        match role.as_deref() {
            None | Some("any" | "write") => {}
            Some("read") => std::mem::swap(&mut target.hosts, &mut target.readers),
            Some(other) => {
                return Err(doubtful(format!(
                    "role={other}: must be any, read, write (the same as any)"
                )));
            }
        }
        Ok(target)
    }

    /// An embedded SQLite database in the file at `path`.
    pub fn sqlite(path: impl Into<String>) -> Target {
        Target {
            protocol: Protocol::Sqlite,
            hosts: Vec::new(),
            readers: Vec::new(),
            user: String::new(),
            password: Secret::default(),
            database: path.into(),
            tls: TlsMode::Disabled,
            ca: None,
            cert: None,
            key: None,
        }
    }

    fn set_query(&mut self, key: &str, value: &str, port: u16) -> Result<(), String> {
        match key {
            "socket" | "host" if value.is_empty() => {
                let example = match self.protocol {
                    Protocol::Postgres => "host=/run/postgresql",
                    _ => "socket=/run/mysqld/mysqld.sock",
                };
                return Err(format!("{key}= is empty; write {example}"));
            }
            "ca" | "cert" | "key" | "sslrootcert" | "sslcert" | "sslkey" if value.is_empty() => {
                return Err(format!("{key}= is empty; write {key}=/path/{key}.pem"));
            }
            "socket" => self.hosts = vec![Host::Unix(value.into())],
            // libpq's way of naming a socket's folder.
            "host" if value.starts_with('/') => {
                self.hosts = vec![Host::Unix(format!("{value}/.s.PGSQL.{port}").into())];
            }
            "host" => self.hosts = vec![parse_host(value, port, true)?],
            "tls" => {
                const WORDS: &[&str] = &[
                    "off",
                    "disable",
                    "on",
                    "require",
                    "verify-full",
                    "verify-ca",
                    "no-verify",
                ];
                self.tls = TlsMode::among(WORDS, value).ok_or_else(|| {
                    format!("tls={value}: must be off, on, verify-full, verify-ca, no-verify")
                })?;
            }
            "ca" | "sslrootcert" => self.ca = Some(value.into()),
            "cert" | "sslcert" => self.cert = Some(value.into()),
            "key" | "sslkey" => self.key = Some(value.into()),
            // libpq's: those that mean what ours do (PostgreSQL manual, 34.19.1).
            "sslmode" => {
                const WORDS: &[&str] = &["disable", "verify-ca", "verify-full"];
                self.tls = TlsMode::among(WORDS, value).ok_or_else(|| sslmode(value))?;
            }
            "user" => self.user = value.into(),
            "password" => self.password = Secret::new(value),
            "dbname" => self.database = value.into(),
            other => {
                if let Some(instead) = libpq_key(other) {
                    return Err(format!("{other} is a libpq key: {instead}"));
                }
                let hint = key_elsewhere(other)
                    .or_else(|| nearest(other, QUERY_KEYS.iter().copied()))
                    .map(|n| format!("; did you mean {n}?"))
                    .unwrap_or_default();
                return Err(format!(
                    "unknown key {other}; known: {}{hint}",
                    QUERY_KEYS.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// The host of the `n`-th session that writes: sessions are spread evenly.
    pub fn host_for(&self, session: usize) -> Option<&Host> {
        (!self.hosts.is_empty()).then(|| &self.hosts[session % self.hosts.len()])
    }

    /// Whether no host takes writes.
    pub fn is_read_only(&self) -> bool {
        self.hosts.is_empty() && !self.readers.is_empty()
    }
}

/// One host of a URL. In one without an account the port may be the password of a URL that lacks
/// its host, and what is no number may be one anywhere: neither is repeated.
fn parse_host(text: &str, default_port: u16, has_account: bool) -> Result<Host, String> {
    let port_of = |port: &str| {
        let number = port.parse::<u16>().ok().filter(|p| *p > 0);
        number.ok_or_else(|| {
            if has_account && port.bytes().all(|c| c.is_ascii_digit()) {
                format!("port {port}: must be 1 to 65535")
            } else if has_account {
                "invalid port after ':' (1 to 65535)".into()
            } else {
                format!(
                    "invalid port after ':' (1 to 65535); if it is a password, @ and the host \
                     are missing after it; {ESCAPES}"
                )
            }
        })
    };
    // What parts a URL is in no host's name (RFC 3986, 3.2.2).
    let name_of = |name: &str| {
        let parts = |c: char| "/?#@,[] ".contains(c) || c.is_control();
        match name.contains(parts) {
            true => Err(format!("host {name:?}: must be one name or address")),
            false => Ok(name.to_string()),
        }
    };
    if let Some(rest) = text.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("an IPv6 address lacks its ]")?;
        let port = match after.strip_prefix(':') {
            Some(port) => port_of(port)?,
            None if after.is_empty() => default_port,
            None => return Err(format!("unexpected {after} after an IPv6 address")),
        };
        // A zone (RFC 6874) is a name of this machine's, behind an address.
        let address = host.split('%').next().unwrap_or_default();
        if address.parse::<Ipv6Addr>().is_err() {
            return Err(format!(
                "[{host}]: allowed in brackets is an IPv6 address, such as [::1]"
            ));
        }
        return Ok(Host::Tcp {
            host: name_of(host)?,
            port,
        });
    }
    match text.split_once(':') {
        // The name is in front of what is wrong, and may be the user.
        Some((host, port)) => {
            let port = port_of(port)?;
            let host = if host.is_empty() { "127.0.0.1" } else { host };
            Ok(Host::Tcp {
                host: name_of(host)?,
                port,
            })
        }
        None => Ok(Host::Tcp {
            host: name_of(text)?,
            port: default_port,
        }),
    }
}
