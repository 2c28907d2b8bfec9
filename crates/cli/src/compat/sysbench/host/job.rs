//! Tests of the machine as jobs.

use super::super::job::PLACED;
use super::options::{HostTestRow, TESTS, defaults};
use crate::exit::Failure;
use crate::jobs::{LoadOption, NATIVE_SETTINGS, dashed, options_of, outputs, watch};
use crate::plan::run_spec;
use tidemark_core::job::{
    JOB_VERSION, SessionSetup, Settings, TargetAddress, ToolChoice, WorkloadChoice,
};
use tidemark_core::{Job, OptionSpec, OptionValues, Protocol, RunSpec, Source, did_you_mean};

/// A test of the machine that is to be run.
#[derive(Debug)]
pub struct HostOrder {
    /// As others know it.
    pub job: Job,
    /// The test.
    pub test: &'static HostTestRow,
    /// Its options.
    pub options: OptionValues,
    /// The command line.
    pub command: Vec<String>,
}

/// Options with a place in the job.
fn placed() -> impl Iterator<Item = &'static LoadOption> {
    [NATIVE_SETTINGS, PLACED].into_iter().flatten()
}

/// Options that are no part of a job.
const OTHER: &[&str] = &["help", "version", "config-file", "print-job"];

/// What a command line asks for.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn order(
    test: &'static HostTestRow,
    options: OptionValues,
    command: Vec<String>,
) -> Result<HostOrder, Failure> {
    super::workers::check(test, &options)?;
    super::super::run::check(&options)?;
    let is_own = |spec: &OptionSpec| {
        spec.name == "validate" || test.options.iter().any(|own| own.name == spec.name)
    };
    let is_placed = |spec: &OptionSpec| {
        OTHER.contains(&spec.name) || placed().any(|option| option.name == spec.name)
    };
    let job = Job {
        version: JOB_VERSION,
        target: TargetAddress::machine(),
        session: SessionSetup::default(),
        workload: WorkloadChoice {
            name: test.name.into(),
            settings: Settings::of(&options, |spec| is_own(spec) && spec.name != "force"),
        },
        prepare: None,
        load: spec(test, &options)?,
        watch: watch(&options),
        outputs: outputs(&options),
        tool: ToolChoice {
            name: "sysbench".into(),
            settings: Settings::of(&options, |spec| !is_own(spec) && !is_placed(spec)),
        },
        force: options.flag("force"),
        strict: false,
        study: None,
        sum_tables: false,
        skip_row_counts: false,
        clients: None,
        machine: None,
        notes: Vec::new(),
    };
    Ok(HostOrder {
        job,
        test,
        options,
        command,
    })
}

/// How load is made: what belongs to sessions is as if there were some.
fn spec(test: &HostTestRow, options: &OptionValues) -> Result<RunSpec, Failure> {
    let spec = run_spec(options, Protocol::Sqlite)?;
    if test.name == "mutex" && !spec.warmup.is_zero() {
        return Err(Failure::usage(format!(
            "--warmup-time={} does not go with mutex, whose threads have one event each; use \
             --warmup-time=0",
            options.uint("warmup-time")
        )));
    }
    let usual = RunSpec::default();
    Ok(RunSpec {
        busy_poll: usual.busy_poll,
        connect_timeout: usual.connect_timeout,
        reconnect_timeout: usual.reconnect_timeout,
        ..spec
    })
}

/// What a job asks for.
///
/// # Errors
/// [`Failure`] of bad usage, naming the key and what is allowed.
pub fn order_of_job(job: &Job) -> Result<HostOrder, Failure> {
    let name = &*job.workload.name;
    let test = TESTS.iter().find(|test| test.name == name).ok_or_else(|| {
        let names: Vec<&str> = TESTS.iter().map(|test| test.name).collect();
        let hint = did_you_mean(name, names.iter().copied());
        Failure::usage(format!(
            "workload.name: {name}: tests of the machine (target.url is \"{}\") are {}{hint}",
            job.target.url,
            names.join(", ")
        ))
    })?;
    if job.tool.name != "sysbench" {
        return Err(Failure::usage(format!(
            "tool.name: {}: tests of the machine are sysbench's; write \"sysbench\"",
            job.tool.name
        )));
    }
    let mut options = options_of(job, defaults(test), placed(), |name| OTHER.contains(&name))?;
    if job.force && options.has("force") {
        options.set("force", "on", Source::CommandLine)?;
    }
    let mut command = ["tidemark", "sysbench", test.name]
        .map(String::from)
        .to_vec();
    for (name, value, source) in options.shown() {
        if source == Source::CommandLine {
            command.push(dashed(name, value));
        }
    }
    command.push("run".into());
    order(test, options, command)
}
