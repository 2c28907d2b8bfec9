//! A run, in pgbench's words.

use super::log::TransactionLog;
use super::printer::{Printer, counted, sum};
use super::{SHAPES, only_postgres, vacuum};
use crate::exit::{ExitCode, Failure};
use crate::live_output::LiveOutput;
use crate::measuring::MeasuredRun;
use crate::pacing::{described as lines_of, long_distance};
use crate::plan::BoundWorkload;
use crate::progress;
use crate::record_outputs::say;
use crate::render::language;
use crate::runner::{self, Console, JobOrder, Ready};
use crate::stdio::{Stderr, Stdout};
use indicatif::ProgressBar;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tidemark_compat::pgbench::{CommandResult, Length, Moments, ScriptResult, Summary};
use tidemark_core::record::{EncodedHistogram, RunRecord};
use tidemark_core::{OptionValues, Source};
use tidemark_report::{TypeLatency, errors};
use tidemark_stats::Histogram;
use tidemark_workloads::Workload;
use tidemark_workloads::pgbench::{CommandCounts, Pgbench, ScriptCounts};

/// Makes load and measures.
///
/// # Errors
/// As [`runner::run`].
pub fn run(order: &JobOrder) -> Result<ExitCode, Failure> {
    let mut words = PgbenchConsole {
        options: &order.options,
        workload: Arc::clone(&order.workload),
        prepare: prepare_command(&order.options),
        connecting: Duration::ZERO,
        before: Vec::new(),
        commands_before: Vec::new(),
        after: Vec::new(),
        aside: Stderr,
    };
    runner::run(order, &mut words)
}

/// pgbench's words for a run.
struct PgbenchConsole<'a> {
    options: &'a OptionValues,
    workload: Arc<dyn Workload>,
    prepare: String,
    connecting: Duration,
    before: Vec<ScriptCounts>,
    /// Of each script.
    commands_before: Vec<Vec<CommandCounts>>,
    after: Vec<ScriptCounts>,
    aside: Stderr,
}

impl Console for PgbenchConsole<'_> {
    fn prepare_command(&self) -> String {
        self.prepare.clone()
    }

    fn begin(&mut self, order: &JobOrder) -> Result<(), Failure> {
        only_postgres(order.target.protocol)?;
        if let Some(warning) = long_distance(self.options, &order.job.load) {
            say(&mut self.aside, &format!("WARNING: {warning}\n"));
        }
        Ok(())
    }

    fn header(&mut self, order: &JobOrder, record: &RunRecord) {
        let mut head = format!("tidemark {} (pgbench output)\n", env!("TIDEMARK_VERSION"));
        head += &format!("target: {}\n", record.target);
        if let Some(server) = &record.server {
            head += &format!("server: {} {}\n", server.engine, server.version);
        }
        for line in lines_of(&order.job.load) {
            head += &format!("{line}\n");
        }
        say(&mut self.aside, &head);
    }

    fn before_load(&mut self, plan: &BoundWorkload) -> Result<(), Failure> {
        vacuum::before_run(self.options, plan, &mut self.aside)
    }

    fn measure<'b>(&mut self, ready: Ready<'b>) -> Result<MeasuredRun<'b>, Failure> {
        let load = &ready.job().load;
        let is_open_loop = load.pacing.is_open_loop();
        let log = TransactionLog::new(self.options, &self.workload, (is_open_loop, load.seed))?;
        let bar = match self.options.uint("progress") {
            0 => progress::of_run(load, language(self.options.text("lang"))),
            _ => ProgressBar::hidden(),
        };
        let mut printer = Printer::new(self.options, &self.workload, is_open_loop);
        let mut out = Stdout;
        let samples = log.as_ref().map(|log| (&log.log, 0));
        let outlet = LiveOutput::two(&mut out, &mut self.aside, bar);
        let measured = ready.measure(&[], samples, outlet, &mut printer);
        self.connecting = printer.connecting;
        self.after = printer.now();
        self.before = printer.before;
        self.commands_before = printer.commands_before;
        if let Some(log) = log {
            let said = log.finish();
            say(&mut self.aside, &said);
        }
        measured
    }

    fn summary(&mut self, order: &JobOrder, measured: &MeasuredRun<'_>) -> Result<String, Failure> {
        let text = self.written(order, measured)?.to_string();
        say(&mut Stdout, &text);
        let more = errors(measured.result.errors.counts());
        say(&mut self.aside, &more);
        Ok(format!("{text}{more}"))
    }

    fn aside(&mut self) -> &mut dyn Write {
        &mut self.aside
    }
}

fn decoded(encoded: &EncodedHistogram) -> Result<Histogram, Failure> {
    Histogram::decode(&encoded.0).map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
}

impl PgbenchConsole<'_> {
    /// The summary.
    fn written(&self, order: &JobOrder, measured: &MeasuredRun<'_>) -> Result<Summary, Failure> {
        let (options, load) = (self.options, &order.job.load);
        let (result, totals) = (&measured.result, &measured.result.totals);
        let all = TypeLatency::decode(&totals.all, "the run")?;
        let is_open_loop = load.pacing.is_open_loop();
        let limit = Some(options.float("latency-limit")).filter(|ms| *ms > 0.0);
        let above = |ms: f64| {
            let beyond = all
                .latency()
                .occupied()
                .filter(|(ns, _)| *ns as f64 / 1e6 > ms);
            (ms, beyond.map(|(_, count)| count).sum())
        };
        let skipped = totals.dropped_arrivals;
        let failed = sum(&self.after).since(&sum(&self.before));
        let is_measured = is_open_loop || limit.is_some() || options.uint("progress") > 0;
        let lag = match is_open_loop {
            true => Some(self.lag(&all, totals.lateness.as_ref())?),
            false => None,
        };
        Ok(Summary {
            scripts: self.scripts(order, measured)?,
            scale: options.uint("scale"),
            mode: options.text("protocol").into(),
            clients: load.terminals as u64,
            threads: result.executors as u64,
            max_tries: options.uint("max-tries"),
            length: match (load.time, load.events) {
                (None, Some(_)) => Length::Transactions(options.uint("transactions")),
                (Some(time), _) => Length::Seconds(time.as_secs()),
                _ => Length::Seconds(totals.elapsed_s.round() as u64),
            },
            elapsed_s: totals.elapsed_s,
            counts: counted(&failed, totals.all.count, skipped),
            failures_detailed: options.flag("failures-detailed"),
            above_limit: limit.map(above),
            latency: is_measured.then(|| Moments::of(all.latency())),
            lag,
            connection_ms: self.connection_ms(measured),
            reconnects: load.reconnect_every > 0,
            per_command: options.flag("report-per-command"),
        })
    }

    /// Time to open all sessions; with one for each transaction, what lies between two of them.
    fn connection_ms(&self, measured: &MeasuredRun<'_>) -> f64 {
        let fairness = &measured.result.totals.fairness;
        match (self.options.flag("connect"), fairness.between_avg_s) {
            (true, Some(between)) if fairness.events_avg > 0.0 => {
                between * 1000.0 / fairness.events_avg
            }
            _ => self.connecting.as_secs_f64() * 1000.0,
        }
    }

    /// Mean and longest lateness.
    fn lag(
        &self,
        all: &TypeLatency,
        lateness: Option<&EncodedHistogram>,
    ) -> Result<(f64, f64), Failure> {
        let late = lateness.map(decoded).transpose()?.unwrap_or_default();
        let waits = all.wait.as_ref().map_or(0, Histogram::max_ns);
        let mean = (all.latency().mean_ns() - all.service.mean_ns()).max(0.0);
        Ok((mean / 1e6, waits.max(late.max_ns()) as f64 / 1e6))
    }

    fn scripts(
        &self,
        order: &JobOrder,
        measured: &MeasuredRun<'_>,
    ) -> Result<Vec<ScriptResult>, Failure> {
        let Some(workload) = Pgbench::of(&*order.workload) else {
            return Ok(Vec::new());
        };
        let types = &measured.result.totals.types;
        let settings = workload.settings();
        let mut results = Vec::new();
        for (number, script) in settings.scripts.iter().enumerate() {
            let stats = settings.types.get(number).and_then(|name| types.get(*name));
            let latency = match stats {
                Some(stats) => TypeLatency::decode(stats, &script.shown)?,
                None => TypeLatency::default(),
            };
            let count = |of: &[ScriptCounts]| of.get(number).copied().unwrap_or_default();
            let since = count(&self.after).since(&count(&self.before));
            let commands = workload.tally().commands(number).into_iter();
            let before = self
                .commands_before
                .get(number)
                .map_or(&[][..], Vec::as_slice);
            let commands = commands
                .enumerate()
                .map(|(n, counts)| counts.since(&before.get(n).copied().unwrap_or_default()));
            let commands = script.commands.iter().zip(commands);
            results.push(ScriptResult {
                name: script.shown.clone(),
                weight: script.weight,
                counts: counted(&since, latency.count, 0),
                latency: Moments::of(latency.latency()),
                commands: commands.map(|(c, n)| command(&c.line, n)).collect(),
            });
        }
        Ok(results)
    }
}

fn command(line: &str, counts: CommandCounts) -> CommandResult {
    let times = counts.count.max(1) as f64;
    CommandResult {
        line: line.into(),
        mean_ms: counts.time.as_secs_f64() * 1000.0 / times,
        failures: counts.failures,
        retries: counts.retries,
    }
}

/// The command that makes the tables a run needs, as the user would write it.
fn prepare_command(options: &OptionValues) -> String {
    let mut words = ["tidemark", "pgbench", "-i"].map(String::from).to_vec();
    for (name, value, source) in options.shown() {
        let connects = name == "target" || super::target::CONNECTION.contains(&name);
        if source != Source::CommandLine || !(connects || SHAPES.contains(&name)) {
            continue;
        }
        words.push(match name {
            "dbname" => value.into(),
            _ => format!("--{name}={value}"),
        });
    }
    crate::shell::line(&words)
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::asked;
    use super::*;

    #[test]
    fn the_command_that_prepares_has_the_database_and_what_shapes() {
        let (_, options) = asked("-h h -U u -s 3 -c 9 db").unwrap();
        assert_eq!(
            prepare_command(&options),
            "tidemark pgbench -i db --host=h --scale=3 --username=u"
        );
    }
}
