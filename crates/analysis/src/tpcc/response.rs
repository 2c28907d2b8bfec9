//! TPC-C's limits of response times, broken (clauses 5.2.5.7 and 2.7.2).

use super::{LimitVerdict, TYPE_REQUIREMENTS, keeps_limit};
use crate::run::Run;
use crate::texts::tpcc_response::{INSTEAD, SAYS};
use crate::{AnalysisError, Figure, Finding, Severity};

pub(super) const ID: &str = "tpcc-response";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let mut broken = Vec::new();
    for asked in TYPE_REQUIREMENTS {
        if let Some(stats) = run.totals.types.get(asked.name) {
            let latency = run.latency_of(stats)?;
            if keeps_limit(&latency, asked.limit_s) == LimitVerdict::No {
                broken.push((asked, latency.percentile_ns(90.0) as f64 / 1e9));
            }
        }
    }
    let types = broken.len() as u64;
    Ok(broken.first().map(|(asked, p90_s)| Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("type", Figure::Text(asked.name.into())),
            ("p90", Figure::Number(*p90_s)),
            ("limit", Figure::Number(asked.limit_s)),
            ("types", Figure::Count(types)),
        ],
    }))
}
