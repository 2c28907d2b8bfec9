//! The agent: it says that it is there, takes a part of a run, renews what the coordinator renews, and
//! ends the load when nobody does. The load is a process of its own, so that a host full of load still
//! answers, and so that a load that is killed is seen at once.

use crate::clock::now_ns;
use crate::connection::{NatsConnection, NatsOptions};
use crate::error::ClientsError;
use crate::held::{HeldLoad, Launch};
use crate::protocol::{
    AgentAnswer, AgentRequest, Lease, Presence, Said, Take, Up, agent_subject, is_name,
};
use futures_util::StreamExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use uuid::Uuid;

/// The agent says so often that it is there.
const PRESENT: Duration = Duration::from_secs(2);
/// It looks so often at its lease, and whether it should end.
const LOOK: Duration = Duration::from_millis(100);
/// Another agent of this name would have answered by then.
const NAMESAKE: Duration = Duration::from_secs(2);

/// An agent that can begin.
pub struct Agent {
    /// How NATS is reached.
    pub nats: NatsOptions,
    /// Its name, as `--clients` takes it.
    pub name: String,
    /// Version of Tidemark: runs of another are refused.
    pub version: String,
    /// Its host.
    pub hostname: String,
    /// Processors that it may use.
    pub cores: usize,
    /// Set from outside, it ends; its load with it.
    pub stop: Arc<AtomicBool>,
}

impl Agent {
    /// Works until it is told to stop. `said` gets a line whenever something changes.
    ///
    /// # Errors
    /// [`ClientsError`] when NATS can't be reached, or has an agent of this name.
    pub fn run(
        self,
        launch: &mut dyn Launch,
        said: &mut dyn FnMut(&str),
    ) -> Result<(), ClientsError> {
        crate::runtime()?.block_on(self.work(launch, said))
    }

    async fn work(
        self,
        launch: &mut dyn Launch,
        said: &mut dyn FnMut(&str),
    ) -> Result<(), ClientsError> {
        if !is_name(&self.name) {
            return Err(ClientsError::Usage(format!(
                "--name={}: must be 1 to 64 letters, digits, - or _; for example --name=load-1",
                self.name
            )));
        }
        let connection = NatsConnection::open(&self.nats, &self.name).await?;
        connection.ensure(&self.nats).await?;
        self.refuse_namesake(&connection).await?;
        let subject = agent_subject(&self.name);
        let requests = connection.client.subscribe(subject).await;
        let mut requests = requests.map_err(ClientsError::nats)?;
        let presence = Presence {
            version: self.version.clone(),
            hostname: self.hostname.clone(),
            cores: self.cores,
            instance: Uuid::now_v7().to_string(),
            run: None,
        };
        let instance = presence.instance.clone();
        let told = Arc::new(Mutex::new(presence));
        let presence = Arc::clone(&told);
        let telling = tokio::spawn(tell_presence(
            connection.clone(),
            self.nats.clone(),
            self.name.clone(),
            presence,
        ));
        let (up, heard) = unbounded_channel();
        let mut post = Post {
            version: self.version.clone(),
            connection: connection.clone(),
            up,
            heard,
            held: None,
            refused: None,
        };
        said(&format!("agent {} waits for runs", self.name));
        let mut look = tokio::time::interval(LOOK);
        while !self.stop.load(Ordering::Relaxed) {
            tokio::select! {
                message = requests.next() => {
                    let Some(message) = message else {
                        return Err(ClientsError::Nats("the connection was closed".into()));
                    };
                    post.hear_all(said);
                    let answer = AgentAnswer {
                        said: post.answer(&message.payload, launch, said),
                        now_ns: now_ns(),
                        instance: instance.clone(),
                    };
                    let json = serde_json::to_vec(&answer).unwrap_or_default();
                    if let Some(reply) = message.reply {
                        // Whoever asked asks again.
                        let _lost = connection.client.publish(reply, json.into()).await;
                    }
                }
                up = post.heard.recv() => {
                    if let Some((epoch, up)) = up {
                        post.hear(epoch, up, said);
                    }
                }
                _ = look.tick() => {}
            }
            post.look(said);
            let run = post.held.as_ref().map(|held| held.lease.run.clone());
            told.lock().unwrap_or_else(PoisonError::into_inner).run = run;
        }
        telling.abort();
        drop(post);
        if let Ok(kept) = connection.ensure(&self.nats).await {
            // What is not deleted goes by itself.
            let _gone = kept.agents.delete(&self.name).await;
        }
        Ok(())
    }

    /// Two agents of one name would both take each run.
    async fn refuse_namesake(&self, connection: &NatsConnection) -> Result<(), ClientsError> {
        let json = serde_json::to_vec(&AgentRequest::Clock).unwrap_or_default();
        let asked = connection
            .client
            .request(agent_subject(&self.name), json.into());
        match tokio::time::timeout(NAMESAKE, asked).await {
            Ok(Ok(_)) => Err(ClientsError::Usage(format!(
                "--name={}: an agent of this name already exists; give this one another name, for \
                 example --name={}-2",
                self.name, self.name
            ))),
            _ => Ok(()),
        }
    }
}

/// Says again and again that the agent is there.
async fn tell_presence(
    connection: NatsConnection,
    options: NatsOptions,
    name: String,
    presence: Arc<Mutex<Presence>>,
) {
    let mut kept = None;
    loop {
        if kept.is_none() {
            // A server that lost its files gets its buckets anew.
            kept = connection.ensure(&options).await.ok();
        }
        if let Some(stores) = &kept {
            let json = {
                let held = presence.lock().unwrap_or_else(PoisonError::into_inner);
                serde_json::to_vec(&*held).unwrap_or_default()
            };
            if stores.agents.put(&name, json.into()).await.is_err() {
                kept = None;
            }
        }
        tokio::time::sleep(PRESENT).await;
    }
}

/// What the agent has in hand.
struct Post {
    version: String,
    connection: NatsConnection,
    up: UnboundedSender<(u64, Up)>,
    heard: UnboundedReceiver<(u64, Up)>,
    held: Option<HeldLoad>,
    /// What was refused last: it is asked again, and told once.
    refused: Option<Lease>,
}

impl Post {
    /// Does what is asked. Nothing here waits.
    fn answer(
        &mut self,
        payload: &[u8],
        launch: &mut dyn Launch,
        said: &mut dyn FnMut(&str),
    ) -> Said {
        let request: AgentRequest = match serde_json::from_slice(payload) {
            Ok(request) => request,
            Err(error) => {
                return Said::Refused(format!(
                    "this agent runs Tidemark's jobs and nothing else; what came is none: {error}"
                ));
            }
        };
        match request {
            AgentRequest::Clock => {
                let held = self.held.as_mut();
                Said::Here(held.and_then(|held| (!held.is_free()).then(|| held.lease.run.clone())))
            }
            AgentRequest::Take(take) => {
                let lease = take.lease.clone();
                let answer = self.take(*take, launch, said);
                if let Said::Refused(why) = &answer
                    && self.refused.as_ref() != Some(&lease)
                {
                    said(&format!("run {}: refused: {why}", lease.run));
                    self.refused = Some(lease);
                }
                answer
            }
            AgentRequest::Release(lease) => {
                if self.held.as_ref().is_some_and(|h| h.lease == lease) {
                    self.held = None;
                    said(&format!("run {} is over", lease.run));
                }
                Said::Done
            }
            other => {
                let lease = other.lease();
                let held = self.held.as_mut().filter(|h| Some(&h.lease) == lease);
                held.map_or(Said::NoLease, |held| held.answer(&other))
            }
        }
    }

    fn take(&mut self, take: Take, launch: &mut dyn Launch, said: &mut dyn FnMut(&str)) -> Said {
        if take.version != self.version {
            return Said::Refused(format!(
                "its version is {}, and the coordinator's {}; install one version everywhere",
                self.version, take.version
            ));
        }
        if let Some(held) = &mut self.held {
            if held.lease == take.lease {
                return held.answer(&AgentRequest::Renew(take.lease));
            }
            if !held.is_free() {
                return Said::Refused(format!("it is part of run {}", held.lease.run));
            }
            self.held = None;
        }
        let lease = take.lease.clone();
        let epoch = lease.epoch;
        let up = self.up.clone();
        // An agent that has ended hears nothing.
        let hear = Box::new(move |line| up.send((epoch, line)).is_ok());
        match HeldLoad::begin(take, self.connection.clone(), launch, hear) {
            Ok(mut held) => {
                said(&format!(
                    "run {}: client {} prepares the {}",
                    lease.run, lease.client, held.what
                ));
                let answer = held.answer(&AgentRequest::Renew(lease));
                self.held = Some(held);
                answer
            }
            Err(why) => Said::Refused(why),
        }
    }

    fn hear(&mut self, epoch: u64, up: Up, said: &mut dyn FnMut(&str)) {
        let held = self.held.as_mut();
        if let Some(held) = held.filter(|held| held.lease.epoch == epoch)
            && let Some(line) = held.hear(up)
        {
            said(&line);
        }
    }

    fn hear_all(&mut self, said: &mut dyn FnMut(&str)) {
        while let Ok((epoch, up)) = self.heard.try_recv() {
            self.hear(epoch, up, said);
        }
    }

    /// Ends a load that nobody asks after any more.
    fn look(&mut self, said: &mut dyn FnMut(&str)) {
        if let Some(held) = &mut self.held {
            if let Some(line) = held.look() {
                said(&line);
            }
            if held.is_forgotten() {
                self.held = None;
            }
        }
    }
}
