//! The command line of `tidemark pgbench`, understood.

use super::arguments::command_line;
use super::flags::{DATABASE, FLAGS, REFUSED, every_option, names};
use super::scripts;
use crate::exit::Failure;
use crate::frontend::StepOptions;
use crate::grammar::{self, value};
use clap::ArgMatches;
use tidemark_core::{JobKind, OptionSpec, OptionValues, Source};
use tidemark_study::StepCommand;
use tidemark_workloads::Definition;
use tidemark_workloads::pgbench::{OPTIONS, ScriptChoice, builtin_named};

/// A command line, understood.
#[derive(Debug)]
pub enum Invocation {
    /// This is to be printed.
    Print(String),
    /// A load or a run.
    Do {
        /// Which.
        kind: JobKind,
        /// Every option's effective value.
        options: Box<OptionValues>,
        /// What the user should know but need not act on.
        hints: Vec<String>,
    },
}

/// Options that only a load takes.
const OF_LOADS: &[&str] = &[
    "init-steps",
    "quiet",
    "fillfactor",
    "foreign-keys",
    "unlogged-tables",
    "tablespace",
    "index-tablespace",
];

/// Options that only a run takes.
const OF_RUNS: &[&str] = &[
    "vacuum-all",
    "connect",
    "log",
    "progress",
    "rate",
    "transactions",
    "time",
    "aggregate-interval",
    "failures-detailed",
    "log-prefix",
    "progress-timestamp",
    "sampling-rate",
    "warmup",
    "protocol",
    "define",
    "max-tries",
    "latency-limit",
    "report-per-command",
];

/// Every option, as if none were given.
pub fn defaults(definition: &'static Definition) -> OptionValues {
    let own = every_option();
    let tables = definition.options.iter().copied();
    OptionValues::defaults(tables.chain([own.as_slice()]))
}

/// Understands the words after `pgbench`.
///
/// # Errors
/// [`Failure`] of bad usage: an unknown flag (with the nearest known one), a bad value, options that
/// contradict each other, a script that can't be read.
pub fn parse(definition: &'static Definition, words: &[String]) -> Result<Invocation, Failure> {
    let program = [String::from("tidemark pgbench")];
    let given = match command_line().try_get_matches_from(program.iter().chain(words)) {
        Ok(given) => given,
        Err(error) if !error.use_stderr() => {
            return Ok(Invocation::Print(crate::help::asked_for(&error)));
        }
        Err(error) => {
            let enough = "only a database name is allowed";
            return Err(grammar::told(&error, "tidemark pgbench", names(), enough));
        }
    };
    for (name, .., why) in REFUSED {
        if given.contains_id(name) {
            return Err(Failure::usage(format!("--{name} is not supported: {why}")));
        }
    }
    if let Some(text) = printed(&given)? {
        return Ok(Invocation::Print(text));
    }
    let mut options = defaults(definition);
    let mut set =
        |spec: &OptionSpec, value: &str| options.set(spec.name, value, Source::CommandLine);
    for flag in FLAGS {
        let named = OptionSpec {
            name: flag.long,
            ..flag.spec
        };
        let Some(word) = value(&given, &named) else {
            continue;
        };
        let word = match (flag.spec.name, word.as_str()) {
            ("seed", "time" | "rand") => "0",
            (_, word) => word,
        };
        set(&flag.spec, word).map_err(|error| as_said(flag.spec.name, flag.long, error.into()))?;
    }
    let own: Vec<&str> = FLAGS.iter().map(|flag| flag.long).collect();
    let others = every_option();
    let others = others.iter().chain(OPTIONS);
    for spec in others.filter(|spec| !own.contains(&spec.name)) {
        // The client's and the threads' options have other names.
        let is_called = FLAGS.iter().any(|flag| flag.spec.name == spec.name);
        if is_called || spec.name == "define" {
            continue;
        }
        if let Some(word) = value(&given, spec) {
            set(spec, &word)?;
        }
    }
    if let Some(define) = defined(&given)? {
        options.set("define", &define, Source::CommandLine)?;
    }
    if let Some(scripts) = scripts::chosen(&given)? {
        if options.source("scripts") != Source::Default {
            return Err(Failure::usage(
                "--scripts and --builtin, --file, -S or -N both choose the scripts; use one of them",
            ));
        }
        options.set("scripts", &scripts, Source::CommandLine)?;
    }
    let kind = match options.flag("initialize") {
        true => JobKind::Load,
        false => JobKind::Run,
    };
    let hints = check(kind, &mut options)?;
    Ok(Invocation::Do {
        kind,
        options: Box::new(options),
        hints,
    })
}

/// A message with the flag's name in place of the option's.
fn as_said(option: &str, long: &str, mut failure: Failure) -> Failure {
    failure.message = failure
        .message
        .replace(&format!("--{option}="), &format!("--{long}="));
    failure
}

/// What some flags print, and nothing else is done.
fn printed(given: &ArgMatches) -> Result<Option<String>, Failure> {
    let last = |name: &str| {
        let words = given.get_many::<String>(name).into_iter().flatten();
        words.last().map(String::as_str)
    };
    if let Some(name) = last("show-script") {
        let found = builtin_named(name)?;
        return Ok(Some(format!(
            "-- {}: {}\n{}",
            found.name, found.title, found.text
        )));
    }
    Ok((last("builtin") == Some("list")).then(scripts::list))
}

/// The variables of every `--define`, as the option has them.
fn defined(given: &ArgMatches) -> Result<Option<String>, Failure> {
    let Some(words) = given.get_many::<String>("define") else {
        return Ok(None);
    };
    let words: Vec<&str> = words.map(String::as_str).collect();
    // A part of a list without an equals sign belongs to the value before it.
    let broken = |word: &&&str| word.split(',').any(|part| !part.contains('='));
    if let Some(word) = words.iter().find(broken) {
        return Err(Failure::usage(format!(
            "--define={word}: must be NAME=VALUE without a comma in the value; for example \
             --define=rows=1000"
        )));
    }
    Ok(Some(words.join(",")))
}

/// Looks whether options can be had together; gives hints.
fn check(kind: JobKind, options: &mut OptionValues) -> Result<Vec<String>, Failure> {
    let given = |options: &OptionValues, name: &str| options.source(name) == Source::CommandLine;
    let (others, does) = match kind {
        JobKind::Load => (OF_RUNS, "--initialize"),
        JobKind::Run => (OF_LOADS, "a run; add --initialize to load"),
    };
    if let Some(name) = others.iter().find(|name| given(options, name)) {
        let long = super::flags::long_of(name);
        return Err(Failure::usage(format!("--{long} does not apply to {does}")));
    }
    if kind == JobKind::Load {
        steps(options)?;
        return Ok(Vec::new());
    }
    let need = |name: &str, other: &str, is_there: bool| match given(options, name) && !is_there {
        true => Err(Failure::usage(format!("--{name} needs --{other}"))),
        false => Ok(()),
    };
    if given(options, "time") && given(options, "transactions") {
        return Err(Failure::usage(
            "--time and --transactions both set the length of the run; use one of them",
        ));
    }
    let logs = options.flag("log");
    for name in ["aggregate-interval", "log-prefix", "sampling-rate"] {
        need(name, "log", logs)?;
    }
    need(
        "progress-timestamp",
        "progress",
        options.uint("progress") > 0,
    )?;
    let each = options.uint("aggregate-interval");
    if each > 0 && options.float("sampling-rate") > 0.0 {
        return Err(Failure::usage(
            "--sampling-rate and --aggregate-interval cannot be combined",
        ));
    }
    let seconds = options.uint("time");
    if each > 0 && seconds > 0 && !seconds.is_multiple_of(each) {
        return Err(Failure::usage(format!(
            "--time={seconds} must be a multiple of --aggregate-interval={each}"
        )));
    }
    let tries = options.uint("max-tries");
    if tries == 0 && seconds == 0 && options.float("latency-limit") <= 0.0 {
        return Err(Failure::usage(
            "--max-tries=0 needs --latency-limit or --time: transactions might be tried without end",
        ));
    }
    let mut hints = Vec::new();
    if options.uint("executors") > options.uint("threads") {
        hints.push("--jobs has no effect beyond the number of clients".into());
    }
    Ok(hints)
}

/// The steps of a load. Tables are made, filled and checked as one; the others may be left out.
fn steps(options: &mut OptionValues) -> Result<(), Failure> {
    let steps: String = options
        .text("init-steps")
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    let wrong = |why: &str| {
        Failure::usage(format!(
            "--init-steps={steps}: {why}; for example --init-steps=dtgvpf"
        ))
    };
    if let Some(other) = steps.chars().find(|c| !"dtgGvpf".contains(*c)) {
        return Err(wrong(&format!(
            "unknown step {other}; known: d t g G v p f"
        )));
    }
    let has = |step: char| steps.contains(step);
    if !has('t') || !(has('g') || has('G')) || !has('p') {
        return Err(wrong(
            "t, g (or G) and p are needed: tables are made, filled and checked as one",
        ));
    }
    if has('f') {
        options.set("foreign-keys", "on", Source::CommandLine)?;
    }
    Ok(())
}

/// The options that a study's step asks for, whose workload is a built-in script.
///
/// # Errors
/// As [`parse`].
pub fn of_step(step: &StepCommand, url: &str) -> Result<StepOptions, Failure> {
    let definition = super::definition()?;
    let mut values = defaults(definition);
    let choice = ScriptChoice {
        builtin: Some(builtin_named(&step.workload)?.name.into()),
        ..ScriptChoice::default()
    };
    values.set("scripts", &scripts::written(&[choice]), Source::CommandLine)?;
    for option in &step.options {
        let found = FLAGS.iter().find(|flag| flag.long == option.name);
        let name = found.map_or(option.name.as_str(), |flag| flag.spec.name);
        values.set(name, &option.value, Source::CommandLine)?;
    }
    values.set("target", url, Source::CommandLine)?;
    Ok(StepOptions {
        definition,
        values,
        notes: Vec::new(),
    })
}

/// The database's name or URL, if it was given.
pub fn database(options: &OptionValues) -> Option<&str> {
    options.text_opt(DATABASE.name)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn asked(line: &str) -> Result<(JobKind, OptionValues), String> {
        let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
        match parse(super::super::definition().unwrap(), &words) {
            Ok(Invocation::Do { kind, options, .. }) => Ok((kind, *options)),
            Ok(Invocation::Print(text)) => Err(text),
            Err(failure) => Err(failure.message),
        }
    }

    fn options(line: &str) -> OptionValues {
        asked(line).unwrap().1
    }

    #[test]
    fn the_commands_of_a_study_are_understood() {
        let url = "--target=postgres://u@h/d --builtin select-only --scale=3 --threads=4";
        let (kind, load) = asked(&format!("--initialize {url} --keep-loaded")).unwrap();
        assert_eq!((kind, load.uint("threads")), (JobKind::Load, 4));
        let (kind, run) = asked(&format!("--run {url} --time=60")).unwrap();
        assert_eq!((kind, run.uint("time")), (JobKind::Run, 60));
    }

    #[test]
    fn letters_may_be_joined_and_names_shortened() {
        let o = options("-Snc10 -j 2 -T5 --progress=1 --prot prepared -h /tmp -p 5433 -U u db");
        for (name, value) in [
            ("scripts", r#"[{"builtin":"select-only"}]"#),
            ("no-vacuum", "on"),
            ("threads", "10"),
            ("executors", "2"),
            ("time", "5"),
            ("progress", "1"),
            ("protocol", "prepared"),
            ("host", "/tmp"),
            ("port", "5433"),
            ("username", "u"),
            ("dbname", "db"),
        ] {
            assert_eq!(o.text(name), value, "{name}");
        }
        let (kind, o) = asked("-i -s 10 -F 90 --foreign-keys db").unwrap();
        assert_eq!(kind, JobKind::Load);
        assert_eq!((o.uint("scale"), o.uint("fillfactor")), (10, 90));
        assert!(options("-iIdtgpf").flag("foreign-keys"));
    }

    #[test]
    fn scripts_keep_their_order_and_weights() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my.sql");
        std::fs::write(&path, "SELECT 1;\n").unwrap();
        let path = path.display().to_string();
        let o = options(&format!("-b tpcb@3 -f {path}@2 -S"));
        let read: Vec<ScriptChoice> = serde_json::from_str(o.text("scripts")).unwrap();
        let builtins: Vec<_> = read.iter().map(|c| c.builtin.as_deref()).collect();
        assert_eq!(builtins, [Some("tpcb-like"), None, Some("select-only")]);
        let weights: Vec<_> = read.iter().map(|c| c.weight).collect();
        assert_eq!(weights, [Some(3), Some(2), None]);
        assert_eq!(read[1].text.as_deref(), Some("SELECT 1;\n"));
        assert_eq!(options("-D a=1 -D b=x").text("define"), "a=1,b=x");
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_right() {
        for (line, said) in [
            ("--cleint=3", "did you mean --client?"),
            ("-c 0", "--client=0: must be"),
            ("-b tcpb-like", "did you mean tpcb-like?"),
            ("-b select-only@x", "the weight behind @"),
            ("-f /nowhere.sql", "--file=/nowhere.sql"),
            ("-T 5 -t 5", "both set the length"),
            ("--log-prefix=x", "--log-prefix needs --log"),
            ("-l --aggregate-interval=3 -T 10", "must be a multiple"),
            ("--max-tries=0", "without end"),
            ("--partitions=4", "--partitions is not supported"),
            ("-d", "--debug is not supported"),
            ("-F 90", "--fillfactor does not apply to a run"),
            ("-i -T 5", "--time does not apply to --initialize"),
            ("-i -I dt", "t, g (or G) and p are needed"),
            ("-i -I dtgxp", "unknown step x"),
            ("-D x", "must be NAME=VALUE"),
            ("a b", "only a database name"),
        ] {
            let message = asked(line).unwrap_err();
            assert!(message.contains(said), "{line}: {message}");
        }
    }

    #[test]
    fn lists_and_scripts_are_printed() {
        assert!(
            asked("-b list")
                .unwrap_err()
                .contains("tpcb-like: <builtin: TPC-B")
        );
        assert!(
            asked("--show-script=select")
                .unwrap_err()
                .contains("WHERE aid = :aid;")
        );
        assert!(asked("-?").unwrap_err().contains("--initialize"));
    }
}
