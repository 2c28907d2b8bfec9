//! A load that is none: it tells an interval over and over, for tests and `bench/clients`.

use crate::clock::{instant_of, now_ns};
use crate::held::{Hear, Launch, Load};
use crate::protocol::{Down, Message, Up};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tidemark_core::Job;
use tidemark_core::record::{Interval, RunRecord, RunState};

/// Starts loads in threads of this process.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// What each interval is.
    pub interval: Interval,
    /// How many there are.
    pub count: u64,
}

impl Launch for Simulated {
    fn launch(&mut self, job: &Job, until_ns: i64, hear: Hear) -> Result<Box<dyn Load>, String> {
        let (tell, told) = channel();
        let (this, every) = (self.clone(), job.load.interval);
        let thread = std::thread::Builder::new().stack_size(256 * 1024);
        thread
            .spawn(move || this.work(every, until_ns, &told, &hear))
            .map_err(|e| e.to_string())?;
        Ok(Box::new(InThread(Some(tell))))
    }
}

struct InThread(Option<Sender<Down>>);

impl Load for InThread {
    fn tell(&mut self, down: &Down) {
        if let Some(tell) = &self.0 {
            // A load that is over hears nothing.
            let _over = tell.send(*down);
        }
    }

    fn kill(&mut self) {
        self.0 = None;
    }
}

/// What ends a wait.
enum Waited {
    Time,
    Stop,
    Killed,
}

impl Simulated {
    fn work(&self, every: Duration, until_ns: i64, told: &Receiver<Down>, hear: &Hear) {
        let say = |message: &Message| {
            let json = serde_json::to_string(message).unwrap_or_default();
            hear(Up::Message(json));
        };
        say(&Message::Started {
            sessions: 1,
            fewer_because: None,
            executors: 1,
            connect_ms: 0,
        });
        hear(Up::Ready);
        let (mut until, mut go) = (until_ns, None);
        let far = Instant::now() + Duration::from_secs(3600);
        let mut state = RunState::Finished;
        if !matches!(
            wait(told, hear, &mut until, &mut go, far, true),
            Waited::Time
        ) {
            return;
        }
        let begin = instant_of(go.unwrap_or_default());
        std::thread::sleep(begin.saturating_duration_since(Instant::now()));
        hear(Up::Began(now_ns()));
        for number in 0..self.count {
            let end = begin + every * u32::try_from(number + 1).unwrap_or(u32::MAX);
            match wait(told, hear, &mut until, &mut go, end, false) {
                Waited::Time => {}
                Waited::Stop => {
                    state = RunState::Interrupted;
                    break;
                }
                Waited::Killed => return,
            }
            let length_ms = every.as_secs_f64() * 1000.0;
            say(&Message::Interval {
                number,
                interval: Box::new(Interval {
                    start_ms: (length_ms * number as f64) as i64,
                    length_ms,
                    ..self.interval.clone()
                }),
                errors: Vec::new(),
                cpus: Some(0.1),
                host_busy: Some(0.1),
            });
        }
        say(&Message::Ended(Box::new(RunRecord {
            state,
            sessions: 1,
            ..RunRecord::default()
        })));
        hear(Up::Over(None));
    }
}

/// Waits until a moment, or for the start; takes what it is told meanwhile, and ends with its lease.
fn wait(
    told: &Receiver<Down>,
    hear: &Hear,
    until: &mut i64,
    go: &mut Option<i64>,
    end: Instant,
    for_start: bool,
) -> Waited {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || for_start && go.is_some() {
            return Waited::Time;
        }
        if now_ns() > *until {
            return Waited::Killed;
        }
        hear(Up::Alive);
        match told.recv_timeout(left.min(Duration::from_millis(250))) {
            Ok(Down::Until(ns)) => *until = ns,
            Ok(Down::Go(ns)) => *go = Some(ns),
            Ok(Down::Stop) => return Waited::Stop,
            Ok(Down::Hold(_) | Down::EndSteps) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Waited::Killed,
        }
    }
}
