//! What runs found and left in their tables.

use crate::{Store, StoreError};
use tidemark_core::record::TableState;

/// The tables of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TablesOfRun {
    /// Before it.
    pub before: Vec<TableState>,
    /// After it; empty where nobody looked.
    pub after: Vec<TableState>,
}

impl Store {
    /// The tables of the newest runs on the target with exactly this URL, newest first, at most so many.
    /// What can't be read of a record counts as not looked at.
    ///
    /// # Errors
    /// What reading can meet.
    pub fn tables_of_runs(&self, target: &str, limit: u32) -> Result<Vec<TablesOfRun>, StoreError> {
        let tables = |json: Option<String>| {
            let json = json.unwrap_or_default();
            serde_json::from_str(&json).unwrap_or_default()
        };
        let read = || -> rusqlite::Result<Vec<TablesOfRun>> {
            self.db
                .prepare_cached(
                    "SELECT record ->> '$.tables_before', record ->> '$.tables_after' FROM run \
                     WHERE target = ?1 ORDER BY started_at DESC, id DESC LIMIT ?2",
                )?
                .query_map((target, limit), |row| {
                    Ok(TablesOfRun {
                        before: tables(row.get(0)?),
                        after: tables(row.get(1)?),
                    })
                })?
                .collect()
        };
        read().map_err(|e| self.failed(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::RunRecord;

    #[test]
    fn runs_of_one_target_come_newest_first_with_their_tables() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("runs.db")).unwrap();
        let table = |rows| TableState {
            table: "t".into(),
            rows,
            expected_rows: None,
            min_key: None,
            max_key: None,
        };
        for (id, target, rows) in [
            ("a", "sqlite:a", 1),
            ("b", "sqlite:ab", 2),
            ("c", "sqlite:a", 3),
        ] {
            let record = RunRecord {
                schema_version: tidemark_core::record::SCHEMA_VERSION,
                id: id.into(),
                started_at: format!("2026-01-01T00:00:0{rows}Z"),
                target: target.into(),
                tables_before: vec![table(rows)],
                ..RunRecord::default()
            };
            store.begin(&record).unwrap();
        }
        let found = store.tables_of_runs("sqlite:a", 9).unwrap();
        let rows: Vec<u64> = found.iter().map(|run| run.before[0].rows).collect();
        assert_eq!(rows, [3, 1]);
        assert!(found.iter().all(|run| run.after.is_empty()));
        assert_eq!(store.tables_of_runs("sqlite:a", 1).unwrap().len(), 1);
        assert!(store.tables_of_runs("sqlite:b", 9).unwrap().is_empty());
    }
}
