//! Agents and coordinator at a real nats-server. Everywhere: each interval once, in order, or a reason.

mod faults;
mod server;
mod whole;

use crate::{
    Agent, ClientsPlan, ClientsRun, CoordinatorEvent, Message, NatsOptions, OnLoss, Simulated,
    Timing,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidemark_core::Job;
use tidemark_core::record::Interval;

/// Nothing takes longer on the busiest host.
const LONGEST: Duration = Duration::from_secs(60);
const VERSION: &str = "1.2.3";

/// An agent in a thread.
struct Thread {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), crate::ClientsError>>>,
}

impl Thread {
    fn start(nats: &NatsOptions, name: &str, version: &str, count: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let agent = Agent {
            nats: nats.clone(),
            name: name.into(),
            version: version.into(),
            hostname: format!("host-of-{name}"),
            cores: 4,
            stop: Arc::clone(&stop),
        };
        let mut load = Simulated {
            interval: Interval::default(),
            count,
        };
        let thread = std::thread::spawn(move || agent.run(&mut load, &mut |_| {}));
        Self {
            stop,
            thread: Some(thread),
        }
    }

    fn end(&mut self) -> Result<(), crate::ClientsError> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map_or(Ok(()), |t| t.join().unwrap())
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

/// Starts agents and waits until all are there.
fn agents(nats: &NatsOptions, names: &[&str], count: u64) -> Vec<Thread> {
    let all = names
        .iter()
        .map(|name| Thread::start(nats, name, VERSION, count));
    let all = all.collect();
    are_there(nats, names.len());
    all
}

fn are_there(nats: &NatsOptions, count: usize) {
    let end = Instant::now() + LONGEST;
    loop {
        let listed = crate::list(nats, VERSION).unwrap();
        if listed.iter().filter(|a| a.clock.is_some()).count() >= count {
            return;
        }
        assert!(Instant::now() < end, "{listed:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// No host is so busy that what lives does not answer in this time.
fn patient() -> Timing {
    Timing {
        answer: Duration::from_secs(10),
        gone: Duration::from_secs(20),
        silent: Duration::from_secs(40),
        lease: Duration::from_secs(120),
        ..Timing::default()
    }
}

fn plan(run: &str, clients: &str, on_loss: OnLoss, timing: Timing) -> ClientsPlan {
    let mut job = Job::from_json(super::JOB).unwrap();
    job.load.interval = Duration::from_millis(100);
    ClientsPlan {
        run: run.into(),
        clients: clients.into(),
        version: VERSION.into(),
        job,
        record: None,
        on_loss,
        timing,
    }
}

/// What a run came to.
#[derive(Debug, Default)]
struct Told {
    /// Numbers of intervals by client, in the order in which they came.
    intervals: BTreeMap<u32, Vec<u64>>,
    ended: Vec<u32>,
    lost: BTreeMap<u32, String>,
    late_ns: Vec<Option<i64>>,
    error_ns: Vec<i64>,
}

impl Told {
    /// Whether each interval of a client came once and in order, from the first on.
    fn is_whole(&self, client: u32, count: u64) -> bool {
        let numbers = self.intervals.get(&client).cloned().unwrap_or_default();
        numbers == (0..count).collect::<Vec<u64>>()
    }
}

/// Follows a run to its end; `at` is called at each interval.
fn follow(run: &ClientsRun, mut at: impl FnMut(u32, u64)) -> Result<Told, crate::ClientsError> {
    let mut told = Told::default();
    let end = Instant::now() + LONGEST;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match run.events.recv_timeout(left).expect("an event in time") {
            CoordinatorEvent::Chosen(_) | CoordinatorEvent::Begins(_) => {}
            CoordinatorEvent::Message(client, message) => match *message {
                Message::Interval { number, .. } => {
                    told.intervals.entry(client).or_default().push(number);
                    at(client, number);
                }
                Message::Ended(_) => told.ended.push(client),
                _ => {}
            },
            CoordinatorEvent::Lost { client, why, .. } => {
                told.lost.insert(client, why);
            }
            CoordinatorEvent::Over { clients, .. } => {
                told.late_ns = clients.iter().map(|one| one.late_ns).collect();
                told.error_ns = clients.iter().map(|one| one.facts.clock.error_ns).collect();
                return Ok(told);
            }
            CoordinatorEvent::Failed(error) => return Err(error),
        }
    }
}
