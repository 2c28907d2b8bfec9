//! A latency histogram that is exact under merging.

use crate::buckets::{Buckets, INITIAL_HIGH_NS, SIGNIFICANT_DIGITS};
use crate::sparse::{FINEST, HEADER, bucket_of, counts, highest_of, lowest_of};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::time::Duration;

/// Largest value recorded as such: one hour.
pub(crate) const MAX_NS: u64 = 3_600_000_000_000;

/// Latencies in nanoseconds, three significant digits, up to one hour; larger ones count as one
/// hour. Merging adds counts, so that threads, intervals and clients can be added in any order with
/// the same result; percentiles are taken from the sum and never averaged.
///
/// The sum of all latencies is kept exactly beside the buckets, so that means are true.
///
/// It takes memory when something is recorded: most runs have several that nothing ever is.
#[derive(Debug, Clone)]
pub struct Histogram {
    buckets: Option<Buckets>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

/// Why a stored histogram could not be read.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// Not base64.
    #[error("histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Not in HdrHistogram's V2 format.
    #[error("histogram is not in HdrHistogram V2 format: {0}")]
    Format(String),
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self {
            buckets: None,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// Records one latency.
    #[inline]
    pub fn record(&mut self, latency: Duration) {
        // Seconds that a u64 does not hold in nanoseconds are more than an hour.
        let ns = latency
            .as_secs()
            .saturating_mul(1_000_000_000)
            .saturating_add(u64::from(latency.subsec_nanos()))
            .min(MAX_NS);
        self.buckets
            .get_or_insert_with(Buckets::new)
            .record(ns.max(1));
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Records latencies that another histogram holds in one bucket.
    pub(crate) fn record_n(&mut self, ns: u64, count: u64) {
        let ns = ns.min(MAX_NS);
        self.buckets
            .get_or_insert_with(Buckets::new)
            .record_n(ns.max(1), count);
        self.sum_ns += u128::from(ns) * u128::from(count);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds another histogram's counts.
    pub fn merge(&mut self, other: &Histogram) {
        let Some(theirs) = other.buckets.as_ref().filter(|b| !b.is_empty()) else {
            return;
        };
        self.buckets.get_or_insert_with(Buckets::new).add(theirs);
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        if let Some(buckets) = &mut self.buckets {
            buckets.reset();
        }
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.buckets.as_ref().map_or(0, Buckets::len)
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Sum of all latencies in nanoseconds, exact.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Mean in nanoseconds; 0 when empty.
    pub fn mean_ns(&self) -> f64 {
        if self.is_empty() {
            0.0
        } else {
            self.sum_ns as f64 / self.count() as f64
        }
    }

    /// Smallest latency in nanoseconds; 0 when empty.
    pub fn min_ns(&self) -> u64 {
        if self.is_empty() { 0 } else { self.min_ns }
    }

    /// Largest latency in nanoseconds; 0 when empty.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The latency in nanoseconds that `percent` of all are at or below; 0 when empty. Off by at
    /// most 0.1 %.
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        match &self.buckets {
            // Nothing is in the bucket of a nanosecond.
            Some(buckets) if !buckets.is_empty() => match buckets.value_at_percentile(percent) {
                1 if self.min_ns == 0 => 0,
                ns => ns.clamp(self.min_ns, self.max_ns),
            },
            _ => 0,
        }
    }

    /// Share of the sum of all latencies that the slowest hold, which are `slowest` of all (0 to 1);
    /// 0 when empty. Off by at most 0.1 % of the sum.
    pub fn share_of_slowest(&self, slowest: f64) -> f64 {
        let fast = (self.count() as f64 * (1.0 - slowest)).round() as u64;
        let (mut left, mut held, mut all) = (fast, 0.0, 0.0);
        for (ns, count) in self.occupied() {
            let slow = count - count.min(left);
            left -= count.min(left);
            held += slow as f64 * ns as f64;
            all += count as f64 * ns as f64;
        }
        if all > 0.0 { held / all } else { 0.0 }
    }

    /// The occupied buckets in order: upper edge in nanoseconds, and count.
    pub fn occupied(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().flat_map(|buckets| buckets.occupied())
    }

    /// Lends the buckets, empty ones where nothing was recorded.
    pub(crate) fn with_buckets<T>(&self, use_them: impl FnOnce(&Buckets) -> T) -> T {
        match &self.buckets {
            Some(buckets) => use_them(buckets),
            None => use_them(&Buckets::new()),
        }
    }

    /// Text form: exact sum, minimum and maximum, then HdrHistogram V2 in base64, separated by
    /// `:`. Any HdrHistogram tool reads the last part.
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        self.with_buckets(|buckets| buckets.serialize(reach_for(self.max_ns), &mut bytes));
        format!(
            "{}:{}:{}:{}",
            self.sum_ns,
            self.min_ns(),
            self.max_ns,
            STANDARD.encode(bytes)
        )
    }

    /// Adds what [`Histogram::encode`] wrote, as [`Histogram::decode`] and [`Histogram::merge`] would,
    /// in a tenth of the time: nothing is made of the buckets in which there is nothing, and they are
    /// nearly all. A report reads tens of thousands.
    ///
    /// # Errors
    /// As [`Histogram::decode`]; nothing is added then.
    pub fn add_encoded(&mut self, text: &str) -> Result<(), HistogramError> {
        if text.is_empty() {
            return Ok(());
        }
        let parts = Parts::of(text)?;
        let Some(counts) = counts(&parts.bytes) else {
            // What another writer made, or nobody.
            self.merge(&Self::decode(text)?);
            return Ok(());
        };
        let (Some((first, _)), Some((last, _))) = (counts.first(), counts.last()) else {
            // Of nothing there is no sum.
            return Self::decode(text).map(drop);
        };
        let format = |what: &str| HistogramError::Format(what.to_string());
        let ns = |v: u128| u64::try_from(v).ok().filter(|ns| *ns <= MAX_NS);
        let (Some(min_ns), Some(max_ns)) = (ns(parts.min_ns), ns(parts.max_ns)) else {
            return Err(format("minimum or maximum too large"));
        };
        if bucket_of(min_ns.max(1)) != *first || bucket_of(max_ns.max(1)) != *last {
            return Err(format("minimum and maximum are not those of the buckets"));
        }
        let each = counts.iter().map(|(_, count)| u128::from(*count));
        let all = u64::try_from(each.sum::<u128>()).map_err(|_| format("too many latencies"))?;
        if min_ns > max_ns || parts.sum_ns > u128::from(all) * u128::from(max_ns) {
            return Err(format("sum, minimum and maximum can't be"));
        }
        self.buckets
            .get_or_insert_with(Buckets::new)
            .add_all(&counts);
        self.sum_ns += parts.sum_ns;
        self.min_ns = self.min_ns.min(min_ns);
        self.max_ns = self.max_ns.max(max_ns);
        Ok(())
    }

    /// Reads what [`Histogram::encode`] wrote; an empty text is an empty histogram.
    ///
    /// # Errors
    /// [`HistogramError`] for anything else.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        if text.is_empty() {
            return Ok(Self::new());
        }
        let format = |what: &str| HistogramError::Format(what.to_string());
        let Parts {
            sum_ns,
            min_ns,
            max_ns,
            bytes,
        } = Parts::of(text)?;
        let buckets =
            Buckets::deserialize(&bytes).map_err(|e| HistogramError::Format(e.to_string()))?;
        let ns = |v: u128, what: &str| u64::try_from(v).map_err(|_| format(what));
        let min_ns = if buckets.is_empty() {
            u64::MAX
        } else {
            ns(min_ns, "minimum too large")?
        };
        let max_ns = ns(max_ns, "maximum too large")?;
        if max_ns > MAX_NS || (min_ns > max_ns && !buckets.is_empty()) {
            return Err(format("minimum and maximum can't be"));
        }
        // A latency of 0 is in the bucket of 1.
        let bounds = (
            lowest_of(bucket_of(min_ns.max(1))),
            highest_of(bucket_of(max_ns.max(1))),
        );
        if !buckets.is_empty() && (buckets.min(), buckets.max()) != bounds {
            return Err(format("minimum and maximum are not those of the buckets"));
        }
        // Also keeps sums of any number of histograms in range.
        if sum_ns > u128::from(buckets.len()) * u128::from(max_ns) {
            return Err(format("sum too large"));
        }
        Ok(Self {
            sum_ns,
            min_ns,
            max_ns,
            buckets: Some(buckets),
        })
    }
}

/// What a text holds, with a header that is ours.
struct Parts {
    sum_ns: u128,
    min_ns: u128,
    max_ns: u128,
    bytes: Vec<u8>,
}

impl Parts {
    fn of(text: &str) -> Result<Self, HistogramError> {
        let format = |what: &str| HistogramError::Format(what.to_string());
        let mut parts = text.splitn(4, ':');
        let mut number = |what: &str| {
            parts
                .next()
                .and_then(|p| p.parse::<u128>().ok())
                .ok_or_else(|| format(what))
        };
        let (sum_ns, min_ns, max_ns) = (
            number("no sum")?,
            number("no minimum")?,
            number("no maximum")?,
        );
        let bytes = STANDARD.decode(parts.next().ok_or_else(|| format("no buckets"))?)?;
        if !header_is_ours(&bytes) {
            return Err(format(
                "not uncompressed V2 with three significant digits, or of another length than it says",
            ));
        }
        Ok(Self {
            sum_ns,
            min_ns,
            max_ns,
            bytes,
        })
    }
}

/// Whether this begins as [`Histogram::encode`] writes it: cookie, length of what follows the header,
/// offset, significant digits, as big-endian words of four bytes. The deserializer takes memory as
/// these say before it looks at anything else.
fn header_is_ours(bytes: &[u8]) -> bool {
    const COOKIE: u32 = 0x1c84_9303 | 0x10;
    let word = |n: usize| {
        let bytes = bytes.get(4 * n..4 * n + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes))
    };
    word(0) == Some(COOKIE)
        && word(1).map(|len| len as usize) == bytes.len().checked_sub(HEADER)
        && word(3) == Some(u32::from(SIGNIFICANT_DIGITS))
}

/// The largest value of the fewest buckets that hold `max_ns`: three digits are 2,048 buckets of one
/// nanosecond, and each further 1,024 reach twice as far.
fn reach_for(max_ns: u64) -> u64 {
    let wanted = max_ns.clamp(INITIAL_HIGH_NS, MAX_NS);
    (wanted / FINEST + 1).next_power_of_two() * FINEST - 1
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.sum_ns == other.sum_ns
            && self.min_ns() == other.min_ns()
            && self.max_ns == other.max_ns
            && match (&self.buckets, &other.buckets) {
                (Some(mine), Some(theirs)) => mine == theirs,
                _ => self.is_empty() && other.is_empty(),
            }
    }
}

#[cfg(test)]
mod tests;
