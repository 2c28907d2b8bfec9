//! Signals and waiting, by process number.

use nix::sys::signal::{kill, killpg};
use nix::unistd::Pid;
use std::fs;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

pub use nix::sys::signal::Signal;

/// Sends a signal to every one of `pids`; those that are gone, or somebody else's, are passed over.
pub fn signal(signal: Signal, pids: &[u32]) {
    for pid in pids.iter().filter_map(|pid| numbered(*pid)) {
        let _ = kill(pid, signal);
    }
}

/// Kills a whole process group: the process that leads it, and what that started.
pub fn kill_group(leader: u32) {
    if let Some(leader) = numbered(leader) {
        let _ = killpg(leader, Signal::SIGKILL);
    }
}

/// Other numbers stand for several processes (kill(2)).
fn numbered(pid: u32) -> Option<Pid> {
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 1);
    pid.map(Pid::from_raw)
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
