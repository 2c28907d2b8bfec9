//! Loading many rows: `COPY … FROM STDIN`, or `INSERT`s of many rows.
//!
//! PostgreSQL manual, "COPY Operations" of the protocol and "COPY", section "File Formats".

use super::binary::{self, BinaryForm, BinaryRows};
use super::reply::Reply;
use super::{PostgresSession, message};
use crate::{BulkMethod, Dialect, LoadRequest, Loaded, RowSource, RowWriter, Value};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use tidemark_core::{DbError, ErrorClass};
use tidemark_runtime::yield_now;

/// Rows are sent in pieces of about this size.
const COPY_PIECE: usize = 128 * 1024;
/// An INSERT's text is about this long.
const INSERT_PIECE: usize = 64 * 1024;
/// Room for the row that fills a piece beyond its size.
const SLACK: usize = 4 * 1024;

/// Loads rows by the requested way, or by COPY.
pub(super) async fn load(
    session: &mut PostgresSession,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<Loaded, DbError> {
    let dialect = session.dialect();
    let method = request.method.unwrap_or(dialect.bulk_method());
    let rows = match method {
        BulkMethod::Copy => copy(session, &dialect, request, source).await?,
        BulkMethod::MultiRowInsert => insert_all(session, &dialect, request, source).await?,
        BulkMethod::BulkExecute | BulkMethod::LoadData | BulkMethod::PreparedInsert => {
            return Err(DbError::new(
                ErrorClass::Fatal,
                "0A000",
                format!("{method:?} cannot load rows into {}", dialect.engine()),
            ));
        }
    };
    Ok(Loaded { rows, method })
}

/// `"table" ("a","b")`.
fn table_and_columns(dialect: &Dialect, request: &LoadRequest<'_>) -> String {
    let columns: Vec<String> = request.columns.iter().map(|c| dialect.quote(c)).collect();
    format!("{} ({})", dialect.quote(request.table), columns.join(","))
}

async fn copy(
    session: &mut PostgresSession,
    dialect: &Dialect,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let target = table_and_columns(dialect, request);
    let mut rows = match dialect.of_engine().copies_binary {
        true => binary_rows(session, dialect, request).await?,
        false => CopyRows::Text,
    };
    let options = match &rows {
        CopyRows::Binary(_) => " WITH (FORMAT binary)",
        _ => dialect.of_engine().copy_options,
    };
    let mut reply = Reply::counting();
    let mut piece = Vec::with_capacity(COPY_PIECE + SLACK);
    message::query(&mut piece, &format!("COPY {target} FROM STDIN{options}"))?;
    session.begin()?;
    session.transmit(&piece, &mut reply).await?;
    session.receive(&mut reply).await?;
    if !reply.copy_in {
        session.finish(&mut reply)?;
        session.pending = true;
        return Err(DbError::protocol("the server did not start COPY"));
    }
    reply.copy_in = false;
    send_rows(session, source, &mut rows, &mut piece, &mut reply).await?;
    if !reply.is_over() {
        session.receive(&mut reply).await?;
    }
    session.finish(&mut reply)?;
    Ok(reply.outcome.affected)
}

/// How rows are written.
enum CopyRows {
    Text,
    Binary(BinaryRows),
}

impl CopyRows {
    /// What stands before the first row.
    fn header(&self) -> &'static [u8] {
        match self {
            Self::Text => b"",
            Self::Binary(_) => binary::HEADER,
        }
    }

    /// What stands after the last row.
    fn trailer(&self) -> &'static [u8] {
        match self {
            Self::Text => b"",
            Self::Binary(_) => binary::TRAILER,
        }
    }

    /// Writes the next row; false when there is none.
    fn write(&mut self, source: &mut dyn RowSource, out: &mut Vec<u8>) -> Result<bool, DbError> {
        let before = out.len();
        let more = match self {
            Self::Text => {
                let more = source.next_row(&mut RowWriter::copy_text(out));
                out.push(b'\n');
                more
            }
            Self::Binary(rows) => {
                rows.begin(out);
                let more = source.next_row(&mut RowWriter::copy_binary(out, rows));
                if let Some(fault) = rows.fault.take() {
                    out.truncate(before);
                    return Err(DbError::new(ErrorClass::Fatal, "22P03", fault));
                }
                more
            }
        };
        if !more {
            out.truncate(before);
        }
        Ok(more)
    }
}

/// The binary format, if every column's type is known by it.
async fn binary_rows(
    session: &mut PostgresSession,
    dialect: &Dialect,
    request: &LoadRequest<'_>,
) -> Result<CopyRows, DbError> {
    // Of a table that is not there it answers nothing: COPY has the better error.
    let table = dialect.literal(Value::Text(&dialect.quote(request.table)));
    let types = session
        .query(&format!(
            "SELECT attname, atttypid FROM pg_attribute WHERE attrelid = to_regclass({table}) \
             AND attnum > 0 AND NOT attisdropped"
        ))
        .await?;
    let form = |column: &&str| {
        let named = |row: &usize| types.text(*row, 0).as_deref() == Some(*column);
        let row = (0..types.len()).find(named)?;
        BinaryForm::of(types.int(row, 1)?)
    };
    let forms: Option<Vec<BinaryForm>> = request.columns.iter().map(form).collect();
    Ok(forms.map_or(CopyRows::Text, |forms| {
        CopyRows::Binary(BinaryRows::new(forms))
    }))
}

/// Sends the rows and `CopyDone`; stops early when the server has refused one.
async fn send_rows(
    session: &mut PostgresSession,
    source: &mut dyn RowSource,
    rows: &mut CopyRows,
    piece: &mut Vec<u8>,
    reply: &mut Reply<'_>,
) -> Result<(), DbError> {
    let mut more = true;
    let mut before = rows.header();
    while more {
        piece.clear();
        let written = message::copy_data(piece, |out| {
            out.extend_from_slice(std::mem::take(&mut before));
            while more && out.len() < COPY_PIECE {
                more = rows.write(source, out)?;
            }
            if !more {
                out.extend_from_slice(rows.trailer());
            }
            Ok(())
        });
        if let Err(e) = written {
            piece.clear();
            message::copy_fail(piece, &e.message)?;
            session.transmit(piece, reply).await?;
            session.receive(reply).await?;
            // The server repeats the reason; ours is the better error.
            let _ = session.finish(reply);
            return Err(e);
        }
        if !more {
            message::copy_done(piece);
        }
        session.transmit(piece, reply).await?;
        if more {
            // Lets the other sessions of this thread run, and the poller see an answer.
            yield_now().await;
            if let Some(received) = poll_once(session.receive(reply)).await {
                received?;
            }
            // After an error the server throws away what is still sent (manual, "COPY
            // Operations").
            if reply.error.is_some() || reply.is_over() {
                break;
            }
        }
    }
    Ok(())
}

/// Polls a future once; dropped when it is not ready.
async fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        Poll::Ready(match future.as_mut().poll(cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// Ends a COPY FROM STDIN that was sent as a statement: there is nothing to copy from.
pub(super) async fn refuse_copy(
    session: &mut PostgresSession,
    reply: &mut Reply<'_>,
) -> Result<(), DbError> {
    while reply.copy_in && !reply.ready {
        reply.copy_in = false;
        let mut out = message::buffer();
        message::copy_fail(&mut out, "a statement has no rows to copy; load them")?;
        // After a Bind the Sync before this was thrown away with the copied rows; after a Query
        // this one makes a second ReadyForQuery, so it is sent only where needed.
        if reply.extended {
            message::sync(&mut out);
        }
        session.transmit(&out, reply).await?;
        message::give_back(out);
        session.receive(reply).await?;
    }
    Ok(())
}

/// Inserts all rows in one transaction: the surrounding one, or one of its own.
async fn insert_all(
    session: &mut PostgresSession,
    dialect: &Dialect,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let own = !session.in_transaction;
    if own {
        session.simple("BEGIN").await?;
    }
    let inserted = insert_pieces(session, dialect, request, source).await;
    if own {
        let end = if inserted.is_ok() {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        let ended = session.simple(end).await;
        if inserted.is_ok() {
            ended?;
        }
    }
    inserted
}

async fn insert_pieces(
    session: &mut PostgresSession,
    dialect: &Dialect,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let head = format!(
        "INSERT INTO {} VALUES ",
        table_and_columns(dialect, request)
    );
    let mut rows = 0;
    let mut more = true;
    while more {
        let mut written = false;
        let mut out = message::buffer();
        message::query_with(&mut out, |out| {
            out.extend_from_slice(head.as_bytes());
            while more && out.len() < INSERT_PIECE {
                let before = out.len();
                out.extend_from_slice(if written { b",(" } else { b"(" });
                more = source.next_row(&mut RowWriter::literals(out, dialect));
                if more {
                    out.push(b')');
                    written = true;
                } else {
                    out.truncate(before);
                }
            }
        })?;
        if !written {
            break;
        }
        let mut reply = Reply::counting();
        session.exchange(out, &mut reply).await?;
        rows += reply.outcome.affected;
        yield_now().await;
    }
    Ok(rows)
}
