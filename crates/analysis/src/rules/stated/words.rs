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

/// What tools call figures for which they have no words of their own.
const PRINTED_BY_MANY: &[(&str, &str)] = &[
    ("rate", "TPS"),
    ("statement_rate", "QPS"),
    ("per_minute", "TPM"),
    ("tpm", "TPM"),
    ("tpmc", "tpmC"),
    ("tpm_total", "tpmTotal"),
    ("nopm", "NOPM"),
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
    let of = |words: &'static [(&str, &str)]| words.iter().find(|(n, _)| *n == name);
    if let Some((_, words)) = of(view.tool().figure_words).or_else(|| of(PRINTED_BY_MANY)) {
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
