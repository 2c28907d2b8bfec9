//! The MySQL client/server protocol: handshake by `mysql_common`, the loop by hand.
//!
//! <https://mariadb.com/kb/en/clientserver-protocol/>

use crate::Load;
use crate::error::LoopError;
use crate::session::{KEY_BYTES, Session, Wire, columns, query, write_key};
use mysql_common::auth::plugins::mysql_native_password::{SCRAMBLE_LENGTH, scramble_native};
use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, ErrPacket, HandshakePacket, HandshakeResponse, StmtPacket,
};
use mysql_common::proto::{MyDeserialize, MySerialize};
use tidemark_core::Target;

/// Without `CLIENT_DEPRECATE_EOF`: a result set ends with its second EOF packet.
const CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_LONG_PASSWORD)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS);
const CACHE_METADATA: MariadbCapabilities = MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA;
const HEADER: usize = 4;
const MAX_PACKET: u32 = 16 << 20;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const OK: u8 = 0x00;
const EOF: u8 = 0xFE;
const ERR: u8 = 0xFF;
const MYSQL_TYPE_LONG: u8 = 0x03;
const MYSQL_TYPE_VAR_STRING: u8 = 0xFD;

/// COM_STMT_EXECUTE with one parameter, and the place for an integer; statement and value are filled
/// in for each query.
#[rustfmt::skip]
const EXECUTE: [u8; HEADER + 18] = [
    18, 0, 0, 0, // payload length, sequence
    COM_STMT_EXECUTE,
    0, 0, 0, 0, // statement
    0, // no cursor
    1, 0, 0, 0, // iteration count
    0, // null bitmap
    1, // types follow
    MYSQL_TYPE_LONG, 0, // type and sign of the parameter
    0, 0, 0, 0, // value
];
const STATEMENT_AT: usize = HEADER + 1;
const VALUE_AT: usize = HEADER + 14;

/// One MySQL session.
pub(crate) struct Mysql {
    wire: Wire,
    execute: Vec<u8>,
    /// Whether the parameter is a key of text.
    keyed: bool,
    statements: Vec<[u8; 4]>,
}

impl Session for Mysql {
    fn connect(target: &Target, index: usize, load: Load) -> Result<Self, LoopError> {
        let mut wire = Wire::connect(target, index)?;
        authenticate(&mut wire, target)?;
        let mut statements = Vec::new();
        for table in 1..=load.tables {
            let sql = query(load, table, "?");
            let mut command = vec![COM_STMT_PREPARE];
            command.extend_from_slice(sql.as_bytes());
            wire.send(&packet(0, &command)?)?;
            let reply = wire.receive(prepared_end)?;
            let prepared: StmtPacket = parse(payload(reply), ())?;
            if (prepared.num_params(), u32::from(prepared.num_columns())) != (1, columns(load)) {
                return Err(LoopError::Protocol(format!(
                    "{sql} has {} parameters and {} columns",
                    prepared.num_params(),
                    prepared.num_columns()
                )));
            }
            statements.push(prepared.statement_id().to_le_bytes());
        }
        Ok(Self {
            wire,
            execute: execute(load.ycsb.is_some()),
            keyed: load.ycsb.is_some(),
            statements,
        })
    }

    fn query(&mut self, table: usize, id: i32) -> Result<(), LoopError> {
        self.execute[STATEMENT_AT..STATEMENT_AT + 4].copy_from_slice(&self.statements[table]);
        match self.keyed {
            true => write_key(id, &mut self.execute[VALUE_AT + 1..]),
            false => self.execute[VALUE_AT..].copy_from_slice(&id.to_le_bytes()),
        }
        self.wire.send(&self.execute)?;
        self.wire.receive(result_end)?;
        Ok(())
    }
}

/// The command for an integer, or for a key of text, which its length stands before.
fn execute(keyed: bool) -> Vec<u8> {
    let mut execute = EXECUTE.to_vec();
    if keyed {
        execute.truncate(VALUE_AT);
        execute[VALUE_AT - 2] = MYSQL_TYPE_VAR_STRING;
        execute.push(KEY_BYTES as u8);
        execute.resize(VALUE_AT + 1 + KEY_BYTES, b'0');
        execute[0] = (execute.len() - HEADER) as u8;
    }
    execute
}

/// Handshake with `mysql_native_password`, also when the server asks for it only by a switch.
fn authenticate(wire: &mut Wire, target: &Target) -> Result<(), LoopError> {
    let password = target.password.reveal().as_bytes();
    let reply = wire.receive(|b| one_packet(b, CapabilityFlags::empty()))?;
    let greeting: HandshakePacket<'_> = parse(payload(reply), ())?;
    // As Tidemark asks for it: a prepared statement's columns come once. MariaDB's own flags are read
    // from who does not say it is MySQL's client.
    let extended = greeting.mariadb_ext_capabilities() & CACHE_METADATA;
    let mut capabilities = CAPABILITIES & greeting.capabilities();
    if !extended.is_empty() {
        capabilities.remove(CapabilityFlags::CLIENT_LONG_PASSWORD);
    }
    let answer = HandshakeResponse::new(
        Some(scramble(&greeting.nonce(), password)),
        greeting.server_version_parsed().unwrap_or((5, 7, 0)),
        Some(target.user.as_bytes()),
        Some(target.database.as_bytes()),
        Some(AuthPlugin::MysqlNativePassword),
        capabilities | CapabilityFlags::CLIENT_CONNECT_WITH_DB,
        None,
        MAX_PACKET,
    )
    .with_mariadb_ext_capabilities(extended);
    let mut bytes = Vec::new();
    answer.serialize(&mut bytes);
    wire.send(&packet(1, &bytes)?)?;
    let reply = wire.receive(|b| one_packet(b, CAPABILITIES))?;
    let (sequence, reply) = (reply[3], payload(reply));
    match reply.first() {
        Some(&OK) => return Ok(()),
        Some(&EOF) if reply.len() > 1 => {}
        _ => return Err(unknown_method("")),
    }
    let switch: AuthSwitchRequest<'_> = parse(reply, ())?;
    if !matches!(switch.auth_plugin(), AuthPlugin::MysqlNativePassword) {
        return Err(unknown_method(&String::from_utf8_lossy(
            switch.auth_plugin().as_bytes(),
        )));
    }
    let answer = packet(sequence + 1, &scramble(switch.plugin_data(), password))?;
    wire.send(&answer)?;
    let reply = wire.receive(|b| one_packet(b, CAPABILITIES))?;
    match payload(reply).first() {
        Some(&OK) => Ok(()),
        _ => Err(unknown_method("")),
    }
}

fn unknown_method(name: &str) -> LoopError {
    LoopError::Protocol(format!(
        "the server wants another authentication than mysql_native_password {name}"
    ))
}

/// The answer to a nonce, which most servers end with a zero byte; empty for no password.
fn scramble(nonce: &[u8], password: &[u8]) -> Vec<u8> {
    scramble_native(&nonce[..nonce.len().min(SCRAMBLE_LENGTH)], password)
        .map(|s| s.to_vec())
        .unwrap_or_default()
}

fn packet(sequence: u8, payload: &[u8]) -> Result<Vec<u8>, LoopError> {
    let length = u32::try_from(payload.len())
        .ok()
        .filter(|l| *l < 0xFF_FFFF)
        .ok_or_else(|| LoopError::Usage("user, password or database is too long".into()))?;
    let mut bytes = length.to_le_bytes()[..3].to_vec();
    bytes.push(sequence);
    bytes.extend_from_slice(payload);
    Ok(bytes)
}

/// The payload of the first packet; the caller knows that it is complete.
fn payload(reply: &[u8]) -> &[u8] {
    match next_packet(reply, 0) {
        Some((payload, _)) => payload,
        None => &[],
    }
}

fn parse<'a, T: MyDeserialize<'a>>(bytes: &'a [u8], context: T::Ctx) -> Result<T, LoopError> {
    Ok(ParseBuf(bytes).parse(context)?)
}

/// Payload of the packet at `at`, and where the next one begins; `None` while it is incomplete.
fn next_packet(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let header = bytes.get(at..at + HEADER)?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    let end = at + HEADER + length;
    Some((bytes.get(at + HEADER..end)?, end))
}

fn server_error(payload: &[u8], capabilities: CapabilityFlags) -> LoopError {
    match parse::<ErrPacket<'_>>(payload, capabilities) {
        Ok(error) => LoopError::Server(error.to_string()),
        Err(error) => error,
    }
}

/// End of a reply of one packet.
fn one_packet(bytes: &[u8], known: CapabilityFlags) -> Result<Option<usize>, LoopError> {
    match next_packet(bytes, 0) {
        Some((payload, _)) if payload.first() == Some(&ERR) => Err(server_error(payload, known)),
        Some((_, end)) => Ok(Some(end)),
        None => Ok(None),
    }
}

/// End of a reply to COM_STMT_PREPARE: parameters and columns, each list ended by EOF.
fn prepared_end(bytes: &[u8]) -> Result<Option<usize>, LoopError> {
    let Some(mut end) = one_packet(bytes, CAPABILITIES)? else {
        return Ok(None);
    };
    let prepared: StmtPacket = parse(payload(bytes), ())?;
    let lists = [prepared.num_params(), prepared.num_columns()];
    let packets: usize = lists
        .iter()
        .filter(|n| **n > 0)
        .map(|n| usize::from(*n) + 1)
        .sum();
    for _ in 0..packets {
        match next_packet(bytes, end) {
            Some((_, next)) => end = next,
            None => return Ok(None),
        }
    }
    Ok(Some(end))
}

/// End of a result set in the binary protocol: its second EOF packet, with columns or without.
/// Nothing else begins with EOF's byte: a column definition begins with the length of "def", a binary
/// row with zero.
fn result_end(bytes: &[u8]) -> Result<Option<usize>, LoopError> {
    let (mut at, mut eofs) = (0, 0);
    while let Some((payload, end)) = next_packet(bytes, at) {
        match payload.first() {
            Some(&ERR) => return Err(server_error(payload, CAPABILITIES)),
            Some(&OK) if at == 0 => {
                return Err(LoopError::Protocol("a query without result set".into()));
            }
            Some(&EOF) => eofs += 1,
            _ => {}
        }
        if eofs == 2 {
            return Ok(Some(end));
        }
        at = end;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(payloads: &[&[u8]]) -> Vec<u8> {
        let packets = payloads.iter().zip(1..);
        packets.flat_map(|(p, i)| packet(i, p).unwrap()).collect()
    }

    #[test]
    fn a_result_is_complete_at_its_second_eof_and_not_before() {
        let eof = [EOF, 0, 0, 2, 0];
        for rows in [&[][..], &[&[OK, 0, 3, b'a', b'b', b'c'][..]]] {
            let mut packets: Vec<&[u8]> = vec![&[1], b"\x03def-column", &eof];
            packets.extend(rows);
            packets.push(&eof);
            let bytes = of(&packets);
            for cut in 0..bytes.len() {
                assert_eq!(result_end(&bytes[..cut]).unwrap(), None, "{cut}");
            }
            assert_eq!(result_end(&bytes).unwrap(), Some(bytes.len()));
        }
    }

    #[test]
    fn an_error_in_a_result_is_the_servers_message() {
        let bytes = of(&[b"\xff\x7a\x04#42S02Table 'x' doesn't exist"]);
        let error = result_end(&bytes).unwrap_err().to_string();
        assert!(
            error.contains("1146") && error.contains("doesn't exist"),
            "{error}"
        );
    }

    #[test]
    fn an_answer_to_prepare_ends_after_both_lists() {
        let eof = [EOF, 0, 0, 2, 0];
        let ok = [0, 7, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0];
        let bytes = of(&[&ok, b"\x03def-parameter", &eof, b"\x03def-column", &eof]);
        for cut in 0..bytes.len() {
            assert_eq!(prepared_end(&bytes[..cut]).unwrap(), None, "{cut}");
        }
        assert_eq!(prepared_end(&bytes).unwrap(), Some(bytes.len()));
    }

    #[test]
    fn a_key_takes_the_place_of_the_integer() {
        let mut bytes = execute(true);
        write_key(8, &mut bytes[VALUE_AT + 1..]);
        assert_eq!(usize::from(bytes[0]), bytes.len() - HEADER);
        assert_eq!(
            bytes[VALUE_AT - 2..=VALUE_AT],
            [MYSQL_TYPE_VAR_STRING, 0, 23]
        );
        assert_eq!(&bytes[VALUE_AT + 1..], b"user0000000000000000007");
        assert_eq!(execute(false), EXECUTE);
    }

    #[test]
    fn execute_carries_statement_and_value_where_the_protocol_wants_them() {
        assert_eq!(usize::from(EXECUTE[0]), EXECUTE.len() - HEADER);
        assert_eq!(EXECUTE[STATEMENT_AT - 1], COM_STMT_EXECUTE);
        assert_eq!(VALUE_AT + 4, EXECUTE.len());
        assert_eq!(EXECUTE[VALUE_AT - 2], MYSQL_TYPE_LONG);
    }
}
