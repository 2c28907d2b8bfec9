//! `--create`, `--clear` and `--load`.

use super::execution::FileExecution;
use crate::exit::Failure;
use crate::loading::{self, drop_all, say};
use crate::plan::{BoundWorkload, load_seed};
use crate::render::language;
use std::io::Write;
use tidemark_core::Source;
use tidemark_drivers::BulkMethod;
use tidemark_engine::{LoadSpec, Replace, create};

/// How the load is made.
fn spec(execution: &FileExecution) -> LoadSpec {
    let options = &execution.options;
    LoadSpec {
        threads: usize::try_from(execution.loaders).unwrap_or(1),
        terminals: 1,
        chunk_rows: options.uint("chunk-rows"),
        seed: load_seed(options, "seed"),
        method: (options.text("load-method") == "insert").then_some(BulkMethod::MultiRowInsert),
        replace: match (options.flag("force"), options.flag("replace")) {
            (true, _) => Replace::Anything,
            (_, true) => Replace::Benchmark,
            _ => Replace::Nothing,
        },
        ..LoadSpec::default()
    }
}

fn plan(execution: &FileExecution, making: bool) -> Result<BoundWorkload, Failure> {
    let mut options = execution.options.clone();
    // The file's level is that of its transactions; a load has its own means.
    options.set("isolation", "default", Source::ConfigFile)?;
    BoundWorkload::new(
        execution.definition,
        &options,
        execution.target.clone(),
        making,
    )
}

/// Makes the tables, which `--load` then fills. Those of the benchmark that Tidemark made, or that
/// have no rows, are dropped, as the family's programs do.
///
/// # Errors
/// [`Failure`] as the engine's.
pub fn create_tables(execution: &FileExecution, out: &mut dyn Write) -> Result<(), Failure> {
    say(out, "Creating new TPCC database...");
    let plan = plan(execution, true)?;
    let mut spec = spec(execution);
    if spec.replace == Replace::Nothing {
        spec.replace = Replace::Made;
    }
    struct Silent;
    impl tidemark_engine::LoadObserver for Silent {
        fn creating(&mut self, _: &str, _: u64, _: u64) {}
        fn progress(&mut self, _: u64, _: u64) {}
        fn indexing(&mut self, _: &str) {}
        fn verifying(&mut self) {}
    }
    create(&plan.connector, &plan.workload, &spec, &mut Silent)?;
    for table in plan.workload.needs(1) {
        say(out, &format!("Created table '{table}'"));
    }
    say(out, "Finished!");
    Ok(())
}

/// Drops the tables.
///
/// # Errors
/// [`Failure`] as the engine's; [`crate::exit::ExitCode::Refused`] for a table that is not the
/// benchmark's.
pub fn clear(execution: &FileExecution, out: &mut dyn Write) -> Result<(), Failure> {
    say(out, "Resetting TPCC database...");
    let plan = plan(execution, false)?;
    drop_all(&plan, 1, execution.options.flag("force"), out)?;
    say(out, "Finished!");
    Ok(())
}

/// Fills the tables, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's.
pub fn load(execution: &FileExecution, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = spec(execution);
    say(
        out,
        &format!(
            "Loading data into TPCC database with {} threads...",
            spec.threads
        ),
    );
    let plan = plan(execution, true)?;
    let lang = language(execution.options.text("lang"));
    loading::load(&plan, &spec, lang, out)?;
    say(out, "Finished!");
    Ok(())
}
