//! `tidemark diagnose`: experiments around a baseline. Each run is a child process, as a study's steps
//! are ([ADR 22](../../../../docs/adr/0022-a-study-runs-child-processes.md)); what their ratios prove is
//! decided in `tidemark_analysis::experiments`.

pub mod after_run;
mod battery;
mod changes;
mod child_runs;
pub mod client_cpu;
mod global_setting;
mod left_settings;
pub mod ping;
mod quiet;
mod run_facts;
mod server_lock;
mod together;
mod told;

pub use battery::DiagnosisOptions;
pub use global_setting::{StillChanged, restore_left, still_changed};

use crate::args;
use crate::clients;
use crate::compat::sysbench::lua::definition_of_job;
use crate::exit::{ExitCode, Failure};
use crate::frontend;
use crate::jobs;
use crate::runs;
use crate::stdio::print;
use crate::storing::store_path;
use crate::study::interrupt;
use battery::{Battery, BatteryResult};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tidemark_core::{Job, JobKind, Target};
use tidemark_report::Lang;
use tidemark_store::Store;
use tidemark_workloads::Definition;

/// The tag of every run of a diagnosis.
pub const TAG: &str = "diagnose";
/// In less time no experiment has four pairs.
pub const SHORTEST: Duration = Duration::from_secs(20);

/// Runs the experiments and prints what they prove.
///
/// # Errors
/// [`Failure`] of what can't be diagnosed, and as the baseline's run.
pub fn diagnose(words: &args::Diagnose, of_benchmark: &[String]) -> Result<ExitCode, Failure> {
    if words.budget < SHORTEST {
        return Err(Failure::usage(format!(
            "--budget={}: must be 20s or more, which is time for four pairs of short runs; for example \
             --budget=3m",
            tidemark_core::duration_text::written(words.budget)
        )));
    }
    interrupt::listen();
    let of_run = match &words.from {
        Some(run) if words.job.is_none() => in_store(words, run)?,
        _ => None,
    };
    let (mut job, target) = job(words, of_run.as_deref(), of_benchmark)?;
    job.force |= words.force;
    if let Some(clients) = clients::of_words(&words.clients)? {
        job.clients = Some(clients);
    }
    check(&job)?;
    let path = place_of_store(words.store.store.as_deref().or(of_job(&job).as_deref()))?;
    let store = Store::open(&path)?;
    let is_text = words.format == "text";
    let asked = DiagnosisOptions {
        budget: words.budget,
        may_change_settings: words.may_change_settings,
        is_text,
        lang: words.lang,
    };
    let (found, back) = experiments(job, target, store, &asked)?;
    print(&match is_text {
        false => told::json(&found, words.lang),
        true => told::text(&found, words.lang),
    });
    if let Some(id) = &of_run {
        attach(&mut runs::open(&words.store)?, id, &found)?;
    }
    if let Some(id) = &words.keep_with {
        attach(&mut Store::open(&path)?, id, &found)?;
    }
    back?;
    match (found.ended_by, found.interrupted) {
        (Some(failure), _) => Err(Failure::new(
            failure.code,
            format!(
                "a run of the baseline failed, so the result is of what was measured before: {failure}"
            ),
        )),
        (None, true) => Ok(ExitCode::Interrupted),
        (None, false) => Ok(ExitCode::Success),
    }
}

/// Makes the experiments around a job. What they found, and whether settings are as they were before.
///
/// # Errors
/// As [`Battery::new`] and [`Battery::run`].
pub fn experiments(
    job: Job,
    target: Option<Target>,
    store: Store,
    asked: &DiagnosisOptions,
) -> Result<(BatteryResult, Result<(), Failure>), Failure> {
    let mut battery = Battery::new(job, target, store, asked)?;
    let found = battery.run();
    let back = battery.settings_back();
    Ok((found?, back))
}

/// Keeps what was found in the record of the run whose job it is.
///
/// # Errors
/// [`Failure`] when the store can't be written.
pub fn attach(store: &mut Store, run: &str, found: &BatteryResult) -> Result<(), Failure> {
    let mut record = store.get(run)?;
    record.experiments = Some(told::record(found));
    // They are kept beside the record.
    record.tags.clear();
    record.note.clear();
    Ok(store.finish(&record)?)
}

/// The run of the store that `--from` names; `None` of a record file.
fn in_store(words: &args::Diagnose, run: &str) -> Result<Option<String>, Failure> {
    if run == "last" {
        return runs::whole_id(&runs::open(&words.store)?, run).map(Some);
    }
    let file = Path::new(run);
    let is_file = file.extension().is_some_and(|e| e == "json") || file.is_file();
    Ok((!is_file).then(|| run.into()))
}

/// What was found, for people.
pub fn in_words(found: &BatteryResult, lang: Lang) -> String {
    told::text(found, lang)
}

/// The words up to a benchmark's own, which follow `diagnose` and its options, and those.
pub fn parted(args: &[String]) -> (&[String], &[String]) {
    if args.get(1).is_none_or(|word| word != "diagnose") {
        return (args, &[]);
    }
    let is_benchmark = |word: &String| frontend::find(word).is_some();
    match args.iter().skip(2).position(is_benchmark) {
        Some(at) => args.split_at(at + 3),
        None => (args, &[]),
    }
}

/// The one job that is meant, and its target where it is known with its password.
fn job(
    words: &args::Diagnose,
    of_run: Option<&str>,
    of_benchmark: &[String],
) -> Result<(Job, Option<Target>), Failure> {
    let one = |name: &str, count: usize| {
        Failure::usage(format!(
            "{name}: {count} jobs: a diagnosis is of one; for example: tidemark diagnose --from last"
        ))
    };
    match (&words.job, &words.from) {
        (Some(word), _) => {
            if let Some(benchmark) = frontend::find(word) {
                let mut orders = jobs::of_command_line(benchmark, of_benchmark)?;
                return match (orders.pop(), orders.len()) {
                    (Some(order), 0) => Ok((order.job, Some(order.target))),
                    (_, more) => Err(one(word, more + usize::from(more > 0))),
                };
            }
            let mut jobs = jobs::read(word)?;
            match (jobs.pop(), jobs.len()) {
                (Some(job), 0) => Ok((job, None)),
                (_, more) => Err(one(word, more + 1)),
            }
        }
        (None, Some(run)) => {
            let run = of_run.unwrap_or(run);
            Ok((jobs::of_run(&words.store, run)?, None))
        }
        (None, None) => Err(Failure::usage(
            "no job given; for example: tidemark diagnose --from last, or tidemark diagnose job.json",
        )),
    }
}

/// The store that the job itself names.
fn of_job(job: &Job) -> Option<PathBuf> {
    job.outputs.store.as_ref().map(PathBuf::from)
}

/// Whether a job can be diagnosed.
///
/// # Errors
/// [`Failure`] with what can be.
pub fn check(job: &Job) -> Result<(), Failure> {
    if job.kind() == JobKind::Load {
        return Err(Failure::usage(
            "prepare: this job loads tables; diagnose needs a job that runs, for example from tidemark \
             sysbench oltp_read_write --target=sqlite:a.db --print-job run",
        ));
    }
    let definition = definition_of_job(job)?;
    let family = definition.of_family().map(|family| family.runs);
    if family.is_some_and(|runs| runs.are_queries()) {
        return Err(Failure::usage(format!(
            "workload.name: {}: its query streams are no closed loop of transactions, so the experiments \
             do not apply; use a transactional workload, for example oltp_read_write",
            definition.name
        )));
    }
    if let Some(several) = &job.clients {
        clients::must_be_possible(job, several)?;
    }
    if consumes_rows(definition) {
        return Err(Failure::usage(format!(
            "workload.name: {}: each run deletes rows that the next would need, so runs are not \
             comparable; use oltp_write_only",
            definition.name
        )));
    }
    Ok(())
}

fn consumes_rows(definition: &Definition) -> bool {
    definition.name == "oltp_delete"
}

/// The store's file: runs of a diagnosis are kept there.
fn place_of_store(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let chosen = std::env::var("TIDEMARK_STORE").unwrap_or_default();
    let is_off = |path: &Path| path == Path::new("off");
    if named.is_some_and(is_off) || named.is_none() && chosen == "off" {
        return Err(Failure::usage(
            "diagnose needs the store: off is not possible; for example --store=runs.db",
        ));
    }
    let path = store_path(named)?;
    std::path::absolute(&path).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))
}
