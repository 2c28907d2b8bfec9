//! A figure that an author's text refers to.

use super::cell::{PointResults, Repeated};
use super::document::{Sources, cells};
use super::marks::marked;
use super::matrix::{CurvePoint, FactorOrder, LoadCurve, Matrix, Workload};
use super::texts::{self, Texts};
use super::{Many, RunDigest};
use crate::authored::Reference;
use crate::number::{three, whole};
use crate::texts::Lang;
use std::collections::BTreeSet;
use tidemark_core::did_you_mean;
use tidemark_core::record::RateUnit;

type Get = fn(&PointResults) -> Option<f64>;

/// Metrics by name. Latencies are in milliseconds.
static METRICS: [(&str, Get); 16] = [
    ("tps", |c| mean(c.only_transactions_per_s)),
    ("qps", |c| mean(c.statements_per_s).filter(|n| *n > 0.0)),
    ("mean", |c| mean(c.mean_ms)),
    ("p50", |c| mean(c.p50_ms)),
    ("p95", |c| mean(c.p95_ms)),
    ("p99", |c| mean(c.p99_ms)),
    ("max", |c| c.max_ms),
    ("errors", |c| c.errors.map(|n| n as f64)),
    ("errors/s", |c| c.errors_per_s),
    ("cpu", |c| mean(c.client_cpu_percent)),
    ("NOPM", |c| {
        let is_it = c.rate_unit == RateUnit::NewOrders;
        mean(c.transactions_per_s).filter(|_| is_it)
    }),
    ("TPM", |c| mean(c.tpm)),
    ("tpmC", |c| mean(c.tpmc)),
    ("efficiency", |c| mean(c.efficiency_percent)),
    ("price", |c| mean(c.price_per_tpmc)),
    ("QphH", |c| mean(c.qphh)),
];

/// So many values are named in a message.
const NAMED: usize = 8;

fn mean(of: Option<Repeated>) -> Option<f64> {
    of.map(|of| of.value)
}

/// One point of the matrix.
struct PointContext<'m> {
    workload: &'m Workload<'m>,
    series: &'m LoadCurve<'m>,
    point: &'m CurvePoint<'m>,
    cell: &'m PointResults,
}

/// The figure that a reference stands for, marked where it must not be used.
///
/// # Errors
/// Why there is none, or not one alone, and what would name one.
pub(super) fn of(s: &Sources<'_>, reference: &Reference) -> Result<String, String> {
    let (_, get) = METRICS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(&reference.metric))
        .ok_or_else(|| {
            let names = METRICS.map(|(name, _)| name);
            format!(
                "metric {:?} is not known; there are {}{}",
                reference.metric,
                names.join(", "),
                did_you_mean(&reference.metric, names)
            )
        })?;
    let mut places = all(s);
    if places.is_empty() {
        return Err("there is no result".into());
    }
    for (name, value) in &reference.of {
        let values: BTreeSet<String> = places.iter().filter_map(|p| p.value(name)).collect();
        if values.is_empty() {
            let names = names(&places);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(format!(
                "no result has {name:?}; results have {}{}",
                names.join(", "),
                did_you_mean(name, names.iter().copied())
            ));
        }
        places.retain(|p| p.value(name).as_ref() == Some(value));
        if places.is_empty() {
            let known: Vec<&str> = values.iter().map(String::as_str).collect();
            return Err(format!(
                "no result has {name}={value}; there {} {}{}",
                if known.len() == 1 { "is" } else { "are" },
                listed(&known),
                did_you_mean(value, known.iter().copied())
            ));
        }
    }
    let [place] = places.as_slice() else {
        return Err(several(&places));
    };
    match get(place.cell) {
        Some(value) if place.cell.counted > 0 => {
            let text = if reference.metric.eq_ignore_ascii_case("errors") {
                whole(value as u64)
            } else {
                three(value)
            };
            Ok(marked(s.t, place.cell, text))
        }
        _ => Err(format!("{} is not known of that result", reference.metric)),
    }
}

/// The same of one run.
///
/// # Errors
/// As [`of`].
pub(crate) fn of_run(run: &RunDigest, lang: Lang, reference: &Reference) -> Result<String, String> {
    let many = Many {
        runs: vec![run.clone()],
        ..Many::default()
    };
    let matrix = Matrix::of(&many.runs, FactorOrder::default());
    let cells = cells(&matrix).map_err(|e| e.to_string())?;
    let t: &'static Texts = texts::of(lang);
    let sources = Sources {
        many: &many,
        matrix: &matrix,
        cells: &cells,
        lang,
        t,
        common: lang.texts(),
        unit: RateUnit::Transactions,
    };
    of(&sources, reference)
}

fn all<'m>(s: &Sources<'m>) -> Vec<PointContext<'m>> {
    let mut places = Vec::new();
    for (workload, cells) in s.workloads() {
        for (series, cells) in workload.series.iter().zip(cells) {
            for (point, cell) in series.points.iter().zip(cells) {
                places.push(PointContext {
                    workload,
                    series,
                    point,
                    cell,
                });
            }
        }
    }
    places
}

impl PointContext<'_> {
    /// What a name stands for in it: its workload, its load, a factor, or an option of its runs.
    fn value(&self, name: &str) -> Option<String> {
        if name == "workload" {
            return Some(self.workload.name.clone());
        }
        let axis = self.workload.axis.as_ref().filter(|a| a.name == name);
        if axis.is_some() {
            return self.point.load.as_ref().map(|(_, text)| text.clone());
        }
        let mut factors = self.workload.factors.iter().zip(&self.series.values);
        if let Some((_, value)) = factors.find(|(factor, _)| *factor == name) {
            return Some(value.clone());
        }
        let run = self.point.runs.first()?;
        let factor = run.study.as_ref().and_then(|s| s.factors.get(name));
        let option = run.options.iter().find(|(option, _)| option == name);
        factor
            .cloned()
            .or_else(|| option.map(|(_, option)| option.value.clone()))
    }
}

/// What tells results apart.
fn names(places: &[PointContext<'_>]) -> Vec<String> {
    let mut names = vec!["workload".to_string()];
    for place in places {
        let axis = place.workload.axis.iter().map(|a| &a.name);
        for name in axis.chain(&place.workload.factors) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

/// What more must be said.
fn several(places: &[PointContext<'_>]) -> String {
    let more = names(places).into_iter().filter_map(|name| {
        let values: BTreeSet<String> = places.iter().filter_map(|p| p.value(&name)).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        (values.len() > 1).then(|| format!("{name}= ({})", listed(&values)))
    });
    let more: Vec<String> = more.collect();
    format!("{} results match; add {}", places.len(), more.join(" or "))
}

fn listed(values: &[&str]) -> String {
    let mut listed = values
        .iter()
        .take(NAMED)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    if values.len() > NAMED {
        listed += ", …";
    }
    listed
}
