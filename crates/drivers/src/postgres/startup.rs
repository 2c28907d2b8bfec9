//! Opening a session: TLS, start-up message, authentication.
//!
//! PostgreSQL manual, "Message Flow", sections "Start-up" and "SSL Session Encryption".

use super::error::ServerError;
use super::message;
use crate::connector::refused;
use crate::tls;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use std::sync::Arc;
use tidemark_core::{DbError, ErrorClass, Host, Target};
use tidemark_runtime::Stream;

/// Longest message of a start-up; libpq takes no longer ones either.
const MAX_MESSAGE: usize = 30_000;
/// Most requests for authentication before the server decides.
const MOST_REQUESTS: usize = 16;
/// Most iterations of SCRAM's hash: what the server asks for is computed at once, while nothing else
/// of the thread runs. PostgreSQL asks for 4096 unless told otherwise (manual, `scram_iterations`).
const MOST_ITERATIONS: u64 = 1_000_000;

/// A session that the server let in.
pub(super) struct Started {
    pub stream: Stream,
    /// The `server_version` parameter; empty when none was sent.
    pub server_version: String,
    /// The number that the session is cancelled by: its process's, where a server gave it.
    pub number: Option<i64>,
    /// Bytes that came after `ReadyForQuery`.
    pub rest: Vec<u8>,
}

struct Startup<'a> {
    stream: Stream,
    host: &'a Host,
    target: &'a Target,
    /// What was received,
    inbox: Vec<u8>,
    /// and how much of it is read.
    read: usize,
}

/// An error of the protocol as the refusal of a session.
pub(super) fn refuse(host: &Host, error: DbError) -> DbError {
    DbError {
        code: error.code,
        kind: error.kind,
        ..refused(host, &error.message)
    }
}

/// Opens a session on a fresh connection.
///
/// # Errors
/// [`ErrorClass::Refused`], whatever the reason.
pub(super) async fn start(
    stream: Stream,
    host: &Host,
    target: &Target,
    tls: Option<&Arc<rustls::ClientConfig>>,
) -> Result<Started, DbError> {
    let mut startup = Startup {
        stream,
        host,
        target,
        inbox: Vec::new(),
        read: 0,
    };
    if let Some(config) = tls {
        startup.encrypt(config).await?;
    }
    let mut parameters = vec![("user", target.user.as_str())];
    if !target.database.is_empty() {
        parameters.push(("database", target.database.as_str()));
    }
    parameters.push(("client_encoding", "UTF8"));
    parameters.push(("application_name", "tidemark"));
    let mut out = Vec::new();
    message::startup(&mut out, &parameters).map_err(|e| startup.refuse(e.message))?;
    startup.send(&out).await?;
    let authenticated = startup.authenticate().await;
    authenticated.map_err(|mut denied| {
        // "no pg_hba.conf entry for host …, no encryption": as where all entries are `hostssl`.
        if tls.is_none() && denied.message.contains("no encryption") {
            denied.message += "; the server may require TLS: use tls=on";
        }
        denied
    })?;
    startup.settle().await
}

impl Startup<'_> {
    fn refuse(&self, why: impl AsRef<str>) -> DbError {
        refused(self.host, why.as_ref())
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), DbError> {
        let sent = self.stream.send(bytes).await;
        sent.map_err(|e| self.refuse(e.to_string()))
    }

    /// Asks for TLS and starts it.
    async fn encrypt(&mut self, config: &Arc<rustls::ClientConfig>) -> Result<(), DbError> {
        let name = tls::server_name(self.host)?;
        let mut out = Vec::new();
        message::ssl_request(&mut out);
        self.send(&out).await?;
        let answer = self.stream.receive(|bytes| match *bytes {
            [answer] => Some(Some(answer)),
            _ => Some(None),
        });
        match answer.await.map_err(|e| self.refuse(e.to_string()))? {
            Some(b'S') => {}
            Some(b'N') => return Err(tls::not_offered(self.host)),
            // More than the one byte could be slipped in ahead of the encrypted bytes
            // (CVE-2021-23222); a server too old for TLS or out of sessions sends an error, whose
            // text nobody vouches for yet.
            _ => {
                return Err(DbError::new(
                    ErrorClass::Refused,
                    "tls",
                    format!("{} sent an invalid reply to the TLS request", self.host),
                ));
            }
        }
        let started = self.stream.start_tls(Arc::clone(config), name).await;
        started.map_err(|e| tls::failed(self.host, &e))
    }

    /// The next message that is no notice; an error of the server is an error.
    async fn next(&mut self) -> Result<(u8, Vec<u8>), DbError> {
        loop {
            if let Some((tag, body)) = self.take_message()? {
                match tag {
                    b'E' => return Err(self.server_refusal(&body)),
                    b'N' | b'A' => continue,
                    _ => return Ok((tag, body)),
                }
            }
            let inbox = &mut self.inbox;
            inbox.drain(..std::mem::take(&mut self.read));
            let received = self.stream.receive(|bytes| {
                inbox.extend_from_slice(bytes);
                Some(())
            });
            if let Err(e) = received.await {
                return Err(
                    self.refuse(if e.kind() == std::io::ErrorKind::UnexpectedEof {
                        "the server closed the connection".into()
                    } else {
                        e.to_string()
                    }),
                );
            }
        }
    }

    fn take_message(&mut self) -> Result<Option<(u8, Vec<u8>)>, DbError> {
        let unread = &self.inbox[self.read..];
        let [tag, a, b, c, d, ..] = *unread else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if !(4..=MAX_MESSAGE).contains(&length) {
            return Err(DbError::new(
                ErrorClass::Refused,
                "protocol",
                format!(
                    "{} does not speak PostgreSQL's protocol; is another server behind this port?",
                    self.host
                ),
            ));
        }
        let Some(body) = unread.get(5..1 + length) else {
            return Ok(None);
        };
        let body = body.to_vec();
        self.read += 1 + length;
        Ok(Some((tag, body)))
    }

    /// Too many sessions, wrong password, no such database, still starting: all refuse a session.
    fn server_refusal(&self, body: &[u8]) -> DbError {
        let error = ServerError::parse(body);
        let message = self.refuse(&error.message).message;
        let kind = error.kind();
        DbError::new(ErrorClass::Refused, error.code, message).of_kind(kind)
    }

    /// Answers what the server asks until it says `AuthenticationOk`.
    async fn authenticate(&mut self) -> Result<(), DbError> {
        for _ in 0..MOST_REQUESTS {
            let (tag, body) = self.next().await?;
            // NegotiateProtocolVersion: an older server; what is used here is as old as 3.0.
            if tag == b'v' {
                continue;
            }
            let Some((kind, data)) = body
                .split_first_chunk::<4>()
                .filter(|_| tag == b'R')
                .map(|(kind, data)| (u32::from_be_bytes(*kind), data))
            else {
                return Err(self.refuse("the server sent no request for authentication"));
            };
            match kind {
                0 => return Ok(()),
                3 => self.send_clear_text().await?,
                5 => self.send_md5(data).await?,
                10 => self.exchange_scram(data).await?,
                _ => {
                    let name = match kind {
                        2 => "Kerberos",
                        7 | 8 => "GSSAPI",
                        9 => "SSPI",
                        _ => "an unknown method of",
                    };
                    return Err(self.refuse(format!(
                        "the server requests {name} authentication; supported are scram-sha-256, \
                         md5, password over TLS, and trust"
                    )));
                }
            }
        }
        Err(self.refuse("authentication does not finish"))
    }

    fn password(&self) -> Result<&[u8], DbError> {
        if self.target.password.is_empty() {
            return Err(self.refuse(format!(
                "the server requests the password of {}, but the target has none",
                self.target.user
            )));
        }
        Ok(self.target.password.reveal().as_bytes())
    }

    async fn send_clear_text(&mut self) -> Result<(), DbError> {
        if !self.stream.is_tls() {
            return Err(self.refuse(
                "the server requests the password in clear text, which is sent over TLS only; \
                 use tls=on, or scram-sha-256 in the server's pg_hba.conf",
            ));
        }
        let mut out = Vec::new();
        message::password(&mut out, self.password()?).map_err(|e| self.refuse(e.message))?;
        self.send(&out).await
    }

    async fn send_md5(&mut self, salt: &[u8]) -> Result<(), DbError> {
        let salt = <[u8; 4]>::try_from(salt)
            .map_err(|_| self.refuse("the server sent an md5 salt of a wrong length"))?;
        let hash = md5_hash(self.target.user.as_bytes(), self.password()?, salt);
        let mut out = Vec::new();
        message::password(&mut out, hash.as_bytes())?;
        self.send(&out).await
    }

    /// SCRAM-SHA-256 (RFC 5802, RFC 7677), at whose end the server has proved that it knows the
    /// password too.
    async fn exchange_scram(&mut self, mechanisms: &[u8]) -> Result<(), DbError> {
        if !mechanisms
            .split(|b| *b == 0)
            .any(|m| m == SCRAM_SHA_256.as_bytes())
        {
            return Err(self.refuse("the server's SASL mechanisms lack SCRAM-SHA-256"));
        }
        let mut scram = ScramSha256::new(self.password()?, ChannelBinding::unsupported());
        let mut out = Vec::new();
        message::sasl_initial(&mut out, SCRAM_SHA_256, scram.message())?;
        self.send(&out).await?;
        let challenge = self.scram_step(11).await?;
        if let Some(asked) = iterations(&challenge).filter(|n| *n > MOST_ITERATIONS) {
            return Err(self.refuse(format!(
                "SCRAM-SHA-256: the server requests {asked} iterations; at most {MOST_ITERATIONS} \
                 are computed"
            )));
        }
        scram
            .update(&challenge)
            .map_err(|e| self.refuse(format!("SCRAM-SHA-256: {e}")))?;
        out.clear();
        message::sasl_response(&mut out, scram.message())?;
        self.send(&out).await?;
        let proof = self.scram_step(12).await?;
        scram.finish(&proof).map_err(|e| {
            self.refuse(format!(
                "SCRAM-SHA-256: the server did not prove that it knows the password ({e})"
            ))
        })
    }

    /// The data of the authentication message of the given kind, which must come now.
    async fn scram_step(&mut self, expected: u32) -> Result<Vec<u8>, DbError> {
        let (tag, mut body) = self.next().await?;
        if tag != b'R' || !body.starts_with(&expected.to_be_bytes()) {
            return Err(self.refuse("SCRAM-SHA-256: the server aborted the exchange"));
        }
        Ok(body.split_off(4))
    }

    /// Takes parameters until the server is ready.
    async fn settle(mut self) -> Result<Started, DbError> {
        let mut server_version = String::new();
        let mut number = None;
        loop {
            let (tag, body) = self.next().await?;
            match tag {
                b'S' => {
                    let mut parts = body.split(|b| *b == 0);
                    if let (Some(b"server_version"), Some(value)) = (parts.next(), parts.next()) {
                        server_version = String::from_utf8_lossy(value).into_owned();
                    }
                }
                // BackendKeyData.
                b'K' => {
                    let process = body.first_chunk().map(|n| i32::from_be_bytes(*n));
                    number = process.map(i64::from);
                }
                // NegotiateProtocolVersion.
                b'v' => {}
                b'Z' => {
                    return Ok(Started {
                        stream: self.stream,
                        server_version,
                        number,
                        rest: self.inbox.split_off(self.read),
                    });
                }
                _ => return Err(self.refuse("the server sent an unexpected message")),
            }
        }
    }
}

/// The iteration count at the end of the server's first message (RFC 5802, 7).
fn iterations(challenge: &[u8]) -> Option<u64> {
    let last = challenge.rsplit(|b| *b == b',').next()?;
    let digits = std::str::from_utf8(last.strip_prefix(b"i=")?).ok()?;
    digits.parse().ok()
}
