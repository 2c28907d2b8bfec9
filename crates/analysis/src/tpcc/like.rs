//! What makes TPC-C and is not there (revision 5.11): the mix (clause 5.2.3), remote warehouses (2.4.1.5,
//! 2.5.1.2), keying and think times (5.2.5.7), ten terminals of a warehouse (4.2.2), the items (1.2.1).

use super::{
    ITEMS, NEW_ORDER, TERMINALS_PER_WAREHOUSE, TPMC_PER_WAREHOUSE, TYPE_REQUIREMENTS, waits,
    waits_for_one, warehouses,
};
use crate::finding::finding;
use crate::run::Run;
use crate::texts::not_tpcc_like as text;
use crate::thresholds::{CHANCE, MIX_APART, MIX_SAMPLES, rows_differ};
use crate::{AnalysisError, Figure, Finding, LoadKind, Severity};

pub(crate) const ID: &str = "not-tpcc-like";

/// Percent of the order lines that another warehouse supplies (clause 2.4.1.5).
const REMOTE_LINES: f64 = 1.0;
/// Percent of the payments that are of another warehouse's customers (clause 2.5.1.2).
const REMOTE_PAYMENTS: f64 = 15.0;

pub(super) fn mix(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let of = |name: &str| run.totals.types.get(name).map_or(0, |t| t.count);
    Ok(of_counts(|name| of(name) as f64))
}

/// Order lines and payments that stay at home, or leave it, more often than the specification says.
pub(super) fn remote(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    // Whatever part of them a client has, the remote ones are of all; one alone has none beside it.
    let all = crate::option(run.record, "warehouses").and_then(|n| n.parse::<u64>().ok());
    if all.is_none_or(|n| n < 2) {
        return Ok(None);
    }
    let noted = |name: &str| Some(*run.totals.notes.get(name)? as f64);
    let payments = run.totals.types.get("Payment").map_or(0, |t| t.count) as f64;
    let shares = [
        (
            text::LINES,
            "remote_line",
            noted("order_line"),
            REMOTE_LINES,
        ),
        (
            text::PAYMENTS,
            "remote_payment",
            Some(payments),
            REMOTE_PAYMENTS,
        ),
    ];
    Ok(shares.into_iter().find_map(|(what, name, of, percent)| {
        let (remote, of) = (noted(name)?, of?);
        let expected = of * percent / 100.0;
        let chance = CHANCE * (expected * (1.0 - percent / 100.0)).sqrt();
        let apart = (remote - expected).abs();
        if apart <= chance || apart <= expected * (1.0 - MIX_APART) {
            return None;
        }
        let says = match remote < expected {
            true => text::REMOTE_FEW,
            false => text::REMOTE_MANY,
        };
        let figures = vec![
            ("what", Figure::Words(what)),
            ("share", Figure::Number(remote / of * 100.0)),
            ("expected", Figure::Number(percent)),
        ];
        let instead = text::REMOTE_INSTEAD;
        Some(finding(ID, Severity::Suspect, says, instead, figures))
    }))
}

/// Tables that are not the specification's: the items do not grow with the warehouses.
pub(super) fn tables(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let mut tables = run.record.tables_before.iter();
    let items = tables.find(|t| t.table == "item");
    let items = items.filter(|t| rows_differ(t.rows, ITEMS));
    Ok(items.map(|t| {
        let figures = vec![
            ("items", Figure::Count(t.rows)),
            ("specified", Figure::Count(ITEMS)),
        ];
        let (says, instead) = (text::ITEMS, text::ITEMS_INSTEAD);
        finding(ID, Severity::Suspect, says, instead, figures)
    }))
}

/// More terminals than the warehouses have.
pub(super) fn terminals(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let warehouses = warehouses(run.record);
    let (terminals, most) = (
        run.users() as u64,
        warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE),
    );
    if run.kind != LoadKind::Closed || warehouses == 0 || terminals <= most {
        return Ok(None);
    }
    let figures = vec![
        ("terminals", Figure::Count(terminals)),
        ("warehouses", Figure::Count(warehouses)),
        (
            "needed",
            Figure::Count(terminals.div_ceil(TERMINALS_PER_WAREHOUSE)),
        ),
    ];
    let (says, instead) = (text::TERMINALS, text::TERMINALS_INSTEAD);
    Ok(Some(finding(ID, Severity::Note, says, instead, figures)))
}

/// Users that key and think less than the specification says. Of users that do neither and make more
/// than the specification allows, `tpcc-cap` speaks.
pub(super) fn times(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let waits = waits(run.record);
    let warehouses = warehouses(run.record);
    if run.kind != LoadKind::Closed || warehouses == 0 {
        return Ok(None);
    }
    let new_orders = run.totals.types.get(NEW_ORDER).map_or(0, |t| t.count);
    let each = new_orders as f64 / run.totals.elapsed_s * 60.0 / warehouses as f64;
    let (says, figures) = if waits == 0.0 && each <= TPMC_PER_WAREHOUSE {
        (text::NO_TIMES, Vec::new())
    } else if waits > 0.0 && waits < 1.0 {
        let percent = ("percent", Figure::Number(waits * 100.0));
        (text::SHORT_TIMES, vec![percent])
    } else if waits > 0.0 && waits_for_one(run.record) {
        (text::ONE_TIME, Vec::new())
    } else {
        return Ok(None);
    };
    let instead = text::TIMES_INSTEAD;
    Ok(Some(finding(ID, Severity::Note, says, instead, figures)))
}

/// What the numbers of transactions of each type say. With few of them only what chance does not
/// explain is told.
pub(crate) fn of_counts(of: impl Fn(&str) -> f64) -> Option<Finding> {
    let asked = TYPE_REQUIREMENTS.iter();
    let least: Vec<(&str, f64)> = asked
        .filter_map(|t| Some((t.name, t.least_share?)))
        .collect();
    let all: f64 = of(NEW_ORDER) + least.iter().map(|(name, _)| of(name)).sum::<f64>();
    if all < MIX_SAMPLES {
        return None;
    }
    let below = least.iter().filter(|(name, percent)| {
        let expected = all * percent / 100.0;
        let chance = CHANCE * (expected * (1.0 - percent / 100.0)).sqrt();
        of(name) < expected - chance && of(name) < expected * MIX_APART
    });
    let (name, percent) = below.max_by(|a, b| {
        let short = |(name, percent): &(&str, f64)| percent - of(name) / all * 100.0;
        short(a).total_cmp(&short(b))
    })?;
    let figures = vec![
        ("type", Figure::Text((*name).into())),
        ("share", Figure::Number(of(name) / all * 100.0)),
        ("least", Figure::Number(*percent)),
        ("neworder", Figure::Number(of(NEW_ORDER) / all * 100.0)),
    ];
    Some(finding(
        ID,
        Severity::Suspect,
        text::SAYS,
        text::INSTEAD,
        figures,
    ))
}
