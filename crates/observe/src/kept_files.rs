//! Files of tasks in `/proc` that are read again and again: they stay open, for opening one takes longer than
//! reading it.

use nix::sys::resource::{Resource, getrlimit};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// More than any of them has.
const SHORT: usize = 1024;
/// So many stay open at most,
const MOST: usize = 256;
/// and none where that leaves the process fewer: sessions need them.
const LEFT: u64 = 1024;
/// What was not read for so many looks is closed.
const LOOKS: u64 = 10;

/// The files that are open, by task and name.
#[derive(Debug)]
pub(crate) struct KeptFiles {
    open: HashMap<(u32, &'static str), Kept>,
    look: u64,
    /// Descriptors below this one may be kept.
    below: u64,
    content: [u8; SHORT],
}

#[derive(Debug)]
struct Kept {
    file: File,
    look: u64,
}

impl Default for KeptFiles {
    fn default() -> Self {
        let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
        Self {
            open: HashMap::new(),
            look: 0,
            below: limit.saturating_sub(LEFT),
            content: [0; SHORT],
        }
    }
}

impl KeptFiles {
    /// A look begins; closes what was not read lately.
    pub fn begin(&mut self) {
        self.look += 1;
        let look = self.look;
        self.open.retain(|_, kept| look - kept.look <= LOOKS);
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
        let descriptor = u64::try_from(file.as_raw_fd()).ok()?;
        if self.open.len() < MOST && descriptor < self.below {
            let look = self.look;
            self.open.insert(key, Kept { file, look });
        }
        Some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn stat(files: &mut KeptFiles, id: u32) -> String {
        let path = || format!("/proc/{id}/stat");
        files.read(id, "stat", path).into_owned()
    }

    #[test]
    fn a_file_is_read_anew_until_its_task_ends() {
        let mut sleeping = Command::new("sleep").arg("600").spawn().unwrap();
        let id = sleeping.id();
        let mut files = KeptFiles::default();
        files.begin();
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
        let mut files = KeptFiles::default();
        let own = std::process::id();
        stat(&mut files, own);
        (0..LOOKS).for_each(|_| files.begin());
        assert_eq!(files.open.len(), 1);
        files.begin();
        assert_eq!(files.open.len(), 0);
    }

    #[test]
    fn few_descriptors_are_left_to_sessions() {
        let mut files = KeptFiles {
            below: 3,
            ..KeptFiles::default()
        };
        let own = std::process::id();
        assert!(stat(&mut files, own).starts_with(&format!("{own} (")));
        assert_eq!(files.open.len(), 0);
    }
}
