//! Figures over the time of a run: one number every so often, kept compactly.
//!
//! Whatever watches a run beside the load gives [`Series`]: the client's host, a server's status, a
//! Prometheus endpoint. A series holds whole numbers: each value in units of its last digit
//! ([`Series::digits`]). They are stored as differences, zigzag and LEB128 (<https://protobuf.dev/programming-guides/encoding/>),
//! deflated, in base64, so that a record stays JSON; an hour of a figure that hardly moves is about a
//! hundred bytes. Points that are missing cost nothing but the distance to the next one.
//!
//! ```
//! use tidemark_core::series::{Measures, SeriesBuilder, SeriesKey};
//! let key = SeriesKey::new("client-host", "memory.used", "bytes", Measures::Gauge);
//! let mut builder = SeriesBuilder::new(key, 0, 1000);
//! for second in 0..60 {
//!     builder.push(second * 1000, 8e9);
//! }
//! let series = builder.series().unwrap();
//! assert_eq!(series.count, 60);
//! assert_eq!(series.summary()?.unwrap().mean, 8e9);
//! # Ok::<(), tidemark_core::series::SeriesError>(())
//! ```

mod builder;
mod packed;

pub use builder::{SeriesBuilder, join};

use packed::Packed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// So many points one series may hold: forty-eight days of one a second. It bounds what reading takes.
pub const MOST_POINTS: u64 = 1 << 22;
/// The least and the greatest number of decimal digits: an `f64` has no more.
pub const DIGITS: std::ops::RangeInclusive<i8> = -15..=15;

/// What a point tells.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Measures {
    /// What was there when it was looked at: memory in use.
    #[default]
    Gauge,
    /// What happened in the time of the point, for each second of it: bytes a second.
    Rate,
}

/// What a series is of. Two series of a record never have the same.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct SeriesKey {
    /// Who gave it: `client-host`.
    pub source: String,
    /// What it is, in the source's words: `cpu.busy`.
    pub name: String,
    /// What its values are counted in: `bytes`, `bytes/s`, `ratio`.
    pub unit: String,
    /// What a point tells.
    pub measures: Measures,
    /// What tells it from others of its name: `core` = `0`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl SeriesKey {
    /// One without labels.
    pub fn new(source: &str, name: &str, unit: &str, measures: Measures) -> Self {
        Self {
            source: source.into(),
            name: name.into(),
            unit: unit.into(),
            measures,
            labels: BTreeMap::new(),
        }
    }

    /// The same with one more label.
    #[must_use]
    pub fn with(mut self, label: &str, value: impl ToString) -> Self {
        self.labels.insert(label.into(), value.to_string());
        self
    }
}

/// One figure over the time of a run.
///
/// Time goes in steps: point `n` of a gapless series is of the time from `start_ms + n * step_ms` to
/// the next one. Where points are missing, `gaps` tells how many steps each is after the one before;
/// irregular times are steps of one millisecond.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// What it is of.
    #[serde(flatten)]
    pub key: SeriesKey,
    /// Begin of the first point, in milliseconds from the start of the measurement (negative in
    /// warm-up).
    pub start_ms: i64,
    /// The resolution in milliseconds.
    pub step_ms: u32,
    /// Decimal digits behind the point of each value; negative: zeros before it.
    #[serde(default)]
    pub digits: i8,
    /// How many points there are.
    pub count: u64,
    /// Their values: differences of whole numbers of `10^-digits`.
    values: Packed,
    /// Steps from each point to the one before it, where they are not all one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gaps: Option<Packed>,
}

/// One value at its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Begin of its time, in milliseconds from the start of the measurement.
    pub at_ms: i64,
    /// The value.
    pub value: f64,
}

/// Several points as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// Begin of its time, in milliseconds from the start of the measurement.
    pub at_ms: i64,
    /// How many points.
    pub count: u64,
    /// The mean of their values.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Bucket {
    /// A point alone.
    pub fn of(point: Point) -> Self {
        let Point { at_ms, value } = point;
        let (mean, min, max) = (value, value, value);
        Self {
            at_ms,
            count: 1,
            mean,
            min,
            max,
        }
    }

    /// One more value of its time.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.mean += (value - self.mean) / self.count as f64;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }
}

/// Why a series can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeriesError {
    /// More points than a series may have.
    #[error("the series {0:?} has {1} points; at most {MOST_POINTS} can be read")]
    TooMany(String, u64),
    /// A resolution of nothing.
    #[error("the series {0:?} has a step of 0 ms")]
    NoStep(String),
    /// More digits than numbers have.
    #[error("the series {0:?} has {1} digits; use -15 to 15")]
    Digits(String, i8),
    /// Its values, or the gaps between them, are not what a series holds.
    #[error("the series {0:?} is damaged: {1}")]
    Damaged(String, &'static str),
}

impl Series {
    /// Its points, in order of their times, one by one: nothing is read ahead. After an error come no
    /// more.
    ///
    /// # Errors
    /// [`SeriesError`] of a series whose head is wrong; the iterator's, of one that ends too soon.
    pub fn points(&self) -> Result<impl Iterator<Item = Result<Point, SeriesError>>, SeriesError> {
        let name = || self.key.name.clone();
        if self.count > MOST_POINTS {
            return Err(SeriesError::TooMany(name(), self.count));
        }
        if self.step_ms == 0 {
            return Err(SeriesError::NoStep(name()));
        }
        if !DIGITS.contains(&self.digits) {
            return Err(SeriesError::Digits(name(), self.digits));
        }
        let damaged = |what| SeriesError::Damaged(self.key.name.clone(), what);
        let unit = Digits(self.digits);
        let mut values = self.values.numbers().map_err(damaged)?;
        let gaps = self.gaps.as_ref().map(|gaps| gaps.numbers());
        let mut gaps = gaps.transpose().map_err(damaged)?;
        let (mut at, mut whole) = (i128::from(self.start_ms), 0_i64);
        let (mut left, mut first) = (self.count, true);
        Ok(std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let mut point = || {
                let steps = match (std::mem::take(&mut first), &mut gaps) {
                    (true, _) => 0,
                    (false, None) => 1,
                    (false, Some(gaps)) => gaps.next()?,
                };
                at += i128::from(steps) * i128::from(self.step_ms);
                let at_ms = i64::try_from(at).map_err(|_| "its times are out of range")?;
                whole = whole.wrapping_add(packed::signed(values.next()?));
                let value = unit.value(whole);
                Ok(Point { at_ms, value })
            };
            let point = point().map_err(damaged);
            if point.is_err() {
                left = 0;
            }
            Some(point)
        }))
    }

    /// Its points as at most so many, each of the same stretch of time; stretches without points are
    /// left out.
    ///
    /// # Errors
    /// [`SeriesError`] of a series that can't be read whole.
    pub fn downsampled(&self, most: usize) -> Result<Vec<Bucket>, SeriesError> {
        let last = self.points()?.last().transpose()?;
        let span =
            last.map_or(0, |p| p.at_ms.abs_diff(self.start_ms)) / u64::from(self.step_ms) + 1;
        let steps = span.div_ceil(most.max(1) as u64);
        let width = u128::from(steps) * u128::from(self.step_ms);
        let mut buckets: Vec<(u128, Bucket)> = Vec::new();
        for point in self.points()? {
            let point = point?;
            let number = u128::from(point.at_ms.abs_diff(self.start_ms)) / width;
            match buckets.last_mut() {
                Some((of, bucket)) if *of == number => bucket.add(point.value),
                _ => buckets.push((number, Bucket::of(point))),
            }
        }
        Ok(buckets.into_iter().map(|(_, bucket)| bucket).collect())
    }

    /// All of it as one; `None` of a series without points.
    ///
    /// # Errors
    /// [`SeriesError`] of a series that can't be read whole.
    pub fn summary(&self) -> Result<Option<Bucket>, SeriesError> {
        Ok(self.downsampled(1)?.pop())
    }
}

/// Values as whole numbers of their last digit.
#[derive(Debug, Clone, Copy)]
struct Digits(i8);

impl Digits {
    fn power(self) -> f64 {
        10_f64.powi(i32::from(self.0.unsigned_abs()))
    }

    fn value(self, whole: i64) -> f64 {
        match self.0 < 0 {
            true => whole as f64 * self.power(),
            false => whole as f64 / self.power(),
        }
    }

    /// `None` of what is no number, or has no room.
    fn whole(self, value: f64) -> Option<i64> {
        let whole = match self.0 < 0 {
            true => value / self.power(),
            false => value * self.power(),
        };
        // Beyond it an i64 holds no neighbour of an f64.
        let fits = whole.is_finite() && whole.abs() <= 9e18;
        fits.then(|| whole.round() as i64)
    }
}

/// A stretch of what one source gave of a run. It takes the place of what was there of this source
/// under its number: a stretch is written again and again while it grows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesChunk {
    /// The source.
    pub source: String,
    /// The stretch's number, from 0.
    pub number: u32,
    /// One piece of each series, each with points.
    pub series: Vec<Series>,
}
