//! What a workload of pgbench's is set to, under pgbench's names.

use tidemark_core::OptionKind::{Bool, Choice, Float, Int, Text};
use tidemark_core::{OptionSpec, option};

/// The options of tables and scripts.
pub const OPTIONS: &[OptionSpec] = &[
    option(
        "scale",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "scaling factor: 100,000 rows of pgbench_accounts each, about 15 MB",
    ),
    option(
        "scripts",
        Text,
        "",
        "the scripts with their weights, as JSON: \
         [{\"builtin\":\"tpcb-like\",\"weight\":1},{\"file\":\"f.sql\",\"text\":\"SELECT 1;\"}]",
    ),
    option(
        "protocol",
        Choice(&["simple", "extended", "prepared"]),
        "simple",
        "how statements reach the server",
    ),
    option(
        "define",
        Text,
        "",
        "variables of scripts: NAME=VALUE, several joined by commas",
    ),
    option(
        "max-tries",
        Int {
            min: 0,
            max: u32::MAX as i64,
        },
        "1",
        "most tries of a transaction after serialization and deadlock errors; 0 = no limit",
    ),
    option(
        "latency-limit",
        Float { min: 0.0, max: 1e9 },
        "0",
        "count transactions that take longer than this many milliseconds, and try none again after \
         them; 0 = no limit",
    ),
    option(
        "report-per-command",
        Bool,
        "off",
        "time every command of the scripts",
    ),
    option(
        "fillfactor",
        Int { min: 10, max: 100 },
        "100",
        "fill factor of the tables",
    ),
    option(
        "foreign-keys",
        Bool,
        "off",
        "add foreign keys between the tables",
    ),
    option(
        "unlogged-tables",
        Bool,
        "off",
        "create the tables as unlogged tables",
    ),
    option("tablespace", Text, "", "tablespace of the tables"),
    option(
        "index-tablespace",
        Text,
        "",
        "tablespace of the primary keys' indexes",
    ),
];
