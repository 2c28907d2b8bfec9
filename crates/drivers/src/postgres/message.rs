//! Messages to the server, built in place.
//!
//! PostgreSQL manual, chapter "Frontend/Backend Protocol", section "Message Formats".

use crate::Value;
use crate::dialect::write_hex;
use std::cell::Cell;
use tidemark_core::{DbError, ErrorClass};

/// Longest message built: the server's own limit on one allocation (1 GiB - 1).
const MAX_MESSAGE: usize = 0x3fff_ffff;
/// A buffer that grew beyond this is not kept for the next message.
const KEPT_BUFFER: usize = 16 * 1024;

thread_local! {
    /// The buffer that the sessions of an executor build their messages in, one after another: a
    /// session that only waits holds none.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// An empty buffer to build messages in; [`give_back`] it when they are sent.
pub(super) fn buffer() -> Vec<u8> {
    BUFFER.take()
}

/// Returns a buffer for the next message of any session of this thread.
pub(super) fn give_back(mut buffer: Vec<u8>) {
    if buffer.capacity() <= KEPT_BUFFER {
        buffer.clear();
        BUFFER.set(buffer);
    }
}

/// Writes a length (itself included) over the four bytes at `at`, counted up to the buffer's end.
fn close_length(out: &mut [u8], at: usize) -> Result<(), DbError> {
    let length = out.len() - at;
    if length > MAX_MESSAGE {
        return Err(unsendable(format!(
            "a message of {length} bytes is larger than the server takes ({MAX_MESSAGE})"
        )));
    }
    out[at..at + 4].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(())
}

#[cold]
fn unsendable(message: impl Into<String>) -> DbError {
    DbError::new(ErrorClass::Fatal, "protocol", message)
}

fn message(
    out: &mut Vec<u8>,
    tag: u8,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    out.extend_from_slice(&[tag, 0, 0, 0, 0]);
    let at = out.len() - 4;
    body(out)?;
    close_length(out, at)
}

/// A string that ends with a zero byte, and so can't hold one.
fn zero_terminated(out: &mut Vec<u8>, text: &[u8]) -> Result<(), DbError> {
    if text.contains(&0) {
        return Err(unsendable(
            "a zero byte in a statement or name can't be sent",
        ));
    }
    out.extend_from_slice(text);
    out.push(0);
    Ok(())
}

/// The name of a statement: the session's `number`-th prepared one, or none.
fn name(out: &mut Vec<u8>, number: Option<u32>) {
    match number {
        Some(number) => statement_name(out, number),
        None => out.push(0),
    }
}

/// The name of the session's `number`-th prepared statement.
fn statement_name(out: &mut Vec<u8>, number: u32) {
    // Most sessions have few.
    if let Ok(digit @ 0..=9) = u8::try_from(number) {
        return out.extend_from_slice(&[b't', b'm', b'0' + digit, 0]);
    }
    out.extend_from_slice(b"tm");
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    out.push(0);
}

/// `SSLRequest`.
pub(super) fn ssl_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&8u32.to_be_bytes());
    out.extend_from_slice(&80_877_103u32.to_be_bytes());
}

/// `StartupMessage` for protocol 3.0.
pub(super) fn startup(out: &mut Vec<u8>, parameters: &[(&str, &str)]) -> Result<(), DbError> {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&196_608u32.to_be_bytes());
    for (name, value) in parameters {
        zero_terminated(out, name.as_bytes())?;
        zero_terminated(out, value.as_bytes())?;
    }
    out.push(0);
    close_length(out, at)
}

/// `PasswordMessage`, for clear text and md5.
pub(super) fn password(out: &mut Vec<u8>, password: &[u8]) -> Result<(), DbError> {
    message(out, b'p', |out| zero_terminated(out, password))
}

/// `SASLInitialResponse`.
pub(super) fn sasl_initial(
    out: &mut Vec<u8>,
    mechanism: &str,
    response: &[u8],
) -> Result<(), DbError> {
    message(out, b'p', |out| {
        zero_terminated(out, mechanism.as_bytes())?;
        out.extend_from_slice(&(response.len() as u32).to_be_bytes());
        out.extend_from_slice(response);
        Ok(())
    })
}

/// `SASLResponse`.
pub(super) fn sasl_response(out: &mut Vec<u8>, response: &[u8]) -> Result<(), DbError> {
    message(out, b'p', |out| {
        out.extend_from_slice(response);
        Ok(())
    })
}

/// `Query`.
pub(super) fn query(out: &mut Vec<u8>, sql: &str) -> Result<(), DbError> {
    query_with(out, |out| out.extend_from_slice(sql.as_bytes()))
}

/// `Query` whose text `write` appends.
pub(super) fn query_with(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<(), DbError> {
    message(out, b'Q', |out| {
        let start = out.len();
        write(out);
        if out[start..].contains(&0) {
            return Err(unsendable("a zero byte in a statement can't be sent"));
        }
        out.push(0);
        Ok(())
    })
}

/// `Parse`, `Describe` and `Sync`: the server infers the parameters' types.
pub(super) fn prepare(out: &mut Vec<u8>, number: u32, sql: &str) -> Result<(), DbError> {
    message(out, b'P', |out| {
        statement_name(out, number);
        zero_terminated(out, sql.as_bytes())?;
        out.extend_from_slice(&[0; 2]);
        Ok(())
    })?;
    message(out, b'D', |out| {
        out.push(b'S');
        statement_name(out, number);
        Ok(())
    })?;
    sync(out);
    Ok(())
}

/// `Bind`, `Execute` and `Sync` in one piece. Everything is in text form, which the server reads
/// as whatever type it inferred.
pub(super) fn bind_execute(
    out: &mut Vec<u8>,
    number: u32,
    values: &[Value<'_>],
) -> Result<(), DbError> {
    bind(out, Some(number), values)?;
    // Execute: unnamed portal, all rows. Sync.
    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
    Ok(())
}

/// The same without `Sync`: more is to follow before the server answers.
pub(super) fn bind_execute_ahead(
    out: &mut Vec<u8>,
    number: u32,
    values: &[Value<'_>],
) -> Result<(), DbError> {
    let start = out.len();
    if let Err(e) = bind(out, Some(number), values) {
        out.truncate(start);
        return Err(e);
    }
    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
    Ok(())
}

/// `Parse`, `Bind`, `Describe` and `Execute` of a statement without a name, without `Sync`.
pub(super) fn parse_execute(
    out: &mut Vec<u8>,
    sql: &str,
    values: &[Value<'_>],
) -> Result<(), DbError> {
    message(out, b'P', |out| {
        out.push(0);
        zero_terminated(out, sql.as_bytes())?;
        out.extend_from_slice(&[0; 2]);
        Ok(())
    })?;
    bind(out, None, values)?;
    // Describe and Execute: the unnamed portal, all rows.
    out.extend_from_slice(b"D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0");
    Ok(())
}

fn bind(out: &mut Vec<u8>, number: Option<u32>, values: &[Value<'_>]) -> Result<(), DbError> {
    message(out, b'B', |out| {
        // Unnamed portal.
        out.push(0);
        name(out, number);
        // No format codes: all parameters in text form.
        let [a, b] = (values.len() as u16).to_be_bytes();
        out.extend_from_slice(&[0, 0, a, b]);
        for value in values {
            write_value(out, *value)?;
        }
        // No format codes: all columns in text form.
        out.extend_from_slice(&[0; 2]);
        Ok(())
    })
}

fn write_value(out: &mut Vec<u8>, value: Value<'_>) -> Result<(), DbError> {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    match value {
        Value::Null => {
            out[at..].copy_from_slice(&(-1i32).to_be_bytes());
            return Ok(());
        }
        Value::Int(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
        Value::Float(v) => out.extend_from_slice(v.to_string().as_bytes()),
        Value::Text(v) => out.extend_from_slice(v.as_bytes()),
        Value::Bytes(v) => {
            out.extend_from_slice(b"\\x");
            write_hex(v, out);
        }
    }
    let length = out.len() - at - 4;
    if length > MAX_MESSAGE {
        return Err(unsendable(format!("a value of {length} bytes is too long")));
    }
    out[at..at + 4].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(())
}

/// `Sync`.
pub(super) fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(b"S\0\0\0\x04");
}

/// `CopyData` whose content `write` appends.
pub(super) fn copy_data(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    message(out, b'd', write)
}

/// `CopyDone`.
pub(super) fn copy_done(out: &mut Vec<u8>) {
    out.extend_from_slice(b"c\0\0\0\x04");
}

/// `CopyFail`: the server answers with an error that quotes `why`.
pub(super) fn copy_fail(out: &mut Vec<u8>, why: &str) -> Result<(), DbError> {
    message(out, b'f', |out| zero_terminated(out, why.as_bytes()))
}

/// `Terminate`.
pub(super) fn terminate(out: &mut Vec<u8>) {
    out.extend_from_slice(b"X\0\0\0\x04");
}

#[cfg(test)]
mod tests {
    use super::*;
    use postgres_protocol::IsNull;
    use postgres_protocol::message::frontend;
    use proptest::prelude::*;

    /// What `postgres-protocol` builds for the same request.
    fn reference(number: u32, values: &[Option<Vec<u8>>]) -> Vec<u8> {
        let mut out = Default::default();
        let bound = frontend::bind(
            "",
            &format!("tm{number}"),
            [],
            values,
            |value: &Option<Vec<u8>>, out| match value {
                None => Ok(IsNull::Yes),
                Some(bytes) => {
                    out.extend_from_slice(bytes);
                    Ok(IsNull::No)
                }
            },
            [],
            &mut out,
        );
        assert!(bound.is_ok());
        frontend::execute("", 0, &mut out).unwrap();
        frontend::sync(&mut out);
        out.to_vec()
    }

    #[test]
    fn values_travel_as_text() {
        let values = [
            Value::Null,
            Value::Int(-42),
            Value::Float(1.5),
            Value::Text("a'b"),
            Value::Bytes(&[0, 255]),
        ];
        let mut out = Vec::new();
        bind_execute(&mut out, 7, &values).unwrap();
        let text = [None, Some("-42"), Some("1.5"), Some("a'b"), Some("\\x00ff")]
            .map(|v| v.map(|v| v.as_bytes().to_vec()));
        assert_eq!(out, reference(7, &text));
    }

    #[test]
    fn a_statement_without_a_name_is_parsed_described_and_executed() {
        let mut ours = Vec::new();
        parse_execute(&mut ours, "SELECT $1", &[Value::Int(7)]).unwrap();
        let mut theirs = Default::default();
        frontend::parse("", "SELECT $1", [], &mut theirs).unwrap();
        let bound = frontend::bind(
            "",
            "",
            [],
            ["7"],
            |value: &str, out| {
                out.extend_from_slice(value.as_bytes());
                Ok(IsNull::No)
            },
            [],
            &mut theirs,
        );
        assert!(bound.is_ok());
        frontend::describe(b'P', "", &mut theirs).unwrap();
        frontend::execute("", 0, &mut theirs).unwrap();
        assert_eq!(ours, theirs.to_vec());
    }

    #[test]
    fn the_other_messages_are_those_of_postgres_protocol() {
        let mut ours = Vec::new();
        let mut theirs = Default::default();
        ssl_request(&mut ours);
        frontend::ssl_request(&mut theirs);
        startup(&mut ours, &[("user", "u"), ("database", "d")]).unwrap();
        frontend::startup_message([("user", "u"), ("database", "d")], &mut theirs).unwrap();
        password(&mut ours, b"pw").unwrap();
        frontend::password_message(b"pw", &mut theirs).unwrap();
        sasl_initial(&mut ours, "SCRAM-SHA-256", b"n,,").unwrap();
        frontend::sasl_initial_response("SCRAM-SHA-256", b"n,,", &mut theirs).unwrap();
        sasl_response(&mut ours, b"c=biws").unwrap();
        frontend::sasl_response(b"c=biws", &mut theirs).unwrap();
        query(&mut ours, "SELECT 1").unwrap();
        frontend::query("SELECT 1", &mut theirs).unwrap();
        prepare(&mut ours, 3, "SELECT $1").unwrap();
        frontend::parse("tm3", "SELECT $1", [], &mut theirs).unwrap();
        frontend::describe(b'S', "tm3", &mut theirs).unwrap();
        frontend::sync(&mut theirs);
        copy_data(&mut ours, |out| {
            out.extend_from_slice(b"1\n");
            Ok(())
        })
        .unwrap();
        let data = frontend::CopyData::new(&b"1\n"[..]).unwrap();
        data.write(&mut theirs);
        copy_done(&mut ours);
        frontend::copy_done(&mut theirs);
        copy_fail(&mut ours, "no").unwrap();
        frontend::copy_fail("no", &mut theirs).unwrap();
        terminate(&mut ours);
        frontend::terminate(&mut theirs);
        assert_eq!(ours, theirs.to_vec());
    }

    #[test]
    fn a_zero_byte_ends_no_statement_early() {
        let mut out = Vec::new();
        assert_eq!(
            query(&mut out, "SELECT 1\0; DROP TABLE t")
                .unwrap_err()
                .class,
            ErrorClass::Fatal
        );
        assert!(prepare(&mut out, 1, "SELECT '\0'").is_err());
        assert!(startup(&mut out, &[("user", "a\0b")]).is_err());
    }

    proptest! {
        #[test]
        fn any_texts_are_bound_as_the_reference_binds_them(
            number in any::<u32>(),
            texts in prop::collection::vec(prop::option::of(".{0,40}"), 0..20),
        ) {
            let values: Vec<Value<'_>> = texts
                .iter()
                .map(|t| t.as_deref().map_or(Value::Null, Value::Text))
                .collect();
            let mut out = Vec::new();
            bind_execute(&mut out, number, &values).unwrap();
            let bytes: Vec<_> = texts.iter().map(|t| t.as_ref().map(|t| t.as_bytes().to_vec())).collect();
            prop_assert_eq!(out, reference(number, &bytes));
        }
    }
}
