//! A load and a run of pgbench as jobs.

use super::flags::long_of;
use super::parse::defaults;
use super::scripts::only_builtin;
use super::target::{CONNECTION, target};
use super::{load, run};
use crate::exit::Failure;
use crate::jobs::{Adapter, LoadOption, dashed, load_option};
use crate::pacing::sets_its_length;
use crate::plan::{loading_spec, native_spec};
use crate::runner::JobOrder;
use std::time::Duration;
use tidemark_core::{IgnoreErrors, Job, JobKind, OptionValues, Pacing, PreparedMode, RunSpec};
use tidemark_workloads::Definition;

/// `tidemark pgbench`.
pub const ADAPTER: Adapter = Adapter {
    name: "pgbench",
    defaults,
    connects: |name| CONNECTION.contains(&name),
    placed: PLACED,
    is_other: |kind, name| {
        name == "initialize" || kind == JobKind::Run && ["init-steps", "quiet"].contains(&name)
    },
    words: Some(|job| {
        let load = job.kind() == JobKind::Load;
        let before = load.then(|| "--initialize".to_string());
        (before.into_iter().collect(), Vec::new())
    }),
    word: |name, value| match (name, only_builtin(value)) {
        ("scripts", Some(builtin)) => dashed("builtin", &builtin),
        _ => dashed(long_of(name), value),
    },
    order,
    load: Some(load::load),
    run: run::run,
};

fn seconds(time: Duration) -> String {
    time.as_secs().to_string()
}

const PLACED: &[LoadOption] = &[
    load_option("time", "load.time", |j| {
        let own = !sets_its_length(&j.load.pacing);
        own.then(|| j.load.time.map_or_else(|| "0".into(), seconds))
    }),
    load_option("transactions", "load.events", |j: &Job| {
        let own = !sets_its_length(&j.load.pacing);
        let each = j.load.events? / (j.load.terminals as u64).max(1);
        own.then(|| each.max(1).to_string())
    }),
    load_option("warmup", "load.warmup", |j| Some(seconds(j.load.warmup))),
    load_option("seed", "load.seed", |j| Some(j.load.seed.to_string())),
    load_option("connect", "load.reconnect_every", |j| {
        Some(
            if j.load.reconnect_every > 0 {
                "on"
            } else {
                "off"
            }
            .into(),
        )
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
    let target = target(&options)?;
    let load = match kind {
        JobKind::Load => loading_spec(&options, "seed")?,
        JobKind::Run => run_spec(&options)?,
    };
    ADAPTER.ordered(kind, options, definition, target, load, command)
}

/// What a run is asked to do.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn run_spec(options: &OptionValues) -> Result<RunSpec, Failure> {
    let spec = native_spec(options, options.uint("seed"))?;
    let by_itself = sets_its_length(&spec.pacing);
    let time = Some(options.uint("time")).filter(|s| *s > 0 && !by_itself);
    let each = options.uint("transactions");
    let events = each.saturating_mul(spec.terminals as u64);
    let limit = options.float("latency-limit");
    // Of a schedule, what is late before it begins is not begun.
    let skips = limit > 0.0 && spec.pacing != Pacing::Closed;
    Ok(RunSpec {
        events: (time.is_none() && !by_itself).then_some(events),
        time: time.map(Duration::from_secs),
        warmup: Duration::from_secs(options.uint("warmup")),
        prepared: match options.text("protocol") {
            "prepared" => PreparedMode::Server,
            _ => PreparedMode::Text,
        },
        reconnect_every: u64::from(options.flag("connect")),
        skip_late: skips.then(|| Duration::from_secs_f64(limit / 1000.0)),
        ignore_errors: IgnoreErrors::Retryable { also: Vec::new() },
        ..spec
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::asked;
    use super::*;

    fn spec(line: &str) -> RunSpec {
        run_spec(&asked(line).unwrap().1).unwrap()
    }

    #[test]
    fn a_run_is_as_long_as_pgbenchs() {
        let s = spec("-c 4");
        assert_eq!((s.events, s.time, s.terminals), (Some(40), None, 4));
        assert_eq!(s.prepared, PreparedMode::Text);
        let s = spec("-T 5 -M prepared -C -R 100 -L 20 -j 2 -c 8");
        assert_eq!((s.events, s.time), (None, Some(Duration::from_secs(5))));
        assert_eq!((s.prepared, s.reconnect_every), (PreparedMode::Server, 1));
        assert_eq!(s.pacing, Pacing::Rate(100.0));
        assert_eq!(s.skip_late, Some(Duration::from_millis(20)));
        assert_eq!(s.executors, Some(2));
        assert_eq!(spec("-T 5 -L 20").skip_late, None);
    }
}
