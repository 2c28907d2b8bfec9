//! OLTPBench, BenchBase and the YugabyteDB TPC-C client: log lines, and summaries in JSON. Their CSV is in
//! `benchbase_csv.rs`.

use super::json::JsonValue;
use super::{benchbase_csv, benchbase_log};
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{number, unit_ms, value};

pub(super) const TOOL: &str = "benchbase";

/// The transactions of TPC-C in its words, without blanks.
const TYPES: [&str; 5] = [
    "NewOrder",
    "Payment",
    "OrderStatus",
    "Delivery",
    "StockLevel",
];

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    if let Some(at) = text.find("Results(") {
        return results(&text[at..], line, doc);
    }
    if benchbase_csv::take(text, line, doc) {
        return true;
    }
    benchbase_log::take(text.trim(), line, doc) || client(text.trim(), line, doc)
}

/// `Results(nanoSeconds=60000000000, measuredRequests=12345) = 205.75 requests/sec`.
fn results(text: &str, line: u64, doc: &mut Doc) -> bool {
    let (Some(time), Some(requests)) = (
        value(text, "nanoSeconds="),
        value(text, "measuredRequests="),
    ) else {
        return false;
    };
    let run = match doc.of(TOOL).is_some_and(|d| d.has("", "count")) {
        true => doc.begin(TOOL, line),
        false => doc.run(TOOL, line),
    };
    run.has_summary = true;
    run.scaled("", "elapsed_s", time, 1e-9, line);
    run.figure("", "count", requests, line);
    if let Some((_, rest)) = text.split_once(") = ")
        && let Some((rate, rest)) = number(rest)
    {
        run.figure("", "rate", rate, line);
        let good = rest
            .find("(throughput),")
            .and_then(|at| number(rest[at + 13..].trim_start()));
        if let Some((good, _)) = good {
            run.figure("", "goodput", good, line);
        }
    }
    true
}

/// What the YugabyteDB client's log says, behind whatever its logger puts before: `TPM-C: 127.68`,
/// `Efficiency : 99.29%`, `NewOrder, Avg Latency: 33.19 msecs, p99 Latency: 43.55 msecs`.
fn client(plain: &str, line: u64, doc: &mut Doc) -> bool {
    for of in TYPES {
        let spaced = of.replacen("Order", " Order", 1);
        let Some(at) = plain
            .find(&format!("{of},"))
            .or_else(|| plain.find(&format!("{spaced},")))
        else {
            continue;
        };
        let rest = &plain[at..];
        if !rest.contains("Latency") {
            continue;
        }
        let run = doc.run(TOOL, line);
        run.has_summary = true;
        for (label, name) in [
            ("Avg Latency:", "mean_ms"),
            ("p99 Latency:", "p99_ms"),
            ("p95 Latency:", "p95_ms"),
        ] {
            if let Some((n, unit)) = crate::scan::after(rest, label) {
                let ms = unit_ms(unit.trim_start().trim_end_matches("ecs")).unwrap_or(1.0);
                run.scaled(of, name, n, ms, line);
            }
        }
        if let Some(n) = value(rest, "Count:") {
            run.figure(of, "count", n, line);
        }
        return true;
    }
    let known = [
        ("Num New Order transactions", "NewOrder", "count"),
        ("TPM-C", "", "tpmc"),
        ("TPMC", "", "tpmc"),
        ("Efficiency", "", "efficiency"),
        ("Throughput (req/s)", "", "rate"),
    ];
    for (label, of, name) in known {
        let Some(at) = plain.find(label) else {
            continue;
        };
        let rest = plain[at + label.len()..].trim_start_matches([' ', ':', '|', '=', '\t']);
        let Some((n, after)) = number(rest) else {
            continue;
        };
        let logged = plain[..at].contains("INFO") || plain[..at].contains(']');
        // Prose about an efficiency opens no run.
        let alone = at == 0 && {
            let behind = after.trim_start_matches('%').trim();
            behind.is_empty() || behind.starts_with(['|', ','])
        };
        if !(logged || alone || at == 0 && doc.of(TOOL).is_some()) {
            continue;
        }
        let run = match doc.of(TOOL).is_some_and(|d| d.has(of, name)) {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        run.has_summary = true;
        if run.workload.is_empty() && name != "rate" {
            run.workload = "tpcc".into();
        }
        run.figure(of, name, n, line);
        if let Some(time) = value(rest, "time seconds:") {
            run.figure("", "elapsed_s", time, line);
        }
        return true;
    }
    latencies(plain, line, doc)
}

/// A row of the client's table of latencies: `NewOrder | 274 | 33.19 | 43.55 | 0.10`.
fn latencies(plain: &str, line: u64, doc: &mut Doc) -> bool {
    let Some(run) = doc.of(TOOL) else {
        return false;
    };
    let frame = plain.contains("====") || plain.starts_with("Transaction |");
    let mut cells = plain.split('|').map(str::trim);
    let of: String = cells
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    if !frame && !TYPES.contains(&of.as_str()) && of != "All" {
        return false;
    }
    if !frame {
        let of = if of == "All" { "all" } else { of.as_str() };
        for (name, cell) in ["count", "mean_ms", "p99_ms"].into_iter().zip(cells) {
            if let Some((n, _)) = number(cell)
                && of != "all"
                && !run.has(of, name)
            {
                run.figure(of, name, n, line);
            }
        }
    }
    doc.touch(line);
    true
}

/// `25th Percentile Latency (microseconds)` and its like.
pub(super) fn of_json(values: &[JsonValue], run: &mut Draft) {
    run.has_summary = true;
    for v in values {
        // Their units have a slash.
        let rates = ["Throughput (requests/second)", "Goodput (requests/second)"];
        let rate = rates.into_iter().find(|name| v.path.ends_with(name));
        let name = rate.unwrap_or(v.path.rsplit('/').next().unwrap_or_default());
        let Some(n) = v.number() else {
            match name {
                "Benchmark Type" => run.workload = v.text.to_lowercase(),
                "DBMS Type" | "DBMS Version" | "isolation" => {
                    run.option(name, &v.text, v.line, From::Output)
                }
                _ => {}
            }
            continue;
        };
        // Older ones are in milliseconds.
        let unit = if name.contains("(milli") { 1.0 } else { 1e-3 };
        let latency = name.split_once(" Latency (").map(|(what, _)| what);
        let figure = match latency {
            Some("Average") => "mean_ms".into(),
            Some("Minimum") => "min_ms".into(),
            Some("Maximum") => "max_ms".into(),
            Some("Median") => "p50_ms".into(),
            Some(what) => match number(what) {
                Some((p, rest)) if rest.ends_with("Percentile") => format!("p{}_ms", p.value),
                _ => continue,
            },
            None => String::new(),
        };
        match name {
            // Of what was never measured it prints -1.
            _ if latency.is_some() && n.value < 0.0 => {}
            _ if latency.is_some() => run.scaled("", &figure, n, unit, v.line),
            "Elapsed Time (nanoseconds)" => run.scaled("", "elapsed_s", n, 1e-9, v.line),
            "Measured Requests" => run.figure("", "count", n, v.line),
            "Throughput (requests/second)" => run.figure("", "rate", n, v.line),
            "Goodput (requests/second)" => run.figure("", "goodput", n, v.line),
            "terminals" => run.option("threads", &v.text, v.line, From::Output),
            "scalefactor" => run.option("scalefactor", &v.text, v.line, From::Output),
            _ => {}
        }
    }
}
