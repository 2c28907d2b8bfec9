//! Which block is next. All threads share one order.

use super::{FilePlan, Layout, Mode};
use crate::random::Random;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOperation {
    /// A block is read.
    Read = 0,
    /// A block is written.
    Write = 1,
    /// A file is synced.
    Sync = 2,
}

/// What a thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRequest {
    /// What.
    pub kind: FileOperation,
    /// To which file.
    pub file: usize,
    /// Where in it.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
}

/// The order of a test's requests.
#[derive(Debug)]
pub(crate) struct Requests {
    mode: Mode,
    files: usize,
    file_bytes: u64,
    block: u64,
    /// Bytes of a request in order.
    stretch: u64,
    sync_every: u64,
    ratio: f64,
    random: Random,
    /// The next block in order.
    next: (usize, u64),
    reads: u64,
    writes: u64,
    /// Requests since the last sync of all files.
    since_sync: u64,
    /// The next file to be synced, while all are.
    syncing: Option<usize>,
}

impl Requests {
    pub fn new(layout: &Layout, plan: &FilePlan) -> Self {
        let syncs = plan.mode.writes() && !plan.sync_all;
        Self {
            mode: plan.mode,
            files: layout.count,
            file_bytes: layout.file_bytes(),
            block: layout.block,
            stretch: layout.block * plan.merged.max(1),
            sync_every: if syncs { plan.sync_every } else { 0 },
            ratio: plan.ratio,
            random: Random::new(plan.seed, 0),
            next: (0, 0),
            reads: 0,
            writes: 0,
            since_sync: 0,
            syncing: None,
        }
    }

    pub fn next(&mut self) -> FileRequest {
        if let Some(file) = self.syncing {
            self.syncing = Some(file + 1).filter(|next| *next < self.files);
            return FileRequest {
                kind: FileOperation::Sync,
                file,
                offset: 0,
                length: 0,
            };
        }
        let request = match self.mode.is_sequential() {
            true => self.in_order(),
            false => self.at_random(),
        };
        if self.sync_every > 0 {
            self.since_sync += 1;
            if self.since_sync >= self.sync_every {
                self.since_sync = 0;
                self.syncing = Some(0);
            }
        }
        request
    }

    /// File after file, and the first again after the last.
    fn in_order(&mut self) -> FileRequest {
        let (file, offset) = self.next;
        let length = self.stretch.min(self.file_bytes - offset);
        self.next = match offset + length < self.file_bytes {
            true => (file, offset + length),
            false => ((file + 1) % self.files, 0),
        };
        let kind = match self.mode {
            Mode::SeqRd => FileOperation::Read,
            _ => FileOperation::Write,
        };
        FileRequest {
            kind,
            file,
            offset,
            length,
        }
    }

    fn at_random(&mut self) -> FileRequest {
        let kind = match self.mode {
            Mode::RndRd => FileOperation::Read,
            Mode::RndRw => self.read_or_write(),
            _ => FileOperation::Write,
        };
        // Blocks are those of all files behind each other: of files that are no multiple of it, some end
        // with their file.
        let blocks = self.file_bytes * self.files as u64 / self.block;
        let at = self.random.below(blocks.max(1)) * self.block;
        let offset = at % self.file_bytes;
        FileRequest {
            kind,
            file: (at / self.file_bytes) as usize,
            offset,
            length: self.block.min(self.file_bytes - offset),
        }
    }

    /// A read while there are too few of them for the ratio.
    fn read_or_write(&mut self) -> FileOperation {
        if (self.reads + 1) as f64 / ((self.writes + 1) as f64) < self.ratio {
            self.reads += 1;
            FileOperation::Read
        } else {
            self.writes += 1;
            FileOperation::Write
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{layout, plan};
    use super::*;
    use proptest::prelude::*;

    /// As sysbench's requests were seen: `R3@2` is a read of the third block of file 2.
    fn shown(requests: &mut Requests, count: usize) -> String {
        let one = |request: FileRequest| match request.kind {
            FileOperation::Sync => format!("S{}", request.file),
            FileOperation::Read => format!("R{}@{}", request.file, request.offset / 1024),
            FileOperation::Write => format!("W{}@{}", request.file, request.offset / 1024),
        };
        let all: Vec<_> = (0..count).map(|_| one(requests.next())).collect();
        all.join(" ")
    }

    #[test]
    fn files_are_synced_after_so_many_requests_and_the_order_begins_again() {
        let folder = std::path::Path::new(".");
        let of = |mode, sync_every| {
            let plan = FilePlan {
                sync_every,
                ..plan(mode)
            };
            Requests::new(&layout(folder, 2, 4), &plan)
        };
        assert_eq!(
            shown(&mut of(Mode::SeqWr, 3), 14),
            "W0@0 W0@1 W0@2 S0 S1 W0@3 W1@0 W1@1 S0 S1 W1@2 W1@3 W0@0 S0"
        );
        assert_eq!(
            shown(&mut of(Mode::SeqRd, 3), 9),
            "R0@0 R0@1 R0@2 R0@3 R1@0 R1@1 R1@2 R1@3 R0@0"
        );
    }

    #[test]
    fn merged_requests_end_with_their_file() {
        let folder = std::path::Path::new(".");
        let plan = FilePlan {
            merged: 3,
            sync_every: 0,
            ..plan(Mode::SeqReWr)
        };
        let mut requests = Requests::new(&layout(folder, 2, 4), &plan);
        let lengths: Vec<_> = (0..5).map(|_| requests.next().length / 1024).collect();
        assert_eq!(lengths, [3, 1, 3, 1, 3]);
    }

    #[test]
    fn reads_and_writes_keep_their_ratio_from_the_start() {
        let folder = std::path::Path::new(".");
        let plan = FilePlan {
            sync_every: 0,
            ..plan(Mode::RndRw)
        };
        let mut requests = Requests::new(&layout(folder, 2, 4), &plan);
        let kinds: String = (0..9)
            .map(|_| match requests.next().kind {
                FileOperation::Read => 'R',
                _ => 'W',
            })
            .collect();
        assert_eq!(kinds, "RWRWRRWRW");
    }

    proptest! {
        #[test]
        fn no_request_leaves_its_file(
            files in 1usize..5, blocks in 1u64..9, merged in 0u64..5, mode in 0usize..6, seed: u64,
        ) {
            let folder = std::path::Path::new(".");
            let mode = Mode::of(Mode::WORDS[mode]).unwrap();
            let plan = FilePlan { merged, seed, ..plan(mode) };
            let layout = layout(folder, files, blocks);
            let mut requests = Requests::new(&layout, &plan);
            for _ in 0..200 {
                let request = requests.next();
                prop_assert!(request.file < files);
                prop_assert!(request.offset + request.length <= layout.file_bytes());
                prop_assert!(mode.writes() || request.kind == FileOperation::Read);
            }
        }
    }
}
