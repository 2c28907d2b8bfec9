//! A phase of a workload file as a job.

use super::execution::{FileExecution, defaults};
use super::phases::{PhaseAction, WorkPhase, phase_spec};
use super::run::execute_orders;
use super::waits::WaitScale;
use crate::exit::{ExitCode, Failure};
use crate::jobs::{Adapter, LoadOption, dashed, load_option};
use crate::record_outputs::say;
use crate::runner::JobOrder;
use crate::stdio::{Stdout, print};
use std::time::Duration;
use tidemark_core::{Job, JobKind, OptionValues};
use tidemark_workloads::Definition;

/// `tidemark oltpbench --execute`, of one phase.
pub const ADAPTER: Adapter = Adapter {
    name: "oltpbench",
    defaults,
    connects: |name| name == "nodes",
    placed: PLACED,
    is_other: |_, name| OTHER.contains(&name),
    words: None,
    word: dashed,
    order,
    load: None,
    run,
};

/// Options of what is done beside a run, and those without effect.
const OTHER: &[&str] = &[
    "config",
    "create",
    "clear",
    "load",
    "execute",
    "create-sql-procedures",
    "initial-delay-secs",
    "help",
    "bench",
    "enable-foreign-keys",
    "merge-results",
    "merge-json-results",
    "geopartitioned-config",
    "json-histograms",
    "upload",
];

const PLACED: &[LoadOption] = &[
    load_option("time", "load.time", |j| {
        Some(j.load.time.unwrap_or_default().as_secs().to_string())
    }),
    load_option("warmup-time-secs", "load.warmup", |j| {
        Some(j.load.warmup.as_secs().to_string())
    }),
    load_option("reconnect", "load.reconnect_every", |j| {
        Some(j.load.reconnect_every.to_string())
    }),
    load_option("seed", "load.seed", |j| Some(j.load.seed.to_string())),
];

/// What a job's options ask for.
fn order(
    kind: JobKind,
    options: OptionValues,
    definition: &'static Definition,
    command: Vec<String>,
) -> Result<JobOrder, Failure> {
    let target = crate::target::from_url(options.text("target"))?;
    let seconds = |name| Duration::from_secs(options.uint(name));
    let load = phase_spec(&options, seconds("time"), seconds("warmup-time-secs"))?;
    ADAPTER.ordered(kind, options, definition, target, load, command)
}

/// The run of one phase; none of a phase that makes no load.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn order_of(
    execution: &FileExecution,
    phase: &WorkPhase,
    command: &[String],
) -> Result<Option<JobOrder>, Failure> {
    let PhaseAction::Run { options, spec, .. } = &phase.doing else {
        return Ok(None);
    };
    let (definition, target) = (execution.definition, execution.target.clone());
    let options = options.as_ref().clone();
    let (load, command) = (spec.as_ref().clone(), command.to_vec());
    let order = ADAPTER.ordered(JobKind::Run, options, definition, target, load, command)?;
    Ok(Some(order))
}

/// Prints the jobs of all phases that make load: one, or a list.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn print_jobs(execution: &FileExecution, command: &[String]) -> Result<ExitCode, Failure> {
    let mut jobs = Vec::new();
    for phase in &execution.phases {
        jobs.extend(order_of(execution, phase, command)?.map(|order| order.job));
    }
    let text = match jobs.as_slice() {
        [] => {
            return Err(Failure::usage(
                "--print-job: there is nothing to run; add --execute=true",
            ));
        }
        [one] => one.to_json(),
        several => {
            let texts: Vec<String> = several.iter().map(Job::to_json).collect();
            format!("[\n{}\n]", texts.join(",\n"))
        }
    };
    print(&format!("{text}\n"));
    Ok(ExitCode::Success)
}

/// Runs one phase again.
fn run(order: &JobOrder) -> Result<ExitCode, Failure> {
    let options = &order.options;
    let of = options.uint("phases");
    let number = u16::try_from(options.uint("phase")).unwrap_or(1);
    let seconds = order.job.load.time.unwrap_or_default().as_secs();
    let phase = WorkPhase {
        number,
        said: format!("Phase {number} of {of}: {seconds} s"),
        doing: PhaseAction::Run {
            options: Box::new(options.clone()),
            spec: Box::new(order.job.load.clone()),
            waits: waits(options),
            weights: weights(options)?,
        },
    };
    let ids = options.list("transaction-ids").into_iter();
    let execution = FileExecution {
        definition: order.definition,
        target: order.target.clone(),
        options: options.clone(),
        warehouses: options.uint("last-warehouse") + 1 - options.uint("first-warehouse").max(1),
        terminals: options.uint("terminals"),
        sessions: options.uint("num-connections"),
        loaders: options.uint("loaderthreads"),
        phases: vec![phase],
        ids: ids.filter_map(|id| id.parse().ok()).collect(),
        isolated: true,
        remarks: Vec::new(),
    };
    say(&mut Stdout, &super::header(&execution));
    execute_orders(&execution, &[Some(order.clone())], &mut Stdout)
}

/// How terminals pause.
fn waits(options: &OptionValues) -> WaitScale {
    let scale = options.float("wait-scale");
    match (options.flag("wait"), options.text("wait-for")) {
        (false, _) => WaitScale::NONE,
        (_, "keying") => WaitScale {
            keying: scale,
            ..WaitScale::NONE
        },
        (_, "think") => WaitScale {
            think: scale,
            ..WaitScale::NONE
        },
        _ => WaitScale {
            keying: scale,
            think: scale,
        },
    }
}

fn weights(options: &OptionValues) -> Result<[f64; 5], Failure> {
    let words = options.list("weight").into_iter();
    let weights: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    weights.try_into().map_err(|_| {
        Failure::usage(format!(
            "workload.settings.weight: {}: use five numbers; for example 45,43,4,4,4",
            options.text("weight")
        ))
    })
}
