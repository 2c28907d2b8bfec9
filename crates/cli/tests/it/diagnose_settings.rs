//! Settings of a server that a diagnosis changes, and what is left of them after whatever ended it.

use super::common::{Said, Workdir, signal, wait_until};
use super::diagnose::{command, job, json, ok, skipped};
use std::io::{BufRead, BufReader};
use std::path::Path;
use tidemark_testkit::{SandboxEngine, Server};

const CHANGES: [&str; 4] = [
    "diagnose",
    "job.json",
    "--budget=60s",
    "--may-change-settings",
];
/// For one that is ended when it has changed it: a busy machine comes to that late.
const LONG: [&str; 4] = [CHANGES[0], CHANGES[1], "--budget=180s", CHANGES[3]];
const SHORT: [&str; 4] = ["diagnose", "job.json", "--budget=20s", "--format=json"];
/// For one that is ended when it has told enough: a busy machine has no time for pairs in less.
const ENDED: [&str; 4] = ["diagnose", "job.json", "--budget=60s", "--format=json"];

/// A MariaDB with tables, and the job of a run there in a file.
fn server(work: &Workdir) -> Server {
    let server = Server::builder(SandboxEngine::MariaDb)
        .setting("innodb_flush_log_at_trx_commit", "1")
        .start()
        .unwrap();
    let database = server.fresh_database("settings").unwrap();
    drop(database);
    let url = format!("--target={}", server.url());
    let words = [
        "oltp_update_index",
        &url,
        "--table-size=1000",
        // Of one session nothing but twice as many is tried before a setting is changed.
        "--threads=1",
    ];
    work.ok(&[&["sysbench"][..], &words, &["prepare"]].concat());
    job(work, &words);
    server
}

fn now(server: &Server) -> String {
    let said = server.query("SELECT @@GLOBAL.innodb_flush_log_at_trx_commit");
    said.unwrap().trim().to_string()
}

/// Behind a run and behind a study, too: the permission is handed on, and the setting restored at Ctrl-C.
#[test]
fn a_run_and_a_study_hand_the_permission_on() {
    let work = Workdir::new();
    let server = server(&work);
    let url = format!("--target={}", server.url());
    let words = [
        "sysbench",
        "oltp_update_index",
        &url,
        "--table-size=1000",
        "--time=1",
        "--may-change-settings",
        "run",
    ];
    let said = Said::of(&command(&work, &words).output().unwrap());
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("belongs to --diagnose"), "{said:?}");
    let file = format!(
        "name = \"s\"\ntime = 1\nrepeats = 1\n[[target]]\nname = \"a\"\nurl = \"{}\"\n[[workload]]\n\
         name = \"oltp_update_index\"\noptions = {{ table-size = 1000 }}\n[load]\nthreads = [1]\n",
        server.url()
    );
    std::fs::write(work.path().join("allowed.toml"), file).unwrap();
    let study = ["study", "run", "allowed.toml", "--may-change-settings"];
    let said = Said::of(&command(&work, &study).output().unwrap());
    assert_eq!(said.code, Some(2), "{said:?}");
    for words in [
        &[&words[..], &["--diagnose=180s"]].concat()[..],
        &[&study[..], &["--diagnose=180s"]].concat()[..],
    ] {
        let child = command(&work, words).spawn().unwrap();
        wait_until("the changed setting", || now(&server) == "2");
        signal(child.id(), "INT");
        let said = Said::of(&child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(130), "{said:?}");
        assert_eq!(now(&server), "1");
        assert_eq!(files(work.path()), 0);
    }
}

/// A diagnosis that has changed the server's setting and is killed.
fn killed(work: &Workdir, server: &Server) {
    let mut child = command(work, &LONG).spawn().unwrap();
    wait_until("the changed setting", || now(server) == "2");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(now(server), "2");
}

/// A diagnosis that puts back what another has left, and is ended then.
fn restored(work: &Workdir, server: &Server, words: &[&str]) {
    let child = command(work, words).spawn().unwrap();
    wait_until("the setting as it was", || now(server) == "1");
    signal(child.id(), "INT");
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(said.err.contains("restoring it"), "{said:?}");
    assert_eq!(now(server), "1");
    assert_eq!(files(work.path()), 0);
}

/// A diagnosis that is ended when it has told such a line.
fn ended_at(work: &Workdir, words: &[&str], is_last: impl Fn(&str) -> bool) -> Said {
    let mut child = command(work, words).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let mut lines = stderr.lines().map(Result::unwrap);
    let mut told = Vec::new();
    for line in lines.by_ref() {
        told.push(line);
        if is_last(&told[told.len() - 1]) {
            signal(child.id(), "INT");
            break;
        }
    }
    told.extend(lines);
    let said = Said {
        err: told.join("\n"),
        ..Said::of(&child.wait_with_output().unwrap())
    };
    assert_eq!(said.code, Some(130), "{said:?}");
    said
}

fn files(work: &Path) -> usize {
    let folder = work.join("data/tidemark/changed-settings");
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn a_server_setting_is_changed_only_where_it_may_be_and_put_back() {
    let work = Workdir::new();
    let server = server(&work);
    assert_eq!(now(&server), "1");
    let found = json(&ok(&work, &SHORT));
    let why = skipped(&found, "no-commit-wait");
    assert!(why.contains("--may-change-settings"), "{why}");
    assert_eq!(now(&server), "1");
    // Ctrl-C while the setting is changed.
    let child = command(&work, &CHANGES).spawn().unwrap();
    wait_until("the changed setting", || now(&server) == "2");
    assert_eq!(files(work.path()), 1);
    signal(child.id(), "INT");
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:?}");
    assert_eq!(now(&server), "1");
    assert_eq!(files(work.path()), 0);
    // Killed: the next one restores it.
    killed(&work, &server);
    restored(&work, &server, &SHORT);
}

/// One server's setting is left by a diagnosis that was killed. Another server is diagnosed from the same
/// folder, with the same store, to its end: what is left of the first is still known, in any store.
#[test]
fn what_is_left_of_one_server_outlives_the_diagnosis_of_another() {
    let work = Workdir::new();
    let other = server(&work);
    std::fs::rename(work.path().join("job.json"), work.path().join("other.json")).unwrap();
    let first = server(&work);
    killed(&work, &first);
    let words = [
        "diagnose",
        "other.json",
        "--budget=180s",
        "--may-change-settings",
    ];
    let child = command(&work, &words).spawn().unwrap();
    wait_until("the changed setting", || now(&other) == "2");
    assert_eq!(files(work.path()), 2);
    signal(child.id(), "INT");
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:?}");
    assert_eq!((now(&other), now(&first)), ("1".into(), "2".into()));
    let words = [&SHORT[..], &["--store=another.db"]].concat();
    restored(&work, &first, &words);
}

/// What a diagnosis left is told by a doctor, which changes nothing, and put back by a study, which would
/// measure it.
#[test]
fn doctors_tell_and_studies_restore_what_a_diagnosis_left() {
    let work = Workdir::new();
    let server = server(&work);
    killed(&work, &server);
    let url = server.url();
    let doctor = |words: &[&str]| {
        let all = [&["doctor", &url, "--quick"][..], words].concat();
        Said::of(&command(&work, &all).output().unwrap())
    };
    let said = doctor(&[]);
    let part = "innodb_flush_log_at_trx_commit at 2 instead of 1";
    assert!(said.out.contains(part), "{said:?}");
    assert_eq!(now(&server), "2");
    assert_eq!(doctor(&["--strict"]).code, Some(3));
    let file = format!(
        "name = \"s\"\ntime = 1\nrepeats = 1\n[[target]]\nname = \"a\"\nurl = \"{url}\"\n[[workload]]\n\
         name = \"oltp_point_select\"\noptions = {{ table-size = 1000 }}\n"
    );
    std::fs::write(work.path().join("one.toml"), file).unwrap();
    let said = ok(&work, &["study", "run", "one.toml"]);
    assert!(said.err.contains("restoring it"), "{said:?}");
    assert_eq!(now(&server), "1");
    assert_eq!(files(work.path()), 0);
    assert!(!doctor(&[]).out.contains(part));
}

/// The file is of a server with the same host name, port and data folder that was started at another time:
/// nothing is put back, and the file stays.
#[test]
fn what_may_be_of_another_server_is_told_and_left_as_it_is() {
    let work = Workdir::new();
    let server = server(&work);
    killed(&work, &server);
    let folder = work.path().join("data/tidemark/changed-settings");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    let text = std::fs::read_to_string(file.path()).unwrap();
    let mut left: serde_json::Value = serde_json::from_str(&text).unwrap();
    left["started"] = 1_000_000_000.into();
    std::fs::write(file.path(), left.to_string()).unwrap();
    let part = "at a server that cannot be distinguished from";
    let url = server.url();
    let said = Said::of(
        &command(&work, &["doctor", &url, "--quick"])
            .output()
            .unwrap(),
    );
    assert!(said.out.contains(part), "{said:?}");
    let said = ended_at(&work, &ENDED, |line| line.contains(": 2 pairs"));
    assert!(said.err.contains(part), "{said:?}");
    assert!(!said.err.contains("restoring it"), "{said:?}");
    assert_eq!(now(&server), "2");
    assert_eq!(
        std::fs::read_to_string(file.path()).unwrap(),
        left.to_string()
    );
}

#[test]
fn a_value_that_another_has_changed_is_never_taken_for_the_servers_own() {
    let work = Workdir::new();
    let server = server(&work);
    // Somebody else, from another host, has the lock, for longer than a busy machine comes to ask for it.
    std::thread::scope(|scope| {
        let sql = "SELECT GET_LOCK('tidemark_settings', 0), SLEEP(600)";
        let holds = scope.spawn(|| server.query(sql));
        let holder = || {
            let used = "SELECT IS_USED_LOCK('tidemark_settings')";
            server.query(used).unwrap().trim().to_string()
        };
        wait_until("the lock", || holder() != "NULL");
        let words = [&LONG[..], &["--format=json"]].concat();
        // The setting's turn is before that of statements as text, wherever the others' is.
        let is_next = |line: &str| line.contains("text protocol: ");
        let found = json(&ended_at(&work, &words, is_next));
        let why = skipped(&found, "no-commit-wait");
        assert!(why.contains("another tidemark diagnose"), "{why}");
        server.query(&format!("KILL {}", holder())).unwrap();
        let _was_killed = holds.join().unwrap();
        wait_until("the lock's end", || holder() == "NULL");
    });
    assert_eq!(now(&server), "1");
    // It was killed, and nothing here knows of it.
    let changed = "SET GLOBAL innodb_flush_log_at_trx_commit = 2";
    server.query(changed).unwrap();
    let words = [&ENDED[..], &["--may-change-settings"]].concat();
    let found = json(&ended_at(&work, &words, |line| line.contains(": 2 pairs")));
    let why = skipped(&found, "no-commit-wait");
    assert!(why.contains("do not wait"), "{why}");
    assert_eq!(now(&server), "2");
    assert_eq!(files(work.path()), 0);
}
