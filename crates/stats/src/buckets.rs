//! Buckets of a histogram that count in four bytes as long as that is enough, and only from the lowest
//! latency to the highest.

use crate::sparse::{bucket_of, counts, encode, highest_of, lowest_of};
use hdrhistogram::serialization::{DeserializeError, Deserializer};

/// First upper bound of a stored histogram.
pub(crate) const INITIAL_HIGH_NS: u64 = 16_000_000;
/// Three significant digits: values are off by at most 0.1 %.
pub(crate) const SIGNIFICANT_DIGITS: u8 = 3;
/// Buckets are added so many at a time: half of those in which latencies double.
const STEP: usize = 512;

/// Counts by value, in the buckets of HdrHistogram with three digits, from 1 ns on.
///
/// Recording is on the way of every statement, and a client with many executors keeps a set for each:
/// so these are our own and not the library's, which has buckets from 1 ns up in every histogram.
/// No interval counts four billion transactions, while sums of intervals may.
#[derive(Debug, Clone)]
pub(crate) struct Buckets {
    /// The bucket of the first count; a multiple of [`STEP`].
    first: usize,
    counts: Counts,
    total: u64,
}

/// Counts of buckets side by side.
#[derive(Debug, Clone)]
enum Counts {
    /// No more than [`u32::MAX`] in all, so that no count can overflow.
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// The same expression for either width.
macro_rules! either {
    ($counts:expr, $c:ident => $then:expr) => {
        match $counts {
            Counts::Narrow($c) => $then,
            Counts::Wide($c) => $then,
        }
    };
}

/// Whether so many can be counted in four bytes, whatever buckets they are in.
fn is_narrow(count: u64) -> bool {
    count <= u64::from(u32::MAX)
}

impl Buckets {
    pub fn new() -> Self {
        Self {
            first: 0,
            counts: Counts::Narrow(Vec::new()),
            total: 0,
        }
    }

    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value) as usize;
        if let Counts::Narrow(counts) = &mut self.counts
            && self.total < u64::from(u32::MAX)
            && let Some(count) = counts.get_mut(bucket.wrapping_sub(self.first))
        {
            *count += 1;
            self.total += 1;
            return;
        }
        self.record_n(value, 1);
    }

    /// As often.
    #[cold]
    pub fn record_n(&mut self, value: u64, count: u64) {
        self.add_to(bucket_of(value) as usize, count);
    }

    /// Adds to a bucket. Counts saturate.
    pub fn add_to(&mut self, bucket: usize, count: u64) {
        self.count_on(count);
        self.reach(bucket, bucket);
        let at = bucket - self.first;
        match &mut self.counts {
            Counts::Narrow(counts) => counts[at] += count as u32,
            Counts::Wide(counts) => counts[at] = counts[at].saturating_add(count),
        }
    }

    /// Adds to several buckets, which are in order.
    pub fn add_all(&mut self, held: &[(u64, u64)]) {
        let (Some((first, _)), Some((last, _))) = (held.first(), held.last()) else {
            return;
        };
        let each = held.iter().map(|(_, count)| *count);
        self.count_on(each.fold(0, u64::saturating_add));
        self.reach(*first as usize, *last as usize);
        let at = |bucket: &u64| *bucket as usize - self.first;
        match &mut self.counts {
            Counts::Narrow(counts) => held.iter().for_each(|(b, n)| counts[at(b)] += *n as u32),
            Counts::Wide(counts) => held.iter().for_each(|(b, n)| {
                let count = &mut counts[at(b)];
                *count = count.saturating_add(*n);
            }),
        }
    }

    /// Adds to the total, and widens before that is too much.
    fn count_on(&mut self, count: u64) {
        self.total = self.total.saturating_add(count);
        if !is_narrow(self.total) {
            self.widen();
        }
    }

    /// Adds buckets until both are among them.
    fn reach(&mut self, lowest: usize, highest: usize) {
        either!(&mut self.counts, counts => {
            if counts.is_empty() || lowest < self.first {
                let first = lowest / STEP * STEP;
                let missing = if counts.is_empty() { 0 } else { self.first - first };
                drop(counts.splice(0..0, std::iter::repeat_n(0, missing)));
                self.first = first;
            }
            if highest >= self.first + counts.len() {
                let length = (highest / STEP + 1) * STEP - self.first;
                counts.reserve_exact(length - counts.len());
                counts.resize(length, 0);
            }
        });
    }

    pub fn add(&mut self, other: &Self) {
        let (Some(lowest), Some(highest)) = (other.lowest(), other.highest()) else {
            return;
        };
        self.count_on(other.total);
        self.reach(lowest, highest);
        let mine = lowest - self.first;
        let theirs = lowest - other.first..=highest - other.first;
        match (&mut self.counts, &other.counts) {
            (Counts::Narrow(to), Counts::Narrow(from)) => {
                let pairs = to[mine..].iter_mut().zip(&from[theirs]);
                pairs.for_each(|(to, from)| *to += from);
            }
            (Counts::Wide(to), Counts::Narrow(from)) => {
                let pairs = to[mine..].iter_mut().zip(&from[theirs]);
                pairs.for_each(|(to, from)| *to = to.saturating_add(u64::from(*from)));
            }
            (Counts::Wide(to), Counts::Wide(from)) => {
                let pairs = to[mine..].iter_mut().zip(&from[theirs]);
                pairs.for_each(|(to, from)| *to = to.saturating_add(*from));
            }
            // A wide set of few counts: its buckets fit one by one.
            (Counts::Narrow(to), Counts::Wide(from)) => {
                let pairs = to[mine..].iter_mut().zip(&from[theirs]);
                pairs.for_each(|(to, from)| *to += *from as u32);
            }
        }
    }

    fn widen(&mut self) {
        if let Counts::Narrow(narrow) = &self.counts {
            self.counts = Counts::Wide(narrow.iter().map(|count| u64::from(*count)).collect());
        }
    }

    /// Forgets everything, keeping the memory.
    pub fn reset(&mut self) {
        either!(&mut self.counts, counts => counts.fill(0));
        self.total = 0;
    }

    pub fn len(&self) -> u64 {
        self.total
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The lowest bucket that holds something.
    fn lowest(&self) -> Option<usize> {
        let at = either!(&self.counts, counts => counts.iter().position(|count| *count != 0));
        at.map(|at| self.first + at)
    }

    /// The highest.
    fn highest(&self) -> Option<usize> {
        let at = either!(&self.counts, counts => counts.iter().rposition(|count| *count != 0));
        at.map(|at| self.first + at)
    }

    /// The lowest value of the lowest bucket; 0 when empty.
    pub fn min(&self) -> u64 {
        self.lowest().map_or(0, |bucket| lowest_of(bucket as u64))
    }

    /// The highest value of the highest bucket; 0 when empty.
    pub fn max(&self) -> u64 {
        self.highest().map_or(0, |bucket| highest_of(bucket as u64))
    }

    /// The highest value of the bucket that so many percent of all are in or below; the lowest of all
    /// for 0.
    pub fn value_at_percentile(&self, percent: f64) -> u64 {
        if percent == 0.0 {
            return self.min();
        }
        let wanted = (percent.clamp(0.0, 100.0) / 100.0 * self.total as f64).ceil() as u64;
        let mut left = wanted.clamp(1, self.total.max(1));
        let held = self.held().find(|(_, count)| {
            let is_there = *count >= left;
            left = left.saturating_sub(*count);
            is_there
        });
        held.map_or(0, |(bucket, _)| highest_of(bucket))
    }

    /// The buckets that hold something, and their counts, in order.
    fn held(&self) -> Box<dyn Iterator<Item = (u64, u64)> + '_> {
        let buckets = self.first as u64..;
        match &self.counts {
            Counts::Narrow(counts) => {
                let counts = counts.iter().map(|count| u64::from(*count));
                Box::new(buckets.zip(counts).filter(|(_, count)| *count != 0))
            }
            Counts::Wide(counts) => {
                let counts = counts.iter().copied();
                Box::new(buckets.zip(counts).filter(|(_, count)| *count != 0))
            }
        }
    }

    /// Upper edges and counts of the buckets that hold something, in order.
    pub fn occupied(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.held()
            .map(|(bucket, count)| (highest_of(bucket), count))
    }

    /// HdrHistogram's V2 format, for values up to `reach`.
    pub fn serialize(&self, reach: u64, into: &mut Vec<u8>) {
        encode(self.held(), reach, into);
    }

    /// Reads what [`Buckets::serialize`] or the library wrote.
    pub fn deserialize(bytes: &[u8]) -> Result<Self, DeserializeError> {
        let mut read = Self::new();
        if let Some(counts) = counts(bytes) {
            read.add_all(&counts);
            return Ok(read);
        }
        let library = Deserializer::new().deserialize::<u64, _>(&mut &*bytes)?;
        for held in library.iter_recorded() {
            read.record_n(held.value_iterated_to(), held.count_at_value());
        }
        Ok(read)
    }

    /// The library's own kind.
    pub fn library(&self) -> hdrhistogram::Histogram<u64> {
        // The constants satisfy every precondition of the constructor; the fallback never runs.
        let mut library = hdrhistogram::Histogram::new(SIGNIFICANT_DIGITS)
            .unwrap_or_else(|_| unreachable!("three digits are valid"));
        for (edge, count) in self.occupied() {
            // Buckets that grow only fail if memory runs out.
            let recorded = library.record_n(edge, count);
            debug_assert!(recorded.is_ok());
        }
        library
    }
}

impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.held().eq(other.held())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::MAX_NS;
    use hdrhistogram::serialization::{Serializer, V2Serializer};
    use proptest::prelude::*;

    const MOST: u32 = u32::MAX;

    fn narrow(counts: &[(u64, u32)]) -> Buckets {
        let mut buckets = Buckets::new();
        for (value, count) in counts {
            buckets.record_n(*value, u64::from(*count));
        }
        buckets
    }

    fn counts(buckets: &Buckets) -> Vec<u64> {
        buckets.occupied().map(|(_, count)| count).collect()
    }

    fn is_wide(buckets: &Buckets) -> bool {
        matches!(buckets.counts, Counts::Wide(_))
    }

    #[test]
    fn four_bytes_do_as_long_as_nothing_can_overflow() {
        let mut buckets = narrow(&[(1000, MOST - 1)]);
        buckets.record(1000);
        assert!(!is_wide(&buckets));
        buckets.record(1000);
        buckets.record(40_000_000);
        assert!(is_wide(&buckets));
        assert_eq!(counts(&buckets), [u64::from(MOST) + 1, 1]);
    }

    #[test]
    fn sums_of_any_widths_are_the_same() {
        let full = narrow(&[(1000, MOST), (2_000_000_000, 0)]);
        let small = narrow(&[(1000, 5), (70_000_000, 7)]);
        let mut wide = full.clone();
        wide.add(&small);
        assert!(is_wide(&wide));
        let mut other = small.clone();
        other.add(&full);
        assert_eq!(wide, other);
        assert_eq!(counts(&wide), [u64::from(MOST) + 5, 7]);
        let mut sum = small.clone();
        sum.add(&wide);
        assert_eq!(counts(&sum), [u64::from(MOST) + 10, 14]);
        let mut sum = wide.clone();
        sum.add(&small);
        assert_eq!(counts(&sum), [u64::from(MOST) + 10, 14]);
    }

    #[test]
    fn either_width_is_written_and_read_alike() {
        for buckets in [narrow(&[(1, 3), (70_000_000, 7)]), narrow(&[(5, MOST)]), {
            let mut wide = narrow(&[(5, MOST), (3000, 0)]);
            wide.add(&narrow(&[(3000, MOST)]));
            wide
        }] {
            let mut bytes = Vec::new();
            buckets.serialize(MAX_NS, &mut bytes);
            let read = Buckets::deserialize(&bytes).unwrap();
            assert_eq!(read, buckets);
            assert_eq!(is_wide(&read), is_wide(&buckets));
        }
        let mut small = narrow(&[(9, 9)]);
        let mut bytes = Vec::new();
        small.serialize(MAX_NS, &mut bytes);
        small.widen();
        let mut of_wide = Vec::new();
        small.serialize(MAX_NS, &mut of_wide);
        assert_eq!(bytes, of_wide);
    }

    proptest! {
        #[test]
        fn values_are_counted_as_the_library_counts_them(
            values in prop::collection::vec((1u64..MAX_NS, 0u32..42, 1u64..9), 0..60),
            percent in 0.0f64..100.0,
        ) {
            let values: Vec<(u64, u64)> = values
                .iter()
                .map(|(value, shift, count)| ((value >> shift).max(1), *count))
                .collect();
            let (mut ours, mut other) = (Buckets::new(), Buckets::new());
            let mut library = hdrhistogram::Histogram::<u64>::new(SIGNIFICANT_DIGITS).unwrap();
            for (n, (value, count)) in values.iter().enumerate() {
                library.record_n(*value, *count).unwrap();
                let into = if n % 2 == 0 { &mut ours } else { &mut other };
                (0..*count).for_each(|_| into.record(*value));
            }
            ours.add(&other);
            let held: Vec<_> = library
                .iter_recorded()
                .map(|held| (held.value_iterated_to(), held.count_at_value()))
                .collect();
            prop_assert_eq!(ours.occupied().collect::<Vec<_>>(), held);
            prop_assert_eq!(ours.len(), library.len());
            if !values.is_empty() {
                prop_assert_eq!((ours.min(), ours.max()), (library.min(), library.max()));
                for percent in [percent, 0.0, 50.0, 95.0, 99.0, 100.0] {
                    prop_assert_eq!(
                        ours.value_at_percentile(percent),
                        library.value_at_percentile(percent)
                    );
                }
            }
            let (mut bytes, mut of_library) = (Vec::new(), Vec::new());
            ours.serialize(library.high(), &mut bytes);
            V2Serializer::new().serialize(&library, &mut of_library).unwrap();
            prop_assert_eq!(&bytes, &of_library);
            prop_assert_eq!(Buckets::deserialize(&bytes).unwrap(), ours.clone());
            prop_assert_eq!(ours.library(), library);
        }
    }
}
