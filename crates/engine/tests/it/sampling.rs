//! What is sampled is what is counted: of every transaction that counts one sample, however it was
//! paced; and so are the sessions' shares.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tidemark_core::record::{Interval, Phase, Totals};
use tidemark_core::{Pacing, RunSpec, Source, Target, ThinkTime};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_engine::{
    LoadObserver, LoadSpec, RunExtras, RunObserver, Sample, SampleLog, Started, StopHandle,
    prepare, run_beside,
};
use tidemark_testkit::shared_postgres;
use tidemark_workloads::{Workload, find};

/// Counts what is told of a warm-up, and the most transactions in progress.
#[derive(Default)]
struct Told {
    warmup: u64,
    in_progress: u64,
}

impl RunObserver for Told {
    fn started(&mut self, _: &Started) {}
    fn interval(&mut self, interval: &Interval) {
        self.in_progress = self.in_progress.max(interval.concurrency);
        if interval.phase == Phase::Warmup {
            self.warmup += interval.types.values().map(|t| t.count).sum::<u64>();
        }
    }
    fn checkpoint(&mut self, _: f64, _: &Totals) {}
}

impl LoadObserver for Told {
    fn creating(&mut self, _: &str, _: u64, _: u64) {}
    fn progress(&mut self, _: u64, _: u64) {}
    fn indexing(&mut self, _: &str) {}
    fn verifying(&mut self) {}
}

fn workload() -> Arc<dyn Workload> {
    let definition = find("oltp_point_select").unwrap();
    let mut values = definition.defaults();
    values
        .set("table-size", "100", Source::CommandLine)
        .unwrap();
    (definition.build)(&values).unwrap()
}

fn since_1970() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    now.as_micros() as u64
}

/// Runs, and compares samples with counters.
fn conserved(connector: &Connector, spec: &RunSpec, what: &str) {
    let workload = workload();
    let seen: Arc<Mutex<Vec<Sample>>> = Arc::default();
    let there = Arc::clone(&seen);
    let log = SampleLog::start(move |samples| {
        there.lock().unwrap().extend_from_slice(samples);
        Ok(())
    })
    .unwrap();
    let begun = since_1970();
    let mut told = Told::default();
    let stop = StopHandle::new();
    let beside = RunExtras {
        samples: Some((&log, 7)),
        ..RunExtras::default()
    };
    let result = run_beside(spec, connector, &workload, &[], &stop, &mut told, beside).unwrap();
    let report = log.finish();
    let ended = since_1970();
    let counted = result.totals.all.count;
    assert!(counted > 20, "{what}: {counted}");
    assert_eq!(
        (report.written, report.lost, &report.error),
        (counted, 0, &None),
        "{what}"
    );
    // Each thread's account is kept where the system has one.
    let has_account = std::path::Path::new("/proc/thread-self/schedstat").exists();
    let waiting = result.waiting_threads;
    assert_eq!(waiting.is_some(), has_account, "{what}");
    let most = result.executors.max(spec.sessions) as f64 + 0.1;
    assert!(
        waiting.is_none_or(|n| (0.0..most).contains(&n)),
        "{what}: {waiting:?}"
    );
    let shares = result.totals.fairness.events_avg * spec.sessions as f64;
    assert!(
        (shares - counted as f64).abs() < 0.5,
        "{what}: the sessions' shares are {shares} of {counted}"
    );
    let seen = seen.lock().unwrap();
    let mut kinds = BTreeMap::new();
    for sample in seen.iter() {
        *kinds
            .entry(workload.transaction_types()[sample.kind as usize])
            .or_insert(0) += 1;
        assert_eq!(sample.run, 7);
        assert!(
            (sample.terminal as usize) < spec.terminals,
            "{what}: {sample:?}"
        );
        let end = sample.start_us + sample.latency_ns / 1000;
        assert!(
            sample.start_us >= begun && end <= ended + 1,
            "{what}: {sample:?}"
        );
    }
    for (name, stats) in &result.totals.types {
        assert_eq!(
            kinds.get(name.as_str()),
            Some(&stats.count),
            "{what}: {name}"
        );
    }
    let longest = seen.iter().map(|s| s.latency_ns).max().unwrap();
    assert!(longest < 60_000_000_000, "{what}: {longest}");
    let mut terminals: Vec<_> = seen.iter().map(|s| s.terminal).collect();
    terminals.sort_unstable();
    terminals.dedup();
    if spec.pacing == Pacing::Closed {
        assert_eq!(
            terminals.len(),
            spec.terminals,
            "{what}: each has its own number"
        );
    }
    assert_eq!(told.warmup > 0, !spec.warmup.is_zero(), "{what}");
    let (most, sessions) = (told.in_progress, spec.sessions as u64);
    assert!(most <= sessions, "{what}: {most}");
    if spec.pacing == Pacing::Closed && spec.think_time == ThinkTime::None {
        assert_eq!(most, sessions, "{what}: each session is busy");
    }
}

fn every_pacing(connector: &Connector) {
    let stop = StopHandle::new();
    prepare(
        connector,
        &workload(),
        &LoadSpec::default(),
        &stop,
        &mut Told::default(),
    )
    .unwrap();
    let own = RunSpec {
        terminals: 4,
        sessions: 4,
        time: Some(Duration::from_millis(1500)),
        warmup: Duration::from_millis(400),
        interval: Duration::from_millis(100),
        ..RunSpec::default()
    };
    conserved(connector, &own, "sessions with terminals of their own");
    let shared = RunSpec {
        terminals: 24,
        think_time: ThinkTime::Exponential(Duration::from_millis(20)),
        warmup: Duration::ZERO,
        ..own.clone()
    };
    conserved(
        connector,
        &shared,
        "terminals that think and share sessions",
    );
    let open = RunSpec {
        pacing: Pacing::Rate(300.0),
        ..own
    };
    conserved(connector, &open, "arrivals");
}

#[test]
fn every_transaction_is_sampled_once_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let target = Target::sqlite(folder.path().join("s.db").to_str().unwrap());
    every_pacing(&Connector::new(target, ConnectOptions::default()).unwrap());
}

#[test]
fn every_transaction_is_sampled_once_on_postgres() {
    let database = shared_postgres()
        .unwrap()
        .fresh_database("sampling")
        .unwrap();
    let target = Target::parse(&database.url()).unwrap();
    every_pacing(&Connector::new(target, ConnectOptions::default()).unwrap());
}

/// Ends a run as soon as it has begun.
struct StopsAtOnce(StopHandle);

impl RunObserver for StopsAtOnce {
    fn started(&mut self, _: &Started) {}
    fn interval(&mut self, interval: &Interval) {
        let count: u64 = interval.types.values().map(|t| t.count).sum();
        if count > 0 {
            self.0.stop();
        }
    }
    fn checkpoint(&mut self, _: f64, _: &Totals) {}
}

#[test]
fn a_run_that_ends_in_its_warmup_has_measured_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = Target::sqlite(folder.path().join("s.db").to_str().unwrap());
    let connector = Connector::new(target, ConnectOptions::default()).unwrap();
    let (load, told) = (LoadSpec::default(), &mut Told::default());
    prepare(&connector, &workload(), &load, &StopHandle::new(), told).unwrap();
    let spec = RunSpec {
        terminals: 2,
        sessions: 2,
        time: Some(Duration::from_secs(60)),
        warmup: Duration::from_secs(600),
        interval: Duration::from_millis(50),
        ..RunSpec::default()
    };
    let stop = StopHandle::new();
    let mut stops = StopsAtOnce(stop.clone());
    let extras = RunExtras::default();
    let result = run_beside(
        &spec,
        &connector,
        &workload(),
        &[],
        &stop,
        &mut stops,
        extras,
    );
    let totals = result.unwrap().totals;
    assert_eq!(totals.all.count, 0);
    let shares = &totals.fairness;
    assert_eq!((shares.events_avg, shares.time_avg_s), (0.0, 0.0));
}
