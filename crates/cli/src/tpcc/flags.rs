//! go-tpc's flags, with its names, letters and defaults, and what Tidemark has beside them.
//!
//! One table feeds the command line, the help and the validation.

use super::parse::Command::{self, Check, Prepare, Run};
use crate::native::{LOAD, NATIVE, at_least};
use std::time::Duration;
use tidemark_core::OptionKind::{self, Bool, Choice, Int, List, Password, Rates, Text, Time};
use tidemark_core::{Isolation, OptionSpec, option};

/// One flag.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// Name, values, default and help.
    pub spec: OptionSpec,
    /// Its letter, or a space.
    pub letter: char,
    /// The commands that know it; empty for all.
    pub only: &'static [Command],
    /// Why it does nothing here, if it does nothing.
    pub idle: Option<&'static str>,
}

const fn flag(
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
    const fn letter(mut self, letter: char) -> Self {
        self.letter = letter;
        self
    }

    const fn only(mut self, commands: &'static [Command]) -> Self {
        self.only = commands;
        self
    }

    const fn idle(mut self, why: &'static str) -> Self {
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

const fn up_to_a_year(min: Duration) -> OptionKind {
    Time { min, max: YEAR }
}

/// Where the database is.
const CONNECTION: &[Flag] = &[
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
         sqlite:tpcc.db",
    ),
];

/// How large it is.
const SCALE: &[Flag] = &[
    flag(
        "warehouses",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "10",
        "number of warehouses, of some 80 MB each",
    ),
    flag(
        "threads",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "run: terminals (emulated users) at the same time; else: sessions that \
         load or check. --terminals is another name",
    )
    .letter('T'),
];

const RUN: &[Flag] = &[
    flag(
        "time",
        up_to_a_year(Duration::from_millis(1)),
        "",
        "end after this time, as 10m or 1h30m; without it the run ends by \
         Ctrl-C",
    ),
    flag(
        "count",
        at_least(0),
        "0",
        "end after this many transactions in all; 0 is no limit",
    ),
    flag(
        "wait",
        Bool,
        "off",
        "users key and think as the specification has it (5.2.5.7): then -T \
         should be ten times --warehouses",
    )
    .only(&[Run]),
    flag(
        "weight",
        Text,
        "45,43,4,4,4",
        "percentages of NewOrder, Payment, OrderStatus, Delivery, StockLevel",
    )
    .only(&[Run]),
    flag(
        "isolation",
        Choice(Isolation::CHOICES),
        "default",
        "isolation level of transactions, as word or as go-tpc's number: 0 the \
         server's default, 1 read-uncommitted, 2 read-committed, 4 \
         repeatable-read, 6 serializable",
    ),
    flag(
        "ignore-error",
        Bool,
        "off",
        "count every error and go on; else only those that the database asks to \
         try again",
    ),
    flag(
        "interval",
        up_to_a_year(Duration::ZERO),
        "10s",
        "print figures this often; 0 prints none but at the end",
    ),
    flag(
        "output",
        Choice(&["plain", "table", "json"]),
        "plain",
        "how figures are printed",
    ),
    flag(
        "max-procs",
        Int { min: 0, max: 4096 },
        "0",
        "threads that drive the sessions; 0 is one a core",
    ),
];

const PREPARE: &[Flag] = &[
    flag(
        "parts",
        Int { min: 1, max: 8192 },
        "1",
        "split every table but item into this many partitions by warehouse; at most --warehouses",
    ),
    flag(
        "partition-type",
        Choice(&["hash", "range", "list-hash", "list-range"]),
        "hash",
        "how warehouses are dealt to --parts, as word or as go-tpc's number: 1 \
         hash, 2 range, 3 list-hash, 4 list-range",
    ),
    flag(
        "no-check",
        Bool,
        "off",
        "do not check the data after loading",
    )
    .only(&[Prepare]),
    flag(
        "use-fk",
        Bool,
        "off",
        "make the foreign keys, after the rows",
    )
    .only(&[Prepare]),
    flag(
        "dropdata",
        Bool,
        "off",
        "prepare: drop TPC-C's tables first, if they are that; as --replace",
    ),
    flag(
        "output-type",
        Choice(&["csv"]),
        "",
        "csv: write files for bulk importers instead of loading",
    )
    .only(&[Prepare]),
    flag("output-dir", Text, "", "folder for them").only(&[Prepare]),
    flag("tables", List, "", "only these tables, separated by commas").only(&[Prepare]),
    flag(
        "check-all",
        Bool,
        "off",
        "run: check the consistency conditions (3.3.2.1 to 3.3.2.12) after the \
         run; check asks all of them in any case",
    ),
    flag(
        "snapshot",
        Bool,
        "off",
        "ask all conditions in one snapshot, as they must be while a run goes on",
    )
    .only(&[Check]),
];

/// What go-tpc takes and Tidemark has no use for.
const IDLE: &[Flag] = &[
    flag("silence", Bool, "off", "").idle("errors are counted and told once, at the end"),
    flag("max-measure-latency", Text, "", "")
        .only(&[Run])
        .idle("latencies up to an hour are measured"),
    flag("retry-count", Text, "", "").only(&[Prepare]).idle(
        "a load waits for a server that restarts, and the same command goes on \
         with one that was stopped",
    ),
    flag("retry-interval", Text, "", "").only(&[Prepare]).idle(
        "a load waits for a server that restarts, and the same command goes on \
         with one that was stopped",
    ),
    flag("use-clustered-index", Bool, "on", "")
        .only(&[Prepare])
        .idle("the server's own default decides"),
    flag("conn-refresh-interval", Text, "", "")
        .only(&[Run])
        .idle("sessions are spread over all hosts from the start"),
    flag("acThreads", Text, "", "")
        .letter('t')
        .idle("there are no analytical queries in TPC-C"),
    flag("statusPort", Text, "", "")
        .letter('S')
        .idle("nothing is read from TiDB's status port"),
    flag("pprof", Text, "", "").idle("there is no Go runtime to profile"),
    flag("metrics-addr", Text, "", "").idle("figures are in the record (--out) and not served"),
    flag("base-id", Text, "", "").idle("there is no Dtable driver"),
    flag("private-key", Password, "", "").idle("there is no Dtable driver"),
];

/// Tidemark's own, beside what [`NATIVE`] and [`LOAD`] have.
const OWN: &[Flag] = &[
    flag(
        "warmup",
        up_to_a_year(Duration::ZERO),
        "0",
        "load before the measurement that does not count",
    ),
    flag(
        "seed",
        at_least(0),
        "0",
        "seed of all random choices; 0 takes one from the clock for a run, and 1 for loading",
    ),
    flag(
        "price",
        Text,
        "",
        "three-year price of the system, as '12345 USD': then price/tpmC is told",
    ),
    flag(
        "rate",
        Rates,
        "0",
        "transactions a second on a schedule (open loop) instead of as replies \
         come; 1000..20000:1000 and 1000,5000 are held one after the other, \
         each for --rate-hold",
    ),
];

/// The groups of `--help` but for the workload's own options and those that every command has.
pub const GROUPS: &[Group] = &[
    Group {
        title: "Connection",
        flags: CONNECTION,
    },
    Group {
        title: "Scale",
        flags: SCALE,
    },
    Group {
        title: "run",
        flags: RUN,
    },
    Group {
        title: "prepare and check",
        flags: PREPARE,
    },
    Group {
        title: "Tidemark's own",
        flags: OWN,
    },
];

/// Names of the flags that say where the database is.
pub fn connection() -> impl Iterator<Item = &'static str> {
    CONNECTION.iter().map(|f| f.spec.name)
}

/// Taken and without effect.
pub fn idle() -> &'static [Flag] {
    IDLE
}

/// Of the options that every command has, those that `tpcc` has too. Think times are `--wait`'s.
pub fn general() -> impl Iterator<Item = &'static OptionSpec> {
    let no_use = ["think-time", "target"];
    LOAD.iter()
        .chain(NATIVE)
        .filter(move |o| !no_use.contains(&o.name))
}

/// Other names of flags.
pub const ALIASES: &[(&str, &str)] = &[("terminals", "threads")];
