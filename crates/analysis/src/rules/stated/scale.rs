//! TPC-C's limits, by what is stated.

use super::view::{ImportedRun, Range};
use super::{counted, finding};
use crate::texts::{stated_cap, tpcc_efficiency, tpcc_response};
use crate::thresholds::{EFFICIENCY_APART, FEWER_TERMINALS};
use crate::tpcc::{TERMINALS_PER_WAREHOUSE, TPMC_PER_WAREHOUSE, TYPE_REQUIREMENTS};
use crate::{Figure, Finding, Severity};

/// New-Orders a minute: tpmC, or what HammerDB calls NOPM.
fn tpmc(view: &ImportedRun<'_>) -> Option<Range> {
    view.all("tpmc")
        .or(view.all("nopm"))
        .or(view.of("NewOrder", "per_minute"))
}

fn warehouses(view: &ImportedRun<'_>) -> Option<f64> {
    view.number("warehouses").filter(|w| *w >= 1.0)
}

/// An efficiency that does not follow from its own figures.
pub(super) fn efficiency(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let (stated, tpmc, warehouses) = (view.all("efficiency")?, tpmc(view)?, warehouses(view)?);
    let whole = TPMC_PER_WAREHOUSE * warehouses;
    let made = Range {
        value: tpmc.value / whole * 100.0,
        // Some tools take 12.8 or 12.86, some 45 % of the mix.
        low: tpmc.low / whole * 100.0,
        high: tpmc.high / whole * 100.0,
        line: tpmc.line,
    };
    if stated.may_be(made, EFFICIENCY_APART, 0.06) {
        return Some(Vec::new());
    }
    let figures = vec![
        ("line", Figure::Count(stated.line)),
        ("stated", Figure::Number(stated.value)),
        ("made", Figure::Number(made.value)),
        ("tpmc", Figure::Number(tpmc.value)),
        ("warehouses", counted(warehouses)),
        (
            "fits",
            Figure::Number(tpmc.value / TPMC_PER_WAREHOUSE / stated.value * 100.0),
        ),
    ];
    let (says, instead) = (tpcc_efficiency::SAYS, tpcc_efficiency::INSTEAD);
    Some(vec![finding(
        "tpcc-efficiency",
        Severity::Invalid,
        says,
        instead,
        figures,
    )])
}

/// More New-Orders than think times allow, or fewer terminals than warehouses need.
pub(super) fn cap(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let (tpmc, warehouses) = (tpmc(view)?, warehouses(view)?);
    let each = tpmc.value / warehouses;
    let rate = vec![
        ("line", Figure::Count(tpmc.line)),
        ("each", Figure::Number(each)),
        ("cap", Figure::Number(TPMC_PER_WAREHOUSE)),
    ];
    if each > TPMC_PER_WAREHOUSE {
        return Some(vec![finding(
            "tpcc-cap",
            Severity::Note,
            stated_cap::ABOVE,
            stated_cap::ABOVE_INSTEAD,
            rate,
        )]);
    }
    let terminals = view
        .sessions()
        .filter(|_| view.option("wait") == Some("on") || view.all("efficiency").is_some());
    // An efficiency claims that terminals key and think.
    if let Some(terminals) = terminals {
        let most = terminals * TPMC_PER_WAREHOUSE / TERMINALS_PER_WAREHOUSE as f64;
        if tpmc.low > most * (1.0 + EFFICIENCY_APART) {
            let figures = vec![
                ("line", Figure::Count(tpmc.line)),
                ("tpmc", Figure::Number(tpmc.value)),
                ("terminals", Figure::Number(terminals)),
                ("most", Figure::Number(most)),
            ];
            return Some(vec![finding(
                "tpcc-cap",
                Severity::Invalid,
                stated_cap::BEYOND,
                stated_cap::BEYOND_INSTEAD,
                figures,
            )]);
        }
    }
    let most = terminals.map(|t| t / (warehouses * TERMINALS_PER_WAREHOUSE as f64) * 100.0);
    Some(match (terminals, most) {
        (Some(terminals), Some(most)) if most < FEWER_TERMINALS => {
            let figures = vec![
                ("terminals", counted(terminals)),
                ("warehouses", counted(warehouses)),
                ("most", Figure::Number(most)),
            ];
            vec![finding(
                "tpcc-cap",
                Severity::Note,
                stated_cap::FEW,
                stated_cap::FEW_INSTEAD,
                figures,
            )]
        }
        _ => Vec::new(),
    })
}

/// A mix that is not the specification's.
pub(super) fn mix(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let of = |name: &str| {
        let stated = view.done(name).or(view.of(name, "samples"));
        let stated = stated.or(view.of(name, "completed"));
        stated.map(|n| n.value)
    };
    // Where nothing but some of the types is told, the others may have run as well.
    let told = TYPE_REQUIREMENTS.iter().filter(|t| of(t.name).is_some());
    if told.count() < 5 {
        return None;
    }
    let found = crate::tpcc::like::of_counts(|name| of(name).unwrap_or(0.0));
    Some(found.into_iter().collect())
}

/// Of each type's transactions so many come within its limit.
const IN_TIME: f64 = 0.9;

/// Limits of response times, broken.
pub(super) fn response(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut judged = false;
    let mut broken = Vec::new();
    let mut late_ones = Vec::new();
    for asked in TYPE_REQUIREMENTS {
        // tpcc-mysql counts what is over the limit.
        if let (Some(late), Some(done)) = (view.of(asked.name, "late"), view.done(asked.name)) {
            judged = true;
            let in_time = 1.0 - late.value / done.value;
            if in_time < IN_TIME {
                late_ones.push((asked, late, in_time * 100.0));
            }
        }
        // A lower percentile above the limit breaks it as well.
        let percentiles = view.percentiles(asked.name);
        let Some((_, ms)) = percentiles.iter().rev().find(|(p, _)| *p <= 90.0) else {
            continue;
        };
        judged = true;
        if ms.low / 1000.0 > asked.limit_s {
            broken.push((asked, ms.value / 1000.0));
        }
    }
    let types = broken.len() as u64;
    let types_late = late_ones.len() as u64;
    let late = late_ones.first().map(|(asked, late, in_time)| {
        let figures = vec![
            ("line", Figure::Count(late.line)),
            ("type", Figure::Text(asked.name.into())),
            ("share", Figure::Number(*in_time)),
            ("limit", Figure::Number(asked.limit_s)),
            ("types", Figure::Count(types_late)),
        ];
        let (says, instead) = (tpcc_response::LATE, tpcc_response::INSTEAD);
        finding("tpcc-response", Severity::Suspect, says, instead, figures)
    });
    judged.then(|| {
        let first = broken.first().map(|(asked, p90)| {
            let figures = vec![
                ("type", Figure::Text(asked.name.into())),
                ("p90", Figure::Number(*p90)),
                ("limit", Figure::Number(asked.limit_s)),
                ("types", Figure::Count(types)),
            ];
            finding(
                "tpcc-response",
                Severity::Suspect,
                tpcc_response::SAYS,
                tpcc_response::INSTEAD,
                figures,
            )
        });
        first.into_iter().chain(late).collect()
    })
}
