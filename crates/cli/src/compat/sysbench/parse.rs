//! sysbench's command line: `[options] SCRIPT COMMAND`, in any order.
//!
//! Its grammar is not clap's: names with underscores, options whose order against `--config-file`
//! counts, and a set of options that depends on the script.

use super::config_file;
use super::lua;
use super::scripts;
use super::settings::{
    all_specs, belongs_elsewhere, defaults, example, kind, resolve, set, set_from_file,
};
use crate::exit::Failure;
use std::sync::Arc;
use tidemark_core::{OptionError, OptionKind, OptionValues, did_you_mean, nearest};
use tidemark_lua::Script;
use tidemark_workloads::{Definition, find};

/// What is done with a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptCommand {
    /// Make and fill its tables.
    Prepare,
    /// Bring its tables into the server's memory.
    Prewarm,
    /// Make load and measure.
    Run,
    /// Drop its tables.
    Cleanup,
    /// Print its options.
    Help,
}

const COMMANDS: &[(&str, ScriptCommand)] = &[
    ("prepare", ScriptCommand::Prepare),
    ("prewarm", ScriptCommand::Prewarm),
    ("run", ScriptCommand::Run),
    ("cleanup", ScriptCommand::Cleanup),
    ("help", ScriptCommand::Help),
];

/// The words for them.
pub fn command_words() -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, _)| *name).collect()
}

/// A command line, understood.
#[derive(Debug)]
pub enum Invocation {
    /// `--help`, or no arguments at all.
    GeneralHelp,
    /// `--version`.
    Version,
    /// A command on a workload.
    Workload {
        /// The workload.
        definition: &'static Definition,
        /// The command.
        command: ScriptCommand,
        /// Every option's effective value.
        options: Box<OptionValues>,
        /// What the user should know but need not act on.
        warnings: Vec<String>,
    },
    /// A command that a user's own script defines.
    Script {
        /// The script.
        script: Arc<Script>,
        /// The command.
        command: String,
        /// Every option's effective value.
        options: Box<OptionValues>,
        /// What the user should know but need not act on.
        warnings: Vec<String>,
    },
}

/// One `--name=value`, `--name value` or `--flag`.
#[derive(Debug)]
pub(super) struct GivenOption {
    pub name: String,
    pub value: Option<String>,
}

/// Understands a command line without its first word.
///
/// # Errors
/// [`Failure`] of bad usage: unknown option, script or command (with the nearest known one), bad
/// value, unreadable configuration file.
pub fn parse(args: &[String]) -> Result<Invocation, Failure> {
    let (mut given, mut words) = split(args)?;
    // As sysbench 0.4 and 0.5 named the script, and as jobs do.
    let names = ["test", "script"];
    if let Some(at) = given.iter().position(|g| names.contains(&&*g.name)) {
        words.insert(0, given.remove(at).value.unwrap_or_default());
    }
    if args.is_empty() || given.iter().any(|g| g.name == "help") {
        return Ok(Invocation::GeneralHelp);
    }
    if given.iter().any(|g| g.name == "version") {
        return Ok(Invocation::Version);
    }
    if let Some((script, rest)) = words.split_first()
        && let Some(path) = lua::file_of(script)
    {
        return lua::invocation(&path, rest, given);
    }
    if words.len() != 2 {
        unknown_flag(&given)?;
    }
    let (script, command) = match words.as_slice() {
        [] => {
            return Err(Failure::usage(
                "no script given; for example: tidemark sysbench oltp_read_write run",
            ));
        }
        [one] if COMMANDS.iter().any(|(name, _)| name == one) => {
            return Err(Failure::usage(format!(
                "{one} needs a script name; for example: tidemark sysbench oltp_read_write {one}"
            )));
        }
        [script] => {
            script_of(script)?;
            return Err(Failure::usage(format!(
                "{script}: no command given; known: {}; for example: tidemark sysbench {script} \
                 run",
                command_names()
            )));
        }
        [script, command] => (script, command),
        [_, _, extra, ..] => {
            return Err(Failure::usage(format!(
                "unrecognised word {extra}: options are written --name=value"
            )));
        }
    };
    let definition = script_of(script)?;
    let command = COMMANDS
        .iter()
        .find(|(name, _)| name == command)
        .map(|(_, c)| *c)
        .ok_or_else(|| {
            let hint = did_you_mean(command, COMMANDS.iter().map(|(name, _)| *name));
            Failure::usage(format!(
                "unknown command {command}; known: {}{hint}",
                command_names()
            ))
        })?;
    let mut options = defaults(definition);
    let mut warnings = Vec::new();
    // In order: a file's values give way to what follows on the command line, as with sysbench.
    for GivenOption { name, value } in given {
        set(
            &mut options,
            &name,
            value.as_deref().unwrap_or("on"),
            &mut warnings,
            definition,
        )?;
        if name == "config-file" {
            let path = options.text("config-file").to_string();
            for (name, value) in config_file::read(path.as_ref())? {
                let known = options.spec(&resolve(&name).0).is_ok();
                if !known && belongs_elsewhere(&name) {
                    continue;
                }
                set_from_file(&mut options, &name, &value, &path)?;
            }
        }
    }
    if is_common(script) && command == ScriptCommand::Run {
        return Err(Failure::usage(format!(
            "{script} only creates and drops tables; run another script, for example \
             oltp_read_write"
        )));
    }
    if definition.name.starts_with("select_random_") && options.uint("tables") > 1 {
        warnings.push(format!(
            "{} reads only sbtest1, as sysbench does",
            definition.name
        ));
    }
    Ok(Invocation::Workload {
        definition,
        command,
        options: Box::new(options),
        warnings,
    })
}

fn command_names() -> String {
    COMMANDS
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether a script is sysbench's `oltp_common`, whose tables are those of all its OLTP scripts.
pub(super) fn is_common(script: &str) -> bool {
    let name = script.rsplit('/').next().unwrap_or_default();
    name.strip_suffix(".lua").unwrap_or(name) == "oltp_common"
}

/// The workload of a script's name.
pub(super) fn script_of(script: &str) -> Result<&'static Definition, Failure> {
    let script = match is_common(script) {
        true => "oltp_read_write",
        false => script,
    };
    let definition = find(script).map_err(|e| unknown_script(&e))?;
    if scripts().any(|d| d.name == definition.name) {
        return Ok(definition);
    }
    Err(Failure::usage(format!(
        "{script} is not a sysbench script; use its own command: tidemark {} --help",
        definition.name
    )))
}

fn unknown_script(error: &tidemark_workloads::UnknownWorkload) -> Failure {
    let known: Vec<_> = scripts().map(|d| d.name).collect();
    if crate::usage_hints::is_target(&error.name) {
        return Failure::usage(format!(
            "{} is not a script; set the target with --target=URL; scripts: {}",
            tidemark_core::redact_target(&error.name),
            known.join(", ")
        ));
    }
    if error.name.ends_with(".lua") {
        return Failure::usage(format!(
            "{}: there is no such file; built-in scripts: {}",
            error.name,
            known.join(", ")
        ));
    }
    let separator = if error.nearest.is_some() { "" } else { ";" };
    Failure::usage(format!("{error}{separator} known: {}", known.join(", ")))
}

/// Cuts a command line into options and words.
fn split(args: &[String]) -> Result<(Vec<GivenOption>, Vec<String>), Failure> {
    let mut given = Vec::new();
    let mut words = Vec::new();
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let Some(option) = arg.strip_prefix("--") else {
            if arg.starts_with('-') && arg.len() > 1 {
                return Err(Failure::usage(format!(
                    "unknown option {arg}: options start with two dashes, for example --threads=4"
                )));
            }
            words.push(arg.clone());
            continue;
        };
        let (name, mut value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (option, None),
        };
        let name = name.replace('_', "-");
        if name == "range-key-partitioning" {
            return Err(Failure::usage(format!(
                "--{name} is an option of a sysbench fork, not of sysbench; for range partitions \
                 use: --partitioning=range --partitions=8"
            )));
        }
        // `--name value` for options that want a value.
        if value.is_none() && kind(&name).is_some_and(|k| k != OptionKind::Bool) {
            value = Some(
                args.next_if(|next| !next.starts_with("--"))
                    .cloned()
                    .ok_or_else(|| {
                        Failure::usage(format!(
                            "--{name} needs a value; for example {}",
                            example(&name)
                        ))
                    })?,
            );
        }
        given.push(GivenOption { name, value });
    }
    Ok((given, words))
}

/// Refuses the first option without a value that there is not: the word behind it may have been
/// meant as its value, and is then one too many.
fn unknown_flag(given: &[GivenOption]) -> Result<(), Failure> {
    let unknown = given
        .iter()
        .find(|g| g.value.is_none() && kind(&g.name).is_none());
    let Some(GivenOption { name, .. }) = unknown else {
        return Ok(());
    };
    let nearest = nearest(name, all_specs().map(|s| s.name)).map(Into::into);
    let hint = match nearest {
        None => "; see: tidemark sysbench --help",
        Some(_) => "",
    };
    let name = name.clone();
    let error = OptionError::Unknown { name, nearest };
    Err(Failure::usage(format!("{error}{hint}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Source;

    fn args(line: &str) -> Vec<String> {
        line.split_whitespace().map(Into::into).collect()
    }

    fn options(line: &str) -> OptionValues {
        match parse(&args(line)).unwrap() {
            Invocation::Workload { options, .. } => *options,
            other => panic!("{other:?}"),
        }
    }

    fn failure(line: &str) -> String {
        parse(&args(line)).unwrap_err().to_string()
    }

    #[test]
    fn options_and_words_come_in_any_order() {
        let o = options(
            "--threads=4 /usr/share/sysbench/oltp_read_only.lua --table_size 2000 run --skip-trx",
        );
        assert_eq!(
            (o.uint("threads"), o.uint("table-size"), o.flag("skip-trx")),
            (4, 2000, true)
        );
    }

    #[test]
    fn the_last_of_a_repeated_option_counts() {
        assert_eq!(
            options("oltp_insert run --threads=4 --threads=8").uint("threads"),
            8
        );
    }

    #[test]
    fn reports_add_up_and_a_files_give_way() {
        let o = options("oltp_insert run --report=a.html --report a.md --report=b.txt,c.json");
        assert_eq!(o.text("report"), "a.html,a.md,b.txt,c.json");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, "report=old.html\n").unwrap();
        let o = options(&format!(
            "oltp_insert run --config-file={} --report=new.html",
            file.display()
        ));
        assert_eq!(o.text("report"), "new.html");
    }

    #[test]
    fn a_file_is_run_unless_a_package_put_it_there() {
        let dir = tempfile::tempdir().unwrap();
        let run =
            |script: &str, rest: &str| match parse(&args(&format!("{script} {rest}"))).unwrap() {
                Invocation::Workload {
                    definition,
                    options,
                    ..
                } => (definition.name, *options),
                other => panic!("{other:?}"),
            };
        let own = dir.path().join("oltp_read_only.lua");
        let text = "sysbench.cmdline.options = {rows = {\"Rows\", 7}}\nfunction event() end\n";
        std::fs::write(&own, text).unwrap();
        let own = own.display().to_string();
        let (name, options) = run(&own, "--rows=1K --threads=2 run");
        assert_eq!((name, options.uint("rows")), ("lua:oltp_read_only", 1024));
        assert_eq!(run(&format!("--script={own}"), "run").0, name);
        assert_eq!(run(own.strip_suffix(".lua").unwrap(), "run").0, name);
        let said = failure(&format!("{own} --row=3 run"));
        assert!(said.contains("--row; did you mean --rows?"), "{said}");
        let said = failure(&format!("{own} rnu"));
        assert!(said.contains("did you mean run?"), "{said}");
        assert!(failure(&own).contains("no command given"));
        let shared = dir.path().join("share/sysbench");
        std::fs::create_dir_all(&shared).unwrap();
        let shared = shared.join("oltp_read_only.lua");
        std::fs::write(&shared, "-- theirs").unwrap();
        assert_eq!(
            run(&shared.display().to_string(), "run").0,
            "oltp_read_only"
        );
        assert_eq!(
            run("/no/such/oltp_read_only.lua", "run").0,
            "oltp_read_only"
        );
        assert!(failure("/no/such/mine.lua run").contains("no such file"));
    }

    #[test]
    fn a_script_without_declarations_takes_any_option() {
        let dir = tempfile::tempdir().unwrap();
        let old = dir.path().join("old.lua");
        std::fs::write(&old, "function event(thread_id) end").unwrap();
        let line = format!(
            "--test={} --oltp_table_size=5 --num-threads=3 run",
            old.display()
        );
        let Invocation::Workload { options, .. } = parse(&args(&line)).unwrap() else {
            panic!("no workload")
        };
        assert_eq!(
            (options.text("oltp-table-size"), options.uint("threads")),
            ("5", 3)
        );
    }

    #[test]
    fn what_sysbench_takes_without_effect_is_taken_and_said() {
        let warned = |line: &str| match parse(&args(line)).unwrap() {
            Invocation::Workload {
                warnings, command, ..
            } => (warnings.join("; "), command),
            other => panic!("{other:?}"),
        };
        let (said, _) = warned("bulk_insert --tables=2 --table-size=10 prepare");
        assert!(
            said.contains("--table-size is not an option of bulk_insert"),
            "{said}"
        );
        assert!(failure("bulk_insert --tabel-size=10 prepare").contains("unknown option"));
        assert!(
            failure("oltp_insert --random-points=3 run").contains("not an option of oltp_insert")
        );
        let (said, _) = warned("select_random_points --tables=3 run");
        assert!(said.contains("reads only sbtest1"), "{said}");
        assert!(failure("oltp_common.lua run").contains("only creates and drops tables"));
        let forks = failure("oltp_insert --range_key_partitioning=true prepare");
        assert!(
            forks.contains("fork") && forks.contains("--partitioning=range"),
            "{forks}"
        );
        for script in ["oltp_common", "/usr/share/sysbench/oltp_common.lua"] {
            for command in ["prepare", "cleanup"] {
                assert!(parse(&args(&format!("{script} {command}"))).is_ok());
            }
        }
        let (said, command) = warned("--test=/usr/share/sysbench/oltp_insert.lua run");
        assert_eq!((said.as_str(), command), ("", ScriptCommand::Run));
    }

    #[test]
    fn mistakes_name_the_nearest() {
        assert!(failure("oltp_raed_only run").contains("did you mean oltp_read_only"));
        assert!(failure("oltp_read_only rnu").contains("did you mean run"));
        assert!(failure("oltp_read_only run --thread=4").contains("did you mean --threads"));
        for line in [
            "oltp_read_only --treads 2 run",
            "--treads 2 oltp_read_only run",
            "oltp_read_only run --treads 2",
        ] {
            let said = failure(line);
            assert!(
                said.contains("unknown option --treads; did you mean --threads?"),
                "{said}"
            );
        }
        let said = failure("oltp_read_only --mysql-pasword geheim run");
        assert!(
            said.contains("--mysql-password?") && !said.contains("geheim"),
            "{said}"
        );
        assert!(failure("oltp_read_only run --threads=0").contains("--threads=0"));
        assert!(failure("oltp_read_only run --tables=abc").contains("--tables=abc"));
        assert!(
            failure("oltp_read_only run --random-points=4")
                .contains("not an option of oltp_read_only")
        );
        assert!(failure("oltp_read_only").contains("no command given"));
        assert!(failure("run").contains("needs a script name"));
        assert!(failure("oltp_read_only run --threads").contains("needs a value"));
        assert!(failure("oltp_read_only run -t 4").contains("two dashes"));
    }

    #[test]
    fn a_config_file_gives_way_to_what_follows_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, "# ours\nthreads=16\n\ntime = 7\nrandom-points=3\n").unwrap();
        let file = file.display();
        let o = options(&format!("oltp_insert run --threads=2 --config-file={file}"));
        assert_eq!((o.uint("threads"), o.uint("time")), (16, 7));
        let o = options(&format!("oltp_insert run --config-file={file} --threads=2"));
        assert_eq!(o.uint("threads"), 2);
        assert_eq!(o.source("time"), Source::ConfigFile);
    }
}
