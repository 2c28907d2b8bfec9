//! The flags of `tidemark pgbench`: pgbench's, and Tidemark's beside them, as clap knows them.

use crate::grammar::arg;
use crate::help;
use crate::native::{LOAD, NATIVE, SECONDS};
use clap::{Arg, ArgAction};
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
    group: &'static str,
}

const INIT: &str = "pgbench: initialization";
const SELECT: &str = "pgbench: what to run";
const RUN: &str = "pgbench: benchmarking";
const COMMON: &str = "pgbench: common";

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
            "transactions of each client, all together shared among them; not with --time",
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
        help::OWN,
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
const LETTERS: [(&str, char, &str); 12] = [
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
const CHOOSING: [(&str, char, bool, &str); 6] = [
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
fn general() -> impl Iterator<Item = &'static OptionSpec> {
    LOAD.iter().chain(NATIVE).filter(|o| o.name != "executors")
}

/// The workload's options.
fn of_workload() -> impl Iterator<Item = &'static OptionSpec> {
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

/// The flags that people use first, in their order.
const MOST_USED: &[&str] = &[
    "initialize",
    "scale",
    "client",
    "time",
    "transactions",
    "protocol",
    "builtin",
    "file",
    "rate",
    "progress",
    "host",
    "report",
];

const EXAMPLES: &str = "\
On a PostgreSQL server (set PGPASSWORD):
  tidemark pgbench -i -s 10 -h 127.0.0.1 -U user db
  tidemark pgbench -c 16 -T 60 -M prepared -S -h 127.0.0.1 -U user db
  tidemark pgbench -c 16 -T 60 -P 5 -r -f my.sql@3 -b tpcb-like@1 -U user db
With a URL: tidemark pgbench --target=postgres://user@h1:5433/db -c 4 -T 10";

fn plain(name: &'static str, letter: char, takes: bool, help: &'static str) -> Arg {
    let arg = Arg::new(name)
        .long(name)
        .help(help)
        .action(ArgAction::Append);
    let arg = match letter {
        ' ' => arg,
        letter => arg.short(letter),
    };
    match takes {
        true => arg.num_args(1).value_name("TEXT").allow_hyphen_values(true),
        false => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("on")
            .value_name("on|off"),
    }
}

/// Everything that clap is to know of the command line.
pub fn command_line() -> clap::Command {
    let own = FLAGS.iter().map(|flag| {
        let spec = OptionSpec {
            name: flag.long,
            ..flag.spec
        };
        let arg = arg(&spec, flag.letter, flag.group);
        // Studies and jobs call it by the option's own name.
        let arg = match flag.spec.name == flag.long {
            true => arg,
            false => arg.alias(flag.spec.name),
        };
        (flag.group, flag.long, arg)
    });
    let of_scripts = of_workload().map(|spec| {
        let found = LETTERS.iter().find(|(name, ..)| *name == spec.name);
        let (letter, group) = found.map_or((' ', RUN), |(_, letter, group)| (*letter, *group));
        (group, spec.name, arg(spec, letter, group))
    });
    let choosing = CHOOSING.iter().map(|(name, letter, takes, help)| {
        let arg = plain(name, *letter, *takes, help).help_heading(SELECT);
        (SELECT, *name, arg)
    });
    let general = general().map(|spec| {
        let title = help::OWN_GENERAL;
        (title, spec.name, arg(spec, ' ', title))
    });
    let all = own.chain(choosing).chain(of_scripts).chain(general);
    let mut command = clap::Command::new("tidemark pgbench")
        .about("pgbench's scripts with pgbench's command line and output")
        .version(env!("TIDEMARK_VERSION"))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .infer_long_args(true)
        .override_usage("tidemark pgbench [OPTION]... [DBNAME]")
        .arg(
            Arg::new(DATABASE.name)
                .value_name("DBNAME")
                .help("database name, or postgres://user@host/db; default PGDATABASE, or the user"),
        )
        .arg(
            Arg::new("help")
                .long("help")
                .short('?')
                .help("show this help")
                .help_heading(COMMON)
                .action(ArgAction::Help),
        )
        .arg(
            Arg::new("version")
                .long("version")
                .short('V')
                .help("show the version")
                .help_heading(COMMON)
                .action(ArgAction::Version),
        );
    for (title, arg) in help::most_used_first(MOST_USED, all) {
        command = command.arg(arg.help_heading(title));
    }
    for (name, letter, takes, why) in REFUSED {
        command = command.arg(plain(name, letter, takes, why).hide(true));
    }
    let refused: String = REFUSED
        .iter()
        .map(|(name, .., why)| format!("\n  --{name}: {why}"))
        .collect();
    let command = help::opened_with(command, &super::FRONTEND.examples);
    command.after_help(format!(
        "{EXAMPLES}\n\nNot supported:{refused}\n\n{}",
        help::exit_codes()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_or_letter_is_taken_twice() {
        command_line().debug_assert();
        let mut options: Vec<&str> = every_option().iter().map(|o| o.name).collect();
        options.extend(of_workload().map(|o| o.name));
        options.sort_unstable();
        let before = options.len();
        options.dedup();
        assert_eq!(options.len(), before);
    }
}
