//! A store in a folder of somebody else: looked at, and not written to.

use super::common::{Workdir, copy_program};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn permit(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// As an account that owns nothing: the superuser may write everywhere.
fn as_nobody(program: &Path, store: &Path, args: &[&str]) -> Output {
    use std::os::unix::fs::MetadataExt;
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut command = if is_root {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(program);
        command
    } else {
        Command::new(program)
    };
    command.args(args).env("TIDEMARK_STORE", store);
    command.output().unwrap()
}

#[test]
fn a_store_that_may_only_be_read_is_read() {
    let dir = Workdir::new();
    let (target, size) = ("--target=sqlite:small.db", "--table-size=10");
    dir.ok(&["sysbench", "oltp_point_select", target, size, "prepare"]);
    let events = ["--events=5", "run"];
    dir.ok(&[
        &["sysbench", "oltp_point_select", target, size],
        &events[..],
    ]
    .concat());
    let run = dir.last_record()["id"].as_str().unwrap().to_owned();

    // Names that mean something in a URI.
    let folder = tempfile::Builder::new()
        .prefix("read only?100%#")
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir()
        .unwrap();
    let store = folder.path().join("store.db");
    std::fs::copy(dir.path().join("store.db"), &store).unwrap();
    // Where an account that owns nothing may execute it.
    let program = folder.path().join("tidemark");
    copy_program(&program);
    permit(&program, 0o755);
    permit(&store, 0o444);
    permit(folder.path(), 0o555);

    for args in [
        &["runs"][..],
        &["show", "last"],
        &["show", "last", "--json"],
    ] {
        let out = as_nobody(&program, &store, args);
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{args:?}: {out:?}");
        assert!(text.contains(&run[..8]), "{args:?}: {out:?}");
    }
    let out = as_nobody(&program, &store, &["tag", "last", "+kept"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{out:?}");
    assert!(said.contains("the store is read-only"), "{said}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "{left:?}");
    permit(folder.path(), 0o755);
}
