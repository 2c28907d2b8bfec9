//! sysbench's options as a job, and a job as sysbench's options.

use super::{prepare, run, settings, target};
use crate::exit::Failure;
use crate::jobs::{Adapter, LoadOption, dashed, load_option};
use crate::pacing::sets_its_length;
use crate::plan::{loading_spec, run_spec};
use crate::runner::JobOrder;
use tidemark_core::JobKind;
use tidemark_core::{IgnoreErrors, Job, OptionValues};
use tidemark_workloads::{CommandLine, Definition};

/// `tidemark sysbench … prepare` and `run`.
pub const ADAPTER: Adapter = Adapter {
    name: "sysbench",
    defaults: settings::defaults,
    connects,
    placed: PLACED,
    is_other: |_, name| ["help", "version", "config-file"].contains(&name),
    words: Some(|job| {
        let command = CommandLine::SYSBENCH.command(job.kind());
        // A script is named by its option.
        let name = job
            .workload
            .settings
            .get("script")
            .is_none()
            .then(|| job.workload.name.clone());
        let words = name.into_iter().chain([command.into()]);
        (Vec::new(), words.collect())
    }),
    word: dashed,
    order,
    load: Some(prepare::prepare),
    run: run::run,
};

/// Whether an option says where the database is.
fn connects(name: &str) -> bool {
    let not = [
        "mysql-ignore-errors",
        "mysql-storage-engine",
        "pgsql-variant",
    ];
    let prefixes = ["mysql-", "pgsql-", "sqlite-"];
    name == "db-driver" || (!not.contains(&name) && prefixes.iter().any(|p| name.starts_with(p)))
}

/// Seconds, where the run's length is not its schedule's.
fn limit(job: &Job, value: Option<u64>) -> Option<String> {
    let is_own = !sets_its_length(&job.load.pacing);
    is_own.then(|| value.unwrap_or(0).to_string())
}

/// What sysbench's own options say of the load.
pub(super) const PLACED: &[LoadOption] = &[
    load_option("config-file", "target.url", |_| None),
    load_option("time", "load.time", |j| {
        limit(j, j.load.time.map(|t| t.as_secs()))
    }),
    load_option("events", "load.events", |j| limit(j, j.load.events)),
    load_option("warmup-time", "load.warmup", |j| {
        Some(j.load.warmup.as_secs().to_string())
    }),
    load_option("rand-seed", "load.seed", |j| Some(j.load.seed.to_string())),
    load_option("reconnect", "load.reconnect_every", |j| {
        Some(j.load.reconnect_every.to_string())
    }),
    load_option("thread-init-timeout", "load.init_timeout", |j| {
        Some(j.load.init_timeout.as_secs().to_string())
    }),
    load_option("forced-shutdown", "load.forced_shutdown", |j| {
        Some(match j.load.forced_shutdown.map(|t| t.as_secs()) {
            None => "off".into(),
            Some(0) => "on".into(),
            Some(seconds) => seconds.to_string(),
        })
    }),
    load_option("mysql-ignore-errors", "load.ignore_errors", |j| {
        match &j.load.ignore_errors {
            // What the protocol has without a word of the user's.
            IgnoreErrors::Retryable { .. } => None,
            IgnoreErrors::Codes(codes) => Some(codes.join(",")),
            IgnoreErrors::All => Some("all".into()),
        }
    }),
];

/// What a command line asks for.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn order(
    kind: JobKind,
    options: OptionValues,
    definition: &'static Definition,
    command: Vec<String>,
) -> Result<JobOrder, Failure> {
    let target = target::target(&options)?;
    let load = match kind {
        JobKind::Load => loading_spec(&options, "rand-seed")?,
        JobKind::Run => {
            run::check(&options)?;
            run_spec(&options, target.protocol)?
        }
    };
    ADAPTER.ordered(kind, options, definition, target, load, command)
}
