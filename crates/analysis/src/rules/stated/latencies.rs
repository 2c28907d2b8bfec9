//! Latencies that can't be, or that say less than they seem to.

use super::view::{ImportedRun, Range};
use super::{counted, finding};
use crate::texts::{
    averaged_percentiles, coarse_histogram, impossible_pair, percentile_below_mean, stated_floor,
    stated_samples,
};
use crate::thresholds::{
    FLOOR, FLOOR_MS, FLOOR_SAMPLES, PERCENTILE_NEEDED, PERCENTILE_STEP, RARE, SAMPLES_BEYOND,
    STATED_APART, WARMUP_LONGEST,
};
use crate::{Figure, Finding, Severity};

fn named(of: &str, name: &str) -> Figure {
    Figure::Text(match of {
        "" => name.into(),
        of => format!("{of} {name}"),
    })
}

/// Percentiles are buckets' edges, and those of some tools whole milliseconds.
fn slack(view: &ImportedRun<'_>, ms: f64) -> f64 {
    ms * PERCENTILE_STEP + view.tool().percentile_step_ms
}

/// The histogram that a tool printed, in order: milliseconds, and how many took so long.
pub(super) fn buckets(view: &ImportedRun<'_>) -> Vec<(f64, f64)> {
    let figures = view.imported.figures.iter();
    let of_histogram = figures.filter(|f| f.of == "histogram");
    let mut buckets: Vec<(f64, f64)> = of_histogram
        .filter_map(|f| {
            let ms = f.name.strip_prefix("bucket_")?.strip_suffix("_ms")?;
            Some((ms.parse().ok()?, f.value))
        })
        .collect();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    buckets
}

/// Pairs of figures of which one can't be above the other.
pub(super) fn impossible_pair(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut found = Vec::new();
    let mut judged = false;
    let mut pair = |of: &str, less: (&str, Range), more: (&str, Range), slack: f64| {
        judged = true;
        if less.1.low > more.1.high + slack {
            let figures = vec![
                ("line", Figure::Count(less.1.line)),
                ("less", named(of, less.0)),
                ("lessvalue", Figure::Number(less.1.value)),
                ("more", named(of, more.0)),
                ("morevalue", Figure::Number(more.1.value)),
            ];
            let (says, instead) = (impossible_pair::SAYS, impossible_pair::INSTEAD);
            found.push(finding(
                "impossible-pair",
                Severity::Invalid,
                says,
                instead,
                figures,
            ));
        }
    };
    for of in view.parts() {
        let get = |name: &str| view.of(of, name);
        let (min, mean, max) = (get("min_ms"), get("mean_ms"), get("max_ms"));
        for (less, more, a, b) in [
            ("min_ms", "mean_ms", min, mean),
            ("mean_ms", "max_ms", mean, max),
            ("min_ms", "max_ms", min, max),
        ] {
            if let (Some(a), Some(b)) = (a, b) {
                pair(of, (less, a), (more, b), 0.001);
            }
        }
        let percentiles = view.percentiles(of);
        for two in percentiles.windows(2) {
            if let [(p, a), (q, b)] = two {
                pair(
                    of,
                    (&format!("p{p}_ms"), *a),
                    (&format!("p{q}_ms"), *b),
                    slack(view, b.value) * 0.1,
                );
            }
        }
        for (p, ms) in percentiles {
            let name = format!("p{p}_ms");
            // Buckets end far above what is in them.
            if let Some(max) = max.filter(|_| !view.tool().percentiles_in_buckets) {
                pair(of, (&name, ms), ("max_ms", max), slack(view, max.value));
            }
            if let Some(min) = min {
                pair(of, ("min_ms", min), (&name, ms), slack(view, ms.value));
            }
        }
    }
    let get = |name: &str| view.all(name);
    // New-Orders are a part of all transactions, whoever counts these.
    for all in ["tpm_total", "tpm"] {
        if let (Some(a), Some(b)) = (get("nopm"), get(all)) {
            pair("", ("nopm", a), (all, b), 0.0);
        }
        if let (Some(a), Some(b)) = (get("tpmc"), get(all)) {
            pair("", ("tpmc", a), (all, b), b.value * 0.01);
        }
    }
    // What succeeds is a part of all, but for what the warm-up had.
    if let (Some(good), Some(rate)) = (get("goodput"), get("rate")) {
        let timed = view.all("elapsed_s").map(|e| e.value);
        let timed = view.number("time").or(timed).filter(|s| *s > 0.0);
        let warmup = view.number("warmup-time").zip(timed).map(|(w, s)| w / s);
        let more = warmup.unwrap_or(WARMUP_LONGEST) + STATED_APART;
        let counted = get("count").zip(get("elapsed_s")).map(|(n, s)| n.per(s));
        let (name, least) = match counted {
            Some(counted) if counted.high < rate.low => ("count / elapsed_s", counted),
            _ => ("rate", rate),
        };
        let more = least.value * more;
        pair("", ("goodput", good), (name, least), more);
    }
    // sysbench's bulk_insert sends many rows with one statement, and counts rows.
    let many_a_statement = view.record.workload == "bulk_insert";
    if let (Some(a), Some(b), false) = (get("count"), get("statements"), many_a_statement) {
        pair("", ("count", a), ("statements", b), 0.0);
    }
    if let (Some(a), Some(b), false) = (get("rate"), get("statement_rate"), many_a_statement) {
        pair("", ("rate", a), ("statement_rate", b), b.value * 0.01);
    }
    judged.then_some(found)
}

/// A high percentile under the mean.
pub(super) fn below_mean(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut found = Vec::new();
    let mut judged = false;
    for of in view.parts() {
        let Some(mean) = view.of(of, "mean_ms") else {
            continue;
        };
        for (percent, ms) in view.percentiles(of) {
            if percent < 90.0 {
                continue;
            }
            judged = true;
            if ms.high + slack(view, ms.value) < mean.low {
                let figures = vec![
                    ("line", Figure::Count(ms.line)),
                    ("percent", named(of, &format!("p{percent}"))),
                    ("ms", Figure::Number(ms.value)),
                    ("mean", Figure::Number(mean.value)),
                ];
                let (says, instead) = (percentile_below_mean::SAYS, percentile_below_mean::INSTEAD);
                found.push(finding(
                    "percentile-below-mean",
                    Severity::Suspect,
                    says,
                    instead,
                    figures,
                ));
                break;
            }
        }
    }
    judged.then_some(found)
}

/// Percentiles of several clients: what they have together lies between them.
pub(super) fn averaged(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let clients = view.imported.figures.iter().filter(|f| {
        f.of.starts_with("client ") && f.name.starts_with('p') && f.name.ends_with("_ms")
    });
    let mut names: Vec<&str> = clients.clone().map(|f| f.name.as_str()).collect();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let mut found = Vec::new();
    for name in names {
        let of = clients.clone().filter(|f| f.name == name).map(|f| f.value);
        let (least, most) = of.fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
        let line = clients
            .clone()
            .find(|f| f.name == name)
            .map_or(0, |f| f.line);
        let merged = view.all(name).is_some();
        let figures = vec![
            ("line", Figure::Count(line)),
            ("name", Figure::Text(name.trim_end_matches("_ms").into())),
            ("least", Figure::Number(least)),
            ("most", Figure::Number(most)),
        ];
        let severity = if merged {
            Severity::Suspect
        } else {
            Severity::Note
        };
        let (says, instead) = (averaged_percentiles::SAYS, averaged_percentiles::INSTEAD);
        found.push(finding(
            "averaged-percentiles",
            severity,
            says,
            instead,
            figures,
        ));
    }
    Some(found)
}

/// The upper edges, in milliseconds, of the buckets that go-tpc once had.
const EDGES: [f64; 29] = [
    1.0, 2.0, 4.0, 8.0, 9.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 40.0, 48.0, 64.0, 80.0, 96.0,
    112.0, 128.0, 160.0, 192.0, 256.0, 512.0, 1000.0, 1500.0, 2000.0, 4000.0, 8000.0, 16_000.0,
    32_000.0,
];

/// Percentiles that are edges of buckets.
pub(super) fn coarse(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let all: Vec<(f64, Range)> = view
        .types()
        .into_iter()
        .flat_map(|of| view.percentiles(of))
        .collect();
    if !view.tool().percentiles_in_buckets || all.len() < 4 {
        return None;
    }
    let is_edge = |ms: f64| EDGES.contains(&ms);
    let (_, highest) = all.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    if !all.iter().all(|(_, ms)| is_edge(ms.value)) {
        return Some(Vec::new());
    }
    let below = EDGES
        .iter()
        .rev()
        .find(|e| **e < highest.value)
        .copied()
        .unwrap_or(0.0);
    let figures = vec![
        ("line", Figure::Count(highest.line)),
        ("ms", Figure::Number(highest.value)),
        ("below", Figure::Number(below)),
        ("count", Figure::Count(all.len() as u64)),
    ];
    let (says, instead) = (coarse_histogram::SAYS, coarse_histogram::INSTEAD);
    Some(vec![finding(
        "coarse-histogram",
        Severity::Note,
        says,
        instead,
        figures,
    )])
}

/// The network was measured.
pub(super) fn floor(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut judged = false;
    let mut found = Vec::new();
    for of in view.parts() {
        let (Some(min), Some(mean)) = (view.of(of, "min_ms"), view.of(of, "mean_ms")) else {
            continue;
        };
        let count = match of {
            "" => view.count(),
            of => view.of(of, "count"),
        };
        let Some(count) = count else { continue };
        judged = true;
        let share = min.value / mean.value;
        if count.value < FLOOR_SAMPLES as f64
            || min.value < FLOOR_MS
            || share.is_nan()
            || share < FLOOR
        {
            continue;
        }
        let figures = vec![
            ("line", Figure::Count(min.line)),
            ("type", named(of, "min")),
            ("min", Figure::Number(min.value)),
            ("mean", Figure::Number(mean.value)),
            ("share", Figure::Number(share * 100.0)),
        ];
        let (says, instead) = (stated_floor::SAYS, stated_floor::INSTEAD);
        found.push(finding(
            "latency-floor",
            Severity::Suspect,
            says,
            instead,
            figures,
        ));
        break;
    }
    judged.then_some(found)
}

/// Too few samples for a percentile.
pub(super) fn too_short(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut judged = false;
    let mut worst: Option<(Severity, f64, Finding)> = None;
    let all = view.count();
    // Closing sessions is no work.
    for of in view.parts().into_iter().filter(|of| *of != "CLEANUP") {
        let count = match of {
            "" => all,
            of => view.of(of, "count").or(view.of(of, "samples")),
        };
        let Some(count) = count.filter(|n| n.value > 0.0) else {
            continue;
        };
        for (percent, ms) in view.percentiles(of) {
            judged = true;
            let beyond = count.value * (1.0 - percent / 100.0);
            if percent >= 100.0 || beyond >= SAMPLES_BEYOND {
                continue;
            }
            // Less than a sample beyond it is no percentile at all; of rare types none is expected to be.
            let rare = all.is_some_and(|all| count.value < all.value * RARE);
            let no_use =
                of.is_empty() && count.value < SAMPLES_BEYOND / (1.0 - PERCENTILE_NEEDED / 100.0);
            let severity = match no_use || (beyond < 1.0 && !rare) {
                true => Severity::Suspect,
                false => Severity::Note,
            };
            // One is told: the severest, and of those the one with the fewest beyond.
            let is_worse = worst
                .as_ref()
                .is_none_or(|(s, b, _)| severity > *s || severity == *s && beyond < *b);
            if !is_worse {
                continue;
            }
            let figures = vec![
                ("line", Figure::Count(ms.line)),
                ("type", named(of, &format!("p{percent}"))),
                ("count", counted(count.value)),
                ("needed", counted(SAMPLES_BEYOND / (1.0 - percent / 100.0))),
            ];
            let (says, instead) = (stated_samples::SAYS, stated_samples::INSTEAD);
            worst = Some((
                severity,
                beyond,
                finding("too-short", severity, says, instead, figures),
            ));
        }
    }
    judged.then(|| worst.into_iter().map(|(.., f)| f).collect())
}
