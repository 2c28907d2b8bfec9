//! What clients tell, put together: live intervals, rates that all held, one record at the end.

mod rates;
#[cfg(test)]
mod tests;

use super::reported::{ClientReport, now_of};
use crate::exit::{ExitCode, Failure};
use rates::ClientsRate;
use std::time::Duration;
use tidemark_clients::{ClientEnd, ClientFacts, ClientsRun, Message, OnLoss, now_ns};
use tidemark_core::record::{ErrorCount, Interval, Phase, QueryRun, RunRecord, RunState, Step};
use tidemark_core::{RunSpec, Shard};
use tidemark_engine::{Conductor, EngineError, Started};
use tidemark_live::ClientNow;
use tidemark_merge::{ClientRun, Delivery, Live, MergeError};

/// What is told of a run of several clients while it goes on.
pub trait Listener {
    /// All sessions are connected; load begins.
    fn started(&mut self, begun: &Started);
    /// Errors were counted.
    fn errors(&mut self, phase: Phase, errors: &[ErrorCount]);
    /// An interval of all clients ended.
    fn interval(&mut self, interval: &Interval);
    /// All have held a rate, and what came of it.
    fn step(&mut self, step: &Step);
    /// A stream's query ended.
    fn query(&mut self, query: QueryRun) {
        let _ = query;
    }
    /// Whether it is to be told how each client is.
    fn wants_clients(&self) -> bool {
        false
    }
    /// How each client is now.
    fn clients(&mut self, clients: Vec<ClientNow>) {
        let _ = clients;
    }
    /// Something that the user must know now.
    fn notice(&mut self, text: &str);
}

/// The messages of a run, put together.
pub struct Gathering {
    spec: RunSpec,
    on_loss: OnLoss,
    facts: Vec<ClientFacts>,
    told: Vec<ClientReport>,
    live: Live,
    conductor: Option<Conductor>,
    held: Option<ClientsRate>,
    steps: Vec<Step>,
    /// The common start, by this host's clock.
    begins_ns: Option<i64>,
    has_started: bool,
}

/// What came of a run.
pub struct Gathered {
    /// The record.
    pub record: RunRecord,
    /// Why it failed, if it did.
    pub failure: Option<EngineError>,
}

impl Gathering {
    /// For a run of this load.
    pub fn new(spec: &RunSpec, on_loss: OnLoss) -> Self {
        Self {
            spec: spec.clone(),
            on_loss,
            facts: Vec::new(),
            told: Vec::new(),
            live: Live::new(0, spec.interval),
            conductor: Conductor::new(&spec.pacing),
            held: None,
            steps: Vec::new(),
            begins_ns: None,
            has_started: false,
        }
    }

    /// These clients make the run.
    pub fn chosen(&mut self, facts: Vec<ClientFacts>) {
        let count = u32::try_from(facts.len()).unwrap_or(u32::MAX);
        self.live = Live::new(count, self.spec.interval);
        self.told = facts.iter().map(|_| ClientReport::default()).collect();
        self.facts = facts;
    }

    /// All begin at this moment of this host's clock.
    pub fn begins(&mut self, at_ns: i64, run: &ClientsRun) {
        self.begins_ns = Some(at_ns);
        let warmup = i64::try_from(self.spec.warmup.as_nanos()).unwrap_or(i64::MAX);
        self.next_step(at_ns.saturating_add(warmup), run);
    }

    /// A client told something.
    ///
    /// # Errors
    /// [`Failure`] of an interval that can't be read.
    pub fn message(
        &mut self,
        client: u32,
        message: Message,
        run: &ClientsRun,
        to: &mut dyn Listener,
    ) -> Result<(), Failure> {
        let Some(told) = self.told.get_mut(client as usize) else {
            return Ok(());
        };
        match message {
            Message::Started {
                sessions,
                fewer_because,
                executors,
                connect_ms,
            } => {
                told.started = Some(Started {
                    sessions,
                    fewer_because,
                    executors,
                    connect_time: Duration::from_millis(connect_ms),
                    ahead: Duration::ZERO,
                });
            }
            Message::Interval {
                number,
                interval,
                errors,
                cpus,
                host_busy,
            } => {
                if to.wants_clients() {
                    told.now = now_of(&interval, cpus, host_busy);
                }
                if !errors.is_empty() {
                    to.errors(interval.phase, &errors);
                }
                let delivery = Delivery {
                    client,
                    // Messages of other leases do not come this far.
                    epoch: 0,
                    number,
                    interval: *interval,
                    errors,
                };
                self.live.take(delivery).map_err(unreadable)?;
            }
            Message::Step(step) => told.steps.push_back(*step),
            Message::Query(query) => to.query(*query),
            Message::Line(line) => to.notice(&line),
            Message::Ended(record) => {
                let has_failed = matches!(record.state, RunState::Failed(_));
                told.record = Some(record);
                self.live.lost(client);
                if has_failed && self.on_loss == OnLoss::Fail {
                    run.stop();
                }
            }
            Message::Failed { code, message } => {
                let name = name_of(&self.facts, client);
                to.notice(&format!("client {name}: {message}"));
                told.failed = Some((code, message));
                self.live.lost(client);
                if self.on_loss == OnLoss::Fail {
                    run.stop();
                }
            }
            Message::Loaded => {}
        }
        self.go_on(run, to)
    }

    /// A client is lost.
    ///
    /// # Errors
    /// As [`Gathering::message`].
    pub fn lost(
        &mut self,
        client: u32,
        why: String,
        run: &ClientsRun,
        to: &mut dyn Listener,
    ) -> Result<(), Failure> {
        let name = name_of(&self.facts, client);
        let goes_on = match self.on_loss {
            OnLoss::Fail => "the run ends (--on-client-loss=fail)",
            OnLoss::Continue => "the others continue",
        };
        to.notice(&format!("client {name} is lost: {why}; {goes_on}"));
        if let Some(told) = self.told.get_mut(client as usize) {
            told.lost = Some(why);
        }
        self.live.fence(client, 0);
        self.live.lost(client);
        self.go_on(run, to)
    }

    /// Tells what is complete now.
    ///
    /// # Errors
    /// As [`Gathering::message`].
    pub fn go_on(&mut self, run: &ClientsRun, to: &mut dyn Listener) -> Result<(), Failure> {
        self.start(to);
        if self.has_started {
            let sealed = self.live.sealed(None).map_err(unreadable)?;
            for interval in &sealed {
                to.interval(interval);
            }
            if !sealed.is_empty() && to.wants_clients() {
                to.clients(self.clients_now());
            }
        }
        self.judge(run, to)
    }

    /// How each client is.
    fn clients_now(&self) -> Vec<ClientNow> {
        let all = self.facts.iter().zip(&self.told);
        let now = all.map(|(facts, told)| {
            let last = match told.is_over() {
                true => ClientNow::default(),
                false => told.now.clone(),
            };
            ClientNow {
                name: facts.agent.clone(),
                clock_error_ms: facts.clock.error_ns as f64 / 1e6,
                stage: told.stage(),
                ..last
            }
        });
        now.collect()
    }

    /// Tells the start when all have told theirs, and when it is.
    fn start(&mut self, to: &mut dyn Listener) {
        let has_told = |told: &ClientReport| told.started.is_some() || told.is_over();
        let Some(at_ns) = self.begins_ns.filter(|_| !self.has_started) else {
            return;
        };
        if !self.told.iter().all(has_told) {
            return;
        }
        self.has_started = true;
        let all = || self.told.iter().filter_map(|told| told.started.as_ref());
        let ahead = at_ns.saturating_sub(now_ns()).max(0);
        to.started(&Started {
            sessions: all().map(|one| one.sessions).sum(),
            fewer_because: all().find_map(|one| one.fewer_because.clone()),
            executors: all().map(|one| one.executors).sum(),
            connect_time: all().map(|one| one.connect_time).max().unwrap_or_default(),
            ahead: Duration::from_nanos(ahead.unsigned_abs()),
        });
    }

    /// What came of it, when all clients have ended or are lost. `head` is the record without what was
    /// measured.
    ///
    /// # Errors
    /// [`Failure`] when no client told anything, with the reason of the first.
    pub fn finish(
        mut self,
        mut head: RunRecord,
        ends: &[ClientEnd],
        is_interrupted: bool,
    ) -> Result<Gathered, Failure> {
        let failure = self.failure(ends);
        let first_code = self.told.iter().find_map(|told| told.failed.clone());
        let has_record = self.told.iter().any(|told| told.record.is_some());
        if !has_record && !self.has_started {
            let (code, why) = first_code.unwrap_or_else(|| {
                let why = failure.as_ref().map(ToString::to_string);
                (ExitCode::Failed as u8, why.unwrap_or_default())
            });
            let known = ExitCode::ALL.iter().find(|(known, _)| *known as u8 == code);
            let code = known.map_or(ExitCode::Failed, |(known, _)| *known);
            return Err(Failure::new(code, why));
        }
        // A client whose lease was not renewed ends before its time.
        let is_cut = self.told.iter().any(|told| {
            let record = told.record.as_ref();
            record.is_some_and(|record| record.state == RunState::Interrupted)
        });
        head.state = match (&failure, is_interrupted || is_cut) {
            (Some(error), _) => RunState::Failed(error.to_string()),
            (None, true) => RunState::Interrupted,
            (None, false) => RunState::Finished,
        };
        let cut_short = self.cut_short()?;
        self.steps.extend(cut_short);
        head.steps.clone_from(&self.steps);
        // What clients could see of their hosts: one of them stands for all.
        let all = self.told.iter().filter_map(|told| told.record.as_ref());
        let observed = all
            .map(|record| record.observed.clone())
            .find(|o| !o.is_empty());
        head.observed.extend(observed.unwrap_or_default());
        let of = u32::try_from(self.facts.len()).unwrap_or(u32::MAX);
        let clients: Vec<ClientRun> = self
            .told
            .into_iter()
            .zip(ends)
            .zip(0..)
            .map(|((told, end), index)| told.run(end, Shard { index, of }))
            .collect();
        let merged = self.live.finish().map_err(unreadable)?;
        let record = tidemark_merge::record(head, &clients, Some(merged)).map_err(unreadable)?;
        Ok(Gathered { record, failure })
    }

    /// Why the run failed, if it did.
    fn failure(&self, ends: &[ClientEnd]) -> Option<EngineError> {
        let all = self.told.iter().zip(ends);
        let of_one = |(told, end): (&ClientReport, &ClientEnd)| {
            let agent = &end.facts.agent;
            let lost = told.lost.as_ref();
            let lost = lost.map(|why| format!("client {agent} is lost: {why}"));
            let failed = told.failed.as_ref().map(|(_, why)| why.clone());
            let ended = told.record.as_ref().and_then(|record| match &record.state {
                RunState::Failed(why) => Some(why.clone()),
                _ => None,
            });
            let failed = failed.or(ended).map(|why| format!("client {agent}: {why}"));
            failed.or(lost)
        };
        let mut failed: Vec<String> = all.filter_map(of_one).collect();
        let all_failed = failed.len() == self.told.len();
        if failed.is_empty() || self.on_loss == OnLoss::Continue && !all_failed {
            return None;
        }
        // Those that failed because of the first are of no use.
        Some(EngineError::Clients(failed.swap_remove(0)))
    }
}

fn name_of(facts: &[ClientFacts], client: u32) -> &str {
    facts.get(client as usize).map_or("", |one| &one.agent)
}

fn unreadable(error: MergeError) -> Failure {
    Failure::new(
        ExitCode::Failed,
        format!("what the clients measured can't be put together: {error}"),
    )
}
