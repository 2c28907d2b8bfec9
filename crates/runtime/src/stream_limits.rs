//! What a stream adds to its peer's own time: an injected distance, and a limit on waiting.

use crate::reactor::{Reactor, TaskId};
use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Whose turn it is on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nothing was sent or received.
    Fresh,
    /// Bytes were sent: more of them travel together with these.
    Sent,
    /// Bytes came: what is sent next begins a round trip.
    Received,
}

/// A stream's injected distance and time limit; a stream without either has none of this.
#[derive(Debug)]
pub(crate) struct Terms {
    rtt: Duration,
    turn: Turn,
    /// When what travels arrives.
    arrival: Option<Instant>,
    /// How long an exchange may take.
    limit: Option<Duration>,
    /// When the exchange that goes on must be over.
    deadline: Option<Instant>,
    /// The timer that is set, and for whom. It is left to go off when an exchange ends, and set
    /// again for the deadline of the one that then goes on: one timer a session, not one a
    /// statement.
    armed: Option<(Instant, TaskId)>,
    overdue: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            rtt: Duration::ZERO,
            turn: Turn::Fresh,
            arrival: None,
            limit: None,
            deadline: None,
            armed: None,
            overdue: false,
        }
    }
}

impl Terms {
    pub fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    pub fn has_distance(&self) -> bool {
        !self.rtt.is_zero()
    }

    pub fn set_limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
    }

    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Bytes are about to be sent: the whole round trip is waited for here, once until the peer
    /// speaks. What waits is kept here and not in the task: sessions that have no distance have no
    /// room for it.
    pub fn travel_out(&mut self, reactor: &Reactor) -> Poll<()> {
        let begins = std::mem::replace(&mut self.turn, Turn::Sent) != Turn::Sent;
        self.travel(begins, reactor)
    }

    /// Bytes are about to be received: a round trip, when the peer speaks first.
    pub fn travel_in(&mut self, reactor: &Reactor) -> Poll<()> {
        let begins = self.turn == Turn::Fresh;
        if begins {
            self.turn = Turn::Sent;
        }
        self.travel(begins, reactor)
    }

    fn travel(&mut self, begins: bool, reactor: &Reactor) -> Poll<()> {
        if begins && !self.rtt.is_zero() {
            let arrival = Instant::now() + self.rtt;
            self.arrival = Some(arrival);
            reactor.wake_at(arrival);
            return Poll::Pending;
        }
        match self.arrival {
            Some(arrival) if Instant::now() < arrival => Poll::Pending,
            _ => {
                self.arrival = None;
                Poll::Ready(())
            }
        }
    }

    pub fn received(&mut self) {
        self.turn = Turn::Received;
    }

    pub fn begin_exchange(&mut self, reactor: &Reactor) {
        self.deadline = self.limit.map(|limit| reactor.now() + limit);
    }

    pub fn end_exchange(&mut self) {
        self.deadline = None;
    }

    pub fn is_overdue(&self) -> bool {
        self.overdue
    }

    /// What a task that finds its socket not ready does: wait, unless the time is over.
    pub fn wait(&mut self, reactor: &Reactor) -> Poll<io::Result<()>> {
        let Some(deadline) = self.deadline else {
            return Poll::Pending;
        };
        let now = reactor.now();
        if now >= deadline {
            self.overdue = true;
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let task = reactor.current.get();
        let is_armed = self
            .armed
            .is_some_and(|(at, for_whom)| at > now && for_whom == task);
        if !is_armed {
            self.armed = Some((deadline, task));
            reactor.wake_at(deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(5);

    /// Whether there was a wait, and it is over now.
    fn travelled(
        terms: &mut Terms,
        reactor: &Reactor,
        travel: fn(&mut Terms, &Reactor) -> Poll<()>,
    ) -> bool {
        let waits = travel(terms, reactor).is_pending();
        if waits {
            std::thread::sleep(RTT);
            assert!(travel(terms, reactor).is_ready());
        }
        waits
    }

    #[test]
    fn a_round_trip_begins_where_the_turn_changes() {
        let reactor = Reactor::new().unwrap();
        let mut terms = Terms::default();
        terms.set_rtt(RTT);
        // The server greets first.
        assert!(travelled(&mut terms, &reactor, Terms::travel_in));
        terms.received();
        assert!(!travelled(&mut terms, &reactor, Terms::travel_in));
        assert!(travelled(&mut terms, &reactor, Terms::travel_out));
        assert!(!travelled(&mut terms, &reactor, Terms::travel_out));
        assert!(!travelled(&mut terms, &reactor, Terms::travel_in));
        terms.received();
        assert!(travelled(&mut terms, &reactor, Terms::travel_out));
        // The client speaks first.
        let mut terms = Terms::default();
        terms.set_rtt(RTT);
        assert!(travelled(&mut terms, &reactor, Terms::travel_out));
        assert!(!travelled(&mut terms, &reactor, Terms::travel_in));
    }

    #[test]
    fn no_distance_is_no_wait() {
        let reactor = Reactor::new().unwrap();
        let mut terms = Terms::default();
        assert!(terms.travel_in(&reactor).is_ready());
        assert!(terms.travel_out(&reactor).is_ready());
    }
}
