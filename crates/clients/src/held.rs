//! A lease that an agent holds, with the load that it allows.

use crate::clock::now_ns;
use crate::connection::NatsConnection;
use crate::lease::Deadline;
use crate::protocol::{AgentRequest, Down, Lease, Said, Stage, Status, Take, Up};
use crate::publisher::{PublishProgress, publish};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidemark_core::Job;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// What was measured waits so long for somebody who takes the run up.
const FORGOTTEN: Duration = Duration::from_secs(3600);

/// A load's process, or what stands for it.
pub trait Load: Send {
    /// Tells it something.
    fn tell(&mut self, down: &Down);

    /// Ends it at once.
    fn kill(&mut self);
}

/// Where a load's lines go; false when nobody listens any more.
pub type Hear = Box<dyn Fn(Up) -> bool + Send + Sync>;

/// Starts loads.
pub trait Launch {
    /// Starts the load of a job, which goes no further than to be ready.
    ///
    /// # Errors
    /// Why it can't be started, for people.
    fn launch(&mut self, job: &Job, until_ns: i64, hear: Hear) -> Result<Box<dyn Load>, String>;
}

/// A part of a run.
pub(crate) struct HeldLoad {
    pub lease: Lease,
    /// What it does, for people.
    pub what: String,
    deadline: Deadline,
    load: Box<dyn Load>,
    stage: Stage,
    said: u64,
    progress: Arc<PublishProgress>,
    /// None when the load is over: then the stream gets what is left.
    to_stream: Option<UnboundedSender<String>>,
    heard: Instant,
    began_ns: Option<i64>,
    /// Rates that were passed on.
    steps: u64,
    is_told_to_go: bool,
    is_over: bool,
}

impl HeldLoad {
    /// Starts the load.
    ///
    /// # Errors
    /// Why it can't be started.
    pub fn begin(
        take: Take,
        connection: NatsConnection,
        launch: &mut dyn Launch,
        hear: Hear,
    ) -> Result<Self, String> {
        let now = Instant::now();
        let deadline = Deadline::new(Duration::from_millis(take.deadline_ms), now);
        let load = launch.launch(&take.job, until(&deadline, now), hear)?;
        let (to_stream, messages) = unbounded_channel();
        let progress = Arc::new(PublishProgress::default());
        tokio::spawn(publish(
            connection,
            take.lease.clone(),
            messages,
            Arc::clone(&progress),
        ));
        Ok(Self {
            what: format!("{} of {}", take.job.kind().word(), take.job.workload.name),
            lease: take.lease,
            deadline,
            load,
            stage: Stage::Preparing,
            said: 0,
            progress,
            to_stream: Some(to_stream),
            heard: now,
            began_ns: None,
            steps: 0,
            is_told_to_go: false,
            is_over: false,
        })
    }

    /// Answers whoever has the lease; each question renews it.
    pub fn answer(&mut self, request: &AgentRequest) -> Said {
        let now = Instant::now();
        // Also of a load that is over: nobody else gets the place before all was collected.
        let is_renewed = self.deadline.renew(now);
        if !self.is_over {
            if !is_renewed {
                return Said::NoLease;
            }
            self.load.tell(&Down::Until(until(&self.deadline, now)));
            self.pass_on(request);
        }
        Said::Status(self.status(now))
    }

    fn pass_on(&mut self, request: &AgentRequest) {
        match request {
            AgentRequest::Go { at_ns, .. } if !self.is_told_to_go => {
                self.is_told_to_go = true;
                if self.stage == Stage::Ready {
                    self.stage = Stage::Going;
                }
                self.load.tell(&Down::Go(*at_ns));
            }
            AgentRequest::Hold { number, step, .. } if *number == self.steps => {
                self.steps += 1;
                self.load.tell(&Down::Hold(*step));
            }
            AgentRequest::EndSteps(_) => self.load.tell(&Down::EndSteps),
            AgentRequest::Stop(_) => self.load.tell(&Down::Stop),
            _ => {}
        }
    }

    /// How it stands.
    fn status(&self, now: Instant) -> Status {
        let kept = self.progress.kept.load(Ordering::Acquire);
        let stage = match &self.stage {
            // The last message is there when the stream has it.
            Stage::Ended if kept < self.said => Stage::Going,
            stage => stage.clone(),
        };
        // What has ended says nothing more.
        let quiet = match self.is_over {
            true => Duration::ZERO,
            false => now.duration_since(self.heard),
        };
        Status {
            stage,
            said: self.said,
            kept,
            quiet_ms: u64::try_from(quiet.as_millis()).unwrap_or(u64::MAX),
            began_ns: self.began_ns,
            trouble: self.progress.trouble(),
            is_over: self.is_over,
        }
    }

    /// Takes a line of the load's; a line for people where something changed.
    pub fn hear(&mut self, up: Up) -> Option<String> {
        self.heard = Instant::now();
        match up {
            Up::Alive => None,
            Up::Ready => {
                self.stage = match self.is_told_to_go {
                    true => Stage::Going,
                    false => Stage::Ready,
                };
                Some(format!("run {}: ready", self.lease.run))
            }
            Up::Began(ns) => {
                self.began_ns = Some(ns);
                self.stage = Stage::Going;
                Some(format!("run {}: load began", self.lease.run))
            }
            Up::Message(json) => {
                if let Some(to_stream) = &self.to_stream {
                    self.said += 1;
                    // It lives as long as this does.
                    let _sent = to_stream.send(json);
                }
                None
            }
            Up::Over(why) => {
                if self.is_over {
                    return None;
                }
                self.is_over = true;
                self.to_stream = None;
                self.load.kill();
                let (stage, line) = match why {
                    None => (Stage::Ended, "ended".to_string()),
                    Some(why) => (Stage::Failed(why.clone()), format!("failed: {why}")),
                };
                self.stage = stage;
                Some(format!("run {}: {line}", self.lease.run))
            }
        }
    }

    /// Ends the load when nobody has renewed the lease; a line for people then.
    pub fn look(&mut self) -> Option<String> {
        if self.is_over {
            return None;
        }
        let now = Instant::now();
        if self.deadline.is_over(now) {
            self.load.kill();
            self.is_over = true;
            self.to_stream = None;
            self.stage = Stage::Failed(
                "no word from the coordinator until the lease's end: its load was killed".into(),
            );
            return Some(format!(
                "run {}: the lease is over, load killed",
                self.lease.run
            ));
        }
        if self.deadline.should_stop(now) {
            self.load.tell(&Down::Stop);
            return Some(format!(
                "run {}: no word from the coordinator, load ends",
                self.lease.run
            ));
        }
        None
    }

    /// Whether another run may have its place.
    pub fn is_free(&mut self) -> bool {
        self.is_over && self.deadline.is_over(Instant::now())
    }

    /// Whether nobody will ask for it any more.
    pub fn is_forgotten(&self) -> bool {
        self.is_over && self.deadline.since(Instant::now()) > FORGOTTEN
    }
}

impl Drop for HeldLoad {
    /// No load without a lease.
    fn drop(&mut self) {
        self.load.kill();
    }
}

/// When the lease ends, by this host's clock.
fn until(deadline: &Deadline, now: Instant) -> i64 {
    let left = i64::try_from(deadline.left(now).as_nanos()).unwrap_or(i64::MAX);
    now_ns().saturating_add(left)
}
