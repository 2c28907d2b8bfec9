//! A run of several clients, from the thread of whoever makes it.

use crate::choice::choose;
use crate::collect::collect;
use crate::connection::{NatsConnection, NatsOptions, NatsStores};
use crate::coordinator::{Coordinator, CoordinatorCommand, End, Heard, Seated};
use crate::error::ClientsError;
use crate::event::{ClientFacts, CoordinatorEvent};
use crate::found_run::{FoundRun, take_up};
use crate::listing::all;
use crate::plan::{ClientsPlan, Timing};
use crate::protocol::{
    AgentRequest, Beat, HeldRate, Lease, RESULTS, RunClient, RunEntry, Take, beat_key, is_name,
};
use crate::renewing::Renewing;
use bytes::Bytes;
use futures_util::future::join_all;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidemark_core::Shard;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use uuid::Uuid;

/// The coordinator says so often that it lives.
const BEAT: Duration = Duration::from_secs(1);
/// Agents that are told to let go get so long.
const LETTING_GO: Duration = Duration::from_secs(3);

/// A run that goes on in a thread of its own.
pub struct ClientsRun {
    /// What happens.
    pub events: Receiver<CoordinatorEvent>,
    commands: Option<UnboundedSender<CoordinatorCommand>>,
    thread: Option<JoinHandle<()>>,
}

impl ClientsRun {
    /// Begins: chooses agents and lets them prepare. What happens comes as events.
    ///
    /// # Errors
    /// [`ClientsError::Usage`] of a run's id that can be none, [`ClientsError::System`] without a thread.
    pub fn begin(options: NatsOptions, plan: ClientsPlan) -> Result<Self, ClientsError> {
        if !is_name(&plan.run) {
            return Err(ClientsError::Usage(format!(
                "run {}: must be 1 to 64 letters, digits, - or _",
                plan.run
            )));
        }
        Self::spawned(move |commands, events| {
            let failed = events.clone();
            let done = crate::runtime().and_then(|runtime| {
                runtime.block_on(CoordinatorWork::of_plan(&options, plan, commands, events))
            });
            if let Err(error) = done {
                let _ended = failed.send(CoordinatorEvent::Failed(error));
            }
        })
    }

    /// Takes up a run whose coordinator has ended: the latest, unless one is named. Every message comes
    /// again from the first on.
    ///
    /// # Errors
    /// [`ClientsError`] when there is none, or its coordinator lives.
    pub fn attach(
        options: NatsOptions,
        run: Option<&str>,
        version: &str,
    ) -> Result<(String, RunEntry, Self), ClientsError> {
        let found = crate::runtime()?.block_on(take_up(&options, run, version))?;
        let (id, entry) = (found.run.clone(), found.entry.clone());
        let handle = Self::spawned(move |commands, events| {
            let failed = events.clone();
            let done = crate::runtime().and_then(|runtime| {
                runtime.block_on(CoordinatorWork::of_entry(&options, found, commands, events))
            });
            if let Err(error) = done {
                let _ended = failed.send(CoordinatorEvent::Failed(error));
            }
        })?;
        Ok((id, entry, handle))
    }

    fn spawned(
        work: impl FnOnce(UnboundedReceiver<CoordinatorCommand>, Sender<CoordinatorEvent>)
        + Send
        + 'static,
    ) -> Result<Self, ClientsError> {
        let (to, commands) = unbounded_channel();
        let (events_to, events) = channel();
        let thread = std::thread::Builder::new()
            .name("clients".into())
            .spawn(move || work(commands, events_to))
            .map_err(|e| ClientsError::System(format!("a thread can't be started: {e}")))?;
        Ok(Self {
            events,
            commands: Some(to),
            thread: Some(thread),
        })
    }

    /// All clients hold this rate, by this host's clock.
    pub fn hold(&self, step: HeldRate) {
        self.tell(CoordinatorCommand::Hold(step));
    }

    /// No rate follows.
    pub fn end_steps(&self) {
        self.tell(CoordinatorCommand::EndSteps);
    }

    /// All clients end, and tell what they measured.
    pub fn stop(&self) {
        self.tell(CoordinatorCommand::Stop);
    }

    /// The record is where it belongs: clients are free, and NATS forgets the run.
    pub fn kept(mut self) {
        self.tell(CoordinatorCommand::Kept);
        self.join();
    }

    /// Ends as a coordinator does that is killed: nobody is told anything.
    #[cfg(test)]
    pub(crate) fn die(mut self) {
        self.tell(CoordinatorCommand::Die);
        self.join();
    }

    fn tell(&self, command: CoordinatorCommand) {
        if let Some(commands) = &self.commands {
            // A run that is over has told so.
            let _over = commands.send(command);
        }
    }

    fn join(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

impl Drop for ClientsRun {
    /// Clients end; what they said stays for whoever takes it up.
    fn drop(&mut self) {
        self.join();
    }
}

/// By what a coordinator shows that it lives, and its run that it is there.
struct Living {
    /// Of its last sign of life.
    revision: u64,
    /// How many signs of life there were.
    number: u64,
    /// The run's entry as it is written.
    entry: Bytes,
}

/// What a coordinator's thread has.
struct CoordinatorWork {
    connection: NatsConnection,
    kept: NatsStores,
    run: String,
    holder: String,
}

impl CoordinatorWork {
    async fn open(options: &NatsOptions, run: String) -> Result<Self, ClientsError> {
        let connection = NatsConnection::open(options, "tidemark coordinator").await?;
        let kept = connection.ensure(options).await?;
        Ok(Self {
            connection,
            kept,
            run,
            holder: format!("tidemark-{}", Uuid::now_v7().simple()),
        })
    }

    async fn of_plan(
        options: &NatsOptions,
        plan: ClientsPlan,
        commands: UnboundedReceiver<CoordinatorCommand>,
        events: Sender<CoordinatorEvent>,
    ) -> Result<(), ClientsError> {
        let work = Self::open(options, plan.run.clone()).await?;
        let agents = all(&work.connection, &work.kept, &plan.version).await?;
        let chosen = choose(&plan.clients, agents, options)?;
        let beat = work.beat(0);
        let revision = work.kept.runs.put(beat_key(&work.run), beat).await;
        // The run's number: what this bucket has counted so far.
        let epoch = revision.map_err(ClientsError::nats)?;
        let seats = chosen.into_iter().zip(0..).map(|(agent, client)| {
            let facts = ClientFacts {
                agent: agent.name.clone(),
                hostname: agent.presence.hostname.clone(),
                clock: agent.clock.unwrap_or_default(),
            };
            let client = RunClient {
                agent: agent.name,
                instance: agent.presence.instance,
                hostname: agent.presence.hostname,
                lease: Lease {
                    run: work.run.clone(),
                    client,
                    epoch,
                },
            };
            (facts, client)
        });
        let seats: Vec<(ClientFacts, RunClient)> = seats.collect();
        let entry = RunEntry {
            version: plan.version.clone(),
            clients: seats.iter().map(|(_, client)| client.clone()).collect(),
            on_loss: plan.on_loss,
            deadline_ms: millis(plan.timing.lease),
            record: plan.record.clone(),
        };
        let json = work.enter(&entry).await?;
        let of = u32::try_from(seats.len()).unwrap_or(u32::MAX);
        let facts = seats.iter().map(|(facts, _)| facts.clone()).collect();
        // Who asked may have ended meanwhile; then the first command says so.
        let _ended = events.send(CoordinatorEvent::Chosen(facts));
        let takes: Vec<AgentRequest> = entry
            .clients
            .iter()
            .map(|client| {
                let mut job = plan.job.clone();
                job.load.shard = Shard {
                    index: client.lease.client,
                    of,
                };
                AgentRequest::Take(Box::new(Take {
                    lease: client.lease.clone(),
                    version: plan.version.clone(),
                    deadline_ms: entry.deadline_ms,
                    job,
                }))
            })
            .collect();
        let what = (plan.on_loss, plan.timing);
        let living = Living {
            revision: epoch,
            number: 0,
            entry: json,
        };
        work.coordinate(seats, takes, what, living, commands, events)
            .await
    }

    async fn of_entry(
        options: &NatsOptions,
        found: FoundRun,
        commands: UnboundedReceiver<CoordinatorCommand>,
        events: Sender<CoordinatorEvent>,
    ) -> Result<(), ClientsError> {
        let work = Self::open(options, found.run).await?;
        let number = found.number + 1;
        let put = work
            .kept
            .runs
            .update(beat_key(&work.run), work.beat(number), found.revision)
            .await;
        let revision = put.map_err(|_| ClientsError::Run {
            run: work.run.clone(),
            why: "another coordinator took it up at the same moment".into(),
        })?;
        // From now on it is kept for a day more.
        let json = work.enter(&found.entry).await?;
        let timing = Timing {
            lease: Duration::from_millis(found.entry.deadline_ms),
            ..Timing::default()
        };
        let seats = found.entry.clients.into_iter().map(|client| {
            let facts = ClientFacts {
                agent: client.agent.clone(),
                hostname: client.hostname.clone(),
                // Until it has answered.
                clock: crate::Offset {
                    ns: 0,
                    error_ns: i64::MAX,
                },
            };
            (facts, client)
        });
        let what = (found.entry.on_loss, timing);
        let (seats, takes) = (seats.collect(), Vec::new());
        let living = Living {
            revision,
            number,
            entry: json,
        };
        work.coordinate(seats, takes, what, living, commands, events)
            .await
    }

    async fn coordinate(
        self,
        seats: Vec<(ClientFacts, RunClient)>,
        takes: Vec<AgentRequest>,
        what: (crate::OnLoss, Timing),
        living: Living,
        commands: UnboundedReceiver<CoordinatorCommand>,
        events: Sender<CoordinatorEvent>,
    ) -> Result<(), ClientsError> {
        let is_taken_up = takes.is_empty();
        let (updates_to, updates) = unbounded_channel();
        let (parts_to, parts) = unbounded_channel();
        let mut takes = takes.into_iter();
        let mut renewing = Vec::new();
        let mut seated = Vec::new();
        for (facts, client) in seats {
            let (to, requests) = unbounded_channel();
            if let Some(take) = takes.next() {
                let _kept = to.send(take);
            }
            let one = Renewing {
                connection: self.connection.clone(),
                client: client.clone(),
                timing: what.1,
                requests,
                updates: updates_to.clone(),
                clock: facts.clock,
            };
            renewing.push(tokio::spawn(one.work()));
            seated.push(Seated { facts, client, to });
        }
        drop(updates_to);
        let collecting = tokio::spawn(collect(
            self.connection.clone(),
            self.run.clone(),
            self.holder.clone(),
            parts_to,
        ));
        let mut coordinator = Coordinator::new(seated, what, is_taken_up, events);
        let mut heard = Heard {
            commands,
            updates,
            parts,
        };
        let worked = tokio::select! {
            end = coordinator.work(&mut heard) => Ok(end),
            error = self.beats(living, what.1.entry) => Err(error),
        };
        drop(coordinator);
        drop(heard);
        let is_kept = match worked {
            #[cfg(test)]
            Ok(End::Died) => {
                renewing.iter().for_each(|task| task.abort());
                return Ok(());
            }
            Ok(end) => end == End::Kept,
            Err(error) => {
                // The leases are another's now.
                renewing.iter().for_each(|task| task.abort());
                return Err(error);
            }
        };
        let last = async {
            join_all(renewing).await;
            let _ended = collecting.await;
            if is_kept {
                self.forget().await;
            }
        };
        // What is not told in this time ends with its lease.
        let _late = tokio::time::timeout(LETTING_GO, last).await;
        Ok(())
    }

    /// The record is where it belongs. What is not deleted goes by its age.
    async fn forget(&self) {
        let _aged = self.kept.runs.delete(&self.run).await;
        let _aged = self.kept.runs.delete(beat_key(&self.run)).await;
        if let Ok(stream) = self.connection.context.get_stream(RESULTS).await {
            let subjects = format!("tidemark.results.{}.*", self.run);
            let _aged = stream.purge().filter(subjects).await;
        }
    }

    /// Says that the coordinator lives, until another has taken its place.
    async fn beats(&self, living: Living, every: Duration) -> ClientsError {
        let Living {
            mut revision,
            mut number,
            entry,
        } = living;
        let key = beat_key(&self.run);
        let mut entered = Instant::now();
        loop {
            tokio::time::sleep(BEAT).await;
            number += 1;
            let updated = self.kept.runs.update(&key, self.beat(number), revision);
            if let Ok(now) = updated.await {
                revision = now;
                // Of a run that is longer than entries are kept.
                if entered.elapsed() >= every
                    && self.kept.runs.put(&self.run, entry.clone()).await.is_ok()
                {
                    entered = Instant::now();
                }
                continue;
            }
            // NATS may be away; or the answer to an earlier one was lost.
            let Ok(Some(entry)) = self.kept.runs.entry(&key).await else {
                continue;
            };
            match serde_json::from_slice::<Beat>(&entry.value) {
                Ok(beat) if beat.holder != self.holder => {
                    return ClientsError::Run {
                        run: self.run.clone(),
                        why: "another coordinator has taken it up (tidemark attach)".into(),
                    };
                }
                _ => revision = entry.revision,
            }
        }
    }

    /// Writes the run's entry, by which it is taken up; gives it as it was written.
    async fn enter(&self, entry: &RunEntry) -> Result<Bytes, ClientsError> {
        let json: Bytes = serde_json::to_vec(entry)
            .map_err(ClientsError::nats)?
            .into();
        let put = self.kept.runs.put(&self.run, json.clone()).await;
        put.map_err(ClientsError::nats)?;
        Ok(json)
    }

    fn beat(&self, number: u64) -> Bytes {
        let beat = Beat {
            holder: self.holder.clone(),
            number,
        };
        serde_json::to_vec(&beat).unwrap_or_default().into()
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
