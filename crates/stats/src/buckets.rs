//! Buckets of a histogram that count in four bytes as long as that is enough.

use hdrhistogram::serialization::{DeserializeError, Deserializer, Serializer, V2Serializer};
use hdrhistogram::{Counter, Histogram, RecordError};

/// First upper bound; buckets are added when a larger value comes. 16 ms covers what most
/// statements take and keeps an idle interval small.
pub(crate) const INITIAL_HIGH_NS: u64 = 16_000_000;
/// Three significant digits: values are off by at most 0.1 %.
pub(crate) const SIGNIFICANT_DIGITS: u8 = 3;

/// Counts by value. A client with many executors keeps a set for each, most of its memory beside
/// the program itself; no interval counts four billion transactions, while sums of intervals may.
#[derive(Debug, Clone)]
pub(crate) enum Buckets {
    /// Counts no more than [`u32::MAX`] in all, so that no bucket can overflow.
    Narrow(Histogram<u32>),
    Wide(Histogram<u64>),
}

/// The same expression for either width.
macro_rules! either {
    ($buckets:expr, $b:ident => $then:expr) => {
        match $buckets {
            $crate::buckets::Buckets::Narrow($b) => $then,
            $crate::buckets::Buckets::Wide($b) => $then,
        }
    };
}

pub(crate) use either;

fn empty<C: Counter>() -> Histogram<C> {
    // The constants satisfy every precondition of the constructor; the fallbacks never run.
    let mut buckets = Histogram::new_with_bounds(1, INITIAL_HIGH_NS, SIGNIFICANT_DIGITS)
        .or_else(|_| Histogram::new(SIGNIFICANT_DIGITS))
        .unwrap_or_else(|_| unreachable!("constant bounds are valid"));
    buckets.auto(true);
    buckets
}

/// Whether so many can be counted in four bytes, whatever buckets they are in.
fn is_narrow(count: u64) -> bool {
    count <= u64::from(u32::MAX)
}

impl Buckets {
    pub fn new() -> Self {
        Self::Narrow(empty())
    }

    #[inline]
    pub fn record(&mut self, value: u64) {
        if let Self::Narrow(b) = self {
            if b.len() < u64::from(u32::MAX) {
                return record(b, value);
            }
            self.widen();
        }
        either!(self, b => record(b, value));
    }

    /// As often.
    pub fn record_n(&mut self, value: u64, count: u64) {
        if !is_narrow(self.len().saturating_add(count)) {
            self.widen();
        }
        // Buckets that grow only fail if memory runs out.
        let recorded = match self {
            Self::Narrow(b) => b
                .record_n(value, u32::try_from(count).unwrap_or(u32::MAX))
                .is_ok(),
            Self::Wide(b) => b.record_n(value, count).is_ok(),
        };
        debug_assert!(recorded);
    }

    pub fn add(&mut self, other: &Self) {
        if !is_narrow(self.len().saturating_add(other.len())) {
            self.widen();
        }
        // Both have the same digits and grow by themselves: adding cannot fail.
        let added = match (self, other) {
            (Self::Narrow(mine), Self::Narrow(theirs)) => mine.add(theirs).is_ok(),
            (Self::Wide(mine), Self::Wide(theirs)) => mine.add(theirs).is_ok(),
            (Self::Narrow(mine), Self::Wide(theirs)) => add_counts(mine, theirs).is_ok(),
            (Self::Wide(mine), Self::Narrow(theirs)) => add_counts(mine, theirs).is_ok(),
        };
        debug_assert!(added);
    }

    fn widen(&mut self) {
        if let Self::Narrow(narrow) = self {
            let mut wide = empty::<u64>();
            let added = add_counts(&mut wide, narrow);
            debug_assert!(added.is_ok());
            *self = Self::Wide(wide);
        }
    }

    /// Forgets everything, keeping the memory.
    pub fn reset(&mut self) {
        either!(self, b => b.reset());
    }

    pub fn len(&self) -> u64 {
        either!(self, b => b.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn min(&self) -> u64 {
        either!(self, b => b.min())
    }

    pub fn max(&self) -> u64 {
        either!(self, b => b.max())
    }

    pub fn lowest_equivalent(&self, value: u64) -> u64 {
        either!(self, b => b.lowest_equivalent(value))
    }

    pub fn highest_equivalent(&self, value: u64) -> u64 {
        either!(self, b => b.highest_equivalent(value))
    }

    pub fn value_at_percentile(&self, percent: f64) -> u64 {
        either!(self, b => b.value_at_percentile(percent))
    }

    /// Upper edges and counts of the buckets that hold something, in order.
    pub fn occupied(&self) -> Box<dyn Iterator<Item = (u64, u64)> + '_> {
        either!(self, b => Box::new(
            b.iter_recorded()
                .map(|v| (v.value_iterated_to(), v.count_at_value().as_u64()))
        ))
    }

    /// HdrHistogram's V2 format, which is the same for either width.
    pub fn serialize(&self, into: &mut Vec<u8>) {
        // Writing to memory cannot fail; the format holds every count that a u64 does below 2^63.
        let mut serializer = V2Serializer::new();
        let written = either!(self, b => serializer.serialize(b, into));
        debug_assert!(written.is_ok());
    }

    /// Reads what [`Buckets::serialize`] wrote.
    pub fn deserialize(bytes: &[u8]) -> Result<Self, DeserializeError> {
        // A bucket that overflows four bytes is an error there.
        if let Ok(mut narrow) = Deserializer::new().deserialize::<u32, _>(&mut &*bytes)
            && is_narrow(narrow.len())
        {
            narrow.auto(true);
            return Ok(Self::Narrow(narrow));
        }
        let mut wide = Deserializer::new().deserialize::<u64, _>(&mut &*bytes)?;
        wide.auto(true);
        Ok(Self::Wide(wide))
    }
}

impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.occupied().eq(other.occupied())
    }
}

#[inline]
fn record<C: Counter>(buckets: &mut Histogram<C>, value: u64) {
    // `record` on buckets that grow only fails if memory runs out.
    if buckets.record(value).is_err() {
        buckets.saturating_record(value);
    }
}

/// `mine` must have room for the counts.
fn add_counts<C: Counter, D: Counter>(
    mine: &mut Histogram<C>,
    theirs: &Histogram<D>,
) -> Result<(), RecordError> {
    for bucket in theirs.iter_recorded() {
        let count = C::from_u64(bucket.count_at_value().as_u64()).unwrap_or_else(C::zero);
        mine.record_n(bucket.value_iterated_to(), count)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = u32::MAX;

    fn narrow(counts: &[(u64, u32)]) -> Buckets {
        let mut buckets = empty::<u32>();
        for (value, count) in counts {
            buckets.record_n(*value, *count).unwrap();
        }
        Buckets::Narrow(buckets)
    }

    fn counts(buckets: &Buckets) -> Vec<u64> {
        buckets.occupied().map(|(_, count)| count).collect()
    }

    fn is_wide(buckets: &Buckets) -> bool {
        matches!(buckets, Buckets::Wide(_))
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
            buckets.serialize(&mut bytes);
            let read = Buckets::deserialize(&bytes).unwrap();
            assert_eq!(read, buckets);
            assert_eq!(is_wide(&read), is_wide(&buckets));
        }
        let mut small = narrow(&[(9, 9)]);
        let mut bytes = Vec::new();
        small.serialize(&mut bytes);
        small.widen();
        let mut of_wide = Vec::new();
        small.serialize(&mut of_wide);
        assert_eq!(bytes, of_wide);
    }
}
