//! `--log`: a line for each transaction, or for each interval.

use crate::exit::{ExitCode, Failure};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tidemark_compat::pgbench::{Aggregate, Ending, LogLine};
use tidemark_core::OptionValues;
use tidemark_engine::{Sample, SampleLog};
use tidemark_workloads::Workload;
use tidemark_workloads::pgbench::{FailedTransaction, FailureKind, Pgbench};
use tidemark_workloads::random::Rng;

/// The stream of random numbers that samples are chosen by.
const SAMPLING_STREAM: u64 = 0x7067_6c6f_6700_0001;

/// A log, while it is written.
pub struct TransactionLog {
    path: PathBuf,
    /// Where the run puts its transactions.
    pub log: SampleLog,
}

/// Writes lines, or adds them up.
struct Lines {
    out: BufWriter<File>,
    workload: Arc<dyn Workload>,
    aggregate: Option<Aggregate>,
    /// Transactions that ended well, by client.
    done: HashMap<u64, u64>,
    has_lag: bool,
    has_retries: bool,
    detailed: bool,
    /// The share of transactions that is written.
    share: f64,
    rng: Rng,
}

fn microseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as u64)
}

impl Lines {
    fn write(&mut self, samples: &[Sample]) -> io::Result<()> {
        for sample in samples {
            let wait_us = u64::from(sample.wait_us);
            let took_us = sample.latency_ns / 1000;
            let client = u64::from(sample.terminal);
            let ending = match sample.skipped {
                true => Ending::Skipped,
                // From the moment at which it was due.
                false => Ending::Done(wait_us + took_us),
            };
            let number = self.done.entry(client).or_default();
            *number += u64::from(!sample.skipped);
            let number = *number;
            self.line(LogLine {
                client,
                number,
                ending,
                script: sample.kind.into(),
                end_us: sample.start_us + took_us,
                lag_us: self.has_lag.then_some(wait_us),
                retries: self.has_retries.then(|| {
                    let [_, retries, ..] = *sample.notes.counts();
                    retries.into()
                }),
            })?;
        }
        let workload = Arc::clone(&self.workload);
        let failures = Pgbench::of(&*workload).map(|w| w.tally().take_failures());
        for failed in failures.unwrap_or_default() {
            self.failed(&failed)?;
        }
        if samples.is_empty() {
            if let Some(sum) = &self.aggregate {
                write!(self.out, "{sum}")?;
            }
            self.out.flush()?;
        }
        Ok(())
    }

    fn failed(&mut self, failed: &FailedTransaction) -> io::Result<()> {
        let client = failed.client as u64;
        self.line(LogLine {
            client,
            number: self.done.get(&client).copied().unwrap_or(0),
            ending: Ending::Failed(match (self.detailed, failed.kind) {
                (false, _) => "failed",
                (true, FailureKind::Serialization) => "serialization",
                (true, FailureKind::Deadlock) => "deadlock",
            }),
            script: failed.script as u64,
            end_us: microseconds(failed.ended),
            lag_us: self.has_lag.then_some(0),
            retries: self.has_retries.then_some(failed.retries),
        })
    }

    fn line(&mut self, line: LogLine) -> io::Result<()> {
        match &mut self.aggregate {
            Some(sum) => sum.add(&line),
            None if self.share <= 0.0 || self.rng.unit() < self.share => {
                write!(self.out, "{line}")?;
            }
            None => {}
        }
        Ok(())
    }
}

impl TransactionLog {
    /// Begins the log that the options ask for; none where they ask for none.
    ///
    /// # Errors
    /// [`Failure`] naming the file.
    pub fn new(
        options: &OptionValues,
        workload: &Arc<dyn Workload>,
        (has_lag, seed): (bool, u64),
    ) -> Result<Option<Self>, Failure> {
        if !options.flag("log") {
            return Ok(None);
        }
        let prefix = options.text("log-prefix");
        let path = PathBuf::from(format!("{prefix}.{}", std::process::id()));
        let failed = |e: io::Error| {
            let message = format!("{}: can't be written: {e}", path.display());
            Failure::new(ExitCode::Failed, message)
        };
        // A file that is there is somebody's.
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(failed)?;
        if let Some(workload) = Pgbench::of(&**workload) {
            workload.tally().keep_failures();
        }
        let each = options.uint("aggregate-interval");
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let begin = now.map_or(Duration::ZERO, |now| now).as_secs();
        let detailed = options.flag("failures-detailed");
        let mut lines = Lines {
            out: BufWriter::with_capacity(1 << 20, file),
            workload: Arc::clone(workload),
            aggregate: (each > 0).then(|| Aggregate::new(begin, each, detailed)),
            done: HashMap::new(),
            has_lag,
            has_retries: options.uint("max-tries") != 1,
            detailed,
            share: options.float("sampling-rate"),
            rng: Rng::of(&[seed, SAMPLING_STREAM]),
        };
        let log = SampleLog::start(move |samples| lines.write(samples)).map_err(failed)?;
        Ok(Some(Self { path, log }))
    }

    /// Waits until everything is written; what is to be said of it.
    pub fn finish(self) -> String {
        let report = self.log.finish();
        let path = self.path.display();
        let mut said = String::new();
        if let Some(error) = &report.error {
            said += &format!("WARNING: {path}: {error}\n");
        }
        if report.lost > 0 {
            said += &format!(
                "WARNING: {} transactions are not in {path}: the disk did not keep up\n",
                report.lost
            );
        }
        said
    }
}
