//! Load without sessions: threads that each do one event after the other, as tests of the machine
//! have it. Pacing, phases, counting and the end are those of every run.

use crate::control::{Control, StopHandle};
use crate::error::EngineError;
use crate::interval::Names;
use crate::launch::Crew;
use crate::measure::Measurement;
use crate::recorder::{By, Due, Recorder, Times};
use crate::recorders::Recorders;
use crate::run::{RunObserver, RunResult, Started};
use crate::run_queue::RunQueue;
use crate::session::{Start, next_start};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use tidemark_core::RunSpec;
use tidemark_core::record::StatementCounts;
use tidemark_runtime::{Executor, Sleepers, remote_signal};
use tidemark_workloads::{Done, InnerOperation};

/// Stack of a worker's thread.
const STACK: usize = 256 * 1024;

/// What an event of a worker was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerEvent {
    /// Its place in [`WorkersSpec::kinds`].
    pub kind: usize,
    /// Another kind that was a part of it, and what that took.
    pub inner: Option<(usize, Duration)>,
}

/// What a thread does.
pub trait Worker: Send {
    /// One event; `None` when there is nothing more to do, or when it saw the flag and ended early.
    ///
    /// # Errors
    /// [`EngineError`] of what ends the run.
    fn event(&mut self, cut_off: &AtomicBool) -> Result<Option<WorkerEvent>, EngineError>;

    /// After the last event, within the time that is measured.
    ///
    /// # Errors
    /// As [`Worker::event`].
    fn finish(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
}

/// What is run.
#[derive(Debug, Clone, Copy)]
pub struct WorkersSpec<'a> {
    /// How load is made; its sessions are as many as there are workers.
    pub run: &'a RunSpec,
    /// What events are called.
    pub kinds: &'static [&'static str],
    /// Moments from the start of the measurement, in order, of the summaries between.
    pub checkpoints: &'a [Duration],
}

/// Has each worker do its events on a thread of its own, as `spec` asks, and tells `observer`.
///
/// # Errors
/// [`EngineError::System`] when there are no threads to be had. A run that fails after its start gives
/// what it measured, with [`RunResult::failure`].
pub fn run_workers(
    spec: &WorkersSpec<'_>,
    workers: Vec<Box<dyn Worker>>,
    stop: &StopHandle,
    observer: &mut dyn RunObserver,
) -> Result<RunResult, EngineError> {
    let begun = Instant::now();
    let threads = workers.len();
    let control = Arc::new(Control::new(spec.run));
    let kinds = spec.kinds.len();
    let make = |mine| Recorder::new(kinds, mine, 0);
    // A recorder each: threads that count millions of events a second must share nothing.
    let recorders = Arc::new(Recorders::new(threads, threads, &[], make));
    let (done, ended) = channel();
    for (number, worker) in workers.into_iter().enumerate() {
        let part = ThreadPart {
            control: Arc::clone(&control),
            recorder: Arc::clone(recorders.of(number)),
            number,
        };
        let done = done.clone();
        let name = format!("worker-{number}");
        let builder = std::thread::Builder::new().name(name).stack_size(STACK);
        let started = builder.spawn(move || {
            let control = Arc::clone(&part.control);
            // A panic must fail the run and not leave it with fewer threads than it says.
            let work = std::panic::AssertUnwindSafe(|| part.run(worker));
            let result = std::panic::catch_unwind(work)
                .unwrap_or_else(|_| Err(EngineError::System("a worker panicked".into())));
            if let Err(error) = &result {
                control.fail(error.clone());
            }
            // The controller has gone when nobody listens.
            let _ = done.send(result);
        });
        if let Err(error) = started {
            control.stop();
            return Err(EngineError::System(format!(
                "{threads} threads requested, {number} could be started: {error}"
            )));
        }
    }
    let crew = Crew::without_sessions(Arc::clone(&control), recorders, threads, ended);
    while control.ready.load(Ordering::Acquire) < threads && control.failure().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    observer.started(&Started {
        sessions: threads,
        fewer_because: None,
        executors: threads,
        connect_time: begun.elapsed(),
        ahead: Duration::ZERO,
    });
    let names = Names {
        types: spec.kinds,
        notes: &[],
    };
    let mut measurement = Measurement::new(spec.run, names, crew, threads, Instant::now(), None);
    Ok(measurement.run(spec.checkpoints, stop, observer))
}

/// One thread's part.
struct ThreadPart {
    control: Arc<Control>,
    recorder: Arc<Recorder>,
    number: usize,
}

impl ThreadPart {
    fn run(self, mut worker: Box<dyn Worker>) -> Result<(), EngineError> {
        let mut executor = Executor::new()?;
        let control = Arc::clone(&self.control);
        control.attach(executor.remote());
        self.recorder.connected(0);
        self.recorder.opened(0);
        control.ready.fetch_add(1, Ordering::AcqRel);
        // Empty when the task was dropped, because what does not end was cut off.
        let result = Rc::new(Cell::new(Ok(())));
        let told = Rc::clone(&result);
        executor.spawn(async move {
            let control = &*self.control;
            while control.is_waiting() {
                remote_signal().await;
            }
            let queue = RunQueue::default();
            queue.begin();
            let worker = &mut *worker;
            let done = match control.arrivals {
                None => {
                    self.recorder.begin_loop();
                    let done = self.closed(worker);
                    self.recorder.end_loop();
                    done
                }
                Some(_) => self.paced(worker, &Sleepers::default()).await,
            };
            control.waited(queue.share());
            told.set(done.and_then(|()| worker.finish()));
        });
        executor.run()?;
        result.replace(Ok(()))
    }

    /// One event after the other.
    fn closed(&self, worker: &mut dyn Worker) -> Result<(), EngineError> {
        let control = &*self.control;
        let mut last: Option<Instant> = None;
        while !control.is_over() && control.take_event() {
            let begun = Instant::now();
            let Some(event) = worker.event(&control.cut_off)? else {
                break;
            };
            let ended = Instant::now();
            let between = last.map_or(Duration::ZERO, |last| begun - last);
            self.record(event, begun, ended, between, None);
            last = Some(ended);
        }
        Ok(())
    }

    /// Events at the times of a schedule.
    async fn paced(&self, worker: &mut dyn Worker, idle: &Sleepers) -> Result<(), EngineError> {
        let control = &*self.control;
        while let Some(start) = next_start(control, idle, self.number).await {
            if !control.take_event() {
                break;
            }
            self.recorder.begin_scheduled();
            let begun = Instant::now();
            let Some(event) = worker.event(&control.cut_off)? else {
                self.recorder.end_unfinished();
                break;
            };
            let ended = Instant::now();
            let due = match start {
                Start::Now => None,
                Start::At(due, origin) => Some(Due {
                    wait: begun.saturating_duration_since(due),
                    origin,
                }),
            };
            self.record(event, begun, ended, Duration::ZERO, due);
        }
        Ok(())
    }

    #[inline]
    fn record(
        &self,
        event: WorkerEvent,
        begun: Instant,
        ended: Instant,
        between: Duration,
        due: Option<Due>,
    ) {
        let inner = event
            .inner
            .map(|(kind, service)| InnerOperation { kind, service });
        let by = By {
            terminal: self.number,
            begun,
            between,
        };
        let service = ended - begun;
        let times = Times::from(service);
        self.recorder.record_by(
            Some(by),
            Done::of(event.kind),
            inner.as_slice(),
            0,
            StatementCounts::default(),
            times,
            due,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::{Interval, RunState, Totals};
    use tidemark_core::{Arrivals, Pacing};

    struct Quiet(u64);

    impl RunObserver for Quiet {
        fn started(&mut self, _: &Started) {}
        fn interval(&mut self, interval: &Interval) {
            self.0 += interval.transactions();
        }
        fn checkpoint(&mut self, _: f64, _: &Totals) {}
    }

    /// Ends after so many events, well or with an error.
    struct Counting {
        left: u64,
        error: Option<EngineError>,
    }

    impl Worker for Counting {
        fn event(&mut self, cut_off: &AtomicBool) -> Result<Option<WorkerEvent>, EngineError> {
            if self.left == 0 || cut_off.load(Ordering::Relaxed) {
                return self.error.clone().map_or(Ok(None), Err);
            }
            self.left -= 1;
            Ok(Some(WorkerEvent {
                kind: (self.left % 2) as usize,
                inner: Some((1, Duration::from_micros(3))),
            }))
        }
    }

    fn done(run: &RunSpec, left: u64, error: Option<EngineError>) -> (RunResult, u64) {
        let spec = WorkersSpec {
            run,
            kinds: &["a", "b"],
            checkpoints: &[],
        };
        let workers = (0..run.sessions).map(|_| {
            let error = error.clone();
            Box::new(Counting { left, error }) as Box<dyn Worker>
        });
        let mut quiet = Quiet(0);
        let result = run_workers(&spec, workers.collect(), &StopHandle::new(), &mut quiet);
        (result.unwrap(), quiet.0)
    }

    fn spec(sessions: usize) -> RunSpec {
        RunSpec {
            terminals: sessions,
            sessions,
            time: Some(Duration::from_secs(60)),
            ..RunSpec::default()
        }
    }

    #[test]
    fn a_run_ends_when_its_workers_have_nothing_more_to_do() {
        let (result, told) = done(&spec(3), 100, None);
        assert_eq!(result.state, RunState::Finished);
        assert_eq!((result.totals.all.count, told), (300, 300));
        assert_eq!(result.totals.types["a"].count, 150);
        // Parts of events are in no sum.
        assert_eq!(result.totals.parts["b"].count, 300);
        let events: Vec<_> = result.sessions.iter().map(|(events, _)| *events).collect();
        assert_eq!(events, [100, 100, 100]);
    }

    #[test]
    fn a_run_ends_after_its_events() {
        let run = RunSpec {
            events: Some(1000),
            ..spec(4)
        };
        assert_eq!(done(&run, u64::MAX, None).0.totals.all.count, 1000);
    }

    #[test]
    fn events_keep_a_schedule() {
        let run = RunSpec {
            pacing: Pacing::Rate(200.0),
            arrivals: Arrivals::Constant,
            time: Some(Duration::from_millis(500)),
            ..spec(2)
        };
        let totals = done(&run, u64::MAX, None).0.totals;
        // A busy machine sends fewer, or ends later.
        let most = (totals.elapsed_s * 200.0).ceil() as u64 + 1;
        assert!(
            (20..=most).contains(&totals.all.count),
            "{} of {most}",
            totals.all.count
        );
        assert!(totals.all.response.is_some());
    }

    #[test]
    fn an_error_fails_the_run_and_what_was_measured_stays() {
        let error = EngineError::Check("changed".into());
        let (result, _) = done(&spec(2), 10, Some(error));
        assert!(matches!(result.failure, Some(EngineError::Check(_))));
        assert!(result.totals.all.count >= 10);
    }
}
