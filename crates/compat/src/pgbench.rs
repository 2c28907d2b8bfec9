//! pgbench's own lines (PostgreSQL manual, "pgbench"; version 15): summary, progress, and the lines of
//! its logs.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use tidemark_stats::Histogram;

/// Mean and standard deviation of times, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// Mean.
    pub mean_ms: f64,
    /// Standard deviation of the whole.
    pub stddev_ms: f64,
}

impl Moments {
    /// Of a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        let count = histogram.count() as f64;
        if count == 0.0 {
            return Self::default();
        }
        let mean = histogram.mean_ns();
        let squares = histogram.occupied().map(|(ns, n)| {
            let off = ns as f64 - mean;
            off * off * n as f64
        });
        let variance = squares.sum::<f64>() / count;
        Self {
            mean_ms: mean / 1e6,
            stddev_ms: variance.sqrt() / 1e6,
        }
    }
}

/// Failures and retries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Transactions that ended well.
    pub done: u64,
    /// Those that failed with a serialization failure.
    pub serialization: u64,
    /// Those that failed with a deadlock.
    pub deadlock: u64,
    /// Those that were tried again.
    pub retried: u64,
    /// How often, in all.
    pub retries: u64,
    /// Those that were not begun, because they were late.
    pub skipped: u64,
}

impl Counts {
    fn failed(&self) -> u64 {
        self.serialization + self.deadlock
    }

    /// All that were to be done.
    fn all(&self) -> u64 {
        self.done + self.failed() + self.skipped
    }
}

/// A command of a script with what it came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommandResult {
    /// Its first line.
    pub line: String,
    /// Mean time of those that ended well, in milliseconds.
    pub mean_ms: f64,
    /// Failures.
    pub failures: u64,
    /// Retries.
    pub retries: u64,
}

/// A script with what it came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScriptResult {
    /// As it is shown.
    pub name: String,
    /// Its weight.
    pub weight: u64,
    /// Its transactions.
    pub counts: Counts,
    /// Its latencies.
    pub latency: Moments,
    /// Its commands, where they are timed.
    pub commands: Vec<CommandResult>,
}

/// How long a run was to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// So many transactions of each client (`-t`).
    Transactions(u64),
    /// So many seconds (`-T`).
    Seconds(u64),
}

/// A run's summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The scripts.
    pub scripts: Vec<ScriptResult>,
    /// The scaling factor.
    pub scale: u64,
    /// How statements reached the server.
    pub mode: String,
    /// Sessions.
    pub clients: u64,
    /// Client threads.
    pub threads: u64,
    /// Most tries; 0 is no limit.
    pub max_tries: u64,
    /// How long it was to be.
    pub length: Length,
    /// How long it was, without connecting.
    pub elapsed_s: f64,
    /// All transactions.
    pub counts: Counts,
    /// Failures are told by their kinds.
    pub failures_detailed: bool,
    /// The limit of a latency in milliseconds, and the transactions above it.
    pub above_limit: Option<(f64, u64)>,
    /// Their latencies, where pgbench measures them: with `-P`, `-R` or `-L`.
    pub latency: Option<Moments>,
    /// Mean and longest lateness of a schedule, in milliseconds.
    pub lag: Option<(f64, f64)>,
    /// Time to open all sessions, or mean time for each transaction.
    pub connection_ms: f64,
    /// Each transaction had a session of its own (`-C`).
    pub reconnects: bool,
    /// Whether commands are told.
    pub per_command: bool,
}

fn percent(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => 100.0 * part as f64 / whole as f64,
    }
}

fn rate(count: u64, seconds: f64) -> f64 {
    match seconds > 0.0 {
        true => count as f64 / seconds,
        false => 0.0,
    }
}

impl Summary {
    fn counts_of(&self, f: &mut fmt::Formatter<'_>, before: &str, counts: &Counts) -> fmt::Result {
        let all = counts.all();
        let share = |n| percent(n, all);
        let failed = counts.failed();
        writeln!(
            f,
            "{before}number of failed transactions: {failed} ({:.3}%)",
            share(failed)
        )?;
        if self.failures_detailed {
            for (what, n) in [
                ("serialization", counts.serialization),
                ("deadlock", counts.deadlock),
            ] {
                writeln!(
                    f,
                    "{before}number of {what} failures: {n} ({:.3}%)",
                    share(n)
                )?;
            }
        }
        if self.max_tries != 1 {
            writeln!(
                f,
                "{before}number of transactions retried: {} ({:.3}%)",
                counts.retried,
                share(counts.retried)
            )?;
            writeln!(f, "{before}total number of retries: {}", counts.retries)?;
        }
        if self.lag.is_some() && self.above_limit.is_some() {
            writeln!(
                f,
                "{before}number of transactions skipped: {} ({:.3}%)",
                counts.skipped,
                share(counts.skipped)
            )?;
        }
        Ok(())
    }

    fn latencies(f: &mut fmt::Formatter<'_>, before: &str, of: Moments) -> fmt::Result {
        writeln!(f, "{before}latency average = {:.3} ms", of.mean_ms)?;
        writeln!(f, "{before}latency stddev = {:.3} ms", of.stddev_ms)
    }

    fn per_script(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weights: u64 = self.scripts.iter().map(|s| s.weight).sum();
        let is_several = self.scripts.len() > 1;
        for (number, script) in self.scripts.iter().enumerate() {
            if is_several {
                writeln!(f, "SQL script {}: {}", number + 1, script.name)?;
                writeln!(
                    f,
                    " - weight: {} (targets {:.1}% of total)",
                    script.weight,
                    percent(script.weight, weights)
                )?;
                let done = script.counts.done;
                writeln!(
                    f,
                    " - {done} transactions ({:.1}% of total, tps = {:.6})",
                    percent(done, self.counts.done),
                    rate(done, self.elapsed_s)
                )?;
                self.counts_of(f, " - ", &script.counts)?;
                if done > 0 {
                    Self::latencies(f, " - ", script.latency)?;
                }
            }
            if self.per_command {
                let before = if is_several { " - " } else { "" };
                let with = match self.max_tries {
                    1 => " and failures",
                    _ => ", failures and retries",
                };
                writeln!(f, "{before}statement latencies in milliseconds{with}:")?;
                for command in &script.commands {
                    write!(f, "   {:11.3}  {:10}", command.mean_ms, command.failures)?;
                    if self.max_tries != 1 {
                        write!(f, "  {:10}", command.retries)?;
                    }
                    writeln!(f, "  {}", command.line)?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.scripts.as_slice() {
            [one] => one.name.as_str(),
            _ => "multiple scripts",
        };
        writeln!(f, "transaction type: {kind}")?;
        writeln!(f, "scaling factor: {}", self.scale)?;
        writeln!(f, "query mode: {}", self.mode)?;
        writeln!(f, "number of clients: {}", self.clients)?;
        writeln!(f, "number of threads: {}", self.threads)?;
        if self.max_tries > 0 {
            writeln!(f, "maximum number of tries: {}", self.max_tries)?;
        }
        let counts = &self.counts;
        match self.length {
            Length::Transactions(each) => {
                writeln!(f, "number of transactions per client: {each}")?;
                writeln!(
                    f,
                    "number of transactions actually processed: {}/{}",
                    counts.done,
                    each.saturating_mul(self.clients)
                )?;
            }
            Length::Seconds(seconds) => {
                writeln!(f, "duration: {seconds} s")?;
                writeln!(
                    f,
                    "number of transactions actually processed: {}",
                    counts.done
                )?;
            }
        }
        self.counts_of(f, "", counts)?;
        if let Some((limit, above)) = self.above_limit {
            let begun = counts.done;
            writeln!(
                f,
                "number of transactions above the {limit:.1} ms latency limit: {above}/{begun} \
                 ({:.3}%)",
                percent(above, begun)
            )?;
        }
        match self.latency {
            Some(latency) => Self::latencies(f, "", latency)?,
            // Without measuring each, pgbench divides the run's time.
            None => {
                let all = counts.all().max(1);
                let mean = self.elapsed_s * 1000.0 * self.clients as f64 / all as f64;
                let with = match counts.failed() {
                    0 => "",
                    _ => " (including failures)",
                };
                writeln!(f, "latency average = {mean:.3} ms{with}")?;
            }
        }
        if let Some((mean, longest)) = self.lag {
            writeln!(
                f,
                "rate limit schedule lag: avg {mean:.3} (max {longest:.3}) ms"
            )?;
        }
        let tps = rate(counts.done, self.elapsed_s);
        let ms = self.connection_ms;
        if self.reconnects {
            writeln!(f, "average connection time = {ms:.3} ms")?;
            writeln!(f, "tps = {tps:.6} (including reconnection times)")?;
        } else {
            writeln!(f, "initial connection time = {ms:.3} ms")?;
            writeln!(f, "tps = {tps:.6} (without initial connection time)")?;
        }
        self.per_script(f)
    }
}

/// A line of `-P`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgressLine {
    /// Seconds since the start, or since 1970.
    pub at_s: f64,
    /// Whether it is a moment.
    pub is_timestamp: bool,
    /// Transactions a second since the last line.
    pub tps: f64,
    /// Their latencies.
    pub latency: Moments,
    /// Their failures, retries, and those that were skipped.
    pub counts: Counts,
    /// Their mean lateness in milliseconds, of a schedule.
    pub lag_ms: Option<f64>,
    /// Whether transactions may be skipped.
    pub may_skip: bool,
    /// Whether they may be tried again.
    pub may_retry: bool,
}

impl fmt::Display for ProgressLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = match self.is_timestamp {
            true => format!("{:.3}", self.at_s),
            false => format!("{:.1}", self.at_s),
        };
        write!(
            f,
            "progress: {at} s, {:.1} tps, lat {:.3} ms stddev {:.3}, {} failed",
            self.tps,
            self.latency.mean_ms,
            self.latency.stddev_ms,
            self.counts.failed()
        )?;
        if let Some(lag) = self.lag_ms {
            write!(f, ", lag {lag:.3} ms")?;
            if self.may_skip {
                write!(f, ", {} skipped", self.counts.skipped)?;
            }
        }
        if self.may_retry {
            write!(
                f,
                ", {} retried, {} retries",
                self.counts.retried, self.counts.retries
            )?;
        }
        f.write_char('\n')
    }
}

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
    /// The number of transactions that the client ended well before.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        Summary {
            scripts: vec![ScriptResult {
                name: "<builtin: select only>".into(),
                weight: 1,
                ..ScriptResult::default()
            }],
            scale: 3,
            mode: "prepared".into(),
            clients: 4,
            threads: 2,
            max_tries: 1,
            length: Length::Transactions(10),
            elapsed_s: 2.0,
            counts: Counts {
                done: 40,
                ..Counts::default()
            },
            failures_detailed: false,
            above_limit: None,
            latency: None,
            lag: None,
            connection_ms: 1.5,
            reconnects: false,
            per_command: false,
        }
    }

    #[test]
    fn a_summary_has_pgbenchs_lines() {
        assert_eq!(
            summary().to_string(),
            "transaction type: <builtin: select only>\nscaling factor: 3\nquery mode: prepared\n\
             number of clients: 4\nnumber of threads: 2\nmaximum number of tries: 1\n\
             number of transactions per client: 10\n\
             number of transactions actually processed: 40/40\n\
             number of failed transactions: 0 (0.000%)\nlatency average = 200.000 ms\n\
             initial connection time = 1.500 ms\n\
             tps = 20.000000 (without initial connection time)\n"
        );
    }

    #[test]
    fn retries_limits_schedules_and_scripts_have_theirs() {
        let script = |name: &str, weight| ScriptResult {
            name: name.into(),
            weight,
            counts: Counts {
                done: 20,
                retried: 1,
                retries: 3,
                ..Counts::default()
            },
            latency: Moments {
                mean_ms: 1.0,
                stddev_ms: 0.5,
            },
            commands: vec![CommandResult {
                line: "END;".into(),
                mean_ms: 0.25,
                failures: 1,
                retries: 2,
            }],
        };
        let text = Summary {
            scripts: vec![script("a.sql", 3), script("b.sql", 1)],
            max_tries: 5,
            length: Length::Seconds(2),
            counts: Counts {
                done: 40,
                serialization: 6,
                deadlock: 4,
                retried: 2,
                retries: 6,
                skipped: 50,
            },
            failures_detailed: true,
            above_limit: Some((5.0, 10)),
            latency: Some(Moments {
                mean_ms: 2.0,
                stddev_ms: 1.0,
            }),
            lag: Some((0.5, 3.25)),
            reconnects: true,
            per_command: true,
            ..summary()
        }
        .to_string();
        for line in [
            "transaction type: multiple scripts",
            "duration: 2 s",
            "number of transactions actually processed: 40",
            "number of failed transactions: 10 (10.000%)",
            "number of serialization failures: 6 (6.000%)",
            "number of deadlock failures: 4 (4.000%)",
            "number of transactions retried: 2 (2.000%)",
            "total number of retries: 6",
            "number of transactions skipped: 50 (50.000%)",
            "number of transactions above the 5.0 ms latency limit: 10/40 (25.000%)",
            "latency stddev = 1.000 ms",
            "rate limit schedule lag: avg 0.500 (max 3.250) ms",
            "average connection time = 1.500 ms",
            "tps = 20.000000 (including reconnection times)",
            "SQL script 1: a.sql",
            " - weight: 3 (targets 75.0% of total)",
            " - 20 transactions (50.0% of total, tps = 10.000000)",
            " - latency average = 1.000 ms",
            " - statement latencies in milliseconds, failures and retries:",
            "         0.250           1           2  END;",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
    }

    #[test]
    fn progress_and_log_lines_are_pgbenchs() {
        let line = ProgressLine {
            at_s: 5.0,
            is_timestamp: false,
            tps: 1234.56,
            latency: Moments {
                mean_ms: 1.2,
                stddev_ms: 0.3,
            },
            counts: Counts {
                serialization: 2,
                retried: 1,
                retries: 4,
                skipped: 7,
                ..Counts::default()
            },
            lag_ms: Some(0.1),
            may_skip: true,
            may_retry: true,
        };
        assert_eq!(
            line.to_string(),
            "progress: 5.0 s, 1234.6 tps, lat 1.200 ms stddev 0.300, 2 failed, lag 0.100 ms, \
             7 skipped, 1 retried, 4 retries\n"
        );
        let done = LogLine {
            client: 0,
            number: 199,
            ending: Ending::Done(2241),
            script: 0,
            end_us: 1_175_850_568_995_598,
            lag_us: None,
            retries: None,
        };
        assert_eq!(done.to_string(), "0 199 2241 0 1175850568 995598\n");
        let failed = LogLine {
            ending: Ending::Failed("failed"),
            lag_us: Some(5217),
            retries: Some(9),
            ..done
        };
        assert_eq!(
            failed.to_string(),
            "0 199 failed 0 1175850568 995598 5217 9\n"
        );
        let mut sum = Aggregate::new(1_175_850_568, 2, true);
        sum.add(&done);
        sum.add(&LogLine {
            ending: Ending::Failed("deadlock"),
            end_us: 1_175_850_572_000_000,
            retries: Some(3),
            ..done
        });
        assert_eq!(
            sum.to_string(),
            "1175850568 1 2241 5022081 2241 2241 0 0 0 0 0 0 0 0 0\n\
             1175850570 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
             1175850572 0 0 0 0 0 0 0 0 0 0 1 3 0 1\n"
        );
    }

    #[test]
    fn moments_are_those_of_the_times() {
        let mut histogram = Histogram::new();
        for ms in [1, 3] {
            histogram.record(std::time::Duration::from_millis(ms));
        }
        let moments = Moments::of(&histogram);
        assert!((moments.mean_ms - 2.0).abs() < 0.01, "{moments:?}");
        assert!((moments.stddev_ms - 1.0).abs() < 0.01, "{moments:?}");
        assert_eq!(Moments::of(&Histogram::new()), Moments::default());
    }
}
