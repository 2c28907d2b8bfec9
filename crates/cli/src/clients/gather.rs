//! What clients tell, put together: live intervals, rates that all held, one record at the end.

use super::reported::{ClientReport, now_of};
use crate::exit::{ExitCode, Failure};
use std::time::Duration;
use tidemark_clients::{ClientEnd, ClientFacts, ClientsRun, HeldRate, Message, OnLoss, now_ns};
use tidemark_core::record::{ErrorCount, Interval, Phase, QueryRun, RunRecord, RunState, Step};
use tidemark_core::{Pacing, RunSpec, Shard};
use tidemark_engine::{Conductor, EngineError, Started, StepPlan};
use tidemark_live::ClientNow;
use tidemark_merge::{ClientRun, Delivery, Live, MergeError};

/// The next rate begins so long after the last one was judged: all must have heard of it.
const NEXT_RATE: Duration = Duration::from_millis(400);

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

/// A rate that clients hold.
#[derive(Debug, Clone, Copy)]
struct ClientsRate {
    plan: StepPlan,
    /// So many clients make the rate together.
    clients: usize,
}

/// The part of a rate that some of the clients make that make it together.
fn part_of(rate: Option<f64>, some: usize, all: usize) -> Option<f64> {
    match some == all {
        true => rate,
        false => rate.map(|rate| rate * some as f64 / all.max(1) as f64),
    }
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

    /// Judges a rate that all have held, and lets them hold the next.
    fn judge(&mut self, run: &ClientsRun, to: &mut dyn Listener) -> Result<(), Failure> {
        let Some(step) = self.judged()? else {
            return Ok(());
        };
        to.step(&step);
        self.steps.push(step);
        let next = i64::try_from(NEXT_RATE.as_nanos()).unwrap_or(0);
        self.next_step(now_ns().saturating_add(next), run);
        Ok(())
    }

    /// The rate that all have held, when they have.
    fn judged(&mut self) -> Result<Option<Step>, Failure> {
        let Some(held) = self.held else {
            return Ok(None);
        };
        let has_held = |told: &ClientReport| !told.steps.is_empty() || told.is_over();
        if !self.told.iter().all(has_held) {
            return Ok(None);
        }
        // Each that has ended meanwhile tells it in its record, cut short.
        if self.told.iter().all(|told| told.steps.is_empty()) {
            return Ok(None);
        }
        let steps: Vec<(Step, u64)> = self
            .told
            .iter_mut()
            .filter_map(|told| Some((told.steps.pop_front()?, told.sessions() as u64)))
            .collect();
        self.held = None;
        let mut step = merged(&steps, held)?;
        let plan = StepPlan {
            rate: step.rate,
            ..held.plan
        };
        let conductor = self.conductor.as_mut();
        step.verdict = conductor.and_then(|c| c.judge(&plan, &step.totals));
        Ok(Some(step))
    }

    /// The rate that was held when the run ended, of those that told what came of it.
    fn cut_short(&mut self) -> Result<Option<Step>, Failure> {
        let Some(held) = self.held.take() else {
            return Ok(None);
        };
        let at = self.steps.len();
        let steps: Vec<(Step, u64)> = self
            .told
            .iter_mut()
            .filter_map(|told| {
                let of_record = |record: &RunRecord| record.steps.get(at).cloned();
                let step = told.steps.pop_front();
                let step = step.or_else(|| of_record(told.record.as_deref()?))?;
                Some((step, told.sessions() as u64))
            })
            .collect();
        if steps.is_empty() {
            return Ok(None);
        }
        let mut step = merged(&steps, held)?;
        step.cut_short = true;
        Ok(Some(step))
    }

    fn next_step(&mut self, from_ns: i64, run: &ClientsRun) {
        let Some(conductor) = &mut self.conductor else {
            return;
        };
        match conductor.next() {
            Some(plan) => {
                let all = self.told.len();
                // A search asks how much the target can do, and asks it of those that are left. Of rates
                // that were asked for, each client makes its own share.
                let clients = match self.spec.pacing {
                    Pacing::FindMax(_) => self.told.iter().filter(|told| !told.is_over()).count(),
                    _ => all,
                };
                self.held = Some(ClientsRate { plan, clients });
                run.hold(HeldRate {
                    purpose: plan.purpose,
                    // Each takes its share of what all would make.
                    rate: part_of(plan.rate, all, clients),
                    from_ns,
                    hold_ns: u64::try_from(plan.hold.as_nanos()).unwrap_or(u64::MAX),
                });
            }
            None => run.end_steps(),
        }
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

/// What came of a rate, of those that held it. What it was is known from those: others were lost meanwhile,
/// or before.
fn merged(steps: &[(Step, u64)], held: ClientsRate) -> Result<Step, Failure> {
    let parts: Vec<(&Step, u64)> = steps.iter().map(|(step, n)| (step, *n)).collect();
    let mut step = tidemark_merge::step(&parts).map_err(unreadable)?;
    // Each client has told its share.
    step.rate = part_of(held.plan.rate, parts.len(), held.clients);
    Ok(step)
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

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_clients::Offset;
    use tidemark_core::record::{StepPurpose, Totals};
    use tidemark_live::ClientStage;

    fn gathering(clients: usize) -> Gathering {
        let mut gathering = Gathering::new(&RunSpec::default(), OnLoss::Continue);
        let facts = (0..clients).map(|n| ClientFacts {
            agent: format!("c{n}"),
            hostname: "h".into(),
            clock: Offset::default(),
        });
        gathering.chosen(facts.collect());
        gathering.held = Some(ClientsRate {
            plan: StepPlan {
                purpose: StepPurpose::Asked,
                rate: Some(300.0),
                hold: Duration::from_secs(1),
            },
            clients,
        });
        gathering
    }

    fn step(elapsed_s: f64) -> Step {
        Step {
            purpose: StepPurpose::Asked,
            rate: Some(300.0),
            start_ms: 0,
            totals: Totals {
                elapsed_s,
                ..Totals::default()
            },
            verdict: None,
            cut_short: false,
        }
    }

    #[test]
    fn a_rate_is_what_the_clients_make_that_are_left() {
        let mut gathering = gathering(3);
        gathering.told[0].steps.push_back(step(1.0));
        gathering.told[2].steps.push_back(step(1.0));
        assert!(gathering.judged().unwrap().is_none(), "one still holds it");
        gathering.told[1].lost = Some("no answer".into());
        let judged = gathering.judged().unwrap().unwrap();
        assert_eq!((judged.rate, judged.cut_short), (Some(200.0), false));
        // Those that are left are told of a rate that makes the whole of theirs.
        assert_eq!(part_of(Some(300.0), 3, 2), Some(450.0));
        assert_eq!(part_of(Some(0.1), 3, 3), Some(0.1));
    }

    #[test]
    fn a_run_fails_by_a_client_that_is_lost_or_failed() {
        let mut gathering = gathering(2);
        gathering.on_loss = OnLoss::Fail;
        let end = |n: usize| ClientEnd {
            facts: ClientFacts {
                agent: format!("c{n}"),
                hostname: "h".into(),
                clock: Offset::default(),
            },
            late_ns: None,
            lost: None,
        };
        let ends = [end(0), end(1)];
        assert!(gathering.failure(&ends).is_none());
        gathering.told[1].lost = Some("no answer".into());
        let said = gathering.failure(&ends).unwrap().to_string();
        assert!(said.contains("client c1 is lost: no answer"), "{said}");
    }

    #[test]
    fn each_client_is_told_as_it_is_now() {
        let mut gathering = gathering(3);
        let mut latencies = tidemark_stats::Histogram::new();
        latencies.record(Duration::from_millis(3));
        let mut interval = Interval {
            length_ms: 500.0,
            ..Interval::default()
        };
        let stats = tidemark_core::record::TypeStats {
            count: 1,
            service: tidemark_core::record::EncodedHistogram(latencies.encode()),
            ..Default::default()
        };
        interval.types.insert("READ".into(), stats);
        gathering.told[0].started = Some(Started {
            sessions: 1,
            fewer_because: None,
            executors: 1,
            connect_time: Duration::ZERO,
            ahead: Duration::ZERO,
        });
        for told in &mut gathering.told {
            told.now = now_of(&interval, Some(0.5), Some(0.25));
        }
        gathering.told[1].lost = Some("no answer".into());
        let now = gathering.clients_now();
        assert_eq!((now[0].rate, now[0].stage), (2.0, ClientStage::Running));
        assert_eq!((now[0].cpus, now[0].host_busy), (Some(0.5), Some(0.25)));
        let p95 = now[0].p95_ns.unwrap();
        assert!((2_900_000..3_100_000).contains(&p95), "{p95}");
        // Of one that is lost nothing is known any more.
        assert_eq!((now[1].rate, now[1].stage), (0.0, ClientStage::Lost));
        assert_eq!(
            (&*now[2].name, now[2].stage),
            ("c2", ClientStage::Preparing)
        );
    }

    #[test]
    fn a_rate_that_was_held_at_the_end_is_told_as_cut_short() {
        let mut gathering = gathering(2);
        for told in &mut gathering.told {
            let mut own = RunRecord::default();
            own.steps.push(Step {
                cut_short: true,
                ..step(0.4)
            });
            told.record = Some(Box::new(own));
        }
        // It is no rate that was held.
        assert!(gathering.judged().unwrap().is_none());
        let told = gathering.cut_short().unwrap().unwrap();
        assert_eq!((told.rate, told.cut_short), (Some(300.0), true));
        assert_eq!(told.totals.elapsed_s, 0.4);
        assert!(gathering.cut_short().unwrap().is_none());
    }
}
