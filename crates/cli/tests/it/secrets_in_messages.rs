//! Whatever is wrong with a command line, no message repeats a password, and text that is none is
//! refused by name.

use super::common::{Said, Workdir};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Arguments that are wrong, and what the message must hold.
type Case = (&'static [&'static str], &'static str);

const RUN: &str = "--target";

fn refused(dir: &Workdir, args: &[&str], words: &str) {
    let said = dir.run(args);
    assert_eq!(said.code, Some(2), "{args:?}: {said:?}");
    let all = said.all();
    assert!(all.contains(words), "{args:?}: {words:?} not in {all}");
    assert!(!all.contains("heim"), "{args:?}: {all}");
}

#[test]
fn a_target_that_is_no_url_keeps_its_password() {
    let dir = Workdir::new();
    for (target, words) in [
        ("u:geheim@h/db", "target u:***@h/db: not a URL"),
        ("mysql:u:geheim@h", "for example mysql://"),
        ("mysql:/u:geheim@h", "not a URL"),
        ("mysql//u:geheim", "not a URL"),
        ("u/geheim@h", "u/***@h"),
        ("oracle://u/geheim@h:1521/x", "unknown scheme oracle"),
        ("postgres://u@h/db?secret=geheim", "unknown key secret"),
        ("mysql://u@h/db?auth=geheim", "unknown key auth"),
        ("sqlite://u:geheim@h/db", "a file has no account"),
        ("mysql//u:geheim@h", "not a URL"),
        ("u:geheim@tcp(h)/db", "u:***@tcp(h)/db"),
        ("host=h password=geheim", "for example postgres://"),
        ("mysql://u:geheim", "@ and the host are missing"),
        ("mysql://u:geheim/db", "@ and the host are missing"),
        ("mysql://u2:p@s/s:w?o#r%d é&[heim]@h/db", "@ is %40"),
        ("mysql://u:p@s/geheim@h/db", "/ is %2F"),
        ("mysql://u:geheim@[zz]/db", "such as [::1]"),
        ("mysql://u:geheim@h/db?tls=on&tls=off", "tls is given twice"),
        ("mysql://u:geheim@/db?socket=", "socket= is empty"),
        (
            "postgres://u:geheim@h/db?sslmode=require",
            "write tls=no-verify",
        ),
    ] {
        let option = format!("{RUN}={target}");
        refused(
            &dir,
            &["sysbench", "oltp_read_write", &option, "run"],
            words,
        );
        refused(
            &dir,
            &["sysbench", "oltp_read_write", RUN, target, "run"],
            words,
        );
        refused(&dir, &["tpcc", &option, "run"], words);
        refused(&dir, &["ycsb", "run", "mysql", &option], words);
        refused(&dir, &["doctor", target], words);
    }
}

#[test]
fn a_url_in_the_wrong_place_keeps_its_password() {
    const URL: &str = "mysql://u:geheim@h/db";
    let dir = Workdir::new();
    dir.ok(&["demo", "--time=1", "--rows=10", "--plain"]);
    let cases: &[Case] = &[
        (&[URL], "--target=mysql://"),
        (&["u:geheim@h/db"], "--target=mysql://"),
        (&["mysql://u:geheim"], "--target=mysql://"),
        (&["sysbench", URL, "run"], "--target=URL"),
        (&["sysbench", "u:geheim@h", "run"], "--target=URL"),
        (
            &["sysbench", "oltp_insert", URL],
            "unknown command mysql://u:***@h/db",
        ),
        (
            &["sysbench", "oltp_insert", "run", URL],
            "unrecognised word mysql://u:***@h/db",
        ),
        (&["tpcc", URL, "run"], "unrecognised word"),
        (&["tpch", "run", URL], "mysql://u:***@h/db"),
        (&["ycsb", "run", URL], "mysql://u:***@h/db"),
        (&["ycsb", URL], "mysql://u:***@h/db"),
        (&["oltpbench", URL], "mysql://u:***@h/db"),
        (&["report", URL], "mysql://u:***@h/db"),
        (&["show", URL], "mysql://u:***@h/db"),
        (&["compare", URL, "last"], "mysql://u:***@h/db"),
        (&["tag", URL, "x"], "mysql://u:***@h/db"),
        (&["delete", URL], "mysql://u:***@h/db"),
        (&["doctor", URL, URL], "mysql://u:***@h/db"),
        (&["runs", URL], "mysql://u:***@h/db"),
        (&["study", URL], "mysql://u:***@h/db"),
        (&["completions", URL], "mysql://u:***@h/db"),
        (&["demo", "--rows", URL], "mysql://u:***@h/db"),
        (&["demo", "host=h password=geheim"], "password=***"),
        (
            &["sysbench", "oltp_insert", "-mysql-password=geheim", "run"],
            "-mysql-password",
        ),
        (
            &["sysbench", "oltp_insert", "--mysql-pasword=geheim", "run"],
            "pasword",
        ),
        (&["u/geheim@h"], "--target=mysql://"),
    ];
    for (args, words) in cases {
        refused(&dir, args, words);
    }
}

#[test]
fn files_of_tls_that_are_not_there_are_a_wrong_url() {
    let dir = Workdir::new();
    const URL: &str = "mysql://u:geheim@127.0.0.1:1/db?tls=on";
    for (files, words) in [
        ("ca=/none/ca.pem", "ca=/none/ca.pem: No such file"),
        ("ca=/dev/null", "no PEM certificate in it"),
        ("tls=no-verify&cert=/c.pem", "cert is given without key"),
    ] {
        let url = match files.starts_with("tls") {
            true => format!("{}?{files}", &URL[..URL.len() - "?tls=on".len()]),
            false => format!("{URL}&{files}"),
        };
        let target = format!("--target={url}");
        for command in ["run", "prepare", "cleanup"] {
            refused(&dir, &["sysbench", "oltp_insert", &target, command], words);
        }
        refused(&dir, &["doctor", &url], words);
        refused(&dir, &["tpcc", &target, "run"], words);
    }
}

fn raw(dir: &Workdir, args: &[&[u8]]) -> Said {
    let mut command = dir.command(&[]);
    command.args(args.iter().map(|word| OsStr::from_bytes(word)));
    Said::of(&command.output().unwrap())
}

#[test]
fn words_that_are_no_text_are_refused_by_name() {
    let dir = Workdir::new();
    for (word, name) in [
        (
            &b"--target=sqlite:\xff.db"[..],
            "--target: the value is not valid UTF-8",
        ),
        (b"--out=\xff.json", "--out: the value is not valid UTF-8"),
        (
            b"--mysql-password=geheim\xff",
            "--mysql-password: the value is not valid UTF-8",
        ),
        (b"\xff", "argument 3 is not valid UTF-8"),
    ] {
        let said = raw(&dir, &[b"sysbench", b"oltp_insert", word, b"prepare"]);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(
            said.err.contains(name) && !said.err.contains("geheim"),
            "{said:?}"
        );
    }
    let said = raw(
        &dir,
        &[b"sysbench", b"oltp_insert", b"--target", b"\xff", b"run"],
    );
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(
        said.err.contains("--target: the value is not valid UTF-8"),
        "{said:?}"
    );
    for (variable, target) in [
        ("MYSQL_PWD", "--target=mysql://u@127.0.0.1:1/db"),
        ("MYSQL_PWD", "--mysql-host=127.0.0.1"),
        ("PGPASSWORD", "--target=postgres://u@127.0.0.1:1/db"),
    ] {
        let mut command = dir.command(&["sysbench", "oltp_insert", target, "run"]);
        command.env(variable, OsStr::from_bytes(b"geheim\xff"));
        let said = Said::of(&command.output().unwrap());
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(
            said.err.contains(variable) && !said.err.contains("geheim"),
            "{said:?}"
        );
    }
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none());
}

#[test]
fn a_command_that_is_suggested_can_be_typed_as_it_is() {
    let dir = Workdir::new();
    let target = "--target=sqlite:a & b.db";
    let said = dir.run(&["sysbench", "oltp_insert", target, "--tables=2", "run"]);
    assert_eq!(said.code, Some(6), "{said:?}");
    let words = "tidemark sysbench oltp_insert --tables=2 --target='sqlite:a & b.db' prepare";
    assert!(said.err.contains(words), "{said:?}");
}

#[test]
fn a_command_without_its_workload_is_shown_with_one() {
    let dir = Workdir::new();
    for (args, words) in [
        (
            &["run", "--time=1"][..],
            "tidemark sysbench WORKLOAD [options]... run",
        ),
        (
            &["prepare"],
            "for example: tidemark sysbench oltp_read_write prepare",
        ),
        (&["check"], "tidemark tpcc check"),
        (&["load"], "tidemark ycsb load mysql"),
        (
            &["oltp_insert", "--time=1", "prepare"],
            "tidemark sysbench oltp_insert [options]... prepare",
        ),
    ] {
        let said = dir.run(args);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(words), "{args:?}: {said:?}");
        assert!(!said.err.contains("runs'"), "{said:?}");
    }
}
