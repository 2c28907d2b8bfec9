//! Files: blocks that are written and read in order or at random, with syncs between.

mod aio;
mod buffer;
mod io;
mod mapping;
mod ownership;
mod prepare;
mod requests;
mod validation;
mod worker;

pub use io::{Extra, IoMode, SyncMode};
pub use ownership::MARKER;
pub use prepare::{PreparedFiles, cleanup, prepare};
pub use requests::{FileOperation, FileRequest};
pub use worker::{FileCounts, Files, files};

use crate::HostError;
use std::path::PathBuf;

/// What its events are called, in the order of [`FileOperation`].
pub const KINDS: &[&str] = &["read", "write", "fsync"];

/// Which blocks are taken, and what is done to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// New files are written in order.
    SeqWr,
    /// Files are written again in order.
    SeqReWr,
    /// Files are read in order.
    SeqRd,
    /// Blocks are read at random.
    RndRd,
    /// Blocks are written at random.
    RndWr,
    /// Blocks are read and written at random.
    RndRw,
}

impl Mode {
    /// Every mode's word.
    pub const WORDS: &[&str] = &["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"];

    /// The mode of a word.
    pub fn of(word: &str) -> Option<Self> {
        Some(match word {
            "seqwr" => Mode::SeqWr,
            "seqrewr" => Mode::SeqReWr,
            "seqrd" => Mode::SeqRd,
            "rndrd" => Mode::RndRd,
            "rndwr" => Mode::RndWr,
            "rndrw" => Mode::RndRw,
            _ => return None,
        })
    }

    /// Whether blocks are written.
    pub fn writes(self) -> bool {
        !matches!(self, Mode::SeqRd | Mode::RndRd)
    }

    /// Whether blocks follow each other.
    pub fn is_sequential(self) -> bool {
        matches!(self, Mode::SeqWr | Mode::SeqReWr | Mode::SeqRd)
    }
}

/// The files of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Where they are.
    pub folder: PathBuf,
    /// How many there are.
    pub count: usize,
    /// Bytes of all of them.
    pub total: u64,
    /// Bytes of a block.
    pub block: u64,
}

impl Layout {
    /// Bytes of one file.
    pub fn file_bytes(&self) -> u64 {
        self.total / self.count.max(1) as u64
    }

    /// The path of a file, which has sysbench's name for it.
    pub fn path(&self, file: usize) -> PathBuf {
        self.folder.join(format!("test_file.{file}"))
    }

    /// Whether there is a block to take.
    ///
    /// # Errors
    /// [`HostError::Options`] naming the options.
    pub fn check(&self) -> Result<(), HostError> {
        if self.file_bytes() >= self.block {
            return Ok(());
        }
        Err(HostError::Options(format!(
            "--file-total-size={} is less than a block of {} bytes in each of {} files; use fewer \
             files (--file-num), smaller blocks (--file-block-size) or at least \
             --file-total-size={}",
            self.total,
            self.block,
            self.count,
            self.block.saturating_mul(self.count as u64)
        )))
    }
}

/// What is done to the files.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePlan {
    /// Which blocks.
    pub mode: Mode,
    /// How.
    pub io: IoMode,
    /// Requests of a thread that are under way at once, with [`IoMode::Async`].
    pub backlog: usize,
    /// Flags of open(2).
    pub extra: Extra,
    /// All files are synced after so many requests; 0 is never.
    pub sync_every: u64,
    /// A file is synced after each write.
    pub sync_all: bool,
    /// All files are synced at the end.
    pub sync_end: bool,
    /// How.
    pub sync_mode: SyncMode,
    /// So many blocks that follow each other are one request; 0 and 1 merge none.
    pub merged: u64,
    /// Reads for each write, where both are.
    pub ratio: f64,
    /// Whether blocks carry a checksum, which is compared when they are read.
    pub validate: bool,
    /// Whether files that Tidemark did not make are overwritten.
    pub force: bool,
    /// Of random blocks.
    pub seed: u64,
}

#[cfg(test)]
mod tests;
