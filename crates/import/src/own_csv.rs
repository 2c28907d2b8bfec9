//! The CSV of Tidemark's own reports: a row for each run.

use crate::headings::ColumnMeaning;

/// What its headings begin with.
const FIRST: [&str; 3] = ["run_id", "started_at", "state"];
/// Its figures, and what they are called.
const FIGURES: [(&str, &str); 15] = [
    ("elapsed_s", "elapsed_s"),
    ("transactions", "count"),
    ("transactions_per_s", "rate"),
    ("statements_per_s", "statement_rate"),
    ("mean_ms", "mean_ms"),
    ("p50_ms", "p50_ms"),
    ("p95_ms", "p95_ms"),
    ("p99_ms", "p99_ms"),
    ("max_ms", "max_ms"),
    ("errors", "ignored_errors"),
    ("reconnects", "reconnects"),
    ("tpmC", "tpmc"),
    ("NOPM", "nopm"),
    ("TPM", "tpm"),
    ("efficiency_percent", "efficiency"),
];
/// What is kept beside them.
const BESIDE: [&str; 6] = [
    "state",
    "target",
    "engine",
    "engine_version",
    "terminals",
    "usable",
];
/// What the names of a study's factors begin with; they are kept, too.
const FACTOR: &str = "factor_";

/// Whether these are its headings.
pub(crate) fn is_own(names: &[String]) -> bool {
    let mut pairs = names.iter().zip(FIRST);
    names.len() > FIRST.len() && pairs.all(|(name, own)| name.trim() == own)
}

/// Its columns. Those that are left out, such as the run's id, lose their names.
pub(crate) fn columns(names: &mut [String]) -> Vec<ColumnMeaning> {
    let columns = names.iter_mut().map(|name| {
        let meaning = column(name.trim());
        if meaning == ColumnMeaning::Aside && !is_kept(name.trim()) {
            name.clear();
        }
        meaning
    });
    columns.collect()
}

fn is_kept(name: &str) -> bool {
    name.starts_with(FACTOR) || BESIDE.contains(&name)
}

fn column(name: &str) -> ColumnMeaning {
    if let Some((_, figure)) = FIGURES.iter().find(|(own, _)| *own == name) {
        return ColumnMeaning::Figure((*figure).into(), 1.0);
    }
    match name {
        "workload" => ColumnMeaning::Label,
        "sessions" => ColumnMeaning::Option("threads"),
        "rate" => ColumnMeaning::Option("rate"),
        _ => ColumnMeaning::Aside,
    }
}
