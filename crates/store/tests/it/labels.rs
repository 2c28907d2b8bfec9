//! Tags, notes, filters, and what imported records bring.

use super::common::{ID, interval, record};
use tidemark_core::record::RunState;
use tidemark_store::{Filter, ListedState, StateWord, Store, StoreError};

fn fresh() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("runs.db")).unwrap();
    (dir, store)
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| w.to_string()).collect()
}

fn ids(store: &Store, filter: &Filter) -> String {
    let listed = store.list(filter).unwrap();
    listed.iter().map(|r| r.id.as_str()).collect()
}

/// Runs a to e, one a day, with what tells them apart.
fn five() -> (tempfile::TempDir, Store) {
    let (dir, mut store) = fresh();
    let ends = [
        RunState::Finished,
        RunState::Interrupted,
        RunState::Failed("broke".into()),
        RunState::Finished,
        RunState::Running,
    ];
    for ((n, id), state) in (1..).zip(["a", "b", "c", "d", "e"]).zip(ends) {
        let mut run = record(id, state);
        run.started_at = format!("2026-11-0{n}T12:00:00.000Z");
        run.target = format!("mysql://u:***@Host{n}:3306/db");
        run.tags = vec![];
        run.note = String::new();
        if let Some(place) = &mut run.study {
            place.study = format!("study{}", n % 2);
        }
        store.import(&run).unwrap();
    }
    (dir, store)
}

#[test]
fn tags_and_notes_are_put_on_taken_off_and_read_with_the_run() {
    let (_dir, mut store) = five();
    store
        .tag(&strings(&["a", "b"]), &strings(&["基线", "fast"]), &[])
        .unwrap();
    store
        .tag(
            &strings(&["b"]),
            &strings(&["fast"]),
            &strings(&["基线", "none"]),
        )
        .unwrap();
    store
        .set_note("b", "as delivered\nwith <b>\u{1b}[31m")
        .unwrap();
    assert_eq!(store.tags_of("a").unwrap(), ["fast", "基线"]);
    let run = store.get("b").unwrap();
    assert_eq!(run.tags, ["fast"]);
    assert_eq!(run.note, "as delivered\nwith <b>\u{1b}[31m");
    assert_eq!(store.note_of("b").unwrap(), run.note);
    let listed = store.list(&Filter::default()).unwrap();
    let b = listed.iter().find(|r| r.id == "b").unwrap();
    assert_eq!((&b.tags, &b.note), (&run.tags, &run.note));
    assert_eq!(store.tags().unwrap(), ["fast", "基线"]);
}

#[test]
fn all_runs_get_a_tag_or_none() {
    let (_dir, mut store) = five();
    let error = store
        .tag(&strings(&["a", "nobody"]), &strings(&["x"]), &[])
        .unwrap_err();
    assert!(matches!(error, StoreError::NoSuchRun { id, .. } if id == "nobody"));
    let error = store
        .tag(&strings(&["a"]), &strings(&["good", "not good"]), &[])
        .unwrap_err();
    assert!(matches!(error, StoreError::BadTag { .. }));
    assert!(store.tags().unwrap().is_empty());
    assert!(matches!(
        store.set_note("nobody", "x"),
        Err(StoreError::NoSuchRun { .. })
    ));
}

#[test]
fn a_list_holds_what_every_filter_lets_through() {
    let (_dir, mut store) = five();
    store
        .tag(&strings(&["a", "b", "c"]), &strings(&["x"]), &[])
        .unwrap();
    store
        .tag(&strings(&["b", "d"]), &strings(&["y"]), &[])
        .unwrap();
    let tagged = |tags: &[&str]| Filter {
        tags: strings(tags),
        ..Filter::default()
    };
    assert_eq!(ids(&store, &tagged(&["x"])), "cba");
    assert_eq!(ids(&store, &tagged(&["x", "y"])), "b");
    assert_eq!(ids(&store, &tagged(&["none"])), "");
    let state = |state| Filter {
        state: Some(state),
        ..Filter::default()
    };
    assert_eq!(ids(&store, &state(StateWord::Finished)), "da");
    assert_eq!(ids(&store, &state(StateWord::Interrupted)), "b");
    assert_eq!(ids(&store, &state(StateWord::Failed)), "c");
    // It came from elsewhere: no process here writes it.
    assert_eq!(ids(&store, &state(StateWord::Unfinished)), "e");
    assert_eq!(ids(&store, &state(StateWord::Running)), "");
    store.begin(&record("f", RunState::Running)).unwrap();
    assert_eq!(ids(&store, &state(StateWord::Running)), "f");
    store.delete("e").unwrap();
    store.finish(&record("f", RunState::Finished)).unwrap();
    store.delete("f").unwrap();
    let target = Filter {
        target: Some("host3".into()),
        ..Filter::default()
    };
    assert_eq!(ids(&store, &target), "c");
    let study = Filter {
        study: Some("study0".into()),
        ..Filter::default()
    };
    assert_eq!(ids(&store, &study), "db");
    let time = Filter {
        since: Some("2026-11-02T12:00:00.000Z".into()),
        until: Some("2026-11-04T12:00:00.000Z".into()),
        ..Filter::default()
    };
    assert_eq!(ids(&store, &time), "cb");
    let several = Filter {
        limit: Some(1),
        tags: strings(&["x"]),
        ..time
    };
    assert_eq!(ids(&store, &several), "c");
    let all = Filter::default();
    for (filter, count) in [(&all, 4), (&study, 2), (&several, 2)] {
        assert_eq!(store.count(filter).unwrap(), count, "{filter:?}");
    }
}

#[test]
fn a_limit_counts_what_is_shown() {
    let (_dir, mut store) = fresh();
    for id in ["a", "b", "c"] {
        store.begin(&record(id, RunState::Running)).unwrap();
    }
    store.finish(&record("c", RunState::Finished)).unwrap();
    let filter = Filter {
        state: Some(StateWord::Running),
        limit: Some(2),
        ..Filter::default()
    };
    assert_eq!(store.list(&filter).unwrap().len(), 2);
    assert_eq!(store.count(&filter).unwrap(), 2);
    let one = Filter {
        limit: Some(1),
        ..filter.clone()
    };
    assert_eq!(store.count(&one).unwrap(), 2);
    assert_eq!(store.list(&filter).unwrap()[0].state, ListedState::Running);
}

#[test]
fn all_of_several_runs_are_deleted_or_none() {
    let (_dir, mut store) = five();
    store.begin(&record(ID, RunState::Running)).unwrap();
    let error = store.delete_all(&strings(&["a", ID, "b"])).unwrap_err();
    assert!(
        matches!(error, StoreError::StillRunning { .. }),
        "{error:?}"
    );
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 6);
    store.delete_all(&strings(&["a", "gone", "b"])).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 4);
}

#[test]
fn tags_go_with_their_run() {
    let (_dir, mut store) = five();
    store.tag(&strings(&["a"]), &strings(&["x"]), &[]).unwrap();
    store.delete("a").unwrap();
    assert!(store.tags().unwrap().is_empty());
}

#[test]
fn what_leaves_a_store_comes_into_another_as_it_is_now() {
    let (_dir, mut store) = fresh();
    let mut run = record(ID, RunState::Finished);
    run.intervals = (-1..4).map(interval).collect();
    store.import(&run).unwrap();
    let remove = strings(&["nightly"]);
    store
        .tag(&strings(&[ID]), &strings(&["后来"]), &remove)
        .unwrap();
    store.set_note(ID, "later").unwrap();
    let text = tidemark_store::to_json(&store.get(ID).unwrap()).unwrap();
    let (_other_dir, mut other) = fresh();
    other
        .import(&tidemark_store::from_json(&text).unwrap())
        .unwrap();
    let there = other.get(ID).unwrap();
    assert_eq!(there, store.get(ID).unwrap());
    assert_eq!(
        (there.tags.join(" "), there.note.as_str()),
        ("before 后来".into(), "later")
    );
    assert_eq!(there.intervals, run.intervals);
}

#[test]
fn hostile_words_are_kept_as_they_are() {
    let (_dir, mut store) = fresh();
    let mut run = record(ID, RunState::Finished);
    run.tags = strings(&["');DROP/**/TABLE/**/run;--", "<script>", "50%"]);
    run.tags.sort();
    run.note = "\u{202e}</script>\0%s{{".into();
    run.workload = "x' OR '1'='1".into();
    store.import(&run).unwrap();
    assert_eq!(store.get(ID).unwrap(), run);
    let filter = Filter {
        workload: Some(run.workload.clone()),
        tags: run.tags.clone(),
        ..Filter::default()
    };
    assert_eq!(store.list(&filter).unwrap().len(), 1);
}

#[test]
fn a_record_whose_tags_could_not_be_put_on_is_refused_whole() {
    let (_dir, mut store) = fresh();
    for tag in ["", "a b", "a,b", "+a", "-a", "a\n", "a\u{1b}]0;x\u{7}"] {
        let mut run = record(ID, RunState::Finished);
        run.tags = strings(&["good", tag]);
        let refused = store.import(&run).unwrap_err();
        assert!(matches!(refused, StoreError::BadTag { .. }), "{refused}");
    }
    assert!(store.list(&Filter::default()).unwrap().is_empty());
}
