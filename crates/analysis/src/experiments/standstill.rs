//! Standstills: how much of the time no transaction ends though many are due.

use super::thresholds::{STILL_A_SESSION, STILL_EXPECTED};

/// What ended in intervals of one length, over runs of the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Intervals in which no transaction ended.
    still: u64,
    /// Intervals in which some did.
    alive: u64,
    /// Transactions that ended in those.
    ended: u64,
}

impl Progress {
    /// Adds an interval in which so many transactions ended.
    pub fn add(&mut self, ended: u64) {
        match ended {
            0 => self.still += 1,
            _ => self.alive += 1,
        }
        self.ended = self.ended.saturating_add(ended);
    }

    /// The share of the time in which none ended; `None` where so few end in the other intervals, by so many
    /// sessions, that an empty one may be chance.
    pub fn share_still(&self, sessions: usize) -> Option<f64> {
        let usual = self.ended as f64 / self.alive as f64;
        let all = self.still + self.alive;
        let least = STILL_EXPECTED.max(STILL_A_SESSION * sessions as f64);
        (usual >= least).then(|| self.still as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(intervals: &[u64]) -> Option<f64> {
        let mut progress = Progress::default();
        intervals.iter().for_each(|ended| progress.add(*ended));
        progress.share_still(8)
    }

    #[test]
    fn a_standstill_is_an_empty_interval_among_full_ones() {
        assert_eq!(of(&[9_000, 0, 0, 8_500]), Some(0.5));
        assert_eq!(of(&[9_000, 8_500]), Some(0.0));
        // Slow transactions end now and then.
        assert_eq!(of(&[3, 0, 1, 0]), None);
        // Eight sessions in step, each with a transaction now and then.
        assert_eq!(of(&[8, 0, 0, 8, 0, 0]), None);
        assert_eq!(of(&[32, 0, 0, 32, 0, 0]), None);
        assert_eq!(of(&[0, 0]), None);
        assert_eq!(of(&[]), None);
    }
}
