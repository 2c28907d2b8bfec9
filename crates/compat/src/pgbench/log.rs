//! The lines of logs, one for each transaction or for each interval.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// How a transaction ended, for its line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Well, after so many microseconds.
    Done(u64),
    /// It was not begun, because it was late.
    Skipped,
    /// It failed; the word says how.
    Failed(&'static str),
}

/// A line of `-l`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLine {
    /// The client, from 0.
    pub client: u64,
    /// The transaction's number among the client's, from 1: failed and skipped ones count, too.
    pub number: u64,
    /// How it ended.
    pub ending: Ending,
    /// The script, from 0.
    pub script: u64,
    /// When it ended, in microseconds since 1970.
    pub end_us: u64,
    /// How late it began, in microseconds, of a schedule.
    pub lag_us: Option<u64>,
    /// How often it was tried again, where that may be.
    pub retries: Option<u64>,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.client, self.number)?;
        match self.ending {
            Ending::Done(us) => write!(f, "{us}")?,
            Ending::Skipped => f.write_str("skipped")?,
            Ending::Failed(how) => f.write_str(how)?,
        }
        let (seconds, us) = (self.end_us / 1_000_000, self.end_us % 1_000_000);
        write!(f, " {} {seconds} {us}", self.script)?;
        if let Some(lag) = self.lag_us {
            write!(f, " {lag}")?;
        }
        if let Some(retries) = self.retries {
            write!(f, " {retries}")?;
        }
        f.write_char('\n')
    }
}

/// Sum, sum of squares, least and most of times in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Times {
    count: u64,
    sum: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Times {
    fn add(&mut self, us: u64) {
        let us = us as f64;
        self.least = match self.count {
            0 => us,
            _ => self.least.min(us),
        };
        self.count += 1;
        self.sum += us;
        self.squares += us * us;
        self.most = self.most.max(us);
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} {:.0} {:.0} {:.0}",
            self.sum, self.squares, self.least, self.most
        )
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Interval {
    latencies: Times,
    lags: Times,
    skipped: u64,
    retried: u64,
    retries: u64,
    serialization: u64,
    deadlock: u64,
}

/// The intervals of a log of `--aggregate-interval`.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// Start of the first, in seconds since 1970.
    begin_s: u64,
    length_s: u64,
    /// Failures are told by their kinds.
    detailed: bool,
    intervals: BTreeMap<u64, Interval>,
}

impl Aggregate {
    /// Intervals of so many seconds from a moment on.
    pub fn new(begin_s: u64, length_s: u64, detailed: bool) -> Self {
        Self {
            begin_s,
            length_s: length_s.max(1),
            detailed,
            intervals: BTreeMap::new(),
        }
    }

    /// Adds a transaction.
    pub fn add(&mut self, line: &LogLine) {
        let seconds = (line.end_us / 1_000_000).saturating_sub(self.begin_s);
        let interval = self.intervals.entry(seconds / self.length_s).or_default();
        match line.ending {
            Ending::Done(us) => interval.latencies.add(us),
            Ending::Skipped => interval.skipped += 1,
            Ending::Failed("deadlock") if self.detailed => interval.deadlock += 1,
            Ending::Failed(_) if self.detailed => interval.serialization += 1,
            Ending::Failed(_) => {}
        }
        if let (Some(lag), Ending::Done(_)) = (line.lag_us, line.ending) {
            interval.lags.add(lag);
        }
        let retries = line.retries.unwrap_or(0);
        interval.retried += u64::from(retries > 0);
        interval.retries += retries;
    }
}

/// A line for each interval from the first to the last, also for those without a transaction.
impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.intervals.keys().next_back().copied();
        for number in 0..last.map_or(0, |last| last + 1) {
            let one = self.intervals.get(&number).copied().unwrap_or_default();
            writeln!(
                f,
                "{} {} {} {} {} {} {} {} {}",
                self.begin_s + number * self.length_s,
                one.latencies.count,
                one.latencies,
                one.lags,
                one.skipped,
                one.retried,
                one.retries,
                one.serialization,
                one.deadlock
            )?;
        }
        Ok(())
    }
}
