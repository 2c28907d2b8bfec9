//! go-tpc: TPC-C, TPC-H and CH-benCHmark, with percentiles of fixed or of old bucketed kinds.

use super::{Format, styles};
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{Number, number, seconds, value};
use std::collections::BTreeMap;
use tidemark_core::record::StatedInterval;

const TOOL: &str = "go-tpc";

/// A row of its tables and an object of its JSON are a line each.
pub(super) const FORMAT: Format = Format {
    tool: TOOL,
    take,
    has_object,
};

/// Transactions by their printed name, as Tidemark calls them.
const TYPES: [(&str, &str); 5] = [
    ("NEW_ORDER", "NewOrder"),
    ("PAYMENT", "Payment"),
    ("ORDER_STATUS", "OrderStatus"),
    ("DELIVERY", "Delivery"),
    ("STOCK_LEVEL", "StockLevel"),
];

fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim_start_matches([' ', '\t', '>', '*']).trim_end();
    let (kind, rest) = match plain.strip_prefix('[').and_then(|t| t.split_once(']')) {
        Some((kind @ ("Current" | "Summary"), rest)) => (kind, rest.trim()),
        _ if plain.starts_with(['|', '+']) => return row(plain, line, doc),
        _ => return tail(plain, line, doc),
    };
    if let Some((name, took)) = rest.split_once(": ")
        && is_query(name)
    {
        return query(doc, kind, name, took, line);
    }
    let Some((name, rest)) = rest.split_once(" - ") else {
        return without_figures(rest, line, doc);
    };
    let name = name.trim();
    let (name, is_error) = match name.strip_suffix("_ERR") {
        Some(of) => (of, true),
        None => (name, false),
    };
    let known = TYPES.iter().find(|(printed, _)| *printed == name);
    let of = known.map_or(name, |(_, ours)| ours);
    match kind {
        // Of CH-benCHmark's queries only the summary is of the whole run.
        "Current" if is_query(name) => {
            ongoing(doc, line).workload = "ch".into();
            doc.no_figure = true;
        }
        "Current" => {
            let run = ongoing(doc, line);
            if !is_error && let Some(one) = current(rest, of, line) {
                run.interval(StatedInterval {
                    end_s: run.last_moment().unwrap_or(0.0).max(one.end_s),
                    ..one
                });
            }
        }
        _ => {
            let seen = doc.of(TOOL).is_some_and(|d| {
                d.has(
                    if is_error { "errors" } else { of },
                    if is_error { of } else { "count" },
                )
            });
            let run = match seen {
                true => doc.begin(TOOL, line),
                false => doc.run(TOOL, line),
            };
            run.has_summary = true;
            if is_query(name) {
                run.workload = "ch".into();
            }
            if run.workload.is_empty() && known.is_some() {
                run.workload = "tpcc".into();
            }
            summary(run, of, rest, is_error, line);
        }
    }
    true
}

/// `[Current] Q5     -`, of a query that has not ended yet.
fn without_figures(rest: &str, line: u64, doc: &mut Doc) -> bool {
    let name = rest.trim_end_matches(['-', ':', ' ', '\t']);
    if !is_query(name) || doc.of(TOOL).is_none() {
        return false;
    }
    doc.touch(line);
    doc.no_figure = true;
    true
}

/// The run of a line that is printed while it goes on: behind a summary it is the next one.
fn ongoing(doc: &mut Doc, line: u64) -> &mut Draft {
    match doc.of(TOOL).is_some_and(|run| run.has_summary) {
        true => doc.begin(TOOL, line),
        false => doc.run(TOOL, line),
    }
}

/// A line of the tables that `--output table` prints.
fn row(plain: &str, line: u64, doc: &mut Doc) -> bool {
    match styles::line(plain, &mut doc.go_names, styles::is_go_tpc) {
        Some(styles::TableLine::Row(row)) => take(&row, line, doc),
        Some(_) => {
            if doc.of(TOOL).is_some() {
                doc.touch(line);
            }
            true
        }
        None => false,
    }
}

/// Whether names are of an object of its JSON.
fn has_object(names: &[String]) -> bool {
    let own = ["Prefix", "Avg(s)", "tpmC", "tpmTotal", "efficiency"];
    names.iter().any(|name| own.contains(&name.as_str()))
}

/// `Q1` to `Q22`.
fn is_query(name: &str) -> bool {
    let digits = name.strip_prefix('Q').unwrap_or_default();
    matches!(digits.len(), 1 | 2) && digits.bytes().all(|b| b.is_ascii_digit())
}

/// A figure by its label, and what its printed value is multiplied with.
fn figure_of(label: &str) -> Option<(String, f64)> {
    let label = label.trim();
    let (name, unit) = label
        .trim_end_matches(')')
        .split_once('(')
        .unwrap_or((label, ""));
    let ms = if unit == "us" { 1e-3 } else { 1.0 };
    let (name, factor) = match name {
        "Takes" => ("elapsed_s", 1.0),
        "Count" => ("count", 1.0),
        "TPM" => ("per_minute", 1.0),
        "OPS" => ("rate", 1.0),
        "Sum" => ("sum_ms", ms),
        "Avg" => ("mean_ms", ms),
        "Min" => ("min_ms", ms),
        "Max" => ("max_ms", ms),
        _ => {
            let (percent, end) = number(name)?;
            return (end == "th").then(|| (format!("p{}_ms", percent.value), ms));
        }
    };
    Some((name.into(), factor))
}

/// The figures of a line in its order: name, printed number, what it is multiplied with.
pub(super) fn figures(rest: &str) -> impl Iterator<Item = (String, Number, f64)> {
    rest.split(", ").filter_map(|part| {
        let (label, n) = part.split_once(':')?;
        let (n, _) = number(n.trim())?;
        let (name, factor) = figure_of(label)?;
        Some((name, n, factor))
    })
}

fn current(rest: &str, of: &str, line: u64) -> Option<StatedInterval> {
    let all = figures(rest).map(|(name, n, factor)| (name, n.value * factor));
    let mut more: BTreeMap<String, f64> = all.collect();
    let mut take = |name: &str| more.remove(name);
    let took = take("elapsed_s")?;
    Some(StatedInterval {
        line,
        of: of.into(),
        end_s: took,
        length_s: Some(took),
        count: take("count"),
        rate: take("per_minute").map(|n| n / 60.0),
        mean_ms: take("mean_ms"),
        sum_ms: take("sum_ms"),
        percentile_ms: take("p95_ms").or_else(|| take("p99_ms")),
        more,
        ..StatedInterval::default()
    })
}

fn summary(run: &mut Draft, of: &str, rest: &str, is_error: bool, line: u64) {
    for (name, n, factor) in figures(rest) {
        match (is_error, name.as_str()) {
            (false, name) => run.scaled(of, name, n, factor, line),
            (true, "count") => run.figure("errors", of, n, line),
            (true, name) => run.scaled("failed", &format!("{of} {name}"), n, factor, line),
        }
    }
}

fn query(doc: &mut Doc, kind: &str, name: &str, took: &str, line: u64) -> bool {
    let Some(took) = seconds(took.split(' ').next().unwrap_or(took)) else {
        return false;
    };
    let again = doc
        .of(TOOL)
        .is_some_and(|d| kind == "Summary" && d.queries.iter().any(|(n, ..)| n == name));
    let run = match again {
        true => doc.begin(TOOL, line),
        false if kind == "Current" => ongoing(doc, line),
        false => doc.run(TOOL, line),
    };
    if run.workload.is_empty() {
        run.workload = "tpch".into();
    }
    match kind {
        "Summary" => {
            run.has_summary = true;
            run.queries.push((name.into(), took, line));
        }
        _ => doc.no_figure = true,
    }
    true
}

/// `tpmC: 133.7, tpmTotal: 300.1, efficiency: 17.3%` and its older, shorter forms.
fn tail(plain: &str, line: u64, doc: &mut Doc) -> bool {
    if plain == "Finished" || plain.starts_with("Finished: ") {
        let Some(run) = doc.of(TOOL) else {
            return false;
        };
        // `Finished: 50 OLTP workers, 1 OLAP workers`.
        for (label, name) in [(" OLTP workers", "threads"), (" OLAP workers", "acThreads")] {
            let count = plain.split_once(label).and_then(|(before, _)| {
                let digits = before.rsplit([' ', ':']).next()?;
                number(digits)
            });
            if let Some((n, _)) = count {
                run.option(name, &n.value.to_string(), line, From::Output);
            }
        }
        doc.touch(line);
        return true;
    }
    if let Some((n, _)) = plain
        .strip_prefix("QphH:")
        .and_then(|t| number(t.trim_start()))
    {
        let run = doc.run(TOOL, line);
        run.workload = "ch".into();
        run.figure("", "qphh", n, line);
        return true;
    }
    if !plain.starts_with("tpmC:") {
        return false;
    }
    let figures: [(&str, Option<Number>); 3] = [
        ("tpmc", value(plain, "tpmC:")),
        ("tpm_total", value(plain, "tpmTotal:")),
        ("efficiency", value(plain, "efficiency:")),
    ];
    let run = match doc.of(TOOL).is_some_and(|d| d.has("", "tpmc")) {
        true => doc.begin(TOOL, line),
        false => doc.run(TOOL, line),
    };
    for (name, n) in figures {
        if let Some(n) = n {
            run.figure("", name, n, line);
        }
    }
    if run.workload.is_empty() {
        run.workload = "tpcc".into();
    }
    if let Some(w) = value(plain, "warehouses:") {
        run.option("warehouses", &w.value.to_string(), line, From::Output);
    }
    true
}
