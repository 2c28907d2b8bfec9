//! From command line and workload file to what is done.

use super::options::groups;
use super::phases::{PHASE, WorkPhase};
use super::waits::WaitScale;
use crate::exit::Failure;
use crate::native::LOAD;
use crate::target::{from_url, password_variable};
use std::path::Path;
use tidemark_analysis::tpcc::TERMINALS_PER_WAREHOUSE;
use tidemark_core::{Isolation, OptionValues, Protocol, Source, Target};
use tidemark_files::LONGEST_CONFIGURATION;
use tidemark_oltpbench::{Remark, TargetProblem, WorkloadFile};
use tidemark_workloads::Definition;

/// Sessions for each node, unless there are fewer warehouses.
const SESSIONS_PER_NODE: u64 = 200;
/// Warehouses when neither the command line nor the file says a number.
const WAREHOUSES: u64 = 10;
/// Sessions that load, unless there are fewer warehouses.
const LOADERS: u64 = 10;

/// Everything that is to be done, understood and not yet begun.
#[derive(Debug)]
pub struct FileExecution {
    /// TPC-C.
    pub definition: &'static Definition,
    /// The database.
    pub target: Target,
    /// Every option's effective value, but the phases'.
    pub options: OptionValues,
    /// Warehouses of this client.
    pub warehouses: u64,
    /// Emulated users of this client.
    pub terminals: u64,
    /// Sessions that they share.
    pub sessions: u64,
    /// Sessions that load.
    pub loaders: u64,
    /// The phases, in order.
    pub phases: Vec<WorkPhase>,
    /// Numbers of the transaction types in samples.
    pub ids: Vec<u32>,
    /// Whether the file names an isolation level.
    pub isolated: bool,
    /// What is worth knowing about the file and what becomes of it.
    pub remarks: Vec<String>,
}

/// Reads the workload file that the command line names.
///
/// # Errors
/// [`Failure`] of bad usage, naming file and line.
pub fn read(options: &OptionValues) -> Result<WorkloadFile, Failure> {
    let path = options.text("config");
    let shown = |e: &dyn std::fmt::Display| Failure::usage(format!("--config={path}: {e}"));
    if options.source("config") == Source::Default && !Path::new(path).exists() {
        return Err(Failure::usage(format!(
            "no workload file given, and {path} does not exist; for example: tidemark oltpbench \
             -c workload.xml --load=true"
        )));
    }
    let bytes =
        tidemark_files::read(path.as_ref(), LONGEST_CONFIGURATION).map_err(|e| shown(&e))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()]
            .iter()
            .filter(|b| **b == b'\n')
            .count();
        shown(&format!(
            "line {line}: not valid UTF-8; save the file as UTF-8"
        ))
    })?;
    WorkloadFile::parse(&text).map_err(|e| shown(&e))
}

/// What the command line and the file ask for.
///
/// # Errors
/// [`Failure`] of bad usage: numbers that contradict each other, a file that says too little.
pub fn execution(given: &OptionValues, file: &WorkloadFile) -> Result<FileExecution, Failure> {
    let definition = crate::compat::tpcc::definition()?;
    let config = given.text("config");
    let target = target(given, file)?;
    let number = |name: &str| Some(given.uint(name)).filter(|n| *n > 0);
    let scale = file.scale_factor.map(|s| (s.round() as u64).max(1));
    let warehouses = number("warehouses").or(scale).unwrap_or(WAREHOUSES);
    let start = given.uint("start-warehouse-id");
    let last = start + warehouses - 1;
    let total = number("total-warehouses").unwrap_or(warehouses);
    if last > total {
        return Err(Failure::usage(format!(
            "--start-warehouse-id={start} with {warehouses} warehouses ends at warehouse {last}, \
             but there are {total} in total; for example --total-warehouses={last}"
        )));
    }
    let nodes = target.hosts.len().max(1) as u64;
    let specified = warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE);
    let terminals = number("terminals")
        .or(file.terminals.map(u64::from))
        .unwrap_or(specified);
    let sessions = number("num-connections")
        .unwrap_or(warehouses.min(nodes.saturating_mul(SESSIONS_PER_NODE)))
        .min(terminals);
    let loaders = number("loaderthreads")
        .or(file.loader_threads.map(u64::from))
        .unwrap_or(warehouses.min(LOADERS));
    let waits = WaitScale::of(file).map_err(|e| in_file(config, &e))?;
    let mut remarks: Vec<String> = file.remarks.iter().map(|r| remark(config, r)).collect();
    if let Some(rows) = file.batch_size {
        remarks.push(format!(
            "<batchSize>{rows}</batchSize> has no effect: Tidemark chooses the rows per commit \
             for the database; --chunk-rows sets them"
        ));
    }
    let isolation = file.isolation.unwrap_or(Isolation::Serializable);
    let mut options = general(definition, given);
    let from_file = Source::ConfigFile;
    let command_line = |name: &str| match given.source(name) {
        Source::Default => from_file,
        _ => Source::CommandLine,
    };
    let set = |options: &mut OptionValues, name: &str, value: &str, source| {
        options.set(name, value, source).map_err(Failure::from)
    };
    let keys = [
        ("warehouses", total, "warehouses"),
        ("first-warehouse", start, "start-warehouse-id"),
        ("last-warehouse", last, "warehouses"),
        ("terminals", terminals, "terminals"),
        ("num-connections", sessions, "num-connections"),
        ("loaderthreads", loaders, "loaderthreads"),
    ];
    for (name, value, flag) in keys {
        set(&mut options, name, &value.to_string(), command_line(flag))?;
    }
    set(&mut options, "isolation", isolation.name(), from_file)?;
    // SQLite takes none for a table that is there.
    let can = target.protocol != Protocol::Sqlite;
    let foreign_keys = file.foreign_keys_after_load.unwrap_or(can);
    if options.source("foreign-keys") == Source::Default {
        set(&mut options, "foreign-keys", on(foreign_keys), from_file)?;
    }
    // Delivery is a transaction like the others to the family's programs.
    if options.source("delivery") == Source::Default {
        set(&mut options, "delivery", "inline", from_file)?;
    }
    if let Some(timeout) = file.connection_timeout
        && options.source("connect-timeout") == Source::Default
    {
        let timeout = format!("{}ms", timeout.as_millis());
        set(&mut options, "connect-timeout", &timeout, from_file)?;
    }
    if let Some(seed) = file.seed
        && options.source("seed") == Source::Default
    {
        set(&mut options, "seed", &seed.to_string(), from_file)?;
    }
    let mut execution = FileExecution {
        definition,
        target,
        options,
        warehouses,
        terminals,
        sessions,
        loaders,
        phases: Vec::new(),
        ids: ids(file),
        isolated: file.isolation.is_some(),
        remarks,
    };
    if given.flag("execute") {
        if file.works.is_empty() {
            return Err(Failure::usage(format!(
                "--config={config}: <parameters> has no <works>; for example <works><work>\
                 <time>60</time><rate>unlimited</rate><weights>45,43,4,4,4</weights></work></works>"
            )));
        }
        for (index, work) in file.works.iter().enumerate() {
            let phase = execution.phase(given, file, work, index, waits)?;
            execution.phases.push(phase);
        }
    }
    Ok(execution)
}

/// The tables of everything that a run may ask its options for, as if nothing were given.
pub(super) fn defaults(definition: &'static Definition) -> OptionValues {
    let groups = groups();
    let tables = groups.iter().map(|g| g.options.as_slice());
    // The workload's own come last: its warehouses are those of the tables.
    let tables = tables.chain([LOAD, PHASE]);
    OptionValues::defaults(tables.chain(definition.options.iter().copied()))
}

/// The same with the command line's values.
fn general(definition: &'static Definition, given: &OptionValues) -> OptionValues {
    let mut options = defaults(definition);
    for (name, value, source) in given.shown() {
        // What the other tables have of that name takes it, or sets it anew below.
        if source != Source::Default && name != "warehouses" {
            let _taken = options.set(name, value, source);
        }
    }
    options
}

pub(super) fn on(flag: bool) -> &'static str {
    if flag { "on" } else { "off" }
}

pub(super) fn in_file(config: &str, failure: &Failure) -> Failure {
    Failure::usage(format!("--config={config}: {failure}"))
}

fn remark(config: &str, remark: &Remark) -> String {
    format!("{config}, {remark}")
}

/// Numbers of the workload's transaction types, the deferred part of Delivery last.
fn ids(file: &WorkloadFile) -> Vec<u32> {
    let most = file.transactions.iter().map(|t| t.id).max().unwrap_or(0);
    let given = |kind: usize| file.transactions.iter().find(|t| t.kind == kind);
    let mut next = most;
    (0..=tidemark_oltpbench::TPCC.len())
        .map(|kind| {
            given(kind).map_or_else(
                || {
                    next += 1;
                    next
                },
                |t| t.id,
            )
        })
        .collect()
}

fn target(given: &OptionValues, file: &WorkloadFile) -> Result<Target, Failure> {
    if let Some(url) = given.text_opt("target") {
        if given.text_opt("nodes").is_some() {
            return Err(Failure::usage(
                "--target and --nodes both set the target; use one of them",
            ));
        }
        return from_url(url);
    }
    let nodes = given.list("nodes");
    let mut target = file
        .database
        .target(&nodes)
        .map_err(|problem| match problem {
            TargetProblem::File(e) => {
                Failure::usage(format!("--config={}: {e}", given.text("config")))
            }
            TargetProblem::Node { .. } => {
                Failure::usage(format!("--nodes={}: {problem}", given.text("nodes")))
            }
        })?;
    if target.password.is_empty()
        && let Some(password) = password_variable(target.protocol)?
    {
        target.password = password;
    }
    Ok(target)
}

#[cfg(test)]
#[path = "execution_tests.rs"]
mod tests;
