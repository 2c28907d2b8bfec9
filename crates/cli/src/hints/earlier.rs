//! What earlier runs left in the tables.

use super::Hint;
use crate::storing::store_path;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;
use tidemark_analysis::thresholds::rows_differ;
use tidemark_core::record::{RunRecord, TableState};
use tidemark_store::{Store, TablesOfRun};

/// As many runs are looked at.
const NEWEST: u32 = 50;
/// Nobody waits longer for a hint.
const PATIENCE: Duration = Duration::from_secs(1);

/// The newest runs on a run's target, newest first; none where there is no store to ask.
pub(super) fn runs(record: &RunRecord) -> Vec<TablesOfRun> {
    if record.tables_before.is_empty() {
        return Vec::new();
    }
    let job = record.job.as_ref();
    let named = job.and_then(|job| job.outputs.store.as_deref());
    let path = store_path(named.map(Path::new)).ok();
    let is_kept = |path: &PathBuf| path != Path::new("off") && path.exists();
    let Some(path) = path.filter(is_kept) else {
        return Vec::new();
    };
    // A store that is locked is not waited for, and one that can't be read is complained of where the run
    // is to be kept.
    let (tell, told) = channel();
    let target = record.target.clone();
    std::thread::spawn(move || {
        let store = Store::open_existing(&path);
        let found = store.and_then(|store| store.tables_of_runs(&target, NEWEST));
        // Nobody may be listening any more.
        let _ = tell.send(found.unwrap_or_default());
    });
    told.recv_timeout(PATIENCE).unwrap_or_default()
}

/// Follows the tables back from run to run, as long as each has left what the next one found: what was
/// loaded in between ends the row. Runs that changed no count of rows are not told, for nothing proves
/// that they changed anything.
pub(super) fn of(tables: &[TableState], runs: &[TablesOfRun]) -> Option<Hint> {
    let now = counts(tables);
    let mut found = now.clone();
    let mut changing = 0;
    for run in runs {
        let (before, after) = (counts(&run.before), counts(&run.after));
        if !now.keys().any(|table| before.contains_key(table)) {
            continue;
        }
        let of_these = |counts: &BTreeMap<&str, u64>| -> Option<Vec<(String, u64)>> {
            let each = now.keys().map(|t| Some(((*t).to_owned(), *counts.get(t)?)));
            each.collect()
        };
        let (Some(left), Some(began)) = (of_these(&after), of_these(&before)) else {
            break;
        };
        if left
            .iter()
            .any(|(table, rows)| found.get(table.as_str()) != Some(rows))
        {
            break;
        }
        if left != began {
            changing += 1;
        }
        for (table, rows) in began {
            if let Some(known) = found.get_mut(table.as_str()) {
                *known = rows;
            }
        }
    }
    let differs = now.iter().any(|(table, rows)| {
        let began = found.get(table).copied().unwrap_or(*rows);
        rows_differ(*rows, began)
    });
    (differs && changing > 0).then_some(Hint::Changed { runs: changing })
}

fn counts(tables: &[TableState]) -> BTreeMap<&str, u64> {
    tables.iter().map(|t| (t.table.as_str(), t.rows)).collect()
}
