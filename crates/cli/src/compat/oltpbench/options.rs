//! The flags of the OLTPBench family, and Tidemark's beside them.

use crate::native::{LOAD, NATIVE, PREPARED, at_least};
use tidemark_core::OptionKind::{Bool, Choice, Int, List, Text};
use tidemark_core::{OptionSpec, option};
use tidemark_workloads::tpcc;

/// A titled part of the flags.
pub struct Group {
    /// Its title in `--help`.
    pub title: &'static str,
    /// Its flags.
    pub options: Vec<OptionSpec>,
}

/// What is to be done; several are done in this order.
const STEPS: &[OptionSpec] = &[
    option(
        "create",
        Bool,
        "off",
        "make the tables; those of this benchmark that are there are dropped first",
    ),
    option(
        "clear",
        Bool,
        "off",
        "drop the tables and their rows; others than the benchmark's are left alone",
    ),
    option(
        "load",
        Bool,
        "off",
        "fill the tables, and make them where they are not there",
    ),
    option(
        "execute",
        Bool,
        "off",
        "run the phases of the workload file",
    ),
    option(
        "create-sql-procedures",
        Bool,
        "off",
        "taken and not needed: transactions are prepared statements",
    ),
    option("help", Bool, "off", "print this and exit"),
];

/// Of what, and how much.
const GENERAL: &[OptionSpec] = &[
    option(
        "config",
        Text,
        "config/workload_all.xml",
        "workload file: database, terminals, phases",
    ),
    option("bench", Choice(&["tpcc"]), "tpcc", "the benchmark"),
    option(
        "nodes",
        List,
        "",
        "hosts of the database, each with a port or without; sessions are spread evenly",
    ),
    option(
        "warehouses",
        Int {
            min: 0,
            max: 1_000_000,
        },
        "0",
        "warehouses of this client; 0 is the file's scalefactor, or 10",
    ),
    option(
        "start-warehouse-id",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "first of them, where several clients share the benchmark",
    ),
    option(
        "total-warehouses",
        Int {
            min: 0,
            max: 1_000_000,
        },
        "0",
        "warehouses of all clients; 0 is as many as this client's",
    ),
    option(
        "terminals",
        Int {
            min: 0,
            max: 10_000_000,
        },
        "0",
        "emulated users; 0 is the file's terminals, or ten for each warehouse",
    ),
    option(
        "num-connections",
        Int {
            min: 0,
            max: 1_000_000,
        },
        "0",
        "sessions that the terminals share; 0 is one for each warehouse, and 200 for each node at most",
    ),
    option(
        "loaderthreads",
        Int {
            min: 0,
            max: 100_000,
        },
        "0",
        "sessions that load; 0 is the file's loaderThreads, or one for each warehouse, and 10 at most",
    ),
    option(
        "warmup-time-secs",
        at_least(0),
        "0",
        "seconds of load before the first phase that do not count",
    ),
    option(
        "initial-delay-secs",
        at_least(0),
        "0",
        "seconds to wait before anything is done",
    ),
    option(
        "seed",
        at_least(0),
        "0",
        "seed of all random choices; 0 is the file's randomSeed, or one from the clock",
    ),
];

/// What is written, and where.
const RESULTS: &[OptionSpec] = &[
    option(
        "output-raw",
        Bool,
        "on",
        "write a line for every transaction to DIRECTORY/OUTPUT.csv",
    ),
    option(
        "output-samples",
        Bool,
        "off",
        "write a line for every second to DIRECTORY/OUTPUT.samples.csv",
    ),
    option(
        "sample",
        Int {
            min: 0,
            max: 86_400,
        },
        "0",
        "write a line for every so many seconds to DIRECTORY/OUTPUT.results.csv; 0 writes none",
    ),
    option(
        "directory",
        Text,
        "results",
        "folder of these files; it is made where it is not there",
    ),
    option(
        "output",
        Text,
        "oltpbench",
        "name of these files; a number is put behind it where one is there",
    ),
    option(
        "timestamp",
        Bool,
        "off",
        "put the time of the start, in milliseconds since 1970, before the name of these files",
    ),
    option(
        "start-times",
        Choice(&["seconds", "microseconds"]),
        "seconds",
        "starts in OUTPUT.csv: seconds with six decimals as BenchBase writes them, or whole microseconds",
    ),
    option(
        "interval-monitor",
        Int {
            min: 0,
            max: 86_400_000,
        },
        "0",
        "print the throughput every so many milliseconds, 100 at least; 0 prints none",
    ),
    option(
        "vv",
        Bool,
        "off",
        "print the errors, by cause, also when there are none",
    ),
    option("verbose", Bool, "off", "as --vv"),
    option(
        "histograms",
        Bool,
        "off",
        "print how many transactions of each type were completed",
    ),
];

/// Those of [`LOAD`], [`PREPARED`] and [`NATIVE`] that mean something here.
const OURS: &[&str] = &[
    "target",
    "out",
    "report",
    "overwrite",
    "lang",
    "store",
    "view",
    "metrics",
    "metrics-linger",
    "observe",
    "observe-host",
    "print-job",
    "executors",
    "scheduling",
    "busy-poll",
    "connect-rate",
    "connect-timeout",
    "setup-timeout",
    "fewer-sessions",
    "on-disconnect",
    "reconnect-timeout",
    "statement-timeout",
    "db-ps-mode",
    "inject-rtt",
    "max-backlog",
    "replace",
    "force",
    "chunk-rows",
    "load-method",
];

/// Those of the workload that neither the family's flags nor the file say.
const WORKLOAD: &[&str] = &[
    "parts",
    "partition-type",
    "foreign-keys",
    "delivery",
    "statements",
];

/// Flags of the family that are not offered, and why or what instead.
pub const NOT_OFFERED: &[(&str, &str)] = &[
    (
        "enable-foreign-keys",
        "--load makes foreign keys once all rows are there, if the file has \
         <enableForeignKeysAfterLoad>true</enableForeignKeysAfterLoad>",
    ),
    (
        "merge-results",
        "each client's run is in its store; see: tidemark runs",
    ),
    (
        "merge-json-results",
        "each client's run is in its store; see: tidemark runs",
    ),
    ("dir", "it is for --merge-results, which is not offered"),
    (
        "geopartitioned-config",
        "place tables by the database's own means before --load",
    ),
    (
        "json-histograms",
        "use --out=FILE.json: the record has them",
    ),
    ("dialects-export", "statements are Tidemark's own"),
    ("runscript", "use the database's own client"),
    ("run-script", "use the database's own client"),
    ("tracescript", "transactions are drawn by their weights"),
    (
        "upload",
        "use --report=FILE.html and put it where it is needed",
    ),
    ("ss", "use --report=FILE.html: it tells of every type"),
];

/// Short names.
pub const SHORT: &[(&str, &str)] = &[
    ("c", "config"),
    ("b", "bench"),
    ("h", "help"),
    ("s", "sample"),
    ("im", "interval-monitor"),
    ("o", "output"),
    ("d", "directory"),
    ("t", "timestamp"),
    ("v", "verbose"),
    ("ss", "ss"),
    ("ts", "tracescript"),
    ("jh", "json-histograms"),
    ("gpc", "geopartitioned-config"),
];

/// Every flag, in the order of `--help`.
pub fn groups() -> Vec<Group> {
    let ours = OURS.iter().filter_map(|name| {
        let mut tables = LOAD.iter().chain([&PREPARED]).chain(NATIVE);
        tables.find(|o| o.name == *name).copied()
    });
    let ours = ours.map(|spec| OptionSpec {
        help: match spec.name {
            "target" => "URL of the target instead of what the file says of the database, as postgres://user@h1,h2/db",
            "replace" => "--load: drop tables of this benchmark that are there already",
            "force" => "--create, --clear, --load: drop tables of that name even if they are not this benchmark's; --execute: run on them",
            "chunk-rows" => "--load: rows committed together; 0 chooses",
            "load-method" => "--load: COPY or LOAD DATA where the server takes it, or INSERT",
            "max-backlog" => "arrivals of a rate that may wait for a free session; beyond them they are dropped and counted",
            _ => spec.help,
        },
        ..spec
    });
    let workload = tpcc::OPTIONS.iter();
    let workload = workload.filter(|o| WORKLOAD.contains(&o.name));
    let workload = workload.map(|spec| OptionSpec {
        help: match spec.name {
            "foreign-keys" => "add the foreign keys after all rows; unless it is given, as the file's enableForeignKeysAfterLoad, and true where it says nothing",
            "delivery" => "Delivery as one transaction, which is auto here, or deferred: queued, and done after its reply",
            _ => spec.help,
        },
        ..*spec
    });
    let group = |title, options| Group { title, options };
    vec![
        group("What is done, in this order", STEPS.to_vec()),
        group("Of what, and how much", GENERAL.to_vec()),
        group("What is written", RESULTS.to_vec()),
        group("TPC-C's own", workload.collect()),
        group("Tidemark's own", ours.collect()),
    ]
}
