//! Tools that run TPC-C and little else.

use super::{ClosedLoop, OTHER, Tool};

/// go-tpc, which runs TPC-H, too.
pub(super) const GO_TPC: Tool = Tool {
    name: "go-tpc",
    title: Some("go-tpc"),
    called: &["go-tpc"],
    programs: &["go-tpc"],
    flags: &[
        ("-T", "threads"),
        ("-t", "acThreads"),
        ("-H", "host"),
        ("-P", "port"),
        ("-D", "db"),
        ("-U", "user"),
        ("-d", "driver"),
    ],
    glues_values: true,
    has_password_letter: true,
    ends_with_summary: true,
    types_have_like_figures: true,
    percentiles_in_buckets: true,
    closed_loop: ClosedLoop::Output,
    figure_words: &[
        ("elapsed_s", "Takes(s)"),
        ("count", "Count"),
        ("sum", "Sum"),
        ("mean", "Avg"),
        ("min", "Min"),
        ("max", "Max"),
    ],
    ..OTHER
};

/// HammerDB.
pub(super) const HAMMERDB: Tool = Tool {
    name: "hammerdb",
    title: Some("HammerDB"),
    called: &["hammerdb"],
    programs: &["hammerdbcli"],
    may_rest: true,
    figure_words: &[("minutes_elapsed", "minutes elapsed")],
    ..OTHER
};

/// Percona's tpcc-mysql.
pub(super) const TPCC_MYSQL: Tool = Tool {
    name: "tpcc-mysql",
    title: Some("tpcc-mysql"),
    called: &["tpcc-mysql"],
    programs: &["tpcc_start"],
    flags: &[
        ("-h", "host"),
        ("-P", "port"),
        ("-u", "user"),
        ("-d", "db"),
        ("-w", "warehouses"),
        ("-c", "threads"),
        ("-r", "warmup-time"),
        ("-l", "time"),
        ("-i", "report-interval"),
    ],
    glues_values: true,
    has_password_letter: true,
    ends_with_summary: true,
    may_rest: true,
    closed_loop: ClosedLoop::Output,
    ..OTHER
};

/// BenchmarkSQL.
pub(super) const BENCHMARKSQL: Tool = Tool {
    name: "benchmarksql",
    title: Some("BenchmarkSQL"),
    called: &["benchmarksql"],
    may_rest: true,
    ..OTHER
};
