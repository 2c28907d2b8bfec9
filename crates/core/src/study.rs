//! Where a run stands in a study.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Where a run stands in a study: one matrix of runs, executed once (and perhaps resumed).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StudyPlace {
    /// Id of the study's execution (UUID version 7).
    pub study: String,
    /// The study's name, as its file has it.
    pub name: String,
    /// The cell of its matrix: the same for all repeats, unique within the study.
    pub cell: String,
    /// What tells this cell from others, by factor: `target`, `workload`, `threads`, `size`, …
    pub factors: BTreeMap<String, String>,
    /// Which repeat of the cell, from 1.
    pub repeat: u32,
}

/// Which tables a study's load may replace: those that bear the study's id in their mark, as the study
/// left them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyLoad {
    /// Id of the study's execution.
    pub study: String,
    /// How its last step left its tables.
    pub left: LeftBehind,
    /// Whether a later load of the study is to replace what this one makes: only then all rows are
    /// summed when it has ended.
    pub sums: bool,
}

/// What tables hold, by name: the short text that `tidemark_drivers::catalog::contents` makes, which is
/// `rows:low:high:sum`. The sum is a number when it is over all rows; `~` stands before one over some
/// rows, and `-` is in the place of one that was not made.
pub type Contents = BTreeMap<String, String>;

/// Whether a table held the same at two looks, as far as that is known: `None` when nothing differs, but
/// not all rows were summed at both.
pub fn held_the_same(one: &str, other: &str) -> Option<bool> {
    match (one.rsplit_once(':'), other.rsplit_once(':')) {
        _ if is_whole(one) && is_whole(other) => Some(one == other),
        (Some((one, _)), Some((other, _))) if one != other => Some(false),
        _ => None,
    }
}

/// Whether such a text tells of all rows.
fn is_whole(held: &str) -> bool {
    let sum = held.rsplit_once(':').map(|(_, sum)| sum);
    sum.is_some_and(|sum| !sum.is_empty() && sum.bytes().all(|b| b.is_ascii_digit()))
}

/// How a study's steps left the tables that it has loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeftBehind {
    /// Nothing has written since the load.
    AsLoaded,
    /// Runs have written.
    Written {
        /// What the tables held before the first of them.
        first: Contents,
        /// What they held after the last.
        last: Contents,
    },
    /// Runs have written, and what they left is not known for certain: one was cut off, or not all rows
    /// were summed before and after each.
    Unknown,
    /// Between two steps somebody else has written.
    Changed,
}

/// What one run says of the tables that it used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablesUsed {
    /// What they held before it.
    pub before: Contents,
    /// What they held after it; empty of a run that was cut off.
    pub after: Contents,
    /// Whether it may have changed rows.
    pub wrote: bool,
}

impl LeftBehind {
    /// What runs left that followed each other after a load. What has become unknown stays so: what
    /// somebody else did meanwhile can't be told from what the runs did.
    pub fn by(runs: &[TablesUsed]) -> Self {
        let mut seen: Option<&Contents> = None;
        let mut first: Option<&Contents> = None;
        let mut is_known = true;
        for run in runs {
            match seen.map(|seen| compared(seen, &run.before)) {
                Some(Some(false)) => return LeftBehind::Changed,
                // A run that only reads may leave the look to the next one that writes.
                Some(None) if run.wrote && first.is_some() => is_known = false,
                _ => {}
            }
            if !run.wrote {
                if compared(&run.before, &run.after) == Some(false) {
                    return LeftBehind::Changed;
                }
                seen = seen.or((!run.before.is_empty()).then_some(&run.before));
                continue;
            }
            first = first.or(Some(&run.before));
            is_known &= !run.after.is_empty();
            seen = Some(&run.after);
        }
        match (first, seen) {
            (None, _) => LeftBehind::AsLoaded,
            (Some(first), Some(last)) if is_known => LeftBehind::Written {
                first: first.clone(),
                last: last.clone(),
            },
            _ => LeftBehind::Unknown,
        }
    }
}

/// Whether all tables held the same at two looks; `None` when nothing differs and some were not looked
/// at in full.
fn compared(one: &Contents, other: &Contents) -> Option<bool> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let mut all = (!names.is_empty()).then_some(true);
    for table in names {
        match one.get(table).zip(other.get(table)) {
            Some((one, other)) => match held_the_same(one, other) {
                Some(false) => return Some(false),
                Some(true) => {}
                None => all = None,
            },
            None => all = None,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(rows: u64) -> Contents {
        Contents::from([("sbtest1".to_string(), format!("{rows}:1:{rows}:77"))])
    }

    fn sampled(rows: u64) -> Contents {
        Contents::from([("sbtest1".to_string(), format!("{rows}:1:{rows}:~7"))])
    }

    fn run(before: u64, after: Option<u64>, wrote: bool) -> TablesUsed {
        TablesUsed {
            before: holds(before),
            after: after.map(holds).unwrap_or_default(),
            wrote,
        }
    }

    #[test]
    fn what_runs_left_follows_from_what_they_saw() {
        let by = |runs: &[TablesUsed]| LeftBehind::by(runs);
        let written = |first, last| LeftBehind::Written {
            first: holds(first),
            last: holds(last),
        };
        assert_eq!(by(&[]), LeftBehind::AsLoaded);
        assert_eq!(by(&[run(5, Some(5), false)]), LeftBehind::AsLoaded);
        let wrote = by(&[run(5, Some(7), true), run(7, Some(8), true)]);
        assert_eq!(wrote, written(5, 8));
        let read = by(&[run(5, None, false), run(5, Some(7), true)]);
        assert_eq!(read, written(5, 7));
        // Somebody else's row came between the two.
        let between = by(&[run(5, Some(7), true), run(8, Some(9), true)]);
        assert_eq!(between, LeftBehind::Changed);
        let read = by(&[run(5, Some(5), false), run(6, Some(6), false)]);
        assert_eq!(read, LeftBehind::Changed);
        // Or while a run read.
        let meanwhile = by(&[run(5, Some(6), false), run(6, Some(7), true)]);
        assert_eq!(meanwhile, LeftBehind::Changed);
        assert_eq!(by(&[run(5, None, false)]), LeftBehind::AsLoaded);
    }

    #[test]
    fn what_is_not_known_stays_unknown() {
        let by = |runs: &[TablesUsed]| LeftBehind::by(runs);
        // A run that was cut off says nothing of what it left, and the next one only what it found:
        // rows that somebody else put in between are not the study's.
        assert_eq!(by(&[run(5, None, true)]), LeftBehind::Unknown);
        let cut_off = [run(5, None, true), run(6, Some(8), true)];
        assert_eq!(by(&cut_off), LeftBehind::Unknown);
        let cut_off = [run(5, None, true), run(6, Some(6), false)];
        assert_eq!(by(&cut_off), LeftBehind::Unknown);
        // Rows that were not summed may be others.
        let some = |before, after| TablesUsed {
            before,
            after,
            wrote: true,
        };
        let between = [some(holds(5), sampled(7)), some(sampled(7), holds(8))];
        assert_eq!(by(&between), LeftBehind::Unknown);
        let counted = [some(holds(5), sampled(7)), some(sampled(8), holds(8))];
        assert_eq!(by(&counted), LeftBehind::Changed);
        // A table that was looked at once alone.
        let absent = [some(holds(5), holds(7)), some(Contents::new(), holds(8))];
        assert_eq!(by(&absent), LeftBehind::Unknown);
    }

    #[test]
    fn contents_are_the_same_only_if_all_rows_were_summed() {
        for (one, other, same) in [
            ("5:1:5:77", "5:1:5:77", Some(true)),
            ("5:1:5:77", "5:1:5:78", Some(false)),
            ("0:-:-:0", "0:-:-:0", Some(true)),
            ("5:1:5:-", "5:1:5:-", None),
            ("5:1:5:~7", "5:1:5:~7", None),
            ("5:1:5:~7", "5:1:5:77", None),
            ("5:1:5:-", "6:1:5:-", Some(false)),
            ("5:1:5:", "5:1:5:", None),
            ("", "", None),
        ] {
            assert_eq!(held_the_same(one, other), same, "{one} {other}");
        }
    }
}
