//! Statements that are sent with the next one: what the protocols have in common.

/// Most statements that wait for the next one, whatever the server. An order of TPC-C has fifteen
/// lines at most.
pub const MOST_AHEAD: usize = 16;

/// What came of the statements that went ahead of one, in their order; of so many at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WentAhead<const MOST: usize> {
    /// How many are not answered yet.
    pub awaited: u8,
    done: u8,
    changed: [u16; MOST],
}

impl<const MOST: usize> WentAhead<MOST> {
    pub fn new(awaited: u8) -> Self {
        Self {
            awaited,
            done: 0,
            changed: [0; MOST],
        }
    }

    /// The next one is done, and changed so many rows.
    pub fn complete(&mut self, changed: u64) {
        if let Some(place) = self.changed.get_mut(usize::from(self.done)) {
            *place = u16::try_from(changed).unwrap_or(u16::MAX);
            self.done += 1;
        }
        self.awaited = self.awaited.saturating_sub(1);
    }

    /// The rows that each changed which was done.
    pub fn changed(&self) -> &[u16] {
        self.changed
            .get(..usize::from(self.done))
            .unwrap_or_default()
    }
}

impl<const MOST: usize> Default for WentAhead<MOST> {
    fn default() -> Self {
        Self::new(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_in_the_order_of_the_statements() {
        let mut went = WentAhead::<MOST_AHEAD>::new(MOST_AHEAD as u8);
        for changed in [0, 1, 70_000, 15] {
            went.complete(changed);
        }
        assert_eq!(went.changed(), [0, 1, u16::MAX, 15]);
        assert_eq!(usize::from(went.awaited), MOST_AHEAD - 4);
        for _ in 4..MOST_AHEAD {
            went.complete(2);
        }
        assert_eq!(went.awaited, 0);
        // A server that answers more than it was asked.
        went.complete(1);
        assert_eq!(went.changed().len(), MOST_AHEAD);
    }
}
