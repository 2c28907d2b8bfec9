//! YCSB's programs.

use super::{ClosedLoop, OTHER, Tool};

/// go-ycsb.
pub(super) const GO: Tool = Tool {
    name: "go-ycsb",
    title: Some("go-ycsb"),
    called: &["go-ycsb", "ycsb"],
    programs: &["go-ycsb"],
    flags: &[("-P", "workload-file"), ("-p", "property")],
    started_as: &["ycsb"],
    rate_option: "target",
    standard_workloads: Some("ycsb"),
    prints_properties: true,
    ends_with_summary: true,
    end_is_its_time: true,
    lines_in_order: true,
    percentile_step_ms: 1.0,
    time_holds_start: true,
    total_type: Some("TOTAL"),
    types_have_like_figures: true,
    types_end_with_run: true,
    operations_asked: Some(("operationcount", "maxexecutiontime")),
    closed_loop: ClosedLoop::Head,
    figure_words: &[
        ("elapsed_s", "Takes(s)"),
        ("count", "Count"),
        ("rate", "OPS"),
        ("mean", "Avg"),
        ("min", "Min"),
        ("max", "Max"),
    ],
    ..OTHER
};

/// The Java one.
pub(super) const JAVA: Tool = Tool {
    name: "ycsb",
    title: Some("YCSB"),
    called: &["ycsb"],
    programs: &[
        "ycsb",
        "ycsb.sh",
        "ycsb.py",
        "site.ycsb.Client",
        "com.yahoo.ycsb.Client",
    ],
    flags: &[
        ("-P", "workload-file"),
        ("-p", "property"),
        ("-threads", "threads"),
        ("-target", "target"),
        ("-db", "db"),
    ],
    command_flags: &[("-t", "run"), ("-load", "load")],
    started_as: &["go-ycsb"],
    rate_option: "target",
    standard_workloads: Some("ycsb"),
    ends_with_summary: true,
    lines_in_order: true,
    time_holds_start: true,
    rate_is_of_types: true,
    closed_loop: ClosedLoop::Head,
    figure_words: &[
        ("count", "Operations"),
        ("rate", "Throughput(ops/sec)"),
        ("elapsed_s", "RunTime (s)"),
        ("mean", "AverageLatency"),
        ("min", "MinLatency"),
        ("max", "MaxLatency"),
    ],
    ..OTHER
};
