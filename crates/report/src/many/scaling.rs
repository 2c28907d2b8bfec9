//! How throughput grows with users: the Universal Scalability Law where it is sound, and Little's
//! law beside the measured figures.

use super::cell::Cell;
use super::matrix::{AxisKind, LoadAxis, Series};
use serde::Serialize;
use tidemark_stats::{LoadPoint, Usl, UslError, mean};

/// A fit that explains less than this of the variance is of another law: of noise alone it explains
/// nothing, of saturating throughputs nearly all.
const LEAST_R_SQUARED: f64 = 0.9;

/// So many times the throughput of the load before is more.
const RISING: f64 = 1.05;

/// What the law says of a series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scaling {
    /// It fits.
    Fitted {
        usl: Usl,
        /// Where throughput is highest, if that is shown.
        peak: Peak,
        /// Where users begin to wait mostly for each other; absent beyond what was measured.
        knee: Option<LoadPoint>,
    },
    /// It explains too little of the throughputs.
    BadFit(f64),
    /// It was not fitted.
    Not(UslError),
}

/// What is known of the load with the highest throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Peak {
    /// It lies in the range that was measured, and within `loads` with 95 % confidence.
    At { point: LoadPoint, loads: (f64, f64) },
    /// It lies beyond.
    Beyond,
    /// Coherency can't be told from none.
    Unsure,
}

impl Scaling {
    /// `None` where the load is no number of users in closed loop without pauses.
    pub fn of(axis: Option<&LoadAxis>, series: &Series<'_>) -> Option<Self> {
        if axis.is_none_or(|a| a.kind != AxisKind::Users) {
            return None;
        }
        let runs = || series.points.iter().flat_map(|p| &p.runs);
        if runs()
            .filter(|r| r.counts())
            .any(|r| r.thinks || r.open_loop || !r.queries.is_empty())
        {
            return None;
        }
        let points: Vec<LoadPoint> = runs()
            .filter(|r| r.usable)
            .map(|r| LoadPoint {
                load: r.users() as f64,
                throughput: r.transactions_per_s,
            })
            .collect();
        let most = points.iter().map(|p| p.load).fold(0.0, f64::max);
        Some(match Usl::fit(&points) {
            Err(error) => Scaling::Not(error),
            Ok(usl) if usl.r_squared < LEAST_R_SQUARED => Scaling::BadFit(usl.r_squared),
            Ok(usl) => Scaling::Fitted {
                usl,
                peak: peak(&usl, most),
                knee: usl.knee().filter(|k| k.load <= most),
            },
        })
    }
}

/// The interval of the peak is that of both parameters at their extremes, which is wider than it
/// need be and never too narrow.
fn peak(usl: &Usl, most: f64) -> Peak {
    let at = |sigma: f64, kappa: f64| ((1.0 - sigma).max(0.0) / kappa).sqrt();
    match usl.peak() {
        _ if usl.kappa.interval.0 <= 0.0 => Peak::Unsure,
        Some(point) if point.load <= most => Peak::At {
            point,
            loads: (
                at(usl.sigma.interval.1, usl.kappa.interval.1),
                at(usl.sigma.interval.0, usl.kappa.interval.0),
            ),
        },
        _ => Peak::Beyond,
    }
}

/// Users that a point's figures account for, beside those that ran (Little 1961).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Accounted {
    pub users: f64,
    pub by_figures: f64,
    /// Whether the figures may be used.
    pub usable: bool,
}

/// Of each point with a result; none where users pause or arrivals come on a schedule: there the
/// law speaks of something else.
pub(crate) fn accounted(series: &Series<'_>, cells: &[Cell]) -> Vec<Accounted> {
    let plain = |point: &super::matrix::Point<'_>| {
        let mut runs = point.runs.iter();
        runs.all(|r| !r.thinks && !r.open_loop && r.queries.is_empty())
    };
    let pairs = series.points.iter().zip(cells);
    pairs
        .filter(|(point, _)| plain(point))
        .filter_map(|(point, cell)| {
            // Of each run by itself: the product of means is not the mean of products.
            let runs = point.figured().into_iter();
            let each: Vec<f64> = runs
                .filter_map(|r| {
                    Some(r.transactions_per_s * r.latency?.mean_ms / 1000.0 + r.between)
                })
                .collect();
            (!each.is_empty()).then(|| Accounted {
                users: cell.users as f64,
                usable: cell.usable,
                by_figures: mean(each.into_iter()),
            })
        })
        .collect()
}

/// Whether throughput at the highest load that may be used is clearly above that at the one before:
/// not by chance, as far as repeats tell.
pub(crate) fn still_rises(cells: &[Cell]) -> bool {
    let measured: Vec<&Cell> = cells.iter().filter(|c| c.usable).collect();
    match measured.as_slice() {
        [.., before, last] => {
            let low = last.transactions_per_s.map_or(0.0, |t| t.low());
            let high = before.transactions_per_s.map_or(0.0, |t| t.high());
            last.tps() > before.tps() * RISING && low > high
        }
        _ => false,
    }
}
