//! Keys that are one terminal's own.

/// The part of a range of keys that no other terminal chooses: every so many-th key. Neighbours belong to
/// different terminals, so that the choice keeps its shape and what it touches of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyShare {
    number: u64,
    of: u64,
    keys: u64,
}

impl KeyShare {
    /// The `number`-th of so many terminals' part of keys `0..keys`.
    pub fn new(number: usize, terminals: usize, keys: u64) -> Self {
        let of = (terminals as u64).max(1);
        Self {
            number: number as u64 % of,
            of,
            keys,
        }
    }

    /// The same part of a range of another length.
    pub fn over(self, keys: u64) -> Self {
        Self { keys, ..self }
    }

    /// The terminal's own key nearest to one that was drawn. Where there are fewer keys than terminals,
    /// some terminals have one in common.
    pub fn own(self, drawn: u64) -> u64 {
        let own = drawn - drawn % self.of + self.number;
        match own < self.keys {
            true => own,
            false if own >= self.of => own - self.of,
            false => drawn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KeyShare;

    #[test]
    fn every_key_belongs_to_one_terminal() {
        for keys in [8u64, 9, 15, 100] {
            let mut owners = vec![None; keys as usize];
            for number in 0..8 {
                for drawn in 0..keys {
                    let key = KeyShare::new(number, 8, keys).own(drawn) as usize;
                    assert_eq!(*owners[key].get_or_insert(number), number, "{keys}: {key}");
                }
            }
            assert!(owners.iter().all(Option::is_some), "{keys}");
        }
        // Too few keys: all are in the range.
        assert!((0..8).all(|number| KeyShare::new(number, 8, 3).own(2) < 3));
        assert_eq!(KeyShare::new(0, 1, 5).own(4), 4);
        assert_eq!(KeyShare::new(3, 4, 4).over(8).own(6), 7);
    }
}
