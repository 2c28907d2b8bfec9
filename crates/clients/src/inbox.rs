//! Messages as they arrive: put together from their parts, each once, in order, of this run's lease.

use crate::protocol::Message;
use crate::publisher::Envelope;
use bytes::Bytes;
use std::collections::BTreeMap;

/// What became of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// It was taken.
    Taken,
    /// It had come before.
    Again,
    /// Of another lease, or of a client that was given up before.
    Fenced,
    /// It can't be read.
    Unreadable,
}

/// A client's messages.
#[derive(Debug, Default)]
struct ClientMessages {
    /// Number of the next message that is given out.
    next: u64,
    /// Parts of this one and of later ones.
    parts: BTreeMap<u64, Vec<Option<Bytes>>>,
    fenced: bool,
}

/// The messages of a run.
#[derive(Debug)]
pub struct Inbox {
    epoch: u64,
    lines: Vec<ClientMessages>,
    /// Parts that did not count.
    pub refused: u64,
    /// Clients of which a message can't be read, and why. Without it what they measured is not whole.
    pub unreadable: Vec<(u32, String)>,
}

impl Inbox {
    /// Of so many clients that have leases of this epoch.
    pub fn new(epoch: u64, clients: usize) -> Self {
        Self {
            epoch,
            lines: (0..clients).map(|_| ClientMessages::default()).collect(),
            refused: 0,
            unreadable: Vec::new(),
        }
    }

    /// Takes a part; messages that are whole by it go to `out`, with client and number.
    pub fn take(&mut self, payload: &Bytes, out: &mut Vec<(u32, u64, Message)>) -> Arrival {
        let arrival = self.taken(payload, out);
        if matches!(arrival, Arrival::Fenced | Arrival::Unreadable) {
            self.refused += 1;
        }
        arrival
    }

    fn taken(&mut self, payload: &Bytes, out: &mut Vec<(u32, u64, Message)>) -> Arrival {
        let Some((envelope, bytes)) = Envelope::open(payload) else {
            return Arrival::Unreadable;
        };
        let client = envelope.client;
        let line = self.lines.get_mut(client as usize);
        let Some(line) = line.filter(|line| envelope.epoch == self.epoch && !line.fenced) else {
            return Arrival::Fenced;
        };
        if envelope.number < line.next {
            return Arrival::Again;
        }
        let parts = line.parts.entry(envelope.number);
        let parts = parts.or_insert_with(|| vec![None; envelope.of as usize]);
        match parts.get_mut(envelope.part as usize) {
            Some(slot @ None) => *slot = Some(bytes),
            Some(Some(_)) => return Arrival::Again,
            None => return Arrival::Unreadable,
        }
        let mut arrival = Arrival::Taken;
        while let Some(text) = line.whole() {
            match serde_json::from_slice(&text) {
                Ok(message) => out.push((client, line.next, message)),
                Err(error) => {
                    arrival = Arrival::Unreadable;
                    let why = format!("its message {} can't be read: {error}", line.next);
                    self.unreadable.push((client, why));
                }
            }
            line.next += 1;
        }
        arrival
    }

    /// How many messages of a client were given out.
    pub fn count(&self, client: u32) -> u64 {
        let line = self.lines.get(client as usize);
        line.map_or(0, |line| line.next)
    }

    /// Nothing more of this client counts.
    pub fn fence(&mut self, client: u32) {
        if let Some(line) = self.lines.get_mut(client as usize) {
            line.fenced = true;
            line.parts.clear();
        }
    }
}

impl ClientMessages {
    /// The next message, if all of its parts are there.
    fn whole(&mut self) -> Option<Vec<u8>> {
        let parts = self.parts.get(&self.next)?;
        if parts.iter().any(Option::is_none) {
            return None;
        }
        let parts = self.parts.remove(&self.next)?;
        Some(parts.into_iter().flatten().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Lease;
    use proptest::prelude::*;

    fn parts(client: u32, epoch: u64, number: u64, text: &str) -> Vec<Bytes> {
        let lease = Lease {
            run: "r".into(),
            client,
            epoch,
        };
        let json = serde_json::to_string(&Message::Line(text.into())).unwrap();
        let parts = Envelope::parts(&lease, number, &json, 7);
        parts.into_iter().map(|(_, bytes)| bytes).collect()
    }

    proptest! {
        #[test]
        fn each_message_comes_once_and_in_order(
            seeds in proptest::collection::vec(any::<u64>(), 60..200),
        ) {
            let texts: Vec<String> = (0..8).map(|n| format!("message number {n}")).collect();
            let mut all = Vec::new();
            for client in 0..3 {
                for (number, text) in texts.iter().enumerate() {
                    all.extend(parts(client, 5, number as u64, text));
                    all.extend(parts(client, 4, number as u64, "of a client before"));
                }
            }
            // Some twice, all in another order.
            let again: Vec<Bytes> = seeds.iter().map(|s| all[*s as usize % all.len()].clone()).collect();
            all.extend(again);
            let mut order: Vec<(u64, Bytes)> = all
                .into_iter()
                .enumerate()
                .map(|(at, part)| (seeds[at % seeds.len()].wrapping_mul(at as u64 + 1), part))
                .collect();
            order.sort_by_key(|(key, _)| *key);
            let (mut inbox, mut out) = (Inbox::new(5, 3), Vec::new());
            for (_, part) in &order {
                inbox.take(part, &mut out);
            }
            for client in 0..3 {
                let mine = out.iter().filter(|(of, ..)| *of == client);
                let got: Vec<(u64, Message)> = mine.map(|(_, n, m)| (*n, m.clone())).collect();
                let wanted = texts.iter().enumerate();
                let wanted: Vec<(u64, Message)> =
                    wanted.map(|(n, t)| (n as u64, Message::Line(t.clone()))).collect();
                prop_assert_eq!(got, wanted);
                prop_assert_eq!(inbox.count(client), 8);
            }
        }
    }

    #[test]
    fn what_comes_of_a_lost_client_does_not_count() {
        let (mut inbox, mut out) = (Inbox::new(5, 2), Vec::new());
        let all = |number| parts(1, 5, number, "x");
        for part in all(0) {
            inbox.take(&part, &mut out);
        }
        inbox.fence(1);
        for part in all(1) {
            assert_eq!(inbox.take(&part, &mut out), Arrival::Fenced);
        }
        assert_eq!((out.len(), inbox.count(1)), (1, 1));
        let other = parts(7, 5, 0, "no such client");
        assert_eq!(inbox.take(&other[0], &mut out), Arrival::Fenced);
        assert_eq!(
            inbox.take(&Bytes::from_static(b"x"), &mut out),
            Arrival::Unreadable
        );
    }

    #[test]
    fn a_message_that_cannot_be_read_holds_up_no_other() {
        let lease = Lease {
            run: "r".into(),
            client: 0,
            epoch: 5,
        };
        let (mut inbox, mut out) = (Inbox::new(5, 1), Vec::new());
        let (_, bad) = Envelope::parts(&lease, 0, "{", 100).remove(0);
        assert_eq!(inbox.take(&bad, &mut out), Arrival::Unreadable);
        for part in parts(0, 5, 1, "y") {
            inbox.take(&part, &mut out);
        }
        assert_eq!(out, [(0, 1, Message::Line("y".into()))]);
        let (client, why) = inbox.unreadable.pop().unwrap();
        assert!(
            client == 0 && why.contains("message 0 can't be read"),
            "{why}"
        );
    }
}
