//! Parameters of a prepared statement in binary form (MySQL Internals, "COM_STMT_EXECUTE").

use super::packet::{CommandPacket, write_lenenc};
use crate::Value;

// Types, as the protocol numbers them ("Column Types").
const DOUBLE: u8 = 0x05;
pub(super) const NULL: u8 = 0x06;
const LONGLONG: u8 = 0x08;
pub(super) const BLOB: u8 = 0xFC;
const VAR_STRING: u8 = 0xFD;

/// The types last sent for a statement's parameters. They are sent again only when they change:
/// the server keeps them (`new_params_bind_flag`).
///
/// A session may have a hundred statements, ten thousand sessions a million, so eight parameters
/// fit into a word; longer lists are kept beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bound {
    /// One byte a parameter, 0 for a parameter never sent but as NULL.
    Few([u8; 8]),
    /// The same for more parameters.
    Many(Box<[u8]>),
}

impl Bound {
    /// Nothing sent yet.
    pub fn none(params: u16) -> Self {
        match params {
            0..=8 => Self::Few([0; 8]),
            _ => Self::Many(vec![0; usize::from(params)].into_boxed_slice()),
        }
    }

    fn types(&mut self) -> &mut [u8] {
        match self {
            Self::Few(types) => types,
            Self::Many(types) => types,
        }
    }

    /// Takes over the types of `values`; true when the server doesn't know them yet.
    fn update(&mut self, values: &[Value<'_>]) -> bool {
        let mut changed = false;
        for (known, value) in self.types().iter_mut().zip(values) {
            let wanted = type_of(value);
            // NULL stands in the bitmap, whatever the type.
            if wanted != NULL && *known != wanted {
                *known = wanted;
                changed = true;
            }
        }
        changed
    }
}

pub(super) fn type_of(value: &Value<'_>) -> u8 {
    match value {
        Value::Null => NULL,
        Value::Int(_) => LONGLONG,
        Value::Float(_) => DOUBLE,
        Value::Text(_) => VAR_STRING,
        Value::Bytes(_) => BLOB,
    }
}

/// Builds the command that executes statement `id` with `values`, as many as it has parameters, from
/// its first byte on.
pub(super) fn execute(
    mut request: CommandPacket,
    id: u32,
    values: &[Value<'_>],
    bound: &mut Bound,
    first: bool,
) -> CommandPacket {
    let out = request.body();
    let [a, b, c, d] = id.to_le_bytes();
    // No cursor; one iteration.
    out.extend_from_slice(&[a, b, c, d, 0, 1, 0, 0, 0]);
    if values.is_empty() {
        return request;
    }
    let bitmap = out.len();
    out.resize(bitmap + values.len().div_ceil(8), 0);
    let send_types = bound.update(values) || first;
    out.push(u8::from(send_types));
    if send_types {
        for &known in &bound.types()[..values.len()] {
            out.extend_from_slice(&[if known == 0 { NULL } else { known }, 0]);
        }
    }
    for (i, value) in values.iter().enumerate() {
        if *value == Value::Null {
            out[bitmap + i / 8] |= 1 << (i % 8);
        }
        write_value(value, out);
    }
    request
}

/// Appends a value in binary form; nothing for NULL, which is told elsewhere.
#[inline]
pub(super) fn write_value(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => {}
        Value::Int(v) => out.extend_from_slice(&v.to_le_bytes()),
        Value::Float(v) => out.extend_from_slice(&v.to_le_bytes()),
        Value::Text(v) => write_bytes(v.as_bytes(), out),
        Value::Bytes(v) => write_bytes(v, out),
    }
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_lenenc(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}
