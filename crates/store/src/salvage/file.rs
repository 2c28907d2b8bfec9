//! The pages of a damaged file, read without SQLite: it gives a whole tree up for one page that
//! leads there, and refuses a file whose first page is broken.
//!
//! The formats are <https://sqlite.org/fileformat2.html> and <https://sqlite.org/walformat.html>.

use crate::StoreError;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// SQLite's own choice, which stores leave as it is: where the header does not tell.
const USUAL_PAGE: usize = 4096;
/// Where the file's locks are: the page that holds this byte is never used.
const PENDING_BYTE: u64 = 0x4000_0000;

/// A file's pages, those of its write-ahead log in the place of older ones.
pub(crate) struct Pages {
    main: File,
    log: Option<File>,
    /// Where in the log a page's newest version is.
    newer: HashMap<u32, u64>,
    page: usize,
    count: u32,
    has_map: bool,
}

/// What tells whether a file changed: its length and the time of its last change.
type Stamp = Option<(u64, i64, i64)>;

/// Looks at file and log, to see later whether somebody wrote to them.
pub(crate) fn stamp(path: &Path) -> [Stamp; 2] {
    [path.to_path_buf(), log_of(path)].map(|path| {
        let seen = std::fs::metadata(path).ok()?;
        Some((seen.len(), seen.mtime(), seen.mtime_nsec()))
    })
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-wal");
    name.into()
}

impl Pages {
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |e| StoreError::io(path, e);
        let main = File::open(path).map_err(failed)?;
        let length = main.metadata().map_err(failed)?;
        if !length.is_file() {
            return Err(StoreError::NotAStore {
                path: path.into(),
                what: "no ordinary file",
            });
        }
        let mut header = [0u8; 100];
        let known =
            main.read_exact_at(&mut header, 0).is_ok() && header.starts_with(b"SQLite format 3\0");
        let page = Some(header)
            .filter(|_| known)
            .and_then(|h| page_size(u16::from_be_bytes([h[16], h[17]]).into()))
            .unwrap_or(USUAL_PAGE);
        let mut pages = Self {
            main,
            log: None,
            newer: HashMap::new(),
            page,
            count: u32::try_from(length.len() / page as u64).unwrap_or(u32::MAX),
            // Stores are made with it; offset 52 says so.
            has_map: !known || header[52..56] != [0; 4],
        };
        if let Ok(log) = File::open(log_of(path)) {
            pages.overlay(log).map_err(failed)?;
        }
        Ok(pages)
    }

    /// Bytes of a page.
    pub fn size(&self) -> usize {
        self.page
    }

    /// The number of pages; the first is 1.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// A page's bytes; none where the file is cut short or can't be read.
    pub fn read(&self, number: u32) -> Option<Vec<u8>> {
        if !(1..=self.count).contains(&number) {
            return None;
        }
        let mut bytes = vec![0; self.page];
        match (self.newer.get(&number), &self.log) {
            (Some(at), Some(log)) => log.read_exact_at(&mut bytes, *at),
            _ => {
                let at = (u64::from(number) - 1) * self.page as u64;
                self.main.read_exact_at(&mut bytes, at)
            }
        }
        .ok()?;
        Some(bytes)
    }

    /// Whether the file's map of pages says that nothing is in this one: what is there was deleted.
    pub fn is_free(&self, number: u32) -> bool {
        const FREE: u8 = 2;
        if !self.has_map || number < 3 {
            return false;
        }
        let a_map = self.page as u32 / 5;
        let mut map = (number - 2) / (a_map + 1) * (a_map + 1) + 2;
        if u64::from(map) == PENDING_BYTE / self.page as u64 + 1 {
            map += 1;
        }
        let Some(entry) = number.checked_sub(map + 1) else {
            return false;
        };
        let at = 5 * entry as usize;
        let entry = self.read(map);
        entry.is_some_and(|bytes| bytes.get(at..at + 5) == Some(&[FREE, 0, 0, 0, 0]))
    }

    /// Takes note of the log's pages, as far as its checksums hold and a transaction ended.
    fn overlay(&mut self, log: File) -> std::io::Result<()> {
        const HEADER: usize = 32;
        const FRAME: usize = 24;
        let mut reader = BufReader::with_capacity(1 << 16, &log);
        let mut header = [0u8; HEADER];
        if reader.read_exact(&mut header).is_err() {
            return Ok(());
        }
        let big = match word(&header, 0) {
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return Ok(()),
        };
        let Some(page) = page_size(word(&header, 8)) else {
            return Ok(());
        };
        let mut sums = checksum(&header[..24], (0, 0), big);
        if sums != (word(&header, 24), word(&header, 28)) {
            return Ok(());
        }
        // The log knows the page's size also where the file's own header is broken.
        let pages = self.main.metadata()?.len() / page as u64;
        self.count = u32::try_from(pages).unwrap_or(u32::MAX);
        self.page = page;
        let mut frame = vec![0u8; FRAME + page];
        let mut pending = Vec::new();
        for n in 0u64.. {
            if reader.read_exact(&mut frame).is_err() || frame[8..16] != header[16..24] {
                break;
            }
            sums = checksum(&frame[..8], sums, big);
            sums = checksum(&frame[FRAME..], sums, big);
            if sums != (word(&frame, 16), word(&frame, 20)) {
                break;
            }
            let at = HEADER as u64 + n * (FRAME + page) as u64 + FRAME as u64;
            pending.push((word(&frame, 0), at));
            let pages_after = word(&frame, 4);
            if pages_after > 0 {
                self.newer.extend(pending.drain(..));
                self.count = pages_after;
            }
        }
        self.log = Some(log);
        Ok(())
    }
}

/// A size that pages can have; 1 stands for 65,536.
fn page_size(stored: u32) -> Option<usize> {
    let size = if stored == 1 { 65_536 } else { stored };
    ((512..=65_536).contains(&size) && size.is_power_of_two()).then_some(size as usize)
}

/// The big-endian number of four bytes at `at`; 0 beyond the end.
pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .and_then(|b| b.try_into().ok())
        .map_or(0, u32::from_be_bytes)
}

/// The log's checksum of bytes whose number is a multiple of eight.
fn checksum(bytes: &[u8], (mut a, mut b): (u32, u32), big: bool) -> (u32, u32) {
    for pair in bytes.chunks_exact(8) {
        let (x, y) = (word(pair, 0), word(pair, 4));
        let (x, y) = if big {
            (x, y)
        } else {
            (x.swap_bytes(), y.swap_bytes())
        };
        a = a.wrapping_add(x).wrapping_add(b);
        b = b.wrapping_add(y).wrapping_add(a);
    }
    (a, b)
}
