//! The flags of `tidemark pgbench`: pgbench's, and Tidemark's beside them.

use crate::native::{LOAD, NATIVE, SECONDS};
use tidemark_core::OptionKind::{Bool, Float, Int, Rates, Text};
use tidemark_core::{JobKind, OptionSpec, option};

/// A flag: an option, and what pgbench calls it.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// The option that it sets.
    pub spec: OptionSpec,
    /// Its long name.
    pub long: &'static str,
    /// Its letter; a blank is none.
    pub letter: char,
    /// The heading that it stands under in the help.
    pub group: &'static str,
}

const INIT: &str = "pgbench: initialization";
pub(super) const SELECT: &str = "pgbench: what to run";
pub(super) const RUN: &str = "pgbench: benchmarking";
pub(super) const COMMON: &str = "pgbench: common";

const fn flag(group: &'static str, letter: char, spec: OptionSpec) -> Flag {
    Flag {
        long: spec.name,
        spec,
        letter,
        group,
    }
}

/// The same for an option of another name.
const fn called(long: &'static str, flag: Flag) -> Flag {
    Flag { long, ..flag }
}

const MANY: i64 = i32::MAX as i64;

const fn number(min: i64) -> tidemark_core::OptionKind {
    Int { min, max: MANY }
}

/// pgbench's flags that are no options of the workload, and those of Tidemark's that only this command
/// has.
pub const FLAGS: &[Flag] = &[
    flag(
        INIT,
        'i',
        option(
            "initialize",
            Bool,
            "off",
            "create and fill the tables; tables with rows stay, unless -I dtgvp (those that Tidemark made) or \
             --replace is given",
        ),
    ),
    flag(
        INIT,
        'I',
        option(
            "init-steps",
            Text,
            "dtgvp",
            "initialization steps: t, g (or G) and p, with d (where it is typed) to drop Tidemark's tables \
             before, v to vacuum, f for foreign keys",
        ),
    ),
    flag(
        INIT,
        'q',
        option("quiet", Bool, "off", "print less while loading"),
    ),
    flag(
        RUN,
        'n',
        option("no-vacuum", Bool, "off", "do not run VACUUM before a run"),
    ),
    flag(
        RUN,
        'v',
        option(
            "vacuum-all",
            Bool,
            "off",
            "vacuum all four tables before a run",
        ),
    ),
    called(
        "client",
        flag(
            RUN,
            'c',
            option(
                "threads",
                Int {
                    min: 1,
                    max: 1_000_000,
                },
                "1",
                "database clients: sessions",
            ),
        ),
    ),
    flag(
        RUN,
        'C',
        option(
            "connect",
            Bool,
            "off",
            "establish a new connection for each transaction",
        ),
    ),
    called(
        "jobs",
        flag(
            RUN,
            'j',
            option(
                "executors",
                number(0),
                "0",
                "client threads that drive the sessions; 0 = automatic",
            ),
        ),
    ),
    flag(
        RUN,
        'l',
        option("log", Bool, "off", "write transaction times to a log file"),
    ),
    flag(
        RUN,
        'P',
        option(
            "progress",
            number(0),
            "0",
            "print a progress line every N seconds; 0 = none",
        ),
    ),
    flag(
        RUN,
        'R',
        option(
            "rate",
            Rates,
            "0",
            "transactions per second on a schedule (open loop); 0 = as fast as replies arrive; \
             1000..20000:1000 or 1000,5000 runs the rates in turn, each for --rate-hold",
        ),
    ),
    flag(
        RUN,
        't',
        option(
            "transactions",
            number(1),
            "10",
            "transactions of each client; not with --time",
        ),
    ),
    flag(
        RUN,
        'T',
        option(
            "time",
            SECONDS,
            "0",
            "duration of the run in seconds; 0 = as --transactions says",
        ),
    ),
    flag(
        RUN,
        ' ',
        option(
            "aggregate-interval",
            number(0),
            "0",
            "sum the log up over N seconds; 0 = a line for each transaction",
        ),
    ),
    flag(
        RUN,
        ' ',
        option(
            "failures-detailed",
            Bool,
            "off",
            "report failures by their kinds",
        ),
    ),
    flag(
        RUN,
        ' ',
        option(
            "log-prefix",
            Text,
            "pgbench_log",
            "beginning of the log file's name; a point and the process number follow",
        ),
    ),
    flag(
        RUN,
        ' ',
        option(
            "progress-timestamp",
            Bool,
            "off",
            "print seconds since 1970 in progress lines",
        ),
    ),
    flag(
        RUN,
        ' ',
        option(
            "sampling-rate",
            Float { min: 0.0, max: 1.0 },
            "0",
            "fraction of transactions in the log; 0.01 = 1 %, 0 = all",
        ),
    ),
    called(
        "random-seed",
        flag(
            RUN,
            ' ',
            option(
                "seed",
                Int {
                    min: 0,
                    max: i64::MAX,
                },
                "0",
                "seed of random numbers; time, rand or 0 = from the clock",
            ),
        ),
    ),
    flag(
        COMMON,
        'h',
        option(
            "host",
            Text,
            "",
            "database server host or socket folder; default PGHOST, or the local socket",
        ),
    ),
    flag(
        COMMON,
        'p',
        option(
            "port",
            Text,
            "",
            "database server port; default PGPORT, or 5432",
        ),
    ),
    flag(
        COMMON,
        'U',
        option(
            "username",
            Text,
            "",
            "database user; default PGUSER, or the system's",
        ),
    ),
    flag(
        crate::help::OWN,
        ' ',
        option(
            "warmup",
            SECONDS,
            "0",
            "seconds of load before the measurement that do not count",
        ),
    ),
];

/// Letters of flags that set options of the workload.
pub(super) const LETTERS: [(&str, char, &str); 12] = [
    ("scale", 's', INIT),
    ("fillfactor", 'F', INIT),
    ("foreign-keys", ' ', INIT),
    ("unlogged-tables", ' ', INIT),
    ("tablespace", ' ', INIT),
    ("index-tablespace", ' ', INIT),
    ("protocol", 'M', RUN),
    ("define", 'D', RUN),
    ("max-tries", ' ', RUN),
    ("latency-limit", 'L', RUN),
    ("report-per-command", 'r', RUN),
    ("scripts", ' ', SELECT),
];

/// Flags that choose scripts, or print one.
pub(super) const CHOOSING: [(&str, char, bool, &str); 6] = [
    (
        "builtin",
        'b',
        true,
        "add a built-in script, NAME@WEIGHT; list shows them",
    ),
    ("file", 'f', true, "add a script of a file, FILE@WEIGHT"),
    (
        "skip-some-updates",
        'N',
        false,
        "the same as --builtin=simple-update",
    ),
    (
        "select-only",
        'S',
        false,
        "the same as --builtin=select-only",
    ),
    ("show-script", ' ', true, "print a built-in script"),
    ("run", ' ', false, "run the scripts (the default)"),
];

/// Flags of pgbench's that are refused, and why.
pub const REFUSED: [(&str, char, bool, &str); 4] = [
    (
        "partitions",
        ' ',
        true,
        "tables are made without partitions; runs take partitioned tables that pgbench made",
    ),
    (
        "partition-method",
        ' ',
        true,
        "tables are made without partitions; runs take partitioned tables that pgbench made",
    ),
    (
        "debug",
        'd',
        false,
        "use --out=FILE: the record has every option, interval and error",
    ),
    (
        "verbose-errors",
        ' ',
        false,
        "errors are counted by code with their first message at the run's end",
    ),
];

/// Tidemark's options that every command has.
pub(super) fn general() -> impl Iterator<Item = &'static OptionSpec> {
    LOAD.iter().chain(NATIVE).filter(|o| o.name != "executors")
}

/// The workload's options.
pub(super) fn of_workload() -> impl Iterator<Item = &'static OptionSpec> {
    tidemark_workloads::pgbench::OPTIONS.iter()
}

/// Where the database's name goes, which has no flag of pgbench's.
pub const DATABASE: OptionSpec = option("dbname", Text, "", "database name; default PGDATABASE");

/// Every option beside the workload's.
pub fn every_option() -> Vec<OptionSpec> {
    let own = FLAGS.iter().map(|flag| flag.spec);
    own.chain([DATABASE]).chain(general().copied()).collect()
}

/// Whether a step of a study has the option.
pub fn takes(_kind: JobKind, name: &str) -> bool {
    every_option().iter().any(|o| o.name == name) || of_workload().any(|o| o.name == name)
}

/// What pgbench calls the flag that sets an option.
pub fn long_of(name: &str) -> &str {
    let found = FLAGS.iter().find(|flag| flag.spec.name == name);
    found.map_or(name, |flag| flag.long)
}

/// Every long name.
pub fn names() -> impl Iterator<Item = &'static str> {
    let own = FLAGS.iter().map(|flag| flag.long);
    own.chain(CHOOSING.iter().map(|(name, ..)| *name))
        .chain(of_workload().map(|o| o.name))
        .chain(general().map(|o| o.name))
        .chain([DATABASE.name])
}
