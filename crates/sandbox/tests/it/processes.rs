//! What `tidemark-process` says of processes, on which the ownership of private servers rests.

use tidemark_process::{
    Liveness, ProcessId, all, arguments, boot_id, group, kill_and_reap, started,
};

#[test]
fn a_process_is_told_from_a_later_one_with_its_number() {
    let own = ProcessId::own("h");
    let here = boot_id();
    assert_eq!(own.liveness(here.as_deref()), Liveness::Alive);
    let earlier = ProcessId {
        pid_started: Some("1".into()),
        ..own.clone()
    };
    assert_eq!(earlier.liveness(here.as_deref()), Liveness::Gone);
    assert_eq!(own.liveness(Some("another boot")), Liveness::Unknown);
}

#[test]
fn a_zombie_has_ended() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    // It stays a zombie until it is waited for.
    let ended = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        started(pid).is_none()
    });
    child.wait().unwrap();
    assert!(ended);
}

#[test]
fn the_words_of_a_process_are_read() {
    let own: Vec<String> = std::env::args().collect();
    assert_eq!(arguments(std::process::id()), own);
    assert!(arguments(u32::MAX).is_empty());
}

#[test]
fn processes_and_their_groups_are_seen() {
    use std::os::unix::process::CommandExt;
    let own = std::process::id();
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .process_group(0)
        .spawn()
        .unwrap();
    let pid = child.id();
    let seen = all();
    assert!(seen.contains(&own) && seen.contains(&pid));
    assert_eq!(group(pid), Some(pid));
    assert_ne!(group(own), Some(pid));
    kill_and_reap(&mut child);
    assert_eq!(group(pid), None);
}
