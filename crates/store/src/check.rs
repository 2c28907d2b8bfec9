//! Looking whether a store is whole.

use crate::{RecordError, Store, StoreError, from_json};
use tidemark_core::record::Interval;
use tidemark_core::series::Series;

/// How many problems are named; there may be thousands of one kind.
const MOST: usize = 20;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Runs that could be read whole.
    pub runs: u64,
    /// Their intervals.
    pub intervals: u64,
    /// Runs of a newer Tidemark, which only that one can read.
    pub newer: u64,
    /// What is wrong, the first twenty.
    pub problems: Vec<String>,
    /// How much is wrong beyond those.
    pub more: u64,
}

impl Health {
    fn problem(&mut self, text: String) {
        if self.problems.len() < MOST {
            self.problems.push(text);
        } else {
            self.more += 1;
        }
    }
}

impl Store {
    /// Reads everything: the file's structure, and every record and interval in it. `watch` is told
    /// how many of how many runs were read.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where not even that can be asked, and what reading can meet.
    pub fn check(&self, watch: &mut dyn FnMut(u64, u64)) -> Result<Health, StoreError> {
        let mut health = Health::default();
        for (pragma, what) in [
            ("PRAGMA integrity_check(100)", ""),
            ("PRAGMA foreign_key_check", "reference to nothing: "),
        ] {
            match self.lines(pragma) {
                Ok(lines) => lines
                    .into_iter()
                    .filter(|line| line != "ok")
                    .for_each(|line| health.problem(format!("{what}{line}"))),
                Err(error) => health.problem(error.to_string()),
            }
        }
        let ids: Vec<String> = match self.column("SELECT id FROM run ORDER BY id") {
            Ok(ids) => ids,
            Err(error) => {
                health.problem(error.to_string());
                return Ok(health);
            }
        };
        for (n, id) in (1..).zip(&ids) {
            match self.run_is_whole(id) {
                Ok(Some(intervals)) => {
                    health.runs += 1;
                    health.intervals += intervals;
                }
                Ok(None) => health.newer += 1,
                Err(problem) => health.problem(problem),
            }
            watch(n, ids.len() as u64);
        }
        Ok(health)
    }

    /// The number of a run's intervals if all of it can be read; none of a newer Tidemark's.
    fn run_is_whole(&self, id: &str) -> Result<Option<u64>, String> {
        let said = |what: &dyn std::fmt::Display| format!("run {id:?}: {what}");
        let json: String = self
            .db
            .query_row("SELECT record FROM run WHERE id = ?1", [id], |row| {
                row.get(0)
            })
            .map_err(|e| said(&e))?;
        match from_json(&json) {
            Ok(_) => {}
            Err(RecordError::Newer { .. }) => return Ok(None),
            Err(error) => return Err(said(&error)),
        }
        let mut count = 0;
        let mut read = self
            .db
            .prepare_cached("SELECT detail FROM interval WHERE run_id = ?1 ORDER BY seq")
            .map_err(|e| said(&e))?;
        let mut rows = read.query([id]).map_err(|e| said(&e))?;
        while let Some(row) = rows.next().map_err(|e| said(&e))? {
            let detail: String = row.get(0).map_err(|e| said(&e))?;
            serde_json::from_str::<Interval>(&detail)
                .map_err(|e| said(&format!("interval {count}: {e}")))?;
            count += 1;
        }
        let mut read = self
            .db
            .prepare_cached("SELECT name, detail FROM series WHERE run_id = ?1")
            .map_err(|e| said(&e))?;
        let mut rows = read.query([id]).map_err(|e| said(&e))?;
        while let Some(row) = rows.next().map_err(|e| said(&e))? {
            let name: String = row.get(0).map_err(|e| said(&e))?;
            let detail: String = row.get(1).map_err(|e| said(&e))?;
            let series = serde_json::from_str::<Series>(&detail)
                .map_err(|e| said(&format!("series {name:?}: {e}")))?;
            series.summary().map_err(|e| said(&e))?;
        }
        Ok(Some(count))
    }

    fn column(&self, sql: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.db.prepare(sql)?;
        statement.query_map([], |row| row.get(0))?.collect()
    }

    /// Rows of any types as lines.
    fn lines(&self, sql: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.db.prepare(sql)?;
        let columns = statement.column_count();
        statement
            .query_map([], |row| {
                let cells = (0..columns).map(|n| {
                    Ok(match row.get_ref(n)? {
                        rusqlite::types::ValueRef::Text(text) => {
                            String::from_utf8_lossy(text).into_owned()
                        }
                        rusqlite::types::ValueRef::Integer(n) => n.to_string(),
                        _ => String::new(),
                    })
                });
                Ok(cells.collect::<rusqlite::Result<Vec<_>>>()?.join(" "))
            })?
            .collect()
    }
}
