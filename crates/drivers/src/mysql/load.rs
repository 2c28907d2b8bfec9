//! Loading many rows: arrays of binary values, `LOAD DATA LOCAL INFILE`, or `INSERT`s of many rows.
//!
//! The server asks for the file named in the statement; it gets the rows as they are made, in
//! pieces, and no file is ever opened (MySQL manual, "LOAD DATA"; MySQL Internals, "LOCAL INFILE
//! Request"). LOCAL makes the server skip rows and bend values that it would otherwise refuse
//! ("LOAD DATA", section "Error and Warning Handling"); here each skipped row and each warning is an
//! error, and the rows are taken back.
//!
//! LOAD DATA reads text: MariaDB takes any bytes for a binary column, MySQL refuses what isn't UTF-8;
//! load that with [`BulkMethod::MultiRowInsert`].

use super::bulk;
use super::packet::{CommandPacket, Frame};
use super::reply::{Count, End, OkPacket, Results, status};
use super::{MysqlSession, error, lost};
use crate::mysql::ConnectionState;
use crate::{BulkMethod, Dialect, LoadRequest, Loaded, Outcome, RowSource, RowWriter};
use tidemark_core::{DbError, ErrorClass};
use tidemark_runtime::yield_now;

/// Rows are sent in pieces of about this size, and of half of what the server takes at most.
const PIECE: usize = 256 * 1024;
/// What decides how rows are loaded.
const ASK: &str = "SELECT @@max_allowed_packet, @@character_set_database";
/// An INSERT's text is at most about this long, and never longer than the server takes.
const INSERT: usize = 512 * 1024;
/// ER_NOT_ALLOWED_COMMAND, ER_CLIENT_LOCAL_FILES_DISABLED (MySQL 8), and MariaDB's
/// ER_LOAD_INFILE_CAPABILITY_DISABLED.
const NOT_ALLOWED: [&str; 3] = ["1148", "3948", "4166"];

/// Loads rows by the requested way; when none is requested, by the first of arrays, LOAD DATA and
/// INSERT that the server takes. All or nothing: in the surrounding transaction, or in one of its own.
pub(super) async fn load(
    session: &mut MysqlSession,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<Loaded, DbError> {
    let server = LoadCapabilities::ask(session).await?;
    if !server.in_transaction {
        session.simple("BEGIN").await?;
    }
    let loaded = by_method(session, &server, request, source).await;
    if !server.in_transaction {
        let end = if loaded.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = session.simple(end).await;
        if loaded.is_ok() {
            ended?;
        }
    }
    loaded
}

async fn by_method(
    session: &mut MysqlSession,
    server: &LoadCapabilities,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<Loaded, DbError> {
    match request.method {
        Some(BulkMethod::BulkExecute) if session.bulk => {
            bulk::load(session, server, request, source).await
        }
        Some(BulkMethod::LoadData) => load_data(session, server, request, source).await,
        Some(BulkMethod::MultiRowInsert) => insert(session, server, request, source).await,
        Some(other) => Err(DbError::new(
            ErrorClass::Fatal,
            "usage",
            format!("{other:?} cannot load rows into {}", session.server.engine),
        )),
        None if session.bulk => bulk::load(session, server, request, source).await,
        None if !server.local_files => insert(session, server, request, source).await,
        None => match load_data(session, server, request, source).await {
            // Refused before it asked for a row.
            Err(e) if NOT_ALLOWED.contains(&e.code.as_str()) => {
                insert(session, server, request, source).await
            }
            done => done,
        },
    }
}

/// What decides how rows are loaded.
pub(super) struct LoadCapabilities {
    local_files: bool,
    /// Longest statement in bytes.
    pub max_packet: usize,
    /// Whether the database's text takes more than a byte for an ASCII character.
    pub wide_text: bool,
    in_transaction: bool,
}

impl LoadCapabilities {
    async fn ask(session: &mut MysqlSession) -> Result<Self, DbError> {
        let (rows, ok) = session.ask(ASK).await?;
        let max_packet = rows.int(0, 0).and_then(|n| usize::try_from(n).ok());
        let wide = ["ucs2", "utf16", "utf32"];
        let charset = rows.text(0, 1).unwrap_or_default();
        // Where there is no such variable, the statement itself will tell.
        let mut local_files = session.local_files;
        if local_files {
            match session.ask("SELECT @@GLOBAL.local_infile").await {
                Ok((rows, _)) => local_files = rows.int(0, 0) != Some(0),
                Err(e) if e.class == ErrorClass::ConnectionLost => return Err(e),
                Err(_) => {}
            }
        }
        Ok(Self {
            local_files,
            // The smallest that a server can be configured to.
            max_packet: max_packet.unwrap_or(1024),
            wide_text: wide.iter().any(|w| charset.starts_with(w)),
            in_transaction: ok.status & status::IN_TRANSACTION != 0,
        })
    }
}

/// `` `table` (`a`,`b`) `` with words between.
fn into_table(dialect: &Dialect, request: &LoadRequest<'_>, between: &str) -> String {
    let columns: Vec<String> = request.columns.iter().map(|c| dialect.quote(c)).collect();
    let table = dialect.quote(request.table);
    format!("INTO TABLE {table}{between} ({})", columns.join(","))
}

async fn load_data(
    session: &mut MysqlSession,
    server: &LoadCapabilities,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<Loaded, DbError> {
    let dialect = Dialect::new(session.server.engine);
    // The fields' and lines' form is the default: TiDB's grammar takes no hexadecimal literals for
    // it, and what a backslash in a literal means depends on sql_mode.
    let into = into_table(&dialect, request, " CHARACTER SET utf8mb4");
    let sql = format!("LOAD DATA LOCAL INFILE 'tidemark rows' {into}");
    let mut frame = session.send(CommandPacket::query(&sql)).await?;
    let mut reply = Results::new(Count, session.terms);
    match session.receive(&mut frame, &mut reply).await? {
        End::WantsFile => {}
        End::Done { .. } => {
            session.state = ConnectionState::Lost;
            return Err(DbError::protocol("LOAD DATA requested no rows"));
        }
    }
    session.state = ConnectionState::Busy;
    // A piece is a packet, which ends with a whole row.
    let piece = PIECE.min(server.max_packet / 2);
    let (rows, sequence) = send_rows(session, source, frame.sequence(), piece).await?;
    frame = Frame::from_sequence(sequence);
    let mut reply = Results::new(Count, session.terms);
    match session.receive(&mut frame, &mut reply).await? {
        End::Done { outcome, last } => check(session, rows, outcome, &last).await?,
        End::WantsFile => {
            session.state = ConnectionState::Lost;
            return Err(DbError::protocol("LOAD DATA requested rows twice"));
        }
    }
    Ok(Loaded {
        rows,
        method: BulkMethod::LoadData,
    })
}

/// Sends all rows and the empty packet that ends them; tells how many, and the reply's sequence
/// number.
async fn send_rows(
    session: &mut MysqlSession,
    source: &mut dyn RowSource,
    mut sequence: u8,
    longest: usize,
) -> Result<(u64, u8), DbError> {
    let mut piece = CommandPacket::packet();
    let mut rows = 0;
    let mut more = true;
    loop {
        let out = piece.restart();
        let begin = out.len();
        while more && out.len() - begin < longest {
            let before = out.len();
            more = source.next_row(&mut RowWriter::tsv(out));
            if more {
                out.push(b'\n');
                rows += 1;
            } else {
                out.truncate(before);
            }
        }
        let last = out.len() == begin;
        sequence = piece.finish(sequence);
        let sent = session.stream.send(piece.bytes()).await;
        sent.map_err(|e| {
            session.state = ConnectionState::Lost;
            lost(&e)
        })?;
        if last {
            return Ok((rows, sequence));
        }
        // Lets the other sessions of this thread run.
        yield_now().await;
    }
}

async fn insert(
    session: &mut MysqlSession,
    server: &LoadCapabilities,
    request: &LoadRequest<'_>,
    source: &mut dyn RowSource,
) -> Result<Loaded, DbError> {
    let dialect = Dialect::new(session.server.engine);
    let into = into_table(&dialect, request, "").replacen("INTO TABLE", "INTO", 1);
    let head = format!("INSERT {into} VALUES ");
    // The command byte counts too.
    let longest = INSERT.min(server.max_packet.saturating_sub(1)).max(1);
    let mut rows = 0;
    // A row made that had no room in the statement before.
    let mut held: Vec<u8> = Vec::new();
    let mut more = true;
    while more || !held.is_empty() {
        let mut statement = CommandPacket::query(&head);
        let out = statement.body();
        let start = out.len() - head.len();
        out.append(&mut held);
        let mut here = u64::from(out.len() > start + head.len());
        while more {
            let before = out.len();
            out.extend_from_slice(if here > 0 { b",(" } else { b"(" });
            more = source.next_row(&mut RowWriter::literals(out, &dialect));
            if !more {
                out.truncate(before);
                break;
            }
            out.push(b')');
            if here > 0 && out.len() - start > longest {
                held.extend_from_slice(&out[before + 1..]);
                out.truncate(before);
                break;
            }
            here += 1;
        }
        if here == 0 {
            statement.give_back();
            break;
        }
        let (outcome, ok) = session.run(statement, None, Count).await?;
        check(session, here, outcome, &ok).await?;
        rows += here;
        yield_now().await;
    }
    Ok(Loaded {
        rows,
        method: BulkMethod::MultiRowInsert,
    })
}

/// A load that the server took only in part, or only after changing it, has failed.
pub(super) async fn check(
    session: &mut MysqlSession,
    sent: u64,
    outcome: Outcome,
    ok: &OkPacket,
) -> Result<(), DbError> {
    if outcome.affected == sent && ok.warnings == 0 {
        return Ok(());
    }
    let taken = outcome.affected;
    let (warnings, _) = session.ask("SHOW WARNINGS LIMIT 1").await?;
    let number = warnings.int(0, 1).and_then(|n| u16::try_from(n).ok());
    let why = warnings.text(0, 2).unwrap_or_default();
    Err(DbError::new(
        number.map_or(ErrorClass::Fatal, |n| error::classify(n, b"HY000")),
        number.map_or_else(|| error::LOAD.into(), |n| n.to_string()),
        format!(
            "the server accepted {taken} of {sent} rows, with {} warnings: {why}",
            ok.warnings
        ),
    ))
}
