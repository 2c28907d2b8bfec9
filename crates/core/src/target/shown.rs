//! A target as its URL, for records, reports and messages.

use super::{Host, Target, TlsMode};
use crate::Protocol;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode_byte, utf8_percent_encode};
use std::fmt;
use std::path::Path;

/// What must be escaped in user, password, database (RFC 3986, 2.2).
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b':')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'@')
    .add(b'[')
    .add(b']')
    .add(b'&')
    .add(b'=')
    .add(b'+')
    .add(b',');

/// A path as a value of a URL's query: what would end it, or begin another URL, is escaped; the rest
/// stays as people know it.
fn in_query(path: &Path) -> String {
    let mut text = String::new();
    for c in path.display().to_string().chars() {
        if c.is_ascii_control() || " %&#,?@".contains(c) {
            text.push_str(percent_encode_byte(c as u8));
        } else {
            text.push(c);
        }
    }
    text
}

/// The URL, or the URLs, with `***` for the password: for records, reports and messages.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.protocol == Protocol::Sqlite {
            return write!(f, "sqlite:{}", self.database);
        }
        // A URL names hosts or one socket: of several sockets, each has its own.
        let together = |a: &Host, b: &Host| ![a, b].iter().any(|h| matches!(h, Host::Unix(_)));
        let any = self.hosts.chunk_by(together).map(|hosts| (hosts, None));
        let readers = self.readers.chunk_by(together);
        let readers = readers.map(|hosts| (hosts, Some("role=read")));
        for (n, (hosts, role)) in any.chain(readers).enumerate() {
            if n > 0 {
                f.write_str(",")?;
            }
            self.fmt_url(f, hosts, role)?;
        }
        Ok(())
    }
}

impl Target {
    fn fmt_url(
        &self,
        f: &mut fmt::Formatter<'_>,
        hosts: &[Host],
        role: Option<&str>,
    ) -> fmt::Result {
        write!(
            f,
            "{}://{}",
            self.protocol,
            utf8_percent_encode(&self.user, ESCAPED)
        )?;
        if !self.password.is_empty() {
            f.write_str(":***")?;
        }
        f.write_str("@")?;
        let tcp: Vec<String> = hosts
            .iter()
            .filter(|h| matches!(h, Host::Tcp { .. }))
            .map(ToString::to_string)
            .collect();
        write!(
            f,
            "{}/{}",
            tcp.join(","),
            utf8_percent_encode(&self.database, ESCAPED)
        )?;
        let mut query = Vec::new();
        for host in hosts {
            if let Host::Unix(path) = host {
                query.push(format!("socket={}", in_query(path)));
            }
        }
        if self.tls != TlsMode::Disabled {
            query.push(format!("tls={}", self.tls));
        }
        for (key, path) in [("ca", &self.ca), ("cert", &self.cert), ("key", &self.key)] {
            if let Some(path) = path {
                query.push(format!("{key}={}", in_query(path)));
            }
        }
        query.extend(role.map(Into::into));
        if !query.is_empty() {
            write!(f, "?{}", query.join("&"))?;
        }
        Ok(())
    }
}
