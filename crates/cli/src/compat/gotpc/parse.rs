//! The command line of a workload of go-tpc's, whose flags may stand before and after the command.

use super::flags::{Flag, FlagGroup, IDLE, general};
use super::value_aliases::worded;
use super::{GoTpcCommand, Tool};
use crate::exit::Failure;
use crate::frontend::StepOptions;
use crate::grammar::value;
use crate::help::{OWN, OWN_GENERAL, OWN_WORKLOAD, exit_codes, most_used_first, opened_with};
use clap::{Arg, ArgMatches};
use tidemark_core::{OptionError, OptionSpec, OptionValues, Source, did_you_mean, nearest};
use tidemark_study::StepCommand;
use tidemark_workloads::Definition;

/// A command line, understood.
#[derive(Debug)]
pub enum Invocation {
    /// `--help` or `--version`: this is to be printed.
    Print(String),
    /// A command.
    Do {
        /// Which.
        command: GoTpcCommand,
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
    pub fn idle(&self) -> impl Iterator<Item = &'static Flag> {
        self.idle.iter().chain(IDLE)
    }

    /// The workload's options that are no flag of go-tpc's.
    fn own(&self, definition: &'static Definition) -> Vec<&'static OptionSpec> {
        let tables = definition.options.iter().copied().flatten();
        tables
            .filter(|o| !self.flags().any(|f| f.spec.name == o.name))
            .collect()
    }

    /// Whether a command has an option.
    ///
    /// # Errors
    /// [`Failure`] when this build lacks the workload.
    pub fn takes(&self, command: GoTpcCommand, option: &str) -> Result<bool, Failure> {
        let definition = self.definition()?;
        let flag = self.flags().find(|f| f.spec.name == option);
        Ok(match flag {
            Some(flag) => flag.only.is_empty() || flag.only.contains(&command),
            None => {
                let own = self.own(definition);
                general(self.without).chain(own).any(|o| o.name == option)
            }
        })
    }

    /// The options that a study's step asks for.
    ///
    /// # Errors
    /// As [`parse`].
    pub fn of_step(&self, step: &StepCommand, url: &str) -> Result<StepOptions, Failure> {
        let definition = self.definition()?;
        let command = GoTpcCommand::of(step.kind);
        let mut values = defaults(self, definition);
        values.set("target", url, Source::CommandLine)?;
        for option in &step.options {
            let name = option.name.as_str();
            // A flag's underscores are no dashes to go-tpc.
            let spec = values.specs().find(|spec| spec.name == name).copied();
            let spec = spec.ok_or_else(|| OptionError::Unknown {
                name: name.into(),
                nearest: nearest(name, values.specs().map(|s| s.name)).map(Into::into),
            })?;
            set(self, command, &mut values, &spec, &option.value)?;
        }
        complete(&mut values)?;
        Ok(StepOptions {
            definition,
            values,
            notes: Vec::new(),
        })
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
            return Ok(Invocation::Print(crate::help::asked_for(&error)));
        }
        Err(error) => return Err(told(tool, definition, &error)),
    };
    let command = command(tool, &given)?;
    let general: Vec<OptionSpec> = general(tool.without).copied().collect();
    let specs: Vec<OptionSpec> = tool.flags().map(|f| f.spec).chain(general).collect();
    let own: Vec<OptionSpec> = tool.own(definition).into_iter().copied().collect();
    let mut options = defaults(tool, definition);
    let mut hints = Vec::new();
    for spec in specs.iter().chain(&own) {
        let Some(value) = value(&given, spec) else {
            continue;
        };
        hints.extend(set(tool, command, &mut options, spec, &value)?);
    }
    complete(&mut options)?;
    Ok(Invocation::Do {
        command,
        options: Box::new(options),
        hints,
    })
}

/// Sets a flag of a command, and says so if it has no effect.
fn set(
    tool: &Tool,
    command: GoTpcCommand,
    options: &mut OptionValues,
    spec: &OptionSpec,
    value: &str,
) -> Result<Option<String>, Failure> {
    options.set(spec.name, worded(spec, value), Source::CommandLine)?;
    let Some(flag) = tool.flags().find(|f| f.spec.name == spec.name) else {
        return Ok(None);
    };
    of_this_command(flag, command)?;
    let said = |why| format!("--{} has no effect: {why}", spec.name);
    Ok(flag.idle.map(said))
}

/// What follows from other flags.
fn complete(options: &mut OptionValues) -> Result<(), Failure> {
    if options.flag("use-fk") && options.has("foreign-keys") {
        options.set("foreign-keys", "on", Source::CommandLine)?;
    }
    Ok(())
}

/// Every option of a workload, as if none were given.
pub fn defaults(tool: &Tool, definition: &'static Definition) -> OptionValues {
    let flags = tool.flags().map(|f| f.spec);
    let general = general(tool.without).copied();
    let all: Vec<OptionSpec> = flags
        .chain(general)
        .chain(tool.own(definition).into_iter().copied())
        .collect();
    OptionValues::defaults([&all[..]])
}

fn of_this_command(flag: &Flag, command: GoTpcCommand) -> Result<(), Failure> {
    if flag.only.is_empty() || flag.only.contains(&command) {
        return Ok(());
    }
    let theirs: Vec<&str> = flag.only.iter().map(|c| c.name()).collect();
    Err(Failure::usage(format!(
        "--{} applies only to {}, not {}",
        flag.spec.name,
        theirs.join(" and "),
        command.name()
    )))
}

/// The command, or the beginning of one, as go-tpc takes it.
fn command(tool: &Tool, given: &ArgMatches) -> Result<GoTpcCommand, Failure> {
    let names = tool.names_of_commands();
    let known = names.join(", ");
    let Some(word) = given.get_one::<String>("COMMAND") else {
        return Err(Failure::usage(format!(
            "no command given; known: {known}; for example: {} {} prepare",
            tool.program(),
            tool.example
        )));
    };
    let begins = |c: &&GoTpcCommand| c.name().starts_with(word.as_str());
    let begins: Vec<_> = tool.commands.iter().filter(begins).collect();
    match begins.as_slice() {
        [command] if !word.is_empty() => Ok(**command),
        _ => {
            let hint = did_you_mean(word, names);
            Err(Failure::usage(format!(
                "unknown command {word}; known: {known}{hint}"
            )))
        }
    }
}

/// What clap did not understand.
fn told(tool: &Tool, definition: &'static Definition, error: &clap::Error) -> Failure {
    let own = tool.own(definition);
    let names = tool
        .flags()
        .map(|f| f.spec.name)
        .chain(general(tool.without).map(|o| o.name))
        .chain(own.iter().map(|o| o.name))
        .chain(tool.aliases.iter().map(|(alias, _)| *alias));
    crate::grammar::told(error, &tool.program(), names, "only one command is allowed")
}

/// One flag as clap knows it, with its other names.
fn arg(tool: &Tool, spec: &OptionSpec, letter: char, title: &'static str) -> Arg {
    let named = tool.aliases.iter().filter(|(_, name)| *name == spec.name);
    let aliases: Vec<&'static str> = named.map(|(alias, _)| *alias).collect();
    crate::grammar::arg(spec, letter, title).aliases(aliases)
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
        .version(env!("TIDEMARK_VERSION"))
        .override_usage(usage)
        .arg(
            Arg::new("COMMAND")
                .value_name("COMMAND")
                .help(tool.commands_help)
                .hide_possible_values(true),
        );
    for (title, (spec, letter)) in titled(tool, definition) {
        command = command.arg(arg(tool, &spec, letter, title));
    }
    for flag in tool.idle() {
        command = command.arg(arg(tool, &flag.spec, flag.letter, "").hide(true));
    }
    let taken: Vec<String> = tool.idle().map(|f| format!("--{}", f.spec.name)).collect();
    let command = opened_with(command, &tool.first_examples);
    command.after_help(format!(
        "{}\n\nFlags of go-tpc that have no effect: {}\n\n{}",
        tool.examples,
        taken.join(", "),
        exit_codes()
    ))
}

/// Flags that go-tpc does not have, among its own.
const OURS: &[&str] = &[
    "target",
    "snapshot",
    "test",
    "streams",
    "refresh",
    "query-timeout",
    "seed",
    "reference",
];

/// Every flag with its letter, under its title.
fn titled(tool: &Tool, definition: &'static Definition) -> Vec<(&'static str, (OptionSpec, char))> {
    let of_group = |group: &'static FlagGroup| {
        group.flags.iter().map(|flag| {
            let title = match OURS.contains(&flag.spec.name) {
                true => OWN,
                false => group.title,
            };
            (title, flag.spec.name, (flag.spec, flag.letter))
        })
    };
    let bare = |title| move |spec: &OptionSpec| (title, spec.name, (*spec, ' '));
    let of_groups = tool.groups.iter().flat_map(of_group);
    let of_workload = tool.own(definition).into_iter().map(bare(OWN_WORKLOAD));
    let of_all = general(tool.without).map(bare(OWN_GENERAL));
    most_used_first(tool.most_used, of_groups.chain(of_workload).chain(of_all))
}
