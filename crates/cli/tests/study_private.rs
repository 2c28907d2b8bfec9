//! Studies on private servers, which they start and end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Said, Workdir, wait_until};
use std::process::Command;
use tidemark_store::{Filter, ListedState, Store};

/// `tidemark` with sandboxes of its own.
fn command(dir: &Workdir, args: &[&str]) -> Command {
    let mut command = dir.command(args);
    command.env("XDG_DATA_HOME", dir.path().join("data"));
    command
}

fn run(dir: &Workdir, args: &[&str]) -> Said {
    Said::of(&command(dir, args).output().unwrap())
}

const STUDY: &str = "name = \"versions\"\ntime = 2\n\
    [[workload]]\nname = \"oltp_point_select\"\noptions = { table-size = 100 }\n\
    [[factor]]\nname = \"version\"\nvalues = [\n\
    { label = \"one\", target = \"up:postgres?work_mem=9MB\" },\n\
    { label = \"two\", target = \"up:postgres\" },\n]\n";

#[test]
fn private_servers_are_started_found_again_after_a_kill_and_ended() {
    let dir = Workdir::new();
    std::fs::write(dir.path().join("v.toml"), STUDY).unwrap();
    let mut study = command(&dir, &["study", "run", "v.toml"]).spawn().unwrap();
    let store = || Store::open_existing(&dir.path().join("store.db"));
    wait_until("a run goes on", || {
        let runs = store().and_then(|s| s.list(&Filter::default()));
        runs.is_ok_and(|runs| runs.iter().any(|r| r.state == ListedState::Running))
    });
    study.kill().unwrap();
    study.wait().unwrap();
    let left = run(&dir, &["up"]).out;
    assert_eq!(left.matches("running, process").count(), 2, "{left}");

    // One of them is lost with its data: it is started anew, and loaded again.
    let first = left.lines().find_map(|l| {
        let name = l.split_whitespace().next()?;
        name.ends_with("-1").then_some(name)
    });
    assert_eq!(run(&dir, &["down", first.unwrap()]).code, Some(0));
    let said = run(&dir, &["study", "resume"]);
    assert!(said.out.contains("4 of 4 steps done"), "{said:?}");
    let started = said.out.matches("starting a private server").count();
    assert_eq!(started, 1, "{said:?}");
    assert_eq!(said.out.matches("load one/sbtest").count(), 1, "{said:?}");
    assert!(run(&dir, &["up"]).out.contains("no sandboxes"));

    let store = store().unwrap();
    let id = store.study("last").unwrap().id;
    let runs = store.runs_of(&id).unwrap();
    assert_eq!(runs.len(), 2);
    let setting = |at: usize| {
        let record = store.get(&runs[at].run.id).unwrap();
        let place = record.study.unwrap();
        let found = record.settings.iter().find(|s| s.name == "work_mem");
        (
            place.factors["version"].clone(),
            found.map(|s| s.value.clone()),
        )
    };
    assert_eq!(setting(0), ("one".into(), Some("9MB".into())));
    assert_eq!(setting(1), ("two".into(), Some("4MB".into())));
    // The password of a private server is in no record either.
    let file = std::fs::read(dir.path().join("store.db")).unwrap();
    assert!(String::from_utf8_lossy(&file).contains("postgres://tidemark:***@127.0.0.1:"));
}

#[test]
fn what_can_not_be_started_is_refused_with_its_line() {
    let dir = Workdir::new();
    let text = STUDY.replace("\"up:postgres\"", "\"up:postgre\"");
    std::fs::write(dir.path().join("v.toml"), text).unwrap();
    let said = run(&dir, &["study", "plan", "v.toml"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("v.toml:10: up:postgre: "), "{said:?}");
    assert!(said.err.contains("did you mean postgres?"), "{said:?}");
    // What keeps a study from beginning leaves no server behind.
    let text = STUDY.replace("work_mem=9MB", "no_such_setting=1");
    std::fs::write(dir.path().join("v.toml"), text).unwrap();
    let said = run(&dir, &["study", "run", "v.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(run(&dir, &["up"]).out.contains("no sandboxes"));
}

#[test]
fn a_server_with_a_name_is_asked_for_by_its_name_alone() {
    let dir = Workdir::new();
    let text = STUDY.replace(
        "up:postgres?work_mem=9MB",
        "up:postgres?name=t&work_mem=9MB",
    );
    std::fs::write(dir.path().join("v.toml"), text).unwrap();
    let refused = run(&dir, &["study", "plan", "v.toml"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("up:postgres?name=t)"), "{refused:?}");
}
