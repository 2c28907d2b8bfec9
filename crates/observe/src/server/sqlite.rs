//! An SQLite database: its files, what the process reads and writes for it, and what its sessions count.
//! SQLite runs in the client's process, so processors are those of the client's threads.
//!
//! Of its files only the log may be opened here: closing another one would take the locks of the
//! process's sessions away (sqlite.org/howtocorrupt.html, 2.2), and those are on the others.

use super::files_written::FilesWritten;
use super::process::io_line;
use crate::client::proc::ProcFile;
use crate::source::{Metric, Samples, SeriesSource};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::record::Gap;
use tidemark_drivers::sqlite::{ask_sessions, counters};

const DATABASE: Metric = Metric::gauge("database.size", "bytes", -3);
const WAL: Metric = Metric::gauge("log.size", "bytes", -3);
const WRITTEN: Metric = Metric::bytes("process.disk-written");
const IO: [(&str, Metric); 3] = [
    ("read_bytes", Metric::bytes("process.disk-read")),
    ("syscr", Metric::count("process.reads")),
    ("syscw", Metric::count("process.writes")),
];

/// What sessions count. As of other databases, what their caches did not have are misses.
const CACHE_REQUESTS: Metric = Metric::count("buffer.requests");
const CACHE_MISSES: Metric = Metric::count("buffer.misses");
const PAGES_WRITTEN: Metric = Metric::count("pages.written");
const PAGES_SPILLED: Metric = Metric::count("pages.spilled");
const WAITS: Metric = Metric::count("locks.waits");
const WAIT_TIME: Metric = Metric::time("locks.wait-time", 1.0);
/// Times that the log began anew, which it does when all of it has been copied to the database.
const CHECKPOINTS: Metric = Metric::count("checkpoints.completed");

/// Sessions are asked so often between two samples: one that waits for a lock at the sample tells what it
/// did before only when it goes on.
const PEEKS: u32 = 9;

/// One database file.
pub(crate) struct SqliteStatus {
    database: PathBuf,
    /// Of this process, where it is the one that uses the database.
    io: Option<ProcFile>,
    written: FilesWritten,
    looks: u64,
}

/// The log's number, one more each time that it begins anew (sqlite.org/fileformat.html, 4.1, "Checkpoint
/// sequence number").
fn log_number(wal: &Path) -> Option<u32> {
    let mut header = [0; 16];
    File::open(wal).ok()?.read_exact(&mut header).ok()?;
    let [.., a, b, c, d] = header;
    Some(u32::from_be_bytes([a, b, c, d]))
}

impl SqliteStatus {
    pub fn new(database: PathBuf, makes_load: bool) -> Self {
        Self {
            database,
            io: makes_load.then(|| ProcFile::new("/proc/self/io")),
            written: FilesWritten::default(),
            looks: 0,
        }
    }
}

impl SeriesSource for SqliteStatus {
    fn name(&self) -> &str {
        SERVER_STATUS
    }

    fn peeks(&self) -> u32 {
        match self.io {
            Some(_) => PEEKS,
            None => 0,
        }
    }

    fn peek(&mut self) -> Result<(), String> {
        ask_sessions();
        Ok(())
    }

    fn start(&mut self, _gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |m| m.len()) as f64;
        samples.tell(&DATABASE, &[], size(&self.database));
        let mut wal = self.database.clone().into_os_string();
        wal.push("-wal");
        let wal = PathBuf::from(wal);
        samples.tell(&WAL, &[], size(&wal));
        if let Some(number) = log_number(&wal) {
            samples.tell(&CHECKPOINTS, &[], number.into());
        }
        if self.io.is_some() {
            let counted = counters();
            samples.are_of_now();
            let requests = counted.cache_hits + counted.cache_misses;
            for (metric, total) in [
                (CACHE_REQUESTS, requests),
                (CACHE_MISSES, counted.cache_misses),
                (PAGES_WRITTEN, counted.pages_written),
                (PAGES_SPILLED, counted.pages_spilled),
                (WAITS, counted.busy_waits),
                (WAIT_TIME, counted.busy_ms),
            ] {
                samples.tell(&metric, &[], total as f64);
            }
        }
        // Other systems have no such file.
        let Some(Ok(io)) = self.io.as_mut().map(ProcFile::read) else {
            return Ok(());
        };
        for (name, metric) in &IO {
            if let Some(total) = io_line(io, name) {
                samples.tell(metric, &[], total);
            }
        }
        self.written.add(0, io, self.looks == 0);
        self.written.looked();
        self.looks += 1;
        samples.tell(&WRITTEN, &[], self.written.total as f64);
        Ok(())
    }
}
