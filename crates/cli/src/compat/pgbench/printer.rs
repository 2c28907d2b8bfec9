//! Prints a run as pgbench does while it goes on.

use crate::live_output::LiveOutput;
use crate::measuring::{IntervalWindow, Voice};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tidemark_compat::pgbench::{Counts, Moments, ProgressLine};
use tidemark_core::OptionValues;
use tidemark_core::record::{Interval, Phase, Step};
use tidemark_report::step;
use tidemark_workloads::Workload;
use tidemark_workloads::pgbench::{CommandCounts, Pgbench, ScriptCounts};

/// What is printed while a run goes on.
pub struct Printer {
    window: IntervalWindow,
    workload: Arc<dyn Workload>,
    is_timestamp: bool,
    is_open_loop: bool,
    may_skip: bool,
    may_retry: bool,
    begun: Instant,
    /// How long it took to connect.
    pub connecting: Duration,
    /// Counts of each script, and of its commands, when the measurement began.
    pub before: Vec<ScriptCounts>,
    pub commands_before: Vec<Vec<CommandCounts>>,
    /// Whether failures are logged, from the measurement on.
    logs: bool,
    /// Counts of all when a line was printed last.
    told: ScriptCounts,
}

/// The sum over scripts.
pub fn sum(scripts: &[ScriptCounts]) -> ScriptCounts {
    scripts
        .iter()
        .fold(ScriptCounts::default(), |mut sum, one| {
            sum += *one;
            sum
        })
}

/// Counts in the words of the output.
pub fn counted(of: &ScriptCounts, done: u64, skipped: u64) -> Counts {
    Counts {
        done,
        serialization: of.serialization,
        deadlock: of.deadlock,
        retried: of.retried,
        retries: of.retries,
        skipped,
    }
}

impl Printer {
    /// A printer as the options ask for.
    pub fn new(options: &OptionValues, workload: &Arc<dyn Workload>, is_open_loop: bool) -> Self {
        Self {
            window: IntervalWindow::new(Duration::from_secs(options.uint("progress"))),
            workload: Arc::clone(workload),
            is_timestamp: options.flag("progress-timestamp"),
            is_open_loop,
            may_skip: options.float("latency-limit") > 0.0,
            may_retry: options.uint("max-tries") != 1,
            begun: Instant::now(),
            connecting: Duration::ZERO,
            before: Vec::new(),
            commands_before: Vec::new(),
            logs: options.flag("log"),
            told: ScriptCounts::default(),
        }
    }

    /// The counts of each script until now.
    pub fn now(&self) -> Vec<ScriptCounts> {
        let workload = Pgbench::of(&*self.workload);
        workload.map_or_else(Vec::new, |w| w.tally().scripts())
    }
}

impl Voice for Printer {
    fn started(&mut self, _say: &mut LiveOutput<'_>) {
        self.connecting = self.begun.elapsed();
    }

    fn interval(&mut self, interval: &Interval, say: &mut LiveOutput<'_>) {
        if interval.phase == Phase::Warmup {
            self.before = self.now();
            if let Some(workload) = Pgbench::of(&*self.workload) {
                let tally = workload.tally();
                let scripts = 0..self.before.len();
                self.commands_before = scripts.map(|script| tally.commands(script)).collect();
                if self.logs {
                    // Those of the warm-up are none of the log's.
                    drop(tally.take_failures());
                }
            }
            self.told = sum(&self.before);
            return;
        }
        let Some(merged) = self.window.add(interval) else {
            return;
        };
        let all = sum(&self.now());
        let since = all.since(&self.told);
        self.told = all;
        let latencies = merged.all();
        let service = Moments::of(&latencies.service);
        let latency = Moments::of(latencies.latency());
        let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let line = ProgressLine {
            at_s: match self.is_timestamp {
                true => since_1970.as_secs_f64(),
                false => merged.end_ms / 1000.0,
            },
            is_timestamp: self.is_timestamp,
            tps: merged.per_second(latencies.count),
            latency,
            counts: counted(&since, latencies.count, merged.dropped_arrivals),
            lag_ms: self
                .is_open_loop
                .then(|| (latency.mean_ms - service.mean_ms).max(0.0)),
            may_skip: self.may_skip,
            may_retry: self.may_retry,
        };
        say.say_aside(&line.to_string());
    }

    fn step(&mut self, held: &Step, say: &mut LiveOutput<'_>) {
        if let Ok(line) = step(held) {
            say.say(&line);
        }
    }
}
