//! One client's side of the coordinator: a question every moment renews the lease, compares the clocks,
//! brings what the client is told, and tells how it stands. Who does not answer is lost.

use crate::clock::{Comparisons, Offset, now_ns};
use crate::connection::NatsConnection;
use crate::listing::{NoAnswer, ask};
use crate::plan::Timing;
use crate::protocol::{AgentRequest, RunClient, Said, Status};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// After a question without an answer the next is asked so soon.
const AGAIN: Duration = Duration::from_millis(100);
/// After NATS came back, agents need a moment to come back, too.
const COMING_BACK: Duration = Duration::from_secs(5);

/// News of a client.
#[derive(Debug)]
pub(crate) enum Update {
    /// How it stands, and how far its clock is ahead.
    Status(Status, Offset),
    /// It will not take its part.
    Refused(String),
    /// It is lost.
    Lost(String),
}

/// What renews one client's lease.
pub(crate) struct Renewing {
    pub connection: NatsConnection,
    pub client: RunClient,
    pub timing: Timing,
    /// What the client is to be told, in order.
    pub requests: UnboundedReceiver<AgentRequest>,
    pub updates: UnboundedSender<(u32, Update)>,
    /// The comparison from which it was chosen.
    pub clock: Offset,
}

impl Renewing {
    /// Asks until the client is released, or lost.
    pub async fn work(mut self) {
        let number = self.client.lease.client;
        if let Err(why) = self.renew().await {
            let is_refusal = matches!(why, Update::Refused(_));
            // Who coordinates may have ended.
            let _gone = self.updates.send((number, why));
            if !is_refusal {
                self.end().await;
            }
        }
    }

    async fn renew(&mut self) -> Result<(), Update> {
        let mut clock = Comparisons::default();
        clock.add(Instant::now(), self.clock);
        let mut queue: VecDeque<AgentRequest> = VecDeque::new();
        let (mut answered, begun) = (Instant::now(), Instant::now());
        loop {
            while let Ok(request) = self.requests.try_recv() {
                queue.push_back(request);
            }
            if self.requests.is_closed() && queue.is_empty() {
                return Ok(());
            }
            let told = queue.front().cloned();
            let request = told
                .clone()
                .unwrap_or_else(|| AgentRequest::Renew(self.client.lease.clone()));
            let sent = now_ns();
            let answer = ask(
                &self.connection,
                &self.client.agent,
                &request,
                self.timing.answer,
            );
            match answer.await {
                Ok(answer) => {
                    let offset = Offset::of(sent, answer.now_ns, now_ns());
                    answered = Instant::now();
                    clock.add(answered, offset);
                    if answer.instance != self.client.instance {
                        return Err(Update::Lost("its agent was restarted".into()));
                    }
                    match answer.said {
                        Said::Done | Said::Here(_) => {}
                        Said::Refused(why) => return Err(Update::Refused(why)),
                        Said::NoLease => return Err(Update::Lost("its lease ran out".into())),
                        Said::Status(status) => {
                            let best = clock.best().unwrap_or(offset);
                            let update = Update::Status(status, best);
                            let _gone = self.updates.send((self.client.lease.client, update));
                        }
                    }
                    queue.pop_front();
                    if matches!(told, Some(AgentRequest::Release(_))) {
                        return Ok(());
                    }
                    if queue.is_empty() {
                        let next = tokio::time::timeout(self.timing.renew, self.requests.recv());
                        if let Ok(Some(request)) = next.await {
                            queue.push_back(request);
                        }
                    }
                }
                Err(why) => {
                    if let Some(why) = self.lost(why, answered, begun) {
                        return Err(Update::Lost(why));
                    }
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    /// Whether silence was too long. It counts only while this side's own connection stands: without
    /// NATS nobody can tell who lives.
    fn lost(&self, why: NoAnswer, answered: Instant, begun: Instant) -> Option<String> {
        let up = self.connection.up_for()?;
        let silent = answered.elapsed().min(up);
        let limit = match why {
            NoAnswer::Nobody => self.timing.gone,
            NoAnswer::Nothing => self.timing.silent,
        };
        let came_back = up < begun.elapsed() && up < 2 * COMING_BACK;
        let limit = if came_back {
            limit.max(COMING_BACK)
        } else {
            limit
        };
        (silent > limit).then(|| match why {
            NoAnswer::Nobody => "its agent has ended".into(),
            NoAnswer::Nothing => format!("no answer for {:.1} s", silent.as_secs_f64()),
        })
    }

    /// A lost client may make load until its lease ends; sooner where it can be told.
    async fn end(&self) {
        let until = Instant::now() + self.timing.lease;
        let release = AgentRequest::Release(self.client.lease.clone());
        while Instant::now() < until {
            let answer = ask(
                &self.connection,
                &self.client.agent,
                &release,
                self.timing.answer,
            );
            if answer.await.is_ok() {
                return;
            }
            tokio::time::sleep(5 * AGAIN).await;
        }
    }
}
