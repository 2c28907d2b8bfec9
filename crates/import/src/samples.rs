//! Transactions of a log, one by one or added up by the tool, as intervals and distributions.
//!
//! Threads write logs of their own, so that times go back within a document: a transaction belongs to
//! the interval of its end, wherever its line stands.

use crate::draft::Draft;
use crate::scan::Number;
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::record::StatedInterval;
use tidemark_stats::Histogram;

/// With more buckets two become one.
const MOST_BUCKETS: usize = 4096;
/// Empty intervals in all, besides four for each with transactions.
const MOST_EMPTY: usize = 60;
/// Types beyond are counted in the whole alone.
const MOST_TYPES: usize = 50;

/// What a log holds, as far as it was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    /// Seconds since 1970, or since any other moment, of the first line.
    origin: Option<f64>,
    /// Seconds of a bucket; 0 before the first.
    width: i64,
    buckets: BTreeMap<i64, Bucket>,
    types: BTreeMap<String, Histogram>,
    all: Histogram,
    /// Begin of the first transaction and end of the last.
    span: Option<(f64, f64)>,
    /// Seconds between lines that the tool added up; they have no distribution.
    pub step: Option<f64>,
    added_up: bool,
    lines: Option<(u64, u64)>,
    failed: u64,
    skipped: u64,
}

/// What ended in a stretch of time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bucket {
    pub line: u64,
    pub count: f64,
    pub sum_ms: f64,
    pub min_ms: Option<f64>,
    pub max_ms: Option<f64>,
    /// By the names of figures: they add up.
    pub more: BTreeMap<&'static str, f64>,
}

impl Bucket {
    fn add(&mut self, other: &Self) {
        if self.line == 0 {
            self.line = other.line;
        }
        self.count += other.count;
        self.sum_ms += other.sum_ms;
        let or = |a: Option<f64>, b: Option<f64>, f: fn(f64, f64) -> f64| match (a, b) {
            (Some(a), Some(b)) => Some(f(a, b)),
            (a, b) => a.or(b),
        };
        self.min_ms = or(self.min_ms, other.min_ms, f64::min);
        self.max_ms = or(self.max_ms, other.max_ms, f64::max);
        for (name, n) in &other.more {
            *self.more.entry(name).or_default() += n;
        }
    }
}

impl Samples {
    /// A transaction of a type that ended at a moment, in seconds.
    pub fn transaction(&mut self, of: &str, end_s: f64, took_us: f64, line: u64) {
        let ms = took_us / 1000.0;
        self.place(
            end_s,
            Bucket {
                line,
                count: 1.0,
                sum_ms: ms,
                min_ms: Some(ms),
                max_ms: Some(ms),
                ..Bucket::default()
            },
        );
        let begin = end_s - took_us / 1e6;
        let (first, last) = self.span.unwrap_or((begin, end_s));
        self.span = Some((first.min(begin), last.max(end_s)));
        let took = Duration::from_nanos((took_us * 1000.0).round().clamp(0.0, 1e18) as u64);
        self.all.record(took);
        if let Some(known) = self.types.get_mut(of) {
            known.record(took);
        } else if !of.is_empty() && self.types.len() < MOST_TYPES {
            let mut one = Histogram::new();
            one.record(took);
            self.types.insert(of.chars().take(60).collect(), one);
        }
    }

    /// What adds up beside transactions.
    pub fn more(&mut self, at_s: f64, name: &'static str, n: f64, line: u64) {
        let more = BTreeMap::from([(name, n)]);
        self.place(
            at_s,
            Bucket {
                line,
                more,
                ..Bucket::default()
            },
        );
    }

    /// One that failed, or was never begun.
    pub fn without_end(&mut self, is_skipped: bool) {
        match is_skipped {
            true => self.skipped += 1,
            false => self.failed += 1,
        }
    }

    /// A line that the tool added up from a moment on.
    pub fn added_up(&mut self, begin_s: f64, one: Bucket) {
        self.added_up = true;
        if let Some((first, last)) = self.span {
            // Lines of one thread follow each other by the same step.
            let apart = begin_s - last;
            if apart > 0.0 {
                self.step = Some(self.step.map_or(apart, |s| s.min(apart)));
            }
            self.span = Some((first.min(begin_s), last.max(begin_s)));
        } else {
            self.span = Some((begin_s, begin_s));
        }
        self.place(begin_s, one);
    }

    fn place(&mut self, at_s: f64, one: Bucket) {
        let first = self.lines.map_or(one.line, |(first, _)| first);
        self.lines = Some((first, one.line));
        let origin = *self.origin.get_or_insert(at_s.floor());
        let seconds = (at_s - origin).floor().clamp(-1e12, 1e12) as i64;
        let width = self.width.max(1);
        self.width = width;
        let key = seconds.div_euclid(width);
        self.buckets.entry(key).or_default().add(&one);
        while self.buckets.len() > MOST_BUCKETS {
            let all = std::mem::take(&mut self.buckets);
            for (key, bucket) in all {
                self.buckets
                    .entry(key.div_euclid(2))
                    .or_default()
                    .add(&bucket);
            }
            self.width = self.width.saturating_mul(2);
        }
    }

    /// Hands intervals, figures and distributions over.
    pub fn end(self, draft: &mut Draft) {
        let (Some((first, last)), Some((line, last_line)), Some(origin)) =
            (self.span, self.lines, self.origin)
        else {
            return;
        };
        let asked = draft.option_number("aggregate-interval");
        let step = self.step.or(asked).unwrap_or(0.0);
        let mut width = self.width as f64;
        let mut elapsed = last - first;
        if self.added_up {
            width = width.max(step);
            elapsed += step;
        }
        // What counts from the first moment, with nothing where nothing ended.
        let mut begin = match self.added_up {
            true => first,
            false => origin,
        };
        let mut at = begin;
        let mut empty = (MOST_EMPTY + 4 * self.buckets.len()) as f64;
        for (key, bucket) in &self.buckets {
            let start = origin + (*key as f64) * self.width as f64;
            let gap = start - at;
            if gap > width / 2.0 {
                // A far-off time stamp is one long stretch, not thousands of empty ones.
                let parts = (gap / width).round().max(1.0);
                let parts = if parts > empty { 1.0 } else { parts };
                empty -= parts;
                let length = gap / parts;
                draft
                    .intervals
                    .extend((1..=parts as u64).map(|n| StatedInterval {
                        line: bucket.line,
                        end_s: at - begin + length * n as f64,
                        length_s: Some(length),
                        count: Some(0.0),
                        rate: Some(0.0),
                        ..StatedInterval::default()
                    }));
            }
            let end = match self.added_up {
                true => start + width,
                // What ends with the first moment of a bucket is in it all the same.
                false => (start + width).min(last.max(start + 0.001)),
            };
            let from = start.max(first);
            begin = begin.max(first).min(from);
            draft
                .intervals
                .push(interval(bucket, end - begin, end - from));
            at = start + width;
        }
        let exact = |value: f64| Number { value, decimals: 6 };
        let mut sum = Bucket::default();
        self.buckets.values().for_each(|b| sum.add(b));
        if elapsed > 0.0 {
            draft.figure("", "elapsed_s", exact(elapsed), line);
        }
        let whole = Number {
            value: sum.count,
            decimals: 0,
        };
        draft.figure("", "count", whole, line);
        if sum.count > 0.0 {
            draft.figure("", "mean_ms", exact(sum.sum_ms / sum.count), line);
        }
        for (name, ms) in [("min_ms", sum.min_ms), ("max_ms", sum.max_ms)] {
            if let Some(ms) = ms {
                draft.figure("", name, exact(ms), line);
            }
        }
        let mut others = sum.more;
        *others.entry("failed").or_default() += self.failed as f64;
        *others.entry("skipped").or_default() += self.skipped as f64;
        for (name, n) in others.iter().filter(|(_, n)| **n > 0.0) {
            draft.figure("", name, exact(*n), line);
        }
        if let Some(all) = others.get("requests").filter(|n| **n > 0.0) {
            let bad = others.get("requests_failed").copied().unwrap_or(0.0);
            draft.figure("", "error_share", exact(bad / all * 100.0), line);
        }
        if !self.added_up {
            // One script alone is the whole.
            let several = self.types.len() > 1 || draft.tool != "pgbench-log";
            for (of, one) in self.types.iter().filter(|_| several) {
                let ms = |ns: f64| exact(ns / 1e6);
                draft.figure(of, "count", exact(one.count() as f64), line);
                draft.figure(of, "mean_ms", ms(one.mean_ns()), line);
                draft.figure(of, "min_ms", ms(one.min_ns() as f64), line);
                draft.figure(of, "max_ms", ms(one.max_ns() as f64), line);
            }
            draft.histogram = Some(self.all);
        }
        draft.notes.push(format!(
            "lines {line} to {last_line} are a log: totals are counted from it"
        ));
    }
}

fn interval(bucket: &Bucket, end_s: f64, length: f64) -> StatedInterval {
    let length_s = Some(length).filter(|l| *l > 0.0);
    let mut more: BTreeMap<String, f64> = bucket
        .more
        .iter()
        .map(|(name, n)| ((*name).to_string(), *n))
        .collect();
    more.extend(bucket.min_ms.map(|ms| ("min_ms".to_string(), ms)));
    more.extend(bucket.max_ms.map(|ms| ("max_ms".to_string(), ms)));
    StatedInterval {
        line: bucket.line,
        end_s,
        length_s,
        count: Some(bucket.count),
        rate: length_s.map(|l| bucket.count / l),
        mean_ms: (bucket.count > 0.0).then(|| bucket.sum_ms / bucket.count),
        sum_ms: Some(bucket.sum_ms),
        more,
        ..StatedInterval::default()
    }
}
