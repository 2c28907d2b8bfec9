//! Studies and the processes that execute them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Said, TIDEMARK, Workdir, wait_until};
use std::process::Command;
use tidemark_store::{Filter, ListedState, Store};

fn small(target: &str, runs: usize) -> String {
    let threads: Vec<String> = (1..=runs).map(|n| n.to_string()).collect();
    format!(
        "name = \"small\"\ntime = 1\n[[target]]\nname = \"t\"\nurl = \"{target}\"\n\
         [[workload]]\nname = \"oltp_point_select\"\noptions = {{ table-size = 100 }}\n\
         [load]\nthreads = [{}]\n",
        threads.join(", ")
    )
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
    std::fs::copy(TIDEMARK, &program).unwrap();
    let mut command = Command::new(&program);
    command
        .args(["study", "run", "s.toml"])
        .current_dir(dir.path())
        .env("TIDEMARK_STORE", dir.path().join("store.db"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let study = command.spawn().unwrap();
    let runs = || {
        let store = Store::open_existing(&dir.path().join("store.db"));
        store.and_then(|s| s.list(&Filter::default()))
    };
    wait_until("the first run goes on", || {
        runs().is_ok_and(|r| r.iter().any(|r| r.state == ListedState::Running))
    });
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
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("3 of 3 steps done"), "{said:?}");
}
