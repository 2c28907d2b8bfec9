//! What go-tpc's commands have in common: its flags, with its names, letters and defaults.
//!
//! One table feeds the command line, the help and the validation.

use super::GoTpcCommand::{self, Prepare};
use crate::native::{LOAD, NATIVE, PREPARED, at_least};
use std::time::Duration;
use tidemark_core::OptionKind::{self, Bool, Choice, Int, List, Password, Text, Time};
use tidemark_core::{Isolation, OptionSpec, option};

/// One flag.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// Name, values, default and help.
    pub spec: OptionSpec,
    /// Its letter, or a space.
    pub letter: char,
    /// The commands that know it; empty for all.
    pub only: &'static [GoTpcCommand],
    /// Why it does nothing here, if it does nothing.
    pub idle: Option<&'static str>,
}

/// A flag that every command knows, without a letter.
pub const fn flag(
    name: &'static str,
    kind: OptionKind,
    default: &'static str,
    help: &'static str,
) -> Flag {
    Flag {
        spec: option(name, kind, default, help),
        letter: ' ',
        only: &[],
        idle: None,
    }
}

impl Flag {
    /// With a letter.
    pub const fn letter(mut self, letter: char) -> Self {
        self.letter = letter;
        self
    }

    /// Known to these commands alone.
    pub const fn only(mut self, commands: &'static [GoTpcCommand]) -> Self {
        self.only = commands;
        self
    }

    /// Without effect, and why.
    pub const fn idle(mut self, why: &'static str) -> Self {
        self.idle = Some(why);
        self
    }
}

/// A titled part of the flags.
pub struct FlagGroup {
    /// Its title in `--help`.
    pub title: &'static str,
    /// Its flags.
    pub flags: &'static [Flag],
}

const YEAR: Duration = Duration::from_secs(365 * 86_400);

/// A time of at most a year.
pub const fn up_to_a_year(min: Duration) -> OptionKind {
    Time { min, max: YEAR }
}

/// Where the database is.
pub const CONNECTION: &[Flag] = &[
    flag(
        "host",
        List,
        "127.0.0.1",
        "database hosts, separated by commas; sessions are spread evenly",
    )
    .letter('H'),
    flag(
        "port",
        List,
        "4000",
        "ports; with several, every host is tried on each",
    )
    .letter('P'),
    flag("user", Text, "root", "account").letter('U'),
    flag(
        "password",
        Password,
        "",
        "password; MYSQL_PWD or PGPASSWORD in the environment is safer",
    )
    .letter('p'),
    flag("db", Text, "test", "database").letter('D'),
    flag(
        "driver",
        Choice(&["mysql", "postgres"]),
        "mysql",
        "database protocol",
    )
    .letter('d'),
    flag(
        "conn-params",
        Text,
        "",
        "connection parameters, joined by &: MySQL tls=false|true|skip-verify; PostgreSQL \
         sslmode=disable|require|verify-ca|verify-full|no-verify, sslrootcert=FILE, \
         sslcert=FILE, sslkey=FILE",
    ),
    flag(
        "targets",
        List,
        "",
        "host:port pairs instead of --host and --port",
    ),
    flag(
        "target",
        Text,
        "",
        "database URL, replaces all of these; for example mysql://user@h1:4000,h2:4000/db, \
         postgres://user@host/db, sqlite:FILE",
    ),
];

/// When a run ends.
pub const TIME: Flag = flag(
    "time",
    up_to_a_year(Duration::from_millis(1)),
    "",
    "stop after this time, for example 10m or 1h30m; without it, run until Ctrl-C",
);

/// After how many transactions it ends.
pub const COUNT: Flag = flag(
    "count",
    at_least(0),
    "0",
    "stop after this many transactions in total; 0 = no limit",
);

/// The isolation level, go-tpc's numbers included.
pub const ISOLATION: Flag = flag(
    "isolation",
    Choice(Isolation::CHOICES),
    "default",
    "isolation level, as a name or as go-tpc's number: 0 server default, 1 read-uncommitted, 2 \
         read-committed, 4 repeatable-read, 6 serializable",
);

/// Whether errors are only counted.
pub const IGNORE_ERROR: Flag = flag(
    "ignore-error",
    Bool,
    "off",
    "count all errors and continue; without it, non-retryable errors abort the run",
);

/// How often figures are printed.
pub const INTERVAL: Flag = flag(
    "interval",
    up_to_a_year(Duration::ZERO),
    "10s",
    "print results at this interval; 0 = only at the end",
);

/// How they are printed.
pub const OUTPUT: Flag = flag(
    "output",
    Choice(&["plain", "table", "json"]),
    "plain",
    "output format",
);

/// How many threads drive the sessions.
pub const MAX_PROCS: Flag = flag(
    "max-procs",
    Int { min: 0, max: 4096 },
    "0",
    "client threads that drive the sessions; 0 = one per core",
);

/// Load that does not count.
pub const WARMUP: Flag = flag(
    "warmup",
    up_to_a_year(Duration::ZERO),
    "0",
    "warm-up time, not included in the results",
);

/// Seed of all random choices.
pub const SEED: Flag = flag(
    "seed",
    at_least(0),
    "0",
    "random seed; 0 = from the clock for a run, 1 for a load",
);

/// go-tpc's word for --replace.
pub const DROPDATA: Flag = flag(
    "dropdata",
    Bool,
    "off",
    "prepare: drop existing tables of this benchmark first, as --replace",
);

/// Files instead of a load.
pub const OUTPUT_TYPE: Flag = flag(
    "output-type",
    Choice(&["csv"]),
    "",
    "csv: write files for bulk import instead of loading",
)
.only(&[Prepare]);

/// Where they are written.
pub const OUTPUT_DIR: Flag =
    flag("output-dir", Text, "", "folder for the CSV files").only(&[Prepare]);

/// Which tables.
pub const TABLES: Flag =
    flag("tables", List, "", "only these tables, separated by commas").only(&[Prepare]);

/// What go-tpc takes for every workload and Tidemark has no use for.
pub const IDLE: &[Flag] = &[
    flag("silence", Bool, "off", "").idle("errors are counted and reported once, at the end"),
    flag("acThreads", Text, "", "")
        .letter('t')
        .idle("Tidemark has no mixed workload"),
    flag("statusPort", Text, "", "")
        .letter('S')
        .idle("TiDB's status port is not read"),
    flag("pprof", Text, "", "").idle("there is no Go runtime to profile"),
    flag("metrics-addr", Text, "", "").idle("use --metrics; the metrics have other names"),
    flag("base-id", Text, "", "").idle("there is no Dtable driver"),
    flag("private-key", Password, "", "").idle("there is no Dtable driver"),
];

/// Names of the flags that say where the database is.
pub fn connection() -> impl Iterator<Item = &'static str> {
    CONNECTION.iter().map(|f| f.spec.name)
}

/// Of the options that every command has, those that are offered here too.
pub fn general(without: &'static [&'static str]) -> impl Iterator<Item = &'static OptionSpec> {
    LOAD.iter()
        .chain([&PREPARED])
        .chain(NATIVE)
        .filter(move |o| o.name != "target" && !without.contains(&o.name))
}
