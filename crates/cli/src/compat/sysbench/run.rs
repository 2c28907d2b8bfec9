//! `run`, in sysbench's words.

use super::SHAPES;
use super::lua;
use super::prepare::outlet;
use super::printer::{Printer, bar};
use super::stat::{CUMULATIVE, stat_of_totals};
use crate::exit::{ExitCode, Failure};
use crate::live_output::LiveOutput;
use crate::measuring::MeasuredRun;
use crate::pacing::{described as asked, length, long_distance, sets_its_length};
use crate::plan::{checkpoints, percentiles};
use crate::record_outputs::say;
use crate::runner::{self, Console, JobOrder, Ready};
use std::io::Write;
use std::time::Duration;
use tidemark_compat::sysbench::{self, RunHeader, Summary};
use tidemark_core::record::{RunRecord, Totals};
use tidemark_core::{OptionValues, Pacing, RunSpec, Source};
use tidemark_engine::RunResult;
use tidemark_lua::Commands;
use tidemark_report::{beyond, errors};
use tidemark_stats::Histogram;

/// Looks whether what is to be printed can be.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn check(options: &OptionValues) -> Result<(), Failure> {
    percentiles(options)?;
    checkpoints(options).map(drop)
}

/// Makes load and measures.
///
/// # Errors
/// As [`runner::run`].
pub fn run(order: &JobOrder) -> Result<ExitCode, Failure> {
    let options = &order.options;
    let mut words = SysbenchConsole {
        options,
        percentiles: percentiles(options)?,
        checkpoints: checkpoints(options)?,
        prepare: prepare_command(order.definition.name, options),
        out: outlet(options),
        script: None,
    };
    runner::run(order, &mut words)
}

/// sysbench's words for a run.
struct SysbenchConsole<'a> {
    options: &'a OptionValues,
    percentiles: Vec<f64>,
    checkpoints: Vec<Duration>,
    prepare: String,
    out: Box<dyn Write>,
    /// A script's own thread.
    script: Option<Commands>,
}

impl SysbenchConsole<'_> {
    fn warn(&mut self, warning: &str) {
        say(&mut self.out, &format!("WARNING: {warning}\n"));
    }
}

impl Console for SysbenchConsole<'_> {
    fn prepare_command(&self) -> String {
        self.prepare.clone()
    }

    fn begin(&mut self, order: &JobOrder) -> Result<(), Failure> {
        let load = &order.job.load;
        if load.time.is_none() && load.events.is_none() && !sets_its_length(&load.pacing) {
            self.warn("Both event and time limits are disabled, running an endless test");
        }
        if let Some(warning) = long_distance(self.options, load) {
            self.warn(&warning);
        }
        self.script = lua::begun(order)?;
        Ok(())
    }

    fn header(&mut self, order: &JobOrder, record: &RunRecord) {
        let head = header(
            self.options,
            &order.job.load,
            &self.checkpoints,
            Some(record),
        );
        say(&mut self.out, &head);
        if self.options.flag("db-debug") {
            say(&mut self.out, &debug_lines(record));
        }
        say(&mut self.out, sysbench::initializing());
    }

    fn measure<'b>(&mut self, ready: Ready<'b>) -> Result<MeasuredRun<'b>, Failure> {
        let load = &ready.job().load;
        let outlet = LiveOutput::one(&mut self.out, bar(self.options, load));
        let script = self.script.as_mut();
        let mut printer = Printer::new(self.options, load, &self.percentiles, script);
        ready.measure(&self.checkpoints, None, outlet, &mut printer)
    }

    fn summary(&mut self, order: &JobOrder, measured: &MeasuredRun<'_>) -> Result<String, Failure> {
        let no_checkpoints = self.checkpoints.is_empty();
        let (result, load) = (&measured.result, &order.job.load);
        let mut text = summary(
            self.options,
            &self.percentiles,
            result,
            load,
            no_checkpoints,
        )?;
        if let Some(script) = &mut self.script {
            if script.has_hook(CUMULATIVE) {
                let totals = reported(result, no_checkpoints);
                let mut stat = stat_of_totals(totals, &self.percentiles)?;
                stat.time_total = result.totals.elapsed_s;
                let said = script.report(CUMULATIVE, &stat);
                said.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
                text = errors(result.errors.counts());
            }
            lua::done(script)?;
        }
        text += &beyond(&measured.recording.record)?;
        say(&mut self.out, &text);
        Ok(text)
    }

    fn aside(&mut self) -> &mut dyn Write {
        &mut self.out
    }
}

/// The command that makes the tables a run needs, as the user would write it.
fn prepare_command(workload: &str, options: &OptionValues) -> String {
    let mut words = ["tidemark", "sysbench", workload]
        .map(String::from)
        .to_vec();
    for (name, value, source) in options.shown() {
        // Each session of bulk_insert has a table.
        let shapes = SHAPES.contains(&name) || name == "threads" && workload == "bulk_insert";
        let connects = ["db-driver", "target", "config-file"].contains(&name)
            || ["mysql-", "pgsql-", "sqlite-"]
                .iter()
                .any(|p| name.starts_with(p));
        if source != Source::CommandLine || !(shapes || connects) {
            continue;
        }
        words.push(format!("--{name}={value}"));
    }
    words.push("prepare".into());
    crate::shell::line(&words)
}

/// What stands above a run; of one on a database, `record` says which.
pub(super) fn header(
    options: &OptionValues,
    spec: &RunSpec,
    checkpoints: &[Duration],
    record: Option<&RunRecord>,
) -> String {
    let checkpoints_s: Vec<u64> = checkpoints.iter().map(Duration::as_secs).collect();
    RunHeader {
        threads: spec.terminals,
        beyond: &asked(spec),
        rate: match spec.pacing {
            Pacing::Rate(rate) => Some(rate),
            _ => None,
        },
        report_interval_s: options.uint("report-interval"),
        checkpoints_s: &checkpoints_s,
        debug: options.flag("debug"),
        validate: options.flag("validate"),
        seed: spec.seed,
        seed_given: options.uint("rand-seed") > 0,
        forced_shutdown_s: spec
            .forced_shutdown
            .map(|grace| (length(spec).unwrap_or_default() + grace).as_secs()),
        target: record.map(|record| record.target.as_str()),
        server: record.and_then(|record| record.server.as_ref()),
    }
    .to_string()
}

fn debug_lines(record: &RunRecord) -> String {
    let settings = record
        .settings
        .iter()
        .map(|s| format!("DEBUG: {} = {}\n", s.name, s.value));
    let notes = record.notes.iter().map(|n| format!("DEBUG: {n}\n"));
    settings.chain(notes).chain(["\n".to_string()]).collect()
}

fn summary(
    options: &OptionValues,
    percentiles: &[f64],
    result: &RunResult,
    spec: &RunSpec,
    no_checkpoints: bool,
) -> Result<String, Failure> {
    let mut text = String::new();
    if options.uint("verbosity") > 3 || options.flag("debug") {
        let by_events = spec
            .events
            .is_some_and(|events| result.totals.all.count >= events);
        text.push_str(&sysbench::ending(by_events, spec.terminals));
    }
    let totals = reported(result, no_checkpoints);
    if options.flag("histogram") {
        let encoded = totals.all.response.as_ref().unwrap_or(&totals.all.service);
        let latencies = Histogram::decode(&encoded.0)
            .map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
        text.push_str(&sysbench::histogram(&latencies));
    }
    let mut summary = Summary::of_totals(totals, percentiles)?;
    summary.total_time_s = result.totals.elapsed_s;
    text.push_str(&summary.to_string());
    if options.flag("debug") {
        text.push_str("DEBUG: Verbose per-thread statistics:\n\n");
        for (number, (events, busy)) in result.sessions.iter().enumerate() {
            text.push_str(&format!(
                "DEBUG:     thread #{number:>3}: events: {events}  time: {:.4}s\n",
                busy.as_secs_f64()
            ));
        }
        text.push('\n');
    }
    text.push_str(&errors(result.errors.counts()));
    Ok(text)
}

/// What the last report is of: what no checkpoint has told.
fn reported(result: &RunResult, no_checkpoints: bool) -> &Totals {
    match no_checkpoints {
        true => &result.totals,
        false => &result.since_checkpoint,
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::GROUPS;
    use super::*;

    #[test]
    fn the_command_that_prepares_makes_the_tables_that_the_run_needs() {
        let prepares = |workload: &str, given: &[(&str, &str)]| {
            let mut options = OptionValues::defaults(GROUPS.iter().map(|g| g.options));
            for (name, value) in given {
                options.set(name, value, Source::CommandLine).unwrap();
            }
            prepare_command(workload, &options)
        };
        let given = [("threads", "2"), ("target", "sqlite:a.db"), ("time", "5")];
        let bulk = prepares("bulk_insert", &given);
        assert!(bulk.contains("--threads=2"), "{bulk}");
        let other = prepares("oltp_read_only", &given);
        assert!(!other.contains("--threads"), "{other}");
        assert!(!other.contains("--time"), "{other}");
    }
}
