//! Every option of every command is known either to make another run of one or to be set aside.

use crate::native::{LOAD, NATIVE, PREPARED};
use std::collections::BTreeSet;
use tidemark_analysis::setup::matters;
use tidemark_core::{OptionKind, OptionSpec};

/// Options that make another run of one: runs that differ in them are no repeats of each other. A new
/// option belongs here, or, where it can't change what is measured, among those that
/// `tidemark_analysis::setup` sets aside.
const MATTER: &[&str] = &[
    "analyze",
    "arrivals",
    "auto-inc",
    "batch-size",
    "bench",
    "busy-poll",
    "check",
    "chunk-rows",
    "clear",
    "clients",
    "cluster-index",
    "config",
    "conn-refresh-interval",
    "connect",
    "connect-rate",
    "connect-timeout",
    "connections",
    "count",
    "create",
    "create-secondary",
    "create-table-options",
    "dataintegrity",
    "db-ps-mode",
    "define",
    "delete-inserts",
    "delivery",
    "delta",
    "disjoint-keys",
    "distinct-ranges",
    "dropdata",
    "enable-query-tuning",
    "end-with",
    "events",
    "execute",
    "executors",
    "exponential.frac",
    "exponential.percentile",
    "fewer-sessions",
    "fieldcount",
    "fieldlength",
    "fieldlengthdistribution",
    "fieldlengthhistogram",
    "fillfactor",
    "find-confirm",
    "find-from",
    "find-hold",
    "find-max",
    "find-precision",
    "first-warehouse",
    "force",
    "force-index",
    "forced-shutdown",
    "foreign-keys",
    "hotspotdatafraction",
    "hotspotopnfraction",
    "ignore-error",
    "index-tablespace",
    "index-updates",
    "indexes",
    "init-steps",
    "initialize",
    "inject-rtt",
    "insertcount",
    "insertorder",
    "insertproportion",
    "insertstart",
    "isolation",
    "keep-loaded",
    "key-order",
    "keyprefix",
    "last-warehouse",
    "latency-limit",
    "load",
    "load-method",
    "loaderthreads",
    "max-backlog",
    "max-measure-latency",
    "max-procs",
    "max-tries",
    "maxscanlength",
    "minscanlength",
    "mysql-compression",
    "mysql-dry-run",
    "mysql-ignore-errors",
    "mysql-storage-engine",
    "no-vacuum",
    "non-index-updates",
    "num-connections",
    "number-of-ranges",
    "on-disconnect",
    "operationcount",
    "order-ranges",
    "partition-type",
    "partitioning",
    "partitions",
    "parts",
    "pgsql-variant",
    "phase",
    "phases",
    "plan-replayer-dir",
    "plan-replayer-file",
    "point-selects",
    "protocol",
    "queries",
    "query-timeout",
    "rand-pareto-h",
    "rand-spec-iter",
    "rand-spec-pct",
    "rand-spec-res",
    "rand-type",
    "rand-zipfian-exp",
    "random-points",
    "range-selects",
    "range-size",
    "rate",
    "rate-hold",
    "readallfields",
    "readmodifywriteproportion",
    "readproportion",
    "reconnect",
    "reconnect-timeout",
    "recordcount",
    "reference",
    "refresh",
    "replace",
    "report-per-command",
    "requestdistribution",
    "retry-count",
    "retry-interval",
    "scale",
    "scanlengthdistribution",
    "scanproportion",
    "scheduling",
    "scripts",
    "secondary",
    "set-session",
    "sf",
    "simple-ranges",
    "skip-trx",
    "snapshot",
    "start-warehouse-id",
    "statement-timeout",
    "statements",
    "streams",
    "sum-ranges",
    "table",
    "table-size",
    "tables",
    "tablespace",
    "terminals",
    "test",
    "think-time",
    "threads",
    "tidb_build_stats_concurrency",
    "tidb_distsql_scan_concurrency",
    "tidb_index_serial_scan_concurrency",
    "tiflash-replica",
    "time",
    "total-warehouses",
    "transactions",
    "unlogged-tables",
    "updateproportion",
    "use-clustered-index",
    "use-explain",
    "use-fk",
    "use-plan-replayer",
    "vacuum-all",
    "validate",
    "wait",
    "wait-for",
    "wait-scale",
    "warehouses",
    "warmup",
    "warmup-time",
    "warmup-time-secs",
    "weight",
    "writeallfields",
    "zeropadding",
];

fn every_option() -> Vec<OptionSpec> {
    let workloads = tidemark_workloads::registry().iter();
    let workloads = workloads.flat_map(|w| w.options.iter().copied().flatten());
    let own = LOAD
        .iter()
        .chain(NATIVE)
        .chain([&PREPARED])
        .chain(workloads);
    own.copied()
        .chain(crate::frontend::all().flat_map(|f| (f.options)()))
        .collect()
}

#[test]
fn every_option_is_classified() {
    let shown = every_option().into_iter();
    // Passwords are told to nobody.
    let shown = shown.filter(|o| o.kind != OptionKind::Password);
    let names: BTreeSet<&str> = shown.map(|o| o.name).collect();
    assert!(names.len() > 100, "{names:?}");
    let known: BTreeSet<&str> = MATTER.iter().copied().collect();
    let of_neither: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| matters(name) && !known.contains(name))
        .collect();
    assert!(
        of_neither.is_empty(),
        "does a run with another value repeat this one? {of_neither:?}"
    );
    let of_both: Vec<&&str> = known.iter().filter(|name| !matters(name)).collect();
    assert!(of_both.is_empty(), "{of_both:?}");
    let of_nobody: Vec<&&str> = known.difference(&names).collect();
    assert!(of_nobody.is_empty(), "{of_nobody:?}");
}
