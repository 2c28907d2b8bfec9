//! From options to what is run: spec, load spec, workload, connector.

use crate::exit::Failure;
use crate::pacing::{pacing, sets_its_length, terminals_and_sessions, think_time};
use crate::runner::JobOrder;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::job::{LoadMethod, Preparation, SessionSetup};
use tidemark_core::{
    Arrivals, DisconnectPolicy, ErrorKind, FewerSessions, IgnoreErrors, Isolation, Job,
    OptionValues, PreparedMode, Protocol, RunSpec, Source, Target,
};
use tidemark_drivers::settings::{SessionSettings, parse_session_settings};
use tidemark_drivers::{BulkMethod, ConnectOptions, Connector};
use tidemark_engine::{LoadSpec, Replace};
use tidemark_workloads::{Definition, Workload};

/// Rows are made from this seed when none is given: equal commands make equal tables.
const LOAD_SEED: u64 = 1;

/// A workload on a target, understood and not yet begun.
pub struct BoundWorkload {
    /// The workload with its options set.
    pub workload: Arc<dyn Workload>,
    /// The target.
    pub target: Target,
    /// Opens its sessions.
    pub connector: Connector,
}

impl BoundWorkload {
    /// The workload and the target of a run or a load.
    ///
    /// # Errors
    /// [`Failure`] of bad usage, or of connection when a host has no address.
    pub fn of(order: &JobOrder) -> Result<Self, Failure> {
        let (load, session) = (&order.job.load, &order.job.session);
        let connect = ConnectOptions {
            prepared: load.prepared,
            connect_timeout: load.connect_timeout,
            inject_rtt: load.inject_rtt,
            statement_timeout: load.statement_timeout,
            setup_timeout: Some(session.setup_timeout).filter(|t| !t.is_zero()),
            isolation: load.isolation,
            count_matched: false,
        };
        let settings = parsed_settings(&session.settings.join(";"))?;
        let workload = Arc::clone(&order.workload);
        let preparing = order.job.prepare.is_some();
        let mut bound = Self::made(workload, order.target.clone(), connect, settings, preparing)?;
        // Of a part of a run the other parts' sessions are the run's, too.
        if !preparing && load.shard.is_whole() {
            let types = bound.workload.transaction_types();
            bound.connector = bound.connector.with_running_types(types);
        }
        bound.workload.connects_by(&bound.connector);
        Ok(bound)
    }

    /// Builds the workload of options that make or drop its tables, and looks up the target's hosts.
    /// Unless it is to be prepared, an embedded database's file must be there.
    ///
    /// # Errors
    /// As [`BoundWorkload::of`].
    pub fn new(
        definition: &Definition,
        options: &OptionValues,
        target: Target,
        preparing: bool,
    ) -> Result<Self, Failure> {
        let connect = ConnectOptions {
            prepared: prepared(options),
            connect_timeout: options.time("connect-timeout"),
            inject_rtt: options.time("inject-rtt"),
            statement_timeout: Some(options.time("statement-timeout")).filter(|t| !t.is_zero()),
            setup_timeout: Some(options.time("setup-timeout")).filter(|t| !t.is_zero()),
            isolation: Isolation::named(options.text("isolation")),
            count_matched: false,
        };
        let session = session_settings(options)?;
        let workload = (definition.build)(options)?;
        let bound = Self::made(workload, target, connect, session, preparing)?;
        bound.workload.connects_by(&bound.connector);
        Ok(bound)
    }

    fn made(
        workload: Arc<dyn Workload>,
        target: Target,
        mut connect: ConnectOptions,
        session: SessionSettings,
        preparing: bool,
    ) -> Result<Self, Failure> {
        // A load's journal tells by the rows changed what is whose.
        connect.count_matched = !preparing && workload.counts_matched();
        let mut connector = Connector::new(target.clone(), connect)?.with_session_settings(session);
        if !preparing {
            connector = connector.must_exist();
        }
        Ok(Self {
            workload,
            target,
            connector,
        })
    }
}

/// The seed of a run of TPC-C. Clients that share one, each with its part of the warehouses, have the
/// same unless they are told another: of the seed are the constants of the non-uniform numbers, which
/// are one run's (clause 2.1.6.1). Their terminals draw other numbers all the same, for those are of
/// the warehouse, too.
pub fn tpcc_seed(options: &OptionValues) -> u64 {
    let last = options.uint("last-warehouse");
    let is_shared =
        options.uint("first-warehouse") > 1 || (last > 0 && last < options.uint("warehouses"));
    match options.uint("seed") {
        0 if is_shared => LOAD_SEED,
        seed => seed,
    }
}

fn session_settings(options: &OptionValues) -> Result<SessionSettings, Failure> {
    parsed_settings(options.text("set-session"))
}

fn parsed_settings(text: &str) -> Result<SessionSettings, Failure> {
    parse_session_settings(text).map_err(|part| {
        Failure::usage(format!(
            "--set-session: {part}: must be name=value, several joined by semicolons; for \
             example --set-session='sort_buffer_size=262144;tx_isolation=SERIALIZABLE'"
        ))
    })
}

/// The settings of `--set-session`, each as `name=value`.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn session_setup(options: &OptionValues) -> Result<SessionSetup, Failure> {
    let settings = session_settings(options)?;
    let settings = settings
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"));
    Ok(SessionSetup {
        settings: settings.collect(),
        setup_timeout: options.time("setup-timeout"),
    })
}

fn prepared(options: &OptionValues) -> PreparedMode {
    match options.text("db-ps-mode") {
        "disable" => PreparedMode::Text,
        _ => PreparedMode::Server,
    }
}

fn seconds(options: &OptionValues, name: &str) -> Option<Duration> {
    Some(options.uint(name))
        .filter(|s| *s > 0)
        .map(Duration::from_secs)
}

/// Sessions opened a second; `None` is as fast as they come.
fn connect_rate(options: &OptionValues) -> Result<Option<f64>, Failure> {
    // A session in a quarter of an hour; below it no run would begin.
    const SLOWEST: f64 = 0.001;
    match options.float("connect-rate") {
        0.0 => Ok(None),
        rate if rate >= SLOWEST => Ok(Some(rate)),
        _ => Err(Failure::usage(format!(
            "--connect-rate={}: must be {SLOWEST} to 1000000 sessions per second, or 0 for no \
             limit; for example --connect-rate=200",
            options.text("connect-rate")
        ))),
    }
}

/// What the options that every command has ask of a run: sessions, pacing, distance, what to do about
/// lost sessions. The rest is as [`RunSpec::default`] has it. A seed of 0 is taken from the clock.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn native_spec(options: &OptionValues, seed: u64) -> Result<RunSpec, Failure> {
    Ok(RunSpec {
        pacing: pacing(options)?,
        seed: match seed {
            0 => std::time::UNIX_EPOCH
                .elapsed()
                .map_or(1, |d| d.as_nanos() as u64),
            seed => seed,
        },
        ..sessions_spec(options)?
    })
}

/// What a load is asked for: its sessions, and the seed that the option of this name has.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn loading_spec(options: &OptionValues, seed: &str) -> Result<RunSpec, Failure> {
    Ok(RunSpec {
        seed: load_seed(options, seed),
        ..sessions_spec(options)?
    })
}

fn sessions_spec(options: &OptionValues) -> Result<RunSpec, Failure> {
    let (terminals, sessions) = terminals_and_sessions(options)?;
    Ok(RunSpec {
        prepared: prepared(options),
        terminals,
        sessions,
        think_time: think_time(options),
        connect_rate: connect_rate(options)?,
        fewer_sessions: match options.text("fewer-sessions") {
            "go-on" => FewerSessions::GoOn,
            _ => FewerSessions::Fail,
        },
        executors: usize::try_from(options.uint("executors"))
            .ok()
            .filter(|e| *e > 0),
        yield_to_server: options.text("scheduling") != "normal",
        busy_poll: busy_poll(options),
        arrivals: match options.text("arrivals") {
            "constant" => Arrivals::Constant,
            _ => Arrivals::Poisson,
        },
        max_backlog: options.uint("max-backlog"),
        inject_rtt: options.time("inject-rtt"),
        statement_timeout: Some(options.time("statement-timeout")).filter(|t| !t.is_zero()),
        isolation: Isolation::named(options.text("isolation")),
        on_disconnect: match options.text("on-disconnect") {
            "fail" => DisconnectPolicy::Fail,
            _ => DisconnectPolicy::Reconnect,
        },
        reconnect_timeout: options.time("reconnect-timeout"),
        connect_timeout: options.time("connect-timeout"),
        ..RunSpec::default()
    })
}

/// Threads don't take from their work what they stay awake with, unless they are told to.
fn busy_poll(options: &OptionValues) -> Duration {
    match options.source("busy-poll") {
        Source::Default if tidemark_runtime::is_short_of_cpu() => Duration::ZERO,
        _ => options.time("busy-poll"),
    }
}

/// What a run of sysbench's options is asked to do.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn run_spec(options: &OptionValues, protocol: Protocol) -> Result<RunSpec, Failure> {
    let spec = native_spec(options, options.uint("rand-seed"))?;
    let by_itself = sets_its_length(&spec.pacing);
    Ok(RunSpec {
        time: seconds(options, "time").filter(|_| !by_itself),
        events: Some(options.uint("events")).filter(|e| *e > 0 && !by_itself),
        warmup: seconds(options, "warmup-time").unwrap_or_default(),
        reconnect_every: options.uint("reconnect"),
        ignore_errors: ignore_errors(options, protocol),
        init_timeout: Duration::from_secs(options.uint("thread-init-timeout")),
        forced_shutdown: forced_shutdown(options)?,
        ..spec
    })
}

fn ignore_errors(options: &OptionValues, protocol: Protocol) -> IgnoreErrors {
    let retryable = |also: &[ErrorKind]| IgnoreErrors::Retryable {
        also: also.to_vec(),
    };
    match protocol {
        // PostgreSQL's deadlocks and serialisation failures are retryable to the driver; sysbench
        // also retries a duplicate key.
        Protocol::Postgres => retryable(&[ErrorKind::DuplicateKey]),
        Protocol::Sqlite => retryable(&[]),
        // The default's three numbers are retryable to the driver, as are TiDB's own conflicts.
        Protocol::Mysql if options.source("mysql-ignore-errors") == Source::Default => {
            retryable(&[])
        }
        Protocol::Mysql => match options.list("mysql-ignore-errors").as_slice() {
            ["all"] => IgnoreErrors::All,
            codes => IgnoreErrors::Codes(codes.iter().map(ToString::to_string).collect()),
        },
    }
}

fn forced_shutdown(options: &OptionValues) -> Result<Option<Duration>, Failure> {
    match options.text("forced-shutdown") {
        "off" | "" => Ok(None),
        "on" => Ok(Some(Duration::ZERO)),
        text => match text.parse::<u32>() {
            Ok(seconds) => Ok(Some(Duration::from_secs(seconds.into()))),
            Err(_) => Err(Failure::usage(format!(
                "--forced-shutdown={text}: must be a whole number of seconds, or off; for \
                 example --forced-shutdown=5"
            ))),
        },
    }
}

/// The seed that rows are made from: the option's, unless it is 0.
pub fn load_seed(options: &OptionValues, name: &str) -> u64 {
    Some(options.uint(name))
        .filter(|s| *s > 0)
        .unwrap_or(LOAD_SEED)
}

/// How a load is made, and what it may replace.
pub fn load_spec(job: &Job) -> LoadSpec {
    let by_default = Preparation::default();
    let prepare = job.prepare.as_ref().unwrap_or(&by_default);
    let shard = job.load.shard;
    LoadSpec {
        threads: shard.count_usize(job.load.sessions).max(1),
        terminals: job.load.terminals,
        chunk_rows: prepare.chunk_rows,
        seed: job.load.seed,
        method: (prepare.method == LoadMethod::Insert).then_some(BulkMethod::MultiRowInsert),
        replace: match (job.force, prepare.replace) {
            // The first of several clients makes place, and the others help it.
            _ if shard.index > 0 => Replace::Nothing,
            (true, _) => Replace::Anything,
            (_, true) => Replace::Benchmark,
            _ => Replace::Nothing,
        },
        study: job.study_load(),
        helps: shard.index > 0,
        ..LoadSpec::default()
    }
}

/// Moments of `--report-checkpoints`, in order.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn checkpoints(options: &OptionValues) -> Result<Vec<Duration>, Failure> {
    let mut moments = Vec::new();
    for word in options.list("report-checkpoints") {
        match word.parse::<u32>() {
            Ok(seconds) if seconds > 0 => moments.push(Duration::from_secs(seconds.into())),
            _ => {
                return Err(Failure::usage(format!(
                    "--report-checkpoints={}: {word}: use whole numbers of seconds; for example \
                     --report-checkpoints=30,60",
                    options.text("report-checkpoints")
                )));
            }
        }
    }
    moments.sort_unstable();
    Ok(moments)
}

/// Percentiles to print; 0 prints none.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn percentiles(options: &OptionValues) -> Result<Vec<f64>, Failure> {
    let mut percentiles = Vec::new();
    for word in options.list("percentile") {
        match word.parse::<f64>() {
            Ok(p) if (0.0..=100.0).contains(&p) => percentiles.push(p),
            _ => {
                return Err(Failure::usage(format!(
                    "--percentile={}: {word}: use numbers from 1 to 100, or 0 for none; for \
                     example --percentile=95,99,99.9",
                    options.text("percentile")
                )));
            }
        }
    }
    Ok(percentiles)
}
