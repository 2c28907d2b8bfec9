//! What marks points: an outline for each series, so that lines are told apart without colour.

use super::canvas::MOST_SERIES;

/// Half the size of a marker.
pub(super) const MARKER: i32 = 15;

/// The outline of a series' marker around its point: circle, square, triangle, diamond, triangle on
/// its tip, cross.
pub(super) fn shape(series: usize, half: i32) -> Vec<(i32, i32)> {
    let h = half;
    let (third, most) = (h / 3, h * 9 / 10);
    match series % MOST_SERIES {
        0 => (0..16)
            .map(|n| (f64::from(n) * std::f64::consts::TAU / 16.0).sin_cos())
            .map(|(sin, cos)| ((sin * f64::from(h)) as i32, (cos * f64::from(h)) as i32))
            .collect(),
        1 => vec![(-most, -most), (most, -most), (most, most), (-most, most)],
        2 => vec![(0, -h), (h, most), (-h, most)],
        3 => vec![(0, -h - 3), (h + 3, 0), (0, h + 3), (-h - 3, 0)],
        4 => vec![(0, h), (h, -most), (-h, -most)],
        _ => vec![
            (-third, -h),
            (third, -h),
            (third, -third),
            (h, -third),
            (h, third),
            (third, third),
            (third, h),
            (-third, h),
            (-third, third),
            (-h, third),
            (-h, -third),
            (-third, -third),
        ],
    }
}

/// The outline of a cross around its point, arms to the corners: no series' marker.
pub(super) fn cross(half: i32) -> Vec<(i32, i32)> {
    let (h, w) = (half, half / 3);
    let (upper, lower) = (
        [
            (-h, w - h),
            (w - h, -h),
            (0, -w),
            (h - w, -h),
            (h, w - h),
            (w, 0),
        ],
        [
            (h, h - w),
            (h - w, h),
            (0, w),
            (w - h, h),
            (-h, h - w),
            (-w, 0),
        ],
    );
    [upper, lower].concat()
}
