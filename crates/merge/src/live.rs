//! Intervals of several clients, merged while the run goes on.

use crate::progress::ClientProgress;
use crate::{MergeError, interval};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tidemark_core::record::{ErrorCount, Interval};

/// One interval of one client, as it came: perhaps late, perhaps twice.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The client's number, from 0.
    pub client: u32,
    /// Which of its lives it is: it grows each time the client begins anew.
    pub epoch: u32,
    /// The interval's number in this life, from 0, without gaps.
    pub number: u64,
    /// What happened in it.
    pub interval: Interval,
    /// Errors counted in it.
    pub errors: Vec<ErrorCount>,
}

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It counts.
    Counted,
    /// It counted before.
    Duplicate,
    /// It is of a life that is over by decision.
    Fenced,
    /// There is no such client.
    UnknownClient,
}

/// What all have told.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    /// Intervals in order.
    pub intervals: Vec<Interval>,
    /// Each client's part, by number.
    pub parts: Vec<ClientProgress>,
}

/// Merges intervals while the run goes on. It keeps those that are not complete yet, the sums of those
/// that are, and of each client a sum.
#[derive(Debug)]
pub struct Live {
    asked_ms: f64,
    clients: Vec<Client>,
    /// Not merged yet, by time.
    window: BTreeMap<Place, Interval>,
    sealed: Vec<Interval>,
    /// How many of these were handed out.
    told: usize,
}

#[derive(Debug, Default)]
struct Client {
    lives: BTreeMap<u32, Life>,
    /// No later delivery of this life, or of an earlier one, counts.
    fenced: Option<u32>,
    is_lost: bool,
    /// Up to where it has told everything, in milliseconds from the start of the measurement.
    told_until_ms: Option<i64>,
    progress: ClientProgress,
}

/// What came of one life.
#[derive(Debug, Default)]
struct Life {
    /// All numbers before it came.
    next: u64,
    /// Numbers beyond it that came, with the ends of their intervals.
    early: BTreeMap<u64, i64>,
}

impl Life {
    /// Takes a number; `None` if it came before, else the end of the last interval before which none is
    /// missing, if there is a new one.
    fn take(&mut self, number: u64, end_ms: i64) -> Option<Option<i64>> {
        if number < self.next || self.early.insert(number, end_ms).is_some() {
            return None;
        }
        let mut until = None;
        while let Some(end) = self.early.remove(&self.next) {
            self.next += 1;
            until = Some(end);
        }
        Some(until)
    }
}

/// Where an interval stands: its start, then its client, its life and its number.
type Place = (i64, u32, u32, u64);

impl Live {
    /// For so many clients, and intervals of this length.
    pub fn new(clients: u32, interval: Duration) -> Self {
        let clients = (0..clients).map(|_| Client::default());
        Self {
            asked_ms: (interval.as_secs_f64() * 1000.0).max(1.0),
            clients: clients.collect(),
            window: BTreeMap::new(),
            sealed: Vec::new(),
            told: 0,
        }
    }

    fn client(&mut self, number: u32) -> Option<&mut Client> {
        self.clients.get_mut(usize::try_from(number).ok()?)
    }

    /// Intervals that begin no further from each other are of the same time.
    fn tolerance_ms(&self) -> i64 {
        (self.asked_ms / 4.0) as i64
    }

    /// Takes a delivery, in any order; each (client, epoch, number) counts once.
    ///
    /// # Errors
    /// [`MergeError::Histogram`] of an interval that can't be read.
    pub fn take(&mut self, delivery: Delivery) -> Result<Taken, MergeError> {
        let asked_ms = self.asked_ms;
        let Delivery {
            client,
            epoch,
            number,
            interval,
            errors,
        } = delivery;
        let Some(who) = self.client(client) else {
            return Ok(Taken::UnknownClient);
        };
        let end_ms = interval.start_ms + interval.length_ms.round() as i64;
        let life = who.lives.entry(epoch).or_default();
        if number < life.next || life.early.contains_key(&number) {
            return Ok(Taken::Duplicate);
        }
        if who.fenced.is_some_and(|fenced| epoch <= fenced) {
            return Ok(Taken::Fenced);
        }
        who.progress.add(&interval, &errors, asked_ms)?;
        if let Some(Some(until)) = life.take(number, end_ms) {
            who.told_until_ms = Some(who.told_until_ms.map_or(until, |told| told.max(until)));
        }
        let place = (interval.start_ms, client, epoch, number);
        self.window.insert(place, interval);
        Ok(Taken::Counted)
    }

    /// No more deliveries of a client's life, or of an earlier one, count.
    pub fn fence(&mut self, client: u32, epoch: u32) {
        if let Some(who) = self.client(client) {
            who.fenced = Some(who.fenced.map_or(epoch, |fenced| fenced.max(epoch)));
        }
    }

    /// Nobody waits for a client's intervals any more. What still comes counts.
    pub fn lost(&mut self, client: u32) {
        if let Some(who) = self.client(client) {
            who.is_lost = true;
        }
    }

    /// It is there again.
    pub fn back(&mut self, client: u32) {
        if let Some(who) = self.client(client) {
            who.is_lost = false;
        }
    }

    /// Merged intervals that are complete since the last call, in order: all that live have told them, or
    /// later ones. Those that began before `deadline_ms` are given without clients that lag; what these
    /// tell later is added to them in [`Live::finish`].
    ///
    /// # Errors
    /// [`MergeError::Histogram`].
    pub fn sealed(&mut self, deadline_ms: Option<i64>) -> Result<Vec<Interval>, MergeError> {
        while let Some(group) = self.first_group() {
            let start_ms = group.first().map_or(0, |place| place.0);
            let overdue = deadline_ms.is_some_and(|deadline| start_ms < deadline);
            if !overdue && !self.is_complete(&group, start_ms) {
                break;
            }
            self.seal(group)?;
        }
        let new = self.sealed.get(self.told..).unwrap_or_default().to_vec();
        self.told = self.sealed.len();
        Ok(new)
    }

    /// Everything that was told.
    ///
    /// # Errors
    /// [`MergeError::Histogram`].
    pub fn finish(mut self) -> Result<Merged, MergeError> {
        while let Some(group) = self.first_group() {
            self.seal(group)?;
        }
        for client in &mut self.clients {
            client.progress.settle()?;
        }
        self.sealed.sort_by_key(|interval| interval.start_ms);
        Ok(Merged {
            intervals: self.sealed,
            parts: self.clients.into_iter().map(|c| c.progress).collect(),
        })
    }

    /// The earliest intervals in the window that are of the same time, one a client.
    fn first_group(&self) -> Option<Vec<Place>> {
        let ((start_ms, ..), first) = self.window.first_key_value()?;
        let until = start_ms + self.tolerance_ms();
        let mut clients = BTreeSet::new();
        let near = self
            .window
            .iter()
            .take_while(|((start, ..), _)| *start <= until);
        let group = near.filter(|((_, client, ..), interval)| {
            interval.phase == first.phase && clients.insert(*client)
        });
        Some(group.map(|(place, _)| *place).collect())
    }

    /// Whether everyone who lives has told all up to that time: its interval in the group, or a later one.
    fn is_complete(&self, group: &[Place], start_ms: i64) -> bool {
        let until = start_ms + self.tolerance_ms();
        let end_in_group = |number: usize| {
            let place = group.iter().find(|place| place.1 as usize == number)?;
            let interval = self.window.get(place)?;
            Some(interval.start_ms + interval.length_ms.round() as i64)
        };
        self.clients.iter().enumerate().all(|(number, client)| {
            client.is_lost
                || client.told_until_ms.is_some_and(|told| {
                    told > until || end_in_group(number).is_some_and(|end| told >= end)
                })
        })
    }

    fn seal(&mut self, mut group: Vec<Place>) -> Result<(), MergeError> {
        group.sort_unstable_by_key(|place| place.1);
        let each: Vec<Interval> = group
            .iter()
            .filter_map(|place| self.window.remove(place))
            .collect();
        let intervals: Vec<&Interval> = each.iter().collect();
        let merged = interval(&intervals)?;
        match self.already(&merged) {
            // It came after others of its time were given: counts are added, the time is known.
            Some(at) => {
                if let Some(there) = self.sealed.get_mut(at) {
                    let (start_ms, length_ms) = (there.start_ms, there.length_ms);
                    *there = Interval {
                        start_ms,
                        length_ms,
                        ..interval(&[&*there, &merged])?
                    };
                }
            }
            None => self.sealed.push(merged),
        }
        Ok(())
    }

    /// The interval of the same time that was given already.
    fn already(&self, late: &Interval) -> Option<usize> {
        let tolerance = self.tolerance_ms();
        let is_same = |there: &Interval| {
            there.phase == late.phase && (there.start_ms - late.start_ms).abs() <= tolerance
        };
        let given = self.sealed.get(..self.told).unwrap_or_default();
        // In time, it is after all of them.
        let last = given.last()?;
        match late.start_ms > last.start_ms + tolerance {
            true => None,
            false => given.iter().rposition(is_same),
        }
    }

    /// What one client has told so far.
    pub fn progress(&self, client: u32) -> Option<&ClientProgress> {
        let client = self.clients.get(usize::try_from(client).ok()?)?;
        Some(&client.progress)
    }

    /// Up to where a client has told everything, in milliseconds from the start of the measurement.
    pub fn told_until_ms(&self, client: u32) -> Option<i64> {
        let client = self.clients.get(usize::try_from(client).ok()?)?;
        client.told_until_ms
    }
}
