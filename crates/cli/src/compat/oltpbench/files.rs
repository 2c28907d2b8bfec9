//! The files that `--execute` writes: `OUTPUT.csv` with a line for every transaction, and the lines
//! for every so many seconds beside it.

use crate::exit::{ExitCode, Failure};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tidemark_core::OptionValues;
use tidemark_engine::{Sample, SampleLog, SampleReport};

/// BenchBase's head line.
const HEAD: &str = "Transaction Type Index,Transaction Name,Start Time (microseconds),\
                    Latency (microseconds),Worker Id (start number),\
                    Phase Id (index in config file)\n";
/// So many names are tried for a new file.
const MOST_TRIES: u32 = 100_000;

/// Where files go, and what they are called.
pub struct ResultFiles {
    folder: PathBuf,
    name: String,
}

impl ResultFiles {
    /// What `--directory`, `--output` and `--timestamp` ask for. Nothing is made yet.
    ///
    /// # Errors
    /// [`Failure`] of bad usage for a name that is a path.
    pub fn new(options: &OptionValues) -> Result<Self, Failure> {
        let output = options.text("output");
        if output.is_empty() || output.contains(['/', '\\']) || output.starts_with('.') {
            return Err(Failure::usage(format!(
                "--output={output}: must be a file name; set the folder with --directory; for \
                 example --directory=results --output=oltpbench"
            )));
        }
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let before = match options.flag("timestamp") {
            true => format!("{}_", since.as_millis()),
            false => String::new(),
        };
        Ok(Self {
            folder: options.text("directory").into(),
            name: format!("{before}{output}"),
        })
    }

    /// A new file with this ending: never one that is there.
    ///
    /// # Errors
    /// [`Failure`] naming the file.
    pub fn file(&self, ending: &str) -> Result<(PathBuf, File), Failure> {
        let failed = |path: &Path, e: io::Error| {
            let message = format!("{}: can't be written: {e}", path.display());
            Failure::new(ExitCode::Failed, message)
        };
        std::fs::create_dir_all(&self.folder).map_err(|e| failed(&self.folder, e))?;
        let mut path = self.folder.join(format!("{}{ending}", self.name));
        for number in 2..MOST_TRIES {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((path, file)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    path = self.folder.join(format!("{}.{number}{ending}", self.name));
                }
                Err(e) => return Err(failed(&path, e)),
            }
        }
        Err(failed(&path, io::ErrorKind::AlreadyExists.into()))
    }
}

/// The file with a line for every transaction, while it is written.
pub struct Transactions {
    path: PathBuf,
    /// Where runs put their transactions.
    pub log: SampleLog,
}

impl Transactions {
    /// Makes the file. `names` and `ids` are those of the workload's transaction types.
    ///
    /// # Errors
    /// [`Failure`] naming the file.
    pub fn new(
        place: &ResultFiles,
        options: &OptionValues,
        names: &[&str],
        ids: &[u32],
    ) -> Result<Self, Failure> {
        let (path, file) = place.file(".csv")?;
        let failed = |e: io::Error| {
            let message = format!("{}: can't be written: {e}", path.display());
            Failure::new(ExitCode::Failed, message)
        };
        // What comes before the start, by type.
        let types: Vec<String> = ids
            .iter()
            .zip(names)
            .map(|(id, name)| format!("{id},{name},"))
            .collect();
        let seconds = options.text("start-times") == "seconds";
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.write_all(HEAD.as_bytes()).map_err(failed)?;
        let log = SampleLog::start(move |samples| {
            for sample in samples {
                line(&mut out, &types, seconds, sample)?;
            }
            match samples {
                [] => out.flush(),
                _ => Ok(()),
            }
        });
        let log = log.map_err(failed)?;
        Ok(Self { path, log })
    }

    /// Waits until everything is written, and says so.
    pub fn finish(self) -> (String, SampleReport) {
        let report = self.log.finish();
        let mut said = format!(
            "Output Raw data into file: {} ({} transactions)\n",
            self.path.display(),
            report.written
        );
        if let Some(error) = &report.error {
            said += &format!("WARNING: {}: {error}\n", self.path.display());
        }
        if report.lost > 0 {
            said += &format!(
                "WARNING: {} transactions are not in {}: the disk did not keep up; \
                 --output-raw=false disables the file\n",
                report.lost,
                self.path.display()
            );
        }
        (said, report)
    }
}

/// Type and name, start, latency, worker, phase.
fn line(out: &mut impl Write, types: &[String], seconds: bool, sample: &Sample) -> io::Result<()> {
    let before = types.get(usize::from(sample.kind));
    let before = before.map_or(",,", String::as_str);
    let Sample {
        start_us,
        terminal,
        run,
        ..
    } = sample;
    let latency_us = (sample.latency_ns + 500) / 1000;
    if seconds {
        let (whole, micros) = (start_us / 1_000_000, start_us % 1_000_000);
        writeln!(
            out,
            "{before}{whole}.{micros:06},{latency_us},{terminal},{run}"
        )
    } else {
        writeln!(out, "{before}{start_us},{latency_us},{terminal},{run}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Source;

    fn place(dir: &Path, output: &str) -> ResultFiles {
        let groups = super::super::options::groups();
        let mut options = OptionValues::defaults(groups.iter().map(|g| g.options.as_slice()));
        let folder = dir.join("results").display().to_string();
        options
            .set("directory", &folder, Source::CommandLine)
            .unwrap();
        options.set("output", output, Source::CommandLine).unwrap();
        ResultFiles::new(&options).unwrap()
    }

    #[test]
    fn no_file_that_is_there_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), "o");
        let names: Vec<String> = (0..3)
            .map(|_| place.file(".csv").unwrap().0)
            .map(|path| path.file_name().unwrap().to_str().unwrap().into())
            .collect();
        assert_eq!(names, ["o.csv", "o.2.csv", "o.3.csv"]);
        let other = place.file(".results.csv").unwrap().0;
        assert!(other.ends_with("o.results.csv"));
    }

    #[test]
    fn a_name_is_no_path() {
        let groups = super::super::options::groups();
        for name in ["a/b", "../x", "", ".hidden"] {
            let mut options = OptionValues::defaults(groups.iter().map(|g| g.options.as_slice()));
            options.set("output", name, Source::CommandLine).unwrap();
            let said = ResultFiles::new(&options).err().map(|e| e.to_string());
            assert!(
                said.is_some_and(|s| s.contains("--output=oltpbench")),
                "{name}"
            );
        }
    }

    #[test]
    fn lines_are_benchbases() {
        let sample = Sample {
            start_us: 1_700_000_000_000_042,
            latency_ns: 1_234_500,
            terminal: 7,
            kind: 1,
            run: 2,
            wait_us: 0,
            skipped: false,
            notes: tidemark_workloads::Notes::NONE,
        };
        let types = ["1,NewOrder,".to_string(), "2,Payment,".to_string()];
        let written = |seconds| {
            let mut out = Vec::new();
            line(&mut out, &types, seconds, &sample).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(true), "2,Payment,1700000000.000042,1235,7,2\n");
        assert_eq!(written(false), "2,Payment,1700000000000042,1235,7,2\n");
        assert_eq!(HEAD.trim_end().split(',').count(), 6);
    }
}
