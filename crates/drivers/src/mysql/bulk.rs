//! `COM_STMT_BULK_EXECUTE`: one prepared INSERT with many rows of binary values (MariaDB,
//! "COM_STMT_BULK_EXECUTE"). The server neither parses numbers nor looks for escapes, which makes it
//! the cheapest way to load that MariaDB offers.

use super::bind::{BLOB, NULL, type_of, write_value};
use super::load::{LoadCapabilities, check};
use super::packet::{COM_STMT_BULK_EXECUTE, COM_STMT_CLOSE, CommandPacket};
use super::reply::Count;
use super::{MysqlSession, error};
use crate::{BulkMethod, Dialect, LoadRequest, Loaded, RowSource, RowWriter, Value};
use tidemark_core::{DbError, ErrorClass};
use tidemark_runtime::yield_now;

/// Rows are sent in commands of about this size.
const PIECE: usize = 256 * 1024;
/// `STMT_BULK_FLAG_CLIENT_SEND_TYPES`.
const SEND_TYPES: u16 = 128;
/// Indicators before each value.
const INDICATOR_NONE: u8 = 0;
const INDICATOR_NULL: u8 = 1;
/// Command byte, statement id, flags.
const HEAD: usize = 1 + 4 + 2;

/// Loads rows by arrays of binary values.
pub(super) async fn load(
    session: &mut MysqlSession,
    server: &LoadCapabilities,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<Loaded, DbError> {
    let dialect = Dialect::new(session.server.engine);
    let columns: Vec<_> = request.columns.iter().map(|c| dialect.quote(c)).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        dialect.quote(request.table),
        columns.join(","),
        vec!["?"; columns.len()].join(",")
    );
    let id = session.prepare_on_server(&sql).await?.0.id;
    let loaded = send(session, server, id, columns.len(), source).await;
    let closed = close(session, id).await;
    let rows = loaded?;
    closed?;
    Ok(Loaded {
        rows,
        method: BulkMethod::BulkExecute,
    })
}

async fn send(
    session: &mut MysqlSession,
    server: &LoadCapabilities,
    id: u32,
    columns: usize,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    // One that is exactly as long as is allowed is refused (error 1153).
    let longest = PIECE.min(server.max_packet.saturating_sub(1));
    let mut rows = 0;
    let mut row = ArrayRow::new(columns, !server.wide_text);
    // The row made last, when it had no room in the command before.
    let mut held: Vec<u8> = Vec::new();
    loop {
        let mut types = vec![NULL; columns];
        let mut command = CommandPacket::command(COM_STMT_BULK_EXECUTE);
        let out = command.body();
        let start = out.len() - 1;
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&SEND_TYPES.to_le_bytes());
        out.resize(start + HEAD + 2 * columns, 0);
        let mut here = 0;
        loop {
            let before = out.len();
            if !held.is_empty() {
                out.append(&mut held);
            } else if !row.next(source, out) {
                break;
            }
            let full = out.len() - start > longest;
            if (here > 0 && full) || !row.fits(&mut types)? {
                held.extend_from_slice(&out[before..]);
                out.truncate(before);
                break;
            }
            here += 1;
        }
        if here == 0 {
            command.give_back();
            return Ok(rows);
        }
        for (at, known) in types.iter().enumerate() {
            out[start + HEAD + 2 * at] = *known;
        }
        let (outcome, ok) = session.run(command, None, Count).await?;
        check(session, here, outcome, &ok).await?;
        rows += here;
        // Lets the other sessions of this thread run.
        yield_now().await;
    }
}

/// The server answers nothing to this.
async fn close(session: &mut MysqlSession, id: u32) -> Result<(), DbError> {
    let mut command = CommandPacket::command(COM_STMT_CLOSE);
    command.body().extend_from_slice(&id.to_le_bytes());
    session.tell(command).await
}

/// Writes rows in binary form, and keeps the types of the last one.
pub(crate) struct ArrayRow {
    types: Vec<u8>,
    /// Whether an ASCII character is one byte to the server.
    narrow: bool,
}

impl ArrayRow {
    fn new(columns: usize, narrow: bool) -> Self {
        Self {
            types: Vec::with_capacity(columns),
            narrow,
        }
    }

    /// Appends the next row; false at the end.
    fn next(&mut self, source: &mut dyn RowSource, out: &mut Vec<u8>) -> bool {
        self.types.clear();
        let before = out.len();
        let more = source.next_row(&mut RowWriter::array_row(out, self));
        if !more {
            out.truncate(before);
        }
        more
    }

    /// The next column's value.
    #[inline]
    pub(crate) fn push(&mut self, value: Value<'_>, out: &mut Vec<u8>) {
        // ASCII text is the same bytes in every character set but the wide ones: sent as bytes, the
        // server converts nothing.
        self.types.push(match value {
            Value::Text(text) if self.narrow && text.is_ascii() => BLOB,
            other => type_of(&other),
        });
        out.push(match value {
            Value::Null => INDICATOR_NULL,
            _ => INDICATOR_NONE,
        });
        write_value(&value, out);
    }

    /// Whether the row's types agree with those of the command so far, which learns what it did not
    /// know. NULL agrees with all.
    fn fits(&self, types: &mut [u8]) -> Result<bool, DbError> {
        if self.types.len() != types.len() {
            return Err(DbError::new(
                ErrorClass::Fatal,
                error::LOAD,
                format!(
                    "a row of {} values for {} columns",
                    self.types.len(),
                    types.len()
                ),
            ));
        }
        let agree = |(mine, known): (&u8, &u8)| *mine == NULL || *known == NULL || mine == known;
        if !self.types.iter().zip(types.iter()).all(agree) {
            return Ok(false);
        }
        for (mine, known) in self.types.iter().zip(types) {
            if *mine != NULL {
                *known = *mine;
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Values(Vec<Vec<Value<'static>>>);

    impl RowSource for Values {
        fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
            if self.0.is_empty() {
                return false;
            }
            self.0.remove(0).into_iter().for_each(|v| row.push(v));
            true
        }
    }

    #[test]
    fn rows_are_indicators_and_binary_values() {
        let mut source = Values(vec![vec![Value::Int(5), Value::Null, Value::Text("ab")]]);
        let (mut row, mut out) = (ArrayRow::new(3, true), vec![7]);
        assert!(row.next(&mut source, &mut out));
        assert_eq!(out, [7, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, b'a', b'b']);
        assert_eq!(row.types[2], BLOB);
        assert!(!row.next(&mut source, &mut out));
        assert_eq!(out.len(), 15);
    }

    #[test]
    fn a_command_holds_rows_of_the_same_types() {
        let mut types = vec![NULL; 2];
        let mut source = Values(vec![
            vec![Value::Null, Value::Int(1)],
            vec![Value::Text("x"), Value::Null],
            vec![Value::Int(1), Value::Int(1)],
            vec![Value::Int(1)],
        ]);
        let mut row = ArrayRow::new(2, true);
        let mut fits = |types: &mut [u8]| {
            assert!(row.next(&mut source, &mut Vec::new()));
            row.fits(types)
        };
        assert!(fits(&mut types).unwrap());
        assert!(fits(&mut types).unwrap());
        assert!(!fits(&mut types).unwrap());
        assert!(fits(&mut types).is_err());
    }
}
