//! Run records from elsewhere, and what is encoded in them: read, and reported.

use crate::memory::bounded;
use std::time::Duration;
use tidemark_core::series::{Series, join};
use tidemark_report::{Lang, Merged};
use tidemark_stats::Histogram;
use tidemark_store::{from_json, to_json};

/// A report draws what it is told, and a histogram of a few bytes has half a megabyte of buckets.
const A_BYTE: usize = 64 * 1024;

pub(crate) fn run(data: &[u8]) {
    let Some((which, rest)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    bounded(data.len(), A_BYTE, || match which {
        2 => series(text),
        n if n % 2 == 0 => record(text),
        _ => histograms(text),
    });
}

fn record(text: &str) {
    let Ok(record) = from_json(text) else {
        return;
    };
    let written = to_json(&record).unwrap();
    assert_eq!(from_json(&written).unwrap(), record);
    for lang in [Lang::En, Lang::Zh] {
        let _ = tidemark_report::text(&record, lang);
        let _ = tidemark_report::markdown(&record, lang);
        let _ = tidemark_report::html(&record, lang);
    }
    let _ = tidemark_report::totals(&record.intervals);
    let _ = Merged::of(&record.intervals);
}

/// One series a line.
fn series(text: &str) {
    let all = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Series>(line).ok());
    let all: Vec<Series> = all.collect();
    for one in &all {
        let Ok(few) = one.downsampled(100) else {
            continue;
        };
        assert!(few.len() <= 100);
        let points: u64 = few.iter().map(|bucket| bucket.count).sum();
        assert_eq!(points, one.count);
        assert!(few.iter().all(|b| b.min <= b.max));
    }
    let many = all.len();
    assert!(join(all).len() <= many);
}

/// One histogram a line.
fn histograms(text: &str) {
    let mut sum = Histogram::new();
    for line in text.lines() {
        let Ok(one) = Histogram::decode(line) else {
            continue;
        };
        assert_eq!(Histogram::decode(&one.encode()).unwrap(), one);
        sum.merge(&one);
    }
    sum.record(Duration::from_millis(1));
    assert!(sum.min_ns() <= sum.max_ns());
    let mut last = 0;
    for percent in [0.0, 50.0, 99.0, 100.0] {
        let value = sum.percentile_ns(percent);
        assert!(value >= last);
        last = value;
    }
    assert!(sum.mean_ns() >= 0.0);
    sum.occupied().count();
    Histogram::decode(&sum.encode()).unwrap();
}
