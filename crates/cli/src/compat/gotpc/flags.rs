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
pub struct Group {
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
        "their ports; several are all tried on every host",
    )
    .letter('P'),
    flag("user", Text, "root", "account").letter('U'),
    flag(
        "password",
        Password,
        "",
        "password; MYSQL_PWD or PGPASSWORD in the environment keep it off the command line",
    )
    .letter('p'),
    flag("db", Text, "test", "database").letter('D'),
    flag(
        "driver",
        Choice(&["mysql", "postgres"]),
        "mysql",
        "protocol of the database",
    )
    .letter('d'),
    flag(
        "conn-params",
        Text,
        "",
        "parameters of the connection, joined by &: for MySQL \
         tls=false|true|skip-verify, for PostgreSQL \
         sslmode=disable|require|verify-ca|verify-full|no-verify, \
         sslrootcert=FILE, sslcert=FILE, sslkey=FILE",
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
        "URL of the database instead of all of these, as \
         mysql://user@h1:4000,h2:4000/db, postgres://user@host/db, \
         sqlite:FILE",
    ),
];

/// When a run ends.
pub const TIME: Flag = flag(
    "time",
    up_to_a_year(Duration::from_millis(1)),
    "",
    "end after this time, as 10m or 1h30m; without it the run ends by \
         Ctrl-C",
);

/// After how many transactions it ends.
pub const COUNT: Flag = flag(
    "count",
    at_least(0),
    "0",
    "end after this many transactions in all; 0 is no limit",
);

/// The isolation level, go-tpc's numbers included.
pub const ISOLATION: Flag = flag(
    "isolation",
    Choice(Isolation::CHOICES),
    "default",
    "isolation level of transactions, as word or as go-tpc's number: 0 the \
         server's default, 1 read-uncommitted, 2 read-committed, 4 \
         repeatable-read, 6 serializable",
);

/// Whether errors are only counted.
pub const IGNORE_ERROR: Flag = flag(
    "ignore-error",
    Bool,
    "off",
    "count every error and go on; else only those that the database asks to \
         try again",
);

/// How often figures are printed.
pub const INTERVAL: Flag = flag(
    "interval",
    up_to_a_year(Duration::ZERO),
    "10s",
    "print figures this often; 0 prints none but at the end",
);

/// How they are printed.
pub const OUTPUT: Flag = flag(
    "output",
    Choice(&["plain", "table", "json"]),
    "plain",
    "how figures are printed",
);

/// How many threads drive the sessions.
pub const MAX_PROCS: Flag = flag(
    "max-procs",
    Int { min: 0, max: 4096 },
    "0",
    "threads that drive the sessions; 0 is one a core",
);

/// Load that does not count.
pub const WARMUP: Flag = flag(
    "warmup",
    up_to_a_year(Duration::ZERO),
    "0",
    "load before the measurement that does not count",
);

/// Seed of all random choices.
pub const SEED: Flag = flag(
    "seed",
    at_least(0),
    "0",
    "seed of all random choices; 0 takes one from the clock for a run, and 1 for loading",
);

/// go-tpc's word for --replace.
pub const DROPDATA: Flag = flag(
    "dropdata",
    Bool,
    "off",
    "prepare: drop the benchmark's tables first, if they are that; as --replace",
);

/// Files instead of a load.
pub const OUTPUT_TYPE: Flag = flag(
    "output-type",
    Choice(&["csv"]),
    "",
    "csv: write files for bulk importers instead of loading",
)
.only(&[Prepare]);

/// Where they are written.
pub const OUTPUT_DIR: Flag = flag("output-dir", Text, "", "folder for them").only(&[Prepare]);

/// Which tables.
pub const TABLES: Flag =
    flag("tables", List, "", "only these tables, separated by commas").only(&[Prepare]);

/// What go-tpc takes for every workload and Tidemark has no use for.
pub const IDLE: &[Flag] = &[
    flag("silence", Bool, "off", "").idle("errors are counted and told once, at the end"),
    flag("acThreads", Text, "", "")
        .letter('t')
        .idle("there is no mixed workload here"),
    flag("statusPort", Text, "", "")
        .letter('S')
        .idle("nothing is read from TiDB's status port"),
    flag("pprof", Text, "", "").idle("there is no Go runtime to profile"),
    flag("metrics-addr", Text, "", "").idle("use --metrics: other names, the same idea"),
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
