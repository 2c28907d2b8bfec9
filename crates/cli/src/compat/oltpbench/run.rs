//! `--execute`: the phases of the workload file, one after the other, each a run of its own.

use super::efficiency::{no_efficiency, warning};
use super::execution::FileExecution;
use super::files::{ResultFiles, Transactions};
use super::job;
use super::phases::PhaseAction;
use super::printer::Printer;
use super::windows::{WindowColumns, Windows};
use crate::exit::{ExitCode, Failure};
use crate::hints::{self, Hint};
use crate::interrupt;
use crate::jobs::watch;
use crate::live_output::LiveOutput;
use crate::looking::Described;
use crate::measuring::MeasuredRun;
use crate::pacing::long_distance;
use crate::plan::BoundWorkload;
use crate::progress;
use crate::record_outputs::{RecordOutputs, say};
use crate::recording::Recording;
use crate::render::language;
use crate::runner::{self, Console, JobOrder, Ready};
use crate::watching::Watching;
use std::io::Write;
use std::time::{Duration, Instant};
use tidemark_compat::oltpbench::Results;
use tidemark_core::record::RunRecord;
use tidemark_core::{OptionValues, Source};
use tidemark_report::Lang;
use tidemark_report::{beyond, errors, tpcc};
use tidemark_runtime::block_on;

/// How often a wait looks whether the user ended it.
const LOOK: Duration = Duration::from_millis(50);
/// The table whose rows are the warehouses.
const WAREHOUSE: &str = "warehouse";

/// Waits, unless the user ends it; whether the time passed.
pub fn pause(time: Duration) -> bool {
    let stop = interrupt::handle();
    let end = Instant::now() + time;
    while !stop.is_stopped() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
    false
}

/// What the files of a whole execution need.
struct Files {
    transactions: Option<Transactions>,
    windows: Vec<Windows>,
}

impl Files {
    fn new(execution: &FileExecution) -> Result<Self, Failure> {
        let options = &execution.options;
        let place = ResultFiles::new(options)?;
        let mut windows = Vec::new();
        if options.flag("output-samples") {
            windows.push(Windows::new(&place, WindowColumns::Samples, 1)?);
        }
        if let seconds @ 1.. = options.uint("sample") {
            windows.push(Windows::new(&place, WindowColumns::Results, seconds)?);
        }
        let names = (execution.definition.build)(options)?.transaction_types();
        let transactions = match options.flag("output-raw") {
            true => Some(Transactions::new(&place, options, names, &execution.ids)?),
            false => None,
        };
        Ok(Self {
            transactions,
            windows,
        })
    }

    /// Ends the files and tells of them.
    fn finish(self, out: &mut dyn Write) {
        if let Some(transactions) = self.transactions {
            let (said, _) = transactions.finish();
            say(out, &said);
        }
        for windows in self.windows {
            say(out, &windows.finish());
        }
    }
}

/// Runs the phases.
///
/// # Errors
/// [`Failure`] of the first phase that could not begin or failed; the phases before it are told
/// all the same.
pub fn execute(
    execution: &FileExecution,
    args: &[String],
    out: &mut dyn Write,
) -> Result<ExitCode, Failure> {
    let phases = execution.phases.iter();
    let orders: Vec<Option<JobOrder>> = phases
        .map(|phase| job::order_of(execution, phase, args))
        .collect::<Result<_, _>>()?;
    execute_orders(execution, &orders, out)
}

/// Runs the phases' orders; a phase without one makes no load.
///
/// # Errors
/// As [`execute`].
pub fn execute_orders(
    execution: &FileExecution,
    orders: &[Option<JobOrder>],
    out: &mut dyn Write,
) -> Result<ExitCode, Failure> {
    for order in orders.iter().flatten() {
        RecordOutputs::new(&order.job.outputs)?;
    }
    let mut watching = Watching::new(&watch(&execution.options))?;
    let prepare = prepare_command(&execution.options);
    enough_warehouses(execution, &prepare)?;
    let first = orders.iter().flatten().next();
    let mut described = match first {
        Some(order) => Some(runner::look(order, &BoundWorkload::of(order)?, &prepare)?),
        None => None,
    };
    hint(orders, described.as_ref())?;
    let mut files = Files::new(execution)?;
    say(
        out,
        &format!("Creating {} virtual terminals...\n", execution.terminals),
    );
    let phases = execution.phases.len();
    let s = if phases == 1 { "" } else { "s" };
    say(
        out,
        &format!("Launching the TPCC Benchmark with {phases} Phase{s}...\n"),
    );
    let mut results = Results::default();
    let mut ended = Ok(ExitCode::Success);
    let mut measured = 0;
    for (phase, order) in execution.phases.iter().zip(orders) {
        say(out, &format!("{}\n", phase.said));
        match (&phase.doing, order) {
            (PhaseAction::Run { .. }, Some(order)) => {
                let mut words = OltpbenchConsole {
                    warehouses: execution.warehouses,
                    options: &order.options,
                    number: phase.number,
                    prepare: &prepare,
                    files: &mut files,
                    out,
                };
                let ran = RecordOutputs::new(&order.job.outputs).and_then(|outputs| {
                    let found = described.take();
                    runner::run_watched(order, found, &outputs, &mut watching, &mut words)
                });
                match ran {
                    Ok(done) => {
                        results
                            .add(&done.totals)
                            .map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
                        measured += 1;
                        ended = Ok(done.code);
                    }
                    Err(failure) => ended = Err(failure),
                }
            }
            (PhaseAction::Nothing(time), _) if !pause(*time) => ended = Ok(ExitCode::Interrupted),
            _ => {}
        }
        if !matches!(ended, Ok(ExitCode::Success)) {
            break;
        }
    }
    if measured > 0 {
        let why = no_efficiency(execution);
        let mut text = results.requests();
        text += &results.topline(
            execution.warehouses,
            why.as_deref(),
            warning(execution).as_deref(),
        );
        text += &results.latencies();
        if execution.options.flag("histograms") {
            text += &results.completed();
        }
        say(out, &format!("{text}\n"));
    }
    files.finish(out);
    ended
}

/// Tells of everything that will make figures of any phase misleading, before the first of them.
fn hint(orders: &[Option<JobOrder>], described: Option<&Described>) -> Result<(), Failure> {
    // Without a phase nothing was looked at.
    let Some(described) = described else {
        return Ok(());
    };
    let mut found: Vec<Hint> = Vec::new();
    let (mut strict, mut lang) = (false, Lang::default());
    for order in orders.iter().flatten() {
        let (plan, load) = (BoundWorkload::of(order)?, &order.job.load);
        let record = Recording::new(order, described.clone()).record;
        for hint in hints::before(&record, load, &plan, &described.beside) {
            if !found.contains(&hint) {
                found.push(hint);
            }
        }
        strict |= order.job.strict;
        lang = language(&order.job.outputs.lang);
    }
    hints::judge(strict, &found, lang)
}

/// The family's words for one phase.
struct OltpbenchConsole<'a, 'f> {
    warehouses: u64,
    options: &'a OptionValues,
    number: u16,
    prepare: &'a str,
    files: &'f mut Files,
    out: &'f mut dyn Write,
}

impl Console for OltpbenchConsole<'_, '_> {
    fn prepare_command(&self) -> String {
        self.prepare.into()
    }

    fn begin(&mut self, order: &JobOrder) -> Result<(), Failure> {
        let load = &order.job.load;
        if let Some(warning) = long_distance(self.options, load) {
            say(self.out, &format!("WARNING: {warning}\n"));
        }
        let (homes, warehouses) = (load.sessions as u64, self.warehouses);
        if load.pacing.is_open_loop() && homes < warehouses {
            let text = format!(
                "WARNING: {homes} sessions serve the rate, each bound to one warehouse: {} of \
                 {warehouses} warehouses have no session; use --num-connections={warehouses}\n",
                warehouses - homes,
            );
            say(self.out, &text);
        }
        Ok(())
    }

    fn is_hinted(&self) -> bool {
        true
    }

    fn header(&mut self, _order: &JobOrder, _record: &RunRecord) {}

    fn measure<'b>(&mut self, ready: Ready<'b>) -> Result<MeasuredRun<'b>, Failure> {
        let every = Duration::from_millis(self.options.uint("interval-monitor"));
        let bar = progress::of_run(&ready.job().load, language(self.options.text("lang")));
        let samples = self.files.transactions.as_ref();
        let samples = samples.map(|t| (&t.log, self.number));
        let mut printer = Printer::new(every, &mut self.files.windows);
        ready.measure(&[], samples, LiveOutput::one(self.out, bar), &mut printer)
    }

    fn summary(
        &mut self,
        _order: &JobOrder,
        measured: &MeasuredRun<'_>,
    ) -> Result<String, Failure> {
        let text = told(self.options, &measured.recording.record)?;
        say(self.out, &text);
        Ok(text)
    }

    fn aside(&mut self) -> &mut dyn Write {
        self.out
    }
}

/// What the family's programs have no words for.
fn told(options: &OptionValues, record: &RunRecord) -> Result<String, Failure> {
    let lang = language(options.text("lang"));
    let mut text = tpcc::results(record, lang)?;
    text += &beyond(record)?;
    text += &errors(&record.errors);
    let verbose = options.flag("vv") || options.flag("verbose");
    if record.errors.is_empty() && verbose {
        text += "Errors: none\n";
    }
    Ok(text)
}

/// The command that makes the tables, as the user would write it.
fn prepare_command(options: &OptionValues) -> String {
    let shapes = [
        "config",
        "nodes",
        "target",
        "warehouses",
        "total-warehouses",
    ];
    let mut words = vec!["tidemark".to_string(), "oltpbench".into()];
    for (name, value, source) in options.shown() {
        if source == Source::CommandLine && shapes.contains(&name) {
            words.push(format!("--{name}={value}"));
        }
    }
    words.push("--load=true".into());
    crate::shell::line(&words)
}

/// Whether as many warehouses are loaded as the phases ask for. Where the table is not there yet,
/// or not to be read, the run itself tells.
fn enough_warehouses(execution: &FileExecution, prepare: &str) -> Result<(), Failure> {
    let plan = BoundWorkload::new(
        execution.definition,
        &execution.options,
        execution.target.clone(),
        false,
    )?;
    let connector = plan.connector.unlimited();
    let loaded = block_on(async move {
        let mut session = connector.connect(0).await?;
        let there = tidemark_drivers::catalog::describe_table(&mut session, WAREHOUSE).await?;
        let rows = match there {
            Some(_) => Some(tidemark_drivers::catalog::row_count(&mut session, WAREHOUSE).await?),
            None => None,
        };
        session.close().await;
        Ok::<_, tidemark_core::DbError>(rows)
    });
    let asked = execution.options.uint("warehouses");
    match loaded {
        Ok(Ok(Some(loaded))) if loaded < asked => Err(Failure::new(
            ExitCode::NotPrepared,
            format!(
                "{asked} warehouses are requested, {loaded} are loaded: use \
                 --warehouses={loaded}, or load {asked}: {prepare} --replace=true"
            ),
        )),
        _ => Ok(()),
    }
}
