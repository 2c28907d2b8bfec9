//! A run of a job, once: describe the target, see that its tables are there, measure, keep. What is
//! said meanwhile is the tool's: see [`Console`].

use crate::exit::{ExitCode, Failure};
use crate::hints;
use crate::looking::{Described, describe};
pub use crate::measuring::Ready;
use crate::measuring::{MeasuredRun, RunContext, StoredRun};
use crate::plan::BoundWorkload;
use crate::ready;
use crate::record_outputs::RecordOutputs;
use crate::recording::Recording;
use crate::render::language;
use crate::watching::Watching;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use tidemark_core::record::{RunRecord, Topology};
use tidemark_core::{Job, OptionValues, Target};
use tidemark_engine::{Lead, RunResult};
use tidemark_observe::{EndpointAccess, read_topology};
use tidemark_runtime::forget_program_text;
use tidemark_workloads::{Definition, Workload};

/// A job with what a job may not hold, and with the words in which it was asked for.
#[derive(Debug, Clone)]
pub struct JobOrder {
    /// The run, or the load.
    pub job: Job,
    /// Its workload's row of the registry.
    pub definition: &'static Definition,
    /// The workload with its settings.
    pub workload: Arc<dyn Workload>,
    /// The database, with its password.
    pub target: Target,
    /// The same in the tool's options: what a record tells, and what the tool prints by.
    pub options: OptionValues,
    /// The command line.
    pub command: Vec<String>,
    /// Who leads the run from outside: nobody, unless several clients make it.
    pub lead: Option<Lead>,
}

/// The words of a tool, and what it looks at beside.
pub trait Console {
    /// The command that makes the tables, as the user would write it.
    fn prepare_command(&self) -> String;

    /// Before anything is asked of the target: what the user may not have meant.
    ///
    /// # Errors
    /// [`Failure`] of what can't be run.
    fn begin(&mut self, order: &JobOrder) -> Result<(), Failure> {
        let _ = order;
        Ok(())
    }

    /// The tables are there: what else the workload needs of them.
    ///
    /// # Errors
    /// [`Failure`] when the run would measure something else.
    fn inspect(
        &mut self,
        order: &JobOrder,
        plan: &BoundWorkload,
        described: &mut Described,
    ) -> Result<(), Failure> {
        let _ = (order, plan, described);
        Ok(())
    }

    /// Whether hints were told already, of all runs of which this is one.
    fn is_hinted(&self) -> bool {
        false
    }

    /// The head of the output.
    fn header(&mut self, order: &JobOrder, record: &RunRecord);

    /// Nothing refuses the run any more: what the tool does to its tables before the load.
    ///
    /// # Errors
    /// [`Failure`] when it can't be done.
    fn before_load(&mut self, plan: &BoundWorkload) -> Result<(), Failure> {
        let _ = plan;
        Ok(())
    }

    /// Measures, by [`Ready::measure`] with an outlet and a voice of the tool's, or by
    /// [`Ready::measure_by`].
    ///
    /// # Errors
    /// Those of [`Ready::measure_by`].
    fn measure<'a>(&mut self, ready: Ready<'a>) -> Result<MeasuredRun<'a>, Failure>;

    /// Prints the summary, and returns what was printed.
    ///
    /// # Errors
    /// [`Failure`] when its figures can't be read.
    fn summary(&mut self, order: &JobOrder, measured: &MeasuredRun<'_>) -> Result<String, Failure>;

    /// Where lines go that are not the tool's.
    fn aside(&mut self) -> &mut dyn Write;

    /// Whether the tables are looked at again after the run.
    fn looks_again(&self) -> bool {
        true
    }

    /// How the run ended.
    ///
    /// # Errors
    /// [`Failure`] when it is no success.
    fn verdict(
        &mut self,
        result: RunResult,
        record: &RunRecord,
        prepare: &str,
    ) -> Result<ExitCode, Failure> {
        ready::ended(result, record, prepare)
    }

    /// The record is kept.
    ///
    /// # Errors
    /// [`Failure`] of what was checked after the run.
    fn after(
        &mut self,
        order: &JobOrder,
        plan: &BoundWorkload,
        kept: &StoredRun,
    ) -> Result<(), Failure> {
        let _ = (order, plan, kept);
        Ok(())
    }
}

/// Runs a job.
///
/// # Errors
/// [`Failure`] when no load could be made, or when the run failed after its start: then what was
/// measured is kept all the same.
pub fn run(order: &JobOrder, console: &mut dyn Console) -> Result<ExitCode, Failure> {
    let outputs = RecordOutputs::new(&order.job.outputs)?;
    let mut watching = Watching::new(&order.job.watch)?;
    let kept = run_watched(order, None, &outputs, &mut watching, console)?;
    Ok(kept.code)
}

/// Runs a job that is one of several: who watches goes on watching, and what an earlier look at the
/// target found need not be found again.
///
/// # Errors
/// As [`run`].
pub fn run_watched(
    order: &JobOrder,
    described: Option<Described>,
    outputs: &RecordOutputs,
    watching: &mut Watching,
    console: &mut dyn Console,
) -> Result<StoredRun, Failure> {
    let job = &order.job;
    // A client's memory is mostly its own program: what made the job need not be there any more.
    forget_program_text();
    let plan = BoundWorkload::of(order)?;
    console.begin(order)?;
    let prepare = console.prepare_command();
    let mut described = match described {
        Some(described) => described,
        None => look(order, &plan, &prepare)?,
    };
    console.inspect(order, &plan, &mut described)?;
    forget_program_text();
    let beside = std::mem::take(&mut described.beside);
    let recording = Recording::new(order, described);
    if !console.is_hinted() {
        let found = hints::before(&recording.record, &job.load, &plan, &beside);
        hints::judge(job.strict, &found, language(&job.outputs.lang))?;
    }
    console.header(order, &recording.record);
    forget_program_text();
    let asked = RunContext {
        job,
        plan: &plan,
        outputs,
        prepare: &prepare,
        lead: order.lead.as_ref(),
    };
    let ready = Ready::new(asked, recording, watching)?;
    console.before_load(&plan)?;
    let measured = console.measure(ready)?;
    let summary = console.summary(order, &measured)?;
    let kept = measured.keep(console, &summary)?;
    if kept.code == ExitCode::Success {
        console.after(order, &plan, &kept)?;
    }
    Ok(kept)
}

/// The cluster that a file describes.
///
/// # Errors
/// [`Failure`] of usage, with the key and the line of what is wrong.
pub fn topology_of(file: Option<&Path>) -> Result<Option<Topology>, Failure> {
    let read = |path: &Path| {
        read_topology(path)
            .map_err(|e| Failure::usage(format!("--topology={}: {e}", path.display())))
    };
    file.map(read).transpose()
}

/// Nothing is begun with a file of certificate authorities that can't be used.
///
/// # Errors
/// [`Failure`] of usage, with the file.
pub fn check_authorities(file: Option<&Path>) -> Result<(), Failure> {
    EndpointAccess::new(file).check().map_err(Failure::usage)
}

/// What the target says of itself, with all tables that the run needs.
///
/// # Errors
/// [`Failure`] when no session can be had, or a table is missing or somebody else's.
pub fn look(order: &JobOrder, plan: &BoundWorkload, prepare: &str) -> Result<Described, Failure> {
    forget_program_text();
    let watch = &order.job.watch;
    check_authorities(watch.observe_ca.as_deref())?;
    let file = topology_of(watch.topology.as_deref())?;
    let described =
        describe(&order.job, plan, file).map_err(|error| ready::failed(error, prepare))?;
    let needed = plan.workload.needs(order.job.load.terminals);
    ready::tables(&needed, &described, order.job.force, prepare)?;
    Ok(described)
}
