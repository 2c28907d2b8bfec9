//! The scalability law of each series in words.

use super::document::runs_said;
use super::labels::factor_name;
use super::scaling::{Peak, Scaling};
use super::workload::MeasuredWorkload;
use crate::number::{three, whole};
use crate::texts::fill;

/// The law of one series.
pub(super) struct Fit {
    /// The series' name.
    pub name: String,
    pub scaling: Scaling,
    /// Results that it was not fitted to, because they must not be used.
    pub left_out: usize,
}

/// Of every series whose load is a number of users.
pub(super) fn fits(m: &MeasuredWorkload<'_, '_>) -> Vec<Fit> {
    let axis = m.workload.axis.as_ref();
    let fits = m.series().filter_map(|(series, cells)| {
        Some(Fit {
            name: m.name(series),
            scaling: Scaling::of(axis, series, cells)?,
            left_out: series.points.iter().map(|p| p.invalid().count()).sum(),
        })
    });
    fits.collect()
}

/// Each series' fit in words, or why there is none.
pub(super) fn says(m: &MeasuredWorkload<'_, '_>, fits: &[Fit]) -> Vec<String> {
    let several = fits.len() > 1;
    let said = fits.iter().map(|fit| {
        let mut says = sentence(m, &fit.scaling);
        if fit.left_out > 0 {
            let runs = runs_said(m.s.t, fit.left_out);
            says += m.s.common.gap;
            says += &fill(m.s.t.law_without, &[("runs", &runs)]);
        }
        match several {
            true => format!("{}{}{says}", fit.name, m.s.common.colon),
            false => says,
        }
    });
    said.collect()
}

fn sentence(m: &MeasuredWorkload<'_, '_>, scaling: &Scaling) -> String {
    let t = m.s.t;
    let axis = m.workload.axis.as_ref();
    let name = axis.map_or("", |a| factor_name(t, &a.name)).to_lowercase();
    let usable = m.points().filter(|(_, _, cell)| cell.usable);
    let most = usable.filter_map(|(_, p, _)| Some(p.load.as_ref()?.0));
    let most = three(most.fold(0.0, f64::max));
    let (usl, peak, knee) = match scaling {
        Scaling::Fitted { usl, peak, knee } => (usl, peak, knee),
        Scaling::BadFit(r2) => return fill(t.usl_bad_fit, &[("r2", &three(r2 * 100.0))]),
        Scaling::Not(tidemark_stats::UslError::TooFewLoads(n)) => {
            return fill(t.usl_few, &[("loads", &n.to_string())]);
        }
        Scaling::Not(_) => return t.usl_none.into(),
    };
    let percent = |v: f64| three(v * 100.0);
    let (sigma, kappa) = (usl.sigma, usl.kappa);
    let mut said = vec![fill(
        t.usl_says,
        &[
            ("sigma", &percent(sigma.value)),
            ("sigma_low", &percent(sigma.interval.0)),
            ("sigma_high", &percent(sigma.interval.1)),
            ("kappa", &small(kappa.value)),
            ("kappa_low", &small(kappa.interval.0)),
            ("kappa_high", &small(kappa.interval.1)),
            ("lambda", &three(usl.lambda.value)),
            ("r2", &percent(usl.r_squared)),
        ],
    )];
    if let Some(knee) = knee {
        let load = whole(knee.load.round() as u64);
        said.push(fill(t.usl_knee, &[("load", &load), ("name", &name)]));
    }
    said.push(match peak {
        Peak::At { point, loads } => {
            let users = |v: f64| whole(v.round() as u64);
            fill(
                t.usl_peak,
                &[
                    ("load", &users(point.load)),
                    ("low", &users(loads.0)),
                    ("high", &users(loads.1)),
                    ("tps", &three(point.throughput)),
                    ("name", &name),
                ],
            )
        }
        Peak::Beyond => fill(t.usl_beyond, &[("most", &most), ("name", &name)]),
        Peak::Unsure => t.usl_unsure.into(),
    });
    said.join(m.s.common.gap)
}

/// Coherency is a few millionths as often as not.
fn small(value: f64) -> String {
    if value > 0.0 && value < 0.0001 {
        format!("{value:.2e}")
    } else {
        three(value)
    }
}
