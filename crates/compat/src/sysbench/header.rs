//! What is printed before the first result.

use std::fmt::{self, Write};
use tidemark_core::ServerInfo;

/// `tidemark 0.1.0 (sysbench 1.0.20 output)` and an empty line, in place of sysbench's version
/// line: who searches for `sysbench 1.0.20` finds it.
pub fn version_line(version: &str) -> String {
    format!("tidemark {version} (sysbench 1.0.20 output)\n\n")
}

/// The block "Running the test with following options:".
#[derive(Debug, Clone, Default)]
pub struct RunHeader<'a> {
    /// Terminals (sysbench's threads).
    pub threads: usize,
    /// Arrivals a second; `None` in closed loop.
    pub rate: Option<f64>,
    /// What is asked for beyond sysbench's options, a line each.
    pub beyond: &'a [String],
    /// Seconds between interval lines; 0 for none.
    pub report_interval_s: u64,
    /// Seconds after which full reports come.
    pub checkpoints_s: &'a [u64],
    /// `--debug`.
    pub debug: bool,
    /// `--validate`.
    pub validate: bool,
    /// The seed used.
    pub seed: u64,
    /// Whether the user gave it.
    pub seed_given: bool,
    /// Seconds from the start until the run is ended by force.
    pub forced_shutdown_s: Option<u64>,
    /// The target's URL, password as `***`.
    pub target: Option<&'a str>,
    /// What answered there.
    pub server: Option<&'a ServerInfo>,
}

impl fmt::Display for RunHeader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Running the test with following options:")?;
        writeln!(f, "Number of threads: {}", self.threads)?;
        if let Some(target) = self.target {
            writeln!(f, "Target: {target}")?;
        }
        if let Some(server) = self.server {
            writeln!(f, "Server: {} {}", server.engine, server.version)?;
        }
        if let Some(rate) = self.rate {
            writeln!(f, "Target transaction rate: {rate}/sec")?;
        }
        for line in self.beyond {
            writeln!(f, "{line}")?;
        }
        if self.report_interval_s > 0 {
            let every = self.report_interval_s;
            writeln!(f, "Report intermediate results every {every} second(s)")?;
        }
        if !self.checkpoints_s.is_empty() {
            let at: Vec<String> = self.checkpoints_s.iter().map(u64::to_string).collect();
            writeln!(f, "Report checkpoint(s) at {} seconds", at.join(", "))?;
        }
        if self.debug {
            writeln!(f, "Debug mode enabled.\n")?;
        }
        if self.validate {
            writeln!(f, "Validation checks: on.\n")?;
        }
        let seed = self.seed;
        if self.seed_given {
            writeln!(
                f,
                "Initializing random number generator from seed ({seed}).\n"
            )?;
        } else {
            // sysbench does not say which seed it was; a run that can't be repeated is worth less.
            writeln!(
                f,
                "Initializing random number generator from current time (seed {seed})\n"
            )?;
        }
        if let Some(seconds) = self.forced_shutdown_s {
            writeln!(f, "Forcing shutdown in {seconds} seconds")?;
        }
        f.write_char('\n')
    }
}

/// Printed before sessions are opened; also by a `prepare` with several threads.
pub fn initializing() -> &'static str {
    "Initializing worker threads...\n\n"
}

/// Printed when all sessions are open and prepared.
pub fn started() -> &'static str {
    "Threads started!\n\n"
}

/// Printed before load that does not count. sysbench 1.0.20 has no warm-up; this is the wording of
/// its later versions' option.
pub fn warming_up(seconds: u64) -> String {
    format!("Warming up for {seconds} seconds...\n\n")
}

/// Printed before the summary at verbosity 4 and up: which limit ended the run.
pub fn ending(by_events: bool, threads: usize) -> String {
    let limit = if by_events { "Event" } else { "Time" };
    let mut text = format!("{limit} limit exceeded, exiting...\n");
    if threads > 1 {
        // Every thread says it; sysbench folds what repeats.
        text += &format!("(last message repeated {} times)\n", threads - 1);
    }
    text + "Done.\n\n"
}
