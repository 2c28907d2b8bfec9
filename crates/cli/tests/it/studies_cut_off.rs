//! Studies that are interrupted or killed, and go on.

use super::common::study::{a_run_goes_on, all_runs, note_of, small, store, whole, write};
use super::common::{Said, Workdir, signal, wait_until};
use std::collections::BTreeSet;
use std::time::Duration;
use tidemark_store::{Filter, ListedState, StepState, Store};

#[test]
fn ctrl_c_leaves_what_can_be_resumed_and_a_changed_file_is_refused() {
    let dir = Workdir::new();
    let text = small("")
        .replace("time = 1", "time = 3")
        .replace("[1, 2]", "[1]");
    let text = text.replace("repeats = 2", "repeats = 1");
    write(&dir, "small.toml", &text);
    let study = dir.spawn(&["study", "run", "small.toml"]);
    a_run_goes_on(&dir);

    // Nobody else executes it meanwhile.
    let other = dir.run(&["study", "resume"]);
    assert_eq!(other.code, Some(5), "{other:?}");
    assert!(
        other.err.contains("is being executed by process"),
        "{other:?}"
    );
    assert!(dir.ok(&["study", "status"]).out.contains("running"));

    signal(study.id(), "INT");
    let said = Said::of(&study.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(said.out.contains("interrupted"), "{said:?}");
    let half = store(&dir).list(&Filter::default()).unwrap();
    assert_eq!(half.len(), 1);
    assert_eq!(half[0].state, ListedState::Interrupted);

    let refused = dir.run(&["study", "run", "small.toml"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("is unfinished") && refused.err.contains("--anew"));

    write(&dir, "small.toml", &text.replace("time = 3", "time = 1"));
    let refused = dir.run(&["study", "resume", "small.toml"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused
            .err
            .contains("line 3: was \"time = 3\", is \"time = 1\""),
        "{refused:?}"
    );
    write(&dir, "small.toml", &text);
    let said = dir.ok(&["study", "resume", "small.toml"]);
    whole(&dir, &said, 3);
    let study = store(&dir).study("last").unwrap();
    let runs = store(&dir).runs_of(&study.id).unwrap();
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|r| r.run.state == ListedState::Finished));
    let noted = store(&dir).get(&half[0].id).unwrap();
    assert!(noted.study.is_some());
}

/// The moment between a run's end and its step's is short: it is made here.
#[test]
fn a_run_that_had_ended_when_its_study_was_killed_counts() {
    let dir = Workdir::new();
    write(&dir, "small.toml", &small("").replace("[1, 2]", "[1]"));
    dir.ok(&["study", "run", "small.toml"]);
    let before = all_runs(&dir);
    let db = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    db.execute_batch(
        "UPDATE study SET ended_ms = NULL, pid_started = '0'; \
         UPDATE study_step SET state = 'going-on', run_id = NULL, ended_ms = NULL WHERE seq = 2",
    )
    .unwrap();
    assert!(dir.ok(&["study", "status"]).out.contains("unfinished"));
    // From anywhere.
    let elsewhere = tempfile::tempdir().unwrap();
    let said = dir
        .command(&["study", "resume", "small"])
        .current_dir(elsewhere.path())
        .output()
        .unwrap();
    let said = Said::of(&said);
    whole(&dir, &said, 5);
    assert_eq!(all_runs(&dir), before);
    let study = store(&dir).study("last").unwrap();
    assert_eq!(store(&dir).runs_of(&study.id).unwrap().len(), 4);
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_study_takes_its_step_with_it() {
    let dir = Workdir::new();
    let text = small("").replace("time = 1", "time = 100");
    write(&dir, "small.toml", &text);
    let mut study = dir.spawn(&["study", "run", "small.toml"]);
    a_run_goes_on(&dir);
    study.kill().unwrap();
    study.wait().unwrap();
    wait_until("the run has ended", || {
        let runs = store(&dir).list(&Filter::default()).unwrap();
        runs.iter().all(|r| r.state == ListedState::Unfinished)
    });
}

/// What is there before is used, refused, or replaced if the file says so.
#[test]
fn kill_9_at_any_moment_loses_no_finished_run_and_doubles_none() {
    const KILLS: usize = 20;
    let dir = Workdir::new();
    let text = small("reload = \"per-workload\"");
    write(&dir, "small.toml", &text);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(std::process::id());
    let mut args = vec!["study", "run", "small.toml"];
    let mut finished: BTreeSet<String> = BTreeSet::new();
    for _ in 0..KILLS {
        let mut study = dir.spawn(&args);
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        std::thread::sleep(Duration::from_millis(20 + (random >> 33) % 1300));
        // One that has ended already is none to kill.
        let _ = study.kill();
        study.wait().unwrap();
        let Ok(store) = Store::open_existing(&dir.path().join("store.db")) else {
            continue;
        };
        let Ok(row) = store.study("last") else {
            continue;
        };
        args = vec!["study", "resume"];
        // What a step ended with is never taken back.
        let now: BTreeSet<String> = store
            .runs_of(&row.id)
            .unwrap()
            .into_iter()
            .map(|r| r.run.id)
            .collect();
        assert!(finished.is_subset(&now), "{finished:?} {now:?}");
        finished = now;
    }
    let said = dir.ok(&args);
    assert!(said.out.contains("0 failed, 0 skipped, 0 left"), "{said:?}");
    let store = store(&dir);
    let studies = store.studies().unwrap();
    assert_eq!(
        studies.len(),
        1,
        "one execution, however often it was killed"
    );
    let steps = store.steps(&studies[0].id).unwrap();
    assert!(
        steps.iter().all(|s| s.state == StepState::Done),
        "{steps:?}"
    );
    let runs = store.runs_of(&studies[0].id).unwrap();
    let places: BTreeSet<_> = runs.iter().map(|r| (r.cell.clone(), r.repeat)).collect();
    assert_eq!((runs.len(), places.len()), (8, 8));
    assert!(runs.iter().all(|r| r.run.state == ListedState::Finished));
    assert!(
        finished
            .iter()
            .all(|id| runs.iter().any(|r| r.run.id == *id))
    );
    // Runs that ended well but stand for no step would be doubles.
    let all = store.list(&Filter::default()).unwrap();
    let doubles = all
        .iter()
        .filter(|r| r.state == ListedState::Finished && !runs.iter().any(|k| k.run.id == r.id));
    assert_eq!(doubles.count(), 0);
    // What was cut off says so.
    let halves = all.iter().filter(|r| r.state == ListedState::Unfinished);
    let notes: Vec<String> = halves.map(|half| note_of(&dir, &half.id)).collect();
    assert!(notes.len() > 3, "hardly any run was hit: {notes:?}");
    assert!(
        notes.iter().all(|n| n.contains("repeats the run")),
        "{notes:?}"
    );
}
