//! The general options of the `sysbench` command: sysbench's own, and Tidemark's beside them.

use crate::native::{LOAD, NATIVE, PREPARED, SECONDS, at_least};
use tidemark_core::OptionKind::{Bool, Choice, Int, List, Password, Rates, Text};
use tidemark_core::{OptionSpec, option};

/// A titled part of the general options.
pub struct OptionGroup {
    /// Its title in `--help`.
    pub title: &'static str,
    /// Its options.
    pub options: &'static [OptionSpec],
}

/// How load is made and reported.
const GENERAL: &[OptionSpec] = &[
    option(
        "threads",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "concurrent terminals; each has its own session unless --connections is set",
    ),
    option(
        "events",
        at_least(0),
        "0",
        "stop after this many transactions in total; 0 = no limit",
    ),
    option(
        "time",
        SECONDS,
        "10",
        "stop after this many seconds; 0 = no limit",
    ),
    option(
        "warmup-time",
        SECONDS,
        "0",
        "warm-up in seconds, not included in the results",
    ),
    option(
        "forced-shutdown",
        Text,
        "off",
        "seconds to wait for in-flight transactions after --time, or off",
    ),
    option(
        "thread-init-timeout",
        Int {
            min: 1,
            max: 86_400,
        },
        "30",
        "seconds within which all sessions must be connected and prepared",
    ),
    option(
        "thread-stack-size",
        Text,
        "64K",
        "accepted, no effect: sessions have no stacks",
    ),
    option(
        "rate",
        Rates,
        "0",
        "transactions per second on a schedule (open loop); 0 = as fast as replies arrive; \
         1000..20000:1000 or 1000,5000,2000 runs the rates in turn, each for --rate-hold",
    ),
    option(
        "report-interval",
        SECONDS,
        "0",
        "print a status line every this many seconds; 0 = off",
    ),
    option(
        "report-checkpoints",
        List,
        "",
        "seconds after which to print the summary and reset the counters",
    ),
    option("debug", Bool, "off", "print more about each session"),
    option("validate", Bool, "off", "check returned rows"),
    option("help", Bool, "off", "print this and exit"),
    option("version", Bool, "off", "print the version and exit"),
    option(
        "config-file",
        Text,
        "",
        "file with one option per line, name=value",
    ),
];

/// Random choices.
const RANDOM: &[OptionSpec] = &[option(
    "rand-seed",
    at_least(0),
    "0",
    "random seed; 0 = from the clock",
)];

/// What is printed.
const LOG: &[OptionSpec] = &[
    option(
        "verbosity",
        Int { min: 0, max: 5 },
        "3",
        "0 = errors only, 5 = most output",
    ),
    option(
        "percentile",
        List,
        "95",
        "latency percentiles to print, 1 to 100; 0 = none",
    ),
    option("histogram", Bool, "off", "print the latency distribution"),
];

/// Any database.
const DATABASE: &[OptionSpec] = &[
    option(
        "db-driver",
        Choice(&["mysql", "pgsql", "sqlite"]),
        "mysql",
        "protocol of the target, if --target is not set",
    ),
    PREPARED,
    option(
        "db-debug",
        Bool,
        "off",
        "print the target's version and important settings",
    ),
];

/// MySQL protocol.
const MYSQL: &[OptionSpec] = &[
    option(
        "mysql-host",
        List,
        "localhost",
        "hosts; sessions are spread evenly",
    ),
    option("mysql-port", List, "3306", "one port, or one per host"),
    option("mysql-socket", Text, "", "Unix socket instead of hosts"),
    option("mysql-user", Text, "sbtest", "account"),
    option(
        "mysql-password",
        Password,
        "",
        "password; MYSQL_PWD in the environment or a --config-file is safer",
    ),
    option("mysql-db", Text, "sbtest", "database"),
    option(
        "mysql-ssl",
        Choice(&["off", "on", "verify-full", "verify-ca", "no-verify"]),
        "off",
        "encrypt sessions; on = verify-full",
    ),
    option(
        "mysql-ssl-ca",
        Text,
        "",
        "PEM file of trusted CAs; default: the system's",
    ),
    option(
        "mysql-ssl-cert",
        Text,
        "",
        "PEM file of the client certificate",
    ),
    option("mysql-ssl-key", Text, "", "PEM file of the client key"),
    option(
        "mysql-ssl-cipher",
        Text,
        "",
        "accepted, no effect: TLS 1.2 and 1.3 choose secure ciphers",
    ),
    option(
        "mysql-compression",
        Bool,
        "off",
        "compressed protocol; not supported, because it would measure the compression",
    ),
    option(
        "mysql-debug",
        Bool,
        "off",
        "accepted, no effect: there is no client library to trace",
    ),
    option(
        "mysql-ignore-errors",
        List,
        "1213,1020,1205",
        "error numbers to count and retry, or all",
    ),
    option(
        "mysql-dry-run",
        Bool,
        "off",
        "pretend that every statement succeeds; not supported",
    ),
];

/// PostgreSQL protocol.
const PGSQL: &[OptionSpec] = &[
    option(
        "pgsql-host",
        List,
        "localhost",
        "hosts, or a folder with a Unix socket; sessions are spread evenly",
    ),
    option("pgsql-port", List, "5432", "one port, or one per host"),
    option("pgsql-user", Text, "sbtest", "account"),
    option(
        "pgsql-password",
        Password,
        "",
        "password; PGPASSWORD in the environment or a --config-file is safer",
    ),
    option("pgsql-db", Text, "sbtest", "database"),
    option(
        "pgsql-sslmode",
        Choice(&[
            "disable",
            "require",
            "verify-full",
            "verify-ca",
            "no-verify",
        ]),
        "disable",
        "encrypt sessions; require = verify-full",
    ),
    option(
        "pgsql-sslrootcert",
        Text,
        "",
        "PEM file of trusted CAs; default: the system's",
    ),
    option(
        "pgsql-sslcert",
        Text,
        "",
        "PEM file of the client certificate",
    ),
    option("pgsql-sslkey", Text, "", "PEM file of the client key"),
];

/// SQLite.
const SQLITE: &[OptionSpec] = &[option(
    "sqlite-db",
    Text,
    "sbtest.db",
    "database file, with --db-driver=sqlite",
)];

/// All general options, in the order of `--help`.
pub const GROUPS: &[OptionGroup] = &[
    OptionGroup {
        title: "sysbench: general",
        options: GENERAL,
    },
    OptionGroup {
        title: "sysbench: random numbers",
        options: RANDOM,
    },
    OptionGroup {
        title: "sysbench: random distributions",
        options: tidemark_workloads::random::RAND_OPTIONS,
    },
    OptionGroup {
        title: "sysbench: log",
        options: LOG,
    },
    OptionGroup {
        title: "sysbench: database",
        options: DATABASE,
    },
    OptionGroup {
        title: "sysbench: MySQL, MariaDB, TiDB",
        options: MYSQL,
    },
    OptionGroup {
        title: "sysbench: PostgreSQL, YugabyteDB, CockroachDB",
        options: PGSQL,
    },
    OptionGroup {
        title: "Tidemark's own: SQLite",
        options: SQLITE,
    },
    OptionGroup {
        title: "Tidemark's own: load",
        options: LOAD,
    },
    OptionGroup {
        title: "Tidemark's own",
        options: NATIVE,
    },
];

/// Older names that sysbench still takes.
pub const DEPRECATED: &[(&str, &str)] = &[
    ("num-threads", "threads"),
    ("max-requests", "events"),
    ("max-time", "time"),
    ("tx-rate", "rate"),
    ("oltp-table-size", "table-size"),
];
