//! `--log`: a line for each transaction, or for each interval.

use crate::exit::{ExitCode, Failure};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::num::NonZero;
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
/// What an executor hands over at a time, which it may hold back as long.
const CHUNK: usize = 4096;
/// So many lines are kept back at most, in chunks.
const MOST_KEPT: usize = 256;

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
    /// Transactions by client, those that failed or were skipped among them, as pgbench counts them.
    ended: HashMap<u64, u64>,
    /// Lines without their numbers.
    waiting: LinesInTime,
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
            self.take(LogLine {
                client: u64::from(sample.terminal),
                number: 0,
                ending: match sample.skipped {
                    true => Ending::Skipped,
                    // From the moment at which it was due.
                    false => Ending::Done(wait_us + took_us),
                },
                script: sample.kind.into(),
                end_us: sample.start_us + took_us,
                lag_us: self.has_lag.then_some(wait_us),
                retries: self.has_retries.then(|| {
                    let [_, retries, ..] = *sample.notes.counts();
                    retries.into()
                }),
            });
        }
        let workload = Arc::clone(&self.workload);
        let failures = Pgbench::of(&*workload).map(|w| w.tally().take_failures());
        for failed in failures.unwrap_or_default() {
            self.failed(&failed);
        }
        if samples.is_empty() {
            self.write_first(LinesInTime::all)?;
            if let Some(sum) = &self.aggregate {
                write!(self.out, "{sum}")?;
            }
            self.out.flush()?;
        } else if self.waiting.is_full() {
            self.write_first(LinesInTime::first)?;
        }
        Ok(())
    }

    fn failed(&mut self, failed: &FailedTransaction) {
        self.take(LogLine {
            client: failed.client as u64,
            number: 0,
            ending: Ending::Failed(match (self.detailed, failed.kind) {
                (false, _) => "failed",
                (true, FailureKind::Serialization) => "serialization",
                (true, FailureKind::Deadlock) => "deadlock",
            }),
            script: failed.script as u64,
            end_us: microseconds(failed.ended),
            lag_us: self.has_lag.then_some(0),
            retries: self.has_retries.then_some(failed.retries),
        });
    }

    fn take(&mut self, line: LogLine) {
        match &mut self.aggregate {
            Some(sum) => sum.add(&line),
            None => self.waiting.push(line),
        }
    }

    /// Writes what ended first, each with its number among its client's.
    fn write_first(&mut self, first: fn(&mut LinesInTime) -> Vec<LogLine>) -> io::Result<()> {
        for mut line in first(&mut self.waiting) {
            let number = self.ended.entry(line.client).or_default();
            *number += 1;
            line.number = *number;
            if self.share <= 0.0 || self.rng.unit() < self.share {
                write!(self.out, "{line}")?;
            }
        }
        Ok(())
    }
}

/// Puts lines in the order of time. Samples come in chunks of several executors, which is not theirs; failures
/// come at once.
struct LinesInTime {
    lines: Vec<LogLine>,
    /// Of them, those of transactions that did not fail.
    samples: usize,
    /// So many samples may come of a time before the last one's: a chunk of each executor.
    kept: usize,
}

impl LinesInTime {
    fn push(&mut self, line: LogLine) {
        self.samples += usize::from(is_sample(&line));
        self.lines.push(line);
    }

    fn is_full(&self) -> bool {
        self.samples >= 2 * self.kept || self.lines.len() > MOST_KEPT * CHUNK
    }

    /// Those before which none comes any more.
    fn first(&mut self) -> Vec<LogLine> {
        self.lines.sort_by_key(|line| line.end_us);
        let samples = self.lines.iter().enumerate().rev();
        let mut samples = samples.filter(|(_, line)| is_sample(line));
        // Of failures alone half are kept.
        let last = samples.nth(self.kept - 1).map(|(at, _)| at);
        let rest = self.lines.split_off(last.unwrap_or(self.lines.len() / 2));
        self.samples = rest.iter().filter(|line| is_sample(line)).count();
        std::mem::replace(&mut self.lines, rest)
    }

    fn all(&mut self) -> Vec<LogLine> {
        self.lines.sort_by_key(|line| line.end_us);
        self.samples = 0;
        std::mem::take(&mut self.lines)
    }
}

/// One for each processor, unless `-j` asks for more.
fn executors(options: &OptionValues) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let asked = usize::try_from(options.uint("executors")).unwrap_or(MOST_KEPT);
    processors.max(asked).clamp(1, MOST_KEPT / 2)
}

fn is_sample(line: &LogLine) -> bool {
    !matches!(line.ending, Ending::Failed(_))
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
        // What ends in the warm-up is not logged.
        let begin = now.map_or(Duration::ZERO, |now| now).as_secs() + options.uint("warmup");
        let detailed = options.flag("failures-detailed");
        let mut lines = Lines {
            out: BufWriter::with_capacity(1 << 20, file),
            workload: Arc::clone(workload),
            aggregate: (each > 0).then(|| Aggregate::new(begin, each, detailed)),
            ended: HashMap::new(),
            waiting: LinesInTime {
                lines: Vec::new(),
                samples: 0,
                kept: CHUNK * executors(options),
            },
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(end_us: u64, ending: Ending) -> LogLine {
        LogLine {
            client: 0,
            number: 0,
            ending,
            script: 0,
            end_us,
            lag_us: None,
            retries: None,
        }
    }

    #[test]
    fn lines_of_two_executors_and_many_failures_are_in_the_order_of_time() {
        let mut lines = LinesInTime {
            lines: Vec::new(),
            samples: 0,
            kept: 2 * 10,
        };
        let mut written = Vec::new();
        // Executors have the even and the odd milliseconds, and hand over ten samples each in turn, behind by
        // all of theirs; nine of ten transactions fail, and are told at once.
        for chunk in 0..60u64 {
            let since = chunk / 2 * 20;
            if chunk % 2 == 0 {
                let failed = (since * 10..(since + 20) * 10).map(|n| n * 100 + 50);
                failed.for_each(|us| lines.push(line(us, Ending::Failed("failed"))));
            }
            let own = (0..10).map(|n| (since + 2 * n + chunk % 2) * 1000);
            own.for_each(|us| lines.push(line(us, Ending::Done(1))));
            if lines.is_full() {
                written.extend(lines.first());
            }
        }
        assert!(written.len() > 5000, "{}", written.len());
        written.extend(lines.all());
        assert_eq!(written.len(), 60 * 10 + 30 * 200);
        assert!(written.is_sorted_by_key(|line| line.end_us));
    }
}
