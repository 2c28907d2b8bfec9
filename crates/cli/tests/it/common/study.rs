//! Small studies, and what came of them.

use super::{Said, Workdir, wait_until};
use std::collections::BTreeSet;
use tidemark_store::{Filter, ListedState, Store};

pub fn store(dir: &Workdir) -> Store {
    Store::open_existing(&dir.path().join("store.db")).unwrap()
}

pub fn write(dir: &Workdir, name: &str, text: &str) {
    std::fs::write(dir.path().join(name), text).unwrap();
}

/// Four cells of two runs each on SQLite.
pub fn small(top: &str) -> String {
    format!(
        "name = \"small\"\nrepeats = 2\ntime = 1\n{top}\n\
         [[target]]\nname = \"sqlite\"\nurl = \"sqlite:small.db\"\n\
         [[workload]]\nname = \"oltp_point_select\"\noptions = {{ table-size = 500 }}\n\
         [[workload]]\nname = \"oltp_update_index\"\noptions = {{ table-size = 500 }}\n\
         [load]\nthreads = [1, 2]\n"
    )
}

/// A study has done all of so many steps. A busy machine may spoil some of its runs, and nothing else may.
#[track_caller]
pub fn whole(dir: &Workdir, said: &Said, steps: usize) {
    dir.must_be_done(said);
    let is_told = match said.code {
        Some(0) => said.out.contains(&format!("{steps} of {steps} steps done")),
        _ => (1..=steps).any(|spoilt| {
            let done = steps - spoilt;
            let line = format!("{done} of {steps} steps done, {spoilt} invalid");
            said.out.contains(&line)
        }),
    };
    assert!(is_told, "{said:?}");
}

/// The ids of all runs.
pub fn all_runs(dir: &Workdir) -> BTreeSet<String> {
    let runs = store(dir).list(&Filter::default()).unwrap();
    runs.into_iter().map(|r| r.id).collect()
}

/// Waits until a run of a study is measured.
pub fn a_run_goes_on(dir: &Workdir) {
    wait_until("a run begins", || {
        let path = dir.path().join("store.db");
        let Ok(store) = Store::open_existing(&path) else {
            return false;
        };
        let runs = store.list(&Filter::default()).unwrap_or_default();
        runs.iter().any(|r| r.state == ListedState::Running)
    });
}

/// What is noted at a run.
pub fn note_of(dir: &Workdir, id: &str) -> String {
    let db = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    db.query_row("SELECT note FROM run WHERE id = ?1", [id], |r| r.get(0))
        .unwrap()
}
