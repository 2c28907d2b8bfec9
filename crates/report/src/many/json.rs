//! The document as JSON, for programs.

use super::cell::PointResults;
use super::contrast::{Contrast, contrasts, the_only};
use super::document::cells;
use super::limits::{Course, Limited};
use super::matrix::{LoadAxis, LoadCurve, Matrix, Workload};
use super::scaling::{Accounted, Peak, Scaling, accounted};
use super::{DOCUMENT_VERSION, Many, RunDigest, StudyFacts, StudyStep, Unreadable};
use crate::ReportError;
use serde::Serialize;
use std::collections::BTreeMap;
use tidemark_diagnosis::Words;
use tidemark_stats::{LoadPoint, Parameter};

#[derive(Serialize)]
struct Document<'m> {
    format: &'static str,
    version: u32,
    tidemark_version: &'m str,
    study: Option<&'m StudyFacts>,
    workloads: Vec<WorkloadFigures<'m>>,
    /// Of the only factor with two values.
    comparison: Option<&'m Contrast>,
    /// Of every factor, each value beside the first.
    comparisons: &'m [Contrast],
    runs: &'m [RunDigest],
    steps: &'m [StudyStep],
    unreadable: &'m [Unreadable],
}

#[derive(Serialize)]
struct WorkloadFigures<'m> {
    workload: &'m str,
    /// The factor that points differ in within a series.
    load_factor: Option<&'m str>,
    series: Vec<SeriesFigures<'m>>,
}

#[derive(Serialize)]
struct SeriesFigures<'m> {
    factors: BTreeMap<&'m str, &'m str>,
    points: &'m [PointResults],
    scalability: Option<Fit>,
    little: Vec<Accounted>,
    /// Where along the load the limit changes.
    bottlenecks: Vec<Limited<'m>>,
    /// What is needed to judge coherency between sessions, where it could not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    coherency_needs: Option<Words>,
}

/// The scalability law's parameters, or why there are none.
#[derive(Serialize)]
#[serde(untagged)]
enum Fit {
    Fitted {
        one_user_per_s: Value,
        contention: Value,
        coherency: Value,
        r_squared: f64,
        peak: Option<At>,
        peak_loads: Option<(f64, f64)>,
        knee: Option<At>,
    },
    Not {
        not_fitted: String,
    },
}

#[derive(Serialize)]
struct Value {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct At {
    load: f64,
    transactions_per_s: f64,
}

impl From<Parameter> for Value {
    fn from(p: Parameter) -> Self {
        let (low, high) = p.interval;
        Self {
            value: p.value,
            low,
            high,
        }
    }
}

impl From<LoadPoint> for At {
    fn from(p: LoadPoint) -> Self {
        Self {
            load: p.load,
            transactions_per_s: p.throughput,
        }
    }
}

impl From<Scaling> for Fit {
    fn from(scaling: Scaling) -> Self {
        match scaling {
            Scaling::Fitted { usl, peak, knee } => {
                let (peak, peak_loads) = match peak {
                    Peak::At { point, loads } => (Some(point.into()), Some(loads)),
                    Peak::Beyond | Peak::Unsure => (None, None),
                };
                Fit::Fitted {
                    one_user_per_s: usl.lambda.into(),
                    contention: usl.sigma.into(),
                    coherency: usl.kappa.into(),
                    r_squared: usl.r_squared,
                    peak,
                    peak_loads,
                    knee: knee.map(At::from),
                }
            }
            Scaling::BadFit(r_squared) => Fit::Not {
                not_fitted: format!("the law explains {r_squared:.3} of the variance"),
            },
            Scaling::Not(why) => Fit::Not {
                not_fitted: why.to_string(),
            },
        }
    }
}

pub(super) fn text(many: &Many) -> Result<String, ReportError> {
    let matrix = Matrix::of(&many.runs, many.order());
    let cells = cells(&matrix)?;
    let workloads = matrix.workloads.iter().zip(&cells);
    let contrasts = contrasts(many, &matrix);
    let document = Document {
        format: "tidemark-report",
        version: DOCUMENT_VERSION,
        tidemark_version: &many.version,
        study: many.study.as_ref(),
        workloads: workloads.map(|(w, cells)| workload(w, cells)).collect(),
        comparison: the_only(&contrasts),
        comparisons: &contrasts,
        runs: &many.runs,
        steps: &many.steps,
        unreadable: &many.unreadable,
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

fn workload<'m>(w: &'m Workload<'m>, cells: &'m [Vec<PointResults>]) -> WorkloadFigures<'m> {
    let axis: Option<&LoadAxis> = w.axis.as_ref();
    let series = |(series, cells): (&'m LoadCurve<'m>, &'m Vec<PointResults>)| {
        let names = w.factors.iter().map(String::as_str);
        let course = Course::of(axis, series, cells);
        SeriesFigures {
            factors: names
                .zip(series.values.iter().map(String::as_str))
                .collect(),
            points: cells,
            scalability: Scaling::of(axis, series, cells).map(Fit::from),
            little: accounted(series, cells),
            bottlenecks: course.stretches(series),
            coherency_needs: course.coherency_needs().cloned(),
        }
    };
    WorkloadFigures {
        workload: &w.name,
        load_factor: axis.map(|a| a.name.as_str()),
        series: w.series.iter().zip(cells).map(series).collect(),
    }
}
