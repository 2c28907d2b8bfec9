//! Axes with ticks at round values.

use crate::number::three;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;

/// Loads that span more than this are drawn on a logarithmic axis.
const MANY_TIMES: f64 = 16.0;
/// What a character of a label takes, and what is between two labels, on the picture.
const CHARACTER: f64 = 21.0;
const BETWEEN: f64 = 24.0;

/// One axis: a linear range with its ticks. A logarithmic axis is a linear one of logarithms.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    range: Range<f64>,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From zero to at least `high`, which may be zero.
    pub fn from_zero(high: f64) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let step = round_step(high, 5);
        let top = (high / step).ceil() * step;
        Self::linear(0.0..top, step, tick_label)
    }

    /// As [`Axis::from_zero`], labelled at both ends alone: for pictures that have no room for more.
    pub fn ends(high: f64, label: impl Fn(f64) -> String) -> Self {
        let Self { range, .. } = Self::from_zero(high);
        let ticks = [range.start, range.end].map(|v| (v, label(v))).to_vec();
        Self { range, ticks }
    }

    /// Seconds; ticks in seconds, or in minutes where those would be many.
    pub fn time(range_s: Range<f64>, unit_s: f64) -> Self {
        let step = round_step((range_s.end - range_s.start) / unit_s, 8) * unit_s;
        Self::linear(range_s, step, |s| tick_label(s / unit_s))
    }

    fn linear(range: Range<f64>, step: f64, label: impl Fn(f64) -> String) -> Self {
        let first = (range.start / step).ceil() as i64;
        let last = (range.end / step + 1e-9).floor() as i64;
        let ticks = (first..=last)
            .map(|n| n as f64 * step)
            .map(|v| (v, label(v)))
            .collect();
        Self { range, ticks }
    }

    /// Powers of ten around the values, with 2 and 5 between them where there is room. Give
    /// positive values; place points with `log10`.
    pub fn logarithmic(low: f64, high: f64) -> Self {
        let (low, high) = if low > 0.0 && high >= low {
            (low, high)
        } else {
            (0.1, 1.0)
        };
        let below = |v: f64| largest_round(v, |round| round <= v * 1.000_001);
        let low = below(low);
        let mut top = below(high);
        if top < high {
            top = next_round(top);
        }
        if top <= low {
            top = next_round(low);
        }
        let few = (top / low).log10() <= 3.0;
        let mut ticks = Vec::new();
        let mut value = low;
        while value <= top * 1.000_001 {
            if few || is_power_of_ten(value) {
                ticks.push((value.log10(), tick_label(value)));
            }
            value = next_round(value);
        }
        Self {
            range: low.log10()..top.log10(),
            ticks,
        }
    }

    /// Ticks at the loads that were measured: from zero, or logarithmic where the largest is many
    /// times the smallest. Returns also whether it is; place points with `log10` then. Labels that
    /// have no room on an axis of that length are left out.
    pub fn loads(loads: &[(f64, String)], length: f64) -> (Self, bool) {
        let low = loads.iter().map(|(v, _)| *v).fold(f64::INFINITY, f64::min);
        let high = loads.iter().map(|(v, _)| *v).fold(0.0, f64::max);
        let logarithmic = low > 0.0 && high >= low * MANY_TIMES;
        let (range, place): (Range<f64>, fn(f64) -> f64) = if logarithmic {
            let margin = (high / low).log10() / 24.0;
            (low.log10() - margin..high.log10() + margin, f64::log10)
        } else {
            let high = if high > 0.0 { high } else { 1.0 };
            // A point at zero does not lie on the labels of the other axis.
            let start = if low > 0.0 { 0.0 } else { high * -0.04 };
            (start..high * 1.05, |v| v)
        };
        let unit = (range.end - range.start) / length;
        let half = |label: &str| label.chars().count() as f64 * CHARACTER / 2.0;
        let mut ticks: Vec<(f64, String)> = Vec::new();
        let mut sorted: Vec<&(f64, String)> = loads.iter().collect();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
        // From the largest, which is the one to read.
        for (value, label) in sorted {
            let at = place(*value);
            let room = |other: &str| (half(other) + half(label) + BETWEEN) * unit;
            if ticks
                .last()
                .is_none_or(|(last, other)| last - at >= room(other))
            {
                ticks.push((at, label.clone()));
            }
        }
        ticks.reverse();
        (Self { range, ticks }, logarithmic)
    }

    /// Percentiles, each nine as wide as the last: `x` of a share is [`Axis::nines`].
    pub fn percentiles(highest: f64) -> Self {
        let end = Self::nines(highest).clamp(1.0, 6.0);
        let ticks = [
            (0.0, "0"),
            (0.5, "50"),
            (0.9, "90"),
            (0.99, "99"),
            (0.999, "99.9"),
            (0.9999, "99.99"),
            (0.99999, "99.999"),
            (0.999999, "99.9999"),
        ];
        Self {
            range: 0.0..end,
            ticks: ticks
                .iter()
                .map(|(share, label)| (Self::nines(*share), (*label).to_string()))
                .filter(|(x, _)| *x <= end)
                .collect(),
        }
    }

    /// 0 for 0 %, 1 for 90 %, 2 for 99 %.
    pub fn nines(share: f64) -> f64 {
        -(1.0 - share).max(1e-9).log10()
    }

    pub fn range_start(&self) -> f64 {
        self.range.start
    }

    pub fn end(&self) -> f64 {
        self.range.end
    }

    pub fn label(&self, value: f64) -> String {
        let near = |tick: &&(f64, String)| {
            (tick.0 - value).abs() <= 1e-6 * (self.range.end - self.range.start)
        };
        let tick = self.ticks.iter().find(near);
        tick.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let span = self.range.end - self.range.start;
        let share = ((value - self.range.start) / span).clamp(0.0, 1.0);
        let length = f64::from(limit.1 - limit.0);
        limit.0 + (share * length).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // The second, lighter grid is not drawn.
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.iter().map(|(v, _)| *v).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// 1, 2 or 5 times a power of ten, so that `span` has at most `most` steps.
fn round_step(span: f64, most: u32) -> f64 {
    let raw = (span / f64::from(most)).max(f64::MIN_POSITIVE);
    let step = largest_round(raw, |round| round <= raw * 1.000_001);
    if step < raw { next_round(step) } else { step }
}

fn largest_round(value: f64, fits: impl Fn(f64) -> bool) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0]
        .iter()
        .map(|m| m * power)
        .find(|v| fits(*v))
        .unwrap_or(power)
}

/// The next of 1, 2, 5, 10, 20, …
fn next_round(value: f64) -> f64 {
    let power = 10f64.powf((value * 1.000_001).log10().floor());
    let mantissa = value / power;
    if mantissa < 1.5 {
        2.0 * power
    } else if mantissa < 3.5 {
        5.0 * power
    } else {
        10.0 * power
    }
}

fn is_power_of_ten(value: f64) -> bool {
    let log = value.log10();
    (log - log.round()).abs() < 1e-6
}

/// Round values need no trailing zeros: `0.5`, `1`, `2.5`, `2,000`.
fn tick_label(value: f64) -> String {
    let text = three(value);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}

/// A round value in few characters: `250`, `20k`, `1.5M`.
pub(crate) fn short_label(value: f64) -> String {
    let (by, unit) = match value {
        v if v >= 1e9 => (1e9, "G"),
        v if v >= 1e6 => (1e6, "M"),
        v if v >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{}{unit}", tick_label(value / by))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, l)| l.as_str()).collect()
    }

    #[test]
    fn an_axis_from_zero_covers_its_values_with_round_ticks() {
        let axis = Axis::from_zero(3400.0);
        assert_eq!(labels(&axis), ["0", "1,000", "2,000", "3,000", "4,000"]);
        assert_eq!(axis.range(), 0.0..4000.0);
        assert_eq!(Axis::from_zero(0.0).range(), 0.0..1.0);
        assert_eq!(Axis::from_zero(5.0).range().end, 5.0);
    }

    #[test]
    fn a_logarithmic_axis_covers_its_values() {
        let axis = Axis::logarithmic(0.31, 18.0);
        assert_eq!(labels(&axis), ["0.2", "0.5", "1", "2", "5", "10", "20"]);
        assert!((axis.range().start - 0.2f64.log10()).abs() < 1e-9);
        let wide = Axis::logarithmic(0.01, 90_000.0);
        assert_eq!(
            labels(&wide),
            [
                "0.01", "0.1", "1", "10", "100", "1,000", "10,000", "100,000"
            ]
        );
        let one = Axis::logarithmic(1.0, 1.0);
        assert_eq!(labels(&one), ["1", "2"]);
        for (low, high) in [(0.0, 0.0), (f64::NAN, 1.0), (5.0, 1.0)] {
            assert!(!Axis::logarithmic(low, high).ticks.is_empty());
        }
    }

    #[test]
    fn an_axis_without_room_has_short_labels_at_its_ends() {
        let axis = Axis::ends(13_200.0, short_label);
        assert_eq!(labels(&axis), ["0", "15k"]);
        assert_eq!(axis.range(), 0.0..15_000.0);
        let short = [4.0, 2500.0, 1.5e6, 2e9].map(short_label);
        assert_eq!(short, ["4", "2,500", "1.5M", "2G"]);
    }

    #[test]
    fn each_nine_is_as_wide_as_the_last() {
        let axis = Axis::percentiles(0.99995);
        assert_eq!(labels(&axis), ["0", "50", "90", "99", "99.9", "99.99"]);
        assert!((Axis::nines(0.999) - 3.0).abs() < 1e-9);
        assert!(Axis::nines(1.0).is_finite());
    }

    #[test]
    fn time_has_ticks_at_round_seconds_or_minutes() {
        assert_eq!(
            labels(&Axis::time(-5.0..60.0, 1.0)),
            ["0", "10", "20", "30", "40", "50", "60"]
        );
        let hour = Axis::time(0.0..3600.0, 60.0);
        assert_eq!(hour.ticks.len(), 7);
        assert_eq!(hour.ticks[6].0, 3600.0);
    }
}
