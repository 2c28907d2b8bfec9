//! Series of runs in the store.

use super::common::{ID, record, series};
use tidemark_core::record::{Quantiles, RunState, TypeStats};
use tidemark_core::series::SeriesChunk;
use tidemark_store::{Filter, Store, StoreError, from_json, to_json};

fn chunk(number: u32, series: Vec<tidemark_core::series::Series>) -> SeriesChunk {
    SeriesChunk {
        source: "client-host".into(),
        number,
        series,
    }
}

#[test]
fn a_stretch_takes_the_place_of_what_it_was_and_all_become_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("runs.db")).unwrap();
    store.begin(&record(ID, RunState::Running)).unwrap();
    let later = |n: i64| {
        let mut later = series(0, n);
        later.start_ms = 3000;
        later
    };
    for (number, piece) in [
        (0, series(0, 2)),
        (0, series(0, 3)),
        (1, later(1)),
        (1, later(2)),
    ] {
        store.push_series(ID, &chunk(number, vec![piece])).unwrap();
    }
    let read = store.series(ID).unwrap();
    assert_eq!((read.len(), read[0].count), (1, 5));
    // Whoever reads it after a crash gets the same.
    assert_eq!(store.get(ID).unwrap().series, read);
    // What a finished record does not bring stays.
    let mut ended = record(ID, RunState::Finished);
    ended.series.clear();
    store.finish(&ended).unwrap();
    assert_eq!(store.series(ID).unwrap(), read);
    let ended = record(ID, RunState::Finished);
    store.finish(&ended).unwrap();
    assert_eq!(store.series(ID).unwrap(), ended.series);
    store.delete(ID).unwrap();
    assert!(store.series(ID).unwrap().is_empty());
}

#[test]
fn series_of_a_run_that_is_not_there_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("runs.db")).unwrap();
    let refused = store.push_series(ID, &chunk(0, vec![series(0, 1)]));
    assert!(
        matches!(refused, Err(StoreError::NoSuchRun { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_record_with_series_comes_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    let mut run = record(ID, RunState::Finished);
    // In any order, and of several sources.
    run.series.reverse();
    run.series.push(series(2, 5));
    run.series[0].key.source = "server-status".into();
    store.import(&run).unwrap();
    let read = store.get(ID).unwrap();
    assert_eq!(read, run);
    assert_eq!(from_json(&to_json(&read).unwrap()).unwrap(), run);
    assert!(store.check(&mut |_, _| {}).unwrap().problems.is_empty());
    // Any SQLite tool finds what was most.
    let db = rusqlite::Connection::open(&path).unwrap();
    let sql = "SELECT max(max) FROM series WHERE name = 'cpu.busy' AND labels ->> 'core' = '2'";
    let most: f64 = db.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(most, 0.04);
    // Damage is found, and does not keep the run from being read.
    db.execute(
        "UPDATE series SET detail = replace(detail, '\"values\":\"', '\"values\":\"!') \
         WHERE labels ->> 'core' = '2'",
        [],
    )
    .unwrap();
    assert_eq!(store.get(ID).unwrap().series.len(), 3);
    let health = store.check(&mut |_, _| {}).unwrap();
    assert!(
        health.problems[0].contains("\"cpu.busy\" is damaged"),
        "{health:?}"
    );
}

#[test]
fn what_a_source_gave_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("runs.db")).unwrap();
    let mut run = record(ID, RunState::Finished);
    run.totals.all = TypeStats {
        count: 10,
        quantiles: Some(Quantiles {
            percentiles_ms: [("95".to_string(), 7.1)].into(),
            ..Quantiles::default()
        }),
        ..TypeStats::default()
    };
    store.import(&run).unwrap();
    let listed = store.list(&Filter::default()).unwrap();
    assert_eq!(listed[0].p95_ms, Some(7.1));
    assert_eq!(store.get(ID).unwrap(), run);
}

#[test]
fn a_list_tells_a_watch_from_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("runs.db")).unwrap();
    let mut watch = record(ID, RunState::Finished);
    (watch.workload, watch.watched_s) = ("watch".into(), Some(2.5));
    store.import(&watch).unwrap();
    let listed = |store: &Store| store.list(&Filter::default()).unwrap()[0].is_watch;
    assert!(listed(&store));
    assert_eq!(store.get(ID).unwrap().watched_s, Some(2.5));
    store.delete(ID).unwrap();
    // A table from elsewhere may call a run so.
    watch.watched_s = None;
    store.import(&watch).unwrap();
    assert!(!listed(&store));
}
