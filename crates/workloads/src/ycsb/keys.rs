//! Which record an operation is on.

use super::encoding::scattered;
use super::inserted::Inserted;
use super::settings::{RequestDistribution, Settings};
use super::zipfian::Zipfian;
use crate::random::Rng;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use tidemark_core::Shard;

/// Ranks that YCSB scatters over the records: far more than there are of these, so that a record's
/// share hardly depends on which ranks fall on it.
const RANKS: u64 = 10_000_000_001;

/// Chooses numbers of records that are there.
#[derive(Debug)]
pub(super) struct Keys {
    start: u64,
    count: u64,
    choice: Choice,
    shard: OnceLock<Shard>,
}

#[derive(Debug)]
enum Choice {
    Uniform,
    /// Ranks and the records that they are scattered over, also those that the run may insert.
    Scrambled {
        ranks: Zipfian,
        records: u64,
        /// Whether records that the run inserts follow on those to choose from.
        grows: bool,
    },
    Latest,
    Sequential(AtomicU64),
    Hotspot {
        hot: u64,
        operations: f64,
    },
    /// Mean age of the record chosen.
    Exponential {
        mean: f64,
    },
}

impl Keys {
    /// Choices as the settings ask for them.
    pub fn new(settings: &Settings) -> Self {
        let (start, count) = (settings.insert_start, settings.insert_count);
        let choice = match settings.request {
            RequestDistribution::Uniform => Choice::Uniform,
            // One record more than there are is YCSB's; it is never chosen, and with it the same
            // records are popular as with go-ycsb. (YCSB's own FNV takes the octets of a number in
            // the other order.) Room for more inserts than there are records would be drawn in
            // vain most of the time.
            RequestDistribution::Zipfian => {
                let grows = start + count == settings.record_count;
                let to_come = settings.expected_inserts.min(count);
                Choice::Scrambled {
                    ranks: Zipfian::new(RANKS),
                    records: count + if grows { to_come } else { 0 } + 1,
                    grows,
                }
            }
            RequestDistribution::Latest => Choice::Latest,
            RequestDistribution::Sequential => Choice::Sequential(AtomicU64::new(0)),
            RequestDistribution::Hotspot {
                records,
                operations,
            } => Choice::Hotspot {
                hot: (count as f64 * records) as u64,
                operations,
            },
            RequestDistribution::Exponential {
                percentile,
                records,
            } => Choice::Exponential {
                mean: settings.record_count as f64 * records / -(1.0 - percentile / 100.0).ln(),
            },
        };
        Self {
            start,
            count,
            choice,
            shard: OnceLock::new(),
        }
    }

    /// What is chosen in turn is this client's part of it.
    pub fn deal(&self, shard: Shard) {
        // A process is one client only.
        let _ = self.shard.set(shard);
    }

    /// The number of a record. `ages` is the terminal's own, for distributions that grow with the
    /// table; only records before [`Inserted::end`] are chosen.
    pub fn draw(&self, inserted: &Inserted, ages: &mut Zipfian, rng: &mut Rng) -> u64 {
        let there = inserted.end().saturating_sub(self.start).max(1);
        let drawn = match &self.choice {
            Choice::Uniform => rng.below(self.count),
            Choice::Scrambled {
                ranks,
                records,
                grows,
            } => {
                let there = if *grows { there } else { self.count.max(1) };
                // Records that were inserted beyond those expected are chosen, too: the range
                // doubles, and a part of the popular records are others from then on.
                let mut records = *records;
                while records < there {
                    records *= 2;
                }
                loop {
                    let number = scattered(ranks.draw(rng)) % records;
                    if number < there {
                        break number;
                    }
                }
            }
            Choice::Latest => {
                ages.resize(there);
                there - 1 - ages.draw(rng)
            }
            Choice::Sequential(next) => {
                let shard = self.shard.get().copied().unwrap_or_default();
                shard.global(next.fetch_add(1, Ordering::Relaxed)) % self.count.max(1)
            }
            Choice::Hotspot { hot, operations } => {
                let in_hot = rng.unit() < *operations;
                match (in_hot, *hot) {
                    (true, 1..) => rng.below(*hot),
                    (false, hot) if hot < self.count => hot + rng.below(self.count - hot),
                    _ => rng.below(self.count),
                }
            }
            Choice::Exponential { mean } => loop {
                // 1 - u is never 0.
                let age = (-(1.0 - rng.unit()).ln() * mean) as u64;
                if age < there {
                    break there - 1 - age;
                }
            },
        };
        inserted.own(self.start + drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::super::zipfian::tests::{fits, shares};
    use super::*;

    const DRAWS: u64 = 500_000;

    /// How often each of the records there was chosen.
    fn counts(options: &[(&str, &str)], inserts: u64) -> Vec<u64> {
        let settings = settings(options).unwrap();
        let keys = Keys::new(&settings);
        let inserted = Inserted::new(settings.record_count);
        for _ in 0..inserts {
            inserted.acknowledge(inserted.take());
        }
        let mut rng = Rng::of(&[21]);
        let mut ages = Zipfian::new(1);
        let mut counts = vec![0; (inserted.end() - settings.insert_start) as usize];
        for _ in 0..DRAWS {
            let number = keys.draw(&inserted, &mut ages, &mut rng);
            counts[(number - settings.insert_start) as usize] += 1;
        }
        counts
    }

    const RECORDS: (&str, &str) = ("recordcount", "1000");

    #[test]
    fn uniform_hotspot_and_sequential_choices_are_of_the_range() {
        let uniform = counts(&[RECORDS, ("insertstart", "200")], 0);
        fits(&uniform, &[1.0 / 800.0; 800], "uniform");
        let hotspot = counts(&[RECORDS, ("requestdistribution", "hotspot")], 0);
        let wanted: Vec<f64> = (0..1000)
            .map(|i| if i < 200 { 0.8 / 200.0 } else { 0.2 / 800.0 })
            .collect();
        fits(&hotspot, &wanted, "hotspot");
        let sequential = counts(&[RECORDS, ("requestdistribution", "sequential")], 0);
        assert!(sequential.iter().all(|c| *c == DRAWS / 1000));
        for (name, value) in [("hotspotdatafraction", "0"), ("hotspotdatafraction", "1")] {
            let options = [RECORDS, ("requestdistribution", "hotspot"), (name, value)];
            fits(&counts(&options, 0), &[0.001; 1000], "all hot or none");
        }
    }

    #[test]
    fn the_newest_are_chosen_most_with_latest_also_when_there_are_more() {
        let options = [RECORDS, ("requestdistribution", "latest")];
        for inserts in [0, 1, 500, 3000] {
            let mut wanted = shares(1000 + inserts);
            wanted.reverse();
            fits(&counts(&options, inserts), &wanted, "latest");
        }
    }

    #[test]
    fn exponential_choices_are_as_old_as_asked() {
        let options = [RECORDS, ("requestdistribution", "exponential")];
        for inserts in [0u64, 500] {
            let there = 1000 + inserts as i32;
            let rate = -(0.05f64.ln()) / (1000.0 * 0.857_142_857_1);
            let share = |age: i32| (-rate * f64::from(age)).exp();
            let all = 1.0 - share(there);
            let wanted: Vec<f64> = (0..there)
                .rev()
                .map(|age| (share(age) - share(age + 1)) / all)
                .collect();
            fits(&counts(&options, inserts), &wanted, "exponential");
        }
    }

    /// Each record's share of YCSB's scrambled zipfian: the head of the ranks exactly, the rest
    /// evenly, for it is scattered over the records in ten billion small pieces.
    fn scrambled(records: u64, there: u64) -> Vec<f64> {
        const HEAD: u64 = 2_000_000;
        let mut wanted = vec![0.0; records as usize];
        let mut left = 1.0;
        for (rank, share) in head(HEAD).enumerate() {
            wanted[(scattered(rank as u64) % records) as usize] += share;
            left -= share;
        }
        wanted.iter_mut().for_each(|w| *w += left / records as f64);
        wanted.truncate(there as usize);
        let sum: f64 = wanted.iter().sum();
        wanted.iter().map(|w| w / sum).collect()
    }

    /// The shares of the first ranks of all.
    fn head(ranks: u64) -> impl Iterator<Item = f64> {
        use super::super::zipfian::{THETA, zeta};
        let all = RANKS as f64;
        let zeta_n = zeta(RANKS);
        let two = zeta(2) / zeta_n;
        let eta = (1.0 - (2.0 / all).powf(1.0 - THETA)) / (1.0 - two);
        let up_to = move |rank: u64| match rank {
            0 => 1.0 / zeta_n,
            1 => two,
            _ => {
                let x = ((rank + 1) as f64 / all).powf(1.0 - THETA);
                (1.0 - (1.0 - x) / eta).max(two)
            }
        };
        (0..ranks).map(move |rank| up_to(rank) - rank.checked_sub(1).map_or(0.0, up_to))
    }

    #[test]
    fn zipfian_choices_are_scattered_over_the_records() {
        let options = [RECORDS, ("requestdistribution", "zipfian")];
        fits(&counts(&options, 0), &scrambled(1001, 1000), "zipfian");
    }

    #[test]
    fn zipfian_choices_stay_within_a_part_of_the_table() {
        let part = [
            ("recordcount", "1000"),
            ("insertcount", "100"),
            ("insertstart", "300"),
            ("requestdistribution", "zipfian"),
            ("operationcount", "100"),
            ("insertproportion", "0.25"),
        ];
        for inserts in [0, 5000] {
            let drawn = counts(&part, inserts);
            assert!(drawn[100..].iter().all(|count| *count == 0));
            fits(&drawn[..100], &scrambled(101, 100), "a part");
        }
    }

    #[test]
    fn a_run_of_many_inserts_draws_few_choices_in_vain() {
        let options = [
            RECORDS,
            ("requestdistribution", "zipfian"),
            ("operationcount", "100000000000"),
            ("insertproportion", "0.05"),
        ];
        let keys = Keys::new(&settings(&options).unwrap());
        let Choice::Scrambled { records, .. } = keys.choice else {
            panic!("{keys:?}");
        };
        assert_eq!(records, 2001);
        fits(&counts(&options, 0), &scrambled(2001, 1000), "many");
    }

    #[test]
    fn zipfian_choices_stay_where_they_are_while_records_come() {
        let options = [
            RECORDS,
            ("requestdistribution", "zipfian"),
            ("operationcount", "1000"),
            ("insertproportion", "0.25"),
            ("readproportion", "0.75"),
            ("updateproportion", "0"),
        ];
        // 500 are expected, twice the mean: the range is there from the start.
        for inserts in [0, 100, 400] {
            let drawn = counts(&options, inserts);
            let wanted = scrambled(1501, 1000 + inserts);
            fits(&drawn, &wanted, &format!("{inserts} inserted"));
        }
        // More than expected: none is left out.
        let drawn = counts(&options, 1000);
        fits(&drawn, &scrambled(3002, 2000), "twice as many");
        // A run that is bounded by time expects none.
        let timed = [options[0], options[1], options[3], options[4], options[5]];
        fits(&counts(&timed, 50), &scrambled(2002, 1050), "by time");
    }
}
