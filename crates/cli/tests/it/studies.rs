//! Studies as a user executes them: planned, run, reported, with what fails in them.

use super::common;
use super::common::study::{a_run_goes_on, all_runs, note_of, small, store, whole, write};
use super::common::{Said, Workdir};
use std::collections::BTreeSet;
use tidemark_store::{StepState, StudyState};

fn examples() -> Vec<std::path::PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    files
}

#[test]
fn every_example_can_be_planned_without_touching_anything() {
    let dir = Workdir::new();
    for file in examples() {
        let said = dir.ok(&["study", "plan", file.to_str().unwrap()]);
        assert!(said.out.contains("nothing was changed"), "{said:?}");
        let runs = said.out.matches("  run  ").count();
        assert!(said.out.contains(&format!("\n{runs} runs in ")), "{said:?}");
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_study_on_sqlite_is_executed_kept_and_told() {
    let dir = Workdir::new();
    let text = small("order = \"shuffled\"").replace("repeats = 2", "repeats = 1");
    write(&dir, "small.toml", &text);
    let said = dir.ok(&["study", "run", "small.toml"]);
    whole(&dir, &said, 5);
    assert!(said.out.contains("[5/5] "), "{said:?}");
    assert!(said.out.contains(" tx/s, p95 "), "{said:?}");

    let store = store(&dir);
    let study = store.study("small").unwrap();
    assert_eq!(study.state, StudyState::Ended);
    let runs = store.runs_of(&study.id).unwrap();
    assert_eq!(runs.len(), 4);
    let steps = store.steps(&study.id).unwrap();
    assert!(steps.iter().all(|s| s.state == StepState::Done));
    assert!(
        steps[0].output.contains("Loaded 500 rows"),
        "{:?}",
        steps[0]
    );
    assert!(
        steps[1].output.contains("SQL statistics:"),
        "{:?}",
        steps[1]
    );
    let record = store.get(&runs[0].run.id).unwrap();
    let place = record.study.unwrap();
    assert_eq!(
        (place.name.as_str(), place.study),
        ("small", study.id.clone())
    );
    assert_eq!(place.factors["target"], "sqlite");
    assert!(place.cell.starts_with("sqlite/oltp_"), "{}", place.cell);

    let all = dir.ok(&["study", "status"]).out;
    assert!(all.contains(&study.id) && all.contains("5/5"), "{all}");
    let one = dir.ok(&["study", "status", "last"]).out;
    assert!(
        one.contains("5 done, 0 failed, 0 skipped, 0 left of 5"),
        "{one}"
    );

    // A second execution uses the tables that are there.
    let less = small("").replace("repeats = 2", "repeats = 1");
    write(&dir, "small.toml", &less.replace("[1, 2]", "[1]"));
    let again = dir.ok(&["study", "run", "small.toml"]);
    whole(&dir, &again, 3);
    let second = store.study("last").unwrap();
    assert_ne!(second.id, study.id);
    let load = &store.steps(&second.id).unwrap()[0];
    assert!(load.output.contains("they are kept"), "{}", load.output);
}

/// Every family's load and run, with settings of sessions and fresh rows for each run.
#[test]
fn every_family_is_executed() {
    let dir = Workdir::new();
    let head = "name = \"f\"\ntime = 1\nload-threads = 1\n[[target]]\nname = \"s\"\n\
                url = \"sqlite:f.db\"\nsession = { synchronous = \"OFF\" }\n";
    let oltp = format!(
        "{head}[[workload]]\nname = \"tpcc\"\noptions = {{ warehouses = 1 }}\n\
         [[workload]]\nname = \"workloada\"\noptions = {{ recordcount = 500 }}\n\
         [[workload]]\nname = \"bulk_insert\"\n[load]\nthreads = [1]\nconnections = [1]\n"
    );
    write(&dir, "oltp.toml", &format!("reload = \"per-run\"\n{oltp}"));
    let said = dir.ok(&["study", "run", "oltp.toml"]);
    assert!(said.out.contains("[6/6]"), "{said:?}");
    let tpch =
        format!("{head}[[workload]]\nname = \"tpch\"\noptions = {{ sf = 0.01, check = true }}\n");
    write(&dir, "tpch.toml", &tpch.replace("f.db", "h.db"));
    let said = dir.ok(&["study", "run", "tpch.toml"]);
    assert!(said.out.contains("[2/2]"), "{said:?}");
    let store = store(&dir);
    let id = store.study("last").unwrap().id;
    assert_eq!(store.runs_of(&id).unwrap().len(), 1);
}

#[test]
fn a_failure_is_recorded_and_the_study_goes_on_or_stops() {
    let dir = Workdir::new();
    // The second target is a folder: its data can't be loaded.
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    let text = |top: &str| {
        small(top).replace(
            "[[workload]]",
            "[[target]]\nname = \"broken\"\nurl = \"sqlite:folder\"\n[[workload]]",
        )
        .replacen("[[target]]\nname = \"broken\"\nurl = \"sqlite:folder\"\n[[workload]]\nname = \"oltp_update", "[[workload]]\nname = \"oltp_update", 1)
        .replace("repeats = 2", "repeats = 1")
        .replace("threads = [1, 2]", "threads = [1]")
    };
    write(&dir, "on.toml", &text(""));
    let said = dir.run(&["study", "run", "on.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.out
            .contains("3 of 6 steps done, 1 failed, 2 skipped, 0 left"),
        "{said:?}"
    );
    let status = dir.ok(&["study", "status", "on.toml"]).out;
    assert!(status.contains("its data could not be loaded"), "{status}");
    assert!(status.contains("failed    load  broken/sbtest"), "{status}");
    assert!(status.contains("(exit code "), "{status}");

    // What failed can be taken again when its cause is gone, and nothing else is.
    std::fs::remove_dir(dir.path().join("folder")).unwrap();
    let before: BTreeSet<String> = all_runs(&dir);
    let said = dir.ok(&["study", "resume", "--retry-failed"]);
    whole(&dir, &said, 6);
    let after = all_runs(&dir);
    assert!(before.is_subset(&after));
    assert_eq!(after.len(), before.len() + 2);

    std::fs::remove_file(dir.path().join("folder")).unwrap();
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    write(&dir, "stop.toml", &text("on-failure = \"stop\""));
    let said = dir.run(&["study", "run", "stop.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("1 failed, 0 skipped, 2 left"), "{said:?}");
    assert!(said.out.contains("tidemark study resume"), "{said:?}");
}

/// A hundred rows are soon deleted; what the run deletes after that is nothing, and it says so.
#[test]
fn a_run_that_must_not_be_used_is_told_and_made_again() {
    let dir = Workdir::new();
    let text = small("reload = \"per-run\"")
        .replace("oltp_update_index", "oltp_delete")
        .replace("table-size = 500", "table-size = 100")
        .replace("repeats = 2", "repeats = 1")
        .replace("threads = [1, 2]", "threads = [1]");
    write(&dir, "i.toml", &text);
    let said = dir.run(&["study", "run", "i.toml"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    for part in [
        "tx/s, p95",
        "which is invalid: INVALID [no-op-writes] ",
        "3 of 4 steps done, 1 invalid, 0 failed, 0 skipped, 0 left",
        "--retry-invalid",
    ] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    let id = store(&dir).study("last").unwrap().id;
    let runs = || store(&dir).runs_of(&id).unwrap();
    let first = runs();
    assert_eq!(first.len(), 2);
    let status = dir.ok(&["study", "status", "last"]).out;
    let told = "invalid   run   sqlite/oltp_delete/threads=1  repeat 1  ";
    assert!(status.contains(told), "{status}");
    assert!(status.contains("INVALID [no-op-writes] "), "{status}");

    // What failed is another thing.
    let said = dir.run(&["study", "resume", "--retry-failed"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert_eq!(runs(), first);

    let said = dir.run(&["study", "resume", "--retry-invalid"]);
    assert_eq!(said.code, Some(3), "deleting comes to the same: {said:?}");
    let again = runs();
    assert_eq!(again[0], first[0], "a good run is kept");
    assert_eq!(again.len(), 2);
    assert_ne!(again[1].run.id, first[1].run.id);
    assert_eq!(all_runs(&dir).len(), 3, "the first stays in the store");
    let note = note_of(&dir, &first[1].run.id);
    assert!(note.contains("repeats the run"), "{note}");
}

/// Records know where in a study they stand, also where the study is not.
#[test]
fn runs_of_a_study_are_found_in_another_store() {
    let dir = Workdir::new();
    let text = small("").replace("[1, 2]", "[1]");
    write(
        &dir,
        "small.toml",
        &text.replace("repeats = 2", "repeats = 1"),
    );
    dir.ok(&["study", "run", "small.toml"]);
    let study = store(&dir).study("last").unwrap().id;
    let ids = all_runs(&dir);
    // As a run that was made again.
    let first = ids.first().unwrap().clone();
    let older = store(&dir).get(&first).unwrap();
    let older = tidemark_core::record::RunRecord {
        id: "00000000-0000-7000-8000-000000000000".into(),
        started_at: "2020-01-01T00:00:00.000Z".into(),
        ..older
    };
    dir.ok(&["export", "study:small", "-o", "runs/"]);

    let there = Workdir::new();
    let json = tidemark_store::to_json(&older).unwrap();
    std::fs::write(dir.path().join("runs/older.json"), json).unwrap();
    for file in std::fs::read_dir(dir.path().join("runs")).unwrap() {
        let file = file.unwrap().path();
        there.ok(&["import", file.to_str().unwrap()]);
    }
    for word in ["small", &study] {
        let said = there.ok(&["runs", "--study", word]);
        assert!(ids.iter().all(|id| said.out.contains(id)), "{said:?}");
        let told = "tidemark: the study \"small\" was executed elsewhere: ";
        assert_eq!(said.err.matches(told).count(), 1, "{said:?}");
        assert_eq!(said.err.lines().count(), 1, "{said:?}");
    }
    for word in ["small", "study:small"] {
        let said = there.ok(&["report", word, "--format", "csv", "--out", "-"]);
        assert_eq!(said.out.lines().count(), 3, "{said:?}");
        assert!(ids.iter().all(|id| said.out.contains(id)), "{said:?}");
        assert!(said.err.contains("was executed elsewhere"), "{said:?}");
    }
    // `last` is what was begun last there, and none was.
    for words in [["runs", "--study=last"], ["report", "study:last"]] {
        let said = there.run(&words);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains("no study last"), "{said:?}");
    }
    // One of each place.
    let said = there.run(&["compare", "study:small", &first]);
    assert!(said.err.contains("is on both sides"), "{said:?}");
    let said = there.ok(&["compare", "study:small", &older.id]);
    assert!(said.err.contains("was executed elsewhere"), "{said:?}");

    // What is here is no study from elsewhere, and what is nowhere is said to be nowhere.
    assert_eq!(dir.ok(&["runs", "--study", "small"]).err, "");
    let unknown = there.run(&["runs", "--study", "smal"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    let unknown = there.run(&["report", "smal"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    let near = "did you mean the study \"small\"?";
    assert!(unknown.err.contains(near), "{unknown:?}");
}

#[test]
fn tables_that_are_there_are_only_replaced_when_the_file_says_so() {
    let engines = common::engines::servers();
    let databases: Vec<_> = engines
        .iter()
        .map(|(_, server)| server.fresh_database("study_existing").unwrap())
        .collect();
    let urls = databases.iter().map(|d| d.url());
    let urls = urls.chain(["sqlite:there.db".into()]);
    std::thread::scope(|scope| {
        for url in urls {
            scope.spawn(move || only_replaced_when_told(&url));
        }
    });
}

fn only_replaced_when_told(url: &str) {
    let dir = Workdir::new();
    let target = format!("--target={url}");
    let prepare = |rows: &str| {
        let rows = format!("--table-size={rows}");
        dir.run(&[
            "sysbench",
            "oltp_insert",
            &target,
            &rows,
            "--keep-loaded",
            "prepare",
        ])
    };
    assert!(prepare("300").out.contains("Loaded 300 rows"));
    let kept = prepare("300");
    assert_eq!(kept.code, Some(0), "{kept:?}");
    assert!(kept.out.contains("they are kept") && !kept.out.contains("Loaded"));
    let other = prepare("400");
    assert_eq!(other.code, Some(5), "{other:?}");

    let study = |top: &str, rows: u32| {
        let text = format!(
            "name = \"e\"\ntime = 1\n{top}\n[[target]]\nname = \"t\"\nurl = \"{url}\"\n\
             [[workload]]\nname = \"oltp_insert\"\noptions = {{ table-size = {rows} }}\n"
        );
        write(&dir, "e.toml", &text);
        let said = dir.run(&["study", "run", "e.toml"]);
        let store = store(&dir);
        let id = store.study("last").unwrap().id;
        let load = store.steps(&id).unwrap().swap_remove(0);
        (said, load.output, load.reason.unwrap_or_default())
    };
    let (said, output, _) = study("", 300);
    whole(&dir, &said, 2);
    assert!(output.contains("they are kept"), "{output}");
    let (said, _, reason) = study("", 400);
    assert_eq!(said.code, Some(1));
    assert!(reason.contains("nothing was changed"), "{reason}");
    // The way out is one that a study has.
    assert!(reason.contains("existing = \"replace\""), "{reason}");
    assert!(!reason.contains("--replace"), "{reason}");
    // Fresh rows are wanted, and those that are there are not the study's.
    let (said, _, reason) = study("reload = \"per-run\"", 300);
    assert_eq!(said.code, Some(1));
    assert!(reason.contains("nothing was changed"), "{reason}");
    let (said, output, _) = study("existing = \"replace\"", 400);
    whole(&dir, &said, 2);
    assert!(output.contains("Loaded 400 rows"), "{output}");
}

/// Killed at twenty random moments: no finished run is lost, none is made twice.
#[test]
fn no_password_is_stored_shown_or_in_the_process_list() {
    let database = tidemark_testkit::shared_mariadb()
        .unwrap()
        .fresh_database("study_password")
        .unwrap();
    let dir = Workdir::new();
    let url = database.url();
    assert!(url.contains(":sbtest@"), "{url}");
    let secret = "sbtest:sbtest@";
    let bare = url.replace(secret, "sbtest@");
    let text = |target: &str| {
        format!(
            "name = \"p\"\ntime = 1\n[[target]]\nname = \"m\"\n{target}\n\
             [[workload]]\nname = \"oltp_point_select\"\noptions = {{ table-size = 100 }}\n"
        )
    };
    let by_url = text(&format!("url = \"{url}\" # or {url}"));
    let by_key = text(&format!("url = \"{bare}\"\npassword = \"env:STUDY_PW\""));
    for (name, text) in [("url.toml", by_url), ("key.toml", by_key)] {
        write(&dir, name, &text);
        let missing = dir.run(&["study", "run", "key.toml"]);
        if name == "key.toml" {
            assert_eq!(missing.code, Some(2), "{missing:?}");
            assert!(missing.err.contains("export STUDY_PW="), "{missing:?}");
        }
        let study = dir
            .command(&["study", "run", name])
            .env("STUDY_PW", "sbtest")
            // What the file says wins.
            .env("MYSQL_PWD", "another")
            .spawn()
            .unwrap();
        a_run_goes_on(&dir);
        for process in std::fs::read_dir("/proc").unwrap() {
            let path = process.unwrap().path().join("cmdline");
            let line = std::fs::read(&path).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            if line.starts_with("tidemark") {
                assert!(!line.contains(secret), "{line}");
            }
        }
        let said = Said::of(&study.wait_with_output().unwrap());
        dir.must_be_done(&said);
        let plan = dir.ok(&["study", "plan", name]);
        let status = dir.ok(&["study", "status", "last"]);
        for said in [said, plan, status] {
            assert!(!said.all().contains(secret), "{said:?}");
        }
    }
    for file in ["store.db", "store.db-wal"] {
        let bytes = std::fs::read(dir.path().join(file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(secret), "{file}");
    }
}

#[test]
fn files_that_steps_read_are_looked_for_before_anything_is_begun() {
    let dir = Workdir::new();
    for option in ["observe-ca", "topology"] {
        let wrong = format!("options = {{ {option} = \"none.file\",");
        write(
            &dir,
            "s.toml",
            &small("").replacen("options = {", &wrong, 1),
        );
        let said = dir.run(&["study", "run", "s.toml"]);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(
            said.err.contains(&format!("--{option}")) && said.err.contains("none.file"),
            "{said:?}"
        );
        assert!(!dir.path().join("store.db").exists(), "nothing was begun");
    }
}

#[test]
fn experiments_follow_at_the_knee_and_stand_in_the_report() {
    let dir = Workdir::new();
    let text = small("").replace("repeats = 2", "repeats = 1");
    let at = text.find("[[workload]]\nname = \"oltp_update").unwrap();
    let text = format!("{}[load]\nthreads = [1, 2]\n", &text[..at]);
    write(&dir, "one.toml", &text);
    let said = dir.run(&["study", "run", "one.toml", "--diagnose=10s"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    for part in ["--diagnose=10s", "1 throughput curve", "--diagnose=20s"] {
        assert!(said.err.contains(part), "{part}: {said:?}");
    }
    assert!(!dir.path().join("store.db").exists(), "nothing was begun");
    let said = dir.ok(&["study", "run", "one.toml", "--diagnose=20s"]);
    for part in ["Experiments around", "sessions ×2", "3 of 3 steps done"] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    let id = store(&dir).study("last").unwrap().id;
    let runs = store(&dir).runs_of(&id).unwrap();
    let records = runs.iter().map(|run| store(&dir).get(&run.run.id).unwrap());
    let made: Vec<_> = records.filter_map(|record| record.experiments).collect();
    // Of two loads only the knee has them.
    assert_eq!((runs.len(), made.len()), (2, 1));
    let found = &made[0];
    assert_eq!(found.measured.len() + found.skipped.len(), 10, "{found:?}");
    assert!(!found.measured.is_empty() && !found.sentence_zh.is_empty());
    assert!(found.measured.iter().all(|m| m.low <= m.ratio));
    let tagged = dir.ok(&["runs", "--study", &found.id]).out;
    assert!(tagged.contains("oltp_point_select"), "{tagged}");
    let report = |lang: &str| {
        let words = ["report", &id, "--format=md", "--out=-", "--lang", lang];
        dir.ok(&words).out
    };
    let (en, zh) = (report("en"), report("zh"));
    assert!(
        en.contains("Experiments") && en.contains("sessions ×2"),
        "{en}"
    );
    assert!(zh.contains("对照实验") && zh.contains("会话数 ×2"), "{zh}");
    // They are made once.
    let before = all_runs(&dir).len();
    let said = dir.ok(&["study", "resume", &id, "--diagnose=20s"]);
    assert!(!said.out.contains("Experiments around"), "{said:?}");
    assert_eq!(all_runs(&dir).len(), before);
}
