//! A run: connect, warm up, measure, drain.

use crate::arrivals::Arrivals;
use crate::control::{Control, StopHandle};
use crate::error::EngineError;
use crate::interval::{all_types, fairness, type_stats};
use crate::recorder::{Counters, Recorder, SessionTally};
use crate::session::{SessionTask, Shared};
use crate::tally::ErrorTally;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tidemark_core::record::{Interval, Phase, RunState, Totals};
use tidemark_core::{Pacing, RunSpec};
use tidemark_drivers::Connector;
use tidemark_runtime::{Executor, do_not_preempt, spawn};
use tidemark_workloads::Workload;

/// Connections that one executor opens at a time: more would overflow a server's accept queue,
/// and a dropped SYN costs a second.
const CONNECT_LANES: usize = 16;
/// A controller that waits looks this often whether the user stopped the run.
const STOP_CHECK: Duration = Duration::from_millis(20);
/// A shorter last interval without statements is not told.
const SHORTEST_INTERVAL_MS: f64 = 50.0;
/// Stack of a thread that runs one blocking session.
const BLOCKING_STACK: usize = 512 * 1024;

/// What a run tells while it goes on.
pub trait RunObserver {
    /// All sessions are connected and prepared; load begins.
    fn started(&mut self, started: &Started);
    /// An interval ended.
    fn interval(&mut self, interval: &Interval);
    /// A span between two checkpoints ended; `seconds` from the start of the measurement.
    fn checkpoint(&mut self, seconds: f64, totals: &Totals);
}

/// How the load began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Started {
    /// Sessions connected.
    pub sessions: usize,
    /// Executor threads.
    pub executors: usize,
    /// Time it took to connect and prepare all sessions.
    pub connect_time: Duration,
}

/// What a run measured.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// How it ended.
    pub state: RunState,
    /// The error, when it ended by one.
    pub failure: Option<EngineError>,
    /// Executor threads used.
    pub executors: usize,
    /// Totals of the measurement.
    pub totals: Totals,
    /// Totals since the last checkpoint; the same as `totals` when there was none.
    pub since_checkpoint: Totals,
    /// Errors by code, over the measurement.
    pub errors: ErrorTally,
    /// Transactions and busy time of each session, in order.
    pub sessions: Vec<(u64, Duration)>,
}

/// Runs `workload` on the connector's target as `spec` asks, and tells `observer`. `checkpoints`
/// are moments from the start of the measurement, in order.
///
/// # Errors
/// When no load could be made at all: sessions refused, statements not prepared, out of time. A
/// run that fails after its start gives what it measured, with [`RunResult::failure`].
pub fn run(
    spec: &RunSpec,
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    checkpoints: &[Duration],
    stop: &StopHandle,
    observer: &mut dyn RunObserver,
) -> Result<RunResult, EngineError> {
    let mut run = Run::launch(spec, connector, workload)?;
    let begun = Instant::now();
    if let Err(error) = run.wait_until_ready(stop) {
        run.control.fail(error.clone());
        run.control.abort();
        return Err(error);
    }
    observer.started(&Started {
        sessions: spec.sessions,
        executors: run.recorders.len(),
        connect_time: begun.elapsed(),
    });
    Ok(run.measure(checkpoints, stop, observer))
}

struct Run<'a> {
    spec: &'a RunSpec,
    names: &'static [&'static str],
    control: Arc<Control>,
    recorders: Vec<Arc<Recorder>>,
    threads: usize,
    ended: Receiver<Result<(), EngineError>>,
    spare: Counters,
}

impl<'a> Run<'a> {
    fn launch(
        spec: &'a RunSpec,
        connector: &Connector,
        workload: &Arc<dyn Workload>,
    ) -> Result<Self, EngineError> {
        let control = Arc::new(Control::new(spec.events));
        let names = workload.transaction_types();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let executors = spec
            .executors
            .unwrap_or(cores)
            .clamp(1, spec.sessions.max(1));
        // Blocking sessions have a thread each, and share counters as if they had executors.
        let threads = if connector.is_blocking() {
            spec.sessions
        } else {
            executors
        };
        let recorders: Vec<_> = (0..executors)
            .map(|e| {
                Arc::new(Recorder::new(
                    names.len(),
                    share(spec.sessions, executors, e),
                ))
            })
            .collect();
        let (done, ended) = channel();
        for thread in 0..threads {
            let shared = Arc::new(Shared {
                spec: spec.clone(),
                connector: connector.clone(),
                workload: Arc::clone(workload),
                control: Arc::clone(&control),
                recorder: Arc::clone(&recorders[thread % executors]),
            });
            let done = done.clone();
            let mut builder = std::thread::Builder::new().name(format!("executor-{thread}"));
            if connector.is_blocking() {
                builder = builder.stack_size(BLOCKING_STACK);
            }
            builder.spawn(move || {
                // A panic must fail the run and not leave it with fewer sessions than it says.
                let run = || run_executor(&shared, thread, threads, executors);
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
                    .unwrap_or_else(|_| {
                        Err(EngineError::System("an executor thread panicked".into()))
                    });
                if let Err(error) = &result {
                    shared.control.fail(error.clone());
                }
                // The controller has gone when nobody listens.
                let _ = done.send(result);
            })?;
        }
        Ok(Self {
            spec,
            names,
            control,
            recorders,
            threads,
            ended,
            spare: Counters::new(names.len()),
        })
    }

    fn wait_until_ready(&mut self, stop: &StopHandle) -> Result<(), EngineError> {
        let deadline = Instant::now() + self.spec.init_timeout;
        loop {
            let ready = self.control.ready.load(Ordering::Acquire);
            if let Some(error) = self.control.failure() {
                return Err(error);
            }
            if ready >= self.spec.sessions {
                return Ok(());
            }
            if stop.is_stopped() {
                return Err(EngineError::Interrupted);
            }
            if Instant::now() >= deadline {
                return Err(EngineError::InitTimeout {
                    ready,
                    asked: self.spec.sessions,
                    after: self.spec.init_timeout,
                });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn measure(
        &mut self,
        checkpoints: &[Duration],
        stop: &StopHandle,
        observer: &mut dyn RunObserver,
    ) -> RunResult {
        let begun = Instant::now();
        if let Pacing::Rate(rate) = self.spec.pacing {
            // Set once: nobody else does.
            let _ = self
                .control
                .arrivals
                .set(Arrivals::new(rate, begun, self.spec.seed));
        }
        let mut in_warmup = !self.spec.warmup.is_zero();
        self.control.measuring.store(!in_warmup, Ordering::Relaxed);
        self.control.start();
        let mut clock = Clock::new(begun + self.spec.warmup, begun);
        let mut totals = Counters::new(self.names.len());
        let mut span = Counters::new(self.names.len());
        let mut span_start = clock.measure_start;
        let planned = clock.measure_start;
        let mut checkpoints = checkpoints.iter().map(|c| planned + *c).peekable();
        let mut span_base = Vec::new();
        let mut running = self.threads;
        let mut stop_asked = false;
        while running > 0 {
            let mut due = clock.next_due(self.spec.interval);
            if in_warmup {
                due = due.min(clock.measure_start);
            }
            if let Some(checkpoint) = checkpoints.peek() {
                due = due.min(*checkpoint);
            }
            let end = self.spec.time.map(|t| clock.measure_start + t);
            running -= self.wait(due, end, running, stop, &mut stop_asked);
            let now = Instant::now();
            if now < due && running > 0 {
                continue;
            }
            let interval = self.close_interval(&mut clock, now, in_warmup);
            if !in_warmup {
                totals.merge(&self.spare);
                span.merge(&self.spare);
            }
            self.spare.clear();
            // What is left when the last session ends within moments of an interval is nothing.
            if interval.length_ms >= SHORTEST_INTERVAL_MS || interval.statements.total() > 0 {
                observer.interval(&interval);
            }
            if in_warmup && now >= clock.measure_start {
                in_warmup = false;
                clock.measure_start = now;
                span_start = now;
                self.control.measuring.store(true, Ordering::Relaxed);
                self.recorders.iter().for_each(|r| r.reset_sessions());
            }
            while checkpoints.next_if(|c| *c <= now).is_some() {
                let seconds = now - clock.measure_start;
                let totals = self.totals(&span, now - span_start, &span_base);
                observer.checkpoint(seconds.as_secs_f64(), &totals);
                span.clear();
                span_start = now;
                span_base = self.tallies();
            }
        }
        let now = clock.interval_start;
        let cut_off = self.control.cut_off.load(Ordering::Relaxed);
        if cut_off {
            self.control.fail(EngineError::ForcedShutdown);
        }
        let failure = self.control.failure();
        let state = match &failure {
            Some(error) => RunState::Failed(error.to_string()),
            None if stop_asked => RunState::Interrupted,
            None => RunState::Finished,
        };
        RunResult {
            state,
            failure,
            executors: self.recorders.len(),
            totals: self.totals(&totals, now - clock.measure_start, &[]),
            since_checkpoint: self.totals(&span, now - span_start, &span_base),
            errors: totals.errors,
            sessions: self.sessions(),
        }
    }

    /// Waits until `due`, stopping the run at its `end` or when the user asks; gives how many
    /// executors have ended meanwhile.
    fn wait(
        &mut self,
        due: Instant,
        end: Option<Instant>,
        running: usize,
        stop: &StopHandle,
        stop_asked: &mut bool,
    ) -> usize {
        let mut ended = 0;
        loop {
            let now = Instant::now();
            if end.is_some_and(|e| now >= e) && !self.control.is_stopping() {
                self.control.stop();
            }
            if stop.is_stopped() && !*stop_asked {
                *stop_asked = true;
                self.control.stop();
            }
            if let (Some(end), Some(grace)) = (end, self.spec.forced_shutdown)
                && now >= end + grace
            {
                self.control.abort();
            }
            if now >= due || ended == running {
                return ended;
            }
            let mut wait = (due - now).min(STOP_CHECK);
            if let Some(end) = end.filter(|e| *e > now) {
                wait = wait.min(end - now);
            }
            match self.ended.recv_timeout(wait) {
                // A failure is kept in the control; here only the end counts.
                Ok(_) => ended += 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return running,
            }
        }
    }

    /// Swaps the counters of all executors into `self.spare` and describes the interval.
    fn close_interval(&mut self, clock: &mut Clock, now: Instant, in_warmup: bool) -> Interval {
        let mut sessions = 0;
        let mut concurrency = 0;
        let mut part = Counters::new(self.names.len());
        for recorder in &self.recorders {
            let (connected, in_progress) = recorder.swap(&mut part);
            sessions += connected;
            concurrency += in_progress;
            self.spare.merge(&part);
            part.clear();
        }
        let start = clock.interval_start;
        clock.interval_start = now;
        Interval {
            start_ms: clock.signed_ms(start),
            length_ms: (now - start).as_secs_f64() * 1000.0,
            phase: if in_warmup {
                Phase::Warmup
            } else {
                Phase::Measure
            },
            sessions,
            statements: self.spare.statements,
            ignored_errors: self.spare.ignored_errors,
            reconnects: self.spare.reconnects,
            queue_length: self.control.arrivals.get().map_or(0, |a| a.backlog(now)),
            concurrency,
            types: type_stats(self.names, &self.spare),
            ..Interval::default()
        }
    }

    /// Each session's share, in order. Session `n` is number `n / executors` of recorder
    /// `n % executors`.
    fn tallies(&self) -> Vec<SessionTally> {
        let mut by_recorder = vec![Vec::new(); self.recorders.len()];
        for (recorder, tallies) in self.recorders.iter().zip(&mut by_recorder) {
            recorder.sessions(tallies);
        }
        (0..self.spec.sessions)
            .filter_map(|n| by_recorder[n % by_recorder.len()].get(n / by_recorder.len()))
            .copied()
            .collect()
    }

    fn sessions(&self) -> Vec<(u64, Duration)> {
        self.tallies().iter().map(|t| (t.events, t.busy)).collect()
    }

    /// `base` is what each session had done when the counting began; empty for nothing.
    fn totals(&self, counters: &Counters, elapsed: Duration, base: &[SessionTally]) -> Totals {
        let mut sessions = self.tallies();
        for (now, before) in sessions.iter_mut().zip(base) {
            now.events -= before.events;
            now.busy = now.busy.saturating_sub(before.busy);
        }
        Totals {
            elapsed_s: elapsed.as_secs_f64(),
            statements: counters.statements,
            ignored_errors: counters.ignored_errors,
            reconnects: counters.reconnects,
            types: type_stats(self.names, counters),
            all: all_types(counters),
            fairness: fairness(&sessions),
            ..Totals::default()
        }
    }
}

/// Where in the run the controller is.
struct Clock {
    run_start: Instant,
    measure_start: Instant,
    interval_start: Instant,
}

impl Clock {
    fn new(measure_start: Instant, interval_start: Instant) -> Self {
        Self {
            run_start: interval_start,
            measure_start,
            interval_start,
        }
    }

    /// The next interval's end: a whole number of intervals from the start of the phase, so that
    /// lateness does not add up.
    fn next_due(&self, interval: Duration) -> Instant {
        let base = if self.interval_start < self.measure_start {
            self.run_start
        } else {
            self.measure_start
        };
        let passed = (self.interval_start - base).as_secs_f64() / interval.as_secs_f64();
        // What began a moment late belongs to the interval that it is nearly all of.
        base + interval.mul_f64((passed + 0.05).floor() + 1.0)
    }

    fn signed_ms(&self, moment: Instant) -> i64 {
        let ms = |d: Duration| i64::try_from(d.as_millis()).unwrap_or(i64::MAX);
        match moment.checked_duration_since(self.measure_start) {
            Some(after) => ms(after),
            None => -ms(self.measure_start - moment),
        }
    }
}

/// How many of `sessions` the `index`-th of `parts` gets.
fn share(sessions: usize, parts: usize, index: usize) -> usize {
    sessions / parts + usize::from(index < sessions % parts)
}

/// Runs the sessions of one thread: numbers `thread`, `thread + threads`, …
fn run_executor(
    shared: &Arc<Shared>,
    thread: usize,
    threads: usize,
    recorders: usize,
) -> Result<(), EngineError> {
    if shared.spec.yield_to_server && !shared.connector.is_blocking() {
        // A system that has no such thing schedules as it always does.
        let _taken = do_not_preempt();
    }
    let mut executor = Executor::new()?;
    shared.control.attach(executor.remote());
    let mine = share(shared.spec.sessions, threads, thread);
    let next = Rc::new(Cell::new(0));
    for _ in 0..CONNECT_LANES.min(mine) {
        let next = Rc::clone(&next);
        let shared = Arc::clone(shared);
        executor.spawn(async move {
            loop {
                let turn = next.get();
                if turn >= mine || shared.control.is_stopping() {
                    return;
                }
                next.set(turn + 1);
                let number = thread + turn * threads;
                let opened = SessionTask::open(Arc::clone(&shared), number, number / recorders);
                match opened.await {
                    Ok(session) => {
                        shared.control.ready.fetch_add(1, Ordering::AcqRel);
                        spawn(session.run());
                    }
                    Err(error) => return shared.control.fail(error),
                }
            }
        });
    }
    executor.run()?;
    Ok(())
}
