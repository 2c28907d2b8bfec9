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
        "password; MYSQL_PWD in the environment keeps it off the command line",
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
        "password; PGPASSWORD in the environment keeps it off the command line",
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
        "client threads: emulated users of a run, sessions of a load; also property threadcount",
    ),
    option(
        "time",
        UP_TO_A_YEAR,
        "0",
        "end a run after this time; 0 is no limit; also property maxexecutiontime",
    ),
    option(
        "warmup",
        UP_TO_A_YEAR,
        "0",
        "load before the measurement that does not count; also property warmuptime",
    ),
    option(
        "interval",
        UP_TO_A_YEAR,
        "10s",
        "print figures this often, of the run so far; 0 prints none but at the end; also property \
         measurement.interval",
    ),
    option(
        "output",
        Choice(&["plain", "table", "json"]),
        "plain",
        "how figures are printed; also property outputstyle",
    ),
    option(
        "dropdata",
        Bool,
        "off",
        "load: drop the table first if it is YCSB's, as --replace; also a property",
    ),
    option(
        "batch-size",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "load alone: rows that are committed together, above 1; with 1 Tidemark chooses; a run does \
         its operations one by one; also property batch.size",
    ),
    option(
        "rate",
        Rates,
        "0",
        "operations a second on a schedule (open loop) instead of as replies come; \
         1000..20000:1000 and 1000,5000 are held one after the other, each for --rate-hold",
    ),
    option(
        "seed",
        Int {
            min: 0,
            max: i64::MAX,
        },
        "0",
        "seed of all random choices; 0 takes one from the clock for a run, and 1 for loading",
    ),
    option(
        "ignore-error",
        Bool,
        "off",
        "count every error and go on; else only those that the database asks to try again",
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
    ("db", "the database is the word after the command"),
    ("dotransactions", "load and run say it"),
    (
        "exporter",
        "records and reports are written by --out and --report",
    ),
    (
        "exportfile",
        "records and reports are written by --out and --report",
    ),
    (
        "measurementtype",
        "latencies are kept in histograms, and each operation by tidemark oltpbench alone",
    ),
    (
        "measurement.output_file",
        "records and reports are written by --out and --report",
    ),
    (
        "measurement.raw.output_file",
        "records and reports are written by --out and --report",
    ),
    ("histogram.buckets", "histograms are exact to three digits"),
    (
        "hdrhistogram.percentiles",
        "the record holds the histogram, and so every percentile",
    ),
    (
        "hdrhistogram.fileoutput",
        "the record (--out) holds the histogram",
    ),
    (
        "timeseries.granularity",
        "the record holds an interval for every second",
    ),
    ("status", "figures are printed every --interval"),
    ("status.interval", "figures are printed every --interval"),
    ("label", "a record names its command line"),
    ("silence", "errors are counted and told once, at the end"),
    ("verbose", "statements are told by docs/workloads.md"),
    ("debug.pprof", "there is no Go runtime to profile"),
    (
        "core_workload_insertion_retry_limit",
        "a load goes on where it ended, and is tried again",
    ),
    (
        "core_workload_insertion_retry_interval",
        "a load goes on where it ended, and is tried again",
    ),
    (
        "sqlite.mode",
        "a database is made by load, and must be there for run",
    ),
    (
        "sqlite.journalmode",
        "a new database is in WAL mode, and another keeps its own",
    ),
    ("sqlite.cache", "sessions share no cache"),
    (
        "sqlite.maxopenconns",
        "--threads says how many sessions there are",
    ),
    (
        "sqlite.maxidleconns",
        "--threads says how many sessions there are",
    ),
    (
        "sqlite.optimistic",
        "writers take their lock at once and wait",
    ),
    (
        "sqlite.optimistic_backoff_ms",
        "writers take their lock at once and wait",
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
            "it is for {other}, which Tidemark does not speak to"
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
