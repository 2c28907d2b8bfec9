//! Clients that share a run, and who leads them.

use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tidemark_core::record::{Interval, RunState, StepPurpose, Totals};
use tidemark_core::{
    Arrivals, FindMax, OptionError, Pacing, RateStep, RunSpec, Shard, Source, Target, ThinkTime,
};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{ConnectOptions, Connector, Dialect, RowSource};
use tidemark_engine::{
    EngineError, Lead, LeadEvent, LedStep, LoadObserver, LoadSpec, RunExtras, RunObserver,
    RunResult, Started, StopHandle, lead, prepare, run_beside,
};
use tidemark_workloads::{Prewarm, Statements, TablePlan, Terminal, Workload, find};

/// A workload that tells which terminals were made of it.
#[derive(Debug)]
struct Spied {
    inner: Arc<dyn Workload>,
    made: Mutex<Vec<(usize, usize, u64)>>,
    dealt: Mutex<Option<Shard>>,
    each: bool,
}

impl Workload for Spied {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        self.inner.transaction_types()
    }

    fn events_are_each(&self) -> bool {
        self.each
    }

    fn tables(&self, dialect: &Dialect, sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        self.inner.tables(dialect, sessions)
    }

    fn rows(&self, table: usize, first: u64, count: u64, seed: u64) -> Box<dyn RowSource + Send> {
        self.inner.rows(table, first, count, seed)
    }

    fn recognises(&self, found: &TableDescription) -> bool {
        self.inner.recognises(found)
    }

    fn needs(&self, sessions: usize) -> Vec<String> {
        self.inner.needs(sessions)
    }

    fn prewarm(&self, dialect: &Dialect) -> Vec<Prewarm> {
        self.inner.prewarm(dialect)
    }

    fn only_reads(&self) -> bool {
        self.inner.only_reads()
    }

    fn statements(&self) -> Statements {
        self.inner.statements()
    }

    fn deal(&self, shard: Shard) {
        *self.dealt.lock().unwrap() = Some(shard);
    }

    fn terminal(&self, number: usize, terminals: usize, seed: u64) -> Terminal {
        self.made.lock().unwrap().push((number, terminals, seed));
        self.inner.terminal(number, terminals, seed)
    }
}

struct Quiet;

impl LoadObserver for Quiet {
    fn creating(&mut self, _: &str, _: u64, _: u64) {}
    fn progress(&mut self, _: u64, _: u64) {}
    fn indexing(&mut self, _: &str) {}
    fn verifying(&mut self) {}
}

impl RunObserver for Quiet {
    fn started(&mut self, _: &Started) {}
    fn interval(&mut self, _: &Interval) {}
    fn checkpoint(&mut self, _: f64, _: &Totals) {}
}

struct Place {
    connector: Connector,
    workload: Arc<dyn Workload>,
    _folder: tempfile::TempDir,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/a.db", folder.path().display());
    let target = Target::parse(&url).unwrap();
    let connector = Connector::new(target, ConnectOptions::default()).unwrap();
    let definition = find("oltp_point_select").unwrap();
    let mut options = definition.defaults();
    options
        .set("table-size", "100", Source::CommandLine)
        .unwrap();
    let workload = (definition.build)(&options).unwrap();
    let stop = StopHandle::new();
    prepare(
        &connector,
        &workload,
        &LoadSpec::default(),
        &stop,
        &mut Quiet,
    )
    .unwrap();
    Place {
        connector,
        workload,
        _folder: folder,
    }
}

impl Place {
    /// Runs, and gives the terminals that were made with what was measured.
    fn run(&self, spec: &RunSpec) -> (BTreeSet<(usize, usize, u64)>, RunResult) {
        self.run_with(spec, false)
    }

    /// The same, where `each` terminal does as many transactions as any other.
    fn run_with(&self, spec: &RunSpec, each: bool) -> (BTreeSet<(usize, usize, u64)>, RunResult) {
        let spied = Arc::new(Spied {
            inner: Arc::clone(&self.workload),
            made: Mutex::default(),
            dealt: Mutex::default(),
            each,
        });
        let workload: Arc<dyn Workload> = Arc::clone(&spied) as _;
        let result = self.run_of(spec, &workload, None).unwrap();
        let dealt = *spied.dealt.lock().unwrap();
        assert_eq!(dealt, Some(spec.shard).filter(|shard| !shard.is_whole()));
        let made = spied.made.lock().unwrap().clone();
        let unique: BTreeSet<_> = made.iter().copied().collect();
        assert_eq!(unique.len(), made.len(), "{made:?}");
        (unique, result)
    }

    fn run_of(
        &self,
        spec: &RunSpec,
        workload: &Arc<dyn Workload>,
        lead: Option<&Lead>,
    ) -> Result<RunResult, EngineError> {
        let beside = RunExtras {
            lead,
            ..RunExtras::default()
        };
        let stop = StopHandle::new();
        run_beside(
            spec,
            &self.connector,
            workload,
            &[],
            &stop,
            &mut Quiet,
            beside,
        )
    }
}

#[test]
fn each_session_of_every_client_does_as_many_transactions() {
    let place = place();
    let whole = RunSpec {
        terminals: 5,
        sessions: 5,
        events: Some(1000),
        time: None,
        ..RunSpec::default()
    };
    // Five sessions of two clients are three and two.
    for of in [1u32, 2] {
        for index in 0..of {
            let spec = RunSpec {
                shard: Shard { index, of },
                ..whole.clone()
            };
            let (_, result) = place.run_with(&spec, true);
            let counts: Vec<u64> = result.sessions.iter().map(|(count, _)| *count).collect();
            assert_eq!(counts, vec![200; spec.own().sessions], "{index}/{of}");
        }
    }
}

#[test]
fn clients_make_the_terminals_and_the_transactions_of_one() {
    let place = place();
    let spec = |terminals, think_time| RunSpec {
        terminals,
        sessions: 5,
        think_time,
        events: Some(103),
        time: None,
        seed: 9,
        ..RunSpec::default()
    };
    // Each session its own terminal; then a pool of terminals.
    let short = ThinkTime::Constant(Duration::from_millis(1));
    for whole in [spec(5, ThinkTime::None), spec(17, short)] {
        let (wanted, result) = place.run(&whole);
        assert_eq!(result.totals.all.count, 103);
        assert_eq!(wanted.len(), whole.terminals);
        for of in [2u32, 3, 5] {
            let (mut found, mut events, mut sessions) = (BTreeSet::new(), 0, 0);
            for index in 0..of {
                let shard = Shard { index, of };
                let (made, result) = place.run(&RunSpec {
                    shard,
                    ..whole.clone()
                });
                assert!(
                    made.iter().all(|one| found.insert(*one)),
                    "{shard}: {made:?}"
                );
                events += result.totals.all.count;
                sessions += result.sessions_opened;
            }
            assert_eq!((found, events, sessions), (wanted.clone(), 103, 5), "{of}");
        }
    }
}

#[test]
fn a_run_that_cannot_be_shared_says_so() {
    let place = place();
    let shard = Shard { index: 0, of: 3 };
    let few = RunSpec {
        shard,
        sessions: 2,
        terminals: 2,
        ..RunSpec::default()
    };
    let search = RunSpec {
        shard,
        sessions: 3,
        terminals: 3,
        pacing: Pacing::FindMax(FindMax {
            objective: "p99 < 1s".parse().unwrap(),
            first_rate: Some(100.0),
            hold: Duration::from_secs(1),
            confirm: Duration::from_secs(1),
            precision: 0.5,
        }),
        ..RunSpec::default()
    };
    for (spec, said) in [(few, "at most 2 clients"), (search, "shard 1/3: a search")] {
        let error = place.run_of(&spec, &place.workload, None).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// What a led run told, in order.
fn told(events: &std::sync::mpsc::Receiver<LeadEvent>) -> Vec<LeadEvent> {
    let mut all = Vec::new();
    while let Ok(event) = events.recv_timeout(Duration::from_secs(60)) {
        let ended = matches!(event, LeadEvent::Ended);
        all.push(event);
        if ended {
            return all;
        }
    }
    panic!("it did not end: {all:?}");
}

#[test]
fn a_led_run_waits_for_its_start_and_ends_when_told() {
    let place = place();
    let (lead, events) = lead();
    let spec = RunSpec {
        sessions: 2,
        terminals: 2,
        time: Some(Duration::from_secs(3600)),
        interval: Duration::from_millis(100),
        ..RunSpec::default()
    };
    std::thread::scope(|scope| {
        let run = scope.spawn(|| place.run_of(&spec, &place.workload, Some(&lead)).unwrap());
        let first = events.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(matches!(first, LeadEvent::Ready(started) if started.sessions == 2));
        let early = events.recv_timeout(Duration::from_millis(100));
        assert!(early.is_err(), "{early:?}");
        let at = Instant::now() + Duration::from_millis(200);
        lead.start_at(at);
        lead.stop_at(at + Duration::from_millis(1000));
        let all = told(&events);
        assert!(Instant::now() >= at + Duration::from_millis(1000));
        let result = run.join().unwrap();
        assert_eq!(result.state, RunState::Finished);
        assert!(
            result.totals.elapsed_s >= 1.0,
            "{}",
            result.totals.elapsed_s
        );
        assert!(matches!(all[0], LeadEvent::Began { .. }), "{all:?}");
        let intervals = all.iter().filter_map(|event| match event {
            LeadEvent::Interval {
                number, interval, ..
            } => Some((*number, interval)),
            _ => None,
        });
        let mut transactions = 0;
        for ((number, interval), wanted) in intervals.zip(0..) {
            assert_eq!(number, wanted);
            transactions += interval.types.values().map(|t| t.count).sum::<u64>();
        }
        assert!(transactions > 0);
        assert_eq!(transactions, result.totals.all.count);
    });
}

#[test]
fn a_led_run_that_is_interrupted_at_the_gate_ends() {
    let place = place();
    let (lead, events) = lead();
    let stop = StopHandle::new();
    let spec = RunSpec::default();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let beside = RunExtras {
                lead: Some(&lead),
                ..RunExtras::default()
            };
            let connector = &place.connector;
            run_beside(
                &spec,
                connector,
                &place.workload,
                &[],
                &stop,
                &mut Quiet,
                beside,
            )
        });
        let first = events.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(matches!(first, LeadEvent::Ready(_)));
        stop.stop();
        let error = run.join().unwrap().unwrap_err();
        assert!(matches!(error, EngineError::Interrupted), "{error}");
    });
}

#[test]
fn a_led_run_holds_the_rates_that_it_is_told() {
    let place = place();
    let (lead, events) = lead();
    let hold = Duration::from_millis(500);
    let spec = RunSpec {
        sessions: 4,
        terminals: 4,
        time: None,
        arrivals: Arrivals::Constant,
        // What it would hold without a lead.
        pacing: Pacing::Steps(vec![RateStep {
            per_second: 1.0,
            hold: Duration::from_secs(3600),
        }]),
        shard: Shard { index: 1, of: 2 },
        ..RunSpec::default()
    };
    let all = std::thread::scope(|scope| {
        let run = scope.spawn(|| place.run_of(&spec, &place.workload, Some(&lead)).unwrap());
        let at = Instant::now() + Duration::from_millis(300);
        let step = |rate, from| LedStep {
            purpose: StepPurpose::Climb,
            rate: Some(rate),
            from,
            hold,
        };
        lead.start_at(at);
        lead.hold(step(400.0, at));
        // It follows at once; what is decided later follows after a pause.
        lead.hold(step(800.0, at + hold));
        let mut all = Vec::new();
        while let Ok(event) = events.recv_timeout(Duration::from_secs(60)) {
            let is_second = matches!(&event, LeadEvent::Step(step) if step.rate == Some(800.0));
            let ended = matches!(event, LeadEvent::Ended);
            all.push(event);
            if is_second {
                lead.hold(step(200.0, Instant::now() + Duration::from_millis(200)));
                lead.end_steps();
            }
            if ended {
                break;
            }
        }
        let result = run.join().unwrap();
        assert_eq!((result.state, result.steps.len()), (RunState::Finished, 3));
        all
    });
    let steps: Vec<_> = all
        .iter()
        .filter_map(|event| match event {
            LeadEvent::Step(step) => Some(step),
            _ => None,
        })
        .collect();
    let rates: Vec<_> = steps.iter().map(|step| step.rate).collect();
    assert_eq!(rates, [Some(400.0), Some(800.0), Some(200.0)]);
    for step in steps {
        assert_eq!((step.purpose, &step.verdict), (StepPurpose::Climb, &None));
        let arrived = step.totals.all.count + step.totals.unserved_arrivals;
        assert!(arrived > 0, "{step:?}");
    }
    // Every second arrival is its own, and none comes between the steps.
    let held = all.iter().filter_map(|event| match event {
        LeadEvent::Interval { interval, .. } => interval.rate.map(|rate| rate as u32),
        _ => None,
    });
    let held: BTreeSet<u32> = held.collect();
    assert!(held.is_subset(&BTreeSet::from([100, 200, 400])), "{held:?}");
    assert!(matches!(all.last(), Some(LeadEvent::Ended)));
}

#[test]
fn the_rate_of_a_led_run_can_be_another_one() {
    let place = place();
    let (lead, events) = lead();
    let spec = RunSpec {
        sessions: 2,
        terminals: 2,
        time: Some(Duration::from_secs(3600)),
        arrivals: Arrivals::Constant,
        interval: Duration::from_millis(100),
        pacing: Pacing::Rate(10.0),
        ..RunSpec::default()
    };
    std::thread::scope(|scope| {
        let run = scope.spawn(|| place.run_of(&spec, &place.workload, Some(&lead)).unwrap());
        lead.start_at(Instant::now());
        lead.set_rate(300.0);
        let is_new = |event: &LeadEvent| matches!(event, LeadEvent::Interval { interval, .. } if interval.rate == Some(300.0));
        while !is_new(&events.recv_timeout(Duration::from_secs(60)).unwrap()) {}
        lead.stop_at(Instant::now());
        told(&events);
        assert_eq!(run.join().unwrap().state, RunState::Finished);
    });
}

proptest! {
    /// What each terminal draws depends on its number in the run, whichever client has it.
    #[test]
    fn a_terminal_is_the_same_at_any_client(
        of in 1u32..9,
        more in 0usize..20,
        seed in 0u64..5,
    ) {
        let terminals = of as usize + more;
        for name in ["oltp_read_write", "oltp_insert", "bulk_insert", "tpcc"] {
            let definition = find(name).unwrap();
            let mut options = definition.defaults();
            if name != "bulk_insert" && name != "tpcc" {
                options.set("disjoint-keys", "on", Source::CommandLine).unwrap();
            }
            let one = (definition.build)(&options).unwrap();
            let shown = |workload: &Arc<dyn Workload>, number| {
                format!("{:?}", workload.terminal(number, terminals, seed))
            };
            for index in 0..of {
                let shard = Shard { index, of };
                let workload = (definition.build)(&options).unwrap();
                workload.deal(shard);
                for local in 0..shard.count_usize(terminals) {
                    let number = shard.global_usize(local);
                    prop_assert_eq!(shown(&workload, number), shown(&one, number), "{}", name);
                }
            }
        }
    }
}
