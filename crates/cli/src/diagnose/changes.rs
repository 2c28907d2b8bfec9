//! An experiment as the jobs that make it, or why it is not made.

use super::run_facts;
use crate::clients;
use crate::compat::sysbench::lua::definition_of_job;
use std::time::Duration;
use tidemark_analysis::experiments::Experiment;
use tidemark_core::job::{OutputFiles, Watch};
use tidemark_core::record::RunRecord;
use tidemark_core::{Engine, Job, Observe, Pacing, PreparedMode};
use tidemark_drivers::{CommitWait, Dialect};

/// Fewer rows than this are the hundredth of a table that is in memory anyway.
const FEWEST_ROWS: u64 = 100;
/// So many rows a session keep writers apart on the hundredth of a table.
const ROWS_A_SESSION: u64 = 50;
/// Load at the begin of a run that does not count: sessions plan their first statements, caches fill.
const WARMUP: Duration = Duration::from_millis(300);
/// Two clients don't begin at the same moment: so long they run at least.
const TOGETHER: Duration = Duration::from_secs(3);
/// So finely runs count: when two clients were at work, and when nothing ended, is seen.
const FINE: Duration = Duration::from_millis(100);

/// What is run in the place of the baseline.
#[derive(Debug, Clone)]
pub struct ExperimentChange {
    /// What is run at the same time, each by a process of its own.
    pub jobs: Vec<Job>,
    /// Whether the baseline is what the experiment's name says, so that its ratio is the inverse.
    pub is_inverse: bool,
    /// Settings of the server meanwhile.
    pub settings: Vec<(&'static str, &'static str)>,
    /// What it is compared with where that is not the baseline as it is.
    pub base: Option<Job>,
    /// How many times as many sessions it has.
    pub sessions: f64,
    /// Whether it leaves work that the server does after it.
    pub leaves_work: bool,
}

/// Why an experiment is not made.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// The workload changes no rows.
    OnlyReads,
    /// There is one session.
    OneSession,
    /// Several clients make the load already.
    SeveralClients,
    /// Each of so many clients needs a session.
    FewerSessionsThanClients(u32),
    /// There is no server.
    Embedded,
    /// The workload has nothing that could be changed so.
    NoSwitch,
    /// A hundredth of the table is too small.
    FewRows(u64),
    /// The table has fewer rows than there are sessions.
    FewerRowsThanSessions,
    /// Commits do not wait for the disk as it is.
    NoWait,
    /// The engine has no such setting.
    NoSetting,
    /// The setting is the server's.
    Permission,
    /// So many sessions could be opened instead of so many.
    Sessions {
        /// So many.
        opened: usize,
        /// Instead of so many.
        wanted: usize,
    },
    /// Clients made load together for only so many seconds.
    Apart(f64),
    /// There is no time left.
    Budget,
    /// The user ended the diagnosis before.
    Interrupted,
    /// A run of the baseline failed before.
    BaselineFailed,
    /// The run ended with this.
    Failed(String),
}

impl Why {
    /// Whether what the experiment looks for can't be there.
    pub fn excludes(&self) -> bool {
        matches!(
            self,
            Why::OnlyReads | Why::OneSession | Why::FewRows(_) | Why::NoWait
        )
    }

    /// Whether it could be made with more time.
    pub fn is_of_time(&self) -> bool {
        matches!(self, Why::Budget | Why::Interrupted | Why::BaselineFailed)
    }
}

/// The job as all runs have it: in closed loop, for so long, with nothing printed, watched or written.
pub fn baseline(job: &Job, seconds: u64) -> Job {
    let mut job = job.clone();
    let load = &mut job.load;
    if load.pacing != Pacing::Closed {
        load.pacing = Pacing::Closed;
        load.arrivals = tidemark_core::Arrivals::default();
        load.max_backlog = tidemark_core::RunSpec::default().max_backlog;
    }
    load.time = Some(Duration::from_secs(seconds));
    load.events = None;
    load.warmup = WARMUP;
    load.interval = FINE;
    job.watch = Watch {
        observe: Observe::Off,
        ..Watch::default()
    };
    job.outputs = OutputFiles {
        lang: job.outputs.lang,
        ..OutputFiles::default()
    };
    job.strict = false;
    job.notes.clear();
    if job.workload.settings.get("operationcount").is_some() {
        job.workload.settings.insert("operationcount", number(0));
    }
    job
}

/// What an experiment changes of the baseline's job.
///
/// # Errors
/// [`Why`] it is not made.
pub fn change(
    experiment: Experiment,
    base: &Job,
    seen: &RunRecord,
    only_reads: bool,
) -> Result<ExperimentChange, Why> {
    let sessions = base.load.sessions;
    let engine = seen.server.as_ref().map_or(Engine::Sqlite, |s| s.engine);
    let mut job = base.clone();
    match experiment {
        Experiment::SessionsTwice => {
            job.load.terminals *= 2;
            job.load.sessions *= 2;
            return Ok(ExperimentChange {
                sessions: 2.0,
                ..ExperimentChange::of(job)
            });
        }
        Experiment::SessionsHalf if sessions < 2 => return Err(Why::OneSession),
        Experiment::SessionsHalf => {
            job.load.terminals = (job.load.terminals / 2).max(1);
            job.load.sessions /= 2;
            let clients = job.clients.as_ref().map(clients::count);
            let clients = clients.and_then(Result::ok).unwrap_or(1);
            if (clients as usize) > job.load.sessions.min(job.load.terminals) {
                return Err(Why::FewerSessionsThanClients(clients));
            }
            return Ok(ExperimentChange {
                sessions: job.load.sessions as f64 / sessions as f64,
                ..ExperimentChange::of(job)
            });
        }
        Experiment::Rtt => job.load.inject_rtt += run_facts::later(seen),
        Experiment::SecondClient => return two_clients(base),
        Experiment::DisjointKeys => disjoint_keys(&mut job, seen, only_reads)?,
        Experiment::OnePercent => one_percent(&mut job, only_reads)?,
        Experiment::NoCommitWait if only_reads => return Err(Why::OnlyReads),
        Experiment::NoCommitWait => return no_commit_wait(job, engine, seen),
        Experiment::Rollback => return rolled_back(base, only_reads),
        Experiment::Text if engine == Engine::Sqlite => return Err(Why::Embedded),
        Experiment::Text => {
            let is_inverse = job.load.prepared == PreparedMode::Text;
            job.load.prepared = match is_inverse {
                true => PreparedMode::Server,
                false => PreparedMode::Text,
            };
            return Ok(ExperimentChange {
                is_inverse,
                ..ExperimentChange::of(job)
            });
        }
        Experiment::ReadsOnly => half_of_mix(&mut job, "oltp_read_only", READS)?,
        Experiment::WritesOnly => half_of_mix(&mut job, "oltp_write_only", WRITES)?,
    }
    Ok(ExperimentChange::of(job))
}

impl ExperimentChange {
    fn of(job: Job) -> Self {
        Self {
            jobs: vec![job],
            is_inverse: false,
            settings: Vec::new(),
            base: None,
            sessions: 1.0,
            leaves_work: false,
        }
    }

    /// Why runs with so many sessions in all, beside a baseline with so many, are not this change.
    pub fn has_other_sessions(&self, of_baseline: usize, opened: usize) -> Option<Why> {
        let wanted = of_baseline as f64 * self.sessions;
        let is_near = (opened as f64 - wanted).abs() <= 0.1 * wanted + 0.5;
        (!is_near).then_some(Why::Sessions {
            opened,
            wanted: wanted.round() as usize,
        })
    }
}

fn number(value: u64) -> serde_json::Value {
    value.into()
}

fn setting(job: &Job, name: &str, default: u64) -> u64 {
    let value = job.workload.settings.get(name);
    value.and_then(serde_json::Value::as_u64).unwrap_or(default)
}

fn share(job: &Job, name: &str, default: f64) -> f64 {
    let value = job.workload.settings.get(name);
    value.and_then(serde_json::Value::as_f64).unwrap_or(default)
}

fn takes(job: &Job, option: &str) -> bool {
    let definition = definition_of_job(job);
    definition.is_ok_and(|d| {
        d.options
            .iter()
            .copied()
            .flatten()
            .any(|o| o.name == option)
    })
}

fn two_clients(base: &Job) -> Result<ExperimentChange, Why> {
    // Both would ask for the same agents.
    if base.clients.is_some() {
        return Err(Why::SeveralClients);
    }
    let mut base = base.clone();
    let load = &mut base.load;
    if load.sessions < 2 || load.terminals < 2 {
        return Err(Why::OneSession);
    }
    load.time = load.time.map(|time| time.max(TOGETHER));
    let (mut one, mut other) = (base.clone(), base.clone());
    one.load.sessions = base.load.sessions / 2;
    one.load.terminals = base.load.terminals / 2;
    other.load.sessions = base.load.sessions - one.load.sessions;
    other.load.terminals = base.load.terminals - one.load.terminals;
    // Not the same keys at the same time.
    other.load.seed = base.load.seed.wrapping_add(1);
    Ok(ExperimentChange {
        jobs: vec![one, other],
        base: Some(base.clone()),
        ..ExperimentChange::of(base)
    })
}

fn disjoint_keys(job: &mut Job, seen: &RunRecord, only_reads: bool) -> Result<(), Why> {
    if only_reads {
        return Err(Why::OnlyReads);
    }
    if job.load.terminals < 2 {
        return Err(Why::OneSession);
    }
    if !takes(job, "disjoint-keys") || only_inserts(job) {
        return Err(Why::NoSwitch);
    }
    let (terminals, rows) = (job.load.terminals as u64, rows(job));
    if rows < terminals {
        // A few hot rows of a larger table: the nearest others are there.
        let there = seen.tables_before.iter().map(|t| t.rows).min();
        if !takes(job, "table-size") || there.is_none_or(|there| there < terminals) {
            return Err(Why::FewerRowsThanSessions);
        }
        job.workload
            .settings
            .insert("table-size", number(terminals));
    }
    job.workload.settings.insert("disjoint-keys", true.into());
    Ok(())
}

/// Workloads of which each transaction writes rows that it chooses.
const WRITERS: [&str; 4] = [
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
    "oltp_read_write",
];

/// Whether each transaction writes to one of fewer rows, of all tables, than there are terminals.
pub fn is_crowded(job: &Job) -> bool {
    let rows = rows(job).saturating_mul(setting(job, "tables", 1));
    WRITERS.contains(&job.workload.name.as_str()) && rows < job.load.terminals as u64
}

/// Rows to choose from.
fn rows(job: &Job) -> u64 {
    match takes(job, "table-size") {
        true => setting(job, "table-size", 10_000),
        false => {
            let all = setting(job, "recordcount", 0);
            match setting(job, "insertcount", 0) {
                0 => all.saturating_sub(setting(job, "insertstart", 0)),
                count => count,
            }
        }
    }
}

fn only_inserts(job: &Job) -> bool {
    matches!(
        job.workload.name.as_str(),
        "oltp_insert" | "oltp_insert_batch" | "bulk_insert"
    )
}

fn one_percent(job: &mut Job, only_reads: bool) -> Result<(), Why> {
    let of_table = takes(job, "table-size");
    let distribution = job.workload.settings.get("requestdistribution");
    let by_age = distribution.is_some_and(|d| d == "latest" || d == "exponential");
    if !(of_table || takes(job, "recordcount")) || only_inserts(job) || by_age {
        return Err(Why::NoSwitch);
    }
    let some = rows(job) / 100;
    let needed = match only_reads {
        true => FEWEST_ROWS,
        false => FEWEST_ROWS.max(ROWS_A_SESSION * job.load.terminals as u64),
    };
    if some < FEWEST_ROWS {
        return Err(Why::FewRows(some));
    }
    if some < needed {
        // Writers would meet there; what the cache does can't be told.
        return Err(Why::FewRows(some));
    }
    let settings = &mut job.workload.settings;
    settings.insert(
        if of_table {
            "table-size"
        } else {
            "insertcount"
        },
        number(some),
    );
    Ok(())
}

fn no_commit_wait(job: Job, engine: Engine, seen: &RunRecord) -> Result<ExperimentChange, Why> {
    let change = match Dialect::new(engine).commit_wait() {
        CommitWait::Session(name, value) => in_sessions(job, name, value)?,
        CommitWait::Logs => ExperimentChange {
            settings: on_server(seen)?,
            ..ExperimentChange::of(job)
        },
        CommitWait::Fixed => return Err(Why::NoSetting),
    };
    Ok(ExperimentChange {
        leaves_work: true,
        ..change
    })
}

/// The same statements between BEGIN and ROLLBACK, compared with BEGIN and COMMIT: nothing else differs.
fn rolled_back(base: &Job, only_reads: bool) -> Result<ExperimentChange, Why> {
    if only_reads {
        return Err(Why::OnlyReads);
    }
    if !takes(base, "end-with") {
        return Err(Why::NoSwitch);
    }
    let ending = |with: &str| {
        let mut job = base.clone();
        let settings = &mut job.workload.settings;
        settings.insert("skip-trx", false.into());
        settings.insert("end-with", with.into());
        job
    };
    Ok(ExperimentChange {
        base: Some(ending("commit")),
        ..ExperimentChange::of(ending("rollback"))
    })
}

/// What a MariaDB or MySQL waits for at commit as its settings are: its log, the binary log, or both. What
/// the record does not tell is taken for a server that waits.
fn on_server(seen: &RunRecord) -> Result<Vec<(&'static str, &'static str)>, Why> {
    let value = |name: &str| {
        let set = seen.settings.iter().find(|set| set.name == name);
        set.map(|set| set.value.to_ascii_uppercase())
    };
    let is = |name: &str, values: &[&str]| value(name).is_some_and(|v| values.contains(&&*v));
    let mut settings = Vec::new();
    if !is("innodb_flush_log_at_trx_commit", &["0", "2"]) {
        settings.push(("innodb_flush_log_at_trx_commit", "2"));
    }
    let waits_for_binary_log = is("log_bin", &["ON", "1"]) && !is("sync_binlog", &["0"]);
    if waits_for_binary_log {
        settings.push(("sync_binlog", "0"));
    }
    match settings.is_empty() {
        true => Err(Why::NoWait),
        false => Ok(settings),
    }
}

fn in_sessions(mut job: Job, name: &str, value: &str) -> Result<ExperimentChange, Why> {
    let settings = &mut job.session.settings;
    let is_it = |set: &&String| {
        set.split('=')
            .next()
            .is_some_and(|n| n.eq_ignore_ascii_case(name))
    };
    if let Some(set) = settings.iter().rev().find(is_it) {
        let now = set.split_once('=').map_or("", |(_, value)| value);
        if now.eq_ignore_ascii_case(value) {
            return Err(Why::NoWait);
        }
    }
    settings.retain(|set| !is_it(&set));
    settings.push(format!("{name}={value}"));
    Ok(ExperimentChange::of(job))
}

/// Shares of a mix with their defaults.
type Shares = &'static [(&'static str, f64)];
const READS: Shares = &[("readproportion", 0.95), ("scanproportion", 0.0)];
const WRITES: Shares = &[
    ("updateproportion", 0.05),
    ("insertproportion", 0.0),
    ("readmodifywriteproportion", 0.0),
];

/// Leaves of a mix what these shares are of; sysbench has a workload for each half.
fn half_of_mix(job: &mut Job, workload: &str, shares: Shares) -> Result<(), Why> {
    if job.workload.name == "oltp_read_write" {
        job.workload.name = workload.into();
        return Ok(());
    }
    if !takes(job, "readproportion") {
        return Err(Why::NoSwitch);
    }
    let all = READS.iter().chain(WRITES);
    let kept = |name: &str| shares.iter().any(|(share, _)| *share == name);
    let there = |job: &Job, keep: bool| {
        let mut half = all.clone().filter(|(name, _)| kept(name) == keep);
        half.any(|(name, default)| share(job, name, *default) > 0.0)
    };
    if !(there(job, true) && there(job, false)) {
        return Err(Why::NoSwitch);
    }
    for (name, _) in all.clone().filter(|(name, _)| !kept(name)) {
        job.workload.settings.insert(name, 0.0.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
