//! Waiting for TiFlash: a query before the replicas are there would be TiKV's.

use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::loading::say;
use crate::plan::BoundWorkload;
use std::io::Write;
use std::time::{Duration, Instant};
use tidemark_core::DbError;
use tidemark_drivers::tiflash;
use tidemark_runtime::{block_on, sleep};

/// Between two looks: progress is kept by the minute.
const PAUSE: Duration = Duration::from_secs(1);
/// Between two lines.
const TELL: Duration = Duration::from_secs(10);

/// Waits until every table's replicas are there.
///
/// # Errors
/// [`Failure`] as the server's; [`ExitCode::Interrupted`] by Ctrl-C.
pub(super) fn wait(plan: &BoundWorkload, out: &mut dyn Write) -> Result<(), Failure> {
    let began = Instant::now();
    let mut told = None;
    loop {
        let lacking = lacking(plan)?;
        if lacking == 0 {
            let seconds = began.elapsed().as_secs_f64();
            say(out, &format!("TiFlash has all tables ({seconds:.0} s)"));
            return Ok(());
        }
        if told.is_none_or(|at: Instant| at.elapsed() >= TELL) {
            told = Some(Instant::now());
            say(
                out,
                &format!("Waiting for TiFlash: {lacking} tables are missing"),
            );
        }
        if interrupt::handle().is_stopped() {
            return Err(Failure::new(
                ExitCode::Interrupted,
                "interrupted: all rows are loaded; TiFlash continues to replicate them",
            ));
        }
    }
}

fn lacking(plan: &BoundWorkload) -> Result<u64, Failure> {
    let connector = plan.connector.clone().unlimited();
    let tables = plan.workload.needs(1);
    let looked = block_on(async move {
        sleep(PAUSE).await;
        let mut session = connector.connect(0).await?;
        let lacking = tiflash::lacking(&mut session, &tables).await;
        session.close().await;
        lacking
    });
    let looked: Result<u64, DbError> =
        looked.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
    Ok(looked?)
}
