//! The PostgreSQL protocol, version 3: SCRAM and md5 by `postgres-protocol`, the rest by hand.
//!
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>

use crate::Load;
use crate::error::LoopError;
use crate::session::{KEY_BYTES, Session, Wire, query as text, write_key};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use tidemark_core::Target;

const PROTOCOL_3_0: i32 = 196_608;
const INT4: i32 = 23;
const VARCHAR: i32 = 1043;
const BINARY: i16 = 1;

/// One PostgreSQL session.
pub(crate) struct Postgres {
    wire: Wire,
    /// Bind, Execute and Sync of each table's statement, the value to be filled in.
    queries: Vec<Vec<u8>>,
    /// Where the value stands in each of them.
    value_at: Vec<usize>,
    /// Whether it is a key of text.
    keyed: bool,
}

impl Session for Postgres {
    fn connect(target: &Target, index: usize, load: Load) -> Result<Self, LoopError> {
        let mut wire = Wire::connect(target, index)?;
        authenticate(&mut wire, target)?;
        let (mut queries, mut value_at) = (Vec::new(), Vec::new());
        for table in 1..=load.tables {
            let name = format!("s{table}");
            let mut parse = Request::default();
            let (kind, value) = match load.ycsb.is_some() {
                true => (VARCHAR, vec![b'0'; KEY_BYTES]),
                false => (INT4, vec![0; 4]),
            };
            parse.message(b'P', |body| {
                body.text(&name)
                    .text(&text(load, table, "$1"))
                    .int16(1)
                    .int32(kind);
            })?;
            parse.message(b'S', |_| {})?;
            wire.send(&parse.0)?;
            wire.receive(ready)?;
            let mut query = Request::default();
            query.message(b'B', |body| {
                // Unnamed portal; one parameter, binary; results in their default format, text.
                body.text("").text(&name).int16(1).int16(BINARY);
                body.int16(1).int32(value.len() as i32);
                body.0.extend_from_slice(&value);
                body.int16(0);
            })?;
            value_at.push(query.0.len() - 2 - value.len());
            query.message(b'E', |body| {
                body.text("").int32(0);
            })?;
            query.message(b'S', |_| {})?;
            queries.push(query.0);
        }
        Ok(Self {
            wire,
            queries,
            value_at,
            keyed: load.ycsb.is_some(),
        })
    }

    fn query(&mut self, table: usize, id: i32) -> Result<(), LoopError> {
        let (query, at) = (&mut self.queries[table], self.value_at[table]);
        match self.keyed {
            true => write_key(id, &mut query[at..at + KEY_BYTES]),
            false => query[at..at + 4].copy_from_slice(&id.to_be_bytes()),
        }
        self.wire.send(query)?;
        self.wire.receive(ready)?;
        Ok(())
    }
}

/// Messages to send, in order.
#[derive(Default)]
struct Request(Vec<u8>);

impl Request {
    fn text(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
        self
    }

    fn int16(&mut self, value: i16) -> &mut Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    fn int32(&mut self, value: i32) -> &mut Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// A message of type `tag`, its length filled in.
    fn message(&mut self, tag: u8, body: impl FnOnce(&mut Self)) -> Result<(), LoopError> {
        self.0.push(tag);
        self.sized(body)
    }

    /// A length that counts itself, and what it counts.
    fn sized(&mut self, body: impl FnOnce(&mut Self)) -> Result<(), LoopError> {
        let at = self.0.len();
        self.int32(0);
        body(self);
        let length = i32::try_from(self.0.len() - at)
            .map_err(|_| LoopError::Usage("user, password or database is too long".into()))?;
        self.0[at..at + 4].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

/// What the server says about authentication: its request's type and data.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html>, Authentication*.
const AUTHENTICATED: i32 = 0;
const CLEARTEXT_PASSWORD: i32 = 3;
const MD5_PASSWORD: i32 = 5;
const SASL: i32 = 10;
const SASL_CONTINUE: i32 = 11;
const SASL_FINAL: i32 = 12;

/// From the start-up message to the first ReadyForQuery.
fn authenticate(wire: &mut Wire, target: &Target) -> Result<(), LoopError> {
    let password = target.password.reveal().as_bytes();
    let mut request = Request::default();
    request.sized(|body| {
        body.int32(PROTOCOL_3_0);
        body.text("user").text(&target.user);
        body.text("database").text(&target.database).0.push(0);
    })?;
    let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
    loop {
        wire.send(&request.0)?;
        request = Request::default();
        for (tag, body) in messages(wire.receive(server_waits)?) {
            match (tag, authentication(tag, body)) {
                (b'Z', _) => return Ok(()),
                (_, None | Some((AUTHENTICATED, _))) => {}
                (_, Some((CLEARTEXT_PASSWORD, _))) => request.message(b'p', |body| {
                    body.text(target.password.reveal());
                })?,
                (_, Some((MD5_PASSWORD, &[a, b, c, d]))) => request.message(b'p', |body| {
                    body.text(&md5_hash(target.user.as_bytes(), password, [a, b, c, d]));
                })?,
                (_, Some((SASL, names)))
                    if names
                        .split(|b| *b == 0)
                        .any(|n| n == SCRAM_SHA_256.as_bytes()) =>
                {
                    request.message(b'p', |body| {
                        let first = scram.message();
                        // The client's first message is under a hundred bytes.
                        body.text(SCRAM_SHA_256).int32(first.len() as i32);
                        body.0.extend_from_slice(first);
                    })?;
                }
                (_, Some((SASL_CONTINUE, challenge))) => {
                    scram.update(challenge)?;
                    request.message(b'p', |body| body.0.extend_from_slice(scram.message()))?;
                }
                (_, Some((SASL_FINAL, proof))) => scram.finish(proof)?,
                (_, Some((kind, _))) => {
                    return Err(LoopError::Protocol(format!(
                        "the server wants authentication of type {kind}; this loop knows \
                         SCRAM-SHA-256, md5, password and trust"
                    )));
                }
            }
        }
    }
}

/// Type and data of an authentication message; `None` for any other.
fn authentication(tag: u8, body: &[u8]) -> Option<(i32, &[u8])> {
    let (kind, data) = body.split_first_chunk()?;
    (tag == b'R').then(|| (i32::from_be_bytes(*kind), data))
}

/// The complete messages in `bytes`: tag and body.
fn messages(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (tag, body, length) = first_message(rest)?;
        rest = &rest[length..];
        Some((tag, body))
    })
}

/// Tag, body and whole length of the first message; `None` while it is incomplete.
fn first_message(bytes: &[u8]) -> Option<(u8, &[u8], usize)> {
    let (tag, rest) = bytes.split_first()?;
    // The length counts itself; a server that says less than four says nothing more.
    let length = u32::from_be_bytes(*rest.first_chunk()?).max(4) as usize;
    Some((*tag, rest.get(4..length)?, 1 + length))
}

/// End of what the server says before it waits for the client, while authenticating.
fn server_waits(bytes: &[u8]) -> Result<Option<usize>, LoopError> {
    end_at(bytes, |tag, body| match authentication(tag, body) {
        Some((kind, _)) => kind != AUTHENTICATED && kind != SASL_FINAL,
        None => tag == b'Z',
    })
}

/// End of a reply: ReadyForQuery.
fn ready(bytes: &[u8]) -> Result<Option<usize>, LoopError> {
    end_at(bytes, |tag, _| tag == b'Z')
}

fn end_at(bytes: &[u8], is_last: impl Fn(u8, &[u8]) -> bool) -> Result<Option<usize>, LoopError> {
    let mut at = 0;
    while let Some((tag, body, length)) = first_message(&bytes[at..]) {
        at += length;
        if tag == b'E' {
            return Err(LoopError::Server(error_text(body)));
        }
        if is_last(tag, body) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Code and message of an ErrorResponse.
fn error_text(body: &[u8]) -> String {
    let field = |code: u8| {
        body.split(|b| *b == 0)
            .find_map(|f| f.strip_prefix(&[code]))
            .map(String::from_utf8_lossy)
            .unwrap_or_default()
    };
    format!("{}: {}", field(b'C'), field(b'M'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(messages: &[(u8, &[u8])]) -> Vec<u8> {
        let mut request = Request::default();
        for (tag, body) in messages {
            request
                .message(*tag, |b| b.0.extend_from_slice(body))
                .unwrap();
        }
        request.0
    }

    #[test]
    fn a_reply_is_complete_at_ready_for_query_and_not_before() {
        let bytes = of(&[
            (b'2', b""),
            (b'D', b"\0\x01\0\0\0\x01Z"),
            (b'C', b"SELECT 1\0"),
            (b'Z', b"I"),
        ]);
        for cut in 0..bytes.len() {
            assert_eq!(ready(&bytes[..cut]).unwrap(), None, "{cut}");
        }
        assert_eq!(ready(&bytes).unwrap(), Some(bytes.len()));
    }

    #[test]
    fn an_error_is_the_servers_message() {
        let bytes = of(&[(b'E', b"SERROR\0C42P01\0Mrelation \"x\" does not exist\0\0")]);
        let error = ready(&bytes).unwrap_err().to_string();
        assert_eq!(
            error,
            "the server says: 42P01: relation \"x\" does not exist"
        );
    }

    #[test]
    fn the_server_waits_after_a_challenge_but_not_after_its_final_proof() {
        let challenge = of(&[(b'R', b"\0\0\0\x0br=nonce")]);
        assert_eq!(server_waits(&challenge).unwrap(), Some(challenge.len()));
        let last = of(&[
            (b'R', b"\0\0\0\x0cv=proof"),
            (b'R', b"\0\0\0\0"),
            (b'S', b"a\0b\0"),
        ]);
        assert_eq!(server_waits(&last).unwrap(), None);
        let all = [last, of(&[(b'Z', b"I")])].concat();
        assert_eq!(server_waits(&all).unwrap(), Some(all.len()));
    }

    #[test]
    fn a_nonsense_length_is_never_read_out_of_bounds() {
        for length in [0u32, 3, 4, u32::MAX] {
            let bytes = [&[b'D'][..], &length.to_be_bytes()].concat();
            let _ = first_message(&bytes);
            assert!(ready(&bytes).unwrap().is_none());
        }
    }
}
