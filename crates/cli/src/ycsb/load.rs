//! `load`: the table, and its records.

use super::Work;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::loading::{Told, tell};
use crate::outputs::say;
use crate::plan::{load_seed, load_spec};
use tidemark_core::Source;
use tidemark_engine::{LoadSpec, Replace};
use tidemark_report::ycsb;

/// Makes and fills the table, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's, or of bad usage.
pub(super) fn load(work: &Work<'_>) -> Result<ExitCode, Failure> {
    let plan = work.plan(true)?;
    let options = work.options();
    if options.uint("recordcount") == 0 && options.uint("insertcount") == 0 {
        return Err(Failure::usage(
            "recordcount is not given: how many records are to be loaded? For example -p \
             recordcount=100000",
        ));
    }
    let spec = spec(work)?;
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
