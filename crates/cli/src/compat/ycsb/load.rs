//! `load`: the table, and its records.

use super::Work;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::loading::{Told, is_kept, tell};
use crate::outputs::say;
use crate::plan::{Plan, load_seed, load_spec};
use std::sync::Arc;
use tidemark_compat::ycsb;
use tidemark_core::{DbError, OptionValues, Source};
use tidemark_drivers::catalog;
use tidemark_engine::{LoadSpec, Replace, is_unfinished};
use tidemark_runtime::block_on;

/// The refusal to do anything with a table of no records, with what is asked of the user.
pub(super) fn no_records(options: &OptionValues, question: &str) -> Failure {
    let said = match options.source("recordcount") {
        Source::Default => "recordcount is not given",
        _ => "recordcount=0: allowed are 1 and more",
    };
    Failure::usage(format!("{said}: {question}"))
}

/// Makes and fills the table, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's, or of bad usage.
pub(super) fn load(work: &Work<'_>) -> Result<ExitCode, Failure> {
    let plan = work.plan()?;
    let options = work.options();
    if options.uint("recordcount") == 0 && options.uint("insertcount") == 0 {
        return Err(no_records(
            options,
            "how many records are to be loaded? For example -p recordcount=100000",
        ));
    }
    let spec = spec(work)?;
    if is_kept(options, &plan, &spec, &mut work.aside())? {
        return Ok(ExitCode::Success);
    }
    if spec.replace == Replace::Benchmark {
        only_ycsbs(&plan, "drop it")?;
    }
    say(&mut work.aside(), &work.properties());
    let report = {
        let mut aside = work.aside();
        let mut observer = Told::new(&mut aside);
        tidemark_engine::prepare(
            &plan.connector,
            &plan.workload,
            &spec,
            &interrupt::handle(),
            &mut observer,
        )?
    };
    let mut aside = work.aside();
    tell(&report, &mut aside);
    let seconds = report.elapsed.as_secs_f64();
    say(&mut aside, &ycsb::loaded(report.rows_loaded, seconds));
    Ok(ExitCode::Success)
}

/// Refuses a table that is not YCSB's, and says what `--force` would do. Its name is the user's choice, so that it may be one that
/// Tidemark made for another benchmark, whose mark would let it pass.
pub(super) fn only_ycsbs(plan: &Plan, insists: &str) -> Result<(), Failure> {
    let connector = plan.connector.clone().unlimited();
    let workload = Arc::clone(&plan.workload);
    let asked = block_on(async move {
        let mut session = connector.connect(0).await?;
        for table in workload.needs(1) {
            let found = catalog::describe_table(&mut session, &table).await?;
            // What its own load left has no key on some engines.
            if let Some(found) = found
                && !workload.recognises(&found)
                && !is_unfinished(&found)
            {
                let what = match workload.additions(&found).as_slice() {
                    [] => "its columns and keys are others".to_string(),
                    additions => format!("it has {}", additions.join(", ")),
                };
                return Ok(Some((table, what)));
            }
        }
        session.close().await;
        Ok::<Option<(String, String)>, DbError>(None)
    });
    match asked.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?? {
        None => Ok(()),
        Some((table, what)) => Err(Failure::new(
            ExitCode::Refused,
            format!(
                "table {table} is not YCSB's: {what}; nothing was changed. Use another --table or database, or add --force to {insists} all the same"
            ),
        )),
    }
}

fn spec(work: &Work<'_>) -> Result<LoadSpec, Failure> {
    let options = work.options();
    let mut spec = load_spec(options, load_seed(options, "seed"))?;
    if spec.replace == Replace::Nothing && options.flag("dropdata") {
        spec.replace = Replace::Benchmark;
    }
    let batch = options.uint("batch-size");
    if batch > 1 && options.source("chunk-rows") == Source::Default {
        spec.chunk_rows = batch;
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::super::parse::asked;
    use super::*;

    #[test]
    fn properties_say_how_it_is_loaded() {
        let asked =
            asked("load sqlite -p batch.size=50 -p dropdata=true -p threadcount=3").unwrap();
        let spec = spec(&Work::new(&asked).unwrap()).unwrap();
        assert_eq!((spec.chunk_rows, spec.threads), (50, 3));
        assert_eq!(spec.replace, Replace::Benchmark);
    }
}
