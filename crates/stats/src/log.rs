//! Histograms over time as an HdrHistogram log, which its tools read (HistogramLogProcessor, and
//! what plots such logs): version 1.3 of the format, compressed V2 histograms, nanoseconds.

use crate::{Histogram, HistogramError};
use base64::Engine as _;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use std::io::Read;
use std::time::{Duration, SystemTime};

/// One line of the log.
#[derive(Debug, Clone)]
pub struct LogInterval {
    /// What kind of latencies it is of; `None` is all of them.
    pub tag: Option<String>,
    /// Start, counted from the log's.
    pub start: Duration,
    /// How long it took.
    pub length: Duration,
    /// The latencies.
    pub latencies: Histogram,
}

/// A log that begins at `start` (since 1970). Tags lose what the format gives a meaning to: commas,
/// blanks, line feeds.
pub fn interval_log(
    start: Duration,
    comments: &[String],
    intervals: impl IntoIterator<Item = LogInterval>,
) -> String {
    /// The log's maxima are in milliseconds, as its tools have them.
    const NS_IN_MS: f64 = 1e6;
    let begin = SystemTime::UNIX_EPOCH + start;
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("[Histogram log format version 1.3]");
    builder.add_comment("[Values are in nanoseconds]");
    for comment in comments {
        builder.add_comment(comment);
    }
    builder
        .with_start_time(begin)
        .with_base_time(begin)
        .with_max_value_divisor(NS_IN_MS);
    // Writing to memory cannot fail, and a histogram's counts are in the format's range.
    let written = builder
        .begin_log_with(&mut bytes, &mut serializer)
        .map(|mut log| {
            for interval in intervals {
                let word = interval.tag.as_deref().map(plain);
                let tag = word.as_deref().and_then(Tag::new);
                let LogInterval { start, length, .. } = interval;
                let line = interval.latencies.with_buckets(|buckets| {
                    log.write_histogram(&buckets.library(), start, length, tag)
                });
                debug_assert!(line.is_ok());
            }
        });
    debug_assert!(written.is_ok());
    String::from_utf8(bytes).unwrap_or_default()
}

/// A V2 histogram begins with this, a compressed one with the next (HdrHistogram's encoding).
const COOKIE: u32 = 0x1c84_9313;
const COOKIE_COMPRESSED: u32 = 0x1c84_9314;
/// An interval with more bytes is none: three digits need a third of it for every bucket there is.
const LONGEST: u64 = 1 << 20;
/// With more digits a histogram of a few bytes takes megabytes.
const MOST_DIGITS: u32 = 3;

/// The latencies of a line of any tool's log: V2, compressed or not, its values of so many nanoseconds.
/// They are known to three digits, and so are sum, minimum and maximum.
///
/// # Errors
/// [`HistogramError`] for anything else, and for more than three significant digits.
pub fn logged_histogram(encoded: &str, unit_ns: u64) -> Result<Histogram, HistogramError> {
    let format = |what: &str| HistogramError::Format(what.to_string());
    if encoded.len() as u64 > LONGEST {
        return Err(format("too long"));
    }
    let mut bytes = base64::engine::general_purpose::STANDARD.decode(encoded)?;
    let word = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 4)?;
        Some(u32::from_be_bytes(word.try_into().ok()?))
    };
    if word(&bytes, 0) == Some(COOKIE_COMPRESSED) {
        let packed = bytes.get(8..).unwrap_or_default();
        let mut plain = Vec::new();
        let inflated = ZlibDecoder::new(packed).take(LONGEST + 1);
        let read = { inflated }.read_to_end(&mut plain);
        read.map_err(|e| HistogramError::Format(e.to_string()))?;
        bytes = plain;
    }
    if bytes.len() as u64 > LONGEST || word(&bytes, 0) != Some(COOKIE) {
        return Err(format("not V2"));
    }
    if word(&bytes, 12).is_none_or(|digits| digits > MOST_DIGITS) {
        return Err(format("more than three significant digits"));
    }
    let read: hdrhistogram::Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|e| HistogramError::Format(e.to_string()))?;
    let mut latencies = Histogram::new();
    for bucket in read.iter_recorded() {
        let middle = read.median_equivalent(bucket.value_iterated_to());
        latencies.record_n(middle.saturating_mul(unit_ns), bucket.count_at_value());
    }
    Ok(latencies)
}

fn plain(tag: &str) -> String {
    let plain = |c: char| match c {
        ',' => '_',
        c if c.is_whitespace() || c.is_control() => '_',
        c => c,
    };
    tag.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn the_format_s_own_reader_reads_the_same_counts() {
        let mut latencies = Histogram::new();
        for us in [200u64, 200, 900, 45_000] {
            latencies.record(Duration::from_micros(us));
        }
        let lines = [
            (None, 0, latencies.clone()),
            (Some("New, Order"), 0, latencies.clone()),
            (None, 1, Histogram::new()),
        ]
        .map(|(tag, second, latencies)| LogInterval {
            tag: tag.map(Into::into),
            start: Duration::from_secs(second),
            length: Duration::from_millis(1001),
            latencies,
        });
        let start = Duration::from_millis(1_700_000_000_250);
        let text = interval_log(start, &["run 0199".into()], lines);
        assert!(
            text.starts_with(
                "#[Histogram log format version 1.3]\n#[Values are in nanoseconds]\n#run 0199\n"
            ),
            "{text}"
        );
        assert!(text.contains("#[BaseTime: 1700000000.250 "), "{text}");
        // The cookie of compressed V2 in base64.
        assert!(text.contains(",45.023,HISTF"), "{text}");
        let mut seen = Vec::new();
        for entry in IntervalLogIterator::new(text.as_bytes()) {
            if let LogEntry::Interval(line) = entry.unwrap() {
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(line.encoded_histogram())
                    .unwrap();
                let read: hdrhistogram::Histogram<u64> = Deserializer::new()
                    .deserialize(&mut bytes.as_slice())
                    .unwrap();
                seen.push((
                    line.tag().map(|t| t.as_str().to_string()),
                    line.start_timestamp().as_secs(),
                    read.len(),
                    read.value_at_quantile(0.5) / 1000,
                ));
            }
        }
        let encoded = text.lines().find(|l| l.contains(",HISTF")).unwrap();
        let read = logged_histogram(encoded.rsplit(',').next().unwrap(), 1).unwrap();
        assert_eq!(read.count(), 4);
        let off = read
            .percentile_ns(50.0)
            .abs_diff(latencies.percentile_ns(50.0));
        assert!(off <= 200, "{off} ns");
        assert!((read.mean_ns() / latencies.mean_ns() - 1.0).abs() < 0.001);
        let again = Histogram::decode(&read.encode()).unwrap();
        assert_eq!(again.encode(), read.encode());
        let micros = logged_histogram(encoded.rsplit(',').next().unwrap(), 1000).unwrap();
        assert!((micros.mean_ns() / read.mean_ns() / 1000.0 - 1.0).abs() < 0.002);
        for bad in ["", "%", "HISTF", "AAAA", &"A".repeat(2 << 20)] {
            assert!(logged_histogram(bad, 1).is_err(), "{}", bad.len());
        }
        assert_eq!(
            seen,
            [
                (None, 0, 4, 200),
                (Some("New__Order".into()), 0, 4, 200),
                (None, 1, 0, 0)
            ]
        );
    }
}
