//! The summary of a run.

use super::{Counts, Moments};
use std::fmt;

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
