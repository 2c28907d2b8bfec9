//! `run`: connect, warm up, measure, print, keep.

use super::printer::Printer;
use super::{check, plan};
use crate::exit::{ExitCode, Failure};
use crate::gotpc::Work;
use crate::measuring::{Asked, measure};
use crate::outlet::Outlet;
use crate::output::Stdout;
use crate::outputs::{Outputs, say};
use crate::pacing::{described as asked, long_distance, sets_its_length};
use crate::plan::Plan;
use crate::progress;
use crate::ready;
use crate::recording::{Recording, describe};
use crate::watching::Watching;
use tidemark_analysis::tpcc::TERMINALS_PER_WAREHOUSE;
use tidemark_core::record::RunRecord;
use tidemark_core::{DbError, RunSpec};
use tidemark_drivers::catalog;
use tidemark_report::{sysbench, tpcc};
use tidemark_runtime::block_on;

/// The table whose rows are the warehouses.
const WAREHOUSE: &str = "warehouse";

/// Makes load and measures.
///
/// # Errors
/// [`Failure`] when no load could be made, or when the run failed after its start: then what was
/// measured is kept all the same.
pub(super) fn run(work: &Work<'_>, args: &[String]) -> Result<ExitCode, Failure> {
    let options = work.options;
    let outputs = Outputs::new(options)?;
    let mut watching = Watching::new(options)?;
    let spec = plan::run_spec(work)?;
    let plan = work.plan(false)?;
    let mut aside = work.aside();
    for warning in warnings(work, &spec) {
        say(&mut aside, &format!("WARNING: {warning}\n"));
    }
    let prepare = work.prepare_command();
    let described = describe(&plan.connector, &plan.workload, spec.terminals)
        .map_err(|error| ready::failed(error, &prepare))?;
    let needed = plan.workload.needs(spec.terminals);
    ready::tables(&needed, &described, options.flag("force"), &prepare)?;
    enough_warehouses(work, &plan, &prepare)?;
    let recording = Recording::new(
        args,
        work.definition.name,
        &plan.target,
        options,
        &spec,
        described,
    );
    say(&mut aside, &header(work, &spec, &recording.record));
    let measured = measure(
        Asked {
            options,
            spec: &spec,
            plan: &plan,
            checkpoints: &[],
            samples: None,
            outputs: &outputs,
            prepare: &prepare,
        },
        recording,
        &mut watching,
        Outlet::two(&mut Stdout, &mut aside, progress::of_run(&spec)),
        &mut Printer::new(work.style, options.time("interval")),
    )?;
    let (theirs, ours) = summaries(work, &measured.recording.record)?;
    say(&mut aside, "Finished\n");
    say(&mut Stdout, &theirs);
    say(&mut aside, &ours);
    let ended = measured.keep(&mut aside, &format!("{theirs}{ours}"))?.code;
    if options.flag("check-all") && ended == ExitCode::Success {
        check::after(work, &plan, spec.sessions, &mut aside)?;
    }
    Ok(ended)
}

/// What a run may be meant not to be.
fn warnings(work: &Work<'_>, spec: &RunSpec) -> Vec<String> {
    let mut warnings = Vec::new();
    if spec.time.is_none() && spec.events.is_none() && !sets_its_length(&spec.pacing) {
        warnings.push(
            "neither --time nor --count is given: the run goes on until Ctrl-C, and then tells \
             its figures"
                .into(),
        );
    }
    warnings.extend(long_distance(work.options, spec));
    let (terminals, warehouses) = (spec.terminals as u64, work.options.uint("warehouses"));
    let specified = warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE);
    if work.options.flag("wait") && terminals != specified {
        warnings.push(format!(
            "--wait with {terminals} terminals for {warehouses} warehouses: the specification has \
             ten for each: -T {specified}; they may share sessions: --connections {}",
            (specified / 5).max(1)
        ));
    }
    warnings
}

/// Whether as many warehouses are loaded as the run asks for.
fn enough_warehouses(work: &Work<'_>, plan: &Plan, prepare: &str) -> Result<(), Failure> {
    let connector = plan.connector.clone().unlimited();
    let loaded = block_on(async move {
        let mut session = connector.connect(0).await?;
        let rows = catalog::row_count(&mut session, WAREHOUSE).await?;
        session.close().await;
        Ok::<u64, DbError>(rows)
    });
    let failed = |e: &dyn std::fmt::Display| Failure::new(ExitCode::Failed, e.to_string());
    let loaded = loaded.map_err(|e| failed(&e))??;
    let asked = work.options.uint("warehouses");
    if loaded < asked {
        return Err(Failure::new(
            ExitCode::NotPrepared,
            format!(
                "--warehouses={asked}: {loaded} are loaded: ask for --warehouses={loaded}, or \
                 load {asked}: {prepare} --dropdata"
            ),
        ));
    }
    Ok(())
}

fn header(work: &Work<'_>, spec: &RunSpec, record: &RunRecord) -> String {
    let mut lines = vec![
        format!("tidemark {} (go-tpc output)", env!("CARGO_PKG_VERSION")),
        format!("Target: {}", record.target),
    ];
    if let Some(server) = &record.server {
        lines.push(format!("Server: {} {}", server.engine, server.version));
    }
    lines.push(format!(
        "Warehouses: {}, terminals: {}, seed: {}",
        work.options.uint("warehouses"),
        spec.terminals,
        spec.seed
    ));
    lines.extend(asked(spec));
    lines.join("\n") + "\n\n"
}

/// go-tpc's lines, and those that it has no words for.
fn summaries(work: &Work<'_>, record: &RunRecord) -> Result<(String, String), Failure> {
    let failed = |e: tidemark_report::ReportError| Failure::new(ExitCode::Failed, e.to_string());
    let theirs = tpcc::summary(record, work.style).map_err(failed)?;
    let mut ours = tpcc::results(record, work.lang).map_err(failed)?;
    ours += &sysbench::beyond(record).map_err(failed)?;
    ours += &sysbench::errors(&record.errors);
    Ok((theirs, ours))
}
