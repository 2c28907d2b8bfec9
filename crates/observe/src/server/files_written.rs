//! Bytes that tasks write to files, by the kernel's accounts of each (proc_pid_io(5)).
//!
//! `write_bytes` counts a page when it becomes dirty, whatever part of it is written. Page caches with large
//! folios (Linux 5.18 with XFS, 6.16 with ext4) count the whole folio: a log that is flushed after each
//! record of 8 KiB has been seen to count 2 MiB for each. `wchar` counts what `write` and its like were given,
//! and nothing of what is submitted otherwise (io_uring, io_submit).

use super::process::io_line;
use std::collections::HashMap;

/// No folio of a page cache is larger: what a huge page maps on x86-64.
const LARGEST_FOLIO: u64 = 2 << 20;

/// What a task has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TaskIo {
    /// Bytes of pages made dirty, or sent to the disk directly.
    write_bytes: u64,
    /// Bytes given to `write` and its like.
    wchar: u64,
    /// How often those were called.
    calls: u64,
}

impl TaskIo {
    fn read(text: &str) -> Option<Self> {
        let of = |name| io_line(text, name).map(|n| n as u64);
        Some(Self {
            write_bytes: of("write_bytes")?,
            wchar: of("wchar")?,
            calls: of("syscw")?,
        })
    }

    /// Bytes that went to files since then. More than calls can make dirty was submitted, and is counted as it
    /// goes to the disk.
    fn since(self, before: Self) -> u64 {
        let written = self.write_bytes.saturating_sub(before.write_bytes);
        let calls = self.calls.saturating_sub(before.calls);
        let submitted = written.saturating_sub(calls.saturating_mul(LARGEST_FOLIO));
        let by_calls = self.wchar.saturating_sub(before.wchar);
        written.min(by_calls.saturating_add(submitted))
    }
}

/// Of all tasks of a server.
#[derive(Debug, Default)]
pub(super) struct FilesWritten {
    tasks: HashMap<u32, TaskIo>,
    seen: HashMap<u32, TaskIo>,
    /// Bytes since the first look.
    pub total: u64,
}

impl FilesWritten {
    /// Adds what a task wrote since the look before, by what its file `io` says; at the `first` look nothing.
    /// One that has ended meanwhile is gone.
    pub fn add(&mut self, id: u32, text: &str, first: bool) {
        let Some(now) = TaskIo::read(text) else {
            return;
        };
        let before = match self.tasks.get(&id) {
            Some(before) => *before,
            None if first => now,
            None => TaskIo::default(),
        };
        self.total = self.total.saturating_add(now.since(before));
        self.seen.insert(id, now);
    }

    /// All tasks were looked at.
    pub fn looked(&mut self) {
        self.tasks = std::mem::take(&mut self.seen);
    }

    /// Another process is the server.
    pub fn forget(&mut self) {
        self.tasks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};

    fn io(write_bytes: u64, wchar: u64, calls: u64) -> TaskIo {
        TaskIo {
            write_bytes,
            wchar,
            calls,
        }
    }

    #[test]
    fn whole_folios_are_not_what_was_written() {
        // 500 records of 8 KiB, each flushed, as ext4 of Linux 6.18 counts them.
        let begun = io(10, 20, 5);
        let logged = io(10 + (1000 << 20), 20 + 500 * 8192, 505);
        assert_eq!(logged.since(begun), 500 * 8192);
        // The same page again and again before it goes to the disk.
        assert_eq!(io(10 + 4096, 20 + 81_920, 15).since(begun), 4096);
        // Submitted to io_uring.
        assert_eq!(io(10 + 65_536, 20, 5).since(begun), 65_536);
        // 100 MiB of pages submitted beside one record of 512 bytes.
        let both = io(10 + (100 << 20), 20 + 512, 6).since(begun);
        assert!(both >= 98 << 20, "{both}");
        assert_eq!(io(0, 0, 0).since(begun), 0, "begun anew");
        let text = "rchar: 1\nwchar: 20\nsyscr: 3\nsyscw: 5\nread_bytes: 0\nwrite_bytes: 10\n";
        assert_eq!(TaskIo::read(text), Some(begun));
        assert_eq!(TaskIo::read("wchar: 20\n"), None);
    }

    #[test]
    fn this_tasks_flushed_records_count_as_they_are() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![0; 4 << 20]).unwrap();
        file.sync_all().unwrap();
        let mut written = FilesWritten::default();
        let own = || std::fs::read_to_string("/proc/thread-self/io").unwrap();
        written.add(1, &own(), true);
        written.looked();
        assert_eq!(written.total, 0);
        for record in 0..50 {
            file.seek(SeekFrom::Start(record * 8192)).unwrap();
            file.write_all(&[1; 8192]).unwrap();
            file.sync_data().unwrap();
        }
        written.add(1, &own(), false);
        written.looked();
        // A file system in memory makes nothing dirty that goes to a disk.
        assert!(written.total <= 50 * 8192 + 4096, "{}", written.total);
        written.add(2, &own(), false);
        assert!(
            written.total >= 4 << 20 || written.total == 0,
            "a new task counts from its birth"
        );
    }
}
