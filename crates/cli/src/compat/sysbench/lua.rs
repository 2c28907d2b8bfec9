//! Users' own Lua scripts, under sysbench's command line.

use super::parse::{GivenOption, Invocation, ScriptCommand, is_common};
use super::settings::{self, belongs_elsewhere, defaults, resolve};
use super::{config_file, script_files, scripts, target};
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::pacing::terminals_and_sessions;
use crate::plan::BoundWorkload;
use crate::runner::JobOrder;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tidemark_core::{Job, OptionValues, Shard, Source, did_you_mean, is_password_name};
use tidemark_lua::{
    Commands, Program, SCRIPT_OPTIONS, Script, ScriptError, definition_of, find_file, script_of,
};
use tidemark_workloads::{Definition, find};

/// The file of the user's own that a word names. sysbench's scripts where a package has put them are what
/// the workloads of their names do, and a bare name is a workload's.
pub fn file_of(word: &str) -> Option<PathBuf> {
    let path = find_file(word)?;
    let is_bare = !word.contains('/') && !word.ends_with(".lua");
    let is_packaged = || {
        let canonical = std::fs::canonicalize(&path).ok();
        let folder = canonical.as_deref().and_then(Path::parent);
        folder.is_some_and(|f| f.ends_with("share/sysbench"))
    };
    let is_known = is_common(word) || find(word).is_ok_and(|d| scripts().any(|s| s.name == d.name));
    let is_ours = is_known && (is_bare || is_packaged());
    (!is_ours).then_some(path)
}

fn failed(error: ScriptError) -> Failure {
    let code = match &error {
        _ if interrupt::is_asked() => ExitCode::Interrupted,
        ScriptError::Failed(_) => ExitCode::Failed,
        _ => ExitCode::Usage,
    };
    Failure::new(code, error.to_string())
}

/// Reads a script. Of options, those that no other table has are given to it, should it declare none.
fn read(path: &Path, given: &[(String, String)], command: &str) -> Result<Arc<Script>, Failure> {
    tidemark_lua::interrupted_by(interrupt::is_asked);
    let general: Vec<_> = super::every_option();
    let is_its_own = |name: &str| {
        // Once sysbench's name of table-size; scripts of that time read it themselves.
        let known = name != "oltp-table-size" && {
            let name = resolve(name).0;
            general.iter().chain(SCRIPT_OPTIONS).any(|o| o.name == name)
        };
        !known && !is_password_name(name) || name == "lua-ffi"
    };
    let own = given.iter().filter(|(name, _)| is_its_own(name));
    let own: Vec<_> = own.cloned().collect();
    let origin = script_files::origin(given)?;
    Script::read_from(path, origin, &own, command).map_err(|e| match e {
        ScriptError::Failed(said) => Failure::usage(said),
        other => failed(other),
    })
}

/// Understands a command line that names a script.
///
/// # Errors
/// [`Failure`] of bad usage, and of a script that can't be read, with its file and line.
pub(super) fn invocation(
    path: &Path,
    words: &[String],
    given: Vec<GivenOption>,
) -> Result<Invocation, Failure> {
    let shown = path.display();
    let command = match words {
        [command] => command.clone(),
        [_, extra, ..] => {
            return Err(Failure::usage(format!(
                "unrecognised word {extra}: options are written --name=value"
            )));
        }
        [] => "help".into(),
    };
    let all = with_files(given)?;
    let pairs: Vec<_> = all.iter().map(|(n, v, _)| (n.clone(), v.clone())).collect();
    let script = read(path, &pairs, &command)?;
    if words.is_empty() {
        return Err(Failure::usage(format!(
            "{shown}: no command given; known: {}; for example: tidemark sysbench {shown} run",
            script.commands().join(", ")
        )));
    }
    let definition = definition_of(&script);
    let mut options = of_script(path, definition);
    let mut warnings = Vec::new();
    for (name, value, file) in &all {
        match file {
            Some(file) if options.has(name) || options.has(&resolve(name).0) => {
                let own = options.has(name).then_some(name.as_str());
                match own {
                    Some(own) => options.set(own, value, Source::ConfigFile)?,
                    None => settings::set_from_file(&mut options, name, value, file)?,
                }
            }
            // A file may serve several scripts.
            Some(_) if belongs_elsewhere(name) => {}
            Some(file) => {
                let failure = unknown(&options, name, path);
                return Err(failure.unwrap_or_else(|| Failure::usage(format!("{file}: {name}"))));
            }
            None => set(&mut options, name, value, &mut warnings, definition, path)?,
        }
    }
    let known = match command.as_str() {
        "run" => ScriptCommand::Run,
        "help" if script.command("help").is_none() => ScriptCommand::Help,
        "prepare" if script.command("prepare").is_some() => ScriptCommand::Prepare,
        "cleanup" if script.command("cleanup").is_some() => ScriptCommand::Cleanup,
        other if script.command(other).is_some() => {
            return Ok(Invocation::Script {
                script,
                command,
                options: Box::new(options),
                warnings,
            });
        }
        other => {
            let known = script.commands();
            let hint = did_you_mean(other, known.iter().copied());
            return Err(Failure::usage(format!(
                "{shown}: unknown command {other}; known: {}{hint}",
                known.join(", ")
            )));
        }
    };
    Ok(Invocation::Workload {
        definition,
        command: known,
        options: Box::new(options),
        warnings,
    })
}

/// Options in order, each with the configuration file that it is of.
fn with_files(given: Vec<GivenOption>) -> Result<Vec<(String, String, Option<String>)>, Failure> {
    let mut all = Vec::new();
    for GivenOption { name, value } in given {
        let value = value.unwrap_or_else(|| "on".into());
        all.push((name.clone(), value.clone(), None));
        if name == "config-file" {
            for (name, inner) in config_file::read(value.as_ref())? {
                all.push((name.replace('_', "-"), inner, Some(value.clone())));
            }
        }
    }
    Ok(all)
}

fn of_script(path: &Path, definition: &'static Definition) -> OptionValues {
    let mut options = defaults(definition);
    let script = path.display().to_string();
    // A text is always taken.
    let _taken = options.set("script", &script, Source::CommandLine);
    options
}

fn unknown(options: &OptionValues, name: &str, path: &Path) -> Option<Failure> {
    let error = options.spec(name).err()?;
    let shown = path.display();
    Some(Failure::usage(format!(
        "{error}; see: tidemark sysbench --help, and: tidemark sysbench {shown} help"
    )))
}

fn set(
    options: &mut OptionValues,
    name: &str,
    value: &str,
    warnings: &mut Vec<String>,
    definition: &'static Definition,
    path: &Path,
) -> Result<(), Failure> {
    if options.has(name) && name != "report" {
        return Ok(options.set(name, value, Source::CommandLine)?);
    }
    let present = resolve(name).0;
    match unknown(options, &present, path) {
        Some(failure) => Err(failure),
        None => settings::set(options, name, value, warnings, definition),
    }
}

/// The options of a script of which these are set, as a study says them.
///
/// # Errors
/// As [`invocation`].
pub fn of_settings(
    path: &Path,
    said: &[(&str, &str)],
) -> Result<(&'static Definition, OptionValues), Failure> {
    let dashed = |(name, value): &(&str, &str)| (name.replace('_', "-"), (*value).to_string());
    let pairs: Vec<_> = said.iter().map(dashed).collect();
    let script = read(path, &pairs, "run")?;
    let definition = definition_of(&script);
    let mut options = of_script(path, definition);
    for (name, value) in &pairs {
        set(&mut options, name, value, &mut Vec::new(), definition, path)?;
    }
    Ok((definition, options))
}

/// The registry's row of a job's workload, or that of its script.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn definition_of_job(job: &Job) -> Result<&'static Definition, Failure> {
    let settings = &job.workload.settings;
    if let Some(path) = settings.get("script").and_then(|v| v.as_str()) {
        let text = |value: &serde_json::Value| match value.as_str() {
            Some(text) => text.to_string(),
            None => value.to_string(),
        };
        let pairs: Vec<_> = settings
            .iter()
            .map(|(name, value)| (name.replace('_', "-"), text(value)))
            .collect();
        return Ok(definition_of(&read(Path::new(path), &pairs, "run")?));
    }
    find(&job.workload.name)
        .map_err(|e| Failure::usage(format!("workload.name: {e}; tidemark workloads lists them")))
}

/// A script with the options of an order, for a command.
fn program(
    script: &Script,
    command: &str,
    options: &OptionValues,
    plan: &BoundWorkload,
) -> Arc<Program> {
    let program = Program::of(script, command, options);
    program.connects_by(&plan.connector);
    Arc::new(program)
}

/// Runs one of a script's commands, or one client's share of it.
///
/// # Errors
/// [`Failure`] with file and line.
pub fn command(
    script: &Arc<Script>,
    name: &str,
    definition: &'static Definition,
    options: &OptionValues,
    shard: Shard,
) -> Result<ExitCode, Failure> {
    let plan = BoundWorkload::new(definition, options, target::target(options)?, true)?;
    let (threads, _) = terminals_and_sessions(options)?;
    let program = program(script, name, options, &plan);
    program.deal(shard);
    Commands::command(&program, script, name, threads).map_err(failed)?;
    Ok(ExitCode::Success)
}

/// The script's own thread of a run, after its `init()`: none of other workloads.
///
/// # Errors
/// [`Failure`] with file and line.
pub fn begun(order: &JobOrder) -> Result<Option<Commands>, Failure> {
    let Some(script) = script_of(order.definition) else {
        return Ok(None);
    };
    if !script.has("event") {
        return Err(Failure::usage(format!(
            "{}: has no event(): it makes no load; it has: {}",
            script.path().display(),
            script.commands().join(", ")
        )));
    }
    let plan = BoundWorkload::of(order)?;
    let program = program(&script, "run", &order.options, &plan);
    program.draws_from_the_end();
    let mut commands = Commands::new(&program).map_err(failed)?;
    commands.global("init").map_err(failed)?;
    Ok(Some(commands))
}

/// The script's `done()`.
///
/// # Errors
/// [`Failure`] with file and line.
pub fn done(commands: &mut Commands) -> Result<(), Failure> {
    commands.global("done").map_err(failed)
}
