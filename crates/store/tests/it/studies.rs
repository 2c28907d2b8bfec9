//! Studies in the store: their steps, their runs, and the settings that wait for being restored.

use super::common;
use tidemark_core::StudyPlace;
use tidemark_core::record::{RunRecord, RunState};
use tidemark_store::{
    ChangedSetting, ListedState, NewStep, NewStudy, StepEnd, StepState, Store, StoreError,
    StudyState,
};

fn study(id: &str, name: &str) -> NewStudy {
    NewStudy {
        id: id.into(),
        name: name.into(),
        path: format!("studies/{id}.toml"),
        file: "name = \"a\"\n".into(),
        folder: "/tmp".into(),
        hostname: hostname(),
    }
}

fn hostname() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    name.trim().into()
}

fn steps() -> Vec<NewStep> {
    let step = |kind: &str, cell: &str, repeat| NewStep {
        kind: kind.into(),
        cell: cell.into(),
        repeat,
        command: vec!["tidemark".into(), "a \"quoted\" word".into()],
    };
    vec![
        step("load", "data", 0),
        step("run", "c", 1),
        step("run", "c", 2),
    ]
}

fn opened() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("runs.db")).unwrap();
    let begun = store.begin_study(&study("s1", "first"), &steps(), false, &|_| None);
    assert_eq!(begun.unwrap(), None);
    (dir, store)
}

fn run(id: &str, repeat: u32, state: RunState) -> RunRecord {
    RunRecord {
        schema_version: 1,
        id: id.into(),
        state,
        study: Some(StudyPlace {
            study: "s1".into(),
            cell: "c".into(),
            repeat,
            ..StudyPlace::default()
        }),
        ..RunRecord::default()
    }
}

#[test]
fn steps_are_taken_one_by_one_and_can_be_taken_again() {
    let (_dir, mut store) = opened();
    let all = store.steps("s1").unwrap();
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|s| s.state == StepState::Waiting));
    assert_eq!(all[0].command[1], "a \"quoted\" word");
    store.step_begins("s1", 0, &["other".into()]).unwrap();
    let begun = &store.steps("s1").unwrap()[0];
    assert_eq!(begun.state, StepState::GoingOn);
    assert_eq!(begun.command, ["other"]);
    assert!(begun.begun_ms.is_some());
    let end = StepEnd {
        state: StepState::Failed,
        reason: Some("no server"),
        run_id: None,
        output: "lines\n",
    };
    store.step_ends("s1", 0, end).unwrap();
    let failed = &store.steps("s1").unwrap()[0];
    assert_eq!(failed.reason.as_deref(), Some("no server"));
    assert_eq!(failed.output, "lines\n");
    assert!(failed.state.is_over() && failed.ended_ms.is_some());
    store.step_waits("s1", 0, "again").unwrap();
    assert!(!store.steps("s1").unwrap()[0].state.is_over());
    assert_eq!(store.study("s1").unwrap().state, StudyState::Running);
    store.end_study("s1").unwrap();
    assert_eq!(store.study("s1").unwrap().state, StudyState::Ended);
}

#[test]
fn a_study_is_found_by_id_beginning_name_and_last() {
    let (_dir, mut store) = opened();
    for new in [study("s2-b", "first"), study("s2-c", "second")] {
        assert_eq!(
            store.begin_study(&new, &[], false, &|_| None).unwrap(),
            None
        );
    }
    for (word, id) in [
        ("s1", "s1"),
        ("S2-B", "s2-b"),
        ("first", "s2-b"),
        ("s2-c", "s2-c"),
        ("last", "s2-c"),
        ("study:last", "s2-c"),
    ] {
        assert_eq!(store.study(word).unwrap().id, id, "{word}");
    }
    let several = store.study("s2").unwrap_err();
    assert!(matches!(several, StoreError::Ambiguous { .. }), "{several}");
    let none = store.study("x").unwrap_err().to_string();
    assert!(none.contains("no study x"), "{none}");
}

#[test]
fn only_runs_that_a_step_ended_with_are_the_studys() {
    let (_dir, mut store) = opened();
    store.import(&run("half", 1, RunState::Running)).unwrap();
    let (id, _) = store.run_at("s1", "c", 1, 0).unwrap().unwrap();
    assert_eq!(id, "half");
    store.note_half_made("half", "made again").unwrap();
    store.import(&run("whole", 1, RunState::Finished)).unwrap();
    let at = store.run_at("s1", "c", 1, 0).unwrap().unwrap();
    assert_eq!(at, ("whole".into(), ListedState::Finished));
    assert_eq!(store.run_at("s1", "c", 2, 0).unwrap(), None);
    assert_eq!(store.run_at("s1", "c", 1, i64::MAX).unwrap(), None);
    let end = StepEnd {
        state: StepState::Done,
        reason: None,
        run_id: Some("whole"),
        output: "",
    };
    store.step_ends("s1", 1, end).unwrap();
    let runs = store.runs_of("s1").unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].seq, runs[0].repeat), (1, 1));
    assert_eq!(runs[0].run.id, "whole");
}

#[test]
fn the_last_interval_tells_how_a_run_goes() {
    let (_dir, mut store) = opened();
    store.begin(&run("r", 1, RunState::Running)).unwrap();
    assert_eq!(store.progress("r").unwrap(), None);
    store.push_interval("r", &common::interval(3)).unwrap();
    let seen = store.progress("r").unwrap().unwrap();
    assert!((seen.at_s - 4.0).abs() < 0.01, "{seen:?}");
    assert!(seen.transactions_per_s > 0.0 && seen.p95_ms.is_some());
}

#[test]
fn of_a_changed_setting_the_first_value_before_is_kept() {
    let (_dir, mut store) = opened();
    let change = |before: Option<&str>, to: &str| ChangedSetting {
        target: "t".into(),
        server: "h:1".into(),
        name: "fsync".into(),
        before: before.map(Into::into),
        changed_to: to.into(),
        ..ChangedSetting::default()
    };
    store
        .setting_changes("s1", &change(Some("on"), "off"))
        .unwrap();
    store
        .setting_changes("s1", &change(Some("off"), "x"))
        .unwrap();
    assert_eq!(
        store.changed_settings("s1").unwrap(),
        [change(Some("on"), "x")]
    );
    // Another study must not take it for the server's own.
    assert_eq!(
        store.settings_of_others("s2", "h:1").unwrap(),
        [("s1".to_string(), change(Some("on"), "x"))]
    );
    assert_eq!(store.settings_of_others("s2", "h:2").unwrap(), []);
    assert_eq!(store.settings_of_others("s1", "h:1").unwrap(), []);
    store.setting_restored("s1", "t", "fsync").unwrap();
    assert_eq!(store.changed_settings("s1").unwrap(), []);
}

#[test]
fn what_moved_with_a_setting_is_kept_with_it() {
    let (_dir, mut store) = opened();
    let change = |name: &str, before: &str, to: &str| ChangedSetting {
        target: "t".into(),
        server: "h:1".into(),
        name: name.into(),
        before: Some(before.into()),
        changed_to: to.into(),
        snapshot: Some("{\"b\":\"2\"}".into()),
        ..ChangedSetting::default()
    };
    store
        .setting_changes("s1", &change("a", "1", "10"))
        .unwrap();
    assert_eq!(
        store.changed_settings("s1").unwrap(),
        [change("a", "1", "10")]
    );
    store
        .settings_moved("s1", "t", "a", &[("b", "2", "20"), ("c", "3", "30")])
        .unwrap();
    let found = store.changed_settings("s1").unwrap();
    let told: Vec<_> = found
        .iter()
        .map(|row| {
            let moved_by = row.moved_by.as_deref();
            (row.name.as_str(), row.before.as_deref(), moved_by)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a", Some("1"), None),
            ("c", Some("3"), Some("a")),
            ("b", Some("2"), Some("a")),
        ]
    );
    assert!(
        found
            .iter()
            .all(|r| r.snapshot.is_none() && r.server == "h:1")
    );
    // What the study then asks for itself keeps its first value before.
    store
        .setting_changes("s1", &change("b", "20", "21"))
        .unwrap();
    let found = store.changed_settings("s1").unwrap();
    let b = found.iter().find(|row| row.name == "b").unwrap();
    assert_eq!(
        (b.before.as_deref(), b.changed_to.as_str()),
        (Some("2"), "21")
    );
    assert_eq!(b.moved_by, None);
}

#[test]
fn of_a_file_one_execution_goes_on_at_a_time() {
    let (dir, mut store) = opened();
    let again = NewStudy {
        path: study("s1", "").path,
        ..study("s9", "first")
    };
    let other = store
        .begin_study(&again, &steps(), false, &|_| None)
        .unwrap();
    assert_eq!(other.unwrap().id, "s1");
    // Nobody begins beside one that lives.
    let other = store
        .begin_study(&again, &steps(), true, &|_| None)
        .unwrap();
    assert_eq!(other.unwrap().state, StudyState::Running);
    let db = rusqlite::Connection::open(dir.path().join("runs.db")).unwrap();
    db.execute("UPDATE study SET pid_started = '0'", [])
        .unwrap();
    let other = store
        .begin_study(&again, &steps(), false, &|_| None)
        .unwrap();
    assert_eq!(other.unwrap().state, StudyState::Unfinished);
    assert_eq!(store.studies().unwrap().len(), 1);
    assert_eq!(
        store
            .begin_study(&again, &steps(), true, &|_| None)
            .unwrap(),
        None
    );
    assert_eq!(store.steps("s9").unwrap().len(), 3);
    // What came to nothing is forgotten, but not what has begun a step.
    store.step_begins("s1", 0, &[]).unwrap();
    store.forget_study("s1").unwrap();
    store.forget_study("s9").unwrap();
    let left = store.studies().unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].id, "s1");
    store.end_study("s1").unwrap();
    assert_eq!(
        store
            .begin_study(&again, &steps(), false, &|_| None)
            .unwrap(),
        None
    );
}

#[test]
fn of_two_processes_one_executes_a_study() {
    let (dir, mut store) = opened();
    // This process may go on with its own.
    store
        .claim_study("s1", &hostname(), false, &|_| None)
        .unwrap();
    let db = rusqlite::Connection::open(dir.path().join("runs.db")).unwrap();
    // Process 1 lives as long as the machine.
    let stat = std::fs::read_to_string("/proc/1/stat").unwrap();
    let started = stat.rsplit_once(')').unwrap().1;
    let started = started.split_ascii_whitespace().nth(19).unwrap();
    db.execute("UPDATE study SET pid = 1, pid_started = ?1", [started])
        .unwrap();
    let refused = store
        .claim_study("s1", &hostname(), false, &|_| None)
        .unwrap_err();
    assert!(
        matches!(refused, StoreError::StudyGoesOn { pid: 1, .. }),
        "{refused}"
    );
    assert_eq!(store.study("s1").unwrap().state, StudyState::Running);
    // Another process had its number before.
    db.execute("UPDATE study SET pid_started = '0'", [])
        .unwrap();
    assert_eq!(store.study("s1").unwrap().state, StudyState::Unfinished);
    store
        .claim_study("s1", &hostname(), false, &|_| None)
        .unwrap();
    // Before this machine was started again.
    db.execute("UPDATE study SET boot_id = 'b'", []).unwrap();
    assert_eq!(store.study("s1").unwrap().state, StudyState::Unfinished);
    store
        .claim_study("s1", &hostname(), false, &|_| None)
        .unwrap();
    // Another machine that shares the file.
    db.execute("UPDATE study SET boot_id = 'b', hostname = 'h'", [])
        .unwrap();
    assert_eq!(store.study("s1").unwrap().state, StudyState::PerhapsRunning);
    let refused = store
        .claim_study("s1", &hostname(), false, &|_| None)
        .unwrap_err();
    assert!(refused.to_string().contains("--take-over"), "{refused}");
    store
        .claim_study("s1", &hostname(), true, &|_| None)
        .unwrap();
    let none = store
        .claim_study("x", &hostname(), false, &|_| None)
        .unwrap_err();
    assert!(matches!(none, StoreError::NoSuchStudy { .. }), "{none}");
}
