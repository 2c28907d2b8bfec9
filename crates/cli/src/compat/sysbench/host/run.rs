//! `run` of a test of the machine: measured, printed and kept as any run.

use super::super::prepare::outlet;
use super::super::printer::bar;
use super::super::run::header;
use super::job::HostOrder;
use super::workers::{HostTestThreads, events, told, workers};
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::live_output::LiveOutput;
use crate::measuring::IntervalWindow;
use crate::plan::{checkpoints, percentiles};
use crate::ready;
use crate::record_outputs::{RecordOutputs, complain, say};
use crate::recording::Recording;
use crate::storing::Storing;
use crate::watching::{Watching, run_info};
use std::sync::Arc;
use std::time::Duration;
use tidemark_compat::sysbench;
use tidemark_compat::sysbench::host::HostTest;
use tidemark_core::RunSpec;
use tidemark_core::record::{ErrorCount, Interval, Phase, Step, Totals};
use tidemark_engine::{RunObserver, RunResult, Started, WorkersSpec, run_workers};
use tidemark_hosttests::files::FileCounts;
use tidemark_report::{ReportError, beyond, step};
use tidemark_stats::Histogram;

/// Runs a test.
///
/// # Errors
/// [`Failure`] when it could not begin, or failed after its start: then what was measured is kept all
/// the same.
pub fn run(order: &HostOrder) -> Result<ExitCode, Failure> {
    let (options, job) = (&order.options, &order.job);
    let mut out = outlet(options);
    let outputs = RecordOutputs::new(&job.outputs)?;
    let mut watching = Watching::new(&job.watch)?;
    let load = RunSpec {
        events: events(order.test, options, &job.load),
        ..job.load.clone()
    };
    let HostTestThreads {
        workers,
        kinds,
        counts,
    } = workers(order.test, options, &load)?;
    let words = Words {
        test: told(order.test, options),
        percentiles: percentiles(options)?,
        counts,
    };
    let mut recording = Recording::of_machine(job, options, &order.command);
    let checkpoints = checkpoints(options)?;
    say(&mut out, &header(options, &job.load, &checkpoints, None));
    say(&mut out, &words.test.header());
    let mut storing = Storing::open(job.outputs.store.as_deref())?;
    complain(&mut storing);
    say(&mut out, sysbench::initializing());

    let mut observer = Observer {
        order,
        words: &words,
        kinds,
        window: IntervalWindow::new(Duration::from_secs(options.uint("report-interval"))),
        recording: &mut recording,
        storing: &mut storing,
        watching: &mut watching,
        say: LiveOutput::one(&mut out, bar(options, &load)),
    };
    let spec = WorkersSpec {
        run: &load,
        kinds,
        checkpoints: &checkpoints,
    };
    let measured = run_workers(&spec, workers, &interrupt::handle(), &mut observer);
    drop(observer);
    let _held = interrupt::hold();
    watching.ended();
    let result = match measured {
        Ok(result) => result,
        Err(error) => {
            recording.failed(&error);
            outputs.keep(&mut recording, &mut storing, &mut out)?;
            return Err(error.into());
        }
    };
    recording.finish(&result);
    let mut text = words.ending(order, &load, &result)?;
    text += &beyond(&recording.record)?;
    say(&mut out, &text);
    let kept = outputs.keep(&mut recording, &mut storing, &mut out)?;
    if crate::stdio::failure().is_some() && !kept {
        eprint!("{text}");
    }
    ready::ended(result, &recording.record, "")
}

/// What is printed of a test.
struct Words {
    test: HostTest,
    percentiles: Vec<f64>,
    counts: Option<Arc<FileCounts>>,
}

impl Words {
    fn summary(&self, totals: &Totals, total_time_s: f64) -> Result<String, ReportError> {
        let bytes = self.counts.as_ref().map_or(0.0, |c| c.bytes_a_request());
        let syncs = self.counts.as_ref().map_or(0, |c| c.end_syncs());
        let mut summary = self.test.summary(totals, &self.percentiles, bytes, syncs)?;
        summary.summary.total_time_s = total_time_s;
        Ok(summary.to_string())
    }

    fn ending(
        &self,
        order: &HostOrder,
        load: &RunSpec,
        result: &RunResult,
    ) -> Result<String, Failure> {
        let options = &order.options;
        let mut text = String::new();
        if options.uint("verbosity") > 3 || options.flag("debug") {
            let count = result.totals.all.count;
            let by_events = load.events.is_some_and(|events| count >= events);
            text += &sysbench::ending(by_events, load.terminals);
        }
        let totals = match options.text("report-checkpoints").is_empty() {
            true => &result.totals,
            false => &result.since_checkpoint,
        };
        if options.flag("histogram") {
            let encoded = totals.all.response.as_ref().unwrap_or(&totals.all.service);
            let latencies = Histogram::decode(&encoded.0)
                .map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
            text += &sysbench::histogram(&latencies);
        }
        text += &self.summary(totals, result.totals.elapsed_s)?;
        Ok(text)
    }
}

/// Tells everybody of a test that goes on.
struct Observer<'a, 'o> {
    order: &'a HostOrder,
    words: &'a Words,
    kinds: &'static [&'static str],
    window: IntervalWindow,
    recording: &'a mut Recording,
    storing: &'a mut Storing,
    watching: &'a mut Watching,
    say: LiveOutput<'o>,
}

impl RunObserver for Observer<'_, '_> {
    fn started(&mut self, begun: &Started) {
        let sink = self.watching.showing(self.storing.sink());
        self.recording.machine_started(begun, &sink);
        self.storing.begin(&self.recording.record);
        complain(self.storing);
        self.say.say(sysbench::started());
        let warmup = self.order.job.load.warmup;
        if !warmup.is_zero() {
            self.say.say(&sysbench::warming_up(warmup.as_secs()));
        }
        let info = run_info(&self.recording.record, &self.order.job.load, self.kinds);
        if self.watching.started(info) {
            self.say.hold();
        }
    }

    fn errors(&mut self, phase: Phase, errors: &[ErrorCount]) {
        self.watching.errors(phase, errors);
    }

    fn interval(&mut self, interval: &Interval) {
        self.storing.interval(interval);
        self.watching.interval(interval);
        if !self.watching.has_view() {
            self.say.release();
        }
        if let Some(sum) = self.window.add(interval) {
            let load = &self.order.job.load;
            let words = self.words;
            let line = words.test.interval(
                &sum,
                interval.phase,
                &words.percentiles,
                load.pacing.is_open_loop(),
                load.warmup.as_secs_f64(),
            );
            self.say.say(&line);
        }
        self.say.bar().inc(interval.length_ms as u64);
    }

    fn step(&mut self, held: &Step) {
        // Between interval lines there is nothing of ours.
        if self.order.options.uint("report-interval") == 0
            && let Ok(line) = step(held)
        {
            self.say.say(&line);
        }
    }

    fn checkpoint(&mut self, seconds: f64, totals: &Totals) {
        if let Ok(summary) = self.words.summary(totals, seconds) {
            let text = format!("[ {seconds:.0}s ] Checkpoint report:\n{summary}");
            self.say.say(&text);
        }
    }
}
