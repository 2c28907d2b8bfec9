//! What follows from all figures of a run together. What is not stated is not made up.

use crate::draft::Draft;
use crate::record::{READ_MODIFY_WRITE, READ_MODIFY_WRITE_JAVA, natural, types};
use std::collections::BTreeMap;
use tidemark_core::record::{RateUnit, TypeStats};

/// What follows from all figures together.
pub(crate) struct Sum {
    pub elapsed_s: f64,
    pub count: u64,
    pub errors: u64,
    pub sessions: usize,
    pub mean_ms: Option<f64>,
    pub types: BTreeMap<String, TypeStats>,
    pub unit: RateUnit,
    /// What no line states.
    pub derived: Vec<String>,
    pub notes: Vec<String>,
}

impl Sum {
    pub fn of(draft: &Draft) -> Self {
        let mut notes = Vec::new();
        let mut derived = vec!["started_at".to_string()];
        derived.extend(draft.derived.iter().cloned());
        let types = types(draft);
        let mut counted: u64 = types.values().map(|t| t.count).sum();
        // The READ and the UPDATE of one are counted by themselves, too.
        let whole = types
            .get(READ_MODIFY_WRITE)
            .or_else(|| types.get(READ_MODIFY_WRITE_JAVA));
        counted = counted.saturating_sub(whole.map_or(0, |t| t.count.saturating_mul(2)));
        let of_types = draft
            .figures
            .iter()
            .filter(|f| f.name == "elapsed_s" && !f.of.is_empty());
        let of_types = of_types.map(|f| f.value).fold(0.0, f64::max);
        let queries: f64 = draft.queries.iter().map(|(_, took, _)| took).sum();
        let stated = draft
            .value("elapsed_s")
            .or(Some(of_types).filter(|s| *s > 0.0))
            .or(Some(queries).filter(|s| *s > 0.0))
            .or(draft.option_number("time"))
            .or(draft.last_moment());
        let elapsed_s = stated
            .filter(|s| *s > 0.0 && s.is_finite())
            .unwrap_or_else(|| {
                notes.push("no duration is stated".into());
                derived.push("elapsed_s".into());
                1.0
            });
        let total = draft
            .figures
            .iter()
            .find(|f| f.of == "TOTAL" && f.name == "count");
        let count = draft
            .value("count")
            .or(draft.value("events"))
            .or(total.map(|f| f.value))
            .map(natural)
            .or(Some(counted).filter(|n| *n > 0))
            .or((!draft.queries.is_empty()).then_some(draft.queries.len() as u64));
        let intervals = draft.intervals.iter().filter(|i| !i.cumulative);
        let done: f64 = intervals
            .filter_map(|i| i.count.or_else(|| Some(i.rate? * i.length_s?)))
            .sum();
        let unit = unit(draft, count.is_some() || done > 0.0);
        let count = match (unit, count) {
            // Of one type, or of one client's.
            (RateUnit::NewOrders, _) => 0,
            // Profiles are of one user.
            (RateUnit::Transactions, _) if draft.tool == "hammerdb" && draft.queries.is_empty() => {
                0
            }
            (_, Some(count)) => count,
            (RateUnit::Statements, None) if draft.tool == "mysqlslap" => {
                let asked = draft.option_number("number-of-queries");
                let each = draft.value("queries_per_client");
                if asked.is_none() && each.is_some() {
                    notes
                        .push("queries are the number of clients times the queries of each".into());
                    derived.push("count".into());
                }
                let of_all = each.zip(draft.option_number("threads"));
                asked
                    .or(of_all.map(|(each, n)| each * n))
                    .map_or(0, natural)
            }
            (RateUnit::Transactions, None) if done > 0.0 && draft.value("rate").is_none() => {
                notes.push("no total is stated: it is the sum of the intervals".into());
                derived.push("count".into());
                natural(done)
            }
            (RateUnit::Statements, None) => draft.value("statements").map_or(0, natural),
            // What is not stated is not made up.
            (RateUnit::Transactions, None) => 0,
        };
        let errors = draft
            .figures
            .iter()
            .filter(|f| f.of == "errors")
            .map(|f| natural(f.value))
            .sum();
        let last = draft.intervals.iter().rev().find_map(|i| i.sessions);
        let sessions = draft.option_number("threads").or(last).map_or(0, natural);
        // A mean of all is the mean of its parts by their counts.
        let weighted = |t: &TypeStats| Some(t.quantiles.as_ref()?.mean_ms? * t.count as f64);
        let parts: Option<f64> = types.values().map(weighted).sum();
        let mean_ms = parts
            .filter(|_| counted > 0 && whole.is_none())
            .map(|sum| sum / counted as f64);
        Self {
            elapsed_s,
            count,
            errors: draft
                .value("ignored_errors")
                .or(draft.value("failed"))
                .map_or(errors, natural),
            sessions: usize::try_from(sessions).unwrap_or(usize::MAX),
            mean_ms,
            types,
            unit,
            derived,
            notes,
        }
    }
}

/// What the throughput of a run is of.
fn unit(draft: &Draft, is_counted: bool) -> RateUnit {
    let has = |name: &str| draft.value(name).is_some();
    // Its transactions a minute are the server's own count, those of its profiles are of one user.
    let is_hammer = draft.tool == "hammerdb" || has("nopm");
    match () {
        () if draft.tool == "mysqlslap" => RateUnit::Statements,
        () if has("rate") => RateUnit::Transactions,
        () if is_counted && !is_hammer => RateUnit::Transactions,
        () if (has("tpm_total") || has("tpm")) && !is_hammer => RateUnit::Transactions,
        () if has("nopm") || has("tpmc") => RateUnit::NewOrders,
        () if has("statement_rate") || has("statements") => RateUnit::Statements,
        () => RateUnit::Transactions,
    }
}
