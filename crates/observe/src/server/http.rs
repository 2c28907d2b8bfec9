//! One GET of HTTP, in the clear, within a time.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// More than any exporter tells.
const MOST_BYTES: u64 = 16 << 20;

/// An address of `http://host:port/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    authority: String,
    address: String,
    path: String,
}

impl Url {
    /// Reads one; without a path it is `/metrics`.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn parse(text: &str, port: u16) -> Result<Self, String> {
        let wrong = |why: &str| format!("{text}: {why}; for example http://db1:{port}/metrics");
        let rest = text
            .strip_prefix("http://")
            .ok_or_else(|| wrong("only http:// is supported"))?;
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/metrics"),
        };
        if authority.is_empty() || authority.contains('@') || text.contains(char::is_whitespace) {
            return Err(wrong("invalid host"));
        }
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, p)| p.parse::<u16>().is_ok());
        Ok(Self {
            authority: authority.into(),
            address: match has_port {
                true => authority.into(),
                false => format!("{authority}:{port}"),
            },
            path: if path == "/" { "/metrics" } else { path }.into(),
        })
    }

    /// The same with a query, unless it has one.
    pub fn asking(&self, query: &str) -> Self {
        let mut url = self.clone();
        if !url.path.contains('?') {
            url.path = format!("{}?{query}", url.path);
        }
        url
    }
}

/// Gets the body.
///
/// # Errors
/// Why there is none, for people.
pub(super) fn get(url: &Url, longest: Duration) -> Result<String, String> {
    let begun = Instant::now();
    let left = || {
        let left = longest.saturating_sub(begun.elapsed());
        (!left.is_zero())
            .then_some(left)
            .ok_or_else(|| late(longest))
    };
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => late(longest),
        _ => format!("{}: {e}", url.address),
    };
    let addresses = url.address.to_socket_addrs().map_err(failed)?;
    let mut stream = Err(format!("{}: the host name does not resolve", url.address));
    for address in addresses {
        stream = TcpStream::connect_timeout(&address, left()?).map_err(failed);
        if stream.is_ok() {
            break;
        }
    }
    let mut stream = stream?;
    stream.set_write_timeout(Some(left()?)).map_err(failed)?;
    // HTTP/1.0: the body ends with the connection, and comes in no chunks.
    let request = format!(
        "GET {} HTTP/1.0\r\nHost: {}\r\nAccept: text/plain\r\nConnection: close\r\n\r\n",
        url.path, url.authority
    );
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let (mut answer, mut part) = (Vec::new(), [0; 16 << 10]);
    loop {
        stream.set_read_timeout(Some(left()?)).map_err(failed)?;
        match stream.read(&mut part).map_err(failed)? {
            0 => break,
            n => answer.extend_from_slice(part.get(..n).unwrap_or_default()),
        }
        if answer.len() as u64 > MOST_BYTES {
            return Err(format!("{}: the answer is too long", url.address));
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .ok_or_else(|| format!("{}: the reply is not HTTP", url.address))?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    match status {
        "200" => Ok(body.to_string()),
        status => Err(format!("{}: HTTP status {status}", url.address)),
    }
}

fn late(longest: Duration) -> String {
    format!("no reply within {} s", longest.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let url = Url::parse("http://db1", 9100).unwrap();
        assert_eq!(
            (url.address.as_str(), url.path.as_str()),
            ("db1:9100", "/metrics")
        );
        let url = Url::parse("http://[::1]:91/x/metrics", 9100).unwrap();
        assert_eq!(
            (url.address.as_str(), url.path.as_str()),
            ("[::1]:91", "/x/metrics")
        );
        assert_eq!(url.asking("a=1").path, "/x/metrics?a=1");
        assert_eq!(url.asking("a=1").asking("b=2").path, "/x/metrics?a=1");
        for wrong in ["https://db1", "db1:9100", "http://", "http://u:p@db1/"] {
            let said = Url::parse(wrong, 9100).unwrap_err();
            assert!(
                said.contains("for example http://db1:9100/metrics"),
                "{said}"
            );
        }
    }
}
