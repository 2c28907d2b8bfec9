//! Whether the process that writes a run still lives.

use std::time::{SystemTime, UNIX_EPOCH};

/// Names one process of one machine, also after its number was given to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessId {
    pub hostname: String,
    /// Where `pid` means something: the boot, and the process namespace (a container has its own);
    /// known on Linux.
    pub boot_id: Option<String>,
    pub pid: Option<u32>,
    /// Clock ticks from boot to the process's start; known on Linux.
    pub pid_started: Option<String>,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    Alive,
    Gone,
    Unknown,
}

impl ProcessId {
    /// This process, on the host that the record names.
    pub fn own(hostname: &str) -> Self {
        let pid = std::process::id();
        Self {
            hostname: hostname.into(),
            boot_id: boot_id(),
            pid: Some(pid),
            pid_started: started(pid),
        }
    }

    /// Looks whether it lives; `here` is this process's own [`boot_id`].
    pub fn liveness(&self, here: Option<&str>) -> Liveness {
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

pub(crate) fn boot_id() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// Field 22 of proc_pid_stat(5). The program's name, field 2, is in parentheses and may itself hold
/// blanks and parentheses: fields are counted from the last one. A zombie has ended.
fn started(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(Into::into)
}

/// Milliseconds since 1970, for telling how long nothing was written.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|d| i64::try_from(d.as_millis()).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
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

    #[cfg(target_os = "linux")]
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
}
