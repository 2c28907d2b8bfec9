//! The general options of the `sysbench` command: sysbench's own, and Tidemark's beside them.

use crate::native::{LOAD, NATIVE, PREPARED, SECONDS, at_least};
use tidemark_core::OptionKind::{Bool, Choice, Int, List, Password, Rates, Text};
use tidemark_core::{OptionSpec, option};

/// A titled part of the general options.
pub struct Group {
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
        "terminals that run at the same time, each on a session of its own unless there are --connections",
    ),
    option(
        "events",
        at_least(0),
        "0",
        "end after this many transactions in all; 0 is no limit",
    ),
    option(
        "time",
        SECONDS,
        "10",
        "end after this many seconds; 0 is no limit",
    ),
    option(
        "warmup-time",
        SECONDS,
        "0",
        "seconds of load before the measurement that do not count",
    ),
    option(
        "forced-shutdown",
        Text,
        "off",
        "seconds to wait after --time before ending what is in progress, or off",
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
        "taken and not needed: sessions have no stacks of their own",
    ),
    option(
        "rate",
        Rates,
        "0",
        "transactions a second on a schedule (open loop); 0 is as fast as replies come; \
         1000..20000:1000 and 1000,5000,2000 are held one after the other, each for --rate-hold",
    ),
    option(
        "report-interval",
        SECONDS,
        "0",
        "print a line every so many seconds; 0 prints none",
    ),
    option(
        "report-checkpoints",
        List,
        "",
        "seconds after which the summary is printed and counting starts anew",
    ),
    option("debug", Bool, "off", "print more about each session"),
    option("validate", Bool, "off", "check the rows that come back"),
    option("help", Bool, "off", "print this and exit"),
    option("version", Bool, "off", "print the version and exit"),
    option(
        "config-file",
        Text,
        "",
        "file with one option a line, name=value",
    ),
];

/// Random choices.
const RANDOM: &[OptionSpec] = &[option(
    "rand-seed",
    at_least(0),
    "0",
    "seed of all random choices; 0 takes one from the clock",
)];

/// What is printed.
const LOG: &[OptionSpec] = &[
    option(
        "verbosity",
        Int { min: 0, max: 5 },
        "3",
        "5 prints most, 0 errors only",
    ),
    option(
        "percentile",
        List,
        "95",
        "latency percentiles to print, 1 to 100; 0 prints none",
    ),
    option("histogram", Bool, "off", "print the latency distribution"),
];

/// Any database.
const DATABASE: &[OptionSpec] = &[
    option(
        "db-driver",
        Choice(&["mysql", "pgsql", "sqlite"]),
        "mysql",
        "protocol of the target, when no --target is given",
    ),
    PREPARED,
    option(
        "db-debug",
        Bool,
        "off",
        "print what the target said of itself and its settings that matter",
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
    option(
        "mysql-port",
        List,
        "3306",
        "ports; one, or one for each host",
    ),
    option("mysql-socket", Text, "", "Unix socket instead of hosts"),
    option("mysql-user", Text, "sbtest", "account"),
    option(
        "mysql-password",
        Password,
        "",
        "password; MYSQL_PWD in the environment or a --config-file keep it off the command line",
    ),
    option("mysql-db", Text, "sbtest", "database"),
    option(
        "mysql-ssl",
        Choice(&["off", "on", "verify-full", "verify-ca", "no-verify"]),
        "off",
        "encrypt sessions; on is verify-full",
    ),
    option(
        "mysql-ssl-ca",
        Text,
        "",
        "PEM file of the authorities to trust instead of the system's",
    ),
    option(
        "mysql-ssl-cert",
        Text,
        "",
        "PEM file of the client's certificate",
    ),
    option("mysql-ssl-key", Text, "", "PEM file of the client's key"),
    option(
        "mysql-ssl-cipher",
        Text,
        "",
        "taken and not needed: TLS 1.2 and 1.3 choose safe ciphers",
    ),
    option(
        "mysql-compression",
        Bool,
        "off",
        "compressed protocol: refused, for it would measure the compressor",
    ),
    option(
        "mysql-debug",
        Bool,
        "off",
        "taken and not needed: there is no client library to trace",
    ),
    option(
        "mysql-ignore-errors",
        List,
        "1213,1020,1205",
        "error numbers that are counted and retried, or all",
    ),
    option(
        "mysql-dry-run",
        Bool,
        "off",
        "pretend that every statement succeeds: not offered",
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
    option(
        "pgsql-port",
        List,
        "5432",
        "ports; one, or one for each host",
    ),
    option("pgsql-user", Text, "sbtest", "account"),
    option(
        "pgsql-password",
        Password,
        "",
        "password; PGPASSWORD in the environment or a --config-file keep it off the command line",
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
        "encrypt sessions; require is verify-full",
    ),
    option(
        "pgsql-sslrootcert",
        Text,
        "",
        "PEM file of the authorities to trust instead of the system's",
    ),
    option(
        "pgsql-sslcert",
        Text,
        "",
        "PEM file of the client's certificate",
    ),
    option("pgsql-sslkey", Text, "", "PEM file of the client's key"),
];

/// SQLite.
const SQLITE: &[OptionSpec] = &[option(
    "sqlite-db",
    Text,
    "sbtest.db",
    "database file, with --db-driver=sqlite",
)];

/// All general options, in the order of `--help`.
pub const GROUPS: &[Group] = &[
    Group {
        title: "General options",
        options: GENERAL,
    },
    Group {
        title: "Random numbers",
        options: RANDOM,
    },
    Group {
        title: "Random distributions",
        options: tidemark_workloads::random::RAND_OPTIONS,
    },
    Group {
        title: "Log options",
        options: LOG,
    },
    Group {
        title: "Database options",
        options: DATABASE,
    },
    Group {
        title: "MySQL, MariaDB, TiDB",
        options: MYSQL,
    },
    Group {
        title: "PostgreSQL, YugabyteDB, CockroachDB",
        options: PGSQL,
    },
    Group {
        title: "SQLite",
        options: SQLITE,
    },
    Group {
        title: "Tidemark's own: load",
        options: LOAD,
    },
    Group {
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
