//! `run`, in go-tpc's words.

use super::check;
use super::printer::Printer;
use crate::compat::gotpc::GoTpcWork;
use crate::exit::{ExitCode, Failure};
use crate::live_output::LiveOutput;
use crate::looking::Described;
use crate::measuring::{MeasuredRun, StoredRun};
use crate::pacing::{described as asked, long_distance, sets_its_length};
use crate::plan::BoundWorkload;
use crate::progress;
use crate::record_outputs::say;
use crate::runner::{self, Console, JobOrder, Ready};
use crate::stdio::{Aside, Stdout};
use std::io::Write;
use tidemark_compat::tpcc::summary;
use tidemark_core::record::RunRecord;
use tidemark_core::{DbError, RunSpec};
use tidemark_drivers::catalog;
use tidemark_report::tpcc::results;
use tidemark_report::{beyond, errors};
use tidemark_runtime::block_on;

/// The table whose rows are the warehouses.
const WAREHOUSE: &str = "warehouse";

/// Makes load and measures.
///
/// # Errors
/// As [`runner::run`]; [`ExitCode::Check`] when a condition does not hold after the run.
pub(super) fn run(order: &JobOrder) -> Result<ExitCode, Failure> {
    let work = GoTpcWork::new(&super::flags::TOOL, &order.options)?;
    let aside = work.aside();
    runner::run(order, &mut TpccConsole { work, aside })
}

/// go-tpc's words for a run of TPC-C.
struct TpccConsole<'a> {
    work: GoTpcWork<'a>,
    aside: Aside,
}

impl Console for TpccConsole<'_> {
    fn prepare_command(&self) -> String {
        self.work.prepare_command()
    }

    fn begin(&mut self, order: &JobOrder) -> Result<(), Failure> {
        for warning in warnings(&self.work, &order.job.load) {
            say(&mut self.aside, &format!("WARNING: {warning}\n"));
        }
        Ok(())
    }

    fn inspect(
        &mut self,
        _order: &JobOrder,
        plan: &BoundWorkload,
        _described: &mut Described,
    ) -> Result<(), Failure> {
        enough_warehouses(&self.work, plan, &self.prepare_command())
    }

    fn header(&mut self, order: &JobOrder, record: &RunRecord) {
        let head = header(&self.work, &order.job.load, record);
        say(&mut self.aside, &head);
    }

    fn measure<'b>(&mut self, ready: Ready<'b>) -> Result<MeasuredRun<'b>, Failure> {
        let bar = progress::of_run(&ready.job().load, self.work.lang);
        let mut printer = Printer::new(self.work.style, self.work.options.time("interval"));
        let mut out = Stdout;
        let outlet = LiveOutput::two(&mut out, &mut self.aside, bar);
        ready.measure(&[], None, outlet, &mut printer)
    }

    fn summary(
        &mut self,
        _order: &JobOrder,
        measured: &MeasuredRun<'_>,
    ) -> Result<String, Failure> {
        let (theirs, ours) = summaries(&self.work, &measured.recording.record)?;
        say(&mut self.aside, "Finished\n");
        say(&mut Stdout, &theirs);
        say(&mut self.aside, &ours);
        Ok(format!("{theirs}{ours}"))
    }

    fn aside(&mut self) -> &mut dyn Write {
        &mut self.aside
    }

    fn after(
        &mut self,
        order: &JobOrder,
        plan: &BoundWorkload,
        _kept: &StoredRun,
    ) -> Result<(), Failure> {
        match self.work.options.flag("check-all") {
            true => check::after(&self.work, plan, order.job.load.sessions, &mut self.aside),
            false => Ok(()),
        }
    }
}

/// What a run may be meant not to be.
fn warnings(work: &GoTpcWork<'_>, spec: &RunSpec) -> Vec<String> {
    let mut warnings = Vec::new();
    if spec.time.is_none() && spec.events.is_none() && !sets_its_length(&spec.pacing) {
        warnings.push(
            "neither --time nor --count is set: the run continues until Ctrl-C, then prints its \
             results"
                .into(),
        );
    }
    warnings.extend(long_distance(work.options, spec));
    warnings
}

/// Whether as many warehouses are loaded as the run asks for.
fn enough_warehouses(
    work: &GoTpcWork<'_>,
    plan: &BoundWorkload,
    prepare: &str,
) -> Result<(), Failure> {
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
                "--warehouses={asked}: {loaded} are loaded: use --warehouses={loaded}, or load \
                 {asked}: {prepare} --dropdata"
            ),
        ));
    }
    Ok(())
}

fn header(work: &GoTpcWork<'_>, spec: &RunSpec, record: &RunRecord) -> String {
    let mut lines = vec![
        format!("tidemark {} (go-tpc output)", env!("TIDEMARK_VERSION")),
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
fn summaries(work: &GoTpcWork<'_>, record: &RunRecord) -> Result<(String, String), Failure> {
    let theirs = summary(record, work.style)?;
    let mut ours = results(record, work.lang)?;
    ours += &beyond(record)?;
    ours += &errors(&record.errors);
    Ok((theirs, ours))
}
