//! Figures in words: those that their tool prints beside them, or common ones in the reader's language.

use super::view::ImportedRun;
use crate::texts::stated_figures as common;
use crate::{Both, Figure, Finding};

/// Rules whose sentences name figures or formulas, and what these are called in their evidence.
const RULES: [&str; 4] = [
    "summary-mismatch",
    "impossible-pair",
    "latency-floor",
    "wrong-column",
];
const NAMES: [&str; 6] = ["name", "from", "less", "more", "type", "other"];

/// Of milliseconds; those of seconds have their unit in their words.
const MS: &str = "_ms";

/// What a tool prints before or behind a figure, without its unit; of any tool where none is named.
const PRINTED: &[(&str, &str, &str)] = &[
    ("sysbench", "statement_sum", "total"),
    ("sysbench", "count", "transactions"),
    ("sysbench", "rate", "transactions per sec."),
    ("sysbench", "statements", "queries"),
    ("sysbench", "statement_rate", "queries per sec."),
    ("sysbench", "read_write", "read/write requests"),
    (
        "sysbench",
        "read_write_rate",
        "read/write requests per sec.",
    ),
    ("sysbench", "other_operations", "other operations"),
    (
        "sysbench",
        "other_operations_rate",
        "other operations per sec.",
    ),
    ("sysbench", "ignored_errors", "ignored errors"),
    ("sysbench", "ignored_error_rate", "ignored errors per sec."),
    ("sysbench", "reconnect_rate", "reconnects per sec."),
    ("sysbench", "elapsed_s", "total time"),
    ("sysbench", "events", "total number of events"),
    ("sysbench", "event_rate", "events/s (eps)"),
    ("sysbench", "transferred_mib", "MiB transferred"),
    ("sysbench", "mib_rate", "MiB/sec"),
    ("sysbench", "min", "min"),
    ("sysbench", "mean", "avg"),
    ("sysbench", "max", "max"),
    ("sysbench", "sum", "sum"),
    ("sysbench", "events_avg", "events (avg/stddev)"),
    ("sysbench", "time_avg_s", "execution time (avg/stddev)"),
    (
        "pgbench",
        "count",
        "number of transactions actually processed",
    ),
    ("pgbench", "mean", "latency average"),
    ("pgbench", "connecting", "initial connection time"),
    ("pgbench", "rate", "tps"),
    ("pgbench", "time", "duration"),
    ("pgbench-log", "count", "num_transactions"),
    ("pgbench-log", "num_transactions", "num_transactions"),
    ("pgbench-log", "sum", "sum_latency"),
    ("pgbench-log", "sum_latency²", "sum_latency²"),
    ("pgbench-log", "sum_latency_2", "sum_latency_2"),
    ("pgbench-log", "min", "min_latency"),
    ("pgbench-log", "max", "max_latency"),
    ("benchbase", "min", "Minimum Latency"),
    ("benchbase", "p50", "Median Latency"),
    ("benchbase", "max", "Maximum Latency"),
    ("benchbase", "mean", "Average Latency"),
    ("benchbase", "elapsed_s", "Elapsed Time"),
    ("benchbase", "count", "Measured Requests"),
    ("benchbase", "rate", "Throughput"),
    ("benchbase", "goodput", "Goodput"),
    ("go-tpc", "elapsed_s", "Takes(s)"),
    ("go-tpc", "count", "Count"),
    ("go-tpc", "sum", "Sum"),
    ("go-tpc", "mean", "Avg"),
    ("go-tpc", "min", "Min"),
    ("go-tpc", "max", "Max"),
    ("go-ycsb", "elapsed_s", "Takes(s)"),
    ("go-ycsb", "count", "Count"),
    ("go-ycsb", "rate", "OPS"),
    ("go-ycsb", "mean", "Avg"),
    ("go-ycsb", "min", "Min"),
    ("go-ycsb", "max", "Max"),
    ("ycsb", "count", "Operations"),
    ("ycsb", "rate", "Throughput(ops/sec)"),
    ("ycsb", "elapsed_s", "RunTime (s)"),
    ("ycsb", "mean", "AverageLatency"),
    ("ycsb", "min", "MinLatency"),
    ("ycsb", "max", "MaxLatency"),
    ("mysqlslap", "elapsed_s", "Average number of seconds"),
    ("mysqlslap", "shortest_s", "Minimum number of seconds"),
    ("mysqlslap", "longest_s", "Maximum number of seconds"),
    (
        "mysqlslap",
        "queries_per_client",
        "Average number of queries per client",
    ),
    ("hammerdb", "minutes_elapsed", "minutes elapsed"),
    ("k6", "count", "iterations"),
    ("k6", "rate", "iterations/s"),
    ("k6", "requests", "http_reqs"),
    ("k6", "request_rate", "http_reqs/s"),
    ("k6", "error_share", "http_req_failed (%)"),
    ("k6", "http_req", "http_req_duration"),
    ("", "rate", "TPS"),
    ("", "statement_rate", "QPS"),
    ("", "per_minute", "TPM"),
    ("", "tpm", "TPM"),
    ("", "tpmc", "tpmC"),
    ("", "tpm_total", "tpmTotal"),
    ("", "nopm", "NOPM"),
];

/// Common words, without a unit.
const COMMON: &[(&str, Both)] = &[
    ("change_percent", common::CHANGE),
    ("clients", common::CLIENTS),
    ("count", common::TRANSACTIONS),
    ("elapsed_s", common::ELAPSED),
    ("error_share", common::ERRORS),
    ("max", common::MAX),
    ("mean", common::MEAN),
    ("min", common::MIN),
    ("percentile", common::PERCENTILE),
    ("ratio", common::RATIO),
    ("seconds", common::SECONDS),
    ("sessions", common::SESSIONS),
    ("statements", common::STATEMENTS),
    ("sum", common::SUM),
    ("threads", common::THREADS),
    ("time", common::TIME),
    ("transactions", common::TRANSACTIONS),
];

/// Puts words in the place of the names that records have for figures.
pub(super) fn put(view: &ImportedRun<'_>, finding: &mut Finding) {
    if !RULES.contains(&finding.rule) {
        return;
    }
    for (place, figure) in &mut finding.figures {
        let words = match &*figure {
            Figure::Text(text) if NAMES.contains(&*place) => text.split(' '),
            _ => continue,
        };
        let words = words.map(|word| in_words(view, word, true));
        let words = joined(words.collect(), " ");
        *figure = words;
    }
}

/// Names of figures, one behind the other.
pub(super) fn list(view: &ImportedRun<'_>, names: &[&str]) -> Figure {
    let words = names.iter().map(|name| in_words(view, name, false));
    joined(words.collect(), ", ")
}

fn joined(words: Vec<(String, String)>, by: &str) -> Figure {
    let (en, zh): (Vec<String>, Vec<String>) = words.into_iter().unzip();
    let (en, zh) = (en.join(by), zh.join(by));
    match en == zh {
        true => Figure::Text(en),
        false => Figure::Composed { en, zh },
    }
}

/// A word of a name or formula in English and in Chinese. What is no figure's name stays as it is.
fn in_words(view: &ImportedRun<'_>, word: &str, with_unit: bool) -> (String, String) {
    let tool = view.imported.tool.as_str();
    let name = word.strip_suffix(MS).unwrap_or(word);
    let is_ms = name.len() < word.len();
    // What sysbench prints below `Latency (ms)` needs no unit, but before 1.0 the sum was of seconds.
    let version = view.imported.tool_version.as_deref();
    let is_old = version.is_some_and(|version| version.starts_with("0."));
    let is_old_sum = tool == "sysbench" && is_old && is_ms && name == "sum";
    let has_unit = is_ms && with_unit && (tool != "sysbench" || is_old_sum);
    let printed = |words: &str| match has_unit {
        true => same(&format!("{words} (ms)")),
        false => same(words),
    };
    if is_old_sum {
        return printed("total time taken by event execution");
    }
    let of = |tool: &str| PRINTED.iter().find(|(t, n, _)| *t == tool && *n == name);
    if let Some(&(.., words)) = of(tool).or_else(|| of("")) {
        return printed(words);
    }
    if let Some((_, words)) = COMMON.iter().find(|(n, _)| *n == name) {
        return match has_unit {
            true => (format!("{} (ms)", words.en), format!("{}（ms）", words.zh)),
            false => (words.en.into(), words.zh.into()),
        };
    }
    let percent = name.strip_prefix('p').filter(|_| is_ms);
    if let Some(percent) = percent.filter(|percent| percent.parse::<f64>().is_ok()) {
        return printed(&match tool {
            "sysbench" => format!("{percent}th percentile"),
            "benchbase" => format!("{percent}th Percentile Latency"),
            _ => format!("p{percent}"),
        });
    }
    // Types have capitals; a figure that has no words is told with blanks.
    match word.contains(|c: char| c.is_ascii_uppercase()) {
        true => same(word),
        false => same(&word.replace('_', " ")),
    }
}

fn same(words: &str) -> (String, String) {
    (words.into(), words.into())
}
