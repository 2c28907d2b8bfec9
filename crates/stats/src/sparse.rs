//! HdrHistogram's V2 encoding, without the buckets that hold nothing, which are nearly all.

use crate::buckets::SIGNIFICANT_DIGITS;
use crate::histogram::MAX_NS;

/// V2's first word.
const COOKIE: u32 = 0x1c84_9303 | 0x10;

/// Bytes of V2's header: cookie, length, offset, digits, lowest and highest value, ratio.
pub(crate) const HEADER: usize = 40;
/// Three digits: so many buckets of a nanosecond first, and half as many in each doubling.
pub(crate) const FINEST: u64 = 2048;

/// The bucket of a value.
#[inline]
pub(crate) fn bucket_of(ns: u64) -> u64 {
    if ns < FINEST {
        return ns;
    }
    let doubling = u64::from(ns.ilog2() - FINEST.ilog2() + 1);
    doubling * (FINEST / 2) + (ns >> doubling)
}

/// The lowest value of a bucket.
pub(crate) fn lowest_of(bucket: u64) -> u64 {
    if bucket < FINEST {
        return bucket;
    }
    let doubling = bucket / (FINEST / 2) - 1;
    (bucket - doubling * (FINEST / 2)) << doubling
}

/// The highest value of a bucket.
pub(crate) fn highest_of(bucket: u64) -> u64 {
    // Behind the last bucket the next one begins at 2^64, which is 0 here.
    lowest_of(bucket + 1).wrapping_sub(1)
}

/// A histogram of values from 1 to `reach` in nanoseconds: `held` are the buckets that hold something
/// and their counts, in order. The format holds counts below 2^63.
pub(crate) fn encode(held: impl Iterator<Item = (u64, u64)>, reach: u64, into: &mut Vec<u8>) {
    let begin = into.len();
    for word in [COOKIE, 0, 0, u32::from(SIGNIFICANT_DIGITS)] {
        into.extend_from_slice(&word.to_be_bytes());
    }
    for word in [1, reach, 1f64.to_bits()] {
        into.extend_from_slice(&word.to_be_bytes());
    }
    let mut next = 0;
    for (bucket, count) in held {
        match bucket - next {
            0 => {}
            // A single empty bucket is a count of 0.
            1 => number(0, into),
            empty => number(-(empty as i64), into),
        }
        number(i64::try_from(count).unwrap_or(i64::MAX), into);
        next = bucket + 1;
    }
    if next == 0 {
        number(0, into);
    }
    let length = (into.len() - begin - HEADER) as u32;
    into[begin + 4..begin + 8].copy_from_slice(&length.to_be_bytes());
}

/// Zigzag LEB128 of nine bytes at most, of which the ninth has eight bits.
fn number(number: i64, into: &mut Vec<u8>) {
    let mut left = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if left < 0x80 {
            break;
        }
        into.push(left as u8 | 0x80);
        left >>= 7;
    }
    into.push(left as u8);
}

/// The buckets that hold something, in order, of V2's payload: numbers in zigzag LEB128 of nine bytes
/// at most, a negative one for so many empty buckets. `None` for what is not written so, which the
/// whole deserializer may judge.
pub(crate) fn counts(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
    let word = |n: usize| Some(u64::from_be_bytes(bytes.get(n..n + 8)?.try_into().ok()?));
    let offset = bytes.get(8..12)?;
    // Values from 1, neither shifted nor scaled.
    if offset != [0; 4] || word(16)? != 1 || word(32)? != 1f64.to_bits() {
        return None;
    }
    let end = bucket_of(word(24)?.min(MAX_NS.next_power_of_two()));
    let payload = bytes.get(HEADER..)?;
    // Most counts have one byte, and one of empty buckets before them.
    let mut counts = Vec::with_capacity(payload.len() / 2 + 1);
    let mut payload = payload.iter();
    let mut bucket = 0u64;
    while let Some(first) = payload.next() {
        let mut number = u64::from(first & 0x7f);
        let (mut byte, mut shift) = (*first, 7);
        while byte & 0x80 != 0 {
            byte = *payload.next()?;
            if shift == 56 {
                // The ninth byte has all of its bits.
                number |= u64::from(byte) << shift;
                break;
            }
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        let signed = (number >> 1) as i64 ^ -((number & 1) as i64);
        if signed < 0 {
            bucket = bucket.checked_add(signed.unsigned_abs())?;
            if bucket > end + 1 {
                return None;
            }
            continue;
        }
        if bucket > end {
            return None;
        }
        if signed > 0 {
            counts.push((bucket, signed.unsigned_abs()));
        }
        bucket += 1;
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_three_digits() {
        for (ns, bucket) in [
            (0, 0),
            (2047, 2047),
            (2048, 2048),
            (2049, 2048),
            (4096, 3072),
        ] {
            assert_eq!(bucket_of(ns), bucket, "{ns}");
        }
        for ns in (0..62).map(|n| (1u64 << n) + (1 << n) / 3) {
            let lowest = lowest_of(bucket_of(ns));
            assert!(lowest <= ns && ns - lowest <= ns / 1024, "{ns}: {lowest}");
        }
    }
}
