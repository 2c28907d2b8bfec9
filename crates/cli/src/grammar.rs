//! How tables of options become flags of a command line, for the commands whose grammar clap reads.

use crate::exit::Failure;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches};
use tidemark_core::{OptionKind, OptionSpec, nearest};

/// One flag as clap knows it; a space is no letter.
pub fn arg(spec: &OptionSpec, letter: char, title: &'static str) -> Arg {
    let mut arg = Arg::new(spec.name)
        .long(spec.name)
        .help(match spec.default {
            "" => spec.help.to_string(),
            default => format!("{} [{default}]", spec.help),
        })
        .help_heading(title)
        // The last one counts, and lists are joined, as go-tpc has it.
        .action(ArgAction::Append);
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

/// A command with these options under their titles, each once, as completions and manual pages have
/// it; it is not for reading a command line.
pub fn described(
    command: clap::Command,
    options: impl IntoIterator<Item = (OptionSpec, &'static str)>,
) -> clap::Command {
    // clap has these two itself.
    let mut known = vec!["help", "version"];
    let mut command = command.version(env!("TIDEMARK_VERSION"));
    for (spec, title) in options {
        if known.contains(&spec.name) {
            continue;
        }
        known.push(spec.name);
        command = command.arg(match spec.kind {
            OptionKind::Choice(words) => arg(&spec, ' ', title).value_parser(words.to_vec()),
            _ => arg(&spec, ' ', title),
        });
    }
    command
}

fn value_name(kind: OptionKind) -> &'static str {
    match kind {
        OptionKind::Int { .. } | OptionKind::Float { .. } => "N",
        OptionKind::Time { .. } => "TIME",
        OptionKind::Choice(_) => "WORD",
        OptionKind::List => "LIST",
        OptionKind::Rates => "N|FROM..TO:STEP|LIST",
        OptionKind::Objective => "OBJECTIVE",
        OptionKind::Observe => "auto|off|LIST",
        _ => "TEXT",
    }
}

/// The last value of those given, or all of a list; `None` when none was.
pub fn value(given: &ArgMatches, spec: &OptionSpec) -> Option<String> {
    let values: Vec<&String> = given.get_many::<String>(spec.name)?.collect();
    let joined = spec.kind == OptionKind::List || spec.name == "report";
    if joined {
        let words: Vec<&str> = values.into_iter().map(String::as_str).collect();
        return Some(words.join(","));
    }
    values.last().map(|v| v.to_string())
}

/// What clap did not understand, as all commands say it. `names` are the flags of `program`, and
/// `enough` says which words there may be beside them.
pub fn told<'a>(
    error: &clap::Error,
    program: &str,
    names: impl IntoIterator<Item = &'a str>,
    enough: &str,
) -> Failure {
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => word.clone(),
        Some(ContextValue::Strings(words)) => words.join(" "),
        _ => String::new(),
    };
    match error.kind() {
        ErrorKind::UnknownArgument if word.starts_with('-') => {
            let name = word.trim_start_matches('-');
            let hint = nearest(name, names).map_or(format!("; {program} --help lists them"), |n| {
                format!("; did you mean --{n}?")
            });
            Failure::usage(format!("unknown flag {word}{hint}"))
        }
        ErrorKind::UnknownArgument => Failure::usage(format!(
            "unrecognised word {word}: {enough}; flags are written --name=value"
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
