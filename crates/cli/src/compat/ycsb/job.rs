//! A load and a run of YCSB as jobs.

use super::parse::{YcsbCommand, defaults};
use super::properties::{CONNECTION, property_of};
use super::{YcsbWork, flags, load, run};
use crate::compat::gotpc::job::{DROPDATA, ignores, time};
use crate::exit::Failure;
use crate::jobs::{Adapter, LoadOption, dashed, load_option};
use crate::plan::loading_spec;
use crate::runner::JobOrder;
use tidemark_core::duration_text::written;
use tidemark_core::{JobKind, OptionValues, Source};
use tidemark_workloads::Definition;

/// `tidemark ycsb load` and `run`. How many operations there are is a property of the workload.
pub const ADAPTER: Adapter = Adapter {
    name: "ycsb",
    defaults,
    connects: |name| CONNECTION.iter().any(|option| option.name == name),
    placed: PLACED,
    is_other: |_, _| false,
    words: Some(|job| (vec![job.kind().word().into()], Vec::new())),
    word: |name, value| match flags::is_flag(name) || name == "target" {
        true => dashed(name, value),
        false => format!("-p{}={value}", property_of(name)),
    },
    order: |kind, options, _, command| order(&YcsbCommand::of(kind, options), command),
    load: Some(|order| load::load(order, &asked(order))),
    run: |order| run::run(order, &asked(order)),
};

const PLACED: &[LoadOption] = &[
    load_option("time", "load.time", time),
    load_option("warmup", "load.warmup", |j| Some(written(j.load.warmup))),
    load_option("seed", "load.seed", |j| Some(j.load.seed.to_string())),
    load_option("ignore-error", "load.ignore_errors", ignores),
    DROPDATA,
    load_option("batch-size", "prepare.chunk_rows", |_| None),
    // As properties.
    load_option("threadcount", "load.terminals", |_| None),
    load_option("maxexecutiontime", "load.time", |_| None),
    load_option("warmuptime", "load.warmup", |_| None),
];

fn asked(order: &JobOrder) -> YcsbCommand {
    YcsbCommand::of(order.job.kind(), order.options.clone())
}

impl YcsbCommand {
    /// As if the options had been given one by one.
    fn of(kind: JobKind, options: OptionValues) -> Self {
        let given = options.shown().filter(|(name, _, source)| {
            *source == Source::CommandLine && !flags::is_flag(name) && *name != "target"
        });
        let properties = given.map(|(name, value, _)| (property_of(name).into(), value.into()));
        Self {
            kind,
            database: None,
            words: Vec::new(),
            properties: properties.collect(),
            options,
            hints: Vec::new(),
            stand_ins: Vec::new(),
        }
    }
}

/// What a command line asks for.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn order(asked: &YcsbCommand, command: Vec<String>) -> Result<JobOrder, Failure> {
    let work = YcsbWork::new(asked)?;
    let target = work.target()?;
    let options = work.options_on(target.protocol)?;
    let definition: &'static Definition = work.definition;
    let load = match asked.kind {
        JobKind::Load => loading_spec(&options, "seed")?,
        JobKind::Run => run::run_spec(&work)?,
    };
    let kind = asked.kind;
    let batch = Some(options.uint("batch-size"))
        .filter(|rows| *rows > 1 && options.source("chunk-rows") == Source::Default);
    let mut order = ADAPTER.ordered(kind, options, definition, target, load, command)?;
    order.job.notes.clone_from(&asked.stand_ins);
    if let (Some(prepare), Some(rows)) = (&mut order.job.prepare, batch) {
        prepare.chunk_rows = rows;
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::super::parse::asked;
    use super::*;
    use crate::plan::load_spec;
    use tidemark_engine::Replace;

    #[test]
    fn properties_say_how_it_is_loaded() {
        let asked =
            asked("load sqlite -p batch.size=50 -p dropdata=true -p threadcount=3").unwrap();
        let spec = load_spec(&order(&asked, Vec::new()).unwrap().job);
        assert_eq!((spec.chunk_rows, spec.threads), (50, 3));
        assert_eq!(spec.replace, Replace::Benchmark);
    }
}
