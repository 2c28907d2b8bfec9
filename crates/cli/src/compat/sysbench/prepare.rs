//! `prepare`, `prewarm` and `cleanup`.

use super::target;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::loading::{Told, drop_all, is_kept, say, tell};
use crate::plan::{Plan, load_seed, load_spec};
use std::io::Write;
use std::sync::Arc;
use tidemark_core::OptionValues;
use tidemark_runtime::block_on;
use tidemark_workloads::Definition;

/// Makes and fills the tables, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's.
pub fn prepare(
    definition: &Definition,
    options: &OptionValues,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let plan = Plan::new(definition, options, target::target(options)?, true)?;
    let spec = load_spec(options, load_seed(options, "rand-seed"))?;
    if is_kept(options, &plan, &spec, out)? {
        return Ok(());
    }
    if spec.threads > 1 {
        say(out, "Initializing worker threads...\n");
    }
    let mut observer = Told::new(out);
    let report = tidemark_engine::prepare(
        &plan.connector,
        &plan.workload,
        &spec,
        &interrupt::handle(),
        &mut observer,
    )?;
    tell(&report, out);
    Ok(())
}

/// Brings the tables into the server's memory.
///
/// # Errors
/// [`Failure`] as the server's; [`ExitCode::Usage`] where the engine has no way to do it.
pub fn prewarm(
    definition: &Definition,
    options: &OptionValues,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let plan = Plan::new(definition, options, target::target(options)?, false)?;
    let (connector, workload) = (plan.connector.clone(), Arc::clone(&plan.workload));
    let (send, lines) = std::sync::mpsc::channel();
    let work = std::thread::spawn(move || {
        block_on(async move {
            let mut session = connector.connect(0).await?;
            for table in workload.prewarm(&session.dialect()) {
                // Nobody listens after an interrupt.
                let _ = send.send(table.table.clone());
                for sql in &table.statements {
                    session.query(sql).await?;
                }
            }
            session.close().await;
            Ok::<(), tidemark_core::DbError>(())
        })
    });
    for table in lines {
        say(out, &format!("Prewarming table {table}"));
    }
    match work.join() {
        Ok(Ok(done)) => done.map_err(Failure::from),
        Ok(Err(e)) => Err(Failure::new(ExitCode::Failed, e.to_string())),
        Err(_) => Err(Failure::new(
            ExitCode::Failed,
            "the prewarming thread panicked",
        )),
    }
}

/// Drops the tables.
///
/// # Errors
/// [`Failure`] as the engine's; [`ExitCode::Refused`] for a table that is not the benchmark's.
pub fn cleanup(
    definition: &Definition,
    options: &OptionValues,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let plan = Plan::new(definition, options, target::target(options)?, false)?;
    let terminals = load_spec(options, load_seed(options, "rand-seed"))?.terminals;
    drop_all(&plan, terminals, options.flag("force"), out)
}
