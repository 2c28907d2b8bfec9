//! Files of tasks in `/proc` that are read again and again: they stay open, for opening one takes longer than
//! reading it.

use nix::sys::resource::{Resource, getrlimit};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// More than any of them has.
const SHORT: usize = 1024;
/// So many stay open at most, of each reader,
const MOST: usize = 256;
/// and none where the process may not have so many more than it ever had: its sessions need them.
const LEFT: u64 = 1024;
/// What was not read for so many looks is closed. As often is looked at how many the process had.
const LOOKS: u64 = 10;

/// The files that are open, by task and name.
#[derive(Debug)]
pub(crate) struct KeptFiles {
    open: HashMap<(u32, &'static str), Kept>,
    look: u64,
    /// Whether sessions leave enough of what the process may open.
    keeps: bool,
    content: [u8; SHORT],
}

#[derive(Debug)]
struct Kept {
    file: File,
    look: u64,
}

impl Default for KeptFiles {
    fn default() -> Self {
        Self {
            open: HashMap::new(),
            look: 0,
            keeps: false,
            content: [0; SHORT],
        }
    }
}

impl KeptFiles {
    /// A look begins; closes what was not read lately.
    pub fn begin(&mut self) {
        if self.look.is_multiple_of(LOOKS) {
            self.keeps = are_left(getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft));
            if !self.keeps {
                self.open.clear();
            }
        }
        self.look += 1;
        let look = self.look;
        self.open.retain(|_, kept| look - kept.look <= LOOKS);
    }

    /// A file that is not to be kept.
    pub fn forget(&mut self, task: u32, name: &'static str) {
        self.open.remove(&(task, name));
    }

    /// The content of a task's file now; nothing of a task that has ended.
    pub fn read(
        &mut self,
        task: u32,
        name: &'static str,
        path: impl FnOnce() -> String,
    ) -> Cow<'_, str> {
        let length = self.length(task, name, path).unwrap_or_default();
        // A program's name may be any bytes.
        String::from_utf8_lossy(self.content.get(..length).unwrap_or_default())
    }

    fn length(
        &mut self,
        task: u32,
        name: &'static str,
        path: impl FnOnce() -> String,
    ) -> Option<usize> {
        let key = (task, name);
        if let Some(kept) = self.open.get_mut(&key) {
            kept.look = self.look;
            if let Ok(length) = kept.file.read_at(&mut self.content, 0) {
                return Some(length);
            }
            // It has ended. Another task may have its number by now.
            self.open.remove(&key);
        }
        let file = File::open(path()).ok()?;
        let length = file.read_at(&mut self.content, 0).ok()?;
        if self.keeps && self.open.len() < MOST {
            let look = self.look;
            self.open.insert(key, Kept { file, look });
        }
        Some(length)
    }
}

/// Whether a process that may open so many files has had far fewer so far (`FDSize` of proc_pid_status(5)).
fn are_left(limit: u64) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|l| l.strip_prefix("FDSize:"));
    let had: Option<u64> = size.and_then(|size| size.trim().parse().ok());
    had.is_some_and(|had| limit.saturating_sub(had) >= LEFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Whatever this process may open.
    fn keeping() -> KeptFiles {
        KeptFiles {
            look: 1,
            keeps: true,
            ..KeptFiles::default()
        }
    }

    fn stat(files: &mut KeptFiles, id: u32) -> String {
        let path = || format!("/proc/{id}/stat");
        files.read(id, "stat", path).into_owned()
    }

    #[test]
    fn a_file_is_read_anew_until_its_task_ends() {
        let mut sleeping = Command::new("sleep").arg("600").spawn().unwrap();
        let id = sleeping.id();
        let mut files = keeping();
        let own = std::process::id();
        assert!(stat(&mut files, id).starts_with(&format!("{id} (")));
        assert!(stat(&mut files, own).starts_with(&format!("{own} (")));
        assert_eq!(files.open.len(), 2);
        sleeping.kill().unwrap();
        sleeping.wait().unwrap();
        assert_eq!(stat(&mut files, id), "");
        assert!(stat(&mut files, own).ends_with('\n'));
        assert_eq!(files.open.len(), 1);
    }

    #[test]
    fn what_is_not_read_any_more_is_closed() {
        let mut files = keeping();
        let own = std::process::id();
        stat(&mut files, own);
        (1..LOOKS).for_each(|_| files.begin());
        assert_eq!(files.open.len(), 1);
        stat(&mut files, own);
        files.forget(own, "stat");
        assert_eq!(files.open.len(), 0);
        stat(&mut files, own);
        files.look = 100 * LOOKS + 1;
        files.begin();
        assert_eq!(files.open.len(), 0);
    }

    #[test]
    fn few_descriptors_are_left_to_sessions() {
        let mut files = KeptFiles {
            keeps: false,
            ..keeping()
        };
        let own = std::process::id();
        assert!(stat(&mut files, own).starts_with(&format!("{own} (")));
        assert_eq!(files.open.len(), 0);
        // No process has a table of fewer descriptors than 64.
        assert!(!are_left(LEFT) && !are_left(LEFT + 63) && are_left(u64::MAX));
    }
}
