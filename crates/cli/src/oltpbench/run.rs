//! `--execute`: the phases of the workload file, one after the other, each a run of its own.

use super::efficiency::{no_efficiency, warning};
use super::files::{Place, Transactions};
use super::job::{Doing, Job, Phase};
use super::printer::Printer;
use super::windows::{Columns, Windows};
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::measuring::{Asked, Kept, measure};
use crate::outlet::Outlet;
use crate::outputs::{Outputs, say};
use crate::pacing::long_distance;
use crate::plan::Plan;
use crate::progress;
use crate::ready;
use crate::recording::{Described, Recording, describe};
use crate::watching::Watching;
use std::io::Write;
use std::time::{Duration, Instant};
use tidemark_core::{OptionValues, RunSpec, Source};
use tidemark_report::oltpbench::Results;
use tidemark_report::{Lang, sysbench, tpcc};
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
    fn new(job: &Job) -> Result<Self, Failure> {
        let options = &job.options;
        let place = Place::new(options)?;
        let mut windows = Vec::new();
        if options.flag("output-samples") {
            windows.push(Windows::new(&place, Columns::Samples, 1)?);
        }
        if let seconds @ 1.. = options.uint("sample") {
            windows.push(Windows::new(&place, Columns::Results, seconds)?);
        }
        let names = (job.definition.build)(options)?.transaction_types();
        let transactions = match options.flag("output-raw") {
            true => Some(Transactions::new(&place, options, names, &job.ids)?),
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
pub fn execute(job: &Job, args: &[String], out: &mut dyn Write) -> Result<ExitCode, Failure> {
    for phase in &job.phases {
        if let Doing::Run { options, .. } = &phase.doing {
            Outputs::new(options)?;
        }
    }
    let mut watching = Watching::new(&job.options)?;
    let prepare = prepare_command(&job.options);
    enough_warehouses(job, &prepare)?;
    let mut described = look(job, &prepare)?;
    let mut files = Files::new(job)?;
    say(
        out,
        &format!("Creating {} virtual terminals...\n", job.terminals),
    );
    let phases = job.phases.len();
    let s = if phases == 1 { "" } else { "s" };
    say(
        out,
        &format!("Launching the TPCC Benchmark with {phases} Phase{s}...\n"),
    );
    let mut results = Results::default();
    let mut ended = Ok(ExitCode::Success);
    let mut measured = 0;
    for phase in &job.phases {
        say(out, &format!("{}\n", phase.said));
        match &phase.doing {
            Doing::Nothing(time) => {
                if !pause(*time) {
                    ended = Ok(ExitCode::Interrupted);
                }
            }
            Doing::Run { options, spec, .. } => {
                let run = Run {
                    job,
                    phase,
                    options,
                    spec,
                    args,
                    prepare: &prepare,
                };
                match run.run(described.take(), &mut files, &mut watching, out) {
                    Ok(done) => {
                        let added = results.add(&done.totals);
                        added.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
                        measured += 1;
                        ended = Ok(done.code);
                    }
                    Err(failure) => ended = Err(failure),
                }
            }
        }
        if !matches!(ended, Ok(ExitCode::Success)) {
            break;
        }
    }
    if measured > 0 {
        let why = no_efficiency(job);
        let mut text = results.requests();
        text += &results.topline(job.warehouses, why.as_deref(), warning(job).as_deref());
        text += &results.latencies();
        if job.options.flag("histograms") {
            text += &results.completed();
        }
        say(out, &format!("{text}\n"));
    }
    files.finish(out);
    ended
}

/// One phase that makes load.
struct Run<'a> {
    job: &'a Job,
    phase: &'a Phase,
    options: &'a OptionValues,
    spec: &'a RunSpec,
    args: &'a [String],
    prepare: &'a str,
}

impl Run<'_> {
    fn run(
        &self,
        described: Option<Described>,
        files: &mut Files,
        watching: &mut Watching,
        out: &mut dyn Write,
    ) -> Result<Kept, Failure> {
        let (job, spec, options) = (self.job, self.spec, self.options);
        let outputs = Outputs::new(options)?;
        let plan = Plan::new(job.definition, options, job.target.clone(), false)?;
        if let Some(warning) = long_distance(options, spec) {
            say(out, &format!("WARNING: {warning}\n"));
        }
        if spec.pacing.is_open_loop() && (spec.sessions as u64) < job.warehouses {
            let homes = spec.sessions;
            let text = format!(
                "WARNING: {homes} sessions serve the rate, each at home in one warehouse: {} of \
                 {} warehouses are no home; --num-connections={} makes them all\n",
                job.warehouses - homes as u64,
                job.warehouses,
                job.warehouses
            );
            say(out, &text);
        }
        let described = match described {
            Some(described) => described,
            None => look_with(&plan, self.spec, options, self.prepare)?,
        };
        let name = job.definition.name;
        let recording = Recording::new(self.args, name, &job.target, options, spec, described);
        let samples = files.transactions.as_ref();
        let samples = samples.map(|t| (&t.log, self.phase.number));
        let every = Duration::from_millis(options.uint("interval-monitor"));
        let measured = measure(
            Asked {
                options,
                spec,
                plan: &plan,
                checkpoints: &[],
                samples,
                outputs: &outputs,
                prepare: self.prepare,
            },
            recording,
            watching,
            Outlet::one(out, progress::of_run(spec)),
            &mut Printer::new(every, &mut files.windows),
        )?;
        let text = self.told(&measured.recording)?;
        say(out, &text);
        measured.keep(out, &text)
    }

    /// What the family's programs have no words for.
    fn told(&self, recording: &Recording) -> Result<String, Failure> {
        let failed =
            |e: tidemark_report::ReportError| Failure::new(ExitCode::Failed, e.to_string());
        let record = &recording.record;
        let lang: Lang = self.options.text("lang").parse().map_err(Failure::usage)?;
        let mut text = tpcc::results(record, lang).map_err(failed)?;
        text += &sysbench::beyond(record).map_err(failed)?;
        text += &sysbench::errors(&record.errors);
        let verbose = self.options.flag("vv") || self.options.flag("verbose");
        if record.errors.is_empty() && verbose {
            text += "Errors: none\n";
        }
        Ok(text)
    }
}

/// What the first run finds, before any file is made.
fn look(job: &Job, prepare: &str) -> Result<Option<Described>, Failure> {
    let first = job.phases.iter().find_map(|phase| match &phase.doing {
        Doing::Run { options, spec, .. } => Some((options, spec)),
        Doing::Nothing(_) => None,
    });
    let Some((options, spec)) = first else {
        return Ok(None);
    };
    let plan = Plan::new(job.definition, options, job.target.clone(), false)?;
    look_with(&plan, spec, options, prepare).map(Some)
}

fn look_with(
    plan: &Plan,
    spec: &RunSpec,
    options: &OptionValues,
    prepare: &str,
) -> Result<Described, Failure> {
    let described = describe(&plan.connector, &plan.workload, spec.terminals)
        .map_err(|error| ready::failed(error, prepare))?;
    let needed = plan.workload.needs(spec.terminals);
    ready::tables(&needed, &described, options.flag("force"), prepare)?;
    Ok(described)
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
fn enough_warehouses(job: &Job, prepare: &str) -> Result<(), Failure> {
    let plan = Plan::new(job.definition, &job.options, job.target.clone(), false)?;
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
    let asked = job.options.uint("warehouses");
    match loaded {
        Ok(Ok(Some(loaded))) if loaded < asked => Err(Failure::new(
            ExitCode::NotPrepared,
            format!(
                "{asked} warehouses are asked for, {loaded} are loaded: ask for \
                 --warehouses={loaded}, or load {asked}: {prepare} --replace=true"
            ),
        )),
        _ => Ok(()),
    }
}
