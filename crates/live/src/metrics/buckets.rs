//! Classic buckets of our histograms.

use tidemark_stats::Histogram;

/// Octaves of nanoseconds that bounds are taken from: 4 µs to 69 s.
const OCTAVES: std::ops::RangeInclusive<u32> = 12..=36;

/// Upper bounds of the buckets in nanoseconds, two an octave, without the last one, which is
/// infinity. Each is the upper edge of a bucket of our own histograms, so that counts are exact: a
/// round number would lie within one.
pub fn upper_bounds_ns() -> impl Iterator<Item = u64> {
    OCTAVES
        .flat_map(|octave| {
            let whole = 1u64 << octave;
            [whole - 1, whole + whole / 2 - 1]
        })
        .take(2 * OCTAVES.count() - 1)
}

/// Bounds in seconds with what is in each bucket and not in those below it; infinity is the last.
pub(super) fn buckets(histogram: &Histogram) -> Vec<(f64, u64)> {
    let mut buckets: Vec<(f64, u64)> = Vec::with_capacity(2 * OCTAVES.count());
    let mut occupied = histogram.occupied().peekable();
    for bound in upper_bounds_ns() {
        let mut count = 0;
        while let Some((_, more)) = occupied.next_if(|(edge, _)| *edge <= bound) {
            count += more;
        }
        buckets.push((bound as f64 / 1e9, count));
    }
    buckets.push((f64::INFINITY, occupied.map(|(_, count)| count).sum()));
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn bounds_are_edges_of_our_own_buckets() {
        for bound in upper_bounds_ns() {
            let mut histogram = Histogram::new();
            histogram.record(Duration::from_nanos(bound));
            histogram.record(Duration::from_nanos(bound + 1));
            let below = histogram.occupied().filter(|(edge, _)| *edge <= bound);
            assert_eq!(below.map(|(_, n)| n).sum::<u64>(), 1, "{bound}");
        }
        let bounds: Vec<u64> = upper_bounds_ns().collect();
        assert!(bounds.is_sorted());
        assert_eq!(bounds.first(), Some(&4095));
        assert_eq!(bounds.last(), Some(&68_719_476_735));
    }

    #[test]
    fn every_latency_is_in_the_bucket_that_it_belongs_to() {
        let values: Vec<u64> = (0..60_000u64)
            .map(|n| n * n * n % 200_000_000_000)
            .collect();
        let mut histogram = Histogram::new();
        values
            .iter()
            .for_each(|ns| histogram.record(Duration::from_nanos(*ns)));
        let mut sum = 0;
        for (bound, count) in buckets(&histogram) {
            sum += count;
            let bound_ns = if bound.is_finite() {
                (bound * 1e9).round() as u64
            } else {
                u64::MAX
            };
            let really = values.iter().filter(|v| **v <= bound_ns).count() as u64;
            assert_eq!(sum, really, "{bound}");
        }
        assert_eq!(sum, histogram.count());
    }

    #[test]
    fn nothing_recorded_is_zero_everywhere() {
        assert!(
            buckets(&Histogram::new())
                .iter()
                .all(|(_, count)| *count == 0)
        );
    }
}
