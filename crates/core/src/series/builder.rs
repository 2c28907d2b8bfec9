//! Making a series point by point.

use super::packed::{Packed, append, unsigned};
use super::{DIGITS, Digits, MOST_POINTS, Series, SeriesError, SeriesKey};
use std::collections::HashMap;

/// Takes points in the order of their times and makes a [`Series`] of them.
#[derive(Debug, Clone)]
pub struct SeriesBuilder {
    key: SeriesKey,
    step_ms: u32,
    digits: i8,
    start_ms: i64,
    count: u64,
    last_ms: i64,
    last: i64,
    values: Vec<u8>,
    gaps: Vec<u8>,
    gapless: bool,
}

impl SeriesBuilder {
    /// A series with so many digits behind the point (negative: zeros before it) and a resolution in
    /// milliseconds; irregular times have 1. What is out of bounds is taken as the nearest bound.
    pub fn new(key: SeriesKey, digits: i8, step_ms: u32) -> Self {
        Self {
            key,
            step_ms: step_ms.max(1),
            digits: digits.clamp(*DIGITS.start(), *DIGITS.end()),
            start_ms: 0,
            count: 0,
            last_ms: 0,
            last: 0,
            values: Vec::new(),
            gaps: Vec::new(),
            gapless: true,
        }
    }

    /// Appends a value whose time begins at `at_ms` (taken as the step it is in, counted from the
    /// first point). Returns whether it was taken: a value that is no number, or too large, is a gap;
    /// so is a time that is not after the last one, and what is too much for one series.
    pub fn push(&mut self, at_ms: i64, value: f64) -> bool {
        let Some(whole) = Digits(self.digits).whole(value) else {
            return false;
        };
        let step = i64::from(self.step_ms);
        if self.count == 0 {
            (self.start_ms, self.last_ms) = (at_ms, at_ms);
        } else {
            let steps = at_ms.saturating_sub(self.last_ms).div_euclid(step);
            if steps < 1 || self.count >= MOST_POINTS {
                return false;
            }
            self.last_ms += steps * step;
            self.gapless &= steps == 1;
            append(&mut self.gaps, steps.unsigned_abs());
        }
        append(&mut self.values, unsigned(whole.wrapping_sub(self.last)));
        self.last = whole;
        self.count += 1;
        true
    }

    /// How many points there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The series of what was pushed until now; `None` where that is nothing.
    pub fn series(&self) -> Option<Series> {
        self.packed(Packed::of)
    }

    /// The same of a series that will have more points: not compressed, which takes least to make.
    pub fn unfinished(&self) -> Option<Series> {
        self.packed(Packed::stored)
    }

    fn packed(&self, pack: impl Fn(&[u8]) -> Packed) -> Option<Series> {
        (self.count > 0).then(|| Series {
            key: self.key.clone(),
            start_ms: self.start_ms,
            step_ms: self.step_ms,
            digits: self.digits,
            count: self.count,
            values: pack(&self.values),
            gaps: (!self.gapless).then(|| pack(&self.gaps)),
        })
    }

    /// Lets go of what was pushed: the next point is the first of another series.
    pub fn clear(&mut self) {
        (self.count, self.last, self.gapless) = (0, 0, true);
        self.values.clear();
        self.gaps.clear();
    }
}

/// One series of each key out of pieces that follow each other, in the order in which keys come first.
/// Pieces of which one can't be read stay as they are.
pub fn join(pieces: Vec<Series>) -> Vec<Series> {
    let mut groups: Vec<Vec<Series>> = Vec::new();
    let mut places = HashMap::new();
    for piece in pieces {
        let place = *places.entry(piece.key.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(piece),
            None => groups.push(vec![piece]),
        }
    }
    let joined = groups.into_iter().flat_map(|group| match one(&group) {
        Ok(Some(series)) => vec![series],
        _ => group,
    });
    joined.collect()
}

fn one(pieces: &[Series]) -> Result<Option<Series>, SeriesError> {
    let (Some(first), true) = (pieces.first(), pieces.len() > 1) else {
        return Ok(None);
    };
    let mut builder = SeriesBuilder::new(first.key.clone(), first.digits, first.step_ms);
    for piece in pieces {
        for point in piece.points()? {
            let point = point?;
            builder.push(point.at_ms, point.value);
        }
    }
    Ok(builder.series())
}
