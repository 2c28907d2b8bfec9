//! pgbench.

use super::{ClosedLoop, OTHER, Tool};

/// Its output.
pub(super) const PGBENCH: Tool = Tool {
    name: "pgbench",
    title: Some("pgbench"),
    called: &["pgbench"],
    programs: &["pgbench"],
    flags: &[
        ("-c", "threads"),
        ("-j", "jobs"),
        ("-T", "time"),
        ("-t", "transactions"),
        ("-s", "scale"),
        ("-R", "rate"),
        ("-f", "file"),
        ("-b", "builtin"),
        ("-P", "report-interval"),
        ("-M", "protocol"),
        ("-h", "host"),
        ("-p", "port"),
        ("-U", "user"),
        ("-D", "define"),
        ("-F", "fillfactor"),
        ("-L", "latency-limit"),
    ],
    glues_values: true,
    ends_with_summary: true,
    lines_in_order: true,
    closed_loop: ClosedLoop::Output,
    figure_words: &[
        ("count", "number of transactions actually processed"),
        ("mean", "latency average"),
        ("connecting", "initial connection time"),
        ("rate", "tps"),
        ("time", "duration"),
    ],
    ..OTHER
};

/// Its log of transactions.
pub(super) const LOG: Tool = Tool {
    name: "pgbench-log",
    called: &["pgbench"],
    started_as: &["pgbench"],
    figure_words: &[
        ("count", "num_transactions"),
        ("num_transactions", "num_transactions"),
        ("sum", "sum_latency"),
        ("sum_latency²", "sum_latency²"),
        ("sum_latency_2", "sum_latency_2"),
        ("min", "min_latency"),
        ("max", "max_latency"),
    ],
    ..OTHER
};
