//! Opening a session (MySQL Internals, "Connection Phase"; MariaDB, "Connecting").

use super::auth::{Auth, AuthStep, Transport};
use super::error;
use super::packet::{ERR, FULL, HEADER, take, take_le};
use super::reply::{OkPacket, Terms, cut_off};
use crate::tls;
use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::packets::{AuthPlugin, HandshakeResponse, SslRequest};
use mysql_common::proto::MySerialize;
use std::collections::HashMap;
use std::sync::Arc;
use tidemark_core::{DbError, ErrorClass, Host, Target};
use tidemark_runtime::Stream;

/// The protocol's version that every server since MySQL 3.21 speaks.
const PROTOCOL: u64 = 10;
/// `utf8mb4_general_ci`: the one utf8mb4 collation that all of these servers know.
const COLLATION: u8 = 45;
/// Largest packet announced: the protocol's greatest.
const MAX_PACKET: u32 = 1 << 30;
/// Most bytes of a packet in this phase; the largest real one is a public key.
const LARGEST: usize = 1 << 20;
/// Most packets a server may send before it decides.
const MOST_STEPS: usize = 16;

/// What the two sides agreed on.
#[derive(Debug)]
pub(super) struct Agreed {
    /// The server's version as it prints it.
    pub version: String,
    pub terms: Terms,
    /// Whether the server takes LOAD DATA LOCAL.
    pub local_files: bool,
    /// Whether the server takes arrays of rows (MariaDB's `STMT_BULK_OPERATIONS`).
    pub bulk: bool,
    /// Status flags of the OK packet.
    pub status: u16,
    /// The lower 32 bits of the connection id.
    pub connection_id: u32,
}

/// Greets, encrypts if the target asks for it, and authenticates.
///
/// # Errors
/// [`ErrorClass::Refused`] with the host's name and the server's code.
pub(super) async fn open(
    stream: &mut Stream,
    host: &Host,
    target: &Target,
    tls: Option<&Arc<rustls::ClientConfig>>,
    count_matched: bool,
) -> Result<Agreed, DbError> {
    let wanted = wanted(target, count_matched);
    let opened = shake_hands(stream, host, target, tls, wanted).await;
    opened.map_err(|e| match e.code.as_str() {
        // These name the host already.
        "tls" | "connect" => e,
        // ER_ACCESS_DENIED_ERROR: the server says no more of an account that has to be encrypted.
        "1045" if tls.is_none() => {
            let mut denied = error::opening(host, e);
            denied.message += "; the session was not encrypted: an account that requires TLS \
                               (REQUIRE SSL) gets the same error and needs tls=on";
            denied
        }
        // ER_SECURE_TRANSPORT_REQUIRED.
        "3159" => {
            let mut denied = error::opening(host, e);
            denied.message += "; the server requires TLS: use tls=on";
            denied
        }
        _ => error::opening(host, e),
    })
}

async fn shake_hands(
    stream: &mut Stream,
    host: &Host,
    target: &Target,
    tls: Option<&Arc<rustls::ClientConfig>>,
    wanted: CapabilityFlags,
) -> Result<Agreed, DbError> {
    let mut wire = Wire {
        stream,
        received: Vec::new(),
        sequence: 0,
    };
    let greeting = Greeting::read(&wire.packet().await?)?;
    let mut capabilities = wanted & (greeting.capabilities | REQUIRED);
    // MariaDB's own flags are read only from a client that does not say it is MySQL's (MariaDB,
    // "Connection": CLIENT_MYSQL has the value of CLIENT_LONG_PASSWORD).
    let mut extended = greeting.mariadb & MARIADB_WANTED;
    // What follows columns that are left out is only told of with it.
    if !capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
        extended.remove(CACHE_METADATA);
    }
    if !extended.is_empty() {
        capabilities.remove(CapabilityFlags::CLIENT_LONG_PASSWORD);
    }
    if let Some(config) = tls {
        if !greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL) {
            return Err(tls::not_offered(host));
        }
        capabilities |= CapabilityFlags::CLIENT_SSL;
        let mut request = Vec::new();
        // MariaDB takes its own flags from this packet, and not from the one after it.
        SslRequest::new(capabilities, MAX_PACKET, COLLATION)
            .with_mariadb_capabilities(extended)
            .serialize(&mut request);
        wire.send(&request).await?;
        // Bytes that came in plain text must not be taken for the server's own later.
        if !wire.received.is_empty() {
            return Err(DbError::protocol(
                "plain text was received where TLS begins",
            ));
        }
        let name = tls::server_name(host)?;
        let started = wire.stream.start_tls(Arc::clone(config), name).await;
        started.map_err(|e| tls::failed(host, &e))?;
    }
    let transport = match host {
        _ if wire.stream.is_tls() => Transport::Tls,
        Host::Unix(_) => Transport::Socket,
        Host::Tcp { .. } => Transport::Plain,
    };
    let mut auth = Auth::new(
        &target.password,
        transport,
        &greeting.plugin,
        greeting.nonce,
    );
    let mut response = Vec::new();
    HandshakeResponse::new(
        Some(auth.respond()?),
        (8, 0, 0),
        Some(target.user.as_bytes()),
        (!target.database.is_empty()).then_some(target.database.as_bytes()),
        Some(AuthPlugin::from_bytes(auth.plugin_name())),
        capabilities,
        capabilities
            .contains(CapabilityFlags::CLIENT_CONNECT_ATTRS)
            .then(|| HashMap::from([("program_name".into(), "tidemark".into())])),
        MAX_PACKET,
    )
    .with_mariadb_ext_capabilities(extended)
    .serialize(&mut response);
    wire.send(&response).await?;
    let ok = wire.authenticate(&mut auth).await?;
    if !wire.received.is_empty() {
        return Err(DbError::protocol("unexpected message from the server"));
    }
    let agreed = capabilities & greeting.capabilities;
    Ok(Agreed {
        version: greeting.version,
        terms: Terms {
            deprecate_eof: agreed.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF),
            caches_columns: extended.contains(CACHE_METADATA),
        },
        local_files: agreed.contains(CapabilityFlags::CLIENT_LOCAL_FILES),
        bulk: extended.contains(MariadbCapabilities::MARIADB_CLIENT_STMT_BULK_OPERATIONS),
        status: ok.status,
        connection_id: greeting.connection_id,
    })
}

/// Since MariaDB 10.6.
const CACHE_METADATA: MariadbCapabilities = MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA;
/// What a session asks for of MariaDB's own.
const MARIADB_WANTED: MariadbCapabilities =
    MariadbCapabilities::MARIADB_CLIENT_STMT_BULK_OPERATIONS.union(CACHE_METADATA);

/// Without these nothing goes; a server that lacks them says so itself.
const REQUIRED: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_LONG_PASSWORD)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION);

/// What a session asks for. Without `CLIENT_FOUND_ROWS` affected rows are rows changed, with it
/// those that an UPDATE matched.
fn wanted(target: &Target, count_matched: bool) -> CapabilityFlags {
    let mut wanted = REQUIRED
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
        | CapabilityFlags::CLIENT_LOCAL_FILES
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_CONNECT_ATTRS
        | CapabilityFlags::CLIENT_DEPRECATE_EOF;
    if !target.database.is_empty() {
        wanted |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
    }
    if count_matched {
        wanted |= CapabilityFlags::CLIENT_FOUND_ROWS;
    }
    wanted
}

/// What the server says first ("Protocol::HandshakeV10").
#[derive(Debug)]
struct Greeting {
    version: String,
    connection_id: u32,
    capabilities: CapabilityFlags,
    /// None of another server than MariaDB.
    mariadb: MariadbCapabilities,
    nonce: Vec<u8>,
    plugin: Vec<u8>,
}

impl Greeting {
    fn read(payload: &[u8]) -> Result<Self, DbError> {
        match payload.first() {
            // Too many connections, host not allowed.
            Some(&ERR) => return Err(error::from_packet(payload)),
            Some(&version) if u64::from(version) == PROTOCOL => {}
            _ => {
                return Err(DbError::protocol("this is not a MySQL-protocol server"));
            }
        }
        Self::parse(payload).ok_or_else(|| cut_off("the greeting"))
    }

    fn parse(mut rest: &[u8]) -> Option<Self> {
        let rest = &mut rest;
        take(rest, 1)?;
        let version = String::from_utf8_lossy(take_null_terminated(rest)?).into_owned();
        let connection_id = take_le(rest, 4)? as u32;
        let mut nonce = take(rest, 8)?.to_vec();
        take(rest, 1)?;
        let mut capabilities = take_le(rest, 2)? as u32;
        let mut plugin = Vec::new();
        let mut mariadb = 0;
        if !rest.is_empty() {
            let _charset_and_status = take(rest, 3)?;
            capabilities |= (take_le(rest, 2)? as u32) << 16;
            let nonce_len = take_le(rest, 1)? as usize;
            let _reserved = take(rest, 6)?;
            mariadb = take_le(rest, 4)? as u32;
            let more = nonce_len.saturating_sub(8).max(13).min(rest.len());
            let more = take(rest, more)?;
            nonce.extend_from_slice(more.strip_suffix(&[0]).unwrap_or(more));
            // Some servers leave out the name's NUL (MySQL bug 59453).
            plugin = rest.strip_suffix(&[0]).unwrap_or(rest).to_vec();
        }
        Some(Self {
            version,
            connection_id,
            mariadb: if capabilities & CapabilityFlags::CLIENT_LONG_PASSWORD.bits() == 0 {
                MariadbCapabilities::from_bits_truncate(mariadb)
            } else {
                MariadbCapabilities::empty()
            },
            capabilities: CapabilityFlags::from_bits_truncate(capabilities),
            nonce,
            plugin,
        })
    }
}

/// Takes a string and the NUL behind it off the front.
fn take_null_terminated<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = bytes.iter().position(|&b| b == 0)?;
    let text = take(bytes, end)?;
    take(bytes, 1)?;
    Some(text)
}

/// Whole packets, while a session is opened.
struct Wire<'a> {
    stream: &'a mut Stream,
    received: Vec<u8>,
    sequence: u8,
}

impl Wire<'_> {
    async fn packet(&mut self) -> Result<Vec<u8>, DbError> {
        loop {
            if let Some(&[a, b, c, sequence]) = self.received.first_chunk::<HEADER>() {
                let len = u32::from_le_bytes([a, b, c, 0]) as usize;
                if len > LARGEST || len == FULL {
                    return Err(DbError::protocol("a packet of the greeting is too large"));
                }
                if self.received.len() >= HEADER + len {
                    let rest = self.received.split_off(HEADER + len);
                    let mut packet = std::mem::replace(&mut self.received, rest);
                    packet.drain(..HEADER);
                    self.sequence = sequence.wrapping_add(1);
                    return Ok(packet);
                }
            }
            let received = &mut self.received;
            let more = self.stream.receive(|bytes| {
                received.extend_from_slice(bytes);
                Some(())
            });
            more.await.map_err(|e| super::lost(&e))?;
        }
    }

    async fn send(&mut self, payload: &[u8]) -> Result<(), DbError> {
        let [a, b, c, _] = (payload.len() as u32).to_le_bytes();
        let mut packet = Vec::with_capacity(HEADER + payload.len());
        packet.extend_from_slice(&[a, b, c, self.sequence]);
        packet.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        let sent = self.stream.send(&packet).await;
        sent.map_err(|e| super::lost(&e))
    }

    async fn authenticate(&mut self, auth: &mut Auth<'_>) -> Result<OkPacket, DbError> {
        for _ in 0..MOST_STEPS {
            let packet = self.packet().await?;
            match packet.split_first() {
                Some((0x00, _)) => return OkPacket::read(&packet, true),
                Some((&ERR, _)) => return Err(error::from_packet(&packet)),
                // "Protocol::AuthSwitchRequest".
                Some((0xFE, mut rest)) => {
                    let plugin = take_null_terminated(&mut rest).ok_or_else(old_password)?;
                    auth.switch(plugin, rest)?;
                    let response = auth.respond()?;
                    self.send(&response).await?;
                }
                // "Protocol::AuthMoreData".
                Some((0x01, data)) => match auth.more(data)? {
                    AuthStep::Wait => {}
                    AuthStep::Send(response) => self.send(&response).await?,
                },
                _ => {
                    return Err(DbError::new(
                        ErrorClass::Refused,
                        "auth",
                        "the server requests an authentication method that Tidemark does not \
                         support",
                    ));
                }
            }
        }
        Err(DbError::protocol("authentication does not finish"))
    }
}

/// A switch request without a name means the hash of MySQL 3.23, which anybody can break.
fn old_password() -> DbError {
    DbError::new(
        ErrorClass::Refused,
        "auth",
        "the account has a password hash of MySQL before 4.1; set its password again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MariaDB 10.11's greeting.
    fn greeting() -> Vec<u8> {
        let mut g = b"\x0a5.5.5-10.11.19-MariaDB\0\x04\0\0\0".to_vec();
        g.extend_from_slice(b"abcdefgh\0");
        g.extend_from_slice(&[0xFE, 0xF7, 0x2D, 0x02, 0x00, 0xFF, 0x81, 21]);
        g.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0x1D, 0, 0, 0]);
        g.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
        g
    }

    #[test]
    fn a_greeting_tells_version_nonce_and_plugin() {
        let g = Greeting::read(&greeting()).unwrap();
        assert_eq!(g.version, "5.5.5-10.11.19-MariaDB");
        assert_eq!(g.nonce, b"abcdefghijklmnopqrst");
        assert_eq!(g.plugin, b"mysql_native_password");
        let flags = g.capabilities;
        assert!(flags.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF));
        assert!(!flags.contains(CapabilityFlags::CLIENT_SSL));
    }

    #[test]
    fn a_greeting_cut_off_anywhere_is_refused_or_shorter() {
        let whole = greeting();
        for len in 0..whole.len() {
            if let Ok(g) = Greeting::read(&whole[..len]) {
                assert!(g.nonce.len() <= 20);
            }
        }
        let e = Greeting::read(b"HTTP/1.1 400 Bad Request").unwrap_err();
        assert!(e.message.contains("not a MySQL-protocol server"));
        let e = Greeting::read(b"\xff\x10\x04Too many connections").unwrap_err();
        assert_eq!(e.code, "1040");
    }
}
