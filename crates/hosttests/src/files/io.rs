//! Reading, writing and syncing files, in one of three ways.

use super::aio::AioQueue;
use super::mapping::{FileMapping, reserve};
use super::{FilePlan, Layout};
use crate::HostError;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

/// How blocks are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoMode {
    /// pread(2), pwrite(2).
    Sync,
    /// io_submit(2).
    Async,
    /// In mmap(2)'s memory.
    Mmap,
}

/// Flags of open(2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extra {
    /// O_SYNC.
    pub sync: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// O_DIRECT.
    pub direct: bool,
}

impl Extra {
    fn flags(self) -> i32 {
        let flag = |on, flag| if on { flag } else { 0 };
        flag(self.sync, libc::O_SYNC)
            | flag(self.dsync, libc::O_DSYNC)
            | flag(self.direct, libc::O_DIRECT)
    }
}

/// How a file is synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMode {
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
}

/// The files of a test, open.
pub(crate) struct OpenFiles {
    pub files: Vec<File>,
    pub paths: Vec<PathBuf>,
    /// In [`IoMode::Mmap`].
    maps: Vec<FileMapping>,
    sync_mode: SyncMode,
}

/// How a file of a test is opened: never by a link, whose file is somebody else's.
pub(crate) fn options(extra: Extra, writes: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(writes);
    options.custom_flags(libc::O_NOFOLLOW | extra.flags());
    options
}

impl OpenFiles {
    /// Opens files that were looked at before.
    pub fn new(layout: &Layout, plan: &FilePlan) -> Result<Self, HostError> {
        let writes = plan.mode.writes();
        let paths: Vec<PathBuf> = (0..layout.count).map(|n| layout.path(n)).collect();
        let options = options(plan.extra, writes);
        let open = |path: &PathBuf| {
            let opened = options.open(path);
            opened.map_err(HostError::file("open", path))
        };
        let files = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let mut maps = Vec::new();
        if plan.io == IoMode::Mmap {
            for (file, path) in files.iter().zip(&paths) {
                // What is written must have a place; a file of a sequential write is empty as yet.
                if plan.mode == super::Mode::SeqWr {
                    let grown = file.set_len(layout.file_bytes());
                    grown.map_err(HostError::file("grow", path))?;
                }
                if writes {
                    let reserved = reserve(file, layout.file_bytes());
                    reserved.map_err(HostError::file("reserve the blocks of", path))?;
                }
                let map = FileMapping::new(file, layout.file_bytes(), writes);
                maps.push(map.map_err(HostError::file("map", path))?);
            }
        }
        Ok(Self {
            files,
            paths,
            maps,
            sync_mode: plan.sync_mode,
        })
    }

    pub fn read(&self, file: usize, offset: u64, into: &mut [u8]) -> Result<(), HostError> {
        let read = match self.maps.get(file) {
            Some(map) => map.read(offset, into),
            None => self.files[file].read_exact_at(into, offset),
        };
        read.map_err(HostError::file("read", &self.paths[file]))
    }

    pub fn write(&self, file: usize, offset: u64, bytes: &[u8]) -> Result<(), HostError> {
        let written = match self.maps.get(file) {
            Some(map) => map.write(offset, bytes),
            None => self.files[file].write_all_at(bytes, offset),
        };
        written.map_err(HostError::file("write", &self.paths[file]))
    }

    pub fn sync(&self, file: usize) -> Result<(), HostError> {
        let synced = match (self.maps.get(file), self.sync_mode) {
            (Some(map), _) => map.sync(),
            (None, SyncMode::Fsync) => self.files[file].sync_all(),
            (None, SyncMode::Fdatasync) => self.files[file].sync_data(),
        };
        synced.map_err(HostError::file("sync", &self.paths[file]))
    }

    pub fn submit(
        &self,
        queue: &mut AioQueue,
        file: usize,
        offset: u64,
        length: usize,
        writes: bool,
    ) -> Result<(), HostError> {
        let submitted = queue.submit(&self.files[file], offset, length, writes);
        let what = if writes { "write" } else { "read" };
        submitted.map_err(HostError::file(what, &self.paths[file]))
    }
}
