//! Walking over the arrivals of rates that follow each other, by the seed.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::time::{Duration, Instant};
use tidemark_core::{Arrivals as Process, Shard};
use tidemark_workloads::random::Rng;

/// How arrivals are made, and which of them are this client's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose {
    pub process: Process,
    pub seed: u64,
    pub shard: Shard,
}

impl Whose {
    /// Whether the arrival of this number in a phase of the whole schedule is this client's. Of equal
    /// distances each takes every n-th, and has equal distances too. A Poisson process of which every
    /// arrival goes to somebody by chance falls into Poisson processes that are independent of each
    /// other (Kingman, "Poisson Processes", 1993, colouring theorem); every n-th would be too regular.
    fn is_own(self, phase: usize, number: u64) -> bool {
        if self.shard.is_whole() {
            return true;
        }
        match self.process {
            Process::Constant => self.shard.is_own(number),
            Process::Poisson => {
                let path = [self.seed, COLOUR, phase as u64, number];
                Rng::of(&path).below(self.shard.of.into()) == u64::from(self.shard.index)
            }
        }
    }
}

/// Tells the clients' draw from every other that the seed makes.
const COLOUR: u64 = 0x636c_6965_6e74_7321;

/// A rate that is held.
#[derive(Debug, Clone, Copy)]
pub(super) struct RatePhase {
    pub start: Instant,
    /// `None` while it is the last.
    pub end: Option<Instant>,
    pub mean_gap_s: f64,
}

/// Walks over the arrivals of all phases.
pub(super) struct Cursor {
    phase: usize,
    random: SmallRng,
    /// The next arrival of the phase; `None` before the phase is entered.
    next: Option<Instant>,
    /// Arrivals of the whole schedule that the phase had before `next`.
    before: u64,
    /// Own arrivals passed.
    pub count: u64,
}

impl Cursor {
    pub fn new() -> Self {
        Self {
            phase: 0,
            random: SmallRng::seed_from_u64(0),
            next: None,
            before: 0,
            count: 0,
        }
    }

    pub fn go_to(&mut self, phase: usize) {
        self.phase = phase;
        self.next = None;
        self.before = 0;
    }

    /// The next own arrival, in the phase that holds then.
    pub fn peek(&mut self, phases: &[RatePhase], of: Whose) -> Option<Instant> {
        loop {
            let phase = phases.get(self.phase)?;
            let next = match self.next {
                Some(next) => next,
                None => {
                    self.random = SmallRng::seed_from_u64(of.seed.wrapping_add(self.phase as u64));
                    phase.start + gap(&mut self.random, of.process, phase.mean_gap_s)
                }
            };
            if phase.end.is_some_and(|end| next > end) {
                self.go_to(self.phase + 1);
                continue;
            }
            self.next = Some(next);
            if of.is_own(self.phase, self.before) {
                return Some(next);
            }
            self.advance(phase, of);
        }
    }

    /// Goes past the arrival that [`Cursor::peek`] gave.
    pub fn pass(&mut self, phases: &[RatePhase], of: Whose) {
        if let Some(phase) = phases.get(self.phase)
            && self.next.is_some()
        {
            self.advance(phase, of);
            self.count += 1;
        }
    }

    /// To the next arrival of the whole schedule.
    fn advance(&mut self, phase: &RatePhase, of: Whose) {
        if let Some(next) = self.next {
            self.next = Some(next + gap(&mut self.random, of.process, phase.mean_gap_s));
            self.before += 1;
        }
    }
}

fn gap(random: &mut SmallRng, process: Process, mean_s: f64) -> Duration {
    Duration::from_secs_f64(match process {
        Process::Constant => mean_s,
        // 1 - u lies in (0, 1], where the logarithm is finite.
        Process::Poisson => -(1.0 - random.random::<f64>()).ln() * mean_s,
    })
}
