//! Disks and devices that take no more: told, and never a success.

use super::common;
use super::common::Workdir;

/// `command` with its standard output on a device that is always full.
fn to_full(dir: &Workdir, args: &[&str]) -> common::Said {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    common::Said::of(&dir.command(args).stdout(full).output().unwrap())
}

#[test]
fn what_could_not_be_printed_is_no_success() {
    let dir = Workdir::new();
    let target = "--target=sqlite:a.db";
    let args = ["sysbench", "oltp_point_select", target, "--table-size=100"];
    let said = to_full(&dir, &[&args[..], &["prepare"]].concat());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("standard output"), "{said:?}");
    let run = ["--events=50", "run"];
    let said = to_full(&dir, &[&args[..], &run].concat());
    assert_eq!(said.code, Some(1), "{said:?}");
    for part in ["standard output", "No space left", "see: tidemark show"] {
        assert!(said.err.contains(part), "{part}: {said:?}");
    }
    // The run is there.
    assert_eq!(dir.last_record()["state"], "finished");
    // Where it is kept nowhere, the summary takes the only way left.
    let said = to_full(&dir, &[&args[..], &["--store=off"], &run].concat());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("SQL statistics:"), "{said:?}");
    for args in [
        &["runs"][..],
        &["show", "last"],
        &["workloads"],
        &["sysbench", "--help"],
    ] {
        let said = to_full(&dir, args);
        assert_eq!(said.code, Some(1), "{args:?}: {said:?}");
        assert!(said.err.contains("No space left"), "{args:?}: {said:?}");
    }
}

#[test]
fn a_full_disk_is_told() {
    let dir = Workdir::new();
    let target = "--target=sqlite:small.db";
    dir.ok(&[
        "sysbench",
        "oltp_insert",
        target,
        "--table-size=1000",
        "prepare",
    ]);
    // The record's file: a device that is always full.
    let said = dir.run(&[
        "sysbench",
        "oltp_point_select",
        target,
        "--table-size=1000",
        "--time=1",
        "--out=/dev/full",
        "run",
    ]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("/dev/full") && said.err.contains("No space left"),
        "{said:?}"
    );
    // The database's file: files may not grow beyond a limit.
    let line = format!(
        "ulimit -f 400; trap '' XFSZ; exec {} sysbench oltp_insert --target=sqlite:full.db --table-size=50000 prepare",
        common::TIDEMARK
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &line])
        .current_dir(dir.path())
        .env("TIDEMARK_STORE", "off.db")
        .output()
        .unwrap();
    let said = common::Said::of(&output);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("rows loaded") && said.err.contains("cleanup"),
        "{said:?}"
    );
}

#[test]
fn a_store_that_can_not_be_written_fails_a_run_that_names_it_and_no_other() {
    let dir = Workdir::new();
    let target = "--target=sqlite:a.db";
    dir.ok(&[
        "sysbench",
        "oltp_point_select",
        target,
        "--table-size=100",
        "prepare",
    ]);
    std::fs::write(dir.path().join("foreign.db"), "this is a letter to my aunt").unwrap();
    let words = |store: &str| {
        format!(
            "{store} exec {} sysbench oltp_point_select {target} --table-size=100 --time=1 $STORE run",
            common::TIDEMARK
        )
    };
    // By the environment; then as the command itself asks for it.
    for (set, code) in [
        ("export TIDEMARK_STORE=foreign.db STORE=;", 0),
        ("export STORE=--store=foreign.db;", 1),
    ] {
        let output = std::process::Command::new("bash")
            .args(["-c", &words(set)])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let said = common::Said::of(&output);
        assert_eq!(said.code, Some(code), "{said:?}");
        assert!(said.err.contains("foreign.db"), "{said:?}");
        let measured = said.out.contains("SQL statistics:");
        assert_eq!(measured, code == 0, "{said:?}");
        assert_eq!(said.err.contains("is not stored"), measured, "{said:?}");
    }
    let letter = std::fs::read_to_string(dir.path().join("foreign.db")).unwrap();
    assert_eq!(letter, "this is a letter to my aunt");
}
