//! Streams: sessions that each do a list of things one after the other, as analytical benchmarks
//! do. What each took is told as it ends, with its rows; a query that takes too long, or fails, ends
//! neither its stream nor the others.

mod lane;
mod plans;

pub use plans::{PlanOf, plans};

use crate::control::StopHandle;
use crate::dead_time::Stretch;
use crate::error::EngineError;
use crate::lead::{Lead, LeadEvent, wait_until};
use crate::pulse::Pulse;
use crate::run::Started;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tidemark_core::DbError;
use tidemark_core::record::DeadSide;
use tidemark_drivers::{Connector, RowSet};
use tidemark_runtime::{Executor, Remote};

/// Statements that are one transaction.
pub type Transaction = Vec<String>;

/// What makes a change's transactions, one after the other and not all at once.
pub type Changes = Arc<dyn Fn() -> Box<dyn Iterator<Item = Transaction>> + Send + Sync>;

/// One thing that a stream does.
#[derive(Clone)]
pub enum StreamStep {
    /// Asks for rows.
    Query {
        /// What it is called by: `Q1`.
        name: String,
        /// Its SQL.
        sql: String,
    },
    /// Changes rows, in transactions.
    Change {
        /// What it is called by: `RF1`.
        name: String,
        /// Its transactions.
        changes: Changes,
    },
}

impl StreamStep {
    /// What it is called by.
    pub fn name(&self) -> &str {
        match self {
            StreamStep::Query { name, .. } | StreamStep::Change { name, .. } => name,
        }
    }
}

impl fmt::Debug for StreamStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What one session does.
#[derive(Debug, Clone)]
pub struct Stream {
    /// Its number, for who reads the results.
    pub number: usize,
    /// What it does, in order.
    pub steps: Vec<StreamStep>,
    /// Index of the step that it begins with; after the last comes the first.
    pub first: usize,
}

/// When streams end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Each step was done once.
    Once,
    /// Each stream has done so many.
    Steps(u64),
    /// No step begins after that time; those in progress are waited for.
    Time(Duration),
}

/// How streams run.
#[derive(Debug, Clone)]
pub struct StreamsSpec {
    /// When they end.
    pub until: Until,
    /// How long a query may take; then it is given up, in the server too where that can be.
    pub query_limit: Option<Duration>,
    /// Statements for each session before its first step.
    pub setup: Vec<String>,
    /// How long a lost session may take to come back.
    pub reconnect_timeout: Duration,
    /// Who leads them from outside: they wait for their start then.
    pub lead: Option<Lead>,
}

impl Default for StreamsSpec {
    fn default() -> Self {
        Self {
            until: Until::Once,
            query_limit: None,
            setup: Vec::new(),
            reconnect_timeout: Duration::from_secs(30),
            lead: None,
        }
    }
}

/// What came of a step.
#[derive(Debug, Clone)]
pub enum StepOutcome {
    /// It ended well; a query with its rows.
    Done(RowSet),
    /// It took longer than a query may.
    TimedOut,
    /// It failed.
    Failed(DbError),
}

/// One step that ended.
#[derive(Debug, Clone)]
pub struct StepResult {
    /// The stream's number.
    pub stream: usize,
    /// The step's index in it.
    pub step: usize,
    /// What it is called by.
    pub name: String,
    /// When it began, from the start of all.
    pub began: Duration,
    /// How long it took: from the first byte sent to the last received.
    pub took: Duration,
    /// What came of it.
    pub outcome: StepOutcome,
}

/// Is told what happens.
pub trait StreamsObserver {
    /// All sessions are open; the first steps begin so long from now: at once, unless they are led.
    fn started(&mut self, ahead: Duration);
    /// A stream, by its number, begins a step, by its index and what it is called by.
    fn begins(&mut self, stream: usize, step: usize, name: &str) {
        let _ = (stream, step, name);
    }
    /// Nothing began or ended for a tenth of a second.
    fn waits(&mut self) {}
    /// A step ended.
    fn ended(&mut self, result: StepResult);
    /// The client itself did not run, from so long after the start of all, for so long. Told at the
    /// end.
    fn stood_still(&mut self, start: Duration, length: Duration) {
        let _ = (start, length);
    }
}

/// What the streams tell the caller's thread.
enum StreamEvent {
    Opened(Remote),
    Ready,
    Begins {
        stream: usize,
        step: usize,
        name: String,
    },
    Ended(StepResult),
    Failed(EngineError),
}

/// Runs streams side by side, each on a session and a thread of its own, and gives the time from
/// the start to the end of the last step.
///
/// # Errors
/// [`EngineError::Connect`] and [`EngineError::Init`] before anything was asked;
/// [`EngineError::NotBack`] when a lost session could not be opened again, while the other streams
/// went on to their end; [`EngineError::Interrupted`].
pub fn run_streams(
    connector: &Connector,
    streams: &[Stream],
    spec: &StreamsSpec,
    stop: &StopHandle,
    observer: &mut dyn StreamsObserver,
) -> Result<Duration, EngineError> {
    let connector = lane::limited(connector, spec.query_limit);
    let (tell, events) = channel();
    let mut gates = Vec::with_capacity(streams.len());
    let mut threads = Vec::with_capacity(streams.len());
    for (index, stream) in streams.iter().enumerate() {
        let (open, gate) = channel();
        gates.push(open);
        let lane = lane::StreamLane {
            index,
            connector: connector.clone(),
            stream: stream.clone(),
            spec: spec.clone(),
            tell: tell.clone(),
        };
        let builder = std::thread::Builder::new().name(format!("stream-{}", stream.number));
        match builder.spawn(move || begin(lane, gate)) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                if let Some(lead) = &spec.lead {
                    lead.tell(LeadEvent::Ended);
                }
                return Err(error.into());
            }
        }
    }
    drop(tell);
    let mut collector = Collector {
        remotes: Vec::new(),
        gates,
        waiting: streams.len(),
        begun: None,
        last: Duration::ZERO,
        failure: None,
        lead: spec.lead.clone(),
        streams: streams.len(),
    };
    let pulse = Pulse::of_client();
    collector.collect(&events, stop, observer);
    if let Some(begun) = collector.begun {
        tell_stops(&pulse.end(), begun, observer);
    }
    for thread in threads {
        if thread.join().is_err() {
            let panicked = EngineError::System(PANICKED.into());
            collector.failure.get_or_insert(panicked);
        }
    }
    if let Some(lead) = &spec.lead {
        lead.tell(LeadEvent::Ended);
    }
    if stop.is_stopped() {
        return Err(EngineError::Interrupted);
    }
    collector.failure.map_or(Ok(collector.last), Err)
}

/// Tells of the times in which the client did not run, from the start of all.
fn tell_stops(stretches: &[Stretch], begun: Instant, observer: &mut dyn StreamsObserver) {
    for stretch in stretches.iter().filter(|s| s.side == DeadSide::Client) {
        let start = stretch.start.max(begun);
        let length = (stretch.start + stretch.length).saturating_duration_since(start);
        if !length.is_zero() {
            observer.stood_still(start.saturating_duration_since(begun), length);
        }
    }
}

/// Tells that a stream's thread panicked, unless it comes to its end: the others wait for its session
/// and would do so for ever.
struct Panicked(Option<Sender<StreamEvent>>);

impl Drop for Panicked {
    fn drop(&mut self) {
        if let Some(tell) = self.0.take() {
            let error = EngineError::System(PANICKED.into());
            // Who listens no more has ended.
            let _ = tell.send(StreamEvent::Failed(error));
        }
    }
}

/// What is said of a thread that panicked.
const PANICKED: &str = "a stream's thread panicked";

/// A stream's thread.
fn begin(lane: lane::StreamLane, gate: Receiver<Instant>) {
    let tell = lane.tell.clone();
    let mut panicked = Panicked(Some(tell.clone()));
    let ran = Executor::new().and_then(|mut executor| {
        // Who listens no more has ended.
        let _ = tell.send(StreamEvent::Opened(executor.remote()));
        executor.spawn(lane.run(gate));
        executor.run()
    });
    panicked.0 = None;
    if let Err(error) = ran {
        let _ = tell.send(StreamEvent::Failed(error.into()));
    }
}

struct Collector {
    remotes: Vec<Remote>,
    /// Let the streams begin, all with the same moment.
    gates: Vec<Sender<Instant>>,
    /// Streams whose sessions are not open yet.
    waiting: usize,
    begun: Option<Instant>,
    last: Duration,
    failure: Option<EngineError>,
    lead: Option<Lead>,
    /// How many there are.
    streams: usize,
}

impl Collector {
    fn collect(
        &mut self,
        events: &Receiver<StreamEvent>,
        stop: &StopHandle,
        observer: &mut dyn StreamsObserver,
    ) {
        loop {
            match events.recv_timeout(Duration::from_millis(100)) {
                Ok(StreamEvent::Opened(remote)) => self.remotes.push(remote),
                Ok(StreamEvent::Ready) => {
                    self.waiting = self.waiting.saturating_sub(1);
                    if self.waiting == 0 && self.failure.is_none() {
                        self.start(stop, observer);
                    }
                }
                Ok(StreamEvent::Begins { stream, step, name }) => {
                    observer.begins(stream, step, &name)
                }
                Ok(StreamEvent::Ended(result)) => {
                    self.last = self.last.max(result.began + result.took);
                    observer.ended(result);
                }
                Ok(StreamEvent::Failed(error)) => {
                    self.failure.get_or_insert(error);
                    if self.begun.is_none() {
                        // Those that wait to begin see that nobody will let them.
                        self.gates.clear();
                    }
                }
                Err(RecvTimeoutError::Timeout) => observer.waits(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if stop.is_stopped() {
                self.gates.clear();
                // One that can't be woken has ended.
                self.remotes.iter().for_each(|r| drop(r.abort()));
            }
        }
    }

    /// Lets all begin; where they are led, at the moment that is told.
    fn start(&mut self, stop: &StopHandle, observer: &mut dyn StreamsObserver) {
        let Some(lead) = self.lead.clone() else {
            observer.started(Duration::ZERO);
            return self.open(Instant::now());
        };
        lead.tell(LeadEvent::Ready(Started {
            sessions: self.streams,
            fewer_because: None,
            executors: self.streams,
            connect_time: Duration::ZERO,
            ahead: Duration::ZERO,
        }));
        // Whoever ends them instead finds the gates closed.
        let Some(at) = lead.wait_for_start(stop, || false) else {
            return;
        };
        observer.started(at.saturating_duration_since(Instant::now()));
        if wait_until(at, stop) {
            self.open(at);
            let late = at.elapsed();
            lead.tell(LeadEvent::Began { late });
        }
    }

    fn open(&mut self, begun: Instant) {
        self.begun = Some(begun);
        for gate in self.gates.drain(..) {
            // Its thread ended: it told why.
            let _ = gate.send(begun);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl StreamsObserver for Nobody {
        fn started(&mut self, _ahead: Duration) {}
        fn ended(&mut self, _result: StepResult) {}
    }

    #[derive(Default)]
    struct Stops(Vec<(u128, u128)>);

    impl StreamsObserver for Stops {
        fn started(&mut self, _ahead: Duration) {}
        fn ended(&mut self, _result: StepResult) {}
        fn stood_still(&mut self, start: Duration, length: Duration) {
            self.0.push((start.as_millis(), length.as_millis()));
        }
    }

    #[test]
    fn only_the_clients_stops_after_the_start_are_told() {
        let first = Instant::now();
        let stretch = |start_ms, length_ms, side| Stretch {
            start: first + Duration::from_millis(start_ms),
            length: Duration::from_millis(length_ms),
            side,
            deadlocks: 0,
        };
        let stretches = [
            stretch(0, 500, DeadSide::Client),
            stretch(700, 600, DeadSide::Client),
            stretch(1300, 2000, DeadSide::Target),
            stretch(4000, 1500, DeadSide::Client),
        ];
        let mut seen = Stops::default();
        tell_stops(&stretches, first + Duration::from_secs(1), &mut seen);
        assert_eq!(seen.0, [(0, 300), (3000, 1500)]);
    }

    #[test]
    fn a_thread_that_panics_before_its_session_is_open_ends_the_wait_of_the_others() {
        let (tell, events) = channel();
        let (open, gate) = channel::<Instant>();
        let (broken, other) = (tell.clone(), tell);
        let panics = std::thread::spawn(move || {
            let _panicked = Panicked(Some(broken));
            std::panic::resume_unwind(Box::new("broken"));
        });
        let waits = std::thread::spawn(move || {
            let _ = other.send(StreamEvent::Ready);
            gate.recv().is_ok()
        });
        let mut collector = Collector {
            remotes: Vec::new(),
            gates: vec![open],
            waiting: 2,
            begun: None,
            last: Duration::ZERO,
            failure: None,
            lead: None,
            streams: 2,
        };
        let stop = StopHandle::new();
        collector.collect(&events, &stop, &mut Nobody);
        assert!(panics.join().is_err());
        assert!(matches!(waits.join(), Ok(false)), "it was let begin");
        assert!(matches!(collector.failure, Some(EngineError::System(_))));
    }
}
