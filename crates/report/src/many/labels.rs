//! What sentences, tables and charts call a workload, a series, a factor, a load and a run.

use super::digest::RunDigest;
use super::document::Sources;
use super::matrix::{AxisKind, CurvePoint, LoadAxis, LoadCurve, Workload};
use super::texts::Texts;
use crate::texts::fill;

/// Workload and series: `oltp_read_only (durability=1)`.
pub(super) fn series_name(t: &Texts, workload: &Workload<'_>, series: &LoadCurve<'_>) -> String {
    match series_label(t, workload, series).as_str() {
        "" => workload.name.clone(),
        label => fill(
            t.parenthesised,
            &[("text", &workload.name), ("aside", label)],
        ),
    }
}

/// What tells a series from others: `durability=1, size=100k`; a target stands without its name.
pub(super) fn series_label(t: &Texts, workload: &Workload<'_>, series: &LoadCurve<'_>) -> String {
    let pairs = workload.factors.iter().zip(&series.values);
    let said = pairs.map(|(name, value)| factor_value(t, name, value));
    said.collect::<Vec<_>>().join(", ")
}

/// `size=100k`; a target, a version or a variant stands without its name.
pub(super) fn factor_value(t: &Texts, name: &str, value: &str) -> String {
    match name {
        "target" | "version" | "variant" => value.into(),
        name => format!("{}={value}", factor_name(t, name)),
    }
}

/// A factor as people call it; its own name where there is no other.
pub(super) fn factor_name<'a>(t: &Texts, name: &'a str) -> &'a str {
    match name {
        "threads" | "sessions" => t.threads,
        "terminals" => t.terminals,
        "rate" => t.rate,
        "target" => t.target,
        "server" => t.server,
        "version" => t.version,
        "variant" => t.variant,
        "size" => t.size,
        "warehouses" => t.warehouses,
        "rtt" => t.rtt,
        "isolation" => t.isolation,
        "study" => t.study,
        _ => name,
    }
}

/// `64 threads`.
pub(super) fn users_label(t: &Texts, name: &str, users: &str) -> String {
    let name = name.to_lowercase();
    // One of them, in English.
    let name = match (users, name.strip_suffix('s')) {
        ("1", Some(one)) => one.into(),
        _ => name,
    };
    fill(t.load_of, &[("load", users), ("name", &name)])
}

/// A load as it is written; a document may not tell how many users there were.
pub(super) fn load_text(axis: Option<&LoadAxis>, point: &CurvePoint<'_>) -> String {
    let of_users = axis.is_some_and(|axis| axis.kind == AxisKind::Users);
    match &point.load {
        Some((users, _)) if of_users && *users == 0.0 => "–".into(),
        Some((_, text)) => text.clone(),
        None => "–".into(),
    }
}

/// `64 threads`, `1000/s`, `size=100k`.
pub(super) fn load_label(t: &Texts, axis: Option<&LoadAxis>, point: &CurvePoint<'_>) -> String {
    match (axis, &point.load) {
        (Some(axis), Some((_, text))) => {
            let name = factor_name(t, &axis.name);
            match axis.kind {
                AxisKind::Users => users_label(t, name, &load_text(Some(axis), point)),
                AxisKind::Rate => fill(t.load_rate, &[("load", text)]),
                AxisKind::Other => format!("{name}={text}"),
            }
        }
        _ => String::new(),
    }
}

/// A run as sentences call it: its workload, series and load, and which repeat.
pub(super) fn run_label(s: &Sources<'_>, run: &RunDigest) -> String {
    for (workload, _) in s.workloads() {
        for (series, point) in workload.points() {
            let Some(at) = point.runs.iter().position(|r| r.id == run.id) else {
                continue;
            };
            let axis = workload.axis.as_ref();
            let mut aside: Vec<String> = vec![
                series_label(s.t, workload, series),
                load_label(s.t, axis, point),
            ];
            if point.runs.len() > 1 {
                aside.push(fill(s.t.repeat_n, &[("n", &(at + 1).to_string())]));
            }
            aside.retain(|a| !a.is_empty());
            if aside.is_empty() {
                return workload.name.clone();
            }
            let aside = aside.join(", ");
            return fill(
                s.t.parenthesised,
                &[("text", &workload.name), ("aside", &aside)],
            );
        }
    }
    run.id.clone()
}
