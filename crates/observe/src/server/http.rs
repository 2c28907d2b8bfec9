//! One GET of HTTP, in the clear, within a time.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// More than any exporter tells.
const MOST_BYTES: u64 = 16 << 20;
/// No head of a reply is longer, and no line.
const MOST_HEAD: usize = 64 << 10;
const LONGEST_LINE: usize = 64 << 10;
/// How TLS refuses what is no TLS (RFC 8446, section 5.1: alert, version 3).
const TLS_ALERT: [u8; 2] = [0x15, 0x03];

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

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The path, with a query where there is one.
    pub fn path(&self) -> &str {
        &self.path
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

/// Why nothing was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    /// The port speaks TLS.
    Tls(String),
    /// Anything else, for people.
    Said(String),
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unread::Tls(address) => write!(f, "{address}: TLS is required"),
            Unread::Said(why) => f.write_str(why),
        }
    }
}

/// How much of a body was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All.
    Whole,
    /// A part: it was too long, or the connection ended before.
    Cut,
}

/// One reply, within a time.
struct Reply<'u> {
    url: &'u Url,
    stream: TcpStream,
    begun: Instant,
    longest: Duration,
}

impl<'u> Reply<'u> {
    fn asked(url: &'u Url, longest: Duration) -> Result<Self, String> {
        let begun = Instant::now();
        let failed = |e| failed(url, longest, &e);
        let addresses = url.address.to_socket_addrs().map_err(failed)?;
        let mut stream = Err(format!("{}: the host name does not resolve", url.address));
        for address in addresses {
            stream = TcpStream::connect_timeout(&address, left(begun, longest)?).map_err(failed);
            if stream.is_ok() {
                break;
            }
        }
        let mut stream = stream?;
        let left = left(begun, longest)?;
        stream.set_write_timeout(Some(left)).map_err(failed)?;
        // HTTP/1.0: the body ends with the connection, and comes in no chunks.
        let request = format!(
            "GET {} HTTP/1.0\r\nHost: {}\r\nAccept: text/plain\r\nConnection: close\r\n\r\n",
            url.path, url.authority
        );
        stream.write_all(request.as_bytes()).map_err(failed)?;
        Ok(Self {
            url,
            stream,
            begun,
            longest,
        })
    }

    /// Some more bytes; none at the end.
    fn read<'p>(&mut self, part: &'p mut [u8]) -> Result<&'p [u8], String> {
        let failed = |e| failed(self.url, self.longest, &e);
        let left = left(self.begun, self.longest)?;
        self.stream.set_read_timeout(Some(left)).map_err(failed)?;
        let n = self.stream.read(part).map_err(failed)?;
        Ok(part.get(..n).unwrap_or_default())
    }
}

fn left(begun: Instant, longest: Duration) -> Result<Duration, String> {
    let left = longest.saturating_sub(begun.elapsed());
    (!left.is_zero())
        .then_some(left)
        .ok_or_else(|| late(longest))
}

fn failed(url: &Url, longest: Duration, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => late(longest),
        _ => format!("{}: {error}", url.address),
    }
}

/// Gets the body.
///
/// # Errors
/// Why there is none, for people.
pub(super) fn get(url: &Url, longest: Duration) -> Result<String, String> {
    let mut body = String::new();
    let mut keep = |line: &str| {
        body += line;
        body.push('\n');
    };
    match each_line(url, longest, MOST_BYTES, &mut keep).map_err(|why| why.to_string())? {
        Extent::Whole => Ok(body),
        Extent::Cut => Err(format!(
            "{}: the reply is too long or ended early",
            url.address
        )),
    }
}

/// What is said of a status, which may be anything.
fn status_said(address: &str, status: &str) -> String {
    match status.len() == 3 && status.bytes().all(|digit| digit.is_ascii_digit()) {
        true => format!("{address}: HTTP status {status}"),
        false => format!("{address}: the reply is not HTTP"),
    }
}

/// Tells every line of the body and keeps none; reads no more than `most` bytes. The last line ends with
/// a line feed, as the format asks for: without one it may be half a line, and is left out.
///
/// # Errors
/// Why there is no body, or that it did not come in time.
pub(super) fn each_line(
    url: &Url,
    longest: Duration,
    most: u64,
    each: &mut dyn FnMut(&str),
) -> Result<Extent, Unread> {
    let said = |why: &str| Unread::Said(format!("{}: {why}", url.address));
    let mut reply = Reply::asked(url, longest).map_err(Unread::Said)?;
    let (mut part, mut head) = (vec![0; 64 << 10], Vec::new());
    // Bytes that the body has, where that is said, once the head is over.
    let mut length: Option<Option<u64>> = None;
    let (mut lines, mut read) = (Lines::default(), 0);
    loop {
        let bytes = reply.read(&mut part).map_err(Unread::Said)?;
        if bytes.is_empty() {
            return match length {
                None if head.is_empty() => Err(said("it closed the connection without a reply")),
                None => Err(said("the reply is not HTTP")),
                Some(length) if length.is_some_and(|length| read < length) => Ok(Extent::Cut),
                Some(_) => Ok(Extent::Whole),
            };
        }
        let first;
        let body = if length.is_some() {
            bytes
        } else {
            head.extend_from_slice(bytes);
            if head.starts_with(&TLS_ALERT) {
                return Err(Unread::Tls(url.address.clone()));
            }
            let Some(end) = head.windows(4).position(|w| w == b"\r\n\r\n") else {
                match head.len() > MOST_HEAD {
                    true => return Err(said("the reply is not HTTP")),
                    false => continue,
                }
            };
            first = head.split_off(end + 4);
            length = Some(checked(url, &String::from_utf8_lossy(&head), &first)?);
            first.as_slice()
        };
        lines.take(body, each);
        read += body.len() as u64;
        match length.flatten() {
            Some(length) if read >= length => return Ok(Extent::Whole),
            _ if read > most => return Ok(Extent::Cut),
            _ => {}
        }
    }
}

/// The body's length, where a good reply's head has it.
fn checked(url: &Url, head: &str, body: &[u8]) -> Result<Option<u64>, Unread> {
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/") {
        let why = format!("{}: the reply is not HTTP", url.address);
        return Err(Unread::Said(why));
    }
    let status = status.split(' ').nth(1).unwrap_or_default();
    let header = |wanted: &str| {
        let mut pairs = head.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = pairs.find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
        Some(value.trim().to_ascii_lowercase())
    };
    match status {
        "200" if header("transfer-encoding").is_some_and(|v| v.contains("chunked")) => {
            let why = "a chunked reply to HTTP/1.0 is not supported";
            Err(Unread::Said(format!("{}: {why}", url.address)))
        }
        "200" => Ok(header("content-length").and_then(|v| v.parse().ok())),
        _ => {
            let moved = header("location").is_some_and(|v| v.starts_with("https:"));
            // Go's servers say so in the body.
            let asks = status == "400" && String::from_utf8_lossy(body).contains("HTTPS");
            Err(match moved || asks {
                true => Unread::Tls(url.address.clone()),
                false => Unread::Said(status_said(&url.address, status)),
            })
        }
    }
}

/// Bytes put together to lines.
#[derive(Default)]
struct Lines {
    /// The begin of a line whose end is still to come.
    begun: Vec<u8>,
    /// That line is too long.
    skips: bool,
}

impl Lines {
    fn take(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(&str)) {
        while let Some(end) = bytes.iter().position(|b| *b == b'\n') {
            let (end_of_line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            let mut line = end_of_line;
            if !self.begun.is_empty() {
                self.begun.extend_from_slice(end_of_line);
                line = &self.begun;
            }
            if let (false, Ok(line)) = (self.skips, std::str::from_utf8(line)) {
                each(line.trim_end_matches('\r'));
            }
            self.begun.clear();
            self.skips = false;
        }
        self.skips |= self.begun.len() + bytes.len() > LONGEST_LINE;
        match self.skips {
            true => self.begun.clear(),
            false => self.begun.extend_from_slice(bytes),
        }
    }
}

fn late(longest: Duration) -> String {
    format!("no reply within {} s", longest.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads what an endpoint sends, piece by piece.
    fn read(pieces: &[&[u8]], most: u64) -> (Result<Extent, Unread>, Vec<String>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut lines = Vec::new();
        let extent = std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                let _request = stream.read(&mut [0; 1024]);
                for piece in pieces {
                    let _gone = stream.write_all(piece).and_then(|()| stream.flush());
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            let url = Url::parse(&format!("http://{address}/metrics"), 1).unwrap();
            let long = Duration::from_secs(30);
            each_line(&url, long, most, &mut |line: &str| lines.push(line.into()))
        });
        (extent, lines)
    }

    #[test]
    fn lines_are_put_together_and_only_whole_ones_told() {
        let long = [b'x'; LONGEST_LINE + 9];
        let pieces: [&[u8]; 5] = [
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r",
            b"\na 1\r\n# b\nc",
            b" 2\nd\xff 3\n",
            &long,
            b"\ne 4\nf 5",
        ];
        let (extent, lines) = read(&pieces, MOST_BYTES);
        assert_eq!(extent, Ok(Extent::Whole));
        // What is no UTF-8 or too long is left out, as is what may be half a line.
        assert_eq!(lines, ["a 1", "# b", "c 2", "e 4"]);
    }

    #[test]
    fn a_body_ends_where_its_length_says_or_too_early() {
        let (extent, lines) = read(&[b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na 1\n"], 99);
        assert_eq!((extent, lines.len()), (Ok(Extent::Whole), 1));
        let (extent, lines) = read(&[b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na 1\nb"], 99);
        assert_eq!((extent, lines.len()), (Ok(Extent::Cut), 1));
        let many = b"x 1\n".repeat(200_000);
        let (extent, lines) = read(&[b"HTTP/1.0 200 OK\r\n\r\n", &many], 1 << 16);
        assert_eq!(extent, Ok(Extent::Cut));
        assert!((16_000..50_000).contains(&lines.len()), "{}", lines.len());
    }

    #[test]
    fn what_is_no_such_reply_is_said() {
        let replies: [(&[u8], &str); 8] = [
            (b"", "it closed the connection without a reply"),
            (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "the reply is not HTTP"),
            (b"SSH-2.0-OpenSSH_9.6\r\n", "the reply is not HTTP"),
            (b"HTTP/1.1 503 No\r\n\r\n", "HTTP status 503"),
            (
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\na 1\n\r\n0\r\n\r\n",
                "a chunked reply",
            ),
            (b"\x15\x03\x03\x00\x02\x02\x16", "TLS is required"),
            (
                b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
                "TLS is required",
            ),
            (
                b"HTTP/1.1 307 Temporary Redirect\r\nlocation: https://db1:8080/\r\n\r\n",
                "TLS is required",
            ),
        ];
        for (reply, wanted) in replies {
            let (extent, lines) = read(&[reply], MOST_BYTES);
            let said = extent.unwrap_err().to_string();
            assert!(said.contains(wanted) && lines.is_empty(), "{said}");
        }
    }

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
