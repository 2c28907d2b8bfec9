//! Signals and waiting, by process id.

use crate::Error;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Sends `signal` (a name without SIG) to every one of `pids`; those that are gone are passed over.
pub(crate) fn signal(signal: &str, pids: &[u32]) -> Result<(), Error> {
    // The shell's own kill: the standard library can only send SIGKILL, and only to a child.
    Command::new("/bin/sh")
        .args(["-c", r#"s=$1; shift; kill -s "$s" "$@" 2>/dev/null"#])
        .args(["kill", signal])
        .args(pids.iter().map(u32::to_string))
        .status()
        .map(drop)
        .map_err(Error::io(format!("sending SIG{signal}")))
}

/// The direct children of `pid` (PostgreSQL's backends). Empty when it is gone.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .map(|text| {
            text.split_whitespace()
                .filter_map(|p| p.parse().ok())
                .collect()
        })
        .unwrap_or_default()
}

/// Whether `pid` is there and not a zombie.
pub(crate) fn alive(pid: u32) -> bool {
    // proc(5): "pid (comm) state …"; the name may itself hold a ')'.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| stat.rsplit_once(')')?.1.trim_start().chars().next())
        .is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Waits until `done` or until `limit` has passed; tells which.
pub(crate) fn wait_until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
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
pub(crate) fn kill_and_reap(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The last lines of a log file, for an error message.
pub(crate) fn tail(log: &Path) -> String {
    let text = fs::read(log)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}
