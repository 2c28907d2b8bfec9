//! Saving what can be saved of a damaged store into a new file.
//!
//! Every page is looked at by itself, whether or not anything leads to it; a row is taken when it has
//! a table's shape and its record can be read and agrees with the columns beside it. What was deleted
//! is not taken again where the file's map of pages still says so.

mod file;
mod rows;

use crate::write::interval_agrees;
use crate::{RecordError, Store, StoreError, from_json};
use file::{Pages, stamp};
use rows::{Reader, Row};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tidemark_core::record::{Interval, RunRecord};

/// What was saved, and what is known to be lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// The runs that are in the new file, by id.
    pub runs: Vec<SalvagedRun>,
    /// Executions of studies that are in the new file.
    pub studies: u64,
    /// Runs whose own row is lost, known by their intervals.
    pub lost: Vec<String>,
    /// Rows that seemed to be there and could not be read or believed.
    pub broken_rows: u64,
}

/// One run of the new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvagedRun {
    /// Its id.
    pub id: String,
    /// Intervals that it has.
    pub intervals: u64,
    /// Intervals that are missing among and before those.
    pub missing: u64,
}

/// Reads the damaged file at `from`, which is not changed, and writes what can be read to a new file
/// `to`. `watch` is told how many of how many pages were looked at.
///
/// # Errors
/// [`StoreError::Occupied`] when there is something at `to`, [`StoreError::Absent`],
/// [`StoreError::Changing`] when somebody writes to the file meanwhile, and what writing can meet.
pub fn salvage(
    from: &Path,
    to: &Path,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Salvaged, StoreError> {
    let occupied = ENDS
        .iter()
        .any(|end| beside(to, end).symlink_metadata().is_ok());
    if occupied {
        return Err(StoreError::Occupied { path: to.into() });
    }
    let before = stamp(from);
    let pages = Pages::open(from)?;
    let mut store = Store::open(to)?;
    let saved = Salvage::new(&pages, &mut store).and_then(|mut salvage| salvage.all(watch));
    let saved = saved.map_err(|e| store.failed(e)).and_then(|saved| {
        if stamp(from) == before {
            Ok(saved)
        } else {
            Err(StoreError::Changing { path: from.into() })
        }
    });
    drop(store);
    if saved.is_err() {
        // It was made here and is of no use.
        for end in ENDS {
            let _ = std::fs::remove_file(beside(to, end));
        }
    }
    saved
}

/// The file itself, and what SQLite puts beside it.
const ENDS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// One table of the new file.
struct Table {
    name: &'static str,
    columns: Vec<Column>,
    /// Values of a row of an older format: columns are only ever added at the end.
    least: usize,
    /// Rows that refer to it must come after its own.
    refers: bool,
}

struct Column {
    name: String,
    kind: String,
    required: bool,
}

/// The tables, with the fewest values that a row of theirs ever had (0: as many as columns), and
/// whether they refer to others.
const TABLES: &[(&str, usize, bool)] = &[
    ("run", 24, false),
    ("study", 0, false),
    ("interval", 0, true),
    ("tag", 0, true),
    ("study_step", 0, true),
    ("study_setting", 7, true),
];

impl Table {
    fn of(
        db: &Connection,
        &(name, least, refers): &(&'static str, usize, bool),
    ) -> rusqlite::Result<Self> {
        let columns: Vec<Column> = db
            .prepare("SELECT name, type, \"notnull\" FROM pragma_table_info(?1)")?
            .query_map([name], |row| {
                Ok(Column {
                    name: row.get(0)?,
                    kind: row.get(1)?,
                    required: row.get(2)?,
                })
            })?
            .collect::<rusqlite::Result<_>>()?;
        let least = if least == 0 { columns.len() } else { least };
        Ok(Self {
            name,
            columns,
            least,
            refers,
        })
    }

    fn may_have(&self, values: usize) -> bool {
        values > 0 && (self.least..=self.columns.len()).contains(&values)
    }

    /// Whether a row's values are of the columns' types.
    fn has(&self, row: &[Value]) -> bool {
        self.may_have(row.len())
            && self.columns.iter().zip(row).all(|(column, value)| {
                match (value, column.kind.as_str()) {
                    (Value::Null, _) => !column.required,
                    (Value::Text(_), kind) => kind == "TEXT",
                    (Value::Integer(_), kind) => matches!(kind, "INTEGER" | "REAL"),
                    (Value::Real(_), kind) => kind == "REAL",
                    (Value::Blob(_), _) => false,
                }
            })
    }

    fn text<'r>(&self, row: &'r [Value], column: &str) -> Option<&'r str> {
        match self.value(row, column)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn value<'r>(&self, row: &'r [Value], column: &str) -> Option<&'r Value> {
        row.get(self.columns.iter().position(|c| c.name == column)?)
    }

    fn integer(&self, row: &[Value], column: &str) -> Option<i64> {
        match self.value(row, column)? {
            Value::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// Puts the row in unless one with its key is there; whether it is new.
    fn insert(&self, db: &Connection, row: &Row) -> rusqlite::Result<bool> {
        let names: Vec<String> = self.columns[..row.len()]
            .iter()
            .map(|c| format!("\"{}\"", c.name))
            .collect();
        let places = vec!["?"; row.len()].join(", ");
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({places}) ON CONFLICT DO NOTHING",
            self.name,
            names.join(", ")
        );
        let mut insert = db.prepare_cached(&sql)?;
        Ok(insert.execute(params_from_iter(row))? > 0)
    }
}

struct Salvage<'a> {
    pages: &'a Pages,
    store: &'a mut Store,
    tables: Vec<Table>,
    lost: BTreeSet<String>,
    broken: u64,
}

impl<'a> Salvage<'a> {
    fn new(pages: &'a Pages, store: &'a mut Store) -> rusqlite::Result<Self> {
        let tables = TABLES
            .iter()
            .map(|table| Table::of(&store.db, table))
            .collect::<rusqlite::Result<_>>()?;
        Ok(Self {
            pages,
            store,
            tables,
            lost: BTreeSet::new(),
            broken: 0,
        })
    }

    fn all(&mut self, watch: &mut dyn FnMut(u64, u64)) -> rusqlite::Result<Salvaged> {
        let pages = u64::from(self.pages.count());
        for (pass, refers) in [(0, false), (1, true)] {
            let reader = Reader::new(self.pages);
            // What can't be read at all is met in both passes.
            let mut unread = 0;
            let transaction = self.store.db.transaction()?;
            for number in 1..=self.pages.count() {
                let wanted = |values: usize| self.tables.iter().any(|t| t.may_have(values));
                for row in reader.rows(number, &wanted, &mut unread) {
                    take(
                        &transaction,
                        &self.tables,
                        refers,
                        &row,
                        &mut self.lost,
                        &mut self.broken,
                    )?;
                }
                watch(pass * pages + u64::from(number), 2 * pages);
            }
            transaction.commit()?;
            if refers {
                self.broken += unread;
            }
        }
        let db = &self.store.db;
        let runs = db
            .prepare(
                "SELECT r.id, COUNT(i.seq), COALESCE(MAX(i.seq) + 1, 0) - COUNT(i.seq) \
                 FROM run r LEFT JOIN interval i ON i.run_id = r.id GROUP BY r.id ORDER BY r.id",
            )?
            .query_map([], |row| {
                let count = |n| row.get(n).map(|v: i64| u64::try_from(v).unwrap_or(0));
                Ok(SalvagedRun {
                    id: row.get(0)?,
                    intervals: count(1)?,
                    missing: count(2)?,
                })
            })?
            .collect::<rusqlite::Result<_>>()?;
        let studies = db.query_row("SELECT COUNT(*) FROM study", [], |r| r.get::<_, i64>(0))?;
        Ok(Salvaged {
            runs,
            studies: u64::try_from(studies).unwrap_or(0),
            lost: std::mem::take(&mut self.lost).into_iter().collect(),
            broken_rows: self.broken,
        })
    }
}

/// Puts one row into the table whose shape it has, if it can be believed. Rows of tables that refer
/// to others come in the second pass.
fn take(
    db: &Connection,
    tables: &[Table],
    refers: bool,
    row: &Row,
    lost: &mut BTreeSet<String>,
    broken: &mut u64,
) -> rusqlite::Result<()> {
    let Some(table) = tables.iter().find(|t| t.has(row)) else {
        // Rows of indexes have the number of values of some table, too.
        return Ok(());
    };
    if table.refers != refers {
        return Ok(());
    }
    let believed = match table.name {
        "run" => run_is_believable(table, row),
        "interval" => interval_is_believable(table, row),
        _ => true,
    };
    if !believed {
        *broken += 1;
        return Ok(());
    }
    let there = |sql: &str, id: &str| db.prepare_cached(sql)?.exists([id]);
    let is_run = |id: &str| there("SELECT 1 FROM run WHERE id = ?1", id);
    let is_study = |id: &str| there("SELECT 1 FROM study WHERE id = ?1", id);
    let known = match table.name {
        "interval" => {
            let id = table.text(row, "run_id").unwrap_or_default();
            let known = is_run(id)?;
            if !known {
                lost.insert(id.into());
            }
            known
        }
        "tag" => {
            // The index by name has the same two in the other order.
            let [Value::Text(first), Value::Text(second)] = row.as_slice() else {
                return Ok(());
            };
            if !is_run(first)? && is_run(second)? {
                let swapped = vec![row[1].clone(), row[0].clone()];
                return table.insert(db, &swapped).map(drop);
            }
            is_run(first)?
        }
        "study_step" | "study_setting" => is_study(table.text(row, "study").unwrap_or_default())?,
        _ => true,
    };
    if known {
        table.insert(db, row)?;
    }
    Ok(())
}

/// Whether a run's record can be read, and agrees with the columns beside it.
fn run_is_believable(table: &Table, row: &Row) -> bool {
    let text = |column| table.text(row, column).unwrap_or_default();
    match from_json(text("record")) {
        // A newer Tidemark will know.
        Err(RecordError::Newer { .. }) => true,
        Err(_) => false,
        Ok(record) => {
            let RunRecord {
                id,
                started_at,
                workload,
                target,
                tidemark_version,
                ..
            } = &record;
            [
                (id, "id"),
                (started_at, "started_at"),
                (workload, "workload"),
                (target, "target"),
                (tidemark_version, "tidemark_version"),
            ]
            .iter()
            .all(|(value, column)| value.as_str() == text(column))
        }
    }
}

/// Whether an interval can be read, and agrees with the columns beside it.
fn interval_is_believable(table: &Table, row: &Row) -> bool {
    let detail = table.text(row, "detail").unwrap_or_default();
    let Ok(interval) = serde_json::from_str::<Interval>(detail) else {
        return false;
    };
    table.integer(row, "seq").is_some_and(|seq| seq >= 0)
        && interval_agrees(&interval, |column| table.value(row, column).cloned())
}
