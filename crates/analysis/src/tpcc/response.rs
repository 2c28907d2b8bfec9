//! TPC-C's limits of response times, broken (clauses 5.2.5.7 and 2.7.2).

use super::{ASKED, Kept, keeps_limit};
use crate::run::Run;
use crate::{AnalysisError, Both, Figure, Finding, Severity};

pub(super) const ID: &str = "tpcc-response";

const SAYS: Both = Both {
    en: "The 90th percentile of {type} is {p90} s; the specification allows {limit} s. Types that are too slow: {types}.",
    zh: "{type} 的 P90 为 {p90} 秒，规范上限为 {limit} 秒。超限的类型共 {types} 种。",
};
const INSTEAD: Both = Both {
    en: "Lower the load (fewer warehouses or terminals) until all types are quick enough; tpmC counts only then.",
    zh: "降低负载（减少仓库或终端）直到各类型均达标；达标时的 tpmC 才有效。",
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let mut broken = Vec::new();
    for asked in ASKED {
        if let Some(stats) = run.totals.types.get(asked.name) {
            let latency = run.latency_of(stats)?;
            if keeps_limit(&latency, asked.limit_s) == Kept::No {
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
