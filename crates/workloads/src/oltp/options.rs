//! Options of the family: sysbench's, with its defaults, and what its forks added.

use tidemark_core::{OptionKind, OptionSpec, option};

/// Most rows of a table: its key is a 32-bit INTEGER.
pub(super) const MAX_ROWS: i64 = i32::MAX as i64;
/// Most rows of one INSERT: with four parameters a row it stays below SQLite's 32,766 parameters
/// (sqlite.org/limits.html, 9) and far below the 65,535 of both wire protocols.
const MAX_BATCH: i64 = 8_000;
/// Most parameters that one SELECT is built with, for the same reason.
const MAX_POINTS: i64 = 32_000;

const COUNT: OptionKind = OptionKind::Int {
    min: 0,
    max: 1_000_000,
};

/// Options that every workload of the family takes, whether it uses them or not, as sysbench's
/// scripts do.
pub const COMMON: &[OptionSpec] = &[
    option(
        "tables",
        OptionKind::Int {
            min: 1,
            max: 100_000,
        },
        "1",
        "Number of tables, sbtest1 to sbtestN",
    ),
    option(
        "table-size",
        OptionKind::Int {
            min: 0,
            max: MAX_ROWS,
        },
        "10000",
        "Rows per table",
    ),
    option(
        "range-size",
        OptionKind::Int {
            min: 1,
            max: MAX_ROWS,
        },
        "100",
        "Keys that one range SELECT covers",
    ),
    option(
        "point-selects",
        COUNT,
        "10",
        "Point SELECTs per transaction",
    ),
    option(
        "simple-ranges",
        COUNT,
        "1",
        "Plain range SELECTs per transaction",
    ),
    option(
        "sum-ranges",
        COUNT,
        "1",
        "Range SELECTs with SUM() per transaction",
    ),
    option(
        "order-ranges",
        COUNT,
        "1",
        "Range SELECTs with ORDER BY per transaction",
    ),
    option(
        "distinct-ranges",
        COUNT,
        "1",
        "Range SELECTs with DISTINCT per transaction",
    ),
    option("range-selects", OptionKind::Bool, "on", "Run range SELECTs"),
    option(
        "index-updates",
        COUNT,
        "1",
        "UPDATEs of the indexed column k per transaction",
    ),
    option(
        "non-index-updates",
        COUNT,
        "1",
        "UPDATEs of the unindexed column c per transaction",
    ),
    option(
        "delete-inserts",
        COUNT,
        "1",
        "Pairs of DELETE and INSERT of one key per transaction",
    ),
    option(
        "auto-inc",
        OptionKind::Bool,
        "on",
        "Let the server number new rows; off: the client sets keys",
    ),
    option(
        "secondary",
        OptionKind::Bool,
        "off",
        "Give id a plain index instead of the primary key",
    ),
    option(
        "create-secondary",
        OptionKind::Bool,
        "on",
        "Create the index on k after the rows are loaded",
    ),
    option(
        "create-table-options",
        OptionKind::Text,
        "",
        "Text appended to CREATE TABLE",
    ),
    option(
        "skip-trx",
        OptionKind::Bool,
        "off",
        "Omit BEGIN and COMMIT: each statement is its own transaction",
    ),
    option(
        "reconnect",
        OptionKind::Int {
            min: 0,
            max: i64::MAX,
        },
        "0",
        "Reconnect every this many transactions; 0 = never",
    ),
    option(
        "mysql-storage-engine",
        OptionKind::Text,
        "innodb",
        "Storage engine of new tables (MySQL protocol)",
    ),
    option(
        "pgsql-variant",
        OptionKind::Choice(&["redshift"]),
        "",
        "Variant behind the PostgreSQL protocol; redshift: no index on k, no DELETE/INSERT pairs",
    ),
    option(
        "partitioning",
        OptionKind::Choice(&["default", "hash", "range"]),
        "default",
        "Partitioning of new tables by id: the engine's default, hash, or even ranges",
    ),
    option(
        "partitions",
        OptionKind::Int { min: 0, max: 8_192 },
        "0",
        "Number of partitions (YugabyteDB: tablets) of new tables; 0 = the engine's default, or \
         8 if it needs a number",
    ),
    option(
        "key-order",
        OptionKind::Choice(&["sequential", "random"]),
        "sequential",
        "Order of keys in loads and inserts; random keys do not all hit the last partition",
    ),
    option(
        "disjoint-keys",
        OptionKind::Bool,
        "off",
        "Let each session choose only keys that no other session chooses: no contention on rows",
    ),
    option(
        "end-with",
        OptionKind::Choice(&["default", "commit", "rollback"]),
        "default",
        "Enclose each transaction in BEGIN and COMMIT, or in BEGIN and ROLLBACK; default: as sysbench",
    ),
];

/// Options of the batch workloads.
pub const BATCH: &[OptionSpec] = &[option(
    "batch-size",
    OptionKind::Int {
        min: 1,
        max: MAX_BATCH,
    },
    "10",
    "Rows per INSERT",
)];

/// Options of `select_random_points`.
pub const RANDOM_POINTS: &[OptionSpec] = &[option(
    "random-points",
    OptionKind::Int {
        min: 1,
        max: MAX_POINTS,
    },
    "10",
    "Values in the IN list of each SELECT",
)];

/// Options of `select_random_ranges`.
pub const RANDOM_RANGES: &[OptionSpec] = &[
    option(
        "number-of-ranges",
        OptionKind::Int {
            min: 1,
            max: MAX_POINTS / 2,
        },
        "10",
        "BETWEEN conditions of each SELECT",
    ),
    option(
        "delta",
        OptionKind::Int {
            min: 0,
            max: MAX_ROWS,
        },
        "5",
        "Upper minus lower bound of each BETWEEN",
    ),
];
