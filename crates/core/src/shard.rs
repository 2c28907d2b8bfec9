//! One client's share of a run that several clients make together.
//!
//! Everything that a run hands out by number (sessions, terminals, transactions, arrivals, records to
//! insert, streams) is dealt like cards: client `i` of `n` has the numbers `i`, `i + n`, `i + 2n`, …
//! Whatever is drawn at random depends on the number in the whole run, so that the clients together do
//! what one would do, and none draws what another does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// More clients than this are a slip of the pen.
pub const MOST_CLIENTS: u32 = 10_000;

/// Which of so many clients a process is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// This client's number, from 0.
    pub index: u32,
    /// How many clients there are.
    pub of: u32,
}

/// Why something is no shard of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// Not two numbers.
    #[error("{0:?} is no shard: must be a client's number and how many there are, as 1/3")]
    Malformed(String),
    /// A client that is none of them.
    #[error(
        "client {number} of {of}: clients are numbered 1 to {of}, and there are at most \
         {MOST_CLIENTS}; for example 1/3"
    )]
    Range {
        /// Its number, from 1.
        number: u64,
        /// How many there are said to be.
        of: u64,
    },
    /// Some client would have nothing to do.
    #[error(
        "{of} clients can't share {sessions} sessions: each needs one; use at most {sessions} clients"
    )]
    TooFew {
        /// Clients.
        of: u32,
        /// Sessions, or terminals where there are fewer.
        sessions: usize,
    },
}

impl Default for Shard {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl Shard {
    /// The only client there is.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Client `index`, from 0, of so many.
    ///
    /// # Errors
    /// [`ShardError::Range`].
    pub fn new(index: u32, of: u32) -> Result<Self, ShardError> {
        let shard = Self { index, of };
        shard.check().map(|()| shard)
    }

    /// Whether there is such a client: what was read may be anything.
    ///
    /// # Errors
    /// [`ShardError::Range`].
    pub fn check(self) -> Result<(), ShardError> {
        match self.index < self.of && self.of <= MOST_CLIENTS {
            true => Ok(()),
            false => Err(ShardError::Range {
                number: u64::from(self.index) + 1,
                of: self.of.into(),
            }),
        }
    }

    /// Whether one client does all.
    pub fn is_whole(self) -> bool {
        self.of <= 1
    }

    /// How many of the numbers `0..total` are its own.
    pub fn count(self, total: u64) -> u64 {
        let (index, of) = (u64::from(self.index), u64::from(self.of.max(1)));
        total.saturating_sub(index).div_ceil(of)
    }

    /// As [`Shard::count`].
    pub fn count_usize(self, total: usize) -> usize {
        // No more than the total.
        usize::try_from(self.count(total as u64)).unwrap_or(total)
    }

    /// The number in the whole run of its `local`-th.
    pub fn global(self, local: u64) -> u64 {
        let (index, of) = (u64::from(self.index), u64::from(self.of.max(1)));
        local.saturating_mul(of).saturating_add(index)
    }

    /// As [`Shard::global`].
    pub fn global_usize(self, local: usize) -> usize {
        usize::try_from(self.global(local as u64)).unwrap_or(usize::MAX)
    }

    /// Whether a number of the whole run is its own.
    pub fn is_own(self, number: u64) -> bool {
        number % u64::from(self.of.max(1)) == u64::from(self.index)
    }

    /// Its part of a rate of the whole run.
    pub fn of_rate(self, per_second: f64) -> f64 {
        per_second / f64::from(self.of.max(1))
    }
}

/// As `1/3`: the first of three.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", u64::from(self.index) + 1, self.of)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || ShardError::Malformed(text.into());
        let (number, of) = text.split_once('/').ok_or_else(malformed)?;
        let read = |part: &str| part.trim().parse::<u64>().map_err(|_| malformed());
        let (number, of) = (read(number)?, read(of)?);
        let range = || ShardError::Range { number, of };
        let index = number.checked_sub(1).ok_or_else(range)?;
        let index = u32::try_from(index).map_err(|_| range())?;
        Self::new(index, u32::try_from(of).map_err(|_| range())?).map_err(|_| range())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_shard_is_written_as_people_count() {
        assert_eq!("1/3".parse(), Ok(Shard { index: 0, of: 3 }));
        assert_eq!(" 3 / 3".parse(), Ok(Shard { index: 2, of: 3 }));
        for (text, said) in [
            ("3", "as 1/3"),
            ("a/3", "as 1/3"),
            ("-1/3", "as 1/3"),
            ("0/3", "client 0 of 3"),
            ("4/3", "client 4 of 3"),
            ("1/0", "client 1 of 0"),
            ("1/99999", "at most 10000"),
            ("1/99999999999", "client 1 of 99999999999"),
        ] {
            let error = text.parse::<Shard>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn every_client_needs_a_session() {
        let mut spec = crate::RunSpec {
            sessions: 2,
            terminals: 9,
            shard: Shard { index: 0, of: 3 },
            ..crate::RunSpec::default()
        };
        let error = spec.check_shard().unwrap_err().to_string();
        assert!(
            error.contains("3 clients can't share 2 sessions"),
            "{error}"
        );
        spec.sessions = 3;
        assert_eq!(spec.check_shard(), Ok(()));
        spec.shard.index = 3;
        assert!(spec.check_shard().is_err());
    }

    proptest! {
        #[test]
        fn shards_are_read_as_they_are_shown(of in 1u32..=MOST_CLIENTS, index in 0u32..MOST_CLIENTS) {
            let shard = Shard { index: index % of, of };
            prop_assert_eq!(shard.to_string().parse(), Ok(shard));
        }

        #[test]
        fn each_number_is_one_clients(total in 0u64..500, of in 1u32..40) {
            let shards = || (0..of).map(|index| Shard { index, of });
            let mut dealt: Vec<u64> = shards()
                .flat_map(|shard| (0..shard.count(total)).map(move |local| shard.global(local)))
                .collect();
            dealt.sort_unstable();
            prop_assert_eq!(dealt, (0..total).collect::<Vec<_>>());
            for number in 0..total {
                prop_assert_eq!(shards().filter(|shard| shard.is_own(number)).count(), 1);
            }
        }

        #[test]
        fn what_clients_do_is_what_one_would(
            (of, sessions, more, events) in (1u32..20).prop_flat_map(|of| {
                (Just(of), of as usize..200, 0usize..300, 0u64..1000)
            }),
        ) {
            let whole = crate::RunSpec {
                sessions,
                terminals: sessions + more,
                events: Some(events),
                ..crate::RunSpec::default()
            };
            let each: Vec<_> = (0..of)
                .map(|index| crate::RunSpec { shard: Shard { index, of }, ..whole.clone() }.own())
                .collect();
            prop_assert_eq!(each.iter().map(|s| s.sessions).sum::<usize>(), whole.sessions);
            prop_assert_eq!(each.iter().map(|s| s.terminals).sum::<usize>(), whole.terminals);
            prop_assert_eq!(each.iter().filter_map(|s| s.events).sum::<u64>(), events);
            prop_assert!(each.iter().all(|s| s.sessions > 0 && s.terminals >= s.sessions));
        }
    }
}
