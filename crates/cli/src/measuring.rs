//! The measurement itself, which is the same for every command that makes load: the store opens,
//! the engine runs, and all who watch are told; when it is over the record goes where it belongs.
//! What is printed meanwhile is the command's own: see [`Voice`].

mod window;

use crate::clients::{self, Several};
use crate::exit::{ExitCode, Failure};
use crate::interrupt::{self, InterruptHold};
use crate::live_output::LiveOutput;
use crate::plan::BoundWorkload;
use crate::ready;
use crate::record_outputs::{RecordOutputs, complain, load_begins};
use crate::recording::Recording;
use crate::render::language;
use crate::runner::Console;
use crate::stdio;
use crate::storing::Storing;
use crate::texts::progress as texts;
use crate::watching::{Watching, run_info};
use std::time::Duration;
use tidemark_core::Job;
use tidemark_core::observe::{SERVER_HOST, SERVER_NODES};
use tidemark_core::record::{ErrorCount, Interval, Phase, RunRecord, Step, Totals};
use tidemark_core::series::SeriesChunk;
use tidemark_engine::{
    EngineError, Lead, RunExtras, RunObserver, RunResult, SampleLog, Started, run_beside,
};
use tidemark_live::ClientNow;
use tidemark_report::Lang;
use tidemark_runtime::{forget_program_text, share_one_heap};
pub use window::{IntervalWindow, is_due};

/// What a command prints of its run while it goes on, in the words of the tool it stands for.
pub trait Voice {
    /// All sessions are connected; load begins.
    fn started(&mut self, say: &mut LiveOutput<'_>) {
        let _ = say;
    }

    /// An interval ended.
    fn interval(&mut self, interval: &Interval, say: &mut LiveOutput<'_>);

    /// A rate was held for its time.
    fn step(&mut self, step: &Step, say: &mut LiveOutput<'_>) {
        let _ = (step, say);
    }

    /// A span between two checkpoints ended; `seconds` from the start of the measurement.
    fn checkpoint(&mut self, seconds: f64, totals: &Totals, say: &mut LiveOutput<'_>) {
        let _ = (seconds, totals, say);
    }

    /// The load is over, however it ended.
    fn ended(&mut self) {}

    /// What a transaction is called.
    fn unit(&self) -> &'static str {
        "transactions"
    }
}

/// What is to be measured.
pub struct RunContext<'a> {
    /// What the run is asked to do.
    pub job: &'a Job,
    /// The workload on its target.
    pub plan: &'a BoundWorkload,
    /// Where the record goes.
    pub outputs: &'a RecordOutputs,
    /// The command that makes the tables, as the user would write it.
    pub prepare: &'a str,
    /// Who leads the run from outside.
    pub lead: Option<&'a Lead>,
}

/// A run that can begin.
pub struct Ready<'a> {
    asked: RunContext<'a>,
    recording: Recording,
    storing: Storing,
    watching: &'a mut Watching,
}

/// A run that makes load: all who are told of it.
pub struct Making<'m, 'o> {
    /// What the run is asked to do.
    pub job: &'m Job,
    /// The workload on its target.
    pub plan: &'m BoundWorkload,
    /// Its record.
    pub recording: &'m mut Recording,
    /// The store.
    pub storing: &'m mut Storing,
    /// The view and the metrics.
    pub watching: &'m mut Watching,
    /// Where lines go.
    pub say: &'m mut LiveOutput<'o>,
}

/// A run that made load, however it ended.
pub struct MeasuredRun<'a> {
    asked: RunContext<'a>,
    /// What was measured.
    pub result: RunResult,
    /// Its record, without intervals.
    pub recording: Recording,
    storing: Storing,
    /// The clients that made it, where there are several, until its record is kept.
    pub clients: Option<Several>,
    /// Until its record is kept.
    _held: InterruptHold,
}

impl Making<'_, '_> {
    /// The load begins.
    pub fn begins(&mut self, begun: &Started) {
        let connector = &self.plan.connector;
        let fewer = load_begins(
            self.recording,
            self.storing,
            connector,
            self.watching,
            begun,
        );
        self.say.say_aside(&fewer);
    }

    /// Tells all of an interval: the store first, so that what is shown is kept.
    pub fn interval(&mut self, interval: &Interval) {
        self.say_unobserved();
        self.storing.interval(interval);
        self.watching.interval(interval);
    }

    /// Says which sources and endpoints that the user named can't be had, each once.
    fn say_unobserved(&mut self) {
        let watch = &self.job.watch;
        let has_nodes = watch.observe_nodes.is_some() || watch.observe_prometheus.is_some();
        let lang = language(&self.job.outputs.lang);
        for observed in self.recording.failed_to_start() {
            let source = observed.source.as_str();
            let has_endpoint = match source {
                SERVER_HOST => watch.observe_host.is_some(),
                SERVER_NODES => has_nodes,
                _ => false,
            };
            let is_named = has_endpoint || !watch.observe.is_auto() && watch.observe.wants(source);
            for gap in observed.gaps.iter().filter(|_| is_named) {
                let what = tidemark_report::unseen(&observed.source, gap, lang);
                let said = texts::not_observed(lang, what);
                self.say.say_aside(&format!("{said}\n"));
            }
        }
    }

    /// Where the user has left the view, or there is none, lines take its place.
    pub fn release_without_view(&mut self) {
        if !self.watching.has_view() {
            self.say.release();
        }
    }
}

impl<'a> Ready<'a> {
    /// Opens the store for a run that is about to begin.
    ///
    /// # Errors
    /// [`Failure`] as the store's.
    pub fn new(
        asked: RunContext<'a>,
        recording: Recording,
        watching: &'a mut Watching,
    ) -> Result<Self, Failure> {
        let mut storing = Storing::open(asked.job.outputs.store.as_deref())?;
        complain(&mut storing);
        forget_program_text();
        Ok(Self {
            asked,
            recording,
            storing,
            watching,
        })
    }

    /// One client's share of a run, whose intervals are told and not kept.
    pub fn of_client(
        asked: RunContext<'a>,
        recording: Recording,
        watching: &'a mut Watching,
    ) -> Self {
        Self {
            asked,
            recording,
            storing: Storing::of_series(),
            watching,
        }
    }

    /// The record so far.
    pub fn record(&self) -> &RunRecord {
        &self.recording.record
    }

    /// This process makes no load: of its host nothing is observed.
    pub fn observe_without_own_host(&mut self) {
        self.recording.is_coordinator = true;
    }

    /// What the run is asked to do.
    pub fn job(&self) -> &'a Job {
        self.asked.job
    }

    /// The workload on its target.
    pub fn plan(&self) -> &'a BoundWorkload {
        self.asked.plan
    }

    /// Who leads it from outside.
    pub fn lead(&self) -> Option<&'a Lead> {
        self.asked.lead
    }

    /// Makes a load of transactions and tells `voice` and whoever else watches; sums at `checkpoints`,
    /// moments from the start of the measurement in order; a line for every transaction to `samples`, with
    /// the run's number.
    ///
    /// # Errors
    /// As [`Ready::measure_by`].
    pub fn measure(
        self,
        checkpoints: &[Duration],
        samples: Option<(&SampleLog, u16)>,
        say: LiveOutput<'_>,
        voice: &mut dyn Voice,
    ) -> Result<MeasuredRun<'a>, Failure> {
        let lead = self.asked.lead;
        if let Some(several) = self.asked.job.clients.as_ref() {
            return clients::measure(self, several, checkpoints, samples, say, voice);
        }
        let measured = self.measure_by(say, |making| {
            // What read the options, what opened the sessions and what made the load need not be in memory
            // together: a client's memory is mostly its own program.
            forget_program_text();
            share_one_heap();
            let (job, plan) = (making.job, making.plan);
            let mut observer = Observer::new(making, voice);
            let stop = interrupt::handle();
            let (connector, workload) = (&plan.connector, &plan.workload);
            run_beside(
                &job.load,
                connector,
                workload,
                checkpoints,
                &stop,
                &mut observer,
                RunExtras { samples, lead },
            )
        });
        voice.ended();
        measured
    }

    /// Makes the load by `drive`, whatever it is made of.
    ///
    /// # Errors
    /// [`Failure`] when no load could be made; the record that says so goes to the outputs all the same.
    pub fn measure_by(
        self,
        mut say: LiveOutput<'_>,
        drive: impl FnOnce(Making<'_, '_>) -> Result<RunResult, EngineError>,
    ) -> Result<MeasuredRun<'a>, Failure> {
        let Ready {
            asked,
            mut recording,
            mut storing,
            watching,
        } = self;
        let measured = drive(Making {
            job: asked.job,
            plan: asked.plan,
            recording: &mut recording,
            storing: &mut storing,
            watching,
            say: &mut say,
        });
        let held = interrupt::hold();
        forget_program_text();
        watching.ended();
        say.release();
        say.bar().finish_and_clear();
        forget_program_text();
        match measured {
            Ok(result) => {
                recording.finish(&result);
                Ok(MeasuredRun {
                    asked,
                    result,
                    recording,
                    storing,
                    clients: None,
                    _held: held,
                })
            }
            Err(error) => {
                recording.failed(&error);
                let outputs = asked.outputs;
                outputs.keep(&mut recording, &mut storing, say.aside())?;
                Err(ready::failed(error, asked.prepare))
            }
        }
    }
}

impl MeasuredRun<'_> {
    /// Keeps series that came from elsewhere.
    pub fn take_series(&mut self, chunk: SeriesChunk) {
        (self.storing.sink())(chunk);
    }

    /// The record with its series, for whoever keeps it elsewhere.
    pub fn into_record(mut self) -> RunRecord {
        (_, self.recording.record.series) = self.storing.measured();
        self.recording.record
    }

    /// Looks at the tables again if the console does, keeps the record, and says how the run ended.
    /// `summary` is what was printed of it: where neither standard output nor the store took it, the error
    /// output is the only place left.
    ///
    /// # Errors
    /// [`Failure`] of a run that failed, or naming the file that can't be written.
    pub fn keep(mut self, console: &mut dyn Console, summary: &str) -> Result<StoredRun, Failure> {
        let (plan, outputs) = (self.asked.plan, self.asked.outputs);
        forget_program_text();
        // Who wants the end by force has no time for what hangs.
        let is_forced = matches!(self.result.failure, Some(EngineError::ForcedShutdown));
        if console.looks_again() && !is_forced {
            self.recording.look_again(&plan.connector, &plan.workload);
            forget_program_text();
        }
        let kept = outputs.keep(&mut self.recording, &mut self.storing, console.aside())?;
        if let Some(clients) = self.clients.take() {
            clients.kept();
        }
        if stdio::failure().is_some() && !kept {
            eprint!("{summary}");
        }
        let record = self.recording.record;
        Ok(StoredRun {
            code: console.verdict(self.result, &record, self.asked.prepare)?,
            totals: record.totals,
        })
    }
}

/// A run whose record is where it belongs.
pub struct StoredRun {
    /// How it ended.
    pub code: ExitCode,
    /// What it measured.
    pub totals: Totals,
}

/// After so many intervals nothing runs for the first time.
const SETTLING: u32 = 3;

/// Tells everybody in turn.
pub struct Observer<'m, 'o> {
    making: Making<'m, 'o>,
    voice: &'m mut dyn Voice,
    /// Intervals at which the program's pages were let go of.
    intervals: u32,
}

impl<'m, 'o> Observer<'m, 'o> {
    /// Those of a run, and the command's own lines.
    pub fn new(making: Making<'m, 'o>, voice: &'m mut dyn Voice) -> Self {
        Self {
            making,
            voice,
            intervals: 0,
        }
    }

    /// The record so far.
    pub fn head(&self) -> RunRecord {
        self.making.recording.record.clone()
    }

    /// Whether somebody is shown how each of several clients is.
    pub fn shows_clients(&self) -> bool {
        self.making.watching.shows_clients()
    }

    /// Shows how the clients are that make the load together.
    pub fn show_clients(&mut self, clients: Vec<ClientNow>) {
        self.making.watching.clients(clients);
    }

    /// Prints a line that is not the tool's.
    pub fn say_aside(&mut self, text: &str) {
        self.making.say.say_aside(text);
    }
}

impl RunObserver for Observer<'_, '_> {
    fn started(&mut self, begun: &Started) {
        self.making.begins(begun);
        self.voice.started(self.making.say);
        let types = self.making.plan.workload.transaction_types();
        forget_program_text();
        let info = run_info(&self.making.recording.record, &self.making.job.load, types);
        if self.making.watching.started(info) {
            self.making.say.hold();
        }
    }

    fn errors(&mut self, phase: Phase, errors: &[ErrorCount]) {
        self.making.watching.errors(phase, errors);
    }

    fn interval(&mut self, interval: &Interval) {
        // What began the run need not be in memory beside what tells of it, nor the load beside what
        // ends it. Between, the same runs again and again.
        // Its start is in whole milliseconds.
        let end_ms = interval.start_ms as f64 + interval.length_ms + 1.0;
        let time = self.making.job.load.time;
        let ends = time.is_some_and(|time| end_ms >= time.as_secs_f64() * 1000.0);
        if ends || self.intervals < SETTLING {
            forget_program_text();
            self.intervals += 1;
        }
        self.making.interval(interval);
        self.making.release_without_view();
        self.voice.interval(interval, self.making.say);
        let bar = self.making.say.bar();
        bar.inc(interval.length_ms as u64);
        let lang = language(&self.making.job.outputs.lang);
        bar.set_message(rate_message(interval, self.voice.unit(), lang));
    }

    fn waiting(&mut self) {
        let lang = language(&self.making.job.outputs.lang);
        let said = texts::time_limit(lang);
        self.making.say.say_aside(&format!("{said}\n"));
    }

    fn step(&mut self, step: &Step) {
        self.voice.step(step, self.making.say);
    }

    fn checkpoint(&mut self, seconds: f64, totals: &Totals) {
        self.voice.checkpoint(seconds, totals, self.making.say);
    }
}

/// What stands beside the bar: `warm-up, 812 transactions/s of 1000 asked`.
fn rate_message(interval: &Interval, unit: &str, lang: Lang) -> String {
    let count: u64 = interval.transactions();
    let rate = count as f64 / (interval.length_ms / 1000.0).max(1e-9);
    let phase = match interval.phase {
        Phase::Warmup => texts::warm_up(lang),
        Phase::Measure => "",
    };
    let asked = interval
        .rate
        .map(|r| texts::asked(lang, format_args!("{r:.0}")));
    format!("{phase}{rate:.0} {unit}/s{}", asked.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_says_phase_rate_and_what_was_asked() {
        let mut one = Interval {
            length_ms: 500.0,
            phase: Phase::Warmup,
            rate: Some(10.0),
            ..Interval::default()
        };
        let stats = tidemark_core::record::TypeStats {
            count: 4,
            ..Default::default()
        };
        one.types.insert("READ".into(), stats);
        assert_eq!(
            rate_message(&one, "operations", Lang::En),
            "warm-up, 8 operations/s of 10 asked"
        );
    }
}
