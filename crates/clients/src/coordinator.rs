//! The coordinator: all clients ready, one start, rates that all hold together, losses, the end.

#[cfg(test)]
mod tests;

use crate::clock::{Offset, now_ns};
use crate::event::{ClientEnd, ClientFacts, CoordinatorEvent};
use crate::inbox::Inbox;
use crate::plan::Timing;
use crate::protocol::{AgentRequest, HeldRate, Message, OnLoss, RunClient, Stage, Status};
use crate::renewing::Update;
use bytes::Bytes;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// The coordinator looks so often whether time alone changed something.
const LOOK: Duration = Duration::from_millis(50);
/// A process that is alive says so more often.
const QUIET: Duration = Duration::from_secs(6);
/// The last messages of a client that failed come within this time, or not at all. A load that was killed
/// is lost after it.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// The last message of a load that ended well comes within this time of silence, also on a host without CPU
/// time to spare. Nobody waits for such a client but for its figures.
const LAST_WORDS_ENDED: Duration = Duration::from_secs(10);
/// What a client has told last is in the stream, and comes from there within this time of silence.
const LAST_MESSAGE: Duration = Duration::from_secs(20);
/// So long messages of a load that is over may be kept from the stream.
const STUCK: Duration = Duration::from_secs(60);
/// Statuses come more often while NATS is there; what is waited for is waited for anew after it was away.
const ASKED: Duration = Duration::from_secs(3);

/// What the coordinator is told.
#[derive(Debug)]
pub(crate) enum CoordinatorCommand {
    /// All hold this rate, by this host's clock.
    Hold(HeldRate),
    /// No rate follows.
    EndSteps,
    /// All end.
    Stop,
    /// The record is where it belongs: what NATS has of the run may go.
    Kept,
    /// It is to end as if it were killed.
    #[cfg(test)]
    Die,
}

/// How the coordinator's work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The record is kept.
    Kept,
    /// Nobody waits for it any more.
    Left,
    /// It was killed: clients are told nothing.
    #[cfg(test)]
    Died,
}

/// How a client stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ClientStatus {
    Preparing,
    Ready,
    Going,
    Done,
    Lost(String),
}

struct Seat {
    facts: ClientFacts,
    client: RunClient,
    to: UnboundedSender<AgentRequest>,
    place: ClientStatus,
    clock: Offset,
    late_ns: Option<i64>,
    /// Since when it has failed, while its last words are waited for.
    failing: Option<(Instant, String)>,
    /// How long its last message is waited for, after its load is over.
    awaited: Option<Awaited>,
}

/// The last messages of a load that is over.
#[derive(Debug, Clone, Copy)]
struct Awaited {
    /// Since when nothing has come.
    since: Instant,
    /// When its agent told last that the load is over.
    asked: Instant,
    /// Messages that have come, and those in the stream.
    counts: (u64, u64),
}

impl Awaited {
    /// How long nothing has come, at `now`; the wait begins anew with every message.
    fn silence(&mut self, now: Instant, counts: (u64, u64)) -> Duration {
        if self.counts != counts || now.duration_since(self.asked) > ASKED {
            self.since = now;
        }
        (self.asked, self.counts) = (now, counts);
        now.duration_since(self.since)
    }
}

/// A run with all that its coordinator hears.
pub(crate) struct Coordinator {
    seats: Vec<Seat>,
    inbox: Inbox,
    on_loss: OnLoss,
    timing: Timing,
    /// When all begin, by this host's clock.
    begins_ns: Option<i64>,
    steps: u64,
    is_stopping: bool,
    is_over: bool,
    /// Whether another one began it: what was said before comes again.
    is_taken_up: bool,
    to: Sender<CoordinatorEvent>,
}

/// A client with the way to what renews its lease.
pub(crate) struct Seated {
    pub facts: ClientFacts,
    pub client: RunClient,
    pub to: UnboundedSender<AgentRequest>,
}

/// What the coordinator hears.
pub(crate) struct Heard {
    pub commands: UnboundedReceiver<CoordinatorCommand>,
    pub updates: UnboundedReceiver<(u32, Update)>,
    pub parts: UnboundedReceiver<Bytes>,
}

impl Coordinator {
    pub fn new(
        seated: Vec<Seated>,
        (on_loss, timing): (OnLoss, Timing),
        is_taken_up: bool,
        to: Sender<CoordinatorEvent>,
    ) -> Self {
        let epoch = seated.first().map_or(0, |one| one.client.lease.epoch);
        let place = match is_taken_up {
            true => ClientStatus::Going,
            false => ClientStatus::Preparing,
        };
        Self {
            inbox: Inbox::new(epoch, seated.len()),
            seats: seated
                .into_iter()
                .map(|one| Seat {
                    clock: one.facts.clock,
                    facts: one.facts,
                    client: one.client,
                    to: one.to,
                    place: place.clone(),
                    late_ns: None,
                    failing: None,
                    awaited: None,
                })
                .collect(),
            on_loss,
            timing,
            begins_ns: None,
            steps: 0,
            is_stopping: false,
            is_over: false,
            is_taken_up,
            to,
        }
    }

    /// Works until the record is kept, or nobody waits for it; tells which.
    pub async fn work(&mut self, heard: &mut Heard) -> End {
        let mut look = tokio::time::interval(LOOK);
        let mut out = Vec::new();
        let end = loop {
            tokio::select! {
                command = heard.commands.recv() => match command {
                    Some(CoordinatorCommand::Kept) => break End::Kept,
                    #[cfg(test)]
                    Some(CoordinatorCommand::Die) => return End::Died,
                    Some(command) => self.command(&command),
                    // Whoever made the run has ended.
                    None => break End::Left,
                },
                update = heard.updates.recv() => {
                    if let Some((client, update)) = update {
                        self.update(client, update);
                    }
                }
                part = heard.parts.recv() => {
                    if let Some(part) = part {
                        self.inbox.take(&part, &mut out);
                    }
                }
                _ = look.tick() => {}
            }
            for (client, _, message) in out.drain(..) {
                self.message(client, message);
            }
            for (client, why) in std::mem::take(&mut self.inbox.unreadable) {
                self.lose(client, why);
            }
            self.look();
        };
        self.tell_all(|seat| AgentRequest::Release(seat.client.lease.clone()));
        end
    }

    fn command(&mut self, command: &CoordinatorCommand) {
        match command {
            CoordinatorCommand::Hold(step) => {
                let number = self.steps;
                self.steps += 1;
                self.tell_all(|seat| AgentRequest::Hold {
                    lease: seat.client.lease.clone(),
                    number,
                    step: HeldRate {
                        from_ns: seat.clock.there(step.from_ns),
                        ..*step
                    },
                });
            }
            CoordinatorCommand::EndSteps => {
                self.tell_all(|s| AgentRequest::EndSteps(s.client.lease.clone()))
            }
            CoordinatorCommand::Stop => self.stop(),
            CoordinatorCommand::Kept => {}
            #[cfg(test)]
            CoordinatorCommand::Die => {}
        }
    }

    fn stop(&mut self) {
        if !std::mem::replace(&mut self.is_stopping, true) {
            self.tell_all(|seat| AgentRequest::Stop(seat.client.lease.clone()));
        }
    }

    /// Tells all that are not lost.
    fn tell_all(&self, request: impl Fn(&Seat) -> AgentRequest) {
        for seat in &self.seats {
            if !matches!(seat.place, ClientStatus::Lost(_)) {
                // One whose way is closed is told to be lost.
                let _lost = seat.to.send(request(seat));
            }
        }
    }

    fn update(&mut self, client: u32, update: Update) {
        match update {
            Update::Status(status, clock) => self.status(client, &status, clock),
            // What it said before it was lost is on its way.
            Update::Lost(why) if self.is_taken_up => self.failing(client, why),
            Update::Refused(why) | Update::Lost(why) => self.lose(client, why),
        }
    }

    fn status(&mut self, client: u32, status: &Status, clock: Offset) {
        let begins = self.begins_ns;
        let Some(seat) = self.seats.get_mut(client as usize) else {
            return;
        };
        seat.clock = clock;
        seat.facts.clock = clock;
        if let (Some(began), Some(begins)) = (status.began_ns, begins) {
            seat.late_ns.get_or_insert(clock.here(began) - begins);
        }
        match (&status.stage, &seat.place) {
            (_, ClientStatus::Done | ClientStatus::Lost(_)) => {}
            (Stage::Ready, ClientStatus::Preparing) => seat.place = ClientStatus::Ready,
            (Stage::Failed(why), _) => {
                self.failing(client, why.clone());
                let has_all_come = self.inbox.count(client) >= status.kept;
                if status.kept >= status.said && has_all_come {
                    // No last words are on their way.
                    self.lose(client, why.clone());
                }
            }
            // Nobody will tell it to begin.
            (Stage::Preparing | Stage::Ready, ClientStatus::Going)
                if self.is_taken_up && !self.is_stopping =>
            {
                self.stop();
            }
            (Stage::Ended, _) => self.ended(client, status, Instant::now()),
            _ if status.is_over => self.ended(client, status, Instant::now()),
            _ if u128::from(status.quiet_ms) > QUIET.as_millis() => {
                let quiet = Duration::from_millis(status.quiet_ms).as_secs();
                self.lose(
                    client,
                    format!("its load's process has not run for {quiet} s"),
                );
            }
            _ => {}
        }
    }

    /// Its load is over, and its last message has not come: it will, or the client is lost.
    fn ended(&mut self, client: u32, status: &Status, now: Instant) {
        let came = self.inbox.count(client);
        let counts = (came, status.kept);
        let Some(seat) = self.seats.get_mut(client as usize) else {
            return;
        };
        let awaited = seat.awaited.get_or_insert(Awaited {
            since: now,
            asked: now,
            counts,
        });
        let silence = awaited.silence(now, counts);
        let (kept, said) = (status.kept, status.said);
        let (limit, why) = if kept < said {
            let trouble = status.trouble.as_deref().unwrap_or("no answer");
            let why = format!("{kept} of its {said} messages are in the stream: {trouble}");
            (STUCK, why)
        } else if came < kept {
            let why = format!("its load has ended, and {came} of its {kept} messages came");
            (LAST_MESSAGE, why)
        } else {
            let why = "its load has ended without its last message".to_string();
            (LAST_WORDS_ENDED, why)
        };
        if silence > limit {
            self.lose(client, why);
        }
    }

    /// It failed; its last words may be on their way.
    fn failing(&mut self, client: u32, why: String) {
        if let Some(seat) = self.seats.get_mut(client as usize) {
            seat.failing.get_or_insert_with(|| (Instant::now(), why));
        }
    }

    fn message(&mut self, client: u32, message: Message) {
        let has_begun = self.is_taken_up || self.begins_ns.is_some();
        // The others would wait for it for ever.
        let is_missed = matches!(message, Message::Failed { .. }) && !has_begun;
        if let Some(seat) = self.seats.get_mut(client as usize) {
            if message.is_last() {
                seat.place = ClientStatus::Done;
                seat.failing = None;
            }
            if let Some((since, _)) = &mut seat.failing {
                *since = Instant::now();
            }
        }
        self.say(CoordinatorEvent::Message(client, Box::new(message)));
        if is_missed {
            self.stop();
        }
    }

    fn lose(&mut self, client: u32, why: String) {
        let Some(seat) = self.seats.get_mut(client as usize) else {
            return;
        };
        if matches!(seat.place, ClientStatus::Done | ClientStatus::Lost(_)) {
            return;
        }
        seat.place = ClientStatus::Lost(why.clone());
        // Its lease ends: what renews it lets go when nobody tells it anything.
        let _lost = seat
            .to
            .send(AgentRequest::Release(seat.client.lease.clone()));
        self.inbox.fence(client);
        self.say(CoordinatorEvent::Lost {
            client,
            why,
            at_ns: now_ns(),
        });
        let has_begun = self.is_taken_up || self.begins_ns.is_some();
        if self.on_loss == OnLoss::Fail || !has_begun {
            self.stop();
        }
    }

    /// What time alone changes.
    fn look(&mut self) {
        let is_over = |f: &(Instant, String)| f.0.elapsed() > LAST_WORDS;
        let failed = self.seats.iter().zip(0..);
        let failed: Vec<(u32, String)> = failed
            .filter_map(|(seat, at)| {
                let failing = seat.failing.as_ref().filter(|f| is_over(f))?;
                Some((at, failing.1.clone()))
            })
            .collect();
        for (client, why) in failed {
            self.lose(client, why);
        }
        self.begin();
        let is_at_end =
            |seat: &Seat| matches!(seat.place, ClientStatus::Done | ClientStatus::Lost(_));
        if !self.is_over && self.seats.iter().all(is_at_end) {
            self.is_over = true;
            let ends = self.seats.iter().map(|seat| ClientEnd {
                facts: seat.facts.clone(),
                late_ns: seat.late_ns,
                lost: match &seat.place {
                    ClientStatus::Lost(why) => Some(why.clone()),
                    _ => None,
                },
            });
            self.say(CoordinatorEvent::Over {
                clients: ends.collect(),
                refused: self.inbox.refused,
            });
        }
    }

    /// Lets all begin at one moment, when all are ready.
    fn begin(&mut self) {
        let all_ready = self
            .seats
            .iter()
            .all(|seat| seat.place == ClientStatus::Ready);
        if self.is_stopping || self.begins_ns.is_some() || !all_ready {
            return;
        }
        let worst = self.seats.iter().map(|seat| seat.clock.error_ns).max();
        let lead = i64::try_from(self.timing.lead.as_nanos()).unwrap_or(0);
        let at_ns = now_ns() + lead + 2 * worst.unwrap_or(0);
        self.begins_ns = Some(at_ns);
        for seat in &mut self.seats {
            seat.place = ClientStatus::Going;
        }
        self.tell_all(|seat| AgentRequest::Go {
            lease: seat.client.lease.clone(),
            at_ns: seat.clock.there(at_ns),
        });
        self.say(CoordinatorEvent::Begins(at_ns));
    }

    fn say(&self, event: CoordinatorEvent) {
        // Whoever made the run may have ended; then the commands say so.
        let _ended = self.to.send(event);
    }
}
