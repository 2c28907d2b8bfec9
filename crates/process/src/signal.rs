//! Signals and waiting, by process number.

use std::fs;
use std::io;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Sends `signal` (a name without SIG) to every one of `pids`; those that are gone are passed over.
///
/// # Errors
/// There is no shell to send it.
pub fn signal(signal: &str, pids: &[u32]) -> io::Result<()> {
    // The shell's own kill: the standard library can only send SIGKILL, and only to a child.
    Command::new("/bin/sh")
        .args(["-c", r#"s=$1; shift; kill -s "$s" "$@" 2>/dev/null"#])
        .args(["kill", signal])
        .args(pids.iter().map(u32::to_string))
        .status()
        .map(drop)
}

/// Kills a whole process group: the process that leads it, and what that started.
///
/// # Errors
/// There is no shell to send it.
pub fn kill_group(leader: u32) -> io::Result<()> {
    Command::new("/bin/sh")
        .args(["-c", r#"kill -s KILL -- "-$1" 2>/dev/null"#, "kill"])
        .arg(leader.to_string())
        .status()
        .map(drop)
}

/// The direct children of `pid` (PostgreSQL's backends). Empty when it is gone.
pub fn children(pid: u32) -> Vec<u32> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .map(|text| {
            text.split_whitespace()
                .filter_map(|p| p.parse().ok())
                .collect()
        })
        .unwrap_or_default()
}

/// Waits until `done` or until `limit` has passed; tells which.
pub fn wait_until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
}

/// Ends a child for certain. Errors mean that it has ended already.
pub fn kill_and_reap(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
