//! Which process is meant, and whether it still lives.

use serde::{Deserialize, Serialize};
use std::fs;

/// Names one process of one machine, also after its number was given to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// The machine, for people.
    pub hostname: String,
    /// Where `pid` means something, as [`boot_id`] has it; known on Linux.
    pub boot_id: Option<String>,
    /// The process's number; none where there never was one.
    pub pid: Option<u32>,
    /// Clock ticks from boot to the process's start; known on Linux.
    pub pid_started: Option<String>,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It is there.
    Alive,
    /// It has ended.
    Gone,
    /// It can't be seen from here: another machine or container, or another boot of this one.
    Unknown,
}

impl ProcessId {
    /// This process, on the host of this name.
    pub fn own(hostname: &str) -> Self {
        Self::of(hostname, std::process::id())
    }

    /// The process that has this number now.
    pub fn of(hostname: &str, pid: u32) -> Self {
        Self {
            hostname: hostname.into(),
            boot_id: boot_id(),
            pid: Some(pid),
            pid_started: started(pid),
        }
    }

    /// Looks whether it lives; `here` is this process's own [`boot_id`].
    pub fn liveness(&self, here: Option<&str>) -> Liveness {
        if self.pid.is_none() {
            return Liveness::Gone;
        }
        let (Some(boot), Some(pid), Some(start)) = (&self.boot_id, self.pid, &self.pid_started)
        else {
            return Liveness::Unknown;
        };
        match here {
            // Another boot of this machine, or another machine that shares the file.
            Some(here) if here != boot => Liveness::Unknown,
            Some(_) if started(pid).as_ref() == Some(start) => Liveness::Alive,
            Some(_) => Liveness::Gone,
            None => Liveness::Unknown,
        }
    }
}

/// The boot of this machine and the process namespace (a container has its own), in which process
/// numbers mean something.
pub fn boot_id() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// All processes that can be seen.
pub fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// The process group of a process that has not ended, named by the process that leads it.
pub fn group(pid: u32) -> Option<u32> {
    field(pid, 5)?.parse().ok()
}

/// When a process that has not ended was started, in clock ticks from boot.
///
/// Field 22 of proc_pid_stat(5).
pub fn started(pid: u32) -> Option<String> {
    field(pid, 22)
}

/// A field of proc_pid_stat(5), from the 4th on. The program's name, field 2, is in parentheses and
/// may itself hold blanks and parentheses: fields are counted from the last one. A zombie has ended.
fn field(pid: u32, number: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(number.checked_sub(4)?).map(Into::into)
}

/// Whether `pid` is there and not a zombie.
pub fn alive(pid: u32) -> bool {
    started(pid).is_some()
}

/// The words that a process was started with; none when it is gone.
pub fn arguments(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.split_terminator('\0').map(Into::into).collect()
}
