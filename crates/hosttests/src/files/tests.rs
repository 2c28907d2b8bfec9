//! What the files of a test hold, and whose they are.

use super::*;
use crate::TestThread;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

pub(super) fn layout(folder: &Path, count: usize, blocks: u64) -> Layout {
    Layout {
        folder: folder.into(),
        count,
        total: count as u64 * blocks * 1024,
        block: 1024,
    }
}

pub(super) fn plan(mode: Mode) -> FilePlan {
    FilePlan {
        mode,
        io: IoMode::Sync,
        backlog: 8,
        extra: Extra::default(),
        sync_every: 100,
        sync_all: false,
        sync_end: true,
        sync_mode: SyncMode::Fsync,
        merged: 0,
        ratio: 1.5,
        validate: false,
        force: false,
        seed: 7,
    }
}

fn made(layout: &Layout, validate: bool) -> Result<PreparedFiles, HostError> {
    let going = AtomicBool::new(false);
    prepare(layout, Extra::default(), validate, 1, &going, &mut |_| {})
}

fn run(layout: &Layout, plan: &FilePlan, events: usize) -> Result<Vec<TestEvent>, HostError> {
    let going = AtomicBool::new(false);
    let (mut threads, _) = files(1, layout, plan)?;
    let mut done = Vec::new();
    for _ in 0..events {
        done.extend(threads[0].event(&going)?);
    }
    threads[0].finish()?;
    Ok(done)
}

use crate::TestEvent;

#[test]
fn what_was_prepared_is_read_written_and_removed() {
    for io in [IoMode::Sync, IoMode::Mmap, IoMode::Async] {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path(), 3, 4);
        assert_eq!(made(&layout, false).unwrap().bytes, 12 * 1024);
        // Again it finds all that it needs.
        assert_eq!(made(&layout, false).unwrap().kept, 3);
        for word in Mode::WORDS {
            let plan = FilePlan {
                io,
                sync_every: 5,
                ..plan(Mode::of(word).unwrap())
            };
            match run(&layout, &plan, 40) {
                Ok(done) => assert_eq!(done.len(), 40),
                // Containers may forbid io_setup.
                Err(HostError::System { .. }) if io == IoMode::Async => {}
                Err(error) => panic!("{word} {io:?}: {error}"),
            }
        }
        assert_eq!(cleanup(&layout).unwrap(), 3);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn files_of_others_are_neither_written_nor_removed() {
    let folder = tempfile::tempdir().unwrap();
    let layout = layout(folder.path(), 2, 4);
    let theirs = layout.path(1);
    fs::write(&theirs, [b'x'; 4096]).unwrap();
    let untouched = || {
        let is = fs::read(&theirs).unwrap();
        assert!(is == [b'x'; 4096], "it was touched");
    };
    let refused = |done: Result<(), HostError>| {
        let said = done.unwrap_err().to_string();
        assert!(
            said.contains("test_file.1 was not made by Tidemark"),
            "{said}"
        );
        untouched();
    };
    refused(made(&layout, false).map(drop));
    assert!(!layout.path(0).exists(), "made before it was looked at");
    fs::write(layout.path(0), [b'y'; 4096]).unwrap();
    refused(cleanup(&layout).map(drop).map_err(|error| match error {
        // Either of the two may be named.
        HostError::Foreign { instead, .. } => HostError::Foreign {
            path: theirs.clone(),
            instead,
        },
        other => other,
    }));
    // They are read, and written only by force.
    assert_eq!(run(&layout, &plan(Mode::RndRd), 5).unwrap().len(), 5);
    for word in ["seqwr", "seqrewr", "rndwr", "rndrw"] {
        let done = run(&layout, &plan(Mode::of(word).unwrap()), 5);
        assert!(matches!(done, Err(HostError::Foreign { .. })), "{word}");
        untouched();
    }
    let forced = FilePlan {
        force: true,
        ..plan(Mode::SeqReWr)
    };
    assert_eq!(run(&layout, &forced, 8).unwrap().len(), 8);
}

#[test]
fn a_file_that_took_the_place_of_ours_is_not_ours() {
    let folder = tempfile::tempdir().unwrap();
    let layout = layout(folder.path(), 2, 4);
    made(&layout, false).unwrap();
    // Another file of the same name and size; its number may be the same again.
    fs::remove_file(layout.path(0)).unwrap();
    fs::write(layout.path(0), [b'x'; 4096]).unwrap();
    let said = cleanup(&layout).unwrap_err().to_string();
    assert!(
        said.contains("test_file.0") && said.contains("1 files"),
        "{said}"
    );
    assert!(fs::read(layout.path(0)).unwrap() == [b'x'; 4096]);
    assert!(!layout.path(1).exists());
}

/// A store into mapped memory for which the disk has no block ends the process.
#[test]
fn what_is_written_in_memory_has_its_blocks() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let layout = layout(folder.path(), 1, 64);
    made(&layout, false).unwrap();
    for mode in [Mode::RndWr, Mode::SeqWr] {
        // The same file, with none.
        let file = fs::OpenOptions::new().write(true).open(layout.path(0));
        let file = file.unwrap();
        file.set_len(0).unwrap();
        file.set_len(layout.file_bytes()).unwrap();
        assert_eq!(file.metadata().unwrap().blocks(), 0);
        let mapped = FilePlan {
            io: IoMode::Mmap,
            ..plan(mode)
        };
        let (threads, _) = files(1, &layout, &mapped).unwrap();
        let held = file.metadata().unwrap().blocks() * 512;
        assert!(held >= layout.file_bytes(), "{mode:?}: {held}");
        drop(threads);
    }
}

#[test]
fn many_files_are_named_by_the_first_and_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let layout = layout(folder.path(), 20, 1);
    let paths: Vec<_> = (0..20).map(|file| layout.path(file)).collect();
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let said = prepare::these_are_left(&paths);
    for part in ["test_file.6, … ", "test_file.19 (20 files)", "cleanup"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("test_file.7,"), "{said}");
    let few = prepare::these_are_left(&paths[..2]);
    assert!(few.ends_with("test_file.1"), "{few}");
}

#[test]
fn links_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let theirs = elsewhere.path().join("data");
    fs::write(&theirs, [b'x'; 4096]).unwrap();
    let layout = layout(folder.path(), 1, 4);
    std::os::unix::fs::symlink(&theirs, layout.path(0)).unwrap();
    let forced = FilePlan {
        force: true,
        ..plan(Mode::RndWr)
    };
    assert!(run(&layout, &forced, 1).is_err());
    assert!(made(&layout, false).is_err());
    assert!(cleanup(&layout).is_err());
    assert!(fs::read(&theirs).unwrap() == [b'x'; 4096]);
}

#[test]
fn a_changed_block_is_found() {
    for io in [IoMode::Sync, IoMode::Mmap] {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path(), 2, 4);
        made(&layout, true).unwrap();
        let validated = |mode| FilePlan {
            validate: true,
            merged: 2,
            io,
            ..plan(mode)
        };
        run(&layout, &validated(Mode::RndRw), 60).unwrap();
        run(&layout, &validated(Mode::SeqReWr), 3).unwrap();
        run(&layout, &validated(Mode::SeqRd), 8).unwrap();
        let mut bytes = fs::read(layout.path(1)).unwrap();
        bytes[2048 + 100] ^= 1;
        fs::write(layout.path(1), bytes).unwrap();
        let said = run(&layout, &validated(Mode::SeqRd), 8).unwrap_err();
        let said = said.to_string();
        assert!(said.contains("test_file.1 offset 2048"), "{said}");
    }
}

#[test]
fn checksums_can_be_had_later() {
    let folder = tempfile::tempdir().unwrap();
    let layout = layout(folder.path(), 2, 4);
    made(&layout, false).unwrap();
    let validated = FilePlan {
        validate: true,
        ..plan(Mode::SeqRd)
    };
    assert!(run(&layout, &validated, 1).is_err());
    assert_eq!(made(&layout, true).unwrap().kept, 0);
    run(&layout, &validated, 8).unwrap();
}

#[test]
fn wrong_sizes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let small = layout(folder.path(), 2, 4);
    let said = run(&small, &plan(Mode::SeqRd), 1).unwrap_err().to_string();
    assert!(said.contains("run prepare first"), "{said}");
    made(&small, false).unwrap();
    let large = layout(folder.path(), 2, 5);
    let said = run(&large, &plan(Mode::SeqRd), 1).unwrap_err().to_string();
    assert!(
        said.contains("4096 bytes") && said.contains("5120"),
        "{said}"
    );
    // Ours are made anew in the other size.
    assert_eq!(made(&large, false).unwrap().kept, 0);
    assert_eq!(fs::metadata(large.path(0)).unwrap().len(), 5120);
    let tiny = Layout {
        total: 100,
        ..small.clone()
    };
    let said = made(&tiny, false).unwrap_err().to_string();
    assert!(said.contains("--file-total-size=2048"), "{said}");
}

#[test]
fn a_prepare_that_is_stopped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let layout = layout(folder.path(), 3, 4);
    let stopped = AtomicBool::new(false);
    let mut count = 0;
    let done = prepare(&layout, Extra::default(), false, 1, &stopped, &mut |_| {
        count += 1;
        if count == 2 {
            stopped.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    let said = done.unwrap_err().to_string();
    assert!(
        said.contains("the 2 files made until then were removed"),
        "{said}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
