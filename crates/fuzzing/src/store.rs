//! Files that were a store once.

use crate::file::place;
use crate::memory::bounded;
use std::fs;
use std::path::Path;
use tidemark_store::{Filter, Store};

/// Records are as long as their JSON says.
const A_BYTE: usize = 1024;
/// A store of an older format is copied when it is opened.
const FORMATS: usize = 10;

pub(crate) fn run(data: &[u8]) {
    // Anything else is no store, which is found out without SQLite, and not at once.
    if !data.starts_with(b"SQLite format 3\0") || data.get(68..72) != Some(b"TIDM") {
        return;
    }
    let path = place("db");
    fs::write(&path, data).unwrap();
    bounded(data.len(), A_BYTE, || look(&path));
    let mut copy = path.clone().into_os_string();
    copy.push(".format-");
    let copies = (0..FORMATS).map(|format| format!("{}{format}", copy.display()));
    let ends = ["", "-wal", "-shm", "-journal"].map(|end| format!("{}{end}", path.display()));
    for file in ends.into_iter().chain(copies) {
        let _ = fs::remove_file(file);
    }
}

fn look(path: &Path) {
    let Ok(mut store) = Store::open_existing(path) else {
        return;
    };
    let runs = store.list(&Filter::default()).unwrap_or_default();
    for run in runs.iter().take(4) {
        let _ = run.transactions_per_s();
        let _ = run.state.to_string();
        let _ = store.get(&run.id);
        let _ = store.intervals(&run.id);
        let _ = store.series(&run.id);
    }
    let _ = store.check(&mut |_, _| {});
    let _ = store.latest();
    let _ = store.tags();
    let _ = store.resolve("0");
    if let Some(run) = runs.first() {
        let _ = store.delete(&run.id);
    }
}
