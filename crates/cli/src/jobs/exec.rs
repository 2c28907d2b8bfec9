//! `tidemark exec`: runs a job, of a file or of a record.

use super::Adapter;
use crate::args::{Exec, StoreArg};
use crate::compat::sysbench::host::{self, HostOrder};
use crate::compat::sysbench::lua::definition_of_job;
use crate::exit::{ExitCode, Failure};
use crate::runner::JobOrder;
use crate::runs::record_of;
use crate::target::from_url;
use crate::{clients, frontend, interrupt};
use serde_json::Value;
use std::io::Read;
use std::time::Duration;
use tidemark_core::job::{OutputFiles, PasswordReference, TargetAddress};
use tidemark_core::{Job, JobKind, RunSpec, Shard, ShardError, Source, Target, did_you_mean};
use tidemark_files::{LONGEST_CONFIGURATION, read_text};

/// No interval is shorter.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

/// Every tool that makes jobs.
pub fn adapters() -> impl Iterator<Item = &'static Adapter> {
    frontend::all().filter_map(|command| command.runs)
}

/// Runs the jobs of a file, one after the other, or the job of a run in the store.
///
/// # Errors
/// [`Failure`] of what is no job, and as the run's.
pub fn exec(args: &[String], asked: &Exec) -> Result<ExitCode, Failure> {
    let mut jobs = match (&asked.job, &asked.from) {
        (Some(file), _) => read(file)?,
        (None, Some(run)) => vec![of_run(&asked.store, run)?],
        (None, None) => {
            return Err(Failure::usage(
                "no job given; for example: tidemark exec job.json, or tidemark exec --from last",
            ));
        }
    };
    let elsewhere = asked.target.as_deref().map(from_url).transpose()?;
    let clients = clients::of_words(&asked.clients)?;
    jobs.iter_mut()
        .for_each(|job| change(job, asked, elsewhere.as_ref()));
    if clients.is_some() {
        jobs.iter_mut()
            .for_each(|job| job.clients.clone_from(&clients));
    }
    // All are understood before the first is run.
    let orders = jobs
        .iter()
        .map(|job| planned(job, elsewhere.as_ref(), args, asked.print_job));
    let orders = orders.collect::<Result<Vec<_>, Failure>>()?;
    interrupt::listen();
    for order in orders {
        let code = match order {
            Planned::Run(adapter, order) => {
                tell_shard(&order);
                adapter.perform(&order)?
            }
            Planned::Machine(order) => host::perform(&order)?,
        };
        if code != ExitCode::Success {
            return Ok(code);
        }
    }
    Ok(ExitCode::Success)
}

/// What a job asks for.
enum Planned {
    /// A run or a load.
    Run(&'static Adapter, Box<JobOrder>),
    /// A test of the machine.
    Machine(Box<HostOrder>),
}

fn planned(
    job: &Job,
    elsewhere: Option<&Target>,
    args: &[String],
    print: bool,
) -> Result<Planned, Failure> {
    if !job.target.is_machine() {
        let (adapter, order) = order(job, elsewhere, args, print)?;
        return Ok(Planned::Run(adapter, Box::new(order)));
    }
    machine_order(job, print).map(|order| Planned::Machine(Box::new(order)))
}

/// A test of the machine, of a job.
///
/// # Errors
/// As [`order_of`].
pub fn machine_order(job: &Job, print: bool) -> Result<HostOrder, Failure> {
    if let Some(several) = &job.clients {
        return Err(Failure::usage(format!(
            "--clients={}: {} tests this machine: run it on each host, and compare their records",
            several.hosts, job.workload.name
        )));
    }
    let mut order = host::order_of_job(job)?;
    let mut made = order.job.clone();
    made.version = job.version;
    made.study.clone_from(&job.study);
    made.machine.clone_from(&job.machine);
    made.notes.clone_from(&job.notes);
    finer(&mut made.load, &job.load);
    agrees(job, &made)?;
    order.job = made;
    if print {
        order.options.set("print-job", "on", Source::CommandLine)?;
    }
    Ok(order)
}

/// Says what of the whole, which the tool's own lines tell, this client does.
fn tell_shard(order: &JobOrder) {
    let load = &order.job.load;
    if !load.shard.is_whole() && order.job.kind() == JobKind::Run && order.lead.is_none() {
        let own = load.own();
        eprintln!(
            "Client {}: {} of {} sessions",
            load.shard, own.sessions, load.sessions
        );
    }
}

/// Reads a file, or standard input for `-`.
///
/// # Errors
/// [`Failure`] of what can't be read or is no job.
pub fn read(file: &str) -> Result<Vec<Job>, Failure> {
    let name = if file == "-" { "standard input" } else { file };
    let shown = |e: &dyn std::fmt::Display| Failure::usage(format!("{name}: {e}"));
    let text = match file {
        "-" => {
            let mut text = String::new();
            let mut input = std::io::stdin().lock().take(LONGEST_CONFIGURATION);
            input.read_to_string(&mut text).map_err(|e| shown(&e))?;
            text
        }
        file => read_text(file.as_ref(), LONGEST_CONFIGURATION).map_err(|e| shown(&e))?,
    };
    Job::list_from_json(&text).map_err(|e| shown(&e))
}

/// The job that a record holds. Its files are not written again unless they are named anew.
///
/// # Errors
/// [`Failure`] when there is no such run, or it has no job.
pub fn of_run(store: &StoreArg, run: &str) -> Result<Job, Failure> {
    let record = record_of(store, run)?;
    if record.is_watch() {
        return Err(Failure::usage(format!(
            "--from={run}: that run is a watch, which has no job; its command line was: {}",
            crate::shell::line(&record.command)
        )));
    }
    let Some(mut job) = record.job else {
        return Err(Failure::usage(format!(
            "--from={run}: that run was recorded by version {}, without its job; its command \
             line was: {}",
            record.tidemark_version,
            crate::shell::line(&record.command)
        )));
    };
    job.outputs = OutputFiles {
        lang: job.outputs.lang,
        store: job.outputs.store,
        ..OutputFiles::default()
    };
    job.study = None;
    job.sum_tables = false;
    job.skip_row_counts = false;
    Ok(job)
}

/// What the command line of `exec` wants otherwise.
fn change(job: &mut Job, asked: &Exec, elsewhere: Option<&Target>) {
    if let Some(target) = elsewhere.filter(|_| !job.target.is_machine()) {
        job.target = TargetAddress::from(target);
    }
    if let Some(store) = &asked.store.store {
        job.outputs.store = Some(store.display().to_string());
    }
    if let Some(record) = &asked.out {
        job.outputs.record = Some(record.clone());
    }
    if !asked.tag.is_empty() {
        job.outputs.tags.clone_from(&asked.tag);
    }
    if let Some(note) = &asked.note {
        job.outputs.note.clone_from(note);
    }
    if !asked.report.is_empty() {
        job.outputs.reports.clone_from(&asked.report);
    }
    if let Some(lang) = &asked.lang {
        job.outputs.lang.clone_from(lang);
    }
    job.outputs.overwrite |= asked.overwrite;
    job.watch.view |= asked.view;
    job.force |= asked.force;
    job.strict |= asked.strict;
    if let Some(shard) = asked.shard {
        job.load.shard = shard;
    }
}

/// A job as what a process of its own is given; its target where it is known with its password.
///
/// # Errors
/// [`Failure`] of a job that can't be run.
pub fn order_of(job: &Job, target: Option<&Target>) -> Result<JobOrder, Failure> {
    order(job, target, &[], false).map(|(_, order)| order)
}

/// A job in its tool's options, checked as a command line's are, so that a job can't ask for what no
/// command line can.
pub(super) fn order(
    job: &Job,
    elsewhere: Option<&Target>,
    args: &[String],
    print: bool,
) -> Result<(&'static Adapter, JobOrder), Failure> {
    let adapter = adapter(&job.tool.name)?;
    let job = &Job {
        target: TargetAddress {
            url: job.target.parse()?.to_string(),
            password: job.target.password.clone(),
        },
        ..job.clone()
    };
    let definition = definition_of_job(job)?;
    let mut options = adapter.options(job, definition)?;
    let target = match elsewhere {
        Some(target) => target.clone(),
        None => from_url(&job.target.url)?,
    };
    needed_password(job, target.password.is_empty())?;
    let command = adapter.command_line(job, &options);
    let command = command.unwrap_or_else(|| args.to_vec());
    if print {
        options.set("print-job", "on", Source::CommandLine)?;
    }
    let order = (adapter.order)(job.kind(), options, definition, command);
    let mut order = order.map_err(|failure| by_path(adapter, failure))?;
    let mut made = order.job.clone();
    made.version = job.version;
    made.study.clone_from(&job.study);
    made.sum_tables = job.sum_tables;
    made.skip_row_counts = job.skip_row_counts;
    finer(&mut made.load, &job.load);
    made.machine.clone_from(&job.machine);
    made.load.shard = shard_of(job)?;
    made.notes.clone_from(&job.notes);
    if let (Some(made), Some(prepare)) = (&mut made.prepare, &job.prepare) {
        made.left.clone_from(&prepare.left);
    }
    // Whether the environment has a password is not for the job to say.
    made.target.password.clone_from(&job.target.password);
    agrees(job, &made)?;
    order.job = made;
    order.target = target;
    Ok((adapter, order))
}

/// Whose share is to be done.
///
/// # Errors
/// [`Failure`] of a share that there is not.
fn shard_of(job: &Job) -> Result<Shard, Failure> {
    let load = &job.load;
    let checked = match job.kind() {
        // Of clients that load, some may find all claimed.
        JobKind::Load => load.shard.check(),
        JobKind::Run => load.check_shard(),
    };
    let wrong = |e: ShardError| Failure::usage(format!("load.shard: {e}"));
    checked.map_err(wrong)?;
    Ok(load.shard)
}

/// Times for which a tool's own options are too coarse: a diagnosis runs for a second or two.
fn finer(made: &mut RunSpec, asked: &RunSpec) {
    if made.warmup == Duration::from_secs(asked.warmup.as_secs()) {
        made.warmup = asked.warmup;
    }
    if (SHORTEST_INTERVAL..made.interval).contains(&asked.interval) {
        made.interval = asked.interval;
    }
}

/// A complaint about an option, with the key of the job that it comes from.
fn by_path(adapter: &Adapter, failure: Failure) -> Failure {
    let named = failure.message.strip_prefix("--").map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        &rest[..end.unwrap_or(rest.len())]
    });
    let mut options = adapter.placed();
    match options.find(|option| Some(option.name) == named) {
        Some(option) => Failure::new(failure.code, format!("{}: {failure}", option.path)),
        None => failure,
    }
}

fn adapter(name: &str) -> Result<&'static Adapter, Failure> {
    adapters().find(|one| one.name == name).ok_or_else(|| {
        let names: Vec<&str> = adapters().map(|one| one.name).collect();
        let hint = did_you_mean(name, names.iter().copied());
        Failure::usage(format!("tool.name: {name}: use {}{hint}", names.join(", ")))
    })
}

/// Whether the environment has the password that a job refers to.
fn needed_password(job: &Job, is_missing: bool) -> Result<(), Failure> {
    match &job.target.password {
        Some(PasswordReference { env }) if is_missing => Err(Failure::usage(format!(
            "target.password: the run used a password, but the environment variable {env} is not \
             set; for example: read -rs {env}; export {env}"
        ))),
        _ => Ok(()),
    }
}

/// Looks whether a job and what its options make of it are the same.
fn agrees(job: &Job, made: &Job) -> Result<(), Failure> {
    match difference(job, made) {
        None => Ok(()),
        Some((path, here, there)) => Err(Failure::usage(format!(
            "{path}: {here} contradicts the rest of the job, which implies {there}; change the \
             options it follows from, or write {there}"
        ))),
    }
}

/// The first key at which two jobs differ, with both values.
fn difference(one: &Job, other: &Job) -> Option<(String, String, String)> {
    let value = |job: &Job| serde_json::to_value(job).unwrap_or_default();
    differing(&value(one), &value(other), String::new())
}

fn differing(one: &Value, other: &Value, path: String) -> Option<(String, String, String)> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.into_iter().find_map(|key| {
                let below = match path.is_empty() {
                    true => key.clone(),
                    false => format!("{path}.{key}"),
                };
                // A setting that is left out has its default.
                if below.contains("settings.") && !a.contains_key(key) {
                    return None;
                }
                let absent = Value::Null;
                let (a, b) = (a.get(key).unwrap_or(&absent), b.get(key).unwrap_or(&absent));
                differing(a, b, below)
            })
        }
        (one, other) if is_same(one, other) => None,
        (one, other) => Some((path, one.to_string(), other.to_string())),
    }
}

/// Numbers are the same however they are written.
fn is_same(one: &Value, other: &Value) -> bool {
    one == other
        || match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        }
}
