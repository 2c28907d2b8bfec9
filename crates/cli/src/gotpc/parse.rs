//! The command line of a workload of go-tpc's, whose flags may stand before and after the command.

use super::flags::{Flag, IDLE, general};
use super::words::worded;
use super::{Command, Tool};
use crate::exit::{ExitCode, Failure};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches};
use tidemark_core::{OptionKind, OptionSpec, OptionValues, Source, nearest};
use tidemark_workloads::Definition;

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

impl Tool {
    /// Every flag of go-tpc's and ours, but the workload's and the general ones.
    pub fn flags(&self) -> impl Iterator<Item = &'static Flag> {
        let groups = self.groups.iter().flat_map(|g| g.flags);
        groups.chain(self.idle())
    }

    /// Taken and without effect.
    fn idle(&self) -> impl Iterator<Item = &'static Flag> {
        self.idle.iter().chain(IDLE)
    }

    /// The workload's options that are no flag of go-tpc's.
    fn own(&self, definition: &'static Definition) -> Vec<&'static OptionSpec> {
        let tables = definition.options.iter().copied().flatten();
        tables
            .filter(|o| !self.flags().any(|f| f.spec.name == o.name))
            .collect()
    }

    fn program(&self) -> String {
        format!("tidemark {}", self.name)
    }

    fn names_of_commands(&self) -> Vec<&'static str> {
        self.commands.iter().map(|c| c.name()).collect()
    }
}

/// Understands the words after the workload's name.
///
/// # Errors
/// [`Failure`] of bad usage: an unknown flag or command (with the nearest known one), a bad value,
/// a flag of another command.
pub fn parse(tool: &Tool, words: &[String]) -> Result<Invocation, Failure> {
    let definition = tool.definition()?;
    let program = [tool.program()];
    let grammar = grammar(tool, definition);
    let given = match grammar.try_get_matches_from(program.iter().chain(words)) {
        Ok(given) => given,
        Err(error) if !error.use_stderr() => {
            return Ok(Invocation::Print(error.render().to_string()));
        }
        Err(error) => return Err(told(tool, definition, &error)),
    };
    let command = command(tool, &given)?;
    let general: Vec<OptionSpec> = general(tool.without).copied().collect();
    let specs: Vec<OptionSpec> = tool.flags().map(|f| f.spec).chain(general).collect();
    let own: Vec<OptionSpec> = tool.own(definition).into_iter().copied().collect();
    let mut options = OptionValues::defaults([&specs[..], &own[..]]);
    let mut hints = Vec::new();
    for spec in specs.iter().chain(&own) {
        let Some(value) = value(&given, spec) else {
            continue;
        };
        options.set(spec.name, worded(spec, &value), Source::CommandLine)?;
        if let Some(flag) = tool.flags().find(|f| f.spec.name == spec.name) {
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

/// The last value of those given, or all of a list; `None` when none was.
fn value(given: &ArgMatches, spec: &OptionSpec) -> Option<String> {
    let values: Vec<&String> = given.get_many::<String>(spec.name)?.collect();
    let joined = spec.kind == OptionKind::List || spec.name == "report";
    if joined {
        let words: Vec<&str> = values.into_iter().map(String::as_str).collect();
        return Some(words.join(","));
    }
    values.last().map(|v| v.to_string())
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
fn command(tool: &Tool, given: &ArgMatches) -> Result<Command, Failure> {
    let names = tool.names_of_commands();
    let known = names.join(", ");
    let Some(word) = given.get_one::<String>("COMMAND") else {
        return Err(Failure::usage(format!(
            "which command? Known are {known}; for example: {} {} prepare",
            tool.program(),
            tool.example
        )));
    };
    let begins = |c: &&Command| c.name().starts_with(word.as_str());
    let begins: Vec<_> = tool.commands.iter().filter(begins).collect();
    match begins.as_slice() {
        [command] if !word.is_empty() => Ok(**command),
        _ => {
            let near = nearest(word, names);
            let hint = near.map_or(String::new(), |n| format!("; did you mean {n}?"));
            Err(Failure::usage(format!(
                "unknown command {word}; known are {known}{hint}"
            )))
        }
    }
}

/// What clap did not understand, as all commands say it.
fn told(tool: &Tool, definition: &'static Definition, error: &clap::Error) -> Failure {
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => word.clone(),
        Some(ContextValue::Strings(words)) => words.join(" "),
        _ => String::new(),
    };
    match error.kind() {
        ErrorKind::UnknownArgument if word.starts_with('-') => {
            let name = word.trim_start_matches('-');
            let own = tool.own(definition);
            let names = tool
                .flags()
                .map(|f| f.spec.name)
                .chain(general(tool.without).map(|o| o.name))
                .chain(own.iter().map(|o| o.name))
                .chain(tool.aliases.iter().map(|(alias, _)| *alias));
            let hint = match nearest(name, names) {
                Some(near) => format!("; did you mean --{near}?"),
                None => format!("; {} --help lists them", tool.program()),
            };
            Failure::usage(format!("unknown flag {word}{hint}"))
        }
        ErrorKind::UnknownArgument => Failure::usage(format!(
            "unrecognised word {word}: one command is enough; flags are written --name=value"
        )),
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            Failure::usage(format!("{word} needs a value"))
        }
        // A whole usage page follows in clap's own words.
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            Failure::usage(first.trim_start_matches("error: ").to_string())
        }
    }
}

/// One flag as clap knows it.
fn arg(tool: &Tool, spec: &OptionSpec, letter: char, title: &'static str) -> Arg {
    let mut arg = Arg::new(spec.name)
        .long(spec.name)
        .help(match spec.default {
            "" => spec.help.to_string(),
            default => format!("{} [{default}]", spec.help),
        })
        .help_heading(title)
        // The last one counts, and lists are joined, as go-tpc has it.
        .action(ArgAction::Append);
    for (alias, _) in tool.aliases.iter().filter(|(_, name)| *name == spec.name) {
        arg = arg.alias(*alias);
    }
    if letter != ' ' {
        arg = arg.short(letter);
    }
    if spec.kind == OptionKind::Bool {
        arg.num_args(0..=1)
            .require_equals(true)
            .default_missing_value("on")
            .value_name("on|off")
    } else {
        arg.num_args(1)
            .value_name(value_name(spec.kind))
            .allow_hyphen_values(true)
    }
}

fn value_name(kind: OptionKind) -> &'static str {
    match kind {
        OptionKind::Int { .. } | OptionKind::Float { .. } => "N",
        OptionKind::Time { .. } => "TIME",
        OptionKind::Choice(_) => "WORD",
        OptionKind::List => "LIST",
        OptionKind::Rates => "N|FROM..TO:STEP|LIST",
        OptionKind::Objective => "OBJECTIVE",
        _ => "TEXT",
    }
}

/// Everything that clap is to know of a workload's command line.
pub fn grammar(tool: &Tool, definition: &'static Definition) -> clap::Command {
    let program = tool.program();
    let usage = format!(
        "{program} [FLAGS] <{}> [FLAGS]",
        tool.names_of_commands().join("|")
    );
    let mut command = clap::Command::new(program)
        .about(format!(
            "{} with go-tpc's command line and output",
            tool.title
        ))
        .version(env!("CARGO_PKG_VERSION"))
        .override_usage(usage)
        .arg(
            Arg::new("COMMAND")
                .value_name("COMMAND")
                .help(tool.commands_help)
                .hide_possible_values(true),
        );
    for group in tool.groups {
        for flag in group.flags {
            command = command.arg(arg(tool, &flag.spec, flag.letter, group.title));
        }
    }
    for spec in tool.own(definition) {
        command = command.arg(arg(tool, spec, ' ', "The workload's own"));
    }
    for spec in general(tool.without) {
        command = command.arg(arg(tool, spec, ' ', "As with every command"));
    }
    for flag in tool.idle() {
        command = command.arg(arg(tool, &flag.spec, flag.letter, "").hide(true));
    }
    let taken: Vec<String> = tool.idle().map(|f| format!("--{}", f.spec.name)).collect();
    let codes: String = ExitCode::ALL
        .iter()
        .map(|(code, meaning)| format!("  {:3}  {meaning}\n", *code as u8))
        .collect();
    command.after_help(format!(
        "{}\n\ngo-tpc's flags without effect here: {}\n\nExit codes:\n{}",
        tool.examples,
        taken.join(", "),
        codes.trim_end()
    ))
}
