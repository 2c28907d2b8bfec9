//! Studies and the processes that execute them.

use super::common::study::whole;
use super::common::{Said, Workdir, copy_program, wait_until};
use std::process::Command;
use tidemark_store::{Filter, ListedState, Store, StudyState};
use tidemark_testkit::{SBTEST, shared_postgres};

/// `tidemark` with sandboxes of its own.
fn command(dir: &Workdir, args: &[&str]) -> Command {
    let mut command = dir.command(args);
    command.env("XDG_DATA_HOME", dir.path().join("data"));
    command
}

fn store(dir: &Workdir) -> Store {
    Store::open_existing(&dir.path().join("store.db")).unwrap()
}

fn small(target: &str, runs: usize) -> String {
    let threads: Vec<String> = (1..=runs).map(|n| n.to_string()).collect();
    format!(
        "name = \"small\"\ntime = 1\n[[target]]\nname = \"t\"\nurl = \"{target}\"\n\
         [[workload]]\nname = \"oltp_point_select\"\noptions = {{ table-size = 100 }}\n\
         [load]\nthreads = [{}]\n",
        threads.join(", ")
    )
}

#[test]
fn of_two_that_begin_one_file_at_once_one_goes_on() {
    let dir = Workdir::new();
    // A server of its own takes a while to start: long enough for both to have looked before.
    std::fs::write(dir.path().join("s.toml"), small("up:postgres", 1)).unwrap();
    let begin = || command(&dir, &["study", "run", "s.toml"]).spawn().unwrap();
    let both = [begin(), begin()].map(|study| Said::of(&study.wait_with_output().unwrap()));
    let (gone_on, refused): (Vec<_>, Vec<_>) = both.iter().partition(|s| s.code != Some(5));
    assert_eq!(gone_on.len(), 1, "{both:?}");
    whole(&dir, gone_on[0], 2);
    assert_eq!(refused[0].code, Some(5), "{both:?}");
    let told = "process ";
    assert!(refused[0].err.contains(told), "{both:?}");
    assert!(!refused[0].out.contains("sandbox"), "{both:?}");
    assert_eq!(store(&dir).studies().unwrap().len(), 1);
}

/// Waits until a run of a study is measured.
fn a_run_goes_on(dir: &Workdir) {
    wait_until("a run goes on", || {
        let store = Store::open_existing(&dir.path().join("store.db"));
        let runs = store.and_then(|s| s.list(&Filter::default()));
        runs.is_ok_and(|runs| runs.iter().any(|r| r.state == ListedState::Running))
    });
}

#[test]
fn of_two_studies_on_one_server_one_goes_on() {
    let dir = Workdir::new();
    let server = shared_postgres().unwrap();
    let databases = ["one", "two"].map(|name| server.fresh_database(name).unwrap());
    for (database, file) in databases.iter().zip(["one.toml", "two.toml"]) {
        // Whoever comes first is at it until the other one has come.
        let text = small(&database.url(), 1).replace("time = 1", "time = 6");
        std::fs::write(dir.path().join(file), text).unwrap();
    }
    let begin = |file: &str| dir.spawn(&["study", "run", file]);
    let both = [begin("one.toml"), begin("two.toml")];
    let both = both.map(|study| Said::of(&study.wait_with_output().unwrap()));
    let (gone_on, refused): (Vec<_>, Vec<_>) = both.iter().partition(|s| s.code != Some(5));
    assert_eq!(gone_on.len(), 1, "{both:?}");
    whole(&dir, gone_on[0], 2);
    assert_eq!(refused[0].code, Some(5), "{both:?}");
    let told = "which this study also uses; each would measure the other's load";
    assert!(refused[0].err.contains(told), "{both:?}");
    assert!(!refused[0].err.contains(SBTEST), "{both:?}");
    // It has not touched anything, and can begin when the other has ended.
    assert_eq!(store(&dir).studies().unwrap().len(), 1);
    let first_went_on = both[0].code != Some(5);
    let [ended, other] = match first_went_on {
        true => ["one.toml", "two.toml"],
        false => ["two.toml", "one.toml"],
    };
    let untouched = &databases[usize::from(first_went_on)];
    assert!(untouched.query("SELECT 1 FROM sbtest1").is_err());

    // Nor is one gone on with beside another.
    let study = begin(other);
    a_run_goes_on(&dir);
    let beside = dir.run(&["study", "resume", ended]);
    assert_eq!(beside.code, Some(5), "{beside:?}");
    assert!(beside.err.contains(told), "{beside:?}");
    let said = Said::of(&study.wait_with_output().unwrap());
    whole(&dir, &said, 2);
}

#[test]
fn what_came_to_nothing_is_in_nobodys_way() {
    let dir = Workdir::new();
    let file = dir.path().join("s.toml");
    let text = small("up:postgres?no_such_setting=1", 1);
    std::fs::write(&file, text).unwrap();
    let said = Said::of(&command(&dir, &["study", "run", "s.toml"]).output().unwrap());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(store(&dir).studies().unwrap(), []);
    std::fs::write(&file, small("sqlite:a.db", 1)).unwrap();
    dir.ok(&["study", "run", "s.toml"]);
}

#[test]
fn a_finished_study_is_resumed_without_starting_its_servers() {
    let dir = Workdir::new();
    std::fs::write(dir.path().join("s.toml"), small("up:postgres", 1)).unwrap();
    let run = |args: &[&str]| Said::of(&command(&dir, args).output().unwrap());
    let said = run(&["study", "run", "s.toml"]);
    whole(&dir, &said, 2);
    assert_eq!(said.out.matches("starting a sandbox").count(), 1);
    let said = run(&["study", "resume"]);
    whole(&dir, &said, 2);
    assert!(!said.out.contains("starting a sandbox"), "{said:?}");
    assert_eq!(store(&dir).study("last").unwrap().state, StudyState::Ended);

    // A server that a killed process left is ended all the same.
    let id = store(&dir).study("last").unwrap().id;
    let name = format!("study-{}-1", id.rsplit('-').next().unwrap());
    let up = run(&["up", "postgres", "--name", &name]);
    assert_eq!(up.code, Some(0), "{up:?}");
    let said = run(&["study", "resume"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(run(&["up"]).out.contains("no sandboxes"));
}

#[cfg(target_os = "linux")]
#[test]
fn steps_are_the_program_that_began_whatever_takes_its_place() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Workdir::new();
    // Long enough for a look at the first run while it goes on.
    let text = small("sqlite:a.db", 2).replace("time = 1", "time = 4");
    std::fs::write(dir.path().join("s.toml"), text).unwrap();
    let program = dir.path().join("tidemark");
    copy_program(&program);
    let mut command = Command::new(&program);
    command
        .args(["study", "run", "s.toml"])
        .current_dir(dir.path())
        .env("TIDEMARK_STORE", dir.path().join("store.db"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let study = command.spawn().unwrap();
    a_run_goes_on(&dir);
    // Processes are called by the program's name all the same.
    let children = format!("/proc/{0}/task/{0}/children", study.id());
    let child = std::fs::read_to_string(children).unwrap();
    let child = child.split_whitespace().next().unwrap();
    let name = std::fs::read_to_string(format!("/proc/{child}/comm")).unwrap();
    assert_eq!(name.trim(), "tidemark");
    let words = std::fs::read(format!("/proc/{child}/cmdline")).unwrap();
    assert!(words.starts_with(b"tidemark\0"), "{words:?}");

    let other = dir.path().join("other");
    std::fs::write(&other, "#!/bin/sh\necho somebody else\nexit 9\n").unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&other, &program).unwrap();
    let said = Said::of(&study.wait_with_output().unwrap());
    whole(&dir, &said, 3);
}
