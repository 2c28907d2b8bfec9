//! Writing, reading, listing and deleting runs.

use super::common::{ID, interval, record};
use tidemark_core::record::{
    EncodedHistogram, Imported, RateUnit, RunRecord, RunState, SCHEMA_VERSION, StatedFigure,
};
use tidemark_store::{Filter, ListedState, RecordError, Store, StoreError, from_json, to_json};

fn fresh() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("deep/er/runs.db")).unwrap();
    (dir, store)
}

#[test]
fn what_was_written_is_read_again() {
    let (_dir, mut store) = fresh();
    store.begin(&record(ID, RunState::Running)).unwrap();
    for n in -1..3 {
        store.push_interval(ID, &interval(n)).unwrap();
    }
    let mut end = record(ID, RunState::Finished);
    store.finish(&end).unwrap();
    end.intervals = (-1..3).map(interval).collect();
    assert_eq!(store.get(ID).unwrap(), end);
    // And by another process, later.
    let again = Store::open_existing(store.path()).unwrap();
    assert_eq!(again.get("01932b7e").unwrap(), end);
    assert_eq!(again.latest().unwrap().as_deref(), Some(ID));
}

#[test]
fn every_end_is_read_again() {
    let (_dir, mut store) = fresh();
    for (n, state) in [
        RunState::Running,
        RunState::Finished,
        RunState::Interrupted,
        RunState::Failed("1045: Access denied".into()),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("run{n}");
        store.begin(&record(&id, RunState::Running)).unwrap();
        let end = record(&id, state);
        store.finish(&end).unwrap();
        assert_eq!(store.get(&id).unwrap(), end);
    }
    let states: Vec<_> = store.list(&Filter::default()).unwrap();
    let words: Vec<String> = states.iter().map(|r| r.state.to_string()).collect();
    assert_eq!(words, ["failed", "interrupted", "finished", "running"]);
    assert_eq!(
        states[0].state,
        ListedState::Failed("1045: Access denied".into())
    );
}

#[test]
fn intervals_that_were_not_pushed_come_with_the_end() {
    let (_dir, mut store) = fresh();
    store.begin(&record(ID, RunState::Running)).unwrap();
    store.push_interval(ID, &interval(0)).unwrap();
    let mut end = record(ID, RunState::Finished);
    end.intervals = (0..3).map(interval).collect();
    store.finish(&end).unwrap();
    assert_eq!(store.get(ID).unwrap(), end);
}

#[test]
fn an_imported_record_is_read_again() {
    let (_dir, mut store) = fresh();
    let mut whole = record(ID, RunState::Finished);
    whole.intervals = (0..3).map(interval).collect();
    store.import(&whole).unwrap();
    assert_eq!(store.get(ID).unwrap(), whole);
    assert!(matches!(
        store.import(&whole),
        Err(StoreError::Exists { .. })
    ));
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
}

/// Neither a clock that was wrong nor a record from elsewhere changes which run was made last here.
#[test]
fn the_last_run_is_the_one_made_last_here() {
    let (_dir, mut store) = fresh();
    let at = |id: &str, started_at: &str| RunRecord {
        started_at: started_at.into(),
        ..record(id, RunState::Finished)
    };
    store
        .import(&at("imported", "2026-01-01T00:00:00Z"))
        .unwrap();
    assert_eq!(store.latest().unwrap(), None);
    // The clock was in the next century, and was put right.
    store.begin(&at("first", "2126-01-01T00:00:00Z")).unwrap();
    store.begin(&at("second", "2026-01-01T00:00:00Z")).unwrap();
    store.import(&at("zzz", "2226-01-01T00:00:00Z")).unwrap();
    assert_eq!(store.latest().unwrap().as_deref(), Some("second"));
    store.delete("second").unwrap();
    assert_eq!(store.latest().unwrap().as_deref(), Some("first"));
    store.begin(&at("third", "1970-01-01T00:00:00Z")).unwrap();
    assert_eq!(store.latest().unwrap().as_deref(), Some("third"));
}

#[test]
fn a_run_that_was_not_begun_takes_nothing() {
    let (_dir, mut store) = fresh();
    let refused =
        |r: Result<(), StoreError>| assert!(matches!(r, Err(StoreError::NoSuchRun { .. })));
    refused(store.push_interval("nobody", &interval(0)));
    refused(store.finish(&record("nobody", RunState::Finished)));
    assert!(store.list(&Filter::default()).unwrap().is_empty());
    assert_eq!(store.latest().unwrap(), None);
}

#[test]
fn an_id_may_be_shortened_while_it_is_the_only_one() {
    let (_dir, mut store) = fresh();
    for id in ["abc1", "abc12", "abd%", "ABX"] {
        store.begin(&record(id, RunState::Running)).unwrap();
    }
    assert_eq!(store.resolve("abd").unwrap(), "abd%");
    assert_eq!(store.resolve("ABD").unwrap(), "abd%");
    assert_eq!(store.resolve("abx").unwrap(), "ABX");
    assert_eq!(store.resolve("abc1").unwrap(), "abc1", "a whole id wins");
    match store.resolve("abc") {
        Err(StoreError::Ambiguous { matches, .. }) => assert_eq!(matches, ["abc12", "abc1"]),
        other => panic!("{other:?}"),
    }
    for id in ["01a20b0f-9b1d4819660a", "01a20b0f-b6d7653fe3c9"] {
        store.begin(&record(id, RunState::Running)).unwrap();
    }
    assert_eq!(store.resolve("660A").unwrap(), "01a20b0f-9b1d4819660a");
    assert!(store.resolve("01a2").is_err() && store.resolve("60a").is_err());
    for none in ["abz", "", "%", "_bd", "abc123"] {
        assert!(
            matches!(store.get(none), Err(StoreError::NoSuchRun { .. })),
            "{none}"
        );
    }
}

#[test]
fn a_list_is_newest_first_filtered_and_limited() {
    let (_dir, mut store) = fresh();
    for (id, at, workload) in [
        ("b", "2026-01-02T00:00:00Z", "oltp_read_write"),
        ("a", "2026-01-03T00:00:00Z", "oltp_point_select"),
        ("c", "2026-01-01T00:00:00Z", "oltp_read_write"),
    ] {
        let mut r = record(id, RunState::Finished);
        r.started_at = at.into();
        r.workload = workload.into();
        store.import(&r).unwrap();
    }
    let ids = |filter: Filter| -> String {
        let list = store.list(&filter).unwrap();
        list.iter().map(|r| r.id.as_str()).collect()
    };
    assert_eq!(ids(Filter::default()), "abc");
    let limit = Some(2);
    assert_eq!(
        ids(Filter {
            limit,
            ..Filter::default()
        }),
        "ab"
    );
    let workload = Some("oltp_read_write".into());
    assert_eq!(
        ids(Filter {
            workload,
            ..Filter::default()
        }),
        "bc"
    );
    let engine = |e: &str| Filter {
        engine: Some(e.into()),
        ..Filter::default()
    };
    assert_eq!(ids(engine("mariadb")), "abc");
    assert_eq!(ids(engine("tidb")), "");
}

#[test]
fn a_listed_run_shows_its_figures() {
    let (_dir, mut store) = fresh();
    store.begin(&record(ID, RunState::Running)).unwrap();
    for n in -1..2 {
        store.push_interval(ID, &interval(n)).unwrap();
    }
    // Summed from the intervals that count, while there is no end.
    let list = store.list(&Filter::default()).unwrap();
    let going = &list[0];
    assert_eq!((going.transactions, going.intervals), (200, 3));
    assert!((going.elapsed_s - 2.0003).abs() < 1e-6, "{going:?}");
    assert_eq!(going.p95_ms, None);
    store.finish(&record(ID, RunState::Finished)).unwrap();
    let list = store.list(&Filter::default()).unwrap();
    let ended = &list[0];
    assert_eq!((ended.transactions, ended.elapsed_s), (250, 2.5));
    assert_eq!(ended.transactions_per_s(), 100.0);
    let p95 = ended.p95_ms.unwrap();
    assert!((p95 - 1.237).abs() < 0.003, "{p95}");
    assert_eq!(ended.engine.as_deref(), Some("mariadb"));
    assert_eq!(ended.engine_version.as_deref(), Some("11.4.2-MariaDB"));
}

#[test]
fn a_stated_rate_is_listed_as_it_was_stated() {
    let (_dir, mut store) = fresh();
    let mut run = record(ID, RunState::Finished);
    run.totals.all.count = 0;
    run.imported = Some(Imported {
        figures: vec![StatedFigure {
            name: "rate".into(),
            value: 0.4,
            ..StatedFigure::default()
        }],
        ..Imported::default()
    });
    store.import(&run).unwrap();
    let list = store.list(&Filter::default()).unwrap();
    assert_eq!(list[0].transactions_per_s(), 0.4);
    assert_eq!(list[0].rate_unit, RateUnit::Transactions);
    // In its unit.
    run.id = run.id.replace('0', "1");
    run.server = None;
    run.imported = Some(Imported {
        rate_unit: RateUnit::NewOrders,
        figures: vec![StatedFigure {
            name: "nopm".into(),
            value: 42_123.0,
            ..StatedFigure::default()
        }],
        ..Imported::default()
    });
    store.import(&run).unwrap();
    let list = store.list(&Filter::default()).unwrap();
    let of = |l: &tidemark_store::RunListing| (l.rate_unit, l.transactions_per_s());
    assert!(
        list.iter()
            .map(of)
            .any(|l| l == (RateUnit::NewOrders, 42_123.0))
    );
}

#[test]
fn an_imported_output_that_is_cut_is_listed_as_that() {
    let (_dir, mut store) = fresh();
    let mut run = record(ID, RunState::Interrupted);
    store.import(&run).unwrap();
    let own = store.list(&Filter::default()).unwrap().remove(0);
    assert!(!own.is_imported && !own.is_cut_output());
    store.delete(ID).unwrap();
    run.server = None;
    run.imported = Some(Imported {
        tool: "sysbench".into(),
        ..Imported::default()
    });
    store.import(&run).unwrap();
    let cut = store.list(&Filter::default()).unwrap().remove(0);
    assert!(cut.is_imported && cut.is_cut_output());
    store.delete(ID).unwrap();
    run.state = RunState::Finished;
    store.import(&run).unwrap();
    let whole = store.list(&Filter::default()).unwrap().remove(0);
    assert!(whole.is_imported && !whole.is_cut_output());
}

#[test]
fn any_sqlite_tool_can_read_it() {
    let (_dir, mut store) = fresh();
    store.begin(&record(ID, RunState::Running)).unwrap();
    store.push_interval(ID, &interval(0)).unwrap();
    let mut broken = interval(1);
    broken.types.get_mut("oltp_read_write").unwrap().response = Some(EncodedHistogram("?".into()));
    store.push_interval(ID, &broken).unwrap();
    store.finish(&record(ID, RunState::Finished)).unwrap();
    let path = store.path().to_path_buf();
    drop(store);
    let db = rusqlite::Connection::open(path).unwrap();
    let (tps, p50, message): (f64, f64, String) = db
        .query_row(
            "SELECT r.transactions_per_s, i.p50_ms, \
             json_extract(r.record, '$.errors[0].first_message') \
             FROM run r JOIN interval i ON i.run_id = r.id AND i.seq = 0",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap();
    assert_eq!((tps, message.as_str()), (100.0, "Deadlock found"));
    // Of the response times, which are twice the service times here.
    assert!((p50 - 2.098).abs() < 0.004, "{p50}");
    let (reads, p50): (i64, Option<f64>) = db
        .query_row(
            "SELECT \"read\", p50_ms FROM interval WHERE seq = 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!((reads, p50), (1400, None), "no percentile is made up");
}

#[test]
fn a_deleted_run_is_gone_with_its_intervals_and_its_space() {
    let (_dir, mut store) = fresh();
    let path = store.path().to_path_buf();
    let mut other = record("keep", RunState::Finished);
    other.intervals = vec![interval(0)];
    store.import(&other).unwrap();
    let mut large = record(ID, RunState::Finished);
    large.intervals = (0..2000).map(interval).collect();
    store.import(&large).unwrap();
    drop(store);
    let before = std::fs::metadata(&path).unwrap().len();
    let mut store = Store::open(path.as_ref()).unwrap();
    assert_eq!(store.delete("01932b").unwrap(), ID);
    assert!(matches!(store.get(ID), Err(StoreError::NoSuchRun { .. })));
    assert_eq!(store.get("keep").unwrap(), other);
    drop(store);
    let after = std::fs::metadata(&path).unwrap().len();
    assert!(after * 5 < before, "{before} then {after}");
    let left: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT COUNT(*) FROM interval", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 1);
}

#[test]
fn a_run_that_goes_on_is_not_deleted() {
    let (_dir, mut store) = fresh();
    store.begin(&record(ID, RunState::Running)).unwrap();
    match store.delete(ID) {
        Err(StoreError::StillRunning { pid, .. }) => assert_eq!(pid, std::process::id()),
        other => panic!("{other:?}"),
    }
    store.finish(&record(ID, RunState::Interrupted)).unwrap();
    store.delete(ID).unwrap();
}

#[test]
fn json_goes_out_and_in() {
    let mut whole = record(ID, RunState::Failed("it broke".into()));
    whole.intervals = (-1..2).map(interval).collect();
    let text = to_json(&whole).unwrap();
    assert!(text.ends_with("}\n"));
    assert_eq!(from_json(&text).unwrap(), whole);
}

/// What records had before there were schedules in steps, terminals, hosts and outages.
fn strip_newer(value: &mut serde_json::Value) {
    const NEWER: &[&str] = &[
        "wait",
        "delayed_arrivals",
        "dropped_arrivals",
        "lateness",
        "outage_s",
        "outage_ms",
        "hosts",
        "sessions_opened",
        "fewer_sessions_because",
        "warmup_s",
        "terminals",
        "inject_rtt_ms",
        "steps",
        "outages",
        "machine",
        "topology",
    ];
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| !NEWER.contains(&name.as_str()));
            fields.values_mut().for_each(strip_newer);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(strip_newer),
        _ => {}
    }
}

#[test]
fn records_of_older_tidemarks_are_read() {
    let mut whole = record(ID, RunState::Finished);
    whole.intervals = (-1..2).map(interval).collect();
    let mut value = serde_json::to_value(&whole).unwrap();
    strip_newer(&mut value);
    // The rate of each interval is newer too; the run's own is not.
    for i in value["intervals"].as_array_mut().unwrap() {
        i.as_object_mut().unwrap().remove("rate");
    }
    let old = from_json(&value.to_string()).unwrap();
    assert_eq!((old.terminals, old.sessions_opened), (None, None));
    assert_eq!((old.inject_rtt_ms, old.totals.outage_s), (0.0, 0.0));
    assert!(old.steps.is_empty() && old.outages.is_empty() && old.totals.hosts.is_empty());
    assert_eq!(old.totals.all.count, whole.totals.all.count);
    assert_eq!(old.rate, whole.rate);
    assert!(
        old.intervals
            .iter()
            .all(|i| i.rate.is_none() && i.outage_ms == 0.0)
    );
    // And are as they were when they are written again, in the store too.
    assert_eq!(from_json(&to_json(&old).unwrap()).unwrap(), old);
    let (_dir, mut store) = fresh();
    store.import(&old).unwrap();
    assert_eq!(store.get(ID).unwrap(), old);
}

#[test]
fn the_intervals_of_a_run_are_read_alone() {
    let (_dir, mut store) = fresh();
    store.begin(&record(ID, RunState::Running)).unwrap();
    for n in 0..3 {
        store.push_interval(ID, &interval(n)).unwrap();
    }
    let expected: Vec<_> = (0..3).map(interval).collect();
    assert_eq!(store.intervals(ID).unwrap(), expected);
    assert!(store.intervals("nobody").unwrap().is_empty());
}

#[test]
fn json_of_another_version_is_read_or_refused() {
    let whole = record(ID, RunState::Finished);
    let with = |version: serde_json::Value| -> Result<RunRecord, RecordError> {
        let mut value = serde_json::to_value(&whole).unwrap();
        value["schema_version"] = version;
        from_json(&value.to_string())
    };
    assert_eq!(with(0.into()).unwrap().schema_version, 0);
    assert!(matches!(
        with((SCHEMA_VERSION + 1).into()),
        Err(RecordError::Newer { found, .. }) if found == u64::from(SCHEMA_VERSION) + 1
    ));
    assert!(matches!(
        with(serde_json::Value::Null),
        Err(RecordError::NoVersion)
    ));
    // A newer record is called newer even when nothing else of it is known.
    assert!(matches!(
        from_json("{\"schema_version\": 9}"),
        Err(RecordError::Newer { .. })
    ));
    for garbage in [
        "",
        "[]",
        "{\"schema_version\":1}",
        "hello",
        "{\"schema_version\":\"x\"}",
    ] {
        assert!(
            matches!(from_json(garbage), Err(RecordError::Malformed(_))),
            "{garbage}"
        );
    }
}

#[test]
fn a_stored_record_of_a_newer_tidemark_is_refused_alone() {
    let (_dir, mut store) = fresh();
    let mut newer = record("newer", RunState::Finished);
    newer.schema_version = SCHEMA_VERSION + 1;
    store.import(&newer).unwrap();
    store.import(&record("ours", RunState::Finished)).unwrap();
    let error = store.get("newer").unwrap_err().to_string();
    assert!(error.contains("newer Tidemark"), "{error}");
    assert!(store.get("ours").is_ok());
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 2);
}
