//! `load`: the table, and its records.

use super::YcsbWork;
use super::lines::loaded;
use super::parse::YcsbCommand;
use crate::exit::{ExitCode, Failure};
use crate::loading::{self, is_kept};
use crate::plan::{BoundWorkload, load_spec};
use crate::record_outputs::say;
use crate::runner::JobOrder;
use std::sync::Arc;
use tidemark_core::{DbError, OptionValues, Source};
use tidemark_drivers::catalog;
use tidemark_engine::{Replace, is_unfinished};
use tidemark_runtime::block_on;

/// The refusal to do anything with a table of no records, with what is asked of the user.
pub(super) fn no_records(options: &OptionValues, question: &str) -> Failure {
    let said = match options.source("recordcount") {
        Source::Default => "recordcount is not set",
        _ => "recordcount=0: must be at least 1",
    };
    Failure::usage(format!("{said}: {question}"))
}

/// Makes and fills the table, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's, or of bad usage.
pub(super) fn load(order: &JobOrder, asked: &YcsbCommand) -> Result<ExitCode, Failure> {
    let work = YcsbWork::new(asked)?;
    let (plan, spec) = (BoundWorkload::of(order)?, load_spec(&order.job));
    let options = work.options();
    if options.uint("recordcount") == 0 && options.uint("insertcount") == 0 {
        return Err(no_records(
            options,
            "set the number of records to load; for example -p recordcount=100000",
        ));
    }
    let mut aside = work.aside();
    if is_kept(&order.job, &plan, &spec, &mut aside)? {
        return Ok(ExitCode::Success);
    }
    if spec.replace == Replace::Benchmark {
        only_ycsbs(&plan, "drop it")?;
    }
    say(&mut aside, &work.properties());
    let report = loading::load(&plan, &spec, work.lang, &mut aside)?;
    let seconds = report.elapsed.as_secs_f64();
    say(&mut aside, &loaded(report.rows_loaded, seconds));
    Ok(ExitCode::Success)
}

/// Refuses a table that is not YCSB's, and says what `--force` would do. Its name is the user's choice, so that it may be one that
/// Tidemark made for another benchmark, whose mark would let it pass.
pub(super) fn only_ycsbs(plan: &BoundWorkload, insists: &str) -> Result<(), Failure> {
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
                    [] => "its columns and keys differ".to_string(),
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
                "table {table} is not a YCSB table: {what}; nothing was changed. Use another \
                 --table or database, or add --force to {insists} anyway"
            ),
        )),
    }
}
