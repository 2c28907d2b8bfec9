//! Several processes at one store, and processes that are killed.
//!
//! Each test starts its own program again with a variable that makes it the writer.

use super::common::{interval, record};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tidemark_core::record::RunState;
use tidemark_store::{Filter, ListedState, Store};

const WRITER: &str = "TIDEMARK_TEST_WRITER";

/// This program, running only `test`, as the writer of run `id` at `path`.
fn writer(test: &str, path: &Path, id: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("it::processes::{test}"), "--nocapture"])
        .env(WRITER, format!("{id}={}", path.display()))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

/// The id and path that [`writer`] gave, in the program that it started.
fn as_writer() -> Option<(String, String)> {
    let given = std::env::var(WRITER).ok()?;
    let (id, path) = given.split_once('=')?;
    Some((id.into(), path.into()))
}

#[test]
fn a_killed_process_loses_at_most_the_interval_in_flight() {
    let test = "a_killed_process_loses_at_most_the_interval_in_flight";
    if let Some((id, path)) = as_writer() {
        let mut store = Store::open(path.as_ref()).unwrap();
        store.begin(&record(&id, RunState::Running)).unwrap();
        for n in 0.. {
            store.push_interval(&id, &interval(n)).unwrap();
            // Says what it may rely on: so many are stored.
            // Whole or not at all, also when this process is killed right here.
            std::fs::write(format!("{path}.pushing"), (n + 1).to_string()).unwrap();
            std::fs::rename(format!("{path}.pushing"), format!("{path}.pushed")).unwrap();
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let pushed = dir.path().join("runs.db.pushed");
    let mut child = writer(test, &path, "killed");
    let promised = || -> usize {
        std::fs::read_to_string(&pushed)
            .ok()
            .and_then(|t| t.parse().ok())
            .unwrap_or(0)
    };
    let start = Instant::now();
    while promised() < 50 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing written");
        assert!(child.try_wait().unwrap().is_none(), "the writer ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let state = || {
        let store = Store::open_existing(&path).unwrap();
        store.list(&Filter::default()).unwrap().remove(0)
    };
    assert_eq!(state().state, ListedState::Running);
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    let promised = promised();
    let listed = state();
    assert_eq!(listed.state, ListedState::Unfinished);
    assert_eq!(listed.transactions, 100 * listed.intervals);
    let kept = Store::open_existing(&path).unwrap().get("killed").unwrap();
    assert_eq!(kept.state, RunState::Running);
    let stored = kept.intervals.len();
    assert!(
        (promised..=promised + 1).contains(&stored),
        "{stored} for {promised}"
    );
    let expected: Vec<_> = (0..).map(interval).take(stored).collect();
    assert_eq!(kept.intervals, expected);
    // What it left is no obstacle to the next.
    let mut store = Store::open(path.as_ref()).unwrap();
    store.begin(&record("next", RunState::Running)).unwrap();
    store.delete("killed").unwrap();
}

#[test]
fn processes_that_make_and_write_one_store_at_once_lose_nothing() {
    let test = "processes_that_make_and_write_one_store_at_once_lose_nothing";
    if let Some((id, path)) = as_writer() {
        let mut store = Store::open(path.as_ref()).unwrap();
        store.begin(&record(&id, RunState::Running)).unwrap();
        for n in 0..100 {
            store.push_interval(&id, &interval(n)).unwrap();
            if n % 10 == 0 {
                assert!(!store.list(&Filter::default()).unwrap().is_empty());
            }
        }
        store.finish(&record(&id, RunState::Finished)).unwrap();
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let ids = ["one", "two", "three", "four"];
    let children = ids.map(|id| writer(test, &path, id));
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), ids.len());
    let expected: Vec<_> = (0..100).map(interval).collect();
    for id in ids {
        let run = store.get(id).unwrap();
        assert_eq!(run.state, RunState::Finished);
        assert_eq!(run.intervals, expected);
    }
}

#[test]
fn processes_that_tag_import_and_delete_at_once_lose_nothing() {
    let test = "processes_that_tag_import_and_delete_at_once_lose_nothing";
    const ROUNDS: usize = 40;
    if let Some((id, path)) = as_writer() {
        let mut store = Store::open(path.as_ref()).unwrap();
        let tag = [format!("of-{id}")];
        for n in 0..ROUNDS {
            let own = format!("{id}-{n}");
            let mut run = record(&own, RunState::Finished);
            run.intervals = (0..3).map(interval).collect();
            store.import(&run).unwrap();
            store
                .tag(&[own.clone(), "shared".into()], &tag, &[])
                .unwrap();
            store.set_note("shared", &own).unwrap();
            // Everybody wants these gone: that somebody else was first is no failure.
            store.delete_all(&[format!("old-{n}")]).unwrap();
            if n % 2 == 0 {
                store.delete_all(&[own]).unwrap();
            }
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    store.import(&record("shared", RunState::Finished)).unwrap();
    for n in 0..ROUNDS {
        store
            .import(&record(&format!("old-{n}"), RunState::Finished))
            .unwrap();
    }
    let ids = ["one", "two", "three"];
    for mut child in ids.map(|id| writer(test, &path, id)) {
        assert!(child.wait().unwrap().success());
    }
    let listed = store.list(&Filter::default()).unwrap();
    assert_eq!(listed.len(), 1 + ids.len() * ROUNDS / 2);
    let shared = store.get("shared").unwrap();
    for id in ids {
        let tag = format!("of-{id}");
        assert!(shared.tags.contains(&tag), "{:?}", shared.tags);
        let filter = Filter {
            tags: vec![tag],
            ..Filter::default()
        };
        assert_eq!(store.list(&filter).unwrap().len(), 1 + ROUNDS / 2);
    }
    assert!(
        shared.note.ends_with(&format!("-{}", ROUNDS - 1)),
        "{}",
        shared.note
    );
    let health = store.check(&mut |_, _| {}).unwrap();
    assert!(health.problems.is_empty(), "{health:?}");
}
