//! The command line of `tidemark tpcc`: go-tpc's, whose flags may stand before and after the
//! command.

use super::flags::{ALIASES, Flag, GROUPS, general, idle};
use super::plan;
use crate::exit::{ExitCode, Failure};
use crate::grammar::{self, value};
use clap::{Arg, ArgMatches};
use tidemark_core::{OptionSpec, OptionValues, Source, nearest};
use tidemark_workloads::Definition;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Make and fill the tables.
    Prepare,
    /// Make load and measure.
    Run,
    /// Check the consistency conditions.
    Check,
    /// Drop the tables.
    Cleanup,
}

const COMMANDS: &[(&str, Command)] = &[
    ("prepare", Command::Prepare),
    ("run", Command::Run),
    ("check", Command::Check),
    ("cleanup", Command::Cleanup),
];

impl Command {
    fn name(self) -> &'static str {
        let named = COMMANDS.iter().find(|(_, c)| *c == self);
        named.map_or("", |(name, _)| name)
    }
}

/// A command line, understood.
#[derive(Debug)]
pub enum Invocation {
    /// `--help` or `--version`: this is to be printed.
    Print(String),
    /// A command.
    Do {
        /// Which.
        command: Command,
        /// Every option's effective value.
        options: Box<OptionValues>,
        /// What the user should know but need not act on.
        hints: Vec<String>,
    },
}

/// Every flag of go-tpc's and ours, but the workload's and the general ones.
fn flags() -> impl Iterator<Item = &'static Flag> {
    GROUPS.iter().flat_map(|g| g.flags).chain(idle())
}

/// The workload's options that are no flag of go-tpc's.
fn own(definition: &'static Definition) -> impl Iterator<Item = &'static OptionSpec> {
    let tables = definition.options.iter().copied().flatten();
    tables.filter(|o| !flags().any(|f| f.spec.name == o.name))
}

/// Understands the words after `tpcc`.
///
/// # Errors
/// [`Failure`] of bad usage: an unknown flag or command (with the nearest known one), a bad value,
/// a flag of another command.
pub fn parse(definition: &'static Definition, words: &[String]) -> Result<Invocation, Failure> {
    let program = [String::from("tidemark tpcc")];
    let given = match command_line(definition).try_get_matches_from(program.iter().chain(words)) {
        Ok(given) => given,
        Err(error) if !error.use_stderr() => {
            return Ok(Invocation::Print(error.render().to_string()));
        }
        Err(error) => return Err(told(definition, &error)),
    };
    let command = command(&given)?;
    let general: Vec<OptionSpec> = general().copied().collect();
    let specs: Vec<OptionSpec> = flags().map(|f| f.spec).chain(general).collect();
    let own: Vec<OptionSpec> = own(definition).copied().collect();
    let mut options = OptionValues::defaults([&specs[..], &own[..]]);
    let mut hints = Vec::new();
    for spec in specs.iter().chain(&own) {
        let Some(value) = value(&given, spec) else {
            continue;
        };
        options.set(spec.name, plan::worded(spec, &value), Source::CommandLine)?;
        let flag = flags().find(|f| f.spec.name == spec.name);
        if let Some(flag) = flag {
            of_this_command(flag, command)?;
            if let Some(why) = flag.idle {
                hints.push(format!("--{} has no effect: {why}", spec.name));
            }
        }
    }
    if options.flag("use-fk") && options.has("foreign-keys") {
        options.set("foreign-keys", "on", Source::CommandLine)?;
    }
    Ok(Invocation::Do {
        command,
        options: Box::new(options),
        hints,
    })
}

fn of_this_command(flag: &Flag, command: Command) -> Result<(), Failure> {
    if flag.only.is_empty() || flag.only.contains(&command) {
        return Ok(());
    }
    let theirs: Vec<&str> = flag.only.iter().map(|c| c.name()).collect();
    Err(Failure::usage(format!(
        "--{} is only for {}, and {} has no use for it: leave it out",
        flag.spec.name,
        theirs.join(" and "),
        command.name()
    )))
}

/// The command, or the beginning of one, as go-tpc takes it.
fn command(given: &ArgMatches) -> Result<Command, Failure> {
    let known = "prepare, run, check, cleanup";
    let Some(word) = given.get_one::<String>("COMMAND") else {
        return Err(Failure::usage(format!(
            "which command? Known are {known}; for example: tidemark tpcc --warehouses 4 prepare"
        )));
    };
    let begins: Vec<_> = COMMANDS
        .iter()
        .filter(|(name, _)| name.starts_with(word.as_str()))
        .collect();
    match begins.as_slice() {
        [(_, command)] if !word.is_empty() => Ok(*command),
        _ => {
            let near = nearest(word, COMMANDS.iter().map(|(name, _)| *name));
            let hint = near.map_or(String::new(), |n| format!("; did you mean {n}?"));
            Err(Failure::usage(format!(
                "unknown command {word}; known are {known}{hint}"
            )))
        }
    }
}

/// What clap did not understand.
fn told(definition: &'static Definition, error: &clap::Error) -> Failure {
    let names = flags()
        .map(|f| f.spec.name)
        .chain(general().map(|o| o.name))
        .chain(own(definition).map(|o| o.name))
        .chain(ALIASES.iter().map(|(alias, _)| *alias));
    grammar::told(error, "tidemark tpcc", names, "one command is enough")
}

/// One flag as clap knows it, with its other names.
fn arg(spec: &OptionSpec, letter: char, title: &'static str) -> Arg {
    let named = ALIASES.iter().filter(|(_, name)| *name == spec.name);
    let aliases: Vec<&'static str> = named.map(|(alias, _)| *alias).collect();
    grammar::arg(spec, letter, title).aliases(aliases)
}

const EXAMPLES: &str = "\
Begin with, on a MariaDB or MySQL server:
  tidemark tpcc -H 127.0.0.1 -P 3306 -U user -D tpcc --warehouses 4 -T 4 prepare
  tidemark tpcc -H 127.0.0.1 -P 3306 -U user -D tpcc --warehouses 4 -T 8 --time 5m run
  tidemark tpcc -H 127.0.0.1 -P 3306 -U user -D tpcc --warehouses 4 check
or without a server:
  tidemark tpcc --target sqlite:tpcc.db --warehouses 1 prepare
  tidemark tpcc --target sqlite:tpcc.db --warehouses 1 --time 1m run

As the specification has it, 10 terminals a warehouse who key and think, on 20 sessions:
  tidemark tpcc --target URL --warehouses 10 -T 100 --connections 20 --wait --time 30m run

MYSQL_PWD or PGPASSWORD in the environment hold the password.";

fn command_line(definition: &'static Definition) -> clap::Command {
    let mut command = clap::Command::new("tidemark tpcc")
        .about("TPC-C with go-tpc's command line and output")
        .version(env!("CARGO_PKG_VERSION"))
        .override_usage("tidemark tpcc [FLAGS] <prepare|run|check|cleanup> [FLAGS]")
        .arg(
            Arg::new("COMMAND")
                .value_name("COMMAND")
                .help(
                    "prepare loads and checks the tables, run measures, check looks at the \
                     consistency conditions, cleanup drops the tables",
                )
                .hide_possible_values(true),
        );
    for group in GROUPS {
        for flag in group.flags {
            let title = group.title;
            command = command.arg(arg(&flag.spec, flag.letter, title));
        }
    }
    for spec in own(definition) {
        command = command.arg(arg(spec, ' ', "The workload's own"));
    }
    for spec in general() {
        command = command.arg(arg(spec, ' ', "As with every command"));
    }
    for flag in idle() {
        command = command.arg(arg(&flag.spec, flag.letter, "").hide(true));
    }
    let taken: Vec<String> = idle()
        .iter()
        .map(|f| format!("--{}", f.spec.name))
        .collect();
    let codes: String = ExitCode::ALL
        .iter()
        .map(|(code, meaning)| format!("  {:3}  {meaning}\n", *code as u8))
        .collect();
    command.after_help(format!(
        "{EXAMPLES}\n\ngo-tpc's flags without effect here: {}\n\nExit codes:\n{}",
        taken.join(", "),
        codes.trim_end()
    ))
}

/// The options of a command line that is understood.
#[cfg(test)]
pub fn options_of(line: &str) -> OptionValues {
    let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
    match parse(super::definition().unwrap(), &words).unwrap() {
        Invocation::Do { options, .. } => *options,
        Invocation::Print(text) => panic!("{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Invocation, Failure> {
        let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
        parse(super::super::definition().unwrap(), &words)
    }

    fn hints(line: &str) -> Vec<String> {
        match parsed(line).unwrap() {
            Invocation::Do { hints, .. } => hints,
            Invocation::Print(text) => panic!("{text}"),
        }
    }

    #[test]
    fn flags_stand_before_and_after_the_command_in_any_form() {
        for line in [
            "--warehouses 4 prepare -T 3",
            "prepare --warehouses=4 -T3",
            "-T=3 --warehouses 4 prep",
            "--terminals 3 prepare --warehouses 9 --warehouses 4",
        ] {
            let options = options_of(line);
            assert_eq!(options.uint("warehouses"), 4, "{line}");
            assert_eq!(options.uint("threads"), 3, "{line}");
        }
        let options = options_of("-H a -H b,c --wait run --report a.md --report b.md");
        assert_eq!(options.list("host"), ["a", "b", "c"]);
        assert_eq!(options.text("report"), "a.md,b.md");
        assert!(options.flag("wait"));
        assert!(!options_of("--wait=false run").flag("wait"));
        assert_eq!(options_of("run -p -x").text("password"), "-x");
    }

    #[test]
    fn defaults_are_go_tpcs() {
        let options = options_of("run");
        for (name, value) in [
            ("host", "127.0.0.1"),
            ("port", "4000"),
            ("user", "root"),
            ("password", ""),
            ("db", "test"),
            ("driver", "mysql"),
            ("threads", "1"),
            ("warehouses", "10"),
            ("parts", "1"),
            ("partition-type", "hash"),
            ("count", "0"),
            ("interval", "10s"),
            ("isolation", "default"),
            ("output", "plain"),
            ("weight", "45,43,4,4,4"),
            ("wait", "off"),
            ("check-all", "off"),
            ("no-check", "off"),
            ("use-fk", "off"),
            ("dropdata", "off"),
            ("ignore-error", "off"),
            ("max-procs", "0"),
        ] {
            assert_eq!(options.text(name), value, "{name}");
        }
    }

    #[test]
    fn every_flag_of_go_tpcs_is_taken_and_idle_ones_are_told() {
        let everywhere = "-D d -H h -P 1 -U u -p x -T 2 -t 1 -S 10080 -d mysql --time 1h30m \
                          --count 9 --dropdata --ignore-error --silence --interval 5s \
                          --isolation 2 --conn-params tls=false --output json --max-procs 2 \
                          --pprof :1 --metrics-addr :2 --base-id b --private-key k --parts 2 \
                          --partition-type 2 --warehouses 4 --check-all";
        let run = "run --wait --max-measure-latency 16s --weight 45,43,4,4,4 \
                   --conn-refresh-interval 10s";
        let prepare = "prepare --no-check --use-fk --use-clustered-index --output-type csv \
                       --output-dir x --tables item --retry-count 5 --retry-interval 10s";
        let idle_everywhere = [
            "silence",
            "acThreads",
            "statusPort",
            "pprof",
            "metrics-addr",
            "base-id",
            "private-key",
        ];
        for (line, idle) in [
            (run, &["max-measure-latency", "conn-refresh-interval"][..]),
            (
                prepare,
                &["retry-count", "retry-interval", "use-clustered-index"],
            ),
        ] {
            let said = hints(&format!("{everywhere} {line}"));
            for name in idle_everywhere.iter().chain(idle) {
                let begins = format!("--{name} has no effect: ");
                assert!(
                    said.iter().any(|h| h.starts_with(&begins)),
                    "{name}: {said:?}"
                );
            }
            assert_eq!(said.len(), idle_everywhere.len() + idle.len(), "{said:?}");
        }
        assert_eq!(hints("run"), Vec::<String>::new());
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_right() {
        for (line, said) in [
            ("", "which command? Known are prepare, run, check, cleanup"),
            (
                "prepair",
                "unknown command prepair; known are prepare, run, check, cleanup; did you mean prepare?",
            ),
            ("run now", "unrecognised word now"),
            (
                "run --warehuoses 4",
                "unknown flag --warehuoses; did you mean --warehouses?",
            ),
            ("run --qqqqqqq", "tidemark tpcc --help lists them"),
            ("run -x", "unknown flag -x"),
            (
                "--warehouses 0 run",
                "--warehouses=0: allowed is a whole number from 1",
            ),
            ("--warehouses abc run", "for example --warehouses=10"),
            ("--warehouses -3 run", "--warehouses=-3"),
            ("run --warehouses", "needs a value"),
            (
                "-d oracle run",
                "--driver=oracle: allowed is mysql, postgres",
            ),
            ("--time soon run", "--time=soon"),
            ("--output yaml run", "plain, table, json"),
            (
                "prepare --wait",
                "--wait is only for run, and prepare has no use for it",
            ),
            ("run --no-check", "--no-check is only for prepare"),
            ("run --wait maybe", "unrecognised word maybe"),
            ("run --wait=maybe", "--wait=maybe: allowed is on or off"),
        ] {
            let message = parsed(line).unwrap_err().message;
            assert!(message.contains(said), "{line}: {message}");
        }
    }

    #[test]
    fn flags_that_are_the_workloads_options_take_what_it_takes() {
        let mut seen = 0;
        for table in super::super::definition().unwrap().options {
            for own in *table {
                let Some(flag) = flags().find(|f| f.spec.name == own.name) else {
                    continue;
                };
                seen += 1;
                assert_eq!(flag.spec.kind, own.kind, "{}", own.name);
                assert_eq!(flag.spec.default, own.default, "{}", own.name);
            }
        }
        assert!(seen >= 5, "{seen}");
    }

    #[test]
    fn no_name_or_letter_is_taken_twice() {
        // clap itself looks, in debug builds.
        command_line(super::super::definition().unwrap()).debug_assert();
    }

    #[test]
    fn help_and_version_are_to_be_printed() {
        for (line, holds) in [
            ("--help", "--warehouses"),
            ("run -h", "--target sqlite:tpcc.db"),
            ("--version", env!("CARGO_PKG_VERSION")),
        ] {
            match parsed(line).unwrap() {
                Invocation::Print(text) => assert!(text.contains(holds), "{text}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
