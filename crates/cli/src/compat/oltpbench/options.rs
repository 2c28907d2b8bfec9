//! The flags of the OLTPBench family, and Tidemark's beside them.

use crate::help::{OWN_GENERAL, OWN_WORKLOAD, most_used_first};
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
        "create the tables; existing tables of this benchmark are dropped first",
    ),
    option(
        "clear",
        Bool,
        "off",
        "drop the benchmark's tables; other tables are not touched",
    ),
    option(
        "load",
        Bool,
        "off",
        "load the tables; missing tables are created",
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
        "accepted, no effect: transactions are prepared statements",
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
        "database hosts, with or without a port; sessions are spread evenly",
    ),
    option(
        "warehouses",
        Int {
            min: 0,
            max: 1_000_000,
        },
        "0",
        "warehouses of this client; 0 = the file's scalefactor, or 10",
    ),
    option(
        "start-warehouse-id",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "first warehouse, when several clients share the benchmark",
    ),
    option(
        "total-warehouses",
        Int {
            min: 0,
            max: 1_000_000,
        },
        "0",
        "warehouses of all clients; 0 = this client's",
    ),
    option(
        "terminals",
        Int {
            min: 0,
            max: 10_000_000,
        },
        "0",
        "emulated users; 0 = the file's terminals, or ten per warehouse",
    ),
    option(
        "num-connections",
        Int {
            min: 0,
            max: 1_000_000,
        },
        "0",
        "sessions shared by the terminals; 0 = one per warehouse, at most 200 per node",
    ),
    option(
        "loaderthreads",
        Int {
            min: 0,
            max: 100_000,
        },
        "0",
        "sessions that load; 0 = the file's loaderThreads, or one per warehouse, at most 10",
    ),
    option(
        "warmup-time-secs",
        at_least(0),
        "0",
        "warm-up before the first phase in seconds, not included in the results",
    ),
    option(
        "initial-delay-secs",
        at_least(0),
        "0",
        "seconds to wait before the first step",
    ),
    option(
        "seed",
        at_least(0),
        "0",
        "random seed; 0 = the file's randomSeed, or from the clock",
    ),
];

/// What is written, and where.
const RESULTS: &[OptionSpec] = &[
    option(
        "output-raw",
        Bool,
        "on",
        "write a row per transaction to DIRECTORY/OUTPUT.csv",
    ),
    option(
        "output-samples",
        Bool,
        "off",
        "write a row per second to DIRECTORY/OUTPUT.samples.csv",
    ),
    option(
        "sample",
        Int {
            min: 0,
            max: 86_400,
        },
        "0",
        "write a row every this many seconds to DIRECTORY/OUTPUT.results.csv; 0 = off",
    ),
    option(
        "directory",
        Text,
        "results",
        "folder of these files; created if missing",
    ),
    option(
        "output",
        Text,
        "oltpbench",
        "name of these files; a number is appended if the file exists",
    ),
    option(
        "timestamp",
        Bool,
        "off",
        "prefix the file names with the start time in milliseconds since 1970",
    ),
    option(
        "start-times",
        Choice(&["seconds", "microseconds"]),
        "seconds",
        "start times in OUTPUT.csv: seconds with six decimals (BenchBase) or whole microseconds",
    ),
    option(
        "interval-monitor",
        Int {
            min: 0,
            max: 86_400_000,
        },
        "0",
        "print throughput every this many milliseconds, at least 100; 0 = off",
    ),
    option(
        "vv",
        Bool,
        "off",
        "print errors by cause, even if there are none",
    ),
    option("verbose", Bool, "off", "same as --vv"),
    option(
        "histograms",
        Bool,
        "off",
        "print the number of completed transactions per type",
    ),
];

/// Those of [`LOAD`], [`PREPARED`] and [`NATIVE`] that mean something here.
const OURS: &[&str] = &[
    "target",
    "out",
    "report",
    "overwrite",
    "lang",
    "tag",
    "note",
    "store",
    "view",
    "metrics",
    "metrics-linger",
    "observe",
    "observe-host",
    "observe-nodes",
    "clients",
    "nats",
    "nats-creds",
    "nats-ca",
    "on-client-loss",
    "observe-prometheus",
    "observe-ca",
    "topology",
    "print-job",
    "strict",
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
        "--load adds foreign keys after the rows if the file has \
         <enableForeignKeysAfterLoad>true</enableForeignKeysAfterLoad>",
    ),
    (
        "merge-results",
        "use --clients: several hosts make one record",
    ),
    (
        "merge-json-results",
        "use --clients: several hosts make one record",
    ),
    (
        "dir",
        "it belongs to --merge-results, which is not supported",
    ),
    (
        "geopartitioned-config",
        "place tables with the database's own commands before --load",
    ),
    (
        "json-histograms",
        "use --out=FILE.json: the record contains histograms",
    ),
    ("dialects-export", "Tidemark has its own statements"),
    ("runscript", "use the database's own client"),
    ("run-script", "use the database's own client"),
    ("tracescript", "transactions are chosen by weight"),
    (
        "upload",
        "use --report=FILE.html and upload the file yourself",
    ),
    ("ss", "use --report=FILE.html, which covers every type"),
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
            "target" => {
                "database URL, replaces the file's settings; for example \
                         postgres://user@h1,h2/db"
            }
            "replace" => "--load: drop existing tables of this benchmark",
            "force" => {
                "--create, --clear, --load: drop tables of these names even if they are \
                        not this benchmark's; --execute: use them"
            }
            "chunk-rows" => "--load: rows per commit; 0 = automatic",
            "load-method" => "--load: COPY or LOAD DATA where supported, or INSERT",
            "max-backlog" => {
                "scheduled arrivals that may wait for a free session; more are \
                              dropped and counted"
            }
            _ => spec.help,
        },
        ..spec
    });
    let workload = tpcc::OPTIONS.iter();
    let workload = workload.filter(|o| WORKLOAD.contains(&o.name));
    let workload = workload.map(|spec| OptionSpec {
        help: match spec.name {
            "foreign-keys" => {
                "add the foreign keys after loading; default: the file's \
                               enableForeignKeysAfterLoad, or true"
            }
            "delivery" => {
                "Delivery inline as one transaction (auto here), or deferred: queued \
                           and processed after its reply"
            }
            _ => spec.help,
        },
        ..*spec
    });
    let group = |title, options| Group { title, options };
    vec![
        group("OLTPBench: steps, executed in this order", STEPS.to_vec()),
        group("OLTPBench: scale and target", GENERAL.to_vec()),
        group("OLTPBench: output files", RESULTS.to_vec()),
        group(OWN_WORKLOAD, workload.collect()),
        group(OWN_GENERAL, ours.collect()),
    ]
}

/// The flags that people use first, in their order.
const MOST_USED: &[&str] = &[
    "config",
    "create",
    "load",
    "execute",
    "nodes",
    "warehouses",
    "terminals",
    "target",
    "out",
    "report",
];

/// Every flag under its title, those that people use first before the others.
pub fn titled() -> Vec<(&'static str, OptionSpec)> {
    let items = groups().into_iter().flat_map(|group| {
        let title = group.title;
        let named = move |spec: OptionSpec| (title, spec.name, spec);
        group.options.into_iter().map(named)
    });
    most_used_first(MOST_USED, items)
}
