//! Servers shared by the tests of a process, and a database for each test.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tidemark_testkit::{Endpoint, SandboxEngine, shared};

fn databases(engine: SandboxEngine) {
    let server = shared(engine).unwrap();
    let one = server.fresh_database("same name").unwrap();
    let two = server.fresh_database("same name").unwrap();
    assert_ne!(one.name(), two.name());
    assert!(one.name().starts_with("same_name_"));
    assert!(one.url().ends_with(&format!("/{}", one.name())));
    one.query("CREATE TABLE t (n INT)").unwrap();
    assert!(two.query("SELECT n FROM t").is_err());
    // By its URL alone, as for a server that runs elsewhere.
    let again = Endpoint::from_url(&one.url()).unwrap();
    assert_eq!(again.query("SELECT COUNT(*) FROM t").unwrap(), "0\n");
    let third = again.fresh_database("x").unwrap();
    assert_eq!(third.query("SELECT 5").unwrap(), "5\n");

    let url = one.url();
    drop(one);
    assert!(Endpoint::from_url(&url).unwrap().query("SELECT 1").is_err());
    assert_eq!(two.query("SELECT 5").unwrap(), "5\n");
    // The same server for every caller.
    assert_eq!(shared(engine).unwrap().url(), server.url());
}

#[test]
fn each_test_has_its_own_mariadb_database() {
    databases(SandboxEngine::MariaDb);
}

#[test]
fn each_test_has_its_own_postgres_database() {
    databases(SandboxEngine::Postgres);
}

/// Starts the program that holds both servers; their process ids and folders.
fn held(child: &mut Child) -> Vec<(u32, PathBuf)> {
    let mut found = Vec::new();
    let mut folder = PathBuf::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some((_, socket)) = line.split_once(": socket ") {
            folder = Path::new(socket).parent().unwrap().into();
        }
        if let Some((_, pid)) = line.split_once(": pid ") {
            found.push((pid.parse().unwrap(), folder.clone()));
        }
        if line == "# ready" {
            break;
        }
    }
    found
}

/// Waits until servers and folders are gone; a zombie that nobody reaps has ended too.
fn gone(held: &[(u32, PathBuf)]) {
    let end = Instant::now() + Duration::from_secs(20);
    for (pid, folder) in held {
        let stat = format!("/proc/{pid}/stat");
        let runs = || std::fs::read_to_string(&stat).is_ok_and(|s| !s.contains(") Z "));
        while runs() || folder.exists() {
            assert!(Instant::now() < end, "{stat} or {folder:?} is still there");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn hold() -> Child {
    Command::new(env!("CARGO_BIN_EXE_tidemark-testkit"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_process_leaves_no_server_and_no_folder() {
    let mut child = hold();
    let held = held(&mut child);
    assert_eq!(held.len(), 2);
    assert!(held.iter().all(|(_, folder)| folder.exists()));
    child.kill().unwrap();
    child.wait().unwrap();
    gone(&held);
}

#[test]
fn servers_held_by_hand_end_with_standard_input() {
    let mut child = hold();
    let held = held(&mut child);
    assert_eq!(held.len(), 2);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    gone(&held);
}
