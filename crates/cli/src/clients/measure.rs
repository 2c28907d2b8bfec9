//! A run of several clients in the place of one of this process: who watches, what is printed and where
//! the record goes is all the same.

use super::events::Events;
use super::gather::{Gathered, Gathering, Listener};
use super::must_be_possible;
use super::several::Several;
use crate::exit::Failure;
use crate::live_output::LiveOutput;
use crate::measuring::{Making, MeasuredRun, Observer, Ready, Voice};
use std::time::Duration;
use tidemark_clients::{ClientEnd, CoordinatorEvent, OnLoss};
use tidemark_core::Job;
use tidemark_core::job::{ClientLoss, Clients};
use tidemark_core::record::{ErrorCount, Interval, Phase, RunRecord, Step};
use tidemark_core::series::SeriesChunk;
use tidemark_engine::{EngineError, ErrorTally, RunObserver, RunResult, SampleLog, Started};
use tidemark_live::ClientNow;

/// The clients' pieces of series stand behind those of this process.
const FIRST_PIECE: u32 = 1 << 30;

/// Has the clients make the run of `ready`, and tells all who watch.
///
/// # Errors
/// [`Failure`] of what several clients can't do, when no load could be made, or as the store's.
pub fn measure<'a>(
    ready: Ready<'a>,
    clients: &Clients,
    checkpoints: &[Duration],
    samples: Option<(&SampleLog, u16)>,
    say: LiveOutput<'_>,
    voice: &mut dyn Voice,
) -> Result<MeasuredRun<'a>, Failure> {
    refuse(clients, checkpoints, samples.is_some())?;
    let measured = follow(ready, clients, say, |making, drive| {
        let mut observer = Observer::new(making, &mut *voice);
        let over = drive(&mut observer)?;
        over.finish(observer.head())
    });
    voice.ended();
    measured
}

/// Drives the clients to their end, and tells somebody meanwhile.
pub type Drive<'d> = &'d dyn Fn(&mut dyn Listener) -> Result<Over, Failure>;

/// What clients told that have all ended or are lost.
pub struct Over {
    gathering: Gathering,
    ends: Vec<ClientEnd>,
    is_stopping: bool,
}

impl Over {
    /// What came of it; `head` is the record without what was measured.
    ///
    /// # Errors
    /// As [`Gathering::finish`].
    pub fn finish(self, head: RunRecord) -> Result<Gathered, Failure> {
        self.gathering.finish(head, &self.ends, self.is_stopping)
    }
}

/// Has the clients make the run of `ready`, whatever it is made of; `told` drives them and makes one record
/// of what they told.
///
/// # Errors
/// As [`measure`].
pub fn follow<'a>(
    mut ready: Ready<'a>,
    clients: &Clients,
    say: LiveOutput<'_>,
    told: impl FnOnce(Making<'_, '_>, Drive<'_>) -> Result<Gathered, Failure>,
) -> Result<MeasuredRun<'a>, Failure> {
    let job = ready.job();
    must_be_possible(job, clients)?;
    ready.observe_without_own_host();
    let record = ready.record();
    let id = record.id.clone();
    let several = Several::begin(clients, &id, (job, &ready.plan().target), Some(record))?;
    let (mut gathered, mut failure) = (None, None);
    let measured = ready.measure_by(say, |making| {
        let drives: Drive<'_> = &|to| drive(&several, job, clients, to);
        match told(making, drives) {
            Ok(one) => {
                let result = result(&one);
                gathered = Some(one.record);
                Ok(result)
            }
            Err(error) => {
                let said = error.message.clone();
                failure = Some(error);
                Err(EngineError::Clients(said))
            }
        }
    });
    let mut measured = measured.map_err(|error| failure.unwrap_or(error))?;
    if let Some(mut record) = gathered {
        // The store has them already.
        record.intervals = Vec::new();
        let here = tidemark_observe::client_host().hostname;
        if record.clients.iter().any(|c| c.host.hostname != here) {
            // True of the coordinator's host, which made no load.
            record.target_on_client = record.target_on_client.filter(|is_here| !is_here);
        }
        let own = &measured.recording.record;
        // What this process has observed is known since its sources ended.
        let mut observed = own.observed.clone();
        let theirs = std::mem::take(&mut record.observed).into_iter();
        observed.extend(theirs.filter(|one| own.observed.iter().all(|o| o.source != one.source)));
        record.observed = observed;
        record.server_statements.clone_from(&own.server_statements);
        record.load_totals.clone_from(&own.load_totals);
        let notes = own.notes.iter().filter(|note| !record.notes.contains(note));
        let notes: Vec<String> = notes.cloned().collect();
        record.notes.extend(notes);
        for (series, number) in std::mem::take(&mut record.series)
            .into_iter()
            .zip(FIRST_PIECE..)
        {
            measured.take_series(SeriesChunk {
                source: series.key.source.clone(),
                number,
                series: vec![series],
            });
        }
        measured.recording.record = record;
    }
    measured.clients = Some(several);
    Ok(measured)
}

/// Refuses what several clients can't do together.
fn refuse(clients: &Clients, checkpoints: &[Duration], has_samples: bool) -> Result<(), Failure> {
    let refused = |what: &str| {
        Err(Failure::usage(format!(
            "--clients={}: {what}; leave one of them out",
            clients.hosts
        )))
    };
    if !checkpoints.is_empty() {
        return refused("--report-checkpoints is of one client");
    }
    if has_samples {
        return refused("files with every transaction are of one client");
    }
    Ok(())
}

/// Waits for the clients, until each has ended or is lost.
fn drive(
    several: &Several,
    job: &Job,
    clients: &Clients,
    to: &mut dyn Listener,
) -> Result<Over, Failure> {
    let run = &several.run;
    let mut gathering = Gathering::new(
        &job.load,
        match clients.on_loss {
            ClientLoss::Fail => OnLoss::Fail,
            ClientLoss::Continue => OnLoss::Continue,
        },
    );
    let mut events = Events::of(run);
    loop {
        let Some(event) = events.look()? else {
            continue;
        };
        match event {
            CoordinatorEvent::Chosen(facts) => {
                let named = facts.iter().map(|f| {
                    let error = f.clock.error_ns as f64 / 1e6;
                    format!("{} on {} (clock ± {error:.2} ms)", f.agent, f.hostname)
                });
                let named: Vec<String> = named.collect();
                to.notice(&format!("clients: {}", named.join(", ")));
                gathering.chosen(facts);
            }
            CoordinatorEvent::Begins(at_ns) => {
                gathering.begins(at_ns, run);
                gathering.go_on(run, to)?;
            }
            CoordinatorEvent::Message(client, message) => {
                gathering.message(client, *message, run, to)?
            }
            CoordinatorEvent::Lost { client, why, .. } => gathering.lost(client, why, run, to)?,
            CoordinatorEvent::Over { clients, .. } => {
                gathering.go_on(run, to)?;
                return Ok(Over {
                    gathering,
                    ends: clients,
                    is_stopping: events.is_stopping,
                });
            }
            CoordinatorEvent::Failed(error) => return Err(error.into()),
        }
    }
}

/// The measurement as one client's engine would have told it.
fn result(gathered: &Gathered) -> RunResult {
    let record = &gathered.record;
    RunResult {
        state: record.state.clone(),
        failure: gathered.failure.clone(),
        executors: record.executors,
        sessions_opened: record.sessions_opened.unwrap_or(record.sessions),
        totals: record.totals.clone(),
        since_checkpoint: record.totals.clone(),
        steps: record.steps.clone(),
        outages: record.outages.clone(),
        dead_times: record.dead_times.clone(),
        errors: ErrorTally::of(record.errors.clone()),
        waiting_threads: record.usage.waiting_threads,
        // Each client's are in its totals' fairness.
        sessions: Vec::new(),
    }
}

impl Listener for Observer<'_, '_> {
    fn started(&mut self, begun: &Started) {
        RunObserver::started(self, begun);
    }

    fn errors(&mut self, phase: Phase, errors: &[ErrorCount]) {
        RunObserver::errors(self, phase, errors);
    }

    fn interval(&mut self, interval: &Interval) {
        RunObserver::interval(self, interval);
    }

    fn step(&mut self, step: &Step) {
        RunObserver::step(self, step);
    }

    fn wants_clients(&self) -> bool {
        self.shows_clients()
    }

    fn clients(&mut self, clients: Vec<ClientNow>) {
        self.show_clients(clients);
    }

    fn notice(&mut self, text: &str) {
        self.say_aside(&format!("{}\n", crate::messages::in_language(text)));
    }
}
