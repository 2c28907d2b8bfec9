//! Streams that several clients ask together: each asks its own, and the coordinator takes them down.

use super::run::{run_tests, streams_spec};
use super::test_plan::TestPlan;
use super::watch::StreamsWatch;
use crate::clients;
use crate::compat::gotpc::GoTpcWork;
use crate::exit::Failure;
use crate::live_output::LiveOutput;
use crate::looking::describe_counting;
use crate::measuring::Ready;
use crate::ready;
use crate::runner::JobOrder;
use indicatif::ProgressBar;
use std::time::Duration;
use tidemark_core::job::{ClientLoss, Clients};
use tidemark_core::record::{QueryRun, RunRecord};
use tidemark_drivers::Dialect;

/// Refuses what several clients can't ask together.
///
/// # Errors
/// [`Failure`] of bad usage, with what to use instead.
pub(super) fn must_be_possible(asked: &TestPlan, several: &Clients) -> Result<(), Failure> {
    let refused = |why: &str| Failure::usage(format!("--clients={}: {why}", several.hosts));
    asked
        .shared_by(clients::count(several)?)
        .map_err(|why| refused(&why))?;
    if asked.check {
        return Err(refused(
            "--check compares answers on one client; check once without --clients",
        ));
    }
    match several.on_loss {
        ClientLoss::Fail => Ok(()),
        ClientLoss::Continue => Err(refused(
            "--on-client-loss=continue would leave out streams of the test; use fail",
        )),
    }
}

/// Asks one client's streams, of which nothing is printed; `tell` is told each query that ended.
///
/// # Errors
/// [`Failure`] when no stream could begin.
pub fn ask_share(
    order: &JobOrder,
    ready: Ready<'_>,
    tell: &dyn Fn(&QueryRun),
) -> Result<RunRecord, Failure> {
    let work = GoTpcWork::new(&super::TOOL, &order.options)?;
    let asked = TestPlan::new(&order.options)?.dealt(order.job.load.shard)?;
    let plan = ready.plan();
    // The coordinator has looked at the tables; queries are written for an engine.
    let found = describe_counting(&plan.connector, &plan.workload, 1, 0);
    let found = found.map_err(|error| ready::failed(error, &work.prepare_command()))?;
    let dialect = Dialect::new(found.server.engine);
    let spec = streams_spec(&asked, &order.options, dialect, ready.lead());
    let tests = asked.tests(&plan.workload, dialect);
    let questions = asked.questions();
    let mut nowhere = std::io::sink();
    let say = LiveOutput::one(&mut nowhere, ProgressBar::hidden());
    let measured = ready.measure_by(say, |making| {
        let mut watch =
            StreamsWatch::new(making, &asked, &questions, work.style, Duration::ZERO, None);
        watch.tell = Some(tell);
        Ok(run_tests(&tests, &spec, watch))
    })?;
    Ok(measured.into_record())
}
