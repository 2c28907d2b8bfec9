//! An SQLite database: its files, and what the process reads and writes for it. SQLite runs in the
//! client's process, so processors are those of the client's threads.

use crate::client::proc::ProcFile;
use crate::source::{Metric, Samples, SeriesSource};
use std::path::PathBuf;
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::record::Gap;

const DATABASE: Metric = Metric::gauge("database.size", "bytes", -3);
const WAL: Metric = Metric::gauge("log.size", "bytes", -3);
const IO: [(&str, Metric); 4] = [
    ("read_bytes", Metric::bytes("process.disk-read")),
    ("write_bytes", Metric::bytes("process.disk-written")),
    ("syscr", Metric::count("process.reads")),
    ("syscw", Metric::count("process.writes")),
];

/// One database file.
pub(crate) struct SqliteStatus {
    database: PathBuf,
    /// Of this process, where it is the one that uses the database.
    io: Option<ProcFile>,
}

impl SqliteStatus {
    pub fn new(database: PathBuf, makes_load: bool) -> Self {
        Self {
            database,
            io: makes_load.then(|| ProcFile::new("/proc/self/io")),
        }
    }
}

impl SeriesSource for SqliteStatus {
    fn name(&self) -> &str {
        SERVER_STATUS
    }

    fn start(&mut self, _gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |m| m.len()) as f64;
        samples.tell(&DATABASE, &[], size(&self.database));
        let mut wal = self.database.clone().into_os_string();
        wal.push("-wal");
        samples.tell(&WAL, &[], size(&wal.into()));
        // Other systems have no such file.
        let Some(Ok(io)) = self.io.as_mut().map(ProcFile::read) else {
            return Ok(());
        };
        for (name, metric) in &IO {
            let line = io
                .lines()
                .find_map(|l| l.strip_prefix(name)?.strip_prefix(": "));
            if let Some(total) = line.and_then(|l| l.trim().parse().ok()) {
                samples.tell(metric, &[], total);
            }
        }
        Ok(())
    }
}
