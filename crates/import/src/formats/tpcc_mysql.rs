//! tpcc-mysql: lines over time, counts of each transaction, `TpmC`.

use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{labelled, number, value};
use tidemark_core::record::StatedInterval;

const TOOL: &str = "tpcc-mysql";

/// In the order of its numbers.
const TYPES: [&str; 5] = [
    "NewOrder",
    "Payment",
    "OrderStatus",
    "Delivery",
    "StockLevel",
];

/// Labels of what it was asked for: `[warehouse]: 10`.
const OPTIONS: [(&str, &str); 7] = [
    ("[warehouse]:", "warehouses"),
    ("[connection]:", "threads"),
    ("[rampup]:", "warmup-time"),
    ("[measure]:", "time"),
    ("option w with value", "warehouses"),
    ("option c with value", "threads"),
    ("option r with value", "warmup-time"),
];

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim();
    if plain.contains("easy### TPC-C Load Generator") {
        doc.begin(TOOL, line);
        return true;
    }
    if let Some(rest) = plain.strip_prefix("option l with value") {
        let run = doc.run(TOOL, line);
        run.option("time", rest.trim().trim_matches('\''), line, From::Output);
        return true;
    }
    for (label, name) in OPTIONS {
        if let Some(rest) = plain.strip_prefix(label)
            && let Some((n, _)) = number(rest.trim().trim_matches('\''))
        {
            let run = doc.run(TOOL, line);
            run.option(name, &n.value.to_string(), line, From::Output);
            return true;
        }
    }
    // Hosts and accounts: `option h with value '127.0.0.1'`.
    let is_option = plain.starts_with("option ") && plain.contains(" with value ");
    if is_option && doc.of(TOOL).is_some() {
        doc.touch(line);
        return true;
    }
    if let Some(one) = interval(plain, line) {
        let goes_back = doc.of(TOOL).is_some_and(|d| {
            d.has_summary || d.last_moment().is_some_and(|last| last >= one.end_s)
        });
        let run = match goes_back {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        let length = one.end_s - run.last_moment().unwrap_or(0.0);
        run.interval(StatedInterval {
            length_s: Some(length),
            rate: one.count.filter(|_| length > 0.0).map(|n| n / length),
            ..one
        });
        return true;
    }
    let Some(run) = doc.of(TOOL) else {
        return false;
    };
    let taken = if plain.starts_with("<Raw Results2") {
        run.section = "sums";
        true
    } else if plain.starts_with("<Raw Results") {
        run.section = "raw";
        run.has_summary = true;
        true
    } else if plain.starts_with("<90th Percentile") {
        run.section = "percentiles";
        true
    } else if plain.starts_with("<RT Histogram") {
        run.section = "histogram";
        true
    } else if (run.section == "percentiles" && percentile(run, plain, line))
        || (run.section == "histogram" && is_of_histogram(plain))
    {
        true
    } else if plain.starts_with('<') {
        run.section = "";
        true
    } else if let Some((n, "TpmC")) = number(plain).map(|(n, rest)| (n, rest.trim())) {
        run.figure("", "tpmc", n, line);
        run.workload = "tpcc".into();
        true
    } else if let Some((index, rest)) = plain.strip_prefix('[').and_then(number)
        && rest.contains("sc:")
    {
        let of = TYPES.get(index.value as usize);
        if run.section == "raw"
            && let Some(of) = of
        {
            for (label, name) in [
                ("sc:", "in_time"),
                ("lt:", "late"),
                ("rt:", "retried"),
                ("avg_rt:", "mean_ms"),
            ] {
                if let Some(n) = value(rest, label) {
                    run.figure(of, name, n, line);
                }
            }
            if let Some(n) = value(rest, "fl:") {
                run.figure("errors", of, n, line);
            }
        }
        true
    } else {
        let frames = [
            "MEASURING START",
            "RAMP-UP TIME",
            "STOPPING THREADS",
            "<",
            "***",
            "(all must be",
            "[transaction percentage]",
            "[response time",
        ];
        let seconds = plain.strip_prefix("in ").and_then(number);
        frames.iter().any(|f| plain.starts_with(f))
            || plain.ends_with("[OK]")
            || plain.ends_with("[NG] *")
            || seconds.is_some_and(|(_, rest)| rest.trim() == "sec.")
    };
    if taken {
        doc.touch(line);
    }
    taken
}

/// `10, trx: 7688, 95%: 37.412, 99%: 51.629, max_rt: 96.649, 7691|83.015, …`, New-Orders.
fn interval(plain: &str, line: u64) -> Option<StatedInterval> {
    let (end, rest) = number(plain)?;
    let rest = rest.strip_prefix(", ")?;
    let count = match rest.strip_prefix("trx:") {
        Some(rest) => number(rest.trim_start())?.0,
        // `10, 121(0):1.2|3.4, …` of older versions.
        None => {
            number(rest)
                .filter(|(_, r)| r.starts_with('(') && r.contains('|'))?
                .0
        }
    };
    let more = [("99%:", "p99_ms"), ("max_rt:", "max_ms")];
    let more = more
        .iter()
        .filter_map(|(label, name)| Some(((*name).to_string(), value(rest, label)?.value)));
    Some(StatedInterval {
        more: more.collect(),
        line,
        end_s: end.value,
        count: Some(count.value),
        percentile_ms: value(rest, "95%:").map(|n| n.value),
        of: "NewOrder".into(),
        ..StatedInterval::default()
    })
}

/// Types as the histograms and percentiles name them.
const PRINTED: [&str; 5] = [
    "New-Order",
    "Payment",
    "Order-Status",
    "Delivery",
    "Stock-Level",
];

/// `New-Order : 0.20  (1.02)`: seconds of the 90th percentile, and of the slowest.
fn percentile(run: &mut Draft, plain: &str, line: u64) -> bool {
    let Some((label, rest)) = labelled(plain) else {
        return false;
    };
    let of = PRINTED
        .iter()
        .zip(TYPES)
        .find(|(printed, _)| **printed == label);
    let (Some((_, of)), Some((p90, rest))) = (of, number(rest)) else {
        return false;
    };
    run.scaled(of, "p90_ms", p90, 1000.0, line);
    if let Some((most, _)) = rest.trim_start().strip_prefix('(').and_then(number) {
        run.scaled(of, "max_ms", most, 1000.0, line);
    }
    true
}

/// `1.New-Order`, or `0.20,    13` below it: of its buckets nothing is kept.
fn is_of_histogram(plain: &str) -> bool {
    let Some((_, rest)) = number(plain) else {
        return false;
    };
    let name = rest.trim_start_matches('.');
    PRINTED.contains(&name)
        || rest
            .strip_prefix(',')
            .is_some_and(|n| number(n.trim()).is_some())
}
