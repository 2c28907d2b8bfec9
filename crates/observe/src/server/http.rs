//! One GET of HTTP, with TLS or without, within a time.

use super::url::Url;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// More than any exporter tells.
const MOST_BYTES: u64 = 16 << 20;
/// No head of a reply is longer, and no line.
const MOST_HEAD: usize = 64 << 10;
const LONGEST_LINE: usize = 64 << 10;
/// How TLS refuses what is no TLS (RFC 8446, section 5.1: alert, version 3).
const TLS_ALERT: [u8; 2] = [0x15, 0x03];

/// What an address that wants a sign-in gets it from.
const SIGN_IN: &str =
    "set TIDEMARK_OBSERVE_TOKEN, or TIDEMARK_OBSERVE_USER and TIDEMARK_OBSERVE_PASSWORD";

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

/// What a reply comes through.
enum HttpStream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl HttpStream {
    fn over(socket: TcpStream, url: &Url) -> Result<Self, String> {
        if !url.is_tls() {
            return Ok(Self::Plain(socket));
        }
        let config = url.access().tls()?;
        let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", url.address());
        let name = ServerName::try_from(url.host().to_string()).map_err(|e| wrong(&e))?;
        let session = ClientConnection::new(config, name).map_err(|e| wrong(&e))?;
        Ok(Self::Tls(Box::new(StreamOwned::new(session, socket))))
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.get_ref(),
        }
    }

    fn read(&mut self, part: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(part),
            Self::Tls(tls) => match tls.read(part) {
                // Many close without saying so; what is missing, the length tells.
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(0),
                read => read,
            },
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Plain(socket) => socket.write_all(bytes),
            Self::Tls(tls) => tls.write_all(bytes).and_then(|()| tls.flush()),
        }
    }
}

/// One reply, within a time.
struct HttpReply<'u> {
    url: &'u Url,
    stream: HttpStream,
    begun: Instant,
    longest: Duration,
}

impl<'u> HttpReply<'u> {
    fn asked(url: &'u Url, longest: Duration) -> Result<Self, String> {
        let begun = Instant::now();
        let failed = |e| failed(url, longest, &e);
        let addresses = url.address().to_socket_addrs().map_err(failed)?;
        let mut stream = Err(format!("{}: the host name does not resolve", url.address()));
        for address in addresses {
            stream = TcpStream::connect_timeout(&address, left(begun, longest)?).map_err(failed);
            if stream.is_ok() {
                break;
            }
        }
        let socket = stream?;
        let left = left(begun, longest)?;
        socket.set_write_timeout(Some(left)).map_err(failed)?;
        // A handshake reads before the reply does.
        socket.set_read_timeout(Some(left)).map_err(failed)?;
        let mut stream = HttpStream::over(socket, url)?;
        let authorization = url.access().authorization();
        let authorization = authorization.map(|said| format!("Authorization: {said}\r\n"));
        // HTTP/1.0: the body ends with the connection, and comes in no chunks.
        let request = format!(
            "GET {} HTTP/1.0\r\nHost: {}\r\nAccept: */*\r\n{}Connection: close\r\n\r\n",
            url.path(),
            url.authority(),
            authorization.unwrap_or_default()
        );
        stream.write(request.as_bytes()).map_err(failed)?;
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
        let socket = self.stream.socket();
        socket.set_read_timeout(Some(left)).map_err(failed)?;
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
        ErrorKind::WouldBlock | ErrorKind::TimedOut => late(longest),
        ErrorKind::InvalidData if url.is_tls() => tls_failed(url, error),
        _ => format!("{}: {error}", url.address()),
    }
}

/// Why TLS failed, and what helps.
fn tls_failed(url: &Url, error: &std::io::Error) -> String {
    let inner = error.get_ref().and_then(|e| e.downcast_ref());
    let advice = match inner {
        Some(rustls::Error::InvalidCertificate(_)) => {
            "; --observe-ca=FILE names another certificate authority"
        }
        Some(rustls::Error::InvalidMessage(_)) => "; http:// is without TLS",
        _ => "",
    };
    format!("{}: TLS: {error}{advice}", url.address())
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
            url.address()
        )),
    }
}

/// What is said of a status, which may be anything.
fn status_said(address: &str, status: &str) -> String {
    match status {
        "401" | "403" => format!("{address}: HTTP status {status}; {SIGN_IN}"),
        _ if status.len() == 3 && status.bytes().all(|digit| digit.is_ascii_digit()) => {
            format!("{address}: HTTP status {status}")
        }
        _ => format!("{address}: the reply is not HTTP"),
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
    let mut lines = LineBuffer::default();
    let (_, extent) = parts(url, longest, most, false, &mut |part| {
        lines.take(part, each)
    })?;
    Ok(extent)
}

/// The status and the whole body, whatever the status is.
///
/// # Errors
/// Why there is none, or that it did not come in time.
pub(super) fn reply(url: &Url, longest: Duration) -> Result<(String, Vec<u8>), Unread> {
    let mut body = Vec::new();
    let mut keep = |part: &[u8]| body.extend_from_slice(part);
    let (status, extent) = parts(url, longest, MOST_BYTES, true, &mut keep)?;
    match extent {
        Extent::Whole => Ok((status, body)),
        Extent::Cut => Err(Unread::Said(format!(
            "{}: the reply is too long or ended early",
            url.address()
        ))),
    }
}

/// What is said of a status that is no success.
pub(super) fn refused(url: &Url, status: &str) -> String {
    status_said(url.address(), status)
}

/// Tells the body part by part, of a reply of any status or of a good one; its status.
fn parts(
    url: &Url,
    longest: Duration,
    most: u64,
    any: bool,
    each: &mut dyn FnMut(&[u8]),
) -> Result<(String, Extent), Unread> {
    let said = |why: &str| Unread::Said(format!("{}: {why}", url.address()));
    let mut reply = HttpReply::asked(url, longest).map_err(Unread::Said)?;
    let (mut part, mut head) = (vec![0; 64 << 10], Vec::new());
    // Bytes that the body has, where that is said, once the head is over.
    let mut length: Option<Option<u64>> = None;
    let (mut status, mut read) = (String::new(), 0);
    loop {
        let bytes = reply.read(&mut part).map_err(Unread::Said)?;
        if bytes.is_empty() {
            return match length {
                None if head.is_empty() => Err(said("it closed the connection without a reply")),
                None => Err(said("the reply is not HTTP")),
                Some(length) if length.is_some_and(|length| read < length) => {
                    Ok((status, Extent::Cut))
                }
                Some(_) => Ok((status, Extent::Whole)),
            };
        }
        let first;
        let body = if length.is_some() {
            bytes
        } else {
            head.extend_from_slice(bytes);
            if head.starts_with(&TLS_ALERT) {
                return Err(Unread::Tls(url.address().into()));
            }
            let Some(end) = head.windows(4).position(|w| w == b"\r\n\r\n") else {
                match head.len() > MOST_HEAD {
                    true => return Err(said("the reply is not HTTP")),
                    false => continue,
                }
            };
            first = head.split_off(end + 4);
            let told = checked(url, &String::from_utf8_lossy(&head), &first, any)?;
            status = told.0;
            length = Some(told.1);
            first.as_slice()
        };
        each(body);
        read += body.len() as u64;
        match length.flatten() {
            Some(length) if read >= length => return Ok((status, Extent::Whole)),
            _ if read > most => return Ok((status, Extent::Cut)),
            _ => {}
        }
    }
}

/// The status, and the body's length where the head of a good reply has it, or of any.
fn checked(url: &Url, head: &str, body: &[u8], any: bool) -> Result<(String, Option<u64>), Unread> {
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/") {
        let why = format!("{}: the reply is not HTTP", url.address());
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
            Err(Unread::Said(format!("{}: {why}", url.address())))
        }
        "200" => Ok((
            status.into(),
            header("content-length").and_then(|v| v.parse().ok()),
        )),
        _ => {
            let moved = header("location").is_some_and(|v| v.starts_with("https:"));
            // Go's servers say so in the body.
            let asks = status == "400" && String::from_utf8_lossy(body).contains("HTTPS");
            match moved || asks {
                true => Err(Unread::Tls(url.address().into())),
                false if any => Ok((
                    status.into(),
                    header("content-length").and_then(|v| v.parse().ok()),
                )),
                false => Err(Unread::Said(status_said(url.address(), status))),
            }
        }
    }
}

/// Bytes put together to lines.
#[derive(Default)]
struct LineBuffer {
    /// The begin of a line whose end is still to come.
    begun: Vec<u8>,
    /// That line is too long.
    skips: bool,
}

impl LineBuffer {
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
}
