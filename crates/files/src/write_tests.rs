#![allow(clippy::unwrap_used)]

use super::*;
use std::io::Read;
use std::os::unix::fs::{chown, symlink};
use std::process::Command;

/// Files that begin with "ours" are known.
fn ours(file: &mut File) -> io::Result<bool> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text.starts_with("ours"))
}

const KNOWN: Replace<'static> = Replace::Known(&ours);

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// No file but these is in the folder.
fn only(folder: &Path, names: &[&str]) {
    let mut there: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(there, names);
}

#[test]
fn only_what_is_known_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a");
    write(&file, b"ours 1", KNOWN).unwrap();
    write(&file, b"ours 2", KNOWN).unwrap();
    assert_eq!(text(&file), "ours 2");
    assert!(matches!(
        write(&file, b"x", Replace::Nothing),
        Err(WriteError::There)
    ));
    fs::write(&file, "theirs").unwrap();
    for error in [
        write(&file, b"ours 3", KNOWN).unwrap_err(),
        permitted(&file, KNOWN).unwrap_err(),
    ] {
        assert!(error.is_refusal() && error.can_be_insisted(), "{error}");
    }
    assert_eq!(text(&file), "theirs");
    write(&file, b"ours 4", Replace::Anything).unwrap();
    assert_eq!(text(&file), "ours 4");
    only(dir.path(), &["a"]);
}

#[test]
fn files_beside_are_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    for theirs in ["a.part", "a.tmp", "a.new", "a~"] {
        fs::write(dir.path().join(theirs), "theirs").unwrap();
    }
    symlink("b", dir.path().join(".tidemark-")).unwrap();
    write(&dir.path().join("a"), b"ours", KNOWN).unwrap();
    for theirs in ["a.part", "a.tmp", "a.new", "a~"] {
        assert_eq!(text(&dir.path().join(theirs)), "theirs");
    }
    only(
        dir.path(),
        &[".tidemark-", "a", "a.new", "a.part", "a.tmp", "a~"],
    );
}

#[test]
fn nothing_is_written_through_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    for (target, there) in [("file", true), ("none", false)] {
        fs::write(&file, "ours").unwrap();
        symlink(target, &link).unwrap();
        for replace in [Replace::Nothing, KNOWN, Replace::Anything] {
            let error = write(&link, b"x", replace).unwrap_err();
            assert!(matches!(error, WriteError::Link), "{there} {error}");
            assert!(error.is_refusal() && !error.can_be_insisted());
            assert!(permitted(&link, replace).is_err());
        }
        assert_eq!(text(&file), "ours");
        assert!(!dir.path().join("none").exists());
        fs::remove_file(&link).unwrap();
    }
}

#[test]
fn permissions_and_owner_stay() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a");
    for mode in [0o600, 0o644, 0o640] {
        fs::write(&file, "ours").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let root = fs::metadata("/proc/self").unwrap().uid() == 0;
        if root {
            chown(&file, Some(65534), Some(65534)).unwrap();
        }
        write(&file, b"ours again", KNOWN).unwrap();
        let seen = fs::metadata(&file).unwrap();
        assert_eq!(seen.mode() & 0o7777, mode);
        assert!(!root || (seen.uid(), seen.gid()) == (65534, 65534));
    }
    // A new file is as any other program would make it.
    let (ours, theirs) = (dir.path().join("b"), dir.path().join("c"));
    write(&ours, b"ours", KNOWN).unwrap();
    fs::write(&theirs, "").unwrap();
    let mode = |p: &Path| fs::metadata(p).unwrap().mode() & 0o777;
    assert_eq!(mode(&ours), mode(&theirs));
}

#[test]
fn pipes_and_devices_are_written_to_and_folders_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    permitted(&pipe, Replace::Nothing).unwrap();
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || text(&pipe))
    };
    write(&pipe, b"through", Replace::Nothing).unwrap();
    assert_eq!(reader.join().unwrap(), "through");
    write(Path::new("/dev/null"), b"x", Replace::Nothing).unwrap();
    let full = write(Path::new("/dev/full"), b"x", Replace::Nothing).unwrap_err();
    assert!(full.to_string().contains("No space left"), "{full}");
    for replace in [Replace::Nothing, Replace::Anything] {
        let folder = write(dir.path(), b"x", replace).unwrap_err();
        assert!(matches!(folder, WriteError::Kind("a folder")), "{folder}");
    }
    let nowhere = permitted(&dir.path().join("none/a"), KNOWN).unwrap_err();
    assert!(matches!(nowhere, WriteError::Io(_)), "{nowhere}");
}

#[test]
fn descriptors_of_this_process_are_no_foreign_links() {
    for own in ["/dev/stdout", "/dev/fd/63", "/proc/self/fd/1"] {
        assert!(is_descriptor(Path::new(own)), "{own}");
    }
    for other in ["/dev/fd/x", "/dev/fd/1/a", "/tmp/stdout", "stdout"] {
        assert!(!is_descriptor(Path::new(other)), "{other}");
    }
}
