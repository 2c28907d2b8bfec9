//! A script's options, set one by one by name, as command lines, configuration files and studies do.

use super::options::{DEPRECATED, GROUPS};
use super::parse::script_of;
use crate::exit::Failure;
use crate::frontend::StepOptions;
use tidemark_core::{OptionError, OptionKind, OptionSpec, OptionValues, Source};
use tidemark_study::StepCommand;
use tidemark_workloads::{Definition, registry};

/// Every option of a script, as if none were given.
pub fn defaults(definition: &'static Definition) -> OptionValues {
    let general = GROUPS.iter().map(|g| g.options);
    OptionValues::defaults(general.chain(definition.options.iter().copied()))
}

/// The options that a study's step asks for.
///
/// # Errors
/// [`Failure`] of bad usage: an unknown script or option, with the nearest known one, or a bad value.
pub fn of_step(step: &StepCommand, url: &str) -> Result<StepOptions, Failure> {
    let said = step.options.iter().map(|o| (&*o.name, &*o.value));
    let said = std::iter::once(("target", url)).chain(said);
    let (definition, values) = of_settings(&step.workload, said)?;
    Ok(StepOptions {
        definition,
        values,
        notes: Vec::new(),
    })
}

/// The options of a script of which these are set.
///
/// # Errors
/// [`Failure`] of bad usage: an unknown script or option, with the nearest known one, or a bad value.
pub fn of_settings<'a>(
    script: &str,
    said: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(&'static Definition, OptionValues), Failure> {
    if let Some(path) = super::lua::file_of(script) {
        let said: Vec<_> = said.into_iter().collect();
        return super::lua::of_settings(&path, &said);
    }
    let definition = script_of(script)?;
    let mut options = defaults(definition);
    for (name, value) in said {
        set(&mut options, name, value, &mut Vec::new(), definition)?;
    }
    Ok((definition, options))
}

/// Sets an option as a command line does; `warnings` takes what the user should know.
pub(super) fn set(
    options: &mut OptionValues,
    name: &str,
    value: &str,
    warnings: &mut Vec<String>,
    definition: &Definition,
) -> Result<(), Failure> {
    let (name, deprecated) = resolve(name);
    if deprecated {
        warnings.push(format!(
            "--{name} was set by a deprecated name; use --{name}"
        ));
    }
    // Reports add up; everything else is as it was said last.
    let before = Some(options.text("report"))
        .filter(|b| name == "report" && !b.is_empty() && !value.is_empty())
        .filter(|_| options.source("report") == Source::CommandLine);
    let value = before.map_or(value.to_string(), |before| format!("{before},{value}"));
    // sysbench's bulk_insert takes every option: command lines serve a whole family of scripts.
    if definition.name == "bulk_insert" && options.spec(&name).is_err() && belongs_elsewhere(&name)
    {
        warnings.push(format!(
            "--{name} is not an option of bulk_insert: it has no effect"
        ));
        return Ok(());
    }
    options
        .set(&name, &value, Source::CommandLine)
        .map_err(|error| match &error {
            OptionError::Unknown { .. } if belongs_elsewhere(&name) => Failure::usage(format!(
                "--{name} is not an option of {}; see: tidemark sysbench {} help",
                definition.name, definition.name
            )),
            OptionError::Unknown { nearest: None, .. } => Failure::usage(format!(
                "{error}; see: tidemark sysbench --help, and: tidemark sysbench {} help",
                definition.name
            )),
            _ => Failure::usage(error.to_string()),
        })
}

/// Sets an option as a configuration file at `path` does.
pub(super) fn set_from_file(
    options: &mut OptionValues,
    name: &str,
    value: &str,
    path: &str,
) -> Result<(), Failure> {
    options
        .set(&resolve(name).0, value, Source::ConfigFile)
        .map_err(|error| Failure::usage(format!("--config-file={path}: {error}")))
}

/// Every option of every workload, for what must be known before the script is.
pub(super) fn all_specs() -> impl Iterator<Item = &'static OptionSpec> {
    let general = GROUPS.iter().flat_map(|g| g.options);
    let own = registry()
        .iter()
        .flat_map(|d| d.options.iter().copied().flatten());
    general.chain(own).chain(tidemark_lua::SCRIPT_OPTIONS)
}

/// The kind of an option of any script.
pub(super) fn kind(name: &str) -> Option<OptionKind> {
    let name = resolve(name).0;
    all_specs().find(|s| s.name == name).map(|s| s.kind)
}

/// An option of any script with a value.
pub(super) fn example(name: &str) -> String {
    let default = all_specs()
        .find(|s| s.name == name)
        .map_or("", |s| s.default);
    format!(
        "--{name}={}",
        if default.is_empty() { "VALUE" } else { default }
    )
}

/// The present name of a deprecated option, and whether it is one.
pub(super) fn resolve(name: &str) -> (String, bool) {
    let dashed = name.replace('_', "-");
    match DEPRECATED.iter().find(|(old, _)| *old == dashed) {
        Some((_, new)) => ((*new).to_string(), true),
        None => (dashed, false),
    }
}

/// Whether a name is an option of another workload: a configuration file may serve several.
pub(super) fn belongs_elsewhere(name: &str) -> bool {
    kind(name).is_some()
}
