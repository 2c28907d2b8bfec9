//! How load is made, against a server that does what it is told: budgets, pools, rates that follow
//! each other, what is left at the end.

use super::common::{connectors, decode, lab, point_select};
use std::time::{Duration, Instant};
use tidemark_core::record::{Interval, RunState, Step, StepPurpose, Totals};
use tidemark_core::{Arrivals, FindMax, Pacing, RateStep, RunSpec, ThinkTime};
use tidemark_engine::{RunObserver, RunResult, Started, StopHandle};
use tidemark_lab::LabConfig;

#[derive(Default)]
struct Seen {
    intervals: Vec<Interval>,
    steps: Vec<Step>,
}

impl RunObserver for Seen {
    fn started(&mut self, _: &Started) {}
    fn interval(&mut self, interval: &Interval) {
        self.intervals.push(interval.clone());
    }
    fn checkpoint(&mut self, _: f64, _: &Totals) {}
    fn step(&mut self, step: &Step) {
        self.steps.push(step.clone());
    }
}

/// A run against a laboratory with this delay, stopped after `limit` at the latest.
fn go(spec: &RunSpec, delay: &str, limit: Duration) -> (RunResult, Seen) {
    let lab = lab(LabConfig {
        delay: delay.parse().unwrap(),
        ..LabConfig::default()
    });
    let [mysql, _] = connectors(&lab);
    let stop = StopHandle::default();
    let watchdog = stop.clone();
    let (done, over) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        if over.recv_timeout(limit).is_err() {
            watchdog.stop();
        }
    });
    let mut seen = Seen::default();
    let result =
        tidemark_engine::run(spec, &mysql, &point_select(), &[], &stop, &mut seen).unwrap();
    let _ = done.send(());
    guard.join().unwrap();
    (result, seen)
}

const SECOND: Duration = Duration::from_secs(1);

fn terminals(terminals: usize, sessions: usize) -> RunSpec {
    RunSpec {
        terminals,
        sessions,
        time: None,
        ..RunSpec::default()
    }
}

#[test]
fn a_pool_ends_with_its_budget() {
    for think_time in [
        ThinkTime::None,
        ThinkTime::Exponential(Duration::from_millis(5)),
    ] {
        let spec = RunSpec {
            events: Some(100),
            think_time,
            ..terminals(8, 4)
        };
        let (result, _) = go(&spec, "constant:1ms", 20 * SECOND);
        assert_eq!(result.state, RunState::Finished, "{think_time:?}");
        assert_eq!(result.totals.all.count, 100);
    }
}

#[test]
fn a_schedule_ends_with_its_budget() {
    let spec = RunSpec {
        events: Some(20),
        pacing: Pacing::Rate(20.0),
        arrivals: Arrivals::Constant,
        ..terminals(400, 400)
    };
    let (result, _) = go(&spec, "constant:1ms", 30 * SECOND);
    assert_eq!(result.totals.all.count, 20);
    // The sessions beyond the twentieth hold arrivals up to 20 s: nobody waits for them.
    assert!(
        (0.9..10.0).contains(&result.totals.elapsed_s),
        "{:?}",
        result.totals.elapsed_s
    );
}

#[test]
fn many_terminals_end_when_the_time_is_over() {
    let spec = RunSpec {
        time: Some(SECOND),
        think_time: ThinkTime::Exponential(60 * SECOND),
        ..terminals(100_000, 20)
    };
    let (result, _) = go(&spec, "constant:100us", 60 * SECOND);
    let totals = &result.totals;
    // They think for a minute.
    assert!(totals.elapsed_s < 30.0, "{} s", totals.elapsed_s);
    // 1,667 a second are due.
    let most = 2000.0 * totals.elapsed_s;
    assert!((totals.all.count as f64) < most, "{}", totals.all.count);
    assert!(totals.all.count > 0);
}

#[test]
fn terminals_think_as_long_as_they_are_asked_to() {
    let spec = RunSpec {
        time: Some(4 * SECOND),
        think_time: ThinkTime::Exponential(Duration::from_millis(100)),
        ..terminals(200, 50)
    };
    let (result, _) = go(&spec, "constant:1ms", 30 * SECOND);
    let totals = &result.totals;
    // Little's law, however long the machine takes: a terminal thinks or waits for a response. Each
    // begins in the midst of the one and ends in the midst of either.
    let count = totals.all.count as f64;
    let response = decode(totals.all.response.as_ref().unwrap());
    let whole = 200.0 * totals.elapsed_s;
    let thinking = whole - response.sum_ns() as f64 / 1e9;
    let open = 200.0 * response.max_ns() as f64 / 1e9;
    let least = 0.095 * count - open;
    let most = 0.105 * (count + 200.0) + open;
    assert!((least..most).contains(&thinking), "{thinking} of {count}");
    let lateness = decode(totals.lateness.as_ref().unwrap());
    let wait = decode(totals.all.wait.as_ref().unwrap());
    assert!(lateness.count() > 0 && wait.count() == totals.all.count);
}

#[test]
fn what_is_due_and_not_served_is_told() {
    // Four sessions do 400 a second at most; 1,000 are asked for.
    let spec = RunSpec {
        time: Some(2 * SECOND),
        pacing: Pacing::Rate(1000.0),
        arrivals: Arrivals::Constant,
        ..terminals(4, 4)
    };
    let due = |spec: &RunSpec| {
        let begun = Instant::now();
        let (result, seen) = go(spec, "constant:10ms", 30 * SECOND);
        let totals = result.totals;
        let due = totals.all.count + totals.unserved_arrivals + totals.dropped_arrivals;
        // A busy machine ends late, and until then more come due.
        let most = 1000.0 * begun.elapsed().as_secs_f64();
        assert!(due >= 1950 && (due as f64) < most, "{due}");
        (totals, seen)
    };
    let (totals, _) = due(&spec);
    assert!(totals.unserved_arrivals > 1000);
    assert_eq!(totals.dropped_arrivals, 0);
    // Those that do not fit into a backlog are dropped and counted, too.
    let spec = RunSpec {
        max_backlog: 100,
        ..spec
    };
    let (totals, seen) = due(&spec);
    // What comes due since a session last took one may be over the bound.
    let (dropped, unserved) = (totals.dropped_arrivals, totals.unserved_arrivals);
    assert!(dropped > unserved, "{dropped} {unserved}");
    // After the end nothing comes due.
    let last = seen.intervals.last().unwrap();
    assert_eq!(last.queue_length, 0, "{last:?}");
}

#[test]
fn a_step_is_of_its_own_arrivals() {
    let hold = 2 * SECOND;
    let step = |per_second| RateStep { per_second, hold };
    let spec = RunSpec {
        pacing: Pacing::Steps(vec![step(2000.0), step(50.0)]),
        arrivals: Arrivals::Constant,
        ..terminals(4, 4)
    };
    let (result, seen) = go(&spec, "constant:10ms", 60 * SECOND);
    let [fast, slow] = result.steps.as_slice() else {
        panic!("{:?}", result.steps);
    };
    assert_eq!(seen.steps, result.steps);
    assert!(fast.totals.unserved_arrivals > 2000);
    // Fifty a second are due, until a busy machine ends the step; of the fast one are left hundreds.
    let due = slow.totals.all.count + slow.totals.unserved_arrivals;
    let most = 50.0 * slow.totals.elapsed_s.max(2.0) + 50.0;
    assert!(due >= 95 && (due as f64) < most, "{slow:?}");
    // Those left would have waited for a second and more.
    let response = decode(slow.totals.all.response.as_ref().unwrap());
    assert!(response.percentile_ns(50.0) < 1_000_000_000, "{slow:?}");
    // Intervals add up to the steps, and these to the totals.
    let told: u64 = seen
        .intervals
        .iter()
        .flat_map(|i| i.types.values())
        .map(|t| t.count)
        .sum();
    let steps: u64 = result.steps.iter().map(|s| s.totals.all.count).sum();
    assert_eq!(
        (told, steps),
        (result.totals.all.count, result.totals.all.count)
    );
}

#[test]
fn a_search_judges_a_rate_by_what_it_began() {
    // Eight sessions of 200 ms do 40 a second: 64/s leaves much behind, 32/s nothing, also where a
    // busy machine adds a third. A hundred arrivals are the fewest that are judged.
    let spec = RunSpec {
        pacing: Pacing::FindMax(FindMax {
            objective: "p90 < 1s".parse().unwrap(),
            first_rate: Some(64.0),
            hold: 4 * SECOND,
            confirm: 4 * SECOND,
            precision: 1.0,
        }),
        arrivals: Arrivals::Constant,
        ..terminals(8, 8)
    };
    let (result, _) = go(&spec, "constant:200ms", 120 * SECOND);
    let last = result.steps.last().unwrap();
    assert_eq!(last.purpose, StepPurpose::Confirm, "{:?}", result.steps);
    assert!(last.verdict.as_ref().unwrap().kept, "{:?}", result.steps);
    assert_eq!(result.totals, last.totals);
    let broken = &result.steps[0];
    assert!(!broken.verdict.as_ref().unwrap().kept, "{broken:?}");
    let after = &result.steps[1];
    assert!(after.verdict.as_ref().unwrap().kept, "{:?}", result.steps);
}
