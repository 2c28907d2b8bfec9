//! `--histogram`.

use std::collections::BTreeMap;
use std::fmt::Write;
use tidemark_stats::Histogram;

/// sysbench's buckets: 1024 from 0.001 ms to 100 s, each a constant factor above the last; a
/// latency counts in the one nearest to it on that scale. (Found by fitting its printed values.)
const FIRST_MS: f64 = 0.001;
const LAST_MS: f64 = 100_000.0;
const LAST_BUCKET: f64 = 1023.0;
/// Stars of the fullest bucket.
const WIDTH: f64 = 40.0;

/// The latency histogram as sysbench draws it, with its closing blank line.
pub fn histogram(latencies: &Histogram) -> String {
    let step = (LAST_MS / FIRST_MS).ln() / LAST_BUCKET;
    let mut buckets = BTreeMap::<u32, u64>::new();
    for (ns, count) in latencies.occupied() {
        let position = (ns as f64 / 1e6 / FIRST_MS).ln() / step;
        // In range by the clamp.
        let bucket = position.round().clamp(0.0, LAST_BUCKET) as u32;
        *buckets.entry(bucket).or_default() += count;
    }
    let fullest = buckets.values().copied().max().unwrap_or(1) as f64;
    let mut text = String::from(
        "Latency histogram (values are in milliseconds)\n\
         \x20      value  ------------- distribution ------------- count\n",
    );
    for (bucket, count) in buckets {
        let ms = FIRST_MS * (f64::from(bucket) * step).exp();
        let stars = "*".repeat((count as f64 / fullest * WIDTH).round() as usize);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{ms:>12.3} |{stars:<40} {count}");
    }
    text + " \n"
}
