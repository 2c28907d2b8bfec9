//! tpcc-mysql: lines over time, counts of each transaction, `TpmC`.

use crate::doc::Doc;
use crate::draft::From;
use crate::scan::{number, value};
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
const OPTIONS: [(&str, &str); 6] = [
    ("[warehouse]:", "warehouses"),
    ("[connection]:", "threads"),
    ("[rampup]:", "warmup-time"),
    ("[measure]:", "time"),
    ("option w with value", "warehouses"),
    ("option c with value", "threads"),
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
    } else if plain.starts_with("<TpmC>") || plain.starts_with('<') {
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
