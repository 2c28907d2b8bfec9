//! Arrivals to come that free sessions await.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So late, an arrival that a session awaits is begun by a session of another executor, where that
/// one is awake: it costs less than the wait for a thread that the host, or a hypervisor below it, has
/// not let run. A thread in time wakes some tens of microseconds after its timer.
pub(super) const LATE: Duration = Duration::from_micros(50);

/// An arrival that a session awaits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub due: Instant,
    number: u64,
}

/// Arrivals in the order of their times, from the first that is still awaited.
#[derive(Debug, Default)]
pub(super) struct Awaited {
    places: VecDeque<Upcoming>,
    /// Arrivals that were ever awaited.
    numbered: u64,
    /// Those among the places that no session awaits any more.
    given_back: usize,
}

#[derive(Debug)]
struct Upcoming {
    number: u64,
    due: Instant,
    state: ArrivalState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrivalState {
    /// A session of this executor awaits it.
    Awaited(usize),
    /// Its session was called to something more urgent.
    GivenBack,
    Begun,
}

impl Upcoming {
    /// Whether a session of `executor` may take it over.
    fn is_for(&self, executor: usize, now: Instant) -> bool {
        match self.state {
            ArrivalState::Awaited(by) => by != executor && self.due + LATE <= now,
            ArrivalState::GivenBack => true,
            ArrivalState::Begun => false,
        }
    }
}

impl Awaited {
    /// A session of `executor` awaits an arrival, later than all before.
    pub fn wait(&mut self, due: Instant, executor: usize) -> Arrival {
        let number = self.numbered;
        self.numbered += 1;
        self.places.push_back(Upcoming {
            number,
            due,
            state: ArrivalState::Awaited(executor),
        });
        Arrival { due, number }
    }

    /// When the first that is still to begin is so late that others may begin it.
    pub fn first_late_at(&self) -> Option<Instant> {
        self.places.front().map(|place| place.due + LATE)
    }

    fn find(&self, arrival: &Arrival) -> Option<usize> {
        let found = self
            .places
            .binary_search_by_key(&arrival.number, |p| p.number);
        // What another took over has begun.
        found
            .ok()
            .filter(|at| matches!(self.places[*at].state, ArrivalState::Awaited(_)))
    }

    /// Whether its session still is the one to begin it.
    pub fn is_awaited(&self, arrival: &Arrival) -> bool {
        self.find(arrival).is_some()
    }

    /// Its session begins it; false when it is no longer the one.
    pub fn begin(&mut self, arrival: &Arrival) -> bool {
        let found = self.find(arrival);
        if let Some(at) = found {
            self.places[at].state = ArrivalState::Begun;
            self.drop_begun();
        }
        found.is_some()
    }

    /// Its session does something more urgent first.
    pub fn give_back(&mut self, arrival: &Arrival) {
        if let Some(at) = self.find(arrival) {
            self.places[at].state = ArrivalState::GivenBack;
            self.given_back += 1;
        }
    }

    /// The first that a session of `executor` may take over: what was given back, and what is late
    /// with another executor. One that is due begins.
    pub fn take_over(&mut self, executor: usize, now: Instant) -> Option<Arrival> {
        let at = self.first_for(executor, now)?;
        let place = &mut self.places[at];
        if place.state == ArrivalState::GivenBack {
            self.given_back -= 1;
        }
        place.state = if place.due <= now {
            ArrivalState::Begun
        } else {
            ArrivalState::Awaited(executor)
        };
        let arrival = Arrival {
            due: place.due,
            number: place.number,
        };
        self.drop_begun();
        Some(arrival)
    }

    /// Whether an arrival that has come due could be taken over.
    pub fn is_any_late(&self, executor: usize, now: Instant) -> bool {
        self.first_for(executor, now)
            .is_some_and(|at| self.places[at].due <= now)
    }

    fn first_for(&self, executor: usize, now: Instant) -> Option<usize> {
        let may_be = |place: &&Upcoming| place.due <= now || self.given_back > 0;
        let looked_at = self.places.iter().take_while(may_be).enumerate();
        let mut found = looked_at.filter(|(_, place)| place.is_for(executor, now));
        found.next().map(|(at, _)| at)
    }

    /// Arrivals that have come due and that no session awaits any more.
    pub fn left(&self, now: Instant) -> u64 {
        if self.given_back == 0 {
            return 0;
        }
        let due = self.places.iter().take_while(|place| place.due <= now);
        due.filter(|place| place.state == ArrivalState::GivenBack)
            .count() as u64
    }

    /// Arrivals after `at` will never come.
    pub fn end(&mut self, at: Instant) {
        while let Some(place) = self.places.pop_back_if(|place| place.due > at) {
            self.given_back -= usize::from(place.state == ArrivalState::GivenBack);
        }
    }

    /// What no session awaits any more is forgotten.
    pub fn forget_left(&mut self) {
        self.places
            .retain(|place| matches!(place.state, ArrivalState::Awaited(_)));
        self.given_back = 0;
    }

    fn drop_begun(&mut self) {
        while self
            .places
            .pop_front_if(|p| p.state == ArrivalState::Begun)
            .is_some()
        {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn what_is_late_is_taken_over_by_another_executor_and_begun_once() {
        let start = Instant::now();
        let mut awaited = Awaited::default();
        let held: Vec<_> = (1..=4)
            .map(|n| awaited.wait(start + n * MS, n as usize % 2))
            .collect();
        // In time, each is its session's own.
        assert_eq!(awaited.take_over(0, start + MS), None);
        assert!(awaited.begin(&held[0]) && !awaited.begin(&held[0]));
        // Executor 0 is late for the second, which is not its own sessions' to take over.
        let late = start + 2 * MS + LATE;
        assert!(!awaited.is_any_late(0, late) && awaited.is_any_late(1, late));
        assert_eq!(awaited.take_over(0, late), None);
        assert_eq!(awaited.take_over(1, late), Some(held[1]));
        assert!(!awaited.is_awaited(&held[1]) && !awaited.begin(&held[1]));
        assert_eq!(awaited.take_over(1, late), None);
        assert!(awaited.begin(&held[3]) && awaited.begin(&held[2]));
        assert!(awaited.places.is_empty());
    }

    #[test]
    fn what_was_given_back_is_awaited_by_the_next_or_left() {
        let start = Instant::now();
        let mut awaited = Awaited::default();
        let held: Vec<_> = (1..=3).map(|n| awaited.wait(start + n * MS, 0)).collect();
        awaited.give_back(&held[1]);
        assert_eq!(
            (awaited.left(start + MS), awaited.left(start + 2 * MS)),
            (0, 1)
        );
        // To come, it is awaited again; what is due begins.
        assert_eq!(awaited.take_over(0, start), Some(held[1]));
        assert!(awaited.is_awaited(&held[1]) && awaited.take_over(0, start).is_none());
        awaited.give_back(&held[1]);
        assert!(awaited.is_any_late(0, start + 2 * MS));
        assert_eq!(awaited.take_over(0, start + 2 * MS), Some(held[1]));
        assert!(!awaited.is_awaited(&held[1]) && awaited.left(start + 3 * MS) == 0);
        awaited.give_back(&held[2]);
        awaited.forget_left();
        assert!(awaited.left(start + 3 * MS) == 0 && awaited.is_awaited(&held[0]));
    }

    #[test]
    fn what_will_never_come_is_nobodys() {
        let start = Instant::now();
        let mut awaited = Awaited::default();
        let held: Vec<_> = (1..=3).map(|n| awaited.wait(start + n * MS, 0)).collect();
        awaited.give_back(&held[2]);
        awaited.end(start + 2 * MS);
        assert!(awaited.is_awaited(&held[1]) && awaited.take_over(1, start).is_none());
        awaited.end(start + MS);
        assert!(!awaited.begin(&held[1]) && awaited.begin(&held[0]));
        // A number is never used twice.
        let next = awaited.wait(start + 9 * MS, 0);
        assert!(!awaited.is_awaited(&held[1]) && awaited.is_awaited(&next));
    }
}
