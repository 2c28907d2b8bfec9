//! Options of TPC-C.

use tidemark_core::{OptionKind, OptionSpec, option};

/// Most warehouses: their numbers stay far from the end of a 32-bit INT, and those of their rows
/// of a 64-bit one.
pub(super) const MAX_WAREHOUSES: i64 = 1_000_000;
/// Most partitions: MySQL's and MariaDB's own bound.
const MAX_PARTS: i64 = 8_192;

/// Everything that can be set about TPC-C.
pub const OPTIONS: &[OptionSpec] = &[
    option(
        "warehouses",
        OptionKind::Int {
            min: 1,
            max: MAX_WAREHOUSES,
        },
        "10",
        "Number of warehouses, about 80 MB each",
    ),
    option(
        "parts",
        OptionKind::Int {
            min: 1,
            max: MAX_PARTS,
        },
        "1",
        "Partitions by warehouse of every table except item; 1 = not partitioned",
    ),
    option(
        "partition-type",
        OptionKind::Choice(&["hash", "range", "list-hash", "list-range"]),
        "hash",
        "Partition method for --parts: hash, range, or equivalent lists",
    ),
    option(
        "foreign-keys",
        OptionKind::Bool,
        "off",
        "Add the foreign keys of clause 1.3 after loading",
    ),
    option(
        "weight",
        OptionKind::Text,
        "45,43,4,4,4",
        "Share in percent of New-Order, Payment, Order-Status, Delivery and Stock-Level",
    ),
    option(
        "wait",
        OptionKind::Bool,
        "off",
        "Keying and think times of clause 5.2.5.7",
    ),
    option(
        "wait-scale",
        OptionKind::Float {
            min: 0.0,
            max: 1_000.0,
        },
        "1.0",
        "Factor of the keying and think times; the specification has 1.0",
    ),
    option(
        "wait-for",
        OptionKind::Choice(&["both", "keying", "think"]),
        "both",
        "Which of the two times apply with --wait; the specification has both",
    ),
    option(
        "delivery",
        OptionKind::Choice(&["auto", "inline", "deferred"]),
        "auto",
        "Delivery within its transaction or queued after it; auto: deferred with --wait, else inline",
    ),
    option(
        "statements",
        OptionKind::Choice(&["pipelined", "batched", "single"]),
        "pipelined",
        "New-Order lines in multi-row statements (batched), sent together where none depends on \
         another (pipelined; PostgreSQL family and MariaDB; batched behind a proxy that does not \
         allow it), or one statement per row",
    ),
    option(
        "first-warehouse",
        OptionKind::Int {
            min: 1,
            max: MAX_WAREHOUSES,
        },
        "1",
        "First warehouse with terminals in this run, when clients share the load",
    ),
    option(
        "last-warehouse",
        OptionKind::Int {
            min: 0,
            max: MAX_WAREHOUSES,
        },
        "0",
        "Last warehouse with terminals in this run; 0 = the last one",
    ),
];
