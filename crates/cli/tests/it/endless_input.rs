//! Files that are none, or have no end, are refused wherever one is read.

use super::common::{TIDEMARK, Workdir};
use std::fs;
use std::process::Command;

#[test]
fn what_has_no_end_or_is_no_file_is_refused_at_once() {
    let work = Workdir::new();
    work.ok(&["demo", "--time=1", "--rows=10", "--plain"]);
    fs::create_dir(work.path().join("folder.json")).unwrap();
    for (path, words) in [
        ("/dev/zero", "it is a device"),
        ("folder.json", "it is a folder"),
    ] {
        let config = format!("--config-file={path}");
        let histogram = format!("fieldlengthhistogram={path}");
        for args in [
            &["study", "run", path][..],
            &["study", "plan", path],
            &["import", path],
            &["report", "last", "--text", path],
            &["sysbench", "oltp_insert", &config, "run"],
            &["ycsb", "run", "mysql", "-P", path],
            &[
                "ycsb",
                "run",
                "mysql",
                "-p",
                "fieldlengthdistribution=histogram",
                "-p",
                &histogram,
            ],
            &["oltpbench", "-c", path, "--execute=true"],
        ] {
            let said = work.run(args);
            assert_eq!(said.code, Some(2), "{args:?}: {said:?}");
            assert!(said.err.contains(words), "{args:?}: {said:?}");
        }
    }
    let said = work.run(&["report", "folder.json"]);
    assert!(
        said.code == Some(2) && said.err.contains("it is a folder"),
        "{said:?}"
    );
    // A file that is far too long is not read either.
    let long = fs::File::create(work.path().join("long.toml")).unwrap();
    long.set_len(1 << 40).unwrap();
    let said = work.run(&["study", "run", "long.toml"]);
    assert!(
        said.code == Some(2) && said.err.contains("larger than 16 MiB"),
        "{said:?}"
    );
}

/// What a shell makes of `<(command)`, and what has no lines, are files like any other.
#[test]
fn pipes_are_read() {
    let work = Workdir::new();
    let line = format!(
        "{TIDEMARK} sysbench oltp_point_select --config-file=<(echo table-size=77) \
         --target=sqlite:a.db prepare && {TIDEMARK} sysbench oltp_point_select \
         --config-file=/dev/null --target=sqlite:a.db cleanup"
    );
    let done = Command::new("bash")
        .args(["-c", &line])
        .current_dir(work.path())
        .env("TIDEMARK_STORE", work.path().join("store.db"))
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success(),
        "{out}{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(out.contains("77"), "{out}");
}
