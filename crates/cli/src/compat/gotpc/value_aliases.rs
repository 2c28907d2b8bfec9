//! go-tpc's values that are numbers, as the words they stand for.

use tidemark_core::OptionSpec;

/// By option: go-tpc's values and the words.
const WORDS: &[(&str, &[(&str, &str)])] = &[
    ("output-type", &[("CSV", "csv")]),
    (
        "partition-type",
        &[
            ("1", "hash"),
            ("2", "range"),
            ("3", "list-hash"),
            ("4", "list-range"),
        ],
    ),
    (
        "isolation",
        &[
            ("0", "default"),
            ("1", "read-uncommitted"),
            ("2", "read-committed"),
            ("4", "repeatable-read"),
            ("6", "serializable"),
        ],
    ),
];

/// A value in the words of its option's table.
pub(super) fn worded<'v>(spec: &OptionSpec, value: &'v str) -> &'v str {
    let table = WORDS.iter().find(|(name, _)| *name == spec.name);
    table
        .and_then(|(_, words)| words.iter().find(|(theirs, _)| *theirs == value))
        .map_or(value, |(_, word)| word)
}
