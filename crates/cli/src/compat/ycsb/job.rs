//! A run of YCSB as a job.

use super::parse::{Asked, Command, Invocation, defaults, parse};
use super::properties::{CONNECTION, property_of};
use super::{Work, definition, flags, run};
use crate::compat::gotpc::job::{ignores, time};
use crate::exit::Failure;
use crate::jobs::{Adapter, LoadOption, dashed, load_option, no_run};
use crate::runner::Order;
use tidemark_core::duration_text::written;
use tidemark_core::{OptionValues, Source};
use tidemark_workloads::Definition;

/// `tidemark ycsb run`. How many operations there are is a property of the workload.
pub const ADAPTER: Adapter = Adapter {
    name: "ycsb",
    defaults,
    connects: |name| CONNECTION.iter().any(|option| option.name == name),
    load: LOAD,
    is_other: |name| ["dropdata", "batch-size"].contains(&name),
    words: Some(|_| (vec!["run".into()], Vec::new())),
    word: |name, value| match flags::is_flag(name) || name == "target" {
        true => dashed(name, value),
        false => format!("-p{}={value}", property_of(name)),
    },
    understand,
    order: |options, _, command| order(&Asked::of(options), command),
    run: |order| run::run(order, &Asked::of(order.options.clone())),
};

const LOAD: &[LoadOption] = &[
    load_option("time", "load.time", time),
    load_option("warmup", "load.warmup", |j| Some(written(j.load.warmup))),
    load_option("seed", "load.seed", |j| Some(j.load.seed.to_string())),
    load_option("ignore-error", "load.ignore_errors", ignores),
];

impl Asked {
    /// As if a run's options had been given one by one.
    fn of(options: OptionValues) -> Self {
        let given = options.shown().filter(|(name, _, source)| {
            *source == Source::CommandLine && !flags::is_flag(name) && *name != "target"
        });
        let properties = given.map(|(name, value, _)| (property_of(name).into(), value.into()));
        Self {
            command: Command::Run,
            database: None,
            words: Vec::new(),
            properties: properties.collect(),
            options,
            hints: Vec::new(),
            stand_ins: Vec::new(),
        }
    }
}

/// What words ask for.
fn understand(words: &[String], command: Vec<String>) -> Result<Order, Failure> {
    match parse(definition()?, words)? {
        Invocation::Do(asked) if asked.command == Command::Run => order(&asked, command),
        _ => Err(no_run()),
    }
}

/// What a command line asks for.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn order(asked: &Asked, command: Vec<String>) -> Result<Order, Failure> {
    let work = Work::new(asked)?;
    let target = work.target()?;
    let options = work.options_on(target.protocol)?;
    let definition: &'static Definition = work.definition;
    let workload = (definition.build)(&options)?;
    let load = run::run_spec(&work)?;
    let mut order = ADAPTER.ordered(options, definition, workload, target, load, command)?;
    order.job.notes.clone_from(&asked.stand_ins);
    Ok(order)
}
