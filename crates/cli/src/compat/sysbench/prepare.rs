//! `prepare`, `prewarm` and `cleanup`.

use super::{QUIET, lua, target};
use crate::exit::{ExitCode, Failure};
use crate::loading::{drop_all, is_kept, load, say};
use crate::pacing::terminals_and_sessions;
use crate::plan::{BoundWorkload, load_spec};
use crate::render::language;
use crate::runner::JobOrder;
use crate::stdio::Stdout;
use std::io::Write;
use std::sync::Arc;
use tidemark_core::{OptionValues, Shard};
use tidemark_lua::COMMAND_OPTION;
use tidemark_runtime::block_on;
use tidemark_workloads::Definition;

/// Makes and fills the tables, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's.
pub fn prepare(order: &JobOrder) -> Result<ExitCode, Failure> {
    if let Some(script) = tidemark_lua::script_of(order.definition) {
        let name = order.options.text_opt(COMMAND_OPTION).unwrap_or("prepare");
        let shard = order.job.load.shard;
        return lua::command(&script, name, order.definition, &order.options, shard);
    }
    let (plan, spec) = (BoundWorkload::of(order)?, load_spec(&order.job));
    let out = &mut outlet(&order.options);
    if is_kept(&order.job, &plan, &spec, out)? {
        return Ok(ExitCode::Success);
    }
    if spec.threads > 1 {
        say(out, "Initializing worker threads...\n");
    }
    load(&plan, &spec, language(&order.job.outputs.lang), out)?;
    Ok(ExitCode::Success)
}

/// Where lines go, if the user wants them.
pub fn outlet(options: &OptionValues) -> Box<dyn Write> {
    match options.uint("verbosity") >= QUIET {
        true => Box::new(Stdout),
        false => Box::new(std::io::sink()),
    }
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
    let plan = BoundWorkload::new(definition, options, target::target(options)?, false)?;
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
    definition: &'static Definition,
    options: &OptionValues,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let Some(script) = tidemark_lua::script_of(definition) {
        return lua::command(&script, "cleanup", definition, options, Shard::WHOLE).map(drop);
    }
    let plan = BoundWorkload::new(definition, options, target::target(options)?, false)?;
    let (terminals, _) = terminals_and_sessions(options)?;
    drop_all(&plan, terminals, options.flag("force"), out)
}
