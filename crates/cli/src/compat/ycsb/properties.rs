//! YCSB's and go-ycsb's properties: which of Tidemark's options each one sets, and why some set
//! nothing.

use std::time::Duration;
use tidemark_core::OptionKind::{Bool, Choice, Int, Password, Rates, Text, Time};
use tidemark_core::{OptionKind, OptionSpec, option};

const YEAR: Duration = Duration::from_secs(365 * 86_400);
const UP_TO_A_YEAR: OptionKind = Time {
    min: Duration::ZERO,
    max: YEAR,
};
const PORT: OptionKind = Int {
    min: 1,
    max: 65_535,
};

/// Where the database is, under go-ycsb's names.
pub const CONNECTION: &[OptionSpec] = &[
    option("mysql.host", Text, "127.0.0.1", "host"),
    option("mysql.port", PORT, "3306", "port"),
    option("mysql.user", Text, "root", "account"),
    option(
        "mysql.password",
        Password,
        "",
        "password; MYSQL_PWD in the environment is safer",
    ),
    option("mysql.db", Text, "test", "database"),
    option(
        "tidb.instances",
        Text,
        "",
        "host:port pairs instead, separated by commas; sessions are spread evenly",
    ),
    option("pg.host", Text, "127.0.0.1", "host"),
    option("pg.port", PORT, "5432", "port"),
    option("pg.user", Text, "root", "account"),
    option(
        "pg.password",
        Password,
        "",
        "password; PGPASSWORD in the environment is safer",
    ),
    option("pg.db", Text, "test", "database"),
    option(
        "pg.sslmode",
        Choice(&[
            "disable",
            "require",
            "verify-ca",
            "verify-full",
            "no-verify",
        ]),
        "disable",
        "TLS; require verifies the server's certificate, too",
    ),
    option("sqlite.db", Text, "/tmp/sqlite.db", "file"),
];

/// What a run and a load are asked for beside the workload.
pub const OWN: &[OptionSpec] = &[
    option(
        "threads",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "client threads of a run, sessions of a load; property threadcount",
    ),
    option(
        "time",
        UP_TO_A_YEAR,
        "0",
        "stop a run after this time; 0 = no limit; property maxexecutiontime",
    ),
    option(
        "warmup",
        UP_TO_A_YEAR,
        "0",
        "warm-up time, not included in the results; property warmuptime",
    ),
    option(
        "interval",
        UP_TO_A_YEAR,
        "10s",
        "print cumulative results at this interval; 0 = only at the end; property \
         measurement.interval",
    ),
    option(
        "output",
        Choice(&["plain", "table", "json"]),
        "plain",
        "output format; property outputstyle",
    ),
    option(
        "dropdata",
        Bool,
        "off",
        "load: drop an existing YCSB table first, as --replace; property dropdata",
    ),
    option(
        "batch-size",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "load only: rows per commit; 1 = automatic; property batch.size",
    ),
    option(
        "rate",
        Rates,
        "0",
        "operations per second on a schedule (open loop); 0 = as fast as replies arrive; \
         1000..20000:1000 or 1000,5000 runs the rates in turn, each for --rate-hold",
    ),
    option(
        "seed",
        Int {
            min: 0,
            max: i64::MAX,
        },
        "0",
        "random seed; 0 = from the clock for a run, 1 for a load",
    ),
    option(
        "ignore-error",
        Bool,
        "off",
        "count all errors and continue; without it, non-retryable errors abort the run",
    ),
];

/// Properties whose option has another name.
const RENAMED: &[(&str, &str)] = &[
    ("threadcount", "threads"),
    ("maxexecutiontime", "time"),
    ("warmuptime", "warmup"),
    ("measurement.interval", "interval"),
    ("outputstyle", "output"),
    ("batch.size", "batch-size"),
    ("dropdata", "dropdata"),
    ("mysql.force_index", "force-index"),
    ("tidb.cluster_index", "cluster-index"),
];

/// Known properties that set nothing here, and why.
const IDLE: &[(&str, &str)] = &[
    ("db", "the database is the argument after the command"),
    ("dotransactions", "use the commands load and run"),
    ("exporter", "use --out and --report"),
    ("exportfile", "use --out and --report"),
    (
        "measurementtype",
        "latencies are recorded in histograms; only tidemark oltpbench writes each operation",
    ),
    ("measurement.output_file", "use --out and --report"),
    ("measurement.raw.output_file", "use --out and --report"),
    (
        "histogram.buckets",
        "histograms have three significant digits",
    ),
    (
        "hdrhistogram.percentiles",
        "the record contains the histogram and thus every percentile",
    ),
    (
        "hdrhistogram.fileoutput",
        "the record (--out) contains the histogram",
    ),
    (
        "timeseries.granularity",
        "the record contains an interval for every second",
    ),
    ("status", "results are printed every --interval"),
    ("status.interval", "results are printed every --interval"),
    ("label", "a record contains its command line"),
    (
        "silence",
        "errors are counted and reported once, at the end",
    ),
    ("verbose", "docs/workloads.md lists the statements"),
    ("debug.pprof", "there is no Go runtime to profile"),
    (
        "core_workload_insertion_retry_limit",
        "a stopped load resumes, and failed parts are retried",
    ),
    (
        "core_workload_insertion_retry_interval",
        "a stopped load resumes, and failed parts are retried",
    ),
    ("sqlite.mode", "load creates the database, and run needs it"),
    (
        "sqlite.journalmode",
        "a new database uses WAL mode, an existing one keeps its mode",
    ),
    ("sqlite.cache", "sessions share no cache"),
    (
        "sqlite.maxopenconns",
        "--threads sets the number of sessions",
    ),
    (
        "sqlite.maxidleconns",
        "--threads sets the number of sessions",
    ),
    ("sqlite.optimistic", "writers lock immediately and wait"),
    (
        "sqlite.optimistic_backoff_ms",
        "writers lock immediately and wait",
    ),
];

/// What the names of other databases' properties begin with.
const OTHERS: &[&str] = &[
    "aerospike",
    "badger",
    "basicdb",
    "bbolt",
    "bolt",
    "cassandra",
    "dynamodb",
    "elastic",
    "es",
    "etcd",
    "fdb",
    "foundationdb",
    "hbase",
    "jdbc",
    "minio",
    "mongodb",
    "pegasus",
    "redis",
    "rocksdb",
    "s3",
    "spanner",
    "tikv",
    "ydb",
];

/// What a property does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// It sets the option of this name.
    Option(&'static str),
    /// It sets nothing, and this is why.
    Nothing(String),
    /// Throughput to keep (`target`).
    Throughput,
    /// The class of the workload.
    Class,
    /// None is known of this name.
    Unknown,
}

/// The meaning of a property; `workload` are the options of the workload itself.
pub fn meaning(name: &str, workload: impl Iterator<Item = &'static str>) -> Meaning {
    let renamed = RENAMED.iter().find(|(property, _)| *property == name);
    if let Some((_, option)) = renamed {
        return Meaning::Option(option);
    }
    if let Some((_, why)) = IDLE.iter().find(|(property, _)| *property == name) {
        return Meaning::Nothing((*why).to_string());
    }
    match name {
        "target" => return Meaning::Throughput,
        "workload" => return Meaning::Class,
        _ => {}
    }
    let named = CONNECTION.iter().map(|o| o.name).chain(plain(workload));
    if let Some(option) = named.into_iter().find(|option| *option == name) {
        return Meaning::Option(option);
    }
    match name.split_once('.') {
        Some((other, _)) if OTHERS.contains(&other) => Meaning::Nothing(format!(
            "it is for {other}, which Tidemark does not support"
        )),
        _ => Meaning::Unknown,
    }
}

/// The workload's options that are properties under their own names.
fn plain(workload: impl Iterator<Item = &'static str>) -> impl Iterator<Item = &'static str> {
    let other_name = |option: &&str| RENAMED.iter().any(|(_, renamed)| renamed == option);
    workload.filter(move |option| !other_name(option))
}

/// The name of the property that sets an option, for messages.
pub fn property_of(option: &str) -> &str {
    let renamed = RENAMED.iter().find(|(_, renamed)| *renamed == option);
    renamed.map_or(option, |(property, _)| property)
}

/// Every known property.
pub fn known(workload: impl Iterator<Item = &'static str>) -> impl Iterator<Item = &'static str> {
    let tables = RENAMED.iter().chain(IDLE).map(|(name, _)| *name);
    tables
        .chain(["target", "workload"])
        .chain(CONNECTION.iter().map(|o| o.name))
        .chain(plain(workload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_workloads::ycsb::OPTIONS;

    fn of(name: &str) -> Meaning {
        meaning(name, OPTIONS.iter().map(|o| o.name))
    }

    #[test]
    fn every_property_of_the_workload_and_of_the_client_is_known() {
        for (name, option) in [
            ("recordcount", "recordcount"),
            ("threadcount", "threads"),
            ("mysql.force_index", "force-index"),
            ("mysql.host", "mysql.host"),
            ("exponential.frac", "exponential.frac"),
        ] {
            assert_eq!(of(name), Meaning::Option(option), "{name}");
        }
        assert_eq!(of("target"), Meaning::Throughput);
        assert_eq!(of("workload"), Meaning::Class);
        assert!(matches!(of("redis.addr"), Meaning::Nothing(why) if why.contains("redis")));
        assert!(matches!(of("silence"), Meaning::Nothing(_)));
        for name in ["recordcuont", "force-index", "my.thing", ""] {
            assert_eq!(of(name), Meaning::Unknown, "{name}");
        }
    }

    #[test]
    fn no_property_is_there_twice() {
        let mut names: Vec<&str> = known(OPTIONS.iter().map(|o| o.name)).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
