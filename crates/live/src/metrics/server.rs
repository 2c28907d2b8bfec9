//! A small HTTP server for one page: `GET /metrics`, and then the connection is closed.
//!
//! Every connection has a thread, few of them at a time, and a few seconds in all; what it may send
//! is bounded. So whoever is slow, silent or talks nonsense costs his own connection alone.

use super::classic::classic;
use super::encode::MetricsPage;
use super::{MetricsAddress, MetricsError};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Connections at a time. Of more the oldest is closed: whoever asks at once has been answered by
/// then, and those that say nothing keep nobody out.
const MOST_CONNECTIONS: usize = 16;
/// How long one may take from its first byte to the last of the answer.
const LONGEST: Duration = Duration::from_secs(5);
/// What a request may be long; Prometheus sends some 300 bytes.
const LONGEST_REQUEST: usize = 8 << 10;
const MOST_HEADERS: usize = 64;
/// After an error of the listener itself, as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// The listener's thread; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct MetricsServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl MetricsServer {
    pub fn bind(address: &MetricsAddress, page: Arc<MetricsPage>) -> Result<Self, MetricsError> {
        let failed = |source| MetricsError::Bind {
            address: address.to_string(),
            source,
        };
        let listener = TcpListener::bind(address.0).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let name = thread::Builder::new().name("metrics".into());
        name.spawn(move || listen(&listener, &page, &stopped))
            .map_err(failed)?;
        Ok(Self { address, stop })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the thread, which looks then. An address for all interfaces is reached by loopback.
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip(match own {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        let _woken = TcpStream::connect_timeout(&own, PAUSE);
    }
}

fn listen(listener: &TcpListener, page: &Arc<MetricsPage>, stop: &AtomicBool) {
    let open = Arc::new(OpenConnections::default());
    loop {
        let accepted = listener.accept();
        if stop.load(Ordering::Acquire) {
            return;
        }
        let Ok((stream, _)) = accepted else {
            thread::sleep(PAUSE);
            continue;
        };
        let Ok(place) = ConnectionSlot::take(&open, &stream) else {
            continue;
        };
        let page = Arc::clone(page);
        let name = thread::Builder::new().name("metrics-request".into());
        // Where there can be no thread the connection is closed.
        let _closed = name.spawn(move || {
            let _place = place;
            let _gone = HttpConnection::new(stream).answer(&page);
        });
    }
}

/// The connections that there are, oldest first, each with its number.
#[derive(Default)]
struct OpenConnections {
    next: AtomicU64,
    all: Mutex<VecDeque<(u64, TcpStream)>>,
}

impl OpenConnections {
    fn all(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the connections at a time.
struct ConnectionSlot {
    open: Arc<OpenConnections>,
    number: u64,
}

impl ConnectionSlot {
    /// Notes a connection, and closes the oldest of too many: its thread's reading ends with it.
    fn take(open: &Arc<OpenConnections>, stream: &TcpStream) -> io::Result<Self> {
        let number = open.next.fetch_add(1, Ordering::Relaxed);
        let stream = stream.try_clone()?;
        let mut all = open.all();
        all.push_back((number, stream));
        if all.len() > MOST_CONNECTIONS
            && let Some((_, oldest)) = all.pop_front()
        {
            let _gone = oldest.shutdown(Shutdown::Both);
        }
        drop(all);
        let open = Arc::clone(open);
        Ok(Self { open, number })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.open.all().retain(|(number, _)| *number != self.number);
    }
}

/// What is answered.
struct HttpResponse {
    status: &'static str,
    content_type: &'static str,
    body: String,
    /// Whether only the headers are sent.
    head: bool,
}

impl HttpResponse {
    fn error(status: &'static str) -> Self {
        Self {
            status,
            content_type: PLAIN,
            body: format!("{status}\n"),
            head: false,
        }
    }
}

struct HttpConnection {
    stream: TcpStream,
    deadline: Instant,
}

impl HttpConnection {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            deadline: Instant::now() + LONGEST,
        }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(left)
    }

    fn answer(mut self, page: &MetricsPage) -> io::Result<()> {
        let answer = self.request(page)?;
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            answer.status,
            answer.content_type,
            answer.body.len()
        );
        self.write(head.as_bytes())?;
        if !answer.head {
            self.write(answer.body.as_bytes())?;
        }
        self.stream.shutdown(Shutdown::Write)
    }

    /// Reads until the request is whole, or can't become one that is answered well.
    fn request(&mut self, page: &MetricsPage) -> io::Result<HttpResponse> {
        let mut bytes = Vec::new();
        let mut more = [0; 1024];
        loop {
            self.stream.set_read_timeout(Some(self.left()?))?;
            let n = match self.stream.read(&mut more) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            bytes.extend_from_slice(more.get(..n).unwrap_or_default());
            let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
            let mut request = httparse::Request::new(&mut headers);
            match request.parse(&bytes) {
                Ok(httparse::Status::Complete(_)) => return Ok(answer(&request, page)),
                Ok(httparse::Status::Partial) if bytes.len() < LONGEST_REQUEST => {}
                Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                    return Ok(HttpResponse::error("431 Request Header Fields Too Large"));
                }
                Err(_) => return Ok(HttpResponse::error("400 Bad Request")),
            }
        }
    }

    /// As `write_all`, but for the time.
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.set_write_timeout(Some(self.left()?))?;
            match self.stream.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

fn answer(request: &httparse::Request<'_, '_>, page: &MetricsPage) -> HttpResponse {
    let head = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return HttpResponse::error("405 Method Not Allowed"),
    };
    let path = request.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    if path == "/" {
        return HttpResponse {
            status: "200 OK",
            content_type: PLAIN,
            body: "Tidemark's metrics are at /metrics\n".into(),
            head,
        };
    }
    if path != "/metrics" {
        return HttpResponse {
            head,
            ..HttpResponse::error("404 Not Found")
        };
    }
    let accepts = |kind: &str| {
        let lines = request.headers.iter();
        let mut lines = lines.filter(|h| h.name.eq_ignore_ascii_case("accept"));
        lines.any(|h| {
            String::from_utf8_lossy(h.value)
                .to_ascii_lowercase()
                .contains(kind)
        })
    };
    let text = page.open_metrics();
    // Browsers ask for text/html: what they may only save they don't show.
    let is_classic =
        !accepts("application/openmetrics-text") && (accepts("text/plain") || accepts("text/html"));
    let (content_type, body) = match is_classic {
        true => (CLASSIC, classic(&text)),
        false => (OPEN_METRICS, text),
    };
    HttpResponse {
        status: "200 OK",
        content_type,
        body,
        head,
    }
}
