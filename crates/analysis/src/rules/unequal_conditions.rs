//! Sides of a comparison between which more than one condition changed.

use crate::compare::ComparedRun;
use crate::compare::difference::{Difference, Facts, between};
use crate::texts::unequal_conditions::{INSTEAD, SAYS};
use crate::thresholds::OTHER_TIME;
use crate::{Figure, Finding, Severity};
use std::collections::BTreeMap;

pub(super) const ID: &str = "unequal-conditions";

/// What belongs together: who changes the server changes its version and its settings, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    Workload,
    Server,
    Data,
    Load,
    Isolation,
    Duration,
    Client,
    Options,
    /// What a table of a document names its columns by.
    Variant,
}

const LOAD: [&str; 12] = [
    "threads",
    "rate",
    "target",
    "connections",
    "terminals",
    "think-time",
    "threads-per-client",
    "wait",
    "wait-scale",
    "num-connections",
    "clients",
    "jobs",
];
const DURATION: [&str; 8] = [
    "time",
    "warmup-time",
    "events",
    "operationcount",
    "duration",
    "count",
    "transactions",
    "iterations",
];
const DATA: [&str; 13] = [
    "tables",
    "table-size",
    "warehouses",
    "parts",
    "scale",
    "scalefactor",
    "sf",
    "recordcount",
    "fieldcount",
    "fieldlength",
    "partitions",
    "first-warehouse",
    "last-warehouse",
];

/// Of a comparison's sides. Rows that changed since the load are `carried-state`'s.
pub(super) fn check(a: &[&ComparedRun], b: &[&ComparedRun]) -> Option<Finding> {
    let facts = |side: &[&ComparedRun]| -> Vec<Facts> {
        side.iter()
            .flat_map(|run| run.facts.iter().cloned())
            .collect()
    };
    let (of_a, of_b) = (facts(a), facts(b));
    let all = || of_a.iter().chain(&of_b);
    let is_imported = all().any(|facts| facts.is_imported);
    let is_table = all().any(|facts| facts.is_table);
    let (refs_a, refs_b) = (
        of_a.iter().collect::<Vec<_>>(),
        of_b.iter().collect::<Vec<_>>(),
    );
    let mut changed: BTreeMap<Condition, String> = BTreeMap::new();
    for difference in between(&refs_a, &refs_b) {
        let condition = condition(&difference.what, is_imported, is_table);
        let is_other = match difference.what.as_str() {
            "measured (s)" => is_other_time(&of_a, &of_b),
            _ => is_of_sides(&difference),
        };
        if let Some(condition) = condition.filter(|_| is_other) {
            changed.entry(condition).or_insert(difference.what);
        }
    }
    let what: Vec<String> = changed.into_values().collect();
    (what.len() > 1).then(|| Finding {
        rule: ID,
        severity: Severity::Note,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![("what", Figure::Text(what.join(", ")))],
    })
}

/// What a difference is of; `None` where it follows from others, or says nothing.
fn condition(what: &str, is_imported: bool, is_table: bool) -> Option<Condition> {
    if what.starts_with("setting ") {
        return Some(Condition::Server);
    }
    if let Some(option) = what.strip_prefix("option ") {
        return match option {
            "variant" => Some(Condition::Variant),
            // It changes nothing that is measured by more than a few hundredths.
            "observe" => None,
            _ if LOAD.contains(&option) => Some(Condition::Load),
            _ if DURATION.contains(&option) => Some(Condition::Duration),
            _ if DATA.contains(&option) => Some(Condition::Data),
            // Other columns are remarks, and what hosts did.
            _ if is_table => None,
            _ => Some(Condition::Options),
        };
    }
    match what {
        "workload" => Some(Condition::Workload),
        // Of a document it is its place.
        "target" if is_imported => None,
        "target" | "server" | "server version" => Some(Condition::Server),
        "sessions" => Some(Condition::Load),
        "isolation" => Some(Condition::Isolation),
        "client host" | "client kernel" | "client CPU" | "client cores" | "client memory" => {
            Some(Condition::Client)
        }
        "warm-up (s)" => Some(Condition::Duration),
        "measured (s)" if is_imported => Some(Condition::Duration),
        _ => None,
    }
}

/// Whether no run of one side has what one of the other has. What only some runs state is not known of
/// the others.
fn is_of_sides(difference: &Difference) -> bool {
    let (a, b) = (&difference.a, &difference.b);
    let is_known = |values: &[String]| !values.is_empty() && values.iter().all(|v| v != "–");
    is_known(a) && is_known(b) && a.iter().all(|value| !b.contains(value))
}

/// Whether documents state other durations: a second stands where they state none.
fn is_other_time(a: &[Facts], b: &[Facts]) -> bool {
    let range = |side: &[Facts]| {
        let all = side.iter().map(|facts| facts.elapsed_s);
        all.fold((f64::INFINITY, 0.0f64), |(least, most), s| {
            (least.min(s), most.max(s))
        })
    };
    let ((least_a, most_a), (least_b, most_b)) = (range(a), range(b));
    let are_stated = least_a > 1.0 && least_b > 1.0;
    are_stated && (least_a > most_b * OTHER_TIME || least_b > most_a * OTHER_TIME)
}
