//! The journal of a load, kept in the target: which parts of which tables are done, and which client
//! is at which. It is what clients that load together agree by, and it exists only while a load
//! goes on.
//!
//! A part is a chunk of a table's rows, its indexes, what comes after all tables, or looking at the
//! table. A client claims a part before it begins. A chunk's rows and its turn from claimed to done
//! are one transaction, which is taken back unless the claim was still the client's: so no row comes
//! twice and none is missing, whoever is killed whenever.

use crate::catalog::{self, DropVerdict};
use crate::{RowSet, Session, Value};
use std::fmt::Write;
use tidemark_core::{DbError, ErrorClass, Protocol};

/// The journal's table. Tidemark makes and drops it; nobody else's table is called so.
///
/// | `table_name` | `first_row` | `row_count` | `state` | `owner` |
/// | --- | --- | --- | --- | --- |
/// | a table's name | the chunk's first unit; negative for other parts | units | `open`, `claimed`, `done` | the client that claimed it last |
/// | empty | a client's number | beats | `client` | what it loads |
///
/// An older form lacks the last two columns, and all its parts are done.
pub const JOURNAL_TABLE: &str = "tidemark_load_journal";

/// Columns that the older form lacks, and how they are added.
const ADDED: [&str; 2] = [
    "state VARCHAR(8) DEFAULT 'done' NOT NULL",
    "owner VARCHAR(40) DEFAULT '' NOT NULL",
];
/// Columns of the older form.
const FIRST_COLUMNS: usize = 3;
/// Lines of one INSERT.
const BATCH: usize = 500;

/// What is claimed and done as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadPart {
    /// Units `first` to `first + units`; a unit is a row, or rows that the workload makes together.
    Chunk {
        /// The first unit.
        first: u64,
        /// How many.
        units: u64,
    },
    /// Indexes, after the rows.
    Indexes,
    /// What comes after all tables: foreign keys.
    AfterAll,
    /// Looking at what was loaded.
    Verify,
}

impl LoadPart {
    /// The two numbers that it is known by.
    fn numbers(self) -> (i64, u64) {
        match self {
            LoadPart::Chunk { first, units } => (i64::try_from(first).unwrap_or(i64::MAX), units),
            LoadPart::Indexes => (-1, 0),
            LoadPart::AfterAll => (-2, 0),
            LoadPart::Verify => (-3, 0),
        }
    }

    fn of(first: i64, units: u64) -> Option<Self> {
        Some(match first {
            -1 => LoadPart::Indexes,
            -2 => LoadPart::AfterAll,
            -3 => LoadPart::Verify,
            _ => LoadPart::Chunk {
                first: u64::try_from(first).ok()?,
                units,
            },
        })
    }
}

/// How far a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartState {
    /// Nobody is at it.
    Open,
    /// A client is at it.
    Claimed,
    /// It is committed.
    Done,
}

/// One part of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLine {
    /// The table.
    pub table: String,
    /// The part.
    pub part: LoadPart,
    /// How far it is.
    pub state: PartState,
    /// The client that claimed it last; empty when none has. An open part with an owner was begun
    /// by a client that ended.
    pub owner: String,
}

/// A client that takes part in a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its number, drawn when it began.
    pub number: u64,
    /// Counts up while it lives.
    pub beats: u64,
    /// What it loads.
    pub load: String,
}

/// What a journal holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Journal {
    /// Parts, in no order.
    pub lines: Vec<JournalLine>,
    /// Clients that have not said goodbye.
    pub clients: Vec<Client>,
}

impl Journal {
    /// Whether rows of any table are committed.
    pub fn has_rows(&self) -> bool {
        let is_chunk = |line: &JournalLine| matches!(line.part, LoadPart::Chunk { .. });
        let done = |line: &JournalLine| line.state == PartState::Done;
        self.lines.iter().any(|line| is_chunk(line) && done(line))
    }

    /// The lines of one table.
    pub fn of<'a>(&'a self, table: &'a str) -> impl Iterator<Item = &'a JournalLine> {
        self.lines.iter().filter(move |line| line.table == table)
    }
}

/// Makes the journal when there is none, and brings one of an older form to this one.
///
/// # Errors
/// The server's error.
pub async fn create(session: &mut Session) -> Result<(), DbError> {
    // A journal that ROLLBACK leaves alone would tell of rows that are not there.
    let engine = match session.dialect().engine().protocol() {
        Protocol::Mysql => " ENGINE=InnoDB",
        Protocol::Postgres | Protocol::Sqlite => "",
    };
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS {JOURNAL_TABLE} (table_name VARCHAR(64) NOT NULL, \
         first_row BIGINT NOT NULL, row_count BIGINT NOT NULL, {}, \
         PRIMARY KEY (table_name, first_row)){engine}",
        ADDED.join(", ")
    );
    session.query(&sql).await?;
    let any = format!("SELECT * FROM {JOURNAL_TABLE} LIMIT 1");
    let columns = session.query(&any).await?.columns();
    for column in ADDED.iter().skip(columns.saturating_sub(FIRST_COLUMNS)) {
        let add = format!("ALTER TABLE {JOURNAL_TABLE} ADD COLUMN {column}");
        session.query(&add).await?;
    }
    Ok(())
}

/// What the journal holds, in either form; `None` when there is no journal.
///
/// # Errors
/// The server's error.
pub async fn read(session: &mut Session) -> Result<Option<Journal>, DbError> {
    match session
        .query(&format!("SELECT * FROM {JOURNAL_TABLE}"))
        .await
    {
        Ok(rows) => Ok(Some(journal(&rows))),
        Err(e) if e.class == ErrorClass::Missing => Ok(None),
        Err(e) => Err(e),
    }
}

fn journal(rows: &RowSet) -> Journal {
    let mut journal = Journal::default();
    for row in 0..rows.len() {
        let count = |column| rows.int(row, column).and_then(|n| u64::try_from(n).ok());
        let (Some(table), Some(first), Some(units)) =
            (rows.text(row, 0), rows.int(row, 1), count(2))
        else {
            continue;
        };
        let owner = rows.text(row, 4).unwrap_or_default();
        let state = match rows.text(row, 3).as_deref() {
            Some("open") => PartState::Open,
            Some("claimed") => PartState::Claimed,
            Some("client") => {
                journal.clients.extend(count(1).map(|number| Client {
                    number,
                    beats: units,
                    load: owner,
                }));
                continue;
            }
            // The older form has done ones only.
            _ => PartState::Done,
        };
        journal
            .lines
            .extend(LoadPart::of(first, units).map(|part| JournalLine {
                table,
                part,
                state,
                owner,
            }));
    }
    journal
}

/// Adds parts that are open.
///
/// # Errors
/// The server's error.
pub async fn add(session: &mut Session, table: &str, parts: &[LoadPart]) -> Result<(), DbError> {
    let table = text(session, table);
    for batch in parts.chunks(BATCH) {
        let mut sql = format!(
            "INSERT INTO {JOURNAL_TABLE} (table_name, first_row, row_count, state) VALUES "
        );
        for (nth, part) in batch.iter().enumerate() {
            let (first, units) = part.numbers();
            let comma = if nth > 0 { ", " } else { "" };
            // Writing to a String can't fail.
            let _ = write!(sql, "{comma}({table}, {first}, {units}, 'open')");
        }
        session.query(&sql).await?;
    }
    Ok(())
}

/// Claims a part for a client; false when it isn't open any more, or gone with its journal.
///
/// # Errors
/// The server's error; asked again after one, it tells of the claim that it made.
pub async fn claim(
    session: &mut Session,
    table: &str,
    part: LoadPart,
    client: u64,
) -> Result<bool, DbError> {
    let at = at(session, table, part);
    let sql = format!(
        "UPDATE {JOURNAL_TABLE} SET state = 'claimed', owner = '{client}' \
         WHERE {at} AND state = 'open'"
    );
    match session.simple(&sql).await {
        Ok(outcome) if outcome.affected == 1 => return Ok(true),
        Ok(_) => {}
        Err(e) if e.class == ErrorClass::Missing => return Ok(false),
        Err(e) => return Err(e),
    }
    let mine = format!(
        "SELECT 1 FROM {JOURNAL_TABLE} WHERE {at} AND state = 'claimed' AND owner = '{client}'"
    );
    match session.query(&mine).await {
        Ok(rows) => Ok(!rows.is_empty()),
        Err(e) if e.class == ErrorClass::Missing => Ok(false),
        Err(e) => Err(e),
    }
}

/// Turns a client's claim to done; within the transaction that does the part. False when it is the
/// client's no more: then the transaction must be taken back.
///
/// # Errors
/// The server's error.
pub async fn finish(
    session: &mut Session,
    table: &str,
    part: LoadPart,
    client: u64,
) -> Result<bool, DbError> {
    turn(session, table, part, client, "done").await
}

/// Opens a part that a client had claimed and will not do; false when it isn't the client's.
///
/// # Errors
/// The server's error.
pub async fn reopen(
    session: &mut Session,
    table: &str,
    part: LoadPart,
    client: &str,
) -> Result<bool, DbError> {
    turn(session, table, part, client, "open").await
}

/// From claimed to another state.
async fn turn(
    session: &mut Session,
    table: &str,
    part: LoadPart,
    client: impl std::fmt::Display,
    state: &str,
) -> Result<bool, DbError> {
    let owner = text(session, &client.to_string());
    let sql = format!(
        "UPDATE {JOURNAL_TABLE} SET state = '{state}' WHERE {} AND state = 'claimed' AND \
         owner = {owner}",
        at(session, table, part)
    );
    Ok(session.simple(&sql).await?.affected == 1)
}

/// Whether a client has done a part.
///
/// # Errors
/// The server's error.
pub async fn has_done(
    session: &mut Session,
    table: &str,
    part: LoadPart,
    client: u64,
) -> Result<bool, DbError> {
    let sql = format!(
        "SELECT 1 FROM {JOURNAL_TABLE} WHERE {} AND state = 'done' AND owner = '{client}'",
        at(session, table, part)
    );
    Ok(!session.query(&sql).await?.is_empty())
}

/// Notes a client that loads; `load` is what.
///
/// # Errors
/// The server's error.
pub async fn join(session: &mut Session, client: u64, load: &str) -> Result<(), DbError> {
    let sql = format!(
        "INSERT INTO {JOURNAL_TABLE} (table_name, first_row, row_count, state, owner) \
         VALUES ('', {client}, 0, 'client', {})",
        text(session, load)
    );
    session.query(&sql).await.map(drop)
}

/// Says that a client lives, where no lock says so; false when the journal doesn't know it.
///
/// # Errors
/// The server's error.
pub async fn beat(session: &mut Session, client: u64) -> Result<bool, DbError> {
    let sql = format!(
        "UPDATE {JOURNAL_TABLE} SET row_count = row_count + 1 \
         WHERE table_name = '' AND first_row = {client}"
    );
    Ok(session.simple(&sql).await?.affected == 1)
}

/// Forgets a client.
///
/// # Errors
/// The server's error.
pub async fn leave(session: &mut Session, client: u64) -> Result<(), DbError> {
    let sql = format!("DELETE FROM {JOURNAL_TABLE} WHERE table_name = '' AND first_row = {client}");
    session.query(&sql).await.map(drop)
}

/// Forgets the parts of tables.
///
/// # Errors
/// The server's error.
pub async fn forget(session: &mut Session, tables: &[String]) -> Result<(), DbError> {
    if tables.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = tables.iter().map(|table| text(session, table)).collect();
    let sql = format!(
        "DELETE FROM {JOURNAL_TABLE} WHERE table_name IN ({})",
        names.join(", ")
    );
    match session.query(&sql).await {
        Err(e) if e.class == ErrorClass::Missing => Ok(()),
        other => other.map(drop),
    }
}

/// Drops the journal when no table's load is unfinished and no client is in it.
///
/// # Errors
/// The server's error.
pub async fn drop_if_empty(session: &mut Session) -> Result<(), DbError> {
    match read(session).await? {
        Some(journal) if journal == Journal::default() => {}
        _ => return Ok(()),
    }
    // Rows that are none of a journal's are somebody's.
    let proof = async |session: &mut Session, table: &str| {
        if catalog::describe_table(session, table).await?.is_none() {
            return Ok(DropVerdict::Gone);
        }
        Ok(match catalog::row_count(session, table).await? {
            0 => DropVerdict::Drop,
            rows => DropVerdict::Keep(format!("{table} has {rows} rows")),
        })
    };
    let one = [JOURNAL_TABLE.to_string()];
    let drops = catalog::drop_proven(session, &one, proof, || true).await;
    drops.failure.map_or(Ok(()), |(_, error)| Err(error))
}

/// The condition that finds a part.
fn at(session: &Session, table: &str, part: LoadPart) -> String {
    format!(
        "table_name = {} AND first_row = {}",
        text(session, table),
        part.numbers().0
    )
}

fn text(session: &Session, value: &str) -> String {
    session.dialect().literal(Value::Text(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cell;

    #[test]
    fn both_forms_are_read() {
        let mut old = RowSet::new();
        old.reset(3);
        for cell in [Cell::Bytes(b"t"), Cell::Int(40), Cell::Int(20)] {
            old.push(cell);
        }
        let chunk = LoadPart::Chunk {
            first: 40,
            units: 20,
        };
        assert_eq!(
            journal(&old).lines,
            [JournalLine {
                table: "t".into(),
                part: chunk,
                state: PartState::Done,
                owner: String::new(),
            }]
        );
        let mut new = RowSet::new();
        new.reset(5);
        for (table, first, count, state, owner) in [
            ("t", 40, 20, "claimed", "7"),
            ("t", -1, 0, "open", ""),
            ("", 7, 3, "client", "oltp"),
        ] {
            new.push(Cell::Bytes(table.as_bytes()));
            new.push(Cell::Int(first));
            new.push(Cell::Int(count));
            new.push(Cell::Bytes(state.as_bytes()));
            new.push(Cell::Bytes(owner.as_bytes()));
        }
        let read = journal(&new);
        assert_eq!(read.lines[0].state, PartState::Claimed);
        assert_eq!(read.lines[0].owner, "7");
        assert_eq!(read.lines[1].part, LoadPart::Indexes);
        assert_eq!(
            read.clients,
            [Client {
                number: 7,
                beats: 3,
                load: "oltp".into(),
            }]
        );
        assert_eq!(read.of("u").count(), 0);
    }

    #[test]
    fn a_part_is_known_by_its_numbers() {
        let chunk = LoadPart::Chunk { first: 0, units: 9 };
        for part in [
            chunk,
            LoadPart::Indexes,
            LoadPart::AfterAll,
            LoadPart::Verify,
        ] {
            let (first, units) = part.numbers();
            assert_eq!(LoadPart::of(first, units), Some(part));
        }
        assert_eq!(LoadPart::of(-9, 0), None);
    }
}
