//! How throughput grows with users: the Universal Scalability Law where it is sound, and Little's
//! law beside the measured figures.

use super::RunDigest;
use super::cell::PointResults;
use super::matrix::{AxisKind, LoadAxis, LoadCurve};
use serde::Serialize;
use tidemark_diagnosis::thresholds::LAW_FITS;
use tidemark_stats::{LoadPoint, Usl, UslError, mean};

/// So many times the throughput of the load before is more.
const RISING: f64 = 1.05;

/// A host busier than this has no processor time left for a higher load.
const SATURATED: f64 = 0.95;

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
    pub fn of(
        axis: Option<&LoadAxis>,
        series: &LoadCurve<'_>,
        cells: &[PointResults],
    ) -> Option<Self> {
        if !is_users_in_closed_loop(axis, series) {
            return None;
        }
        let usable = cells.iter().filter(|cell| cell.usable);
        let points: Vec<LoadPoint> = usable
            .flat_map(|cell| &cell.repeats)
            .map(|repeat| LoadPoint {
                load: repeat.users as f64,
                throughput: repeat.transactions_per_s,
            })
            .collect();
        let most = points.iter().map(|p| p.load).fold(0.0, f64::max);
        Some(match Usl::fit(&points) {
            Err(error) => Scaling::Not(error),
            Ok(usl) if usl.r_squared < LAW_FITS => Scaling::BadFit(usl.r_squared),
            Ok(usl) => Scaling::Fitted {
                usl,
                peak: peak(&usl, most),
                knee: usl.knee().filter(|k| k.load <= most),
            },
        })
    }
}

/// Whether the load is a number of users in closed loop without pauses.
pub(crate) fn is_users_in_closed_loop(axis: Option<&LoadAxis>, series: &LoadCurve<'_>) -> bool {
    let mut runs = series.points.iter().flat_map(|p| &p.runs);
    let is_other = |r: &RunDigest| r.thinks || r.open_loop || !r.queries.is_empty();
    axis.is_some_and(|a| a.kind == AxisKind::Users)
        && !runs.any(|run| run.counts() && is_other(run))
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
pub(crate) fn accounted(series: &LoadCurve<'_>, cells: &[PointResults]) -> Vec<Accounted> {
    let plain = |point: &super::matrix::CurvePoint<'_>| {
        let mut runs = point.runs.iter();
        runs.all(|r| !r.thinks && !r.open_loop && r.queries.is_empty())
    };
    let pairs = series.points.iter().zip(cells);
    pairs
        .filter(|(point, _)| plain(point))
        .filter_map(|(_, cell)| {
            // Of each repeat by itself: the product of means is not the mean of products.
            let repeats = cell.repeats.iter();
            let each: Vec<f64> = repeats.filter_map(|r| r.accounted()).collect();
            (!each.is_empty()).then(|| Accounted {
                users: cell.users as f64,
                usable: cell.usable,
                by_figures: mean(each.into_iter()),
            })
        })
        .collect()
}

/// Whether throughput at the highest load that may be used is clearly above that at the one before,
/// so that more was to be had. It takes three loads, repeats of the last two whose intervals lie
/// apart, and a client's host that still had processor time: a machine that is used up is a limit.
pub(crate) fn still_rises(series: &LoadCurve<'_>, cells: &[PointResults]) -> bool {
    let points = series.points.iter().zip(cells);
    let measured: Vec<_> = points.filter(|(_, cell)| cell.usable).collect();
    let [_, .., (_, before), (point, last)] = measured.as_slice() else {
        return false;
    };
    let busy = point.figured().into_iter().filter_map(|run| run.host_busy);
    let client_bound = |rule: &&str| *rule == "client-bound";
    let mut rules = point.figured().into_iter().flat_map(|run| &run.findings);
    let surely = last
        .transactions_per_s
        .zip(before.transactions_per_s)
        .is_some_and(|(last, before)| last.is_surely_above(&before));
    surely
        && last.tps() > before.tps() * RISING
        && busy.fold(0.0, f64::max) < SATURATED
        && !rules.any(|finding| client_bound(&finding.rule))
}
